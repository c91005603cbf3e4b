/* Which item of a list has a key: a hash table of the numbers of items, which are kept by its user. */
#ifndef CW_BASE_HASH_TABLE_H
#define CW_BASE_HASH_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cw_hash_table { /* begins as zeros */
    uint32_t count;    /* of items */
    struct cw_hash_slot {
        uint32_t hash, number; /* number: of the item, and 1; 0: free */
    } * slots;
    size_t size; /* of slots, a power of two, of which half are free */
};

#define CW_NO_ITEM UINT32_MAX

/* Whether an item has a key; asked where their hashes are alike. */
typedef bool cw_hash_is(const void *items, uint32_t item, const void *key);

/* The number of the item that has a key. Where none has, it is that of a new one, `count` as it was before, which the
 * caller then adds to the items. CW_NO_ITEM when out of memory. */
uint32_t cw_hash_table_add(struct cw_hash_table *table, uint64_t hash, cw_hash_is *is, const void *items,
                           const void *key);
/* The number of the item that has a key, or CW_NO_ITEM. */
uint32_t cw_hash_table_find(const struct cw_hash_table *table, uint64_t hash, cw_hash_is *is, const void *items,
                            const void *key);
/* Leaves no item, and the room for them. */
void cw_hash_table_empty(struct cw_hash_table *table);
void cw_hash_table_free(struct cw_hash_table *table);

#endif
