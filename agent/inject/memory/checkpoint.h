/* The device memory of a context, saved and restored by NVIDIA's checkpoint library where it is found. Its header,
 * cupti_checkpoint.h, is C++. */
#ifndef CW_INJECT_CHECKPOINT_H
#define CW_INJECT_CHECKPOINT_H

#include "agent/inject/driver/inject.h"

struct cw_checkpoint {
    size_t size; /* of the library's own layout, from here to `pinned` */
    CUcontext context;
    size_t reserve_device_mb, reserve_host_mb;
    uint8_t overwrite, optimizations;
    void *library;
    struct cw_pinned_copy *pinned; /* what the program had pinned, which the library saves as well */
};

struct cw_checkpoint_library { /* its functions, NULL where it is not found */
    CUptiResult (*save)(struct cw_checkpoint *), (*restore)(struct cw_checkpoint *), (*release)(struct cw_checkpoint *);
    bool limited; /* by cw_checkpoint_limit */
    uint32_t reserve_mb, on_host_mb;
};
extern struct cw_checkpoint_library *const cw_checkpoint_library;

/* Where memory is not as the program left it, and cannot be put right. */
#define CW_MAY_BE_WRONG "what the program computes may be wrong from here on"

/* Finds the library that lies beside the loaded CUPTI; as a mode's load. */
void cw_checkpoint_load(void);
/* False where there is none. */
bool cw_checkpoint_init(void);
/* Where to save, as message.h has it; until then as usual. */
void cw_checkpoint_limit(uint32_t reserve_mb, uint32_t on_host_mb);
/* Whether there is memory to save what the current context holds, nearly all of it on the device itself, and so many
 * bytes besides, so that CUPTI still finds the memory that it needs. */
bool cw_checkpoint_has_room(size_t besides);

/* Each is true on success. A saved checkpoint is to be freed. What the program has pinned is not put back; managed
 * memory is. */
bool cw_checkpoint_save(struct cw_checkpoint *checkpoint, CUcontext context);
bool cw_checkpoint_restore(struct cw_checkpoint *checkpoint);
void cw_checkpoint_free(struct cw_checkpoint *checkpoint);

#endif
