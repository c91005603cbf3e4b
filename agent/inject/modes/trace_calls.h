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

/* Begins a trace of these kinds, with the calls of a list as for cw_filter_name_is_listed; "": the calls of interest.
 */
void cw_trace_calls_begin(uint64_t kinds, const char *list);
void cw_trace_calls_reset(void);

bool cw_trace_calls_want_driver(CUpti_CallbackId id);
bool cw_trace_calls_want_runtime(CUpti_CallbackId id);

/* Forgets the numbers of streams: one has ended, or a context with all of its streams. */
void cw_trace_calls_forget_streams(void);

/* Whether the call of that correlation was a query. An old call counts as a wait, because it is forgotten. Call it with
 * the rows' lock. */
bool cw_trace_calls_asked(uint32_t correlation);

/* Takes the beginning or return of a call; outside a window (not `open`) it records the call only if it began inside
 * one. A driver call made by the runtime belongs to the runtime call, and has a row only if the list names the driver's
 * calls; waits tell the object of the wait. */
void cw_trace_call(CUpti_CallbackDomain domain, CUpti_CallbackId id, const CUpti_CallbackData *call, bool open);

#endif
