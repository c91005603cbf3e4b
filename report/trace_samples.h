/* What was measured over time beside a trace: power, clocks and temperature of devices, and memory in use. */
#ifndef CW_REPORT_TRACE_SAMPLES_H
#define CW_REPORT_TRACE_SAMPLES_H

#include <stdio.h>

#include "report/trace_lanes.h"

/* Prints a member "samples": for each group of lanes that has any, and each list of times, an object with "start" and
 * "span" from the start of the timeline, "time" and "series" (report/series.h). CW_ERR_NOMEM, and what reading rows
 * may say. */
enum cw_status cw_trace_samples_put(FILE *out, const struct cw_report_lanes *lanes, struct cw_error *err);

#endif
