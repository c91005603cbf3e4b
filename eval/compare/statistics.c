#define _GNU_SOURCE
#include "eval/compare/statistics.h"

#include <math.h>
#include <stdlib.h>

#include "eval/quantile.h"

/* ---- Student's t ------------------------------------------------------------------------------------------------- */

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

/* ---- a prior for variances --------------------------------------------------------------------------------------- */

/* The first and the second derivative of the logarithm of the gamma function, by their asymptotic series. The recursion
 * raises x until these hold (Abramowitz and Stegun 6.3.5, 6.3.18, 6.4.6, 6.4.12). */
static double digamma(double x)
{
    double sum = 0;
    for (; x < 10; x++)
        sum -= 1 / x;
    const double y = 1 / (x * x);
    return sum + log(x) - 1 / (2 * x) - y * (1.0 / 12 - y * (1.0 / 120 - y / 252));
}

static double trigamma(double x)
{
    double sum = 0;
    for (; x < 10; x++)
        sum += 1 / (x * x);
    const double y = 1 / (x * x);
    return sum + 1 / x + y / 2 + y / x * (1.0 / 6 - y * (1.0 / 30 - y / 42));
}

/* trigamma falls from infinity to 0. */
static double inverse_trigamma(double value)
{
    enum { STEPS = 100 };
    double low = 1e-6, high = 1e6;
    for (int i = 0; i < STEPS; i++) {
        const double middle = sqrt(low * high);
        *(trigamma(middle) > value ? &low : &high) = middle;
    }
    return high;
}

struct cw_prior cw_prior_fit(const double *variances, uint32_t count, unsigned freedom)
{
    static const double far = 2.5, of_normal = 1.4826, most_freedom = 100;
    const double half = freedom / 2.0, expected = digamma(half) - log(half);
    double *logs = count >= CW_PRIOR_LEAST ? malloc(2 * (size_t)count * sizeof *logs) : NULL, sum = 0, squares = 0;
    uint32_t kept = 0;
    if (!logs)
        return (struct cw_prior){0, 0};
    double *distances = logs + count;
    for (uint32_t i = 0; i < count; i++)
        logs[i] = log(variances[i]) - expected;
    const double middle = cw_median(logs, count);
    for (uint32_t i = 0; i < count; i++)
        distances[i] = fabs(logs[i] - middle);
    const double limit = far * of_normal * cw_median(distances, count);
    for (uint32_t i = 0; i < count; i++)
        if (fabs(logs[i] - middle) <= limit) {
            sum += logs[i];
            squares += (logs[i] - middle) * (logs[i] - middle);
            kept++;
        }
    free(logs);
    const double mean = sum / kept, off = mean - middle;
    const double spread = kept > 1 ? (squares - kept * off * off) / (kept - 1) - trigamma(half) : 0;
    if (spread <= trigamma(most_freedom / 2))
        return (struct cw_prior){exp(mean), most_freedom};
    const double own = inverse_trigamma(spread);
    return (struct cw_prior){exp(mean + digamma(own) - log(own)), 2 * own};
}
