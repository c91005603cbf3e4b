/* Rows of a trace that few readers want: memory that the program allocated and freed, unified memory that moved, and
 * the GPUs' environment. */
#ifndef CW_EVAL_TIMELINE_MEMORY_H
#define CW_EVAL_TIMELINE_MEMORY_H

#include "eval/timeline/timeline.h"

/* Allocations and frees that have a time, in the order of time. Memory that was freed but never seen to be allocated
 * was there before, so no sum falls below 0. */
struct cw_memory_changes {
    struct cw_memory_change {
        uint64_t time, address;
        uint64_t bytes;                   /* of a free: as allocated; CW_TRACE_UNKNOWN: not known */
        double now;                       /* bytes in this use after the change */
        uint32_t process, device, memory; /* memory: a name; device: of the file, or CW_NO_TRACE_DEVICE; of a free: as
                                             allocated */
        uint32_t use;                     /* number of this process, device and memory, from 0 on as they come first */
        bool freed;
    } * items;
    size_t count, room;
    uint32_t use_count;
};

/* Free the changes in any case. CW_ERR_NOMEM, or the error of a damaged block. */
enum cw_status cw_timeline_find_memory(struct cw_memory_changes *changes, const struct cw_timeline *timeline,
                                       struct cw_error *err);
void cw_memory_changes_free(struct cw_memory_changes *changes);

/* Readings of a device. */
enum cw_reading {
    CW_READING_SM_CLOCK,
    CW_READING_MEMORY_CLOCK,
    CW_READING_TEMPERATURE,
    CW_READING_POWER,
    CW_READING_FAN,
    CW_READING__COUNT
};

struct cw_timeline_extra {
    uint32_t memory_count, unified_count, environment_count;
    struct cw_memory_use {                /* of one process, device and kind of memory, while it was traced */
        uint32_t process, device, memory; /* as of a change */
        uint64_t allocations, frees;
        double now, most;                     /* bytes, at the end and at most */
        uint64_t most_at;                     /* when, ns */
    } * memory;                               /* the largest `most` first */
    struct cw_unified_use {                   /* events of unified memory that are alike */
        uint32_t type, cause, source, target; /* names; devices of the file, or CW_NO_TRACE_DEVICE */
        uint64_t events;
        double value, ns; /* sums: bytes or page faults, by the type; time that they took */
    } * unified;          /* the longest first */
    struct cw_environment {
        uint32_t device;
        uint64_t readings, throttled; /* throttled: readings that give a reason to be slow */
        struct cw_reading_range {
            uint64_t count;
            double least, greatest, sum;
        } of[CW_READING__COUNT];
    } * environment; /* of each device */
};

/* Everything lives in `arena`. */
enum cw_status cw_timeline_find_extra(struct cw_timeline_extra *extra, const struct cw_timeline *timeline,
                                      struct cw_arena *arena, struct cw_error *err);

#endif
