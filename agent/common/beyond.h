/* Ranges that were pushed where there was no room to follow them: how many each thread has open in each domain, so that
 * a pop ends none of those that are followed instead. */
#ifndef CW_AGENT_BEYOND_H
#define CW_AGENT_BEYOND_H

#include <stdbool.h>
#include <stdint.h>

enum { CW_MOST_BEYOND = 1024 }; /* threads and domains; of those beyond even that nothing is known */

struct cw_beyond { /* all zeros to begin with */
    uint32_t count;
    struct {
        uint64_t thread, domain, depth;
    } of[CW_MOST_BEYOND];
};

void cw_beyond_push(struct cw_beyond *beyond, uint64_t thread, uint64_t domain);
/* Whether the range that ends is one of these. */
bool cw_beyond_pop(struct cw_beyond *beyond, uint64_t thread, uint64_t domain);

#endif
