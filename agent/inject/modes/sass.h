/* SASS metrics of each context. */
#ifndef CW_INJECT_SASS_H
#define CW_INJECT_SASS_H

#include "agent/common/filter.h"
#include "agent/inject/ranges/mode.h"
#include "image/pc_data.h"

enum { CW_SASS_MOST_METRICS = 256 };

struct cw_patched { /* a context under SASS metrics */
    CUcontext context;
    uint32_t device;
    bool launched, running;
    uint64_t since_ns;
};

struct cw_sass {
    /* from SETUP: */
    uint32_t metric_count;
    struct cw_sass_metric *metrics;
    struct cw_filter_options options;
    struct cw_filter filter;            /* selects kernels */
    uint64_t ids[CW_SASS_MOST_METRICS]; /* CUPTI's ids of the metrics */
    uint64_t configured;                /* bit for each device number */
    uint32_t context_count;
    struct cw_patched contexts[CW_MOST_CONTEXTS];
    size_t launched_count, launched_capacity;
    struct cw_sass_kernel *launched;
    bool one_context; /* this CUPTI counts in one context at a time */
    bool until_graph; /* counting ended before the first graph */
};
extern struct cw_sass *const cw_sass;

extern const struct cw_inject_mode cw_inject_sass;

#endif
