/* Saves and restores the device memory of a context with NVIDIA's checkpoint library, if it is found. The library's
 * header, cupti_checkpoint.h, is C++, so this repeats its declarations. */
#ifndef CW_INJECT_CHECKPOINT_H
#define CW_INJECT_CHECKPOINT_H

#include "agent/inject/driver/inject.h"

struct cw_checkpoint {
    size_t size; /* layout of the library's own structure, from here to `pinned` */
    CUcontext context;
    size_t reserve_device_mb, reserve_host_mb;
    uint8_t overwrite, optimizations;
    void *library;
    struct cw_pinned_copy *pinned; /* the program's pinned memory, which the library saves and restores as well */
};

struct cw_checkpoint_library { /* functions of the library, NULL if it is not found */
    CUptiResult (*save)(struct cw_checkpoint *), (*restore)(struct cw_checkpoint *), (*release)(struct cw_checkpoint *);
    bool leaves_out; /* saves and restores no memory that others reach (cw_reach_next); NVIDIA's does */
    bool limited;    /* cw_checkpoint_limit was called */
    uint32_t reserve_mb, on_host_mb;
};
extern struct cw_checkpoint_library *const cw_checkpoint_library;

/* Ending of messages after memory could not be restored. */
#define CW_MAY_BE_WRONG "the program's results may be wrong from here on"

/* Finds the library beside the loaded CUPTI. Can be a mode's load. */
void cw_checkpoint_load(void);
/* False if there is no library. */
bool cw_checkpoint_init(void);
/* Sets where to save, as in message.h; without it the usual places. */
void cw_checkpoint_limit(uint32_t reserve_mb, uint32_t on_host_mb);
/* Whether there is memory to save the content of the current context, nearly all on the device itself, and `besides`
 * bytes, so that CUPTI still finds the memory that it needs. */
bool cw_checkpoint_has_room(size_t besides);

/* Each returns true on success. Free a saved checkpoint. Restoring leaves the program's pinned memory alone, but
 * restores managed memory. */
bool cw_checkpoint_save(struct cw_checkpoint *checkpoint, CUcontext context);
bool cw_checkpoint_restore(struct cw_checkpoint *checkpoint);
void cw_checkpoint_free(struct cw_checkpoint *checkpoint);

#endif
