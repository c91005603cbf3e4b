/* What ran, added up by what it has in common. */
#define _GNU_SOURCE

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/shorten.h"
#include "eval/keys.h"
#include "eval/labels.h"
#include "eval/quantile.h"
#include "eval/timeline/group_parts.h"

/* ---- what belongs together -------------------------------------------------------------------------------------- */

struct grouping {
    struct cw_timeline_groups *groups;
    const uint32_t *family_of, *rank_of; /* by name, and by process: numbers of their own */
    struct cw_keys keys;
};

/* Families of the names that kernels have. */
static bool find_families(struct grouping *g, struct cw_arena *arena)
{
    const struct cw_timeline *t = g->groups->t;
    char text[CW_SHORT_SIZE];
    const char **families = cw_arena_alloc(arena, t->name_count, sizeof *families);
    struct cw_label *labels = calloc((size_t)t->name_count + 1, sizeof *labels);
    bool good = families && labels;
    for (uint32_t i = 0; good && i < t->name_count; i++)
        labels[i] = (struct cw_label){"", i};
    for (uint32_t i = 0; good && i < t->gpu_count; i++, cw_timeline_step(t)) {
        const uint32_t name = t->gpu[i].name;
        if (families[name] || t->gpu[i].kind != CW_TRACE_KERNEL)
            continue;
        families[name] = cw_arena_strdup(arena, cw_shorten_to_family(t->names[name].shown, text));
        good = families[name];
        labels[name].text = good ? families[name] : "";
    }
    g->groups->families = families;
    g->family_of = good ? cw_label_number(labels, t->name_count, arena) : NULL;
    free(labels);
    return g->family_of;
}

static const char *rank_of(const struct cw_timeline *t, uint32_t process)
{
    const char *rank = cw_timeline_attribute(t, process, "rank");
    return rank ? rank : "";
}

static bool find_ranks(struct grouping *g, struct cw_arena *arena)
{
    const struct cw_timeline *t = g->groups->t;
    const uint32_t count = t->trace->process_count;
    struct cw_label *labels = calloc((size_t)count + 1, sizeof *labels);
    for (uint32_t i = 0; labels && i < count; i++)
        labels[i] = (struct cw_label){rank_of(t, i), i};
    g->rank_of = labels ? cw_label_number(labels, count, arena) : NULL;
    free(labels);
    return g->rank_of;
}

static bool is_kernel(const struct cw_timeline_gpu *g)
{
    return g->kind == CW_TRACE_KERNEL || g->kind == CW_TRACE_GRAPH;
}

/* What all items of a group have in common. False for what is in none. */
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
    default:
        key->part[0] = g->rank_of[s->process];
        return true;
    }
}

/* ---- sums ------------------------------------------------------------------------------------------------------- */

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

void cw_timeline_group_add(struct cw_timeline_groups *all, struct cw_timeline_group *group, uint32_t item)
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
    else if (t->gpu[item].bytes != CW_TRACE_UNKNOWN)
        group->bytes += (double)t->gpu[item].bytes;
    group->other_thread += !call && t->gpu[item].other_thread;
    all->other_thread += !call && t->gpu[item].other_thread;
    all->total += time;
    all->item_count++;
}

/* Median and deviation, by two more passes over the items. Keeps the times of each group, one group after another. */
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

static bool add_up(struct grouping *g, const struct cw_timeline_keep *of, bool spread, struct cw_arena *arena)
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
            cw_timeline_group_add(all, group, i);
        else
            good = !kept || !find_key(g, i, &none);
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

bool cw_timeline_group_items(struct cw_timeline_groups *all, const struct cw_timeline_keep *keep, bool spread,
                             struct cw_arena *arena)
{
    struct grouping g = {.groups = all};
    const bool good = (all->by != CW_TIMELINE_BY_FAMILY || find_families(&g, arena)) &&
                      (all->by != CW_TIMELINE_BY_RANK || find_ranks(&g, arena)) && add_up(&g, keep, spread, arena);
    cw_keys_free(&g.keys);
    return good;
}
