/* How a value came about: its formula with the numbers in it, down to the counters. Plain text for people. */
#ifndef CW_EVAL_EXPLAIN_H
#define CW_EVAL_EXPLAIN_H

#include <stdio.h>

#include "eval/eval_plan.h"

/* Explains a metric on range `range` of the data. Write errors stay in the stream (ferror). */
enum cw_status cw_explain(FILE *out, const struct cw_chip *chip, const struct cw_counter_data *data,
                          const struct cw_metric *metric, uint32_t range, const struct cw_eval_options *options,
                          struct cw_arena *arena, struct cw_error *err);

#endif
