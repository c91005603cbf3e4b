#define _GNU_SOURCE
#include "eval/groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/shorten.h"

const char *const cw_group_by_names[CW_BY__COUNT] = {"kernel", "family", "range", "nvtx", "device", "rank", "fold"};

struct grouping {
    struct cw_groups *groups;
    const struct cw_counter_data *data;
    uint32_t *order, count; /* ranges that are kept; those of a group follow one another */
    uint32_t *model;        /* of each device: the first device that is alike */
    const char **family;    /* of each range that is kept; NULL unless by family */
    uint32_t *full;         /* of each range: how many columns it has; of multiplexed ones, their kind in the group */
    uint32_t *most;         /* of each group: the range that has most of them, the first of these */
    const uint32_t *sorted; /* `order` with those of a kind one after another in each group, whole ones first */
    struct cw_group *items;
    struct cw_arena *arena;
};

/* ---- durations -------------------------------------------------------------------------------------------------- */

/* The column of the chip's time, or CW_NO_COLUMN. */
static uint32_t time_column(const struct cw_schema *schema, const struct cw_chip *chip)
{
    const char *name = chip->counters[chip->time].name;
    for (uint32_t i = 0; i < schema->counter_count; i++)
        if (strcmp(schema->counters[i].name, name) == 0)
            return i;
    return CW_NO_COLUMN;
}

static double uncounted_duration(const struct cw_range *range, uint32_t pass_count)
{
    double least = NAN;
    for (uint32_t i = 0; i < pass_count; i++)
        if (range->durations[i] > 0)
            least = fmin(least, range->durations[i]);
    const bool one_pass = pass_count <= 1 || cw_range_attribute(range, "once");
    return isnan(least) && one_pass && range->end_ns > range->start_ns ? (double)(range->end_ns - range->start_ns)
                                                                       : least;
}

static double *measure(const struct cw_counter_data *data, const struct cw_chip *chip, struct cw_arena *arena)
{
    const uint32_t column = time_column(&data->schema, chip);
    double *durations = cw_arena_alloc(arena, data->range_count, sizeof *durations);
    for (uint32_t i = 0; durations && i < data->range_count; i++) {
        const size_t at = (size_t)column * data->range_count + i;
        const bool counted = column != CW_NO_COLUMN && data->forms[at] > CW_FORM_UNAVAILABLE;
        durations[i] =
            counted ? data->rollups[CW_SUM][at] : uncounted_duration(&data->ranges[i], data->schema.pass_count);
    }
    return durations;
}

static bool find_durations(struct grouping *g, const struct cw_chip *chip)
{
    const uint32_t count = g->data->range_count;
    double *known = measure(g->data, chip, g->arena), *all = known;
    if (known && g->groups->folds.kinds && (all = cw_arena_alloc(g->arena, count, sizeof *all))) {
        memcpy(all, known, count * sizeof *all);
        if (!cw_folds_estimate(&g->groups->folds, all, count))
            return false;
    }
    g->groups->measured = known;
    g->groups->durations = all;
    return known && all;
}

/* ---- which range is in which group ------------------------------------------------------------------------------ */

static int by_number(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

/* By name and facts. */
static int compare_models(const struct cw_counter_data *data, uint32_t a, uint32_t b)
{
    const struct cw_device *x = &data->devices[a], *y = &data->devices[b];
    const int order = strcmp(cw_device_attribute(x, "name"), cw_device_attribute(y, "name"));
    return order ? order : memcmp(x->facts, y->facts, data->schema.counter_count * sizeof *x->facts);
}

static int in_model_order(const void *a, const void *b, void *data)
{
    const uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    const int order = compare_models(data, i, k);
    return order ? order : by_number(i, k);
}

/* A device without a name is like no other. */
static uint32_t *model_devices(const struct cw_counter_data *data, struct cw_arena *arena)
{
    uint32_t *model = cw_arena_alloc(arena, data->device_count, sizeof *model);
    uint32_t *named = cw_arena_alloc(arena, data->device_count, sizeof *named), count = 0;
    if (!model || !named)
        return NULL;
    for (uint32_t i = 0; i < data->device_count; i++) {
        model[i] = i;
        if (cw_device_attribute(&data->devices[i], "name"))
            named[count++] = i;
    }
    qsort_r(named, count, sizeof *named, in_model_order, (void *)data);
    for (uint32_t i = 1; i < count; i++)
        if (compare_models(data, named[i - 1], named[i]) == 0)
            model[named[i]] = model[named[i - 1]];
    return model;
}

static int by_kernel(const struct grouping *g, const struct cw_range *a, const struct cw_range *b)
{
    const int order = cw_range_compare_kernels(a, b, true);
    return order ? order : by_number(g->model[a->device], g->model[b->device]);
}

static int by_family(const struct grouping *g, const struct cw_range *a, const struct cw_range *b)
{
    const int order = strcmp(g->family[a - g->data->ranges], g->family[b - g->data->ranges]);
    return order ? order : by_number(g->model[a->device], g->model[b->device]);
}

static bool find_families(struct grouping *g)
{
    char text[CW_SHORT_SIZE];
    g->family = cw_arena_alloc(g->arena, g->data->range_count, sizeof *g->family);
    for (uint32_t i = 0; g->family && i < g->count; i++) {
        const struct cw_range *range = &g->data->ranges[g->order[i]];
        const struct cw_range *before = i ? &g->data->ranges[g->order[i - 1]] : NULL;
        const char **family = &g->family[g->order[i]];
        if (!*range->kernel)
            *family = range->name;
        else if (before && *before->kernel && strcmp(before->name, range->name) == 0)
            *family = g->family[g->order[i - 1]];
        else if (!(*family = cw_arena_strdup(g->arena, cw_shorten_to_family(range->name, text))))
            return false;
    }
    return g->family != NULL;
}

/* Those that have none stand last. */
static int by_attribute(const char *a, const char *b, bool number)
{
    if (!a || !b)
        return (a == NULL) - (b == NULL);
    return number ? by_number(strtoul(a, NULL, 10), strtoul(b, NULL, 10)) : strcmp(a, b);
}

static int by_fold(const struct grouping *g, const struct cw_range *a, const struct cw_range *b)
{
    const uint32_t *kinds = g->groups->folds.kinds;
    const uint32_t x = kinds ? kinds[a - g->data->ranges] : CW_WHOLE, y = kinds ? kinds[b - g->data->ranges] : CW_WHOLE;
    int order = by_number(x, y);
    if (order || x == CW_WHOLE)
        return order ? order : by_number((uint64_t)(a - g->data->ranges), (uint64_t)(b - g->data->ranges));
    order = by_number(a->device, b->device);
    return order ? order : by_attribute(cw_range_attribute(a, "rank"), cw_range_attribute(b, "rank"), true);
}

static int compare(const struct grouping *g, const struct cw_range *a, const struct cw_range *b)
{
    switch (g->groups->by) {
    case CW_BY_KERNEL:
        return by_kernel(g, a, b);
    case CW_BY_FAMILY:
        return by_family(g, a, b);
    case CW_BY_NVTX:
        return by_attribute(cw_range_attribute(a, "nvtx"), cw_range_attribute(b, "nvtx"), false);
    case CW_BY_DEVICE:
        return by_number(a->device, b->device);
    case CW_BY_RANK:
        return by_attribute(cw_range_attribute(a, "rank"), cw_range_attribute(b, "rank"), true);
    case CW_BY_FOLD:
        return by_fold(g, a, b);
    case CW_BY_RANGE:
    case CW_BY__COUNT:
        break;
    }
    return a < b ? -1 : a > b;
}

static int in_order(const void *a, const void *b, void *grouping)
{
    const struct grouping *g = grouping;
    const uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    const int order = compare(g, &g->data->ranges[i], &g->data->ranges[k]);
    return order ? order : by_number(i, k);
}

/* ---- groups ----------------------------------------------------------------------------------------------------- */

static const char *name_group(const struct grouping *g, const struct cw_range *first)
{
    const char *text;
    switch (g->groups->by) {
    case CW_BY_FAMILY:
        return g->family[first - g->data->ranges];
    case CW_BY_NVTX:
        text = cw_range_attribute(first, "nvtx");
        return text ? text : "(no NVTX range)";
    case CW_BY_RANK:
        text = cw_range_attribute(first, "rank");
        return text ? cw_arena_printf(g->arena, "rank %s", text) : "(no rank)";
    case CW_BY_DEVICE:
        text = cw_device_attribute(&g->data->devices[first->device], "name");
        return cw_arena_printf(g->arena, "device %u%s%s", g->data->devices[first->device].index, text ? " " : "",
                               text ? text : "");
    default:
        return first->name;
    }
}

static void sum_up(struct cw_group *group, const double *durations, const double *measured)
{
    double squares = 0;
    uint32_t known = 0;
    group->total = 0;
    group->least = group->greatest = NAN;
    for (uint32_t i = 0; i < group->count; i++) {
        const double ns = durations[group->ranges[i]];
        if (isnan(ns))
            continue;
        group->timed++;
        group->total += ns;
        group->least = fmin(group->least, measured[group->ranges[i]]);
        group->greatest = fmax(group->greatest, measured[group->ranges[i]]);
    }
    group->mean = group->total / group->timed;
    for (uint32_t i = 0; i < group->count; i++) {
        const double off = measured[group->ranges[i]] - group->mean;
        squares += isnan(off) ? 0 : off * off;
        known += !isnan(off);
    }
    group->deviation = sqrt(squares / known);
    if (!group->timed)
        group->total = NAN;
}

static int in_kernel_order(const void *a, const void *b, void *grouping)
{
    const struct grouping *g = grouping;
    return by_kernel(g, &g->data->ranges[*(const uint32_t *)a], &g->data->ranges[*(const uint32_t *)b]);
}

/* How many kernels each group has. */
static bool count_kernels(struct grouping *g)
{
    uint32_t *order = cw_arena_alloc(g->arena, g->count, sizeof *order);
    const bool alike = g->groups->by == CW_BY_KERNEL || g->groups->by == CW_BY_RANGE;
    for (uint32_t k = 0; order && k < g->groups->count; k++) {
        struct cw_group *group = &g->items[k];
        group->kernels = 1;
        if (alike)
            continue;
        memcpy(order, group->ranges, group->count * sizeof *order);
        qsort_r(order, group->count, sizeof *order, in_kernel_order, g);
        for (uint32_t i = 1; i < group->count; i++)
            group->kernels += in_kernel_order(&order[i - 1], &order[i], g) != 0;
    }
    return order != NULL;
}

static int by_time(const struct cw_group *a, const struct cw_group *b)
{
    const double s = isnan(a->total) ? -1 : a->total, t = isnan(b->total) ? -1 : b->total;
    return s > t ? -1 : s < t ? 1 : by_number(a->ranges[0], b->ranges[0]);
}

static int longest_first(const void *a, const void *b)
{
    return by_time(a, b);
}

static int earliest_first(const void *a, const void *b)
{
    const struct cw_group *x = a, *y = b;
    return by_number(x->ranges[0], y->ranges[0]);
}

static int longest_index_first(const void *a, const void *b, void *items)
{
    const struct cw_group *list = items;
    return by_time(&list[*(const uint32_t *)a], &list[*(const uint32_t *)b]);
}

uint32_t *cw_groups_longest(const struct cw_groups *groups, struct cw_arena *arena)
{
    uint32_t *order = cw_arena_alloc(arena, groups->count, sizeof *order);
    for (uint32_t i = 0; order && i < groups->count; i++)
        order[i] = i;
    if (order)
        qsort_r(order, groups->count, sizeof *order, longest_index_first, (void *)groups->items);
    return order;
}

static enum cw_status divide(struct grouping *g, struct cw_error *err)
{
    const struct cw_range *ranges = g->data->ranges;
    uint32_t count = 0;
    bool timed = false;
    for (uint32_t i = 0; i < g->count; i++)
        count += !i || compare(g, &ranges[g->order[i - 1]], &ranges[g->order[i]]) != 0;
    struct cw_group *items = g->items = cw_arena_alloc(g->arena, count, sizeof *items);
    if (!items)
        return cw_error_nomem(err);
    g->groups->count = count;
    for (uint32_t i = 0, k = 0; i < g->count; i++) {
        if (i && compare(g, &ranges[g->order[i - 1]], &ranges[g->order[i]]) != 0)
            k++;
        if (!items[k].count++)
            items[k].ranges = &g->order[i];
    }
    for (uint32_t k = 0; k < count; k++) {
        sum_up(&items[k], g->groups->durations, g->groups->measured);
        if (!(items[k].name = name_group(g, &ranges[items[k].ranges[0]])))
            return cw_error_nomem(err);
        g->groups->total += items[k].timed ? items[k].total : 0;
        timed = timed || items[k].timed;
    }
    if (count && !timed)
        g->groups->total = NAN;
    if (g->groups->by != CW_BY_RANGE)
        qsort(items, count, sizeof *items, g->groups->by == CW_BY_FOLD ? earliest_first : longest_first);
    return CW_OK;
}

/* ---- the mean of a group's counters ----------------------------------------------------------------------------- */

static bool has(uint8_t form)
{
    return form > CW_FORM_UNAVAILABLE;
}

/* ---- those of a group that were multiplexed and are alike ------------------------------------------------------- */

static uint32_t kind_of(const struct grouping *g, uint32_t range)
{
    return g->groups->folds.kinds ? g->groups->folds.kinds[range] : CW_WHOLE;
}

static int in_kind_order(const void *a, const void *b, void *grouping)
{
    const uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    const int order = by_number(kind_of(grouping, i) + 1, kind_of(grouping, k) + 1); /* CW_WHOLE is 0 then */
    return order ? order : by_number(i, k);
}

static const uint32_t *sorted_ranges(const struct grouping *g, const struct cw_group *group)
{
    return g->sorted + (group->ranges - g->order);
}

static bool sort_kinds(struct grouping *g)
{
    uint32_t *sorted = g->groups->folds.kinds ? cw_arena_alloc(g->arena, g->count, sizeof *sorted) : g->order;
    g->sorted = sorted;
    if (!sorted || sorted == g->order)
        return sorted;
    memcpy(sorted, g->order, g->count * sizeof *sorted);
    for (uint32_t k = 0; k < g->groups->count; k++) {
        struct cw_group *group = &g->items[k];
        uint32_t *own = sorted + (group->ranges - g->order);
        if (g->groups->by != CW_BY_FOLD)
            qsort_r(own, group->count, sizeof *own, in_kind_order, g);
        group->multiplexed = kind_of(g, own[group->count - 1]) != CW_WHOLE;
    }
    return true;
}

/* Where those end that are one part of a group's mean with the one at `i`: it alone, or with it all of its kind. */
static uint32_t end_of_part(const struct grouping *g, const uint32_t *sorted, uint32_t i, uint32_t count)
{
    const uint32_t kind = kind_of(g, sorted[i++]);
    while (kind != CW_WHOLE && i < count && kind_of(g, sorted[i]) == kind)
        i++;
    return i;
}

/* What ranges of one kind have together. */
static void count_together(const struct grouping *g, const uint32_t *ranges, uint32_t count)
{
    const uint32_t columns = cw_schema_columns(&g->data->schema);
    uint32_t full = 0;
    for (uint32_t c = 0; c < columns; c++) {
        const uint8_t *forms = g->data->forms + (size_t)c * g->data->range_count;
        uint32_t i = 0;
        while (i < count && !has(forms[ranges[i]]))
            i++;
        full += i < count;
    }
    for (uint32_t i = 0; i < count; i++)
        g->full[ranges[i]] = full;
}

static void count_kinds_columns(const struct grouping *g, uint32_t k)
{
    const struct cw_group *group = &g->items[k];
    const uint32_t *sorted = sorted_ranges(g, group);
    for (uint32_t i = 0, end; group->multiplexed && i < group->count; i = end) {
        end = end_of_part(g, sorted, i, group->count);
        if (kind_of(g, sorted[i]) != CW_WHOLE)
            count_together(g, sorted + i, end - i);
    }
}

/* ---- the mean of a group's counters: of single ranges ----------------------------------------------------------- */

/* How many columns each range has. */
static uint32_t *count_columns(const struct grouping *g)
{
    const uint32_t columns = cw_schema_columns(&g->data->schema), count = g->data->range_count;
    uint32_t *full = cw_arena_alloc(g->arena, count, sizeof *full);
    for (uint32_t c = 0; full && c < columns; c++)
        for (uint32_t i = 0; i < count; i++)
            full[i] += has(g->data->forms[(size_t)c * count + i]);
    return full;
}

static uint8_t graver(uint8_t a, uint8_t b)
{
    static const uint8_t gravity[CW_FORM__ALL] = {[CW_FORM_UNAVAILABLE] = 1,
                                                  [CW_FORM_ROLLUPS] = 2,
                                                  [CW_FORM_MULTIPLEXED] = 3,
                                                  [CW_FORM_OVERFLOW] = 4,
                                                  [CW_FORM_INCOMPLETE] = 5};
    b = b == CW_FORM_ZERO || b == CW_FORM_ONE || b == CW_FORM_INSTANCES ? CW_FORM_ROLLUPS : b;
    return gravity[b] > gravity[a] ? b : a;
}

/* Whether the mean of a group takes in one of its ranges. */
static bool is_used(const struct grouping *g, uint32_t k, uint32_t range)
{
    return g->full[range] == g->full[g->most[k]];
}

struct mean {
    double sums[CW_ROLLUP_COUNT], taken;
    uint8_t form;
};

/* Adds ranges that are one part of a group's mean: those that have the column stand for all of the part, which is of
 * `whole` ranges. */
static void add_part(const struct grouping *g, struct mean *mean, uint32_t column, const uint32_t *ranges,
                     uint32_t count, uint32_t whole)
{
    const size_t from = (size_t)column * g->data->range_count;
    const bool multiplexed = kind_of(g, ranges[0]) != CW_WHOLE;
    double sums[CW_ROLLUP_COUNT] = {0};
    uint32_t taken = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t form = g->data->forms[from + ranges[i]];
        mean->form = graver(mean->form, form);
        if (!has(form))
            continue;
        taken++;
        for (int r = 0; r < CW_ROLLUP_COUNT; r++)
            sums[r] += g->data->rollups[r][from + ranges[i]];
    }
    const double weight = taken && count < whole ? (double)count / taken : 1; /* 1: as it is, to the last digit */
    for (int r = 0; r < CW_ROLLUP_COUNT; r++)
        mean->sums[r] += sums[r] * weight;
    mean->taken += taken * weight;
    mean->form = taken && multiplexed ? graver(mean->form, CW_FORM_MULTIPLEXED) : mean->form;
}

static void mean_column(const struct grouping *g, uint32_t k, uint32_t column)
{
    const struct cw_group *group = &g->items[k];
    const uint32_t *sorted = sorted_ranges(g, group);
    const size_t to = (size_t)column * g->groups->count + k;
    struct mean mean = {.form = CW_FORM_NOT_COLLECTED};
    for (uint32_t i = 0, end; i < group->count; i = end) {
        end = end_of_part(g, sorted, i, group->count);
        if (is_used(g, k, sorted[i]))
            add_part(g, &mean, column, sorted + i, end - i, group->count);
    }
    g->groups->data.forms[to] = mean.form;
    for (int r = 0; r < CW_ROLLUP_COUNT; r++)
        g->groups->data.rollups[r][to] = mean.taken > 0 ? mean.sums[r] / mean.taken : NAN;
}

static void find_most(const struct grouping *g, uint32_t k)
{
    const struct cw_group *group = &g->items[k];
    uint32_t most = group->ranges[0];
    for (uint32_t i = 0; i < group->count; i++)
        most = g->full[group->ranges[i]] > g->full[most] ? group->ranges[i] : most;
    g->most[k] = most;
}

static bool merge_range(const struct grouping *g, uint32_t k, struct cw_range *merged)
{
    struct cw_group *group = &g->items[k];
    const uint32_t passes = g->data->schema.pass_count;
    double *durations = cw_arena_alloc(g->arena, passes, sizeof *durations);
    uint32_t *timed = cw_arena_alloc(g->arena, passes, sizeof *timed);
    *merged = g->data->ranges[g->most[k]];
    merged->durations = durations;
    for (uint32_t i = 0; durations && timed && i < group->count; i++) {
        const struct cw_range *range = &g->data->ranges[group->ranges[i]];
        if (memcmp(range->grid, merged->grid, sizeof range->grid) ||
            memcmp(range->block, merged->block, sizeof range->block)) {
            memset(merged->grid, 0, sizeof merged->grid);
            memset(merged->block, 0, sizeof merged->block);
        }
        if (!is_used(g, k, group->ranges[i]))
            continue;
        group->used++;
        const bool one_pass = kind_of(g, group->ranges[i]) != CW_WHOLE;
        for (uint32_t p = 0; p < passes; p++)
            if (!one_pass || !isnan(range->durations[p])) {
                durations[p] += range->durations[p];
                timed[p]++;
            }
    }
    for (uint32_t p = 0; durations && timed && p < passes; p++)
        durations[p] = timed[p] ? durations[p] / timed[p] : NAN;
    return durations && timed;
}

/* A fact of a group is one that its ranges agree on, or the mean. */
static double mean_fact(const struct grouping *g, uint32_t k, uint32_t fact)
{
    const struct cw_group *group = &g->items[k];
    const double *facts = g->data->facts + (size_t)fact * g->data->range_count;
    const double first = facts[group->ranges[0]];
    bool equal = true;
    double sum = 0;
    for (uint32_t i = 0; i < group->count; i++) {
        const double fact_here = facts[group->ranges[i]];
        equal = equal && fact_here == first;
        sum += is_used(g, k, group->ranges[i]) ? fact_here : 0;
    }
    return equal ? first : sum / group->used;
}

static bool merge_facts(const struct grouping *g)
{
    const uint32_t facts = g->data->schema.fact_count, count = g->groups->count;
    double *to = g->groups->data.facts = cw_arena_alloc(g->arena, (size_t)facts * count, sizeof *to);
    for (uint32_t f = 0; to && f < facts; f++)
        for (uint32_t k = 0; k < count; k++)
            to[(size_t)f * count + k] = mean_fact(g, k, f);
    return to != NULL;
}

static enum cw_status merge(struct grouping *g, struct cw_error *err)
{
    struct cw_counter_data *to = &g->groups->data;
    const uint32_t columns = cw_schema_columns(&g->data->schema), count = g->groups->count;
    struct cw_range *ranges = cw_arena_alloc(g->arena, count, sizeof *ranges);
    g->full = count_columns(g);
    g->most = cw_arena_alloc(g->arena, count, sizeof *g->most);
    *to = *g->data;
    to->range_count = count;
    to->ranges = ranges;
    to->forms = cw_arena_alloc(g->arena, (size_t)columns * count, sizeof *to->forms);
    bool enough = ranges && g->full && g->most && to->forms;
    for (int r = 0; r < CW_ROLLUP_COUNT; r++) {
        to->rollups[r] = cw_arena_alloc(g->arena, (size_t)columns * count, sizeof *to->rollups[r]);
        enough = enough && to->rollups[r];
    }
    enough = enough && sort_kinds(g);
    for (uint32_t k = 0; enough && k < count; k++) {
        count_kinds_columns(g, k);
        find_most(g, k);
        enough = merge_range(g, k, &ranges[k]);
    }
    if (!enough || !merge_facts(g))
        return cw_error_nomem(err);
    for (uint32_t c = 0; c < columns; c++)
        for (uint32_t k = 0; k < count; k++)
            mean_column(g, k, c);
    return CW_OK;
}

enum cw_status cw_groups_make(struct cw_groups *groups, enum cw_group_by by, const struct cw_counter_data *data,
                              const struct cw_chip *chip, const bool *keep, struct cw_arena *arena,
                              struct cw_error *err)
{
    struct grouping g = {.groups = groups, .data = data, .arena = arena};
    *groups = (struct cw_groups){.by = by, .range_count = data->range_count};
    g.order = cw_arena_alloc(arena, data->range_count, sizeof *g.order);
    g.model = model_devices(data, arena);
    if (!g.order || !g.model || cw_folds_make(&groups->folds, data, g.model, arena, err) != CW_OK ||
        !find_durations(&g, chip))
        return cw_error_nomem(err);
    for (uint32_t i = 0; i < data->range_count; i++) {
        groups->whole += isnan(groups->durations[i]) ? 0 : groups->durations[i];
        if (!keep || keep[i])
            g.order[g.count++] = i;
    }
    if (by == CW_BY_FAMILY && !find_families(&g))
        return cw_error_nomem(err);
    if (by != CW_BY_RANGE)
        qsort_r(g.order, g.count, sizeof *g.order, in_order, &g);
    enum cw_status status = divide(&g, err);
    groups->items = g.items;
    if (status == CW_OK && !count_kernels(&g))
        status = cw_error_nomem(err);
    if (by == CW_BY_RANGE && !keep) { /* the capture as it is */
        groups->data = *data;
        for (uint32_t k = 0; status == CW_OK && k < groups->count; k++)
            g.items[k].used = 1;
        return status;
    }
    return status == CW_OK ? merge(&g, err) : status;
}

static int by_index(const void *a, const void *b)
{
    return by_number(*(const uint32_t *)a, *(const uint32_t *)b);
}

uint32_t cw_groups_find(const struct cw_groups *groups, uint32_t range)
{
    uint32_t k = 0;
    while (k + 1 < groups->count &&
           !bsearch(&range, groups->items[k].ranges, groups->items[k].count, sizeof range, by_index))
        k++;
    return k;
}

struct cw_short_launches cw_groups_find_short(const struct cw_groups *groups)
{
    enum { FEW = 20 };
    static const double TOLD_SHARE = 0.1;
    struct cw_short_launches found = {0};
    double all = 0, time = 0;
    for (uint32_t k = 0; k < groups->count; k++) {
        for (uint32_t i = 0; groups->data.ranges[k].kernel[0] && i < groups->items[k].count; i++) {
            const double ns = groups->durations[groups->items[k].ranges[i]];
            const bool is_short = ns < CW_SHORT_LAUNCH_NS;
            found.launches += !isnan(ns);
            found.count += is_short;
            all += isnan(ns) ? 0 : ns;
            time += is_short ? ns : 0;
        }
    }
    found.share = all > 0 ? time / all : 0;
    found.many = found.count >= FEW && (2 * found.count >= found.launches || found.share >= TOLD_SHARE);
    return found;
}

double cw_group_share(const struct cw_groups *groups, const struct cw_group *group)
{
    return groups->whole > 0 ? group->total / groups->whole : NAN;
}

double cw_group_spread(const struct cw_group *group)
{
    return group->mean > 0 ? group->deviation / group->mean : NAN;
}
