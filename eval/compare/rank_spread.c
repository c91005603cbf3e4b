#include "eval/compare/rank_spread.h"

#include <math.h>

#include "eval/quantile.h"
#include "eval/ranges/groups.h"

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
    cw_values_sort(scratch, n);
    s->lower = cw_quantile(scratch, n, 0.25);
    s->median = cw_quantile(scratch, n, 0.5);
    s->upper = cw_quantile(scratch, n, 0.75);
    for (uint32_t i = 0; i < n; i++)
        scratch[i] = fabs(scratch[i] - s->median);
    cw_values_sort(scratch, n);
    s->distance = cw_quantile(scratch, n, 0.5);
    for (uint32_t i = 0; i < count; i++)
        s->outliers += isfinite(values[i]) && cw_rank_is_outlier(values[i], s);
}
