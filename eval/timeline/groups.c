#define _GNU_SOURCE
#include "eval/timeline/groups.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/shorten.h"
#include "base/text.h"
#include "eval/keys.h"
#include "eval/labels.h"
#include "eval/quantile.h"

/* ---- keys -------------------------------------------------------------------------------------------------------- */

struct grouping {
    struct cw_timeline_groups *groups;
    const uint32_t *family_of, *rank_of; /* [name], [process]: numbers of families and ranks */
    uint32_t outer;                      /* the last call that is within no other, or CW_TIMELINE_NONE */
    struct cw_keys keys;
};

/* Numbers the families of kernels' names. */
static bool number_families(struct grouping *g, struct cw_arena *arena)
{
    const struct cw_timeline *t = g->groups->t;
    char text[CW_SHORT_SIZE];
    const char **families = cw_arena_alloc(arena, t->name_count, sizeof *families);
    bool good = families;
    for (uint32_t i = 0; good && i < t->gpu_count; i++, cw_timeline_step(t)) {
        const uint32_t name = t->gpu[i].name;
        if (families[name] || t->gpu[i].kind != CW_TRACE_KERNEL)
            continue;
        families[name] = cw_arena_strdup(arena, cw_shorten_to_family(t->names[name].shown, text));
        good = families[name];
    }
    g->groups->families = families;
    g->family_of = good ? cw_labels_number(families, t->name_count, arena) : NULL;
    return g->family_of;
}

static bool number_ranks(struct grouping *g, struct cw_arena *arena)
{
    const struct cw_timeline *t = g->groups->t;
    const uint32_t count = t->trace->process_count;
    const char **ranks = calloc((size_t)count + 1, sizeof *ranks);
    for (uint32_t i = 0; ranks && i < count; i++)
        ranks[i] = cw_timeline_attribute(t, i, "rank");
    g->rank_of = cw_labels_number(ranks, count, arena);
    free(ranks);
    return g->rank_of;
}

static bool is_kernel(const struct cw_timeline_gpu *g)
{
    return g->kind == CW_TRACE_KERNEL || g->kind == CW_TRACE_GRAPH;
}

/* The key common to all items of a group. False for an item without a group. */
static bool find_key(const struct grouping *g, uint32_t item, struct cw_key *key)
{
    const struct cw_timeline *t = g->groups->t;
    *key = (struct cw_key){{0}};
    if (g->groups->by == CW_TIMELINE_BY_CALL) {
        key->part[0] = t->calls[item].name;
        return true;
    }
    const struct cw_timeline_gpu *gpu = &t->gpu[item];
    const struct cw_timeline_stream *s = &t->streams[gpu->stream];
    switch (g->groups->by) {
    case CW_TIMELINE_BY_KERNEL:
        *key = (struct cw_key){{gpu->kind, gpu->name}};
        return is_kernel(gpu);
    case CW_TIMELINE_BY_FAMILY:
        *key = (struct cw_key){{gpu->kind, g->family_of[gpu->name]}};
        return is_kernel(gpu);
    case CW_TIMELINE_BY_COPY:
        *key = (struct cw_key){{gpu->kind, gpu->name, gpu->from, gpu->to}};
        return !is_kernel(gpu);
    case CW_TIMELINE_BY_STREAM:
        key->part[0] = gpu->stream;
        return true;
    case CW_TIMELINE_BY_DEVICE:
        key->part[0] = s->device;
        return true;
    case CW_TIMELINE_BY_PROCESS:
        key->part[0] = s->process;
        return true;
    case CW_TIMELINE_BY_RANK:
        key->part[0] = g->rank_of[s->process];
        return true;
    case CW_TIMELINE_BY_CALL: /* above, and in other ways */
    case CW_TIMELINE_BY_NVTX:
    case CW_TIMELINE_BY_NVTX_EACH:
    case CW_TIMELINE_BY_GRAPH:
    case CW_TIMELINE_BY__COUNT:
        break;
    }
    return false;
}

/* ---- sums of items ----------------------------------------------------------------------------------------------- */

static struct cw_timeline_group *find_group(struct grouping *g, uint32_t item, struct cw_timeline_group **groups,
                                            uint32_t *room)
{
    struct cw_key key;
    if (!find_key(g, item, &key))
        return NULL;
    const uint32_t before = g->keys.count, at = cw_keys_add(&g->keys, key);
    if (at == CW_NO_KEY)
        return NULL;
    if (at == *room) {
        struct cw_timeline_group *grown = realloc(*groups, (2 * (size_t)*room + 16) * sizeof *grown);
        if (!grown)
            return NULL;
        *groups = grown;
        *room = 2 * *room + 16;
    }
    if (at == before)
        (*groups)[at] = (struct cw_timeline_group){.first = item, .least = -1, .middle = NAN, .deviation = NAN};
    return &(*groups)[at];
}

static double time_of(const struct cw_timeline_groups *all, uint32_t item)
{
    const struct cw_timeline *t = all->t;
    return all->by == CW_TIMELINE_BY_CALL ? (double)(t->calls[item].end - t->calls[item].start)
                                          : (double)(t->gpu[item].end - t->gpu[item].start);
}

/* Whether a call is within another of its thread, as calls of the driver are that the runtime makes. Calls of a thread
 * stand together, by start. */
static bool is_inner_call(struct grouping *g, uint32_t item)
{
    const struct cw_timeline_call *call = &g->groups->t->calls[item];
    const struct cw_timeline_call *outer = g->outer != CW_TIMELINE_NONE ? &g->groups->t->calls[g->outer] : NULL;
    const bool inner = outer && call->thread == outer->thread && call->end <= outer->end;
    g->outer = inner ? g->outer : item;
    return inner;
}

/* NaN: a copy or a memset whose bytes nobody knows. */
static double bytes_of(const struct cw_timeline_gpu *g)
{
    if (g->bytes != CW_TRACE_UNKNOWN)
        return (double)g->bytes;
    return g->kind == CW_TRACE_COPY || g->kind == CW_TRACE_MEMSET ? NAN : 0;
}

static void add_item(struct cw_timeline_groups *all, struct cw_timeline_group *group, uint32_t item)
{
    const struct cw_timeline *t = all->t;
    const bool call = all->by == CW_TIMELINE_BY_CALL;
    const double time = time_of(all, item);
    group->count++;
    group->total += time;
    group->least = group->least < 0 || time < group->least ? time : group->least;
    group->greatest = time > group->greatest ? time : group->greatest;
    if (call)
        group->failed += t->calls[item].result != 0 && t->calls[item].result != CW_TIMELINE_NOT_READY;
    else
        group->bytes += bytes_of(&t->gpu[item]);
    group->other_thread += !call && t->gpu[item].other_thread;
    all->other_thread += !call && t->gpu[item].other_thread;
    all->total += time;
    all->item_count++;
}

/* Finds median and deviation, by two more passes over the items. Keeps the times of each group, one group after
 * another. */
static bool add_spread(const struct cw_timeline_groups *all, struct cw_timeline_group *groups, uint32_t group_count,
                       const uint32_t *group_of, uint32_t count)
{
    struct cw_large *large = all->t->large;
    double *times = cw_large_alloc(large, (size_t)all->item_count + 1, sizeof *times);
    size_t *at = calloc((size_t)group_count + 1, sizeof *at);
    for (uint32_t g = 0; at && g < group_count; g++)
        at[g + 1] = at[g] + groups[g].count;
    for (uint32_t i = 0; times && at && i < count; i++, cw_timeline_step(all->t))
        if (group_of[i] != CW_NO_KEY)
            times[at[group_of[i]]++] = time_of(all, i);
    for (uint32_t g = 0; times && at && g < group_count; g++) {
        double *own = times + at[g] - groups[g].count, squares = 0;
        for (uint64_t i = 0; i < groups[g].count; i++, cw_timeline_step(all->t)) {
            const double off = own[i] - cw_timeline_group_mean(&groups[g]);
            squares += off * off;
        }
        groups[g].deviation = cw_sample_deviation(squares, groups[g].count);
        groups[g].middle = cw_median(own, groups[g].count);
    }
    const bool good = times && at;
    cw_large_free(large, times);
    free(at);
    return good;
}

static bool add_items(struct grouping *g, const struct cw_timeline_keep *of, bool spread, struct cw_arena *arena)
{
    struct cw_timeline_groups *all = g->groups;
    struct cw_timeline_group *groups = NULL;
    const bool *keep = all->by == CW_TIMELINE_BY_CALL ? of->calls : of->gpu;
    const uint32_t count = all->by == CW_TIMELINE_BY_CALL ? all->t->call_count : all->t->gpu_count;
    uint32_t *group_of = spread ? cw_large_alloc(all->t->large, (size_t)count + 1, sizeof *group_of) : NULL, room = 0;
    bool good = group_of || !spread;
    for (uint32_t i = 0; i < count && good; i++, cw_timeline_step(all->t)) {
        struct cw_key none;
        const bool kept = !keep || keep[i];
        struct cw_timeline_group *group = kept ? find_group(g, i, &groups, &room) : NULL;
        if (group)
            add_item(all, group, i);
        else
            good = !kept || !find_key(g, i, &none);
        if (group && all->by == CW_TIMELINE_BY_CALL && is_inner_call(g, i))
            all->total -= time_of(all, i);
        if (group_of)
            group_of[i] = group ? (uint32_t)(group - groups) : CW_NO_KEY;
    }
    all->count = g->keys.count;
    good = good && (!spread || add_spread(all, groups, all->count, group_of, count));
    cw_large_free(all->t->large, group_of);
    all->items = good ? cw_arena_alloc(arena, all->count, sizeof *all->items) : NULL;
    if (all->items && all->count)
        memcpy(all->items, groups, all->count * sizeof *groups);
    free(groups);
    return all->items;
}

static bool group_items(struct cw_timeline_groups *all, const struct cw_timeline_keep *keep, bool spread,
                        struct cw_arena *arena)
{
    struct grouping g = {.groups = all, .outer = CW_TIMELINE_NONE};
    const bool good = (all->by != CW_TIMELINE_BY_FAMILY || number_families(&g, arena)) &&
                      (all->by != CW_TIMELINE_BY_RANK || number_ranks(&g, arena)) && add_items(&g, keep, spread, arena);
    cw_keys_free(&g.keys);
    return good;
}

/* ---- NVTX ranges ------------------------------------------------------------------------------------------------- */

/* The group of each path. Groups are numbered from 0, parents before their children; path 0 is group 0. */
struct path_groups {
    uint32_t *of, *parents; /* [path], [group] */
    uint32_t count;
};

/* Numbers the patterns of all names in paths; [name]. */
static const uint32_t *number_patterns(const struct cw_timeline *t, struct cw_arena *arena)
{
    const char **patterns = calloc((size_t)t->name_count + 1, sizeof *patterns);
    for (uint32_t i = 0; patterns && i < t->name_count; i++)
        patterns[i] = t->parts[i].pattern;
    const uint32_t *numbers = cw_labels_number(patterns, t->name_count, arena);
    free(patterns);
    return numbers;
}

/* Marks paths that have an item, and their parents. */
static bool *find_used(const struct cw_timeline *t, const struct cw_timeline_keep *keep)
{
    bool *used = calloc((size_t)t->path_count + 1, sizeof *used);
    for (uint32_t i = 0; used && i < t->gpu_count; i++, cw_timeline_step(t))
        used[t->gpu[i].path] = used[t->gpu[i].path] || !keep->gpu || keep->gpu[i];
    for (uint32_t i = 0; used && i < t->range_count; i++, cw_timeline_step(t))
        used[t->ranges[i].path] =
            used[t->ranges[i].path] || (keep->paths ? keep->paths[t->ranges[i].path] : !keep->gpu);
    for (uint32_t p = used ? t->path_count : 0; p-- > 1;)
        used[t->paths[p].parent] = used[t->paths[p].parent] || used[p];
    return used;
}

/* With `patterns` NULL each path is a group. `mixed`, [path]: its group has paths that end in other names. */
static bool find_path_groups(struct path_groups *f, const struct cw_timeline *t, const uint32_t *patterns,
                             const bool *used, bool *mixed)
{
    struct cw_keys keys = {0};
    uint32_t *first = calloc((size_t)t->path_count + 1, sizeof *first); /* [group]: the name of a used path */
    bool *has_others = calloc((size_t)t->path_count + 1, sizeof *has_others);
    bool good = first && has_others;
    f->count = 1;
    f->of[0] = f->parents[0] = 0;
    for (uint32_t p = 1; good && p < t->path_count; p++) {
        const struct cw_timeline_path *path = &t->paths[p];
        const uint32_t parent = f->of[path->parent];
        const uint32_t group =
            patterns ? cw_keys_add(&keys, (struct cw_key){{parent, path->domain, patterns[path->name], 0}}) : p - 1;
        good = group != CW_NO_KEY;
        if (!good)
            break;
        f->of[p] = group + 1;
        if (group + 1 == f->count) {
            f->count++;
            f->parents[group + 1] = parent;
        }
        if (!used[p])
            continue;
        has_others[group + 1] = has_others[group + 1] || (first[group + 1] && first[group + 1] != path->name);
        first[group + 1] = path->name;
    }
    for (uint32_t p = 1; good && p < t->path_count; p++)
        mixed[p] = has_others[f->of[p]];
    cw_keys_free(&keys);
    free(first);
    free(has_others);
    return good;
}

/* ---- sums of NVTX ranges ----------------------------------------------------------------------------------------- */

static void add_inner(struct cw_timeline_group *to, const struct cw_timeline_group *from)
{
    to->least = !to->count || from->least < to->least ? from->least : to->least;
    to->greatest = from->greatest > to->greatest ? from->greatest : to->greatest;
    to->count += from->count;
    to->total += from->total;
    to->bytes += from->bytes;
    to->other_thread += from->other_thread;
}

static uint64_t range_time(const struct cw_timeline_range *range)
{
    return range->end > range->start ? range->end - range->start : 0;
}

/* Finds how often ranges were open, and how long. */
static bool add_ranges(struct cw_timeline_group *groups, const struct path_groups *f, const struct cw_timeline *t,
                       const bool *keep)
{
    uint64_t *times = cw_large_alloc(t->large, (size_t)t->range_count + 1, sizeof *times);
    size_t *at = calloc((size_t)f->count + 1, sizeof *at);
    for (uint32_t i = 0; times && at && i < t->range_count; i++, cw_timeline_step(t)) {
        const struct cw_timeline_range *r = &t->ranges[i];
        struct cw_timeline_group *group = &groups[f->of[r->path]];
        if (keep && !keep[r->path])
            continue;
        group->ranges++;
        group->wall += (double)range_time(r);
        if (group->slowest == CW_TIMELINE_NONE || range_time(r) > range_time(&t->ranges[group->slowest]))
            group->slowest = i;
    }
    for (uint32_t g = 0; times && at && g < f->count; g++)
        at[g + 1] = at[g] + groups[g].ranges;
    for (uint32_t i = 0; times && at && i < t->range_count; i++, cw_timeline_step(t))
        if (!keep || keep[t->ranges[i].path])
            times[at[f->of[t->ranges[i].path]]++] = range_time(&t->ranges[i]);
    for (uint32_t g = 0; times && at && g < f->count; g++) {
        const size_t count = groups[g].ranges;
        const uint64_t *own = times + at[g] - count;
        qsort(times + at[g] - count, count, sizeof *times, cw_compare_u64);
        groups[g].fastest = count ? (double)own[0] : 0;
        groups[g].longest = count ? (double)own[count - 1] : 0;
        groups[g].median = count ? ((double)own[(count - 1) / 2] + (double)own[count / 2]) / 2 : 0;
    }
    const bool good = times && at;
    cw_large_free(t->large, times);
    free(at);
    return good;
}

/* Ranges include the items of their inner ranges. Group 0 has only the items without a range. Ranges without items are
 * there as well, unless `keep` chose items. */
static bool add_up_ranges(struct cw_timeline_groups *all, const struct path_groups *f, const bool *used,
                          const struct cw_timeline_keep *keep, struct cw_arena *arena)
{
    const struct cw_timeline *t = all->t;
    struct cw_timeline_group *groups = all->items = cw_arena_alloc(arena, f->count, sizeof *groups);
    if (!groups)
        return false;
    for (uint32_t g = 0; g < f->count; g++)
        groups[g] =
            (struct cw_timeline_group){.least = -1, .middle = NAN, .deviation = NAN, .slowest = CW_TIMELINE_NONE};
    for (uint32_t p = t->path_count; p-- > 0;)
        if (used[p] || !p)
            groups[f->of[p]].first = p;
    for (uint32_t i = 0; i < t->gpu_count; i++, cw_timeline_step(t))
        if (!keep->gpu || keep->gpu[i])
            add_item(all, &groups[f->of[t->gpu[i].path]], i);
    for (uint32_t g = 0; g < f->count; g++)
        groups[g].own = groups[g].total;
    for (uint32_t g = f->count; g-- > 1;)
        if (groups[g].count && f->parents[g])
            add_inner(&groups[f->parents[g]], &groups[g]);
    if (!add_ranges(groups, f, t, keep->paths))
        return false;
    for (uint32_t g = 0; g < f->count; g++) {
        groups[g].least = groups[g].count ? groups[g].least : 0;
        if (groups[g].count || ((!keep->gpu || keep->paths) && g && groups[g].ranges))
            groups[all->count++] = groups[g];
    }
    return true;
}

static bool group_ranges(struct cw_timeline_groups *all, const struct cw_timeline_keep *keep, struct cw_arena *arena)
{
    const struct cw_timeline *t = all->t;
    const bool each = all->by == CW_TIMELINE_BY_NVTX_EACH;
    const uint32_t *patterns = each ? NULL : number_patterns(t, arena);
    bool *mixed = cw_arena_alloc(arena, t->path_count, sizeof *mixed), *used = find_used(t, keep);
    struct path_groups f = {.of = calloc((size_t)t->path_count + 1, sizeof *f.of),
                            .parents = calloc((size_t)t->path_count + 1, sizeof *f.parents)};
    bool good = (each || patterns) && mixed && used && f.of && f.parents &&
                find_path_groups(&f, t, patterns, used, mixed) && add_up_ranges(all, &f, used, keep, arena);
    all->mixed = mixed;
    free(used);
    free(f.of);
    free(f.parents);
    return good;
}

/* ---- CUDA graphs ------------------------------------------------------------------------------------------------- */

/* An item that ran in a graph. */
struct node {
    uint32_t item;
    uint64_t graph, number; /* CW_TRACE_UNKNOWN: not known; of a whole graph it has no number */
};

/* A launch of a graph. */
struct launch {
    uint32_t group;
    uint64_t start, end; /* of all its items */
};

struct graphs {
    struct cw_timeline_groups *all;
    uint32_t node_count;
    struct node *nodes;
    struct cw_keys keys, launches, numbers; /* process and graph; group and correlation; group and node */
    struct cw_timeline_group *groups;
    struct launch *launched;
};

static int by_row(const void *left, const void *right, void *timeline)
{
    const struct cw_timeline *t = timeline;
    const struct cw_timeline_gpu *a = &t->gpu[((const struct node *)left)->item],
                                 *b = &t->gpu[((const struct node *)right)->item];
    return a->block != b->block ? (a->block > b->block) - (a->block < b->block) : (a->row > b->row) - (a->row < b->row);
}

/* Only the rows have the numbers of graphs and nodes. */
static bool read_numbers(struct graphs *g)
{
    const struct cw_timeline *t = g->all->t;
    struct cw_trace_buffer buffer = {0};
    struct cw_trace_rows rows = {0};
    bool good = true;
    qsort_r(g->nodes, g->node_count, sizeof *g->nodes, by_row, (void *)(uintptr_t)t);
    for (uint32_t i = 0; good && i < g->node_count; i++) {
        const struct cw_timeline_gpu *gpu = &t->gpu[g->nodes[i].item];
        if (!i ||
            t->gpu[g->nodes[i - 1].item].block != gpu->block) /* it was read before, so only memory can be lacking */
            good = cw_trace_read_rows(&rows, t->trace, gpu->block, &buffer, NULL) == CW_OK;
        if (!good)
            break;
        g->nodes[i].graph = cw_trace_get(&rows, CW_FIELD_GRAPH, gpu->row);
        g->nodes[i].number =
            gpu->kind == CW_TRACE_GRAPH ? CW_TRACE_UNKNOWN : cw_trace_get(&rows, CW_FIELD_GRAPH_NODE, gpu->row);
    }
    cw_trace_buffer_free(&buffer);
    return good;
}

static bool list_nodes(struct graphs *g, const bool *keep)
{
    const struct cw_timeline *t = g->all->t;
    uint32_t count = 0;
    for (uint32_t i = 0; i < t->gpu_count; i++, cw_timeline_step(t))
        count += (t->gpu[i].in_graph || t->gpu[i].kind == CW_TRACE_GRAPH) && (!keep || keep[i]);
    g->nodes = cw_large_alloc(t->large, (size_t)count + 1, sizeof *g->nodes);
    g->groups = cw_large_alloc(t->large, (size_t)count + 1, sizeof *g->groups);
    g->launched = cw_large_alloc(t->large, (size_t)count + 1, sizeof *g->launched);
    for (uint32_t i = 0; g->nodes && i < t->gpu_count; i++, cw_timeline_step(t))
        if ((t->gpu[i].in_graph || t->gpu[i].kind == CW_TRACE_GRAPH) && (!keep || keep[i]))
            g->nodes[g->node_count++] = (struct node){.item = i};
    return g->nodes && g->groups && g->launched && read_numbers(g);
}

static bool add_launch(struct graphs *g, uint32_t group, const struct cw_timeline_gpu *gpu)
{
    if (gpu->correlation == CW_TIMELINE_NONE)
        return true;
    const uint32_t before = g->launches.count;
    const uint32_t at = cw_keys_add(&g->launches, (struct cw_key){{group, gpu->correlation, 0, 0}});
    if (at == CW_NO_KEY)
        return false;
    struct launch *launch = &g->launched[at];
    if (at == before) {
        *launch = (struct launch){group, gpu->start, gpu->end};
        g->groups[group].ranges++;
    }
    launch->start = gpu->start < launch->start ? gpu->start : launch->start;
    launch->end = gpu->end > launch->end ? gpu->end : launch->end;
    return true;
}

static bool add_node(struct graphs *g, const struct node *node)
{
    const struct cw_timeline *t = g->all->t;
    const struct cw_timeline_gpu *gpu = &t->gpu[node->item];
    const uint32_t before = g->keys.count;
    const uint32_t at = cw_keys_add(&g->keys, (struct cw_key){{t->streams[gpu->stream].process, node->graph, 0, 0}});
    if (at == CW_NO_KEY)
        return false;
    struct cw_timeline_group *group = &g->groups[at];
    if (at == before)
        *group = (struct cw_timeline_group){.first = node->item,
                                            .least = -1,
                                            .middle = NAN,
                                            .deviation = NAN,
                                            .slowest = CW_TIMELINE_NONE,
                                            .graph = node->graph};
    else if (gpu->end - gpu->start > t->gpu[group->first].end - t->gpu[group->first].start)
        group->first = node->item;
    add_item(g->all, group, node->item);
    if (node->number != CW_TRACE_UNKNOWN) {
        const uint32_t numbers = g->numbers.count;
        if (cw_keys_add(&g->numbers, (struct cw_key){{at, node->number, 0, 0}}) == CW_NO_KEY)
            return false;
        group->nodes += g->numbers.count - numbers;
    }
    return add_launch(g, at, gpu);
}

static int by_length(const void *left, const void *right)
{
    const struct launch *a = left, *b = right;
    const uint64_t x = a->end - a->start, y = b->end - b->start;
    return a->group != b->group ? (a->group > b->group) - (a->group < b->group) : (x > y) - (x < y);
}

static void add_walls(struct graphs *g)
{
    uint32_t first = 0;
    qsort(g->launched, g->launches.count, sizeof *g->launched, by_length);
    for (uint32_t k = 0; k < g->keys.count; k++) {
        struct cw_timeline_group *group = &g->groups[k];
        const uint32_t count = (uint32_t)group->ranges;
        const struct launch *own = g->launched + first;
        for (uint32_t i = 0; i < count; i++)
            group->wall += (double)(own[i].end - own[i].start);
        if (count) {
            const struct launch *a = &own[(count - 1) / 2], *b = &own[count / 2];
            group->median = ((double)(a->end - a->start) + (double)(b->end - b->start)) / 2;
            group->fastest = (double)(own[0].end - own[0].start);
            group->longest = (double)(own[count - 1].end - own[count - 1].start);
        }
        first += count;
    }
}

static bool group_graphs(struct cw_timeline_groups *all, const struct cw_timeline_keep *keep, struct cw_arena *arena)
{
    struct graphs g = {.all = all};
    bool good = list_nodes(&g, keep->gpu);
    for (uint32_t i = 0; good && i < g.node_count; i++, cw_timeline_step(all->t))
        good = add_node(&g, &g.nodes[i]);
    if (good)
        add_walls(&g);
    all->items = good ? cw_arena_alloc(arena, g.keys.count, sizeof *all->items) : NULL;
    for (uint32_t i = 0; all->items && i < g.keys.count; i++)
        all->items[all->count++] = g.groups[i];
    cw_keys_free(&g.keys);
    cw_keys_free(&g.launches);
    cw_keys_free(&g.numbers);
    cw_large_free(all->t->large, g.nodes);
    cw_large_free(all->t->large, g.groups);
    cw_large_free(all->t->large, g.launched);
    return all->items;
}

/* ---- grouping ---------------------------------------------------------------------------------------------------- */

const char *const cw_timeline_by_names[CW_TIMELINE_BY__COUNT] = {
    "kernel", "family", "nvtx", "stream", "device", "process", "rank", "copy", "call", "nvtx-each", "graph"};

bool cw_timeline_communicates(const char *kernel)
{
    static const char *const beginnings[] = {"nccl", "nvshmem", "void nccl", "void nvshmem"};
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (strncmp(kernel, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return false;
}

static int by_total(const void *left, const void *right)
{
    const struct cw_timeline_group *a = left, *b = right;
    return a->total != b->total ? (a->total < b->total) - (a->total > b->total)
           : a->wall != b->wall ? (a->wall < b->wall) - (a->wall > b->wall)
                                : (a->first > b->first) - (a->first < b->first);
}

enum cw_status cw_timeline_group(struct cw_timeline_groups *groups, enum cw_timeline_by by, const struct cw_timeline *t,
                                 const struct cw_timeline_keep *keep, bool spread, struct cw_arena *arena,
                                 struct cw_error *err)
{
    static const struct cw_timeline_keep all = {0};
    *groups = (struct cw_timeline_groups){.t = t, .by = by};
    keep = keep ? keep : &all;
    const bool good = cw_timeline_by_ranges(by)    ? group_ranges(groups, keep, arena)
                      : by == CW_TIMELINE_BY_GRAPH ? group_graphs(groups, keep, arena)
                                                   : group_items(groups, keep, spread, arena);
    if (good && groups->count)
        qsort(groups->items, groups->count, sizeof *groups->items, by_total);
    return good ? CW_OK : cw_error_nomem(err);
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

static void name_device(const struct cw_timeline *t, uint32_t device, char text[CW_TIMELINE_NAME_SIZE])
{
    if (device == CW_NO_TRACE_DEVICE) {
        strcpy(text, "(no device)");
        return;
    }
    const struct cw_device *d = &t->data->devices[device];
    const char *name = cw_device_attribute(d, "name");
    snprintf(text, CW_TIMELINE_NAME_SIZE, "device %" PRIu32 "%s%s", d->index, name ? " " : "", name ? name : "");
}

/* "process 4000 rank 0", "process 4000 on node1" */
static size_t name_process(const struct cw_timeline *t, uint32_t process, char text[CW_TIMELINE_NAME_SIZE])
{
    const char *rank = cw_timeline_attribute(t, process, "rank");
    const int used =
        snprintf(text, CW_TIMELINE_NAME_SIZE, "process %" PRIu32 "%s%.16s%s", t->trace->processes[process].pid,
                 rank ? " rank " : "", rank ? rank : "", t->process_marks[process]);
    return (size_t)used;
}

const char *cw_timeline_context(const struct cw_timeline_stream *s, char text[CW_TIMELINE_CONTEXT_SIZE])
{
    if (!s->shares_number)
        *text = 0;
    else if (s->context == CW_TRACE_UNKNOWN)
        snprintf(text, CW_TIMELINE_CONTEXT_SIZE, " of an unknown context");
    else
        snprintf(text, CW_TIMELINE_CONTEXT_SIZE, " of context %" PRIu64, s->context);
    return text;
}

const char *cw_timeline_name_stream(const struct cw_timeline *t, const struct cw_timeline_stream *s,
                                    char text[CW_TIMELINE_NAME_SIZE])
{
    const bool several = t->trace->process_count > 1;
    const char *rank = several ? cw_timeline_attribute(t, s->process, "rank") : NULL;
    char number[32] = "?", before[64] = "", device[32] = "", context[CW_TIMELINE_CONTEXT_SIZE], process[160] = "";
    if (s->stream != CW_TRACE_UNKNOWN)
        snprintf(number, sizeof number, "%" PRIu64, s->stream);
    if (t->data->device_count > 1 && s->device != CW_NO_TRACE_DEVICE)
        snprintf(device, sizeof device, " device %" PRIu32, t->data->devices[s->device].index);
    if (several)
        snprintf(process, sizeof process, "%sprocess %" PRIu32 "%s%s", rank ? " " : "",
                 t->trace->processes[s->process].pid, t->process_marks[s->process], rank ? "" : " ");
    if (rank)
        snprintf(before, sizeof before, "rank %.16s ", rank);
    snprintf(text, CW_TIMELINE_NAME_SIZE, "%sstream %s%s%s%.200s%s%s", rank ? before : process, number,
             cw_timeline_context(s, context), s->name ? " " : "", t->names[s->name].text, device, rank ? process : "");
    return text;
}

/* "process 70 graph 2" */
static void name_graph(const struct cw_timeline *t, const struct cw_timeline_group *group,
                       char text[CW_TIMELINE_NAME_SIZE])
{
    const struct cw_timeline_gpu *g = &t->gpu[group->first];
    char number[32] = "unknown";
    int used = 0;
    if (t->trace->process_count > 1)
        used += (int)name_process(t, t->streams[g->stream].process, text), used += snprintf(text + used, 2, " ");
    if (group->graph != CW_TRACE_UNKNOWN)
        snprintf(number, sizeof number, "%" PRIu64, group->graph);
    snprintf(text + used, CW_TIMELINE_NAME_SIZE - (size_t)used, "graph %s", number);
}

/* "HtoD from pageable to device", "memset of device" */
const char *cw_timeline_name_copy(const struct cw_timeline *t, const struct cw_timeline_gpu *g,
                                  char text[CW_TIMELINE_NAME_SIZE])
{
    const char *name = t->names[g->name].text, *from = t->names[g->from].text, *to = t->names[g->to].text;
    if (g->kind == CW_TRACE_MEMSET)
        snprintf(text, CW_TIMELINE_NAME_SIZE, "memset%s%.100s", *name ? " of " : "", name);
    else
        snprintf(text, CW_TIMELINE_NAME_SIZE, "%.100s%s%.100s%s%.100s", *name ? name : "copy", *from ? " from " : "",
                 from, *to ? " to " : "", to);
    return text;
}

const char *cw_timeline_group_name(const struct cw_timeline_groups *groups, uint32_t group,
                                   char text[CW_TIMELINE_NAME_SIZE])
{
    const struct cw_timeline *t = groups->t;
    const uint32_t first = groups->items[group].first;
    const bool of_gpu = groups->by != CW_TIMELINE_BY_CALL && !cw_timeline_by_ranges(groups->by);
    const struct cw_timeline_gpu *g = of_gpu ? &t->gpu[first] : NULL;
    const char *name = "";
    switch (groups->by) {
    case CW_TIMELINE_BY_CALL:
        name = t->names[t->calls[first].name].shown;
        name = *name ? name : CW_TEXT_NO_NAME;
        break;
    case CW_TIMELINE_BY_KERNEL:
        name = g->kind == CW_TRACE_GRAPH ? "(whole CUDA graphs)" : g->name ? t->names[g->name].shown : CW_TEXT_NO_NAME;
        break;
    case CW_TIMELINE_BY_FAMILY:
        name = g->kind == CW_TRACE_GRAPH ? "(whole CUDA graphs)" : groups->families[g->name];
        break;
    case CW_TIMELINE_BY_NVTX:
    case CW_TIMELINE_BY_NVTX_EACH:
        if (first && *cw_timeline_path_pattern(t, first, groups->mixed, text))
            return text;
        name = first ? CW_TEXT_NO_NAME : "(no range)";
        break;
    case CW_TIMELINE_BY_STREAM:
        return cw_timeline_name_stream(t, &t->streams[g->stream], text);
    case CW_TIMELINE_BY_DEVICE:
        name_device(t, t->streams[g->stream].device, text);
        return text;
    case CW_TIMELINE_BY_PROCESS:
        name_process(t, t->streams[g->stream].process, text);
        return text;
    case CW_TIMELINE_BY_GRAPH:
        name_graph(t, &groups->items[group], text);
        return text;
    case CW_TIMELINE_BY_RANK:
        name = cw_timeline_attribute(t, t->streams[g->stream].process, "rank");
        snprintf(text, CW_TIMELINE_NAME_SIZE, "%s%s", name && *name ? "rank " : "(no rank)", name ? name : "");
        return text;
    case CW_TIMELINE_BY_COPY:
        return cw_timeline_name_copy(t, g, text);
    case CW_TIMELINE_BY__COUNT:
        break;
    }
    return cw_elide(name, text, CW_TIMELINE_NAME_SIZE);
}

const char *cw_timeline_group_slowest(const struct cw_timeline_groups *groups, uint32_t group,
                                      char text[CW_TIMELINE_NAME_SIZE])
{
    const uint32_t slowest = groups->items[group].slowest;
    *text = 0;
    return slowest == CW_TIMELINE_NONE
               ? text
               : cw_timeline_path_numbers(groups->t, groups->t->ranges[slowest].path, groups->mixed, text);
}
