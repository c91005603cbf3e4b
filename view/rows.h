/* Rows of groups of ranges, chosen and ordered by a request: its filters, sort and top. */
#ifndef CW_VIEW_ROWS_H
#define CW_VIEW_ROWS_H

#include "eval/advice/advice.h"
#include "eval/ranges/groups.h"
#include "view/view.h"

struct cw_rows {
    struct cw_groups groups;
    uint32_t *rows;                  /* groups */
    uint32_t count, left;            /* of them; how many more than `top` there are */
    uint32_t dropped, unknown;       /* see struct cw_output_rows */
    const struct cw_groups *counted; /* of a join: the ranges that stand for the groups' launches; else NULL */
};

/* The grouping of the request, or `otherwise`; CW_BY_RANGE for CW_BY_FOLD where nothing was multiplexed. */
enum cw_group_by cw_rows_by(const struct cw_view_input *in, enum cw_group_by otherwise);
/* The grouping of that name; CW_BY__COUNT for none. */
enum cw_group_by cw_rows_find_by(const char *name);

/* Groups the ranges that are wanted, and chooses `top` of them, 0 for all. `times`: of more groups than advice is made
 * of there are no means, unless rows are chosen by their values. */
enum cw_status cw_rows_make(struct cw_rows *rows, const struct cw_view_input *in, enum cw_group_by by, size_t top,
                            bool times);
/* Chooses among groups that are made: by filters, sort (else `order`) and top. */
enum cw_status cw_rows_choose(struct cw_rows *rows, const struct cw_view_input *in, const char *order, size_t top);
/* Evaluates metrics on the rows: by `evaluate`, one of the calls in view/view.h. */
typedef enum cw_status cw_rows_evaluation(struct cw_result *result, const struct cw_view_input *in,
                                          const struct cw_counter_data *groups);
enum cw_status cw_rows_evaluate(struct cw_result *result, const struct cw_rows *rows, const struct cw_view_input *in,
                                cw_rows_evaluation *evaluate);
/* The table of the rows; `shown` brings what is said beside the values. */
enum cw_status cw_rows_output(struct cw_output *output, const struct cw_view_input *in, const struct cw_rows *rows,
                              const struct cw_result *result, struct cw_output_rows *shown);

/* Advice on kernels or ranges; NULL where they are more than CW_VIEW_MOST_KERNELS. Rules that cannot be read are told
 * and left out. */
enum cw_status cw_rows_advise(const struct cw_advice **advice, const struct cw_view_input *in,
                              const struct cw_chip *chip, const struct cw_groups *groups);

#endif
