#include "metricdb/chip_load.h"
#include "metricdb/term.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/small_chip.h"

static struct cw_arena *arena;
static const struct cw_chip *tiny;

static void setup(void)
{
    arena = cw_arena_create();
    cr_assert_eq(cw_chip_parse(&tiny, cw_small_chip, strlen(cw_small_chip), "tiny.yaml", arena, NULL), CW_OK);
}

static void teardown(void)
{
    cw_arena_destroy(arena);
}

TestSuite(term, .init = setup, .fini = teardown);

static struct cw_metric parsed(const char *name)
{
    struct cw_metric m;
    cr_assert_eq(cw_metric_parse(&m, tiny, name, NULL), CW_OK, "%s", name);
    return m;
}

/* ---- terms ------------------------------------------------------------------------------------------------------ */

static void put(char *text, const char *before, const struct cw_operand *o)
{
    static const char *const reads[] = {"nothing", "", "peak of ", "presence of ", "user cycles of ", "time of "};
    static const char *const spans[] = {"", " in frame", " in region"};
    if (o->reads != CW_READS_NOTHING)
        sprintf(text + strlen(text), "%s%s%s %s%s", before, reads[o->reads], cw_rollup_text(o->rollup),
                o->counter == CW_NONE ? "?" : tiny->counters[o->counter].name, spans[o->span]);
}

static void expect_terms(int line, const char *name, enum cw_status wanted_status, const char *wanted)
{
    char text[1024] = "";
    const struct cw_metric m = parsed(name);
    struct cw_terms terms = {0};
    cr_expect_eq(cw_terms_make(&terms, tiny, &m, NULL), wanted_status, "line %d", line);
    for (uint32_t i = 0; i < terms.count; i++) {
        const struct cw_term *t = &terms.items[i];
        sprintf(text + strlen(text), "%s%s%g",
                i               ? ", "
                : terms.largest ? "largest: "
                                : "",
                t->zero_over ? "0: " : "", t->scale);
        put(text, " * ", &t->x);
        put(text, " * ", &t->factor);
        put(text, " / ", &t->divisors[0]);
        put(text, " / ", &t->divisors[1]);
    }
    cr_expect_str_eq(text, wanted, "line %d: %s: %s", line, name, text);
    cw_terms_free(&terms);
}

Test(term, of_counters)
{
    expect_terms(__LINE__, "sm__inst_executed.max", CW_OK, "1 * max sm__inst_executed");
    expect_terms(__LINE__, "sm__inst_executed.sum.per_second", CW_OK,
                 "1e+09 * sum sm__inst_executed / time of avg gpu__time_duration");
    expect_terms(__LINE__, "sm__inst_executed.min.per_cycle_active", CW_OK,
                 "1 * min sm__inst_executed / avg sm__cycles_active");
    expect_terms(__LINE__, "sm__inst_executed.avg.per_cycle_in_region", CW_OK,
                 "1 * avg sm__inst_executed / user cycles of avg sm__inst_executed in region");
    expect_terms(__LINE__, "sm__inst_executed.avg.pct_of_peak_sustained_elapsed", CW_OK,
                 "100 * avg sm__inst_executed / avg sm__cycles_elapsed / peak of avg sm__inst_executed");
    expect_terms(__LINE__, "sm__inst_executed.sum.peak_sustained", CW_OK, "1 * peak of sum sm__inst_executed");
    expect_terms(__LINE__, "sm__inst_executed.sum.peak_sustained_active", CW_OK,
                 "1 * peak of sum sm__inst_executed * avg sm__cycles_active");
    expect_terms(__LINE__, "sm__inst_executed.sum.peak_sustained_frame.per_second", CW_OK,
                 "1e+09 * peak of sum sm__inst_executed * user cycles of avg sm__inst_executed in frame / time of avg "
                 "gpu__time_duration / presence of sum sm__inst_executed");
    expect_terms(__LINE__, "sm__warps_launched.avg.per_cycle_active", CW_ERR_UNSUPPORTED,
                 "1 * avg sm__warps_launched / avg ?");
}

Test(term, of_ratios)
{
    expect_terms(__LINE__, "sm__average_inst_executed_per_warp.ratio", CW_OK,
                 "0: 2 * avg sm__inst_executed / avg sm__warps_launched");
    expect_terms(__LINE__, "sm__average_inst_executed_per_warp.pct", CW_OK,
                 "0: 25 * avg sm__inst_executed / avg sm__warps_launched");
    expect_terms(__LINE__, "sm__average_inst_executed_per_warp.max_rate", CW_OK, "8");
    char *text = cw_text_with(cw_small_chip, "num: sm__inst_executed, den: sm__warps_launched, ", "");
    cr_assert_eq(cw_chip_parse(&tiny, text, strlen(text), "tiny.yaml", arena, NULL), CW_OK);
    expect_terms(__LINE__, "sm__average_inst_executed_per_warp.ratio", CW_ERR_UNSUPPORTED, "");
    free(text);
}

/* Those of other units have other instances. */
Test(term, of_ratios_across_units_divide_sums)
{
    char *text = cw_text_with(cw_small_chip, "sm__warps_launched: {unit: sm,", "sm__warps_launched: {unit: gpu,");
    cr_assert_eq(cw_chip_parse(&tiny, text, strlen(text), "tiny.yaml", arena, NULL), CW_OK);
    expect_terms(__LINE__, "sm__average_inst_executed_per_warp.ratio", CW_OK,
                 "0: 2 * sum sm__inst_executed / sum sm__warps_launched");
    free(text);
}

Test(term, of_throughputs_are_those_of_their_counters)
{
    expect_terms(__LINE__, "gpu__throughput.max.pct_of_peak_sustained_active", CW_OK,
                 "largest: 100 * max sm__cycles_active / avg sm__cycles_active / peak of max sm__cycles_active, "
                 "100 * max sm__inst_executed / avg sm__cycles_active / peak of max sm__inst_executed");
}

/* A counter of the user's cycles is scaled from what elapsed. */
Test(term, of_counters_of_the_users_cycles)
{
    char *text = cw_text_with(cw_small_chip, "  sm__inst_executed: {unit",
                              "  sm__cycles_in_frame: {unit: sm, dim: "
                              "cycles, peak: 0, raw: [0x11]}\n"
                              "  sm__inst_executed: {unit");
    cr_assert_eq(cw_chip_parse(&tiny, text, strlen(text), "tiny.yaml", arena, NULL), CW_OK);
    expect_terms(__LINE__, "sm__cycles_in_frame.max", CW_OK, "1 * max sm__cycles_in_frame in frame");
    free(text);
}

/* ---- needs ------------------------------------------------------------------------------------------------------ */

/* "sm__inst_executed:sum,max "; nothing behind the colon for a peak. */
static void add(void *context, uint32_t counter, unsigned rollups)
{
    char *text = (char *)context + strlen(context);
    text += sprintf(text, "%s:", tiny->counters[counter].name);
    for (enum cw_rollup r = CW_SUM; r < CW_ROLLUP_COUNT; r++)
        if (rollups & CW_ROLLUP_BIT(r))
            text += sprintf(text, "%s", cw_rollup_text(r));
    strcpy(text, " ");
}

static void expect_needs(int line, const char *name, const bool *recorded, const bool *held, const char *wanted)
{
    char names[1024] = "";
    const struct cw_metric m = parsed(name);
    const struct cw_needs needs = {tiny, recorded, held, add, names};
    cr_expect_eq(cw_metric_needs(&needs, &m, NULL), CW_OK);
    cr_expect_str_eq(names, wanted, "line %d: %s: %s", line, name, names);
}

/* sm__warps_launched = sm__inst_executed - gpu__time_duration */
Test(term, needs_what_derived_counters_stand_for)
{
    char *text = cw_text_with(cw_small_chip, "instances: 2, active: none,",
                              "of: {sm__inst_executed: 1, gpu__time_duration: -1}, instances: 2,");
    cr_assert_eq(cw_chip_parse(&tiny, text, strlen(text), "tiny.yaml", arena, NULL), CW_OK);
    const bool all[] = {true, true, true, true, true}, no_time[] = {false, true, true, true, true};
    const bool anyway[] = {false, false, false, false, true};
    expect_needs(__LINE__, "sm__warps_launched.sum", NULL, NULL, "sm__inst_executed:sum gpu__time_duration:sum ");
    expect_needs(__LINE__, "sm__warps_launched.avg", NULL, all, "sm__inst_executed:avg gpu__time_duration:avg ");
    expect_needs(__LINE__, "sm__warps_launched.avg", NULL, no_time, "sm__warps_launched:avg ");
    expect_needs(__LINE__, "sm__warps_launched.min", NULL, NULL, "sm__warps_launched:min ");
    expect_needs(__LINE__, "sm__warps_launched.max", NULL, all, "sm__warps_launched:max ");
    expect_needs(__LINE__, "sm__warps_launched.sum", anyway, NULL, "sm__warps_launched:sum ");
    expect_needs(__LINE__, "sm__warps_launched.avg.peak_sustained", NULL, NULL, "sm__warps_launched: ");
    expect_needs(__LINE__, "sm__warps_launched.avg.per_cycle_active", NULL, NULL,
                 "sm__inst_executed:avg gpu__time_duration:avg sm__cycles_active:avg ");
    expect_needs(__LINE__, "sm__warps_launched.avg.pct_of_peak_sustained_active", NULL, NULL,
                 "sm__warps_launched: sm__warps_launched:avg sm__cycles_active:avg ");
    expect_needs(__LINE__, "sm__warps_launched.avg.pct_of_peak_sustained_active", NULL, all,
                 "sm__warps_launched: sm__inst_executed:avg gpu__time_duration:avg sm__cycles_active:avg ");
    expect_needs(__LINE__, "sm__average_inst_executed_per_warp.ratio", NULL, NULL,
                 "sm__inst_executed:avg sm__inst_executed:avg gpu__time_duration:avg ");
    free(text);
}

Test(term, needs_counters)
{
    static const char *const cases[][2] = {
        {"sm__inst_executed.max", "sm__inst_executed:max "},
        {"sm__inst_executed.sum.per_second", "sm__inst_executed:sum gpu__time_duration:avg "},
        {"sm__inst_executed.avg.per_cycle_active", "sm__inst_executed:avg sm__cycles_active:avg "},
        {"sm__inst_executed.avg.per_cycle_in_frame",
         "sm__inst_executed:avg sm__cycles_elapsed:avg gpu__time_duration:avg "},
        {"sm__inst_executed.avg.pct_of_peak_sustained_elapsed",
         "sm__inst_executed: sm__inst_executed:avg sm__cycles_elapsed:avg "},
        {"sm__inst_executed.avg.peak_sustained", "sm__inst_executed: "},
        {"sm__average_inst_executed_per_warp.pct", "sm__inst_executed:avg sm__warps_launched:avg "},
        {"sm__average_inst_executed_per_warp.max_rate", ""},
        {"gpu__throughput.avg.pct_of_peak_sustained_elapsed",
         "sm__cycles_active: sm__cycles_active:avg sm__cycles_elapsed:avg "
         "sm__inst_executed: sm__inst_executed:avg sm__cycles_elapsed:avg "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_needs(__LINE__, cases[i][0], NULL, NULL, cases[i][1]);
}

Test(term, needs_a_formula)
{
    struct cw_error err = CW_ERROR_INIT;
    const struct cw_metric m = parsed("sm__warps_launched.avg.per_cycle_active");
    const struct cw_needs needs = {.chip = tiny};
    cr_expect_eq(cw_metric_needs(&needs, &m, &err), CW_ERR_UNSUPPORTED);
    cr_expect_str_eq(err.message,
                     "TINY: the database has no counter to divide .per_cycle_active of sm__warps_launched by");
}
