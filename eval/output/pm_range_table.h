/* Samples by user range. */
#ifndef CW_EVAL_OUTPUT_PM_RANGE_TABLE_H
#define CW_EVAL_OUTPUT_PM_RANGE_TABLE_H

#include "eval/join/pm_ranges.h"
#include "eval/output/output.h"

/* A row for each path of ranges and device, with the mean of each metric; on a terminal each of the first `shown` with
 * its metrics, the longest first. `result`: of the samples. `trace`: the rows are kernels of this trace (its name, for
 * people); NULL: they are ranges. All is borrowed. CW_ERR_NOMEM alone. */
enum cw_status cw_output_pm_ranges(struct cw_output *output, const struct cw_result *result,
                                   const struct cw_pm_ranges *ranges, uint32_t shown, const char *trace,
                                   struct cw_arena *arena, struct cw_error *err);

#endif
