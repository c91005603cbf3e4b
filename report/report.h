/* One page of HTML that shows captures: it opens from disk, without a network, in any browser.
 *
 * The page consists of the files in report/page/, and of the numbers as JSON (docs/report.md lists them). Names and
 * texts of captures are in the JSON alone, with every "<" escaped; the page's scripts show them as text, never as
 * HTML. */
#ifndef CW_REPORT_REPORT_H
#define CW_REPORT_REPORT_H

#include <stdio.h>

#include "report/content.h"

/* Writes the page of a struct cw_report; a cw_file_render. Write errors stay in the stream (ferror).
 * CW_ERR_UNSUPPORTED if the project was built without the library for charts, CW_ERR_NOMEM, and errors in
 * data/report.yaml. */
enum cw_status cw_report_write(FILE *out, const void *report, struct cw_error *err);

/* CW_ERR_UNSUPPORTED if the project was built without the library for charts. */
enum cw_status cw_report_check(struct cw_error *err);

#endif
