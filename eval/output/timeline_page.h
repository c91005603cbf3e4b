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
    /* prints a table; `title` NULL: nothing above it */
    void (*put)(const struct cw_text_page *page, const char *title, struct cw_text_lines *lines);
    void *context; /* its own */
};

enum { CW_CELLS = 10, CW_CELL_SIZE = 48 };

struct cw_text_cell {
    char text[CW_CELL_SIZE];
    double value; /* to sort by; NaN: none */
};

/* A table of short cells, and a name behind them that has what room is left. */
struct cw_text_lines {
    const struct cw_text_page *page;
    const char *columns[CW_CELLS]; /* their names */
    size_t count;
    const char *name; /* of the last column */
    uint32_t rows;
    void (*fill)(struct cw_text_lines *l, uint32_t row); /* sets `cells` and `text`, the name whole and not escaped */
    const void *content;
    enum cw_text_names { CW_NAMES_FUNCTIONS, CW_NAMES_PATHS, CW_NAMES_WORDS } names; /* how longer ones are shortened */
    char left[80], note[160]; /* how many more rows there are, and what else is to be said below; "": nothing */
    int room;                 /* columns for the name, 0: all */
    size_t *alike;            /* of each row; see base/apart.h */
    struct cw_text_cell cells[CW_CELLS]; /* of one row */
    char text[CW_SHORT_SIZE];
};
/* In a terminal. */
void cw_text_put_lines(const struct cw_text_page *page, const char *title, struct cw_text_lines *lines);
/* For `room`, which of the functions' names would read the same: to be freed. Then rows, whose names are shortened and
 * escaped; `name`: the whole of it. */
void cw_text_find_alike(struct cw_text_lines *lines);
void cw_text_fill(struct cw_text_lines *lines, uint32_t row, char name[CW_SHORT_SIZE]);

void cw_cell_time(double ns, struct cw_text_cell *cell);
void cw_cell_percent(double part, struct cw_text_cell *cell); /* 0 to 1; NaN: "-" */
void cw_cell_count(uint64_t count, struct cw_text_cell *cell);
void cw_cell_amount(double value, const char *unit, struct cw_text_cell *cell);
void cw_cell_none(struct cw_text_cell *cell); /* "-" */
/* NaN where all is 0. */
double cw_part_of(double some, double all);

/* "0 NVIDIA H100"; `device`: of the file, or CW_NO_TRACE_DEVICE. */
void cw_text_device_name(const struct cw_text_page *page, uint32_t device, char *text, size_t size);

/* How the GPUs were used: how busy they were, why they were idle, and when longest. */
void cw_text_put_devices(const struct cw_text_page *page);
void cw_text_put_idle(const struct cw_text_page *page);
void cw_text_put_gaps(const struct cw_text_page *page);
/* The list that was asked for. */
void cw_text_put_main_list(const struct cw_text_page *page);
/* Other lists; how soon launches began; memory that was allocated; clocks, temperature and power. */
void cw_text_put_sections(const struct cw_text_page *page);

#endif
