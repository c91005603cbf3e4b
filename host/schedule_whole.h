/* Keeping every group that fits a pass in one pass, by copies of counters. Internal to the scheduler. */
#ifndef CW_HOST_SCHEDULE_WHOLE_H
#define CW_HOST_SCHEDULE_WHOLE_H

#include "host/schedule_move.h"

/* `moves` has every counter in a pass; the chip has `raw_count`. Groups are of one section each. With `grow` passes are
 * added until every group has one: `pass_counts` grows, at most to `room`, both by section; without it some groups may
 * be left. Deterministic; a number of steps limits the search. CW_ERR_UNSUPPORTED where the room does not do. */
enum cw_status cw_keep_whole(struct cw_moves *moves, const struct cw_list *groups, uint32_t group_count,
                             uint32_t raw_count, bool grow, uint32_t *pass_counts, const uint32_t *room,
                             struct cw_arena *arena, struct cw_error *err);

#endif
