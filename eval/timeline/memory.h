/* Memory that a traced program got and gave back, in the order of time: rows of a file are not in it. */
#ifndef CW_EVAL_TIMELINE_MEMORY_H
#define CW_EVAL_TIMELINE_MEMORY_H

#include "eval/timeline/timeline.h"

/* A row with a time. What is freed is of the kind and device, and as large, as the row says that allocated it. */
struct cw_memory_change {
    uint64_t time, address;
    uint64_t bytes;                   /* CW_TRACE_UNKNOWN: not known */
    double now;                       /* bytes of its use that the program has behind this */
    uint32_t process, device, memory; /* memory: a name; device: of the file, or CW_NO_TRACE_DEVICE */
    uint32_t use;                     /* the number of these three, from 0 on as they come first */
    bool freed;
};

/* What was freed without having been seen to be allocated was there before, so that nothing is below 0. */
struct cw_memory_changes {
    struct cw_memory_change *items;
    size_t count, room;
    uint32_t use_count;
};

/* To be freed in any case. CW_ERR_NOMEM, or what is wrong with a block. */
enum cw_status cw_timeline_find_memory(struct cw_memory_changes *changes, const struct cw_timeline *timeline,
                                       struct cw_error *err);
void cw_memory_changes_free(struct cw_memory_changes *changes);

#endif
