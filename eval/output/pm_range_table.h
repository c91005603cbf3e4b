/* Samples by user range. */
#ifndef CW_EVAL_OUTPUT_PM_RANGE_TABLE_H
#define CW_EVAL_OUTPUT_PM_RANGE_TABLE_H

#include "eval/join/pm_ranges.h"
#include "eval/output/output.h"

struct cw_pm_ranges_output {
    const struct cw_result *result; /* of the samples */
    const struct cw_pm_ranges *ranges;
    uint32_t shown;    /* how many of them for people */
    const char *trace; /* of kernels: the name of the trace, for people; NULL: they are ranges */
};

/* A row for each path of ranges and device, with the mean of each metric; on a terminal each with its metrics, the
 * longest first. All is borrowed. CW_ERR_NOMEM alone. */
enum cw_status cw_output_pm_ranges(struct cw_output *output, const struct cw_pm_ranges_output *ranges,
                                   struct cw_arena *arena, struct cw_error *err);

#endif
