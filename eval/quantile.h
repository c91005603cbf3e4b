/* The middle and the spread of values. */
#ifndef CW_EVAL_QUANTILE_H
#define CW_EVAL_QUANTILE_H

#include <stddef.h>
#include <stdint.h>

/* Sorts values, of which none is NaN: the least first. */
void cw_values_sort(double *values, size_t count);
/* Of `count` sorted values, 1 at least, the one that `part` of them lie below, between the two nearest. */
double cw_quantile(const double *sorted, size_t count, double part);
/* The median, the mean of the two middle values of an even number; NaN of none. Reorders the values, none of which is
 * NaN; takes time in proportion to their number. */
double cw_median(double *values, size_t count);
/* The standard deviation of a sample, with n - 1, by its squared distances from the mean; NaN of one. It is what every
 * spread and deviation is. */
double cw_sample_deviation(double squares, uint64_t count);

#endif
