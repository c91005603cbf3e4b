#include "base/hash_table.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

enum { LEAST = 64 };

/* A file may hold keys whose hashes are alike in their low bits. Their slots differ by a number that no file knows: the
 * kernel gives each process random bytes. */
static uint32_t secret(void)
{
    const uint8_t *bytes = (const uint8_t *)getauxval(AT_RANDOM);
    uint32_t number = 0;
    if (bytes)
        memcpy(&number, bytes + 12, sizeof number);
    return number | 1;
}

/* Looks from the hash's slot on, until a free one; `size` is above 0. */
static struct cw_hash_slot *slot_of(const struct cw_hash_table *t, uint32_t hash, cw_hash_is *is, const void *items,
                                    const void *key)
{
    size_t at = (size_t)((uint64_t)hash * t->secret * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (t->size - 1);
    while (t->slots[at].number && !(is && t->slots[at].hash == hash && is(items, t->slots[at].number - 1, key)))
        at = (at + 1) & (t->size - 1);
    return &t->slots[at];
}

static bool grow(struct cw_hash_table *t)
{
    struct cw_hash_table more = {
        .count = t->count, .size = t->size ? 2 * t->size : LEAST, .secret = t->size ? t->secret : secret()};
    if (t->count > UINT32_MAX / 2 || !(more.slots = calloc(more.size, sizeof *more.slots)))
        return false;
    for (size_t i = 0; i < t->size; i++)
        if (t->slots[i].number)
            *slot_of(&more, t->slots[i].hash, NULL, NULL, NULL) = t->slots[i];
    free(t->slots);
    *t = more;
    return true;
}

uint32_t cw_hash_table_add(struct cw_hash_table *t, uint64_t hash, cw_hash_is *is, const void *items, const void *key)
{
    if (2 * (size_t)t->count >= t->size && !grow(t))
        return CW_NO_ITEM;
    struct cw_hash_slot *slot = slot_of(t, (uint32_t)hash, is, items, key);
    if (!slot->number)
        *slot = (struct cw_hash_slot){(uint32_t)hash, ++t->count};
    return slot->number - 1;
}

uint32_t cw_hash_table_find(const struct cw_hash_table *t, uint64_t hash, cw_hash_is *is, const void *items,
                            const void *key)
{
    return t->size ? slot_of(t, (uint32_t)hash, is, items, key)->number - 1 : CW_NO_ITEM;
}

void cw_hash_table_empty(struct cw_hash_table *t)
{
    if (t->size)
        memset(t->slots, 0, t->size * sizeof *t->slots);
    t->count = 0;
}

void cw_hash_table_free(struct cw_hash_table *t)
{
    free(t->slots);
    *t = (struct cw_hash_table){0};
}
