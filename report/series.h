/* Numbers over time, encoded for the page: 16 bits between the least and the greatest; times have 32 bits of a span. */
#ifndef CW_REPORT_SERIES_H
#define CW_REPORT_SERIES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* `count` numbers in order of time. Each point of the page stands for `per` numbers, and shows the least and the
 * greatest of them. */
struct cw_series {
    const char *name, *unit;
    const double *values; /* not finite: unknown */
    uint32_t count, per;
};
/* Prints `before` as it is, and an object. False: out of memory. */
bool cw_series_put(FILE *out, const char *before, const struct cw_series *series);

/* Prints a member "time": the times of a series with this `count` and `per`. False: out of memory. */
bool cw_series_put_times(FILE *out, const uint64_t *times, uint32_t count, uint32_t per, uint64_t start, uint64_t end);

/* The least `per` with which `series` series of `count` numbers fit into `bytes`. */
uint32_t cw_series_per(uint32_t count, uint32_t series, uint32_t bytes);

#endif
