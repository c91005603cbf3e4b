/* CUDA graphs of a trace, for the page's pictures. */
#ifndef CW_REPORT_TRACE_GRAPHS_H
#define CW_REPORT_TRACE_GRAPHS_H

#include <stdio.h>

#include "eval/timeline/timeline.h"

/* Prints a member "graphs": the executable graphs with the most time on the GPU, with their nodes, the kernel or copy
 * of each node, and the edges. Nothing for a trace without nodes. CW_ERR_NOMEM, and errors of reading rows again. */
enum cw_status cw_report_graphs_put(FILE *out, const struct cw_timeline *timeline, struct cw_error *err);

#endif
