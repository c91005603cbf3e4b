#include "host/schedule_packed.h"

struct cw_packed *cw_packed_create(const struct cw_problem *problem, const struct cw_packing *packing,
                                   const uint32_t *pass_map, uint32_t pass_count, uint32_t room, struct cw_arena *arena)
{
    struct cw_packed *p = cw_arena_alloc(arena, 1, sizeof *p);
    if (!p)
        return NULL;
    size_t places = (size_t)room * problem->item_count;
    *p = (struct cw_packed){.problem = problem,
                            .room = room,
                            .passes = cw_arena_alloc(arena, room, sizeof *p->passes),
                            .choice = cw_arena_alloc(arena, places, sizeof *p->choice),
                            .locks = cw_arena_alloc(arena, places, sizeof *p->locks),
                            .stands = cw_arena_alloc(arena, problem->item_count, sizeof *p->stands),
                            .arena = arena};
    if (!p->passes || !p->choice || !p->locks || !p->stands)
        return NULL;
    while (p->pass_count < pass_count)
        if (!cw_packed_open(p))
            return NULL;
    for (uint32_t i = 0; packing && i < problem->item_count; i++)
        cw_packed_put(p, i, pass_map[packing->pass_of[i]], 1 + packing->choice_of[i]);
    return p;
}

bool cw_packed_open(struct cw_packed *p)
{
    return cw_filling_init(&p->passes[p->pass_count++], p->problem, p->arena);
}

static size_t place(const struct cw_packed *p, uint32_t item, uint32_t pass)
{
    return (size_t)pass * p->problem->item_count + item;
}

uint32_t cw_packed_has(const struct cw_packed *p, uint32_t item, uint32_t pass)
{
    return p->choice[place(p, item, pass)];
}

uint32_t *cw_packed_lock(struct cw_packed *p, uint32_t item, uint32_t pass)
{
    return &p->locks[place(p, item, pass)];
}

bool cw_packed_add(struct cw_packed *p, uint32_t item, uint32_t pass)
{
    const struct cw_item *it = &p->problem->items[item];
    for (uint32_t k = 0; k < it->choice_count; k++)
        if (cw_filling_fits(&p->passes[pass], p->problem, it->choices[k].class_)) {
            cw_packed_put(p, item, pass, 1 + k);
            return true;
        }
    return false;
}

void cw_packed_put(struct cw_packed *p, uint32_t item, uint32_t pass, uint32_t has)
{
    cw_filling_put(&p->passes[pass], p->problem, item, has - 1);
    p->choice[place(p, item, pass)] = (uint16_t)has;
    p->stands[item]++;
}

void cw_packed_take(struct cw_packed *p, uint32_t item, uint32_t pass)
{
    cw_filling_take(&p->passes[pass], p->problem, item, cw_packed_has(p, item, pass) - 1u);
    p->choice[place(p, item, pass)] = 0;
    p->stands[item]--;
}
