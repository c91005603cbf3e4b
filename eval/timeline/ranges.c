/* NVTX ranges added up: with what ran on the GPUs, and how long they were open. */
#include <math.h>
#include <stdlib.h>

#include "eval/keys.h"
#include "eval/labels.h"
#include "eval/timeline/group_parts.h"

/* Of each path: its group. Groups are numbered from 0, parents before what is in them; path 0 is group 0. */
struct families {
    uint32_t *of, *parents; /* [path], [group] */
    uint32_t count;
};

/* Numbers for the patterns of all names that paths have; [name]. */
static const uint32_t *number_patterns(const struct cw_timeline *t, struct cw_arena *arena)
{
    struct cw_label *labels = calloc((size_t)t->name_count + 1, sizeof *labels);
    for (uint32_t i = 0; labels && i < t->name_count; i++)
        labels[i] = (struct cw_label){t->parts[i].pattern ? t->parts[i].pattern : "", i};
    const uint32_t *numbers = labels ? cw_label_number(labels, t->name_count, arena) : NULL;
    free(labels);
    return numbers;
}

/* Paths of which something is added up, and those that they are in. */
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

/* With `patterns` NULL each path is a group. `mixed`, [path]: the group has paths that end in other names. */
static bool find_families(struct families *f, const struct cw_timeline *t, const uint32_t *patterns, const bool *used,
                          bool *mixed)
{
    struct cw_keys keys = {0};
    uint32_t *first = calloc((size_t)t->path_count + 1, sizeof *first); /* [group]: a name, which is used */
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

/* ---- sums ------------------------------------------------------------------------------------------------------- */

static void add_group(struct cw_timeline_group *to, const struct cw_timeline_group *from)
{
    to->least = !to->count || from->least < to->least ? from->least : to->least;
    to->greatest = from->greatest > to->greatest ? from->greatest : to->greatest;
    to->count += from->count;
    to->total += from->total;
    to->bytes += from->bytes;
    to->other_thread += from->other_thread;
}

static uint64_t time_of(const struct cw_timeline_range *range)
{
    return range->end > range->start ? range->end - range->start : 0;
}

static int by_time(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* How often ranges were open, and how long. */
static bool add_ranges(struct cw_timeline_group *groups, const struct families *f, const struct cw_timeline *t,
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
        group->wall += (double)time_of(r);
        if (group->slowest == CW_TIMELINE_NONE || time_of(r) > time_of(&t->ranges[group->slowest]))
            group->slowest = i;
    }
    for (uint32_t g = 0; times && at && g < f->count; g++)
        at[g + 1] = at[g] + groups[g].ranges;
    for (uint32_t i = 0; times && at && i < t->range_count; i++, cw_timeline_step(t))
        if (!keep || keep[t->ranges[i].path])
            times[at[f->of[t->ranges[i].path]]++] = time_of(&t->ranges[i]);
    for (uint32_t g = 0; times && at && g < f->count; g++) {
        const size_t count = groups[g].ranges;
        const uint64_t *own = times + at[g] - count;
        qsort(times + at[g] - count, count, sizeof *times, by_time);
        groups[g].fastest = count ? (double)own[0] : 0;
        groups[g].longest = count ? (double)own[count - 1] : 0;
        groups[g].median = count ? ((double)own[(count - 1) / 2] + (double)own[count / 2]) / 2 : 0;
    }
    const bool good = times && at;
    cw_large_free(t->large, times);
    free(at);
    return good;
}

/* Ranges have what ran in those within them. Of what ran in none, group 0 has its own alone. Ranges in which
 * nothing ran are there too, but not where some of what ran was chosen. */
static bool add_up(struct cw_timeline_groups *all, const struct families *f, const bool *used,
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
            cw_timeline_group_add(all, &groups[f->of[t->gpu[i].path]], i);
    for (uint32_t g = 0; g < f->count; g++)
        groups[g].own = groups[g].total;
    for (uint32_t g = f->count; g-- > 1;)
        if (groups[g].count && f->parents[g])
            add_group(&groups[f->parents[g]], &groups[g]);
    if (!add_ranges(groups, f, t, keep->paths))
        return false;
    for (uint32_t g = 0; g < f->count; g++) {
        groups[g].least = groups[g].count ? groups[g].least : 0;
        if (groups[g].count || ((!keep->gpu || keep->paths) && g && groups[g].ranges))
            groups[all->count++] = groups[g];
    }
    return true;
}

bool cw_timeline_group_ranges(struct cw_timeline_groups *all, const struct cw_timeline_keep *keep,
                              struct cw_arena *arena)
{
    const struct cw_timeline *t = all->t;
    const bool each = all->by == CW_TIMELINE_BY_NVTX_EACH;
    const uint32_t *patterns = each ? NULL : number_patterns(t, arena);
    bool *mixed = cw_arena_alloc(arena, t->path_count, sizeof *mixed), *used = find_used(t, keep);
    struct families f = {.of = calloc((size_t)t->path_count + 1, sizeof *f.of),
                         .parents = calloc((size_t)t->path_count + 1, sizeof *f.parents)};
    bool good = (each || patterns) && mixed && used && f.of && f.parents &&
                find_families(&f, t, patterns, used, mixed) && add_up(all, &f, used, keep, arena);
    all->mixed = mixed;
    free(used);
    free(f.of);
    free(f.parents);
    return good;
}
