#define _GNU_SOURCE
#include "eval/join/join.h"

#include <stdlib.h>
#include <string.h>

#include "base/buckets.h"

const char *const cw_join_how_names[CW_JOIN_HOW__COUNT] = {
    "launch", "fewer", "other NVTX range", "other place", "not numbered", "other shape", "no such kernel"};

/* The launches of both runs as one list: first a's, then b's. */
struct matching {
    const struct cw_join_run *a, *b;
    uint32_t count;
    struct entry *entries; /* room for `count` */
    /* [launch]: a number for each; a spot is a shape at a place, a launch is a spot within NVTX ranges */
    uint32_t *kernel, *shape, *path, *spot, *launch;
    uint32_t kernels, shapes, paths, spots, launches;
    bool with_paths;
};

struct entry {
    uint64_t hash;
    uint32_t index;
};

static const struct cw_join_launch *launch_at(const struct matching *m, uint32_t i)
{
    return i < m->a->count ? &m->a->launches[i] : &m->b->launches[i - m->a->count];
}

/* ---- numbers for equal things ------------------------------------------------------------------------------------ */

/* How launches are alike: by a number given before, a text or none, and numbers of the launch. */
struct likeness {
    uint64_t (*hash)(const struct matching *m, uint32_t i);
    int (*compare)(const struct matching *m, uint32_t i, uint32_t k);
};

struct sorting {
    const struct matching *m;
    const struct likeness *like;
};

static int by_number(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int by_hash(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    return x->hash != y->hash ? by_number(x->hash, y->hash) : by_number(x->index, y->index);
}

static int by_likeness(const void *a, const void *b, void *sorting)
{
    const struct sorting *s = sorting;
    const struct entry *x = a, *y = b;
    const int order = s->like->compare(s->m, x->index, y->index);
    return order ? order : by_number(x->index, y->index);
}

/* Numbers all launches from 0 on; returns the count of numbers. Entries of one hash are nearly always equal. Otherwise
 * they are sorted, so that names made to share a hash take no longer. */
static uint32_t number(const struct matching *m, uint32_t *numbers, const struct likeness *like)
{
    struct sorting s = {m, like};
    uint32_t count = 0;
    for (uint32_t i = 0; i < m->count; i++)
        m->entries[i] = (struct entry){like->hash(m, i), i};
    qsort(m->entries, m->count, sizeof *m->entries, by_hash);
    for (uint32_t i = 0, end; i < m->count; i = end) {
        struct entry *run = m->entries + i;
        bool alike = true;
        for (end = i + 1; end < m->count && m->entries[end].hash == run->hash; end++)
            alike = alike && like->compare(m, run->index, m->entries[end].index) == 0;
        if (!alike)
            qsort_r(run, end - i, sizeof *run, by_likeness, &s);
        for (uint32_t k = i; k < end; k++) {
            count += k == i || (!alike && like->compare(m, m->entries[k - 1].index, m->entries[k].index) != 0);
            numbers[m->entries[k].index] = count - 1;
        }
    }
    return count;
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

static uint64_t hash_text(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    return hash;
}

static int compare_texts(const char *a, const char *b)
{
    return a == b ? 0 : strcmp(a, b);
}

static uint64_t hash_kernel(const struct matching *m, uint32_t i)
{
    return hash_text(launch_at(m, i)->kernel);
}

static int compare_kernels(const struct matching *m, uint32_t i, uint32_t k)
{
    return compare_texts(launch_at(m, i)->kernel, launch_at(m, k)->kernel);
}

static uint64_t hash_path(const struct matching *m, uint32_t i)
{
    return hash_text(launch_at(m, i)->path);
}

static int compare_paths(const struct matching *m, uint32_t i, uint32_t k)
{
    return compare_texts(launch_at(m, i)->path, launch_at(m, k)->path);
}

static uint64_t hash_shape(const struct matching *m, uint32_t i)
{
    const struct cw_join_launch *launch = launch_at(m, i);
    uint64_t hash = m->kernel[i];
    for (int d = 0; d < 3; d++)
        hash = mix(mix(hash, launch->grid[d]), launch->block[d]);
    return hash;
}

static int compare_shapes(const struct matching *m, uint32_t i, uint32_t k)
{
    const struct cw_join_launch *a = launch_at(m, i), *b = launch_at(m, k);
    int order = by_number(m->kernel[i], m->kernel[k]);
    order = order ? order : memcmp(a->grid, b->grid, sizeof a->grid);
    return order ? order : memcmp(a->block, b->block, sizeof a->block);
}

static uint64_t hash_spot(const struct matching *m, uint32_t i)
{
    return mix(mix(0, m->shape[i]), launch_at(m, i)->place);
}

static int compare_spots(const struct matching *m, uint32_t i, uint32_t k)
{
    const int order = by_number(m->shape[i], m->shape[k]);
    return order ? order : by_number(launch_at(m, i)->place, launch_at(m, k)->place);
}

static uint64_t hash_launch(const struct matching *m, uint32_t i)
{
    return mix(mix(0, m->spot[i]), m->path[i]);
}

static int compare_launches(const struct matching *m, uint32_t i, uint32_t k)
{
    const int order = by_number(m->spot[i], m->spot[k]);
    return order ? order : by_number(m->path[i], m->path[k]);
}

static const struct likeness kernels = {hash_kernel, compare_kernels}, paths = {hash_path, compare_paths},
                             shapes = {hash_shape, compare_shapes}, spots = {hash_spot, compare_spots},
                             launches = {hash_launch, compare_launches};

static bool has_paths(const struct cw_join_run *run)
{
    uint32_t i = 0;
    while (i < run->count && !*run->launches[i].path)
        i++;
    return i < run->count;
}

/* False when out of memory. */
static bool number_all(struct matching *m)
{
    const size_t room = (size_t)m->count + 1;
    m->entries = malloc(room * sizeof *m->entries);
    uint32_t **const lists[] = {&m->kernel, &m->shape, &m->path, &m->spot, &m->launch};
    bool enough = m->entries;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        enough = (*lists[i] = calloc(room, sizeof **lists[i])) && enough;
    if (!enough)
        return false;
    m->with_paths = has_paths(m->a) && has_paths(m->b);
    m->kernels = number(m, m->kernel, &kernels);
    m->shapes = number(m, m->shape, &shapes);
    m->paths = m->with_paths ? number(m, m->path, &paths) : 1;
    m->spots = number(m, m->spot, &spots);
    m->launches = number(m, m->launch, &launches);
    return true;
}

static void free_numbers(struct matching *m)
{
    free(m->entries);
    free(m->kernel);
    free(m->shape);
    free(m->path);
    free(m->spot);
    free(m->launch);
}

/* ---- twins ------------------------------------------------------------------------------------------------------ */

/* Makes the n-th of equal launches in a the twin of the n-th in b. False when out of memory. */
static bool find_twins(const struct matching *m, struct cw_join *join)
{
    const uint32_t *of_b = m->launch + m->a->count;
    /* b's launches by number, and for each number the next one without a twin */
    uint32_t *order = calloc((size_t)m->b->count + 1, sizeof *order);
    uint32_t *first = calloc((size_t)m->launches + 2, sizeof *first);
    uint32_t *next = calloc((size_t)m->launches + 1, sizeof *next);
    const bool enough = order && first && next;
    if (enough) {
        cw_buckets_sort(first, m->launches, order, of_b, sizeof *of_b, m->b->count);
        memcpy(next, first, m->launches * sizeof *next);
    }
    for (uint32_t i = 0; enough && i < m->a->count; i++) {
        const uint32_t c = m->launch[i];
        if (next[c] == first[c + 1])
            continue;
        join->a.twin[i] = order[next[c]++];
        join->b.twin[join->a.twin[i]] = i;
    }
    free(order);
    free(first);
    free(next);
    return enough;
}

/* The numbers that the other run has. */
struct seen {
    bool *kernel, *shape, *spot, *launch;
};

static enum cw_join_how find_how(const struct matching *m, const struct seen *seen, uint32_t i)
{
    return seen->launch[m->launch[i]]   ? CW_JOIN_FEWER
           : seen->spot[m->spot[i]]     ? CW_JOIN_OTHER_PATH
           : seen->shape[m->shape[i]]   ? CW_JOIN_OTHER_PLACE
           : seen->kernel[m->kernel[i]] ? CW_JOIN_OTHER_SHAPE
                                        : CW_JOIN_NO_KERNEL;
}

/* Says how each launch of a side is joined: its launches begin at `first` of the list, the other side's are `from` to
 * `to`. False when out of memory. */
static bool tell_how(const struct matching *m, struct cw_join_side *side, uint32_t first, uint32_t count, uint32_t from,
                     uint32_t to)
{
    struct seen seen = {calloc((size_t)m->kernels + 1, 1), calloc((size_t)m->shapes + 1, 1),
                        calloc((size_t)m->spots + 1, 1), calloc((size_t)m->launches + 1, 1)};
    const bool enough = seen.kernel && seen.shape && seen.spot && seen.launch;
    const bool unnumbered = m->a->unnumbered || m->b->unnumbered;
    for (uint32_t i = from; enough && i < to; i++)
        seen.kernel[m->kernel[i]] = seen.shape[m->shape[i]] = seen.spot[m->spot[i]] = seen.launch[m->launch[i]] = true;
    for (uint32_t i = 0; enough && i < count; i++) {
        enum cw_join_how how = side->twin[i] != CW_NO_TWIN ? CW_JOIN_TWIN : find_how(m, &seen, first + i);
        if (unnumbered && how <= CW_JOIN_FEWER)
            how = CW_JOIN_UNNUMBERED;
        side->how[i] = (uint8_t)how;
        side->shape[i] = m->shape[first + i];
        side->counts[how]++;
    }
    free(seen.kernel);
    free(seen.shape);
    free(seen.spot);
    free(seen.launch);
    return enough;
}

static bool make_side(struct cw_join_side *side, uint32_t count, struct cw_arena *arena)
{
    side->how = cw_arena_alloc(arena, count, sizeof *side->how);
    side->twin = cw_arena_alloc(arena, count, sizeof *side->twin);
    side->shape = cw_arena_alloc(arena, count, sizeof *side->shape);
    for (uint32_t i = 0; side->twin && i < count; i++)
        side->twin[i] = CW_NO_TWIN;
    return side->how && side->twin && side->shape;
}

enum cw_status cw_join_match(struct cw_join *join, const struct cw_join_run *a, const struct cw_join_run *b,
                             struct cw_arena *arena, struct cw_error *err)
{
    struct matching m = {.a = a, .b = b, .count = a->count + b->count};
    *join = (struct cw_join){0};
    if (m.count < a->count || m.count == UINT32_MAX) /* more launches than 32 bits can number */
        return cw_error_nomem(err);
    bool enough = make_side(&join->a, a->count, arena) && make_side(&join->b, b->count, arena) && number_all(&m);
    if (enough && !a->unnumbered && !b->unnumbered)
        enough = find_twins(&m, join);
    enough = enough && tell_how(&m, &join->a, 0, a->count, a->count, m.count) &&
             tell_how(&m, &join->b, a->count, b->count, 0, a->count);
    join->shape_count = m.shapes;
    join->paths = m.with_paths;
    free_numbers(&m);
    return enough ? CW_OK : cw_error_nomem(err);
}

/* ---- launches without a twin ------------------------------------------------------------------------------------- */

static int most_first(const void *a, const void *b)
{
    const struct cw_join_left *x = a, *y = b;
    return x->count != y->count ? by_number(y->count, x->count) : by_number(x->first, y->first);
}

enum cw_status cw_join_list_left(const struct cw_join_left **left, uint32_t *count, const struct cw_join *join,
                                 const struct cw_join_side *side, uint32_t launches_count, struct cw_arena *arena,
                                 struct cw_error *err)
{
    /* [shape][how]: launches */
    struct cw_join_left *all = calloc((size_t)join->shape_count * CW_JOIN_HOW__COUNT + 1, sizeof *all);
    uint32_t kept = 0;
    if (!all)
        return cw_error_nomem(err);
    for (uint32_t i = 0; i < launches_count; i++) {
        struct cw_join_left *of = &all[(size_t)side->shape[i] * CW_JOIN_HOW__COUNT + side->how[i]];
        if (side->how[i] != CW_JOIN_TWIN && !of->count++)
            *of = (struct cw_join_left){(enum cw_join_how)side->how[i], side->shape[i], i, 1};
    }
    for (size_t k = 0; k < (size_t)join->shape_count * CW_JOIN_HOW__COUNT; k++)
        if (all[k].count)
            all[kept++] = all[k];
    qsort(all, kept, sizeof *all, most_first);
    struct cw_join_left *list = cw_arena_alloc(arena, kept, sizeof *list);
    if (list)
        memcpy(list, all, kept * sizeof *list);
    free(all);
    *left = list;
    *count = kept;
    return list ? CW_OK : cw_error_nomem(err);
}
