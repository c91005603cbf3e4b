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
