/* What a trace tells of memory and of the GPUs' environment. */
#ifndef CW_EVAL_TIMELINE_EXTRA_H
#define CW_EVAL_TIMELINE_EXTRA_H

#include "eval/timeline/timeline.h"

/* Memory of one kind that a process had on a device, by what it allocated while it was traced. */
struct cw_memory_use {
    uint32_t process, device, memory; /* memory: a name; device: of the file, or CW_NO_TRACE_DEVICE */
    uint64_t allocations, frees;
    double now, most; /* bytes, at the end and at most */
    uint64_t most_at; /* when, ns */
};

/* Readings of a device. */
enum cw_reading {
    CW_READING_SM_CLOCK,
    CW_READING_MEMORY_CLOCK,
    CW_READING_TEMPERATURE,
    CW_READING_POWER,
    CW_READING_FAN,
    CW_READING__COUNT
};
struct cw_environment {
    uint32_t device;
    uint64_t readings, throttled; /* throttled: those with a reason to be slow */
    struct cw_reading_range {
        uint64_t count;
        double least, greatest, sum;
    } of[CW_READING__COUNT];
};

struct cw_timeline_extra {
    uint32_t memory_count, environment_count;
    struct cw_memory_use *memory; /* the most first */
    struct cw_environment *environment;
};

/* All lives in `arena`. */
enum cw_status cw_timeline_find_extra(struct cw_timeline_extra *extra, const struct cw_timeline *timeline,
                                      struct cw_arena *arena, struct cw_error *err);

#endif
