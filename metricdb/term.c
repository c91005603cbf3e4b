#include "metricdb/term.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/search.h"
#include "metricdb/formula.h"
#include "metricdb/metric.h"

/* ---- operands --------------------------------------------------------------------------------------------------- */

static enum cw_span span_of(enum cw_submetric sub)
{
    enum cw_cycles cycles = cw_submetric_cycles(sub);
    return cycles == CW_CYCLES_FRAME ? CW_SPAN_FRAME : cycles == CW_CYCLES_REGION ? CW_SPAN_REGION : CW_SPAN_MEASURED;
}

static bool ends_with(const char *name, const char *end)
{
    size_t length = strlen(name), tail = strlen(end);
    return length >= tail && memcmp(name + length - tail, end, tail) == 0;
}

/* X__cycles_in_frame and X__cycles_in_region are computed from the user's duration and X__cycles_elapsed. */
static enum cw_span counted_span(const struct cw_chip *chip, uint32_t counter)
{
    const char *name = counter == CW_NONE ? "" : chip->counters[counter].name;
    return ends_with(name, "__cycles_in_frame")    ? CW_SPAN_FRAME
           : ends_with(name, "__cycles_in_region") ? CW_SPAN_REGION
                                                   : CW_SPAN_MEASURED;
}

static struct cw_operand operand(const struct cw_chip *chip, enum cw_reads reads, uint32_t counter,
                                 enum cw_rollup rollup)
{
    return (struct cw_operand){reads, rollup, counter, counted_span(chip, counter)};
}

/* The divisor of a sub-metric, or the factor of a peak: cycles of the unit or of the user's span. */
static struct cw_operand cycles(const struct cw_chip *chip, uint32_t counter, enum cw_submetric sub)
{
    enum cw_span span = span_of(sub);
    if (span != CW_SPAN_MEASURED)
        return (struct cw_operand){CW_READS_USER_CYCLES, CW_AVG, counter, span};
    return operand(chip, CW_READS_ROLLUP, cw_metric_cycles(chip, counter, sub), CW_AVG);
}

/* ---- terms ------------------------------------------------------------------------------------------------------ */

static bool is_peak(enum cw_submetric sub)
{
    return sub >= CW_SUB_PEAK && sub <= CW_SUB_PEAK_REGION_PER_SECOND;
}

static bool is_pct(enum cw_submetric sub)
{
    return sub >= CW_SUB_PCT_ACTIVE && sub <= CW_SUB_PCT_REGION;
}

static bool lacks(const struct cw_operand *o)
{
    return o->reads != CW_READS_NOTHING && o->counter == CW_NONE;
}

static enum cw_status counter_term(struct cw_term *t, const struct cw_chip *chip, const struct cw_metric *m,
                                   struct cw_error *err)
{
    bool per_second = cw_submetric_needs_time(m->sub);
    *t = (struct cw_term){.scale = is_pct(m->sub) ? 100 : per_second ? 1e9 : 1};
    t->x = operand(chip, is_peak(m->sub) ? CW_READS_PEAK : CW_READS_ROLLUP, m->base, m->rollup);
    if (m->sub != CW_SUB_NONE && m->sub != CW_SUB_PEAK && m->sub != CW_SUB_PER_SECOND)
        *(is_peak(m->sub) ? &t->factor : &t->divisors[0]) = cycles(chip, m->base, m->sub);
    if (per_second)
        t->divisors[0] = (struct cw_operand){.reads = CW_READS_TIME, .rollup = CW_AVG, .counter = chip->time};
    if (per_second && is_peak(m->sub)) /* NVIDIA's evaluator has no time for a unit that the device lacks */
        t->divisors[1] = (struct cw_operand){.reads = CW_READS_PRESENCE, .counter = m->base};
    if (is_pct(m->sub)) {
        t->divisors[1] = t->x;
        t->divisors[1].reads = CW_READS_PEAK;
        t->most = span_of(m->sub) == CW_SPAN_MEASURED && t->x.span == CW_SPAN_MEASURED ? 100 : 0;
    }
    if (!lacks(&t->factor) && !lacks(&t->divisors[0]))
        return CW_OK;
    return cw_error_set(err, CW_ERR_UNSUPPORTED, "%s: the database has no counter to divide .%s of %s by", chip->name,
                        cw_submetric_text(m->sub), chip->counters[m->base].name);
}

static enum cw_status unknown(const struct cw_chip *chip, const struct cw_metric *m, struct cw_error *err)
{
    return cw_error_set(err, CW_ERR_UNSUPPORTED, "%s: the database knows no formula for %s", chip->name,
                        cw_chip_base_name(chip, m->type, m->base));
}

/* Whether a ratio is a share, which cannot exceed its largest rate: both counters count the same thing, or one counts a
 * part of the other or the lanes of an instruction. The largest rates of other ratios are guesses of NVIDIA's, and
 * values exceed them. So do latencies, which divide the sum of waiting instructions over cycles by instructions. */
static bool is_share(const struct cw_ratio *r)
{
    return strcmp(r->dimension, "1") == 0 && !strstr(r->name, "latency");
}

/* Divides averages, as NVIDIA's evaluator does. The difference shows if a sum cancels out exactly and an average only
 * nearly. */
static struct cw_term ratio_term(const struct cw_chip *chip, const struct cw_ratio *r, enum cw_submetric sub)
{
    if (sub == CW_SUB_RATIO_MAX_RATE)
        return (struct cw_term){.scale = r->max_rate};
    bool alike = chip->counters[r->numerator].unit == chip->counters[r->denominator].unit;
    enum cw_rollup rollup = alike ? CW_AVG : CW_SUM;
    const double most = sub == CW_SUB_RATIO_PCT ? 100 : r->max_rate;
    return (struct cw_term){.scale = sub == CW_SUB_RATIO_PCT ? 100 * r->scale / r->max_rate : r->scale,
                            .most = is_share(r) && most > 0 ? most : 0,
                            .x = operand(chip, CW_READS_ROLLUP, r->numerator, rollup),
                            .divisors = {operand(chip, CW_READS_ROLLUP, r->denominator, rollup)},
                            .zero_over = true};
}

/* Counts the counters below a throughput, once for each path, and writes them unless `items` is NULL. The loader
 * refused cycles, and far more paths than the file's size. */
static uint32_t put_leaves(const struct cw_chip *chip, uint32_t index, uint32_t *items)
{
    const struct cw_throughput *t = &chip->throughputs[index];
    uint32_t count = 0;
    for (uint32_t i = 0; i < t->throughputs.count; i++)
        count += put_leaves(chip, t->throughputs.items[i], items ? items + count : NULL);
    for (uint32_t i = 0; items && i < t->counters.count; i++)
        items[count + i] = t->counters.items[i];
    return count + t->counters.count;
}

/* Lists the counters below a throughput without duplicates; the caller frees the list. NULL when out of memory. */
static uint32_t *find_leaves(const struct cw_chip *chip, uint32_t throughput, uint32_t *count)
{
    uint32_t all = put_leaves(chip, throughput, NULL);
    uint32_t *items = calloc((size_t)all + 1, sizeof *items);
    *count = 0;
    if (!items)
        return NULL;
    put_leaves(chip, throughput, items);
    qsort(items, all, sizeof *items, cw_compare_u32);
    for (uint32_t i = 0; i < all; i++)
        if (!i || items[i] != items[i - 1])
            items[(*count)++] = items[i];
    return items;
}

static bool make_room(struct cw_terms *terms, uint32_t count)
{
    if (!terms->items) {
        terms->items = &terms->one;
        terms->room = 1;
    }
    if (count <= terms->room)
        return true;
    struct cw_term *grown = realloc(terms->items == &terms->one ? NULL : terms->items, count * sizeof *grown);
    if (!grown)
        return false;
    terms->items = grown;
    terms->room = count;
    return true;
}

static enum cw_status throughput_terms(struct cw_terms *terms, const struct cw_chip *chip, const struct cw_metric *m,
                                       struct cw_error *err)
{
    uint32_t count, *leaves = find_leaves(chip, m->base, &count);
    if (!leaves || !make_room(terms, count)) {
        free(leaves);
        return cw_error_nomem(err);
    }
    enum cw_status status = count ? CW_OK : unknown(chip, m, err);
    for (uint32_t i = 0; i < count; i++) {
        const struct cw_metric leaf = {CW_COUNTER, leaves[i], m->rollup, m->sub};
        enum cw_status known = counter_term(&terms->items[terms->count++], chip, &leaf, status == CW_OK ? err : NULL);
        status = status == CW_OK ? known : status;
    }
    free(leaves);
    return status;
}

enum cw_status cw_terms_make(struct cw_terms *terms, const struct cw_chip *chip, const struct cw_metric *m,
                             struct cw_error *err)
{
    terms->count = 0;
    terms->largest = m->type == CW_THROUGHPUT;
    make_room(terms, 1);
    if (m->type == CW_THROUGHPUT)
        return throughput_terms(terms, chip, m, err);
    if (m->type == CW_FACT) {
        terms->items[terms->count++] = (struct cw_term){.scale = 1, .x = {.reads = CW_READS_FACT, .counter = m->base}};
        return CW_OK;
    }
    if (m->type == CW_RATIO) {
        const struct cw_ratio *r = &chip->ratios[m->base];
        if (m->sub != CW_SUB_RATIO_MAX_RATE && (r->numerator == CW_NONE || r->denominator == CW_NONE))
            return unknown(chip, m, err);
        terms->items[terms->count++] = ratio_term(chip, r, m->sub);
        return CW_OK;
    }
    return counter_term(&terms->items[terms->count++], chip, m, err);
}

void cw_terms_free(struct cw_terms *terms)
{
    if (terms->items != &terms->one)
        free(terms->items);
    terms->items = NULL;
}

const struct cw_metric *cw_metric_parts(const struct cw_chip *chip, const struct cw_metric *m, uint32_t *count)
{
    const struct cw_formula *f = m->type == CW_FORMULA ? &chip->formulas->items[m->base] : NULL;
    *count = f ? f->metric_count : 1;
    return f ? f->metrics : m;
}

/* ---- needs ------------------------------------------------------------------------------------------------------ */

static void add(const struct cw_needs *n, uint32_t counter, unsigned rollups)
{
    if (counter != CW_NONE && n->add)
        n->add(n->context, counter, rollups);
}

/* A counter that is listed while a term of it is not is collected itself. */
static bool lists_terms(const struct cw_needs *n, const struct cw_counter *c)
{
    uint32_t i = 0;
    while (i < c->terms.count && (n->chip->counters[c->terms.items[i]].listed & n->listed))
        i++;
    return !n->listed || i == c->terms.count;
}

static bool holds_terms(const struct cw_needs *n, const struct cw_counter *c)
{
    uint32_t i = 0;
    while (i < c->terms.count && n->held[c->terms.items[i]])
        i++;
    return i == c->terms.count;
}

/* Adds a rollup of a counter: its terms if the rollup follows from them, unless the counter is recorded anyway, as for
 * its peak. */
static void need_rollup(const struct cw_needs *n, const struct cw_operand *o, bool peak)
{
    const struct cw_counter *c = &n->chip->counters[o->counter];
    bool derive = cw_counter_follows(n->chip, o->counter, o->rollup);
    if (n->held)
        derive = derive && holds_terms(n, c);
    else
        derive = derive && !peak && !(n->recorded && n->recorded[o->counter]) && lists_terms(n, c);
    for (uint32_t i = 0; derive && i < c->terms.count; i++)
        add(n, c->terms.items[i], CW_ROLLUP_BIT(o->rollup));
    if (!derive)
        add(n, o->counter, CW_ROLLUP_BIT(o->rollup));
}

/* Adds the counters that convert the user's duration into cycles: elapsed cycles and measured time. */
static void need_span(const struct cw_needs *n, const struct cw_operand *o)
{
    if (o->span == CW_SPAN_MEASURED)
        return;
    add(n, n->chip->counters[o->counter].elapsed, o->reads == CW_READS_PEAK ? 0 : CW_ROLLUP_BIT(o->rollup));
    add(n, n->chip->time, CW_ROLLUP_BIT(CW_AVG));
}

void cw_term_needs(const struct cw_needs *n, const struct cw_term *t)
{
    const struct cw_operand *operands[] = {&t->x, &t->factor, &t->divisors[0], &t->divisors[1]};
    enum { COUNT = sizeof operands / sizeof *operands };
    bool peak = false; /* a device fact, recorded for each counter of the schema */
    for (int i = 0; i < COUNT; i++)
        if (operands[i]->reads == CW_READS_PEAK) {
            add(n, operands[i]->counter, 0);
            peak = true;
        }
    for (int i = 0; i < COUNT; i++)
        if (operands[i]->reads == CW_READS_ROLLUP)
            need_rollup(n, operands[i], peak && operands[i] == &t->x);
    for (int i = 0; i < COUNT; i++)
        need_span(n, operands[i]);
    for (int i = 0; i < COUNT; i++)
        if (operands[i]->reads == CW_READS_TIME)
            add(n, operands[i]->counter, CW_ROLLUP_BIT(CW_AVG));
}

/* A counter of a term that the GPUs lack, or CW_NONE. */
static uint32_t find_lacking(const struct cw_chip *chip, const struct cw_term *t)
{
    const struct cw_operand *operands[] = {&t->x, &t->factor, &t->divisors[0], &t->divisors[1]};
    for (size_t i = 0; i < sizeof operands / sizeof *operands; i++)
        if (operands[i]->reads != CW_READS_NOTHING && operands[i]->reads != CW_READS_FACT &&
            operands[i]->counter != CW_NONE && chip->lacks->counters[operands[i]->counter])
            return operands[i]->counter;
    return CW_NONE;
}

/* Checks the terms of a metric; a throughput needs one only, because it is the largest of them. */
static enum cw_status check_lacks(const struct cw_chip *chip, const struct cw_metric *m, const struct cw_terms *terms,
                                  struct cw_error *err)
{
    char name[CW_METRIC_NAME_MAX];
    uint32_t lacking = 0, last = CW_NONE;
    for (uint32_t t = 0; chip->lacks && t < terms->count; t++) {
        const uint32_t counter = find_lacking(chip, &terms->items[t]);
        lacking += counter != CW_NONE;
        last = counter != CW_NONE ? counter : last;
    }
    if (!lacking || (terms->largest && lacking < terms->count))
        return CW_OK;
    return cw_error_set(err, CW_ERR_UNSUPPORTED,
                        "%s: found that the %s of %s lacks %s, or it is not up, expected a metric of what it has",
                        cw_metric_name(chip, m, name), chip->name, chip->lacks->where, chip->counters[last].name);
}

struct unlisted {
    const struct cw_needs *needs;
    uint32_t counter; /* the first that is not listed, or CW_NONE */
};

static void see_listed(void *context, uint32_t counter, unsigned rollups)
{
    struct unlisted *u = context;
    (void)rollups;
    if (u->counter == CW_NONE && !(u->needs->chip->counters[counter].listed & u->needs->listed))
        u->counter = counter;
}

static enum cw_status check_listed(const struct cw_needs *n, const struct cw_metric *m, const struct cw_terms *terms,
                                   struct cw_error *err)
{
    struct unlisted u = {n, CW_NONE};
    struct cw_needs see = *n;
    char name[CW_METRIC_NAME_MAX];
    see.add = see_listed;
    see.context = &u;
    for (uint32_t t = 0; n->listed && t < terms->count; t++)
        cw_term_needs(&see, &terms->items[t]);
    if (u.counter == CW_NONE)
        return CW_OK;
    const bool samples = n->listed == CW_OF_SAMPLES;
    return cw_error_set(
        err, CW_ERR_USAGE,
        "%s: found that it needs %s, which CUPTI %s, expected a metric of counterworks list --profiler %s",
        cw_metric_name(n->chip, m, name), n->chip->counters[u.counter].name,
        samples ? "does not sample over time" : "samples over time alone", samples ? "pm" : "range");
}

enum cw_status cw_metric_needs(const struct cw_needs *n, const struct cw_metric *m, struct cw_error *err)
{
    uint32_t count;
    const struct cw_metric *parts = cw_metric_parts(n->chip, m, &count);
    struct cw_terms terms = {0};
    enum cw_status status = CW_OK;
    for (uint32_t i = 0; i < count && status == CW_OK; i++) {
        status = cw_terms_make(&terms, n->chip, &parts[i], err);
        if (status == CW_OK)
            status = check_lacks(n->chip, &parts[i], &terms, err);
        if (status == CW_OK)
            status = check_listed(n, &parts[i], &terms, err);
        for (uint32_t t = 0; t < terms.count && status == CW_OK; t++)
            cw_term_needs(n, &terms.items[t]);
    }
    cw_terms_free(&terms);
    return status;
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

static const char *name_of(const struct cw_chip *chip, const struct cw_operand *o)
{
    if (o->reads == CW_READS_USER_CYCLES)
        return o->span == CW_SPAN_FRAME ? "cycles of the user's frame" : "cycles of the user's region";
    if (o->counter != CW_NONE)
        return chip->counters[o->counter].name;
    return o->reads == CW_READS_TIME ? "time" : "cycles";
}

static void put_operand(struct cw_writer *out, const char *before, const struct cw_chip *chip,
                        const struct cw_operand *o)
{
    if (o->reads == CW_READS_TIME)
        cw_write_format(out, "%sseconds of %s", before, name_of(chip, o));
    else if (o->reads != CW_READS_NOTHING && o->reads != CW_READS_PRESENCE)
        cw_write_format(out, "%s%s(%s%s)", before, cw_rollup_text(o->rollup),
                        o->reads == CW_READS_PEAK ? "peak of " : "", name_of(chip, o));
}

static void put_term(struct cw_writer *out, const struct cw_chip *chip, const struct cw_term *t)
{
    bool seconds = t->divisors[0].reads == CW_READS_TIME; /* the scale converts nanoseconds to seconds */
    if (t->x.reads == CW_READS_NOTHING)
        cw_write_format(out, "%g", t->scale);
    else if (t->scale != 1 && !seconds)
        cw_write_format(out, "%g * ", t->scale);
    put_operand(out, "", chip, &t->x);
    put_operand(out, " * ", chip, &t->factor);
    for (int d = 0; d < CW_TERM_DIVISORS; d++)
        put_operand(out, " / ", chip, &t->divisors[d]);
}

char *cw_metric_formula(const struct cw_chip *chip, const struct cw_metric *m, struct cw_arena *arena)
{
    if (m->type == CW_FORMULA)
        return cw_arena_strdup(arena, chip->formulas->items[m->base].text);
    if (m->type == CW_FACT)
        return cw_arena_strdup(arena, "none: it is recorded without counting");
    struct cw_terms terms = {0};
    struct cw_writer out;
    bool good = cw_terms_make(&terms, chip, m, NULL) != CW_ERR_NOMEM;
    cw_writer_init(&out);
    cw_write_format(&out, "%s", !terms.count ? "not known" : terms.largest ? "the largest of" : "");
    for (uint32_t i = 0; i < terms.count; i++) {
        cw_write_format(&out, "%s", terms.largest ? "\n" : "");
        put_term(&out, chip, &terms.items[i]);
    }
    good = good && out.status == CW_OK;
    char *text = good ? cw_arena_strndup(arena, (const char *)out.data, out.size) : NULL;
    cw_writer_free(&out);
    cw_terms_free(&terms);
    return text;
}
