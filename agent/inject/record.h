/* What a program did to the device since some moment, kept so that it can be done again: launches with their
 * arguments, memory sets, and copies to and on the device with the bytes that they brought. */
#ifndef CW_INJECT_RECORD_H
#define CW_INJECT_RECORD_H

#include "agent/inject/inject.h"

/* What a call of the driver means for a record. */
enum cw_effect {
    CW_EFFECT_NONE,   /* changes nothing that later kernels read */
    CW_EFFECT_READ,   /* nor does this, but it reads what they wrote */
    CW_EFFECT_RECORD, /* can be recorded and done again */
    CW_EFFECT_END,    /* anything else: what was recorded cannot be done again behind it */
};

struct cw_operation;

struct cw_record {
    struct cw_arena *arena; /* NULL while nothing is recorded */
    struct cw_operation *first, **next;
    size_t bytes; /* copied from the host */
};

/* Learns the names of the driver's calls; false where the driver cannot tell a kernel's parameters. */
bool cw_record_init(void);
enum cw_effect cw_record_effect(CUpti_CallbackId id);

/* Adds a call that is about to be made. False for one that cannot be done again: an unknown argument layout, a
 * cooperative or graph launch, memory that the host shares, or too many bytes. */
bool cw_record_add(struct cw_record *record, CUpti_CallbackId id, const CUpti_CallbackData *call);
/* Does everything again, in order, in the current context. */
bool cw_record_play(const struct cw_record *record);
void cw_record_clear(struct cw_record *record);

#endif
