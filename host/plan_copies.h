/* Copies of raw counters that would cost a capture more passes. Internal to the planner. */
#ifndef CW_HOST_PLAN_COPIES_H
#define CW_HOST_PLAN_COPIES_H

#include "host/schedule.h"

/* A counter whose raw counters no pass holds together is computed from several passes, which are then collected as one:
 * among them a raw counter must not stand twice, or passes have to be added to the capture. Takes such copies out of
 * the schedule's passes; what holds a late group together stays rather than what holds an early one, and what holds one
 * of the last `pinned` groups stays in any case. `counters`: the raw counters of each. Lists live in `arena`. */
enum cw_status cw_plan_drop_copies(struct cw_schedule *schedule, const struct cw_chip *chip,
                                   const struct cw_list *counters, size_t counter_count, const struct cw_list *groups,
                                   size_t group_count, size_t pinned, struct cw_arena *arena, struct cw_error *err);

#endif
