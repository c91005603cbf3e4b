/* Running a plan over the columns of a capture. */
#ifndef CW_EVAL_EVALUATE_H
#define CW_EVAL_EVALUATE_H

#include "eval/eval_plan.h"

/* Writes values[m * range_count + i] and statuses[...] for metric m of the plan and range i of the data, which has the
 * plan's schema. Values follow NVIDIA's evaluator: a ratio over zero is zero, also zero over zero; a missing value is
 * NaN. Other divisions by zero, which NVIDIA's evaluator takes to infinity, give NaN. Statuses are enum
 * cw_value_status.
 */
void cw_evaluate(const struct cw_eval_plan *plan, const struct cw_counter_data *data, double *values, int8_t *statuses);
/* The same for `count` metrics from `first` on: values[0] is of metric `first` and range 0. */
void cw_evaluate_some(const struct cw_eval_plan *plan, uint32_t first, uint32_t count,
                      const struct cw_counter_data *data, double *values, int8_t *statuses);

#endif
