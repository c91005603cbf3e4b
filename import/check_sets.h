/* Sets of metrics that people ask for, to be scheduled and judged. Internal to the importer. */
#ifndef CW_IMPORT_CHECK_SETS_H
#define CW_IMPORT_CHECK_SETS_H

#include "metricdb/chip.h"

enum { CW_CHECK_WINDOW = 6 }; /* rounds that together decide whether it is over */

struct cw_check_count {
    uint32_t sets, passes, refused; /* sets, our passes for them, and those that the library refuses */
};

struct cw_check_sets {
    const struct cw_chip *chip;
    const bool *usable; /* by placement; raw counters without a usable one are left out */
    void (*judge)(void *context, const struct cw_list *raws, bool natural);
    void *context;
    /* while drawing */
    bool natural, *seen;
    uint64_t random; /* of its own, so that the sets do not depend on what was learned */
    uint32_t *raws, raw_count;
};

/* Judges the sets of a round, each as distinct raw counters. Round 0 has what people ask for as a whole: units,
 * families of names, all ratios, all throughputs; other rounds have random shares of those, and each round has random
 * sets of its own. `arena` gives room for the sets. */
enum cw_status cw_check_sets(struct cw_check_sets *sets, uint32_t round, struct cw_arena *arena, struct cw_error *err);

/* Whether the last rounds, of which only few passes were refused, decide that there is no more to learn. Told each
 * round's passes once. */
struct cw_check_window {
    struct cw_check_count recent[CW_CHECK_WINDOW];
    uint32_t rounds;
};
bool cw_check_settled(struct cw_check_window *window, uint32_t passes, uint32_t refused);

#endif
