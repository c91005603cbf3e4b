#include "metricdb/chip_write.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

__attribute__((format(printf, 2, 3))) static void put(struct cw_writer *out, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (n > 0)
        cw_write_bytes(out, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}

/* The shortest decimal that reads back as the same number. */
static void put_number(struct cw_writer *out, const char *key, double value)
{
    char text[40];
    for (int digits = value >= 10 && value < 1e6 ? 6 : 1; digits <= 17; digits++) {
        double back = 0;
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (sscanf(text, "%lf", &back) == 1 && back == value)
            break;
    }
    put(out, ", %s: %s", key, text);
}

static void put_raws(struct cw_writer *out, const struct cw_chip *chip, const struct cw_list *raws)
{
    put(out, ", raw: [");
    for (uint32_t i = 0; i < raws->count; i++)
        put(out, "%s0x%016" PRIx64, i ? ", " : "", chip->raws[raws->items[i]].id);
    put(out, "]");
}

static const char *counter_name(const struct cw_chip *chip, uint32_t index)
{
    return index == CW_NONE ? "none" : chip->counters[index].name;
}

static void put_units(struct cw_writer *out, const struct cw_chip *chip)
{
    put(out, "\nunits:\n");
    for (uint32_t i = 0; i < chip->unit_count; i++) {
        const struct cw_unit *u = &chip->units[i];
        put(out, "  %s: {instances: %" PRIu32, u->name, u->instances);
        if (u->active != CW_NONE)
            put(out, ", active: %s", counter_name(chip, u->active));
        if (u->elapsed != CW_NONE)
            put(out, ", elapsed: %s", counter_name(chip, u->elapsed));
        put(out, "}\n");
    }
}

static void put_raw_section(struct cw_writer *out, const struct cw_chip *chip)
{
    put(out, "\nraw_counters:\n");
    for (uint32_t i = 0; i < chip->raw_count; i++) {
        const struct cw_raw_counter *raw = &chip->raws[i];
        put(out, "  0x%016" PRIx64 ": [", raw->id);
        for (uint32_t k = 0; k < raw->placement_count; k++)
            put(out, "%s%s", k ? ", " : "", chip->domains[chip->placements[raw->placement + k].domain].name);
        put(out, "]\n");
    }
}

static void put_counters(struct cw_writer *out, const struct cw_chip *chip)
{
    put(out, "\ncounters:\n");
    for (uint32_t i = 0; i < chip->counter_count; i++) {
        const struct cw_counter *c = &chip->counters[i];
        const struct cw_unit *u = &chip->units[c->unit];
        put(out, "  %s: {unit: %s, dim: %s", c->name, u->name, c->dimension);
        if (!isnan(c->peak))
            put_number(out, "peak", c->peak);
        if (c->instances != u->instances)
            put(out, ", instances: %" PRIu32, c->instances);
        if (c->active != u->active)
            put(out, ", active: %s", counter_name(chip, c->active));
        if (c->elapsed != u->elapsed)
            put(out, ", elapsed: %s", counter_name(chip, c->elapsed));
        put_raws(out, chip, &c->raws);
        put(out, "}\n");
    }
}

static void put_ratios(struct cw_writer *out, const struct cw_chip *chip)
{
    put(out, "\nratios:\n");
    for (uint32_t i = 0; i < chip->ratio_count; i++) {
        const struct cw_ratio *r = &chip->ratios[i];
        put(out, "  %s: {unit: %s, dim: %s", r->name, chip->units[r->unit].name, r->dimension);
        if (r->numerator != CW_NONE)
            put(out, ", num: %s, den: %s", counter_name(chip, r->numerator), counter_name(chip, r->denominator));
        if (r->scale != 1)
            put_number(out, "scale", r->scale);
        if (!isnan(r->max_rate))
            put_number(out, "max_rate", r->max_rate);
        if (r->confirmed)
            put(out, ", confirmed: %" PRIu32, r->confirmed);
        put_raws(out, chip, &r->raws);
        put(out, "}\n");
    }
}

static void put_throughputs(struct cw_writer *out, const struct cw_chip *chip)
{
    put(out, "\nthroughputs:\n");
    for (uint32_t i = 0; i < chip->throughput_count; i++) {
        const struct cw_throughput *t = &chip->throughputs[i];
        put(out, "  %s: {unit: %s, dim: %s", t->name, chip->units[t->unit].name, t->dimension);
        if (t->confirmed)
            put(out, ", confirmed: %" PRIu32, t->confirmed);
        for (uint32_t k = 0; k < t->counters.count; k++)
            put(out, "%s%s", k ? ", " : ", counters: [", chip->counters[t->counters.items[k]].name);
        put(out, "%s", t->counters.count ? "]" : "");
        for (uint32_t k = 0; k < t->throughputs.count; k++)
            put(out, "%s%s", k ? ", " : ", throughputs: [", chip->throughputs[t->throughputs.items[k]].name);
        put(out, "%s", t->throughputs.count ? "]" : "");
        put_raws(out, chip, &t->raws);
        put(out, "}\n");
    }
}

void cw_chip_write(const struct cw_chip *chip, const char *const *source, struct cw_writer *out)
{
    put(out, "# The %s database: data/schema.md says what everything means. Written by metricdb-import.\n", chip->name);
    put(out, "schema: 1\nchip: %s\nsource:\n", chip->name);
    for (; *source; source++)
        put(out, "  - %s\n", *source);
    if (chip->time != CW_NONE)
        put(out, "time: %s\n", counter_name(chip, chip->time));
    put_units(out, chip);
    put(out, "\ndomains:\n");
    for (uint32_t i = 0; i < chip->domain_count; i++)
        put(out, "  %s: %" PRIu32 "\n", chip->domains[i].name, chip->domains[i].id);
    put_raw_section(out, chip);
    put_counters(out, chip);
    put_ratios(out, chip);
    put_throughputs(out, chip);
}
