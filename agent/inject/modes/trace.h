/* A trace: what happens in the program and on its GPUs, from CUPTI's activity records and what the program says by
 * NVTX. Nothing is repeated, serialized or waited for. */
#ifndef CW_INJECT_TRACE_H
#define CW_INJECT_TRACE_H

#include "agent/inject/modes/trace_accounts.h"
#include "agent/inject/modes/trace_buffers.h"
#include "agent/inject/modes/trace_calls.h"
#include "agent/inject/modes/trace_early.h"
#include "agent/inject/modes/trace_nvtx.h"
#include "agent/inject/modes/trace_openmp.h"
#include "agent/inject/modes/trace_recording.h"
#include "agent/inject/modes/trace_records.h"
#include "agent/inject/ranges/mode.h"

struct cw_tracing {
    uint64_t flush_ns;
    _Atomic bool started;
    _Atomic bool running;    /* the thread */
    _Atomic bool ends;       /* it is to be at work no more: whoever ends the trace waits for it */
    uint64_t flushed_ns;     /* when rows were last sent */
    uint64_t edge_ns;        /* when a window opens or closes next */
    bool flushed;            /* CUPTI's records, at all */
    pthread_mutex_t at_work; /* the thread has it while it does anything; taken before the others */
};
extern struct cw_tracing *const cw_tracing;

extern const struct cw_inject_mode cw_inject_trace;

/* The trace ends, the program does not: waits a moment for what runs, sends all, waits for the trace's threads, and is
 * ready for another. The thread is one of ours, without the library's lock; nobody may be in callbacks of the trace at
 * the reset, which is with it. */
void cw_trace_stop(void);
bool cw_trace_reset(void); /* false where its thread does not end: then nothing may follow */

#endif
