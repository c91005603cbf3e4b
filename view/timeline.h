/* Traces of captures, as timelines. */
#ifndef CW_VIEW_TIMELINE_H
#define CW_VIEW_TIMELINE_H

#include "eval/timeline/groups.h"
#include "eval/timeline/timeline.h"
#include "view/view.h"

/* Reads the capture's trace; processes of other ranks than the request wants, and copies of processes, are left out. To
 * be freed in any case (cw_timeline_free). */
enum cw_status cw_view_timeline(struct cw_timeline *timeline, const struct cw_view_input *in);

/* A trace for several views, such as a file and the list beside it. Begins as {.arena = ...}, an arena of the caller's
 * that lives as long as they do; to be freed after them. */
struct cw_view_shared {
    struct cw_arena *arena;
    bool read;
    struct cw_timeline timeline;
    struct cw_joined *joined; /* NULL: not made */
};

/* Reads the trace as cw_view_timeline, unless an earlier view has. */
enum cw_status cw_view_share_timeline(struct cw_view_shared *shared, const struct cw_view_input *in);
void cw_view_share_free(struct cw_view_shared *shared);

/* CW_ERR_INPUT where nothing is left of a trace that was cut off. */
enum cw_status cw_view_need_rows(const struct cw_timeline *timeline, const struct cw_view_input *in);

/* Which part of a trace a request chooses by kernel and range. */
struct cw_trace_choice {
    struct cw_timeline_keep keep;
    struct cw_timeline_window
        *within; /* when the ranges of the request were open, in order and apart; NULL: all the time */
    uint32_t within_count;
};

/* With `or_none` the choice may be empty. In the input's arena. */
enum cw_status cw_trace_choose(struct cw_trace_choice *choice, const struct cw_view_input *in,
                               const struct cw_timeline *timeline, bool or_none);

#endif
