/* Metrics of kernels as Prometheus takes them. */
#ifndef CW_EVAL_OUTPUT_PROMETHEUS_H
#define CW_EVAL_OUTPUT_PROMETHEUS_H

#include "eval/compare/compare.h"

/* A cw_file_render (base/file.h); `side` is a struct cw_side by kernel. Writes text format 0.0.4: a gauge for each
 * metric of the kernel's mean launch, counterworks_launches, counterworks_launches_timed (how many have a known time)
 * and counterworks_time_seconds (of these). Labels are kernel, function (as the driver names it), grid, block and
 * device, and status of a value that is not ok. Names keep letters and digits, and _ stands for others:
 * "sm__inst_executed.sum" becomes counterworks_sm__inst_executed_sum. Unknown values are left out. CW_ERR_USAGE
 * for two metrics with one such name. */
enum cw_status cw_prometheus_write(FILE *out, const void *side, struct cw_error *err);

#endif
