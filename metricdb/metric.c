#include "metricdb/metric.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"
#include "metricdb/formula.h"

static const char *const submetrics[CW_SUB__COUNT] = {
    [CW_SUB_NONE] = "",
    [CW_SUB_PEAK] = "peak_sustained",
    [CW_SUB_PEAK_ACTIVE] = "peak_sustained_active",
    [CW_SUB_PEAK_ACTIVE_PER_SECOND] = "peak_sustained_active.per_second",
    [CW_SUB_PEAK_ELAPSED] = "peak_sustained_elapsed",
    [CW_SUB_PEAK_ELAPSED_PER_SECOND] = "peak_sustained_elapsed.per_second",
    [CW_SUB_PEAK_FRAME] = "peak_sustained_frame",
    [CW_SUB_PEAK_FRAME_PER_SECOND] = "peak_sustained_frame.per_second",
    [CW_SUB_PEAK_REGION] = "peak_sustained_region",
    [CW_SUB_PEAK_REGION_PER_SECOND] = "peak_sustained_region.per_second",
    [CW_SUB_PER_CYCLE_ACTIVE] = "per_cycle_active",
    [CW_SUB_PER_CYCLE_ELAPSED] = "per_cycle_elapsed",
    [CW_SUB_PER_CYCLE_IN_FRAME] = "per_cycle_in_frame",
    [CW_SUB_PER_CYCLE_IN_REGION] = "per_cycle_in_region",
    [CW_SUB_PER_SECOND] = "per_second",
    [CW_SUB_PCT_ACTIVE] = "pct_of_peak_sustained_active",
    [CW_SUB_PCT_ELAPSED] = "pct_of_peak_sustained_elapsed",
    [CW_SUB_PCT_FRAME] = "pct_of_peak_sustained_frame",
    [CW_SUB_PCT_REGION] = "pct_of_peak_sustained_region",
    [CW_SUB_RATIO] = "ratio",
    [CW_SUB_RATIO_PCT] = "pct",
    [CW_SUB_RATIO_MAX_RATE] = "max_rate",
};
static const char *const rollups[] = {"sum", "avg", "min", "max"};
enum { AVERAGE = 1, ROLLUPS = 4, ROLLUP_LENGTH = 3, THROUGHPUT_SUBS = CW_SUB_COUNTER_COUNT - CW_SUB_PCT_ACTIVE };

const char *cw_submetric_text(enum cw_submetric sub)
{
    return submetrics[sub];
}

const char *cw_rollup_text(int rollup)
{
    return rollups[rollup];
}

const char *cw_metric_type_text(enum cw_metric_type type)
{
    static const char *const types[] = {"counter", "ratio", "throughput", "formula"};
    return types[type];
}

uint32_t cw_metric_variants(enum cw_metric_type type)
{
    return type == CW_COUNTER      ? ROLLUPS * CW_SUB_COUNTER_COUNT
           : type == CW_RATIO      ? CW_SUB__COUNT - CW_SUB_RATIO
           : type == CW_THROUGHPUT ? ROLLUPS * THROUGHPUT_SUBS
                                   : 1;
}

struct cw_metric cw_metric_variant(enum cw_metric_type type, uint32_t base, uint32_t variant)
{
    struct cw_metric m = {.type = type, .base = base};
    if (type == CW_FORMULA)
        return m;
    if (type == CW_RATIO) {
        m.sub = (enum cw_submetric)(CW_SUB_RATIO + variant);
        return m;
    }
    uint32_t subs = type == CW_COUNTER ? CW_SUB_COUNTER_COUNT : THROUGHPUT_SUBS;
    m.rollup = (int)(variant / subs);
    m.sub = (enum cw_submetric)(variant % subs + (type == CW_COUNTER ? CW_SUB_NONE : CW_SUB_PCT_ACTIVE));
    return m;
}

const char *cw_metric_name(const struct cw_chip *chip, const struct cw_metric *m, char *buffer)
{
    if (m->type == CW_FORMULA) {
        snprintf(buffer, CW_METRIC_NAME_MAX, "%s", chip->formulas->items[m->base].name);
        return buffer;
    }
    const char *base = cw_chip_base_name(chip, m->type, m->base), *sub = submetrics[m->sub];
    if (m->type == CW_RATIO)
        snprintf(buffer, CW_METRIC_NAME_MAX, "%s.%s", base, sub);
    else
        snprintf(buffer, CW_METRIC_NAME_MAX, "%s.%s%s%s", base, rollups[m->rollup], *sub ? "." : "", sub);
    return buffer;
}

static bool parse_suffix(struct cw_metric *m, const char *suffix)
{
    struct cw_metric first = cw_metric_variant(m->type, m->base, 0);
    int sub = first.sub, end = m->type == CW_RATIO ? CW_SUB__COUNT : CW_SUB_COUNTER_COUNT;
    if (m->type != CW_RATIO) {
        while (first.rollup < ROLLUPS && strncmp(suffix, rollups[first.rollup], ROLLUP_LENGTH) != 0)
            first.rollup++;
        if (first.rollup == ROLLUPS)
            return false;
        suffix += ROLLUP_LENGTH;
        if (*suffix && (*suffix++ != '.' || !*suffix))
            return false;
    }
    while (sub < end && strcmp(submetrics[sub], suffix) != 0)
        sub++;
    if (sub == end)
        return false;
    first.sub = (enum cw_submetric)sub;
    *m = first;
    return true;
}

static enum cw_status unknown_suffix(const struct cw_chip *chip, const struct cw_metric *m, const char *name,
                                     const char *suffix, struct cw_error *err)
{
    static const char *const expected[] = {"a rollup (.sum, .avg, .min or .max) and perhaps a sub-metric",
                                           ".ratio, .pct or .max_rate",
                                           ("a rollup (.sum, .avg, .min or .max) and .pct_of_peak_sustained_active, "
                                            "_elapsed, _frame or _region")};
    static const char *const kinds[] = {"counter", "ratio", "throughput"};
    if (!*suffix)
        return cw_error_set(err, CW_ERR_USAGE, "found the %s %s by itself, expected %s after it", kinds[m->type],
                            cw_chip_base_name(chip, m->type, m->base), expected[m->type]);
    if (!err)
        return CW_ERR_USAGE;
    struct cw_suggest near;
    char text[512], full[CW_METRIC_NAME_MAX], candidates[ROLLUPS * CW_SUB_COUNTER_COUNT][CW_METRIC_NAME_MAX];
    cw_suggest_init(&near, name);
    for (uint32_t v = 0; v < cw_metric_variants(m->type); v++) {
        struct cw_metric candidate = cw_metric_variant(m->type, m->base, v);
        snprintf(candidates[v], sizeof candidates[v], "%s", cw_metric_name(chip, &candidate, full));
        cw_suggest_offer(&near, candidates[v]);
    }
    return cw_error_set(err, CW_ERR_USAGE, "found '.%s' after the %s %s, expected %s%s", suffix, kinds[m->type],
                        cw_chip_base_name(chip, m->type, m->base), expected[m->type],
                        cw_suggest_text(&near, text, sizeof text));
}

static enum cw_status unknown_base(const struct cw_chip *chip, const char *name, struct cw_error *err)
{
    if (!err)
        return CW_ERR_USAGE;
    /* compare as far as the name goes without what looks like a suffix */
    char base[CW_METRIC_NAME_MAX];
    snprintf(base, sizeof base, "%s", name);
    for (int type = 0; type < CW_METRIC_TYPE_COUNT; type++)
        for (uint32_t v = 0; v < cw_metric_variants((enum cw_metric_type)type); v++) {
            struct cw_metric m = cw_metric_variant((enum cw_metric_type)type, 0, v);
            const char *end = type == CW_RATIO || m.sub ? submetrics[m.sub] : rollups[m.rollup];
            size_t length = strlen(base), tail = strlen(end);
            if (length > tail + 1 && base[length - tail - 1] == '.' && strcmp(base + length - tail, end) == 0)
                base[length - tail - 1] = 0;
        }
    for (int rollup = 0; rollup < ROLLUPS; rollup++) {
        size_t length = strlen(base);
        if (length > 4 && base[length - 4] == '.' && strcmp(base + length - 3, rollups[rollup]) == 0)
            base[length - 4] = 0;
    }
    struct cw_suggest near;
    char text[512];
    cw_suggest_init(&near, base);
    for (int type = 0; type < CW_METRIC_TYPE_COUNT; type++)
        for (uint32_t i = 0; i < cw_chip_base_count(chip, (enum cw_metric_type)type); i++)
            cw_suggest_offer(&near, cw_chip_base_name(chip, (enum cw_metric_type)type, i));
    for (uint32_t i = 0; chip->formulas && i < chip->formulas->count; i++)
        cw_suggest_offer(&near, chip->formulas->items[i].name);
    return cw_error_set(err, CW_ERR_USAGE, "found the metric '%.200s', which %s does not have%s", name, chip->name,
                        cw_suggest_text(&near, text, sizeof text));
}

enum cw_status cw_metric_parse(struct cw_metric *m, const struct cw_chip *chip, const char *name, struct cw_error *err)
{
    *m = (struct cw_metric){0};
    size_t length = strlen(name);
    if (length >= CW_METRIC_NAME_MAX)
        return cw_error_set(err, CW_ERR_USAGE, "found a metric name of %zu characters, expected at most %d", length,
                            CW_METRIC_NAME_MAX - 1);
    uint32_t formula = cw_formulas_find(chip, name);
    if (formula != CW_NONE) {
        *m = (struct cw_metric){.type = CW_FORMULA, .base = formula};
        return CW_OK;
    }
    /* base names may hold dots: the longest known one counts */
    for (size_t end = length;; end--) {
        if ((end == length || name[end] == '.') && cw_chip_find(chip, name, end, &m->type, &m->base)) {
            const char *suffix = end == length ? "" : name + end + 1;
            return parse_suffix(m, suffix) ? CW_OK : unknown_suffix(chip, m, name, suffix, err);
        }
        if (end == 0)
            return unknown_base(chip, name, err);
    }
}

/* ---- meaning ---------------------------------------------------------------------------------------------------- */

bool cw_submetric_needs_time(enum cw_submetric sub)
{
    switch (sub) {
    case CW_SUB_PEAK_ACTIVE_PER_SECOND:
    case CW_SUB_PEAK_ELAPSED_PER_SECOND:
    case CW_SUB_PEAK_FRAME_PER_SECOND:
    case CW_SUB_PEAK_REGION_PER_SECOND:
    case CW_SUB_PER_SECOND:
        return true;
    default:
        return false;
    }
}

struct cw_metric cw_metric_usual(const struct cw_chip *chip, enum cw_metric_type type, uint32_t base)
{
    struct cw_metric m = {.type = type, .base = base};
    if (type == CW_THROUGHPUT) {
        m.rollup = AVERAGE;
        m.sub = CW_SUB_PCT_ELAPSED;
    } else if (type == CW_RATIO) {
        m.sub = strstr(chip->ratios[base].name, "hit_rate") ? CW_SUB_RATIO_PCT : CW_SUB_RATIO;
    }
    return m;
}

uint32_t cw_metric_cycles(const struct cw_chip *chip, uint32_t counter, enum cw_submetric sub)
{
    const struct cw_counter *c = &chip->counters[counter];
    switch (sub) {
    case CW_SUB_PEAK_ACTIVE:
    case CW_SUB_PEAK_ACTIVE_PER_SECOND:
    case CW_SUB_PER_CYCLE_ACTIVE:
    case CW_SUB_PCT_ACTIVE:
        return c->active;
    case CW_SUB_PEAK_ELAPSED:
    case CW_SUB_PEAK_ELAPSED_PER_SECOND:
    case CW_SUB_PER_CYCLE_ELAPSED:
    case CW_SUB_PCT_ELAPSED:
        return c->elapsed;
    default:
        return CW_NONE;
    }
}

static bool divides_by_cycles(enum cw_submetric sub)
{
    return sub == CW_SUB_PEAK_ACTIVE || sub == CW_SUB_PEAK_ACTIVE_PER_SECOND || sub == CW_SUB_PEAK_ELAPSED ||
           sub == CW_SUB_PEAK_ELAPSED_PER_SECOND || sub == CW_SUB_PER_CYCLE_ACTIVE || sub == CW_SUB_PER_CYCLE_ELAPSED ||
           sub == CW_SUB_PCT_ACTIVE || sub == CW_SUB_PCT_ELAPSED;
}

static bool about_frame_or_region(enum cw_submetric sub)
{
    switch (sub) {
    case CW_SUB_PEAK_FRAME:
    case CW_SUB_PEAK_FRAME_PER_SECOND:
    case CW_SUB_PEAK_REGION:
    case CW_SUB_PEAK_REGION_PER_SECOND:
    case CW_SUB_PER_CYCLE_IN_FRAME:
    case CW_SUB_PER_CYCLE_IN_REGION:
    case CW_SUB_PCT_FRAME:
    case CW_SUB_PCT_REGION:
        return true;
    default:
        return false;
    }
}

/* X__cycles_in_frame and X__cycles_in_region are computed from the user's duration and X__cycles_elapsed. */
static bool is_user_cycles(const char *name)
{
    const char *quantity = strstr(name, "__");
    return quantity && (strcmp(quantity, "__cycles_in_frame") == 0 || strcmp(quantity, "__cycles_in_region") == 0);
}

struct needs {
    const struct cw_chip *chip;
    const bool *held;     /* NULL when planning */
    const bool *recorded; /* when planning: recorded anyway; may be NULL */
    void (*add)(void *context, uint32_t counter);
    void *context;
    struct cw_error *err;
};

static bool holds_terms(const struct needs *n, const struct cw_counter *c)
{
    uint32_t i = 0;
    while (n->held && i < c->terms.count && n->held[c->terms.items[i]])
        i++;
    return i == c->terms.count;
}

/* A rollup of a counter: from its terms where it follows from them, unless it is `recorded` anyway. */
static void need_rollup(const struct needs *n, uint32_t counter, int rollup, bool recorded)
{
    const struct cw_counter *c = &n->chip->counters[counter];
    bool anyway = recorded || (n->recorded && n->recorded[counter]);
    bool derive = cw_counter_follows(n->chip, counter, rollup) && (n->held ? holds_terms(n, c) : !anyway);
    for (uint32_t i = 0; derive && i < c->terms.count; i++)
        n->add(n->context, c->terms.items[i]);
    if (!derive && !recorded)
        n->add(n->context, counter);
}

static bool is_peak(enum cw_submetric sub)
{
    return sub >= CW_SUB_PEAK && sub <= CW_SUB_PEAK_REGION_PER_SECOND;
}

static enum cw_status counter_needs(const struct needs *n, uint32_t counter, int rollup, enum cw_submetric sub)
{
    const struct cw_chip *chip = n->chip;
    uint32_t cycles = cw_metric_cycles(chip, counter, sub);
    if ((divides_by_cycles(sub) && cycles == CW_NONE) || (cw_submetric_needs_time(sub) && chip->time == CW_NONE))
        return cw_error_set(n->err, CW_ERR_UNSUPPORTED, "%s: the database knows no counter that .%s of %s divides by",
                            chip->name, submetrics[sub], chip->counters[counter].name);
    bool peak = is_peak(sub) || (sub >= CW_SUB_PCT_ACTIVE && sub <= CW_SUB_PCT_REGION);
    if (peak) /* a fact of the device, recorded for each counter of the schema */
        n->add(n->context, counter);
    if (!is_peak(sub))
        need_rollup(n, counter, rollup, peak);
    if (cycles != CW_NONE)
        need_rollup(n, cycles, AVERAGE, false);
    /* the user's duration becomes cycles by what elapsed in the time measured */
    bool user = about_frame_or_region(sub) || is_user_cycles(chip->counters[counter].name);
    if (user && chip->counters[counter].elapsed != CW_NONE)
        n->add(n->context, chip->counters[counter].elapsed);
    if (cw_submetric_needs_time(sub) || (user && chip->time != CW_NONE))
        n->add(n->context, chip->time);
    return CW_OK;
}

/* All paths' counters, some of them several times, put one after another if there are `items`. The loader refused
 * circles, and paths far more than the file's size. */
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

static int by_number(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

enum cw_status cw_throughput_leaves(const struct cw_chip *chip, uint32_t throughput, struct cw_list *leaves,
                                    struct cw_arena *arena, struct cw_error *err)
{
    uint32_t count = put_leaves(chip, throughput, NULL), kept = 0;
    if (!count)
        return cw_error_set(err, CW_ERR_UNSUPPORTED, "%s: the database knows no formula for %s", chip->name,
                            chip->throughputs[throughput].name);
    uint32_t *items = cw_arena_alloc(arena, count, sizeof *items);
    if (!items)
        return cw_error_nomem(err);
    put_leaves(chip, throughput, items);
    qsort(items, count, sizeof *items, by_number);
    for (uint32_t i = 0; i < count; i++)
        if (!i || items[i] != items[i - 1])
            items[kept++] = items[i];
    *leaves = (struct cw_list){kept, items};
    return CW_OK;
}

static enum cw_status throughput_needs(const struct needs *n, const struct cw_metric *m)
{
    struct cw_arena *arena = cw_arena_create();
    if (!arena)
        return cw_error_nomem(n->err);
    struct cw_list leaves = {0};
    enum cw_status status = cw_throughput_leaves(n->chip, m->base, &leaves, arena, n->err);
    for (uint32_t i = 0; status == CW_OK && i < leaves.count; i++)
        status = counter_needs(n, leaves.items[i], m->rollup, m->sub);
    cw_arena_destroy(arena);
    return status;
}

static enum cw_status ratio_needs(const struct needs *n, const struct cw_metric *m)
{
    const struct cw_ratio *r = &n->chip->ratios[m->base];
    if (m->sub == CW_SUB_RATIO_MAX_RATE)
        return CW_OK;
    if (r->numerator == CW_NONE)
        return cw_error_set(n->err, CW_ERR_UNSUPPORTED, "%s: the database knows no formula for %s", n->chip->name,
                            r->name);
    need_rollup(n, r->numerator, AVERAGE, false); /* as the sum */
    need_rollup(n, r->denominator, AVERAGE, false);
    return CW_OK;
}

static enum cw_status metric_needs(const struct needs *n, const struct cw_metric *m)
{
    if (m->type == CW_COUNTER)
        return counter_needs(n, m->base, m->rollup, m->sub);
    if (m->type == CW_THROUGHPUT)
        return throughput_needs(n, m);
    if (m->type == CW_RATIO)
        return ratio_needs(n, m);
    const struct cw_formula *formula = &n->chip->formulas->items[m->base];
    enum cw_status status = CW_OK;
    for (uint32_t i = 0; status == CW_OK && i < formula->metric_count; i++) /* none of them a formula */
        status = metric_needs(n, &formula->metrics[i]);
    return status;
}

enum cw_status cw_metric_counters(const struct cw_chip *chip, const struct cw_metric *m,
                                  void (*add)(void *context, uint32_t counter), void *context, struct cw_error *err)
{
    return cw_metric_counters_beside(chip, m, NULL, add, context, err);
}

enum cw_status cw_metric_counters_beside(const struct cw_chip *chip, const struct cw_metric *m, const bool *recorded,
                                         void (*add)(void *context, uint32_t counter), void *context,
                                         struct cw_error *err)
{
    return metric_needs(&(struct needs){chip, NULL, recorded, add, context, err}, m);
}

enum cw_status cw_metric_counters_held(const struct cw_chip *chip, const struct cw_metric *m, const bool *held,
                                       void (*add)(void *context, uint32_t counter), void *context,
                                       struct cw_error *err)
{
    return metric_needs(&(struct needs){chip, held, NULL, add, context, err}, m);
}

const char *cw_metric_dimension(const struct cw_chip *chip, const struct cw_metric *m, char *buffer, size_t size)
{
    if (m->type == CW_FORMULA)
        snprintf(buffer, size, "%s", chip->formulas->items[m->base].unit);
    else if (m->type == CW_RATIO)
        snprintf(buffer, size, "%s", m->sub == CW_SUB_RATIO_PCT ? "%" : chip->ratios[m->base].dimension);
    else if (m->sub >= CW_SUB_PCT_ACTIVE)
        snprintf(buffer, size, "%%");
    else {
        const struct cw_counter *c = &chip->counters[m->base];
        const char *dim = c->dimension, *per = "";
        char cycles[64] = "";
        uint32_t clock = m->sub == CW_SUB_PEAK ? c->elapsed : cw_metric_cycles(chip, m->base, m->sub);
        if (m->sub == CW_SUB_PEAK || m->sub == CW_SUB_PER_CYCLE_ACTIVE || m->sub == CW_SUB_PER_CYCLE_ELAPSED) {
            snprintf(cycles, sizeof cycles, "/%s", clock == CW_NONE ? "cycles" : chip->counters[clock].dimension);
            per = cycles;
        } else if (m->sub == CW_SUB_PER_CYCLE_IN_FRAME || m->sub == CW_SUB_PER_CYCLE_IN_REGION)
            per = "/cycles";
        else if (cw_submetric_needs_time(m->sub))
            per = "/s";
        snprintf(buffer, size, "%s%s", dim, per);
    }
    return buffer;
}
