/* Metrics bound to a capture's schema: no name is looked at after this.
 *
 * metricdb/term.h defines metrics by terms. Here the terms get operands: columns of the capture, facts of the device,
 * or cycles of the user's frame or region. If one pass has all counters of a term, the term takes the columns of that
 * pass.
 *
 * A counter of the schema may have a metric's full name (sm__throughput.avg.pct_of_peak_sustained_elapsed): it holds
 * the values of that metric, as another profiler gave them (foreign/ncu_csv.h). They count before the formula.
 */
#ifndef CW_EVAL_EVAL_PLAN_H
#define CW_EVAL_EVAL_PLAN_H

#include "eval/eval_formula.h"
#include "image/counter_data.h"
#include "metricdb/term.h"

struct cw_eval_options {
    double frame_ns, region_ns; /* durations of the user's frame and region; 0 when not given */
};

enum cw_eval_operand_kind {
    CW_EVAL_NONE,
    CW_EVAL_ROLLUP,      /* a recorded rollup of a counter */
    CW_EVAL_LINEAR,      /* a derived counter: a combination of recorded rollups */
    CW_EVAL_PEAK,        /* the device's sustained peak for the counter */
    CW_EVAL_USER_CYCLES, /* duration * rollup / time: the cycles of a frame or region */
    CW_EVAL_USER_PEAK,   /* duration * peak / time */
    CW_EVAL_PRESENT,     /* 0 where the device has no instance of the counter's unit, else 1 */
    CW_EVAL_FACT,        /* of the launch or the device (metricdb/fact.h), NaN if the capture lacks it */
};

struct cw_eval_operand {
    enum cw_eval_operand_kind kind;
    enum cw_rollup rollup;
    uint32_t column;         /* of the schema; of a peak, the counter's own; of a fact its number */
    uint32_t time;           /* column of the range's time in ns, to scale to a user's duration */
    double duration;         /* ns, of the user's frame or region; of user cycles and peaks never 0 */
    const struct cw_linear { /* per * (coefficients[0] * columns[0] + ...) */
        uint32_t count;
        uint32_t *columns;
        const double *coefficients;
        double per;
    } * linear;
};

struct cw_eval_plan {
    uint32_t metric_count;
    const struct cw_eval_metric {
        uint32_t term, term_count;
        bool largest;                /* a throughput */
        bool undurated;              /* of the user's frame or region, whose duration nobody gave */
        enum cw_value_status status; /* CW_VALUE_NOT_COLLECTED if a term is; of a formula, whether it mixes passes */
        const struct cw_formula *formula; /* or NULL */
        uint32_t operand;                 /* index of the first of the formula's metrics, which follow one another */
        bool copied;                      /* as in the capture: a recorded rollup or a device's peak */
    } * metrics;                          /* the metrics asked for, then the operands of formulas */
    const struct cw_eval_term {           /* as struct cw_term */
        struct cw_eval_operand x, factor, divisors[CW_TERM_DIVISORS];
        double scale, most;
        bool zero_over;
        enum cw_value_status status; /* by the schema alone */
    } * terms;
    struct cw_formula_slot *slots; /* for the deepest formula; a plan is for one evaluation at a time */
};

/* Marks the counters of the chip that a capture has; `held` has room for all. */
void cw_eval_mark_held(bool *held, const struct cw_chip *chip, const struct cw_schema *schema);

/* Compiles `count` metrics; the plan lives in `arena`. A counter that the schema lacks is no error, nor is a metric
 * whose formula the database does not know: its values read "not collected". */
enum cw_status cw_eval_plan_make(struct cw_eval_plan *plan, const struct cw_chip *chip, const struct cw_schema *schema,
                                 const struct cw_metric *metrics, size_t count, const struct cw_eval_options *options,
                                 struct cw_arena *arena, struct cw_error *err);

/* Calls `take` with each column that a metric of the plan reads; twice if it reads a column twice. */
void cw_eval_plan_columns(const struct cw_eval_plan *plan, uint32_t metric, void (*take)(void *user, uint32_t column),
                          void *user);

#endif
