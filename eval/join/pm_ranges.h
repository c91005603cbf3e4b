/* Metrics of samples within the program's user ranges (NVTX), if there is a trace beside the samples, and within the
 * launches of a kernel. */
#ifndef CW_EVAL_JOIN_PM_RANGES_H
#define CW_EVAL_JOIN_PM_RANGES_H

#include "eval/result.h"
#include "eval/timeline/timeline.h"

struct cw_pm_ranges {
    uint32_t count;
    /* All ranges of one path, and a device that their processes use; or the launches of a kernel on a device. */
    struct cw_pm_range {
        char *path;       /* "outer/inner", or a kernel for people */
        uint32_t device;  /* its number */
        uint32_t ranges;  /* how many */
        uint32_t samples; /* in one of the ranges, at least in part */
        uint64_t time_ns; /* of these samples within the ranges */
        uint64_t traced;  /* of a kernel: its launches in a trace of another run, and their time */
        double traced_ns;
        uint64_t ranges_ns, sample_ns; /* time of the ranges, and of a mean sample */
    } * items;                         /* the longest time first */
    double *values;     /* [metric][item]: means over the samples, weighted by their time in the ranges */
    int8_t *statuses;   /* the same: the gravest */
    uint64_t unsampled; /* by kernel: launches of the trace whose kernels have no row, and their ns */
    double unsampled_ns;
};

/* Of the result of samples. Where ranges of one path overlap, a time counts once. CW_ERR_USAGE if the times of the
 * samples are not on the wall clock. Everything lives in `arena`. */
enum cw_status cw_pm_ranges_make(struct cw_pm_ranges *made, const struct cw_result *result,
                                 const struct cw_timeline *timeline, struct cw_arena *arena, struct cw_error *err);

/* The same within launches, by kernel and device, in the order of the time that kernels of their names take in `trace`,
 * a trace of another run of the program, on all its devices. */
enum cw_status cw_pm_kernels_make(struct cw_pm_ranges *made, const struct cw_result *result,
                                  const struct cw_timeline *trace, struct cw_arena *arena, struct cw_error *err);

#endif
