/* Tracks the program's streams: whether kernels of several may overlap. Such kernels may wait for each other, which
 * deadlocks if launches are serialized, as in CUPTI's ranges of launches. */
#ifndef CW_INJECT_STREAMS_H
#define CW_INJECT_STREAMS_H

#include "agent/inject/driver/inject.h"

/* Whether a driver call creates or destroys a stream. */
bool cw_streams_follows(CUpti_CallbackId id);
/* Takes note of such calls and of launches, before them and after their return; ignores all others. */
void cw_streams_follow(CUpti_CallbackId id, const CUpti_CallbackData *call);
/* Whether the kernel of this launch may overlap one of another stream. */
bool cw_streams_overlap(CUpti_CallbackId id, const CUpti_CallbackData *call);
/* Forgets them all: later ones are not followed. */
void cw_streams_forget(void);

#endif
