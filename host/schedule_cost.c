#include "host/schedule_cost.h"

#include <string.h>

enum { STEPS = 5000, MOST_TOGETHER = 64, MOST_REHOMED = 4096 };

struct cheap {
    struct cw_moves *m;
    const struct cw_chip *chip;
    const struct cw_list *groups;
    uint32_t group_count;
    uint32_t *first, *of_raw; /* the groups of raw counter r are of_raw[first[r]] up to of_raw[first[r + 1]] */
    uint32_t *home;           /* by group: the pass that has all of it, or CW_NONE */
    uint32_t section, width;
    uint32_t *tally; /* [pass * costs + cost]: counters in the pass that bring it */
    uint64_t total;  /* of all passes of the section */
    uint32_t *together, count;
    struct rehomed { /* groups that moved, to take it back */
        uint32_t group, from;
    } * rehomed;
    uint32_t rehomed_count;
};

/* ---- what passes cost ------------------------------------------------------------------------------------------- */

static uint32_t *tally(const struct cheap *c, uint32_t pass, uint32_t cost)
{
    return &c->tally[(size_t)pass * c->chip->pass_cost_count + cost];
}

static uint64_t costs_of(const struct cheap *c, uint32_t problem, uint32_t item, uint32_t has)
{
    return c->m->problems->items[problem].items[item].choices[has - 1].costs;
}

static void count_in(struct cheap *c, const struct cw_change *at, uint32_t has)
{
    for (uint64_t bits = has ? costs_of(c, at->problem, at->item, has) : 0; bits; bits &= bits - 1) {
        uint32_t cost = (uint32_t)__builtin_ctzll(bits);
        if ((*tally(c, at->pass, cost))++ == 0)
            c->total += c->chip->pass_costs[cost].cost;
    }
}

static void count_out(struct cheap *c, const struct cw_change *at, uint32_t had)
{
    for (uint64_t bits = had ? costs_of(c, at->problem, at->item, had) : 0; bits; bits &= bits - 1) {
        uint32_t cost = (uint32_t)__builtin_ctzll(bits);
        if (--(*tally(c, at->pass, cost)) == 0)
            c->total -= c->chip->pass_costs[cost].cost;
    }
}

static void count_section(struct cheap *c)
{
    c->total = 0;
    memset(c->tally, 0, (size_t)c->width * c->chip->pass_cost_count * sizeof *c->tally);
    for (uint32_t p = 0; p < c->m->problems->count; p++)
        for (uint32_t k = 0; k < c->width && c->m->problems->items[p].section == c->section; k++)
            for (uint32_t i = 0; i < c->m->packed[p]->passes[k].count; i++) {
                struct cw_change at = {.problem = p, .item = c->m->packed[p]->passes[k].items[i], .pass = k};
                count_in(c, &at, cw_packed_has(c->m->packed[p], at.item, k));
            }
}

/* ---- what stays together ---------------------------------------------------------------------------------------- */

static void settle_groups(struct cheap *c)
{
    for (uint32_t p = 0; p < c->m->problems->count; p++) {
        const struct cw_packed *packed = c->m->packed[p];
        memset(packed->locks, 0, (size_t)packed->pass_count * packed->problem->item_count * sizeof *packed->locks);
    }
    for (uint32_t g = 0; g < c->group_count; g++) {
        struct cw_place at = c->m->places[c->groups[g].items[0]];
        uint32_t pass = 0, width = c->m->packed[at.problem]->pass_count;
        while (pass < width && cw_moves_missing(c->m, &c->groups[g], pass))
            pass++;
        c->home[g] = pass < width ? pass : CW_NONE;
        if (pass < width)
            cw_moves_lock(c->m, &c->groups[g], pass);
    }
}

static bool join(struct cheap *c, uint32_t raw)
{
    for (uint32_t i = 0; i < c->count; i++)
        if (c->together[i] == raw)
            return true;
    if (c->count == MOST_TOGETHER)
        return false;
    c->together[c->count++] = raw;
    return true;
}

/* A counter and all that whole groups tie to it in a pass. False where that is too many. */
static bool tie(struct cheap *c, uint32_t raw, uint32_t pass)
{
    c->count = 0;
    bool few = join(c, raw);
    for (uint32_t i = 0; i < c->count && few; i++)
        for (uint32_t g = c->first[c->together[i]]; g < c->first[c->together[i] + 1] && few; g++)
            for (uint32_t k = 0; c->home[c->of_raw[g]] == pass && few && k < c->groups[c->of_raw[g]].count; k++)
                few = join(c, c->groups[c->of_raw[g]].items[k]);
    c->m->steps += c->count;
    return few;
}

static void rehome(struct cheap *c, uint32_t group, uint32_t to)
{
    cw_moves_unlock(c->m, &c->groups[group], c->home[group]);
    cw_moves_lock(c->m, &c->groups[group], to);
    c->home[group] = to;
}

/* The groups of what is tied together. */
static void rehome_tied(struct cheap *c, uint32_t from, uint32_t to)
{
    for (uint32_t i = 0; i < c->count; i++)
        for (uint32_t g = c->first[c->together[i]]; g < c->first[c->together[i] + 1]; g++)
            if (c->home[c->of_raw[g]] == from) {
                c->rehomed[c->rehomed_count++] = (struct rehomed){c->of_raw[g], from};
                rehome(c, c->of_raw[g], to);
            }
}

/* ---- moves ------------------------------------------------------------------------------------------------------ */

static void follow(struct cheap *c, uint32_t mark)
{
    for (uint32_t k = mark; k < c->m->count; k++) {
        count_out(c, &c->m->changes[k], c->m->changes[k].had);
        count_in(c, &c->m->changes[k], c->m->changes[k].has);
    }
}

static void take_back(struct cheap *c, uint32_t mark, uint32_t rehomed)
{
    for (uint32_t k = c->m->count; k-- > mark;) {
        count_out(c, &c->m->changes[k], c->m->changes[k].has);
        count_in(c, &c->m->changes[k], c->m->changes[k].had);
    }
    while (c->rehomed_count > rehomed) {
        const struct rehomed *last = &c->rehomed[--c->rehomed_count];
        rehome(c, last->group, last->from);
    }
    cw_moves_undo(c->m, mark);
}

/* Collects a counter in another way in the same pass. */
static bool recollect(struct cheap *c, struct cw_place at, uint32_t pass, uint32_t cost)
{
    struct cw_packed *packed = c->m->packed[at.problem];
    const struct cw_item *item = &packed->problem->items[at.item];
    uint32_t mark = c->m->count;
    if (!cw_moves_take(c->m, at.problem, at.item, pass))
        return false;
    for (uint32_t k = 0; k < item->choice_count && c->m->count < c->m->room; k++) {
        c->m->steps++;
        if (costs_of(c, at.problem, at.item, k + 1) >> cost & 1 ||
            !cw_filling_fits(&packed->passes[pass], packed->problem, item->choices[k].class_))
            continue;
        cw_packed_put(packed, at.item, pass, k + 1);
        c->m->changes[c->m->count++] = (struct cw_change){at.problem, at.item, pass, 0, k + 1};
        follow(c, mark);
        return true;
    }
    cw_moves_undo(c->m, mark);
    return false;
}

/* Moves what is tied together to another pass, at worst in the place of counters that no group needs there and that
 * fit elsewhere. */
static bool move_tied(struct cheap *c, uint32_t from, uint32_t to, bool pressing)
{
    const struct cw_list list = {c->count, c->together};
    uint32_t mark = c->m->count, rehomed = c->rehomed_count;
    bool done = rehomed < MOST_REHOMED;
    for (uint32_t i = 0; i < c->count && done; i++) {
        struct cw_place at = c->m->places[c->together[i]];
        done = cw_moves_take(c->m, at.problem, at.item, from);
    }
    uint32_t taken = c->m->count;
    if (!done || (pressing && !cw_moves_clear(c->m, &list, to)) || !cw_moves_seat(c->m, &list, to)) {
        cw_moves_undo(c->m, mark);
        return false;
    }
    rehome_tied(c, from, to);
    cw_moves_lock(c->m, &list, to);
    done = cw_moves_settle_all(c->m, taken, to);
    cw_moves_unlock(c->m, &list, to);
    follow(c, mark);
    if (!done)
        take_back(c, mark, rehomed);
    return done;
}

/* Moves what is tied together to where it does not bring the cost: it is there already, or other ways to collect are
 * free. */
static bool move_away(struct cheap *c, uint32_t from, uint32_t cost)
{
    for (int pressing = 0; pressing < 2; pressing++)
        for (uint32_t to = 0; to < c->width && c->m->steps < c->m->most_steps; to++) {
            bool bears = *tally(c, to, cost) > 0;
            uint32_t mark = c->m->count, rehomed = c->rehomed_count;
            if (to == from || !move_tied(c, from, to, pressing))
                continue;
            if (bears || !*tally(c, to, cost))
                return true;
            take_back(c, mark, rehomed);
        }
    return false;
}

static uint32_t find(const struct cheap *c, uint32_t pass, uint32_t cost, struct cw_place *at)
{
    for (uint32_t p = 0; p < c->m->problems->count; p++) {
        const struct cw_packed *packed = c->m->packed[p];
        for (uint32_t i = 0; packed->problem->section == c->section && i < packed->passes[pass].count; i++) {
            uint32_t item = packed->passes[pass].items[i];
            if (costs_of(c, p, item, cw_packed_has(packed, item, pass)) >> cost & 1) {
                *at = (struct cw_place){p, item};
                return packed->problem->items[item].raw;
            }
        }
    }
    return CW_NONE;
}

/* Rids a pass of all that brings a cost, if the passes together become cheaper by it. */
static bool rid(struct cheap *c, uint32_t pass, uint32_t cost)
{
    uint64_t before = c->total;
    struct cw_place at;
    uint32_t raw;
    c->m->count = c->rehomed_count = 0;
    while ((raw = find(c, pass, cost, &at)) != CW_NONE)
        if (!recollect(c, at, pass, cost) && !(tie(c, raw, pass) && move_away(c, pass, cost)))
            break;
    if (raw == CW_NONE && c->total < before)
        return true;
    take_back(c, 0, 0);
    return false;
}

/* The passes that few counters bring the cost to first. */
static bool rid_some(struct cheap *c, uint32_t cost)
{
    bool changed = false;
    uint32_t most = 0;
    for (uint32_t k = 0; k < c->width; k++)
        most = *tally(c, k, cost) > most ? *tally(c, k, cost) : most;
    for (uint32_t n = 1; n <= most; n++)
        for (uint32_t k = 0; k < c->width && c->m->steps < c->m->most_steps; k++)
            if (*tally(c, k, cost) == n)
                changed |= rid(c, k, cost);
    return changed;
}

/* ---- all -------------------------------------------------------------------------------------------------------- */

static bool index_groups(struct cheap *c, struct cw_arena *arena)
{
    uint32_t total = 0;
    c->first = cw_arena_alloc(arena, (size_t)c->chip->raw_count + 2, sizeof *c->first);
    for (uint32_t g = 0; c->first && g < c->group_count; g++)
        for (uint32_t k = 0; k < c->groups[g].count; k++, total++)
            c->first[c->groups[g].items[k] + 2]++;
    c->of_raw = cw_arena_alloc(arena, total, sizeof *c->of_raw);
    if (!c->first || !c->of_raw)
        return false;
    for (uint32_t r = 2; r < c->chip->raw_count + 2; r++)
        c->first[r] += c->first[r - 1];
    for (uint32_t g = 0; g < c->group_count; g++)
        for (uint32_t k = 0; k < c->groups[g].count; k++)
            c->of_raw[c->first[c->groups[g].items[k] + 1]++] = g;
    return true;
}

enum cw_status cw_make_cheap(struct cw_moves *moves, const struct cw_chip *chip, const struct cw_list *groups,
                             uint32_t group_count, const uint32_t *pass_counts, struct cw_arena *arena,
                             struct cw_error *err)
{
    struct cheap c = {.m = moves, .chip = chip, .groups = groups, .group_count = group_count};
    uint32_t most = 0;
    for (uint32_t s = 0; s < moves->problems->section_count; s++)
        most = pass_counts[s] > most ? pass_counts[s] : most;
    c.tally = cw_arena_alloc(arena, (size_t)most * chip->pass_cost_count, sizeof *c.tally);
    c.together = cw_arena_alloc(arena, MOST_TOGETHER, sizeof *c.together);
    c.home = cw_arena_alloc(arena, group_count, sizeof *c.home);
    c.rehomed = cw_arena_alloc(arena, (size_t)MOST_REHOMED + group_count, sizeof *c.rehomed);
    if (!c.tally || !c.together || !c.home || !c.rehomed || !index_groups(&c, arena))
        return cw_error_nomem(err);
    settle_groups(&c);
    moves->most_steps = moves->steps + STEPS;
    for (c.section = 0; c.section < moves->problems->section_count; c.section++) {
        c.width = pass_counts[c.section];
        count_section(&c);
        for (bool changed = true; changed && moves->steps < moves->most_steps;) {
            changed = false;
            for (uint32_t cost = 0; cost < chip->pass_cost_count; cost++)
                changed |= rid_some(&c, cost);
        }
    }
    return CW_OK;
}
