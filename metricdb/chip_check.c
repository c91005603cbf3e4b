#include "metricdb/chip_check.h"

#include <inttypes.h>
#include <math.h>

enum {
    OPEN = UINT8_MAX, /* in place of a level: being examined */
    COLUMN = 3,       /* column of a section's keys */
    WRITTEN_OUT_FIXED = 1 << 20,
    WRITTEN_OUT_TIMES = 8
};

struct check {
    const struct cw_chip *chip;
    struct cw_error *err;
    enum cw_status status;
    uint8_t *levels;        /* by throughput: levels of throughputs below it, 0 unknown */
    uint64_t *constituents; /* by throughput: counters on all paths */
};

#define WRONG(c, line, ...)                                                                                            \
    ((c)->status = (c)->status == CW_OK                                                                                \
                       ? cw_error_at((c)->err, CW_ERR_INPUT, (c)->chip->path, line, COLUMN, __VA_ARGS__)               \
                       : (c)->status)

static void check_raws(struct check *c)
{
    const struct cw_chip *chip = c->chip;
    uint32_t placement = 0;
    for (uint32_t i = 0; c->status == CW_OK && i < chip->raw_count; i++) {
        const struct cw_raw_counter *raw = &chip->raws[i];
        if (raw->id == 0 || (i && raw->id <= raw[-1].id))
            WRONG(c, 1, "found the raw counter 0x%" PRIx64 ", expected ids above 0 in ascending order", raw->id);
        if (raw->placement != placement || raw->placement_count > chip->placement_count - placement)
            WRONG(c, 1, "found placements of the raw counter 0x%" PRIx64 " that do not follow those before", raw->id);
        for (uint32_t k = 0; c->status == CW_OK && k < raw->placement_count; k++)
            if (chip->placements[placement++].raw != i)
                WRONG(c, 1, "found a placement of another raw counter than 0x%" PRIx64, raw->id);
    }
    if (placement != chip->placement_count)
        WRONG(c, 1, "found a placement of no raw counter");
}

static void check_limits(struct check *c, const struct cw_limit *limits, uint32_t count)
{
    for (uint32_t i = 0; c->status == CW_OK && i < count; i++)
        for (uint32_t k = 0; c->status == CW_OK && k < limits[i].count; k++)
            if (limits[i].groups[k] >= limits[i].count)
                WRONG(c, limits[i].line, "found the group %" PRIu32 " in a limit of %" PRIu32 " members",
                      limits[i].groups[k], limits[i].count);
}

static void check_counters(struct check *c)
{
    for (uint32_t i = 0; c->status == CW_OK && i < c->chip->counter_count; i++) {
        const struct cw_counter *counter = &c->chip->counters[i];
        if (isinf(counter->peak) || !(counter->per > 0 && isfinite(counter->per)))
            WRONG(c, counter->line, "found a peak or 'per' of %s that is not finite", counter->name);
        for (uint32_t k = 0; c->status == CW_OK && k < counter->terms.count; k++) {
            const struct cw_counter *term = &c->chip->counters[counter->terms.items[k]];
            if (term->terms.count)
                WRONG(c, counter->line, "found %s, which is derived itself, expected a recorded counter", term->name);
            if (!isfinite(counter->coefficients[k]) || counter->coefficients[k] == 0)
                WRONG(c, counter->line, "found the coefficient %g, expected a finite number other than 0",
                      counter->coefficients[k]);
        }
    }
}

static void check_ratios(struct check *c)
{
    for (uint32_t i = 0; c->status == CW_OK && i < c->chip->ratio_count; i++) {
        const struct cw_ratio *r = &c->chip->ratios[i];
        if ((r->numerator == CW_NONE) != (r->denominator == CW_NONE))
            WRONG(c, r->line, "found only one of 'num' and 'den' for %s, expected both or none", r->name);
        if (!isfinite(r->scale) || isinf(r->max_rate))
            WRONG(c, r->line, "found a scale or 'max_rate' of %s that is not finite", r->name);
    }
}

/* ---- throughputs ------------------------------------------------------------------------------------------------ */

static void settle(struct check *c, uint32_t index, unsigned depth)
{
    const struct cw_throughput *t = &c->chip->throughputs[index];
    unsigned level = 1;
    if (c->levels[index] == OPEN)
        WRONG(c, t->line, "found %s among its own constituents", t->name);
    if (c->levels[index])
        return;
    c->levels[index] = OPEN;
    c->constituents[index] = t->counters.count;
    for (uint32_t k = 0; c->status == CW_OK && depth < CW_THROUGHPUT_LEVELS_MAX && k < t->throughputs.count; k++) {
        uint32_t part = t->throughputs.items[k];
        settle(c, part, depth + 1);
        level = c->levels[part] >= level ? c->levels[part] + 1u : level;
        c->constituents[index] += c->constituents[part];
        if (c->constituents[index] > UINT32_MAX) /* far too many; the cap keeps sums from overflowing */
            c->constituents[index] = UINT32_MAX;
    }
    bool too_deep = depth == CW_THROUGHPUT_LEVELS_MAX && t->throughputs.count;
    if (too_deep || level > CW_THROUGHPUT_LEVELS_MAX)
        WRONG(c, t->line, "found %s made of throughputs of throughputs, expected at most %d levels", t->name,
              CW_THROUGHPUT_LEVELS_MAX);
    c->levels[index] = (uint8_t)level;
}

static void check_throughputs(struct check *c)
{
    const struct cw_chip *chip = c->chip;
    uint64_t said = 0, total = 0;
    for (uint32_t i = 0; i < chip->throughput_count; i++)
        said += UINT64_C(1) + chip->throughputs[i].counters.count + chip->throughputs[i].throughputs.count;
    for (uint32_t i = 0; c->status == CW_OK && i < chip->throughput_count; i++) {
        settle(c, i, 1);
        total += c->constituents[i];
        if (total > WRITTEN_OUT_FIXED + WRITTEN_OUT_TIMES * said)
            WRONG(c, chip->throughputs[i].line, "found %s made of throughputs with too many constituents in all",
                  chip->throughputs[i].name);
    }
}

enum cw_status cw_chip_check(const struct cw_chip *chip, struct cw_arena *arena, struct cw_error *err)
{
    struct check c = {.chip = chip,
                      .err = err,
                      .levels = cw_arena_alloc(arena, chip->throughput_count, 1),
                      .constituents = cw_arena_alloc(arena, chip->throughput_count, sizeof(uint64_t))};
    if (!c.levels || !c.constituents)
        return cw_error_nomem(err);
    check_raws(&c);
    check_limits(&c, chip->limits, chip->limit_count);
    if (chip->pm_limits != chip->limits)
        check_limits(&c, chip->pm_limits, chip->pm_limit_count);
    check_counters(&c);
    check_ratios(&c);
    check_throughputs(&c);
    return c.status;
}
