/* Tables for people, of the columns that are CW_TO_TERMINAL. A table's rows are gone through twice: first for how wide
 * they are. */
#ifndef CW_EVAL_OUTPUT_TERMINAL_H
#define CW_EVAL_OUTPUT_TERMINAL_H

#include "eval/output/output.h"

enum { CW_TERMINAL_COLUMNS = 6 }; /* at most */

struct cw_terminal_layout {
    int widths[CW_TERMINAL_COLUMNS];
    bool seen[CW_VALUE_STATUS_COUNT];
};

/* Widens the columns to what a table needs, and notes its statuses; `layout` begins as zeros, and may serve several
 * tables of the same columns. */
void cw_terminal_measure(struct cw_terminal_layout *layout, const struct cw_output_table *table);
/* Leaves the first column what the others leave of so many, but 24 at least: the middle of longer texts is left out. */
void cw_terminal_fit(struct cw_terminal_layout *layout, const struct cw_output_table *table, unsigned width);
/* The names of the columns and the rows. */
void cw_terminal_put(const struct cw_terminal_layout *layout, const struct cw_output_table *table, FILE *out);
/* All of one table, with what its marks mean. */
void cw_terminal_print(const struct cw_output_table *table, FILE *out);
/* What the marks of the statuses that were seen mean. */
void cw_terminal_legend(const struct cw_terminal_layout *layout, FILE *out);

/* The prefix that suits a value: what to divide by, and `shown` for the unit. */
enum { CW_UNIT_SIZE = 64 };
double cw_terminal_factor(double value, const char *unit, char shown[CW_UNIT_SIZE]);
/* A number as the table shows it: "1,234.57", "n/a". Returns `text`. */
const char *cw_terminal_number(double value, char text[CW_NUMBER_SIZE]);
/* 1234567 as "1,234,567". Returns `text`. */
const char *cw_terminal_integer(uint64_t value, char text[CW_NUMBER_SIZE]);

#endif
