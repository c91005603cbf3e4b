/* Student's t: how far the mean of few values may be from where it should be. */
#ifndef CW_EVAL_COMPARE_STUDENT_H
#define CW_EVAL_COMPARE_STUDENT_H

/* The t that is exceeded with the probability `tail` (above 0, at most 0.5), one-sided. With 0 degrees of freedom
 * nothing is known: infinity, and 0.5. From the closed form for whole degrees of freedom (Abramowitz and
 * Stegun 26.7.3, 26.7.4); more than 300 count as 300, whose quantiles are within 1 % of those of the normal
 * distribution. */
double cw_student_quantile(unsigned freedom, double tail);
/* The probability, one-sided, to exceed `t`, which is 0 or above. */
double cw_student_tail(double t, unsigned freedom);

#endif
