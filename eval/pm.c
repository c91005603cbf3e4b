#include "eval/pm.h"

#include <math.h>
#include <string.h>

#include "eval/evaluate.h"
#include "image/pm_view.h"


static void note_column(struct cw_pm_extremes *e, uint32_t column)
{
    if (column == CW_NONE)
        return;
    if (e->columns)
        e->columns[e->count] = column;
    e->count++;
}

static void note(struct cw_pm_extremes *e, const struct cw_eval_operand *o)
{
    if (o->rollup != CW_MIN && o->rollup != CW_MAX)
        return;
    if (o->kind == CW_EVAL_ROLLUP || o->kind == CW_EVAL_USER_CYCLES)
        note_column(e, o->column);
    for (uint32_t i = 0; o->kind == CW_EVAL_LINEAR && i < o->linear->count; i++)
        note_column(e, o->linear->columns[i]);
}

static void note_terms(struct cw_pm_extremes *e, const struct cw_eval_plan *plan, const struct cw_eval_metric *m)
{
    for (uint32_t t = 0; t < m->term_count; t++) {
        const struct cw_eval_term *term = &plan->terms[m->term + t];
        note(e, &term->x);
        note(e, &term->factor);
        for (int d = 0; d < CW_TERM_DIVISORS; d++)
            note(e, &term->divisors[d]);
    }
}

static void note_metric(struct cw_pm_extremes *e, const struct cw_eval_plan *plan, const struct cw_eval_metric *m)
{
    e->count = 0;
    if (!m->formula)
        note_terms(e, plan, m);
    for (uint32_t k = 0; m->formula && k < m->formula->metric_count; k++)
        note_terms(e, plan, &plan->metrics[m->operand + k]);
}

static enum cw_status find_extremes(struct cw_pm_extremes **out, const struct cw_eval_plan *plan, struct cw_arena *arena,
                                    struct cw_error *err)
{
    struct cw_pm_extremes *list = cw_arena_alloc(arena, plan->metric_count, sizeof *list);
    for (uint32_t m = 0; list && m < plan->metric_count; m++) {
        note_metric(&list[m], plan, &plan->metrics[m]);
        if (!(list[m].columns = cw_arena_alloc(arena, list[m].count, sizeof *list[m].columns)))
            return cw_error_nomem(err);
        note_metric(&list[m], plan, &plan->metrics[m]);
    }
    *out = list;
    return list ? CW_OK : cw_error_nomem(err);
}

static bool lacks(const struct cw_pm_view *view, const struct cw_pm_extremes *e)
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

enum cw_status cw_pm_evaluator_init(struct cw_pm_evaluator *e, const struct cw_eval_plan *plan,
                                    const struct cw_counter_data *data, struct cw_arena *arena, struct cw_error *err)
{
    *e = (struct cw_pm_evaluator){.plan = plan};
    const enum cw_status status = cw_pm_view_init(&e->view, data, arena, err);
    return status == CW_OK ? find_extremes(&e->extremes, plan, arena, err) : status;
}

void cw_pm_evaluator_run(const struct cw_pm_evaluator *e, double *values, int8_t *statuses)
{
    const uint32_t count = e->view.data.range_count;
    cw_evaluate(e->plan, &e->view.data, values, statuses);
    for (size_t m = 0; m < e->plan->metric_count; m++)
        if (lacks(&e->view, &e->extremes[m]))
            withhold(values + m * count, statuses + m * count, count);
}
