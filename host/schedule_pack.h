/* Packing one scheduling problem into few passes. Internal to the scheduler. */
#ifndef CW_HOST_SCHEDULE_PACK_H
#define CW_HOST_SCHEDULE_PACK_H

#include "host/schedule_problem.h"

struct cw_packing {
    uint32_t pass_count;
    uint32_t *pass_of, *choice_of; /* by item */
};

/* A number of passes below which the problem cannot be packed. `needs`: scratch for each of the problem's rules. */
uint32_t cw_pack_bound(const struct cw_problem *problem, uint32_t *needs);

/* Packs the problem; stops looking for better once there are no more than `enough` passes. With `quick` the packing that
 * costs least is better, else the one with fewest passes. Deterministic: what limits
 * the search is a number of steps, not time. CW_ERR_NOMEM is the only failure. */
enum cw_status cw_pack(struct cw_packing *packing, const struct cw_problem *problem, uint32_t enough,
                       bool quick, struct cw_arena *arena, struct cw_error *err);

#endif
