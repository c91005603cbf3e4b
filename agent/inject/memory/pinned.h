/* Memory of the host's that the program has allocated by CUDA. CUPTI's checkpoint puts it back with the device's, but
 * the program reads and writes it whenever it likes, so it must stay as it is. */
#ifndef CW_INJECT_PINNED_H
#define CW_INJECT_PINNED_H

#include "agent/inject/driver/inject.h"

struct cw_pinned_piece;

struct cw_pinned {
    struct cw_pinned_piece *first; /* the newest */
    uint64_t count;                /* pieces that there have been */
    size_t bytes;                  /* of all pieces */
    bool unknown;                  /* there is more, which there was no memory to note */
    bool managed;                  /* the program has allocated managed memory, which kernels write as well */
};
extern struct cw_pinned *const cw_pinned;

bool cw_pinned_follows(CUpti_CallbackId id);
/* Takes note of a call of the driver, before it and after it. */
void cw_pinned_follow(CUpti_CallbackId id, const CUpti_CallbackData *call);
/* A child that was forked has none of it. */
void cw_pinned_forget(void);

/* What all of it held at some time; NULL where there was none. */
struct cw_pinned_copy;

/* False without memory for that, which leaves nothing to free. */
bool cw_pinned_keep(struct cw_pinned_copy **copy);
/* Something else has copied the same meanwhile: what the program has written since may be other there than here. */
void cw_pinned_check(struct cw_pinned_copy *copy);
/* Copies what it holds now as well, as late as can be: what is written between this and what follows may be lost. */
void cw_pinned_look(struct cw_pinned_copy *copy);
/* What was kept first is back in the memory: puts back what it held when it was looked at, but leaves alone what is
 * neither, for the program has just written that. */
void cw_pinned_put_back(const struct cw_pinned_copy *copy);
void cw_pinned_free(struct cw_pinned_copy *copy);

#endif
