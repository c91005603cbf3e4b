/* A result as a table for people. */
#ifndef CW_EVAL_TABLE_H
#define CW_EVAL_TABLE_H

#include "eval/result.h"

struct cw_table_style {
    unsigned width; /* columns of the terminal; 0: as wide as the text needs */
    bool bold;      /* terminal escapes for headings */
};

/* For each range a heading (name, grid, block, device) and its metrics with unit and value. Numbers are rounded and get
 * prefixes (Gbytes/s); status marks are explained at the end. Write errors stay in the stream (ferror). */
void cw_table_write(const struct cw_result *result, const struct cw_table_style *style, FILE *out);

/* What a capture holds: chip, devices, passes, counters, ranges, how it ended. */
void cw_table_show(const struct cw_counter_data *data, const char *source, FILE *out);

/* A value as the table shows it: "1,234.57", "n/a"; `unit` gets the prefixed unit. Both of CW_NUMBER_SIZE + size of the
 * unit at most. Returns `text`. */
enum { CW_UNIT_SIZE = 64 };
const char *cw_table_value(double value, const char *unit, char text[CW_NUMBER_SIZE], char shown_unit[CW_UNIT_SIZE]);

/* The prefix that suits a value: what to divide by, and `shown` for the unit. */
double cw_table_factor(double value, const char *unit, char shown[CW_UNIT_SIZE]);
/* A number as the table shows it. */
const char *cw_table_number(double value, char text[CW_NUMBER_SIZE]);
/* The mark of a status, ' ' for ok, and what the marks mean. */
char cw_table_mark(enum cw_value_status status);
void cw_table_legend(const bool seen[CW_VALUE_STATUS_COUNT], FILE *out);

#endif
