/* Selects ranges of a capture by the request's ranks, numbers and names. */
#ifndef CW_VIEW_SELECTION_H
#define CW_VIEW_SELECTION_H

#include "view/view.h"

/* Returns the first option of the request that selects ranges, for messages, such as "--range"; NULL: none does. */
const char *cw_selection_option(const struct counterworks_request *wanted);
/* Whether the request wants launches, or a process, with this text of a rank; NULL: of no rank. */
bool cw_selection_has_rank(const struct counterworks_request *wanted, const char *rank);
/* Finds the ranges of the capture that the request wants, (*keep)[range]; NULL: all. CW_ERR_USAGE for none, unless
 * `or_none`. */
enum cw_status cw_view_keep(const bool **keep, const struct cw_view_input *in, bool or_none);
/* Reduces the data of a selected result to the ranges that the request wants. CW_ERR_USAGE for none, unless `or_none`.
 * *count: their number. */
enum cw_status cw_view_leave(struct cw_result *result, const struct cw_view_input *in, bool or_none, uint32_t *count);
/* As cw_view_keep, among the ranges of `data`; reads its `range_count`, and cw_launch_of() each. parents[range]: the
 * range around it, which selects it as well; NULL: no range has one. */
enum cw_status cw_select_ranges(bool *keep, const struct cw_view_input *in, const struct cw_counter_data *data,
                                const uint32_t *parents, bool or_none);

#endif
