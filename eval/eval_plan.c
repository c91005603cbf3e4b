#include "eval/eval_plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "eval/eval_passes.h"

struct compile {
    const struct cw_chip *chip;
    const struct cw_schema *schema;
    const struct cw_eval_options *options;
    uint32_t *columns; /* of each counter of the chip, CW_NONE where the schema lacks it */
    uint32_t *common;  /* scratch: how many operands each pass has */
    struct cw_term *terms;
    uint32_t count, capacity;
    struct cw_list *leaves; /* of each throughput, once it was needed */
    uint32_t time;
    bool failed; /* out of memory */
    struct cw_arena *arena;
    struct cw_error *err;
};

/* ---- operands --------------------------------------------------------------------------------------------------- */

static bool ends_with(const char *name, const char *end)
{
    size_t length = strlen(name), tail = strlen(end);
    return length >= tail && strcmp(name + length - tail, end) == 0;
}

/* Counters of the cycles of the user's frame or region are computed, never recorded: their elapsed cycles scaled to
 * the user's duration. */
static bool counts_user_cycles(const struct compile *c, uint32_t counter, double *duration)
{
    const char *name = c->chip->counters[counter].name;
    bool frame = ends_with(name, "__cycles_in_frame"), region = ends_with(name, "__cycles_in_region");
    *duration = frame ? c->options->frame_ns : region ? c->options->region_ns : 0;
    return *duration != 0 && c->chip->counters[counter].elapsed != CW_NONE;
}

/* The column of a counter, or of one that it is derived from: the same unit, there or not there. */
static uint32_t some_column(const struct compile *c, uint32_t counter)
{
    const struct cw_list *terms = &c->chip->counters[counter].terms;
    uint32_t column = c->columns[counter];
    for (uint32_t i = 0; i < terms->count && column == CW_NONE; i++)
        column = c->columns[terms->items[i]];
    return column;
}

/* How often the terms of `part` are in the rest of a counter's terms; 0 where they are not all there, or unequally. */
static double times_within(const struct cw_counter *whole, const bool *rest, const struct cw_counter *part)
{
    double times = 0;
    for (uint32_t i = 0; i < part->terms.count; i++) {
        uint32_t k = 0;
        while (k < whole->terms.count && !(rest[k] && whole->terms.items[k] == part->terms.items[i]))
            k++;
        double by = k < whole->terms.count ? whole->coefficients[k] / part->coefficients[i] : 0;
        if (by == 0 || (i > 0 && by != times))
            return 0;
        times = by;
    }
    return times;
}

static bool any_lacks(const struct compile *c, const struct cw_list *terms)
{
    uint32_t i = 0;
    while (i < terms->count && c->columns[terms->items[i]] != CW_NONE)
        i++;
    return i < terms->count;
}

/* The recorded counter that is a sum of most of the rest of a counter's terms, where the capture lacks some of them. */
static const struct cw_counter *largest_part(const struct compile *c, const struct cw_counter *from, const bool *rest)
{
    const struct cw_counter *best = NULL;
    for (uint32_t i = 0; i < c->chip->counter_count; i++) {
        const struct cw_counter *part = &c->chip->counters[i];
        if (c->columns[i] != CW_NONE && part->terms.count > (best ? best->terms.count : 0) &&
            any_lacks(c, &part->terms) && times_within(from, rest, part) != 0)
            best = part;
    }
    return best;
}

/* A capture planned when the database had another basis may lack terms, but hold counters that are sums of them: those
 * stand for what they are made of. `rest` says which terms remain after that. */
static void take_parts(const struct compile *c, const struct cw_counter *from, int rollup, bool *rest,
                       struct cw_linear *linear, double *coefficients)
{
    const struct cw_counter *part;
    while ((part = largest_part(c, from, rest))) {
        double times = times_within(from, rest, part);
        linear->columns[linear->count] = c->columns[part - c->chip->counters];
        coefficients[linear->count++] = rollup == CW_AVG ? times / part->per : times;
        for (uint32_t k = 0; k < from->terms.count; k++)
            for (uint32_t i = 0; i < part->terms.count; i++)
                rest[k] = rest[k] && from->terms.items[k] != part->terms.items[i];
    }
}

/* A derived counter is computed wherever its terms were recorded, or sums of them; elsewhere it may have been recorded
 * itself. */
static bool derive(struct compile *c, struct cw_operand *o, uint32_t counter)
{
    const struct cw_counter *from = &c->chip->counters[counter];
    uint32_t count = from->terms.count;
    if (!cw_counter_follows(c->chip, counter, o->rollup))
        return false;
    bool lacking = any_lacks(c, &from->terms);
    if (lacking && (c->columns[counter] != CW_NONE || o->rollup > CW_AVG))
        return false;
    struct cw_linear *linear = cw_arena_alloc(c->arena, 1, sizeof *linear);
    uint32_t *columns = cw_arena_alloc(c->arena, count, sizeof *columns);
    double *coefficients = cw_arena_alloc(c->arena, count, sizeof *coefficients);
    bool *rest = cw_arena_alloc(c->arena, count, sizeof *rest);
    if (!linear || !columns || !coefficients || !rest) {
        c->failed = true;
        return false;
    }
    memset(rest, true, count * sizeof *rest);
    *linear = (struct cw_linear){0, columns, coefficients, o->rollup == CW_AVG ? from->per : 1};
    if (lacking)
        take_parts(c, from, o->rollup, rest, linear, coefficients);
    for (uint32_t i = 0; i < count; i++) {
        if (!rest[i])
            continue;
        columns[linear->count] = c->columns[from->terms.items[i]];
        coefficients[linear->count++] = from->coefficients[i];
        if (columns[linear->count - 1] == CW_NONE)
            return false;
    }
    *o = (struct cw_operand){.kind = CW_OPERAND_LINEAR, .rollup = o->rollup, .column = columns[0], .linear = linear};
    return true;
}

static struct cw_operand operand(struct compile *c, enum cw_operand_kind kind, uint32_t counter, int rollup)
{
    struct cw_operand o = {.kind = kind, .rollup = rollup, .time = c->time};
    if (counts_user_cycles(c, counter, &o.duration)) {
        o.kind = kind == CW_OPERAND_PEAK ? CW_OPERAND_USER_PEAK : CW_OPERAND_USER_CYCLES;
        counter = c->chip->counters[counter].elapsed;
    }
    o.column = counter == CW_NONE ? CW_NONE : c->columns[counter];
    if (kind == CW_OPERAND_ROLLUP && o.kind == kind && counter != CW_NONE)
        derive(c, &o, counter);
    return o;
}

/* The cycles that a unit would have in the user's frame or region. Without a duration they are zero, or NaN where the
 * unit is unavailable: zero times a column says that, and needs no counter beside the metric's own. */
static struct cw_operand user_cycles(const struct compile *c, uint32_t counter, double duration)
{
    uint32_t elapsed = c->chip->counters[counter].elapsed;
    uint32_t column = elapsed == CW_NONE ? CW_NONE : c->columns[elapsed];
    if (column == CW_NONE && duration == 0)
        column = some_column(c, counter);
    return (struct cw_operand){
        .kind = CW_OPERAND_USER_CYCLES, .rollup = CW_AVG, .column = column, .time = c->time, .duration = duration};
}

static struct cw_operand time_operand(const struct compile *c)
{
    return (struct cw_operand){.kind = CW_OPERAND_ROLLUP, .rollup = CW_AVG, .column = c->time};
}

/* ---- passes ----------------------------------------------------------------------------------------------------- */

/* A value is whole where one pass has all that it is computed from; then it is computed as of that pass. */
static enum cw_value_status bind_term(struct compile *c, struct cw_term *t)
{
    struct cw_meeting m;
    cw_meeting_begin(&m, c->schema, c->common);
    cw_meeting_add(&m, t);
    uint32_t pass = m.met ? cw_meeting_pass(&m) : CW_NONE;
    if (m.lacking)
        return CW_VALUE_NOT_COLLECTED;
    if (pass != CW_NONE)
        cw_term_bind(t, c->schema, pass);
    return m.zero ? CW_VALUE_ZERO_DENOMINATOR : m.met == 0 || pass != CW_NONE ? CW_VALUE_OK : CW_VALUE_MIXED_PASSES;
}

/* ---- terms ------------------------------------------------------------------------------------------------------ */

static enum cw_status add_term(struct compile *c, struct cw_term *term)
{
    if (c->failed)
        return cw_error_nomem(c->err);
    if (c->count == c->capacity) {
        uint32_t capacity = c->capacity ? 2 * c->capacity : 64;
        struct cw_term *grown = realloc(c->terms, capacity * sizeof *grown);
        if (!grown)
            return cw_error_nomem(c->err);
        c->terms = grown;
        c->capacity = capacity;
    }
    term->status = bind_term(c, term);
    c->terms[c->count++] = *term;
    return CW_OK;
}

/* What a sub-metric multiplies or divides by: cycles of the unit or of the user's frame or region. */
static bool cycles_of(struct compile *c, uint32_t counter, enum cw_submetric sub, struct cw_operand *cycles)
{
    switch (sub) {
    case CW_SUB_PEAK_FRAME:
    case CW_SUB_PEAK_FRAME_PER_SECOND:
    case CW_SUB_PER_CYCLE_IN_FRAME:
    case CW_SUB_PCT_FRAME:
        *cycles = user_cycles(c, counter, c->options->frame_ns);
        return true;
    case CW_SUB_PEAK_REGION:
    case CW_SUB_PEAK_REGION_PER_SECOND:
    case CW_SUB_PER_CYCLE_IN_REGION:
    case CW_SUB_PCT_REGION:
        *cycles = user_cycles(c, counter, c->options->region_ns);
        return true;
    default:
        break;
    }
    uint32_t by = cw_metric_cycles(c->chip, counter, sub);
    if (by == CW_NONE)
        return false;
    *cycles = operand(c, CW_OPERAND_ROLLUP, by, CW_AVG);
    return true;
}

static bool is_peak(enum cw_submetric sub)
{
    return sub >= CW_SUB_PEAK && sub <= CW_SUB_PEAK_REGION_PER_SECOND;
}

static bool is_pct(enum cw_submetric sub)
{
    return sub >= CW_SUB_PCT_ACTIVE && sub <= CW_SUB_PCT_REGION;
}

/* Terms are CW_ERR_UNSUPPORTED, without a message, where the database knows no formula. */
static enum cw_status counter_term(struct compile *c, uint32_t counter, int rollup, enum cw_submetric sub)
{
    struct cw_operand cycles;
    bool has_cycles = cycles_of(c, counter, sub, &cycles), per_second = cw_submetric_needs_time(sub);
    bool plain = sub == CW_SUB_NONE || sub == CW_SUB_PEAK || sub == CW_SUB_PER_SECOND;
    if ((!plain && !has_cycles) || (per_second && c->chip->time == CW_NONE))
        return CW_ERR_UNSUPPORTED;
    struct cw_term t = {.scale = is_pct(sub) ? 100 : per_second ? 1e9 : 1};
    t.x = operand(c, is_peak(sub) ? CW_OPERAND_PEAK : CW_OPERAND_ROLLUP, counter, rollup);
    if (has_cycles && is_peak(sub))
        t.factor = cycles;
    else if (has_cycles)
        t.divisors[0] = cycles;
    if (per_second)
        t.divisors[0] = time_operand(c);
    if (per_second && is_peak(sub)) /* NVIDIA's evaluator has no time for a unit that the device lacks */
        t.divisors[1] = (struct cw_operand){.kind = CW_OPERAND_PRESENT, .column = c->columns[counter]};
    if (is_pct(sub))
        t.divisors[1] = operand(c, CW_OPERAND_PEAK, counter, rollup);
    return add_term(c, &t);
}

static enum cw_status ratio_term(struct compile *c, const struct cw_ratio *ratio, enum cw_submetric sub)
{
    struct cw_term t = {.scale = ratio->max_rate};
    if (sub == CW_SUB_RATIO_MAX_RATE)
        return add_term(c, &t);
    if (ratio->numerator == CW_NONE || ratio->denominator == CW_NONE)
        return CW_ERR_UNSUPPORTED;
    t.scale = sub == CW_SUB_RATIO_PCT ? 100 * ratio->scale / ratio->max_rate : ratio->scale;
    /* NVIDIA's evaluator divides averages: it shows where a sum cancels out and an average only nearly does */
    bool alike = c->chip->counters[ratio->numerator].unit == c->chip->counters[ratio->denominator].unit;
    t.x = operand(c, CW_OPERAND_ROLLUP, ratio->numerator, alike ? CW_AVG : CW_SUM);
    t.divisors[0] = operand(c, CW_OPERAND_ROLLUP, ratio->denominator, alike ? CW_AVG : CW_SUM);
    t.zero_over = true;
    return add_term(c, &t);
}

static enum cw_status throughput_terms(struct compile *c, const struct cw_metric *m)
{
    struct cw_list *leaves = &c->leaves[m->base];
    enum cw_status status = leaves->items ? CW_OK : cw_throughput_leaves(c->chip, m->base, leaves, c->arena, NULL);
    for (uint32_t i = 0; status == CW_OK && i < leaves->count; i++)
        status = counter_term(c, leaves->items[i], m->rollup, m->sub);
    return status;
}

static bool is_copied(const struct cw_term *t)
{
    return (t->x.kind == CW_OPERAND_ROLLUP || t->x.kind == CW_OPERAND_PEAK) && t->scale == 1 &&
           t->factor.kind == CW_OPERAND_NONE && t->divisors[0].kind == CW_OPERAND_NONE &&
           t->divisors[1].kind == CW_OPERAND_NONE;
}

static enum cw_status add_metric(struct compile *c, struct cw_eval_metric *out, const struct cw_metric *m)
{
    *out = (struct cw_eval_metric){.term = c->count, .largest = m->type == CW_THROUGHPUT};
    enum cw_status status = m->type == CW_COUNTER ? counter_term(c, m->base, m->rollup, m->sub)
                            : m->type == CW_RATIO ? ratio_term(c, &c->chip->ratios[m->base], m->sub)
                                                  : throughput_terms(c, m);
    if (status == CW_ERR_UNSUPPORTED) { /* the database knows no formula: of counters that were not collected */
        c->count = out->term;
        out->status = CW_VALUE_NOT_COLLECTED;
        out->largest = true; /* of nothing */
        return CW_OK;
    }
    out->term_count = c->count - out->term;
    for (uint32_t i = out->term; i < c->count; i++)
        if (c->terms[i].status > out->status)
            out->status = c->terms[i].status;
    out->copied = status == CW_OK && !out->largest && is_copied(&c->terms[out->term]);
    return status;
}

/* ---- the plan --------------------------------------------------------------------------------------------------- */

static void map_columns(struct compile *c)
{
    for (uint32_t i = 0; i < c->chip->counter_count; i++)
        c->columns[i] = CW_NONE;
    for (uint32_t i = 0; i < c->schema->counter_count; i++) {
        const char *name = c->schema->counters[i].name;
        enum cw_metric_type type;
        uint32_t index;
        if (cw_chip_find(c->chip, name, strlen(name), &type, &index) && type == CW_COUNTER)
            c->columns[index] = i;
    }
    c->time = c->chip->time == CW_NONE ? CW_NONE : c->columns[c->chip->time];
}

/* The operands of a formula, as metrics behind those asked for. One operand says itself whether it mixes passes; a
 * throughput may, since it is the largest of values that are each of one pass. Several have to be of one pass all. */
static enum cw_status add_operands(struct compile *c, struct cw_eval_metric *list, struct cw_eval_metric *metric,
                                   uint32_t *next)
{
    const struct cw_formula *f = metric->formula;
    enum cw_status status = CW_OK;
    uint32_t first = c->count;
    metric->operand = *next;
    for (uint32_t i = 0; i < f->metric_count && status == CW_OK; i++)
        status = add_metric(c, &list[(*next)++], &f->metrics[i]);
    if (f->metric_count <= 1 || status != CW_OK)
        return status;
    struct cw_meeting m;
    cw_meeting_begin(&m, c->schema, c->common);
    for (uint32_t t = first; t < c->count; t++)
        cw_meeting_add(&m, &c->terms[t]);
    uint32_t pass = m.met && !m.lacking ? cw_meeting_pass(&m) : CW_NONE;
    for (uint32_t t = first; t < c->count && pass != CW_NONE; t++)
        cw_term_bind(&c->terms[t], c->schema, pass);
    if (m.met && cw_meeting_pass(&m) == CW_NONE)
        metric->status = CW_VALUE_MIXED_PASSES;
    return status;
}

static size_t count_all(const struct compile *c, const struct cw_metric *metrics, size_t count)
{
    size_t all = count;
    for (size_t i = 0; i < count; i++)
        if (metrics[i].type == CW_FORMULA)
            all += c->chip->formulas->items[metrics[i].base].metric_count;
    return all;
}

static enum cw_status compile(struct compile *c, struct cw_eval_plan *plan, const struct cw_metric *metrics,
                              size_t count)
{
    struct cw_eval_metric *list = cw_arena_alloc(c->arena, count_all(c, metrics, count), sizeof *list);
    uint32_t next = (uint32_t)count;
    if (!list)
        return cw_error_nomem(c->err);
    map_columns(c);
    for (size_t i = 0; i < count; i++) {
        bool formula = metrics[i].type == CW_FORMULA;
        if (formula)
            list[i].formula = &c->chip->formulas->items[metrics[i].base];
        enum cw_status status = formula ? add_operands(c, list, &list[i], &next) : add_metric(c, &list[i], &metrics[i]);
        if (status != CW_OK)
            return status;
    }
    struct cw_term *terms = cw_arena_alloc(c->arena, c->count, sizeof *terms);
    if (!terms)
        return cw_error_nomem(c->err);
    if (c->count)
        memcpy(terms, c->terms, c->count * sizeof *terms);
    *plan = (struct cw_eval_plan){(uint32_t)count, c->count, list, terms};
    return CW_OK;
}

enum cw_status cw_eval_plan_make(struct cw_eval_plan *plan, const struct cw_chip *chip, const struct cw_schema *schema,
                                 const struct cw_metric *metrics, size_t count, const struct cw_eval_options *options,
                                 struct cw_arena *arena, struct cw_error *err)
{
    struct compile c = {.chip = chip, .schema = schema, .options = options, .arena = arena, .err = err};
    c.columns = calloc((size_t)chip->counter_count + 1, sizeof *c.columns);
    c.common = calloc((size_t)schema->pass_count + 1, sizeof *c.common);
    c.leaves = calloc((size_t)chip->throughput_count + 1, sizeof *c.leaves);
    enum cw_status status = c.columns && c.common && c.leaves ? compile(&c, plan, metrics, count) : cw_error_nomem(err);
    free(c.columns);
    free(c.common);
    free(c.leaves);
    free(c.terms);
    return status;
}
