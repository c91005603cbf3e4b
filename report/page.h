/* The files of report/page/ and the library for charts, as they are built into the program. */
#ifndef CW_REPORT_PAGE_H
#define CW_REPORT_PAGE_H

#include <stdbool.h>
#include <stddef.h>

struct cw_page_file {
    const char *name; /* as the template says it: <!--= name --> */
    const char *tag;  /* that it stands in: "style", "script"; NULL for none */
    const char *start, *end;
};
extern const struct cw_page_file cw_page_template, cw_page_files[];
extern const size_t cw_page_file_count;
/* Whether the library for charts is among them. */
extern const bool cw_page_whole;

#endif
