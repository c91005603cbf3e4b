/* How much values of one thing vary, judged from few values of it and from what is usual for things like it. */
#ifndef CW_EVAL_COMPARE_PRIOR_H
#define CW_EVAL_COMPARE_PRIOR_H

#include <stdint.h>

/* The usual variance, and as how many degrees of freedom it counts: the more alike the variances are, the more. */
struct cw_prior {
    double variance, freedom;
};
/* From `count` variances above 0, each of `freedom` degrees: moments of their logarithms, which are those of a scaled F
 * distribution (G. K. Smyth 2004, "Linear models and empirical Bayes methods", section 6.2). Variances far from the
 * others (2.5 times the median distance, scaled) are left out. {0, 0} of less than CW_PRIOR_LEAST, and without memory.
 */
enum { CW_PRIOR_LEAST = 6 };
struct cw_prior cw_prior_fit(const double *variances, uint32_t count, unsigned freedom);

#endif
