/* The processes that caused events of GPUs, by the correlation of their calls: each process counts its own. */
#ifndef CW_FOREIGN_CALL_OWNERS_H
#define CW_FOREIGN_CALL_OWNERS_H

#include "base/hash_table.h"

struct cw_call_owners { /* initialise with zeros */
    struct cw_hash_table table;
    struct cw_call_owner *list;
    size_t room;
};

/* Adds a call of a process. False when out of memory. */
bool cw_call_owners_add(struct cw_call_owners *owners, uint64_t correlation, uint32_t pid);
/* Returns the process whose calls alone have this correlation; 0 for none, and for several. */
uint32_t cw_call_owners_find(const struct cw_call_owners *owners, uint64_t correlation);
void cw_call_owners_free(struct cw_call_owners *owners);

#endif
