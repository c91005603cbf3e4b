/* Kinds of captures: the table of the steps in which they differ. */
#ifndef CW_VIEW_KIND_H
#define CW_VIEW_KIND_H

#include "view/view.h"

struct cw_kind {
    /* Checks the members of the request that captures of this kind refuse. */
    enum cw_status (*check)(const struct cw_view_input *in);
    /* Makes a view, whose arena is set. */
    enum cw_status (*make)(struct counterworks_view *view, const struct cw_view_input *in);
    bool has_metrics; /* evaluates metrics of a chip */
};

/* Checks that a capture other than a trace takes the request's form, one of `forms` (1 << COUNTERWORKS_LIST and so on),
 * and that the request names no kinds of a trace's rows. CW_ERR_USAGE. */
enum cw_status cw_kind_check_form(const struct cw_view_input *in, unsigned forms);

/* By enum cw_profiler. */
extern const struct cw_kind cw_view_ranges, cw_view_samples, cw_view_instructions, cw_view_trace;
const struct cw_kind *cw_kind_of(const struct counterworks_capture *capture);

#endif
