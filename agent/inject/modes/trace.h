/* Only traces: when each kernel ran. */
#ifndef CW_INJECT_TRACE_H
#define CW_INJECT_TRACE_H

#include "agent/inject/ranges/mode.h"

extern const struct cw_inject_mode cw_inject_trace;

#endif
