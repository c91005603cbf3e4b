/* Numbers over time, as the page has them: 16 bits between the least and the greatest, times as 32 bits of a span. */
#ifndef CW_REPORT_SERIES_H
#define CW_REPORT_SERIES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* `count` numbers in the order of time. With `per` above 1 each point of the page stands for that many, by the least
 * and the greatest of them. False when out of memory, here and below. */
struct cw_series {
    const char *name, *unit;
    const double *values; /* what is not finite is not known */
    uint32_t count, per;
};
/* Prints `before`, which is ours, and an object. */
bool cw_series_put(FILE *out, const char *before, const struct cw_series *series);

/* Of the same `count` and `per`, when each began: a member "time". */
bool cw_series_put_times(FILE *out, const uint64_t *times, uint32_t count, uint32_t per, uint64_t start, uint64_t end);

/* The least `per` with which `series` numbers at each of `count` times fit into `bytes`. */
uint32_t cw_series_per(uint32_t count, uint32_t series, uint32_t bytes);

#endif
