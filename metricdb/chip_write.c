#include "metricdb/chip_write.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Writes the shortest decimal that reads back as the same number. */
static void put_entry(struct cw_writer *out, const char *before, const char *key, double value)
{
    char text[40];
    for (int digits = fabs(value) >= 10 && fabs(value) < 1e6 ? 6 : 1; digits <= 17; digits++) {
        double back = 0;
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (sscanf(text, "%lf", &back) == 1 && back == value)
            break;
    }
    cw_write_format(out, "%s%s: %s", before, key, text);
}

static void put_number(struct cw_writer *out, const char *key, double value)
{
    put_entry(out, ", ", key, value);
}

static void put_raws(struct cw_writer *out, const struct cw_chip *chip, const struct cw_list *raws)
{
    cw_write_format(out, ", raw: [");
    for (uint32_t i = 0; i < raws->count; i++)
        cw_write_format(out, "%s0x%016" PRIx64, i ? ", " : "", chip->raws[raws->items[i]].id);
    cw_write_format(out, "]");
}

static const char *counter_name(const struct cw_chip *chip, uint32_t index)
{
    return index == CW_NONE ? "none" : chip->counters[index].name;
}

static void put_units(struct cw_writer *out, const struct cw_chip *chip)
{
    bool counted = cw_chip_measured(chip); /* otherwise 0 instances would say that devices lack the unit */
    cw_write_format(out, "\nunits:\n");
    for (uint32_t i = 0; i < chip->unit_count; i++) {
        const struct cw_unit *u = &chip->units[i];
        const char *comma = "";
        cw_write_format(out, "  %s: {", u->name);
        if (counted) {
            cw_write_format(out, "instances: %" PRIu32, u->instances);
            comma = ", ";
        }
        if (u->active != CW_NONE) {
            cw_write_format(out, "%sactive: %s", comma, counter_name(chip, u->active));
            comma = ", ";
        }
        if (u->elapsed != CW_NONE)
            cw_write_format(out, "%selapsed: %s", comma, counter_name(chip, u->elapsed));
        cw_write_format(out, "}\n");
    }
}

static void put_raw_section(struct cw_writer *out, const struct cw_chip *chip)
{
    cw_write_format(out, "\nraw_counters:\n");
    for (uint32_t i = 0; i < chip->raw_count; i++) {
        const struct cw_raw_counter *raw = &chip->raws[i];
        cw_write_format(out, "  0x%016" PRIx64 ": [", raw->id);
        for (uint32_t k = 0; k < raw->placement_count; k++)
            cw_write_format(out, "%s%s", k ? ", " : "",
                            chip->domains[chip->placements[raw->placement + k].domain].name);
        cw_write_format(out, "]\n");
    }
}

static void put_pass_costs(struct cw_writer *out, const struct cw_chip *chip)
{
    if (chip->pass_cost_count)
        cw_write_format(out, "\npass_costs:\n");
    for (uint32_t i = 0; i < chip->pass_cost_count; i++) {
        const struct cw_pass_cost *cost = &chip->pass_costs[i];
        cw_write_format(out, "  - {cost: %" PRIu32 ", domains: [", cost->cost);
        for (uint32_t k = 0; k < cost->domains.count; k++)
            cw_write_format(out, "%s%s", k ? ", " : "", chip->domains[cost->domains.items[k]].name);
        cw_write_format(out, "]}\n");
    }
}

static void put_terms(struct cw_writer *out, const struct cw_chip *chip, const struct cw_counter *c)
{
    for (uint32_t i = 0; i < c->terms.count; i++)
        put_entry(out, i ? ", " : ", of: {", counter_name(chip, c->terms.items[i]), c->coefficients[i]);
    cw_write_format(out, "%s", c->terms.count ? "}" : "");
    if (c->terms.count && c->per != 1)
        put_number(out, "per", c->per);
    if (c->confirmed)
        cw_write_format(out, ", confirmed: %" PRIu32, c->confirmed);
}

/* Whether the chip's two lists differ. */
static bool lists_differ(const struct cw_chip *chip)
{
    bool differ = false;
    for (int t = 0; t < CW_METRIC_TYPE_COUNT; t++)
        differ |= cw_chip_listed_count(chip, (enum cw_metric_type)t, CW_OF_RANGES) !=
                      cw_chip_base_count(chip, (enum cw_metric_type)t) ||
                  cw_chip_listed_count(chip, (enum cw_metric_type)t, CW_OF_SAMPLES) !=
                      cw_chip_base_count(chip, (enum cw_metric_type)t);
    return differ;
}

static void put_listed(struct cw_writer *out, uint32_t listed, bool differ)
{
    if (differ && (listed & CW_OF_SAMPLES))
        cw_write_format(out, ", pm: %s", listed & CW_OF_RANGES ? "also" : "only");
}

static void put_counters(struct cw_writer *out, const struct cw_chip *chip, bool differ)
{
    cw_write_format(out, "\ncounters:\n");
    for (uint32_t i = 0; i < chip->counter_count; i++) {
        const struct cw_counter *c = &chip->counters[i];
        const struct cw_unit *u = &chip->units[c->unit];
        cw_write_format(out, "  %s: {unit: %s, dim: %s", c->name, u->name, c->dimension);
        if (!isnan(c->peak))
            put_number(out, "peak", c->peak);
        if (c->instances != u->instances)
            cw_write_format(out, ", instances: %" PRIu32, c->instances);
        if (c->active != u->active)
            cw_write_format(out, ", active: %s", counter_name(chip, c->active));
        if (c->elapsed != u->elapsed)
            cw_write_format(out, ", elapsed: %s", counter_name(chip, c->elapsed));
        if (c->sampled_active != CW_NONE)
            cw_write_format(out, ", pm_active: %s", counter_name(chip, c->sampled_active));
        if (c->sampled_elapsed != CW_NONE)
            cw_write_format(out, ", pm_elapsed: %s", counter_name(chip, c->sampled_elapsed));
        put_listed(out, c->listed, differ);
        put_terms(out, chip, c);
        put_raws(out, chip, &c->raws);
        cw_write_format(out, "}\n");
    }
}

static void put_ratios(struct cw_writer *out, const struct cw_chip *chip, bool differ)
{
    cw_write_format(out, "\nratios:\n");
    for (uint32_t i = 0; i < chip->ratio_count; i++) {
        const struct cw_ratio *r = &chip->ratios[i];
        cw_write_format(out, "  %s: {unit: %s, dim: %s", r->name, chip->units[r->unit].name, r->dimension);
        if (r->numerator != CW_NONE)
            cw_write_format(out, ", num: %s, den: %s", counter_name(chip, r->numerator),
                            counter_name(chip, r->denominator));
        if (r->scale != 1)
            put_number(out, "scale", r->scale);
        if (!isnan(r->max_rate))
            put_number(out, "max_rate", r->max_rate);
        put_listed(out, r->listed, differ);
        if (r->confirmed)
            cw_write_format(out, ", confirmed: %" PRIu32, r->confirmed);
        put_raws(out, chip, &r->raws);
        cw_write_format(out, "}\n");
    }
}

static void put_throughputs(struct cw_writer *out, const struct cw_chip *chip, bool differ)
{
    cw_write_format(out, "\nthroughputs:\n");
    for (uint32_t i = 0; i < chip->throughput_count; i++) {
        const struct cw_throughput *t = &chip->throughputs[i];
        cw_write_format(out, "  %s: {unit: %s, dim: %s", t->name, chip->units[t->unit].name, t->dimension);
        put_listed(out, t->listed, differ);
        if (t->confirmed)
            cw_write_format(out, ", confirmed: %" PRIu32, t->confirmed);
        for (uint32_t k = 0; k < t->counters.count; k++)
            cw_write_format(out, "%s%s", k ? ", " : ", counters: [", chip->counters[t->counters.items[k]].name);
        cw_write_format(out, "%s", t->counters.count ? "]" : "");
        for (uint32_t k = 0; k < t->throughputs.count; k++)
            cw_write_format(out, "%s%s", k ? ", " : ", throughputs: [",
                            chip->throughputs[t->throughputs.items[k]].name);
        cw_write_format(out, "%s", t->throughputs.count ? "]" : "");
        put_raws(out, chip, &t->raws);
        cw_write_format(out, "}\n");
    }
}

void cw_chip_write(const struct cw_chip *chip, const char *const *source, struct cw_writer *out)
{
    bool differ = lists_differ(chip);
    cw_write_format(out, "# The %s database: data/schema.md says what everything means. Written by metricdb-import.\n",
                    chip->name);
    cw_write_format(out, "schema: 1\nchip: %s\n", chip->name);
    for (uint32_t i = 0; i < chip->also_count; i++)
        cw_write_format(out, "%s%s%s", i ? ", " : "also: [", chip->also[i], i + 1 == chip->also_count ? "]\n" : "");
    cw_write_format(out, "source:\n");
    for (; *source; source++)
        cw_write_format(out, "  - %s\n", *source);
    if (chip->time != CW_NONE)
        cw_write_format(out, "time: %s\n", counter_name(chip, chip->time));
    if (chip->no_sampling)
        cw_write_format(out, "sampling: none\n");
    if (chip->device_counter != CW_NONE)
        cw_write_format(out, "device_counter: 0x%016" PRIx64 "\n", chip->raws[chip->device_counter].id);
    put_units(out, chip);
    cw_write_format(out, "\ndomains:\n");
    for (uint32_t i = 0; i < chip->domain_count; i++)
        cw_write_format(out, "  %s: %" PRIu32 "\n", chip->domains[i].name, chip->domains[i].id);
    put_pass_costs(out, chip);
    put_raw_section(out, chip);
    put_counters(out, chip, differ);
    put_ratios(out, chip, differ);
    put_throughputs(out, chip, differ);
}
