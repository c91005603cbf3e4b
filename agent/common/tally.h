/* Counts by name, such as why batches ended. The names may come from the profiled program. */
#ifndef CW_AGENT_TALLY_H
#define CW_AGENT_TALLY_H

#include <inttypes.h>
#include <stdio.h>

enum { CW_TALLY_NAMES = 32 }; /* distinct names; further ones count as others */

/* Initialise with zeros. */
struct cw_tally {
    uint32_t count;
    struct cw_tally_item {
        char name[120];
        uint64_t count;
    } items[CW_TALLY_NAMES + 1]; /* the last one: others */
};

void cw_tally_add(struct cw_tally *tally, const char *name, uint64_t count);
/* Sorts the items, the greatest count first, and prints "NAME COUNT, NAME COUNT". */
void cw_tally_print(struct cw_tally *tally, FILE *out);

#endif
