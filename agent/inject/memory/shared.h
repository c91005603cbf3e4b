/* Keeps and restores memory that the host shares with the device. */
#ifndef CW_INJECT_SHARED_H
#define CW_INJECT_SHARED_H

#include "agent/inject/driver/inject.h"
#include "base/arena.h"

#define CW_WHY_TOO_MUCH_SHARED "a launch that is given more host memory than can be saved"

struct cw_shared_piece;

struct cw_shared {
    struct cw_arena *arena; /* the owner's */
    struct cw_shared_piece *first;
    size_t bytes; /* host memory kept so far */
};

/* Location of memory. Memory that the driver does not know belongs to the host. */
enum cw_place { CW_PLACE_DEVICE, CW_PLACE_HOST, CW_PLACE_MANAGED };
enum cw_place cw_shared_place(uint64_t address);
/* Whether the host can access the memory at an address: managed or pinned. */
bool cw_shared_with_host(uint64_t address);
/* Whether a launch is given host memory that does not move to the GPU: its kernel may wait there. */
bool cw_shared_given(CUpti_CallbackId id, const CUpti_CallbackData *call);
/* Copies bytes of the host; NULL if there are too many. */
void *cw_shared_copy(struct cw_shared *shared, const void *from, size_t size);
/* Each returns true on success. They keep the whole allocation at such an address, or some bytes. Managed memory that
 * is too large for the host is kept on the device. */
bool cw_shared_keep(struct cw_shared *shared, uint64_t address);
bool cw_shared_keep_bytes(struct cw_shared *shared, void *memory, size_t size);
/* Restores everything, while the GPU is idle. False after a failure. */
bool cw_shared_restore(const struct cw_shared *shared);
/* Keeps the current content instead. False after a failure. */
bool cw_shared_renew(const struct cw_shared *shared);
/* keep_after also keeps the current content of host memory; put_after restores that, even while a kernel runs. */
bool cw_shared_keep_after(struct cw_shared *shared);
void cw_shared_put_after(const struct cw_shared *shared);
/* Frees the content kept on the device. */
void cw_shared_release(struct cw_shared *shared);

#endif
