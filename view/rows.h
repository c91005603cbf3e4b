/* Rows of groups of ranges, by the request's filters, sort and top. */
#ifndef CW_VIEW_ROWS_H
#define CW_VIEW_ROWS_H

#include "eval/advice/advice.h"
#include "eval/ranges/groups.h"
#include "view/view.h"

/* Returns the request's grouping, or `otherwise`. CW_BY_FOLD becomes CW_BY_RANGE in a capture without multiplexed
 * ranges. */
enum cw_group_by cw_rows_by(const struct cw_view_input *in, enum cw_group_by otherwise);
/* Finds a grouping by name; CW_BY__COUNT for none. */
enum cw_group_by cw_rows_find_by(const char *name);

/* Groups the ranges that the request wants, and chooses `top` groups, 0 for all. With `times`, more than
 * CW_VIEW_MOST_KERNELS groups get times alone, without means of counters, unless the request filters or sorts. */
enum cw_status cw_rows_make(struct cw_output_rows *rows, struct cw_groups *groups, const struct cw_view_input *in,
                            enum cw_group_by by, size_t top, bool times);
/* Makes the rows of finished groups: by filters, sort (else `order`) and top. keep[group]: the groups to choose from;
 * NULL: all. */
enum cw_status cw_rows_choose(struct cw_output_rows *rows, const struct cw_groups *groups, const bool *keep,
                              const struct cw_view_input *in, const char *order, size_t top);
/* Evaluates metrics on the rows by `evaluate`, one of the calls in view/metrics.h. `counted`: in a join, the ranges
 * behind the groups' launches; else the groups. */
typedef enum cw_status cw_rows_evaluation(struct cw_result *result, const struct cw_view_input *in,
                                          const struct cw_counter_data *groups);
enum cw_status cw_rows_evaluate(struct cw_result *result, const struct cw_output_rows *rows,
                                const struct cw_groups *counted, const struct cw_view_input *in,
                                cw_rows_evaluation *evaluate);
/* Makes the table of the rows, which have the columns beside the values, such as advice. */
enum cw_status cw_rows_output(struct cw_output *output, const struct cw_view_input *in, const struct cw_result *result,
                              struct cw_output_rows *rows);

/* Advises on kernels or ranges; NULL for more than CW_VIEW_MOST_KERNELS. Rules that cannot be read become a notice. */
enum cw_status cw_rows_advise(const struct cw_advice **advice, const struct cw_view_input *in,
                              const struct cw_chip *chip, const struct cw_groups *groups);

#endif
