/* The two sides of a comparison of ranges. */
#ifndef CW_VIEW_SIDES_H
#define CW_VIEW_SIDES_H

#include "view/compare.h"

struct cw_view_sides {
    struct cw_view_input other; /* input of the second side */
    struct cw_result a, b;
};

/* Begins the second side; the first must have its metrics. */
enum cw_status cw_view_other_side(struct cw_view_sides *sides, const struct cw_view_input *in,
                                  const struct cw_view_other *other);
/* Reduces both sides to the ranges that the request wants. A range may be on one side alone. */
enum cw_status cw_view_leave_sides(struct cw_view_sides *sides, const struct cw_view_input *in);

#endif
