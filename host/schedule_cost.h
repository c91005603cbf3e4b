/* Making passes cheap to set up. Internal to the scheduler. */
#ifndef CW_HOST_SCHEDULE_COST_H
#define CW_HOST_SCHEDULE_COST_H

#include "host/schedule_packing.h"

/* Moves items between passes, and among the ways to collect them, where the chip's pass costs become less by it. No
 * pass is added and every group that has a pass with all of it keeps one. Deterministic; a number of steps limits the
 * work. CW_ERR_NOMEM is the only failure. */
enum cw_status cw_cost_reduce(struct cw_packings *packings, struct cw_arena *arena, struct cw_error *err);

#endif
