/* How the GPUs of a trace were used: when they were busy and with what, when they were idle and what the program did
 * then, and how soon launches ran. */
#ifndef CW_EVAL_TIMELINE_USAGE_H
#define CW_EVAL_TIMELINE_USAGE_H

#include "eval/timeline/idle.h"

/* Kernels that compute, those that communicate, copies and memsets. */
enum cw_gpu_work { CW_WORK_COMPUTE, CW_WORK_COMMUNICATE, CW_WORK_COPY, CW_WORK__COUNT };

struct cw_idle_gap {
    uint64_t start, end;
    uint32_t before, after;        /* items of timeline->gpu, or CW_TIMELINE_NONE at the ends */
    double causes[CW_IDLE__COUNT]; /* ns */
};
enum { CW_IDLE_LARGEST = 10 };

struct cw_device_usage {
    uint32_t device;                           /* index into the file's, or CW_NO_TRACE_DEVICE */
    double traced, busy, idle;                 /* ns; traced: the trace's span, or the windows in it, and `within` */
    double work[CW_WORK__COUNT];               /* in which something of the kind ran */
    double alone[CW_WORK__COUNT];              /* and nothing of another */
    double causes[CW_IDLE__COUNT];             /* of idle */
    uint64_t cause_gaps[CW_IDLE__COUNT], gaps; /* of which a gap was mostly */
    uint32_t largest_count;
    struct cw_idle_gap largest[CW_IDLE_LARGEST]; /* the longest first */
};

/* Times from a launching call's begin to the start on the GPU, of kernels. `within`: the least time, ns, that no more
 * than the rest of them takes longer than. */
enum cw_latency_part { CW_LATENCY_HALF, CW_LATENCY_90, CW_LATENCY_99, CW_LATENCY_ALL, CW_LATENCY__COUNT };
struct cw_latency {
    uint64_t count, within[CW_LATENCY__COUNT];
};

struct cw_timeline_usage {
    uint32_t device_count;
    struct cw_device_usage *devices;   /* those with a stream, in the file's order */
    struct cw_latency at_once, queued; /* of launches into a stream that had nothing to do, and of others */
    bool some_left;                    /* gaps so many that not all causes were looked for: the rest is unknown */
};

/* `within`: times that are looked at, in order and apart; none: all. Behind the last row of processes that were cut off
 * (timeline->cut) a device's time is not known, and is in no sum. Latencies are those of all launches. All lives in
 * `arena`. CW_ERR_NOMEM alone. */
enum cw_status cw_timeline_use(struct cw_timeline_usage *usage, const struct cw_timeline *timeline,
                               const struct cw_timeline_window *within, uint32_t within_count, struct cw_arena *arena,
                               struct cw_error *err);

/* All devices together, ns. */
struct cw_idle_sum {
    double traced, busy, idle, causes[CW_IDLE__COUNT];
    uint64_t gaps, cause_gaps[CW_IDLE__COUNT];
};
struct cw_idle_sum cw_idle_add(const struct cw_timeline_usage *usage);

/* What the clocks of CPU and GPU say that cannot be, in ns: the difference that they had at least. */
struct cw_causality {
    uint64_t launches, waits; /* that were looked at */
    uint64_t early, late;     /* kernels that started before their call began; that ended after a wait for them */
    uint64_t most_early, most_late;
    uint32_t earliest, latest; /* such a one, item of timeline->gpu; CW_TIMELINE_NONE for none */
};
struct cw_causality cw_timeline_check_clocks(const struct cw_timeline *timeline);

#endif
