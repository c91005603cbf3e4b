#include "metricdb/meaning.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "metricdb/formula.h"
#include "metricdb/metric.h"

/* The hashes of list members are added up, because lists may be in any order. */
static uint64_t hash_text(const char *text)
{
    return XXH3_64bits(text, strlen(text));
}

static uint64_t hash_number(const char *name, double value)
{
    return XXH3_64bits_withSeed(&value, sizeof value, hash_text(name));
}

static uint64_t hash_raws(const struct cw_chip *chip, const struct cw_list *raws, const char *dimension)
{
    uint64_t sum = hash_text(dimension);
    for (uint32_t i = 0; i < raws->count; i++)
        sum += XXH3_64bits(&chip->raws[raws->items[i]].id, sizeof(uint64_t));
    return sum;
}

static struct cw_base_meaning of_counter(const struct cw_chip *chip, const struct cw_counter *c)
{
    struct cw_base_meaning m = {.raws = hash_raws(chip, &c->raws, c->dimension)};
    for (uint32_t i = 0; i < c->terms.count; i++)
        m.formula += hash_number(chip->counters[c->terms.items[i]].name, c->coefficients[i]);
    if (c->terms.count)
        m.formula += hash_number("per", c->per);
    return m;
}

static struct cw_base_meaning of_ratio(const struct cw_chip *chip, const struct cw_ratio *r)
{
    struct cw_base_meaning m = {.raws = hash_raws(chip, &r->raws, r->dimension)};
    if (r->numerator != CW_NONE)
        m.formula = hash_number(chip->counters[r->numerator].name, r->scale) +
                    hash_number(chip->counters[r->denominator].name, 0);
    return m;
}

static struct cw_base_meaning of_throughput(const struct cw_chip *chip, const struct cw_throughput *t)
{
    struct cw_base_meaning m = {.raws = hash_raws(chip, &t->raws, t->dimension)};
    for (uint32_t i = 0; i < t->counters.count; i++)
        m.formula += hash_text(chip->counters[t->counters.items[i]].name);
    for (uint32_t i = 0; i < t->throughputs.count; i++)
        m.formula += hash_text(chip->throughputs[t->throughputs.items[i]].name);
    return m;
}

struct cw_base_meaning cw_base_meaning(const struct cw_chip *chip, enum cw_metric_type type, uint32_t base)
{
    if (type == CW_FORMULA)
        return (struct cw_base_meaning){hash_text(chip->formulas->items[base].unit),
                                        hash_text(chip->formulas->items[base].text)};
    return type == CW_COUNTER ? of_counter(chip, &chip->counters[base])
           : type == CW_RATIO ? of_ratio(chip, &chip->ratios[base])
                              : of_throughput(chip, &chip->throughputs[base]);
}

bool cw_base_meaning_changed(const struct cw_base_meaning *then, const struct cw_base_meaning *now)
{
    return then->raws != now->raws || (then->formula && now->formula && then->formula != now->formula);
}

static void mark_list(const struct cw_chip *chip, enum cw_metric_type type, const struct cw_list *list,
                      uint8_t *const marks[CW_FORMULA + 1])
{
    for (uint32_t i = 0; i < list->count; i++)
        cw_base_mark(chip, type, list->items[i], marks);
}

void cw_base_mark(const struct cw_chip *chip, enum cw_metric_type type, uint32_t base,
                  uint8_t *const marks[CW_FORMULA + 1])
{
    if (type == CW_FACT || marks[type][base]) /* a fact means the same everywhere */
        return;
    marks[type][base] = 1;
    if (type == CW_COUNTER) {
        mark_list(chip, CW_COUNTER, &chip->counters[base].terms, marks);
    } else if (type == CW_RATIO && chip->ratios[base].numerator != CW_NONE) {
        cw_base_mark(chip, CW_COUNTER, chip->ratios[base].numerator, marks);
        cw_base_mark(chip, CW_COUNTER, chip->ratios[base].denominator, marks);
    } else if (type == CW_THROUGHPUT) {
        mark_list(chip, CW_COUNTER, &chip->throughputs[base].counters, marks);
        mark_list(chip, CW_THROUGHPUT, &chip->throughputs[base].throughputs, marks);
    } else if (type == CW_FORMULA) {
        const struct cw_formula *f = &chip->formulas->items[base];
        for (uint32_t i = 0; i < f->metric_count; i++)
            cw_base_mark(chip, f->metrics[i].type, f->metrics[i].base, marks);
    }
}
