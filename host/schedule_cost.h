/* Makes passes cheap to set up. Internal to the scheduler. */
#ifndef CW_HOST_SCHEDULE_COST_H
#define CW_HOST_SCHEDULE_COST_H

#include "host/schedule_packing.h"

/* Moves items between passes and changes how they are collected, if that reduces the chip's pass costs. Adds no pass,
 * and every group with a pass that has all of it keeps one. Deterministic; a number of steps limits the work. Fails
 * with CW_ERR_NOMEM only. */
enum cw_status cw_cost_reduce(struct cw_packings *packings, struct cw_arena *arena, struct cw_error *err);

#endif
