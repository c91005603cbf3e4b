/* A trace: events of the program and its GPUs, from CUPTI's activity records and from the program's NVTX calls. It
 * repeats, serializes and waits for nothing. */
#ifndef CW_INJECT_TRACE_H
#define CW_INJECT_TRACE_H

#include "agent/inject/modes/trace_buffers.h"
#include "agent/inject/modes/trace_calls.h"
#include "agent/inject/modes/trace_early.h"
#include "agent/inject/modes/trace_nvtx.h"
#include "agent/inject/modes/trace_openmp.h"
#include "agent/inject/modes/trace_recording.h"
#include "agent/inject/modes/trace_records.h"
#include "agent/inject/ranges/mode.h"

extern const struct cw_inject_mode cw_inject_trace;

/* Ends the trace, not the program: waits a moment for running work, sends all rows and waits for the trace's threads.
 * cw_trace_reset then prepares for another trace. Call stop on one of our threads, without the library's lock, and
 * reset with the lock while nobody is in callbacks of the trace. */
void cw_trace_stop(void);
/* Sends the rows that there are by now. Call it without the lock. */
void cw_trace_flush(void);
bool cw_trace_reset(void); /* false if its thread does not end: no trace may follow then */

#endif
