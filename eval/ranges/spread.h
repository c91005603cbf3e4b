/* How many ranges each value of a group is of, and how much they differ. */
#ifndef CW_EVAL_RANGES_SPREAD_H
#define CW_EVAL_RANGES_SPREAD_H

#include "eval/ranges/groups.h"
#include "eval/result.h"

/* Fills in `occurrences` and `spread` of a result that was made of groups->data; `data` is the capture that the groups
 * were made of. A value of several counters is made anew where a group has kinds of ranges that lack some of these: it
 * is of the others. Where a value needs several counters that were counted in different ranges, its occurrences are those
 * of the rarest. The spread is the sample standard deviation of the metric over ranges that have it by themselves; NaN
 * of less than two. All ranges of a capture that is not in memory are read: CW_ERR_IO, CW_ERR_NOMEM. */
enum cw_status cw_spread_find(struct cw_result *result, const struct cw_groups *groups,
                              const struct cw_counter_data *data, struct cw_arena *arena, struct cw_error *err);

/* Of a column, in how many ranges of a group that was multiplexed it was collected. */
uint32_t cw_spread_count(const struct cw_groups *groups, uint32_t group, uint32_t column);

#endif
