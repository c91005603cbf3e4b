/* What a change of a metric means, by its name alone. */
#ifndef CW_EVAL_COMPARE_BETTER_H
#define CW_EVAL_COMPARE_BETTER_H

#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"

/* Time, counts of work, stalls, conflicts and misses are better where they are less; hit rates, rates per second,
 * percentages of a peak and instructions per cycle where they are more. */
enum cw_better { CW_BETTER_UNKNOWN, CW_BETTER_LESS, CW_BETTER_MORE, CW_BETTER__COUNT };
/* "unknown", "less", "more" */
extern const char *const cw_better_names[CW_BETTER__COUNT];
/* By a full name: "smsp__inst_executed.sum". */
enum cw_better cw_metric_better(const char *name);

/* How values of runs are compared. Exact: counts of what a program asks for, such as instructions and sectors that are
 * requested, which depend on the program and its data alone. Measured: what hardware made of it; gate judges it where
 * none is named. Other: judged only where it is named. */
enum cw_metric_class { CW_CLASS_OTHER, CW_CLASS_EXACT, CW_CLASS_MEASURED, CW_CLASS__COUNT };
/* Of full names, by gate.yaml of a data folder (metricdb/data.h); one that has none makes all CW_CLASS_OTHER. The array
 * lives in `arena`. */
enum cw_status cw_metric_classes(enum cw_metric_class **classes, const char *const *names, size_t count,
                                 const char *data, struct cw_arena *arena, struct cw_error *err);

#endif
