/* The part of each metric that all rows repeat, such as name and unit: made and escaped once. */
#ifndef CW_EVAL_OUTPUT_ONCE_H
#define CW_EVAL_OUTPUT_ONCE_H

#include <stdio.h>

#include "eval/output/table.h"

struct cw_output_once {
    char *text;   /* of all metrics */
    size_t *ends; /* [metric] */
};
/* `put` prints the repeated part of a record of the table. Free it after a failure as well. False when out of memory.
 */
bool cw_output_once_make(struct cw_output_once *once, const struct cw_output_table *metrics,
                         void (*put)(FILE *out, const void *record, const void *context), const void *context);
void cw_output_once_put(const struct cw_output_once *once, size_t metric, FILE *out);
void cw_output_once_free(struct cw_output_once *once);

/* Print numbers faster than stdio. */
void cw_output_put_f64(double value, FILE *out);
void cw_output_put_u64(uint64_t value, FILE *out);
void cw_output_put_i64(int64_t value, FILE *out);

#endif
