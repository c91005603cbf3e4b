/* Source lines: samples and SASS metrics of the instructions that were made of them, and their text. */
#ifndef CW_REPORT_SOURCE_H
#define CW_REPORT_SOURCE_H

#include <stdio.h>

#include "report/content.h"

/* Prints one object for a capture of instructions: functions, lines with what was counted on them (PC samples by what
 * warps waited for, else SASS metrics), and the text of those lines and of their neighbours, where the files are found.
 * CW_ERR_NOMEM alone. */
enum cw_status cw_report_source_put(FILE *out, const struct cw_report_capture *capture, const struct cw_report *report,
                                    struct cw_error *err);

#endif
