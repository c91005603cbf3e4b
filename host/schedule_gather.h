/* Bringing the counters of a group into one pass. Internal to the scheduler. */
#ifndef CW_HOST_SCHEDULE_GATHER_H
#define CW_HOST_SCHEDULE_GATHER_H

#include "host/schedule.h"
#include "host/schedule_move.h"

/* Makes of the packings of all problems one changeable packing each, over the passes of their sections (`pass_counts`),
 * and brings groups together: by choosing which passes of different problems become one, then by copies of counters, or
 * where the schedule is to be quick by moving and exchanging them. `flags` as of cw_schedule_make; where every group is
 * to be whole, passes are added (`pass_counts` grows), and CW_ERR_UNSUPPORTED says that too many would be needed.
 * Deterministic; a number of steps limits the work. `packed` has room for each problem. */
enum cw_status cw_gather(struct cw_packed **packed, const struct cw_problems *problems,
                         const struct cw_packing *packings, uint32_t *pass_counts, const struct cw_place *places,
                         const struct cw_list *groups, size_t group_count, const struct cw_chip *chip, unsigned flags,
                         struct cw_arena *arena, struct cw_error *err);

#endif
