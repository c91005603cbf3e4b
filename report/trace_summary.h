/* What the terminal says of a trace first, for the page. */
#ifndef CW_REPORT_TRACE_SUMMARY_H
#define CW_REPORT_TRACE_SUMMARY_H

#include <stdio.h>

#include "base/arena.h"
#include "eval/timeline/timeline.h"

/* Prints a member "summary": how busy devices were and why they were idle, the longest gaps, lists of kernels, copies,
 * NVTX ranges and calls by time, and what was lost. CW_ERR_NOMEM alone. */
enum cw_status cw_trace_summary_put(FILE *out, const struct cw_timeline *timeline, struct cw_arena *arena,
                                    struct cw_error *err);

#endif
