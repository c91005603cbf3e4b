#include "eval/result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "eval/evaluate.h"

static enum cw_status name_metrics(struct cw_result *r, struct cw_arena *arena, struct cw_error *err)
{
    const char **names = cw_arena_alloc(arena, r->metric_count, sizeof *names);
    const char **units = cw_arena_alloc(arena, r->metric_count, sizeof *units);
    if (!names || !units)
        return cw_error_nomem(err);
    for (uint32_t i = 0; i < r->metric_count; i++) {
        char text[CW_METRIC_NAME_MAX];
        names[i] = cw_arena_strdup(arena, cw_metric_name(r->chip, &r->metrics[i], text));
        units[i] = cw_arena_strdup(arena, cw_metric_dimension(r->chip, &r->metrics[i], text, sizeof text));
        if (!names[i] || !units[i])
            return cw_error_nomem(err);
    }
    r->names = names;
    r->units = units;
    return CW_OK;
}

/* Lists ranges in their order; samples have none. */
static enum cw_status list_ranges(struct cw_result *r, struct cw_arena *arena, struct cw_error *err)
{
    const bool samples = r->data->schema.profiler == CW_PROFILER_PM;
    r->row_count = samples ? r->data->pm.sample_count : r->data->range_count;
    r->ranges = samples ? NULL : cw_arena_alloc(arena, r->row_count, sizeof *r->ranges);
    for (uint32_t i = 0; r->ranges && i < r->row_count; i++)
        r->ranges[i] = i;
    return samples || r->ranges ? CW_OK : cw_error_nomem(err);
}

static enum cw_status allocate(struct cw_result *r, struct cw_arena *arena, struct cw_error *err)
{
    size_t values;
    if (__builtin_mul_overflow((size_t)r->metric_count, (size_t)r->row_count, &values))
        return cw_error_nomem(err);
    if (!r->values)
        r->values = cw_arena_alloc(arena, values, sizeof *r->values);
    if (!r->statuses)
        r->statuses = cw_arena_alloc(arena, values, sizeof *r->statuses);
    return r->values && r->statuses ? CW_OK : cw_error_nomem(err);
}

static enum cw_status open_stream(struct cw_result *r, struct cw_arena *arena, struct cw_error *err)
{
    r->stream = cw_arena_alloc(arena, 1, sizeof *r->stream);
    if (!r->stream)
        return cw_error_nomem(err);
    const enum cw_status status = cw_stream_init(r->stream, r->data, &r->plan, arena, err);
    r->stream->ranges = r->ranges;
    return status;
}

/* Takes all values at once. */
static enum cw_status drain(struct cw_result *r)
{
    struct cw_stream *s = r->stream;
    for (uint32_t row = 0; row < r->row_count && cw_stream_evaluate(s, row); row = s->first + s->count)
        for (size_t m = 0; m < r->metric_count; m++) {
            const size_t from = m * s->count, to = m * r->row_count + s->first;
            memcpy(r->values + to, s->values + from, s->count * sizeof *r->values);
            memcpy(r->statuses + to, s->statuses + from, s->count * sizeof *r->statuses);
        }
    r->stream = NULL;
    return s->status;
}

enum cw_status cw_result_make(struct cw_result *r, const struct cw_eval_options *options, struct cw_arena *arena,
                              struct cw_error *err)
{
    r->stream = NULL;
    CW_TRY(cw_eval_plan_make(&r->plan, r->chip, &r->data->schema, r->metrics, r->metric_count, options, arena, err));
    CW_TRY(name_metrics(r, arena, err));
    CW_TRY(list_ranges(r, arena, err));
    const bool blocks = r->data->directory || !r->ranges || r->data->schema.repeat_count; /* see range_view.h: alone */
    if (!blocks || !r->streamed)
        CW_TRY(allocate(r, arena, err));
    if (blocks)
        CW_TRY(open_stream(r, arena, err));
    if (blocks)
        return r->streamed ? CW_OK : drain(r);
    cw_evaluate(&r->plan, r->data, r->values, r->statuses);
    return CW_OK;
}

/* Keeps some cells of each metric's row. */
static void select_cells(void *cells, size_t size, const struct cw_result *r, const uint32_t *rows, uint32_t count,
                         char *scratch)
{
    char *to = cells;
    const char *from = cells;
    for (uint32_t m = 0; cells && m < r->metric_count; m++, from += r->row_count * size) {
        memcpy(scratch, from, r->row_count * size);
        for (uint32_t i = 0; i < count; i++, to += size)
            memcpy(to, scratch + rows[i] * size, size);
    }
}

enum cw_status cw_result_select(struct cw_result *r, const uint32_t *rows, uint32_t count, struct cw_error *err)
{
    if (r->stream) {                                    /* nothing is loaded yet */
        memmove(r->ranges, rows, count * sizeof *rows); /* all of them at first, in their order */
        r->row_count = r->stream->row_count = count;
        return CW_OK;
    }
    char *scratch = calloc((size_t)r->row_count + 1, sizeof *r->values);
    if (!scratch)
        return cw_error_nomem(err);
    select_cells(r->values, sizeof *r->values, r, rows, count, scratch);
    select_cells(r->statuses, sizeof *r->statuses, r, rows, count, scratch);
    select_cells(r->occurrences, sizeof *r->occurrences, r, rows, count, scratch);
    select_cells(r->spread, sizeof *r->spread, r, rows, count, scratch);
    memcpy(scratch, r->ranges, r->row_count * sizeof *r->ranges);
    for (uint32_t i = 0; i < count; i++)
        memcpy(&r->ranges[i], scratch + rows[i] * sizeof *r->ranges, sizeof *r->ranges);
    r->row_count = count;
    free(scratch);
    return CW_OK;
}

const struct cw_range *cw_result_range(const struct cw_result *r, uint32_t i)
{
    if (!r->stream)
        return cw_launch_of(r->data, r->ranges[i]);
    return cw_stream_load(r->stream, i) ? &r->stream->view.ranges[i - r->stream->first] : NULL;
}

const char *cw_number_text(double value, char text[CW_NUMBER_SIZE])
{
    cw_decimal_text(value, text);
    return text;
}
