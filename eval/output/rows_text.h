/* Rows of a capture of ranges, for people. */
#ifndef CW_EVAL_OUTPUT_ROWS_TEXT_H
#define CW_EVAL_OUTPUT_ROWS_TEXT_H

#include "eval/output/terminal.h"

/* What the program was, and a line for each row. *fits: the metrics of the rows are few enough to be columns; where
 * they are not, nothing is printed. CW_ERR_NOMEM alone. */
enum cw_status cw_rows_put_list(const struct cw_output_rows *rows, const struct cw_terminal_style *style, FILE *out,
                                bool *fits, struct cw_error *err);

/* Each range of a result by itself: a heading and its metrics, in sections where they are many. `rows` says what they
 * are groups of, or is NULL. CW_ERR_NOMEM alone. */
enum cw_status cw_rows_put_full(const struct cw_result *result, const struct cw_output_rows *rows,
                                const struct cw_terminal_style *style, FILE *out, struct cw_error *err);

#endif
