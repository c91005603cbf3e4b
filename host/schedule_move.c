#include "host/schedule_move.h"

#include <string.h>

enum {
    SEATINGS = 256, /* ways to collect its counters tried for a group in a pass */
    MOST_TOGETHER = 256,
    MOST_CHANGES = 1 << 14,
};

bool cw_moves_init(struct cw_moves *m, struct cw_packed **packed, const struct cw_problems *problems,
                   const struct cw_place *places, uint32_t most_steps, struct cw_arena *arena)
{
    *m = (struct cw_moves){.packed = packed,
                           .problems = problems,
                           .places = places,
                           .changes = cw_arena_alloc(arena, MOST_CHANGES, sizeof *m->changes),
                           .room = MOST_CHANGES,
                           .together = cw_arena_alloc(arena, MOST_TOGETHER, sizeof *m->together),
                           .most_steps = most_steps};
    return m->changes && m->together;
}

bool cw_moves_add(struct cw_moves *m, uint32_t problem, uint32_t item, uint32_t pass)
{
    m->steps++;
    if (m->count == m->room || !cw_packed_add(m->packed[problem], item, pass))
        return false;
    m->changes[m->count++] = (struct cw_change){problem, item, pass, 0, cw_packed_has(m->packed[problem], item, pass)};
    return true;
}

bool cw_moves_take(struct cw_moves *m, uint32_t problem, uint32_t item, uint32_t pass)
{
    if (m->count == m->room)
        return false;
    m->changes[m->count++] = (struct cw_change){problem, item, pass, cw_packed_has(m->packed[problem], item, pass), 0};
    cw_packed_take(m->packed[problem], item, pass);
    return true;
}

void cw_moves_undo(struct cw_moves *m, uint32_t mark)
{
    while (m->count > mark) {
        const struct cw_change *c = &m->changes[--m->count];
        if (c->had)
            cw_packed_put(m->packed[c->problem], c->item, c->pass, c->had);
        else
            cw_packed_take(m->packed[c->problem], c->item, c->pass);
    }
}

bool cw_moves_clear(struct cw_moves *m, const struct cw_list *group, uint32_t pass)
{
    for (uint32_t k = 0; k < group->count; k++) {
        struct cw_place at = m->places[group->items[k]];
        struct cw_packed *p = m->packed[at.problem];
        for (uint32_t i = p->passes[pass].count; i-- > 0;) {
            uint32_t item = p->passes[pass].items[i];
            if (!*cw_packed_lock(p, item, pass) && !cw_moves_take(m, at.problem, item, pass))
                return false;
        }
    }
    return true;
}

/* From its k-th counter on, `tries` ways to collect them at most. */
static bool seat_from(struct cw_moves *m, const struct cw_list *group, uint32_t k, uint32_t pass, uint32_t *tries)
{
    if (k == group->count)
        return true;
    struct cw_place at = m->places[group->items[k]];
    struct cw_packed *p = m->packed[at.problem];
    if (cw_packed_has(p, at.item, pass))
        return seat_from(m, group, k + 1, pass, tries);
    const struct cw_item *item = &p->problem->items[at.item];
    for (uint32_t c = 0; c < item->choice_count && *tries && m->count < m->room; c++) {
        uint32_t mark = m->count;
        m->steps++;
        --*tries;
        if (!cw_filling_fits(&p->passes[pass], p->problem, item->choices[c].class_))
            continue;
        cw_packed_put(p, at.item, pass, 1 + c);
        m->changes[m->count++] = (struct cw_change){at.problem, at.item, pass, 0, 1 + c};
        if (seat_from(m, group, k + 1, pass, tries))
            return true;
        cw_moves_undo(m, mark);
    }
    return false;
}

bool cw_moves_seat(struct cw_moves *m, const struct cw_list *group, uint32_t pass)
{
    uint32_t tries = SEATINGS;
    return seat_from(m, group, 0, pass, &tries);
}

bool cw_moves_settle(struct cw_moves *m, uint32_t problem, uint32_t item, uint32_t near)
{
    struct cw_packed *p = m->packed[problem];
    for (uint32_t k = 0; k < p->pass_count; k++) /* `near` first */
        if (cw_moves_add(m, problem, item, (near + k) % p->pass_count))
            return true;
    for (uint32_t k = 0; k < p->pass_count && m->steps < m->most_steps; k++)
        for (uint32_t i = p->passes[k].count; i-- > 0;) {
            uint32_t other = p->passes[k].items[i], mark = m->count;
            if (*cw_packed_lock(p, other, k) || !cw_moves_take(m, problem, other, k))
                continue;
            if (cw_moves_add(m, problem, item, k)) {
                if (p->stands[other])
                    return true;
                for (uint32_t to = 0; to < p->pass_count; to++)
                    if (to != k && cw_moves_add(m, problem, other, to))
                        return true;
            }
            cw_moves_undo(m, mark);
        }
    return false;
}

static uint32_t ways(const struct cw_moves *m, uint32_t raw)
{
    return m->problems->items[m->places[raw].problem].items[m->places[raw].item].choice_count;
}

bool cw_moves_reseat(struct cw_moves *m, const struct cw_list *group, uint32_t pass)
{
    uint32_t n = 0, tries = SEATINGS, first = m->count;
    bool done = true;
    for (uint32_t k = 0; k < group->count; k++) {
        struct cw_place at = m->places[group->items[k]];
        struct cw_packed *p = m->packed[at.problem];
        if (!cw_packed_has(p, at.item, pass))
            m->together[n++] = group->items[k];
        while (done && p->passes[pass].count) {
            uint32_t item = p->passes[pass].items[p->passes[pass].count - 1];
            done = cw_moves_take(m, at.problem, item, pass);
        }
    }
    for (uint32_t k = first; k < m->count; k++) {
        uint32_t raw = m->problems->items[m->changes[k].problem].items[m->changes[k].item].raw;
        bool listed = false;
        for (uint32_t i = 0; i < n && !listed; i++)
            listed = m->together[i] == raw;
        if (!listed && n < MOST_TOGETHER)
            m->together[n++] = raw;
    }
    /* the fewer ways there are to collect it, the earlier */
    for (uint32_t i = 1; i < n; i++)
        for (uint32_t k = i; k && ways(m, m->together[k - 1]) > ways(m, m->together[k]); k--) {
            uint32_t moved = m->together[k];
            m->together[k] = m->together[k - 1];
            m->together[k - 1] = moved;
        }
    done = done && n < MOST_TOGETHER && seat_from(m, &(struct cw_list){n, m->together}, 0, pass, &tries);
    if (!done)
        cw_moves_undo(m, first);
    return done;
}

uint32_t cw_moves_missing(const struct cw_moves *m, const struct cw_list *group, uint32_t pass)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < group->count; k++) {
        struct cw_place at = m->places[group->items[k]];
        n += !cw_packed_has(m->packed[at.problem], at.item, pass);
    }
    return n;
}

bool cw_moves_settle_all(struct cw_moves *m, uint32_t mark, uint32_t near)
{
    for (uint32_t k = mark, end = m->count; k < end; k++) {
        const struct cw_change *c = &m->changes[k];
        if (c->had && !m->packed[c->problem]->stands[c->item] && !cw_moves_settle(m, c->problem, c->item, near))
            return false;
    }
    return true;
}

void cw_moves_lock(struct cw_moves *m, const struct cw_list *group, uint32_t pass)
{
    for (uint32_t k = 0; k < group->count; k++) {
        struct cw_place at = m->places[group->items[k]];
        ++*cw_packed_lock(m->packed[at.problem], at.item, pass);
    }
}

void cw_moves_unlock(struct cw_moves *m, const struct cw_list *group, uint32_t pass)
{
    for (uint32_t k = 0; k < group->count; k++) {
        struct cw_place at = m->places[group->items[k]];
        --*cw_packed_lock(m->packed[at.problem], at.item, pass);
    }
}
