/* A trace on the page: lanes of events, measurements over time, and the terminal's summary. */
#ifndef CW_REPORT_TRACE_H
#define CW_REPORT_TRACE_H

#include <stdio.h>

#include "report/content.h"

/* Prints one object for a trace. CW_ERR_NOMEM, and errors of reading rows again. */
enum cw_status cw_report_trace_put(FILE *out, const struct cw_report_capture *capture, struct cw_arena *arena,
                                   struct cw_error *err);

#endif
