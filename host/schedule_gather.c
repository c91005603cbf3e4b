#include "host/schedule_gather.h"

#include <stdlib.h>
#include <string.h>

#include "host/schedule_cost.h"
#include "host/schedule_whole.h"

enum {
    LARGE_GROUP = 64, /* a group that cannot be one value's is not gathered */
    STEPS = 400000,   /* placements tried, about */
    TARGETS = 12,     /* passes tried for each group */
};

struct gather {
    struct cw_moves moves;
    struct cw_packed **packed;
    const struct cw_problems *problems;
    const struct cw_place *places;
    const struct cw_list *groups; /* those worth gathering */
    uint32_t group_count;
    const uint32_t *pass_count, *room; /* by section */
    uint32_t **maps;                   /* by problem: its packing's passes in the section's */
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
                         g->maps[other.problem][packings[other.problem].pass_of[other.item]]]++;
            }
        }
}

static void align(struct gather *g, const struct cw_packing *packings, uint32_t problem, uint32_t width, uint32_t room)
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
    g->maps[problem] = a.map;
    g->packed[problem] =
        cw_packed_create(&g->problems->items[problem], &packings[problem], a.map, width, room, g->arena);
    g->failed |= !g->packed[problem];
}

/* ---- moving ----------------------------------------------------------------------------------------------------- */

/* Takes an item from the pass where no group needs it. False where it stands for groups only. */
static bool detach(struct gather *g, struct cw_place at)
{
    struct cw_packed *p = g->packed[at.problem];
    for (uint32_t k = 0; k < p->pass_count; k++)
        if (cw_packed_has(p, at.item, k) && !*cw_packed_lock(p, at.item, k))
            return cw_moves_take(&g->moves, at.problem, at.item, k);
    return false;
}

static bool place_at(struct gather *g, const struct cw_list *group, uint32_t to)
{
    g->moves.count = 0;
    bool placed = cw_moves_clear(&g->moves, group, to);
    for (uint32_t k = 0; placed && k < group->count; k++) {
        struct cw_place at = g->places[group->items[k]];
        placed = detach(g, at) || cw_packed_has(g->packed[at.problem], at.item, to) ||
                 !g->packed[at.problem]->stands[at.item];
    }
    if (placed && cw_moves_seat(&g->moves, group, to)) {
        cw_moves_lock(&g->moves, group, to); /* else it would give way to what looks for a place */
        if (cw_moves_settle_all(&g->moves, 0, to))
            return true;
        cw_moves_unlock(&g->moves, group, to);
    }
    cw_moves_undo(&g->moves, 0);
    return false;
}

/* ---- all groups ------------------------------------------------------------------------------------------------- */

static uint32_t section_of(const struct gather *g, const struct cw_list *group)
{
    return g->problems->items[g->places[group->items[0]].problem].section;
}

/* Tries the passes that have most of the group already. */
static void place_best(struct gather *g, const struct cw_list *group, uint32_t *scratch)
{
    uint32_t width = g->pass_count[section_of(g, group)];
    for (uint32_t p = 0; p < width; p++)
        scratch[p] = 1 + group->count - cw_moves_missing(&g->moves, group, p);
    for (uint32_t tries = 0; tries < TARGETS && g->moves.steps < STEPS; tries++) {
        uint32_t best = 0;
        for (uint32_t p = 1; p < width; p++)
            if (scratch[p] > scratch[best])
                best = p;
        if (!scratch[best] || place_at(g, group, best))
            return;
        scratch[best] = 0;
    }
}

/* Large groups first. */
static void gather_all(struct gather *g)
{
    uint32_t most = 0;
    for (uint32_t s = 0; s < g->problems->section_count; s++)
        most = g->pass_count[s] > most ? g->pass_count[s] : most;
    uint32_t *scratch = array(g, most, sizeof *scratch);
    for (uint32_t i = g->group_count; !g->failed && i-- > 0;)
        place_best(g, &g->groups[i], scratch);
}

/* The problem with most passes first: it leaves no room to choose. */
static void align_all(struct gather *g, const struct cw_packing *packings)
{
    for (uint32_t round = 0; !g->failed && round < g->problems->count; round++) {
        uint32_t next = CW_NONE;
        for (uint32_t p = 0; p < g->problems->count; p++)
            if (!g->packed[p] && (next == CW_NONE || packings[p].pass_count > packings[next].pass_count))
                next = p;
        uint32_t section = g->problems->items[next].section;
        align(g, packings, next, g->pass_count[section], g->room[section]);
    }
}

enum cw_status cw_gather(struct cw_packed **packed, const struct cw_problems *problems,
                         const struct cw_packing *packings, uint32_t *pass_counts, const struct cw_place *places,
                         const struct cw_list *groups, size_t group_count, const struct cw_chip *chip, unsigned flags,
                         struct cw_arena *arena, struct cw_error *err)
{
    bool grow = flags & CW_SCHEDULE_WHOLE, once = !grow && flags & CW_SCHEDULE_QUICK;
    struct gather g = {
        .packed = packed, .problems = problems, .places = places, .pass_count = pass_counts, .arena = arena};
    choose_groups(&g, groups, group_count);
    g.failed |= !cw_moves_init(&g.moves, packed, problems, places, STEPS, arena);
    g.maps = array(&g, problems->count, sizeof *g.maps);
    uint32_t *room = array(&g, problems->section_count, sizeof *room);
    for (uint32_t s = 0; !g.failed && s < problems->section_count; s++)
        room[s] = grow ? 2 * pass_counts[s] + g.group_count : pass_counts[s];
    g.room = room;
    align_all(&g, packings);
    enum cw_status status = CW_OK;
    if (!g.failed && once)
        gather_all(&g);
    else if (!g.failed)
        status = cw_keep_whole(&g.moves, g.groups, g.group_count, chip->raw_count, grow, pass_counts, room, arena, err);
    if (!g.failed && status == CW_OK && chip->pass_cost_count)
        status = cw_make_cheap(&g.moves, chip, g.groups, g.group_count, pass_counts, arena, err);
    return g.failed ? cw_error_nomem(err) : status;
}
