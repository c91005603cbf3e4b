/* Rows of groups, filtered and ordered by a request: of ranges and of traces alike. */
#ifndef CW_VIEW_CHOOSE_H
#define CW_VIEW_CHOOSE_H

#include "eval/output/group_columns.h"
#include "view/view.h"

/* Groups that are chosen from. */
struct cw_choosing {
    enum cw_group_kind kind; /* which columns they have */
    const char *called;      /* "of a trace by kernel", for messages; NULL: of ranges, which have metrics as well */
    uint32_t count;
    struct cw_group_row (*row)(const void *groups, uint32_t group); /* the numbers of a group */
    const void *groups;
    const char *const *names;           /* [group] */
    const struct cw_counter_data *data; /* whose rows the groups are, for metrics; NULL: there are none */
};

struct cw_chosen {
    uint32_t *rows; /* groups, which the caller lists at first; room for all */
    uint32_t count;
    uint32_t left;             /* how many more there are than `top` */
    uint32_t dropped, unknown; /* see struct cw_output_rows */
};

/* Filters the rows, orders them by the request's sort, else by `order` (NULL: leaves them), and keeps `top`, 0: all. */
enum cw_status cw_choose(struct cw_chosen *chosen, const struct cw_choosing *from, const struct cw_view_input *in,
                         const char *order, size_t top);

#endif
