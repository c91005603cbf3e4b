/* Metrics over the samples of PM sampling. */
#ifndef CW_EVAL_PM_H
#define CW_EVAL_PM_H

#include "eval/eval_plan.h"

/* Evaluates a plan on every sample, block by block: values[m * sample_count + i] and statuses[...] as cw_evaluate has
 * them. */
enum cw_status cw_pm_evaluate(const struct cw_eval_plan *plan, const struct cw_counter_data *data, double *values,
                              int8_t *statuses, struct cw_arena *arena, struct cw_error *err);

#endif
