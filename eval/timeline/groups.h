/* The items of a trace added up in groups: GPU work by kernel, NVTX range, stream and so on, and calls by name. */
#ifndef CW_EVAL_TIMELINE_GROUPS_H
#define CW_EVAL_TIMELINE_GROUPS_H

#include "eval/timeline/timeline.h"

enum cw_timeline_by {
    CW_TIMELINE_BY_KERNEL, /* kernels by name; all whole graphs are one group */
    CW_TIMELINE_BY_FAMILY, /* kernels of one family (base/shorten.h) */
    CW_TIMELINE_BY_NVTX,   /* GPU work in each of the NVTX ranges around its launch, so groups add up to more than the
                              whole. Ranges whose names differ in numbers only are one group: "step 1", "step 2" */
    CW_TIMELINE_BY_STREAM,
    CW_TIMELINE_BY_DEVICE,
    CW_TIMELINE_BY_PROCESS,
    CW_TIMELINE_BY_RANK,
    CW_TIMELINE_BY_COPY,      /* copies by direction and kinds of memory; memsets by memory */
    CW_TIMELINE_BY_CALL,      /* calls by name, over all threads */
    CW_TIMELINE_BY_NVTX_EACH, /* as by NVTX, each name by itself */
    CW_TIMELINE_BY_GRAPH,     /* GPU work of CUDA graphs, by process and graph */
    CW_TIMELINE_BY__COUNT
};
/* "kernel", "family", ... */
extern const char *const cw_timeline_by_names[CW_TIMELINE_BY__COUNT];

struct cw_timeline_groups {
    const struct cw_timeline *t;
    enum cw_timeline_by by;
    uint32_t count;
    struct cw_timeline_group {
        uint32_t first; /* gives the group its name: the first item in gpu or calls; by NVTX the path; by graph the
                         * longest item */
        uint64_t count, failed;        /* failed: calls that returned an error */
        double total, least, greatest; /* ns */
        double bytes;                  /* NaN if those of a copy or a memset are unknown */
        double middle, deviation;      /* median and standard deviation of the items' times; NaN by NVTX range or
                                          graph, and without `spread` */
        double own;                    /* by NVTX: ns of items that are in no inner range */
        uint64_t other_thread;         /* items launched by threads without a range of their own */
        /* By NVTX: how often the range was opened, by all threads, and ns from opening to end. By graph: how often the
         * graph was launched, and ns from a launch's first start to its last end. */
        uint64_t ranges;
        double wall, fastest, median, longest; /* wall: the sum */
        uint32_t slowest;                      /* the longest range, index into ranges, or CW_TIMELINE_NONE */
        uint64_t graph, nodes;                 /* by graph: its number, and the count of its nodes that ran */
    } * items;                                 /* the longest total first */
    double total;                              /* ns, of all items but calls within other calls */
    uint64_t item_count;
    uint64_t other_thread;       /* items launched by threads without a range of their own */
    const char *const *families; /* by family: [name] */
    const bool *mixed;           /* by NVTX: [path], whether its group has ranges of several names */
};

static inline bool cw_timeline_by_ranges(enum cw_timeline_by by)
{
    return by == CW_TIMELINE_BY_NVTX || by == CW_TIMELINE_BY_NVTX_EACH;
}

/* The mean time of an item, 0 without items. */
static inline double cw_timeline_group_mean(const struct cw_timeline_group *group)
{
    return group->count ? group->total / (double)group->count : 0;
}

/* Which part of a trace counts: [item] of timeline->gpu, calls, paths (and their ranges), waits and marks; NULL: all.
 */
struct cw_timeline_keep {
    const bool *gpu, *calls, *paths, *waits, *marks;
    uint64_t kinds; /* CW_TRACE_BIT of the kinds that this can choose from, others have no row; 0: all */
    const struct cw_timeline_window *within; /* when ranges were open, in order and apart; NULL: all the time */
    uint32_t within_count;
};

/* Adds up; `keep` NULL: all items. `spread`: also computes median and deviation, with 12 bytes an item meanwhile.
 * Everything lives in `arena`. CW_ERR_NOMEM alone. */
enum cw_status cw_timeline_group(struct cw_timeline_groups *groups, enum cw_timeline_by by,
                                 const struct cw_timeline *timeline, const struct cw_timeline_keep *keep, bool spread,
                                 struct cw_arena *arena, struct cw_error *err);

/* The functions below return `text`. */
/* The name of a group; a long one is elided (base/elide.h). */
const char *cw_timeline_group_name(const struct cw_timeline_groups *groups, uint32_t group,
                                   char text[CW_TIMELINE_NAME_SIZE]);
/* The numbers of a group's slowest range, "3/12", in place of the stars of the group's name; "" without stars. */
const char *cw_timeline_group_slowest(const struct cw_timeline_groups *groups, uint32_t group,
                                      char text[CW_TIMELINE_NAME_SIZE]);
/* " of context 3" or " of an unknown context" for a stream that shares its number, "" for others. Returns `text`. */
#define CW_TIMELINE_CONTEXT_SIZE 40
const char *cw_timeline_context(const struct cw_timeline_stream *stream, char text[CW_TIMELINE_CONTEXT_SIZE]);
/* "rank 1 stream 7 main device 0 process 4000"; of one process and device "stream 7 main". The parts that tell streams
 * apart come first, since the end may be cut. */
const char *cw_timeline_name_stream(const struct cw_timeline *timeline, const struct cw_timeline_stream *stream,
                                    char text[CW_TIMELINE_NAME_SIZE]);
/* "HtoD from pageable to device", "memset of device". */
const char *cw_timeline_name_copy(const struct cw_timeline *timeline, const struct cw_timeline_gpu *gpu,
                                  char text[CW_TIMELINE_NAME_SIZE]);

/* Whether a kernel communicates, by its name: kernels of NCCL and NVSHMEM. */
bool cw_timeline_communicates(const char *kernel);

#endif
