/* Samples, launches and user ranges over time. */
#ifndef CW_REPORT_TIMELINE_H
#define CW_REPORT_TIMELINE_H

#include <stdio.h>

#include "report/content.h"

/* Prints one object for each device of a capture of samples, or one object for a capture of ranges: start and span,
 * "series" in base64, launches as lists. Adds the number of objects to `*count`. CW_ERR_NOMEM alone. */
enum cw_status cw_report_timelines_put(FILE *out, const struct cw_report *report,
                                       const struct cw_report_capture *capture, size_t *count, struct cw_error *err);

#endif
