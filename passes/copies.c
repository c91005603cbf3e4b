#include "passes/copies.h"

#include <stdlib.h>

enum { NONE = UINT32_MAX };

/* ---- copies ----------------------------------------------------------------------------------------------------- */

static int by_pass(const void *a, const void *b)
{
    const struct cw_copy *x = a, *y = b;
    return (x->pass > y->pass) - (x->pass < y->pass);
}

/* The copy of a raw counter in a pass, or NULL. */
static const struct cw_copy *find(const struct cw_copies *copies, uint32_t raw, uint32_t pass)
{
    uint32_t first = copies->first[raw], count = copies->first[raw + 1] - first;
    const struct cw_copy wanted = {.pass = pass};
    return count ? bsearch(&wanted, copies->items + first, count, sizeof wanted, by_pass) : NULL;
}

/* Reduces passes to the copies to keep; removes passes that keep nothing. */
static bool keep_copies(struct cw_config_image *plan, const struct cw_copies *copies, const bool *kept,
                        struct cw_arena *arena)
{
    struct cw_config_pass *passes = cw_arena_alloc(arena, plan->pass_count, sizeof *passes);
    uint32_t count = 0;
    for (uint32_t p = 0; passes && p < plan->pass_count; p++) {
        const struct cw_config_pass *from = &plan->passes[p];
        struct cw_placement *placements = cw_arena_alloc(arena, from->count, sizeof *placements);
        if (!placements)
            return false;
        passes[count] = (struct cw_config_pass){0, placements};
        for (uint32_t k = 0; k < from->count; k++)
            if (kept[find(copies, from->placements[k].raw, p) - copies->items])
                placements[passes[count].count++] = from->placements[k];
        count += passes[count].count > 0;
    }
    plan->passes = passes;
    plan->pass_count = count;
    plan->native = NULL;
    return passes != NULL;
}

/* ---- bundles ---------------------------------------------------------------------------------------------------- */

uint32_t cw_copies_bundle(uint32_t *bond, uint32_t pass)
{
    for (; bond[pass] != pass; pass = bond[pass])
        bond[pass] = bond[bond[pass]]; /* shortens the chain for the next call */
    return pass;
}

void cw_copies_bind(const struct cw_copies *copies, uint32_t *bond, const struct cw_config_counter *counter)
{
    uint32_t with = NONE;
    for (uint32_t r = 0; r < counter->raw_count; r++)
        if (copies->first[counter->raws[r]] == copies->first[counter->raws[r] + 1])
            return;
    for (int copied = 0; copied < 2; copied++)
        for (uint32_t r = 0; r < counter->raw_count; r++) {
            uint32_t at = copies->first[counter->raws[r]], end = copies->first[counter->raws[r] + 1];
            if ((end - at > 1) != copied)
                continue;
            uint32_t pass = cw_copies_bundle(bond, copies->items[at].pass);
            for (; at < end && pass != with; at++)
                if (cw_copies_bundle(bond, copies->items[at].pass) == with)
                    pass = with;
            with = with == NONE ? pass : with;
            bond[pass] = with;
        }
}

/* ---- removing copies that cost passes --------------------------------------------------------------------------- */

enum state { OPEN, KEPT, PINNED, DROPPED }; /* only an open copy may be dropped */

struct dropping {
    struct cw_copies copies;
    uint8_t *state; /* by copy */
    uint32_t *bond; /* by pass */
};

static uint8_t *state_of(const struct dropping *d, const struct cw_copy *copy)
{
    return &d->state[copy - d->copies.items];
}

/* Whether some pass still holds all raw counters of a group; *pass is that pass. */
static bool is_held(const struct dropping *d, const struct cw_config_counter *group, uint32_t *pass)
{
    for (uint32_t k = d->copies.first[group->raws[0]]; k < d->copies.first[group->raws[0] + 1]; k++) {
        uint32_t n = 0;
        const struct cw_copy *copy;
        *pass = d->copies.items[k].pass;
        while (n < group->raw_count && (copy = find(&d->copies, group->raws[n], *pass)) &&
               *state_of(d, copy) != DROPPED)
            n++;
        if (n == group->raw_count)
            return true;
    }
    return false;
}

/* Keeps a raw counter in a pass and drops it from the other passes of the bundle, except where it is pinned. */
static void keep(struct dropping *d, uint32_t raw, uint32_t pass)
{
    uint32_t bundle = cw_copies_bundle(d->bond, pass);
    for (uint32_t k = d->copies.first[raw]; k < d->copies.first[raw + 1]; k++)
        if (cw_copies_bundle(d->bond, d->copies.items[k].pass) == bundle && d->state[k] != PINNED)
            d->state[k] = d->copies.items[k].pass == pass ? KEPT : DROPPED;
}

static void pin(struct dropping *d, const struct cw_config_counter *group)
{
    uint32_t pass;
    bool held = group->raw_count && is_held(d, group, &pass);
    for (uint32_t k = 0; held && k < group->raw_count; k++)
        *state_of(d, find(&d->copies, group->raws[k], pass)) = PINNED;
}

static void decide(struct dropping *d, const struct cw_config_image *plan, const struct cw_config_counter *groups,
                   size_t group_count)
{
    for (size_t g = group_count; g-- > 0;) {
        uint32_t pass;
        if (groups[g].raw_count > 1 && is_held(d, &groups[g], &pass))
            for (uint32_t k = 0; k < groups[g].raw_count; k++)
                keep(d, groups[g].raws[k], pass);
    }
    for (uint32_t raw = 0; raw < plan->raw_count; raw++)
        for (uint32_t k = d->copies.first[raw]; k < d->copies.first[raw + 1]; k++)
            if (d->state[k] == OPEN)
                keep(d, raw, d->copies.items[k].pass);
}

static bool drop_some(struct cw_config_image *plan, const struct cw_config_counter *groups, size_t group_count,
                      size_t pinned, bool *dropped, struct cw_arena *arena)
{
    struct dropping d = {.bond = cw_arena_alloc(arena, plan->pass_count, sizeof *d.bond)};
    uint32_t pass;
    if (!d.bond || !cw_copies_list(&d.copies, plan, arena))
        return false;
    uint32_t count = d.copies.first[plan->raw_count];
    bool *kept = cw_arena_alloc(arena, count, sizeof *kept);
    d.state = cw_arena_alloc(arena, count, 1);
    if (!kept || !d.state)
        return false;
    for (uint32_t p = 0; p < plan->pass_count; p++)
        d.bond[p] = p;
    for (size_t g = group_count - pinned; g < group_count; g++)
        pin(&d, &groups[g]);
    for (uint32_t c = 0; c < plan->counter_count; c++)
        if (plan->counters[c].raw_count > 1 && !is_held(&d, &plan->counters[c], &pass))
            cw_copies_bind(&d.copies, d.bond, &plan->counters[c]);
    decide(&d, plan, groups, group_count);
    *dropped = false;
    for (uint32_t k = 0; k < count; k++) {
        kept[k] = d.state[k] != DROPPED;
        *dropped |= !kept[k];
    }
    return !*dropped || keep_copies(plan, &d.copies, kept, arena);
}

enum cw_status cw_copies_drop(struct cw_config_image *plan, const struct cw_config_counter *groups, size_t group_count,
                              size_t pinned, struct cw_arena *arena, struct cw_error *err)
{
    for (bool dropped = true; dropped;) /* dropping copies may spread a counter that was whole, so repeat */
        if (!drop_some(plan, groups, group_count, pinned, &dropped, arena))
            return cw_error_nomem(err);
    return CW_OK;
}

/* ---- removing all copies ---------------------------------------------------------------------------------------- */

struct sized { /* a counter of the plan, with the number of its raw counters */
    uint32_t counter, raws;
};

static int by_raws(const void *a, const void *b)
{
    const struct sized *x = a, *y = b;
    if (x->raws != y->raws)
        return x->raws > y->raws ? -1 : 1;
    return (x->counter > y->counter) - (x->counter < y->counter);
}

struct single {
    struct cw_copies copies;
    uint32_t *kept_in;      /* by raw counter: the pass that keeps it, or NONE */
    bool *used;             /* by pair of pass and domain: a kept raw counter is collected there */
    uint32_t *marked, mark; /* by pair: the last question that counted it */
};

static void leave(struct single *s, uint32_t raw, const struct cw_copy *copy)
{
    s->kept_in[raw] = copy->pass;
    s->used[copy->pair] = true;
}

/* Counts the domains that a list of raw counters adds to a pass; NONE if the pass lacks one or another pass keeps it. */
static uint32_t domains_more(struct single *s, uint32_t pass, const uint32_t *raws, uint32_t raw_count)
{
    uint32_t more = 0;
    s->mark++;
    for (uint32_t r = 0; r < raw_count; r++) {
        const struct cw_copy *copy = find(&s->copies, raws[r], pass);
        if (!copy || (s->kept_in[raws[r]] != NONE && s->kept_in[raws[r]] != pass))
            return NONE;
        more += !s->used[copy->pair] && s->marked[copy->pair] != s->mark;
        s->marked[copy->pair] = s->mark;
    }
    return more;
}

/* Leaves raw counters to one pass that has them all, if there is one, the pass that needs the fewest additional
 * domains: each domain costs time at every launch. */
static void choose_pass(struct single *s, const uint32_t *raws, uint32_t raw_count)
{
    uint32_t best = NONE, fewest = NONE, at = raw_count ? s->copies.first[raws[0]] : 0;
    for (; raw_count && at < s->copies.first[raws[0] + 1]; at++) {
        uint32_t more = domains_more(s, s->copies.items[at].pass, raws, raw_count);
        if (more < fewest) {
            fewest = more;
            best = s->copies.items[at].pass;
        }
    }
    for (uint32_t r = 0; r < raw_count && best != NONE; r++)
        leave(s, raws[r], find(&s->copies, raws[r], best));
}

/* Keeps raw counters that stand in one pass only: they leave no choice. */
static bool leave_uncopied(struct single *s, uint32_t raw_count)
{
    bool copied = false;
    for (uint32_t r = 0; r < raw_count; r++) {
        uint32_t first = s->copies.first[r], count = s->copies.first[r + 1] - first;
        s->kept_in[r] = NONE;
        if (count == 1)
            leave(s, r, &s->copies.items[first]);
        copied |= count > 1;
    }
    return copied;
}

bool cw_copies_drop_all(struct cw_config_image *single, const struct cw_config_image *plan, struct cw_arena *arena)
{
    struct single s = {.kept_in = cw_arena_alloc(arena, plan->raw_count, sizeof *s.kept_in)};
    *single = *plan;
    if (!s.kept_in || !cw_copies_list(&s.copies, plan, arena))
        return false;
    s.used = cw_arena_alloc(arena, s.copies.pair_count, 1);
    s.marked = cw_arena_alloc(arena, s.copies.pair_count, sizeof *s.marked);
    bool *kept = cw_arena_alloc(arena, s.copies.first[plan->raw_count], sizeof *kept);
    struct sized *order = cw_arena_alloc(arena, plan->counter_count, sizeof *order);
    if (!s.used || !s.marked || !kept || !order)
        return false;
    if (!leave_uncopied(&s, plan->raw_count))
        return true;
    for (uint32_t c = 0; c < plan->counter_count; c++)
        order[c] = (struct sized){c, plan->counters[c].raw_count};
    qsort(order, plan->counter_count, sizeof *order, by_raws);
    for (uint32_t c = 0; c < plan->counter_count; c++)
        choose_pass(&s, plan->counters[order[c].counter].raws, plan->counters[order[c].counter].raw_count);
    for (uint32_t r = 0; r < plan->raw_count; r++)
        if (s.kept_in[r] == NONE)
            choose_pass(&s, &r, 1);
    for (uint32_t r = 0; r < plan->raw_count; r++)
        for (uint32_t k = s.copies.first[r]; k < s.copies.first[r + 1]; k++)
            kept[k] = s.copies.items[k].pass == s.kept_in[r];
    return keep_copies(single, &s.copies, kept, arena);
}
