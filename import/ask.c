#include "import/ask.h"

#include <string.h>

bool cw_ask_ok(const struct cw_ask *ask)
{
    return ask->status == CW_OK;
}

void *cw_ask_array(struct cw_ask *ask, size_t count, size_t size)
{
    void *p = cw_ask_ok(ask) ? cw_arena_alloc(ask->arena, count, size) : NULL;
    if (!p && cw_ask_ok(ask))
        ask->status = cw_error_nomem(ask->err);
    return p;
}

uint32_t *cw_ask_nones(struct cw_ask *ask, size_t count)
{
    uint32_t *numbers = cw_ask_array(ask, count, sizeof *numbers);
    for (size_t i = 0; numbers && i < count; i++)
        numbers[i] = CW_NONE;
    return numbers;
}

void *cw_ask_grown(struct cw_ask *ask, void *items, uint32_t count, uint32_t *room, size_t size)
{
    if (count < *room)
        return items;
    *room = 2 * *room + 256;
    void *grown = cw_ask_array(ask, *room, size);
    if (grown && count)
        memcpy(grown, items, count * size);
    return grown;
}

uint32_t cw_ask_draw(uint64_t *random, uint32_t n)
{
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    return (uint32_t)((*random >> 20) % n);
}

uint32_t cw_ask_random(struct cw_ask *ask, uint32_t n)
{
    return cw_ask_draw(&ask->random, n);
}

bool cw_ask_fits(struct cw_ask *ask, const uint32_t *placements, uint32_t count)
{
    const struct cw_chip *chip = ask->chip;
    struct cw_nvperf_placement asked[CW_ASK_MOST];
    bool fits = false;
    if (!cw_ask_ok(ask) || count > CW_ASK_MOST)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const struct cw_chip_placement *p = &chip->placements[placements[i]];
        asked[i] = (struct cw_nvperf_placement){chip->raws[p->raw].id, chip->domains[p->domain].id};
    }
    ask->questions++;
    ask->status = cw_nvperf_fits(ask->scheduler, asked, count, &fits, ask->err);
    return cw_ask_ok(ask) && fits;
}

bool cw_ask_has_raw(const struct cw_ask *ask, const struct cw_ask_set *set, uint32_t placement, uint32_t except)
{
    const struct cw_chip_placement *p = ask->chip->placements;
    uint32_t i = 0;
    while (i < set->count && (i == except || p[set->items[i]].raw != p[placement].raw))
        i++;
    return i < set->count;
}

void cw_ask_minimize(struct cw_ask *ask, struct cw_ask_set *set)
{
    for (uint32_t i = 0; i < set->count && cw_ask_ok(ask);) {
        uint32_t dropped = set->items[i];
        size_t behind = (set->count - i - 1) * sizeof *set->items;
        memmove(set->items + i, set->items + i + 1, behind);
        if (!cw_ask_fits(ask, set->items, set->count - 1)) {
            set->count--;
        } else {
            memmove(set->items + i + 1, set->items + i, behind);
            set->items[i++] = dropped;
        }
    }
}

bool cw_ask_take_smallest(struct cw_ask *ask, struct cw_ask_set *set, struct cw_ask_set *smallest)
{
    uint32_t kept = 0;
    if (set->count < 2 || !cw_ask_ok(ask) || cw_ask_fits(ask, set->items, set->count))
        return false;
    *smallest = *set;
    cw_ask_minimize(ask, smallest);
    for (uint32_t i = 0; i < set->count; i++)
        if (set->items[i] != smallest->items[0])
            set->items[kept++] = set->items[i];
    set->count = kept;
    return true;
}
