/* Finds a first packing of one problem: few passes, each item in one of them. Internal to the scheduler. */
#ifndef CW_HOST_SCHEDULE_SEARCH_H
#define CW_HOST_SCHEDULE_SEARCH_H

#include "host/schedule_problem.h"

struct cw_search_result {
    uint32_t pass_count;
    uint32_t *pass_of, *choice_of; /* by item */
};

/* Lower bound on the passes of the problem. `needs`: scratch, one number for each of the problem's rules. */
uint32_t cw_search_bound(const struct cw_problem *problem, uint32_t *needs);

/* Searches for a good packing and stops at `enough` passes or fewer. With `quick` the cheapest packing is best, else
 * the one with fewest passes. Deterministic: a number of steps limits the search, not time. The lists of `best` live in
 * `arena`. Fails with CW_ERR_NOMEM only. */
enum cw_status cw_search_make(struct cw_search_result *best, const struct cw_problem *problem, uint32_t enough,
                              bool quick, struct cw_arena *arena, struct cw_error *err);

/* Returns the next pseudo-random number; `state` starts as the seed. */
#define CW_SEARCH_SEED UINT64_C(0x2545f4914f6cdd1d)
uint64_t cw_search_random(uint64_t *state);

#endif
