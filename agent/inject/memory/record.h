/* What a program did to the device since some moment, kept so that it can be done again: launches with their
 * arguments and the memory of the host's that they were given, memory sets, and copies to and on the device with the
 * bytes that they brought. */
#ifndef CW_INJECT_RECORD_H
#define CW_INJECT_RECORD_H

#include "agent/inject/memory/transfer.h"

/* What a call of the driver means for a record. */
enum cw_effect {
    CW_EFFECT_NONE,   /* changes nothing that later kernels read */
    CW_EFFECT_READ,   /* nor does this, but it reads what they wrote */
    CW_EFFECT_RECORD, /* can be recorded and done again */
    CW_EFFECT_WAIT,   /* for the whole context; nor does this, but it may be the last call of the program */
    CW_EFFECT_END,    /* anything else: what was recorded cannot be done again behind it */
};

extern struct cw_effects {
    uint8_t of[CUPTI_DRIVER_TRACE_CBID_SIZE];
} *const cw_effects;

struct cw_operation;

struct cw_record {
    struct cw_operation *first, **next, *launch; /* launch: the last of them */
    /* memory of the host's as it was, and what was copied from there; without an arena while nothing is recorded */
    struct cw_shared shared;
    bool rests; /* the context does, for the call that is being added */
};

/* Learns the names of the driver's calls; false where the driver cannot tell a kernel's parameters. */
bool cw_record_init(void);
/* Whether calls of this kind may have an effect. */
bool cw_record_wants(CUpti_CallbackId id);
/* Of one call; *at_once: what it reads is there when it returns. */
enum cw_effect cw_record_effect(CUpti_CallbackId id, const CUpti_CallbackData *call, bool *at_once);

/* Whether a call gives something back, which may be another context's than the current one's: memory, a stream, code.
 */
bool cw_record_gives_back(CUpti_CallbackId id);

/* Adds a call that is about to be made. False for one that cannot be done again: a graph, an unknown argument layout,
 * a copy to memory that the host shares, or too many bytes. Also false for a kernel that is given shared memory when
 * the record holds something already: it must be alone, because the host may change that memory as soon as the kernel
 * is done; and unless the context `rests`, because its kernels write that memory. */
bool cw_record_add(struct cw_record *record, CUpti_CallbackId id, const CUpti_CallbackData *call, bool rests);
/* The last launch was refused by the driver, and would be again. */
void cw_record_refuse(struct cw_record *record);
/* What to do around each launch, which are numbered from 1. */
struct cw_around {
    void (*before)(void *user, uint32_t launch);
    void (*after)(void *user);
    void *user;
};
/* Puts shared memory back and does everything again, in order, in the current context: how the first of the driver's
 * calls ended that failed. `around` may be NULL. */
CUresult cw_record_play(const struct cw_record *record, const struct cw_around *around);
void cw_record_clear(struct cw_record *record);

#endif
