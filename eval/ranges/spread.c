#include "eval/ranges/spread.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "eval/evaluate.h"
#include "eval/ranges/group_means.h"
#include "eval/quantile.h"
#include "image/range_view.h"

/* ---- ranges, one after another ---------------------------------------------------------------------------------- */

/* The mean of values, and the sum of their squared distances from it. */
struct moments {
    double mean, squares;
    uint32_t count;
};

struct walk {
    struct cw_result *result;
    const struct cw_groups *groups;
    const struct cw_counter_data *data;
    struct cw_range_view view;
    struct cw_group_members members;
    struct moments *moments; /* [metric][group] */
    uint32_t *having;        /* [column][group]: ranges that have the column */
    /* of the ranges of the view: */
    uint8_t *forms;      /* as `view`, without values that means leave out */
    double *values;      /* [metric][range] */
    int8_t *statuses;    /* the same */
    size_t *begin, *end; /* [range]: which of its groups is at hand */
};

static bool allocate(struct walk *w, struct cw_arena *arena)
{
    const size_t metrics = w->result->metric_count, groups = w->groups->count, room = w->view.room;
    const size_t columns = cw_schema_columns(&w->data->schema);
    w->moments = cw_arena_alloc(arena, metrics * groups, sizeof *w->moments);
    w->having = cw_arena_alloc(arena, columns * groups, sizeof *w->having);
    w->forms = cw_arena_alloc(arena, columns * room, sizeof *w->forms);
    w->values = cw_arena_alloc(arena, metrics * room, sizeof *w->values);
    w->statuses = cw_arena_alloc(arena, metrics * room, sizeof *w->statuses);
    w->begin = cw_arena_alloc(arena, room, sizeof *w->begin);
    w->end = cw_arena_alloc(arena, room, sizeof *w->end);
    return w->moments && w->having && w->forms && w->values && w->statuses && w->begin && w->end &&
           cw_group_members_make(&w->members, w->groups->items, (uint32_t)groups, w->data->range_count);
}

/* Clears values of a range that the group's mean leaves out, which differ by group. */
static void leave_out(const struct walk *w, uint32_t i, uint32_t group, uint32_t kind)
{
    const uint32_t count = w->view.data.range_count, columns = cw_schema_columns(&w->data->schema);
    for (uint32_t c = 0; c < columns; c++)
        if (cw_group_leaves_out(&w->groups->items[group], kind, c))
            w->forms[(size_t)c * count + i] = CW_FORM_NOT_COLLECTED;
}

/* Finds the next groups of each range: all of a warm one, one of a cold one. False after the last. */
static bool take_groups(const struct walk *w, uint32_t first)
{
    const uint32_t count = w->view.data.range_count;
    bool any = false;
    memcpy(w->forms, w->view.data.forms, (size_t)count * cw_schema_columns(&w->data->schema));
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t *groups, kind = cw_fold_kind(&w->groups->folds, w->data, first + i);
        const size_t all = cw_group_members_find(&w->members, first + i, &groups);
        const bool cold = cw_fold_is_cold(&w->view.ranges[i]);
        w->begin[i] = w->end[i];
        w->end[i] = cold ? w->begin[i] : all;
        while (cold && w->end[i] < all && groups[w->end[i]] == groups[w->begin[i]])
            w->end[i]++;
        if (w->begin[i] == w->end[i])
            continue;
        any = true;
        if (cold)
            leave_out(w, i, groups[w->begin[i]], kind);
    }
    return any;
}

static void add_value(struct moments *m, double value, int8_t status)
{
    if (status >= CW_VALUE_UNAVAILABLE || !isfinite(value))
        return;
    const double off = value - m->mean;
    m->mean += off / ++m->count;
    m->squares += off * (value - m->mean);
}

/* Adds a range's columns and values to a group, once for each time that it is there. */
static void add_range(const struct walk *w, uint32_t i, uint32_t group)
{
    const uint32_t count = w->view.data.range_count, columns = cw_schema_columns(&w->data->schema);
    for (uint32_t c = 0; c < columns; c++)
        w->having[(size_t)c * w->groups->count + group] += w->forms[(size_t)c * count + i] > CW_FORM_UNAVAILABLE;
    for (uint32_t m = 0; m < w->result->metric_count; m++)
        add_value(&w->moments[(size_t)m * w->groups->count + group], w->values[(size_t)m * count + i],
                  w->statuses[(size_t)m * count + i]);
}

static void add_view(const struct walk *w, uint32_t first)
{
    const uint32_t count = w->view.data.range_count;
    struct cw_counter_data counted = w->view.data;
    counted.forms = w->forms;
    memset(w->end, 0, count * sizeof *w->end);
    while (take_groups(w, first)) {
        cw_evaluate(&w->result->plan, &counted, w->values, w->statuses);
        for (uint32_t i = 0; i < count; i++) {
            const uint32_t *groups;
            cw_group_members_find(&w->members, first + i, &groups);
            for (size_t n = w->begin[i]; n < w->end[i]; n++)
                add_range(w, i, groups[n]);
        }
    }
}

static enum cw_status walk_over(struct walk *w, struct cw_arena *arena, struct cw_error *err)
{
    enum cw_status status = cw_range_view_init(&w->view, w->data, arena, err);
    if (status == CW_OK && !allocate(w, arena))
        status = cw_error_nomem(err);
    for (uint32_t first = 0, n; status == CW_OK && first < w->data->range_count; first += n) {
        n = w->data->range_count - first < w->view.room ? w->data->range_count - first : w->view.room;
        status = cw_range_view_load(&w->view, first, NULL, n);
        if (status == CW_OK)
            add_view(w, first);
    }
    cw_range_view_free(&w->view);
    cw_group_members_free(&w->members);
    return status;
}

/* ---- occurrences and spread ------------------------------------------------------------------------------------- */

struct counts {
    const struct walk *walk;
    uint32_t *least; /* [group] */
};

static void take_column(void *counts, uint32_t column)
{
    const struct counts *c = counts;
    const uint32_t groups = c->walk->groups->count;
    const uint32_t *having = c->walk->having + (size_t)column * groups;
    for (uint32_t k = 0; k < groups; k++)
        if (having[k] < c->least[k])
            c->least[k] = having[k];
}

static void conclude(const struct walk *w)
{
    const uint32_t groups = w->groups->count;
    for (uint32_t m = 0; m < w->result->metric_count; m++) {
        struct counts c = {w, w->result->occurrences + (size_t)m * groups};
        for (uint32_t k = 0; k < groups; k++) {
            const struct moments *of = &w->moments[(size_t)m * groups + k];
            c.least[k] = w->groups->items[k].count;
            w->result->spread[(size_t)m * groups + k] = cw_sample_deviation(of->squares, of->count);
        }
        cw_eval_plan_columns(&w->result->plan, m, take_column, &c);
    }
}

/* ---- values of several counters --------------------------------------------------------------------------------- */

struct sharing {
    struct cw_result *result;
    const struct cw_groups *groups;
    const struct cw_counter_data *data;
    struct cw_counter_data to; /* the groups' data, with a metric's own means */
    uint32_t *columns, count;  /* of the metric */
    bool *listed;              /* [column] */
    double *values;            /* [group] */
    int8_t *statuses;
    uint32_t *occurrences; /* [group]; UINT32_MAX unless its mean is made anew */
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
        if (cw_groups_merge_shared(s->groups, k, s->columns, s->count, &s->to, &changed, &s->occurrences[k]) != CW_OK)
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
    if (groups->by == CW_BY_FOLD) /* each group has one kind */
        return true;
    bool enough = copy_data(&s, arena);
    for (uint32_t m = 0; m < r->metric_count && enough; m++)
        enough = share_metric(&s, m);
    return enough;
}

enum cw_status cw_spread_find(struct cw_result *r, const struct cw_groups *groups, const struct cw_counter_data *data,
                              struct cw_arena *arena, struct cw_error *err)
{
    const size_t count = (size_t)r->metric_count * groups->count; /* no more than there are values */
    struct walk w = {.result = r, .groups = groups, .data = data};
    r->occurrences = cw_arena_alloc(arena, count, sizeof *r->occurrences);
    r->spread = cw_arena_alloc(arena, count, sizeof *r->spread);
    if (!r->occurrences || !r->spread)
        return cw_error_nomem(err);
    const enum cw_status status = walk_over(&w, arena, err);
    if (status != CW_OK)
        return status;
    conclude(&w);
    return share(r, groups, data, arena) ? CW_OK : cw_error_nomem(err);
}
