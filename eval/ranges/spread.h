/* How many ranges each value of a group comes from, and how much they differ. */
#ifndef CW_EVAL_RANGES_SPREAD_H
#define CW_EVAL_RANGES_SPREAD_H

#include "eval/ranges/groups.h"
#include "eval/result.h"

/* Fills in `occurrences` and `spread` of a result that was made of groups->data; `data` is the capture of the groups.
 * A value of several counters is made anew if some kinds of the group's ranges lack one of them: it is of the other
 * kinds. If its counters were counted in different ranges, its occurrences are the rarest counter's. The spread is the
 * sample standard deviation of the metric over ranges that have all its counters; NaN of less than two. Reads all
 * ranges of a capture that is not in memory: CW_ERR_IO, CW_ERR_NOMEM. */
enum cw_status cw_spread_find(struct cw_result *result, const struct cw_groups *groups,
                              const struct cw_counter_data *data, struct cw_arena *arena, struct cw_error *err);

#endif
