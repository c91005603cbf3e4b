/* Timelines for viewers: Perfetto's and Chrome's forms of a view. */
#ifndef CW_VIEW_LANES_H
#define CW_VIEW_LANES_H

#include "view/timeline.h"

/* Gives a view these forms, of a trace, or of samples (NULL: none) with the trace beside them; both have to stay. */
enum cw_status cw_view_lanes(struct counterworks_view *view, const struct cw_view_input *in,
                             const struct cw_timeline *timeline, const struct cw_result *samples);

#endif
