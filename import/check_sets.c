#include "import/check_sets.h"

#include <string.h>

#include "import/ask.h"

static const uint32_t sizes[] = {3, 5, 10, 20, 40, 80, 160, 300};
enum {
    RANDOM_SETS = 12, /* of each size */
    SETTLED = 1500,   /* it is over when one pass in so many is refused */
};

static void begin_set(struct cw_check_sets *c)
{
    c->raw_count = 0;
    memset(c->seen, 0, c->chip->raw_count * sizeof *c->seen);
}

/* Some counters of some chips need two passes alone: no plan can have them. */
static bool collectable(const struct cw_check_sets *c, uint32_t raw)
{
    const struct cw_raw_counter *r = &c->chip->raws[raw];
    for (uint32_t k = 0; k < r->placement_count; k++)
        if (c->usable[r->placement + k])
            return true;
    return false;
}

static void add_raws(struct cw_check_sets *c, const struct cw_list *raws)
{
    for (uint32_t k = 0; k < raws->count; k++)
        if (!c->seen[raws->items[k]] && collectable(c, raws->items[k])) {
            c->seen[raws->items[k]] = true;
            c->raws[c->raw_count++] = raws->items[k];
        }
}

static void end_set(struct cw_check_sets *c)
{
    if (c->raw_count)
        c->judge(c->context, &(struct cw_list){c->raw_count, c->raws}, c->natural);
}

static const struct cw_list *raws_of_metric(const struct cw_chip *chip, uint32_t n)
{
    if (n < chip->counter_count)
        return &chip->counters[n].raws;
    n -= chip->counter_count;
    return n < chip->ratio_count ? &chip->ratios[n].raws : &chip->throughputs[n - chip->ratio_count].raws;
}

static void random_sets(struct cw_check_sets *c)
{
    uint32_t metrics = c->chip->counter_count + c->chip->ratio_count + c->chip->throughput_count;
    for (size_t s = 0; metrics && s < sizeof sizes / sizeof *sizes; s++)
        for (uint32_t t = 0; t < RANDOM_SETS; t++) {
            begin_set(c);
            for (uint32_t k = 0; k < sizes[s]; k++)
                add_raws(c, raws_of_metric(c->chip, cw_ask_draw(&c->random, metrics)));
            end_set(c);
        }
}

/* Length of the part of a name that its relatives share: up to the second underscore after the unit. */
static size_t family_length(const char *name)
{
    const char *unit = strstr(name, "__"), *end = unit ? strchr(unit + 2, '_') : NULL;
    return end ? (size_t)(end - name) : strlen(name);
}

/* Some share of the counters of a unit or of a family of names. Round 0 takes all of them. */
static void natural_sets(struct cw_check_sets *c, uint32_t round)
{
    const struct cw_chip *chip = c->chip;
    for (uint32_t u = 0; u < chip->unit_count; u++)
        for (int what = 0; what < 3; what++) { /* counters; ratios and throughputs; all */
            uint32_t metrics = chip->counter_count + chip->ratio_count + chip->throughput_count;
            uint32_t percent = round ? 20 + cw_ask_draw(&c->random, 81) : 100;
            begin_set(c);
            for (uint32_t n = 0; n < metrics; n++) {
                bool counter = n < chip->counter_count;
                uint32_t k = counter ? n : n - chip->counter_count;
                uint32_t unit = counter                 ? chip->counters[k].unit
                                : k < chip->ratio_count ? chip->ratios[k].unit
                                                        : chip->throughputs[k - chip->ratio_count].unit;
                if (unit == u && (what == 2 || counter == (what == 0)) && cw_ask_draw(&c->random, 100) < percent)
                    add_raws(c, raws_of_metric(chip, n));
            }
            end_set(c);
        }
    uint32_t stride = round % 3;
    for (uint32_t n = 0; n < chip->counter_count; n++) {
        const char *name = chip->counters[n].name;
        size_t length = family_length(name);
        bool first = true;
        for (uint32_t k = 0; k < n && first; k++)
            first = strncmp(chip->counters[k].name, name, length) != 0;
        if (!first || (round && n % 3 != stride))
            continue;
        uint32_t percent = round ? 40 + cw_ask_draw(&c->random, 61) : 100;
        begin_set(c);
        for (uint32_t k = n; k < chip->counter_count; k++)
            if (strncmp(chip->counters[k].name, name, length) == 0 && cw_ask_draw(&c->random, 100) < percent)
                add_raws(c, &chip->counters[k].raws);
        end_set(c);
    }
}

static void derived_sets(struct cw_check_sets *c, uint32_t round)
{
    const struct cw_chip *chip = c->chip;
    for (uint32_t n = 0; !round && n < chip->ratio_count + chip->throughput_count; n++) {
        begin_set(c);
        add_raws(c, raws_of_metric(chip, chip->counter_count + n));
        end_set(c);
    }
    for (int what = 0; what < 3; what++) { /* ratios, throughputs, everything */
        uint32_t percent = round ? 30 + cw_ask_draw(&c->random, 71) : 100;
        begin_set(c);
        for (uint32_t n = 0; what < 2 && n < chip->ratio_count + chip->throughput_count; n++)
            if ((n < chip->ratio_count) == (what == 0) && cw_ask_draw(&c->random, 100) < percent)
                add_raws(c, raws_of_metric(chip, chip->counter_count + n));
        for (uint32_t n = 0; what == 2 && n < chip->raw_count; n++)
            if (cw_ask_draw(&c->random, 100) < percent)
                add_raws(c, &(struct cw_list){1, &n});
        end_set(c);
    }
}

enum cw_status cw_check_sets(struct cw_check_sets *c, uint32_t round, struct cw_arena *arena, struct cw_error *err)
{
    c->random = 0x9e3779b97f4a7c15u + 7919 * (round + 1);
    c->raws = cw_arena_alloc(arena, c->chip->raw_count, sizeof *c->raws);
    c->seen = cw_arena_alloc(arena, c->chip->raw_count, sizeof *c->seen);
    if (!c->raws || !c->seen)
        return cw_error_nomem(err);
    c->natural = false;
    random_sets(c);
    c->natural = true;
    natural_sets(c, round);
    derived_sets(c, round);
    return CW_OK;
}

bool cw_check_settled(struct cw_check_window *w, uint32_t passes, uint32_t refused)
{
    uint32_t all = 0, wrong = 0;
    w->recent[w->rounds++ % CW_CHECK_WINDOW] = (struct cw_check_count){.passes = passes, .refused = refused};
    for (int k = 0; k < CW_CHECK_WINDOW; k++) {
        all += w->recent[k].passes;
        wrong += w->recent[k].refused;
    }
    return w->rounds >= CW_CHECK_WINDOW && (uint64_t)wrong * SETTLED <= all;
}
