#include "cli/query_formula.h"

#include <stdio.h>
#include <string.h>

#include "metricdb/formula.h"

/* What a sub-metric divides by, or what a peak is multiplied with. */
static const char *cycles_of(const struct cw_chip *chip, uint32_t counter, enum cw_submetric sub)
{
    uint32_t cycles = cw_metric_cycles(chip, counter, sub);
    if (cycles != CW_NONE)
        return chip->counters[cycles].name;
    switch (sub) {
    case CW_SUB_PEAK_FRAME:
    case CW_SUB_PEAK_FRAME_PER_SECOND:
    case CW_SUB_PER_CYCLE_IN_FRAME:
    case CW_SUB_PCT_FRAME:
        return "cycles of the user's frame";
    case CW_SUB_PEAK_REGION:
    case CW_SUB_PEAK_REGION_PER_SECOND:
    case CW_SUB_PER_CYCLE_IN_REGION:
    case CW_SUB_PCT_REGION:
        return "cycles of the user's region";
    default:
        return "cycles";
    }
}

static char *counter_formula(const struct cw_chip *chip, uint32_t counter, int rollup, enum cw_submetric sub,
                             struct cw_arena *arena)
{
    const char *r = cw_rollup_text(rollup), *c = chip->counters[counter].name;
    const char *cycles = cycles_of(chip, counter, sub);
    const char *time = chip->time == CW_NONE ? "time" : chip->counters[chip->time].name;
    switch (sub) {
    case CW_SUB_NONE:
        return cw_arena_printf(arena, "%s(%s)", r, c);
    case CW_SUB_PEAK:
        return cw_arena_printf(arena, "%s(peak of %s)", r, c);
    case CW_SUB_PER_SECOND:
        return cw_arena_printf(arena, "%s(%s) / seconds of %s", r, c, time);
    case CW_SUB_PER_CYCLE_ACTIVE:
    case CW_SUB_PER_CYCLE_ELAPSED:
    case CW_SUB_PER_CYCLE_IN_FRAME:
    case CW_SUB_PER_CYCLE_IN_REGION:
        return cw_arena_printf(arena, "%s(%s) / avg(%s)", r, c, cycles);
    case CW_SUB_PCT_ACTIVE:
    case CW_SUB_PCT_ELAPSED:
    case CW_SUB_PCT_FRAME:
    case CW_SUB_PCT_REGION:
        return cw_arena_printf(arena, "100 * %s(%s) / avg(%s) / %s(peak of %s)", r, c, cycles, r, c);
    default:
        if (cw_submetric_needs_time(sub))
            return cw_arena_printf(arena, "%s(peak of %s) * avg(%s) / seconds of %s", r, c, cycles, time);
        return cw_arena_printf(arena, "%s(peak of %s) * avg(%s)", r, c, cycles);
    }
}

static char *ratio_formula(const struct cw_chip *chip, const struct cw_metric *m, struct cw_arena *arena)
{
    const struct cw_ratio *r = &chip->ratios[m->base];
    if (m->sub == CW_SUB_RATIO_MAX_RATE)
        return cw_arena_printf(arena, "%g", r->max_rate);
    if (r->numerator == CW_NONE)
        return cw_arena_strdup(arena, "not known");
    char factor[40] = "";
    double scale = r->scale * (m->sub == CW_SUB_RATIO_PCT ? 100 : 1);
    if (scale != 1)
        snprintf(factor, sizeof factor, "%g * ", scale);
    return cw_arena_printf(arena, "%ssum(%s) / sum(%s)", factor, chip->counters[r->numerator].name,
                           chip->counters[r->denominator].name);
}

static char *throughput_formula(const struct cw_chip *chip, const struct cw_metric *m, struct cw_arena *arena)
{
    struct cw_list leaves;
    enum cw_status status = cw_throughput_leaves(chip, m->base, &leaves, arena, NULL);
    if (status != CW_OK)
        return status == CW_ERR_NOMEM ? NULL : cw_arena_strdup(arena, "not known");
    char *text = cw_arena_strdup(arena, "the largest of");
    for (uint32_t i = 0; text && i < leaves.count; i++) {
        const char *one = counter_formula(chip, leaves.items[i], m->rollup, m->sub, arena);
        text = one ? cw_arena_printf(arena, "%s\n%s", text, one) : NULL;
    }
    return text;
}

char *cw_query_formula(const struct cw_chip *chip, const struct cw_metric *m, struct cw_arena *arena)
{
    return m->type == CW_COUNTER      ? counter_formula(chip, m->base, m->rollup, m->sub, arena)
           : m->type == CW_RATIO      ? ratio_formula(chip, m, arena)
           : m->type == CW_THROUGHPUT ? throughput_formula(chip, m, arena)
                                      : cw_arena_strdup(arena, chip->formulas->items[m->base].text);
}

char *cw_query_base_formula(const struct cw_chip *chip, const struct cw_metric *m, struct cw_arena *arena)
{
    if (m->type == CW_COUNTER)
        return cw_arena_strdup(arena, "with .sum, .avg, .min or .max, and perhaps .per_second, .per_cycle_active, "
                                      ".pct_of_peak_sustained_elapsed ...");
    const char *formula = cw_query_formula(chip, m, arena), *after = cw_submetric_text(m->sub);
    if (!formula)
        return NULL;
    return cw_arena_printf(arena, "with .%s%s%s: %s", m->type == CW_RATIO ? "" : cw_rollup_text(m->rollup),
                           m->type == CW_RATIO ? "" : ".", after, formula);
}
