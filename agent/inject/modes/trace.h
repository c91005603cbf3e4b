/* A trace: what happens in the program and on its GPUs, from CUPTI's activity records and what the program says by
 * NVTX. Nothing is repeated, serialized or waited for. */
#ifndef CW_INJECT_TRACE_H
#define CW_INJECT_TRACE_H

#include "agent/common/trace_window.h"
#include "agent/inject/modes/trace_calls.h"
#include "agent/inject/modes/trace_nvtx.h"
#include "agent/inject/modes/trace_records.h"
#include "agent/inject/ranges/mode.h"

enum { CW_TRACE_MOST_BUFFERS = 256 };

struct cw_tracing {
    /* what was asked for */
    uint64_t kinds, flush_ns, buffer_bytes;
    uint64_t program_ns;          /* when the program was started */
    uint32_t flags, buffer_count; /* enum cw_trace_flag */
    struct cw_filter_options options;
    struct cw_filter filter;
    struct cw_trace_window_options window_options;

    bool started;
    _Atomic bool running;        /* the thread */
    uint64_t refused;            /* kinds that CUPTI does not give */
    uint64_t flushed_ns;         /* when rows were last sent */
    uint64_t told;               /* all counts that the last accounts were of */
    bool by_launch;              /* launches open and close the window */
    _Atomic bool open;           /* the window */
    pthread_mutex_t at_work;     /* the thread has it while it does anything; taken before the others */
    pthread_mutex_t window_lock; /* of what follows; taken before the rows' lock */
    bool finished;               /* the window opens no more */
    struct cw_trace_window window;
    uint64_t opened_ns;
    uint32_t toggles;

    pthread_mutex_t pool_lock; /* of what follows */
    uint8_t *pool[CW_TRACE_MOST_BUFFERS];
    uint32_t free_count, made; /* buffers in the pool, and in all */
};
extern struct cw_tracing *const cw_tracing;

extern const struct cw_inject_mode cw_inject_trace;

/* The trace ends, the program does not: waits a moment for what runs, sends all, and is ready for another. The thread
 * is one of ours, without the library's lock; nobody may be in callbacks of the trace at the reset, which is with it.
 */
void cw_trace_stop(void);
bool cw_trace_reset(void); /* false where its thread does not end: then nothing may follow */

#endif
