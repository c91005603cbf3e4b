/* What those share that print a trace for people (timeline_output.h), in the terminal and on the page of --report. */
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
    /* prints a table that has rows */
    void (*put)(const struct cw_text_page *page, const char *title, struct cw_text_lines *lines);
    void *context; /* its own */
};

enum { CW_CELLS = 10, CW_CELL_SIZE = 48 };

struct cw_text_line {
    char cells[CW_CELLS][CW_CELL_SIZE];
    char name[CW_SHORT_SIZE];
};

/* A table of short cells, and a name behind them that has what room is left. */
struct cw_text_lines {
    const struct cw_text_page *page;
    const char *columns[CW_CELLS]; /* their names */
    size_t count;
    const char *name; /* of the last column */
    uint32_t rows;
    /* the name whole, and not escaped */
    void (*fill)(const struct cw_text_lines *l, uint32_t row, struct cw_text_line *line);
    const void *content;
    enum cw_text_names { CW_NAMES_FUNCTIONS, CW_NAMES_PATHS, CW_NAMES_WORDS } names; /* how longer ones are shortened */
    int room;                                                                        /* columns for it, 0: all */
    size_t *alike;                                                                   /* of each row; see base/apart.h */
    struct cw_text_line one;
};
void cw_text_put_lines(struct cw_text_lines *lines);

void cw_cell_time(double ns, char cell[CW_CELL_SIZE]);
void cw_cell_percent(double part, char cell[CW_CELL_SIZE]); /* 0 to 1; NaN: "-" */
void cw_cell_count(uint64_t count, char cell[CW_CELL_SIZE]);
void cw_cell_amount(double value, const char *unit, char cell[CW_CELL_SIZE]);
/* NaN where all is 0. */
double cw_part_of(double some, double all);

void cw_text_put_title(const struct cw_text_page *page, const char *title);
/* "0 NVIDIA H100"; `device`: of the file, or CW_NO_TRACE_DEVICE. */
void cw_text_device_name(const struct cw_text_page *page, uint32_t device, char *text, size_t size);

/* A list of what ran on the GPU, or of calls; `items`: what the column of counts is of, `more`: many of the rows. */
void cw_text_put_list(const struct cw_text_page *page, const struct cw_timeline_rows *rows, const char *items,
                      const char *name, const char *more);

/* How the GPUs were used: how busy they were, why they were idle, and when longest. */
void cw_text_put_devices(const struct cw_text_page *page);
void cw_text_put_idle(const struct cw_text_page *page);
void cw_text_put_gaps(const struct cw_text_page *page);
/* How soon launches began; memory that was allocated; clocks, temperature and power. */
void cw_text_put_extra(const struct cw_text_page *page);

#endif
