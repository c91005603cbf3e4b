/* The program's streams: whether kernels of several may run at the same time. One of them may then wait for another,
 * which does not come where launches run one after another, as in CUPTI's ranges of launches. */
#ifndef CW_INJECT_STREAMS_H
#define CW_INJECT_STREAMS_H

#include "agent/inject/driver/inject.h"

struct cw_streams {
    uint32_t made;        /* and not destroyed */
    bool free;            /* one of them does not wait for the legacy stream */
    bool legacy, other;   /* launched on the legacy stream; on others */
    uint64_t thread;      /* that launched on a stream of its own; 0: none has */
    bool of_more_threads; /* several have */
};
extern struct cw_streams *const cw_streams;

/* Whether a call of the driver makes a stream or destroys it. */
bool cw_streams_follows(CUpti_CallbackId id);
/* Takes note of such a call and of launches, when they begin and when they have returned; others are ignored. */
void cw_streams_follow(CUpti_CallbackId id, const CUpti_CallbackData *call);
/* Whether the kernel of this launch may run beside one of another stream. */
bool cw_streams_overlap(CUpti_CallbackId id, const CUpti_CallbackData *call);

#endif
