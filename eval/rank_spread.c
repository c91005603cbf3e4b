#include "eval/rank_spread.h"

#include <math.h>
#include <stdlib.h>

#include "eval/groups.h"

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Between the two that are nearest to it. */
static double quantile(const double *sorted, uint32_t count, double part)
{
    const double at = part * (count - 1);
    const uint32_t below = (uint32_t)at, above = below + 1 < count ? below + 1 : below;
    const double rest = at - below;
    return rest > 0 ? sorted[below] + rest * (sorted[above] - sorted[below]) : sorted[below];
}

bool cw_rank_is_outlier(double value, const struct cw_rank_spread *s)
{
    enum { FEW = 4 };
    static const double LEAST = 0.05, USUAL = 5 * 1.4826;
    const double off = fabs(value - s->median);
    return off > LEAST * fabs(s->median) && off > 0 && (s->count < FEW || off > USUAL * s->distance);
}

void cw_rank_spread_make(struct cw_rank_spread *s, const double *values, const uint32_t *rank, uint32_t count,
                         double *scratch)
{
    double sum = 0, squares = 0;
    uint32_t n = 0;
    *s = (struct cw_rank_spread){.least = NAN, .greatest = NAN};
    for (uint32_t i = 0; i < count; i++) {
        if (!isfinite(values[i]))
            continue;
        scratch[n++] = values[i];
        sum += values[i];
        if (!(values[i] >= s->least))
            s->least = values[i], s->least_rank = rank[i];
        if (!(values[i] <= s->greatest))
            s->greatest = values[i], s->greatest_rank = rank[i];
    }
    s->count = n;
    s->mean = sum / n; /* NaN without a value, as what follows from it */
    for (uint32_t i = 0; i < n; i++)
        squares += (scratch[i] - s->mean) * (scratch[i] - s->mean);
    s->deviation = cw_sample_deviation(squares, n);
    s->imbalance = s->mean > 0 ? s->greatest / s->mean - 1 : NAN;
    s->lower = s->median = s->upper = s->distance = NAN;
    if (!n)
        return;
    qsort(scratch, n, sizeof *scratch, by_value);
    s->lower = quantile(scratch, n, 0.25);
    s->median = quantile(scratch, n, 0.5);
    s->upper = quantile(scratch, n, 0.75);
    for (uint32_t i = 0; i < n; i++)
        scratch[i] = fabs(scratch[i] - s->median);
    qsort(scratch, n, sizeof *scratch, by_value);
    s->distance = quantile(scratch, n, 0.5);
    for (uint32_t i = 0; i < count; i++)
        s->outliers += isfinite(values[i]) && cw_rank_is_outlier(values[i], s);
}
