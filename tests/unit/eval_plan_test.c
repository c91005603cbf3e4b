#define _GNU_SOURCE
#include "tests/unit/eval_sample.h"

#include <stdlib.h>

#include "eval/check.h"
#include "eval/eval_facts.h"
#include "eval/keys.h"
#include "eval/labels.h"
#include "eval/order.h"
#include "eval/quantile.h"
#include "metricdb/fact.h"

TestSuite(eval_plan, .init = set_up, .fini = tear_down);

static struct cw_eval_options options;

struct outcome {
    double value;
    enum cw_value_status status;
};

static struct outcome evaluate(const char *name, uint32_t range)
{
    struct cw_metric metric;
    struct cw_eval_plan plan;
    double values[SAMPLE_RANGES];
    int8_t statuses[SAMPLE_RANGES];
    cr_assert(cw_metric_parse(&metric, chip, name, &err) == CW_OK, "%s", err.message);
    cr_assert(cw_eval_plan_make(&plan, chip, &data.schema, &metric, 1, &options, arena, &err) == CW_OK, "%s",
              err.message);
    cw_evaluate(&plan, &data, values, statuses);
    return (struct outcome){values[range], (enum cw_value_status)statuses[range]};
}

static void expect_on(int line, const char *name, uint32_t range, double value, enum cw_value_status status)
{
    struct outcome got = evaluate(name, range);
    bool same = isnan(value) ? isnan(got.value) : got.value == value || fabs(got.value - value) <= 1e-12 * fabs(value);
    cr_expect(same, "line %d: %s is %.17g, wanted %.17g", line, name, got.value, value);
    cr_expect(got.status == status, "line %d: %s is %s, wanted %s", line, name, cw_value_status_text(got.status),
              cw_value_status_text(status));
}
#define EXPECT(name, value, status) expect_on(__LINE__, name, 0, value, status)
#define EXPECT_ON(range, name, value, status) expect_on(__LINE__, name, range, value, status)

Test(eval_plan, rollups)
{
    sample_rollups[CW_MIN][INST][0] = 1;
    sample_rollups[CW_MAX][INST][0] = 900;
    EXPECT("sm__inst.sum", 1600, CW_VALUE_OK);
    EXPECT("sm__inst.avg", 400, CW_VALUE_OK);
    EXPECT("sm__inst.min", 1, CW_VALUE_OK);
    EXPECT("sm__inst.max", 900, CW_VALUE_OK);
}

Test(eval_plan, peaks_are_those_of_the_device_of_the_range)
{
    EXPECT("sm__inst.sum.peak_sustained", 16, CW_VALUE_OK);
    EXPECT("sm__inst.avg.peak_sustained", 4, CW_VALUE_OK);
    EXPECT_ON(2, "sm__inst.sum.peak_sustained", 32, CW_VALUE_OK);
    EXPECT("sm__inst.sum.peak_sustained_active", 16 * 200, CW_VALUE_OK);
    EXPECT("sm__inst.sum.peak_sustained_elapsed", 16 * 1000, CW_VALUE_OK);
    EXPECT("sm__inst.sum.peak_sustained_active.per_second", 16 * 200 / 2e-6, CW_VALUE_OK);
    EXPECT("sm__inst.sum.peak_sustained_elapsed.per_second", 16 * 1000 / 2e-6, CW_VALUE_OK);
    sample_facts[0][INST].peak[CW_SUM] = NAN;
    EXPECT("sm__inst.sum.peak_sustained", NAN, CW_VALUE_UNAVAILABLE);
    EXPECT("sm__inst.sum.pct_of_peak_sustained_active", NAN, CW_VALUE_UNAVAILABLE);
}

Test(eval_plan, one_device)
{
    data.device_count = 1;
    data.range_count = 2; /* the third is of the other device */
    for (int r = 0; r < CW_ROLLUP_COUNT; r++)
        for (int c = SAMPLE_COUNTERS - 1; c >= 0; c--)
            memmove(&sample_rollups[r][0][0] + 2 * c, &sample_rollups[r][c][0], 2 * sizeof(double));
    EXPECT_ON(1, "gpu__time.sum.peak_sustained", 4, CW_VALUE_OK);
}

Test(eval_plan, quotients)
{
    EXPECT("sm__inst.sum.per_cycle_active", 8, CW_VALUE_OK);
    EXPECT("sm__inst.sum.per_cycle_elapsed", 1.6, CW_VALUE_OK);
    EXPECT("sm__inst.sum.per_second", 1600 / 2e-6, CW_VALUE_OK);
    EXPECT("sm__inst.avg.pct_of_peak_sustained_active", 50, CW_VALUE_OK);
    EXPECT("sm__inst.avg.pct_of_peak_sustained_elapsed", 10, CW_VALUE_OK);
    EXPECT_ON(2, "sm__inst.avg.pct_of_peak_sustained_elapsed", 5, CW_VALUE_OK);
}

Test(eval_plan, zero_denominators)
{
    set_value(ACTIVE, 0, 0);
    EXPECT("sm__inst.sum.per_cycle_active", NAN, CW_VALUE_ZERO_DENOMINATOR); /* NVIDIA's is infinite */
    EXPECT_ON(1, "sm__inst.sum.per_cycle_active", 8, CW_VALUE_OK);
    set_value(INST, 0, 0);
    EXPECT("sm__inst.sum.per_cycle_active", 0, CW_VALUE_ZERO_DENOMINATOR);
    set_value(INST, 0, -4);
    EXPECT("sm__inst.sum.per_cycle_active", NAN, CW_VALUE_ZERO_DENOMINATOR);
    set_value(TIME, 0, 0);
    EXPECT("sm__bytes.sum.per_second", NAN, CW_VALUE_ZERO_DENOMINATOR);
    sample_facts[0][BYTES].peak[CW_SUM] = 0;
    EXPECT("sm__bytes.sum.pct_of_peak_sustained_elapsed", NAN, CW_VALUE_ZERO_DENOMINATOR);
}

/* Of one launch among others. */
Test(eval_plan, zero_denominators_of_later_launches)
{
    set_value(ACTIVE, 2, 0);
    EXPECT("sm__inst.sum.per_cycle_active", 8, CW_VALUE_OK);
    EXPECT_ON(2, "sm__inst.sum.per_cycle_active", NAN, CW_VALUE_ZERO_DENOMINATOR);
    set_value(INST, 1, NAN);
    EXPECT("sm__inst.sum", 1600, CW_VALUE_OK);
    EXPECT_ON(1, "sm__inst.sum", NAN, CW_VALUE_UNAVAILABLE);
    EXPECT_ON(1, "sm__inst.sum.per_cycle_active", NAN, CW_VALUE_UNAVAILABLE);
    set_form(HITS, 2, CW_FORM_OVERFLOW);
    EXPECT_ON(2, "sm__hits.sum", 60, CW_VALUE_OVERFLOW);
    EXPECT_ON(1, "sm__hits.sum", 60, CW_VALUE_OK);
    set_form(LOOKUPS, 1, CW_FORM_MULTIPLEXED);
    EXPECT_ON(1, "sm__lookups.sum", 80, CW_VALUE_MULTIPLEXED);
    set_form(BYTES, 1, CW_FORM_ONE);
    EXPECT_ON(1, "sm__bytes.sum", 8000, CW_VALUE_OK);
    options.frame_ns = 4000;
    set_value(TIME, 1, 0);
    EXPECT("sm__bytes.sum.per_cycle_in_frame", 4, CW_VALUE_MIXED_PASSES);
    EXPECT_ON(1, "sm__bytes.sum.per_cycle_in_frame", 0, CW_VALUE_ZERO_DENOMINATOR);
    options.frame_ns = 0;
}

/* Nobody knows what a frame has that nobody gave. */
Test(eval_plan, frame_without_a_duration)
{
    options = (struct cw_eval_options){.region_ns = 1000};
    EXPECT("sm__inst.sum.peak_sustained_frame", NAN, CW_VALUE_NOT_COLLECTED);
    EXPECT("sm__inst.sum.peak_sustained_frame.per_second", NAN, CW_VALUE_NOT_COLLECTED);
    EXPECT("sm__inst.sum.per_cycle_in_frame", NAN, CW_VALUE_NOT_COLLECTED);
    EXPECT("sm__inst.sum.pct_of_peak_sustained_frame", NAN, CW_VALUE_NOT_COLLECTED);
    EXPECT("sm__throughput.avg.pct_of_peak_sustained_frame", NAN, CW_VALUE_NOT_COLLECTED);
    EXPECT("sm__cycles_in_frame.sum", NAN, CW_VALUE_NOT_COLLECTED);
    EXPECT("sm__cycles_in_frame.avg.per_cycle_elapsed", NAN, CW_VALUE_NOT_COLLECTED);
    EXPECT("sm__inst.sum.per_cycle_in_region", 3.2, CW_VALUE_OK);
    options = (struct cw_eval_options){.frame_ns = 4000};
    EXPECT("sm__inst.sum.pct_of_peak_sustained_region", NAN, CW_VALUE_NOT_COLLECTED);
    EXPECT("sm__inst.sum.per_cycle_in_frame", 0.8, CW_VALUE_OK);
    options = (struct cw_eval_options){0};
}

/* elapsed cycles 1000 in 2000 ns: a frame of 4000 ns has 2000 */
Test(eval_plan, frame_and_region_durations)
{
    options = (struct cw_eval_options){.frame_ns = 4000, .region_ns = 1000};
    EXPECT("sm__inst.sum.peak_sustained_frame", 16 * 2000, CW_VALUE_OK);
    EXPECT("sm__inst.sum.peak_sustained_frame.per_second", 16 * 2000 / 2e-6, CW_VALUE_OK);
    EXPECT("sm__inst.sum.per_cycle_in_frame", 0.8, CW_VALUE_OK);
    EXPECT("sm__inst.sum.per_cycle_in_region", 3.2, CW_VALUE_OK);
    EXPECT("sm__inst.avg.pct_of_peak_sustained_frame", 5, CW_VALUE_OK);
    EXPECT("sm__cycles_in_frame.sum", 8000, CW_VALUE_OK);
    EXPECT("sm__cycles_in_frame.avg.peak_sustained", 2, CW_VALUE_OK);
    EXPECT("sm__cycles_in_frame.avg.per_cycle_elapsed", 2, CW_VALUE_OK);
    set_value(TIME, 0, 0);
    EXPECT("sm__cycles_in_frame.sum", NAN, CW_VALUE_ZERO_DENOMINATOR);
    options = (struct cw_eval_options){0};
}

Test(eval_plan, ratios)
{
    EXPECT("sm__hit_rate.ratio", 0.75, CW_VALUE_OK);
    EXPECT("sm__hit_rate.pct", 37.5, CW_VALUE_OK); /* of the largest rate, 2 */
    EXPECT("sm__hit_rate.max_rate", 2, CW_VALUE_OK);
    EXPECT("sm__odd_rate.max_rate", 4, CW_VALUE_OK);
    set_value(LOOKUPS, 0, 0);
    EXPECT("sm__hit_rate.ratio", 0, CW_VALUE_ZERO_DENOMINATOR);
    EXPECT("sm__hit_rate.pct", 0, CW_VALUE_ZERO_DENOMINATOR);
    set_form(HITS, 0, CW_FORM_UNAVAILABLE);
    EXPECT("sm__hit_rate.ratio", NAN, CW_VALUE_UNAVAILABLE);
}

/* All four instances can have 3200 instructions in 200 active cycles, and 16000 in 1000 that elapse. */
Test(eval_plan, shares_of_more_than_the_whole)
{
    set_value(INST, 0, 3215);
    EXPECT("sm__inst.sum.pct_of_peak_sustained_active", 100 * 3215 / 3200.0, CW_VALUE_OK);
    set_value(INST, 0, 3300);
    EXPECT("sm__inst.sum.pct_of_peak_sustained_active", 103.125, CW_VALUE_IMPLAUSIBLE);
    EXPECT("sm__inst.avg.pct_of_peak_sustained_active", 103.125, CW_VALUE_IMPLAUSIBLE);
    EXPECT("sm__inst.min.pct_of_peak_sustained_active", 103.125, CW_VALUE_IMPLAUSIBLE);
    EXPECT("sm__inst.max.pct_of_peak_sustained_active", 103.125, CW_VALUE_OK); /* cycles are a mean */
    EXPECT("sm__inst.sum.pct_of_peak_sustained_elapsed", 20.625, CW_VALUE_OK);
    EXPECT("sm__throughput.avg.pct_of_peak_sustained_active", 125, CW_VALUE_IMPLAUSIBLE); /* of bytes, mixed passes */
    EXPECT("sm__inst.sum.per_cycle_active", 16.5, CW_VALUE_OK);
    EXPECT_ON(1, "sm__inst.sum.pct_of_peak_sustained_active", 50, CW_VALUE_OK);
    sample_rollups[CW_MAX][INST][0] = 3300; /* more than all could do */
    EXPECT("sm__inst.max.pct_of_peak_sustained_active", 412.5, CW_VALUE_IMPLAUSIBLE);
    options = (struct cw_eval_options){.frame_ns = 100};
    EXPECT("sm__inst.sum.pct_of_peak_sustained_frame", 412.5, CW_VALUE_OK); /* of cycles that the user gave */
    options = (struct cw_eval_options){0};
}

/* An instance that the peak leaves out may count as well. */
Test(eval_plan, shares_of_unequal_peaks)
{
    set_value(INST, 0, 3300);
    sample_facts[0][INST].peak[CW_AVG] = 3.84;
    sample_facts[0][INST].peak[CW_SUM] = 4 * 3.84;
    EXPECT("sm__inst.sum.pct_of_peak_sustained_active", 100 * 3300 / (3.84 * 800), CW_VALUE_IMPLAUSIBLE);
    set_value(INST, 0, 3200);
    EXPECT("sm__inst.sum.pct_of_peak_sustained_active", 100 / 0.96, CW_VALUE_OK);
    sample_facts[0][INST].peak[CW_MIN] = 2;
    EXPECT("sm__inst.min.pct_of_peak_sustained_active", 200, CW_VALUE_OK);
}

Test(eval_plan, ratios_of_more_than_the_whole)
{
    set_value(HITS, 0, 161); /* of 80; the largest rate is 2 */
    EXPECT("sm__hit_rate.ratio", 2.0125, CW_VALUE_IMPLAUSIBLE);
    EXPECT("sm__hit_rate.pct", 100.625, CW_VALUE_IMPLAUSIBLE);
    set_value(HITS, 0, 160.5);
    EXPECT("sm__hit_rate.ratio", 2.00625, CW_VALUE_OK);
    set_value(LOOKUPS, 0, 0);
    EXPECT("sm__hit_rate.ratio", 0, CW_VALUE_ZERO_DENOMINATOR);
}

Test(eval_plan, differences_below_zero)
{
    set_value(LOOKUPS, 0, 1000);
    set_value(HITS, 0, 1009); /* below 0 by 9 of 2,009, which is 0.45 % */
    EXPECT("sm__misses.sum", -9, CW_VALUE_OK);
    EXPECT("sm__miss_rate.ratio", -0.009, CW_VALUE_OK);
    set_value(HITS, 0, 1011);
    EXPECT("sm__misses.sum", -11, CW_VALUE_IMPLAUSIBLE);
    EXPECT("sm__miss_rate.ratio", -0.011, CW_VALUE_IMPLAUSIBLE);
    set_value(HITS, 0, -1);
    EXPECT("sm__hits.sum", -1, CW_VALUE_IMPLAUSIBLE);
}

/* Of the statuses of a value with a number it is the gravest: whatever the cause, nobody can have the value. */
Test(eval_plan, implausible_beside_other_statuses)
{
    static const struct {
        enum cw_value_form form;
        enum cw_value_status status;
    } cases[] = {{CW_FORM_MULTIPLEXED, CW_VALUE_IMPLAUSIBLE},
                 {CW_FORM_OVERFLOW, CW_VALUE_IMPLAUSIBLE},
                 {CW_FORM_INCOMPLETE, CW_VALUE_IMPLAUSIBLE},
                 {CW_FORM_UNAVAILABLE, CW_VALUE_UNAVAILABLE},
                 {CW_FORM_NOT_COLLECTED, CW_VALUE_NOT_COLLECTED}};
    set_value(INST, 0, 3300);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        set_form(INST, 0, cases[i].form);
        cr_expect_eq(evaluate("sm__inst.sum.pct_of_peak_sustained_active", 0).status, cases[i].status);
    }
}

Test(eval_plan, throughputs)
{
    set_value(BYTES, 1, 80);
    sample_counters[BYTES].passes = sample_counters[INST].passes;
    EXPECT("sm__throughput.avg.pct_of_peak_sustained_elapsed", 25, CW_VALUE_OK);
    EXPECT_ON(1, "sm__throughput.avg.pct_of_peak_sustained_elapsed", 10, CW_VALUE_OK);
    set_form(BYTES, 0, CW_FORM_UNAVAILABLE);
    EXPECT("sm__throughput.avg.pct_of_peak_sustained_elapsed", 10, CW_VALUE_OK);
    set_form(INST, 0, CW_FORM_UNAVAILABLE);
    EXPECT("sm__throughput.avg.pct_of_peak_sustained_elapsed", NAN, CW_VALUE_UNAVAILABLE);
    set_form(INST, 1, CW_FORM_NOT_COLLECTED);
    EXPECT_ON(1, "sm__throughput.avg.pct_of_peak_sustained_elapsed", NAN, CW_VALUE_NOT_COLLECTED);
    EXPECT("sm__partial_throughput.avg.pct_of_peak_sustained_elapsed", NAN, CW_VALUE_NOT_COLLECTED);
}

Test(eval_plan, mixed_passes)
{
    EXPECT("sm__bytes.sum", 8000, CW_VALUE_OK);
    EXPECT("sm__bytes.sum.per_cycle_active", 40, CW_VALUE_MIXED_PASSES);
    EXPECT("sm__bytes.sum.per_second", 8000 / 2e-6, CW_VALUE_OK); /* time is in both passes */
    EXPECT("sm__split.sum", 7, CW_VALUE_MIXED_PASSES);
    EXPECT("sm__throughput.avg.pct_of_peak_sustained_elapsed", 25, CW_VALUE_MIXED_PASSES);
    EXPECT("sm__bytes.sum.peak_sustained", 32, CW_VALUE_OK);
    set_value(ACTIVE, 0, 0);
    EXPECT("sm__bytes.sum.per_cycle_active", NAN, CW_VALUE_ZERO_DENOMINATOR);
}

/* Values of further passes stand behind those of the counters; whoever needs several takes them from one pass. */
Test(eval_plan, values_are_computed_within_one_pass)
{
    static double rollups[CW_ROLLUP_COUNT][SAMPLE_COUNTERS + 2][SAMPLE_RANGES];
    static uint8_t forms[SAMPLE_COUNTERS + 2][SAMPLE_RANGES];
    static const struct cw_schema_repeat repeats[] = {{ACTIVE, 1}, {HITS, 1}};
    memcpy(forms, sample_forms, sizeof sample_forms);
    for (int r = 0; r < CW_ROLLUP_COUNT; r++) {
        memcpy(rollups[r], sample_rollups[r], sizeof sample_rollups[r]);
        rollups[r][SAMPLE_COUNTERS][0] = r == CW_SUM ? 1600 : 400; /* twice the cycles of the first pass */
        rollups[r][SAMPLE_COUNTERS + 1][0] = r == CW_SUM ? 64 : 16;
        forms[SAMPLE_COUNTERS][0] = forms[SAMPLE_COUNTERS + 1][0] = CW_FORM_ROLLUPS;
        data.rollups[r] = &rollups[r][0][0];
    }
    data.forms = &forms[0][0];
    data.schema.repeats = repeats;
    data.schema.repeat_count = 2;
    EXPECT("sm__bytes.sum.per_cycle_active", 20, CW_VALUE_OK); /* both of the second pass */
    EXPECT("sm__inst.sum.per_cycle_active", 8, CW_VALUE_OK);   /* both of the first */
    EXPECT("sm__cycles_active.sum", 800, CW_VALUE_OK);
    EXPECT("sm__hits.sum", 60, CW_VALUE_OK);
    EXPECT("sm__hit_rate.ratio", 0.75, CW_VALUE_OK);
    EXPECT("sm__hit_bytes.sum.per_cycle_active", 32 * 60 / 200.,
           CW_VALUE_OK); /* derived: the first pass that has all */
    EXPECT("sm__bytes.sum.pct_of_peak_sustained_active", 100 * 20 / 32., CW_VALUE_OK); /* the peak is the device's */
    EXPECT("sm__bytes.sum.per_cycle_elapsed", 8, CW_VALUE_MIXED_PASSES);
    options.frame_ns = 1000;
    EXPECT("sm__hits.sum.per_cycle_in_frame", 60 / 500., CW_VALUE_OK);
    options.frame_ns = 0;
    forms[SAMPLE_COUNTERS][0] = CW_FORM_OVERFLOW;
    EXPECT("sm__bytes.sum.per_cycle_active", 20, CW_VALUE_OVERFLOW);
    sample_counters[LOOKUPS].passes = sample_counters[BYTES].passes;
    EXPECT("sm__hit_rate.ratio", 0.8, CW_VALUE_OK);
    EXPECT("sm__misses.sum", 16, CW_VALUE_OK); /* a derived counter of the second pass */
}

Test(eval_plan, forms)
{
    EXPECT("sm__missing.sum", NAN, CW_VALUE_NOT_COLLECTED);
    EXPECT("sm__missing.sum.peak_sustained", NAN, CW_VALUE_NOT_COLLECTED);
    set_form(INST, 0, CW_FORM_OVERFLOW);
    set_form(INST, 1, CW_FORM_INCOMPLETE);
    EXPECT("sm__inst.sum.per_cycle_active", 8, CW_VALUE_OVERFLOW);
    EXPECT_ON(1, "sm__inst.sum.per_cycle_active", 8, CW_VALUE_INCOMPLETE);
    EXPECT_ON(2, "sm__inst.sum.per_cycle_active", 8, CW_VALUE_OK);
    set_form(ACTIVE, 0, CW_FORM_INCOMPLETE);
    EXPECT("sm__inst.sum.per_cycle_active", 8, CW_VALUE_INCOMPLETE);
    set_form(ACTIVE, 0, CW_FORM_UNAVAILABLE);
    EXPECT("sm__inst.sum.per_cycle_active", NAN, CW_VALUE_UNAVAILABLE);
    set_form(INST, 0, CW_FORM_NOT_COLLECTED);
    EXPECT("sm__inst.sum.per_cycle_active", NAN, CW_VALUE_NOT_COLLECTED);
    EXPECT("sm__inst.sum.peak_sustained", 16, CW_VALUE_OK);
    set_form(HITS, 0, CW_FORM_ZERO);
    sample_rollups[CW_SUM][HITS][0] = NAN; /* whatever the form says */
    EXPECT("sm__hits.sum", NAN, CW_VALUE_UNAVAILABLE);
}

Test(eval_plan, formulas_that_are_not_known)
{
    static const char *const metrics[] = {"sm__odd_rate.ratio", "sm__odd_throughput.avg.pct_of_peak_sustained_active",
                                          "gpu__time.sum.per_cycle_active"};
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++) {
        struct outcome o = evaluate(metrics[i], 0);
        cr_expect(isnan(o.value));
        cr_expect_eq(o.status, CW_VALUE_NOT_COLLECTED);
    }
}

/* hits 60, lookups 80 over four instances */
Test(eval_plan, derived_counters)
{
    EXPECT("sm__misses.sum", 20, CW_VALUE_OK);
    EXPECT("sm__misses.avg", 5, CW_VALUE_OK);
    EXPECT("sm__misses.min", NAN, CW_VALUE_NOT_COLLECTED); /* does not follow */
    EXPECT("sm__misses.sum.per_cycle_active", 0.1, CW_VALUE_OK);
    EXPECT("sm__misses.sum.per_second", 20 / 2e-6, CW_VALUE_OK);
    EXPECT("sm__misses.sum.peak_sustained", NAN, CW_VALUE_NOT_COLLECTED); /* a peak is recorded beside its counter */
    EXPECT("sm__miss_rate.pct", 25, CW_VALUE_OK);
    EXPECT("sm__misses.sum.per_cycle_in_frame", NAN, CW_VALUE_NOT_COLLECTED);
    sample_rollups[CW_MIN][HITS][0] = 3;
    sample_rollups[CW_MAX][HITS][0] = 50;
    EXPECT("sm__hit_bytes.sum", 60 * 32, CW_VALUE_OK);
    EXPECT("sm__hit_bytes.avg", 15 * 32, CW_VALUE_OK);
    EXPECT("sm__hit_bytes.min", 3 * 32, CW_VALUE_OK);
    EXPECT("sm__hit_bytes.max", 50 * 32, CW_VALUE_OK);
    EXPECT("gpu__inst.sum", 1600, CW_VALUE_OK);
    EXPECT("gpu__inst.avg", 1600, CW_VALUE_OK); /* four SMs make one GPU */
    EXPECT("gpu__inst.max", NAN, CW_VALUE_NOT_COLLECTED);
}

Test(eval_plan, derived_counters_that_were_recorded)
{
    EXPECT("sm__split.sum", 7, CW_VALUE_MIXED_PASSES); /* the capture lacks sm__missing */
    sample_counters[TIME].name = "sm__missing";
    EXPECT("sm__split.sum", 2060, CW_VALUE_OK);
    EXPECT("sm__split.min", 1.75, CW_VALUE_MIXED_PASSES); /* the record */
}

/* The capture lacks sm__missing, which a database of its time derived sm__whole without. */
Test(eval_plan, derived_counters_of_another_basis)
{
    EXPECT("sm__whole.sum", 1600 + 2 * 7, CW_VALUE_MIXED_PASSES);
    EXPECT("sm__whole.avg", 400 + 2 * 1.75, CW_VALUE_MIXED_PASSES);
    EXPECT("sm__whole.min", NAN, CW_VALUE_NOT_COLLECTED);
    sample_counters[SPLIT].name = "sm__other";
    EXPECT("sm__whole.sum", NAN, CW_VALUE_NOT_COLLECTED);
}

Test(eval_plan, statuses_of_derived_counters)
{
    EXPECT("sm__wide.sum", 5600, CW_VALUE_MIXED_PASSES);
    static const struct {
        enum cw_value_form form;
        enum cw_value_status status;
    } cases[] = {{CW_FORM_OVERFLOW, CW_VALUE_OVERFLOW},
                 {CW_FORM_INCOMPLETE, CW_VALUE_INCOMPLETE},
                 {CW_FORM_UNAVAILABLE, CW_VALUE_UNAVAILABLE},
                 {CW_FORM_NOT_COLLECTED, CW_VALUE_NOT_COLLECTED}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        set_form(HITS, 0, cases[i].form);
        cr_expect_eq(evaluate("sm__misses.sum", 0).status, cases[i].status);
        cr_expect_eq(evaluate("sm__misses.sum.per_cycle_active", 0).status, cases[i].status);
        EXPECT_ON(1, "sm__misses.sum", 20, CW_VALUE_OK);
    }
    set_value(ACTIVE, 1, 0);
    EXPECT_ON(1, "sm__misses.sum.per_cycle_active", NAN, CW_VALUE_ZERO_DENOMINATOR);
}

Test(eval_plan, copied_values)
{
    static const struct {
        const char *name;
        bool copied;
    } cases[] = {{"sm__inst.sum", true},
                 {"sm__inst.max", true},
                 {"sm__inst.avg.peak_sustained", true},
                 {"sm__inst.sum.per_second", false},
                 {"sm__misses.sum", false},
                 {"sm__hit_bytes.min", false},
                 {"sm__split.sum", true},
                 {"sm__hit_rate.max_rate", false},
                 {"sm__missing.sum", true},
                 {"sm__throughput.avg.pct_of_peak_sustained_elapsed", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cw_metric metric;
        struct cw_eval_plan plan;
        cr_assert(cw_metric_parse(&metric, chip, cases[i].name, &err) == CW_OK, "%s", err.message);
        cr_assert(cw_eval_plan_make(&plan, chip, &data.schema, &metric, 1, &options, arena, &err) == CW_OK);
        cr_expect_eq(plan.metrics[0].copied, cases[i].copied, "%s", cases[i].name);
    }
}

Test(eval_plan, facts_of_a_launch)
{
    static const struct {
        const char *name;
        double value;
    } facts[] = {{"launch__grid_size", 7 * 11 * 13},
                 {"launch__grid_dim_y", 11},
                 {"launch__block_size", 2 * 3 * 5},
                 {"launch__block_dim_z", 5},
                 {"launch__thread_count", 30030}};
    for (int i = 0; i < 3; i++) {
        sample_ranges[0].grid[i] = (const uint32_t[]){7, 11, 13}[i];
        sample_ranges[0].block[i] = (const uint32_t[]){2, 3, 5}[i];
    }
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        EXPECT(facts[i].name, facts[i].value, CW_VALUE_OK);
}

static void set_bit(void *bits, uint32_t column)
{
    *(uint32_t *)bits |= 1u << column;
}

Test(eval_plan, columns_that_a_metric_reads)
{
    struct cw_metric metric;
    struct cw_eval_plan plan;
    uint32_t columns = 0;
    cr_assert(cw_metric_parse(&metric, chip, "sm__misses.sum.per_second", &err) == CW_OK);
    cr_assert(cw_eval_plan_make(&plan, chip, &data.schema, &metric, 1, &options, arena, &err) == CW_OK);
    cw_eval_plan_columns(&plan, 0, set_bit, &columns);
    cr_expect(columns == (1u << LOOKUPS | 1u << HITS | 1u << TIME), "%x", columns);
}

/* More ranges than one block, so that the seams are seen. */
Test(eval_plan, many_ranges)
{
    enum { MANY = 2500 };
    struct cw_metric metric;
    struct cw_eval_plan plan;
    struct cw_range *ranges = cw_arena_alloc(arena, MANY, sizeof *ranges);
    double *values = cw_arena_alloc(arena, MANY, sizeof *values);
    int8_t *statuses = cw_arena_alloc(arena, MANY, 1);
    data.forms = cw_arena_alloc(arena, (size_t)SAMPLE_COUNTERS * MANY, 1);
    memset(data.forms, CW_FORM_ROLLUPS, (size_t)SAMPLE_COUNTERS * MANY);
    for (int r = 0; r < CW_ROLLUP_COUNT; r++) {
        data.rollups[r] = cw_arena_alloc(arena, (size_t)SAMPLE_COUNTERS * MANY, sizeof(double));
        for (size_t i = 0; i < (size_t)SAMPLE_COUNTERS * MANY; i++)
            data.rollups[r][i] = (double)(i + 1);
    }
    for (uint32_t i = 0; i < MANY; i++)
        ranges[i].device = i % 2;
    data.ranges = ranges;
    data.range_count = MANY;
    cr_assert(cw_metric_parse(&metric, chip, "sm__inst.avg.pct_of_peak_sustained_active", &err) == CW_OK);
    cr_assert(cw_eval_plan_make(&plan, chip, &data.schema, &metric, 1, &options, arena, &err) == CW_OK);
    cw_evaluate(&plan, &data, values, statuses);
    for (uint32_t i = 0; i < MANY; i++) {
        double wanted = 100 * ((double)(INST * MANY + i + 1) / (double)(ACTIVE * MANY + i + 1)) / (i % 2 ? 8 : 4);
        cr_assert(fabs(values[i] - wanted) <= 1e-12 * wanted, "range %u", i);
        cr_assert(statuses[i] == CW_VALUE_OK);
    }
}

/* A counter of one GPU, of which sm__inst of a fourth is a part: captures that lack a term have the sum. */
Test(eval_plan, means_of_parts)
{
    sample_counters[INST].name = "gpu__inst";
    EXPECT("sm__whole.sum", 1600 + 2 * 7, CW_VALUE_MIXED_PASSES);
    EXPECT("sm__whole.avg", 400 / 4.0 + 2 * 1.75, CW_VALUE_MIXED_PASSES);
    EXPECT("gpu__inst.sum", 1600, CW_VALUE_OK);
    EXPECT("gpu__inst.avg", 400, CW_VALUE_OK); /* as it was recorded */
    EXPECT("sm__wide.sum", 0.5 * 8000 + 1600, CW_VALUE_MIXED_PASSES);
    EXPECT("sm__wide.avg", 0.5 * 2000 + 400 / 4.0, CW_VALUE_MIXED_PASSES); /* of the GPU's mean, four SMs */
}

Test(eval_plan, facts_of_devices)
{
    static const struct cw_pair first[] = {{"warp_size", "32"}}, second[] = {{"warp_size", "64 "}},
                                third[] = {{"warp_size", "64"}};
    uint32_t fact = 0, grid = 0;
    struct cw_metric metric;
    cr_assert(cw_metric_parse(&metric, chip, "device__attribute_warp_size", &err) == CW_OK);
    fact = metric.base;
    cr_assert(cw_metric_parse(&metric, chip, "launch__grid_size", &err) == CW_OK);
    grid = metric.base;
    const char *key = cw_fact(fact)->key;
    struct cw_pair own[3] = {{key, first->value}, {key, second->value}, {key, third->value}};
    cr_expect(!cw_eval_facts_held(&data, fact) && cw_eval_facts_held(&data, grid));
    sample_devices[0].attributes = &own[0], sample_devices[0].attribute_count = 1;
    sample_devices[1].attributes = &own[2], sample_devices[1].attribute_count = 1;
    double values[SAMPLE_RANGES];
    cw_eval_facts_load(&data, fact, 0, 3, values);
    cr_expect(values[0] == 32 && values[1] == 32 && values[2] == 64);
    cw_eval_facts_load(&data, fact, 1, 2, values);
    cr_expect(values[0] == 32 && values[1] == 64);
    cw_eval_facts_load(&data, grid, 1, 2, values);
    cr_expect(values[0] == 6 && values[1] == 6);
    cr_expect(cw_eval_facts_held(&data, fact));
    sample_devices[0].attributes = sample_devices[1].attributes = &own[1]; /* no number */
    cw_eval_facts_load(&data, fact, 0, 3, values);
    cr_expect(isnan(values[0]) && isnan(values[2]) && !cw_eval_facts_held(&data, fact));
    sample_devices[1].attributes = &own[2];
    cr_expect(cw_eval_facts_held(&data, fact), "of one device");
    for (int i = 0; i < SAMPLE_RANGES; i++)
        sample_ranges[i].grid[i] = 0;
    cr_expect(!cw_eval_facts_held(&data, grid));
    cw_eval_facts_load(&data, grid, 0, 3, values);
    cr_expect(isnan(values[0]) && isnan(values[1]) && isnan(values[2]), "ranges of several launches");
    sample_ranges[2].grid[2] = 3;
    cr_expect(cw_eval_facts_held(&data, grid));
    data.range_count = 0;
    cr_expect(!cw_eval_facts_held(&data, grid) && !cw_eval_facts_held(&data, fact));
    data.range_count = SAMPLE_RANGES;
    data.schema.profiler = CW_PROFILER_PC;
    cr_expect(!cw_eval_facts_held(&data, grid));
    cw_eval_facts_load(&data, grid, 0, 3, values);
    cr_expect(isnan(values[0]) && isnan(values[2]));
}

Test(eval_plan, facts_that_were_recorded)
{
    static const char *const names[] = {"launch__other", "launch__registers_per_thread"};
    double facts[] = {1, 2, 3, 40, 64, NAN};
    struct cw_metric metric;
    cr_assert(cw_metric_parse(&metric, chip, names[1], &err) == CW_OK);
    cr_expect(!cw_eval_facts_held(&data, metric.base));
    data.schema.fact_count = 2, data.schema.fact_names = names, data.facts = facts;
    cr_expect(cw_eval_facts_held(&data, metric.base));
    EXPECT(names[1], 40, CW_VALUE_OK);
    EXPECT_ON(1, names[1], 64, CW_VALUE_OK);
    EXPECT_ON(2, names[1], NAN, CW_VALUE_NOT_COLLECTED);
    facts[3] = facts[4] = NAN;
    cr_expect(!cw_eval_facts_held(&data, metric.base));
}

/* ---- beside the values of others --------------------------------------------------------------------------------- */

static void compare_with(const double *wanted, enum cw_status status, const char *text)
{
    static const char *const names[] = {"sm__inst.sum", "sm__inst.sum.per_cycle_active",
                                        "sm__inst.sum.peak_sustained_frame", "sm__missing.sum"};
    static struct cw_metric metrics[4];
    struct cw_result r = {.chip = chip, .data = &data, .metrics = metrics, .metric_count = 4};
    const struct cw_reference reference = {4, 3, names, wanted};
    char *printed = NULL;
    size_t size;
    for (int i = 0; i < 4; i++)
        cr_assert(cw_metric_parse(&metrics[i], chip, names[i], &err) == CW_OK);
    cr_assert(cw_result_make(&r, &options, arena, &err) == CW_OK);
    FILE *out = open_memstream(&printed, &size);
    err = (struct cw_error)CW_ERROR_INIT;
    cr_expect(cw_reference_compare(&reference, &r, out, &err) == status);
    fclose(out);
    cr_expect_str_eq(printed, text, "%s", printed);
    free(printed);
}

/* Of the first metric's values three are as in the capture; frames have no duration, and a graph is not counted. */
Test(eval_plan, beside_the_values_of_others)
{
    static const struct cw_pair graph = {"graphs", "1"};
    double wanted[3][4] = {{1600, 8, 0, NAN}, {1600.0000000001, INFINITY, INFINITY, NAN}, {1600, 8 + 1e-12, 0, NAN}};
    set_value(ACTIVE, 1, 0);
    compare_with(&wanted[0][0], CW_OK,
                 "9 values equal, 0 differ: computed 3 and 0, copied from the capture 6 and 0\n"
                 "3 values of frames and regions left out, which have no duration\n");
    wanted[0][0] = 1601, wanted[1][1] = 8, wanted[2][2] = 5, wanted[0][3] = 7;
    compare_with(&wanted[0][0], CW_ERR_DIFFERS,
                 "sm__inst.sum, range 0 (first): got 1600, wanted 1601\n"
                 "sm__missing.sum, range 0 (first): got nan, wanted 7\n"
                 "sm__inst.sum.per_cycle_active, range 1 (se\"co,nd): got nan, wanted 8\n"
                 "sm__inst.sum.peak_sustained_frame, range 2 (third): got nan, wanted 5\n"
                 "6 values equal, 4 differ: computed 2 and 2, copied from the capture 4 and 2\n"
                 "2 values of frames and regions left out, which have no duration\n");
    cr_expect(strstr(err.message, "found 4 values that differ from the reference"), "%s", err.message);
    sample_ranges[0].attributes = &graph, sample_ranges[0].attribute_count = 1;
    wanted[0][0] = 1600, wanted[2][2] = 0;
    compare_with(&wanted[0][0], CW_ERR_DIFFERS,
                 "sm__inst.sum.per_cycle_active, range 1 (se\"co,nd): got nan, wanted 8\n"
                 "7 values equal, 1 differ: computed 2 and 1, copied from the capture 5 and 0\n"
                 "1 values of ranges with CUDA graphs left out, which were not collected\n"
                 "3 values of frames and regions left out, which have no duration\n");
    cr_expect(strstr(err.message, "found 1 value that differs from the reference"), "%s", err.message);
}

Test(eval_plan, values_of_others_of_another_shape)
{
    struct cw_metric metric;
    struct cw_result r = {.chip = chip, .data = &data, .metrics = &metric, .metric_count = 1};
    const double values[8] = {0};
    struct cw_reference reference = {1, 2, NULL, values};
    cr_assert(cw_metric_parse(&metric, chip, "sm__inst.sum", &err) == CW_OK);
    cr_assert(cw_result_make(&r, &options, arena, &err) == CW_OK);
    cr_expect(cw_reference_compare(&reference, &r, stderr, &err) == CW_ERR_INPUT);
    reference = (struct cw_reference){2, 3, NULL, values};
    cr_expect(cw_reference_compare(&reference, &r, stderr, &err) == CW_ERR_INPUT);
    cr_expect(cw_reference_equal(1, 1 + 9e-13) && !cw_reference_equal(1, 1 + 3e-12) && cw_reference_equal(NAN, NAN) &&
              !cw_reference_equal(NAN, 1) && cw_reference_equal(INFINITY, INFINITY) &&
              !cw_reference_equal(INFINITY, -INFINITY) && !cw_reference_equal(1, INFINITY) &&
              cw_reference_equal(0, -0.0) && cw_reference_equal(-1, -1 - 1e-13) && !cw_reference_equal(2, -2));
}

/* At most 20 are shown, and all are counted. */
Test(eval_plan, values_of_others_that_all_differ)
{
    enum { MANY = 25 };
    static double rollups[CW_ROLLUP_COUNT][SAMPLE_COUNTERS][MANY], wanted[MANY];
    static uint8_t forms[SAMPLE_COUNTERS][MANY];
    struct cw_range ranges[MANY];
    struct cw_metric metric;
    struct cw_result r = {.chip = chip, .data = &data, .metrics = &metric, .metric_count = 1};
    const struct cw_reference reference = {1, MANY, NULL, wanted};
    char *printed = NULL;
    size_t size, lines = 0;
    memset(forms, CW_FORM_ROLLUPS, sizeof forms);
    for (int i = 0; i < MANY; i++) {
        ranges[i] = sample_ranges[0];
        rollups[CW_SUM][INST][i] = 1 + i;
    }
    for (int c = 0; c < CW_ROLLUP_COUNT; c++)
        data.rollups[c] = &rollups[c][0][0];
    data.forms = &forms[0][0], data.ranges = ranges, data.range_count = MANY;
    cr_assert(cw_metric_parse(&metric, chip, "sm__inst.sum", &err) == CW_OK);
    cr_assert(cw_result_make(&r, &options, arena, &err) == CW_OK);
    FILE *out = open_memstream(&printed, &size);
    cr_expect(cw_reference_compare(&reference, &r, out, &err) == CW_ERR_DIFFERS);
    fclose(out);
    for (const char *at = printed; (at = strchr(at, '\n')); at++)
        lines++;
    cr_expect(lines == 21 && strstr(printed, "0 values equal, 25 differ: computed 0 and 0, copied from the capture 0 "
                                             "and 25\n"));
    free(printed);
}

/* ---- numbers, orders and quantiles ------------------------------------------------------------------------------- */

Test(eval_plan, numbers_of_labels_and_keys)
{
    static const char *const texts[] = {"b", "a", "b", "c", "a", NULL};
    static const uint32_t wanted[] = {2, 1, 2, 3, 1, 0};
    const uint32_t *numbers = cw_labels_number(texts, 6, arena);
    for (int i = 0; i < 6; i++)
        cr_expect(numbers[i] == wanted[i], "%d", i);
    struct cw_keys keys = {0};
    for (uint64_t round = 0; round < 2; round++)
        for (uint64_t i = 0; i < 1000; i++) { /* each part tells keys apart */
            struct cw_key key = {{5, 5, 5, 5}};
            key.part[i % 4] = i / 4 + 6;
            cr_assert(cw_keys_find(&keys, key) == (round ? i : CW_NO_KEY));
            cr_assert(cw_keys_add(&keys, key) == i && cw_keys_add(&keys, key) == i && cw_keys_find(&keys, key) == i);
        }
    cr_expect(keys.count == 1000);
    cw_keys_free(&keys);
    cr_expect(keys.count == 0 && !keys.items);
}

struct ordered {
    int key, place;
};

static bool is_after(const void *a, const void *b)
{
    return ((const struct ordered *)a)->key > ((const struct ordered *)b)->key;
}

/* Equal items keep their order: of every number of items and of few and many runs. */
Test(eval_plan, orders)
{
    enum { MOST_ITEMS = 70 };
    for (uint32_t count = 0; count <= MOST_ITEMS; count++)
        for (int step = 1; step <= 11; step += 2) {
            struct ordered items[MOST_ITEMS];
            uint32_t order[MOST_ITEMS], room[MOST_ITEMS];
            for (uint32_t i = 0; i < count; i++) {
                items[i] = (struct ordered){(int)i * step * 7919 % 13, (int)i};
                order[i] = i;
            }
            const struct cw_order_items of = {items, sizeof *items, count, NULL};
            cw_order_sort(&of, order, room, count, is_after);
            cw_order_apply(&of, order);
            for (uint32_t i = 1; i < count; i++)
                cr_assert(items[i - 1].key < items[i].key ||
                              (items[i - 1].key == items[i].key && items[i - 1].place < items[i].place),
                          "%u items, step %d: %u", count, step, i);
            uint32_t sum = 0;
            for (uint32_t i = 0; i < count; i++)
                sum += (uint32_t)items[i].place;
            cr_assert(sum == count * (count - (count > 0)) / 2);
        }
}

Test(eval_plan, quantiles_between_values)
{
    const double values[] = {1, 2, 4, 8};
    static const double parts[][2] = {{0, 1}, {0.25, 1.75}, {1.0 / 3, 2}, {0.5, 3}, {0.75, 5}, {0.9, 6.8}, {1, 8}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        cr_expect_float_eq(cw_quantile(values, 4, parts[i][0]), parts[i][1], 1e-12, "%g", parts[i][0]);
    for (uint32_t count = 1; count <= 40; count++)
        for (uint32_t step = 1; step <= 17; step += 4) {
            double list[40], sorted[40];
            for (uint32_t i = 0; i < count; i++)
                list[i] = sorted[i] = i * step * 7919 % 23;
            cw_values_sort(sorted, count);
            cr_assert(cw_median(list, count) == (sorted[count / 2] + sorted[(count - 1) / 2]) / 2, "%u, %u", count,
                      step);
        }
    cr_expect(isnan(cw_median(NULL, 0)) && isnan(cw_sample_deviation(4, 1)) && cw_sample_deviation(9, 2) == 3);
}
