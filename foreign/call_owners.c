#include "foreign/call_owners.h"

#include <stdlib.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/arena.h"

struct cw_call_owner {
    uint64_t correlation;
    uint32_t pid; /* 0: of several processes */
};

static bool is_call(const void *list, uint32_t item, const void *correlation)
{
    return ((const struct cw_call_owner *)list)[item].correlation == *(const uint64_t *)correlation;
}

bool cw_call_owners_add(struct cw_call_owners *o, uint64_t correlation, uint32_t pid)
{
    const uint32_t known = o->table.count;
    const uint64_t hash = XXH3_64bits(&correlation, sizeof correlation);
    const uint32_t item = cw_hash_table_add(&o->table, hash, is_call, o->list, &correlation);
    if (item == CW_NO_ITEM)
        return false;
    if (item < known) {
        o->list[item].pid = o->list[item].pid == pid ? pid : 0;
        return true;
    }
    struct cw_call_owner *grown = cw_grown(o->list, &o->room, item, sizeof *grown);
    o->list = grown ? grown : o->list;
    if (grown)
        grown[item] = (struct cw_call_owner){correlation, pid};
    return grown != NULL;
}

uint32_t cw_call_owners_find(const struct cw_call_owners *o, uint64_t correlation)
{
    const uint64_t hash = XXH3_64bits(&correlation, sizeof correlation);
    const uint32_t item = cw_hash_table_find(&o->table, hash, is_call, o->list, &correlation);
    return item == CW_NO_ITEM ? 0 : o->list[item].pid;
}

void cw_call_owners_free(struct cw_call_owners *o)
{
    cw_hash_table_free(&o->table);
    free(o->list);
}
