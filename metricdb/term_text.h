/* Writes formulas of metrics over the counters that they need. */
#ifndef CW_METRICDB_TERM_TEXT_H
#define CW_METRICDB_TERM_TEXT_H

#include "metricdb/metric.h"

/* Returns "100 * sum(A) / sum(B)"; a throughput has a line for each constituent. NULL when out of memory. */
char *cw_metric_formula(const struct cw_chip *chip, const struct cw_metric *metric, struct cw_arena *arena);

#endif
