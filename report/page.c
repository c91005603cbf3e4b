#include "report/page.h"

/* A file as it is, between two symbols: what CMake finds of the library for charts is text like ours. */
#define FILE_TEXT(name, path)                                                                                          \
    __asm__(".pushsection .rodata\n"                                                                                   \
            "cw_page_" #name "_start:\n"                                                                               \
            ".incbin \"" path "\"\n"                                                                                   \
            "cw_page_" #name "_end:\n"                                                                                 \
            ".byte 0\n"                                                                                                \
            ".globl cw_page_" #name "_start, cw_page_" #name "_end\n"                                                  \
            ".hidden cw_page_" #name "_start, cw_page_" #name "_end\n"                                                 \
            ".popsection\n");                                                                                          \
    extern __attribute__((visibility("hidden"))) const char cw_page_##name##_start[], cw_page_##name##_end[]

FILE_TEXT(index, CW_PAGE "/index.html");
FILE_TEXT(style, CW_PAGE "/style.css");
FILE_TEXT(show, CW_PAGE "/show.js");
FILE_TEXT(charts, CW_PAGE "/charts.js");
FILE_TEXT(timeline, CW_PAGE "/timeline.js");
FILE_TEXT(trace, CW_PAGE "/trace.js");
FILE_TEXT(lanes, CW_PAGE "/lanes.js");
FILE_TEXT(tracechart, CW_PAGE "/tracechart.js");
FILE_TEXT(tracepage, CW_PAGE "/tracepage.js");
FILE_TEXT(kernel, CW_PAGE "/kernel.js");
FILE_TEXT(jobpage, CW_PAGE "/jobpage.js");
FILE_TEXT(page, CW_PAGE "/page.js");
FILE_TEXT(selftest, CW_PAGE "/selftest.js");
#ifdef CW_PAGE_CHARTS
FILE_TEXT(library, CW_PAGE_CHARTS);
FILE_TEXT(licence, CW_PAGE "/d3-licence.txt");
const bool cw_page_whole = true;
#else
const bool cw_page_whole = false;
#endif

#define ENTRY(name, tag)                                                                                               \
    {                                                                                                                  \
#name, tag, cw_page_##name##_start, cw_page_##name##_end                                                       \
    }

const struct cw_page_file cw_page_template = ENTRY(index, NULL);
const struct cw_page_file cw_page_files[] = {
    ENTRY(style, "style"),
#ifdef CW_PAGE_CHARTS
    ENTRY(library, "script"), ENTRY(licence, NULL),
#endif
    ENTRY(show, "script"),    ENTRY(charts, "script"),     ENTRY(timeline, "script"),  ENTRY(trace, "script"),
    ENTRY(lanes, "script"),   ENTRY(tracechart, "script"), ENTRY(tracepage, "script"), ENTRY(kernel, "script"),
    ENTRY(jobpage, "script"), ENTRY(page, "script"), ENTRY(selftest, "script"),
};
const size_t cw_page_file_count = sizeof cw_page_files / sizeof *cw_page_files;
