/* How a value differs between the ranks of a parallel job. */
#ifndef CW_EVAL_COMPARE_RANK_SPREAD_H
#define CW_EVAL_COMPARE_RANK_SPREAD_H

#include <stdbool.h>
#include <stdint.h>

struct cw_rank_spread {
    uint32_t count; /* of ranks that have a value */
    double mean, deviation, least, lower, median, upper, greatest; /* lower, upper: quartiles; NaN without a value */
    double distance;                /* the median distance from the median */
    double imbalance;               /* greatest / mean - 1; NaN where the mean is not above zero */
    uint32_t least_rank, greatest_rank; /* indices of the first rank that has it */
    uint32_t outliers;              /* see cw_rank_is_outlier */
    uint32_t left_out; /* ranks whose value overflowed, is incomplete or implausible (cw_value_is_doubtful): it counts for nothing */
    int8_t status;     /* the gravest of all ranks that have a value, and of those that are left out */
};

/* Fills in a spread of `count` values, some of which may be NaN; `rank` says whose each is, `scratch` has room for
 * them. None is left out, and the status is CW_VALUE_OK. */
void cw_rank_spread_make(struct cw_rank_spread *spread, const double *values, const uint32_t *rank, uint32_t count,
                         double *scratch);
/* Whether a value stands apart: by 5 % of the median, and, of four ranks and more, by five times the usual distance from
 * it (1.4826 times the median distance, which is the standard deviation of what is distributed normally). */
bool cw_rank_is_outlier(double value, const struct cw_rank_spread *spread);

#endif
