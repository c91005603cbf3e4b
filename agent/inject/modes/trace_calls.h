/* Calls of the runtime and the driver in a trace, from callbacks of CUPTI's that only the chosen ones have. CUPTI's own
 * records of calls, and of synchronization, make every call of the program some hundred nanoseconds slower, also those
 * that nobody asks for, such as cudaGetDevice. Where CUDA events are recorded CUPTI has to record synchronization, too:
 * its records, which know the event, are the rows then (cw_trace_cupti.waits). */
#ifndef CW_INJECT_TRACE_CALLS_H
#define CW_INJECT_TRACE_CALLS_H

#include "agent/inject/modes/trace_rows.h"

/* What rows of synchronization call a question whether something is done. */
#define CW_TRACE_EVENT_QUERY "event_query"
#define CW_TRACE_STREAM_QUERY "stream_query"
enum { CW_TRACE_QUERIES = 1 << 14 };

struct cw_trace_calls {
    const char *list; /* cw_filter_name_is_listed; "": those of interest */
    uint64_t kinds;   /* that are wanted */
    uint64_t trace;   /* when it began: no two of a process have the same */
    bool driver_wanted[CUPTI_DRIVER_TRACE_CBID_SIZE];
    /* numbers of texts; 0: not asked yet */
    uint32_t driver[CUPTI_DRIVER_TRACE_CBID_SIZE], runtime[CUPTI_RUNTIME_TRACE_CBID_SIZE];
    uint32_t queries[CW_TRACE_QUERIES]; /* the last calls that asked, by correlation; with the rows' lock */
};
extern struct cw_trace_calls *const cw_trace_calls;

bool cw_trace_calls_want_driver(CUpti_CallbackId id);
bool cw_trace_calls_want_runtime(CUpti_CallbackId id);

/* Whether the call of that correlation only asked. Of long ago it is not known: then it is taken for a wait. With the
 * rows' lock. */
bool cw_trace_calls_asked(uint32_t correlation);

/* A call begins or returns; outside of a window (not `open`) it is not recorded, unless it had begun in one. What the
 * runtime calls of the driver is part of its own call, but waits: they say what is waited for. */
void cw_trace_call(CUpti_CallbackDomain domain, CUpti_CallbackId id, const CUpti_CallbackData *call, bool open);

#endif
