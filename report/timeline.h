/* What happened when: samples over time, launches and user ranges. */
#ifndef CW_REPORT_TIMELINE_H
#define CW_REPORT_TIMELINE_H

#include <stdio.h>

#include "report/content.h"

/* Prints one object for each device of a capture of samples, or one for a capture of ranges, `*count` of which were
 * printed before: start and span, "series" as base64, launches as lists. CW_ERR_NOMEM alone. */
enum cw_status cw_report_timelines_put(FILE *out, const struct cw_report *report,
                                       const struct cw_report_capture *capture, size_t *count, struct cw_error *err);

#endif
