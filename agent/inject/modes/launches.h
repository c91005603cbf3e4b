/* Runs beside PM sampling: a trace, and windows. */
#ifndef CW_INJECT_LAUNCHES_H
#define CW_INJECT_LAUNCHES_H

#include "agent/common/filter.h"
#include "agent/inject/ranges/mode.h"

struct cw_launches {
    bool started;
    struct cw_filter_options options;
    struct cw_filter filter; /* selects the ranges or launches with a window, if the options name any */
    bool by_launch;          /* windows are for launches */
    bool open;               /* the window for ranges, or for the gate (gate.h), is open */
    uint32_t launch;         /* correlation of the launch whose window is open; 0: none */
    uint32_t context_count;
    CUcontext contexts[CW_MOST_CONTEXTS];
};
extern struct cw_launches *const cw_launches;

extern const struct cw_inject_mode cw_inject_launches_mode;

#endif
