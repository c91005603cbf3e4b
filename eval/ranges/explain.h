/* How a value came about: its formula with the numbers in it, down to the counters. */
#ifndef CW_EVAL_RANGES_EXPLAIN_H
#define CW_EVAL_RANGES_EXPLAIN_H

#include <stdio.h>

#include "eval/eval_plan.h"
#include "eval/ranges/spread.h"
#include "json/json_tree.h"

/* Explains a metric on range `range` of the data, in plain text for people. Write errors stay in the stream (ferror).
 * Ranges that were multiplexed are explained together: `data` are means of groups then, `range` is a group, and `fold`
 * tells what they are of; else it is NULL. */
enum cw_status cw_explain(FILE *out, const struct cw_chip *chip, const struct cw_counter_data *data,
                          const struct cw_metric *metric, uint32_t range, const struct cw_groups *fold,
                          const struct cw_eval_options *options, struct cw_arena *arena, struct cw_error *err);

/* The same as a tree, which the caller frees:
 *
 *     {"range": 0, "name": "...", "kernel": "...", "metrics": [...], "counters": [...]}
 *
 * `metrics` are the metric itself, and behind it all that it is computed from, each once: {name, unit, value, status,
 * type}, and beside them
 *   of a counter or ratio   formula and numbers, the same formula by counters and with numbers; or lack, why there is
 * none of a throughput         largest_of: its constituents, the largest first, each as a counter's metric of a formula
 * description, formula, numbers, needs: the names of those metrics of the list that it names of a fact description,
 * source `counters` are those that all of them need: {name, recorded: [{passes, whole, instances, status, sum, avg,
 * min, max}]}; nothing was recorded of one that was not collected, several times of one that several passes have whole.
 * What is infinite or no number is null. Of ranges that were multiplexed, `range` is the first, `launches` is how many
 * they are, `occurrences` of a recording in how many of them it was counted, and `mixed` of a metric whether its
 * counters were counted in different ones. */
enum cw_status cw_explain_json(json_t **tree, const struct cw_chip *chip, const struct cw_counter_data *data,
                               const struct cw_metric *metric, uint32_t range, const struct cw_groups *fold,
                               const struct cw_eval_options *options, struct cw_arena *arena, struct cw_error *err);

#endif
