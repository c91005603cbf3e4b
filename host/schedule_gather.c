#include "host/schedule_gather.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LARGE_GROUP = 64, /* a group that cannot be one value's is not gathered */
    STEPS = 400000,   /* placements tried, about */
    TARGETS = 12,     /* passes tried for each group */
    SEATINGS = 256,   /* ways to collect its counters tried for a group in a pass */
    MOST_TOGETHER = 256,
    MOST_CHANGES = 1 << 14,
};

struct change {                        /* an item that was put into a pass, or taken out of it */
    uint32_t problem, item, pass, had; /* `had` 0: it was put there */
};

struct gather {
    struct cw_packed **packed;
    const struct cw_problems *problems;
    const struct cw_place *places;
    const struct cw_list *groups; /* those worth gathering */
    uint32_t group_count;
    uint32_t *home;              /* by group, where copies are allowed: the pass that has all of it, or CW_NONE */
    uint32_t *pass_count, *room; /* by section */
    uint32_t **maps;             /* by problem: its packing's passes in the section's */
    bool copies;                 /* an item may stand in several passes, and passes may be added */
    uint32_t *together;          /* room for MOST_TOGETHER */
    struct change *changes;
    uint32_t change_count, change_room, steps;
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

static bool add(struct gather *g, uint32_t problem, uint32_t item, uint32_t pass)
{
    g->steps++;
    if (g->change_count == g->change_room || !cw_packed_add(g->packed[problem], item, pass))
        return false;
    g->changes[g->change_count++] = (struct change){problem, item, pass, 0};
    return true;
}

static bool take(struct gather *g, uint32_t problem, uint32_t item, uint32_t pass)
{
    if (g->change_count == g->change_room)
        return false;
    g->changes[g->change_count++] = (struct change){problem, item, pass, cw_packed_has(g->packed[problem], item, pass)};
    cw_packed_take(g->packed[problem], item, pass);
    return true;
}

/* In reverse order, through states that were valid. */
static void undo(struct gather *g, uint32_t mark)
{
    while (g->change_count > mark) {
        const struct change *c = &g->changes[--g->change_count];
        if (c->had)
            cw_packed_put(g->packed[c->problem], c->item, c->pass, c->had);
        else
            cw_packed_take(g->packed[c->problem], c->item, c->pass);
    }
}

/* Takes an item from the pass where no group needs it. False where it stands for groups only. */
static bool detach(struct gather *g, struct cw_place at)
{
    struct cw_packed *p = g->packed[at.problem];
    for (uint32_t k = 0; k < p->pass_count; k++)
        if (cw_packed_has(p, at.item, k) && !*cw_packed_lock(p, at.item, k))
            return take(g, at.problem, at.item, k);
    return false;
}

/* Takes from a pass what no group needs there, as far as it is of the problems of `group`. */
static bool clear(struct gather *g, const struct cw_list *group, uint32_t pass)
{
    for (uint32_t k = 0; k < group->count; k++) {
        struct cw_place at = g->places[group->items[k]];
        struct cw_packed *p = g->packed[at.problem];
        for (uint32_t i = p->passes[pass].count; i-- > 0;) {
            uint32_t item = p->passes[pass].items[i];
            if (!*cw_packed_lock(p, item, pass) && !take(g, at.problem, item, pass))
                return false;
        }
    }
    return true;
}

/* Puts the group from its k-th counter on into a pass, trying the ways to collect each. */
static bool seat(struct gather *g, const struct cw_list *group, uint32_t k, uint32_t pass, uint32_t *tries)
{
    if (k == group->count)
        return true;
    struct cw_place at = g->places[group->items[k]];
    struct cw_packed *p = g->packed[at.problem];
    if (cw_packed_has(p, at.item, pass))
        return seat(g, group, k + 1, pass, tries);
    const struct cw_item *item = &p->problem->items[at.item];
    for (uint32_t c = 0; c < item->choice_count && *tries && g->change_count < g->change_room; c++) {
        uint32_t mark = g->change_count;
        g->steps++;
        --*tries;
        if (!cw_filling_fits(&p->passes[pass], p->problem, item->choices[c].class_))
            continue;
        cw_packed_put(p, at.item, pass, 1 + c);
        g->changes[g->change_count++] = (struct change){at.problem, at.item, pass, 0};
        if (seat(g, group, k + 1, pass, tries))
            return true;
        undo(g, mark);
    }
    return false;
}

/* Finds a pass for an item that stands nowhere, at worst in the place of another that fits elsewhere. */
static bool settle(struct gather *g, uint32_t problem, uint32_t item, uint32_t near)
{
    struct cw_packed *p = g->packed[problem];
    for (uint32_t k = 0; k < p->pass_count; k++) /* `near` first */
        if (add(g, problem, item, (near + k) % p->pass_count))
            return true;
    for (uint32_t k = 0; k < p->pass_count && g->steps < STEPS; k++)
        for (uint32_t i = p->passes[k].count; i-- > 0;) {
            uint32_t other = p->passes[k].items[i], mark = g->change_count;
            if (*cw_packed_lock(p, other, k) || !take(g, problem, other, k))
                continue;
            if (add(g, problem, item, k))
                for (uint32_t to = 0; to < p->pass_count; to++)
                    if (to != k && add(g, problem, other, to))
                        return true;
            undo(g, mark);
        }
    return false;
}

static uint32_t ways(const struct gather *g, uint32_t raw)
{
    return g->problems->items[g->places[raw].problem].items[g->places[raw].item].choice_count;
}

/* Seats the group beside what stands in the pass already, which may be collected in other ways then. */
static bool reseat(struct gather *g, const struct cw_list *group, uint32_t pass)
{
    uint32_t n = 0, tries = SEATINGS, first = g->change_count;
    bool done = true;
    for (uint32_t k = 0; k < group->count; k++) {
        struct cw_place at = g->places[group->items[k]];
        struct cw_packed *p = g->packed[at.problem];
        if (!cw_packed_has(p, at.item, pass))
            g->together[n++] = group->items[k];
        while (done && p->passes[pass].count) {
            uint32_t item = p->passes[pass].items[p->passes[pass].count - 1];
            done = take(g, at.problem, item, pass);
        }
    }
    for (uint32_t k = first; k < g->change_count; k++) {
        uint32_t raw = g->problems->items[g->changes[k].problem].items[g->changes[k].item].raw;
        bool listed = false;
        for (uint32_t i = 0; i < n && !listed; i++)
            listed = g->together[i] == raw;
        if (!listed && n < MOST_TOGETHER)
            g->together[n++] = raw;
    }
    /* the fewer ways there are to collect it, the earlier */
    for (uint32_t i = 1; i < n; i++)
        for (uint32_t k = i; k && ways(g, g->together[k - 1]) > ways(g, g->together[k]); k--) {
            uint32_t moved = g->together[k];
            g->together[k] = g->together[k - 1];
            g->together[k - 1] = moved;
        }
    done = done && n < MOST_TOGETHER && seat(g, &(struct cw_list){n, g->together}, 0, pass, &tries);
    if (!done)
        undo(g, first);
    return done;
}

static bool place_at(struct gather *g, const struct cw_list *group, uint32_t to)
{
    uint32_t tries = SEATINGS;
    g->change_count = 0;
    bool placed = clear(g, group, to);
    for (uint32_t k = 0; placed && k < group->count; k++) {
        struct cw_place at = g->places[group->items[k]];
        placed = detach(g, at) || cw_packed_has(g->packed[at.problem], at.item, to) ||
                 !g->packed[at.problem]->stands[at.item];
    }
    placed = placed && seat(g, group, 0, to, &tries);
    for (uint32_t k = 0, end = g->change_count; placed && k < end; k++) {
        const struct change *c = &g->changes[k];
        if (c->had && !g->packed[c->problem]->stands[c->item])
            placed = settle(g, c->problem, c->item, to);
    }
    if (!placed)
        undo(g, 0);
    for (uint32_t k = 0; placed && k < group->count; k++) {
        struct cw_place at = g->places[group->items[k]];
        ++*cw_packed_lock(g->packed[at.problem], at.item, to);
    }
    return placed;
}

/* ---- all groups ------------------------------------------------------------------------------------------------- */

static uint32_t section_of(const struct gather *g, const struct cw_list *group)
{
    return g->problems->items[g->places[group->items[0]].problem].section;
}

static uint32_t missing(const struct gather *g, const struct cw_list *group, uint32_t pass)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < group->count; k++) {
        struct cw_place at = g->places[group->items[k]];
        n += !cw_packed_has(g->packed[at.problem], at.item, pass);
    }
    return n;
}

/* Tries the passes that have most of the group already. */
static void place_best(struct gather *g, const struct cw_list *group, uint32_t *scratch)
{
    uint32_t width = g->pass_count[section_of(g, group)];
    for (uint32_t p = 0; p < width; p++)
        scratch[p] = 1 + group->count - missing(g, group, p);
    for (uint32_t tries = 0; tries < TARGETS && g->steps < STEPS; tries++) {
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

/* ---- pass after pass -------------------------------------------------------------------------------------------- */

static bool open_pass(struct gather *g, uint32_t section)
{
    if (g->pass_count[section] == g->room[section])
        return false;
    for (uint32_t p = 0; p < g->problems->count; p++)
        if (g->problems->items[p].section == section && !cw_packed_open(g->packed[p]))
            g->failed = true;
    g->pass_count[section]++;
    return !g->failed;
}

/* The group that adds least to a pass; larger ones first among equals. `tried` is by group: 1 + the pass that has no
 * room for it. */
static uint32_t next_group(const struct gather *g, uint32_t section, uint32_t pass, const uint32_t *tried)
{
    uint32_t best = CW_NONE, least = CW_NONE;
    for (uint32_t i = g->group_count; i-- > 0;) {
        if (g->home[i] != CW_NONE || tried[i] > pass || section_of(g, &g->groups[i]) != section)
            continue;
        uint32_t n = missing(g, &g->groups[i], pass);
        if (n < least) {
            least = n;
            best = i;
        }
    }
    return best;
}

static void fill_section(struct gather *g, uint32_t section, uint32_t *tried)
{
    for (uint32_t pass = 0; !g->failed; pass++) {
        uint32_t first = CW_NONE, n = 0;
        for (uint32_t i = g->group_count; first == CW_NONE && i-- > 0;)
            if (g->home[i] == CW_NONE && tried[i] != CW_NONE && section_of(g, &g->groups[i]) == section)
                first = i;
        if (first == CW_NONE)
            return;
        if (pass == g->pass_count[section] && !open_pass(g, section))
            return;
        for (uint32_t i = first; !g->failed && i != CW_NONE; i = next_group(g, section, pass, tried)) {
            uint32_t tries = SEATINGS;
            g->change_count = 0;
            if (seat(g, &g->groups[i], 0, pass, &tries) || reseat(g, &g->groups[i], pass)) {
                g->home[i] = pass;
                n++;
            } else {
                tried[i] = n ? pass + 1 : CW_NONE; /* never where even an empty pass has no room */
            }
        }
        pass -= n == 0;
    }
}

/* Takes everything out and fills pass after pass with groups, then with what belongs to none. False where the passes
 * run out: there is room for many more than are needed, but no proof. */
static bool fill_all(struct gather *g, const struct cw_packing *packings)
{
    uint32_t *tried = array(g, g->group_count, sizeof *tried);
    memset(g->home, 0xff, g->group_count * sizeof *g->home);
    for (uint32_t p = 0; p < g->problems->count; p++)
        for (uint32_t i = 0; i < g->problems->items[p].item_count; i++)
            cw_packed_take(g->packed[p], i, g->maps[p][packings[p].pass_of[i]]);
    for (uint32_t s = 0; !g->failed && s < g->problems->section_count; s++)
        fill_section(g, s, tried);
    for (uint32_t i = 0; !g->failed && i < g->group_count; i++)
        for (uint32_t k = 0; g->home[i] != CW_NONE && k < g->groups[i].count; k++) {
            struct cw_place at = g->places[g->groups[i].items[k]];
            ++*cw_packed_lock(g->packed[at.problem], at.item, g->home[i]);
        }
    for (uint32_t p = 0; !g->failed && p < g->problems->count; p++)
        for (uint32_t i = 0; !g->failed && i < g->problems->items[p].item_count; i++) {
            g->change_count = 0;
            if (g->packed[p]->stands[i] || settle(g, p, i, 0))
                continue;
            if (!open_pass(g, g->problems->items[p].section))
                return false;
            cw_packed_add(g->packed[p], i, g->packed[p]->pass_count - 1);
        }
    return true;
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
                         const struct cw_list *groups, size_t group_count, bool copies, struct cw_arena *arena,
                         struct cw_error *err)
{
    struct gather g = {.packed = packed,
                       .problems = problems,
                       .places = places,
                       .pass_count = pass_counts,
                       .change_room = MOST_CHANGES,
                       .arena = arena};
    choose_groups(&g, groups, group_count);
    g.changes = array(&g, g.change_room, sizeof *g.changes);
    g.together = array(&g, MOST_TOGETHER, sizeof *g.together);
    g.maps = array(&g, problems->count, sizeof *g.maps);
    g.home = array(&g, g.group_count, sizeof *g.home);
    g.room = array(&g, problems->section_count, sizeof *g.room);
    for (uint32_t s = 0; !g.failed && s < problems->section_count; s++)
        g.room[s] = copies ? 2 * pass_counts[s] + g.group_count : pass_counts[s];
    align_all(&g, packings);
    bool enough = true;
    if (!g.failed && copies)
        enough = fill_all(&g, packings);
    else if (!g.failed)
        gather_all(&g);
    return g.failed ? cw_error_nomem(err) : enough ? CW_OK : CW_ERR_UNSUPPORTED;
}
