#include "tests/unit/eval_sample.h"

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
