/* A trace as lanes: streams of devices, threads, NVTX ranges, and what was measured over time beside them. */
#ifndef CW_REPORT_TRACE_H
#define CW_REPORT_TRACE_H

#include <stdio.h>

#include "report/content.h"

/* Prints one object for a capture of a trace. CW_ERR_NOMEM, and what reading rows again may say. */
enum cw_status cw_report_trace_put(FILE *out, const struct cw_report_capture *capture, struct cw_arena *arena,
                                   struct cw_error *err);

#endif
