/* Rows of launches, with the times of one run and the counters of others. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buckets.h"
#include "base/shorten.h"
#include "eval/join/joined.h"
#include "eval/labels.h"
#include "eval/ranges/groups.h"
#include "eval/quantile.h"
#include "eval/timeline/groups.h"

struct making {
    const struct cw_joined *joined;
    struct cw_joined_rows *rows;
    enum cw_group_by by;
    uint32_t *key; /* [launch]: the key of its row, below key_count */
    uint32_t key_count;
    const char **paths;           /* [key], by NVTX unless ranges are joined: its name */
    uint32_t *order;              /* launches, one row after another */
    uint32_t *of_shape, *first;   /* ranges by shape: shape s has of_shape[first[s]] to of_shape[first[s + 1]] */
    uint32_t *turn;               /* [shape]: the range whose turn it is */
    uint32_t *stand, stand_count; /* ranges that stand for launches, row by row */
    struct cw_group *items, *counted;
    struct cw_joined_row *row;
    const uint32_t *gpu; /* [device]: of the trace, or of ranges if these are joined */
    struct cw_arena *arena;
};

static int by_number(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

/* ---- keys of rows ------------------------------------------------------------------------------------------------ */

/* A launch by a text. */
struct named {
    const char *name;
    uint32_t launch;
};

static int by_name(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    const int order = x->name == y->name ? 0 : strcmp(x->name, y->name);
    return order ? order : by_number(x->launch, y->launch);
}

/* Makes the family once for each shape, as there are fewer shapes than launches. */
static bool key_families(struct making *m)
{
    const struct cw_joined *j = m->joined;
    const struct cw_timeline *t = j->timeline;
    char text[CW_SHORT_SIZE];
    struct named *shapes = calloc((size_t)j->join.shape_count + 1, sizeof *shapes);
    uint32_t *number = calloc((size_t)j->join.shape_count + 1, sizeof *number), count = 0;
    bool good = shapes && number;
    for (uint32_t i = 0; good && i < j->count; i++) {
        struct named *shape = &shapes[j->join.a.shape[i]];
        const struct cw_timeline_gpu *g = j->of_ranges ? NULL : &t->gpu[j->launches[i].event];
        if (shape->name)
            continue;
        shape->launch = j->join.a.shape[i];
        shape->name = !g || g->kind != CW_TRACE_KERNEL || strcmp(j->traced.launches[i].kernel, t->names[g->name].text)
                          ? j->traced.launches[i].kernel
                          : cw_arena_strdup(m->arena, cw_shorten_to_family(t->names[g->name].shown, text));
        good = shape->name;
    }
    for (uint32_t s = 0; good && s < j->join.shape_count; s++)
        shapes[s] = (struct named){shapes[s].name ? shapes[s].name : "", s};
    if (good)
        qsort(shapes, j->join.shape_count, sizeof *shapes, by_name);
    for (uint32_t s = 0; good && s < j->join.shape_count; s++) {
        count += s && strcmp(shapes[s - 1].name, shapes[s].name) != 0;
        number[shapes[s].launch] = count;
    }
    m->key_count = count + 1;
    for (uint32_t i = 0; good && i < j->count; i++)
        m->key[i] = number[j->join.a.shape[i]];
    free(shapes);
    free(number);
    return good;
}

/* Ranks as numbers from 0 on, in the order of their texts; processes without a rank are one. */
static bool key_ranks(struct making *m)
{
    const struct cw_timeline *t = m->joined->timeline;
    const uint32_t processes = t->trace->process_count;
    struct named *list = calloc((size_t)processes + 1, sizeof *list);
    uint32_t *number = calloc((size_t)processes + 1, sizeof *number), count = 0;
    const bool good = list && number;
    for (uint32_t p = 0; good && p < processes; p++) {
        const char *rank = cw_timeline_attribute(t, p, "rank");
        list[p] = (struct named){rank ? rank : "", p};
    }
    if (good)
        qsort(list, processes, sizeof *list, by_name);
    for (uint32_t p = 0; good && p < processes; p++) {
        count += p && strcmp(list[p - 1].name, list[p].name) != 0;
        number[list[p].launch] = count;
    }
    m->key_count = count + 1;
    for (uint32_t i = 0; good && i < m->joined->count; i++)
        m->key[i] = number[m->joined->launches[i].process];
    free(list);
    free(number);
    return good;
}

/* Paths that differ in numbers only are one row, as in a trace alone. A row with one path has its name. */
static bool key_paths(struct making *m)
{
    const struct cw_joined *j = m->joined;
    const uint32_t count = j->timeline->path_count;
    char text[CW_TIMELINE_NAME_SIZE];
    uint32_t *of = calloc((size_t)count + 1, sizeof *of); /* [key]: its path, or the count of paths if it has several */
    const char *const *patterns = cw_timeline_path_texts(j->timeline, true, m->arena);
    bool good = of && (m->paths = cw_arena_alloc(m->arena, (size_t)count + 1, sizeof *m->paths));
    const uint32_t *number = good ? cw_labels_number(patterns, count, m->arena) : NULL;
    m->key_count = count + 1;
    for (uint32_t i = 0; number && i < j->count; i++) {
        const uint32_t path = j->timeline->gpu[j->launches[i].event].path, key = number[path];
        of[key] = !of[key] || of[key] == path + 1 ? path + 1 : count + 1;
        m->paths[key] = patterns[path];
        m->key[i] = key;
    }
    for (uint32_t k = 0; number && good && k < count; k++)
        if (of[k] && of[k] <= count)
            good = (m->paths[k] = cw_arena_strdup(m->arena, cw_timeline_path_text(j->timeline, of[k] - 1, text)));
    free(of);
    return good && number;
}

/* The device of a launch, or the count of devices if it has none. */
static uint32_t device_of(const struct cw_joined *j, uint32_t i)
{
    const uint32_t stream = j->launches[i].stream, count = j->timeline->data->device_count;
    const uint32_t device = stream == CW_TIMELINE_NONE ? count : j->timeline->streams[stream].device;
    return device < count ? device : count;
}

static bool make_keys(struct making *m)
{
    const struct cw_joined *j = m->joined;
    const struct cw_timeline *t = j->timeline;
    m->key = cw_arena_alloc(m->arena, j->count, sizeof *m->key);
    if (!m->key)
        return false;
    if (m->by == CW_BY_FAMILY || m->by == CW_BY_RANK)
        return m->by == CW_BY_FAMILY ? key_families(m) : key_ranks(m);
    if (m->by == CW_BY_NVTX && !j->of_ranges)
        return key_paths(m);
    m->key_count = m->by == CW_BY_NVTX     ? t->path_count + 1
                   : m->by == CW_BY_DEVICE ? t->data->device_count + 1
                   : m->by == CW_BY_STREAM ? t->stream_count + 1
                                           : j->join.shape_count;
    for (uint32_t i = 0; i < j->count; i++)
        m->key[i] = m->by == CW_BY_NVTX                         ? t->ranges[j->launches[i].event].path
                    : m->by == CW_BY_DEVICE                     ? device_of(j, i)
                    : m->by != CW_BY_STREAM                     ? j->join.a.shape[i]
                    : j->launches[i].stream == CW_TIMELINE_NONE ? t->stream_count
                                                                : j->launches[i].stream;
    return true;
}

/* ---- rows ------------------------------------------------------------------------------------------------------- */

/* Sorts the launches by key: order[begin[k]] up to order[begin[k + 1]] have key k. */
static uint32_t *sort_launches(struct making *m)
{
    uint32_t *begin = calloc((size_t)m->key_count + 2, sizeof *begin);
    m->order = cw_arena_alloc(m->arena, m->joined->count, sizeof *m->order);
    if (!begin || !m->order) {
        free(begin);
        return NULL;
    }
    cw_buckets_sort(begin, m->key_count, m->order, m->key, sizeof *m->key, m->joined->count);
    return begin;
}

static const char *name_row(const struct making *m, uint32_t launch)
{
    const struct cw_joined *j = m->joined;
    const struct cw_timeline *t = j->timeline;
    const struct cw_joined_launch *l = &j->launches[launch];
    const uint32_t device = device_of(j, launch);
    const struct cw_device *of = device < t->data->device_count ? &t->data->devices[device] : NULL;
    const char *text = of ? cw_device_attribute(of, "name") : NULL;
    const struct cw_timeline_gpu *g = j->of_ranges ? NULL : &t->gpu[l->event];
    char family[CW_SHORT_SIZE], name[CW_TIMELINE_NAME_SIZE];
    const bool kernel = g && strcmp(j->traced.launches[launch].kernel, t->names[g->name].text) == 0;
    const struct cw_timeline_stream *s;
    switch (m->by) {
    case CW_BY_FAMILY:
        return kernel ? cw_arena_strdup(m->arena, cw_shorten_to_family(t->names[g->name].shown, family))
                      : j->traced.launches[launch].kernel;
    case CW_BY_NVTX:
        text = j->of_ranges ? j->traced.launches[launch].kernel : m->paths[m->key[launch]];
        return *text ? text : "(no NVTX range)";
    case CW_BY_RANK:
        text = cw_timeline_attribute(t, l->process, "rank");
        return text ? cw_arena_printf(m->arena, "rank %s", text) : "(no rank)";
    case CW_BY_DEVICE:
        return of ? cw_arena_printf(m->arena, "device %" PRIu32 "%s%s", of->index, text ? " " : "", text ? text : "")
                  : "(no device)";
    case CW_BY_STREAM:
        s = l->stream == CW_TIMELINE_NONE ? NULL : &t->streams[l->stream];
        return s ? cw_arena_printf(m->arena, "%s", cw_timeline_name_stream(t, s, name)) : "(no stream)";
    default:
        return kernel ? t->names[g->name].shown : j->traced.launches[launch].kernel;
    }
}

/* Sums up the times of a group of launches; `room` has space for as many. */
static void sum_up(const struct making *m, struct cw_group *group, struct cw_joined_row *row, double *room)
{
    const struct cw_joined_launch *launches = m->joined->launches;
    double squares = 0, gaps = 0, latencies = 0;
    uint32_t gap_count = 0, latency_count = 0;
    group->least = group->greatest = NAN;
    for (uint32_t i = 0; i < group->count; i++) {
        const struct cw_joined_launch *l = &launches[group->ranges[i]];
        const uint8_t how = m->joined->join.a.how[group->ranges[i]];
        group->total += l->ns;
        group->least = fmin(group->least, l->ns);
        group->greatest = fmax(group->greatest, l->ns);
        gaps += isnan(l->gap) ? 0 : l->gap;
        gap_count += !isnan(l->gap);
        latencies += isnan(l->latency) ? 0 : l->latency;
        latency_count += !isnan(l->latency);
        row->twins += how == CW_JOIN_TWIN;
        row->like += how != CW_JOIN_TWIN && cw_join_has_kernel((enum cw_join_how)how);
    }
    row->none = group->count - row->twins - row->like;
    row->gap = gap_count ? gaps / gap_count : NAN;
    row->latency = latency_count ? latencies / latency_count : NAN;
    group->timed = group->measured = group->count;
    group->mean = group->total / group->count;
    for (uint32_t i = 0; i < group->count; i++) {
        const double off = launches[group->ranges[i]].ns - group->mean;
        room[i] = launches[group->ranges[i]].ns;
        squares += off * off;
    }
    group->deviation = cw_sample_deviation(squares, group->count);
    group->median = cw_median(room, group->count);
}

/* CW_TIMELINE_NONE: not known */
static uint32_t gpu_of(const struct making *m, uint32_t launch)
{
    const struct cw_joined *j = m->joined;
    const uint32_t twin = j->join.a.twin[launch], device = device_of(j, launch);
    if (j->of_ranges)
        return twin != CW_NO_TWIN ? m->gpu[cw_launch_of(j->data, twin)->device] : CW_TIMELINE_NONE;
    return device < j->timeline->data->device_count ? m->gpu[device] : CW_TIMELINE_NONE;
}

/* The stream of a launch in the trace. */
static uint64_t stream_of(const struct making *m, uint32_t launch)
{
    const uint32_t stream = m->joined->launches[launch].stream;
    return stream == CW_TIMELINE_NONE ? UINT64_MAX : m->joined->timeline->streams[stream].stream;
}

static void find_places(const struct making *m, struct cw_group *group)
{
    const struct cw_joined_launch *launches = m->joined->launches;
    group->stream = stream_of(m, group->ranges[0]);
    for (uint32_t i = 0, known = CW_TIMELINE_NONE; i < group->count; i++) {
        const uint32_t gpu = gpu_of(m, group->ranges[i]);
        group->several_processes =
            group->several_processes || launches[group->ranges[i]].process != launches[group->ranges[0]].process;
        group->stream = stream_of(m, group->ranges[i]) == group->stream ? group->stream : UINT64_MAX;
        group->several_gpus =
            group->several_gpus || (gpu != known && gpu != CW_TIMELINE_NONE && known != CW_TIMELINE_NONE);
        known = gpu != CW_TIMELINE_NONE ? gpu : known;
    }
}

/* Counts the shapes of a row. */
static void count_kernels(const struct making *m, struct cw_group *group, uint32_t *seen, uint32_t stamp)
{
    for (uint32_t i = 0; i < group->count; i++) {
        const uint32_t shape = m->joined->join.a.shape[group->ranges[i]];
        group->kernels += seen[shape] != stamp;
        group->shapes = group->kernels;
        seen[shape] = stamp;
    }
}

static int longest_first(const void *a, const void *b, void *items)
{
    const struct cw_group *x = (struct cw_group *)items + *(const uint32_t *)a,
                          *y = (struct cw_group *)items + *(const uint32_t *)b;
    return x->total != y->total ? (x->total < y->total) - (x->total > y->total) : by_number(x->ranges[0], y->ranges[0]);
}

/* Sorts groups and rows by their time. False when out of memory. */
static bool sort_rows(struct making *m, struct cw_group *items, struct cw_joined_row *row, uint32_t count)
{
    uint32_t *longest = malloc(((size_t)count + 1) * sizeof *longest);
    m->items = cw_arena_alloc(m->arena, count, sizeof *m->items);
    m->row = cw_arena_alloc(m->arena, count, sizeof *m->row);
    for (uint32_t k = 0; longest && k < count; k++)
        longest[k] = k;
    if (longest)
        qsort_r(longest, count, sizeof *longest, longest_first, items);
    for (uint32_t k = 0; longest && m->items && m->row && k < count; k++) {
        m->items[k] = items[longest[k]];
        m->row[k] = row[longest[k]];
    }
    const bool good = longest && m->items && m->row;
    free(longest);
    return good;
}

/* False when out of memory. */
static bool divide(struct making *m, uint32_t most)
{
    struct cw_groups *groups = &m->rows->groups;
    uint32_t *begin = sort_launches(m), count = 0;
    uint32_t *seen = calloc((size_t)m->joined->join.shape_count + 1, sizeof *seen);
    struct cw_group *items = calloc((size_t)m->key_count + 1, sizeof *items);
    struct cw_joined_row *row = calloc((size_t)m->key_count + 1, sizeof *row);
    uint32_t largest = 0;
    for (uint32_t k = 0; begin && k < m->key_count; k++)
        largest = begin[k + 1] - begin[k] > largest ? begin[k + 1] - begin[k] : largest;
    double *room = calloc((size_t)largest + 1, sizeof *room);
    bool good = begin && seen && items && row && room;
    for (uint32_t k = 0; good && k < m->key_count; k++) {
        if (begin[k] == begin[k + 1])
            continue;
        items[count] = (struct cw_group){.count = begin[k + 1] - begin[k], .ranges = m->order + begin[k]};
        sum_up(m, &items[count], &row[count], room);
        find_places(m, &items[count]);
        count_kernels(m, &items[count], seen, count + 1);
        groups->total += items[count++].total;
    }
    good = good && sort_rows(m, items, row, count);
    for (uint32_t k = most; good && k < count; k++) {
        m->rows->left++;
        m->rows->left_time += m->items[k].total;
    }
    groups->whole = m->joined->whole;
    groups->count = count < most ? count : most;
    for (uint32_t k = 0; good && k < groups->count; k++)
        good = (m->items[k].name = name_row(m, m->items[k].ranges[0]));
    free(room);
    free(begin);
    free(seen);
    free(items);
    free(row);
    return good;
}

/* ---- ranges that stand for launches ----------------------------------------------------------------------------- */

static bool sort_ranges(struct making *m)
{
    const struct cw_join_side *b = &m->joined->join.b;
    const uint32_t shapes = m->joined->join.shape_count, count = m->joined->data->range_count;
    m->of_shape = cw_arena_alloc(m->arena, count, sizeof *m->of_shape);
    m->first = cw_arena_alloc(m->arena, (size_t)shapes + 2, sizeof *m->first);
    m->turn = cw_arena_alloc(m->arena, shapes, sizeof *m->turn);
    if (!m->of_shape || !m->first || !m->turn)
        return false;
    cw_buckets_sort(m->first, shapes, m->of_shape, b->shape, sizeof *b->shape, count);
    memcpy(m->turn, m->first, shapes * sizeof *m->turn);
    return true;
}

static int in_range_order(const void *a, const void *b)
{
    return by_number(*(const uint32_t *)a, *(const uint32_t *)b);
}

/* A row of one kernel and shape has all ranges of the shape if one of its launches lacks a twin. */
static void take_shape(struct making *m, uint32_t shape)
{
    for (uint32_t i = m->first[shape]; i < m->first[shape + 1]; i++)
        m->stand[m->stand_count++] = m->of_shape[i];
}

static void take_stands(struct making *m, const struct cw_group *group)
{
    const struct cw_join_side *a = &m->joined->join.a;
    for (uint32_t i = 0; i < group->count; i++) {
        const uint32_t launch = group->ranges[i], shape = a->shape[launch];
        if (a->twin[launch] != CW_NO_TWIN) {
            m->stand[m->stand_count++] = a->twin[launch];
        } else if (cw_join_has_kernel((enum cw_join_how)a->how[launch])) {
            m->turn[shape] = m->turn[shape] < m->first[shape + 1] ? m->turn[shape] : m->first[shape];
            m->stand[m->stand_count++] = m->of_shape[m->turn[shape]++];
        }
    }
}

/* Finds how long these ranges took, and their launches in the trace. */
static void compare_times(const struct making *m, const struct cw_group *counted, uint32_t k)
{
    const double *durations = m->joined->each.durations;
    double sum = 0;
    uint32_t timed = 0;
    for (uint32_t i = 0; i < counted->count; i++)
        if (!isnan(durations[counted->ranges[i]])) {
            sum += durations[counted->ranges[i]];
            timed++;
        }
    m->row[k].counted = timed ? sum / timed : NAN;
    m->row[k].beside = NAN;
    sum = 0;
    timed = 0;
    for (uint32_t i = 0; i < m->items[k].count; i++)
        if (cw_join_has_kernel((enum cw_join_how)m->joined->join.a.how[m->items[k].ranges[i]])) {
            sum += m->joined->launches[m->items[k].ranges[i]].ns;
            timed++;
        }
    if (timed)
        m->row[k].beside = sum / timed;
}

static bool stand_in(struct making *m)
{
    const struct cw_groups *groups = &m->rows->groups;
    const size_t room = (size_t)m->joined->count + m->joined->data->range_count;
    m->stand = cw_arena_alloc(m->arena, room, sizeof *m->stand);
    m->counted = cw_arena_alloc(m->arena, groups->count, sizeof *m->counted);
    if (!m->stand || !m->counted || !sort_ranges(m))
        return false;
    for (uint32_t k = 0; k < groups->count; k++) {
        const uint32_t first = m->stand_count;
        if (m->by == CW_BY_KERNEL && m->row[k].like)
            take_shape(m, m->joined->join.a.shape[m->items[k].ranges[0]]);
        else
            take_stands(m, &m->items[k]);
        m->counted[k] = m->items[k];
        m->counted[k].ranges = m->stand + first;
        m->counted[k].count = m->stand_count - first;
        qsort(m->stand + first, m->counted[k].count, sizeof *m->stand, in_range_order);
        compare_times(m, &m->counted[k], k);
    }
    return true;
}

/* ---- all of it -------------------------------------------------------------------------------------------------- */

/* Gives the rows the trace's names. */
static void describe(struct making *m)
{
    struct cw_groups *counted = &m->rows->counted;
    struct cw_range *ranges = (struct cw_range *)counted->data.ranges;
    for (uint32_t k = 0; k < counted->count; k++) {
        const struct cw_join_launch *first = &m->joined->traced.launches[m->items[k].ranges[0]];
        ranges[k].name = m->items[k].name;
        if (m->by != CW_BY_KERNEL || m->joined->of_ranges)
            continue;
        ranges[k].kernel = first->kernel;
        memcpy(ranges[k].grid, first->grid, sizeof first->grid);
        memcpy(ranges[k].block, first->block, sizeof first->block);
    }
}

enum cw_status cw_joined_rows_make(struct cw_joined_rows *rows, const struct cw_joined *joined, enum cw_group_by by,
                                   uint32_t most, struct cw_arena *arena, struct cw_error *err)
{
    struct making m = {.joined = joined, .rows = rows, .by = by, .arena = arena};
    struct cw_groups *counted = &rows->counted;
    *rows = (struct cw_joined_rows){.groups = {.by = by, .range_count = joined->count}};
    double *durations = cw_arena_alloc(arena, joined->count, sizeof *durations);
    for (uint32_t i = 0; durations && i < joined->count; i++)
        durations[i] = joined->launches[i].ns;
    uint32_t gpus;
    m.gpu = cw_device_gpus(joined->of_ranges ? joined->data : joined->timeline->data, &gpus, arena);
    if (!durations || !m.gpu || !make_keys(&m) || !divide(&m, most) || !stand_in(&m))
        return cw_error_nomem(err);
    *counted = joined->each;
    counted->by = by;
    counted->count = rows->groups.count;
    counted->items = m.counted;
    const struct cw_group_walk walk = {.data = joined->data,
                                       .folds = &counted->folds,
                                       .count = counted->count,
                                       .items = m.counted,
                                       .means = &counted->data};
    const enum cw_status status = cw_groups_walk(&walk, arena, err);
    if (status != CW_OK)
        return status;
    describe(&m);
    for (uint32_t k = 0; k < counted->count; k++) {
        m.items[k].multiplexed = m.counted[k].multiplexed;
        m.items[k].used = m.items[k].count;
    }
    rows->groups.items = m.items;
    rows->groups.durations = rows->groups.measured = durations;
    rows->groups.gpu_count = joined->each.gpu_count;
    rows->groups.data = counted->data;
    rows->rows = m.row;
    return CW_OK;
}

double cw_joined_slower(const struct cw_joined_row *row)
{
    static const double NOTICED = 0.1;
    const double part = row->counted / row->beside - 1;
    return row->beside > 0 && fabs(part) > NOTICED ? part : 0;
}
