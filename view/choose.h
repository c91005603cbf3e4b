/* Filters and sorts rows of groups by a request: groups of ranges and of a trace. */
#ifndef CW_VIEW_CHOOSE_H
#define CW_VIEW_CHOOSE_H

#include "eval/output/group_columns.h"
#include "view/view.h"

/* Groups to choose from. */
struct cw_choosing {
    enum cw_group_kind kind; /* columns of the groups */
    const char *called;      /* "of a trace by kernel", for messages; NULL: of ranges, which have metrics as well */
    uint32_t count;
    struct cw_group_row (*row)(const void *groups, uint32_t group); /* the columns' values of a group */
    const void *groups;
    const char *const *names;           /* [group] */
    const struct cw_counter_data *data; /* a row for each group, for metrics; NULL: no metrics */
};

/* Filters the rows that the caller has listed, sorts them by the request's sort, else by `order` (NULL: leaves their
 * order), and keeps the first `top`, 0: all. Sets their number, and the numbers of the others. */
enum cw_status cw_choose(struct cw_output_rows *chosen, const struct cw_choosing *from, const struct cw_view_input *in,
                         const char *order, size_t top);

#endif
