/* Shared by the files that make a timeline (eval/timeline/timeline.h). */
#ifndef CW_EVAL_TIMELINE_PARTS_H
#define CW_EVAL_TIMELINE_PARTS_H

#include "eval/keys.h"
#include "eval/timeline/timeline.h"

/* Lists whose items stand in lanes. */
enum cw_timeline_laned { CW_LANED_GPU, CW_LANED_CALLS, CW_LANED_RANGES, CW_LANED_MARKS, CW_LANED__COUNT };

struct cw_timeline_work {
    struct cw_timeline *t;
    struct cw_arena *arena;
    struct cw_error *err;
    struct cw_keys streams;  /* process, the process's own device, context, stream */
    struct cw_keys threads;  /* process, thread */
    struct cw_keys shapes;   /* process, id */
    struct cw_keys paths;    /* parent, domain, name */
    struct cw_keys accounts; /* process, name of the kind */
    /* By lane as first seen: its final place, and the count of its items. */
    const uint32_t *stream_rank, *thread_rank;
    struct cw_timeline_counts {
        uint32_t *items;
        size_t room;
    } counts[CW_LANED__COUNT];
};

/* The list of items of one lane. */
static inline struct cw_timeline_list *cw_timeline_lane(const struct cw_timeline *t, enum cw_timeline_laned list,
                                                        uint32_t lane)
{
    return list == CW_LANED_GPU      ? &t->streams[lane].gpu
           : list == CW_LANED_CALLS  ? &t->threads[lane].calls
           : list == CW_LANED_RANGES ? &t->threads[lane].ranges
                                     : &t->threads[lane].marks;
}

/* Joins the texts of all processes. */
enum cw_status cw_timeline_join_names(struct cw_timeline_work *w);
/* Finds names of kernels and calls for people. */
enum cw_status cw_timeline_show_names(struct cw_timeline_work *w);
/* Finds the marks that tell processes and streams of one number or name apart. */
enum cw_status cw_timeline_tell_apart(struct cw_timeline_work *w);
/* Brings streams and threads into order, with room for the items of each, and names them. */
enum cw_status cw_timeline_sort_lanes(struct cw_timeline_work *w);
/* Brings the items of each lane into order. */
enum cw_status cw_timeline_sort_items(struct cw_timeline_work *w);
/* Finds the call behind each item, then the paths of ranges and calls. The items are in order. */
enum cw_status cw_timeline_find_calls(struct cw_timeline_work *w);
enum cw_status cw_timeline_find_paths(struct cw_timeline_work *w);
/* Finds how long the texts of paths are, and may be. */
enum cw_status cw_timeline_measure_paths(struct cw_timeline_work *w, size_t file_size);

#endif
