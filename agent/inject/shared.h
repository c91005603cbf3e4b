/* Memory that the host sees too, kept so that it can be put back. */
#ifndef CW_INJECT_SHARED_H
#define CW_INJECT_SHARED_H

#include "agent/inject/inject.h"
#include "host/base/arena.h"

enum { CW_LOWEST_ADDRESS = 1 << 16 }; /* words of parameters below it are numbers */

struct cw_shared_piece;

struct cw_shared {
    struct cw_arena *arena; /* the owner's */
    struct cw_shared_piece *first;
    size_t bytes; /* of the host's, kept so far */
};

/* True for an address of memory that the host sees too: managed, or pinned. */
bool cw_shared_with_host(uint64_t address);
/* A copy of bytes of the host's; NULL where they would be too many. */
const void *cw_shared_copy(struct cw_shared *shared, const void *from, size_t size);
/* Each is true on success. Keeps the whole allocation that such an address is in, or some bytes there. */
bool cw_shared_keep(struct cw_shared *shared, uint64_t address);
bool cw_shared_keep_bytes(struct cw_shared *shared, void *memory, size_t size);
/* Puts everything back, while the GPU does nothing. */
void cw_shared_restore(const struct cw_shared *shared);

#endif
