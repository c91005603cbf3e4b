/* Values in order. */
#ifndef CW_EVAL_COMPARE_QUANTILE_H
#define CW_EVAL_COMPARE_QUANTILE_H

#include <stddef.h>

/* Sorts values, of which none is NaN: the least first. */
void cw_values_sort(double *values, size_t count);
/* Of `count` sorted values, 1 at least, the one that `part` of them lie below, between the two nearest. */
double cw_quantile(const double *sorted, size_t count, double part);
/* Sorts values, 1 at least, and returns the median. */
double cw_median(double *values, size_t count);

#endif
