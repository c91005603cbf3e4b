#include "import/check_sets.h"

#include <string.h>

#include "host/schedule.h"

static const uint32_t sizes[] = {3, 5, 10, 20, 40, 80, 160, 300};
enum {
    RANDOM_SETS = 12, /* of each size */
    SETTLED = 1500,   /* checking ends when at most one pass in this many is refused */
};

/* ---- drawing ---------------------------------------------------------------------------------------------------- */

static void begin_set(struct cw_check_sets *c)
{
    c->raw_count = 0;
    memset(c->seen, 0, c->ask->chip->raw_count * sizeof *c->seen);
}

/* Whether some pass can hold the counter: some counters of some chips need two passes alone, so no plan can have
 * them. */
static bool collectable(const struct cw_check_sets *c, uint32_t raw)
{
    const struct cw_raw_counter *r = &c->ask->chip->raws[raw];
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
    if (!c->raw_count || !cw_ask_ok(c->ask))
        return;
    c->count->sets++;
    c->judge(c, &(struct cw_list){c->raw_count, c->raws});
}

struct base { /* data of a base name */
    uint32_t unit;
    const struct cw_list *raws;
};

/* The n-th base name: counters, then ratios, then throughputs. */
static struct base nth_base(const struct cw_chip *chip, uint32_t n)
{
    if (n < chip->counter_count)
        return (struct base){chip->counters[n].unit, &chip->counters[n].raws};
    n -= chip->counter_count;
    if (n < chip->ratio_count)
        return (struct base){chip->ratios[n].unit, &chip->ratios[n].raws};
    n -= chip->ratio_count;
    return (struct base){chip->throughputs[n].unit, &chip->throughputs[n].raws};
}

/* Draws a percentage: 100 in round 0, at least `least` in the others. */
static uint32_t draw_share(struct cw_check_sets *c, uint32_t round, uint32_t least)
{
    return round ? least + cw_ask_draw(&c->chance, 101 - least) : 100;
}

static bool is_drawn(struct cw_check_sets *c, uint32_t percent)
{
    return cw_ask_draw(&c->chance, 100) < percent;
}

static void random_sets(struct cw_check_sets *c)
{
    const struct cw_chip *chip = c->ask->chip;
    uint32_t bases = chip->counter_count + chip->ratio_count + chip->throughput_count;
    for (size_t s = 0; bases && s < sizeof sizes / sizeof *sizes; s++)
        for (uint32_t t = 0; t < RANDOM_SETS; t++) {
            begin_set(c);
            for (uint32_t k = 0; k < sizes[s]; k++)
                add_raws(c, nth_base(chip, cw_ask_draw(&c->chance, bases)).raws);
            end_set(c);
        }
}

/* Draws a share of the counters of each unit. */
static void unit_sets(struct cw_check_sets *c, uint32_t round)
{
    const struct cw_chip *chip = c->ask->chip;
    uint32_t bases = chip->counter_count + chip->ratio_count + chip->throughput_count;
    for (uint32_t u = 0; u < chip->unit_count; u++)
        for (int what = 0; what < 3; what++) { /* counters; ratios and throughputs; all */
            uint32_t percent = draw_share(c, round, 20);
            begin_set(c);
            for (uint32_t n = 0; n < bases; n++) {
                const struct base base = nth_base(chip, n);
                bool wanted = what == 2 || (n < chip->counter_count) == (what == 0);
                if (base.unit == u && wanted && is_drawn(c, percent))
                    add_raws(c, base.raws);
            }
            end_set(c);
        }
}

/* Length of the part of a name that its family shares: up to the second underscore behind the unit. */
static size_t family_length(const char *name)
{
    const char *unit = strstr(name, "__"), *end = unit ? strchr(unit + 2, '_') : NULL;
    return end ? (size_t)(end - name) : strlen(name);
}

/* Draws a share of each family of names. */
static void family_sets(struct cw_check_sets *c, uint32_t round)
{
    const struct cw_chip *chip = c->ask->chip;
    for (uint32_t n = 0; n < chip->counter_count; n++) {
        const char *name = chip->counters[n].name;
        size_t length = family_length(name);
        bool first = true;
        for (uint32_t k = 0; k < n && first; k++)
            first = strncmp(chip->counters[k].name, name, length) != 0;
        if (!first || (round && n % 3 != round % 3))
            continue;
        uint32_t percent = draw_share(c, round, 40);
        begin_set(c);
        for (uint32_t k = n; k < chip->counter_count; k++)
            if (strncmp(chip->counters[k].name, name, length) == 0 && is_drawn(c, percent))
                add_raws(c, &chip->counters[k].raws);
        end_set(c);
    }
}

static void derived_sets(struct cw_check_sets *c, uint32_t round)
{
    const struct cw_chip *chip = c->ask->chip;
    for (uint32_t n = 0; !round && n < chip->ratio_count + chip->throughput_count; n++) {
        begin_set(c);
        add_raws(c, nth_base(chip, chip->counter_count + n).raws);
        end_set(c);
    }
    for (int what = 0; what < 3; what++) { /* ratios, throughputs, everything */
        uint32_t percent = draw_share(c, round, 30);
        begin_set(c);
        for (uint32_t n = 0; what < 2 && n < chip->ratio_count + chip->throughput_count; n++)
            if ((n < chip->ratio_count) == (what == 0) && is_drawn(c, percent))
                add_raws(c, nth_base(chip, chip->counter_count + n).raws);
        for (uint32_t n = 0; what == 2 && n < chip->raw_count; n++)
            if (is_drawn(c, percent))
                add_raws(c, &(struct cw_list){1, &n});
        end_set(c);
    }
}

static void draw(struct cw_check_sets *c, uint32_t round)
{
    c->round = round;
    c->chance = 0x9e3779b97f4a7c15u + 7919 * (round + 1);
    if (!c->raws) {
        c->raws = cw_ask_array(c->ask, c->ask->chip->raw_count, sizeof *c->raws);
        c->seen = cw_ask_array(c->ask, c->ask->chip->raw_count, sizeof *c->seen);
    }
    if (!cw_ask_ok(c->ask))
        return;
    c->count = &c->random;
    random_sets(c);
    c->count = &c->natural;
    unit_sets(c, round);
    family_sets(c, round);
    derived_sets(c, round);
}

struct cw_check_count cw_check_round(struct cw_check_sets *c, uint32_t round)
{
    c->random = c->natural = (struct cw_check_count){0};
    draw(c, round);
    const struct cw_check_count sum = {.sets = c->random.sets + c->natural.sets,
                                       .passes = c->random.passes + c->natural.passes,
                                       .refused = c->random.refused + c->natural.refused};
    c->recent[c->rounds++ % CW_CHECK_WINDOW] = sum;
    return sum;
}

bool cw_check_settled(const struct cw_check_sets *c)
{
    uint32_t all = 0, wrong = 0;
    for (int k = 0; k < CW_CHECK_WINDOW; k++) {
        all += c->recent[k].passes;
        wrong += c->recent[k].refused;
    }
    return c->rounds >= CW_CHECK_WINDOW && (uint64_t)wrong * SETTLED <= all;
}

void cw_check_fresh(struct cw_check_sets *c, uint32_t first, uint32_t rounds)
{
    c->random = c->natural = (struct cw_check_count){0};
    c->refused = NULL;
    for (uint32_t k = 0; k < rounds && cw_ask_ok(c->ask); k++)
        draw(c, first + k);
}

/* ---- judging ---------------------------------------------------------------------------------------------------- */

void cw_check_passes(struct cw_check_sets *c, const struct cw_list *groups, size_t count, unsigned flags)
{
    struct cw_schedule schedule;
    const struct cw_schedule_task task = {.chip = c->ask->chip, .group_count = count, .groups = groups, .flags = flags};
    struct cw_arena *arena = cw_ask_ok(c->ask) ? cw_arena_create() : NULL;
    if (cw_ask_ok(c->ask))
        c->ask->status = arena ? cw_schedule_make(&schedule, &task, arena, c->ask->err) : cw_error_nomem(c->ask->err);
    for (uint32_t k = 0; cw_ask_ok(c->ask) && k < schedule.pass_count; k++) {
        const struct cw_pass *pass = &schedule.passes[k];
        c->count->passes++;
        if (pass->count > c->most || cw_ask_fits(c->ask, pass->placements, pass->count))
            continue;
        c->count->refused++;
        if (c->refused)
            c->refused(c, pass->placements, pass->count);
    }
    cw_arena_destroy(arena);
}
