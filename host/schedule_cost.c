#include "host/schedule_cost.h"

#include <string.h>

enum { STEPS = 5000, MOST_TOGETHER = 64, MOST_REHOMED = 4096 };

struct reduction {
    struct cw_packings *all;
    const struct cw_chip *chip;
    uint32_t *first, *of_raw; /* groups of raw counter r are of_raw[first[r]] up to of_raw[first[r + 1]] */
    uint32_t *home;           /* by group: the pass with all of it, or CW_NONE */
    uint32_t section, width;
    uint32_t *tally; /* [pass * costs + cost]: counters in the pass that cause the cost */
    uint64_t total;  /* cost of all passes of the section */
    uint32_t *together, count;
    struct rehomed { /* groups that moved, for taking the move back */
        uint32_t group, from;
    } * rehomed;
    uint32_t rehomed_count;
};

/* ---- costs of passes -------------------------------------------------------------------------------------------- */

static uint32_t *tally(const struct reduction *r, uint32_t pass, uint32_t cost)
{
    return &r->tally[(size_t)pass * r->chip->pass_cost_count + cost];
}

static uint64_t costs_of(const struct reduction *r, struct cw_item_id id, uint32_t has)
{
    return r->all->problems->items[id.problem].items[id.item].choices[has - 1].costs;
}

/* Updates the tally when a counter in a pass is collected in way `to` instead of way `from`; 0: not in the pass. */
static void recount(struct reduction *r, struct cw_item_id id, uint32_t pass, uint32_t from, uint32_t to)
{
    for (uint64_t bits = from ? costs_of(r, id, from) : 0; bits; bits &= bits - 1) {
        uint32_t cost = (uint32_t)__builtin_ctzll(bits);
        r->total -= --*tally(r, pass, cost) ? 0 : r->chip->pass_costs[cost].cost;
    }
    for (uint64_t bits = to ? costs_of(r, id, to) : 0; bits; bits &= bits - 1) {
        uint32_t cost = (uint32_t)__builtin_ctzll(bits);
        r->total += (*tally(r, pass, cost))++ ? 0 : r->chip->pass_costs[cost].cost;
    }
}

static void count_section(struct reduction *r)
{
    r->total = 0;
    memset(r->tally, 0, (size_t)r->width * r->chip->pass_cost_count * sizeof *r->tally);
    for (uint32_t p = 0; p < r->all->problems->count; p++)
        for (uint32_t k = 0; k < r->width && r->all->problems->items[p].section == r->section; k++)
            for (uint32_t i = 0; i < r->all->items[p]->passes[k].count; i++) {
                struct cw_item_id id = {p, r->all->items[p]->passes[k].items[i]};
                recount(r, id, k, 0, cw_packing_has(r->all->items[p], id.item, k));
            }
}

/* ---- groups that stay together ---------------------------------------------------------------------------------- */

static void find_homes(struct reduction *r)
{
    for (uint32_t p = 0; p < r->all->problems->count; p++) {
        const struct cw_packing *packing = r->all->items[p];
        memset(packing->locks, 0, (size_t)packing->pass_count * packing->problem->item_count * sizeof *packing->locks);
    }
    for (uint32_t g = 0; g < r->all->group_count; g++) {
        const struct cw_list *group = &r->all->groups[g];
        uint32_t pass = 0, width = r->all->pass_counts[cw_problems_section(r->all->problems, group->items[0])];
        while (pass < width && cw_packings_missing(r->all, group, pass))
            pass++;
        r->home[g] = pass < width ? pass : CW_NONE;
        if (pass < width)
            cw_packings_lock(r->all, group, pass, 1);
    }
}

static bool join(struct reduction *r, uint32_t raw)
{
    for (uint32_t i = 0; i < r->count; i++)
        if (r->together[i] == raw)
            return true;
    if (r->count == MOST_TOGETHER)
        return false;
    r->together[r->count++] = raw;
    return true;
}

/* Collects a counter and all counters that whole groups tie to it in a pass. False if there are too many. */
static bool tie(struct reduction *r, uint32_t raw, uint32_t pass)
{
    r->count = 0;
    bool few = join(r, raw);
    for (uint32_t i = 0; i < r->count && few; i++)
        for (uint32_t g = r->first[r->together[i]]; g < r->first[r->together[i] + 1] && few; g++)
            for (uint32_t k = 0; r->home[r->of_raw[g]] == pass && few && k < r->all->groups[r->of_raw[g]].count; k++)
                few = join(r, r->all->groups[r->of_raw[g]].items[k]);
    r->all->steps += r->count;
    return few;
}

static void rehome(struct reduction *r, uint32_t group, uint32_t to)
{
    cw_packings_lock(r->all, &r->all->groups[group], r->home[group], -1);
    cw_packings_lock(r->all, &r->all->groups[group], to, 1);
    r->home[group] = to;
}

/* Sets the new home of the groups of the tied counters. */
static void rehome_tied(struct reduction *r, uint32_t from, uint32_t to)
{
    for (uint32_t i = 0; i < r->count; i++)
        for (uint32_t g = r->first[r->together[i]]; g < r->first[r->together[i] + 1]; g++)
            if (r->home[r->of_raw[g]] == from) {
                r->rehomed[r->rehomed_count++] = (struct rehomed){r->of_raw[g], from};
                rehome(r, r->of_raw[g], to);
            }
}

/* ---- moves ------------------------------------------------------------------------------------------------------ */

static void follow(struct reduction *r, uint32_t mark)
{
    for (uint32_t k = mark; k < r->all->change_count; k++) {
        const struct cw_change *c = &r->all->changes[k];
        recount(r, c->id, c->pass, c->had, c->has);
    }
}

static void take_back(struct reduction *r, uint32_t mark, uint32_t rehomed)
{
    for (uint32_t k = r->all->change_count; k-- > mark;) {
        const struct cw_change *c = &r->all->changes[k];
        recount(r, c->id, c->pass, c->has, c->had);
    }
    while (r->rehomed_count > rehomed) {
        const struct rehomed *last = &r->rehomed[--r->rehomed_count];
        rehome(r, last->group, last->from);
    }
    cw_packings_undo(r->all, mark);
}

/* Collects a counter in another way within the same pass. */
static bool recollect(struct reduction *r, struct cw_item_id id, uint32_t pass, uint32_t cost)
{
    const struct cw_item *item = &r->all->problems->items[id.problem].items[id.item];
    uint32_t mark = r->all->change_count;
    if (!cw_packings_take(r->all, id, pass))
        return false;
    for (uint32_t k = 0; k < item->choice_count && !cw_packings_full(r->all); k++) {
        r->all->steps++;
        if (item->choices[k].costs >> cost & 1 || !cw_packings_put(r->all, id, pass, k))
            continue;
        follow(r, mark);
        return true;
    }
    cw_packings_undo(r->all, mark);
    return false;
}

/* Moves the tied counters to another pass; with `pressing`, in place of counters that no group needs there and that fit
 * elsewhere. */
static bool move_tied(struct reduction *r, uint32_t from, uint32_t to, bool pressing)
{
    const struct cw_list list = {r->count, r->together};
    uint32_t mark = r->all->change_count, rehomed = r->rehomed_count;
    bool done = rehomed < MOST_REHOMED;
    for (uint32_t i = 0; i < r->count && done; i++)
        done = cw_packings_take(r->all, r->all->problems->ids[r->together[i]], from);
    uint32_t taken = r->all->change_count;
    if (!done || (pressing && !cw_packings_clear(r->all, &list, to)) || !cw_packings_seat(r->all, &list, to)) {
        cw_packings_undo(r->all, mark);
        return false;
    }
    rehome_tied(r, from, to);
    cw_packings_lock(r->all, &list, to, 1);
    done = cw_packings_settle(r->all, taken, to);
    cw_packings_lock(r->all, &list, to, -1);
    follow(r, mark);
    if (!done)
        take_back(r, mark, rehomed);
    return done;
}

/* Moves the tied counters to a pass where they do not add the cost: it has the cost already, or they can be collected
 * otherwise. */
static bool move_away(struct reduction *r, uint32_t from, uint32_t cost)
{
    for (int pressing = 0; pressing < 2; pressing++)
        for (uint32_t to = 0; to < r->width && r->all->steps < r->all->most_steps; to++) {
            bool bears = *tally(r, to, cost) > 0;
            uint32_t mark = r->all->change_count, rehomed = r->rehomed_count;
            if (to == from || !move_tied(r, from, to, pressing))
                continue;
            if (bears || !*tally(r, to, cost))
                return true;
            take_back(r, mark, rehomed);
        }
    return false;
}

/* Finds a counter of a pass that causes a cost; CW_NONE if there is none. */
static uint32_t find(const struct reduction *r, uint32_t pass, uint32_t cost)
{
    for (uint32_t p = 0; p < r->all->problems->count; p++) {
        const struct cw_packing *packing = r->all->items[p];
        for (uint32_t i = 0; packing->problem->section == r->section && i < packing->passes[pass].count; i++) {
            uint32_t item = packing->passes[pass].items[i];
            if (costs_of(r, (struct cw_item_id){p, item}, cw_packing_has(packing, item, pass)) >> cost & 1)
                return packing->problem->items[item].raw;
        }
    }
    return CW_NONE;
}

/* Removes from a pass all counters that cause a cost, if the passes together become cheaper. */
static bool rid(struct reduction *r, uint32_t pass, uint32_t cost)
{
    uint64_t before = r->total;
    uint32_t raw;
    r->all->change_count = r->rehomed_count = 0;
    while ((raw = find(r, pass, cost)) != CW_NONE)
        if (!recollect(r, r->all->problems->ids[raw], pass, cost) && !(tie(r, raw, pass) && move_away(r, pass, cost)))
            break;
    if (raw == CW_NONE && r->total < before)
        return true;
    take_back(r, 0, 0);
    return false;
}

/* Tries first the passes where few counters cause the cost. */
static bool rid_some(struct reduction *r, uint32_t cost)
{
    bool changed = false;
    uint32_t most = 0;
    for (uint32_t k = 0; k < r->width; k++)
        most = *tally(r, k, cost) > most ? *tally(r, k, cost) : most;
    for (uint32_t n = 1; n <= most; n++)
        for (uint32_t k = 0; k < r->width && r->all->steps < r->all->most_steps; k++)
            if (*tally(r, k, cost) == n)
                changed |= rid(r, k, cost);
    return changed;
}

/* ---- all -------------------------------------------------------------------------------------------------------- */

static bool index_groups(struct reduction *r, struct cw_arena *arena)
{
    const struct cw_packings *all = r->all;
    uint32_t total = 0;
    r->first = cw_arena_alloc(arena, (size_t)r->chip->raw_count + 2, sizeof *r->first);
    for (uint32_t g = 0; r->first && g < all->group_count; g++)
        for (uint32_t k = 0; k < all->groups[g].count; k++, total++)
            r->first[all->groups[g].items[k] + 2]++;
    r->of_raw = cw_arena_alloc(arena, total, sizeof *r->of_raw);
    if (!r->first || !r->of_raw)
        return false;
    for (uint32_t raw = 2; raw < r->chip->raw_count + 2; raw++)
        r->first[raw] += r->first[raw - 1];
    for (uint32_t g = 0; g < all->group_count; g++)
        for (uint32_t k = 0; k < all->groups[g].count; k++)
            r->of_raw[r->first[all->groups[g].items[k] + 1]++] = g;
    return true;
}

enum cw_status cw_cost_reduce(struct cw_packings *all, struct cw_arena *arena, struct cw_error *err)
{
    struct reduction r = {.all = all, .chip = all->problems->chip};
    uint32_t most = 0;
    for (uint32_t s = 0; s < all->problems->section_count; s++)
        most = all->pass_counts[s] > most ? all->pass_counts[s] : most;
    r.tally = cw_arena_alloc(arena, (size_t)most * r.chip->pass_cost_count, sizeof *r.tally);
    r.together = cw_arena_alloc(arena, MOST_TOGETHER, sizeof *r.together);
    r.home = cw_arena_alloc(arena, all->group_count, sizeof *r.home);
    r.rehomed = cw_arena_alloc(arena, (size_t)MOST_REHOMED + all->group_count, sizeof *r.rehomed);
    if (!r.tally || !r.together || !r.home || !r.rehomed || !index_groups(&r, arena))
        return cw_error_nomem(err);
    find_homes(&r);
    all->most_steps = all->steps + STEPS;
    for (r.section = 0; r.section < all->problems->section_count; r.section++) {
        r.width = all->pass_counts[r.section];
        count_section(&r);
        for (bool changed = true; changed && all->steps < all->most_steps;) {
            changed = false;
            for (uint32_t cost = 0; cost < r.chip->pass_cost_count; cost++)
                changed |= rid_some(&r, cost);
        }
    }
    return CW_OK;
}
