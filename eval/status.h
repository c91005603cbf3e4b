/* The status that stands beside every value. */
#ifndef CW_EVAL_STATUS_H
#define CW_EVAL_STATUS_H

#include <math.h>
#include <stdbool.h>

/* In order of gravity: a value that is computed from several others has the gravest of their statuses. Values from
 * CW_VALUE_UNAVAILABLE on are NaN. */
enum cw_value_status {
    CW_VALUE_OK,
    CW_VALUE_MIXED_PASSES,     /* its counters come from different passes */
    CW_VALUE_MULTIPLEXED,      /* the mean of launches that were counted in one pass each, of several or the same */
    CW_VALUE_ZERO_DENOMINATOR, /* a denominator is zero; the value is 0, or NaN where it would be infinite */
    CW_VALUE_OVERFLOW,         /* a counter overflowed in at least one instance */
    CW_VALUE_INCOMPLETE,       /* a pass is missing */
    CW_VALUE_IMPLAUSIBLE,      /* a share of more than the whole (struct cw_term, `most`), or computed from one */
    CW_VALUE_UNAVAILABLE,      /* the device does not have it */
    CW_VALUE_NOT_COLLECTED,    /* the capture lacks a counter that it needs, or the user gave no duration for it */
    CW_VALUE_STATUS_COUNT
};

/* Whether a mean over samples counts a value. Where nothing ran, "per active cycle" divides by 0: that is no value of
 * 0.
 */
static inline bool cw_value_counts(double value, int status)
{
    return !isnan(value) && status != CW_VALUE_ZERO_DENOMINATOR;
}

/* Whether a value is a number that says nothing: it may be any other. */
static inline bool cw_value_is_lost(int status)
{
    return status == CW_VALUE_OVERFLOW || status == CW_VALUE_INCOMPLETE;
}

/* Whether comparisons conclude nothing from a value. */
static inline bool cw_value_is_doubtful(int status)
{
    return cw_value_is_lost(status) || status == CW_VALUE_IMPLAUSIBLE;
}

/* Where a value stands in an order of values, whichever direction that has: 0 first, 1 behind, which are implausible, 2
 * last, which have no value. */
static inline int cw_value_rank(double value, int status)
{
    return isnan(value) ? 2 : status == CW_VALUE_IMPLAUSIBLE;
}

/* "ok", "mixed passes" and so on. */
const char *cw_value_status_text(enum cw_value_status status);

#endif
