#include "metricdb/metric.h"

#include <stdio.h>
#include <string.h>

#include "base/suggest.h"
#include "metricdb/fact.h"
#include "metricdb/formula.h"

static const struct {
    const char *text;
    enum cw_cycles cycles;
    bool per_second;
} submetrics[CW_SUB__COUNT] = {
    [CW_SUB_NONE] = {""},
    [CW_SUB_PEAK] = {"peak_sustained"},
    [CW_SUB_PEAK_ACTIVE] = {"peak_sustained_active", CW_CYCLES_ACTIVE},
    [CW_SUB_PEAK_ACTIVE_PER_SECOND] = {"peak_sustained_active.per_second", CW_CYCLES_ACTIVE, true},
    [CW_SUB_PEAK_ELAPSED] = {"peak_sustained_elapsed", CW_CYCLES_ELAPSED},
    [CW_SUB_PEAK_ELAPSED_PER_SECOND] = {"peak_sustained_elapsed.per_second", CW_CYCLES_ELAPSED, true},
    [CW_SUB_PEAK_FRAME] = {"peak_sustained_frame", CW_CYCLES_FRAME},
    [CW_SUB_PEAK_FRAME_PER_SECOND] = {"peak_sustained_frame.per_second", CW_CYCLES_FRAME, true},
    [CW_SUB_PEAK_REGION] = {"peak_sustained_region", CW_CYCLES_REGION},
    [CW_SUB_PEAK_REGION_PER_SECOND] = {"peak_sustained_region.per_second", CW_CYCLES_REGION, true},
    [CW_SUB_PER_CYCLE_ACTIVE] = {"per_cycle_active", CW_CYCLES_ACTIVE},
    [CW_SUB_PER_CYCLE_ELAPSED] = {"per_cycle_elapsed", CW_CYCLES_ELAPSED},
    [CW_SUB_PER_CYCLE_IN_FRAME] = {"per_cycle_in_frame", CW_CYCLES_FRAME},
    [CW_SUB_PER_CYCLE_IN_REGION] = {"per_cycle_in_region", CW_CYCLES_REGION},
    [CW_SUB_PER_SECOND] = {"per_second", CW_CYCLES_NONE, true},
    [CW_SUB_PCT_ACTIVE] = {"pct_of_peak_sustained_active", CW_CYCLES_ACTIVE},
    [CW_SUB_PCT_ELAPSED] = {"pct_of_peak_sustained_elapsed", CW_CYCLES_ELAPSED},
    [CW_SUB_PCT_FRAME] = {"pct_of_peak_sustained_frame", CW_CYCLES_FRAME},
    [CW_SUB_PCT_REGION] = {"pct_of_peak_sustained_region", CW_CYCLES_REGION},
    [CW_SUB_RATIO] = {"ratio"},
    [CW_SUB_RATIO_PCT] = {"pct"},
    [CW_SUB_RATIO_MAX_RATE] = {"max_rate"},
};
static const char *const rollups[CW_ROLLUP_COUNT] = {"sum", "avg", "min", "max"};
enum { ROLLUP_LENGTH = 3, THROUGHPUT_SUBS = CW_SUB_COUNTER_COUNT - CW_SUB_PCT_ACTIVE };

const char *cw_submetric_text(enum cw_submetric sub)
{
    return submetrics[sub].text;
}

const char *cw_rollup_text(enum cw_rollup rollup)
{
    return rollups[rollup];
}

const char *cw_metric_type_text(enum cw_metric_type type)
{
    static const char *const types[] = {"counter", "ratio", "throughput", "formula", "fact"};
    return types[type];
}

int cw_metric_compare(const void *a, const void *b)
{
    const struct cw_metric *x = a, *y = b;
    return x->type != y->type       ? (x->type > y->type) - (x->type < y->type)
           : x->base != y->base     ? (x->base > y->base) - (x->base < y->base)
           : x->rollup != y->rollup ? (x->rollup > y->rollup) - (x->rollup < y->rollup)
                                    : (x->sub > y->sub) - (x->sub < y->sub);
}

uint32_t cw_metric_base_count(const struct cw_chip *chip, enum cw_metric_type type)
{
    if (type < CW_METRIC_TYPE_COUNT)
        return cw_chip_base_count(chip, type);
    return type == CW_FACT ? cw_fact_count() : chip->formulas ? chip->formulas->count : 0;
}

const char *cw_metric_base_name(const struct cw_chip *chip, enum cw_metric_type type, uint32_t base)
{
    return type == CW_FORMULA ? chip->formulas->items[base].name
           : type == CW_FACT  ? cw_fact(base)->name
                              : cw_chip_base_name(chip, type, base);
}

const char *cw_metric_remark(const struct cw_chip *chip, enum cw_metric_type type, uint32_t base)
{
    return type == CW_FORMULA ? chip->formulas->items[base].description
           : type == CW_FACT  ? cw_fact(base)->description
                              : NULL;
}

uint32_t cw_metric_variants(enum cw_metric_type type)
{
    return type == CW_COUNTER      ? CW_ROLLUP_COUNT * CW_SUB_COUNTER_COUNT
           : type == CW_RATIO      ? CW_SUB__COUNT - CW_SUB_RATIO
           : type == CW_THROUGHPUT ? CW_ROLLUP_COUNT * THROUGHPUT_SUBS
                                   : 1;
}

struct cw_metric cw_metric_variant(enum cw_metric_type type, uint32_t base, uint32_t variant)
{
    struct cw_metric m = {.type = type, .base = base};
    if (type >= CW_METRIC_TYPE_COUNT)
        return m;
    if (type == CW_RATIO) {
        m.sub = (enum cw_submetric)(CW_SUB_RATIO + variant);
        return m;
    }
    uint32_t subs = type == CW_COUNTER ? CW_SUB_COUNTER_COUNT : THROUGHPUT_SUBS;
    m.rollup = (enum cw_rollup)(variant / subs);
    m.sub = (enum cw_submetric)(variant % subs + (type == CW_COUNTER ? CW_SUB_NONE : CW_SUB_PCT_ACTIVE));
    return m;
}

const char *cw_metric_name(const struct cw_chip *chip, const struct cw_metric *m, char *buffer)
{
    const char *base = cw_metric_base_name(chip, m->type, m->base), *sub = submetrics[m->sub].text;
    if (m->type >= CW_METRIC_TYPE_COUNT)
        snprintf(buffer, CW_METRIC_NAME_MAX, "%s", base);
    else if (m->type == CW_RATIO)
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
        while (first.rollup < CW_ROLLUP_COUNT && strncmp(suffix, rollups[first.rollup], ROLLUP_LENGTH) != 0)
            first.rollup++;
        if (first.rollup == CW_ROLLUP_COUNT)
            return false;
        suffix += ROLLUP_LENGTH;
        if (*suffix && (*suffix++ != '.' || !*suffix))
            return false;
    }
    while (sub < end && strcmp(submetrics[sub].text, suffix) != 0)
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
    char text[512], full[CW_METRIC_NAME_MAX], candidates[CW_ROLLUP_COUNT * CW_SUB_COUNTER_COUNT][CW_METRIC_NAME_MAX];
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

/* Writes a base name with another name's suffix such as ".sum", if it can have that. */
static const char *with_suffix(const struct cw_chip *chip, const char *base, const char *suffix,
                               char full[CW_METRIC_NAME_MAX])
{
    struct cw_metric m = {0};
    if (*suffix != '.' || !cw_chip_find(chip, base, strlen(base), &m.type, &m.base) || !parse_suffix(&m, suffix + 1))
        return base;
    return cw_metric_name(chip, &m, full);
}

static enum cw_status unknown_base(const struct cw_chip *chip, const char *name, struct cw_error *err)
{
    if (!err)
        return CW_ERR_USAGE;
    /* Compare without the part that looks like a suffix. */
    char base[CW_METRIC_NAME_MAX];
    snprintf(base, sizeof base, "%s", name);
    for (int type = 0; type < CW_METRIC_TYPE_COUNT; type++)
        for (uint32_t v = 0; v < cw_metric_variants((enum cw_metric_type)type); v++) {
            struct cw_metric m = cw_metric_variant((enum cw_metric_type)type, 0, v);
            const char *end = type == CW_RATIO || m.sub ? submetrics[m.sub].text : rollups[m.rollup];
            size_t length = strlen(base), tail = strlen(end);
            if (length > tail + 1 && base[length - tail - 1] == '.' && strcmp(base + length - tail, end) == 0)
                base[length - tail - 1] = 0;
        }
    for (int rollup = 0; rollup < CW_ROLLUP_COUNT; rollup++) {
        size_t length = strlen(base);
        if (length > 4 && base[length - 4] == '.' && strcmp(base + length - 3, rollups[rollup]) == 0)
            base[length - 4] = 0;
    }
    struct cw_suggest near;
    char text[512];
    cw_suggest_init(&near, base);
    for (enum cw_metric_type type = CW_COUNTER; type < CW_ALL_TYPES_COUNT; type++)
        for (uint32_t i = 0; i < cw_metric_base_count(chip, type); i++)
            cw_suggest_offer(&near, cw_metric_base_name(chip, type, i));
    char full[CW_SUGGEST_MAX][CW_METRIC_NAME_MAX];
    for (size_t i = 0; i < near.count; i++)
        near.name[i] = with_suffix(chip, near.name[i], name + strlen(base), full[i]);
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
    uint32_t formula = cw_formulas_find(chip, name), fact = cw_fact_find(name);
    if (formula != CW_NONE || fact != CW_NONE) {
        *m = formula != CW_NONE ? cw_metric_variant(CW_FORMULA, formula, 0) : cw_metric_variant(CW_FACT, fact, 0);
        return CW_OK;
    }
    /* Base names may have dots: the longest known one counts. */
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
    return submetrics[sub].per_second;
}

enum cw_cycles cw_submetric_cycles(enum cw_submetric sub)
{
    return submetrics[sub].cycles;
}

struct cw_metric cw_metric_usual(const struct cw_chip *chip, enum cw_metric_type type, uint32_t base)
{
    struct cw_metric m = {.type = type, .base = base};
    if (type == CW_THROUGHPUT) {
        m.rollup = CW_AVG;
        m.sub = CW_SUB_PCT_ELAPSED;
    } else if (type == CW_RATIO) {
        m.sub = strstr(chip->ratios[base].name, "hit_rate") ? CW_SUB_RATIO_PCT : CW_SUB_RATIO;
    }
    return m;
}

uint32_t cw_metric_cycles(const struct cw_chip *chip, uint32_t counter, enum cw_submetric sub)
{
    const struct cw_counter *c = &chip->counters[counter];
    enum cw_cycles cycles = submetrics[sub].cycles;
    return cycles == CW_CYCLES_ACTIVE ? c->active : cycles == CW_CYCLES_ELAPSED ? c->elapsed : CW_NONE;
}

const char *cw_metric_dimension(const struct cw_chip *chip, const struct cw_metric *m, char *buffer, size_t size)
{
    if (m->type == CW_FORMULA)
        snprintf(buffer, size, "%s", chip->formulas->items[m->base].unit);
    else if (m->type == CW_FACT)
        snprintf(buffer, size, "%s", cw_fact(m->base)->unit);
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
