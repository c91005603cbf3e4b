/* Sets of metrics that people ask for, to be scheduled and judged. Internal to the importer. */
#ifndef CW_IMPORT_CHECK_SETS_H
#define CW_IMPORT_CHECK_SETS_H

#include "import/ask.h"

enum { CW_CHECK_WINDOW = 6 }; /* rounds that together decide whether it is over */

struct cw_check_count {
    uint32_t sets, passes, refused; /* sets, our passes for them, and those that the library refuses */
};

struct cw_check_sets {
    struct cw_ask *ask;
    const bool *usable; /* by placement; raw counters without a usable one are left out */
    uint32_t most;      /* placements of a pass that is judged */
    /* Takes the distinct raw counters of a set, */
    void (*judge)(struct cw_check_sets *sets, const struct cw_list *raws);
    /* and of a pass that the library refuses the placements; NULL where nothing is to be learned from it. */
    void (*refused)(struct cw_check_sets *sets, const uint32_t *placements, uint32_t count);
    void *context;                         /* of both */
    struct cw_check_count random, natural; /* of all rounds */
    /* while drawing */
    struct cw_check_count *count;
    bool *seen;
    uint64_t chance; /* of its own, so that the sets do not depend on what was learned */
    uint32_t *raws, raw_count;
};

/* Judges the sets of a round. Round 0 has what people ask for as a whole: units, families of names, all ratios, all
 * throughputs; other rounds have random shares of those, and each round has random sets of its own. */
void cw_check_sets(struct cw_check_sets *sets, uint32_t round);
/* For a judge: asks about each pass that our scheduler makes for groups of raw counters. */
void cw_check_passes(struct cw_check_sets *sets, const struct cw_list *groups, size_t count, unsigned flags);
/* Random and natural sets together. */
struct cw_check_count cw_check_total(const struct cw_check_sets *sets);

/* Whether the last rounds, of which only few passes were refused, decide that there is no more to learn. Told each
 * round's passes once. */
struct cw_check_window {
    struct cw_check_count recent[CW_CHECK_WINDOW];
    uint32_t rounds;
};
bool cw_check_settled(struct cw_check_window *window, struct cw_check_count round);

#endif
