#include "eval/stream.h"

#include <math.h>
#include <string.h>

#include "eval/evaluate.h"

/* ---- samples ----------------------------------------------------------------------------------------------------- */

/* Samples do not record the least and the greatest over instances if only sums were asked for. These are the columns
 * whose least or greatest a metric needs. */
struct cw_extremes {
    uint32_t count, *columns;
};

static void note_column(struct cw_extremes *e, uint32_t column)
{
    if (column == CW_NONE)
        return;
    if (e->columns)
        e->columns[e->count] = column;
    e->count++;
}

static void note(struct cw_extremes *e, const struct cw_eval_operand *o)
{
    if (o->rollup != CW_MIN && o->rollup != CW_MAX)
        return;
    if (o->kind == CW_EVAL_ROLLUP || o->kind == CW_EVAL_USER_CYCLES)
        note_column(e, o->column);
    for (uint32_t i = 0; o->kind == CW_EVAL_LINEAR && i < o->linear->count; i++)
        note_column(e, o->linear->columns[i]);
}

static void note_terms(struct cw_extremes *e, const struct cw_eval_plan *plan, const struct cw_eval_metric *m)
{
    for (uint32_t t = 0; t < m->term_count; t++) {
        const struct cw_eval_term *term = &plan->terms[m->term + t];
        note(e, &term->x);
        note(e, &term->factor);
        for (int d = 0; d < CW_TERM_DIVISORS; d++)
            note(e, &term->divisors[d]);
    }
}

static void note_metric(struct cw_extremes *e, const struct cw_eval_plan *plan, const struct cw_eval_metric *m)
{
    e->count = 0;
    if (!m->formula)
        note_terms(e, plan, m);
    for (uint32_t k = 0; m->formula && k < m->formula->metric_count; k++)
        note_terms(e, plan, &plan->metrics[m->operand + k]);
}

static enum cw_status find_extremes(struct cw_extremes **out, const struct cw_eval_plan *plan, struct cw_arena *arena,
                                    struct cw_error *err)
{
    struct cw_extremes *list = cw_arena_alloc(arena, plan->metric_count, sizeof *list);
    for (uint32_t m = 0; list && m < plan->metric_count; m++) {
        note_metric(&list[m], plan, &plan->metrics[m]);
        if (!(list[m].columns = cw_arena_alloc(arena, list[m].count, sizeof *list[m].columns)))
            return cw_error_nomem(err);
        note_metric(&list[m], plan, &plan->metrics[m]);
    }
    *out = list;
    return list ? CW_OK : cw_error_nomem(err);
}

static bool lacks(const struct cw_pm_view *view, const struct cw_extremes *e)
{
    for (uint32_t k = 0; k < e->count; k++) {
        uint8_t form = view->columns[e->columns[k]];
        if ((form == CW_COLUMN_COUNTS || form == CW_COLUMN_SUMS) &&
            view->data.devices[0].facts[e->columns[k]].instances != 1)
            return true;
    }
    return false;
}

static void withhold(double *values, int8_t *statuses, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        values[i] = NAN;
        statuses[i] = CW_VALUE_NOT_COLLECTED;
    }
}

static void evaluate_samples(const struct cw_stream *s)
{
    const struct cw_pm_view *view = &s->samples;
    const uint32_t count = view->data.range_count;
    cw_evaluate(s->plan, &view->data, s->values, s->statuses);
    for (size_t m = 0; m < s->plan->metric_count; m++)
        if (lacks(view, &s->extremes[m]))
            withhold(s->values + m * count, s->statuses + m * count, count);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static void finish(void *stream)
{
    struct cw_stream *s = stream;
    cw_range_view_free(&s->view);
    cw_pm_view_free(&s->samples);
}

enum cw_status cw_stream_init(struct cw_stream *s, const struct cw_counter_data *data, const struct cw_eval_plan *plan,
                              struct cw_arena *arena, struct cw_error *err)
{
    const bool samples = data->schema.profiler == CW_PROFILER_PM;
    *s = (struct cw_stream){.data = data, .plan = plan};
    s->row_count = samples ? data->pm.sample_count : data->range_count;
    enum cw_status status =
        samples ? cw_pm_view_init(&s->samples, data, arena, err) : cw_range_view_init(&s->view, data, arena, err);
    if (status == CW_OK && samples)
        status = find_extremes(&s->extremes, plan, arena, err);
    s->view.alone = !samples;
    const uint32_t room = samples ? s->samples.room : s->view.room;
    s->values = cw_arena_alloc(arena, (size_t)plan->metric_count * room, sizeof *s->values);
    s->statuses = cw_arena_alloc(arena, (size_t)plan->metric_count * room, sizeof *s->statuses);
    if (!cw_arena_at_end(arena, finish, s) || !s->values || !s->statuses)
        status = status == CW_OK ? cw_error_nomem(err) : status;
    return status;
}

/* Blocks follow one another. */
static void load_samples(struct cw_stream *s, uint32_t row)
{
    const struct cw_pm_block *blocks = s->data->pm.blocks;
    s->block = row < blocks[s->block].first ? 0 : s->block;
    while (row - blocks[s->block].first >= blocks[s->block].count)
        s->block++;
    const uint32_t within = row - blocks[s->block].first, room = s->samples.room, from = within - within % room;
    s->first = blocks[s->block].first + from;
    s->count = cw_pm_view_load(&s->samples, s->data, s->block, from);
    s->status = s->samples.status;
}

static void load_ranges(struct cw_stream *s, uint32_t row)
{
    const uint32_t left = s->row_count - row, count = left < s->view.room ? left : s->view.room;
    bool follow = true;
    for (uint32_t i = 1; i < count && follow; i++)
        follow = s->ranges[row + i] == s->ranges[row] + i;
    s->first = row;
    s->count = count;
    s->status = cw_range_view_load(&s->view, s->ranges[row], follow ? NULL : s->ranges + row, count);
}

bool cw_stream_load(struct cw_stream *s, uint32_t row)
{
    if (s->status != CW_OK || row - s->first < s->count)
        return s->status == CW_OK;
    s->evaluated = false;
    s->count = 0;
    if (s->ranges)
        load_ranges(s, row);
    else
        load_samples(s, row);
    return s->status == CW_OK;
}

bool cw_stream_evaluate(struct cw_stream *s, uint32_t row)
{
    if (!cw_stream_load(s, row) || s->evaluated)
        return s->status == CW_OK;
    if (s->ranges)
        cw_evaluate(s->plan, &s->view.data, s->values, s->statuses);
    else
        evaluate_samples(s);
    return s->evaluated = true;
}
