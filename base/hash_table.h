/* Hash table from keys to item numbers. The caller keeps the items. */
#ifndef CW_BASE_HASH_TABLE_H
#define CW_BASE_HASH_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cw_hash_table { /* initialise with zeros */
    uint32_t count;    /* of items */
    struct cw_hash_slot {
        uint32_t hash, number; /* number: number of the item plus 1; 0: free */
    } * slots;
    size_t size;     /* slots, a power of two; at least half are free */
    uint32_t secret; /* by which hashes have their slots */
};

#define CW_NO_ITEM UINT32_MAX

/* Whether an item has a key; called for items of equal hash. */
typedef bool cw_hash_is(const void *items, uint32_t item, const void *key);

/* Returns the number of the item with the key. If there is none, returns the number of a new item, the previous
 * `count`; the caller then appends the item. CW_NO_ITEM when out of memory. */
uint32_t cw_hash_table_add(struct cw_hash_table *table, uint64_t hash, cw_hash_is *is, const void *items,
                           const void *key);
/* Returns the number of the item with the key, or CW_NO_ITEM. */
uint32_t cw_hash_table_find(const struct cw_hash_table *table, uint64_t hash, cw_hash_is *is, const void *items,
                            const void *key);
/* Removes all items and keeps the memory. */
void cw_hash_table_empty(struct cw_hash_table *table);
void cw_hash_table_free(struct cw_hash_table *table);

#endif
