#include "host/schedule_whole.h"

#include <stdlib.h>
#include <string.h>

enum {
    STEPS_EACH = 256,    /* placements tried, about, for each group before a pass is added, */
    LEAST_STEPS = 48000, /* and at least */
    STEPS = 12000,       /* where none may be added, in all */
    PRESSED = 32,        /* passes tried for a group where counters have to give way */
};

struct whole {
    struct cw_moves *m;
    const struct cw_list *groups;
    uint32_t group_count, *pass_counts;
    const uint32_t *room;
    uint32_t *home;    /* by group: the pass that has all of it, or CW_NONE */
    uint32_t *penalty; /* by group: how often no pass had room for it */
    uint32_t *waiting, waiting_count;
    struct candidate {
        uint32_t rank, tie, index;
    } * candidates;
    uint64_t random;
};

static uint32_t section_of(const struct whole *w, uint32_t group)
{
    return w->m->problems->items[w->m->places[w->groups[group].items[0]].problem].section;
}

static int by_rank(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return x->tie != y->tie ? (x->tie > y->tie) - (x->tie < y->tie) : (x->index > y->index) - (x->index < y->index);
}

static uint32_t random_number(struct whole *w)
{
    w->random ^= w->random << 13;
    w->random ^= w->random >> 7;
    w->random ^= w->random << 17;
    return (uint32_t)(w->random >> 32);
}

/* Puts a group into a pass; with `pressing` in the place of counters that no group needs there and that fit elsewhere.
 */
static bool put(struct whole *w, uint32_t group, uint32_t pass, bool pressing)
{
    const struct cw_list *list = &w->groups[group];
    uint32_t mark = w->m->count;
    bool seated = pressing ? cw_moves_clear(w->m, list, pass) &&
                                 (cw_moves_seat(w->m, list, pass) || cw_moves_reseat(w->m, list, pass))
                           : cw_moves_seat(w->m, list, pass);
    if (seated) {
        cw_moves_lock(w->m, list, pass); /* else it would give way to what looks for a place */
        if (cw_moves_settle_all(w->m, mark, pass)) {
            w->home[group] = pass;
            return true;
        }
        cw_moves_unlock(w->m, list, pass);
    }
    cw_moves_undo(w->m, mark);
    return false;
}

/* Finds a pass, those first that have most of the group already. */
static bool insert(struct whole *w, uint32_t group)
{
    const struct cw_list *list = &w->groups[group];
    uint32_t width = w->pass_counts[section_of(w, group)];
    for (uint32_t p = 0; p < width; p++)
        w->candidates[p] = (struct candidate){cw_moves_missing(w->m, list, p), 0, p};
    qsort(w->candidates, width, sizeof *w->candidates, by_rank);
    for (int pressing = 0; pressing < 2; pressing++)
        for (uint32_t k = 0; k < width && (!pressing || k < PRESSED); k++) {
            w->m->count = 0;
            if (put(w, group, w->candidates[k].index, pressing))
                return true;
        }
    return false;
}

static bool meets(const struct whole *w, const struct cw_list *a, const struct cw_list *b)
{
    for (uint32_t i = 0; i < a->count; i++)
        for (uint32_t k = 0; k < b->count; k++)
            if (w->m->places[a->items[i]].problem == w->m->places[b->items[k]].problem)
                return true;
    return false;
}

/* Takes the place of another group, which then waits: of one that was seldom without room. */
static bool replace(struct whole *w, uint32_t group)
{
    const struct cw_list *list = &w->groups[group];
    uint32_t n = 0;
    for (uint32_t i = 0; i < w->group_count; i++)
        if (w->home[i] != CW_NONE && section_of(w, i) == section_of(w, group) && meets(w, list, &w->groups[i]))
            w->candidates[n++] = (struct candidate){w->penalty[i], random_number(w), i};
    if (n)
        qsort(w->candidates, n, sizeof *w->candidates, by_rank);
    for (uint32_t k = 0; k < n && w->m->steps < w->m->most_steps; k++) {
        uint32_t other = w->candidates[k].index, pass = w->home[other];
        w->m->count = 0;
        cw_moves_unlock(w->m, &w->groups[other], pass);
        if (put(w, group, pass, true)) {
            w->home[other] = CW_NONE;
            w->waiting[w->waiting_count++] = other;
            return true;
        }
        cw_moves_lock(w->m, &w->groups[other], pass);
    }
    return false;
}

/* ---- clusters --------------------------------------------------------------------------------------------------- */

/* A group's key is the counter that fewest groups have: of quotients with few divisors, the dividend. */
static uint32_t key_of(const struct whole *w, const uint32_t *degree, uint32_t group)
{
    const struct cw_list *list = &w->groups[group];
    uint32_t key = list->items[0];
    for (uint32_t k = 1; k < list->count; k++)
        if (degree[list->items[k]] < degree[key])
            key = list->items[k];
    return key;
}

/* All groups of a cluster in one pass, or none. */
static bool put_all(struct whole *w, const uint32_t *groups, uint32_t count, uint32_t pass)
{
    uint32_t n = 0;
    w->m->count = 0;
    while (n < count && put(w, groups[n], pass, true))
        n++;
    if (n == count)
        return true;
    while (n-- > 0) {
        cw_moves_unlock(w->m, &w->groups[groups[n]], pass);
        w->home[groups[n]] = CW_NONE;
    }
    cw_moves_undo(w->m, 0);
    return false;
}

static bool insert_cluster(struct whole *w, const uint32_t *groups, uint32_t count)
{
    uint32_t width = w->pass_counts[section_of(w, groups[0])];
    for (uint32_t p = 0; p < width; p++) {
        w->candidates[p] = (struct candidate){0, 0, p};
        for (uint32_t i = 0; i < count; i++)
            w->candidates[p].rank += cw_moves_missing(w->m, &w->groups[groups[i]], p);
    }
    qsort(w->candidates, width, sizeof *w->candidates, by_rank);
    for (uint32_t k = 0; k < width; k++)
        if (put_all(w, groups, count, w->candidates[k].index))
            return true;
    return false;
}

/* Groups of one key take least room together. Those that find no pass so go on waiting, each for itself. */
static enum cw_status insert_clusters(struct whole *w, uint32_t raw_count, struct cw_arena *arena, struct cw_error *err)
{
    uint32_t n = w->waiting_count;
    uint32_t *degree = cw_arena_alloc(arena, raw_count, sizeof *degree);
    uint32_t *groups = cw_arena_alloc(arena, n, sizeof *groups);
    struct candidate *order = cw_arena_alloc(arena, n, sizeof *order);
    if (!degree || !groups || !order)
        return cw_error_nomem(err);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < w->groups[w->waiting[i]].count; k++)
            degree[w->groups[w->waiting[i]].items[k]]++;
    for (uint32_t i = 0; i < n; i++) { /* keys of many groups first */
        uint32_t key = key_of(w, degree, w->waiting[i]);
        order[i] = (struct candidate){UINT32_MAX - degree[key], key, w->waiting[i]};
    }
    if (n)
        qsort(order, n, sizeof *order, by_rank);
    w->waiting_count = 0;
    for (uint32_t first = 0, end; first < n; first = end) {
        for (end = first; end < n && order[end].tie == order[first].tie; end++)
            groups[end - first] = order[end].index;
        if (!insert_cluster(w, groups, end - first))
            for (uint32_t i = 0; i < end - first; i++)
                w->waiting[w->waiting_count++] = groups[i];
    }
    return CW_OK;
}

static enum cw_status open_pass(struct whole *w, uint32_t section, struct cw_error *err)
{
    if (w->pass_counts[section] == w->room[section])
        return CW_ERR_UNSUPPORTED;
    for (uint32_t p = 0; p < w->m->problems->count; p++)
        if (w->m->problems->items[p].section == section && !cw_packed_open(w->m->packed[p]))
            return cw_error_nomem(err);
    w->pass_counts[section]++;
    return CW_OK;
}

/* Copies that no group needs. */
static void drop_copies(struct whole *w)
{
    for (uint32_t p = 0; p < w->m->problems->count; p++)
        for (uint32_t i = 0; i < w->m->problems->items[p].item_count; i++) {
            struct cw_packed *packed = w->m->packed[p];
            for (uint32_t pass = packed->pass_count; pass-- > 0 && packed->stands[i] > 1;)
                if (cw_packed_has(packed, i, pass) && !*cw_packed_lock(packed, i, pass))
                    cw_packed_take(packed, i, pass);
        }
}

/* The groups that fit an empty pass wait, large ones last: they are taken first. */
static enum cw_status list_waiting(struct whole *w, struct cw_arena *arena, struct cw_error *err)
{
    const struct cw_problems *problems = w->m->problems;
    struct cw_moves alone = *w->m;
    alone.packed = cw_arena_alloc(arena, problems->count, sizeof *alone.packed);
    for (uint32_t p = 0; alone.packed && p < problems->count; p++) {
        alone.packed[p] = cw_packed_create(&problems->items[p], NULL, NULL, 1, 1, arena);
        if (!alone.packed[p])
            return cw_error_nomem(err);
    }
    if (!alone.packed)
        return cw_error_nomem(err);
    for (uint32_t i = 0; i < w->group_count; i++) {
        alone.count = 0;
        if (cw_moves_seat(&alone, &w->groups[i], 0))
            w->waiting[w->waiting_count++] = i;
        cw_moves_undo(&alone, 0);
    }
    return CW_OK;
}

enum cw_status cw_keep_whole(struct cw_moves *moves, const struct cw_list *groups, uint32_t group_count,
                             uint32_t raw_count, bool grow, uint32_t *pass_counts, const uint32_t *room,
                             struct cw_arena *arena, struct cw_error *err)
{
    uint32_t most = group_count;
    for (uint32_t s = 0; s < moves->problems->section_count; s++)
        most = room[s] > most ? room[s] : most;
    struct whole w = {.m = moves,
                      .groups = groups,
                      .group_count = group_count,
                      .pass_counts = pass_counts,
                      .room = room,
                      .home = cw_arena_alloc(arena, group_count, sizeof *w.home),
                      .penalty = cw_arena_alloc(arena, group_count, sizeof *w.penalty),
                      .waiting = cw_arena_alloc(arena, (size_t)group_count + 1, sizeof *w.waiting),
                      .candidates = cw_arena_alloc(arena, most, sizeof *w.candidates),
                      .random = 0x2545f4914f6cdd1d};
    if (!w.home || !w.penalty || !w.waiting || !w.candidates)
        return cw_error_nomem(err);
    memset(w.home, 0xff, group_count * sizeof *w.home);
    enum cw_status status = list_waiting(&w, arena, err);
    uint32_t budget = !grow ? STEPS : STEPS_EACH * group_count > LEAST_STEPS ? STEPS_EACH * group_count : LEAST_STEPS;
    moves->most_steps = moves->steps + budget;
    if (status == CW_OK)
        status = insert_clusters(&w, raw_count, arena, err);
    moves->most_steps = moves->steps + budget;
    while (status == CW_OK && w.waiting_count) {
        uint32_t group = w.waiting[--w.waiting_count];
        if (insert(&w, group))
            continue;
        w.penalty[group]++;
        if (replace(&w, group) || !grow)
            continue;
        w.waiting[w.waiting_count++] = group;
        status = open_pass(&w, section_of(&w, group), err);
        moves->most_steps = moves->steps + budget;
    }
    if (status == CW_OK)
        drop_copies(&w);
    return status;
}
