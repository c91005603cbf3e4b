/* Everything that the renderers need: a capture, the metrics asked for, and their values. */
#ifndef CW_EVAL_RESULT_H
#define CW_EVAL_RESULT_H

#include <stdio.h>

#include "eval/evaluate.h"

struct cw_result {
    const struct cw_chip *chip;
    const struct cw_counter_data *data;
    const char *source; /* the capture's file name, for people */
    uint32_t metric_count, range_count;
    const struct cw_metric *metrics;
    const char *const *names; /* full names of the metrics */
    const char *const *units; /* of measurement, "%" or "bytes/s" */
    uint32_t *ranges;         /* indices into data->ranges; all of them at first */
    double *values;           /* [metric][range of this result] */
    int8_t *statuses;         /* the same; enum cw_value_status */
    bool *copied;             /* [metric]: stands in the capture as it is, nothing was computed */
};

/* Compiles and evaluates on every range. All lives in `arena`; the chip, the data and `source` are borrowed. */
enum cw_status cw_result_make(struct cw_result *result, const struct cw_chip *chip, const struct cw_counter_data *data,
                              const char *source, const struct cw_metric *metrics, size_t count,
                              const struct cw_eval_options *options, struct cw_arena *arena, struct cw_error *err);

/* Keeps the ranges for which `keep` is true (one entry for each range of the result), in their order. */
void cw_result_select(struct cw_result *result, const bool *keep);

/* Range `i` of the result. */
const struct cw_range *cw_result_range(const struct cw_result *result, uint32_t i);

/* The shortest decimal that reads back as the same number; "inf", "-inf", "nan". Returns `text`. */
enum { CW_NUMBER_SIZE = 32 };
const char *cw_number_text(double value, char text[CW_NUMBER_SIZE]);

#endif
