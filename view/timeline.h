/* Reads the traces of captures as timelines. */
#ifndef CW_VIEW_TIMELINE_H
#define CW_VIEW_TIMELINE_H

#include "eval/timeline/groups.h"
#include "eval/timeline/timeline.h"
#include "view/view.h"

/* Reads the capture's trace, without processes of ranks that the request leaves out, and without copies of processes.
 * Free it in any case (cw_timeline_free). */
enum cw_status cw_view_timeline(struct cw_timeline *timeline, const struct cw_view_input *in);

/* A trace for several views, such as a file and a list. Initialize as {.arena = ...}, with an arena that outlives the
 * views; free it after them. */
struct cw_view_shared {
    struct cw_arena *arena;
    bool read;
    struct cw_timeline timeline;
    struct cw_joined *joined; /* NULL: not made yet */
};

/* Reads the trace as cw_view_timeline, unless an earlier view has read it. */
enum cw_status cw_view_share_timeline(struct cw_view_shared *shared, const struct cw_view_input *in);
void cw_view_share_free(struct cw_view_shared *shared);

/* CW_ERR_INPUT for a trace that was cut off before its first row. */
enum cw_status cw_view_need_rows(const struct cw_timeline *timeline, const struct cw_view_input *in);

/* Selects the part of a trace that the request names by kernel and range, in the input's arena. CW_ERR_USAGE for
 * nothing, unless `or_none`. */
enum cw_status cw_trace_choose(struct cw_timeline_keep *keep, const struct cw_view_input *in,
                               const struct cw_timeline *timeline, bool or_none);

#endif
