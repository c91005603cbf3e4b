/* Memory that the host sees too, kept so that it can be put back. */
#ifndef CW_INJECT_SHARED_H
#define CW_INJECT_SHARED_H

#include "agent/inject/driver/inject.h"
#include "base/arena.h"

enum { CW_LOWEST_ADDRESS = 1 << 16 }; /* words of parameters below it are numbers */

#define CW_WHY_TOO_MUCH_SHARED "a launch that is given more memory of the host's than can be saved"

struct cw_shared_piece;

struct cw_shared {
    struct cw_arena *arena; /* the owner's */
    struct cw_shared_piece *first;
    size_t bytes; /* of the host's, kept so far */
};

/* Where memory is. What the driver does not know is the host's. */
enum cw_place { CW_PLACE_DEVICE, CW_PLACE_HOST, CW_PLACE_MANAGED };
enum cw_place cw_shared_place(uint64_t address);
/* True for an address of memory that the host sees too: managed, or pinned. */
bool cw_shared_with_host(uint64_t address);
/* True for a launch that is given memory of the host's which does not move to the GPU: a kernel may wait there. */
bool cw_shared_given(CUpti_CallbackId id, const CUpti_CallbackData *call);
/* A copy of bytes of the host's; NULL where they would be too many. */
void *cw_shared_copy(struct cw_shared *shared, const void *from, size_t size);
/* Each is true on success. Keeps the whole allocation that such an address is in, or some bytes there. What is managed
 * and too large for the host is kept on the device. */
bool cw_shared_keep(struct cw_shared *shared, uint64_t address);
bool cw_shared_keep_bytes(struct cw_shared *shared, void *memory, size_t size);
/* Puts everything back, while the GPU does nothing. False after a failure. */
bool cw_shared_restore(const struct cw_shared *shared);
/* Keeps what it holds now instead. False after a failure. */
bool cw_shared_renew(const struct cw_shared *shared);
/* Keeps what that memory holds now as well, as far as it is the host's; puts that back, also while a kernel runs. */
bool cw_shared_keep_after(struct cw_shared *shared);
void cw_shared_put_after(const struct cw_shared *shared);
/* Gives back what is kept on the device. */
void cw_shared_release(struct cw_shared *shared);

#endif
