/* How a value came about: its formula with the numbers in it, down to the counters. */
#ifndef CW_EVAL_RANGES_EXPLAIN_H
#define CW_EVAL_RANGES_EXPLAIN_H

#include <stdio.h>

#include "eval/eval_plan.h"
#include "eval/ranges/groups.h"
#include "json/json_tree.h"

/* Explains a metric on range `range` of the data, in plain text for people. Write errors stay in the stream (ferror).
 * Multiplexed ranges are explained together: then `data` has the means of `fold`, and `range` is a group of it;
 * otherwise `fold` is NULL. */
enum cw_status cw_explain(FILE *out, const struct cw_chip *chip, const struct cw_counter_data *data,
                          const struct cw_metric *metric, uint32_t range, const struct cw_groups *fold,
                          const struct cw_eval_options *options, struct cw_arena *arena, struct cw_error *err);

/* The status of the value that cw_explain explains. */
enum cw_status cw_explain_status(enum cw_value_status *value, const struct cw_chip *chip,
                                 const struct cw_counter_data *data, const struct cw_metric *metric, uint32_t range,
                                 const struct cw_eval_options *options, struct cw_arena *arena, struct cw_error *err);

/* The explanation as a tree, which the caller frees:
 *
 *     {"range": 0, "name": "...", "kernel": "...", "metrics": [...], "counters": [...]}
 *
 * `metrics` has the metric itself, and then each metric that it is computed from: {name, unit, value, status, type},
 * with
 *
 *     of a counter or ratio   formula and numbers: the same formula by counters and with numbers; or lack: why none
 *     of a throughput         largest_of: its constituents, the largest first, each like the metric of a counter
 *     of a formula            description, formula, numbers, needs: the names of metrics in the list that it names
 *     of a fact               description, source
 *
 * `counters` has all counters that they need: {name, recorded: [{passes, whole, instances, status, sum, avg, min,
 * max}]}; `recorded` is empty for a counter that was not collected, and has several items if several passes have it
 * whole. Infinity and NaN are null.
 *
 * For multiplexed ranges, `range` is the first of them and `launches` their number. `occurrences` of a recording is the
 * number of ranges in which it was counted, and `mixed` of a metric tells whether its counters were counted in
 * different ones. */
enum cw_status cw_explain_json(json_t **tree, const struct cw_chip *chip, const struct cw_counter_data *data,
                               const struct cw_metric *metric, uint32_t range, const struct cw_groups *fold,
                               const struct cw_eval_options *options, struct cw_arena *arena, struct cw_error *err);

#endif
