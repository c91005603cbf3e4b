/* Counts the pushed ranges that could not be followed for lack of room, by thread and domain, so that a pop of one of
 * them does not end a range that is followed. */
#ifndef CW_AGENT_BEYOND_H
#define CW_AGENT_BEYOND_H

#include <stdbool.h>
#include <stdint.h>

enum { CW_MOST_BEYOND = 1024 }; /* pairs of thread and domain; ranges of further pairs are not counted */

struct cw_beyond { /* initialise with zeros */
    uint32_t count;
    struct {
        uint64_t thread, domain, depth;
    } of[CW_MOST_BEYOND];
};

void cw_beyond_push(struct cw_beyond *beyond, uint64_t thread, uint64_t domain);
/* Whether the ending range is one of these. */
bool cw_beyond_pop(struct cw_beyond *beyond, uint64_t thread, uint64_t domain);

#endif
