/* Quantiles and the deviation of values. */
#ifndef CW_EVAL_QUANTILE_H
#define CW_EVAL_QUANTILE_H

#include <stddef.h>
#include <stdint.h>

/* Sorts values without NaN: the least first. */
void cw_values_sort(double *values, size_t count);
/* The value below which `part` of `count` sorted values lie, between the two nearest; `count` is at least 1. */
double cw_quantile(const double *sorted, size_t count, double part);
/* The median, or the mean of the two middle values of an even number; NaN of none. Reorders the values, which have no
 * NaN; takes time in proportion to their number. */
double cw_median(double *values, size_t count);
/* The standard deviation of a sample, with n - 1, by the sum of its squared distances from the mean; NaN of one. Every
 * spread and deviation is one. */
double cw_sample_deviation(double squares, uint64_t count);

#endif
