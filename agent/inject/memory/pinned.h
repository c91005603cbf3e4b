/* Memory of the host's that the program has allocated by CUDA. CUPTI's checkpoint puts it back with the device's, but
 * the program reads and writes it whenever it likes, so it must stay as it is. */
#ifndef CW_INJECT_PINNED_H
#define CW_INJECT_PINNED_H

#include "agent/inject/driver/inject.h"

struct cw_pinned_piece;

struct cw_pinned {
    struct cw_pinned_piece *first;
    size_t bytes; /* of all pieces */
    bool unknown; /* there is more, which there was no memory to note */
    bool managed; /* the program has allocated managed memory, which kernels write as well */
};
extern struct cw_pinned *const cw_pinned;

bool cw_pinned_follows(CUpti_CallbackId id);
/* Takes note of a call of the driver, before it and after it. */
void cw_pinned_follow(CUpti_CallbackId id, const CUpti_CallbackData *call);
/* A child that was forked has none of it. */
void cw_pinned_forget(void);

/* Copies what all of it holds; NULL without memory for that, which leaves nothing to free. */
void *cw_pinned_keep(void);
/* Puts the copy back where the memory has changed since, and frees the copy. */
void cw_pinned_put_back(void *kept);

#endif
