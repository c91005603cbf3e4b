#include "host/import/learn_check.h"

#include <string.h>

#include "host/schedule.h"

static const uint32_t sizes[] = {3, 5, 10, 20, 40, 80, 160, 300};
enum { RANDOM_SETS = 12 }; /* of each size */

struct checking {
    struct cw_model *m;
    const struct cw_chip *chip;
    struct cw_check_count *count;
    bool learn;
    uint64_t random; /* of its own, so that the sets do not depend on what was learned */
    uint32_t *raws, raw_count;
    bool *seen;
};

static uint32_t draw(struct checking *c, uint32_t n)
{
    c->random ^= c->random << 13;
    c->random ^= c->random >> 7;
    c->random ^= c->random << 17;
    return (uint32_t)((c->random >> 20) % n);
}

static void begin_set(struct checking *c)
{
    c->raw_count = 0;
    memset(c->seen, 0, c->chip->raw_count * sizeof *c->seen);
}

/* Some counters of some chips need two passes alone: no plan can have them. */
static bool collectable(const struct checking *c, uint32_t raw)
{
    const struct cw_raw_counter *r = &c->chip->raws[raw];
    for (uint32_t k = 0; k < r->placement_count; k++)
        if (c->m->usable[r->placement + k])
            return true;
    return false;
}

static void add_raws(struct checking *c, const struct cw_list *raws)
{
    for (uint32_t k = 0; k < raws->count; k++)
        if (!c->seen[raws->items[k]] && collectable(c, raws->items[k])) {
            c->seen[raws->items[k]] = true;
            c->raws[c->raw_count++] = raws->items[k];
        }
}

/* The part of a pass that lies in domains which may disturb one another; all of it for CW_NONE. */
static struct cw_set part_of(const struct checking *c, const struct cw_pass *pass, uint32_t cluster)
{
    struct cw_set set = {0};
    for (uint32_t k = 0; k < pass->count && set.count < CW_SET_MOST; k++)
        if (cluster == CW_NONE || c->m->cluster[c->chip->placements[pass->placements[k]].domain] == cluster)
            set.items[set.count++] = pass->placements[k];
    return set;
}

/* Bans one refused set after the other; what is banned leaves the set. */
static void ban_all(struct checking *c, struct cw_set set)
{
    while (set.count > 1 && cw_model_ok(c->m) && !cw_model_fits(c->m, set.items, set.count)) {
        struct cw_set smallest = set;
        cw_model_minimize(c->m, &smallest);
        cw_learn_ban(c->m, smallest);
        uint32_t n = 0;
        for (uint32_t i = 0; i < set.count; i++)
            if (set.items[i] != smallest.items[0])
                set.items[n++] = set.items[i];
        set.count = n;
    }
}

static void judge_pass(struct checking *c, const struct cw_pass *pass)
{
    c->count->passes++;
    struct cw_set whole = part_of(c, pass, CW_NONE);
    if (pass->count > CW_SET_MOST || cw_model_fits(c->m, whole.items, whole.count))
        return;
    c->count->refused++;
    for (uint32_t d = 0; c->learn && d < c->chip->domain_count; d++) {
        struct cw_set part = part_of(c, pass, d);
        if (part.count > 1)
            ban_all(c, part);
    }
}

static void judge_set(struct checking *c)
{
    struct cw_schedule schedule;
    struct cw_arena *arena = cw_arena_create();
    if (!arena || !c->raw_count || !cw_model_ok(c->m)) {
        cw_arena_destroy(arena);
        return;
    }
    struct cw_list group = {c->raw_count, c->raws};
    c->m->status = cw_schedule_make(&schedule, c->chip, &group, 1, arena, c->m->err);
    c->count->sets++;
    for (uint32_t k = 0; cw_model_ok(c->m) && k < schedule.pass_count; k++)
        judge_pass(c, &schedule.passes[k]);
    cw_arena_destroy(arena);
}

static const struct cw_list *raws_of_metric(const struct cw_chip *chip, uint32_t n)
{
    if (n < chip->counter_count)
        return &chip->counters[n].raws;
    n -= chip->counter_count;
    return n < chip->ratio_count ? &chip->ratios[n].raws : &chip->throughputs[n - chip->ratio_count].raws;
}

static void random_sets(struct checking *c)
{
    uint32_t metrics = c->chip->counter_count + c->chip->ratio_count + c->chip->throughput_count;
    for (size_t s = 0; metrics && s < sizeof sizes / sizeof *sizes; s++)
        for (uint32_t t = 0; t < RANDOM_SETS; t++) {
            begin_set(c);
            for (uint32_t k = 0; k < sizes[s]; k++)
                add_raws(c, raws_of_metric(c->chip, draw(c, metrics)));
            judge_set(c);
        }
}

/* Length of the part of a name that its relatives share: up to the second underscore after the unit. */
static size_t family_length(const char *name)
{
    const char *unit = strstr(name, "__"), *end = unit ? strchr(unit + 2, '_') : NULL;
    return end ? (size_t)(end - name) : strlen(name);
}

/* Some share of the counters of a unit or of a family of names. Round 0 takes all of them. */
static void natural_sets(struct checking *c, uint32_t round)
{
    const struct cw_chip *chip = c->chip;
    for (uint32_t u = 0; u < chip->unit_count; u++)
        for (int what = 0; what < 3; what++) { /* counters; ratios and throughputs; all */
            uint32_t metrics = chip->counter_count + chip->ratio_count + chip->throughput_count;
            uint32_t percent = round ? 20 + draw(c, 81) : 100;
            begin_set(c);
            for (uint32_t n = 0; n < metrics; n++) {
                bool counter = n < chip->counter_count;
                uint32_t k = counter ? n : n - chip->counter_count;
                uint32_t unit = counter                 ? chip->counters[k].unit
                                : k < chip->ratio_count ? chip->ratios[k].unit
                                                        : chip->throughputs[k - chip->ratio_count].unit;
                if (unit == u && (what == 2 || counter == (what == 0)) && draw(c, 100) < percent)
                    add_raws(c, raws_of_metric(chip, n));
            }
            judge_set(c);
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
        uint32_t percent = round ? 40 + draw(c, 61) : 100;
        begin_set(c);
        for (uint32_t k = n; k < chip->counter_count; k++)
            if (strncmp(chip->counters[k].name, name, length) == 0 && draw(c, 100) < percent)
                add_raws(c, &chip->counters[k].raws);
        judge_set(c);
    }
}

static void derived_sets(struct checking *c, uint32_t round)
{
    const struct cw_chip *chip = c->chip;
    for (uint32_t n = 0; !round && n < chip->ratio_count + chip->throughput_count; n++) {
        begin_set(c);
        add_raws(c, raws_of_metric(chip, chip->counter_count + n));
        judge_set(c);
    }
    for (int what = 0; what < 3; what++) { /* ratios, throughputs, everything */
        uint32_t percent = round ? 30 + draw(c, 71) : 100;
        begin_set(c);
        for (uint32_t n = 0; what < 2 && n < chip->ratio_count + chip->throughput_count; n++)
            if ((n < chip->ratio_count) == (what == 0) && draw(c, 100) < percent)
                add_raws(c, raws_of_metric(chip, chip->counter_count + n));
        for (uint32_t n = 0; what == 2 && n < chip->raw_count; n++)
            if (draw(c, 100) < percent)
                add_raws(c, &(struct cw_list){1, &n});
        judge_set(c);
    }
}

void cw_learn_check(struct cw_model *m, const struct cw_chip *chip, uint32_t round, bool learn, struct cw_check *check)
{
    struct checking c = {.m = m, .chip = chip, .learn = learn, .random = 0x9e3779b97f4a7c15u + 7919 * (round + 1)};
    c.raws = cw_model_array(m, chip->raw_count, sizeof *c.raws);
    c.seen = cw_model_array(m, chip->raw_count, sizeof *c.seen);
    if (!cw_model_ok(m))
        return;
    c.count = &check->random;
    random_sets(&c);
    c.count = &check->natural;
    natural_sets(&c, round);
    derived_sets(&c, round);
}
