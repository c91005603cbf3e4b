/* Tables for people, of the columns with CW_TO_TERMINAL. Each row is asked for twice: first to measure it. */
#ifndef CW_EVAL_OUTPUT_TERMINAL_H
#define CW_EVAL_OUTPUT_TERMINAL_H

#include "base/shorten.h"
#include "base/unit.h"
#include "eval/output/output.h"

enum { CW_TERMINAL_COLUMNS = 20 }; /* at most */

/* The statuses of the values that tables show, for their legend. */
struct cw_terminal_seen {
    bool statuses[CW_VALUE_STATUS_COUNT];
    bool undurated; /* some is of a metric about a frame or a region without a duration */
};
void cw_terminal_see(struct cw_terminal_seen *seen, const char *metric, enum cw_value_status status);

/* Widens the columns to fit a table, and notes its statuses; the first column names the metrics. Both begin as zeros,
 * and may serve several tables of the same columns. */
void cw_terminal_measure(int widths[CW_TERMINAL_COLUMNS], struct cw_terminal_seen *seen,
                         const struct cw_output_table *table);
/* Narrows the first column to the room that the others leave of `width` (0: any), but not below 24 columns. Longer
 * texts lose their middle. */
void cw_terminal_fit(int widths[CW_TERMINAL_COLUMNS], const struct cw_output_table *table, unsigned width);
/* The columns that a window of `width` has for the last column of a table; negative if the others take more. */
int cw_terminal_room(const struct cw_output_table *table, unsigned width);
/* The rows; `after` (or NULL) prints more below each. */
void cw_terminal_put_rows(const int widths[CW_TERMINAL_COLUMNS], const struct cw_output_table *table,
                          void (*after)(void *content, uint64_t row, FILE *out), FILE *out);
void cw_terminal_put(const int widths[CW_TERMINAL_COLUMNS], const struct cw_output_table *table, FILE *out);
/* ", timed in 2 of 3" if the time of the others is unknown. */
void cw_terminal_put_timed(const struct cw_groups *groups, FILE *out);
/* All of one table, its first column fitted, with the legend of its marks. */
void cw_terminal_print(const struct cw_output_table *table, unsigned width, FILE *out);
/* The legend of the statuses seen. */
void cw_terminal_legend(const struct cw_terminal_seen *seen, FILE *out);

/* The prefix that suits a value. Returns the divisor, and the unit in `shown`, as cw_unit_text. */
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
/* "12.3%" of 0.123, "<0.1%" of less than that, "-" of NaN. Returns `text`. */
enum { CW_PERCENT_SIZE = 16 };
const char *cw_terminal_percent(double part, char text[CW_PERCENT_SIZE]);
/* A text in `width` columns, escaped. A longer one loses its middle, since names differ most at both ends. Returns
 * `shown`. */
const char *cw_terminal_cut(const char *text, size_t width, char shown[CW_SHORT_SIZE]);
/* The mark of a status, ' ' for none. */
char cw_terminal_mark(enum cw_value_status status);

/* A heading, in bold where the style has it. */
void cw_terminal_title(const char *text, const struct cw_terminal_style *style, FILE *out);
/* A bar of CW_BAR_WIDTH columns for 0 to 1, of blocks or # by the style; "" if the style has no bars. */
enum { CW_BAR_SIZE = 64, CW_BAR_WIDTH = 10 };
const char *cw_terminal_bar(double part, const struct cw_terminal_style *style, char text[CW_BAR_SIZE]);

#endif
