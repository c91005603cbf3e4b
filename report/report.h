/* One page of HTML that shows captures: it opens from disk, without a network, in any browser.
 *
 * The page is report/page/ as it stands there, and in it the numbers as JSON (docs/report.md lists what they are). What
 * comes from captures stands in the page as JSON alone, in which every "<" is escaped; the page's scripts show it as
 * text and never as HTML. */
#ifndef CW_REPORT_REPORT_H
#define CW_REPORT_REPORT_H

#include <stdio.h>

#include "report/content.h"

/* Writes the page of a struct cw_report: this is a cw_file_render. Write errors stay in the stream (ferror).
 * CW_ERR_UNSUPPORTED where the project was built without the library for charts, CW_ERR_NOMEM, and errors in
 * data/report.yaml. */
enum cw_status cw_report_write(FILE *out, const void *report, struct cw_error *err);

/* CW_ERR_UNSUPPORTED where the project was built without the library for charts. */
enum cw_status cw_report_check(struct cw_error *err);

#endif
