/* Only traces: when each kernel ran. */
#ifndef CW_INJECT_TRACE_H
#define CW_INJECT_TRACE_H

#include <stdatomic.h>

#include "agent/inject/ranges/mode.h"

struct cw_trace {
    bool started;
    atomic_uint buffers; /* that CUPTI has; counted by its threads */
};
extern struct cw_trace *const cw_trace;

extern const struct cw_inject_mode cw_inject_trace;

#endif
