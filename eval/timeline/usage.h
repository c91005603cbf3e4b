/* How the GPUs of a trace were used: when they were busy and with which work, when they were idle and why, and how soon
 * launches ran. */
#ifndef CW_EVAL_TIMELINE_USAGE_H
#define CW_EVAL_TIMELINE_USAGE_H

#include "eval/timeline/timeline.h"

/* Kernels that compute, kernels that communicate, copies and memsets. */
enum cw_gpu_work { CW_WORK_COMPUTE, CW_WORK_COMMUNICATE, CW_WORK_COPY, CW_WORK__COUNT };

/* The activity of the thread that then launched the item behind an idle gap. While this thread is in no call of CUDA,
 * another thread that launches may have held it up: by allocating memory or loading code. */
enum cw_idle_cause {
    CW_IDLE_OWN,     /* no call of CUDA: the program's own work */
    CW_IDLE_LAUNCH,  /* launching: from the call to the start on the GPU */
    CW_IDLE_WAIT,    /* waiting in a synchronization, or in a copy that synchronizes */
    CW_IDLE_MEMORY,  /* allocating or freeing memory */
    CW_IDLE_LOADING, /* loading or compiling modules and functions */
    CW_IDLE_CALL,    /* other calls */
    CW_IDLE_TRACING, /* tracing itself */
    CW_IDLE_QUEUED,  /* launched before: the GPU went from one item to the next, or waited for an event */
    CW_IDLE_UNKNOWN, /* the launching call is not known, or it lies behind a window or the file */
    CW_IDLE_END,     /* no item followed */
    CW_IDLE__COUNT
};

enum { CW_IDLE_LARGEST = 10 };

/* Quantiles of the times from a call to the start of its kernel on the GPU. */
enum cw_latency_part { CW_LATENCY_HALF, CW_LATENCY_90, CW_LATENCY_99, CW_LATENCY_ALL, CW_LATENCY__COUNT };

struct cw_timeline_usage {
    uint32_t device_count;
    struct cw_device_usage {
        uint32_t device;                           /* index into the file's, or CW_NO_TRACE_DEVICE */
        double traced, busy, idle;                 /* ns; traced: the trace's span, or its windows, within `within` */
        double work[CW_WORK__COUNT];               /* ns in which work of this kind ran */
        double alone[CW_WORK__COUNT];              /* and no other kind */
        double causes[CW_IDLE__COUNT];             /* of idle */
        uint64_t cause_gaps[CW_IDLE__COUNT], gaps; /* cause_gaps: gaps by their main cause */
        uint32_t largest_count;
        struct cw_idle_gap {
            uint64_t start, end;
            uint32_t before, after;        /* items of timeline->gpu, or CW_TIMELINE_NONE at the ends */
            double causes[CW_IDLE__COUNT]; /* ns */
        } largest[CW_IDLE_LARGEST];        /* the longest first */
    } * devices;                           /* devices with a stream, in the file's order */
    struct cw_latency {
        uint64_t count, within[CW_LATENCY__COUNT]; /* within: ns, the shortest time that this part does not exceed */
    } at_once, queued;                             /* launches into a stream without other work, and others */
    bool some_left; /* there are more gaps than the search for causes takes: the rest is CW_IDLE_UNKNOWN */
};

/* `within`: the times that count, in order and apart; none: all. A device's time is not known, and in no sum, after the
 * last row of processes that were cut off (timeline->cut). Latencies are of all launches. Everything lives in `arena`.
 * CW_ERR_NOMEM alone. */
enum cw_status cw_timeline_use(struct cw_timeline_usage *usage, const struct cw_timeline *timeline,
                               const struct cw_timeline_window *within, uint32_t within_count, struct cw_arena *arena,
                               struct cw_error *err);

/* All devices together: `traced`, `busy`, `idle`, `causes`, `gaps` and `cause_gaps`. */
struct cw_device_usage cw_timeline_usage_sum(const struct cw_timeline_usage *usage);

/* Effects before their causes, in ns: the least error of the clocks of CPU and GPU. */
struct cw_causality {
    uint64_t launches, waits; /* checked */
    uint64_t early, late;     /* kernels that started before their call; kernels that ended after a wait for them */
    uint64_t most_early, most_late;
    uint32_t earliest, latest; /* the worst of each, item of timeline->gpu; CW_TIMELINE_NONE without one */
};
struct cw_causality cw_timeline_check_clocks(const struct cw_timeline *timeline);

#endif
