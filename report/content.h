/* The contents of a page. */
#ifndef CW_REPORT_CONTENT_H
#define CW_REPORT_CONTENT_H

#include "eval/advice/advice.h"
#include "eval/output/ranks_output.h"
#include "eval/result.h"
#include "eval/samples/instructions.h"
#include "eval/timeline/timeline.h"

struct cw_report {
    const struct cw_report_capture {
        const char *source; /* the file's name, for people */
        const struct cw_counter_data *data;
        const struct cw_chip *chip;                 /* for ranges and samples: the chip with the name in the capture */
        const bool *keep;                           /* by range: whether the page shows it; NULL: all ranges */
        const struct cw_result *samples;            /* values of samples over time; NULL in other captures */
        const struct cw_instructions *instructions; /* of PC samples or SASS metrics; NULL in other captures */
        const struct cw_timeline *timeline;         /* of a trace; NULL in other captures */
    } * captures;                                   /* of one program; the first names the page */
    size_t capture_count;
    const struct cw_report_capture *ranges;   /* the one with ranges among `captures`, or NULL */
    const struct cw_report_capture *baseline; /* an earlier run to compare kernels with, or NULL */
    const struct cw_ranks_view *job; /* the compared ranks of a job, or NULL; the only capture then describes the job */
    const struct cw_rules *rules;    /* of the chip of `ranges`, or NULL */
    const char *const *metrics;      /* full names for the chip of `ranges`: shown beside the plan's and the page's */
    size_t metric_count;
    const char *data_folder;         /* metricdb/data.h */
    const char *hdf5;                /* the file with all values, or NULL */
    const char *const *source_paths; /* folders with source code */
    size_t source_path_count;
    struct cw_arena *arena;
};

#endif
