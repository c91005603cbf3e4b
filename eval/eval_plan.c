#include "eval/eval_plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A counter of the schema that is named like a metric holds the metric's value. */
struct given {
    struct cw_metric metric;
    uint32_t column;
};

struct compile {
    const struct cw_chip *chip;
    const struct cw_schema *schema;
    const struct cw_eval_options *options;
    uint32_t *columns;   /* [counter of the chip], CW_NONE if the schema lacks it */
    struct given *given; /* by metric */
    size_t given_count;
    uint32_t *common; /* scratch: how many operands each pass has */
    struct cw_eval_term *terms;
    uint32_t count, capacity;
    struct cw_terms meaning; /* of the metric at hand */
    uint32_t time;
    bool undurated; /* the metric at hand */
    bool failed;    /* out of memory */
    struct cw_arena *arena;
    struct cw_error *err;
};

/* ---- given values ----------------------------------------------------------------------------------------------- */

static int by_metric(const void *a, const void *b)
{
    const struct given *x = a, *y = b;
    return cw_metric_compare(&x->metric, &y->metric);
}

/* Returns the column that holds the metric's value, or CW_NONE. */
static uint32_t given_column(const struct compile *c, const struct cw_metric *metric)
{
    const struct given key = {.metric = *metric};
    const struct given *found = c->given_count ? bsearch(&key, c->given, c->given_count, sizeof key, by_metric) : NULL;
    return found ? found->column : CW_NONE;
}

/* The time has one instance, so that all of its rollups are its sum. */
static uint32_t given_rollup(const struct compile *c, uint32_t counter, enum cw_rollup rollup)
{
    const struct cw_metric metric = {
        .type = CW_COUNTER, .base = counter, .rollup = counter == c->chip->time ? CW_SUM : rollup, .sub = CW_SUB_NONE};
    return c->given_count ? given_column(c, &metric) : CW_NONE;
}

/* ---- operands --------------------------------------------------------------------------------------------------- */

static double duration_of(const struct compile *c, enum cw_span span)
{
    return span == CW_SPAN_FRAME ? c->options->frame_ns : span == CW_SPAN_REGION ? c->options->region_ns : 0;
}

/* How often the terms of `part` are among the remaining terms of a counter; 0 unless all of them are, equally often. */
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

/* The recorded counter that is a sum of most of a counter's remaining terms, if the capture lacks some of them. */
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

/* A capture that was planned with another basis in the database may lack terms, but have counters that are sums of
 * them. Such a counter takes the place of its terms. `rest` are the terms that remain after that. */
static void take_parts(const struct compile *c, const struct cw_counter *from, enum cw_rollup rollup, bool *rest,
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

/* A derived counter is computed if its terms, or sums of them, were recorded. Otherwise it may have been recorded
 * itself. */
static bool derive(struct compile *c, struct cw_eval_operand *o, uint32_t counter)
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
    *o = (struct cw_eval_operand){.kind = CW_EVAL_LINEAR, .rollup = o->rollup, .column = columns[0], .linear = linear};
    return true;
}

/* A counter of cycles in the user's span is computed, never recorded: the elapsed cycles, scaled to the user's
 * duration. It is unknown without a duration. */
static struct cw_eval_operand bind_counter(struct compile *c, const struct cw_operand *from)
{
    const uint32_t elapsed = c->chip->counters[from->counter].elapsed;
    const bool peak = from->reads == CW_READS_PEAK;
    struct cw_eval_operand o = {.kind = peak ? CW_EVAL_PEAK : CW_EVAL_ROLLUP,
                                .rollup = from->rollup,
                                .column = c->columns[from->counter],
                                .time = c->time,
                                .duration = duration_of(c, from->span)};
    if (o.duration != 0 && elapsed != CW_NONE) {
        o.kind = peak ? CW_EVAL_USER_PEAK : CW_EVAL_USER_CYCLES;
        o.column = c->columns[elapsed];
    } else if (!peak && from->span != CW_SPAN_MEASURED) {
        o.column = CW_NONE;
        c->undurated = true;
    } else if (!peak) {
        derive(c, &o, from->counter);
    }
    if (o.kind == CW_EVAL_ROLLUP && o.column == CW_NONE && from->span == CW_SPAN_MEASURED)
        o.column = given_rollup(c, from->counter, from->rollup);
    return o;
}

/* The cycles of a unit in the user's frame or region; unknown without a duration. */
static struct cw_eval_operand bind_user_cycles(struct compile *c, const struct cw_operand *from)
{
    const uint32_t elapsed = c->chip->counters[from->counter].elapsed;
    const double duration = duration_of(c, from->span);
    c->undurated = c->undurated || duration == 0;
    return (struct cw_eval_operand){.kind = CW_EVAL_USER_CYCLES,
                                    .rollup = from->rollup,
                                    .column = elapsed == CW_NONE || duration == 0 ? CW_NONE : c->columns[elapsed],
                                    .time = c->time,
                                    .duration = duration};
}

static struct cw_eval_operand bind_operand(struct compile *c, const struct cw_operand *from)
{
    switch (from->reads) {
    case CW_READS_NOTHING:
        return (struct cw_eval_operand){.kind = CW_EVAL_NONE};
    case CW_READS_PRESENCE:
        return (struct cw_eval_operand){.kind = CW_EVAL_PRESENT, .column = c->columns[from->counter]};
    case CW_READS_TIME:
        return (struct cw_eval_operand){.kind = CW_EVAL_ROLLUP,
                                        .rollup = from->rollup,
                                        .column = c->time != CW_NONE ? c->time
                                                                     : given_rollup(c, c->chip->time, from->rollup)};
    case CW_READS_FACT:
        return (struct cw_eval_operand){.kind = CW_EVAL_FACT, .column = from->counter};
    case CW_READS_USER_CYCLES:
        return bind_user_cycles(c, from);
    default:
        return bind_counter(c, from);
    }
}

/* ---- passes ----------------------------------------------------------------------------------------------------- */

struct meeting { /* of operands that should come from one pass */
    const struct cw_schema *schema;
    uint32_t *common; /* scratch: [pass of the schema], how many operands it has */
    uint32_t met;     /* operands measured in passes */
    bool lacking;     /* one was not collected */
};

static bool is_scaled_to_user(const struct cw_eval_operand *o)
{
    return o->kind == CW_EVAL_USER_CYCLES || o->kind == CW_EVAL_USER_PEAK;
}

static bool reads_column(const struct cw_eval_operand *o)
{
    return o->kind == CW_EVAL_ROLLUP || o->kind == CW_EVAL_USER_CYCLES;
}

static void begin_meeting(struct meeting *m, const struct cw_schema *schema, uint32_t *common)
{
    memset(common, 0, schema->pass_count * sizeof *common);
    *m = (struct meeting){.schema = schema, .common = common};
}

/* A counter that is not whole shares no pass with others. */
static void meet_column(struct meeting *m, uint32_t column)
{
    uint32_t counter = cw_schema_column_counter(m->schema, column), first;
    const struct cw_schema_counter *c = &m->schema->counters[counter];
    for (uint32_t i = 0; c->whole && i < c->pass_count; i++)
        m->common[c->passes[i]]++;
    uint32_t repeats = cw_schema_repeats_of(m->schema, counter, &first);
    for (uint32_t i = first; i < first + repeats; i++)
        m->common[m->schema->repeats[i].pass]++;
    m->met++;
}

static void meet_operand(struct meeting *m, const struct cw_eval_operand *o)
{
    bool scaled = is_scaled_to_user(o);
    if (o->kind == CW_EVAL_NONE || o->kind == CW_EVAL_FACT)
        return;
    if (o->column == CW_NONE || (scaled && o->time == CW_NONE)) {
        m->lacking = true;
        return;
    }
    if (scaled)
        meet_column(m, o->time);
    if (reads_column(o))
        meet_column(m, o->column);
    for (uint32_t i = 0; o->kind == CW_EVAL_LINEAR && i < o->linear->count; i++)
        meet_column(m, o->linear->columns[i]);
}

static void add_to_meeting(struct meeting *m, const struct cw_eval_term *t)
{
    meet_operand(m, &t->x);
    meet_operand(m, &t->factor);
    for (int d = 0; d < CW_TERM_DIVISORS; d++)
        meet_operand(m, &t->divisors[d]);
}

/* The first pass that has all operands, or CW_NONE. */
static uint32_t common_pass(const struct meeting *m)
{
    for (uint32_t p = 0; p < m->schema->pass_count; p++)
        if (m->common[p] == m->met)
            return p;
    return CW_NONE;
}

static void move_column(uint32_t *column, const struct cw_schema *schema, uint32_t pass)
{
    *column = cw_schema_column_in(schema, cw_schema_column_counter(schema, *column), pass);
}

static void move_operand(struct cw_eval_operand *o, const struct cw_schema *schema, uint32_t pass)
{
    if (is_scaled_to_user(o))
        move_column(&o->time, schema, pass);
    if (reads_column(o))
        move_column(&o->column, schema, pass);
    for (uint32_t i = 0; o->kind == CW_EVAL_LINEAR && i < o->linear->count; i++)
        move_column(&o->linear->columns[i], schema, pass);
}

/* Makes a term read its counters from one pass that has them all. */
static void move_term(struct cw_eval_term *t, const struct cw_schema *schema, uint32_t pass)
{
    move_operand(&t->x, schema, pass);
    move_operand(&t->factor, schema, pass);
    for (int d = 0; d < CW_TERM_DIVISORS; d++)
        move_operand(&t->divisors[d], schema, pass);
}

/* A value is whole if one pass has all its counters; then it is computed from that pass. */
static enum cw_value_status choose_pass(const struct compile *c, struct cw_eval_term *t)
{
    struct meeting m;
    begin_meeting(&m, c->schema, c->common);
    add_to_meeting(&m, t);
    uint32_t pass = m.met ? common_pass(&m) : CW_NONE;
    if (m.lacking)
        return CW_VALUE_NOT_COLLECTED;
    if (pass != CW_NONE)
        move_term(t, c->schema, pass);
    return m.met == 0 || pass != CW_NONE ? CW_VALUE_OK : CW_VALUE_MIXED_PASSES;
}

/* ---- terms ------------------------------------------------------------------------------------------------------ */

static enum cw_status add_term(struct compile *c, struct cw_eval_term *term)
{
    if (c->failed)
        return cw_error_nomem(c->err);
    if (c->count == c->capacity) {
        uint32_t capacity = c->capacity ? 2 * c->capacity : 64;
        struct cw_eval_term *grown = realloc(c->terms, capacity * sizeof *grown);
        if (!grown)
            return cw_error_nomem(c->err);
        c->terms = grown;
        c->capacity = capacity;
    }
    term->status = choose_pass(c, term);
    c->terms[c->count++] = *term;
    return CW_OK;
}

static enum cw_status bind_term(struct compile *c, const struct cw_term *from)
{
    struct cw_eval_term t = {.x = bind_operand(c, &from->x),
                             .factor = bind_operand(c, &from->factor),
                             .scale = from->scale,
                             .most = from->most,
                             .zero_over = from->zero_over};
    for (int d = 0; d < CW_TERM_DIVISORS; d++)
        t.divisors[d] = bind_operand(c, &from->divisors[d]);
    return add_term(c, &t);
}

static bool is_copied(const struct cw_eval_term *t)
{
    return (t->x.kind == CW_EVAL_ROLLUP || t->x.kind == CW_EVAL_PEAK) && t->scale == 1 &&
           t->factor.kind == CW_EVAL_NONE && t->divisors[0].kind == CW_EVAL_NONE && t->divisors[1].kind == CW_EVAL_NONE;
}

/* The value itself, without its formula. */
static enum cw_status add_given(struct compile *c, struct cw_eval_metric *out, uint32_t column)
{
    struct cw_eval_term t = {.x = {.kind = CW_EVAL_ROLLUP, .rollup = CW_SUM, .column = column}, .scale = 1};
    *out = (struct cw_eval_metric){.term = c->count, .term_count = 1, .copied = true};
    CW_TRY(add_term(c, &t));
    out->status = c->terms[out->term].status;
    return CW_OK;
}

static enum cw_status add_metric(struct compile *c, struct cw_eval_metric *out, const struct cw_metric *m)
{
    const uint32_t given = given_column(c, m);
    if (given != CW_NONE)
        return add_given(c, out, given);
    enum cw_status status = cw_terms_make(&c->meaning, c->chip, m, NULL);
    *out = (struct cw_eval_metric){.term = c->count, .largest = c->meaning.largest};
    if (status == CW_ERR_UNSUPPORTED) { /* the database knows no formula, so no counter was collected */
        out->status = CW_VALUE_NOT_COLLECTED;
        out->largest = true; /* without counters */
        return CW_OK;
    }
    if (status != CW_OK)
        return cw_error_nomem(c->err);
    c->undurated = false;
    for (uint32_t i = 0; i < c->meaning.count && status == CW_OK; i++)
        status = bind_term(c, &c->meaning.items[i]);
    out->term_count = c->count - out->term;
    out->undurated = c->undurated;
    for (uint32_t i = out->term; i < c->count; i++)
        if (c->terms[i].status > out->status)
            out->status = c->terms[i].status;
    out->copied = status == CW_OK && !out->largest && is_copied(&c->terms[out->term]);
    return status;
}

/* ---- the plan --------------------------------------------------------------------------------------------------- */

static uint32_t find_counter(const struct cw_chip *chip, const char *name)
{
    enum cw_metric_type type;
    uint32_t index;
    return cw_chip_find(chip, name, strlen(name), &type, &index) && type == CW_COUNTER ? index : CW_NONE;
}

void cw_eval_mark_held(bool *held, const struct cw_chip *chip, const struct cw_schema *schema)
{
    for (uint32_t i = 0; i < schema->counter_count; i++) {
        uint32_t counter = find_counter(chip, schema->counters[i].name);
        if (counter != CW_NONE)
            held[counter] = true;
    }
}

/* Lists the values that the schema gives by their metrics' names. False when out of memory. */
static bool list_given(struct compile *c)
{
    for (uint32_t i = 0; i < c->schema->counter_count; i++) {
        struct given given = {.column = i};
        if (!strchr(c->schema->counters[i].name, '.') ||
            cw_metric_parse(&given.metric, c->chip, c->schema->counters[i].name, NULL) != CW_OK)
            continue;
        if (!c->given && !(c->given = calloc(c->schema->counter_count, sizeof *c->given)))
            return false;
        c->given[c->given_count++] = given;
    }
    if (c->given_count)
        qsort(c->given, c->given_count, sizeof *c->given, by_metric);
    return true;
}

static void map_columns(struct compile *c)
{
    for (uint32_t i = 0; i < c->chip->counter_count; i++)
        c->columns[i] = CW_NONE;
    for (uint32_t i = 0; i < c->schema->counter_count; i++) {
        uint32_t counter = find_counter(c->chip, c->schema->counters[i].name);
        if (counter != CW_NONE)
            c->columns[counter] = i;
    }
    c->time = c->chip->time == CW_NONE ? CW_NONE : c->columns[c->chip->time];
}

/* Puts the operands of a formula behind the metrics asked for. A single operand has its own status for mixed passes. A
 * throughput may mix them, as the largest of values of one pass each. Several operands have to be of one pass. */
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
    struct meeting m;
    begin_meeting(&m, c->schema, c->common);
    for (uint32_t t = first; t < c->count; t++)
        add_to_meeting(&m, &c->terms[t]);
    uint32_t pass = m.met && !m.lacking ? common_pass(&m) : CW_NONE;
    for (uint32_t t = first; t < c->count && pass != CW_NONE; t++)
        move_term(&c->terms[t], c->schema, pass);
    if (m.met && common_pass(&m) == CW_NONE)
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
    size_t room = 0;
    if (!list || !list_given(c))
        return cw_error_nomem(c->err);
    map_columns(c);
    for (size_t i = 0; i < count; i++) {
        bool formula = metrics[i].type == CW_FORMULA;
        if (formula) {
            list[i].formula = &c->chip->formulas->items[metrics[i].base];
            const size_t own = cw_formula_slots(list[i].formula);
            room = own > room ? own : room;
        }
        CW_TRY(formula ? add_operands(c, list, &list[i], &next) : add_metric(c, &list[i], &metrics[i]));
    }
    struct cw_eval_term *terms = cw_arena_alloc(c->arena, c->count, sizeof *terms);
    struct cw_formula_slot *slots = cw_arena_alloc(c->arena, room, 1);
    if (!terms || !slots)
        return cw_error_nomem(c->err);
    if (c->count)
        memcpy(terms, c->terms, c->count * sizeof *terms);
    *plan = (struct cw_eval_plan){(uint32_t)count, list, terms, slots};
    return CW_OK;
}

enum cw_status cw_eval_plan_make(struct cw_eval_plan *plan, const struct cw_chip *chip, const struct cw_schema *schema,
                                 const struct cw_metric *metrics, size_t count, const struct cw_eval_options *options,
                                 struct cw_arena *arena, struct cw_error *err)
{
    struct compile c = {.chip = chip, .schema = schema, .options = options, .arena = arena, .err = err};
    c.columns = calloc((size_t)chip->counter_count + 1, sizeof *c.columns);
    c.common = calloc((size_t)schema->pass_count + 1, sizeof *c.common);
    enum cw_status status = c.columns && c.common ? compile(&c, plan, metrics, count) : cw_error_nomem(err);
    free(c.columns);
    free(c.given);
    free(c.common);
    cw_terms_free(&c.meaning);
    free(c.terms);
    return status;
}

/* ---- the columns of a plan --------------------------------------------------------------------------------------- */

static void take_operand(const struct cw_eval_operand *o, void (*take)(void *user, uint32_t column), void *user)
{
    if (is_scaled_to_user(o))
        take(user, o->time);
    if (reads_column(o))
        take(user, o->column);
    for (uint32_t i = 0; o->kind == CW_EVAL_LINEAR && i < o->linear->count; i++)
        take(user, o->linear->columns[i]);
}

void cw_eval_plan_columns(const struct cw_eval_plan *plan, uint32_t metric, void (*take)(void *user, uint32_t column),
                          void *user)
{
    const struct cw_eval_metric *m = &plan->metrics[metric];
    for (uint32_t i = 0; m->formula && i < m->formula->metric_count; i++)
        cw_eval_plan_columns(plan, m->operand + i, take, user);
    for (uint32_t t = m->term; !m->formula && t < m->term + m->term_count; t++) {
        const struct cw_eval_term *term = &plan->terms[t];
        if (term->status == CW_VALUE_NOT_COLLECTED)
            continue;
        take_operand(&term->x, take, user);
        take_operand(&term->factor, take, user);
        for (int d = 0; d < CW_TERM_DIVISORS; d++)
            take_operand(&term->divisors[d], take, user);
    }
}
