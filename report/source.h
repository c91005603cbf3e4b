/* Source lines: their text, and the PC samples or SASS metrics of their instructions. */
#ifndef CW_REPORT_SOURCE_H
#define CW_REPORT_SOURCE_H

#include <stdio.h>

#include "report/content.h"

/* Prints one object for a capture of instructions: functions, source lines with their counts (PC samples by stall
 * reason, or SASS metrics), and the text around these lines if the files are found. CW_ERR_NOMEM alone. */
enum cw_status cw_report_source_put(FILE *out, const struct cw_report_capture *capture, const struct cw_report *report,
                                    struct cw_error *err);

#endif
