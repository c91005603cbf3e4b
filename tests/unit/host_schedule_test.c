#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/nvperf/nvperf.h"
#include "host/schedule.h"
#include "metricdb/chip_load.h"

static struct cw_arena *arena;

static void setup(void)
{
    arena = cw_arena_create();
}

static void teardown(void)
{
    cw_arena_destroy(arena);
}

TestSuite(schedule, .init = setup, .fini = teardown);

/* ---- small chips ------------------------------------------------------------------------------------------------ */

/* Raw counters 1 to 8; `rest` are the sections `classes` and `limits`. */
static const struct cw_chip *chip_with(const char *rest)
{
    static const char head[] = "schema: 1\nchip: TINY\nunits: {}\ndomains: {a: 1, b: 2, s: 3}\nraw_counters:\n"
                               "  0x01: [a]\n  0x02: [a]\n  0x03: [a]\n  0x04: [a, b]\n  0x05: [a, b]\n  0x06: [b]\n"
                               "  0x07: [s]\n  0x08: [s]\ncounters: {}\nratios: {}\nthroughputs: {}\n";
    const struct cw_chip *chip;
    struct cw_error err = CW_ERROR_INIT;
    char text[4096], message[1200];
    snprintf(text, sizeof text, "%s%s", head, rest);
    cr_assert_eq(cw_chip_parse(&chip, text, strlen(text), "tiny.yaml", arena, &err), CW_OK, "%s",
                 cw_error_format(&err, message, sizeof message));
    return chip;
}

static struct cw_schedule make_with(unsigned flags, const struct cw_chip *chip, const struct cw_list *groups,
                                    size_t count)
{
    struct cw_schedule schedule;
    struct cw_error err = CW_ERROR_INIT;
    const struct cw_schedule_task task = {chip, CW_PROFILER_RANGE, count, groups, flags};
    cr_assert_eq(cw_schedule_make(&schedule, &task, arena, &err), CW_OK, "%s", err.message);
    return schedule;
}

static struct cw_schedule make(const struct cw_chip *chip, const struct cw_list *groups, size_t count)
{
    return make_with(0, chip, groups, count);
}

/* Passes as text: "1@a 2@a | 3@a". */
static const char *describe(const struct cw_chip *chip, const struct cw_schedule *s)
{
    static char text[512];
    int n = 0;
    text[0] = 0;
    for (uint32_t k = 0; k < s->pass_count; k++)
        for (uint32_t i = 0; i < s->passes[k].count; i++) {
            const struct cw_chip_placement *p = &chip->placements[s->passes[k].placements[i]];
            n += snprintf(text + n, sizeof text - (size_t)n, "%s%u@%s",
                          i   ? " "
                          : k ? " | "
                              : "",
                          p->raw + 1, chip->domains[p->domain].name);
        }
    return text;
}

static const uint32_t every[] = {0, 1, 2, 3, 4, 5, 6, 7};

/* Whether a limit is kept by every pass, judged by its definition alone. */
static bool keeps(const struct cw_limit *limit, const struct cw_pass *pass)
{
    uint32_t seen[256], n = 0;
    for (uint32_t i = 0; i < pass->count; i++)
        for (uint32_t k = 0; k < limit->count; k++) {
            uint32_t s = 0;
            if (limit->members[k] != pass->placements[i])
                continue;
            while (s < n && seen[s] != limit->groups[k])
                s++;
            if (s == n)
                seen[n++] = limit->groups[k];
        }
    return n <= limit->max;
}

static void expect_valid(const struct cw_chip *chip, const struct cw_list *asked, const struct cw_schedule *s, int line)
{
    uint32_t *times = cw_arena_alloc(arena, chip->raw_count, sizeof *times);
    for (uint32_t k = 0; k < s->pass_count; k++) {
        cr_expect_gt(s->passes[k].count, 0, "line %d: an empty pass", line);
        for (uint32_t i = 0; i < s->passes[k].count; i++)
            times[chip->placements[s->passes[k].placements[i]].raw]++;
        for (uint32_t i = 1; i < s->passes[k].count; i++)
            cr_expect_lt(chip->placements[s->passes[k].placements[i - 1]].raw,
                         chip->placements[s->passes[k].placements[i]].raw, "line %d: not ascending", line);
        for (uint32_t i = 0; i < chip->limit_count; i++)
            cr_expect(keeps(&chip->limits[i], &s->passes[k]), "line %d: pass %u breaks the limit of line %u", line, k,
                      chip->limits[i].line);
    }
    for (uint32_t i = 0; i < asked->count; i++) {
        cr_expect_geq(times[asked->items[i]], 1, "line %d: raw counter %u", line, asked->items[i]);
        times[asked->items[i]] = 0;
    }
    for (uint32_t i = 0; i < chip->raw_count; i++)
        cr_expect_eq(times[i], 0, "line %d: raw counter %u was not asked for", line, i);
}

struct small {
    int line;
    const char *limits;
    uint32_t passes;
};

Test(schedule, keeps_each_kind_of_limit_with_the_fewest_passes)
{
    static const struct small cases[] = {
        {__LINE__, "", 1},
        {__LINE__, "limits:\n  - {max: 2, each: [a]}\n", 2}, /* 4 and 5 go to b */
        {__LINE__, "limits:\n  - {max: 2, each: [a]}\n  - {max: 1, each: [b]}\n", 2},
        {__LINE__, "limits:\n  - {max: 1, each: [a]}\n  - {max: 1, each: [b]}\n", 3},
        {__LINE__, "limits:\n  - {max: 1, groups: [s, [a, b]]}\n", 2}, /* s: a pass alone */
        {__LINE__, "limits:\n  - {max: 1, groups: [s, [a, b]]}\n  - {max: 1, each: [s]}\n", 3},
        {__LINE__,
         "classes:\n  x: {domain: a, raw: [1, 2]}\n  y: {domain: a, raw: [3]}\nlimits:\n"
         "  - {max: 1, groups: [x, y]}\n",
         2},
        {__LINE__,
         "classes:\n  x: {domain: a, raw: [1, 2]}\n  y: {domain: a, raw: [3]}\nlimits:\n"
         "  - {max: 1, pairs: {x: [x, y]}}\n",
         3},
        {__LINE__,
         "classes:\n  x: {domain: a, raw: [1]}\n  y: {domain: a, raw: [2]}\n  z: {domain: b, raw: [6]}\nlimits:\n"
         "  - {max: 2, sets: [[x, y, z]]}\n",
         2},
        {__LINE__, /* 6 needs a helper besides its group */
         "classes:\n  x: {domain: a, raw: [1]}\n  y: {domain: b, raw: [6]}\nlimits:\n"
         "  - {max: 2, groups: [x, y, y]}\n",
         2},
        {__LINE__,
         "limits:\n  - {max: 0, each: [b], except: [x]}\n  - {max: 4, each: [a]}\n"
         "classes:\n  x: {domain: b, raw: [6]}\n",
         2}, /* 4 and 5 stay on a */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct cw_chip *chip = chip_with(cases[i].limits);
        struct cw_list all = {8, every};
        struct cw_schedule s = make(chip, &all, 1);
        expect_valid(chip, &all, &s, cases[i].line);
        cr_expect_eq(s.pass_count, cases[i].passes, "line %d: %s", cases[i].line, describe(chip, &s));
    }
}

Test(schedule, groups_may_overlap_and_nothing_may_be_asked_for)
{
    const struct cw_chip *chip = chip_with("limits:\n  - {max: 2, each: [a]}\n");
    static const uint32_t first[] = {0, 1}, second[] = {1, 2}, both[] = {0, 1, 2};
    const struct cw_list groups[] = {{2, first}, {2, second}, {0, NULL}};
    struct cw_schedule s = make(chip, groups, 3);
    expect_valid(chip, &(struct cw_list){3, both}, &s, __LINE__);
    cr_expect_eq(s.pass_count, 2);
    s = make(chip, NULL, 0);
    cr_expect_eq(s.pass_count, 0);
}

/* Two fit a pass, so three pairs of three need three. */
Test(schedule, a_counter_stands_in_several_passes_where_that_keeps_groups_whole)
{
    const struct cw_chip *chip = chip_with("limits:\n  - {max: 2, each: [a, b, s]}\n");
    static const uint32_t pairs[3][2] = {{0, 1}, {0, 2}, {1, 2}};
    const struct cw_list groups[] = {{2, pairs[0]}, {2, pairs[1]}, {2, pairs[2]}};
    struct cw_schedule s = make(chip, groups, 2);
    cr_expect_str_eq(describe(chip, &s), "1@a 2@a | 1@a 3@a");
    s = make(chip, groups, 3);
    cr_expect_eq(s.pass_count, 2, "no pass is added: %s", describe(chip, &s));
    s = make_with(CW_SCHEDULE_WHOLE, chip, groups, 3);
    cr_expect_eq(s.pass_count, 3, "one each: %s", describe(chip, &s));
    s = make_with(CW_SCHEDULE_QUICK, chip, groups, 2);
    cr_expect_eq(s.passes[0].count + s.passes[1].count, 3, "each once: %s", describe(chip, &s));
}

/* What costs much is used in few passes, where that takes no more of them and breaks no group. */
Test(schedule, cheap_ways_to_collect_come_first)
{
    static const uint32_t fourth[] = {3}, tied[] = {2, 3};
    const struct {
        int line;
        const char *rest, *passes;
        struct cw_list groups[2];
    } cases[] = {
        {__LINE__, "", "4@a", {{1, fourth}}},
        {__LINE__, "pass_costs: [{cost: 3, domains: [a]}]\n", "4@b", {{1, fourth}}},
        {__LINE__, "pass_costs: [{cost: 3, domains: [a, b]}, {cost: 1, domains: [b]}]\n", "4@a", {{1, fourth}}},
        /* a pass of 'a' is there anyway */
        {__LINE__, "pass_costs: [{cost: 3, domains: [a]}, {cost: 1, domains: [b]}]\n", "3@a 4@a", {{2, tied}}},
        {__LINE__, "pass_costs: [{cost: 3, domains: [b]}]\nlimits: [{max: 1, each: [a]}]\n", "3@a 4@b", {{2, tied}}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct cw_chip *chip = chip_with(cases[i].rest);
        struct cw_schedule s = make(chip, cases[i].groups, 1);
        cr_expect_str_eq(describe(chip, &s), cases[i].passes, "line %d: found %s", cases[i].line, describe(chip, &s));
    }
}

/* 1, 2 and 6 cannot share a pass, and what 4 and 5 are collected in decides how many passes use 'a'. */
Test(schedule, costly_domains_are_left_to_few_passes)
{
    static const char rest[] = "pass_costs: [{cost: 10, domains: [a]}, {cost: 1, domains: [b]}]\n"
                               "classes: {k: {domain: a, raw: [0x01]}, m: {domain: b, raw: [0x06]}}\n"
                               "limits: [{max: 1, each: [k, m]}, {max: 2, each: [a]}, {max: 2, each: [b]}]\n";
    static const uint32_t one[] = {0}, two[] = {3}, three[] = {4}, four[] = {5};
    const struct cw_list groups[] = {{1, one}, {1, two}, {1, three}, {1, four}};
    const struct cw_chip *chip = chip_with(rest);
    struct cw_schedule s = make(chip, groups, 4);
    uint32_t costly = 0;
    for (uint32_t k = 0; k < s.pass_count; k++) {
        bool uses = false;
        for (uint32_t i = 0; i < s.passes[k].count; i++)
            uses |= chip->placements[s.passes[k].placements[i]].domain == 0;
        costly += uses;
    }
    cr_expect_eq(s.pass_count, 2);
    cr_expect_eq(costly, 1, "found %s", describe(chip, &s));
}

/* With the only way in that costs little, two passes; with the other, one. */
Test(schedule, the_quick_schedule_may_take_more_passes)
{
    static const char rest[] = "pass_costs: [{cost: 10, domains: [a]}, {cost: 1, domains: [b]}]\n"
                               "limits: [{max: 1, each: [b]}]\n";
    static const uint32_t both[] = {3, 4};
    const struct cw_list group = {2, both};
    const struct cw_list alone[] = {{1, both}, {1, both + 1}};
    const struct cw_chip *chip = chip_with(rest);
    struct cw_schedule s = make(chip, alone, 2);
    cr_expect_eq(s.pass_count, 1, "found %s", describe(chip, &s));
    s = make_with(CW_SCHEDULE_QUICK, chip, alone, 2);
    cr_expect_str_eq(describe(chip, &s), "4@b | 5@b", "found %s", describe(chip, &s));
    s = make_with(CW_SCHEDULE_QUICK, chip, &group, 1);
    cr_expect_eq(s.pass_count, 1, "what belongs together comes first: found %s", describe(chip, &s));
}

Test(schedule, says_which_raw_counter_cannot_be_collected)
{
    const struct cw_chip *chip = chip_with("classes:\n  x: {domain: a, raw: [3]}\nlimits:\n  - {max: 0, each: [x]}\n");
    struct cw_schedule s;
    struct cw_error err = CW_ERROR_INIT;
    const struct cw_list all = {8, every};
    const struct cw_schedule_task task = {.chip = chip, .group_count = 1, .groups = &all};
    cr_expect_eq(cw_schedule_make(&s, &task, arena, &err), CW_ERR_UNSUPPORTED);
    cr_expect_str_eq(err.message, "found no way to collect the raw counter 0x0000000000000003 of TINY in one pass");
}

/* ---- a real chip ------------------------------------------------------------------------------------------------ */

static const struct cw_chip *real_chip(void)
{
    const struct cw_chip *chip;
    struct cw_error err = CW_ERROR_INIT;
    char message[1200];
    cr_assert_eq(cw_chip_load_file(&chip, CW_SOURCE_DIR "/data/chips/gh100.yaml", arena, &err), CW_OK, "%s",
                 cw_error_format(&err, message, sizeof message));
    return chip;
}

struct drawn { /* a set of raw counters */
    struct cw_list raws;
    uint32_t *items;
    bool *seen;
};

static struct drawn empty_set(const struct cw_chip *chip)
{
    struct drawn d = {.items = cw_arena_alloc(arena, chip->raw_count, sizeof *d.items),
                      .seen = cw_arena_alloc(arena, chip->raw_count, sizeof *d.seen)};
    d.raws.items = d.items;
    return d;
}

static void add(struct drawn *d, const struct cw_list *raws)
{
    for (uint32_t k = 0; k < raws->count; k++)
        if (!d->seen[raws->items[k]]) {
            d->seen[raws->items[k]] = true;
            d->items[d->raws.count++] = raws->items[k];
        }
}

static uint32_t draw(uint64_t *state, uint32_t n)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((*state >> 33) % n);
}

static struct drawn random_set(const struct cw_chip *chip, uint64_t *state, uint32_t metrics)
{
    struct drawn d = empty_set(chip);
    const uint32_t counters = cw_chip_listed_count(chip, CW_COUNTER, CW_OF_RANGES), /* they stand first */
        ratios = cw_chip_listed_count(chip, CW_RATIO, CW_OF_RANGES),
                   throughputs = cw_chip_listed_count(chip, CW_THROUGHPUT, CW_OF_RANGES);
    for (uint32_t k = 0; k < metrics; k++) {
        uint32_t n = draw(state, counters + ratios + throughputs);
        if (n < counters)
            add(&d, &chip->counters[n].raws);
        else if (n - counters < ratios)
            add(&d, &chip->ratios[n - counters].raws);
        else
            add(&d, &chip->throughputs[n - counters - ratios].raws);
    }
    return d;
}

static struct drawn unit_set(const struct cw_chip *chip, uint32_t unit)
{
    struct drawn d = empty_set(chip);
    for (uint32_t i = 0; i < chip->counter_count; i++)
        if (chip->counters[i].unit == unit && (chip->counters[i].listed & CW_OF_RANGES))
            add(&d, &chip->counters[i].raws);
    return d;
}

Test(schedule, the_same_request_gives_the_same_passes)
{
    const struct cw_chip *chip = real_chip();
    uint64_t state = 11;
    for (int k = 0; k < 10; k++) {
        struct drawn d = random_set(chip, &state, 60);
        struct cw_schedule a = make(chip, &d.raws, 1), b;
        uint32_t *reversed = cw_arena_alloc(arena, d.raws.count, sizeof *reversed);
        for (uint32_t i = 0; i < d.raws.count; i++)
            reversed[i] = d.items[d.raws.count - 1 - i];
        b = make(chip, &(struct cw_list){d.raws.count, reversed}, 1);
        cr_assert_eq(a.pass_count, b.pass_count);
        for (uint32_t i = 0; i < a.pass_count; i++) {
            cr_assert_eq(a.passes[i].count, b.passes[i].count);
            cr_expect_arr_eq(a.passes[i].placements, b.passes[i].placements,
                             a.passes[i].count * sizeof *a.passes[i].placements);
        }
    }
}

Test(schedule, places_every_raw_counter_of_a_real_chip_once)
{
    const struct cw_chip *chip = real_chip();
    struct drawn d = empty_set(chip);
    for (uint32_t i = 0; i < chip->raw_count; i++)
        add(&d, &(struct cw_list){1, &i});
    struct cw_schedule s = make(chip, &d.raws, 1);
    uint32_t placed = 0;
    for (uint32_t k = 0; k < s.pass_count; k++)
        placed += s.passes[k].count;
    cr_expect_eq(placed, chip->raw_count);
}

static bool holds(const struct cw_chip *chip, const struct cw_schedule *s, const struct cw_list *raws)
{
    for (uint32_t p = 0; p < s->pass_count; p++) {
        uint32_t held = 0;
        for (uint32_t k = 0; k < s->passes[p].count; k++)
            for (uint32_t i = 0; i < raws->count; i++)
                held += chip->placements[s->passes[p].placements[k]].raw == raws->items[i];
        if (held == raws->count)
            return true;
    }
    return false;
}

/* All ratios at once: each that fits one pass alone has a pass with all its counters, and no pass breaks a limit. */
Test(schedule, every_ratio_of_a_real_chip_that_fits_one_pass_is_whole)
{
    const struct cw_chip *chip = real_chip();
    struct cw_list *groups = cw_arena_alloc(arena, chip->ratio_count, sizeof *groups);
    const uint32_t count = cw_chip_listed_count(chip, CW_RATIO, CW_OF_RANGES); /* they stand first */
    for (uint32_t r = 0; r < count; r++)
        groups[r] = chip->ratios[r].raws;
    struct cw_schedule s = make_with(CW_SCHEDULE_WHOLE, chip, groups, count);
    for (uint32_t r = 0; r < count; r++)
        if (make(chip, &groups[r], 1).pass_count == 1)
            cr_expect(holds(chip, &s, &groups[r]), "%s", chip->ratios[r].name);
    for (uint32_t p = 0; p < s.pass_count; p++)
        for (uint32_t i = 0; i < chip->limit_count; i++)
            cr_expect(keeps(&chip->limits[i], &s.passes[p]), "pass %u breaks the limit of line %u", p,
                      chip->limits[i].line);
    cr_expect_leq(s.pass_count, 32);
}

/* ---- against NVIDIA's library ----------------------------------------------------------------------------------- */

struct verdict {
    uint32_t passes, refused;
};

static void judge(const struct cw_chip *chip, struct cw_nvperf_scheduler *theirs, const struct drawn *d,
                  struct verdict *verdict)
{
    struct cw_error err = CW_ERROR_INIT;
    struct cw_schedule s = make(chip, &d->raws, 1);
    struct cw_nvperf_placement *placements = cw_arena_alloc(arena, chip->raw_count, sizeof *placements);
    for (uint32_t k = 0; k < s.pass_count; k++) {
        size_t passes = 0;
        for (uint32_t i = 0; i < s.passes[k].count; i++) {
            const struct cw_chip_placement *p = &chip->placements[s.passes[k].placements[i]];
            placements[i] = (struct cw_nvperf_placement){chip->raws[p->raw].id, chip->domains[p->domain].id};
        }
        cr_assert_eq(cw_nvperf_pass_count(theirs, placements, s.passes[k].count, false, &passes, &err), CW_OK, "%s",
                     err.message);
        verdict->refused += passes != 1;
    }
    verdict->passes += s.pass_count;
}

/* metric-config and capture-agent split a pass that the library refuses; it has to be rare. */
Test(schedule, nvidias_library_takes_nearly_each_pass_as_one)
{
    const struct cw_nvperf *library;
    struct cw_nvperf_scheduler *theirs;
    struct cw_error err = CW_ERROR_INIT;
    if (cw_nvperf_open(&library, NULL, &err) != CW_OK) {
        fprintf(stderr, "skipped, passes not compared with NVIDIA's library: %s\n", err.message);
        return;
    }
    const struct cw_chip *chip = real_chip();
    cr_assert_eq(cw_nvperf_scheduler_create(&theirs, library, chip->name, CW_NVPERF_PROFILER, &err), CW_OK, "%s",
                 err.message);
    static const uint32_t sizes[] = {5, 20, 80, 300};
    uint64_t state = 2026;
    struct verdict verdict = {0};
#ifdef CW_SANITIZE /* theirs is the same */
    const uint32_t sets = 12;
#else
    const uint32_t sets = 60;
#endif
    for (uint32_t k = 0; k < sets; k++) {
        struct drawn d = random_set(chip, &state, sizes[k % 4]);
        judge(chip, theirs, &d, &verdict);
    }
    for (uint32_t u = 0; u < chip->unit_count; u++) {
        struct drawn d = unit_set(chip, u);
        judge(chip, theirs, &d, &verdict);
    }
    struct drawn ratios = empty_set(chip), throughputs = empty_set(chip);
    for (uint32_t i = 0; i < chip->ratio_count; i++)
        if (chip->ratios[i].listed & CW_OF_RANGES)
            add(&ratios, &chip->ratios[i].raws);
    for (uint32_t i = 0; i < chip->throughput_count; i++)
        if (chip->throughputs[i].listed & CW_OF_RANGES)
            add(&throughputs, &chip->throughputs[i].raws);
    judge(chip, theirs, &ratios, &verdict);
    judge(chip, theirs, &throughputs, &verdict);
    cr_expect_leq(500 * verdict.refused, verdict.passes, "refused %u of %u passes", verdict.refused, verdict.passes);
    cw_nvperf_scheduler_destroy(theirs);
}
