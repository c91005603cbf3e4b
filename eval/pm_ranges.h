/* Metrics of samples within the program's user ranges (NVTX), where a trace stands beside the samples. */
#ifndef CW_EVAL_PM_RANGES_H
#define CW_EVAL_PM_RANGES_H

#include "eval/result.h"
#include "eval/timeline.h"

/* All ranges of one path, and a device that their processes use. */
struct cw_pm_range {
    char *path;       /* "outer/inner" */
    uint32_t device;  /* its number */
    uint32_t ranges;  /* how many */
    uint32_t samples; /* that lie in one of them, be it in part */
    uint64_t time_ns; /* of these samples within the ranges */
};

struct cw_pm_ranges {
    uint32_t count;
    struct cw_pm_range *items; /* the longest time first */
    double *values;            /* [metric][item]: means over the samples, weighted by their time within the ranges */
    int8_t *statuses;          /* the same: the gravest */
};

/* Of the result of samples. Where ranges of one path overlap, a time counts once. CW_ERR_USAGE where the times of the
 * samples are not on the wall clock. All lives in `arena`. */
enum cw_status cw_pm_ranges_make(struct cw_pm_ranges *made, const struct cw_result *result,
                                 const struct cw_timeline *timeline, struct cw_arena *arena, struct cw_error *err);

#endif
