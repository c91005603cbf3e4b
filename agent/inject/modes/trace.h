/* Only traces: when each kernel ran. */
#ifndef CW_INJECT_TRACE_H
#define CW_INJECT_TRACE_H

#include "agent/inject/ranges/mode.h"

struct cw_trace {
    bool started;
};
extern struct cw_trace *const cw_trace;

extern const struct cw_inject_mode cw_inject_trace;

#endif
