/* Streams and CUDA events among the parameters of calls of runtime and driver. */
#ifndef CW_INJECT_TRACE_HANDLES_H
#define CW_INJECT_TRACE_HANDLES_H

#include "agent/inject/modes/trace_fields.h"

/* The stream that a call was given, CU_STREAM_PER_THREAD where 0 means the thread's own. False for a call that has
 * none, and for one that refused its parameters: its stream may not exist. */
bool cw_trace_stream_of(CUstream *stream, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                        const CUpti_CallbackData *call);
/* The handle of the event that a call makes, records, waits for, asks for or destroys; CW_TRACE_UNKNOWN: none. */
uint64_t cw_trace_event_of(CUpti_CallbackDomain domain, CUpti_CallbackId id, const CUpti_CallbackData *call);
/* Whether a call destroys its stream. */
bool cw_trace_ends_stream(CUpti_CallbackDomain domain, CUpti_CallbackId id);

#endif
