/* The learner asks a library of ours: a small chip of which every limit is known. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "host/import/learn.h"
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

static bool truth(const uint32_t *raws, size_t count, bool sampling)
{
    uint32_t slots = 0, sass = 0, others = 0, p = 0, q = 0, trio = 0, sources = 0, crowds[2] = {0};
    for (size_t i = 0; i < count; i++) {
        uint32_t n = raws[i];
        slots += in(n, 1, SLOTS - 1);
        p += in(n, 1, 4);
        q += in(n, 5, 8);
        crowds[0] += in(n, 15, 25);
        crowds[1] += in(n, 24, 34);
        trio |= in(n, 9, 10) ? 1u : n == 11 ? 2u : in(n, 12, 14) ? 4u : 0;
        sources |= in(n, SLOTS, SLOTS + SOURCES - 1) ? 1u << (n - SLOTS) / 4 : 0;
        *(n >= SLOTS + SOURCES ? &sass : &others) += 1;
    }
    return slots <= (sampling ? 2 : 4) && (!p || !q) && trio != 7 && crowds[0] <= 2 && crowds[1] <= 2 &&
           __builtin_popcount(sources) <= 2 && (!sass || (!others && !sampling));
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
    cw_limits_load(chip, &in, cw_yaml_get(&in, root, "classes", true), cw_yaml_get(&in, root, "limits", true), NULL);
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
