/* How far changes between two captures may be by chance. */
#include "eval/compare/compare.h"

#include <math.h>
#include <stdlib.h>

#include "base/large.h"

/* Of values that are finite: their mean, and the sum of the squares of what they are off it. */
struct moments {
    double mean, squares;
    uint32_t count;
};

static void add(struct moments *m, double value)
{
    if (!isfinite(value))
        return;
    const double off = value - m->mean;
    m->mean += off / ++m->count;
    m->squares += off * (value - m->mean);
}

/* Pairs say more. Where none has the value in both, passes took other turns. */
static bool has_pairs(const struct cw_group *a, const struct cw_group *b)
{
    return a->count == b->count;
}

static bool needs_sides(const struct cw_group *a, const struct cw_group *b)
{
    return a->count != b->count || a->multiplexed;
}

static struct cw_compare_spread conclude(const struct cw_group *a, const struct cw_group *b,
                                         const struct moments *pairs, const struct moments *x, const struct moments *y)
{
    struct cw_compare_spread spread = {.error = NAN};
    if (has_pairs(a, b)) {
        spread.freedom = pairs->count ? pairs->count - 1 : 0;
        spread.error = spread.freedom ? sqrt(pairs->squares / spread.freedom / pairs->count) : NAN;
    }
    if (spread.freedom || !needs_sides(a, b))
        return spread;
    const uint32_t n = x->count, m = y->count;
    spread.freedom = n && m ? n + m - 2 : 0;
    if (spread.freedom)
        spread.error = sqrt((x->squares + y->squares) / spread.freedom * (1.0 / n + 1.0 / m));
    return spread;
}

static struct cw_large *large_of(const struct cw_counter_data *data)
{
    return data->repeats ? data->repeats->large : NULL;
}

struct cw_compare_spread cw_compare_time_spread(const struct cw_comparison *c, const struct cw_match *match)
{
    const struct cw_group *a = &c->a.groups.items[match->a], *b = &c->b.groups.items[match->b];
    const double *x = c->a.groups.measured, *y = c->b.groups.measured;
    struct moments pairs = {0}, of_a = {0}, of_b = {0};
    struct cw_large *const large[] = {large_of(c->a.data), large_of(c->b.data)};
    for (uint32_t i = 0; has_pairs(a, b) && i < a->count; i++, cw_large_step(large[0]), cw_large_step(large[1]))
        add(&pairs, y[b->ranges[i]] - x[a->ranges[i]]);
    for (uint32_t i = 0; i < a->count; i++, cw_large_step(large[0]))
        add(&of_a, x[a->ranges[i]]);
    for (uint32_t i = 0; i < b->count; i++, cw_large_step(large[1]))
        add(&of_b, y[b->ranges[i]]);
    return conclude(a, b, &pairs, &of_a, &of_b);
}

/* ---- launches --------------------------------------------------------------------------------------------------- */

/* Some launches of a side in the order of the file, or what they are paired with. */
struct launches {
    struct cw_result result;
    uint32_t *rows; /* which ranges */
};

/* For each launch of one side that is wanted: its match, and its partner or itself. */
struct walk {
    struct cw_comparison *c;
    uint32_t *match, *partner; /* [range]; CW_NO_GROUP: is not wanted */
    uint32_t count, range_count;
    struct cw_arena *arena;
    const struct cw_eval_options *options;
    struct cw_error *err;
};

static bool begin(struct walk *w, const struct cw_counter_data *data)
{
    w->count = 0;
    w->range_count = data->range_count;
    w->arena = cw_arena_create();
    w->match = w->arena ? cw_arena_alloc(w->arena, data->range_count, sizeof *w->match) : NULL;
    w->partner = w->arena ? cw_arena_alloc(w->arena, data->range_count, sizeof *w->partner) : NULL;
    for (uint32_t i = 0; w->match && w->partner && i < data->range_count; i++)
        w->match[i] = CW_NO_GROUP;
    return w->match && w->partner;
}

static void want(struct walk *w, uint32_t match, const struct cw_group *of, const struct cw_group *partners)
{
    for (uint32_t i = 0; i < of->count; i++) {
        w->count += w->match[of->ranges[i]] == CW_NO_GROUP;
        w->match[of->ranges[i]] = match;
        w->partner[of->ranges[i]] = partners->ranges[i];
    }
}

static enum cw_status open_launches(const struct walk *w, struct launches *l, const struct cw_result *wanted,
                                    bool partners)
{
    *l = (struct launches){.result = *wanted, .rows = cw_arena_alloc(w->arena, w->count, sizeof *l->rows)};
    if (!l->rows)
        return cw_error_nomem(w->err);
    for (uint32_t i = 0, n = 0; i < w->range_count; i++)
        if (w->match[i] != CW_NO_GROUP)
            l->rows[n++] = partners ? w->partner[i] : i;
    l->result.streamed = true;
    enum cw_status status = cw_result_make(&l->result, w->options, w->arena, w->err);
    return status == CW_OK ? cw_result_select(&l->result, l->rows, w->count, w->err) : status;
}

static bool load(const struct cw_result *r, uint32_t row)
{
    return !r->stream || cw_stream_evaluate(r->stream, row);
}

static double value_of(const struct cw_result *r, uint32_t metric, uint32_t row)
{
    const struct cw_stream *s = r->stream;
    return s ? s->values[(size_t)metric * s->count + row - s->first] : r->values[(size_t)metric * r->row_count + row];
}

/* Adds to moments[match][metric] each launch's values, or those of its partner less them. */
static enum cw_status add_launches(struct walk *w, const struct cw_result *of, const struct cw_result *partners,
                                   struct moments *moments)
{
    struct launches a, b = {0};
    const uint32_t metrics = of->metric_count;
    enum cw_status status = open_launches(w, &a, of, false);
    if (status == CW_OK && partners)
        status = open_launches(w, &b, partners, true);
    for (uint32_t row = 0; status == CW_OK && row < w->count; row++) {
        struct moments *to = moments + (size_t)w->match[a.rows[row]] * metrics;
        if (!load(&a.result, row))
            return a.result.stream->status;
        if (partners && !load(&b.result, row))
            return b.result.stream->status;
        for (uint32_t m = 0; m < metrics; m++) {
            const double value = value_of(&a.result, m, row);
            add(&to[m], partners ? value_of(&b.result, m, row) - value : value);
        }
    }
    return status;
}

static bool is_pair(const struct cw_comparison *c, uint32_t match, const struct cw_group **a, const struct cw_group **b)
{
    const struct cw_match *m = &c->matches[match];
    if (m->a == CW_NO_GROUP || m->b == CW_NO_GROUP)
        return false;
    *a = &c->a.groups.items[m->a];
    *b = &c->b.groups.items[m->b];
    return true;
}

/* Of the launches of `of`, one side alone, or with those of the other that they go with. */
static enum cw_status walk_over(struct walk *w, const struct cw_result *of, const struct cw_result *partners,
                                bool first, struct moments *moments)
{
    const struct cw_group *a, *b;
    enum cw_status status = begin(w, of->data) ? CW_OK : cw_error_nomem(w->err);
    for (uint32_t i = 0; status == CW_OK && i < w->c->match_count; i++)
        if (is_pair(w->c, i, &a, &b) && (partners ? has_pairs(a, b) : needs_sides(a, b)))
            want(w, i, first ? a : b, partners ? b : first ? a : b);
    if (status == CW_OK && w->count)
        status = add_launches(w, of, partners, moments);
    cw_arena_destroy(w->arena);
    return status;
}

enum cw_status cw_compare_spreads(struct cw_comparison *c, const struct cw_result *a, const struct cw_result *b,
                                  const struct cw_eval_options *options, struct cw_arena *arena, struct cw_error *err)
{
    struct walk w = {.c = c, .options = options, .err = err};
    const size_t count = (size_t)c->match_count * a->metric_count;
    struct moments *pairs = calloc(count + 1, sizeof *pairs), *x = calloc(count + 1, sizeof *x);
    struct moments *y = calloc(count + 1, sizeof *y);
    struct cw_compare_spread *spreads = cw_arena_alloc(arena, count, sizeof *spreads);
    const struct cw_group *of_a, *of_b;
    enum cw_status status = pairs && x && y && spreads ? CW_OK : cw_error_nomem(err);
    if (status == CW_OK && count)
        status = walk_over(&w, a, b, true, pairs);
    if (status == CW_OK && count)
        status = walk_over(&w, a, NULL, true, x);
    if (status == CW_OK && count)
        status = walk_over(&w, b, NULL, false, y);
    for (size_t i = 0; status == CW_OK && i < count; i++)
        if (is_pair(c, (uint32_t)(i / a->metric_count), &of_a, &of_b))
            spreads[i] = conclude(of_a, of_b, &pairs[i], &x[i], &y[i]);
    c->spreads = spreads;
    free(pairs);
    free(x);
    free(y);
    return status;
}
