/* From names of metrics to values. */
#ifndef CW_VIEW_METRICS_H
#define CW_VIEW_METRICS_H

#include "eval/result.h"
#include "view/handles.h"
#include "view/notices.h"

/* Begins a result with the capture's rows and the chip, under its name in the capture. CW_ERR_INPUT for another chip,
 * CW_ERR_UNSUPPORTED for a capture without metrics. */
enum cw_status cw_view_begin(struct cw_result *result, const struct counterworks_capture *capture,
                             const struct counterworks_chip *chip, struct cw_arena *arena, struct cw_error *err);
/* Begins a result, and selects metrics by name; NULL: every metric whose counters the capture has. `notices` gets
 * damage of the capture, and differences between the plan's database and the chip's. */
enum cw_status cw_view_select(struct cw_result *result, const struct counterworks_capture *capture,
                              const struct counterworks_chip *chip, const char *const *names, size_t count,
                              struct cw_notices *notices, struct cw_arena *arena, struct cw_error *err);
/* Selects, and evaluates on the capture's rows or on `groups` of them (eval/ranges/groups.h). `notices` also gets
 * metrics without a formula. */
enum cw_status cw_view_evaluate(struct cw_result *result, const struct counterworks_capture *capture,
                                const struct cw_counter_data *groups, const struct counterworks_chip *chip,
                                const char *const *names, size_t count, const struct cw_eval_options *options,
                                struct cw_notices *notices, struct cw_arena *arena, struct cw_error *err);
/* Adds a notice about an incomplete capture: its damage, and how many rows are whole. */
void cw_tell_incomplete(const struct counterworks_capture *capture, struct cw_notices *notices);

/* Whether a name is among `names`. */
bool cw_view_has_name(const char *const *names, size_t count, const char *name);
/* If `err` is about an unknown metric, adds to its message the chips of the data folder that have it and, unless it
 * suggests a spelling already, the metrics of this chip with the most similar names. `names` are all names of the
 * request. */
void cw_view_hint(struct cw_error *err, const struct counterworks_chip *chip, const char *const *names, size_t count);
/* If `err` says that CUPTI does not collect a counter with a profiler, or that no formula is known, adds the most
 * similar metrics of the profiler's list. */
void cw_view_hint_listed(struct cw_error *err, const struct counterworks_chip *chip, uint32_t listed,
                         const char *const *names, size_t count);
/* Adds the legacy CUPTI names among `names` to the chip, as formulas. CW_ERR_UNSUPPORTED for a name without an
 * equivalent on this chip. */
enum cw_status cw_view_add_legacy(struct counterworks_chip *chip, const char *const *names, size_t count,
                                  struct cw_error *err);

#endif
