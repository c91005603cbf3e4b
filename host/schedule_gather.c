#include "host/schedule_gather.h"

#include <stdlib.h>
#include <string.h>

enum {
    LARGE_GROUP = 64, /* a group that cannot be one value's is not gathered */
    STEPS = 40000,    /* moves and exchanges tried, about */
    TARGETS = 3,      /* passes tried for each group */
};

struct move {
    struct cw_place place;
    uint32_t from, choice;
};

struct gather {
    struct cw_packed **packed;
    const struct cw_problems *problems;
    const struct cw_place *places;
    const struct cw_list *groups; /* those worth gathering, small ones first */
    uint32_t group_count;
    uint32_t **locked; /* by problem and item: gathered groups that it belongs to */
    struct move *moves;
    uint32_t move_count, move_room, steps;
    struct cw_arena *arena;
    bool failed;
};

static void *array(struct gather *g, size_t count, size_t size)
{
    void *p = g->failed ? NULL : cw_arena_alloc(g->arena, count, size);
    g->failed |= !p;
    return p;
}

static int by_size(const void *a, const void *b)
{
    const struct cw_list *x = *(const struct cw_list *const *)a, *y = *(const struct cw_list *const *)b;
    if (x->count != y->count)
        return x->count < y->count ? -1 : 1;
    int order = memcmp(x->items, y->items, x->count * sizeof *x->items);
    return order ? order : (x > y) - (x < y);
}

/* Groups of several counters, small enough to belong to one value, in one section. */
static void choose_groups(struct gather *g, const struct cw_list *groups, size_t group_count)
{
    const struct cw_list **chosen = array(g, group_count, sizeof *chosen);
    struct cw_list *list = array(g, group_count, sizeof *list);
    uint32_t n = 0;
    for (size_t i = 0; !g->failed && i < group_count; i++) {
        bool together = groups[i].count > 1 && groups[i].count <= LARGE_GROUP;
        for (uint32_t k = 1; together && k < groups[i].count; k++)
            together = g->problems->items[g->places[groups[i].items[k]].problem].section ==
                       g->problems->items[g->places[groups[i].items[0]].problem].section;
        if (together)
            chosen[n++] = &groups[i];
    }
    if (n)
        qsort(chosen, n, sizeof *chosen, by_size);
    for (uint32_t i = 0; i < n; i++)
        if (!g->group_count || list[g->group_count - 1].count != chosen[i]->count ||
            memcmp(list[g->group_count - 1].items, chosen[i]->items, chosen[i]->count * sizeof *chosen[i]->items) != 0)
            list[g->group_count++] = *chosen[i];
    g->groups = list;
}

/* ---- which passes become one ------------------------------------------------------------------------------------ */

/* The passes of the problems are laid side by side one problem after the other, the one with most passes first. Each
 * pass of a problem goes to the free pass with whose counters it has most groups in common. */
struct aligning {
    uint32_t *near; /* [pass of the problem * pass count of the section + pass]: pairs in one group */
    uint32_t *map;
    bool *taken;
};

static void count_near(struct gather *g, const struct cw_packing *packings, uint32_t problem, uint32_t width,
                       uint32_t *near)
{
    for (uint32_t i = 0; i < g->group_count; i++)
        for (uint32_t a = 0; a < g->groups[i].count; a++) {
            struct cw_place mine = g->places[g->groups[i].items[a]];
            if (mine.problem != problem)
                continue;
            for (uint32_t b = 0; b < g->groups[i].count; b++) {
                struct cw_place other = g->places[g->groups[i].items[b]];
                if (g->packed[other.problem])
                    near[(size_t)packings[problem].pass_of[mine.item] * width +
                         cw_packed_pass(g->packed[other.problem], other.item)]++;
            }
        }
}

static void align(struct gather *g, const struct cw_packing *packings, uint32_t problem, uint32_t width)
{
    uint32_t passes = packings[problem].pass_count;
    struct aligning a = {array(g, (size_t)passes * width, sizeof *a.near), array(g, passes, sizeof *a.map),
                         array(g, width, sizeof *a.taken)};
    if (g->failed)
        return;
    count_near(g, packings, problem, width, a.near);
    memset(a.map, 0xff, passes * sizeof *a.map);
    for (uint32_t round = 0; round < passes; round++) {
        uint32_t best = CW_NONE, to = 0, most = 0;
        for (uint32_t p = 0; p < passes; p++)
            for (uint32_t k = 0; k < width && a.map[p] == CW_NONE; k++)
                if (!a.taken[k] && a.near[(size_t)p * width + k] > most) {
                    most = a.near[(size_t)p * width + k];
                    best = p;
                    to = k;
                }
        if (best == CW_NONE)
            break;
        a.map[best] = to;
        a.taken[to] = true;
    }
    for (uint32_t p = 0, k = 0; p < passes; p++)
        if (a.map[p] == CW_NONE) {
            while (a.taken[k])
                k++;
            a.taken[k] = true;
            a.map[p] = k;
        }
    g->packed[problem] = cw_packed_create(&g->problems->items[problem], &packings[problem], a.map, width, g->arena);
    g->failed |= !g->packed[problem];
}

/* ---- moving and exchanging -------------------------------------------------------------------------------------- */

static uint32_t pass_of(const struct gather *g, uint32_t raw)
{
    return cw_packed_pass(g->packed[g->places[raw].problem], g->places[raw].item);
}

static void remember(struct gather *g, uint32_t problem, uint32_t item)
{
    if (g->move_count < g->move_room)
        g->moves[g->move_count++] = (struct move){{problem, item}, cw_packed_pass(g->packed[problem], item),
                                                  cw_packed_choice(g->packed[problem], item)};
}

/* Undoing in reverse order passes through states that were valid, except within an exchange. */
static void undo(struct gather *g)
{
    while (g->move_count) {
        const struct move *m = &g->moves[--g->move_count];
        cw_packed_return(g->packed[m->place.problem], m->place.item, m->from, m->choice);
    }
}

static bool bring(struct gather *g, uint32_t raw, uint32_t to, const struct cw_list *group)
{
    struct cw_place place = g->places[raw];
    struct cw_packed *packed = g->packed[place.problem];
    uint32_t count;
    if (g->locked[place.problem][place.item])
        return false;
    g->steps++;
    remember(g, place.problem, place.item);
    if (cw_packed_move(packed, place.item, to))
        return true;
    g->move_count--;
    const uint32_t *items = cw_packed_items(packed, to, &count);
    for (uint32_t k = 0; k < count; k++) {
        uint32_t other = items[k], other_raw = g->problems->items[place.problem].items[other].raw;
        bool wanted = g->locked[place.problem][other] != 0;
        for (uint32_t i = 0; i < group->count && !wanted; i++)
            wanted = group->items[i] == other_raw;
        if (wanted)
            continue;
        g->steps++;
        remember(g, place.problem, place.item);
        remember(g, place.problem, other);
        if (cw_packed_swap(packed, place.item, other))
            return true;
        g->move_count -= 2;
        items = cw_packed_items(packed, to, &count);
    }
    return false;
}

static bool gather_into(struct gather *g, const struct cw_list *group, uint32_t to)
{
    g->move_count = 0;
    for (uint32_t k = 0; k < group->count; k++)
        if (pass_of(g, group->items[k]) != to &&
            (g->move_count + 2 > g->move_room || !bring(g, group->items[k], to, group))) {
            undo(g);
            return false;
        }
    return true;
}

static void gather_group(struct gather *g, const struct cw_list *group)
{
    uint32_t tried[TARGETS], n = 0;
    bool done = false;
    while (n < TARGETS && !done) {
        uint32_t best = CW_NONE, most = 0;
        for (uint32_t k = 0; k < group->count; k++) {
            uint32_t pass = pass_of(g, group->items[k]), same = 0;
            bool seen = false;
            for (uint32_t t = 0; t < n; t++)
                seen |= tried[t] == pass;
            for (uint32_t i = 0; i < group->count; i++)
                same += pass_of(g, group->items[i]) == pass;
            if (!seen && same > most) {
                most = same;
                best = pass;
            }
        }
        if (best == CW_NONE)
            return;
        tried[n++] = best;
        done = gather_into(g, group, best);
    }
    for (uint32_t k = 0; k < group->count && done; k++)
        g->locked[g->places[group->items[k]].problem][g->places[group->items[k]].item]++;
}

enum cw_status cw_gather(struct cw_packed **packed, const struct cw_problems *problems,
                         const struct cw_packing *packings, const uint32_t *pass_counts, const struct cw_place *places,
                         const struct cw_list *groups, size_t group_count, struct cw_arena *arena, struct cw_error *err)
{
    struct gather g = {.packed = packed, .problems = problems, .places = places, .arena = arena};
    choose_groups(&g, groups, group_count);
    g.move_room = 2 * LARGE_GROUP + 2;
    g.moves = array(&g, g.move_room, sizeof *g.moves);
    g.locked = array(&g, problems->count, sizeof *g.locked);
    for (uint32_t p = 0; !g.failed && p < problems->count; p++)
        g.locked[p] = array(&g, problems->items[p].item_count, sizeof **g.locked);
    /* the problem with most passes first: it leaves no room to choose */
    for (uint32_t round = 0; !g.failed && round < problems->count; round++) {
        uint32_t next = CW_NONE;
        for (uint32_t p = 0; p < problems->count; p++)
            if (!packed[p] && (next == CW_NONE || packings[p].pass_count > packings[next].pass_count))
                next = p;
        align(&g, packings, next, pass_counts[problems->items[next].section]);
    }
    for (uint32_t i = 0; !g.failed && i < g.group_count && g.steps < STEPS; i++)
        gather_group(&g, &g.groups[i]);
    return g.failed ? cw_error_nomem(err) : CW_OK;
}
