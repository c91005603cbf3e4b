#include "passes/parts_spread.h"

#include <string.h>

enum where { THERE, BACK, FREE, ELSEWHERE, NOWHERE };

/* Where a part can have a raw counter from: it has it; a pass of it had it in the plan; a pass that is in no part had
 * it; else only by another pass. `pass` is that pass, `at` how the plan collects it. */
static enum where look_for(const struct cw_parts_spread *p, uint32_t part, uint32_t raw, uint32_t *pass,
                           const struct cw_placement **at)
{
    enum where found = NOWHERE;
    for (uint32_t i = 0; i < p->pass_count; i++) {
        const struct cw_parts_pass *own = &p->passes[i];
        bool planned = i < p->plan->pass_count;
        const struct cw_placement *before =
            planned ? cw_parts_find(p->plan->passes[i].placements, p->plan->passes[i].count, raw) : NULL;
        enum where here = own->part == part && cw_parts_find(own->placements, own->count, raw) ? THERE
                          : !before                                                            ? NOWHERE
                          : own->part == part                                                  ? BACK
                          : own->part == CW_PARTS_NONE                                         ? FREE
                                                                                               : ELSEWHERE;
        if (here < found) {
            found = here;
            *pass = i;
        }
        if (before && here <= found)
            *at = before;
    }
    return found;
}

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

/* A pass of the part that takes one more, or CW_PARTS_NONE. */
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

/* Where there is room, or into one more pass. */
static enum cw_status put_somewhere(struct cw_parts_spread *p, uint32_t part, const struct cw_placement *at)
{
    uint32_t pass;
    enum cw_status status = find_room(p, part, at, &pass);
    if (status != CW_OK)
        return status;
    if (pass == CW_PARTS_NONE)
        p->passes[pass = p->pass_count++] = (struct cw_parts_pass){.part = part};
    p->passes[pass].grown = true;
    return put(p, pass, at) ? CW_OK : cw_error_nomem(p->err);
}

enum { A_PASS = 1 << 16, A_MOVE = 2, A_PASS_OF_THE_PLAN = 1, TRIED = 4 };

/* What it takes to have all raw counters of a counter in a part: moves, and passes of the plan that were of no use yet;
 * where `exact`, above all passes more. CW_PARTS_NONE where it cannot be. */
static enum cw_status weigh(struct cw_parts_spread *p, uint32_t part, const struct cw_config_counter *counter,
                            bool exact, uint32_t *cost)
{
    const struct cw_placement *at = NULL;
    enum cw_status status = CW_OK;
    uint32_t pass = 0;
    bool nowhere = false;
    *cost = 0;
    for (uint32_t r = 0; r < counter->raw_count && status == CW_OK && !nowhere; r++) {
        enum where where = look_for(p, part, counter->raws[r], &pass, &at);
        nowhere = where == NOWHERE;
        if (where == ELSEWHERE && exact)
            status = find_room(p, part, at, &pass);
        *cost += where == ELSEWHERE ? pass == CW_PARTS_NONE ? A_PASS : A_MOVE : where == FREE ? A_PASS_OF_THE_PLAN : 0;
    }
    *cost = nowhere ? CW_PARTS_NONE : *cost;
    return status;
}

/* The part for which a counter takes the least, of the few that seem cheapest: asking hardware takes time. */
static enum cw_status choose_part(struct cw_parts_spread *p, const struct cw_config_counter *counter, uint32_t *best)
{
    uint32_t least = CW_PARTS_NONE, seems[TRIED] = {0}, parts[TRIED], count = 0;
    enum cw_status status = CW_OK;
    for (uint32_t part = 0; part < p->part_count && status == CW_OK; part++) {
        uint32_t cost, i;
        status = weigh(p, part, counter, false, &cost);
        for (i = count; i > 0 && seems[i - 1] > cost; i--)
            if (i < TRIED) {
                seems[i] = seems[i - 1];
                parts[i] = parts[i - 1];
            }
        if (i == TRIED || cost == CW_PARTS_NONE)
            continue;
        seems[i] = cost;
        parts[i] = part;
        count += count < TRIED;
    }
    *best = CW_PARTS_NONE;
    for (uint32_t i = 0; i < count && least >= A_PASS && status == CW_OK; i++) {
        uint32_t cost;
        status = weigh(p, parts[i], counter, true, &cost);
        *best = cost < least ? parts[i] : *best;
        least = cost < least ? cost : least;
    }
    return status;
}

/* All raw counters of a counter have to be in one part. */
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
        else if (where != THERE && !put(p, pass, at))
            status = cw_error_nomem(p->err);
    }
    return status;
}

enum cw_status cw_parts_place_spread(struct cw_parts_spread *p)
{
    enum cw_status status = CW_OK;
    for (uint32_t c = 0; c < p->plan->counter_count && status == CW_OK; c++)
        if (p->first_held[c] == CW_PARTS_NONE && p->plan->counters[c].raw_count)
            status = place_spread(p, &p->plan->counters[c]);
    return status;
}
