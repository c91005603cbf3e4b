/* The first packing of one problem: few passes, every item in one of them. Internal to the scheduler. */
#ifndef CW_HOST_SCHEDULE_SEARCH_H
#define CW_HOST_SCHEDULE_SEARCH_H

#include "host/schedule_problem.h"

struct cw_search_result {
    uint32_t pass_count;
    uint32_t *pass_of, *choice_of; /* by item */
};

/* A number of passes below which the problem cannot be packed. `needs`: scratch for each of the problem's rules. */
uint32_t cw_search_bound(const struct cw_problem *problem, uint32_t *needs);

/* Stops looking for better once there are no more than `enough` passes. With `quick` the packing that costs least is
 * better, else the one with fewest passes. Deterministic: what limits the search is a number of steps, not time. The
 * lists of `best` live in `arena`. CW_ERR_NOMEM is the only failure. */
enum cw_status cw_search_make(struct cw_search_result *best, const struct cw_problem *problem, uint32_t enough,
                              bool quick, struct cw_arena *arena, struct cw_error *err);

/* The next of a row of numbers that look random; `state` starts as the seed. */
#define CW_SEARCH_SEED UINT64_C(0x2545f4914f6cdd1d)
uint64_t cw_search_random(uint64_t *state);

#endif
