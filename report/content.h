/* What a page is to show. */
#ifndef CW_REPORT_CONTENT_H
#define CW_REPORT_CONTENT_H

#include "eval/advice/advice.h"
#include "eval/output/ranks_output.h"
#include "eval/result.h"
#include "eval/samples/instructions.h"
#include "eval/timeline/timeline.h"

struct cw_report_capture {
    const char *source; /* the file's name, for people */
    const struct cw_counter_data *data;
    const struct cw_chip *chip;                 /* of ranges and samples, by the name that it has in the capture */
    const bool *keep;                           /* which of its ranges are shown; NULL: all */
    const struct cw_result *samples;            /* of a capture of samples over time, evaluated; else NULL */
    const struct cw_instructions *instructions; /* of a capture of PC samples or SASS metrics; else NULL */
    const struct cw_timeline *timeline;         /* of a trace; else NULL */
};

struct cw_report {
    const struct cw_report_capture *captures; /* of one program; the first gives the page its name */
    size_t capture_count;
    const struct cw_report_capture *ranges;   /* the one of them that is of ranges, or NULL */
    const struct cw_report_capture *baseline; /* what its kernels are compared with, or NULL */
    const struct cw_ranks_view *job; /* its ranks, compared, or NULL; then one capture says what they are of */
    const struct cw_rules *rules;             /* of the chip of `ranges`, or NULL */
    const char *const *metrics; /* names, of that chip: to be shown beside those of the plan and of the page */
    size_t metric_count;
    const char *data_folder;         /* metricdb/data.h */
    const char *hdf5;                /* the file that has every value, or NULL */
    const char *const *source_paths; /* folders with source code */
    size_t source_path_count;
    struct cw_arena *arena;
};

#endif
