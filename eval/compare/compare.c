#define _GNU_SOURCE
#include "eval/compare/compare.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/large.h"
#include "base/shorten.h"
#include "base/text.h"
#include "eval/compare/statistics.h"
#include "eval/labels.h"
#include "metricdb/fact.h"

double cw_compare_relative(double a, double b)
{
    if (a == b)
        return 0;
    return isinf(a - b) ? 1 : fabs(a - b) / fmax(fabs(a), fabs(b)); /* NaN if only one side has it */
}

double cw_compare_part(double a, double b)
{
    if (a == b)
        return 0;
    const double part = (b - a) / fabs(a);
    return isfinite(part) ? part : NAN;
}

/* ---- a capture by groups ----------------------------------------------------------------------------------------- */

enum cw_status cw_side_make(struct cw_side *side, const struct cw_result *wanted, enum cw_group_by by,
                            const struct cw_eval_options *options, struct cw_arena *arena, struct cw_error *err)
{
    *side = (struct cw_side){.means = *wanted, .data = wanted->data};
    side->means.data = &side->groups.data;
    CW_TRY(cw_groups_make(&side->groups, by, wanted->data, wanted->chip, NULL, arena, err));
    return cw_result_make(&side->means, options, arena, err);
}

/* False when out of memory. */
static bool take_mean_run(struct cw_side *side, uint32_t runs, struct cw_arena *arena)
{
    struct cw_groups *groups = &side->groups;
    struct cw_group *items = cw_arena_alloc(arena, groups->count, sizeof *items);
    side->runs = runs;
    for (uint32_t i = 0; items && i < groups->count; i++) {
        items[i] = groups->items[i];
        items[i].total /= runs;
    }
    groups->items = items;
    groups->total /= runs;
    groups->whole /= runs;
    return items;
}

double cw_side_launches(const struct cw_side *side, uint32_t group)
{
    return (double)side->groups.items[group].count / side->runs;
}

const char *cw_group_label(const struct cw_groups *groups, uint32_t group, size_t width, struct cw_arena *arena)
{
    const struct cw_range *range = cw_launch_of(&groups->data, group);
    char shown[CW_SHORT_SIZE];
    const char *name = groups->items[group].name;
    if (width)
        name = cw_shorten(name, width, shown);
    const size_t size = strlen(name) * 4 + 128; /* an escape has at most 4 bytes for each */
    char *label = cw_arena_alloc(arena, size, 1);
    if (!label)
        return NULL;
    const size_t used = cw_text_format(label, size, "%s", name);
    if (groups->by == CW_BY_KERNEL && range->grid[0])
        cw_text_format(label + used, size - used,
                       " (%" PRIu32 ", %" PRIu32 ", %" PRIu32 ")x(%" PRIu32 ", %" PRIu32 ", %" PRIu32 ")",
                       range->grid[0], range->grid[1], range->grid[2], range->block[0], range->block[1],
                       range->block[2]);
    return label;
}

/* ---- differences of captures ------------------------------------------------------------------------------------- */

struct comparing {
    struct cw_difference *list;
    uint32_t count;
    struct cw_arena *arena;
    bool enough; /* false when out of memory */
};

const char *cw_difference_side(const char *side)
{
    return *side ? side : "(none)";
}

static void differ(struct comparing *c, const char *what, const char *a, const char *b, bool other)
{
    if (a && b && strcmp(a, b) != 0)
        c->list[c->count++] = (struct cw_difference){what, a, b, other};
    c->enough = c->enough && a && b;
}

static void differ_in_number(struct comparing *c, const char *what, uint64_t a, uint64_t b, bool other)
{
    differ(c, what, cw_arena_printf(c->arena, "%" PRIu64, a), cw_arena_printf(c->arena, "%" PRIu64, b), other);
}

static const char *hash_text(const struct cw_schema *s, struct cw_arena *arena)
{
    char text[33];
    for (int i = 0; i < 16; i++)
        snprintf(text + 2 * i, 3, "%02x", s->database[i]);
    return cw_arena_strdup(arena, text);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorts the names of counters. */
static const char **sorted_counters(const struct cw_schema *s, struct cw_arena *arena)
{
    const char **names = cw_arena_alloc(arena, s->counter_count, sizeof *names);
    for (uint32_t i = 0; names && i < s->counter_count; i++)
        names[i] = s->counters[i].name;
    if (names)
        qsort(names, s->counter_count, sizeof *names, by_text);
    return names;
}

static void differ_in_counters(struct comparing *c, const struct cw_schema *a, const struct cw_schema *b)
{
    const char **x = sorted_counters(a, c->arena), **y = sorted_counters(b, c->arena);
    uint32_t i = 0, k = 0, left = 0, right = 0;
    const char *first = NULL, *second = NULL;
    c->enough = c->enough && x && y;
    while (x && y && (i < a->counter_count || k < b->counter_count)) {
        const int order = i == a->counter_count ? 1 : k == b->counter_count ? -1 : strcmp(x[i], y[k]);
        if (order < 0 && !left++)
            first = x[i];
        if (order > 0 && !right++)
            second = y[k];
        i += order <= 0;
        k += order >= 0;
    }
    if (left || right)
        differ(c, "counters of one alone",
               left ? cw_arena_printf(c->arena, "%" PRIu32 ": %s%s", left, first, left > 1 ? ", ..." : "") : "none",
               right ? cw_arena_printf(c->arena, "%" PRIu32 ": %s%s", right, second, right > 1 ? ", ..." : "") : "none",
               true);
}

static int by_meaning(const void *a, const void *b)
{
    return strcmp(((const struct cw_meaning *)a)->name, ((const struct cw_meaning *)b)->name);
}

/* Finds names under which the captures recorded different things: other raw counters, or another unit. The formula of
 * the plan does not matter, as one formula evaluates both here. */
static void differ_in_meanings(struct comparing *c, const struct cw_schema *a, const struct cw_schema *b)
{
    struct cw_meaning *sorted = cw_arena_alloc(c->arena, b->meaning_count, sizeof *sorted);
    const char *first = NULL;
    uint32_t count = 0;
    c->enough = c->enough && sorted;
    if (!sorted || !b->meaning_count)
        return;
    memcpy(sorted, b->meanings, b->meaning_count * sizeof *sorted);
    qsort(sorted, b->meaning_count, sizeof *sorted, by_meaning);
    for (uint32_t i = 0; i < a->meaning_count; i++) {
        const struct cw_meaning *m = bsearch(&a->meanings[i], sorted, b->meaning_count, sizeof *sorted, by_meaning);
        if (m && m->raws != a->meanings[i].raws && !count++)
            first = m->name;
    }
    if (count)
        differ(c, "recorded by a name",
               cw_arena_printf(c->arena, "%" PRIu32 ": %s%s", count, first, count > 1 ? ", ..." : ""), "something else",
               true);
}

static bool is_one_of(const char *key, const char *const *keys)
{
    while (*keys && strcmp(key, *keys) != 0)
        keys++;
    return *keys;
}

/* The place of a device is no difference, and its chip is the capture's. */
static bool is_told(const char *key)
{
    static const char *const others[] = {"pci", "uuid", "numa_node", "peers", "chip", NULL};
    return !is_one_of(key, others);
}

/* Captures before 2026-11-30 lack these, and captures of nodes without NVML. */
static bool may_lack(const char *key)
{
    static const char *const others[] = {"ecc", "mig", "pcie", "nvlinks", NULL};
    return is_one_of(key, others);
}

/* Whether values of two devices that differ in this cannot be compared: other GPUs, or other launches of the program.
 */
static bool is_of_others(const char *key)
{
    static const char *const others[] = {"name", "simulated", "multiprocessors", "filter", NULL};
    return is_one_of(key, others);
}

static void differ_in_device(struct comparing *c, const struct cw_device *a, const struct cw_device *b)
{
    for (uint32_t i = 0; i < a->attribute_count; i++) {
        const char *key = a->attributes[i].key, *value = cw_device_attribute(b, key);
        if (is_told(key) && (value || !may_lack(key)))
            differ(c, strcmp(key, "name") == 0 ? "device name" : key, a->attributes[i].value, value ? value : "",
                   is_of_others(key));
    }
    for (uint32_t i = 0; i < b->attribute_count; i++)
        if (is_told(b->attributes[i].key) && !may_lack(b->attributes[i].key) &&
            !cw_device_attribute(a, b->attributes[i].key))
            differ(c, b->attributes[i].key, "", b->attributes[i].value, is_of_others(b->attributes[i].key));
}

/* "device 1 has" if the first devices are alike. */
static void differ_in_devices(struct comparing *c, const struct cw_counter_data *a, const struct cw_counter_data *b)
{
    differ_in_number(c, "devices", a->device_count, b->device_count, false);
    for (uint32_t i = 0, before = c->count; i < a->device_count && i < b->device_count && c->count == before; i++)
        differ_in_device(c, &a->devices[i], &b->devices[i]);
}

/* Of the first pair of devices whose clocks differ. */
static void differ_in_clocks(struct comparing *c, const struct cw_counter_data *a, const struct cw_counter_data *b)
{
    char of_a[CW_GPU_CLOCKS_TEXT], of_b[CW_GPU_CLOCKS_TEXT];
    for (uint32_t i = 0, x, y; i < a->device_count && i < b->device_count; i++) {
        if (!cw_counter_data_clocks(a, i, &x) || !cw_counter_data_clocks(b, i, &y))
            continue;
        const struct cw_gpu_clocks *ours = &a->clocks[x], *theirs = &b->clocks[y];
        if (!cw_gpu_clocks_differ(ours, theirs))
            continue;
        differ(c, "clocks", cw_arena_strdup(c->arena, cw_gpu_clocks_text(ours, of_a)),
               cw_arena_strdup(c->arena, cw_gpu_clocks_text(theirs, of_b)), false);
        return;
    }
}

/* How the program failed; "" for one that ended well, or goes on. */
static const char *failure(const struct cw_counter_data *data, struct cw_arena *arena)
{
    return data->how == CW_END_SIGNALLED              ? cw_arena_printf(arena, "killed by signal %" PRIu32, data->code)
           : data->how == CW_END_EXITED && data->code ? cw_arena_printf(arena, "exit status %" PRIu32, data->code)
                                                      : "";
}

static enum cw_status compare_captures(const struct cw_difference **differences, uint32_t *count,
                                       const struct cw_counter_data *a, const struct cw_counter_data *b,
                                       struct cw_arena *arena, struct cw_error *err)
{
    const struct cw_schema *x = &a->schema, *y = &b->schema;
    size_t room = 16;
    for (uint32_t i = 0; i < a->device_count; i++)
        room += a->devices[i].attribute_count;
    for (uint32_t i = 0; i < b->device_count; i++)
        room += b->devices[i].attribute_count;
    struct comparing c = {cw_arena_alloc(arena, room, sizeof *c.list), 0, arena, true};
    if (!c.list)
        return cw_error_nomem(err);
    differ(&c, "chip", x->chip, y->chip, true);
    differ_in_devices(&c, a, b);
    differ_in_clocks(&c, a, b);
    differ(&c, "profiler", cw_profiler_names[x->profiler], cw_profiler_names[y->profiler], true);
    differ_in_number(&c, "passes", x->pass_count, y->pass_count, true);
    differ_in_counters(&c, x, y);
    differ_in_meanings(&c, x, y);
    differ(&c, "database", hash_text(x, arena), hash_text(y, arena), false);
    differ(&c, "tool", x->producer, y->producer, false);
    differ(&c, "capture", a->complete ? "complete" : "incomplete", b->complete ? "complete" : "incomplete", false);
    differ(&c, "failure", failure(a, arena), failure(b, arena), true);
    *differences = c.list;
    *count = c.count;
    return c.enough ? CW_OK : cw_error_nomem(err);
}

/* ---- which group is which ---------------------------------------------------------------------------------------- */

/* Kernels by names that different profilers spell. */
static int compare_spellings(const struct cw_range *a, const struct cw_range *b, bool shape)
{
    char x[CW_SHORT_SIZE], y[CW_SHORT_SIZE];
    const int order = strcmp(cw_shorten_to_spelling(a->name, x), cw_shorten_to_spelling(b->name, y));
    struct cw_range left = *a, right = *b;
    left.kernel = right.kernel = left.name = right.name = ""; /* only shapes are left to compare */
    return order ? order : cw_range_compare_kernels(&left, &right, shape);
}

/* By name, and with `shape` also by grid and block. */
static int compare_groups(const struct cw_groups *a, uint32_t i, const struct cw_groups *b, uint32_t k, bool shape,
                          bool spelled)
{
    if (spelled)
        return compare_spellings(cw_launch_of(&a->data, i), cw_launch_of(&b->data, k), shape);
    return a->by == CW_BY_KERNEL ? cw_range_compare_kernels(cw_launch_of(&a->data, i), cw_launch_of(&b->data, k), shape)
                                 : strcmp(a->items[i].name, b->items[k].name);
}

struct sorting {
    const struct cw_groups *groups;
    bool shape, spelled;
};

static int in_order(const void *a, const void *b, void *sorting)
{
    const struct sorting *s = sorting;
    const uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    const uint32_t x = s->groups->items[i].ranges[0], y = s->groups->items[k].ranges[0];
    const int order = compare_groups(s->groups, i, s->groups, k, s->shape, s->spelled);
    return order ? order : (x > y) - (x < y);
}

struct matching {
    const struct cw_groups *a, *b;
    uint32_t *left, *right, left_count, right_count; /* groups without a match */
    struct cw_match *list;
    uint32_t count;
};

/* A total without some launches cannot be compared. */
static double whole_time(const struct cw_group *group)
{
    return group->timed == group->count ? group->total : NAN;
}

static void add_match(struct matching *m, uint32_t a, uint32_t b, bool reshaped)
{
    const double before = a == CW_NO_GROUP ? 0 : whole_time(&m->a->items[a]);
    const double after = b == CW_NO_GROUP ? 0 : whole_time(&m->b->items[b]);
    m->list[m->count++] = (struct cw_match){a, b, reshaped, after - before};
}

/* Turns groups that go together into matches; the others remain. */
static void match(struct matching *m, bool shape, bool spelled)
{
    struct sorting a = {m->a, shape, spelled}, b = {m->b, shape, spelled};
    uint32_t i = 0, k = 0, left = 0, right = 0;
    qsort_r(m->left, m->left_count, sizeof *m->left, in_order, &a);
    qsort_r(m->right, m->right_count, sizeof *m->right, in_order, &b);
    while (i < m->left_count || k < m->right_count) {
        const int order = i == m->left_count    ? 1
                          : k == m->right_count ? -1
                                                : compare_groups(m->a, m->left[i], m->b, m->right[k], shape, spelled);
        if (order == 0)
            add_match(m, m->left[i++], m->right[k++], !shape);
        else if (order < 0)
            m->left[left++] = m->left[i++];
        else
            m->right[right++] = m->right[k++];
    }
    m->left_count = left;
    m->right_count = right;
}

static int greatest_first(const void *a, const void *b)
{
    const struct cw_match *x = a, *y = b;
    const double s = isnan(x->change) ? -1 : fabs(x->change), t = isnan(y->change) ? -1 : fabs(y->change);
    return s != t ? (s < t) - (s > t) : x->a != y->a ? (x->a > y->a) - (x->a < y->a) : (x->b > y->b) - (x->b < y->b);
}

static uint32_t *all_groups(const struct cw_groups *g, struct cw_arena *arena)
{
    uint32_t *list = cw_arena_alloc(arena, g->count, sizeof *list);
    for (uint32_t i = 0; list && i < g->count; i++)
        list[i] = i;
    return list;
}

static enum cw_status match_groups(const struct cw_match **matches, uint32_t *count, const struct cw_groups *a,
                                   const struct cw_groups *b, struct cw_arena *arena, struct cw_error *err)
{
    struct matching m = {.a = a,
                         .b = b,
                         .left = all_groups(a, arena),
                         .right = all_groups(b, arena),
                         .left_count = a->count,
                         .right_count = b->count,
                         .list = cw_arena_alloc(arena, (size_t)a->count + b->count, sizeof *m.list)};
    if (!m.left || !m.right || !m.list)
        return cw_error_nomem(err);
    const bool spelled = a->by == CW_BY_KERNEL && !cw_labels_alike(&a->data, &b->data);
    /* first equal names: overloads have one spelling */
    match(&m, true, false);
    if (spelled)
        match(&m, true, true);
    if (a->by == CW_BY_KERNEL)
        match(&m, false, false);
    if (spelled)
        match(&m, false, true);
    for (uint32_t i = 0; i < m.left_count; i++)
        add_match(&m, m.left[i], CW_NO_GROUP, false);
    for (uint32_t k = 0; k < m.right_count; k++)
        add_match(&m, CW_NO_GROUP, m.right[k], false);
    qsort(m.list, m.count, sizeof *m.list, greatest_first);
    *matches = m.list;
    *count = m.count;
    return CW_OK;
}

/* ---- changes by chance ------------------------------------------------------------------------------------------- */

/* The mean of finite values, and the sum of their squared distances from it. */
struct moments {
    double mean, squares;
    uint32_t count;
};

static void add_value(struct moments *m, double value)
{
    if (!isfinite(value))
        return;
    const double off = value - m->mean;
    m->mean += off / ++m->count;
    m->squares += off * (value - m->mean);
}

/* The standard error of a change, NaN of single launches, and its degrees of freedom, 0 without any. */
struct cw_compare_spread {
    double error;
    unsigned freedom;
};

/* Pairs give a better estimate. If no pair has the value on both sides, passes took other turns. */
static bool has_pairs(const struct cw_group *a, const struct cw_group *b)
{
    return a->count == b->count;
}

static bool needs_sides(const struct cw_group *a, const struct cw_group *b)
{
    return a->count != b->count || a->multiplexed;
}

static struct cw_compare_spread make_spread(const struct cw_group *a, const struct cw_group *b,
                                            const struct moments *pairs, const struct moments *x,
                                            const struct moments *y)
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

static struct cw_compare_spread time_spread(const struct cw_comparison *c, const struct cw_match *match)
{
    const struct cw_group *a = &c->a.groups.items[match->a], *b = &c->b.groups.items[match->b];
    const double *x = c->a.groups.measured, *y = c->b.groups.measured;
    struct moments pairs = {0}, of_a = {0}, of_b = {0};
    struct cw_large *const large[] = {large_of(c->a.data), large_of(c->b.data)};
    for (uint32_t i = 0; has_pairs(a, b) && i < a->count; i++, cw_large_step(large[0]), cw_large_step(large[1]))
        add_value(&pairs, y[b->ranges[i]] - x[a->ranges[i]]);
    for (uint32_t i = 0; i < a->count; i++, cw_large_step(large[0]))
        add_value(&of_a, x[a->ranges[i]]);
    for (uint32_t i = 0; i < b->count; i++, cw_large_step(large[1]))
        add_value(&of_b, y[b->ranges[i]]);
    return make_spread(a, b, &pairs, &of_a, &of_b);
}

/* ---- launches ---------------------------------------------------------------------------------------------------- */

/* Some launches of a side in the order of the file, or their partners. */
struct launches {
    struct cw_result result;
    uint32_t *rows; /* their ranges */
};

/* The match of each wanted launch of one side, and its partner or itself. */
struct walk {
    struct cw_comparison *c;
    uint32_t *match, *partner; /* [range]; CW_NO_GROUP: not wanted */
    uint32_t count, range_count;
    struct cw_arena *arena;
    const struct cw_eval_options *options;
    struct cw_error *err;
};

static bool begin_walk(struct walk *w, const struct cw_counter_data *data)
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
    CW_TRY(cw_result_make(&l->result, w->options, w->arena, w->err));
    return cw_result_select(&l->result, l->rows, w->count, w->err);
}

static bool load_row(const struct cw_result *r, uint32_t row)
{
    return !r->stream || cw_stream_evaluate(r->stream, row);
}

static double value_in(const struct cw_result *r, uint32_t metric, uint32_t row)
{
    const struct cw_stream *s = r->stream;
    return s ? s->values[(size_t)metric * s->count + row - s->first] : r->values[(size_t)metric * r->row_count + row];
}

/* Adds each launch's values to moments[match][metric]; with `partners`, the partner's values less these. */
static enum cw_status add_launches(struct walk *w, const struct cw_result *of, const struct cw_result *partners,
                                   struct moments *moments)
{
    struct launches a, b = {0};
    const uint32_t metrics = of->metric_count;
    CW_TRY(open_launches(w, &a, of, false));
    if (partners)
        CW_TRY(open_launches(w, &b, partners, true));
    for (uint32_t row = 0; row < w->count; row++) {
        struct moments *to = moments + (size_t)w->match[a.rows[row]] * metrics;
        if (!load_row(&a.result, row))
            return a.result.stream->status;
        if (partners && !load_row(&b.result, row))
            return b.result.stream->status;
        for (uint32_t m = 0; m < metrics; m++) {
            const double value = value_in(&a.result, m, row);
            add_value(&to[m], partners ? value_in(&b.result, m, row) - value : value);
        }
    }
    return CW_OK;
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

/* Walks over the launches of `of`, alone or with their partners on the other side. */
static enum cw_status walk_over(struct walk *w, const struct cw_result *of, const struct cw_result *partners,
                                bool first, struct moments *moments)
{
    const struct cw_group *a, *b;
    enum cw_status status = begin_walk(w, of->data) ? CW_OK : cw_error_nomem(w->err);
    for (uint32_t i = 0; status == CW_OK && i < w->c->match_count; i++)
        if (is_pair(w->c, i, &a, &b) && (partners ? has_pairs(a, b) : needs_sides(a, b)))
            want(w, i, first ? a : b, partners ? b : first ? a : b);
    if (status == CW_OK && w->count)
        status = add_launches(w, of, partners, moments);
    cw_arena_destroy(w->arena);
    return status;
}

static enum cw_status find_spreads(struct cw_comparison *c, const struct cw_result *a, const struct cw_result *b,
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
            spreads[i] = make_spread(of_a, of_b, &pairs[i], &x[i], &y[i]);
    c->spreads = spreads;
    free(pairs);
    free(x);
    free(y);
    return status;
}

/* ---- changes ----------------------------------------------------------------------------------------------------- */

static struct cw_change find_change(double a, double b, const struct cw_compare_spread *spread, bool count)
{
    const double by_chance = 1e-4, least = 1e-3, unknown = 0.02, same = 1e-12;
    struct cw_change change = {.a = a, .b = b, .relative = cw_compare_relative(a, b), .spread = NAN};
    if (spread) {
        change.spread = spread->error;
        change.freedom = spread->freedom;
    }
    if (!change.freedom)
        change.changed = change.relative > (count ? same : unknown);
    else if (change.spread == 0)
        change.changed = change.relative > same;
    else
        change.changed =
            change.relative >= least && cw_student_tail(fabs(b - a) / change.spread, change.freedom) < by_chance / 2;
    return change;
}

/* Whether a capture with the metric's counters has no value of it here. */
static bool lacks(const struct cw_result *r, uint32_t metric, enum cw_value_status status)
{
    return status == CW_VALUE_NOT_COLLECTED && r->plan.metrics[metric].status != CW_VALUE_NOT_COLLECTED;
}

struct cw_change cw_compare_metric(const struct cw_comparison *c, const struct cw_match *match, uint32_t metric)
{
    const struct cw_result *a = &c->a.means, *b = &c->b.means;
    const size_t at = (size_t)(match - c->matches) * a->metric_count + metric;
    const size_t x = (size_t)metric * a->row_count + match->a, y = (size_t)metric * b->row_count + match->b;
    struct cw_change change = find_change(a->values[x], b->values[y], c->spreads ? &c->spreads[at] : NULL,
                                          c->classes[metric] == CW_CLASS_EXACT);
    change.a_status = (enum cw_value_status)a->statuses[x];
    change.b_status = (enum cw_value_status)b->statuses[y];
    change.unjudged = cw_value_is_lost(change.a_status) || cw_value_is_lost(change.b_status) ||
                      (change.a_status != change.b_status &&
                       (lacks(a, metric, change.a_status) || lacks(b, metric, change.b_status)));
    const bool zero = change.a_status == CW_VALUE_ZERO_DENOMINATOR;
    change.changed = change.changed && !cw_value_is_doubtful(change.a_status) &&
                     !cw_value_is_doubtful(change.b_status) && zero == (change.b_status == CW_VALUE_ZERO_DENOMINATOR);
    return change;
}

struct cw_change cw_compare_time(const struct cw_comparison *c, const struct cw_match *match)
{
    const struct cw_group *a = &c->a.groups.items[match->a], *b = &c->b.groups.items[match->b];
    const struct cw_compare_spread spread = time_spread(c, match);
    struct cw_change change = find_change(a->timed ? a->mean : NAN, b->timed ? b->mean : NAN, &spread, false);
    change.unjudged = isnan(change.a) != isnan(change.b);
    return change;
}

static double size_of(const struct cw_result *r, uint32_t metric, uint32_t group)
{
    const size_t at = (size_t)metric * r->row_count + group;
    return isfinite(r->values[at]) && !cw_value_is_doubtful(r->statuses[at]) ? fabs(r->values[at]) : 0;
}

void cw_compare_greatest(const struct cw_comparison *c, const struct cw_match *match, double *greatest)
{
    const struct cw_result *a = &c->a.means, *b = &c->b.means;
    memset(greatest, 0, c->unit_count * sizeof *greatest);
    for (uint32_t i = 0; i < a->metric_count; i++) {
        double *of = &greatest[c->units[i]];
        *of = fmax(*of, fmax(size_of(a, i, match->a), size_of(b, i, match->b)));
    }
}

double cw_compare_weight(const struct cw_comparison *c, uint32_t metric, const struct cw_change *change,
                         const double *greatest)
{
    const double most = greatest[c->units[metric]];
    return most > 0 ? fabs(change->b - change->a) / most : INFINITY;
}

static int by_unit(const void *a, const void *b, void *units)
{
    const uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    const char *const *names = units;
    return strcmp(names[i], names[k]);
}

/* False when out of memory. */
static bool number_units(struct cw_comparison *c, struct cw_arena *arena)
{
    const struct cw_result *means = &c->a.means;
    uint32_t *order = cw_arena_alloc(arena, means->metric_count, sizeof *order);
    uint32_t *units = cw_arena_alloc(arena, means->metric_count, sizeof *units);
    if (!order || !units)
        return false;
    for (uint32_t i = 0; i < means->metric_count; i++)
        order[i] = i;
    if (means->metric_count)
        qsort_r(order, means->metric_count, sizeof *order, by_unit, (void *)means->units);
    for (uint32_t i = 0; i < means->metric_count; i++) {
        c->unit_count += !i || strcmp(means->units[order[i - 1]], means->units[order[i]]) != 0;
        units[order[i]] = c->unit_count - 1;
    }
    c->units = units;
    return true;
}

static bool is_quantity(const struct cw_metric *m)
{
    return m->type != CW_FACT || !cw_fact_is_identifier(m->base);
}

/* Keeps the quantities of `a` that the chip of `b` also has, and gives them to `b`. */
static enum cw_status share_metrics(struct cw_result *a, struct cw_result *b, struct cw_arena *arena,
                                    struct cw_error *err)
{
    struct cw_metric *x = cw_arena_alloc(arena, a->metric_count, sizeof *x);
    struct cw_metric *y = cw_arena_alloc(arena, a->metric_count, sizeof *y);
    char name[CW_METRIC_NAME_MAX];
    uint32_t count = 0;
    if (!x || !y)
        return cw_error_nomem(err);
    for (uint32_t i = 0; i < a->metric_count; i++)
        if (is_quantity(&a->metrics[i]) &&
            cw_metric_parse(&y[count], b->chip, cw_metric_name(a->chip, &a->metrics[i], name), NULL) == CW_OK)
            x[count++] = a->metrics[i];
    a->metrics = x;
    b->metrics = y;
    a->metric_count = b->metric_count = count;
    return CW_OK;
}

enum cw_status cw_compare(struct cw_comparison *c, const struct cw_result *a, const struct cw_result *b,
                          const uint32_t runs[2], enum cw_group_by by, bool with_spread,
                          const struct cw_eval_options *options, struct cw_arena *arena, struct cw_error *err)
{
    struct cw_result x = *a, y = *b;
    enum cw_metric_class *classes = NULL;
    *c = (struct cw_comparison){.a_source = a->source, .b_source = b->source};
    CW_TRY(share_metrics(&x, &y, arena, err));
    CW_TRY(cw_side_make(&c->a, &x, by, options, arena, err));
    CW_TRY(cw_side_make(&c->b, &y, by, options, arena, err));
    if (!take_mean_run(&c->a, runs ? runs[0] : 1, arena) || !take_mean_run(&c->b, runs ? runs[1] : 1, arena) ||
        !number_units(c, arena))
        return cw_error_nomem(err);
    CW_TRY(cw_metric_classes(&classes, c->a.means.names, c->a.means.metric_count, NULL, arena, err));
    c->classes = classes;
    CW_TRY(compare_captures(&c->differences, &c->difference_count, a->data, b->data, arena, err));
    CW_TRY(match_groups(&c->matches, &c->match_count, &c->a.groups, &c->b.groups, arena, err));
    return with_spread ? find_spreads(c, &x, &y, options, arena, err) : CW_OK;
}
