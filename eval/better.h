/* What a change of a metric means, by its name alone. */
#ifndef CW_EVAL_BETTER_H
#define CW_EVAL_BETTER_H

#include <stdbool.h>

/* Time, counts of work, stalls, conflicts and misses are better where they are less; hit rates, rates per second,
 * percentages of a peak and instructions per cycle where they are more. */
enum cw_better { CW_BETTER_UNKNOWN, CW_BETTER_LESS, CW_BETTER_MORE, CW_BETTER__COUNT };
/* "unknown", "less", "more" */
extern const char *const cw_better_names[CW_BETTER__COUNT];
/* By a full name: "smsp__inst_executed.sum". */
enum cw_better cw_metric_better(const char *name);

/* Whether a full name is of a count of what a kernel asks for: instructions, threads, requests, sectors and bytes that
 * are requested, registers. It depends on the program and its data, and not on time or on what caches hold. */
bool cw_metric_is_count(const char *name);

#endif
