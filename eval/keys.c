#include "eval/keys.h"

#include <stdlib.h>

#include "base/arena.h"

static bool is_equal(const struct cw_key *a, const struct cw_key *b)
{
    return a->part[0] == b->part[0] && a->part[1] == b->part[1] && a->part[2] == b->part[2] && a->part[3] == b->part[3];
}

static bool is_key(const void *items, uint32_t item, const void *key)
{
    return is_equal((const struct cw_key *)items + item, key);
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

uint32_t cw_keys_add(struct cw_keys *k, struct cw_key key)
{
    if (k->count && is_equal(&k->items[k->last], &key))
        return k->last;
    struct cw_key *items = cw_grown(k->items, &k->room, k->count, sizeof *items);
    if (!items)
        return CW_NO_KEY;
    k->items = items;
    const uint32_t at = cw_hash_table_add(&k->table, mix(&key), is_key, items, &key);
    if (at == CW_NO_ITEM)
        return CW_NO_KEY;
    if (at == k->count)
        items[k->count++] = key;
    return k->last = at;
}

uint32_t cw_keys_find(const struct cw_keys *k, struct cw_key key)
{
    return cw_hash_table_find(&k->table, mix(&key), is_key, k->items, &key);
}

void cw_keys_free(struct cw_keys *k)
{
    free(k->items);
    cw_hash_table_free(&k->table);
    *k = (struct cw_keys){0};
}
