#include "passes/parts_spread.h"

#include <string.h>

enum where { THERE, BACK, FREE, ELSEWHERE, NOWHERE };

/* Finds the cheapest source of a raw counter for a part: the part has it; the plan gave it to one of the part's passes;
 * a pass outside all parts has it; else only a new pass. `pass` is the pass found, `at` the plan's placement. */
static enum where look_for(const struct cw_parts_spread *p, uint32_t part, uint32_t raw, uint32_t *pass,
                           const struct cw_placement **at)
{
    const struct cw_copies *copies = &p->index->copies;
    enum where found = NOWHERE;
    for (const struct cw_parts_place *place = p->places[raw]; place; place = place->next)
        if (p->passes[place->pass].part == part)
            return THERE;
    for (uint32_t k = copies->first[raw]; k < copies->first[raw + 1]; k++) {
        uint32_t before = p->passes[copies->items[k].pass].part;
        enum where here = before == part ? BACK : before == CW_PARTS_NONE ? FREE : ELSEWHERE;
        if (here < found) {
            found = here;
            *pass = copies->items[k].pass;
        }
        if (here == found)
            *at = copies->items[k].at;
    }
    return found;
}

/* Makes room for one more placement in a pass and puts it there provisionally. */
static bool put(struct cw_parts_spread *p, uint32_t pass, const struct cw_placement *at)
{
    struct cw_parts_pass *to = &p->passes[pass];
    if (to->count == to->room) {
        uint32_t room = 2 * to->room + 4;
        struct cw_placement *more = cw_arena_alloc(p->arena, room, sizeof *more);
        if (!more)
            return false;
        if (to->count)
            memcpy(more, to->placements, to->count * sizeof *more);
        to->placements = more;
        to->room = room;
    }
    to->placements[to->count++] = *at;
    return true;
}

/* Records that a pass has a raw counter for good. */
static bool note(struct cw_parts_spread *p, uint32_t pass, uint32_t raw)
{
    struct cw_parts_place *place = cw_arena_alloc(p->scratch, 1, sizeof *place);
    if (!place)
        return false;
    *place = (struct cw_parts_place){p->places[raw], pass};
    p->places[raw] = place;
    return true;
}

static enum cw_status keep(struct cw_parts_spread *p, uint32_t pass, const struct cw_placement *at)
{
    return put(p, pass, at) && note(p, pass, at->raw) ? CW_OK : cw_error_nomem(p->err);
}

/* Finds a pass of the part with room for one more placement, or CW_PARTS_NONE. */
static enum cw_status find_room(struct cw_parts_spread *p, uint32_t part, const struct cw_placement *at,
                                uint32_t *found)
{
    *found = CW_PARTS_NONE;
    for (uint32_t i = 0; p->fits && i < p->pass_count; i++) {
        bool fits = false;
        if (p->passes[i].part != part)
            continue;
        if (!put(p, i, at))
            return cw_error_nomem(p->err);
        const struct cw_config_pass grown = {p->passes[i].count, p->passes[i].placements};
        enum cw_status status = p->fits(p->user, p->plan, &grown, &fits, p->err);
        p->passes[i].count--;
        if (fits)
            *found = i;
        if (status != CW_OK || fits)
            return status;
    }
    return CW_OK;
}

/* Puts a placement into a pass with room, or into a new one. */
static enum cw_status put_somewhere(struct cw_parts_spread *p, uint32_t part, const struct cw_placement *at)
{
    uint32_t pass;
    enum cw_status status = find_room(p, part, at, &pass);
    if (status != CW_OK)
        return status;
    if (pass == CW_PARTS_NONE) {
        status = cw_parts_check_count(p->pass_count + 1, p->err);
        if (status != CW_OK)
            return status;
        p->passes[pass = p->pass_count++] = (struct cw_parts_pass){.part = part};
    }
    p->passes[pass].grown = true;
    return keep(p, pass, at);
}

/* Costs: new passes above all; then moves, and unused passes of the plan. */
enum { A_MOVE = 2, A_PASS_OF_THE_PLAN = 1, TRIED = 4 };
#define A_PASS ((uint64_t)1 << 32)

/* Records a saving: a raw counter is free for a part that has it, or that has a pass to which the plan gave it. */
static void save(struct cw_parts_spread *p, uint32_t pass, uint32_t asked, uint64_t cost)
{
    uint32_t part = p->passes[pass].part;
    if (part == CW_PARTS_NONE || p->weighed[part].asked == asked)
        return;
    p->weighed[part].asked = asked;
    p->weighed[part].cost -= cost;
}

/* Estimates for each part the cost of having all raw counters of a counter, if the part has room. False if no pass of
 * the plan has one of them. */
static bool weigh_all(struct cw_parts_spread *p, const struct cw_config_counter *counter)
{
    const struct cw_copies *copies = &p->index->copies;
    uint64_t all = 0;
    for (uint32_t part = 0; part < p->part_count; part++)
        p->weighed[part].cost = 0;
    for (uint32_t r = 0; r < counter->raw_count; r++) {
        uint32_t raw = counter->raws[r], first = copies->first[raw], end = copies->first[raw + 1], k = first;
        while (k < end && p->passes[copies->items[k].pass].part != CW_PARTS_NONE)
            k++;
        uint64_t cost = k < end ? A_PASS_OF_THE_PLAN : A_MOVE;
        if (first == end)
            return false;
        all += cost;
        p->asked++;
        for (const struct cw_parts_place *place = p->places[raw]; place; place = place->next)
            save(p, place->pass, p->asked, cost);
        for (k = first; k < end; k++)
            save(p, copies->items[k].pass, p->asked, cost);
    }
    for (uint32_t part = 0; part < p->part_count; part++)
        p->weighed[part].cost += all; /* savings so far wrapped below 0 */
    return true;
}

/* Computes the exact cost in one part by asking the hardware's limits. */
static enum cw_status weigh(struct cw_parts_spread *p, uint32_t part, const struct cw_config_counter *counter,
                            uint64_t *cost)
{
    const struct cw_placement *at = NULL;
    enum cw_status status = CW_OK;
    uint32_t pass = 0;
    *cost = 0;
    for (uint32_t r = 0; r < counter->raw_count && status == CW_OK; r++) {
        enum where where = look_for(p, part, counter->raws[r], &pass, &at);
        if (where == ELSEWHERE)
            status = find_room(p, part, at, &pass);
        *cost += where == ELSEWHERE ? pass == CW_PARTS_NONE ? A_PASS : A_MOVE : where == FREE ? A_PASS_OF_THE_PLAN : 0;
    }
    return status;
}

/* Chooses the part with the least cost for a counter. Checks only the few with the least estimates, because checking
 * takes time. */
static enum cw_status choose_part(struct cw_parts_spread *p, const struct cw_config_counter *counter, uint32_t *best)
{
    uint64_t least = UINT64_MAX;
    uint32_t parts[TRIED], count = 0;
    enum cw_status status = CW_OK;
    *best = CW_PARTS_NONE;
    if (!weigh_all(p, counter))
        return CW_OK;
    for (uint32_t part = 0; part < p->part_count; part++) {
        uint32_t i = count;
        for (; i > 0 && p->weighed[parts[i - 1]].cost > p->weighed[part].cost; i--)
            if (i < TRIED)
                parts[i] = parts[i - 1];
        if (i < TRIED)
            parts[i] = part;
        count += count < TRIED;
    }
    for (uint32_t i = 0; i < count && least >= A_PASS && status == CW_OK; i++) {
        uint64_t cost;
        status = weigh(p, parts[i], counter, &cost);
        *best = cost < least ? parts[i] : *best;
        least = cost < least ? cost : least;
    }
    return status;
}

/* Puts all raw counters of a counter into one part. */
static enum cw_status place_spread(struct cw_parts_spread *p, const struct cw_config_counter *counter)
{
    uint32_t part, pass = 0;
    const struct cw_placement *at = NULL;
    enum cw_status status = choose_part(p, counter, &part);
    for (uint32_t r = 0; part != CW_PARTS_NONE && r < counter->raw_count && status == CW_OK; r++) {
        enum where where = look_for(p, part, counter->raws[r], &pass, &at);
        if (where == FREE)
            p->passes[pass].part = part;
        if (where == ELSEWHERE || (where != THERE && p->passes[pass].grown))
            status = put_somewhere(p, part, at);
        else if (where != THERE)
            status = keep(p, pass, at);
    }
    return status;
}

enum cw_status cw_parts_place_spread(struct cw_parts_spread *p)
{
    enum cw_status status = CW_OK;
    p->places = cw_arena_alloc(p->scratch, p->plan->raw_count, sizeof *p->places);
    p->weighed = cw_arena_alloc(p->scratch, p->part_count, sizeof *p->weighed);
    bool good = p->places && p->weighed;
    for (uint32_t i = 0; i < p->pass_count && good; i++)
        for (uint32_t k = 0; k < p->passes[i].count && good; k++)
            good = note(p, i, p->passes[i].placements[k].raw);
    if (!good)
        return cw_error_nomem(p->err);
    for (uint32_t c = 0; c < p->plan->counter_count && status == CW_OK; c++)
        if (p->first_held[c] == CW_PARTS_NONE && p->plan->counters[c].raw_count)
            status = place_spread(p, &p->plan->counters[c]);
    return status;
}
