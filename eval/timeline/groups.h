/* What ran on the GPUs of a trace, added up: by kernel, NVTX range, stream and so on, and calls by name. */
#ifndef CW_EVAL_TIMELINE_GROUPS_H
#define CW_EVAL_TIMELINE_GROUPS_H

#include "eval/timeline/timeline.h"

enum cw_timeline_by {
    CW_TIMELINE_BY_KERNEL, /* kernels by name; whole graphs are one */
    CW_TIMELINE_BY_FAMILY, /* kernels of one family (base/shorten.h) */
    CW_TIMELINE_BY_NVTX,   /* all that ran, in each of the NVTX ranges around its launch: they add up to more than all.
                              Ranges whose names differ in their numbers alone are one: "step 1", "step 2" */
    CW_TIMELINE_BY_STREAM,
    CW_TIMELINE_BY_DEVICE,
    CW_TIMELINE_BY_PROCESS,
    CW_TIMELINE_BY_RANK,
    CW_TIMELINE_BY_COPY,      /* copies by direction and kinds of memory; memsets by memory */
    CW_TIMELINE_BY_CALL,      /* calls by name, over all threads */
    CW_TIMELINE_BY_NVTX_EACH, /* as by NVTX, each name by itself */
    CW_TIMELINE_BY_GRAPH,     /* what ran in CUDA graphs, by graph of a process */
    CW_TIMELINE_BY__COUNT
};
/* "kernel", "family", ... */
extern const char *const cw_timeline_by_names[CW_TIMELINE_BY__COUNT];

struct cw_timeline_group {
    uint32_t first; /* an item of it, for its name: the first in gpu or calls; of NVTX ranges the path; of graphs the
                     * longest item */
    uint64_t count, failed;               /* failed: calls that returned an error */
    double total, least, greatest, bytes; /* times in ns */
    double middle, deviation;             /* median and standard deviation of the items' times; NaN by NVTX range or
                                             graph, and without `spread` */
    double own;                           /* of NVTX ranges: in no range within it */
    uint64_t other_thread;                /* of those counted: launched by threads that have no range of their own */
    /* Of NVTX ranges: how often it was opened, of all threads, and ns from there to its end. Of graphs: how often it
     * was launched, and ns from the first start of a launch to its last end. */
    uint64_t ranges;
    double wall, fastest, median, longest; /* wall: added up */
    uint32_t slowest;                      /* the longest range, index into ranges, or CW_TIMELINE_NONE */
    uint64_t graph, nodes;                 /* of graphs: its number and of how many nodes something ran */
};

struct cw_timeline_groups {
    const struct cw_timeline *t;
    enum cw_timeline_by by;
    uint32_t count;
    struct cw_timeline_group *items; /* the longest total first */
    double total;                    /* ns, of all */
    uint64_t item_count;             /* of all */
    uint64_t other_thread;           /* of all: launched by threads that have no range of their own */
    const char *const *families;     /* of each name, by family alone */
    const bool *mixed;               /* by NVTX: of each path, whether its group has ranges of other names */
};

static inline bool cw_timeline_by_ranges(enum cw_timeline_by by)
{
    return by == CW_TIMELINE_BY_NVTX || by == CW_TIMELINE_BY_NVTX_EACH;
}

/* Of what ran, 0 where nothing did. */
static inline double cw_timeline_group_mean(const struct cw_timeline_group *group)
{
    return group->count ? group->total / (double)group->count : 0;
}

/* Which of it is looked at: by item of timeline->gpu, calls, paths (of whose ranges), waits and marks; NULL: all. */
struct cw_timeline_keep {
    const bool *gpu, *calls, *paths, *waits, *marks;
    uint64_t kinds; /* CW_TRACE_BIT of those whose rows can be chosen so: there are none of others; 0: all */
};

/* Adds up; `keep` NULL: all. `spread`: computes median and deviation as well, for 12 bytes an item while it runs. All
 * lives in `arena`. CW_ERR_NOMEM alone. */
enum cw_status cw_timeline_group(struct cw_timeline_groups *groups, enum cw_timeline_by by,
                                 const struct cw_timeline *timeline, const struct cw_timeline_keep *keep, bool spread,
                                 struct cw_arena *arena, struct cw_error *err);

/* The name of a group, elided where it is longer (base/elide.h). Returns `text`. */
const char *cw_timeline_group_name(const struct cw_timeline_groups *groups, uint32_t group,
                                   char text[CW_TIMELINE_NAME_SIZE]);

/* What tells the slowest range of a group from the others, where they have several names: the numbers that stand where
 * the group's name has stars, "3/12"; else "". Returns `text`. */
const char *cw_timeline_group_slowest(const struct cw_timeline_groups *groups, uint32_t group,
                                      char text[CW_TIMELINE_NAME_SIZE]);

/* Whether a name is that of a kernel that communicates: of NCCL and NVSHMEM. */
bool cw_timeline_communicates(const char *kernel);

#endif
