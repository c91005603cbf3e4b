/* Definitions of metrics as terms. This is the only place that defines how a value is computed: planning takes counters
 * from here, evaluation binds the operands to columns of a capture, and people read them as text.
 *
 * A metric is one term, for a throughput the largest of several terms, or a user's formula over other metrics
 * (metricdb/formula.h). A term is
 *
 *     scale * x * factor / divisors[0] / divisors[1]
 *
 * and unused operands read nothing. */
#ifndef CW_METRICDB_TERM_H
#define CW_METRICDB_TERM_H

#include "metricdb/metric.h"

enum cw_reads {
    CW_READS_NOTHING,
    CW_READS_ROLLUP,      /* a rollup of the counter over the device's instances */
    CW_READS_PEAK,        /* a rollup of the device's sustained peak for the counter */
    CW_READS_PRESENCE,    /* 0 if the device has no instance of the counter's unit, else 1 */
    CW_READS_USER_CYCLES, /* average cycles of the counter's unit in the user's frame or region */
    CW_READS_TIME,        /* the duration in ns */
    CW_READS_FACT         /* a fact of the launch or the device; no counter */
};

enum cw_span { CW_SPAN_MEASURED, CW_SPAN_FRAME, CW_SPAN_REGION };

enum { CW_TERM_DIVISORS = 2 };

struct cw_terms {
    bool largest; /* a throughput */
    uint32_t count, room;
    struct cw_term {
        struct cw_operand {
            enum cw_reads reads;
            enum cw_rollup rollup;
            uint32_t counter; /* CW_NONE if the database does not know it; for a fact its index */
            /* For user cycles, and for a counter that counts them: the user's span. The elapsed cycles of the measured
             * time are scaled to its duration. */
            enum cw_span span;
        } x, factor, divisors[CW_TERM_DIVISORS];
        double scale;
        double most;    /* for a share: the whole, in the unit of the value; else 0 */
        bool zero_over; /* anything over zero is zero (ratios), not just zero over zero */
    } * items;          /* for a throughput in the order of their counters; or `one` */
    struct cw_term one;
};

/* Makes the terms of a metric other than a formula. Initialise `terms` with zeros; reuse it for further metrics; free
 * it; do not copy it. CW_ERR_UNSUPPORTED if the database lacks a part of the formula: there is no term then, or
 * operands lack a counter. */
enum cw_status cw_terms_make(struct cw_terms *terms, const struct cw_chip *chip, const struct cw_metric *metric,
                             struct cw_error *err);
void cw_terms_free(struct cw_terms *terms);

/* The metrics, without formulas, that a metric is computed from: a formula's inputs, or the metric itself. Borrowed
 * from the chip and `metric`. */
const struct cw_metric *cw_metric_parts(const struct cw_chip *chip, const struct cw_metric *metric, uint32_t *count);

/* Collects the counters that metrics need. Replaces a derived counter by its terms if the rollup follows from them,
 * unless its peak is needed, which is recorded with the counter. */
struct cw_needs {
    const struct cw_chip *chip;
    /* For planning: counters that are recorded in any case, and need no terms. Or NULL. */
    const bool *recorded;
    /* The counters of a capture, for evaluation: a derived counter counts itself if one of its terms is missing. NULL
     * for planning. */
    const bool *held;
    /* Takes a counter, possibly several times, and the bits of the rollups to read; no bits for a peak. NULL if only
     * the status is wanted. */
    void (*add)(void *context, uint32_t counter, unsigned rollups);
    void *context;
    /* When planning, the list of the profiler (enum cw_listed), which collects no counter of another. 0: any. */
    uint32_t listed;
};

/* Adds the counters of a term; the database knows all of them. */
void cw_term_needs(const struct cw_needs *needs, const struct cw_term *term);
/* Adds what a metric needs. CW_ERR_UNSUPPORTED where its formula is not known, CW_ERR_USAGE where it needs a counter
 * that is not listed. */
enum cw_status cw_metric_needs(const struct cw_needs *needs, const struct cw_metric *metric, struct cw_error *err);

/* Returns "100 * sum(A) / sum(B)"; a throughput has a line for each constituent. NULL when out of memory. */
char *cw_metric_formula(const struct cw_chip *chip, const struct cw_metric *metric, struct cw_arena *arena);

#endif
