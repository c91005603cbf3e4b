/* Where the raw counters of a plan stand, and the plan without repetition. */
#include <stdlib.h>

#include "image/parts_work.h"

/* ---- places ----------------------------------------------------------------------------------------------------- */

bool cw_parts_list_places(struct cw_parts_places *places, const struct cw_config_image *plan, struct cw_arena *arena)
{
    size_t total = 0;
    for (uint32_t p = 0; p < plan->pass_count; p++)
        total += plan->passes[p].count;
    uint32_t *first = cw_arena_alloc(arena, (size_t)plan->raw_count + 2, sizeof *first);
    /* in the pass of this number, from 1; in the second round, from one more than there are */
    uint32_t *seen = cw_arena_alloc(arena, plan->raw_count, sizeof *seen);
    uint32_t *pair_of = cw_arena_alloc(arena, plan->domain_count, sizeof *pair_of);
    struct cw_parts_place *items = cw_arena_alloc(arena, total, sizeof *items);
    *places = (struct cw_parts_places){first, items, 0};
    if (!first || !seen || !pair_of || !items)
        return false;
    for (uint32_t p = 0; p < plan->pass_count; p++)
        for (uint32_t k = 0; k < plan->passes[p].count; k++) {
            uint32_t raw = plan->passes[p].placements[k].raw;
            first[raw + 2] += seen[raw] != p + 1;
            seen[raw] = p + 1;
        }
    for (uint32_t r = 0; r < plan->raw_count; r++)
        first[r + 2] += first[r + 1];
    for (uint32_t p = 0, before = 1; p < plan->pass_count; p++, before = places->pair_count + 1)
        for (uint32_t k = 0; k < plan->passes[p].count; k++) {
            const struct cw_placement *at = &plan->passes[p].placements[k];
            if (pair_of[at->domain] < before)
                pair_of[at->domain] = ++places->pair_count;
            if (seen[at->raw] != plan->pass_count + p + 1) /* once, though it has several domains */
                items[first[at->raw + 1]++] = (struct cw_parts_place){p, pair_of[at->domain] - 1, at};
            seen[at->raw] = plan->pass_count + p + 1;
        }
    return true;
}

static int by_pass(const void *a, const void *b)
{
    const struct cw_parts_place *x = a, *y = b;
    return (x->pass > y->pass) - (x->pass < y->pass);
}

static const struct cw_parts_place *find(const struct cw_parts_places *places, uint32_t raw, uint32_t pass)
{
    uint32_t first = places->first[raw], count = places->first[raw + 1] - first;
    const struct cw_parts_place wanted = {.pass = pass};
    return count ? bsearch(&wanted, places->items + first, count, sizeof wanted, by_pass) : NULL;
}

/* ---- without repetition ----------------------------------------------------------------------------------------- */

enum { UNDECIDED = UINT32_MAX };

struct sized { /* a counter of the plan */
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
    struct cw_parts_places places;
    uint32_t *kept_in;      /* of each raw counter: the pass that it is left to, or UNDECIDED */
    bool *used;             /* of each pair of a pass and a domain: something that stays is collected there */
    uint32_t *marked, mark; /* of each pair: the question that counted it last */
};

static void leave(struct single *s, uint32_t raw, const struct cw_parts_place *place)
{
    s->kept_in[raw] = place->pass;
    s->used[place->pair] = true;
}

/* How many domains more a pass has with these raw counters; UNDECIDED where it lacks one, or has to leave it to another
 * pass. */
static uint32_t domains_more(struct single *s, uint32_t pass, const uint32_t *raws, uint32_t raw_count)
{
    uint32_t more = 0;
    s->mark++;
    for (uint32_t r = 0; r < raw_count; r++) {
        const struct cw_parts_place *place = find(&s->places, raws[r], pass);
        if (!place || (s->kept_in[raws[r]] != UNDECIDED && s->kept_in[raws[r]] != pass))
            return UNDECIDED;
        more += !s->used[place->pair] && s->marked[place->pair] != s->mark;
        s->marked[place->pair] = s->mark;
    }
    return more;
}

/* Leaves raw counters to a pass that has them all, where there is one: each domain costs time at every launch. */
static void choose_pass(struct single *s, const uint32_t *raws, uint32_t raw_count)
{
    uint32_t best = UNDECIDED, fewest = UNDECIDED, at = raw_count ? s->places.first[raws[0]] : 0;
    for (; raw_count && at < s->places.first[raws[0] + 1]; at++) {
        uint32_t more = domains_more(s, s->places.items[at].pass, raws, raw_count);
        if (more < fewest) {
            fewest = more;
            best = s->places.items[at].pass;
        }
    }
    for (uint32_t r = 0; r < raw_count && best != UNDECIDED; r++)
        leave(s, raws[r], find(&s->places, raws[r], best));
}

/* What stands once has no choice. */
static bool leave_uncopied(struct single *s, uint32_t raw_count)
{
    bool copied = false;
    for (uint32_t r = 0; r < raw_count; r++) {
        uint32_t first = s->places.first[r], count = s->places.first[r + 1] - first;
        s->kept_in[r] = UNDECIDED;
        if (count == 1)
            leave(s, r, &s->places.items[first]);
        copied |= count > 1;
    }
    return copied;
}

static bool keep_passes(const struct single *s, struct cw_config_image *single, struct cw_arena *arena)
{
    struct cw_config_pass *passes = cw_arena_alloc(arena, single->pass_count, sizeof *passes);
    uint32_t count = 0;
    for (uint32_t p = 0; passes && p < single->pass_count; p++) {
        const struct cw_config_pass *from = &single->passes[p];
        struct cw_placement *placements = cw_arena_alloc(arena, from->count, sizeof *placements);
        if (!placements)
            return false;
        passes[count] = (struct cw_config_pass){0, placements};
        for (uint32_t k = 0; k < from->count; k++)
            if (s->kept_in[from->placements[k].raw] == p)
                placements[passes[count].count++] = from->placements[k];
        count += passes[count].count > 0;
    }
    single->passes = passes;
    single->pass_count = count;
    single->native = NULL;
    return passes != NULL;
}

bool cw_parts_single(struct cw_config_image *single, const struct cw_config_image *plan, struct cw_arena *arena)
{
    struct single s = {.kept_in = cw_arena_alloc(arena, plan->raw_count, sizeof *s.kept_in)};
    *single = *plan;
    if (!s.kept_in || !cw_parts_list_places(&s.places, plan, arena))
        return false;
    s.used = cw_arena_alloc(arena, s.places.pair_count, 1);
    s.marked = cw_arena_alloc(arena, s.places.pair_count, sizeof *s.marked);
    struct sized *order = cw_arena_alloc(arena, plan->counter_count, sizeof *order);
    if (!s.used || !s.marked || !order)
        return false;
    if (!leave_uncopied(&s, plan->raw_count))
        return true;
    for (uint32_t c = 0; c < plan->counter_count; c++)
        order[c] = (struct sized){c, plan->counters[c].raw_count};
    qsort(order, plan->counter_count, sizeof *order, by_raws);
    for (uint32_t c = 0; c < plan->counter_count; c++)
        choose_pass(&s, plan->counters[order[c].counter].raws, plan->counters[order[c].counter].raw_count);
    for (uint32_t r = 0; r < plan->raw_count; r++)
        if (s.kept_in[r] == UNDECIDED)
            choose_pass(&s, &r, 1);
    return keep_passes(&s, single, arena);
}
