/* Tables of a trace for people (timeline_output.h), in the terminal and on the page of --report. */
#ifndef CW_EVAL_OUTPUT_TIMELINE_PAGE_H
#define CW_EVAL_OUTPUT_TIMELINE_PAGE_H

#include "base/shorten.h"
#include "eval/output/timeline_output.h"

struct cw_text_lines;
struct cw_text_page {
    const struct cw_timeline_output *o;
    const struct cw_timeline *t;
    const struct cw_terminal_style *style; /* of a terminal */
    FILE *out;
    /* prints a table; `title` NULL: nothing above it */
    void (*put)(const struct cw_text_page *page, const char *title, struct cw_text_lines *lines);
    void *context; /* of the printer */
};

enum { CW_CELLS = 10, CW_CELL_SIZE = 48 };

/* A table of short cells with a name behind them, which gets the rest of the line. */
struct cw_text_lines {
    const struct cw_text_page *page;
    const char *columns[CW_CELLS]; /* their names */
    size_t count;
    const char *name; /* of the last column */
    uint32_t rows;
    void (*fill)(struct cw_text_lines *l, uint32_t row); /* sets `cells` and `text`, the whole name */
    const void *content;
    enum cw_text_names { CW_NAMES_FUNCTIONS, CW_NAMES_PATHS, CW_NAMES_WORDS } names; /* how long ones are shortened */
    char left[80], note[160]; /* lines below the table: rows that are left, and a note; "": none */
    int room;                 /* columns for the name, 0: all */
    size_t *alike;            /* of each row; see base/apart.h */
    /* of one row: */
    char cells[CW_CELLS][CW_CELL_SIZE];
    double values[CW_CELLS]; /* to sort by; NaN: none */
    size_t filled;
    char text[CW_SHORT_SIZE];
};
/* In a terminal. */
void cw_text_put_lines(const struct cw_text_page *page, const char *title, struct cw_text_lines *lines);
/* Finds names that would read the same in `room` columns, into `alike`, which the caller frees. Then cw_text_fill makes
 * a row, with its name shortened and escaped in `text`, and whole in `name`. */
void cw_text_find_alike(struct cw_text_lines *lines);
void cw_text_fill(struct cw_text_lines *lines, uint32_t row, char name[CW_SHORT_SIZE]);

/* Each appends a cell to the row. */
void cw_cell_put(struct cw_text_lines *lines, const char *text, double value);
void cw_cell_time(struct cw_text_lines *lines, double ns);
void cw_cell_percent(struct cw_text_lines *lines, double part); /* 0 to 1; NaN: "-" */
void cw_cell_count(struct cw_text_lines *lines, uint64_t count);
void cw_cell_amount(struct cw_text_lines *lines, double value, const char *unit);
void cw_cell_none(struct cw_text_lines *lines); /* "-" */
/* NaN where all is 0. */
double cw_part_of(double some, double all);

/* "0 NVIDIA H100"; `device`: of the file, or CW_NO_TRACE_DEVICE. */
void cw_text_device_name(const struct cw_text_page *page, uint32_t device, char *text, size_t size);

/* The use of the GPUs: how busy they were, why they were idle, and the longest gaps. */
void cw_text_put_devices(const struct cw_text_page *page);
void cw_text_put_idle(const struct cw_text_page *page);
void cw_text_put_gaps(const struct cw_text_page *page);
/* The list of --by. */
void cw_text_put_main_list(const struct cw_text_page *page);
/* Other lists; launch latencies; allocated memory; clocks, temperature and power. */
void cw_text_put_sections(const struct cw_text_page *page);

#endif
