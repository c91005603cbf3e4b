#include "tests/unit/eval_sample.h"

#include "metricdb/formula_load.h"

TestSuite(eval_formula, .init = set_up, .fini = tear_down);

static struct cw_eval_options options;

/* The sample: per range TIME 2000, BYTES 8000 (another pass), ACTIVE 800, ELAPSED 4000, HITS 60, INST 1600, LOOKUPS 80.
 */
static void expect_on(int line, const char *formula, uint32_t range, double value, enum cw_value_status status)
{
    const struct cw_chip *with = chip;
    struct cw_metric metrics[3];
    struct cw_eval_plan plan;
    double values[3][SAMPLE_RANGES];
    int8_t statuses[3][SAMPLE_RANGES];
    const char *text = cw_arena_printf(arena, "schema: 1\nmetrics:\n  m: {formula: \"%s\"}\n", formula);
    cr_assert(cw_formulas_parse(&with, text, strlen(text), "f", arena, &err) == CW_OK, "line %d: %s", line,
              err.message);
    static const char *const names[] = {"sm__inst.sum", "m", "sm__hit_rate.ratio"};
    for (int i = 0; i < 3; i++)
        cr_assert(cw_metric_parse(&metrics[i], with, names[i], &err) == CW_OK);
    cr_assert(cw_eval_plan_make(&plan, with, &data.schema, metrics, 3, &options, arena, &err) == CW_OK);
    cw_evaluate(&plan, &data, values[0], statuses[0]);
    double got = values[1][range];
    bool same = isnan(value) ? isnan(got) : got == value || fabs(got - value) <= 1e-12 * fabs(value);
    cr_expect(same, "line %d: %.17g, wanted %.17g", line, got, value);
    cr_expect(statuses[1][range] == (int8_t)status, "line %d: %s, wanted %s", line,
              cw_value_status_text((enum cw_value_status)statuses[1][range]), cw_value_status_text(status));
    cr_expect(values[0][range] == sample_rollups[CW_SUM][INST][range], "line %d: its neighbours are as ever", line);
}
#define EXPECT(formula, value, status) expect_on(__LINE__, formula, 0, value, status)
#define EXPECT_ON(range, formula, value, status) expect_on(__LINE__, formula, range, value, status)

Test(eval_formula, values)
{
    set_value(INST, 1, 3200);
    EXPECT("3 + 4 * 2", 11, CW_VALUE_OK);
    EXPECT("sm__inst.sum", 1600, CW_VALUE_OK);
    EXPECT("sm__inst.sum / sm__cycles_active.sum", 2, CW_VALUE_OK);
    EXPECT_ON(1, "sm__inst.sum / sm__cycles_active.sum", 4, CW_VALUE_OK);
    EXPECT("-sm__inst.sum + 2 * sm__inst.avg", -800, CW_VALUE_OK);
    EXPECT("abs(sm__inst.avg - sm__inst.sum)", 1200, CW_VALUE_OK);
    EXPECT("floor(sm__inst.avg / 7) * ceil(0.5)", 57, CW_VALUE_OK);
    EXPECT("min(sm__inst.sum, 900, sm__inst.avg)", 400, CW_VALUE_OK);
    EXPECT("max(1, sm__inst.sum, sm__inst.avg)", 1600, CW_VALUE_OK);
    EXPECT("sm__hit_rate.pct / 100 + 0 * sm__throughput.avg.pct_of_peak_sustained_elapsed", 0.375,
           CW_VALUE_MIXED_PASSES);
}

/* One of more than 16 steps is computed once, and its value and status are kept. */
Test(eval_formula, another_formula_that_stands_in_one_twice)
{
    static const char text[] =
        "schema: 1\nmetrics:\n  half: {formula: \"(sm__inst.sum + 4 * sm__inst.avg + sm__inst.sum + "
        "4 * sm__inst.avg + 0 * sm__inst.sum) / 8\"}\n"
        "  m: {formula: \"half + half - half / 2\"}\n";
    const struct cw_chip *with = chip;
    struct cw_metric metric;
    struct cw_eval_plan plan;
    double values[SAMPLE_RANGES];
    int8_t statuses[SAMPLE_RANGES];
    set_value(INST, 1, 6);
    set_form(INST, 2, CW_FORM_MULTIPLEXED);
    cr_assert(cw_formulas_parse(&with, text, strlen(text), "f", arena, &err) == CW_OK, "%s", err.message);
    cr_assert(cw_metric_parse(&metric, with, "m", &err) == CW_OK);
    cr_assert(cw_eval_plan_make(&plan, with, &data.schema, &metric, 1, &options, arena, &err) == CW_OK);
    cw_evaluate(&plan, &data, values, statuses);
    cr_expect(values[0] == 1200 && values[1] == 4.5 && values[2] == 1200, "%g %g", values[0], values[1]);
    cr_expect(statuses[1] == CW_VALUE_OK && statuses[2] == CW_VALUE_MULTIPLEXED);
}

Test(eval_formula, conditions_take_one_side)
{
    set_value(INST, 1, 0);
    EXPECT("if(sm__inst.sum > 0, sm__cycles_active.sum / sm__inst.sum, 0)", 0.5, CW_VALUE_OK);
    EXPECT_ON(1, "if(sm__inst.sum > 0, sm__cycles_active.sum / sm__inst.sum, 0)", 0, CW_VALUE_OK);
    EXPECT_ON(1, "if(sm__inst.sum == 0, 1, 2)", 1, CW_VALUE_OK);
    EXPECT_ON(1, "if(sm__inst.sum != 0, 1, 2)", 2, CW_VALUE_OK);
    EXPECT_ON(1, "if(sm__inst.sum <= 0, 1, 2)", 1, CW_VALUE_OK);
    EXPECT("if(sm__inst.sum < 1600, 1, 2)", 2, CW_VALUE_OK);
    EXPECT("if(sm__inst.sum >= 1600, 1, 2)", 1, CW_VALUE_OK);
    set_form(HITS, 0, CW_FORM_UNAVAILABLE);
    EXPECT("if(sm__lookups.sum > 0, 1, sm__hits.sum)", 1, CW_VALUE_OK);
    EXPECT("if(sm__hits.sum > 0, 1, 2)", NAN, CW_VALUE_UNAVAILABLE);
}

/* Within a formula they are those of C; what is infinite in the end is no value. */
Test(eval_formula, divisions_by_zero)
{
    set_value(ACTIVE, 0, 0);
    EXPECT("sm__inst.sum / sm__cycles_active.sum", NAN, CW_VALUE_ZERO_DENOMINATOR);
    EXPECT("-sm__inst.sum / sm__cycles_active.sum", NAN, CW_VALUE_ZERO_DENOMINATOR);
    EXPECT("sm__inst.sum / sm__cycles_active.sum - sm__inst.sum / sm__cycles_active.sum", NAN,
           CW_VALUE_ZERO_DENOMINATOR);
    set_value(INST, 0, 0);
    EXPECT("sm__inst.sum / sm__cycles_active.sum", NAN, CW_VALUE_ZERO_DENOMINATOR);
    EXPECT("sm__inst.sum / max(1, sm__cycles_active.sum)", 0, CW_VALUE_OK);
    EXPECT("1e308 * 10 - 1e308 * 10", NAN, CW_VALUE_OVERFLOW);
    set_value(INST, 0, 1600);
    EXPECT("min(sm__inst.sum / sm__cycles_active.sum, 7)", 7, CW_VALUE_ZERO_DENOMINATOR);
    EXPECT("min(sm__inst.sum.per_cycle_active, 7)", 7, CW_VALUE_ZERO_DENOMINATOR);
}

Test(eval_formula, implausible_shares)
{
    set_value(INST, 0, 3300);
    EXPECT("min(100, sm__inst.sum.pct_of_peak_sustained_active)", 100, CW_VALUE_IMPLAUSIBLE);
    EXPECT("if(sm__hits.sum > 0, 1, sm__inst.sum.pct_of_peak_sustained_active)", 1, CW_VALUE_OK);
}

Test(eval_formula, the_gravest_status_counts)
{
    set_form(HITS, 0, CW_FORM_OVERFLOW);
    EXPECT("sm__hits.sum + sm__lookups.sum", 140, CW_VALUE_OVERFLOW);
    set_form(LOOKUPS, 0, CW_FORM_INCOMPLETE);
    EXPECT("sm__hits.sum + sm__lookups.sum", 140, CW_VALUE_INCOMPLETE);
    EXPECT_ON(1, "sm__hits.sum + sm__lookups.sum", 140, CW_VALUE_OK);
    set_form(LOOKUPS, 0, CW_FORM_UNAVAILABLE);
    EXPECT("sm__hits.sum + sm__lookups.sum", NAN, CW_VALUE_UNAVAILABLE);
    EXPECT("max(1, sm__lookups.sum)", NAN, CW_VALUE_UNAVAILABLE);
    EXPECT("sm__hits.sum * sm__missing.sum", NAN, CW_VALUE_NOT_COLLECTED);
    EXPECT("sm__hits.sum * sm__odd_rate.ratio", NAN, CW_VALUE_NOT_COLLECTED);
}

Test(eval_formula, all_counters_have_to_come_from_one_pass)
{
    EXPECT("sm__inst.sum / sm__bytes.sum", 0.2, CW_VALUE_MIXED_PASSES);
    EXPECT("sm__bytes.sum / gpu__time.sum", 4, CW_VALUE_OK); /* time is in both passes */
    EXPECT("sm__inst.sum * sm__bytes.sum * gpu__time.sum", 1600.0 * 8000 * 2000, CW_VALUE_MIXED_PASSES);
    EXPECT("sm__split.sum * sm__inst.sum", 11200, CW_VALUE_MIXED_PASSES);
    EXPECT("sm__inst.sum * sm__bytes.sum.peak_sustained", 1600 * 32, CW_VALUE_OK); /* a fact of the device */
}

Test(eval_formula, one_pass_that_has_all_is_taken)
{
    static double rollups[CW_ROLLUP_COUNT][SAMPLE_COUNTERS + 1][SAMPLE_RANGES];
    static uint8_t forms[SAMPLE_COUNTERS + 1][SAMPLE_RANGES];
    static const struct cw_schema_repeat repeats[] = {{INST, 1}};
    memcpy(forms, sample_forms, sizeof sample_forms);
    for (int r = 0; r < CW_ROLLUP_COUNT; r++) {
        memcpy(rollups[r], sample_rollups[r], sizeof sample_rollups[r]);
        rollups[r][SAMPLE_COUNTERS][0] = 2400;
        data.rollups[r] = &rollups[r][0][0];
    }
    forms[SAMPLE_COUNTERS][0] = CW_FORM_ROLLUPS;
    data.forms = &forms[0][0];
    data.schema.repeats = repeats;
    data.schema.repeat_count = 1;
    EXPECT("sm__inst.sum / sm__bytes.sum", 0.3, CW_VALUE_OK);
    EXPECT("sm__inst.sum / sm__hits.sum", 1600. / 60, CW_VALUE_OK);
    EXPECT("sm__inst.sum / sm__bytes.sum * sm__hits.sum", 0.2 * 60, CW_VALUE_MIXED_PASSES);
}

/* A throughput's constituents may come from several passes, so in a formula of it alone they may, too. */
Test(eval_formula, one_throughput_keeps_its_status)
{
    static const uint32_t second[] = {1};
    sample_counters[ELAPSED].pass_count = 2;
    sample_counters[ELAPSED].passes = sample_counters[TIME].passes;
    sample_counters[BYTES].passes = second;
    EXPECT("sm__throughput.avg.pct_of_peak_sustained_elapsed / 100", 0.25, CW_VALUE_OK);
    EXPECT("sm__throughput.avg.pct_of_peak_sustained_elapsed * sm__inst.sum", 25 * 1600, CW_VALUE_MIXED_PASSES);
}
