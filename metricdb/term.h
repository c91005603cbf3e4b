/* What metrics mean. This is the only place that says what a value is computed from: planning takes counters from here,
 * evaluation binds the operands to columns of a capture, and people read them as text.
 *
 * A metric is one term, for a throughput the largest of several, or a user's formula over other metrics
 * (metricdb/formula.h). A term is
 *
 *     scale * x * factor / divisors[0] / divisors[1]
 *
 * and an operand that it does not use reads nothing. */
#ifndef CW_METRICDB_TERM_H
#define CW_METRICDB_TERM_H

#include "metricdb/metric.h"

enum cw_reads {
    CW_READS_NOTHING,
    CW_READS_ROLLUP,      /* a rollup of the counter over the device's instances */
    CW_READS_PEAK,        /* a rollup of the device's sustained peak for the counter */
    CW_READS_PRESENCE,    /* 0 where the device has no instance of the counter's unit, else 1 */
    CW_READS_USER_CYCLES, /* average cycles of the counter's unit in the user's frame or region */
    CW_READS_TIME,        /* the duration in ns */
    CW_READS_FACT         /* a fact of the launch or the device, and no counter */
};

enum cw_span { CW_SPAN_MEASURED, CW_SPAN_FRAME, CW_SPAN_REGION };

struct cw_operand {
    enum cw_reads reads;
    enum cw_rollup rollup;
    uint32_t counter; /* CW_NONE where the database does not know it; of a fact the index of that */
    /* Of user cycles, and of a counter that counts these: the user's span, to whose duration the cycles that elapsed in
     * the time measured are scaled. */
    enum cw_span span;
};

enum { CW_TERM_DIVISORS = 2 };

struct cw_term {
    struct cw_operand x, factor, divisors[CW_TERM_DIVISORS];
    double scale;
    double most;    /* a share's: the whole, in the unit of the value; 0 where the value is no share */
    bool zero_over; /* anything over zero is zero (ratios), not just zero over zero */
};

struct cw_terms {
    bool largest; /* a throughput */
    uint32_t count, room;
    struct cw_term *items; /* a throughput's in the order of their counters; or `one` */
    struct cw_term one;
};

/* The terms of a metric of the chip's own, which is no formula. `terms` begins as zeros, may be used for one metric
 * after another, has to be freed and cannot be copied. CW_ERR_UNSUPPORTED where the database does not know all of the
 * formula: then there is no term, or operands that lack a counter. */
enum cw_status cw_terms_make(struct cw_terms *terms, const struct cw_chip *chip, const struct cw_metric *metric,
                             struct cw_error *err);
void cw_terms_free(struct cw_terms *terms);

/* The metrics, no formulas, that a metric is computed from: a formula's, or the metric itself. Borrowed from the chip
 * and `metric`. */
const struct cw_metric *cw_metric_parts(const struct cw_chip *chip, const struct cw_metric *metric, uint32_t *count);

/* Counters that somebody needs. A derived counter stands for its terms where the rollup follows from them, unless its
 * peak is needed, which is recorded beside the counter. */
struct cw_needs {
    const struct cw_chip *chip;
    /* When planning, counters that are recorded anyway and stand for themselves, or NULL. */
    const bool *recorded;
    /* The counters of a capture, for those that a value is computed from there: a derived counter counts itself where a
     * term is lacking. NULL when planning. */
    const bool *held;
    /* Takes a counter, perhaps several times, and the bits of the rollups that are read; none of one whose peak is.
     * NULL where only the status is wanted. */
    void (*add)(void *context, uint32_t counter, unsigned rollups);
    void *context;
    /* When planning, the list of the profiler (enum cw_listed), which collects no counter of another. 0: any. */
    uint32_t listed;
};

/* Adds what a term needs; all its counters are known. */
void cw_term_needs(const struct cw_needs *needs, const struct cw_term *term);
/* Adds what a metric needs. CW_ERR_UNSUPPORTED where its formula is not known, CW_ERR_USAGE where it needs a counter
 * that is not listed. */
enum cw_status cw_metric_needs(const struct cw_needs *needs, const struct cw_metric *metric, struct cw_error *err);

#endif
