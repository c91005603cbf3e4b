/* The values of a result whose capture may be larger than memory, some rows at a time. */
#ifndef CW_EVAL_STREAM_H
#define CW_EVAL_STREAM_H

#include "eval/eval_plan.h"
#include "image/pm_view.h"
#include "image/range_view.h"

struct cw_stream {
    const struct cw_counter_data *data;
    const struct cw_eval_plan *plan;
    const uint32_t *ranges; /* [row]: its range; NULL: rows are samples */
    uint32_t row_count;
    struct cw_range_view view;
    struct cw_pm_view samples;
    struct cw_extremes *extremes; /* [metric] */
    uint32_t first, count, block; /* the loaded rows; block: their block of samples */
    bool evaluated;
    double *values;   /* [metric][loaded row] */
    int8_t *statuses; /* the same */
    enum cw_status status;
};
/* Everything lives in the arena. */
enum cw_status cw_stream_init(struct cw_stream *stream, const struct cw_counter_data *data,
                              const struct cw_eval_plan *plan, struct cw_arena *arena, struct cw_error *err);
/* Loads a row, and others around it. False after a failure, which `status` tells. Rows are best asked for in order. */
bool cw_stream_load(struct cw_stream *stream, uint32_t row);
/* The same, and evaluates them. */
bool cw_stream_evaluate(struct cw_stream *stream, uint32_t row);

#endif
