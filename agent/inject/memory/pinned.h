/* Tracks the host memory that the program has allocated through CUDA. CUPTI's checkpoint restores it together with the
 * device's. But the program reads and writes it at any time, so its content must not go back. */
#ifndef CW_INJECT_PINNED_H
#define CW_INJECT_PINNED_H

#include "agent/inject/driver/inject.h"

struct cw_pinned_piece;

struct cw_pinned {
    struct cw_pinned_piece *first; /* the newest */
    uint64_t count;                /* number of pieces so far */
    size_t bytes;                  /* in all pieces */
    bool unknown;                  /* there are further pieces, not recorded for lack of memory */
    bool managed;                  /* the program has allocated managed memory, which kernels write as well */
};
extern struct cw_pinned *const cw_pinned;

bool cw_pinned_follows(CUpti_CallbackId id);
/* Takes note of a driver call, before it and after it. */
void cw_pinned_follow(CUpti_CallbackId id, const CUpti_CallbackData *call);
/* Whether memory of this address was allocated (not registered) after so many pieces; *size: its size. */
bool cw_pinned_find(const void *memory, uint64_t count, size_t *size);
/* Finds the known memory that holds an address. */
bool cw_pinned_holds(uint64_t address, uint64_t *start, size_t *size);
/* Notes that work of a device uses the memory at an address. Whether work of another device may use it as well: it has
 * been seen to, or the memory is not known. */
bool cw_pinned_use(uint64_t address, uint32_t device);
/* The same of all known memory: some of it may be used by several devices. */
bool cw_pinned_use_all(uint32_t device);
/* Call it in a forked child, which has none of this memory. */
void cw_pinned_forget(void);

/* The content of all pieces at some time; NULL if there was none. */
struct cw_pinned_copy;

/* Copies all pieces. False when out of memory, and there is nothing to free then. */
bool cw_pinned_keep(struct cw_pinned_copy **copy);
/* Call it after another copy of the same memory was made: marks lines that the program has changed since, in which the
 * two copies may differ. */
void cw_pinned_check(struct cw_pinned_copy *copy);
/* Copies the current content as well. Call it as late as possible: writes between this and the restore may be lost. */
void cw_pinned_look(struct cw_pinned_copy *copy);
/* Call it after the first content was restored: puts back the content of the last look, except in words that have
 * neither content, because the program has just written them. */
void cw_pinned_put_back(const struct cw_pinned_copy *copy);
void cw_pinned_free(struct cw_pinned_copy *copy);

#endif
