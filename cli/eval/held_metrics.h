/* Every metric that a capture can be evaluated for. */
#ifndef CW_CLI_EVAL_HELD_METRICS_H
#define CW_CLI_EVAL_HELD_METRICS_H

#include "image/counter_data.h"
#include "metricdb/metric.h"

/* The metrics of the chip, users' own among them, whose counters the schema has all; in `arena`. */
enum cw_status cw_held_metrics(struct cw_metric **metrics, size_t *count, const struct cw_chip *chip,
                               const struct cw_schema *schema, struct cw_arena *arena, struct cw_error *err);

#endif
