/* Only traces: when each kernel ran. */
#ifndef CW_INJECT_TRACE_H
#define CW_INJECT_TRACE_H

#include "agent/inject/ranges/mode.h"

#define CW_TRACE_FUNCTIONS(X)                                                                                          \
    X(cuptiActivityRegisterTimestampCallback)                                                                          \
    X(cuptiActivityRegisterCallbacks)                                                                                  \
    X(cuptiActivityFlushPeriod)                                                                                        \
    X(cuptiActivityEnable)                                                                                             \
    X(cuptiActivityFlushAll)                                                                                           \
    X(cuptiActivityGetNextRecord)                                                                                      \
    X(cuptiActivityGetNumDroppedRecords)

struct cw_trace {
#define X(name) __typeof__(&name) name;
    CW_TRACE_FUNCTIONS(X)
#undef X
    bool started;
};
extern struct cw_trace *const cw_trace;

extern const struct cw_inject_mode cw_inject_trace;

#endif
