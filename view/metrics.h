/* From names of metrics to values. */
#ifndef CW_VIEW_METRICS_H
#define CW_VIEW_METRICS_H

#include "eval/result.h"
#include "view/view.h"

/* Begins a result with the capture's rows and the chip, under its name in the capture. CW_ERR_INPUT for another chip,
 * CW_ERR_UNSUPPORTED for a capture without metrics. */
enum cw_status cw_view_begin(struct cw_result *result, const struct cw_view_input *in);
/* Begins a result, and selects metrics by name; NULL: every metric whose counters the capture has. The input's notices
 * get damage of the capture, and differences between the plan's database and the chip's. */
enum cw_status cw_view_select(struct cw_result *result, const struct cw_view_input *in, const char *const *names,
                              size_t count);
/* Selects, and evaluates on the capture's rows or on `groups` of them (eval/ranges/groups.h). The input's notices also
 * get metrics without a formula. */
enum cw_status cw_view_evaluate(struct cw_result *result, const struct cw_view_input *in,
                                const struct cw_counter_data *groups, const char *const *names, size_t count);

/* Selects the request's metrics, each name once, or evaluates them on the capture's rows or on groups. */
enum cw_status cw_view_select_wanted(struct cw_result *result, const struct cw_view_input *in);
enum cw_status cw_view_evaluate_wanted(struct cw_result *result, const struct cw_view_input *in,
                                       const struct cw_counter_data *groups);
/* Evaluates the plan's metrics, and behind them the further metrics of the set "launch": facts, which cost nothing. */
enum cw_status cw_view_evaluate_planned(struct cw_result *result, const struct cw_view_input *in,
                                        const struct cw_counter_data *groups);
/* As cw_view_evaluate and cw_view_select, for names that may be legacy names; selection drops repeated ones. */
enum cw_status cw_view_evaluate_names(struct cw_result *result, const struct cw_view_input *in,
                                      const struct cw_counter_data *groups, const char *const *names, size_t count);
enum cw_status cw_view_select_names(struct cw_result *result, const struct cw_view_input *in, const char *const *names,
                                    size_t count);

/* Adds a notice about an incomplete capture: its damage, and how many rows are whole; or about launches that a complete
 * one lacks. */
void cw_tell_incomplete(const struct counterworks_capture *capture, struct cw_notices *notices);
/* Adds a notice about names that stay mangled and the lines of modules that could not be read, unless there are none.
 */
void cw_tell_unread(const struct counterworks_capture *capture, uint32_t names, uint32_t modules,
                    struct cw_notices *notices);

/* Whether a name is among `names`. */
bool cw_view_has_name(const char *const *names, size_t count, const char *name);
/* If `err` is about an unknown metric, adds to its message the chips of the data folder that have it and, unless it
 * suggests a spelling already, the metrics of this chip and of the list with the most similar names. `names` are all
 * names of the request. */
void cw_view_hint(struct cw_error *err, const struct counterworks_chip *chip, uint32_t listed, const char *const *names,
                  size_t count);
/* If `err` says that CUPTI does not collect a counter with a profiler, that no formula is known, or that the one metric
 * takes too many passes, adds the most similar metrics of the profiler's list. */
void cw_view_hint_listed(struct cw_error *err, const struct counterworks_chip *chip, uint32_t listed,
                         const char *const *names, size_t count);
/* Adds the legacy CUPTI names among `names` to the chip, as formulas. CW_ERR_UNSUPPORTED for a name without an
 * equivalent on this chip. */
enum cw_status cw_view_add_legacy(struct counterworks_chip *chip, const char *const *names, size_t count,
                                  struct cw_error *err);

#endif
