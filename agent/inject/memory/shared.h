/* Keeps and restores memory that the host shares with the device. */
#ifndef CW_INJECT_SHARED_H
#define CW_INJECT_SHARED_H

#include "agent/inject/driver/inject.h"
#include "base/arena.h"

#define CW_WHY_TOO_MUCH_SHARED "a launch that is given more host memory than can be saved"

struct cw_shared_piece;

struct cw_shared {
    struct cw_arena *arena;        /* the owner's */
    struct cw_shared_piece *first; /* the newest */
    size_t bytes;                  /* host memory kept so far */
    bool alone;                    /* some memory can be kept for one launch alone */
    atomic_bool let_go;            /* launches get the memory as it is after all of them (cw_shared_put_after) */
};

/* Location of memory. Memory that the driver does not know belongs to the host. */
enum cw_place { CW_PLACE_DEVICE, CW_PLACE_HOST, CW_PLACE_MANAGED };
enum cw_place cw_shared_place(uint64_t address);
/* Whether the host can access the memory at an address: managed or pinned. */
bool cw_shared_with_host(uint64_t address);
/* Whether it is memory of the host that CUDA allocated or registered. */
bool cw_shared_pinned(uint64_t address);
/* Whether a launch is given host memory that does not move to the GPU: its kernel may wait there. */
bool cw_shared_given(CUpti_CallbackId id, const CUpti_CallbackData *call);
/* Notes that work of a device is given a word, which may be an address of host memory. Whether work of another device
 * may use that memory as well, or the memory may lead the work to another device's. */
bool cw_shared_use(uint64_t word, uint32_t device);
/* The same of all arguments of a launch. */
bool cw_shared_with_devices(CUpti_CallbackId id, const CUpti_CallbackData *call, uint32_t device);
/* Whether such memory is all that it is given, is small, and holds no address. *others: a hash of its other arguments.
 */
bool cw_shared_given_alone(CUpti_CallbackId id, const CUpti_CallbackData *call, uint64_t *others);
/* Forgets small host memory kept since `end`. */
void cw_shared_back(struct cw_shared *shared, struct cw_shared_piece *end);
/* Copies bytes of the host; NULL if there are too many. */
void *cw_shared_copy(struct cw_shared *shared, const void *from, size_t size);
/* Each returns true on success. They keep the whole allocation at such an address, unless it was kept since `end`, or
 * some bytes. Managed memory that is too large for the host is kept on the device. Beside other launches (`alone` is
 * false) only small host memory is kept. */
bool cw_shared_keep(struct cw_shared *shared, uint64_t address, const struct cw_shared_piece *end, bool alone);
bool cw_shared_keep_bytes(struct cw_shared *shared, void *memory, size_t size);
/* Restores everything, or the pieces from `first` to before `end`, while the GPU is idle. False after a failure. */
bool cw_shared_restore(const struct cw_shared *shared);
bool cw_shared_restore_some(const struct cw_shared *shared, const struct cw_shared_piece *first,
                            const struct cw_shared_piece *end);
/* Makes a copy that stands for host memory which launches were given, before the program frees it. Returns the copy's
 * address, the memory's own if no launch was given it, or NULL where launches may reach the memory by other memory. */
void *cw_shared_replace(struct cw_shared *shared, void *memory, size_t size);
/* Whether bytes may hold an address of the memory from `begin` to before `end`. */
bool cw_shared_hold(const void *bytes, size_t size, uint64_t begin, uint64_t end);
/* Keeps the current content instead. False after a failure. */
bool cw_shared_renew(const struct cw_shared *shared);
/* keep_after also keeps the current content of host memory; put_after restores that, even while a kernel runs. let_go
 * does so while launches are repeated: later ones get the same content. */
bool cw_shared_keep_after(struct cw_shared *shared);
void cw_shared_put_after(const struct cw_shared *shared);
void cw_shared_let_go(struct cw_shared *shared);
/* Whether the program still has some of the memory. */
bool cw_shared_is_there(const struct cw_shared *shared);
/* Frees content kept on the device, and copies that stand for memory. */
void cw_shared_release(struct cw_shared *shared);

#endif
