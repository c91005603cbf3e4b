/* The status beside every value. */
#ifndef CW_EVAL_STATUS_H
#define CW_EVAL_STATUS_H

#include <math.h>
#include <stdbool.h>

/* In order of gravity: a value computed from several others has the gravest of their statuses. Values from
 * CW_VALUE_UNAVAILABLE on are NaN. */
enum cw_value_status {
    CW_VALUE_OK,
    CW_VALUE_MIXED_PASSES,     /* its counters come from different passes */
    CW_VALUE_MULTIPLEXED,      /* the mean of launches with one counted pass each, the same or others */
    CW_VALUE_ZERO_DENOMINATOR, /* a denominator is zero; the value is 0, or NaN in place of infinity */
    CW_VALUE_OVERFLOW,         /* a counter overflowed in at least one instance */
    CW_VALUE_INCOMPLETE,       /* a pass is missing */
    CW_VALUE_IMPLAUSIBLE,      /* a share of more than the whole (struct cw_term, `most`), a count below 0, or computed
                                * from one */
    CW_VALUE_UNAVAILABLE,      /* the device does not have it */
    CW_VALUE_NOT_COLLECTED,    /* the capture lacks a counter, or the user gave no duration */
    CW_VALUE_STATUS_COUNT
};

/* Whether a mean over samples counts a value. If nothing ran, "per active cycle" divides by 0, which is no value of 0.
 */
static inline bool cw_value_counts(double value, int status)
{
    return !isnan(value) && status != CW_VALUE_ZERO_DENOMINATOR;
}

/* Whether a value is a meaningless number. */
static inline bool cw_value_is_lost(int status)
{
    return status == CW_VALUE_OVERFLOW || status == CW_VALUE_INCOMPLETE;
}

/* Whether comparisons ignore a value. */
static inline bool cw_value_is_doubtful(int status)
{
    return cw_value_is_lost(status) || status == CW_VALUE_IMPLAUSIBLE;
}

/* The place of a value in a list that is sorted in either direction: 0 first, 1 implausible values, 2 missing values
 * last. */
static inline int cw_value_rank(double value, int status)
{
    return isnan(value) ? 2 : status == CW_VALUE_IMPLAUSIBLE;
}

/* "ok", "mixed passes" and so on. */
const char *cw_value_status_text(enum cw_value_status status);

#endif
