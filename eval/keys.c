#include "eval/keys.h"

#include <stdbool.h>
#include <stdlib.h>

static bool is_equal(const struct cw_key *a, const struct cw_key *b)
{
    return a->part[0] == b->part[0] && a->part[1] == b->part[1] && a->part[2] == b->part[2] && a->part[3] == b->part[3];
}

static uint64_t mix(const struct cw_key *key)
{
    uint64_t h = 0x9e3779b97f4a7c15u;
    for (int i = 0; i < 4; i++) {
        h = (h ^ key->part[i]) * 0xff51afd7ed558ccdu;
        h ^= h >> 32;
    }
    return h;
}

/* The slot that has the key, or the free one where it would be. */
static size_t find_slot(const struct cw_keys *k, const struct cw_key *key)
{
    size_t at = mix(key) & (k->slot_count - 1);
    while (k->slots[at] && !is_equal(&k->items[k->slots[at] - 1], key))
        at = (at + 1) & (k->slot_count - 1);
    return at;
}

static bool grow(struct cw_keys *k)
{
    const uint32_t capacity = k->capacity ? 2 * k->capacity : 16;
    struct cw_key *items = capacity < (UINT32_MAX >> 2) ? realloc(k->items, capacity * sizeof *items) : NULL;
    if (!items)
        return false;
    k->items = items;
    uint32_t *slots = calloc(2 * (size_t)capacity, sizeof *slots);
    if (!slots)
        return false;
    free(k->slots);
    k->slots = slots;
    k->slot_count = 2 * (size_t)capacity;
    k->capacity = capacity;
    for (uint32_t i = 0; i < k->count; i++)
        k->slots[find_slot(k, &items[i])] = i + 1;
    return true;
}

uint32_t cw_keys_add(struct cw_keys *k, struct cw_key key)
{
    if (k->count && is_equal(&k->items[k->last], &key))
        return k->last;
    if (k->count == k->capacity && !grow(k))
        return CW_NO_KEY;
    const size_t slot = find_slot(k, &key);
    if (!k->slots[slot]) {
        k->items[k->count] = key;
        k->slots[slot] = ++k->count;
    }
    return k->last = k->slots[slot] - 1;
}

uint32_t cw_keys_find(const struct cw_keys *k, struct cw_key key)
{
    return k->count ? k->slots[find_slot(k, &key)] - 1 : CW_NO_KEY;
}

void cw_keys_free(struct cw_keys *k)
{
    free(k->items);
    free(k->slots);
    *k = (struct cw_keys){0};
}
