#define _GNU_SOURCE
#include "eval/ranges/groups.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/large.h"
#include "base/shorten.h"
#include "base/text.h"
#include "eval/keys.h"
#include "eval/quantile.h"

const char *const cw_group_by_names[CW_BY__COUNT] = {"kernel", "family", "range", "nvtx",
                                                     "device", "rank",   "fold",  "stream"};

struct grouping {
    struct cw_groups *groups;
    const struct cw_counter_data *data;
    uint32_t *order, count; /* ranges that are kept, one group after another */
    uint32_t *model;        /* cw_device_models */
    uint32_t *gpu;          /* cw_device_gpus */
    const char **family;    /* [launch]; NULL unless by family */
    struct cw_group *items;
    uint8_t *shared; /* [group] by stream: what tells its number from others' */
    struct cw_arena *arena;
    struct cw_large *large; /* for data that repeats, whose ranges may be very many; or NULL */
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

/* Keeps measured durations, and adds estimated ones beside them. */
static bool estimate_durations(struct grouping *g, double *measured)
{
    const uint32_t count = g->data->range_count;
    double *all = measured;
    if (g->groups->folds.kinds && (all = cw_arena_alloc(g->arena, count, sizeof *all))) {
        memcpy(all, measured, count * sizeof *all);
        if (!cw_folds_estimate(&g->groups->folds, g->data, all))
            return false;
    }
    g->groups->measured = measured;
    g->groups->durations = all;
    return all;
}

/* ---- which range is in which group ------------------------------------------------------------------------------ */

static int by_number(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static uint32_t launch_index(const struct grouping *g, const struct cw_range *range)
{
    return (uint32_t)(range - cw_launch(g->data, 0));
}

/* The kind of a launch. */
static uint32_t kind_of(const struct grouping *g, const struct cw_range *range)
{
    return g->groups->folds.kinds ? g->groups->folds.kinds[launch_index(g, range)] : CW_WHOLE;
}

/* Whether it is a user range that is alike others, whose names may have other numbers. */
static bool is_numbered(const struct grouping *g, const struct cw_range *range)
{
    return !*range->kernel && kind_of(g, range) != CW_WHOLE;
}

static int by_kernel(const struct grouping *g, const struct cw_range *a, const struct cw_range *b)
{
    if (is_numbered(g, a) || is_numbered(g, b))
        return by_number(is_numbered(g, a) ? kind_of(g, a) : CW_WHOLE, is_numbered(g, b) ? kind_of(g, b) : CW_WHOLE);
    const int order = cw_range_compare_kernels(a, b, true);
    return order ? order : by_number(g->model[a->device], g->model[b->device]);
}

static int by_family(const struct grouping *g, const struct cw_range *a, const struct cw_range *b)
{
    const int order = strcmp(g->family[launch_index(g, a)], g->family[launch_index(g, b)]);
    return order ? order : by_number(g->model[a->device], g->model[b->device]);
}

/* Finds families of some launches. */
static bool find_families(struct grouping *g, const uint32_t *launches, uint32_t count)
{
    char text[CW_SHORT_SIZE];
    g->family = cw_arena_alloc(g->arena, cw_launch_count(g->data), sizeof *g->family);
    for (uint32_t i = 0; g->family && i < count; i++) {
        const struct cw_range *range = cw_launch(g->data, launches[i]);
        const struct cw_range *before = i ? cw_launch(g->data, launches[i - 1]) : NULL;
        const char **family = &g->family[launches[i]];
        if (is_numbered(g, range) && !(*family = cw_fold_name(range->name, g->arena)))
            return false;
        else if (!*range->kernel)
            *family = *family ? *family : range->name;
        else if (before && *before->kernel && strcmp(before->name, range->name) == 0)
            *family = g->family[launches[i - 1]];
        else if (!(*family = cw_arena_strdup(g->arena, cw_shorten_to_family(range->name, text))))
            return false;
    }
    return g->family != NULL;
}

/* A missing attribute comes last. */
static int by_attribute(const char *a, const char *b, bool number)
{
    if (!a || !b)
        return (a == NULL) - (b == NULL);
    return number ? by_number(strtoul(a, NULL, 10), strtoul(b, NULL, 10)) : strcmp(a, b);
}

static int by_fold(const struct grouping *g, const struct cw_range *a, const struct cw_range *b)
{
    const uint32_t x = kind_of(g, a), y = kind_of(g, b);
    int order = by_number(x, y);
    if (order || x == CW_WHOLE)
        return order ? order : by_number(launch_index(g, a), launch_index(g, b));
    order = by_number(g->gpu[a->device], g->gpu[b->device]);
    return order ? order : by_attribute(cw_range_attribute(a, "rank"), cw_range_attribute(b, "rank"), true);
}

/* Paths of multiplexed ranges are alike if they differ in numbers only. */
static int by_nvtx(const struct grouping *g, const struct cw_range *a, const struct cw_range *b)
{
    const char *x = cw_range_attribute(a, "nvtx"), *y = cw_range_attribute(b, "nvtx");
    const bool whole = kind_of(g, a) == CW_WHOLE;
    if (whole != (kind_of(g, b) == CW_WHOLE))
        return whole ? -1 : 1;
    return x && y && !whole ? cw_fold_compare_names(x, y) : by_attribute(x, y, false);
}

static int by_stream(const struct grouping *g, const struct cw_range *a, const struct cw_range *b)
{
    int order = by_number(g->gpu[a->device], g->gpu[b->device]);
    order = order ? order : by_number(a->process, b->process);
    order = order ? order : by_number(a->context, b->context);
    return order ? order : by_number(a->stream, b->stream);
}

static int compare_kinds(const struct grouping *g, const struct cw_range *a, const struct cw_range *b)
{
    switch (g->groups->by) {
    case CW_BY_KERNEL:
        return by_kernel(g, a, b);
    case CW_BY_FAMILY:
        return by_family(g, a, b);
    case CW_BY_NVTX:
        return by_nvtx(g, a, b);
    case CW_BY_DEVICE:
        return by_number(g->gpu[a->device], g->gpu[b->device]);
    case CW_BY_RANK:
        return by_attribute(cw_range_attribute(a, "rank"), cw_range_attribute(b, "rank"), true);
    case CW_BY_FOLD:
        return by_fold(g, a, b);
    case CW_BY_STREAM:
        return by_stream(g, a, b);
    case CW_BY_RANGE:
    case CW_BY__COUNT:
        break;
    }
    return a < b ? -1 : a > b;
}

static int by_rank(const struct cw_range *a, const struct cw_range *b)
{
    return by_attribute(cw_range_attribute(a, "rank"), cw_range_attribute(b, "rank"), true);
}

static int compare(const struct grouping *g, const struct cw_range *a, const struct cw_range *b)
{
    const int order = g->groups->of_ranks ? by_rank(a, b) : 0;
    return order ? order : compare_kinds(g, a, b);
}

static int in_order(const void *a, const void *b, void *grouping)
{
    const struct grouping *g = grouping;
    const uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    const int order = compare(g, cw_launch(g->data, i), cw_launch(g->data, k));
    return order ? order : by_number(i, k);
}

/* ---- groups ----------------------------------------------------------------------------------------------------- */

/* The common text of all: "step *" if they differ in numbers, otherwise the text itself. */
static const char *shared_text(const struct grouping *g, const struct cw_group *group, const char *key)
{
    const struct cw_range *first = cw_launch_of(g->data, group->ranges[0]);
    const char *text = key ? cw_range_attribute(first, key) : first->name;
    for (uint32_t i = 1; text && kind_of(g, first) != CW_WHOLE && i < group->count; i++) {
        const struct cw_range *other = cw_launch_of(g->data, group->ranges[i]);
        const char *theirs = key ? cw_range_attribute(other, key) : other->name;
        if (theirs && strcmp(text, theirs) != 0)
            return cw_fold_name(text, g->arena);
    }
    return text;
}

enum { SHARED_BY_PROCESSES = 1, SHARED_BY_CONTEXTS = 2 };

/* Finds groups by stream that share device and number with another one, of another process or another context. */
static bool find_shared_streams(struct grouping *g)
{
    const uint32_t count = g->groups->count;
    struct cw_keys keys = {0};
    uint32_t *first = cw_arena_alloc(g->arena, 2 * (size_t)count, sizeof *first); /* [key]: a group + 1 */
    uint32_t *alike = cw_arena_alloc(g->arena, count, sizeof *alike); /* [group]: the first of its device and number */
    g->shared = cw_arena_alloc(g->arena, count, sizeof *g->shared);
    bool good = first && alike && g->shared;
    for (uint32_t k = 0; good && k < count; k++) {
        const struct cw_range *range = cw_launch_of(g->data, g->items[k].ranges[0]);
        const struct cw_key on_device = {{g->gpu[range->device], range->stream, 0, 0}};
        const struct cw_key of_process = {{g->gpu[range->device], range->stream, range->process, 1}};
        const uint32_t device = cw_keys_add(&keys, on_device), process = cw_keys_add(&keys, of_process);
        good = device != CW_NO_KEY && process != CW_NO_KEY;
        if (!good)
            break;
        const uint32_t one = first[device], own = first[process];
        if (own)
            g->shared[k] = g->shared[own - 1] |= SHARED_BY_CONTEXTS;
        if (one && cw_launch_of(g->data, g->items[one - 1].ranges[0])->process != range->process)
            g->shared[one - 1] |= SHARED_BY_PROCESSES;
        first[device] = one ? one : k + 1;
        alike[k] = first[device] - 1;
        first[process] = own ? own : k + 1;
    }
    for (uint32_t k = 0; good && k < count; k++)
        g->shared[k] |= g->shared[alike[k]] & SHARED_BY_PROCESSES;
    cw_keys_free(&keys);
    return good;
}

static const char *name_stream(const struct grouping *g, const struct cw_group *group, const struct cw_range *range)
{
    const uint8_t shared = g->shared[group - g->items];
    char process[32] = "", context[48] = "";
    if (shared & SHARED_BY_PROCESSES)
        snprintf(process, sizeof process, " process %" PRIu32, range->process);
    if (shared & SHARED_BY_CONTEXTS)
        snprintf(context, sizeof context, " of context %" PRIu64, range->context);
    return cw_arena_printf(g->arena, "device %u%s stream %" PRIu64 "%s", g->data->devices[range->device].index, process,
                           range->stream, context);
}

static const char *name_group(const struct grouping *g, const struct cw_group *group)
{
    const struct cw_range *first = cw_launch_of(g->data, group->ranges[0]);
    const char *text;
    switch (g->groups->by) {
    case CW_BY_FAMILY:
        return g->family[launch_index(g, first)];
    case CW_BY_NVTX:
        if (!cw_range_attribute(first, "nvtx"))
            return "(no NVTX range)";
        return shared_text(g, group, "nvtx");
    case CW_BY_RANK:
        text = cw_range_attribute(first, "rank");
        return text ? cw_arena_printf(g->arena, "rank %s", text) : "(no rank)";
    case CW_BY_STREAM:
        return name_stream(g, group, first);
    case CW_BY_DEVICE:
        text = cw_device_attribute(&g->data->devices[first->device], "name");
        return cw_arena_printf(g->arena, "device %u%s%s", g->data->devices[first->device].index, text ? " " : "",
                               text ? text : "");
    case CW_BY_KERNEL:
    case CW_BY_RANGE:
    case CW_BY_FOLD:
    case CW_BY__COUNT:
        break;
    }
    return is_numbered(g, first) ? shared_text(g, group, NULL) : *first->name ? first->name : first->kernel;
}

static double median_of(const struct cw_group *group, const double *measured, double *room)
{
    size_t count = 0;
    for (uint32_t i = 0; i < group->count; i++)
        if (!isnan(measured[group->ranges[i]]))
            room[count++] = measured[group->ranges[i]];
    return cw_median(room, count);
}

/* `room`: for the group's durations; NULL if nobody wants the median. */
static void sum_up(struct cw_group *group, const double *durations, const double *measured, double *room,
                   struct cw_large *large)
{
    double squares = 0;
    group->total = 0;
    group->least = group->greatest = NAN;
    for (uint32_t i = 0; i < group->count; i++, cw_large_step(large)) {
        const double ns = durations[group->ranges[i]];
        if (isnan(ns))
            continue;
        group->timed++;
        group->total += ns;
        group->least = fmin(group->least, measured[group->ranges[i]]);
        group->greatest = fmax(group->greatest, measured[group->ranges[i]]);
    }
    group->mean = group->total / group->timed;
    for (uint32_t i = 0; i < group->count; i++, cw_large_step(large)) {
        const double off = measured[group->ranges[i]] - group->mean;
        squares += isnan(off) ? 0 : off * off;
        group->measured += !isnan(off);
    }
    group->deviation = cw_sample_deviation(squares, group->measured);
    group->median = room ? median_of(group, measured, room) : NAN;
    if (!group->timed)
        group->total = NAN;
}

static void find_places(const struct grouping *g, struct cw_group *group)
{
    const struct cw_range *first = cw_launch_of(g->data, group->ranges[0]);
    group->stream = first->kernel[0] ? first->stream : UINT64_MAX;
    for (uint32_t i = 1; i < group->count; i++, cw_large_step(g->large)) {
        const struct cw_range *other = cw_launch_of(g->data, group->ranges[i]);
        group->several_gpus = group->several_gpus || g->gpu[other->device] != g->gpu[first->device];
        group->several_processes = group->several_processes || other->process != first->process;
        group->stream = other->stream == first->stream ? group->stream : UINT64_MAX;
    }
}

static int in_kernel_order(const void *a, const void *b, void *grouping)
{
    const struct grouping *g = grouping;
    return by_kernel(g, cw_launch(g->data, *(const uint32_t *)a), cw_launch(g->data, *(const uint32_t *)b));
}

/* Whether two neighbours in that order are launches of different kernels. */
static bool have_other_names(const struct grouping *g, uint32_t a, uint32_t b)
{
    const struct cw_range *x = cw_launch(g->data, a), *y = cw_launch(g->data, b);
    return is_numbered(g, x) || is_numbered(g, y) ? by_kernel(g, x, y) != 0
                                                  : cw_range_compare_kernels(x, y, false) != 0;
}

/* Counts the kernels of sorted launches, and their shapes. */
static void count_alike(const struct grouping *g, const uint32_t *order, uint32_t count, uint32_t *kernels,
                        uint32_t *shapes)
{
    *kernels = *shapes = count > 0;
    for (uint32_t i = 1; i < count; i++) {
        *shapes += by_kernel(g, cw_launch(g->data, order[i - 1]), cw_launch(g->data, order[i])) != 0;
        *kernels += have_other_names(g, order[i - 1], order[i]);
    }
}

/* Counts the kernels of all groups together. */
static bool count_all_kernels(struct grouping *g)
{
    const uint32_t launches = cw_launch_count(g->data);
    uint32_t *order = cw_arena_alloc(g->arena, launches, sizeof *order), count = 0;
    bool *seen = cw_arena_alloc(g->arena, launches, sizeof *seen);
    for (uint32_t k = 0; order && seen && k < g->groups->count; k++)
        for (uint32_t i = 0; i < g->items[k].count; i++, cw_large_step(g->large)) {
            const uint32_t launch = cw_launch_number(g->data, g->items[k].ranges[i]);
            if (!seen[launch])
                order[count++] = launch;
            seen[launch] = true;
        }
    if (!order || !seen)
        return false;
    qsort_r(order, count, sizeof *order, in_kernel_order, g);
    count_alike(g, order, count, &g->groups->kernels, &g->groups->shapes);
    return true;
}

/* Counts the kernels of each group. */
static bool count_kernels(struct grouping *g)
{
    const uint32_t launches = cw_launch_count(g->data);
    const bool alike = g->groups->by == CW_BY_KERNEL || g->groups->by == CW_BY_RANGE;
    uint32_t *order = cw_arena_alloc(g->arena, alike ? 0 : launches, sizeof *order);
    uint32_t *seen =
        cw_arena_alloc(g->arena, alike ? 0 : launches, sizeof *seen); /* [launch]: 1 + the last group that had it */
    for (uint32_t k = 0; order && seen && k < g->groups->count; k++) {
        struct cw_group *group = &g->items[k];
        uint32_t count = 0;
        group->kernels = group->shapes = 1;
        for (uint32_t i = 0; !alike && i < group->count; i++, cw_large_step(g->large)) {
            const uint32_t launch = cw_launch_number(g->data, group->ranges[i]);
            if (seen[launch] != k + 1)
                order[count++] = launch;
            seen[launch] = k + 1;
        }
        qsort_r(order, count, sizeof *order, in_kernel_order, g);
        if (!alike)
            count_alike(g, order, count, &group->kernels, &group->shapes);
    }
    return order && seen && count_all_kernels(g);
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

/* Whether each range of a launch is a group of its own. */
static bool is_alone(const struct grouping *g, const struct cw_range *launch)
{
    return g->groups->by == CW_BY_RANGE || (g->groups->by == CW_BY_FOLD && kind_of(g, launch) == CW_WHOLE);
}

/* Whether two ranges are in different groups. */
static bool differ(const struct grouping *g, uint32_t i, uint32_t k)
{
    const struct cw_range *a = cw_launch_of(g->data, i), *b = cw_launch_of(g->data, k);
    return is_alone(g, a) || (a != b && compare(g, a, b) != 0);
}

/* Cuts `order` into groups. */
static enum cw_status divide(struct grouping *g, struct cw_error *err)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < g->count; i++, cw_large_step(g->large))
        count += !i || differ(g, g->order[i - 1], g->order[i]);
    struct cw_group *items = g->items = cw_arena_alloc(g->arena, count, sizeof *items);
    if (!items)
        return cw_error_nomem(err);
    g->groups->count = count;
    for (uint32_t i = 0, k = 0; i < g->count; i++, cw_large_step(g->large)) {
        if (i && differ(g, g->order[i - 1], g->order[i]))
            k++;
        if (!items[k].count++)
            items[k].ranges = &g->order[i];
    }
    return CW_OK;
}

enum nested_of { OF_ALL, OF_KEPT, OF_GROUPS };

/* Finds user ranges that are nested in others of their GPU among all ranges, or among the kept ones, or of their group
 * among those. Multiplexed ranges are left out, as nobody knows which was within which. False when out of memory. */
static bool find_nested(const struct grouping *g, enum nested_of of, const bool **nested)
{
    const uint32_t launches = cw_launch_count(g->data), count = of == OF_ALL ? launches : g->count;
    bool *taken = cw_arena_alloc(g->arena, launches, sizeof *taken);
    uint32_t *place = cw_arena_alloc(g->arena, launches, sizeof *place), group = 0;
    for (uint32_t i = 0; taken && place && i < count; i++) {
        const uint32_t launch = of == OF_ALL ? i : cw_launch_number(g->data, g->order[i]);
        while (of == OF_GROUPS && g->order + i == g->items[group].ranges + g->items[group].count)
            group++;
        place[launch] = of == OF_GROUPS ? group : g->gpu[cw_launch(g->data, launch)->device];
        taken[launch] = kind_of(g, cw_launch(g->data, launch)) == CW_WHOLE;
    }
    return taken && place && cw_ranges_find_nested(nested, g->data, place, taken, g->arena);
}

/* ---- times ------------------------------------------------------------------------------------------------------ */

/* The time that a group adds to the total. */
static double time_of_its_own(struct grouping *g, const struct cw_group *group, const bool *nested, uint32_t *count)
{
    double own = group->timed ? group->total : 0;
    for (uint32_t i = 0; nested && i < group->count; i++, cw_large_step(g->large))
        if (nested[cw_launch_number(g->data, group->ranges[i])]) {
            const double ns = g->groups->durations[group->ranges[i]];
            own -= isnan(ns) ? 0 : ns;
            ++*count;
        }
    return own;
}

static uint32_t largest_group(const struct grouping *g)
{
    uint32_t most = 0;
    for (uint32_t k = 0; k < g->groups->count; k++)
        most = g->items[k].count > most ? g->items[k].count : most;
    return most;
}

/* Whether a group has user ranges of several levels, whose times are not to be added up. */
static bool has_levels(enum cw_group_by by)
{
    return by == CW_BY_DEVICE || by == CW_BY_RANK || by == CW_BY_STREAM;
}

/* False when out of memory. */
static bool sum_up_all(struct grouping *g, double *room)
{
    const bool *nested, *inner = NULL;
    uint32_t unused = 0;
    bool timed = false;
    if (!find_nested(g, OF_KEPT, &nested) ||
        (nested && has_levels(g->groups->by) && !find_nested(g, OF_GROUPS, &inner)) ||
        (g->groups->by == CW_BY_STREAM && !find_shared_streams(g)))
        return false;
    for (uint32_t k = 0; k < g->groups->count; k++) {
        struct cw_group *group = &g->items[k];
        sum_up(group, g->groups->durations, g->groups->measured, room, g->large);
        find_places(g, group);
        if (!(group->name = name_group(g, group)))
            return false;
        group->name = *group->name ? group->name : CW_TEXT_NO_NAME;
        g->groups->total += time_of_its_own(g, group, nested, &g->groups->nested);
        if (inner && group->timed)
            group->total = time_of_its_own(g, group, inner, &unused);
        timed = timed || group->timed;
    }
    if (g->groups->count && !timed)
        g->groups->total = NAN;
    return true;
}

static enum cw_status finish_groups(struct grouping *g, struct cw_error *err)
{
    struct cw_group *items = g->items;
    double *room = g->large ? NULL : malloc(((size_t)largest_group(g) + 1) * sizeof *room);
    const bool good = (room || g->large) && sum_up_all(g, room);
    free(room);
    if (!good)
        return cw_error_nomem(err);
    if (g->groups->by != CW_BY_RANGE)
        qsort(items, g->groups->count, sizeof *items, g->groups->by == CW_BY_FOLD ? earliest_first : longest_first);
    g->groups->items = items;
    return count_kernels(g) ? CW_OK : cw_error_nomem(err);
}

/* ---- all -------------------------------------------------------------------------------------------------------- */

/* Whether there may be millions of launches of few kernels, which names and shapes alone tell apart. */
static bool are_kernels(const struct grouping *g)
{
    bool alike =
        g->groups->by == CW_BY_KERNEL && !g->groups->of_ranks && !g->data->directory && !g->groups->folds.kinds;
    for (uint32_t d = 1; alike && d < g->data->device_count; d++)
        alike = g->model[d] == g->model[0];
    return alike;
}

/* Puts one launch of each name (by its address), grid and block into `first`; like[launch] is the one like it. Returns
 * how many there are, or CW_NO_KEY when out of memory. */
static uint32_t find_kernels(const struct grouping *g, uint32_t *first, uint32_t *like)
{
    struct cw_keys keys = {0};
    uint32_t at = 0, count = 0;
    for (uint32_t i = 0; i < cw_launch_count(g->data) && at != CW_NO_KEY; i++) {
        const struct cw_range *r = cw_launch(g->data, i);
        at = cw_keys_add(
            &keys,
            (struct cw_key){{(uintptr_t)(*r->kernel ? r->kernel : r->name), (uint64_t)r->grid[0] << 32 | r->grid[1],
                             (uint64_t)r->grid[2] << 32 | r->block[0], (uint64_t)r->block[1] << 32 | r->block[2]}});
        if (at == count)
            first[count++] = i;
        like[i] = at != CW_NO_KEY ? first[at] : i;
    }
    cw_keys_free(&keys);
    return at == CW_NO_KEY ? CW_NO_KEY : count;
}

/* Sorts launches, which are few, and appends each range to its group. */
static bool order_by_launch(struct grouping *g, const bool *keep)
{
    const uint32_t launches = cw_launch_count(g->data), ranges = g->data->range_count;
    uint32_t *sorted = cw_arena_alloc(g->arena, launches, sizeof *sorted), groups = 0;
    uint32_t *of = cw_arena_alloc(g->arena, launches, sizeof *of);
    size_t *next = cw_arena_alloc(g->arena, (size_t)launches + 1, sizeof *next); /* [group]: its end so far */
    uint32_t *like = cw_arena_alloc(g->arena, launches, sizeof *like), count = launches;
    if (!sorted || !of || !next || !like)
        return false;
    for (uint32_t i = 0; i < launches; i++)
        sorted[i] = like[i] = i;
    if (are_kernels(g) && (count = find_kernels(g, sorted, like)) == CW_NO_KEY)
        return false;
    if (g->groups->by == CW_BY_FAMILY && !find_families(g, sorted, launches))
        return false;
    qsort_r(sorted, count, sizeof *sorted, in_order, g);
    for (uint32_t i = 1; i < count; i++) {
        const struct cw_range *before = cw_launch(g->data, sorted[i - 1]), *launch = cw_launch(g->data, sorted[i]);
        /* lone launches are last, and keep their order */
        groups += !(is_alone(g, before) && is_alone(g, launch)) && compare(g, before, launch) != 0;
        of[sorted[i]] = groups;
    }
    for (uint32_t i = 0; i < launches; i++)
        of[i] = of[like[i]];
    for (uint32_t i = 0; i < ranges; i++, cw_large_step(g->large))
        if (!keep || keep[i])
            next[of[cw_launch_number(g->data, i)] + 1]++;
    for (uint32_t k = 0; k < launches; k++)
        next[k + 1] += next[k];
    g->count = (uint32_t)next[launches];
    for (uint32_t i = 0; i < ranges; i++, cw_large_step(g->large))
        if (!keep || keep[i])
            g->order[next[of[cw_launch_number(g->data, i)]]++] = i;
    return true;
}

/* Brings the means into the order of groups, which were sorted by time. */
static bool reorder_means(const struct grouping *g)
{
    struct cw_groups *groups = g->groups;
    uint32_t *from = cw_arena_alloc(g->arena, groups->count, sizeof *from);
    for (uint32_t k = 0; from && k < groups->count; k++)
        from[k] = g->items[k].before;
    return from && cw_groups_reorder(&groups->data, from);
}

static bool take_first_launches(const struct grouping *g)
{
    struct cw_groups *groups = g->groups;
    struct cw_range *ranges = cw_arena_alloc(g->arena, groups->count, sizeof *ranges);
    for (uint32_t k = 0; ranges && k < groups->count; k++)
        ranges[k] = *cw_launch_of(g->data, g->items[k].ranges[0]);
    for (uint32_t k = 0; ranges && g->data->repeats && k < groups->count; k++)
        cw_group_merge_shapes(g->data, &g->items[k], &ranges[k]);
    groups->data = *g->data;
    groups->data.directory = NULL;
    groups->data.repeats = NULL;
    groups->data.range_count = groups->count;
    groups->data.ranges = ranges;
    groups->data.forms = NULL;
    groups->data.facts = NULL;
    memset(groups->data.rollups, 0, sizeof groups->data.rollups);
    return ranges;
}

/* Names alike user ranges without the number of one of them. */
static void name_means(const struct grouping *g)
{
    struct cw_groups *groups = g->groups;
    struct cw_range *ranges = (struct cw_range *)groups->data.ranges;
    for (uint32_t k = 0; (groups->by == CW_BY_KERNEL || groups->by == CW_BY_FOLD) && k < groups->count; k++)
        if (g->items[k].multiplexed && !*ranges[k].kernel)
            ranges[k].name = g->items[k].name;
}

static void add_whole(struct grouping *g, const bool *nested)
{
    struct cw_groups *groups = g->groups;
    for (uint32_t i = 0; i < g->data->range_count; i++, cw_large_step(g->large))
        if (!isnan(groups->durations[i]) && !(nested && nested[cw_launch_number(g->data, i)]))
            groups->whole += groups->durations[i];
}

/* Walks over the ranges, whose groups are known. */
static enum cw_status measure(struct grouping *g, const struct cw_chip *chip, bool means, struct cw_error *err)
{
    struct cw_groups *groups = g->groups;
    double *durations = cw_arena_alloc(g->arena, g->data->range_count, sizeof *durations);
    const struct cw_group_walk walk = {.data = g->data,
                                       .folds = &groups->folds,
                                       .count = groups->count,
                                       .single = groups->by == CW_BY_RANGE,
                                       .time_column = time_column(&g->data->schema, chip),
                                       .items = g->items,
                                       .durations = durations,
                                       .means = means ? &groups->data : NULL};
    const bool *nested = NULL;
    CW_TRY(durations ? cw_groups_walk(&walk, g->arena, err) : cw_error_nomem(err));
    if (!estimate_durations(g, durations) || !find_nested(g, OF_ALL, &nested))
        return cw_error_nomem(err);
    add_whole(g, nested);
    return CW_OK;
}
/* The same for data that repeats: it has times, and no counters for means. */
static enum cw_status take_durations(struct grouping *g, struct cw_error *err)
{
    const bool *nested;
    g->groups->durations = g->groups->measured = g->data->repeats->durations;
    if (!find_nested(g, OF_ALL, &nested))
        return cw_error_nomem(err);
    add_whole(g, nested);
    for (uint32_t k = 0; k < g->groups->count; k++)
        g->items[k].used = g->items[k].count;
    return CW_OK;
}

static bool find_devices(struct grouping *g)
{
    g->groups->range_count = g->data->range_count;
    g->model = cw_device_models(g->data, g->arena);
    g->gpu = cw_device_gpus(g->data, &g->groups->gpu_count, g->arena);
    return g->model && g->gpu && cw_folds_make(&g->groups->folds, g->data, g->model, g->arena, NULL) == CW_OK;
}

enum cw_status cw_groups_measure(struct cw_groups *groups, const struct cw_counter_data *data,
                                 const struct cw_chip *chip, struct cw_arena *arena, struct cw_error *err)
{
    struct grouping g = {.groups = groups, .data = data, .arena = arena};
    *groups = (struct cw_groups){.by = CW_BY_RANGE};
    return find_devices(&g) ? measure(&g, chip, false, err) : cw_error_nomem(err);
}

static enum cw_status make(struct cw_groups *groups, const struct cw_counter_data *data, const struct cw_chip *chip,
                           const bool *keep, struct cw_arena *arena, struct cw_error *err)
{
    struct cw_large *large = data->repeats ? data->repeats->large : NULL;
    struct grouping g = {.groups = groups, .data = data, .arena = arena, .large = large};
    const bool each = groups->by == CW_BY_RANGE, as_it_is = each && !keep && !groups->of_times && !data->repeats;
    const bool firsts = groups->of_times || data->repeats, means = !as_it_is && !firsts;
    g.order = large ? cw_large_alloc(large, data->range_count, sizeof *g.order)
                    : cw_arena_alloc(arena, data->range_count, sizeof *g.order);
    if (!g.order || !find_devices(&g))
        return cw_error_nomem(err);
    for (uint32_t i = 0; each && i < data->range_count; i++)
        if (!keep || keep[i])
            g.order[g.count++] = i;
    if (!each && !order_by_launch(&g, keep))
        return cw_error_nomem(err);
    CW_TRY(divide(&g, err));
    CW_TRY(data->repeats ? take_durations(&g, err) : measure(&g, chip, means, err));
    for (uint32_t k = 0; k < groups->count; k++)
        g.items[k].before = k;
    CW_TRY(finish_groups(&g, err));
    if (as_it_is) {
        groups->data = *data;
        for (uint32_t k = 0; k < groups->count; k++)
            g.items[k].used = 1;
    }
    if ((firsts && !take_first_launches(&g)) || (means && !reorder_means(&g)))
        return cw_error_nomem(err);
    if (means)
        name_means(&g);
    if (large)
        cw_large_let_go(large);
    return CW_OK;
}

enum cw_status cw_groups_make(struct cw_groups *groups, enum cw_group_by by, const struct cw_counter_data *data,
                              const struct cw_chip *chip, const bool *keep, struct cw_arena *arena,
                              struct cw_error *err)
{
    *groups = (struct cw_groups){.by = by};
    return make(groups, data, chip, keep, arena, err);
}

enum cw_status cw_groups_make_of_ranks(struct cw_groups *groups, enum cw_group_by by,
                                       const struct cw_counter_data *data, const struct cw_chip *chip, const bool *keep,
                                       struct cw_arena *arena, struct cw_error *err)
{
    *groups = (struct cw_groups){.by = by, .of_ranks = true};
    return make(groups, data, chip, keep, arena, err);
}

enum cw_status cw_groups_make_times(struct cw_groups *groups, enum cw_group_by by, const struct cw_counter_data *data,
                                    const struct cw_chip *chip, const bool *keep, struct cw_arena *arena,
                                    struct cw_error *err)
{
    *groups = (struct cw_groups){.by = by, .of_times = true};
    return make(groups, data, chip, keep, arena, err);
}
