/* Saves and restores the device memory of a context: by what changed (mirror.h), if all memory that kernels may write
 * is known, and otherwise with NVIDIA's checkpoint library. The library's header, cupti_checkpoint.h, is C++, so this
 * repeats its declarations. */
#ifndef CW_INJECT_CHECKPOINT_H
#define CW_INJECT_CHECKPOINT_H

#include "agent/inject/driver/inject.h"

struct cw_checkpoint {
    size_t size; /* layout of the library's own structure, CUpti_Checkpoint, from here to `library` */
    CUcontext context;
    size_t reserve_device_mb, reserve_host_mb;
    uint8_t overwrite, optimizations;
    void *library;
    struct cw_pinned_copy *pinned; /* the program's pinned memory, which the library saves and restores as well */
    struct cw_mirror *mirror;      /* which has the memory; NULL: the library has */
    bool lacks;                    /* see cw_checkpoint_lacks */
    int error;                     /* why the last restore failed: the driver's error with a mirror, else CUPTI's */
};

struct cw_checkpoint_library { /* functions of the library, NULL if it is not found */
    CUptiResult (*save)(struct cw_checkpoint *), (*restore)(struct cw_checkpoint *), (*release)(struct cw_checkpoint *);
    bool leaves_out; /* saves and restores no memory that others reach (cw_reach_next); NVIDIA's does */
    bool limited;    /* cw_checkpoint_limit was called */
    uint32_t reserve_mb, on_host_mb;
    bool by_changes; /* cw_checkpoint_by_changes was called */
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
/* Allows saving by what changed, for a mode that looks into modules (module.h) and calls the functions below. Call it
 * before the first context. */
void cw_checkpoint_by_changes(void);
/* Follows driver calls, before and after each: what memory there is, and when the program needs memory that saved
 * content takes. */
bool cw_checkpoint_follows(CUpti_CallbackId id);
void cw_checkpoint_follow(CUpti_CallbackId id, const CUpti_CallbackData *call);
/* Call it before a launch, of a kernel or (NULL) a graph. */
void cw_checkpoint_meet(CUfunction kernel);
/* Call it when a context ends. */
void cw_checkpoint_forget(CUcontext context);

/* Whether the current context is saved and restored without memory that others reach (cw_reach_next). */
bool cw_checkpoint_leaves_out(void);
/* Whether there is memory to save the content of the current context, nearly all on the device itself, and `besides`
 * bytes, so that CUPTI still finds the memory that it needs. */
bool cw_checkpoint_has_room(size_t besides);
/* Whether kernel replay and user replay have room. NVIDIA saves all memory of the device then, and takes from the host
 * all that it needs, for which the system may kill the program. */
bool cw_checkpoint_replay_has_room(void);

/* Each returns true on success. Free a saved checkpoint. Restoring leaves the program's pinned memory alone, but
 * restores managed memory. */
bool cw_checkpoint_save(struct cw_checkpoint *checkpoint, CUcontext context);
bool cw_checkpoint_restore(struct cw_checkpoint *checkpoint);
void cw_checkpoint_free(struct cw_checkpoint *checkpoint);

/* Whether every restore finds all that it needs. It may not if memory was too short to save all: then a restore may
 * fail with cw_checkpoint_lacks, which leaves memory as it is, as the last work left it, and the program can go on so.
 */
bool cw_checkpoint_is_whole(const struct cw_checkpoint *checkpoint);
bool cw_checkpoint_lacks(const struct cw_checkpoint *checkpoint);
/* For a restore while a pass of CUPTI's is started: call the first before the pass is started, and then the second,
 * whose work CUPTI does not count. */
bool cw_checkpoint_look(struct cw_checkpoint *checkpoint);
bool cw_checkpoint_restore_started(struct cw_checkpoint *checkpoint);
/* A cheaper restore between passes of the same work: only what earlier restores put back. Do not use it before the last
 * pass, whose results the program keeps: passes may differ in what they write. */
bool cw_checkpoint_restore_between(struct cw_checkpoint *checkpoint);

#endif
