/* Metrics over the samples of PM sampling, and the launches beside them. */
#ifndef CW_EVAL_PM_H
#define CW_EVAL_PM_H

#include "eval/result.h"
#include "image/pm_view.h"

struct cw_pm_result {
    struct cw_result base; /* metrics, names and units; it has no ranges */
    const struct cw_pm_data *pm;
    double *values;   /* [metric][sample] */
    int8_t *statuses; /* the same; enum cw_value_status */
};

/* Evaluates a plan on every sample, block by block: values[m * sample_count + i] and statuses[...] as cw_evaluate has
 * them. */
enum cw_status cw_pm_evaluate(const struct cw_eval_plan *plan, const struct cw_counter_data *data, double *values,
                              int8_t *statuses, struct cw_arena *arena, struct cw_error *err);
/* Compiles the metrics and evaluates them on every sample, block by block. All lives in `arena`; the chip, the data and
 * `source` are borrowed. */
enum cw_status cw_pm_result_make(struct cw_pm_result *result, const struct cw_chip *chip,
                                 const struct cw_counter_data *data, const char *source,
                                 const struct cw_metric *metrics, size_t count, const struct cw_eval_options *options,
                                 struct cw_arena *arena, struct cw_error *err);

#endif
