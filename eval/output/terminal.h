/* Tables for people, of the columns that are CW_TO_TERMINAL. A table's rows are gone through twice: first for how wide
 * they are. */
#ifndef CW_EVAL_OUTPUT_TERMINAL_H
#define CW_EVAL_OUTPUT_TERMINAL_H

#include "base/shorten.h"
#include "eval/output/output.h"

enum { CW_TERMINAL_COLUMNS = 20 }; /* at most */

struct cw_terminal_layout {
    int widths[CW_TERMINAL_COLUMNS];
    bool seen[CW_VALUE_STATUS_COUNT];
};

/* Widens the columns to what a table needs, and notes its statuses; `layout` begins as zeros, and may serve several
 * tables of the same columns. */
void cw_terminal_measure(struct cw_terminal_layout *layout, const struct cw_output_table *table);
/* Leaves a column what the others leave of so many, but 24 at least: of longer texts the middle is left out. */
void cw_terminal_fit(struct cw_terminal_layout *layout, const struct cw_output_table *table, size_t column,
                     unsigned width);
/* The rows, and below each what `after` prints of the content, unless it is NULL; with the names of the columns before
 * them. */
void cw_terminal_put_rows(const struct cw_terminal_layout *layout, const struct cw_output_table *table,
                          void (*after)(void *content, uint64_t row, FILE *out), FILE *out);
void cw_terminal_put(const struct cw_terminal_layout *layout, const struct cw_output_table *table, FILE *out);
/* All of one table, with what its marks mean. */
void cw_terminal_print(const struct cw_output_table *table, FILE *out);
/* What the marks of the statuses that were seen mean. */
void cw_terminal_legend(const struct cw_terminal_layout *layout, FILE *out);

/* A unit as people write it: "inst/cycle" of "instructions/gpc_cycles", "warps" of "gpc_cycles*warps/gpc_cycles",
 * "GB/s" with a prefix of "bytes/s"; "" of "1". Files have the exact one. Returns `shown`. */
enum { CW_UNIT_SIZE = 64 };
const char *cw_terminal_unit(const char *unit, char shown[CW_UNIT_SIZE]);
/* The prefix that suits a value: what to divide by, and `shown` for the unit. */
double cw_terminal_factor(double value, const char *unit, char shown[CW_UNIT_SIZE]);
/* A number as the table shows it: "1,234.57", "n/a". Returns `text`. */
const char *cw_terminal_number(double value, char text[CW_NUMBER_SIZE]);
/* 1234567 as "1,234,567". Returns `text`. */
const char *cw_terminal_integer(uint64_t value, char text[CW_NUMBER_SIZE]);
/* "1.234 ms" of nanoseconds. Returns `text`. */
enum { CW_TIME_TEXT_SIZE = CW_NUMBER_SIZE + CW_UNIT_SIZE };
const char *cw_terminal_time(double ns, char text[CW_TIME_TEXT_SIZE]);
/* "21.76 kB" of bytes, "1.2 GB/s" of bytes/s. Returns `text`. */
const char *cw_terminal_amount(double value, const char *unit, char text[CW_TIME_TEXT_SIZE]);
/* "12.3%" of 0.123, "<0.1%" of less that is something, "-" of NaN. Returns `text`. */
enum { CW_PERCENT_SIZE = 16 };
const char *cw_terminal_percent(double part, char text[CW_PERCENT_SIZE]);
/* A text in `width` columns, escaped; the middle of a longer one is left out, since names differ most at both ends.
 * Returns `shown`. */
const char *cw_terminal_cut(const char *text, size_t width, char shown[CW_SHORT_SIZE]);
/* The mark of a status, ' ' for none. */
char cw_terminal_mark(enum cw_value_status status);

/* A heading, in bold where the style has it. */
void cw_terminal_title(const char *text, const struct cw_terminal_style *style, FILE *out);
/* A bar for 0 to 1 of so many columns: blocks, or # where the style has none of them; "" where it has no bars. */
enum { CW_BAR_SIZE = 64, CW_BAR_WIDTH = 10 };
const char *cw_terminal_bar(double part, const struct cw_terminal_style *style, char text[CW_BAR_SIZE]);

#endif
