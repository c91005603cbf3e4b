/* The mean of each group's counters. */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "eval/groups.h"

struct merging {
    struct cw_groups *groups;
    const struct cw_counter_data *data;
    const uint32_t *order, *sorted; /* ranges as the groups have them; with those of a kind one after another, whole
                                       ones first */
    uint32_t count;                 /* of them */
    struct cw_group *items;
    uint32_t *full; /* of each range: how many columns it has */
    uint32_t *most; /* of each group: the first range that is used */
    struct cw_arena *arena;
};

static int by_number(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static bool has(uint8_t form)
{
    return form > CW_FORM_UNAVAILABLE;
}

/* ---- those of a group that were multiplexed and are alike ------------------------------------------------------- */

static uint32_t kind_of(const struct merging *g, uint32_t range)
{
    return g->groups->folds.kinds ? g->groups->folds.kinds[range] : CW_WHOLE;
}

static int in_kind_order(const void *a, const void *b, void *grouping)
{
    const uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    const int order = by_number(kind_of(grouping, i) + 1, kind_of(grouping, k) + 1); /* CW_WHOLE is 0 then */
    return order ? order : by_number(i, k);
}

static const uint32_t *sorted_ranges(const struct merging *g, const struct cw_group *group)
{
    return g->sorted + (group->ranges - g->order);
}

static bool sort_kinds(struct merging *g)
{
    uint32_t *sorted = cw_arena_alloc(g->arena, g->count, sizeof *sorted);
    g->sorted = sorted;
    if (!sorted)
        return false;
    memcpy(sorted, g->order, g->count * sizeof *sorted);
    for (uint32_t k = 0; g->groups->folds.kinds && k < g->groups->count; k++) {
        struct cw_group *group = &g->items[k];
        uint32_t *own = sorted + (group->ranges - g->order);
        if (g->groups->by != CW_BY_FOLD)
            qsort_r(own, group->count, sizeof *own, in_kind_order, g);
        group->multiplexed = group->count && kind_of(g, own[group->count - 1]) != CW_WHOLE;
        group->sorted = group->multiplexed ? own : NULL;
    }
    return true;
}

/* Where those end that are one part of a group's mean with the one at `i`: it alone, or with it all of its kind. */
static uint32_t end_of_part(const struct merging *g, const uint32_t *sorted, uint32_t i, uint32_t count)
{
    const uint32_t kind = kind_of(g, sorted[i++]);
    while (kind != CW_WHOLE && i < count && kind_of(g, sorted[i]) == kind)
        i++;
    return i;
}

/* ---- the mean of a group's counters: of single ranges ----------------------------------------------------------- */

/* How many columns each range has. */
static uint32_t *count_columns(const struct merging *g)
{
    const uint32_t columns = cw_schema_columns(&g->data->schema), count = g->data->range_count;
    uint32_t *full = cw_arena_alloc(g->arena, count, sizeof *full);
    for (uint32_t c = 0; full && c < columns; c++)
        for (uint32_t i = 0; i < count; i++)
            full[i] += has(g->groups->folds.forms[(size_t)c * count + i]);
    return full;
}

/* Whether the mean of a group takes in one of its ranges. Where some were multiplexed, which have few columns each, it
 * is a mean of all that have a column. */
static bool is_used(const struct merging *g, uint32_t k, uint32_t range)
{
    return g->items[k].multiplexed || g->full[range] == g->full[g->most[k]];
}

struct mean {
    double sums[CW_ROLLUP_COUNT], taken;
    uint8_t form;
};

/* Adds ranges that are one part of a group's mean: those that have the column stand for all of the part, which is of
 * `whole` ranges. */
static void add_part(const struct merging *g, struct mean *mean, uint32_t column, const uint32_t *ranges,
                     uint32_t count, uint32_t whole)
{
    const size_t from = (size_t)column * g->data->range_count;
    const bool multiplexed = kind_of(g, ranges[0]) != CW_WHOLE;
    double sums[CW_ROLLUP_COUNT] = {0};
    uint32_t taken = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t form = g->groups->folds.forms[from + ranges[i]];
        mean->form = cw_form_graver(mean->form, form);
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
    mean->form = taken && multiplexed ? cw_form_graver(mean->form, CW_FORM_MULTIPLEXED) : mean->form;
}

static void put_mean(const struct mean *mean, struct cw_counter_data *to, size_t at)
{
    to->forms[at] = mean->form;
    for (int r = 0; r < CW_ROLLUP_COUNT; r++)
        to->rollups[r][at] = mean->taken > 0 ? mean->sums[r] / mean->taken : NAN;
}

static void mean_column(const struct merging *g, uint32_t k, uint32_t column)
{
    const struct cw_group *group = &g->items[k];
    const uint32_t *sorted = sorted_ranges(g, group);
    struct mean mean = {.form = CW_FORM_NOT_COLLECTED};
    for (uint32_t i = 0, end; i < group->count; i = end) {
        end = end_of_part(g, sorted, i, group->count);
        if (is_used(g, k, sorted[i]))
            add_part(g, &mean, column, sorted + i, end - i, group->count);
    }
    put_mean(&mean, &g->groups->data, (size_t)column * g->groups->count + k);
}

static void find_most(const struct merging *g, uint32_t k)
{
    const struct cw_group *group = &g->items[k];
    uint32_t most = group->count ? group->ranges[0] : 0;
    for (uint32_t i = 0; !group->multiplexed && i < group->count; i++)
        most = g->full[group->ranges[i]] > g->full[most] ? group->ranges[i] : most;
    g->most[k] = most;
}

static bool merge_range(const struct merging *g, uint32_t k, struct cw_range *merged)
{
    struct cw_group *group = &g->items[k];
    const uint32_t passes = g->data->schema.pass_count;
    double *durations = cw_arena_alloc(g->arena, passes, sizeof *durations);
    uint32_t *timed = cw_arena_alloc(g->arena, passes, sizeof *timed);
    *merged = group->count ? g->data->ranges[g->most[k]] : (struct cw_range){.name = group->name, .kernel = ""};
    merged->durations = durations;
    if (group->multiplexed && !*merged->kernel && (g->groups->by == CW_BY_KERNEL || g->groups->by == CW_BY_FOLD))
        merged->name = group->name; /* without the numbers of one of them */
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
        for (uint32_t p = 0; p < passes; p++)
            if (!group->multiplexed || !isnan(range->durations[p])) {
                durations[p] += range->durations[p];
                timed[p]++;
            }
    }
    for (uint32_t p = 0; durations && timed && p < passes; p++)
        durations[p] = timed[p] ? durations[p] / timed[p] : NAN;
    return durations && timed;
}

/* A fact of a group is one that its ranges agree on, or the mean. */
static double mean_fact(const struct merging *g, uint32_t k, uint32_t fact)
{
    const struct cw_group *group = &g->items[k];
    const double *facts = g->data->facts + (size_t)fact * g->data->range_count;
    const double first = group->count ? facts[group->ranges[0]] : NAN;
    bool equal = true;
    double sum = 0;
    for (uint32_t i = 0; i < group->count; i++) {
        const double fact_here = facts[group->ranges[i]];
        equal = equal && fact_here == first;
        sum += is_used(g, k, group->ranges[i]) ? fact_here : 0;
    }
    return equal ? first : sum / group->used;
}

static bool merge_facts(const struct merging *g)
{
    const uint32_t facts = g->data->schema.fact_count, count = g->groups->count;
    double *to = g->groups->data.facts = cw_arena_alloc(g->arena, (size_t)facts * count, sizeof *to);
    for (uint32_t f = 0; to && f < facts; f++)
        for (uint32_t k = 0; k < count; k++)
            to[(size_t)f * count + k] = mean_fact(g, k, f);
    return to != NULL;
}

enum cw_status cw_groups_merge(struct cw_groups *groups, struct cw_group *items, const uint32_t *order, uint32_t count,
                               const struct cw_counter_data *data, struct cw_arena *arena, struct cw_error *err)
{
    struct merging g = {.groups = groups, .data = data, .order = order, .count = count, .items = items, .arena = arena};
    struct cw_counter_data *to = &g.groups->data;
    const uint32_t columns = cw_schema_columns(&g.data->schema), rows = groups->count;
    struct cw_range *ranges = cw_arena_alloc(g.arena, rows, sizeof *ranges);
    g.full = count_columns(&g);
    g.most = cw_arena_alloc(g.arena, rows, sizeof *g.most);
    *to = *g.data;
    to->range_count = rows;
    to->ranges = ranges;
    to->forms = cw_arena_alloc(g.arena, (size_t)columns * rows, sizeof *to->forms);
    bool enough = ranges && g.full && g.most && to->forms;
    for (int r = 0; r < CW_ROLLUP_COUNT; r++) {
        to->rollups[r] = cw_arena_alloc(g.arena, (size_t)columns * rows, sizeof *to->rollups[r]);
        enough = enough && to->rollups[r];
    }
    enough = enough && sort_kinds(&g);
    for (uint32_t k = 0; enough && k < rows; k++) {
        find_most(&g, k);
        enough = merge_range(&g, k, &ranges[k]);
    }
    if (!enough || !merge_facts(&g))
        return cw_error_nomem(err);
    for (uint32_t c = 0; c < columns; c++)
        for (uint32_t k = 0; k < rows; k++)
            mean_column(&g, k, c);
    return CW_OK;
}

/* ---- the mean of some of a group's kinds ------------------------------------------------------------------------ */

static uint32_t count_having(const struct merging *g, uint32_t column, const uint32_t *ranges, uint32_t count)
{
    const uint8_t *forms = g->groups->folds.forms + (size_t)column * g->data->range_count;
    uint32_t having = 0;
    for (uint32_t i = 0; i < count; i++)
        having += has(forms[ranges[i]]);
    return having;
}

/* Of columns that the group has, how many ranges of one kind have. */
static uint32_t count_held(const struct merging *g, uint32_t k, struct cw_columns columns, const uint32_t *ranges,
                           uint32_t count, uint32_t *of)
{
    uint32_t held = 0;
    *of = 0;
    for (uint32_t c = 0; c < columns.count; c++)
        if (has(g->groups->data.forms[(size_t)columns.items[c] * g->groups->count + k])) {
            ++*of;
            held += count_having(g, columns.items[c], ranges, count) > 0;
        }
    return held;
}

static void mean_shared(const struct merging *g, uint32_t k, struct cw_columns columns, const uint32_t *ranges,
                        uint32_t count, struct cw_counter_data *to, uint32_t *occurrences)
{
    *occurrences = count;
    for (uint32_t c = 0; c < columns.count; c++) {
        const size_t at = (size_t)columns.items[c] * g->groups->count + k;
        const uint32_t having = count_having(g, columns.items[c], ranges, count);
        struct mean mean = {.form = CW_FORM_NOT_COLLECTED};
        for (uint32_t i = 0, end; i < count; i = end) {
            end = end_of_part(g, ranges, i, count);
            add_part(g, &mean, columns.items[c], ranges + i, end - i, count);
        }
        put_mean(&mean, to, at);
        *occurrences = having < *occurrences ? having : *occurrences;
    }
}

enum cw_status cw_groups_merge_shared(const struct cw_groups *groups, uint32_t k, const struct cw_counter_data *data,
                                      struct cw_columns columns, struct cw_counter_data *to, bool *changed,
                                      uint32_t *occurrences)
{
    const struct merging g = {.groups = (struct cw_groups *)groups, .data = data};
    const struct cw_group *group = &groups->items[k];
    uint32_t count = 0, of;
    *changed = false;
    if (!group->sorted || columns.count < 2 || end_of_part(&g, group->sorted, 0, group->count) == group->count)
        return CW_OK;
    uint32_t *ranges = malloc(group->count * sizeof *ranges);
    for (uint32_t i = 0, end; ranges && i < group->count; i = end) {
        end = end_of_part(&g, group->sorted, i, group->count);
        const uint32_t held = count_held(&g, k, columns, group->sorted + i, end - i, &of);
        *changed = *changed || (held && held < of);
        for (uint32_t n = i; n < end && held == of; n++)
            ranges[count++] = group->sorted[n];
    }
    if (*changed)
        mean_shared(&g, k, columns, ranges, count, to, occurrences);
    const bool enough = ranges;
    free(ranges);
    return enough ? CW_OK : CW_ERR_NOMEM;
}
