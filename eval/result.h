/* A capture, the metrics asked for, and their values, for all writers. */
#ifndef CW_EVAL_RESULT_H
#define CW_EVAL_RESULT_H

#include <stdio.h>

#include "base/decimal.h"
#include "eval/eval_plan.h"
#include "eval/stream.h"

struct cw_result {
    /* the request: the caller fills it in and keeps it */
    const struct cw_chip *chip;
    const struct cw_counter_data *data; /* of ranges, or of samples over time */
    const char *source;                 /* the capture's file name, for people */
    const struct cw_metric *metrics;
    uint32_t metric_count;
    double *values;   /* [metric][row]; NULL: in the arena */
    int8_t *statuses; /* the same; enum cw_value_status */
    bool streamed;    /* for data that is not in memory: `stream` has the values of some rows at a time */
    /* if the rows are groups of ranges, by cw_spread_find; else NULL */
    uint32_t *occurrences;   /* [metric][row]: in how many ranges the value's counters were counted */
    double *spread;          /* the same: the metric's standard deviation over these ranges */
    const uint32_t *numbers; /* [range of the data]: its first range of the capture; NULL: they are the same */
    /* the result */
    struct cw_stream *stream; /* instead of values and statuses, or NULL */
    uint32_t row_count;       /* ranges or samples */
    uint32_t *ranges;         /* [row]: index into data->ranges; all of them at first. NULL for samples */
    struct cw_eval_plan plan;
    const char *const *names; /* full names of the metrics */
    const char *const *units; /* of measurement, "%" or "bytes/s" */
};

/* Compiles the metrics and evaluates them on every row. Everything lives in `arena`. */
enum cw_status cw_result_make(struct cw_result *result, const struct cw_eval_options *options, struct cw_arena *arena,
                              struct cw_error *err);

/* Keeps `count` ranges of the result, rows[0] and on, in this order; each once. CW_ERR_NOMEM alone. */
enum cw_status cw_result_select(struct cw_result *result, const uint32_t *rows, uint32_t count, struct cw_error *err);

/* Range `i` of the result, with its times if the data is in memory or streamed; NULL if the stream failed. */
const struct cw_range *cw_result_range(const struct cw_result *result, uint32_t i);

/* The shortest decimal that reads back as the same number; "inf", "-inf", "nan". Returns `text`. */
enum { CW_NUMBER_SIZE = CW_DECIMAL_SIZE };
const char *cw_number_text(double value, char text[CW_NUMBER_SIZE]);

#endif
