/* Records calls of runtime and driver in a trace, by callbacks that only the chosen calls have. CUPTI's own records of
 * calls and of synchronization would slow down every call of the program by some hundred nanoseconds, even calls that
 * nobody asks for, such as cudaGetDevice. If CUDA events are recorded, CUPTI must record synchronization, too. Its
 * records, which know the event, are then used for the rows (cw_trace_cupti.waits). */
#ifndef CW_INJECT_TRACE_CALLS_H
#define CW_INJECT_TRACE_CALLS_H

#include "agent/inject/modes/trace_rows.h"

/* Types of synchronization rows for queries. */
#define CW_TRACE_EVENT_QUERY "event_query"
#define CW_TRACE_STREAM_QUERY "stream_query"
enum { CW_TRACE_QUERIES = 1 << 14 };

struct cw_trace_calls {
    const char *list; /* as for cw_filter_name_is_listed; "": the calls of interest */
    uint64_t kinds;   /* wanted kinds */
    uint64_t trace;   /* start of the trace; unique in the process */
    bool driver_wanted[CUPTI_DRIVER_TRACE_CBID_SIZE];
    /* numbers of texts; 0: not yet known */
    uint32_t driver[CUPTI_DRIVER_TRACE_CBID_SIZE], runtime[CUPTI_RUNTIME_TRACE_CBID_SIZE];
    uint32_t queries[CW_TRACE_QUERIES]; /* the last queries, by correlation; under the rows' lock */
};
extern struct cw_trace_calls *const cw_trace_calls;

bool cw_trace_calls_want_driver(CUpti_CallbackId id);
bool cw_trace_calls_want_runtime(CUpti_CallbackId id);

/* Whether the call of that correlation was a query. An old call counts as a wait, because it is forgotten. Call it with
 * the rows' lock. */
bool cw_trace_calls_asked(uint32_t correlation);

/* Takes the beginning or return of a call; outside a window (not `open`) it records the call only if it began inside
 * one. A driver call made by the runtime belongs to the runtime call, except for waits, which tell the object of the
 * wait. */
void cw_trace_call(CUpti_CallbackDomain domain, CUpti_CallbackId id, const CUpti_CallbackData *call, bool open);

#endif
