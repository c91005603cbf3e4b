/* Making the passes of a packing cheap to set up. Internal to the scheduler. */
#ifndef CW_HOST_SCHEDULE_COST_H
#define CW_HOST_SCHEDULE_COST_H

#include "host/schedule_move.h"

/* Moves counters between passes, and among the ways to collect them, where the chip's pass costs become less by it. No
 * pass is added and every group that has a pass with all of it keeps one. Groups are of one section each and have
 * different counters in ascending order. `pass_counts` by section. Deterministic; a number of steps limits the work. */
enum cw_status cw_make_cheap(struct cw_moves *moves, const struct cw_chip *chip, const struct cw_list *groups,
                             uint32_t group_count, const uint32_t *pass_counts, struct cw_arena *arena,
                             struct cw_error *err);

#endif
