/* Numbers for keys of four numbers, in the order in which they come first. */
#ifndef CW_EVAL_KEYS_H
#define CW_EVAL_KEYS_H

#include "base/hash_table.h"

struct cw_keys {          /* begins as zeros */
    uint32_t count, last; /* last: the key asked for last */
    struct cw_key {
        uint64_t part[4];
    } * items;
    size_t room;
    struct cw_hash_table table;
};

#define CW_NO_KEY UINT32_MAX

/* The index of a key; adds a new one. CW_NO_KEY when out of memory. */
uint32_t cw_keys_add(struct cw_keys *keys, struct cw_key key);
/* The index of a key, or CW_NO_KEY. */
uint32_t cw_keys_find(const struct cw_keys *keys, struct cw_key key);
void cw_keys_free(struct cw_keys *keys);

#endif
