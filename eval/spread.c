#include "eval/spread.h"

#include <math.h>
#include <stdlib.h>

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
    const bool enough =
        r->occurrences && r->spread && count_occurrences(r, groups, data) && find_deviations(r, groups, data);
    return enough ? CW_OK : cw_error_nomem(err);
}
