#include "host/plan_copies.h"

struct copies {
    const struct cw_chip *chip;
    struct cw_schedule *schedule;
    uint32_t *first; /* of raw counter r: its places are first[r] up to first[r + 1], by ascending passes */
    uint32_t *pass;  /* of each place */
    uint8_t *state;  /* of each place; only one that is open may still go: */
    uint32_t *bond;  /* of each pass: one that is collected with it; the last one's is its own */
};
enum { OPEN, KEPT, PINNED, DROPPED };

static uint32_t raw_at(const struct copies *c, uint32_t pass, uint32_t k)
{
    return c->chip->placements[c->schedule->passes[pass].placements[k]].raw;
}

static bool index_places(struct copies *c, struct cw_arena *arena)
{
    uint32_t total = 0, raws = c->chip->raw_count, passes = c->schedule->pass_count;
    for (uint32_t p = 0; p < passes; p++)
        total += c->schedule->passes[p].count;
    c->first = cw_arena_alloc(arena, (size_t)raws + 2, sizeof *c->first);
    c->pass = cw_arena_alloc(arena, total, sizeof *c->pass);
    c->state = cw_arena_alloc(arena, total, 1);
    c->bond = cw_arena_alloc(arena, passes, sizeof *c->bond);
    if (!c->first || !c->pass || !c->state || !c->bond)
        return false;
    for (uint32_t p = 0; p < passes; p++)
        for (uint32_t k = 0; k < c->schedule->passes[p].count; k++)
            c->first[raw_at(c, p, k) + 2]++;
    for (uint32_t r = 0; r < raws; r++)
        c->first[r + 2] += c->first[r + 1];
    for (uint32_t p = 0; p < passes; p++) {
        c->bond[p] = p;
        for (uint32_t k = 0; k < c->schedule->passes[p].count; k++)
            c->pass[c->first[raw_at(c, p, k) + 1]++] = p;
    }
    return true;
}

/* ---- passes that are collected as one --------------------------------------------------------------------------- */

static uint32_t bundle(const struct copies *c, uint32_t pass)
{
    while (c->bond[pass] != pass)
        pass = c->bond[pass];
    return pass;
}

/* Whether a pass has a raw counter, and where. */
static bool find(const struct copies *c, uint32_t raw, uint32_t pass, uint32_t *place)
{
    for (*place = c->first[raw]; *place < c->first[raw + 1]; ++*place)
        if (c->pass[*place] == pass)
            return true;
    return false;
}

/* Whether a pass still holds all raw counters of a list. */
static bool holds(const struct copies *c, const struct cw_list *raws, uint32_t pass)
{
    uint32_t place, n = 0;
    while (n < raws->count && find(c, raws->items[n], pass, &place) && c->state[place] != DROPPED)
        n++;
    return n == raws->count;
}

static bool is_held(const struct copies *c, const struct cw_list *raws, uint32_t *pass)
{
    for (uint32_t place = c->first[raws->items[0]]; place < c->first[raws->items[0] + 1]; place++)
        if (holds(c, raws, *pass = c->pass[place]))
            return true;
    return false;
}

/* Of a raw counter with copies, one in a pass that is in the bundle already will do. */
static void bind(struct copies *c, const struct cw_list *raws)
{
    uint32_t with = CW_NONE, pass;
    if (raws->count < 2 || is_held(c, raws, &pass))
        return;
    for (int copied = 0; copied < 2; copied++)
        for (uint32_t k = 0; k < raws->count; k++) {
            uint32_t place = c->first[raws->items[k]], end = c->first[raws->items[k] + 1];
            if (place == end || (end - place > 1) != copied)
                continue;
            pass = bundle(c, c->pass[place]);
            for (; with != CW_NONE && pass != with && place < end; place++)
                if (bundle(c, c->pass[place]) == with)
                    pass = with;
            with = with == CW_NONE ? pass : with;
            c->bond[pass] = with;
        }
}

/* ---- what stays ------------------------------------------------------------------------------------------------- */

/* A raw counter stays in a pass, and in no other of its bundle but where it is pinned. */
static void keep(struct copies *c, uint32_t raw, uint32_t pass)
{
    for (uint32_t place = c->first[raw]; place < c->first[raw + 1]; place++)
        if (bundle(c, c->pass[place]) == bundle(c, pass) && c->state[place] != PINNED)
            c->state[place] = c->pass[place] == pass ? KEPT : DROPPED;
}

static void pin(struct copies *c, const struct cw_list *group)
{
    uint32_t pass, place;
    bool held = group->count && is_held(c, group, &pass);
    for (uint32_t k = 0; held && k < group->count; k++)
        if (find(c, group->items[k], pass, &place))
            c->state[place] = PINNED;
}

static void decide(struct copies *c, const struct cw_list *groups, size_t group_count)
{
    for (size_t g = group_count; g-- > 0;) {
        uint32_t pass;
        if (groups[g].count > 1 && is_held(c, &groups[g], &pass))
            for (uint32_t k = 0; k < groups[g].count; k++)
                keep(c, groups[g].items[k], pass);
    }
    for (uint32_t raw = 0; raw < c->chip->raw_count; raw++)
        for (uint32_t place = c->first[raw]; place < c->first[raw + 1]; place++)
            if (c->state[place] == OPEN)
                keep(c, raw, c->pass[place]);
}

/* Passes of what stays; one that nothing stays in is gone. *dropped says whether anything is gone. */
static bool rewrite(struct copies *c, bool *dropped, struct cw_arena *arena)
{
    struct cw_pass *passes = cw_arena_alloc(arena, c->schedule->pass_count, sizeof *passes);
    uint32_t count = 0;
    *dropped = false;
    for (uint32_t p = 0; passes && p < c->schedule->pass_count; p++) {
        const struct cw_pass *from = &c->schedule->passes[p];
        uint32_t place, kept = 0, *placements = cw_arena_alloc(arena, from->count, sizeof *placements);
        if (!placements)
            return false;
        for (uint32_t k = 0; k < from->count; k++)
            if (find(c, raw_at(c, p, k), p, &place) && c->state[place] != DROPPED)
                placements[kept++] = from->placements[k];
        *dropped |= kept < from->count;
        passes[count] = (struct cw_pass){kept, placements};
        count += kept > 0;
    }
    c->schedule->passes = passes;
    c->schedule->pass_count = count;
    return passes != NULL;
}

enum cw_status cw_plan_drop_copies(struct cw_schedule *schedule, const struct cw_chip *chip,
                                   const struct cw_list *counters, size_t counter_count, const struct cw_list *groups,
                                   size_t group_count, size_t pinned, struct cw_arena *arena, struct cw_error *err)
{
    for (bool dropped = true; dropped;) { /* a counter that was whole may be spread by it */
        struct copies c = {.chip = chip, .schedule = schedule};
        if (!index_places(&c, arena))
            return cw_error_nomem(err);
        for (size_t g = group_count - pinned; g < group_count; g++)
            pin(&c, &groups[g]);
        for (size_t i = 0; i < counter_count; i++)
            bind(&c, &counters[i]);
        decide(&c, groups, group_count);
        if (!rewrite(&c, &dropped, arena))
            return cw_error_nomem(err);
    }
    return CW_OK;
}
