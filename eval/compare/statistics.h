/* Statistics of few values: how far their mean may be off by chance, and how much such values usually vary. */
#ifndef CW_EVAL_COMPARE_STATISTICS_H
#define CW_EVAL_COMPARE_STATISTICS_H

#include <stdint.h>

/* Student's t that is exceeded with the probability `tail` (above 0, at most 0.5), one-sided. With 0 degrees of freedom
 * nothing is known: infinity, and 0.5. From the closed form for whole degrees of freedom (Abramowitz and Stegun 26.7.3,
 * 26.7.4); more than 300 count as 300, whose quantiles are within 1 % of the normal distribution's. */
double cw_student_quantile(unsigned freedom, double tail);
/* The probability, one-sided, to exceed `t`, which is 0 or above. */
double cw_student_tail(double t, unsigned freedom);

/* The usual variance, and its weight in degrees of freedom: the more alike the variances, the greater. */
struct cw_prior {
    double variance, freedom;
};
/* Fits a prior to `count` variances above 0, each of `freedom` degrees, by the moments of their logarithms as of a
 * scaled F distribution (G. K. Smyth 2004, "Linear models and empirical Bayes methods", section 6.2). Leaves out
 * variances far from the others (2.5 times the median distance, scaled). {0, 0} of less than CW_PRIOR_LEAST, and
 * without memory. */
enum { CW_PRIOR_LEAST = 6 };
struct cw_prior cw_prior_fit(const double *variances, uint32_t count, unsigned freedom);

#endif
