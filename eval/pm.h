/* Metrics of samples, some at a time. */
#ifndef CW_EVAL_PM_H
#define CW_EVAL_PM_H

#include "eval/eval_plan.h"
#include "image/pm_view.h"

/* The least and the greatest over instances are not recorded where only sums were asked for. Which columns a metric
 * needs them of: */
struct cw_pm_extremes {
    uint32_t count, *columns;
};

struct cw_pm_evaluator {
    const struct cw_eval_plan *plan;
    struct cw_pm_view view;           /* to be freed, also after a failure */
    struct cw_pm_extremes *extremes; /* [metric] */
};
enum cw_status cw_pm_evaluator_init(struct cw_pm_evaluator *evaluator, const struct cw_eval_plan *plan,
                                    const struct cw_counter_data *data, struct cw_arena *arena, struct cw_error *err);
/* Of the samples that the view has: [metric][sample]. */
void cw_pm_evaluator_run(const struct cw_pm_evaluator *evaluator, double *values, int8_t *statuses);

#endif
