/* Whether a change of a metric is good, by its name alone. */
#ifndef CW_EVAL_COMPARE_BETTER_H
#define CW_EVAL_COMPARE_BETTER_H

#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"

/* Less is better for time, counts of work, stalls, conflicts and misses; more is better for hit rates, rates per
 * second, percentages of a peak and instructions per cycle. */
enum cw_better { CW_BETTER_UNKNOWN, CW_BETTER_LESS, CW_BETTER_MORE, CW_BETTER__COUNT };
/* "unknown", "less", "more" */
extern const char *const cw_better_names[CW_BETTER__COUNT];
/* By a full name: "smsp__inst_executed.sum". */
enum cw_better cw_metric_better(const char *name);

/* How runs are compared. Exact: counts that depend on the program and its data alone, such as instructions and
 * requested sectors. Measured: results of the hardware; gate judges them unless metrics are named. Other: judged only
 * by name. */
enum cw_metric_class { CW_CLASS_OTHER, CW_CLASS_EXACT, CW_CLASS_MEASURED, CW_CLASS__COUNT };
/* The classes of full names, by gate.yaml of a data folder (metricdb/data.h); all CW_CLASS_OTHER in a folder without
 * it. The array lives in `arena`. */
enum cw_status cw_metric_classes(enum cw_metric_class **classes, const char *const *names, size_t count,
                                 const char *data, struct cw_arena *arena, struct cw_error *err);

#endif
