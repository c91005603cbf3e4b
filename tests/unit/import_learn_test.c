#define _GNU_SOURCE
/* The learner asks a library of ours: a small chip of which every limit is known. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "import/learn.h"
#include "metricdb/limits.h"

/* Raw counters by domain: `slots` has four slots and one counter beside them, `sources` at most two of its sources,
 * `sass` shares a pass with nothing. PM sampling has two slots and no `sass`. */
enum {
    SLOTS = 35,   /* 0: free; 1-4 exclude 5-8; of 9-10, 11 and 12-14 a pass takes at most two, of 15-25 two counters, of
                     24-34 two */
    SOURCES = 20, /* five sources of four counters */
    SASS = 3,
    RAWS = SLOTS + SOURCES + SASS,
};

static const struct cw_domain domains[] = {{"gpu_slots", 1}, {"gpu_sources", 2}, {"gpu_sass", 3}};

static bool in(uint32_t n, uint32_t from, uint32_t to)
{
    return n >= from && n <= to;
}

static bool heavy_pair; /* 12 and 13 take a third slot together */
static bool shared;     /* 1 shares its slot with 2 or with 3 */
static bool roomy;      /* PM sampling has seven slots, and all else as range profiling */
static bool helped;     /* a pass takes three sources, but the last two need one of them as a helper */

static bool truth(const uint32_t *raws, size_t count, bool sampling)
{
    uint32_t slots = 0, sass = 0, others = 0, p = 0, q = 0, trio = 0, sources = 0, pair = 0, crowds[2] = {0};
    uint32_t sharer = 0, sharers = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t n = raws[i];
        slots += in(n, 1, SLOTS - 1);
        pair += in(n, 12, 13);
        sharer += n == 1;
        sharers += in(n, 2, 3);
        p += in(n, 1, 4);
        q += in(n, 5, 8);
        crowds[0] += in(n, 15, 25);
        crowds[1] += in(n, 24, 34);
        trio |= in(n, 9, 10) ? 1u : n == 11 ? 2u : in(n, 12, 14) ? 4u : 0;
        sources |= in(n, SLOTS, SLOTS + SOURCES - 1) ? 1u << (n - SLOTS) / 4 : 0;
        *(n >= SLOTS + SOURCES ? &sass : &others) += 1;
    }
    slots += heavy_pair && pair == 2;
    slots -= shared && sharer && sharers;
    uint32_t most_sources = helped && !(sources >> 3) ? 3 : 2;
    return slots <= (!sampling ? 4
                     : roomy   ? 7
                               : 2) &&
           (!p || !q) && trio != 7 && crowds[0] <= 2 && crowds[1] <= 2 &&
           (uint32_t)__builtin_popcount(sources) <= most_sources && (!sass || (!others && (roomy || !sampling)));
}

/* ---- the library ------------------------------------------------------------------------------------------------ */

struct cw_nvperf_scheduler {
    bool sampling;
};

enum cw_status cw_nvperf_scheduler_create(struct cw_nvperf_scheduler **scheduler, const struct cw_nvperf *library,
                                          const char *chip, enum cw_nvperf_activity activity, struct cw_error *err)
{
    static struct cw_nvperf_scheduler of[2] = {{false}, {true}};
    (void)library, (void)chip, (void)err;
    *scheduler = &of[activity == CW_NVPERF_PM_SAMPLING];
    return CW_OK;
}

void cw_nvperf_scheduler_destroy(struct cw_nvperf_scheduler *scheduler)
{
    (void)scheduler;
}

const struct cw_nvperf_domain *cw_nvperf_domains(const struct cw_nvperf_scheduler *scheduler, size_t *count)
{
    static const struct cw_nvperf_domain list[] = {
        {.id = 1, .name = "gpu_slots"}, {.id = 2, .name = "gpu_sources"}, {.id = 3, .name = "gpu_sass"}};
    (void)scheduler;
    *count = 3;
    return list;
}

enum cw_status cw_nvperf_fits(struct cw_nvperf_scheduler *scheduler, const struct cw_nvperf_placement *placements,
                              size_t count, bool *fits, struct cw_error *err)
{
    uint32_t raws[512];
    (void)err;
    for (size_t i = 0; i < count; i++)
        raws[i] = (uint32_t)placements[i].raw - 1;
    *fits = truth(raws, count, scheduler->sampling);
    return CW_OK;
}

/* First fit. */
enum cw_status cw_nvperf_passes(const struct cw_nvperf_scheduler *scheduler,
                                const struct cw_nvperf_placement *placements, size_t count, uint32_t *pass_of,
                                size_t *passes, struct cw_error *err)
{
    (void)err;
    *passes = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t raws[RAWS];
        bool fits = false;
        for (pass_of[i] = 0; !fits; pass_of[i] += !fits) {
            size_t n = 0;
            for (size_t k = 0; k <= i; k++)
                if (pass_of[k] == pass_of[i])
                    raws[n++] = (uint32_t)placements[k].raw - 1;
            fits = truth(raws, n, scheduler->sampling);
        }
        *passes = pass_of[i] >= *passes ? pass_of[i] + 1 : *passes;
    }
    return CW_OK;
}

/* ---- the chip --------------------------------------------------------------------------------------------------- */

static void make_chip(struct cw_facts *facts, struct cw_arena *arena)
{
    static struct cw_raw_counter raws[RAWS];
    static struct cw_chip_placement placements[RAWS];
    static struct cw_counter counters[RAWS];
    static struct cw_unit unit = {.name = "sm"};
    static uint32_t numbers[RAWS];
    static char names[RAWS][32];
    for (uint32_t i = 0; i < RAWS; i++) {
        numbers[i] = i;
        raws[i] = (struct cw_raw_counter){.id = i + 1, .placement = i, .placement_count = 1};
        placements[i] = (struct cw_chip_placement){i, i < SLOTS ? 0 : i < SLOTS + SOURCES ? 1 : 2};
        snprintf(names[i], sizeof names[i], "sm__c_%u", i);
        counters[i] = (struct cw_counter){.name = names[i], .dimension = "1", .raws = {1, &numbers[i]}};
    }
    *facts = (struct cw_facts){.arena = arena, .units = &unit, .counters = counters};
    facts->chip = (struct cw_chip){.name = "TINY",
                                   .unit_count = 1,
                                   .units = &unit,
                                   .domain_count = 3,
                                   .domains = domains,
                                   .raw_count = RAWS,
                                   .raws = raws,
                                   .placement_count = RAWS,
                                   .placements = placements,
                                   .counter_count = RAWS,
                                   .counters = counters};
}

static void load(struct cw_chip *chip, const struct cw_limit_table *learned, struct cw_arena *arena)
{
    struct cw_writer text;
    struct cw_yaml *root;
    struct cw_error err = CW_ERROR_INIT;
    cw_writer_init(&text);
    cw_write_format(&text, "classes:\n%.*slimits:\n%.*s", (int)learned->classes.size,
                    (const char *)learned->classes.data, (int)learned->limits.size, (const char *)learned->limits.data);
    cr_assert_eq(cw_yaml_parse(&root, text.data, text.size, "learned", arena, &err), CW_OK, "%s", err.message);
    struct cw_yaml_reader in = {"learned", arena, &err, CW_OK};
    cw_limits_load(chip, NULL, &in, cw_yaml_get(&in, root, "classes", true), cw_yaml_get(&in, root, "limits", true),
                   NULL);
    cr_assert_eq(in.status, CW_OK, "%s", err.message);
    cw_writer_free(&text);
}

static bool allowed(const struct cw_chip *chip, const bool *taken)
{
    for (uint32_t i = 0; i < chip->limit_count; i++) {
        const struct cw_limit *limit = &chip->limits[i];
        bool used[256] = {false};
        uint32_t groups = 0;
        for (uint32_t k = 0; k < limit->count; k++)
            if (taken[limit->members[k]] && !used[limit->groups[k]]) {
                used[limit->groups[k]] = true;
                groups++;
            }
        if (groups > limit->max)
            return false;
    }
    return true;
}

/* How often the limits disagree with the truth, on random sets of up to eight. */
static uint32_t disagreements(const struct cw_chip *chip, bool sampling)
{
    uint64_t random = 88172645463325252u;
    uint32_t wrong = 0;
    for (int t = 0; t < 20000; t++) {
        bool taken[RAWS] = {false};
        uint32_t raws[8], count = 0;
        for (int k = 0; k <= t % 8; k++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            uint32_t n = (uint32_t)((random >> 33) % (t % 3 ? SLOTS : RAWS));
            if (!taken[n])
                raws[count++] = n;
            taken[n] = true;
        }
        wrong += allowed(chip, taken) != truth(raws, count, sampling);
    }
    return wrong;
}

static void learn_and_compare(enum cw_nvperf_activity activity)
{
    struct cw_arena *arena = cw_arena_create();
    struct cw_facts facts;
    struct cw_limit_table learned;
    struct cw_learn_report report;
    struct cw_error err = CW_ERROR_INIT;
    make_chip(&facts, arena);
    cw_limit_table_init(&learned);
    cr_assert_eq(cw_learn(&facts, NULL, activity, &learned, &report, NULL, &err), CW_OK, "%s", err.message);
    struct cw_chip chip = facts.chip;
    load(&chip, &learned, arena);
    cr_expect_eq(disagreements(&chip, activity == CW_NVPERF_PM_SAMPLING), 0);
    cr_expect(report.random.passes > 100 && report.natural.passes > 10);
    cr_expect(report.random.refused == 0 && report.natural.refused == 0);
    cr_expect(chip.limit_count < 16, "%u limits", chip.limit_count);
    cr_expect_eq(report.unusable, activity == CW_NVPERF_PM_SAMPLING ? SASS : 0);
    cw_limit_table_free(&learned);
    cw_arena_destroy(arena);
}

Test(learn, limits_of_range_profiling_are_found)
{
    learn_and_compare(CW_NVPERF_PROFILER);
}

Test(learn, limits_of_sampling_are_found)
{
    learn_and_compare(CW_NVPERF_PM_SAMPLING);
}

/* Whether the pass of PM sampling may take a set. */
static bool allowed_in_sampling(const struct cw_chip *chip, const bool *taken)
{
    struct cw_limit limits[128];
    struct cw_chip sampling = *chip;
    cr_assert_leq(chip->limit_count, 128);
    memcpy(limits, chip->limits, chip->limit_count * sizeof *limits);
    for (uint32_t i = 0; i < chip->limit_count; i++)
        limits[i].max = limits[i].pm_max;
    sampling.limits = limits;
    return allowed(&sampling, taken);
}

/* What the limits of range profiling allow stays allowed; what is allowed beyond fits, and that is much of what does.
 */
Test(learn, sampling_has_more_room_in_limits_of_range_profiling)
{
    struct cw_arena *arena = cw_arena_create();
    struct cw_facts facts;
    struct cw_limit_table learned;
    struct cw_learn_report range;
    struct cw_learn_report report;
    struct cw_error err = CW_ERROR_INIT;
    uint64_t random = 88172645463325252u;
    uint32_t fit = 0, more = 0, wrong = 0, beyond = 0;
    make_chip(&facts, arena);
    cw_limit_table_init(&learned);
    roomy = true;
    cr_assert_eq(cw_learn(&facts, NULL, CW_NVPERF_PROFILER, &learned, &range, NULL, &err), CW_OK, "%s", err.message);
    for (int again = 0; again < 2; again++) { /* the second time in place of the first */
        cr_assert_eq(cw_relax(&facts, NULL, &learned, &report, NULL, &err), CW_OK, "%s", err.message);
        cr_expect_geq(report.relaxed, 1);
        cr_expect(report.random.passes > 50 && report.random.refused == 0 && report.natural.refused == 0);
    }
    struct cw_chip chip = facts.chip;
    load(&chip, &learned, arena);
    for (int t = 0; t < 20000; t++) {
        bool taken[RAWS] = {false};
        uint32_t raws[8], count = 0;
        for (int k = 0; k <= t % 8; k++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            uint32_t n = (uint32_t)((random >> 33) % (t % 3 ? SLOTS : RAWS));
            if (!taken[n])
                raws[count++] = n;
            taken[n] = true;
        }
        bool fits = truth(raws, count, true), in_range = truth(raws, count, false),
             ours = allowed_in_sampling(&chip, taken);
        cr_expect_eq(allowed(&chip, taken), in_range);
        wrong += ours && !fits;
        more += fits && !in_range;
        beyond += ours && fits && !in_range;
        fit += fits;
    }
    cr_expect_eq(wrong, 0, "%u of %u", wrong, fit);
    cr_expect_geq(4 * beyond, 3 * more, "%u of %u", beyond, more);
    cw_relax_strip(&learned);
    cr_expect(!memmem(learned.limits.data, learned.limits.size, "pm", 2));
    roomy = false;
    cw_limit_table_free(&learned);
    cw_arena_destroy(arena);
}

static const char classes[] = "  free: {domain: gpu_slots, raw: [0x1]}\n"
                              "  p: {domain: gpu_slots, raw: [0x2, 0x3, 0x4, 0x5]}\n"
                              "  q: {domain: gpu_slots, raw: [0x6, 0x7, 0x8, 0x9]}\n"
                              "  r: {domain: gpu_slots, raw: [0xa, 0xb]}\n"
                              "  heavy: {domain: gpu_slots, raw: [0xd]}\n"
                              "  heavier: {domain: gpu_slots, raw: [0xe]}\n"
                              "  harmless: {domain: gpu_slots, raw: [0x12, 0x13]}\n"
                              "  c1: {domain: gpu_slots, raw: [0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18]}\n"
                              "  c2: {domain: gpu_slots, raw: [0x19, 0x1a]}\n"
                              "  c3: {domain: gpu_slots, raw: [0x1b, 0x1c, 0x1d, 0x1e, 0x1f, 0x20, 0x21, 0x22, 0x23]}\n"
                              "  s1: {domain: gpu_sources, raw: [0x24, 0x25, 0x26, 0x27]}\n"
                              "  s2: {domain: gpu_sources, raw: [0x28, 0x29, 0x2a, 0x2b]}\n"
                              "  s3: {domain: gpu_sources, raw: [0x2c, 0x2d, 0x2e, 0x2f]}\n"
                              "  s4: {domain: gpu_sources, raw: [0x30, 0x31, 0x32, 0x33]}\n"
                              "  s5: {domain: gpu_sources, raw: [0x34, 0x35, 0x36, 0x37]}\n";
static const char right[] = "  - {max: 1, groups: [[gpu_sass], [gpu_slots, gpu_sources]]}\n"
                            "  - {max: 2, each: [c1, c2]}\n"
                            "  - {max: 2, each: [c2, c3]}\n";

/* `more` are right ones too. */
static void mend_and_compare(const char *more, const char *wrong, uint32_t removed)
{
    struct cw_arena *arena = cw_arena_create();
    struct cw_facts facts;
    struct cw_limit_table table;
    struct cw_learn_report report;
    struct cw_error err = CW_ERROR_INIT;
    size_t kept = strlen(right) + strlen(more);
    make_chip(&facts, arena);
    cw_limit_table_init(&table);
    cw_write_format(&table.classes, "%s", classes);
    cw_write_format(&table.limits, "%s%s%s", right, more, wrong);
    cr_assert_eq(cw_mend(&facts, NULL, CW_NVPERF_PROFILER, &table, &report, NULL, &err), CW_OK, "%s", err.message);
    struct cw_chip chip = facts.chip;
    load(&chip, &table, arena);
    cr_expect_eq(disagreements(&chip, false), 0);
    cr_expect_eq(report.removed, removed);
    cr_expect(report.random.passes > 100 && report.random.refused == 0 && report.natural.refused == 0);
    cr_expect(chip.limit_count < 16, "%u limits", chip.limit_count);
    cr_expect(table.limits.size > kept && memcmp(table.limits.data, right, strlen(right)) == 0 &&
              memcmp(table.limits.data + strlen(right), more, strlen(more)) == 0);
    cr_expect(memcmp(table.classes.data, classes, strlen(classes)) == 0);
    cw_limit_table_free(&table);
    cw_arena_destroy(arena);
}

/* What is right is kept as it is written, what is wrong is dropped, cut down or comes to count slots, what lacks is
 * added. */
Test(learn, wrong_limits_are_mended)
{
    heavy_pair = true;
    mend_and_compare("  - {max: 4, each: [gpu_slots], except: [free]}\n"
                     "  - {max: 2, groups: [s1, s2, s3, s4, s5]}\n",
                     "  - max: 1\n    pairs:\n      p: [q, r]\n" /* too much: q only */
                     "  - {max: 1, groups: [heavy, heavier]}\n"  /* only with two more */
                     "  - {max: 1, groups: [harmless, [heavy, heavier]]}\n" /* never */,
                     3);
}

/* A rule gives way to rules of its members that do not share, or to one with a helper. */
Test(learn, strict_rules_are_mended)
{
    shared = helped = true;
    mend_and_compare("  - {max: 1, groups: [p, q]}\n",
                     "  - {max: 4, each: [gpu_slots]}\n" /* but one is free, and three share */
                     "  - {max: 2, groups: [s1, s2, s3, s4, s5]}\n" /* but three without a helper */,
                     2);
}
