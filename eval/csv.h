/* CSV as RFC 4180 has it, text as CW_TEXT_CELL: one row for each range and metric. */
#ifndef CW_EVAL_CSV_H
#define CW_EVAL_CSV_H

#include "eval/result.h"

/* The columns are range, name, kernel, metric, unit, value, status; `range` counts from 0 in the capture. Values are
 * the shortest decimals that read back the same, or inf, -inf, nan. Write errors stay in the stream (ferror). */
void cw_csv_write(const struct cw_result *result, FILE *out);

#endif
