/* Traces of captures, as timelines. */
#ifndef CW_VIEW_TIMELINE_H
#define CW_VIEW_TIMELINE_H

#include "eval/timeline/groups.h"
#include "eval/timeline/timeline.h"
#include "view/view.h"

/* Reads the capture's trace; processes of other ranks than the request wants, and copies of processes, are left out. To
 * be freed in any case (cw_timeline_free). */
enum cw_status cw_view_timeline(struct cw_timeline *timeline, const struct cw_view_input *in);
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
