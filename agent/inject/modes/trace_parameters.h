/* Parameters of calls of runtime and driver: the memory that they allocate, free, copy, set, map or move. */
#ifndef CW_INJECT_TRACE_PARAMETERS_H
#define CW_INJECT_TRACE_PARAMETERS_H

#include "agent/inject/modes/trace_fields.h"

struct cw_trace_parameters {
    uint64_t bytes, address, source; /* source: of a copy; CW_TRACE_UNKNOWN: the call has none */
};

/* Reads the parameters of a call that returned without an error: some are pointers to results. */
struct cw_trace_parameters cw_trace_parameters_of(CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                                  const CUpti_CallbackData *call);

#endif
