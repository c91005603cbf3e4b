#include "eval/evaluate.h"

#include <math.h>
#include <string.h>

#include "eval/eval_formula.h"
#include "eval/eval_facts.h"

/* Ranges are taken in blocks, and all metrics run over one block before the next: common operands (cycles, time) stay
 * in the first-level cache, and all steps of a metric run over cached data. */
enum { BLOCK = CW_EVAL_BLOCK };

struct block {
    const struct cw_eval_plan *plan;
    const struct cw_counter_data *data;
    uint32_t start, count;
    double loaded[BLOCK], part[BLOCK];
    int8_t part_status[BLOCK];
};

/* ---- operands --------------------------------------------------------------------------------------------------- */

static const double *column(const struct block *b, uint32_t column, enum cw_rollup rollup)
{
    return b->data->rollups[rollup] + (size_t)column * b->data->range_count + b->start;
}

/* The counter's peak rollups on the device of range i of the block. */
static const double *peak_of(const struct block *b, uint32_t i, uint32_t counter)
{
    const uint32_t device = b->data->device_count == 1 ? 0 : b->data->ranges[b->start + i].device;
    return b->data->devices[device].facts[counter].peak;
}

static void load_peak(const struct block *b, uint32_t counter, enum cw_rollup rollup, double *out)
{
    if (b->data->device_count == 1) {
        double peak = peak_of(b, 0, counter)[rollup];
        for (uint32_t i = 0; i < b->count; i++)
            out[i] = peak;
        return;
    }
    for (uint32_t i = 0; i < b->count; i++)
        out[i] = peak_of(b, i, counter)[rollup];
}

/* A unit without instances sums to nothing, even if one instance has a peak. */
static void load_present(const struct block *b, uint32_t counter, double *out)
{
    for (uint32_t i = 0; i < b->count; i++) {
        uint32_t device = b->data->ranges[b->start + i].device;
        const double *peak = b->data->devices[device].facts[counter].peak;
        out[i] = peak[CW_SUM] != 0 || peak[CW_AVG] == 0;
    }
}

/* From "for the whole range" to "for the user's duration". */
static void scale_to_user(const struct block *b, const struct cw_eval_operand *o, double *values)
{
    const double *time = column(b, o->time, CW_AVG);
    for (uint32_t i = 0; i < b->count; i++)
        values[i] = time[i] == 0 && values[i] == 0 ? 0 : o->duration * values[i] / time[i];
}

/* Adds term by term, in the order of the database, as NVIDIA's evaluator does: if terms cancel out, the last digits of
 * the result depend on the order. */
static void load_linear(const struct block *b, const struct cw_linear *linear, enum cw_rollup rollup, double *out)
{
    for (uint32_t t = 0; t < linear->count; t++) {
        const double *x = column(b, linear->columns[t], rollup);
        double by = linear->coefficients[t];
        for (uint32_t i = 0; i < b->count; i++)
            out[i] = t ? out[i] + by * x[i] : by * x[i];
    }
    for (uint32_t i = 0; linear->per != 1 && i < b->count; i++)
        out[i] *= linear->per;
}

/* The operand's values for the block: in place, or in `scratch`. */
static const double *load(const struct block *b, const struct cw_eval_operand *o, double *scratch)
{
    switch (o->kind) {
    case CW_EVAL_PEAK:
    case CW_EVAL_USER_PEAK:
        load_peak(b, o->column, o->rollup, scratch);
        break;
    case CW_EVAL_LINEAR:
        load_linear(b, o->linear, o->rollup, scratch);
        return scratch;
    case CW_EVAL_PRESENT:
        load_present(b, o->column, scratch);
        return scratch;
    case CW_EVAL_USER_CYCLES:
        memcpy(scratch, column(b, o->column, o->rollup), b->count * sizeof *scratch);
        break;
    default:
        return column(b, o->column, o->rollup);
    }
    if (o->kind != CW_EVAL_PEAK)
        scale_to_user(b, o, scratch);
    return scratch;
}

/* ---- steps ------------------------------------------------------------------------------------------------------ */

static void raise_status(int8_t *status, enum cw_value_status to)
{
    if (*status < (int8_t)to)
        *status = (int8_t)to;
}

static bool any_zero(const double *values, uint32_t count)
{
    uint64_t zeros = 0;
    for (uint32_t i = 0; i < count; i++)
        zeros += values[i] == 0;
    return zeros != 0;
}

static bool any_nan(const double *values, uint32_t count)
{
    uint64_t nans = 0;
    for (uint32_t i = 0; i < count; i++)
        nans += values[i] != values[i];
    return nans != 0;
}

static void divide(const double *x, const double *by, bool zero_over, uint32_t count, double *out, int8_t *statuses)
{
    if (!any_zero(by, count)) {
        for (uint32_t i = 0; i < count; i++)
            out[i] = x[i] / by[i];
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (by[i] == 0) {
            raise_status(&statuses[i], CW_VALUE_ZERO_DENOMINATOR);
            out[i] = x[i] == 0 || (zero_over && !isnan(x[i])) ? 0 : x[i] / by[i];
        } else {
            out[i] = x[i] / by[i];
        }
    }
}

static void form_statuses(const struct block *b, uint32_t column, int8_t *statuses)
{
    static const uint8_t meaning[CW_FORM__ALL] = {
        [CW_FORM_NOT_COLLECTED] = CW_VALUE_NOT_COLLECTED, [CW_FORM_UNAVAILABLE] = CW_VALUE_UNAVAILABLE,
        [CW_FORM_OVERFLOW] = CW_VALUE_OVERFLOW,           [CW_FORM_INCOMPLETE] = CW_VALUE_INCOMPLETE,
        [CW_FORM_MULTIPLEXED] = CW_VALUE_MULTIPLEXED,
    };
    const uint8_t *forms = b->data->forms + (size_t)column * b->data->range_count + b->start;
    uint8_t any = 0;
    for (uint32_t i = 0; i < b->count; i++)
        any |= (uint8_t)((forms[i] < CW_FORM_ZERO) | (forms[i] == CW_FORM_OVERFLOW) | (forms[i] >= CW_FORM_INCOMPLETE));
    for (uint32_t i = 0; any && i < b->count; i++)
        raise_status(&statuses[i], (enum cw_value_status)meaning[forms[i]]);
}

static void operand_statuses(const struct block *b, const struct cw_eval_operand *o, int8_t *statuses)
{
    bool user = o->kind == CW_EVAL_USER_CYCLES || o->kind == CW_EVAL_USER_PEAK;
    if (o->kind == CW_EVAL_ROLLUP || o->kind == CW_EVAL_USER_CYCLES)
        form_statuses(b, o->column, statuses);
    for (uint32_t i = 0; o->kind == CW_EVAL_LINEAR && i < o->linear->count; i++)
        form_statuses(b, o->linear->columns[i], statuses);
    if (user) {
        const double *time = column(b, o->time, CW_AVG);
        form_statuses(b, o->time, statuses);
        for (uint32_t i = 0; i < b->count; i++)
            if (time[i] == 0)
                raise_status(&statuses[i], CW_VALUE_ZERO_DENOMINATOR);
    }
}

/* The most that a share of a device's peak can be: every instance at the highest peak of one of them. Cycles are means
 * over instances, so the busiest instance may reach the peak of all. */
static double wholes(const double *peak, enum cw_rollup rollup)
{
    return rollup == CW_MAX   ? peak[CW_SUM] / peak[CW_AVG]
           : rollup == CW_MIN ? peak[CW_MAX] / peak[CW_MIN]
                              : peak[CW_MAX] / peak[CW_AVG];
}

/* Counters of one pass are read one after another, which makes shares slightly larger than the whole. */
static const double reading = 1.005;

static void judge_shares(const struct block *b, const struct cw_eval_term *t, const double *values, int8_t *statuses)
{
    const struct cw_eval_operand *of = &t->divisors[CW_TERM_DIVISORS - 1];
    double most = reading * t->most;
    for (uint32_t i = 0; i < b->count; i++) {
        if (of->kind == CW_EVAL_PEAK && (i == 0 || b->data->device_count > 1))
            most = reading * t->most * wholes(peak_of(b, i, of->column), of->rollup);
        if (values[i] > most && !isinf(values[i]))
            raise_status(&statuses[i], CW_VALUE_IMPLAUSIBLE);
    }
}

/* The size of the counters of which a value is the difference; 0 for a counter itself. */
static double size_of_terms(const struct block *b, const struct cw_eval_operand *o, uint32_t i)
{
    double size = 0;
    if (o->kind != CW_EVAL_LINEAR)
        return 0;
    for (uint32_t t = 0; t < o->linear->count; t++)
        size += fabs(o->linear->coefficients[t] * column(b, o->linear->columns[t], o->rollup)[i]);
    return size * fabs(o->linear->per);
}

/* No counter is below 0. Those that are differences may be, of passes or of greatest instances that are not alike; and
 * by little, as counters of one pass are read one after another. */
static void judge_signs(const struct block *b, const struct cw_eval_operand *o, const double *values, int8_t *statuses)
{
    if (o->kind != CW_EVAL_ROLLUP && o->kind != CW_EVAL_LINEAR)
        return;
    for (uint32_t i = 0; i < b->count; i++)
        if (values[i] < 0 && values[i] < (1 - reading) * size_of_terms(b, o, i))
            raise_status(&statuses[i], CW_VALUE_IMPLAUSIBLE);
}

/* The operand's values, as load() has them, and their statuses. */
static const double *take(const struct block *b, const struct cw_eval_operand *o, double *scratch, int8_t *statuses)
{
    const double *values = load(b, o, scratch);
    operand_statuses(b, o, statuses);
    judge_signs(b, o, values, statuses);
    return values;
}

static void run_term(struct block *b, const struct cw_eval_term *t, double *out, int8_t *statuses)
{
    uint32_t n = b->count;
    memset(statuses, (int)t->status, n);
    if (t->status == CW_VALUE_NOT_COLLECTED || t->x.kind == CW_EVAL_NONE) {
        for (uint32_t i = 0; i < n; i++)
            out[i] = t->status == CW_VALUE_NOT_COLLECTED ? NAN : t->scale;
        return;
    }
    const double *x = take(b, &t->x, out, statuses);
    if (t->factor.kind != CW_EVAL_NONE) {
        const double *by = take(b, &t->factor, b->loaded, statuses);
        for (uint32_t i = 0; i < n; i++)
            out[i] = x[i] * by[i];
        x = out;
    }
    for (int d = 0; d < CW_TERM_DIVISORS; d++) {
        if (t->divisors[d].kind == CW_EVAL_NONE)
            continue;
        divide(x, take(b, &t->divisors[d], b->loaded, statuses), t->zero_over, n, out, statuses);
        x = out;
    }
    if (t->scale != 1) {
        for (uint32_t i = 0; i < n; i++)
            out[i] = x[i] * t->scale;
    } else if (x != out) {
        memcpy(out, x, n * sizeof *out);
    }
    if (t->most != 0)
        judge_shares(b, t, out, statuses);
}

/* ---- metrics ---------------------------------------------------------------------------------------------------- */

static void mark_nans(const double *values, int8_t *statuses, uint32_t count)
{
    if (!any_nan(values, count))
        return;
    for (uint32_t i = 0; i < count; i++)
        if (isnan(values[i]))
            raise_status(&statuses[i], CW_VALUE_UNAVAILABLE);
}

/* The largest available value. A constituent that was not collected might have been the largest, so without it the
 * result is unknown. */
static void take_largest(const double *part, const int8_t *part_status, double *out, int8_t *statuses, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        bool nothing_yet = statuses[i] == CW_VALUE_UNAVAILABLE;
        if (part_status[i] == CW_VALUE_NOT_COLLECTED || statuses[i] == CW_VALUE_NOT_COLLECTED) {
            statuses[i] = CW_VALUE_NOT_COLLECTED;
            out[i] = NAN;
        } else if (part_status[i] != CW_VALUE_UNAVAILABLE) {
            statuses[i] = nothing_yet || part_status[i] > statuses[i] ? part_status[i] : statuses[i];
            out[i] = nothing_yet || part[i] > out[i] ? part[i] : out[i];
        }
    }
}

static void run_largest(struct block *b, const struct cw_eval_metric *m, double *out, int8_t *statuses)
{
    memset(statuses, m->status == CW_VALUE_NOT_COLLECTED ? CW_VALUE_NOT_COLLECTED : CW_VALUE_UNAVAILABLE, b->count);
    for (uint32_t i = 0; i < b->count; i++)
        out[i] = NAN;
    for (uint32_t t = 0; t < m->term_count && m->status != CW_VALUE_NOT_COLLECTED; t++) {
        run_term(b, &b->plan->terms[m->term + t], b->part, b->part_status);
        mark_nans(b->part, b->part_status, b->count);
        take_largest(b->part, b->part_status, out, statuses, b->count);
    }
}

static void run_fact(struct block *b, uint32_t fact, double *values, int8_t *statuses)
{
    cw_eval_facts_load(b->data, fact, b->start, b->count, values);
    for (uint32_t i = 0; i < b->count; i++)
        statuses[i] = isnan(values[i]) ? CW_VALUE_NOT_COLLECTED : CW_VALUE_OK;
}

static void run_metric(struct block *b, const struct cw_eval_metric *metric, double *values, int8_t *statuses)
{
    if (!metric->largest && b->plan->terms[metric->term].x.kind == CW_EVAL_FACT) {
        run_fact(b, b->plan->terms[metric->term].x.column, values, statuses);
    } else if (metric->largest) {
        run_largest(b, metric, values, statuses);
    } else {
        run_term(b, &b->plan->terms[metric->term], values, statuses);
        mark_nans(values, statuses, b->count);
    }
}

struct operands {
    struct block *block;
    uint32_t first;
};

static void run_operand(void *context, uint32_t metric, double *values, int8_t *statuses)
{
    const struct operands *o = context;
    run_metric(o->block, &o->block->plan->metrics[o->first + metric], values, statuses);
}

static void run_formula(struct block *b, const struct cw_eval_metric *metric, double *values, int8_t *statuses)
{
    struct operands operands = {b, metric->operand};
    cw_formula_run(metric->formula, b->plan->slots, b->count, run_operand, &operands, values, statuses);
    for (uint32_t i = 0; i < b->count; i++)
        raise_status(&statuses[i], metric->status);
}

/* An infinite quotient would hide all others in a mean. The greatest share of a throughput is unknown if one of its
 * shares divides by zero. */
static void drop_infinities(double *values, int8_t *statuses, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!isinf(values[i]) || statuses[i] < CW_VALUE_ZERO_DENOMINATOR)
            continue;
        values[i] = NAN;
        if (statuses[i] == CW_VALUE_IMPLAUSIBLE)
            statuses[i] = CW_VALUE_ZERO_DENOMINATOR;
    }
}

void cw_evaluate(const struct cw_eval_plan *plan, const struct cw_counter_data *data, double *values, int8_t *statuses)
{
    cw_evaluate_some(plan, 0, plan->metric_count, data, values, statuses);
}

void cw_evaluate_some(const struct cw_eval_plan *plan, uint32_t first, uint32_t count,
                      const struct cw_counter_data *data, double *values, int8_t *statuses)
{
    struct block b;
    b.plan = plan;
    b.data = data;
    for (b.start = 0; b.start < data->range_count; b.start += b.count) {
        b.count = data->range_count - b.start < BLOCK ? data->range_count - b.start : BLOCK;
        for (uint32_t m = 0; m < count; m++) {
            size_t at = (size_t)m * data->range_count + b.start;
            const struct cw_eval_metric *metric = &plan->metrics[first + m];
            if (metric->formula)
                run_formula(&b, metric, values + at, statuses + at);
            else
                run_metric(&b, metric, values + at, statuses + at);
            drop_infinities(values + at, statuses + at, b.count);
        }
    }
}
