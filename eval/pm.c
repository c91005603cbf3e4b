#include "eval/pm.h"

#include <math.h>
#include <string.h>

#include "eval/evaluate.h"
#include "image/pm_view.h"

/* The least and the greatest over instances are not recorded where only sums were asked for. Which columns a metric
 * needs them of: */
struct extremes {
    uint32_t count, *columns;
};

static void note_column(struct extremes *e, uint32_t column)
{
    if (column == CW_NONE)
        return;
    if (e->columns)
        e->columns[e->count] = column;
    e->count++;
}

static void note(struct extremes *e, const struct cw_eval_operand *o)
{
    if (o->rollup != CW_MIN && o->rollup != CW_MAX)
        return;
    if (o->kind == CW_EVAL_ROLLUP || o->kind == CW_EVAL_USER_CYCLES)
        note_column(e, o->column);
    for (uint32_t i = 0; o->kind == CW_EVAL_LINEAR && i < o->linear->count; i++)
        note_column(e, o->linear->columns[i]);
}

static void note_terms(struct extremes *e, const struct cw_eval_plan *plan, const struct cw_eval_metric *m)
{
    for (uint32_t t = 0; t < m->term_count; t++) {
        const struct cw_eval_term *term = &plan->terms[m->term + t];
        note(e, &term->x);
        note(e, &term->factor);
        for (int d = 0; d < CW_TERM_DIVISORS; d++)
            note(e, &term->divisors[d]);
    }
}

static void note_metric(struct extremes *e, const struct cw_eval_plan *plan, const struct cw_eval_metric *m)
{
    e->count = 0;
    if (!m->formula)
        note_terms(e, plan, m);
    for (uint32_t k = 0; m->formula && k < m->formula->metric_count; k++)
        note_terms(e, plan, &plan->metrics[m->operand + k]);
}

static enum cw_status find_extremes(struct extremes **out, const struct cw_eval_plan *plan, struct cw_arena *arena,
                                    struct cw_error *err)
{
    struct extremes *list = cw_arena_alloc(arena, plan->metric_count, sizeof *list);
    for (uint32_t m = 0; list && m < plan->metric_count; m++) {
        note_metric(&list[m], plan, &plan->metrics[m]);
        if (!(list[m].columns = cw_arena_alloc(arena, list[m].count, sizeof *list[m].columns)))
            return cw_error_nomem(err);
        note_metric(&list[m], plan, &plan->metrics[m]);
    }
    *out = list;
    return list ? CW_OK : cw_error_nomem(err);
}

static bool lacks(const struct cw_pm_view *view, const struct extremes *e)
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

enum cw_status cw_pm_evaluate(const struct cw_eval_plan *plan, const struct cw_counter_data *data, double *values_out,
                              int8_t *statuses_out, struct cw_arena *arena, struct cw_error *err)
{
    struct cw_pm_view view;
    struct extremes *extremes = NULL;
    const struct cw_pm_data *pm = &data->pm;
    size_t metrics = plan->metric_count, total = pm->sample_count;
    enum cw_status status = cw_pm_view_init(&view, data, arena, err);
    if (status == CW_OK)
        status = find_extremes(&extremes, plan, arena, err);
    double *values = status == CW_OK ? cw_arena_alloc(arena, metrics * view.room, sizeof *values) : NULL;
    int8_t *statuses = status == CW_OK ? cw_arena_alloc(arena, metrics * view.room, sizeof *statuses) : NULL;
    if (status == CW_OK && (!values || !statuses))
        status = cw_error_nomem(err);
    for (uint32_t b = 0; b < pm->block_count && status == CW_OK; b++)
        for (uint32_t first = 0, count; first < pm->blocks[b].count && status == CW_OK; first += count) {
            count = cw_pm_view_load(&view, data, b, first);
            status = view.status;
            cw_evaluate(plan, &view.data, values, statuses);
            for (size_t m = 0; m < metrics; m++) {
                size_t from = m * count, to = m * total + pm->blocks[b].first + first;
                memcpy(values_out + to, values + from, count * sizeof *values);
                memcpy(statuses_out + to, statuses + from, count);
                if (lacks(&view, &extremes[m]))
                    withhold(values_out + to, statuses_out + to, count);
            }
        }
    cw_pm_view_free(&view);
    return status;
}
