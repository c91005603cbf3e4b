/* Formulas of metrics, spelled out over the counters that they need. */
#ifndef CW_CLI_QUERY_FORMULA_H
#define CW_CLI_QUERY_FORMULA_H

#include "metricdb/metric.h"

/* "100 * sum(A) / sum(B)"; a throughput has a line for each constituent. NULL when out of memory. */
char *cw_query_formula(const struct cw_chip *chip, const struct cw_metric *metric, struct cw_arena *arena);
/* What may follow the base name of `metric`, and the formula of a ratio or throughput. NULL when out of memory. */
char *cw_query_base_formula(const struct cw_chip *chip, const struct cw_metric *metric, struct cw_arena *arena);

#endif
