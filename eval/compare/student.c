#define _GNU_SOURCE
#include "eval/compare/student.h"

#include <math.h>

enum { MOST_FREEDOM = 300, HALVINGS = 200 };

double cw_student_tail(double t, unsigned freedom)
{
    freedom = freedom < MOST_FREEDOM ? freedom : MOST_FREEDOM;
    if (!freedom)
        return 0.5;
    const double angle = atan(t / sqrt(freedom)), c2 = cos(angle) * cos(angle);
    const unsigned odd = freedom % 2;
    double term = odd ? cos(angle) : 1, sum = 0;
    for (unsigned k = odd; k + 2 <= freedom; k += 2) { /* odd: cos, 2/3 cos^3, ...; even: 1, 1/2 cos^2, ... */
        sum += term;
        term *= c2 * (k + 1) / (k + 2);
    }
    const double within = odd ? 2 / M_PI * (angle + sin(angle) * sum) : sin(angle) * sum;
    return (1 - within) / 2;
}

double cw_student_quantile(unsigned freedom, double tail)
{
    double low = 0, high = 1;
    if (!freedom)
        return INFINITY;
    while (cw_student_tail(high, freedom) > tail && high < 1e12)
        high *= 2;
    for (int i = 0; i < HALVINGS; i++) {
        const double middle = (low + high) / 2;
        *(cw_student_tail(middle, freedom) > tail ? &low : &high) = middle;
    }
    return high;
}
