#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "host/plan.h"
#include "metricdb/chip_load.h"
#include "tests/support/small_chip.h"

static struct cw_arena *arena;
static struct cw_error err;

static void set_up(void)
{
    arena = cw_arena_create();
    err = (struct cw_error)CW_ERROR_INIT;
}

static void tear_down(void)
{
    cw_arena_destroy(arena);
}

TestSuite(plan, .init = set_up, .fini = tear_down);

/* The small chip with a section of limits. */
static const struct cw_chip *chip_with(const char *limits)
{
    const struct cw_chip *chip;
    char *text = cw_text_with(cw_small_chip, "ratios:\n", limits);
    cr_assert_eq(cw_chip_parse(&chip, text, strlen(text), "tiny.yaml", arena, &err), CW_OK, "%s", err.message);
    free(text);
    return chip;
}

static struct cw_plan made(const struct cw_chip *chip, enum cw_profiler profiler, const char *const *names,
                           size_t count)
{
    struct cw_plan plan;
    const struct cw_plan_options options = {.profiler = profiler};
    cr_assert_eq(cw_plan_make(&plan, chip, names, count, &options, arena, &err), CW_OK, "%s", err.message);
    return plan;
}

/* Range profiling takes one raw counter a pass here, sampling over time two in gpu_sm_a. */
Test(plan, limits_are_those_of_the_profiler)
{
    static const char *const names[] = {"sm__inst_executed.sum", "sm__cycles_active.sum"};
    const struct cw_chip *chip = chip_with("limits: [{max: 1, each: [gpu_sm_a, trace]}]\n"
                                           "pm_limits: [{max: 2, each: [gpu_sm_a]}, {max: 0, each: [trace]}]\n"
                                           "ratios:\n");
    struct cw_plan range = made(chip, CW_PROFILER_RANGE, names, 2), pm = made(chip, CW_PROFILER_PM, names, 2);
    uint32_t loads[2];
    cr_expect_eq(range.image.pass_count, 2);
    cr_assert_eq(range.image.limit_count, 1);
    cr_expect_eq(range.image.limits[0].max, 1);
    cr_assert_eq(cw_plan_loads(loads, &range, chip, arena, &err), CW_OK);
    cr_expect_eq(loads[0], 2);
    cr_expect_eq(pm.image.pass_count, 1);
    cr_expect_eq(pm.image.limit_count, 0, "none can be broken");
    cr_assert_eq(cw_plan_loads(loads, &pm, chip, arena, &err), CW_OK);
    cr_expect_eq(loads[0], 1);
}

/* CUPTI refuses counters that are not in its list. */
Test(plan, counters_are_those_of_the_profilers_list)
{
    static const char *const sum[] = {"sm__loads.sum"}, *const warps[] = {"sm__warps_launched.sum"};
    const struct cw_chip *chip =
        chip_with("  sm__loads: {unit: sm, dim: instructions, of: {sm__inst_executed: 1}, pm: also, raw: [0x22]}\n"
                  "  sm__stalls: {unit: sm, dim: warps, pm: only, raw: [0x22]}\nratios:\n");
    const struct cw_plan_options samples = {.profiler = CW_PROFILER_PM}, ranges = {.profiler = CW_PROFILER_RANGE};
    struct cw_plan plan = made(chip, CW_PROFILER_RANGE, sum, 1);
    cr_assert_eq(plan.image.counter_count, 1);
    cr_expect_str_eq(plan.image.counters[0].name, "sm__inst_executed");
    plan = made(chip, CW_PROFILER_PM, sum, 1);
    cr_assert_eq(plan.image.counter_count, 1);
    cr_expect_str_eq(plan.image.counters[0].name, "sm__loads", "its term is not sampled");
    cr_expect_eq(cw_plan_make(&plan, chip, warps, 1, &samples, arena, &err), CW_ERR_USAGE);
    cr_expect_str_eq(err.message,
                     "sm__warps_launched.sum: found that it needs sm__warps_launched, which CUPTI does not "
                     "sample over time, expected a metric of counterworks list --profiler pm");
    err = (struct cw_error)CW_ERROR_INIT;
    cr_expect_eq(cw_plan_make(&plan, chip, (const char *const[]){"sm__stalls.avg"}, 1, &ranges, arena, &err),
                 CW_ERR_USAGE);
    cr_expect(strstr(err.message, "which CUPTI samples over time alone"), "%s", err.message);
}

/* ---- what metrics cost ------------------------------------------------------------------------------------------ */

static struct cw_plan_savings weighed(const struct cw_plan *plan, const struct cw_chip *chip, bool whole)
{
    struct cw_plan_savings savings;
    const struct cw_plan_options options = {.whole = whole};
    cr_assert_eq(cw_plan_weigh(&savings, plan, chip, &options, arena, &err), CW_OK, "%s", err.message);
    return savings;
}

Test(plan, a_pass_goes_with_the_metric_that_alone_relies_on_it)
{
    static const char *const names[] = {"sm__inst_executed.sum", "sm__cycles_active.sum", "sm__cycles_active.avg"};
    const struct cw_chip *chip = chip_with("limits: [{max: 1, each: [gpu_sm_a, trace]}]\nratios:\n");
    struct cw_plan plan = made(chip, CW_PROFILER_RANGE, names, 3);
    struct cw_plan_savings savings = weighed(&plan, chip, false);
    cr_expect_eq(savings.weighed, 3);
    cr_assert_eq(savings.count, 1);
    cr_expect_eq(savings.items[0].metric, 0);
    cr_expect_eq(savings.items[0].passes, 1);
    plan = made(chip, CW_PROFILER_RANGE, names, 1);
    cr_expect_eq(weighed(&plan, chip, false).count, 0);
}

enum { MOST_RATIOS = 1024 };

/* All ratios of which the formula is known, in whole values. */
static struct cw_plan plan_of_ratios(const struct cw_chip *chip)
{
    static const char *names[MOST_RATIOS];
    struct cw_plan plan;
    const struct cw_plan_options options = {.whole = true};
    size_t count = 0;
    cr_assert_leq(chip->ratio_count, MOST_RATIOS);
    for (uint32_t i = 0; i < chip->ratio_count; i++)
        if (chip->ratios[i].numerator != CW_NONE && (chip->ratios[i].listed & CW_OF_RANGES))
            names[count++] = cw_arena_printf(arena, "%s.ratio", chip->ratios[i].name);
    cr_assert_eq(cw_plan_make(&plan, chip, names, count, &options, arena, &err), CW_OK, "%s", err.message);
    return plan;
}

/* Planning anew for each of these metrics took eighty times as long as planning did. */
Test(plan, to_weigh_a_large_plan_costs_about_as_much_as_to_make_it)
{
    const struct cw_chip *chip;
    cr_assert_eq(cw_chip_load_file(&chip, CW_SOURCE_DIR "/data/chips/ga100.yaml", arena, &err), CW_OK, "%s",
                 err.message);
    struct cw_plan plan = plan_of_ratios(chip);
    struct cw_plan_savings savings = weighed(&plan, chip, true);
    cr_expect_gt(plan.metric_count, 100);
    cr_expect_gt(savings.weighed, 0);
    cr_expect_leq(savings.steps, 3 * plan.steps);
    for (uint32_t i = 0; i < savings.count; i++)
        cr_expect_lt(savings.items[i].passes, plan.image.pass_count);
}
