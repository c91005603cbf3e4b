#include "eval/compare/quantile.h"

#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void cw_values_sort(double *values, size_t count)
{
    qsort(values, count, sizeof *values, by_value);
}

double cw_quantile(const double *sorted, size_t count, double part)
{
    const double at = part * (double)(count - 1);
    const size_t below = (size_t)at, above = below + 1 < count ? below + 1 : below;
    const double rest = at - (double)below;
    return rest > 0 ? sorted[below] + rest * (sorted[above] - sorted[below]) : sorted[below];
}

double cw_median(double *values, size_t count)
{
    cw_values_sort(values, count);
    return cw_quantile(values, count, 0.5);
}
