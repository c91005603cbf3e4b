/* Why a GPU was idle, by what the program did then. */
#ifndef CW_EVAL_TIMELINE_IDLE_H
#define CW_EVAL_TIMELINE_IDLE_H

#include "eval/timeline/timeline.h"

/* What the thread did, which then launched what ended an idle gap; while it called nothing of CUDA, what another thread
 * did that launches as well, where that held it up: it allocated memory, or loaded code. */
enum cw_idle_cause {
    CW_IDLE_OWN,     /* nothing of CUDA: the program's own work */
    CW_IDLE_LAUNCH,  /* it launched: from the call to the start on the GPU */
    CW_IDLE_WAIT,    /* it waited in a synchronization, or in a copy that does */
    CW_IDLE_MEMORY,  /* it allocated or freed memory */
    CW_IDLE_LOADING, /* modules and functions were loaded or compiled */
    CW_IDLE_CALL,    /* other calls */
    CW_IDLE_TRACING, /* tracing itself */
    CW_IDLE_QUEUED,  /* it had launched before: the GPU went from one to the next, or waited for an event */
    CW_IDLE_UNKNOWN, /* no call is known */
    CW_IDLE_END,     /* nothing came any more */
    CW_IDLE__COUNT
};

struct cw_idle_search {
    const struct cw_timeline *t;
    uint8_t *causes; /* of calls by name, CW_IDLE__COUNT not known yet */
    struct cw_idle_held {
        uint64_t start, end;
        uint32_t process;
        uint8_t cause;
    } * held; /* by process and start, apart */
    uint32_t held_count;
    uint64_t steps;
    bool some_left; /* gaps so many that not all causes were looked for: the rest is unknown */
};

/* False when out of memory; to be freed in any case. */
bool cw_idle_search_begin(struct cw_idle_search *search, const struct cw_timeline *timeline);
void cw_idle_search_free(struct cw_idle_search *search);
/* Adds ns by cause of a time in which the device was idle, before item `after` of timeline->gpu began
 * (CW_TIMELINE_NONE: nothing came). */
void cw_idle_find(struct cw_idle_search *search, uint64_t start, uint64_t end, uint32_t after,
                  double causes[CW_IDLE__COUNT]);

#endif
