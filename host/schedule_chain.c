#include "host/schedule_chain.h"

#include <string.h>

enum {
    CHAIN_STEPS = 60000, /* placements tried in ejection chains for one eliminated pass */
    CHAIN_DEPTH = 2,
    CHOICE_STEPS = 2000, /* placements tried while the items of one pass choose anew */
    MOST_CHOOSING = 16,  /* items that may be collected otherwise */
};

static bool insert(struct cw_pack *p, uint32_t item, int depth, const uint32_t *banned, int banned_count);

struct choosing { /* items of one pass, the first one is new */
    uint32_t count, items[MOST_CHOOSING], steps;
};

static bool choose(struct cw_pack *p, struct choosing *c, uint32_t to, uint32_t at)
{
    if (at == c->count)
        return true;
    const struct cw_item *it = &p->problem->items[c->items[at]];
    for (uint32_t k = 0; k < it->choice_count && c->steps++ < CHOICE_STEPS; k++) {
        if (!cw_pack_fits(p, to, it->choices[k].class_))
            continue;
        cw_pack_put(p, to, c->items[at], k);
        if (choose(p, c, to, at + 1))
            return true;
        cw_pack_take(p, c->items[at]);
    }
    return false;
}

/* Puts an item into a pass of which others are collected otherwise than before. */
static bool choose_anew(struct cw_pack *p, uint32_t item, uint32_t to)
{
    struct choosing c = {.count = 1, .items = {item}};
    uint32_t old[MOST_CHOOSING];
    for (uint32_t k = 0; k < p->passes[to].count; k++)
        if (p->problem->items[p->passes[to].items[k]].choice_count > 1) {
            if (c.count == MOST_CHOOSING)
                return false;
            old[c.count] = p->choice_of[p->passes[to].items[k]];
            c.items[c.count++] = p->passes[to].items[k];
        }
    for (uint32_t k = 1; k < c.count; k++)
        cw_pack_take(p, c.items[k]);
    bool found = choose(p, &c, to, 0);
    p->steps += c.steps;
    for (uint32_t k = 1; k < c.count && !found; k++)
        cw_pack_put(p, to, c.items[k], old[k]);
    return found;
}

static bool is_banned(uint32_t pass, const uint32_t *banned, int count)
{
    for (int k = 0; k < count; k++)
        if (banned[k] == pass)
            return true;
    return false;
}

/* Puts an item in the place of one other, if that one finds a place elsewhere. */
static bool swap_in(struct cw_pack *p, uint32_t item, uint32_t choice, uint32_t to, int depth, const uint32_t *banned,
                    int banned_count)
{
    uint32_t class_ = p->problem->items[item].choices[choice].class_;
    uint32_t next[CHAIN_DEPTH + 2];
    if (banned_count)
        memcpy(next, banned, (size_t)banned_count * sizeof *next);
    next[banned_count] = to;
    for (uint32_t k = 0; k < p->passes[to].count && p->steps < CHAIN_STEPS; k++) {
        uint32_t victim = p->passes[to].items[k], old = p->choice_of[victim];
        p->steps++;
        cw_pack_take(p, victim);
        if (cw_pack_fits(p, to, class_)) {
            cw_pack_put(p, to, item, choice);
            if (insert(p, victim, depth - 1, next, banned_count + 1))
                return true;
            cw_pack_take(p, item);
        }
        cw_pack_put(p, to, victim, old); /* goes to the end of the list: count the others from the start again */
        uint32_t *items = p->passes[to].items, last = p->passes[to].count - 1;
        memmove(items + k + 1, items + k, (last - k) * sizeof *items);
        items[k] = victim;
    }
    return false;
}

static bool insert(struct cw_pack *p, uint32_t item, int depth, const uint32_t *banned, int banned_count)
{
    const struct cw_item *it = &p->problem->items[item];
    for (uint32_t to = 0; to < p->pass_count; to++)
        for (uint32_t k = 0; k < it->choice_count && !is_banned(to, banned, banned_count); k++) {
            p->steps++;
            if (cw_pack_fits(p, to, it->choices[k].class_)) {
                cw_pack_put(p, to, item, k);
                return true;
            }
        }
    for (uint32_t to = 0; depth == CHAIN_DEPTH && to < p->pass_count && p->steps < CHAIN_STEPS; to++)
        if (choose_anew(p, item, to))
            return true;
    for (uint32_t to = 0; depth && to < p->pass_count; to++)
        for (uint32_t k = 0; k < it->choice_count && !is_banned(to, banned, banned_count); k++) {
            if (p->steps >= CHAIN_STEPS)
                return false;
            if (swap_in(p, item, k, to, depth, banned, banned_count))
                return true;
        }
    return false;
}

bool cw_chain_insert(struct cw_pack *p, uint32_t item)
{
    return insert(p, item, CHAIN_DEPTH, NULL, 0);
}
