#include "eval/spread.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "eval/evaluate.h"

/* ---- occurrences ------------------------------------------------------------------------------------------------ */

uint32_t cw_spread_count(const struct cw_groups *groups, uint32_t group, const struct cw_counter_data *data,
                         uint32_t column)
{
    const struct cw_group *g = &groups->items[group];
    const uint8_t *forms = groups->folds.forms + (size_t)column * data->range_count;
    uint32_t count = 0;
    for (uint32_t i = 0; i < g->count; i++)
        count += forms[g->ranges[i]] > CW_FORM_UNAVAILABLE;
    return count;
}

/* By column and group, counted when first asked for. */
struct counts {
    const struct cw_groups *groups;
    const struct cw_counter_data *data;
    uint32_t **of; /* [column][group] */
    uint32_t *least;
    bool failed;
};

static void take_column(void *counts, uint32_t column)
{
    struct counts *c = counts;
    const uint32_t groups = c->groups->count;
    if (c->failed)
        return;
    if (!c->of[column]) {
        if (!(c->of[column] = calloc((size_t)groups + 1, sizeof **c->of))) {
            c->failed = true;
            return;
        }
        for (uint32_t k = 0; k < groups; k++)
            c->of[column][k] = cw_spread_count(c->groups, k, c->data, column);
    }
    for (uint32_t k = 0; k < groups; k++)
        if (c->of[column][k] < c->least[k])
            c->least[k] = c->of[column][k];
}

static bool count_occurrences(struct cw_result *r, const struct cw_groups *groups, const struct cw_counter_data *data)
{
    const uint32_t columns = cw_schema_columns(&data->schema);
    struct counts c = {.groups = groups, .data = data, .of = calloc((size_t)columns + 1, sizeof *c.of)};
    c.failed = !c.of;
    for (uint32_t m = 0; m < r->metric_count && !c.failed; m++) {
        c.least = r->occurrences + (size_t)m * groups->count;
        for (uint32_t k = 0; k < groups->count; k++)
            c.least[k] = groups->items[k].count;
        cw_eval_plan_columns(&r->plan, m, take_column, &c);
    }
    for (uint32_t i = 0; c.of && i < columns; i++)
        free(c.of[i]);
    free(c.of);
    return !c.failed;
}

/* ---- values of several counters --------------------------------------------------------------------------------- */

struct sharing {
    struct cw_result *result;
    const struct cw_groups *groups;
    const struct cw_counter_data *data;
    struct cw_counter_data to; /* the groups' data with the means that a metric takes */
    uint32_t *columns, count;  /* of the metric */
    bool *listed;              /* of each column */
    double *values;            /* [group] */
    int8_t *statuses;
    uint32_t *occurrences; /* [group]; those that are not made anew have UINT32_MAX */
};

static void list_column(void *sharing, uint32_t column)
{
    struct sharing *s = sharing;
    if (!s->listed[column])
        s->columns[s->count++] = column;
    s->listed[column] = true;
}

static void copy_columns(struct sharing *s)
{
    const size_t groups = s->groups->count;
    for (uint32_t c = 0; c < s->count; c++) {
        const size_t at = s->columns[c] * groups;
        memcpy(s->to.forms + at, s->groups->data.forms + at, groups);
        for (int r = 0; r < CW_ROLLUP_COUNT; r++)
            memcpy(s->to.rollups[r] + at, s->groups->data.rollups[r] + at, groups * sizeof(double));
    }
}

static bool share_metric(struct sharing *s, uint32_t metric)
{
    const uint32_t groups = s->groups->count;
    const size_t first = (size_t)metric * groups;
    bool any = false, changed = false;
    for (uint32_t c = 0; c < s->count; c++)
        s->listed[s->columns[c]] = false;
    s->count = 0;
    cw_eval_plan_columns(&s->result->plan, metric, list_column, s);
    for (uint32_t k = 0; k < groups; k++, any = any || changed) {
        s->occurrences[k] = UINT32_MAX;
        if (cw_groups_merge_shared(s->groups, k, s->data, (struct cw_columns){s->columns, s->count}, &s->to, &changed,
                                   &s->occurrences[k]) != CW_OK)
            return false;
    }
    if (any)
        cw_evaluate_some(&s->result->plan, metric, 1, &s->to, s->values, s->statuses);
    for (uint32_t k = 0; any && k < groups; k++)
        if (s->occurrences[k] != UINT32_MAX) {
            s->result->values[first + k] = s->values[k];
            s->result->statuses[first + k] = s->statuses[k];
            s->result->occurrences[first + k] = s->occurrences[k];
        }
    if (any)
        copy_columns(s);
    return true;
}

static bool copy_data(struct sharing *s, struct cw_arena *arena)
{
    const size_t columns = cw_schema_columns(&s->data->schema), cells = columns * s->groups->count;
    bool enough = (s->to.forms = cw_arena_alloc(arena, cells, 1));
    for (int r = 0; r < CW_ROLLUP_COUNT && enough; r++)
        if ((enough = (s->to.rollups[r] = cw_arena_alloc(arena, cells, sizeof(double)))))
            memcpy(s->to.rollups[r], s->groups->data.rollups[r], cells * sizeof(double));
    if (enough)
        memcpy(s->to.forms, s->groups->data.forms, cells);
    s->columns = cw_arena_alloc(arena, columns, sizeof *s->columns);
    s->listed = cw_arena_alloc(arena, columns, sizeof *s->listed);
    s->values = cw_arena_alloc(arena, s->groups->count, sizeof *s->values);
    s->statuses = cw_arena_alloc(arena, s->groups->count, sizeof *s->statuses);
    s->occurrences = cw_arena_alloc(arena, s->groups->count, sizeof *s->occurrences);
    return enough && s->columns && s->listed && s->values && s->statuses && s->occurrences;
}

static bool share(struct cw_result *r, const struct cw_groups *groups, const struct cw_counter_data *data,
                  struct cw_arena *arena)
{
    struct sharing s = {.result = r, .groups = groups, .data = data, .to = groups->data};
    if (groups->by == CW_BY_FOLD) /* each of one kind */
        return true;
    bool enough = copy_data(&s, arena);
    for (uint32_t m = 0; m < r->metric_count && enough; m++)
        enough = share_metric(&s, m);
    return enough;
}

/* ---- spread ----------------------------------------------------------------------------------------------------- */

static bool has_value(const double *values, const int8_t *statuses, uint32_t range)
{
    return statuses[range] < CW_VALUE_UNAVAILABLE && isfinite(values[range]);
}

static double deviation(const struct cw_group *group, const double *values, const int8_t *statuses)
{
    double mean = 0, squares = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < group->count; i++) {
        const uint32_t range = group->ranges[i];
        if (!has_value(values, statuses, range))
            continue;
        const double off = values[range] - mean;
        mean += off / ++count;
        squares += off * (values[range] - mean);
    }
    return count > 1 ? sqrt(squares / (count - 1)) : NAN;
}

enum { MOST_VALUES = 1 << 18 }; /* that are evaluated at a time: all of them may be more than memory holds */

static bool find_deviations(struct cw_result *r, const struct cw_groups *groups, const struct cw_counter_data *data)
{
    const size_t ranges = data->range_count;
    const uint32_t room = ranges < MOST_VALUES ? (uint32_t)(MOST_VALUES / (ranges + 1)) + 1 : 1;
    double *values = calloc(room * ranges + 1, sizeof *values);
    int8_t *statuses = calloc(room * ranges + 1, sizeof *statuses);
    struct cw_counter_data counted = *data;
    counted.forms = (uint8_t *)groups->folds.forms; /* what is left out of means is left out here */
    for (uint32_t first = 0, count; values && statuses && first < r->metric_count; first += count) {
        count = r->metric_count - first < room ? r->metric_count - first : room;
        cw_evaluate_some(&r->plan, first, count, &counted, values, statuses);
        for (uint32_t m = 0; m < count; m++)
            for (uint32_t k = 0; k < groups->count; k++)
                r->spread[(size_t)(first + m) * groups->count + k] =
                    deviation(&groups->items[k], values + m * ranges, statuses + m * ranges);
    }
    const bool enough = values && statuses;
    free(values);
    free(statuses);
    return enough;
}

enum cw_status cw_spread_find(struct cw_result *r, const struct cw_groups *groups, const struct cw_counter_data *data,
                              struct cw_arena *arena, struct cw_error *err)
{
    const size_t count = (size_t)r->metric_count * groups->count; /* there are as many values */
    r->occurrences = cw_arena_alloc(arena, count, sizeof *r->occurrences);
    r->spread = cw_arena_alloc(arena, count, sizeof *r->spread);
    const bool enough = r->occurrences && r->spread && count_occurrences(r, groups, data) &&
                        share(r, groups, data, arena) && find_deviations(r, groups, data);
    return enough ? CW_OK : cw_error_nomem(err);
}
