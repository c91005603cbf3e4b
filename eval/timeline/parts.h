/* What the files that make a timeline share (eval/timeline/timeline.h). */
#ifndef CW_EVAL_TIMELINE_PARTS_H
#define CW_EVAL_TIMELINE_PARTS_H

#include "eval/keys.h"
#include "eval/timeline/timeline.h"

struct cw_timeline_work {
    struct cw_timeline *t;
    struct cw_arena *arena;
    struct cw_error *err;
    struct cw_keys streams;  /* process, the process's own device, context, stream */
    struct cw_keys threads;  /* process, thread */
    struct cw_keys shapes;   /* process, id */
    struct cw_keys paths;    /* parent, domain, name */
    struct cw_keys accounts; /* process, name of the kind */
};

/* Joins the texts of all processes. */
enum cw_status cw_timeline_join_names(struct cw_timeline_work *w);
/* Finds names for people: of kernels and calls. */
enum cw_status cw_timeline_show_names(struct cw_timeline_work *w);
/* Finds what names of processes and streams need. */
enum cw_status cw_timeline_tell_apart(struct cw_timeline_work *w);
/* Makes room for all rows, and reads them. Streams and threads are in the order in which they came, and items as well.
 */
enum cw_status cw_timeline_read_rows(struct cw_timeline_work *w, size_t file_size);
/* Brings streams, threads and all items into order. */
enum cw_status cw_timeline_sort(struct cw_timeline_work *w);
/* Finds what launched what, then the paths of ranges and calls, of what is in order. */
enum cw_status cw_timeline_find_calls(struct cw_timeline_work *w);
enum cw_status cw_timeline_find_paths(struct cw_timeline_work *w);
/* Finds how long the texts of paths are, and may be. */
enum cw_status cw_timeline_measure_paths(struct cw_timeline_work *w, size_t file_size);

#endif
