#include "eval/quantile.h"

#include <math.h>
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

/* Hoare's selection: moves the k-th smallest value to values[k], and no value before it is greater. */
static double select_value(double *values, size_t count, size_t k)
{
    size_t first = 0, last = count - 1;
    while (first < last) {
        const double pivot = values[first + (last - first) / 2];
        size_t i = first, j = last + 1; /* all before i are at most the pivot, all from j on at least the pivot */
        while (i < j) {
            if (values[i] < pivot) {
                i++;
            } else if (values[j - 1] > pivot) {
                j--;
            } else {
                const double was = values[i];
                values[i++] = values[--j];
                values[j] = was;
            }
        }
        if (k < i)
            last = i - 1;
        else
            first = i;
    }
    return values[k];
}

double cw_median(double *values, size_t count)
{
    if (!count)
        return NAN;
    const double upper = select_value(values, count, count / 2);
    double lower = upper;
    for (size_t i = 0; count % 2 == 0 && i < count / 2; i++)
        lower = i ? fmax(lower, values[i]) : values[i];
    return (lower + upper) / 2;
}

double cw_sample_deviation(double squares, uint64_t count)
{
    return count > 1 ? sqrt(squares / (double)(count - 1)) : NAN;
}
