/* Timelines for viewers: Perfetto's and Chrome's formats of a view. */
#ifndef CW_VIEW_LANES_H
#define CW_VIEW_LANES_H

#include "view/timeline.h"

/* Gives a view both formats: of a trace, or of samples (NULL: none) beside it. Both must outlive the view. */
enum cw_status cw_view_lanes(struct counterworks_view *view, const struct cw_view_input *in,
                             const struct cw_timeline *timeline, const struct cw_result *samples);

#endif
