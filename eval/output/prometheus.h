/* Metrics of kernels as Prometheus takes them. */
#ifndef CW_EVAL_OUTPUT_PROMETHEUS_H
#define CW_EVAL_OUTPUT_PROMETHEUS_H

#include "eval/compare/compare.h"

/* `side` is a struct cw_side by kernel: a cw_file_render (base/file.h). The text format 0.0.4: a gauge for each metric,
 * of the kernel's mean launch, besides counterworks_launches and counterworks_time_seconds; labels are kernel, function
 * (as the driver has it), grid, block and device, and status where a value is not ok. "sm__inst_executed.sum" becomes
 * counterworks_sm__inst_executed_sum: what may not stand in a name is _. Values that are not known are left out.
 * CW_ERR_NOMEM alone. */
enum cw_status cw_prometheus_write(FILE *out, const void *side, struct cw_error *err);

#endif
