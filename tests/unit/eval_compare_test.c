#include "tests/unit/eval_sample.h"

#include "eval/compare/compare.h"

TestSuite(eval_compare, .init = set_up, .fini = tear_down);

static struct cw_comparison c;
static struct cw_counter_data other;
static struct cw_range other_ranges[SAMPLE_RANGES];
static struct cw_device other_devices[2];
static double other_rollups[CW_ROLLUP_COUNT][SAMPLE_COUNTERS][SAMPLE_RANGES];

/* A copy of the sample, to be changed before compare(). */
static void copy(void)
{
    memcpy(other_rollups, sample_rollups, sizeof other_rollups);
    memcpy(other_ranges, sample_ranges, sizeof other_ranges);
    memcpy(other_devices, sample_devices, sizeof other_devices);
    memcpy(sample_facts[1], sample_facts[0], sizeof sample_facts[0]); /* all three launches are of one model */
    other = data;
    other.ranges = other_ranges;
    other.devices = other_devices;
    for (int r = 0; r < CW_ROLLUP_COUNT; r++)
        other.rollups[r] = &other_rollups[r][0][0];
}

static void compare_runs(enum cw_group_by by, const uint32_t runs[2])
{
    static struct cw_metric metrics[2];
    const struct cw_eval_options options = {0};
    cr_assert(cw_metric_parse(&metrics[0], chip, "sm__inst.sum", &err) == CW_OK);
    cr_assert(cw_metric_parse(&metrics[1], chip, "sm__hit_rate.ratio", &err) == CW_OK);
    const struct cw_result a = {.chip = chip, .data = &data, .source = "a", .metrics = metrics, .metric_count = 2};
    struct cw_result b = a;
    b.data = &other;
    cr_assert(cw_compare(&c, &a, &b, runs, by, true, &options, arena, &err) == CW_OK, "%s", err.message);
}

static void compare(enum cw_group_by by)
{
    compare_runs(by, NULL);
}

static void scale(int counter, int range, double factor)
{
    for (int r = 0; r < CW_ROLLUP_COUNT; r++)
        other_rollups[r][counter][range] *= factor;
}

Test(eval_compare, times_are_those_of_a_mean_run)
{
    copy();
    compare_runs(CW_BY_KERNEL, (const uint32_t[2]){2, 1});
    const double a = c.a.groups.total, b = c.b.groups.total;
    cr_expect(2 * a == b && c.matches[0].change == b - a && c.a.groups.items[0].total == a);
    cr_expect(2 * cw_side_launches(&c.a, 0) == cw_side_launches(&c.b, 0));
}

Test(eval_compare, nothing_changed)
{
    copy();
    compare(CW_BY_KERNEL);
    cr_assert(c.match_count == 1 && c.difference_count == 0);
    cr_expect(c.matches[0].change == 0 && !c.matches[0].reshaped);
    cr_expect(!cw_compare_metric(&c, c.matches, 0).changed && !cw_compare_time(&c, c.matches).changed);
}

Test(eval_compare, the_nth_launch_is_compared_with_the_nth)
{
    set_value(INST, 0, 100), set_value(INST, 1, 5000), set_value(INST, 2, 90000);
    copy();
    for (int i = 0; i < SAMPLE_RANGES; i++)
        other_rollups[CW_SUM][INST][i] += 50;
    compare(CW_BY_KERNEL);
    struct cw_change change = cw_compare_metric(&c, c.matches, 0);
    cr_expect(change.spread == 0 && change.freedom == 2 && change.changed, "each launch has 50 more");
    cr_expect(change.b - change.a == 50);
    other.range_count = 0;
}

Test(eval_compare, what_the_spread_makes_is_no_change)
{
    set_value(INST, 0, 100), set_value(INST, 1, 100), set_value(INST, 2, 100);
    copy();
    scale(INST, 0, 1.5);
    scale(INST, 1, 0.9);
    compare(CW_BY_KERNEL);
    struct cw_change change = cw_compare_metric(&c, c.matches, 0);
    cr_expect(change.relative > 0.1 && change.spread > 0 && !change.changed);
}

Test(eval_compare, shapes_and_names)
{
    copy();
    other_ranges[2].grid[0] += 7;
    compare(CW_BY_KERNEL);
    cr_assert(c.match_count == 2, "two launches as before, and one of another shape");
    const struct cw_match *added = c.matches[0].a == CW_NO_GROUP ? &c.matches[0] : &c.matches[1];
    cr_expect(added->a == CW_NO_GROUP && added->change > 0);
    for (int i = 0; i < SAMPLE_RANGES; i++)
        other_ranges[i].grid[0] = 77;
    compare(CW_BY_KERNEL);
    cr_assert(c.match_count == 1);
    cr_expect(c.matches[0].reshaped, "one kernel whose shape changed");
    for (int i = 0; i < SAMPLE_RANGES; i++)
        other_ranges[i].kernel = other_ranges[i].name = "_Zother";
    compare(CW_BY_KERNEL);
    cr_assert(c.match_count == 2);
    cr_expect((c.matches[0].a == CW_NO_GROUP) != (c.matches[0].b == CW_NO_GROUP), "one is gone, one is added");
}

Test(eval_compare, single_launches)
{
    data.range_count = 1; /* of three: rows of counters are as long */
    copy();
    data.range_count = other.range_count = SAMPLE_RANGES;
    for (int i = 0; i < SAMPLE_RANGES; i++) {
        sample_ranges[i].grid[0] = other_ranges[i].grid[0] = 1 + (uint32_t)i;
        scale(INST, i, 1.01);
        scale(TIME, i, 1.01);
    }
    compare(CW_BY_KERNEL);
    cr_assert(c.match_count == 3);
    struct cw_change time = cw_compare_time(&c, c.matches);
    cr_expect(isnan(time.spread) && !time.changed, "1 %% of one launch may be chance");
    for (int i = 0; i < SAMPLE_RANGES; i++)
        scale(TIME, i, 1.05);
    compare(CW_BY_KERNEL);
    cr_expect(cw_compare_time(&c, c.matches).changed);
}

Test(eval_compare, dust_is_little_of_what_its_unit_has)
{
    double greatest[4] = {1e300, 1e300, 1e300, 1e300}; /* of a match before */
    set_value(INST, 0, 1000), set_value(INST, 1, 1000), set_value(INST, 2, 1000);
    copy();
    scale(INST, 0, 1.006), scale(INST, 1, 1.006), scale(INST, 2, 1.006);
    compare(CW_BY_KERNEL);
    cr_assert(c.unit_count >= 1 && c.unit_count <= 2);
    cw_compare_greatest(&c, c.matches, greatest);
    struct cw_change change = cw_compare_metric(&c, c.matches, 0);
    const double weight = cw_compare_weight(&c, 0, &change, greatest);
    cr_expect(change.changed && weight < CW_DUST && weight > CW_DUST / 2, "%g", weight);
    greatest[c.units[0]] = 100;
    cr_expect(cw_compare_weight(&c, 0, &change, greatest) > CW_DUST);
    greatest[c.units[0]] = 0; /* nothing is known of the unit's values */
    change.b = change.a;
    cr_expect(cw_compare_weight(&c, 0, &change, greatest) == INFINITY);
}

Test(eval_compare, raw_counters_that_a_name_stood_for)
{
    static struct cw_meaning old[] = {{"sm__b", 7, 1}, {"sm__a", 5, 1}}, new[] = {{"sm__a", 5, 2}, {"sm__b", 8, 1}};
    copy();
    data.schema.meanings = old, other.schema.meanings = new;
    data.schema.meaning_count = other.schema.meaning_count = 2;
    compare(CW_BY_KERNEL);
    data.schema.meaning_count = 0;
    cr_assert(c.difference_count == 1, "another formula is no difference: %u", c.difference_count);
    cr_expect_str_eq(c.differences[0].a, "1: sm__b");
    cr_expect(c.differences[0].other);
}

Test(eval_compare, what_captures_are_of)
{
    static struct cw_pair old[] = {{"name", "GPU A"}, {"driver", "1"}, {"pci", "0"}};
    static struct cw_pair new[] = {{"name", "GPU A"}, {"driver", "2"}, {"pci", "1"}, {"clock_khz", "5"}};
    copy();
    sample_devices[0].attributes = old, sample_devices[0].attribute_count = 3;
    other_devices[0].attributes = new, other_devices[0].attribute_count = 4;
    other.schema.pass_count = 1;
    compare(CW_BY_KERNEL);
    cr_assert(c.difference_count == 3, "driver, clock, passes, and not where the device sits: %u", c.difference_count);
    cr_expect_str_eq(c.differences[0].what, "driver");
    cr_expect(!c.differences[0].other);
    cr_expect_str_eq(c.differences[1].a, "");
    cr_expect(c.differences[2].other, "another plan");
}

/* The second device of a capture is none of the other, which has one. */
Test(eval_compare, devices_of_one_alone)
{
    static const struct cw_pair second[] = {{"name", "Big"}};
    static const struct cw_gpu_clock slow[] = {{0, 1000, 500, 0}}, fast[] = {{0, 1500, 500, 0}};
    static const struct cw_gpu_clocks slow_clocks = {1, 1, slow}, fast_clocks = {1, 1, fast};
    copy();
    other_devices[1].attributes = second, other_devices[1].attribute_count = 1;
    data.clocks = &slow_clocks, other.clocks = &fast_clocks;
    data.clocks_count = other.clocks_count = 1;
    for (int i = 0; i < 2; i++) {
        sample_ranges[2].device = other_ranges[2].device = 0;
        data.device_count = 2 - (uint32_t)i, other.device_count = 1 + (uint32_t)i;
        compare(CW_BY_KERNEL);
        cr_assert(c.difference_count == 1, "%u", c.difference_count);
        cr_expect_str_eq(c.differences[0].what, "devices");
    }
}

Test(eval_compare, counters_of_one_alone)
{
    static struct cw_schema_counter counters[SAMPLE_COUNTERS];
    copy();
    memcpy(counters, data.schema.counters, sizeof counters);
    counters[0].name = "other__counter";
    other.schema.counters = counters;
    compare(CW_BY_KERNEL);
    cr_assert(c.difference_count == 1);
    cr_expect_str_eq(c.differences[0].what, "counters of one alone");
    cr_expect_str_eq(c.differences[0].a, cw_arena_printf(arena, "1: %s", data.schema.counters[0].name));
    cr_expect_str_eq(c.differences[0].b, "1: other__counter");
    other.schema.counters = data.schema.counters;
    for (int side = 0; side < 2; side++) { /* what one side lacks is a difference, though it has nothing instead */
        data.schema.counter_count = SAMPLE_COUNTERS - side;
        other.schema.counter_count = SAMPLE_COUNTERS - !side;
        compare(CW_BY_KERNEL);
        cr_assert(c.difference_count == 1);
        cr_expect_str_eq(side ? c.differences[0].b : c.differences[0].a, "1: sm__split");
        cr_expect_str_eq(side ? c.differences[0].a : c.differences[0].b, "none");
    }
}

Test(eval_compare, relative_differences)
{
    cr_expect(cw_compare_relative(0, 0) == 0 && cw_compare_relative(5, 5) == 0);
    cr_expect(cw_compare_relative(0, 5) == 1 && cw_compare_relative(4, 5) == 0.2 && cw_compare_relative(-5, 5) == 2);
    cr_expect(cw_compare_relative(INFINITY, INFINITY) == 0 && cw_compare_relative(INFINITY, 1) == 1);
    cr_expect(cw_compare_relative(-INFINITY, INFINITY) == 1);
    cr_expect(isnan(cw_compare_relative(NAN, 1)) && isnan(cw_compare_relative(INFINITY, NAN)));
}

Test(eval_compare, of_a_value_that_overflowed_nobody_knows_whether_it_changed)
{
    const enum cw_value_form forms[] = {CW_FORM_OVERFLOW, CW_FORM_INCOMPLETE};
    const enum cw_value_status statuses[] = {CW_VALUE_OVERFLOW, CW_VALUE_INCOMPLETE};
    uint8_t other_forms[SAMPLE_COUNTERS][SAMPLE_RANGES];
    for (int i = 0; i < 2; i++) {
        copy();
        memcpy(other_forms, sample_forms, sizeof other_forms);
        for (int r = 0; r < SAMPLE_RANGES; r++)
            other_forms[INST][r] = (uint8_t)forms[i];
        other.forms = &other_forms[0][0];
        for (int factor = 1; factor <= 4; factor += 3) {
            for (int r = 0; r < SAMPLE_RANGES; r++)
                scale(INST, r, factor);
            compare(CW_BY_KERNEL);
            const struct cw_change change = cw_compare_metric(&c, &c.matches[0], 0);
            cr_expect(change.unjudged && !change.changed && change.a_status == CW_VALUE_OK &&
                      change.b_status == statuses[i]);
            const struct cw_change time = cw_compare_time(&c, &c.matches[0]);
            cr_expect(!time.unjudged && !time.changed);
        }
    }
}

/* ---- spreads by hand --------------------------------------------------------------------------------------------- */

/* The copy with so many launches; the values of a counter in each. */
static void shorten(uint32_t count)
{
    other.range_count = count;
    for (int r = 0; r < CW_ROLLUP_COUNT; r++)
        for (int k = 0; k < SAMPLE_COUNTERS; k++)
            for (uint32_t i = 0; i < count; i++)
                (&other_rollups[r][0][0])[(size_t)k * count + i] = sample_rollups[r][k][i];
}

static void put_other(int counter, const double *sums)
{
    for (int r = 0; r < CW_ROLLUP_COUNT; r++)
        for (uint32_t i = 0; i < other.range_count; i++)
            (&other_rollups[r][0][0])[(size_t)counter * other.range_count + i] = sums[i] / (r == CW_SUM ? 1 : 4);
}

static void expect_change(const struct cw_change *change, double a, double b, double spread, unsigned freedom)
{
    cr_expect(change->a == a && change->b == b, "%g, %g", change->a, change->b);
    cr_expect_float_eq(change->spread, spread, 1e-9, "%g", change->spread);
    cr_expect(change->freedom == freedom, "%u", change->freedom);
    cr_expect_float_eq(change->relative, fabs(b - a) / fmax(a, b), 1e-12);
}

Test(eval_compare, a_value_of_one_side_alone_did_not_change)
{
    for (int i = 0; i < 2; i++) {
        for (int r = 0; r < SAMPLE_RANGES; r++)
            set_value(INST, r, i ? INFINITY : 1600);
        copy();
        put_other(INST, (const double[]){NAN, NAN, NAN});
        compare(CW_BY_KERNEL);
        const struct cw_change change = cw_compare_metric(&c, c.matches, 0);
        cr_expect(isnan(change.b) && !isnan(change.a) && isnan(change.relative) && !change.changed);
    }
}

Test(eval_compare, spreads_of_pairs)
{
    set_value(INST, 0, 100), set_value(INST, 1, 200), set_value(INST, 2, 600);
    set_value(TIME, 0, 1000), set_value(TIME, 1, 2000), set_value(TIME, 2, 3000);
    copy();
    put_other(INST, (const double[]){110, 230, 650});    /* 10, 30 and 50 more */
    put_other(TIME, (const double[]){1100, 2000, 3200}); /* 100, 0 and 200 more */
    compare(CW_BY_KERNEL);
    const struct cw_change inst = cw_compare_metric(&c, c.matches, 0), time = cw_compare_time(&c, c.matches);
    expect_change(&inst, 300, 330, sqrt(800.0 / 2 / 3), 2);
    expect_change(&time, 2000, 2100, sqrt(20000.0 / 2 / 3), 2);
    cr_expect(c.matches[0].change == 300);
}

Test(eval_compare, spreads_of_other_numbers_of_launches)
{
    set_value(INST, 0, 100), set_value(INST, 1, 200), set_value(INST, 2, 600);
    set_value(TIME, 0, 1000), set_value(TIME, 1, 2000), set_value(TIME, 2, 3000);
    copy();
    shorten(2);
    put_other(INST, (const double[]){500, 700});
    put_other(TIME, (const double[]){4000, 6000});
    compare(CW_BY_KERNEL);
    cr_assert(c.match_count == 1);
    struct cw_change inst = cw_compare_metric(&c, c.matches, 0), time = cw_compare_time(&c, c.matches);
    const double parts = 1.0 / 3 + 1.0 / 2;
    expect_change(&inst, 300, 600, sqrt((140000.0 + 20000) / 3 * parts), 3);
    expect_change(&time, 2000, 5000, sqrt((2e6 + 2e6) / 3 * parts), 3);
    cr_expect(c.matches[0].change == 4000 && !inst.changed && !inst.unjudged && !time.unjudged);
    shorten(1);
    put_other(INST, (const double[]){500});
    put_other(TIME, (const double[]){NAN});
    compare(CW_BY_KERNEL);
    inst = cw_compare_metric(&c, c.matches, 0), time = cw_compare_time(&c, c.matches);
    expect_change(&inst, 300, 500, sqrt(140000.0 / 2 * (1.0 / 3 + 1)), 2);
    cr_expect(time.unjudged && !time.changed && isnan(time.b) && time.a == 2000, "one side alone knows it");
    cr_expect(isnan(c.matches[0].change));
}

/* As of captures that are not in memory: values of launches are evaluated one after another. */
Test(eval_compare, spreads_of_streamed_launches)
{
    enum { COLUMNS = SAMPLE_COUNTERS + 1 };
    static const struct cw_schema_repeat repeat = {BYTES, 0};
    static double wide[2][CW_ROLLUP_COUNT][COLUMNS][SAMPLE_RANGES];
    static uint8_t wide_forms[COLUMNS][SAMPLE_RANGES];
    static const double inst[2][SAMPLE_RANGES] = {{100, 200, 600}, {650, 7, 110}};
    sample_ranges[1].kernel = sample_ranges[1].name = "other";
    copy();
    for (int i = 0; i < SAMPLE_RANGES; i++) {
        other_ranges[i].kernel = i == 1 ? "new" : "_Zk";
        other_ranges[i].name = "first";
    }
    memset(wide_forms, CW_FORM_ROLLUPS, sizeof wide_forms);
    for (int s = 0; s < 2; s++)
        for (int r = 0; r < CW_ROLLUP_COUNT; r++) {
            memcpy(wide[s][r], sample_rollups[r], sizeof sample_rollups[r]);
            memcpy(wide[s][r][SAMPLE_COUNTERS], sample_rollups[r][BYTES], sizeof sample_rollups[r][BYTES]);
            for (int i = 0; i < SAMPLE_RANGES; i++)
                wide[s][r][INST][i] = inst[s][i] / (r == CW_SUM ? 1 : 4);
            (s ? &other : &data)->rollups[r] = &wide[s][r][0][0];
        }
    data.forms = other.forms = &wide_forms[0][0];
    data.schema.repeat_count = other.schema.repeat_count = 1;
    data.schema.repeats = other.schema.repeats = &repeat;
    compare(CW_BY_KERNEL);
    cr_assert(c.match_count == 3);
    for (uint32_t i = 0; i < 3; i++)
        if (c.matches[i].a != CW_NO_GROUP && c.matches[i].b != CW_NO_GROUP) {
            const struct cw_change change = cw_compare_metric(&c, &c.matches[i], 0);
            expect_change(&change, 350, 380, 520, 1); /* 550 more and 490 less: 1,040 apart, over sqrt(2) twice */
        }
    copy();
    for (int r = 0; r < CW_ROLLUP_COUNT; r++)
        other.rollups[r] = &wide[1][r][0][0];
    other_ranges[1].kernel = other_ranges[1].name = "_Zk";
    compare(CW_BY_KERNEL);
    for (uint32_t i = 0; i < c.match_count; i++)
        if (c.matches[i].a != CW_NO_GROUP && c.matches[i].b != CW_NO_GROUP) { /* two launches beside three */
            const struct cw_change change = cw_compare_metric(&c, &c.matches[i], 0);
            const double mean = (650 + 7 + 110) / 3.0,
                         squares = pow(650 - mean, 2) + pow(7 - mean, 2) + pow(110 - mean, 2);
            cr_expect(c.match_count == 2 && change.freedom == 3);
            cr_expect_float_eq(change.spread, sqrt((2 * 250 * 250 + squares) / 3 * (1.0 / 2 + 1.0 / 3)), 1e-9);
            const struct cw_change rate = cw_compare_metric(&c, &c.matches[i], 1);
            expect_change(&rate, 0.75, 0.75, 0, 3);
        }
}

/* Three kernels: one of two launches that come in another order, one that is gone and one that is new. */
Test(eval_compare, launches_of_several_kernels)
{
    set_value(INST, 0, 7), set_value(INST, 1, 100), set_value(INST, 2, 300);
    sample_ranges[0].kernel = sample_ranges[0].name = "gone";
    copy();
    other_ranges[0].kernel = other_ranges[0].name = "_Zk";
    other_ranges[1].kernel = other_ranges[1].name = "new";
    other_ranges[0].name = other_ranges[2].name = sample_ranges[1].name;
    put_other(INST, (const double[]){110, 9, 350}); /* 10 and 50 more */
    put_other(TIME, (const double[]){2000, 2600, 2000});
    compare(CW_BY_KERNEL);
    cr_assert(c.match_count == 3);
    cr_expect(c.matches[0].a == CW_NO_GROUP && c.matches[0].change == 2600, "the greatest change is first");
    cr_expect(c.matches[1].b == CW_NO_GROUP && c.matches[1].change == -2000);
    cr_expect(c.matches[2].change == 0 && !c.matches[2].reshaped);
    const struct cw_change inst = cw_compare_metric(&c, &c.matches[2], 0);
    expect_change(&inst, 200, 230, sqrt(800.0 / 1 / 2), 1);
}

/* Passes took other turns, so that no pair of launches has the value on both sides. */
Test(eval_compare, spreads_of_multiplexed_launches)
{
    static const struct cw_pair multiplexed[] = {{"replay", "multiplex"}};
    static uint8_t other_forms[SAMPLE_COUNTERS][SAMPLE_RANGES];
    for (int i = 0; i < SAMPLE_RANGES; i++) {
        sample_ranges[i].attributes = multiplexed;
        sample_ranges[i].attribute_count = 1;
    }
    set_value(INST, 0, 100), set_value(INST, 2, 160);
    copy();
    memcpy(other_forms, sample_forms, sizeof other_forms);
    other.forms = &other_forms[0][0];
    set_form(INST, 1, CW_FORM_NOT_COLLECTED);
    other_forms[INST][0] = other_forms[INST][2] = CW_FORM_NOT_COLLECTED;
    put_other(INST, (const double[]){NAN, 150, NAN});
    compare(CW_BY_KERNEL);
    const struct cw_change inst = cw_compare_metric(&c, c.matches, 0);
    expect_change(&inst, 130, 150, sqrt(1800.0 / 1 * (1.0 / 2 + 1)), 1);
}

/* By chance once in ten thousand times: of two degrees of freedom, from 100 standard errors on (half of it on a side).
 */
Test(eval_compare, the_least_change)
{
    static const struct {
        double by[3];
        bool changed;
    } rows[] = {{{50000, 50000, 50000}, true},  {{50000, 50001, 50002}, true},
                {{900, 900.1, 900.2}, false},   {{1100, 1100.1, 1100.2}, true},
                {{50000, 50950, 51900}, false}, {{50000, 50800, 51600}, true},
                {{1e-7, 1e-7, 1e-7}, false},    {{1, 1, 1}, true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double sums[3];
        for (int k = 0; k < 3; k++) {
            set_value(INST, k, 1e6);
            sums[k] = 1e6 + rows[i].by[k];
        }
        copy();
        put_other(INST, sums);
        compare(CW_BY_KERNEL);
        cr_expect(cw_compare_metric(&c, c.matches, 0).changed == rows[i].changed, "row %zu", i);
    }
}

/* Of single launches: 2 % of a measured value, and anything of an exact count. */
Test(eval_compare, the_least_change_of_single_launches)
{
    static const struct {
        double factor;
        bool measured, exact;
    } rows[] = {
        {1, false, false}, {1 + 1e-9, false, true}, {1.0203, false, true}, {1.021, true, true}, {0.97, true, true}};
    for (int i = 0; i < SAMPLE_RANGES; i++)
        sample_ranges[i].grid[0] = 1 + (uint32_t)i;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        copy();
        scale(INST, 0, rows[i].factor);
        compare(CW_BY_KERNEL);
        const struct cw_match *match = c.matches;
        while (match->a != 0)
            match++;
        enum cw_metric_class *classes = (enum cw_metric_class *)c.classes;
        classes[0] = CW_CLASS_MEASURED;
        cr_expect(cw_compare_metric(&c, match, 0).changed == rows[i].measured, "row %zu", i);
        classes[0] = CW_CLASS_EXACT;
        cr_expect(cw_compare_metric(&c, match, 0).changed == rows[i].exact, "row %zu", i);
    }
}

Test(eval_compare, parts_as_people_say_them)
{
    cr_expect(cw_compare_part(0, 0) == 0 && cw_compare_part(2, 3) == 0.5 && cw_compare_part(-2, -1) == 0.5 &&
              cw_compare_part(4, 1) == -0.75);
    cr_expect(isnan(cw_compare_part(0, 5)) && isnan(cw_compare_part(1, INFINITY)) && isnan(cw_compare_part(NAN, 1)));
}

/* ---- which is which ---------------------------------------------------------------------------------------------- */

Test(eval_compare, equal_changes_are_in_the_order_of_groups)
{
    static const char *const kernels[] = {"_Zc", "_Za", "_Zb"};
    for (int i = 0; i < SAMPLE_RANGES; i++)
        sample_ranges[i].kernel = kernels[i];
    set_value(TIME, 0, 3000), set_value(TIME, 1, 2000), set_value(TIME, 2, 1000);
    copy();
    put_other(TIME, (const double[]){3500, 1500, NAN});
    compare(CW_BY_KERNEL);
    cr_assert(c.match_count == 3);
    for (uint32_t i = 0; i < 3; i++)
        cr_expect(c.matches[i].a == i, "%u: %u", i, c.matches[i].a);
    cr_expect(c.matches[0].change == 500 && c.matches[1].change == -500 && isnan(c.matches[2].change),
              "unknown changes are last");
    for (int i = 0; i < SAMPLE_RANGES; i++) /* all of another name and of one time: those of A, then those of B */
        other_ranges[i].kernel = i == 0 ? "_Zf" : i == 1 ? "_Zd" : "_Ze";
    put_other(TIME, (const double[]){3000, 2000, 1000});
    compare(CW_BY_KERNEL);
    static const uint32_t a[] = {0, CW_NO_GROUP, 1, CW_NO_GROUP, 2, CW_NO_GROUP};
    cr_assert(c.match_count == 6);
    for (uint32_t i = 0; i < 6; i++)
        cr_expect(c.matches[i].a == a[i] && c.matches[i].b == (i % 2 ? i / 2 : CW_NO_GROUP), "%u", i);
}

/* Of one name, the n-th shape that is left on a side goes with the n-th on the other. */
Test(eval_compare, shapes_that_changed)
{
    for (uint32_t i = 0; i < SAMPLE_RANGES; i++)
        sample_ranges[i].grid[0] = 10 + i;
    copy();
    for (uint32_t i = 0; i < SAMPLE_RANGES; i++)
        other_ranges[i].grid[0] = i == 1 ? 11 : 30 - i; /* one as before */
    compare(CW_BY_KERNEL);
    cr_assert(c.match_count == 3);
    for (uint32_t i = 0; i < 3; i++) {
        const struct cw_range *x = cw_launch_of(&c.a.groups.data, c.matches[i].a);
        const struct cw_range *y = cw_launch_of(&c.b.groups.data, c.matches[i].b);
        cr_expect(c.matches[i].reshaped == (x->grid[0] != 11));
        cr_expect(y->grid[0] == (x->grid[0] == 10 ? 30 : x->grid[0] == 11 ? 11 : 28), "%u", x->grid[0]);
    }
    compare(CW_BY_RANGE);
    cr_expect(c.match_count == 3 && !c.matches[0].reshaped);
}

/* Another profiler writes the names of kernels in its own way. */
Test(eval_compare, names_as_other_profilers_spell_them)
{
    static struct cw_pair ours[] = {{"name", "Tiny"}}, theirs[] = {{"name", "Tiny"}, {"backend", "ncu"}};
    for (int i = 0; i < SAMPLE_RANGES; i++)
        sample_ranges[i].name = "void f<(int)128>(float *)", sample_ranges[i].kernel = "_Z1fILi128EEvPf";
    copy();
    for (int i = 0; i < SAMPLE_RANGES; i++)
        other_ranges[i].name = other_ranges[i].kernel = "f<128>";
    sample_devices[0].attributes = ours, other_devices[0].attributes = theirs;
    sample_devices[1].attributes = ours, other_devices[1].attributes = theirs + 0;
    sample_devices[0].attribute_count = sample_devices[1].attribute_count = other_devices[1].attribute_count = 1;
    other_devices[0].attribute_count = 2;
    compare(CW_BY_KERNEL);
    cr_expect(c.match_count == 1 && c.matches[0].a == 0 && c.matches[0].b == 0 && !c.matches[0].reshaped, "%u",
              c.match_count);
    for (int i = 0; i < SAMPLE_RANGES; i++)
        other_ranges[i].block[0] = 512;
    compare(CW_BY_KERNEL);
    cr_expect(c.match_count == 1 && c.matches[0].reshaped);
    for (int i = 0; i < SAMPLE_RANGES; i++)
        other_ranges[i].name = "f<256>";
    compare(CW_BY_KERNEL);
    cr_expect(c.match_count == 2);
}

/* Both have one spelling. */
Test(eval_compare, overloads_that_another_profiler_launches_in_another_order)
{
    static struct cw_pair ours[] = {{"name", "Tiny"}}, theirs[] = {{"name", "Tiny"}, {"backend", "ncu"}};
    static char floats[] = "s(float *)", doubles[] = "s(double *)";
    for (int i = 0; i < SAMPLE_RANGES; i++) {
        sample_ranges[i].kernel = sample_ranges[i].name = i ? doubles : floats;
        memcpy(sample_ranges[i].grid, sample_ranges[0].grid, sizeof sample_ranges[i].grid);
        memcpy(sample_ranges[i].block, sample_ranges[0].block, sizeof sample_ranges[i].block);
    }
    copy();
    for (int i = 0; i < SAMPLE_RANGES; i++)
        other_ranges[i].name = other_ranges[i].kernel = i ? floats : doubles;
    sample_devices[0].attributes = ours, other_devices[0].attributes = theirs;
    sample_devices[1].attributes = ours, other_devices[1].attributes = theirs;
    sample_devices[0].attribute_count = sample_devices[1].attribute_count = other_devices[1].attribute_count = 1;
    other_devices[0].attribute_count = 2;
    compare(CW_BY_KERNEL);
    cr_assert(c.match_count >= 2);
    for (uint32_t i = 0; i < c.match_count; i++) {
        cr_assert(c.matches[i].a != CW_NO_GROUP && c.matches[i].b != CW_NO_GROUP);
        cr_expect_str_eq(cw_launch_of(&c.a.groups.data, c.matches[i].a)->name,
                         cw_launch_of(&c.b.groups.data, c.matches[i].b)->name);
    }
}

Test(eval_compare, metrics_that_both_chips_have)
{
    static const char yaml[] = "schema: 1\nchip: TINY\nsource:\n  - made up\ntime: gpu__time\nunits:\n"
                               "  gpu: {instances: 1}\n"
                               "  sm: {instances: 4, active: sm__cycles_active, elapsed: sm__cycles_elapsed}\n"
                               "domains:\n  one: 1\nraw_counters:\n  0x0000000000000001: [one]\ncounters:\n"
                               "  gpu__time: {unit: gpu, dim: nanoseconds, peak: 1, raw: [0x0000000000000001]}\n"
                               "  sm__cycles_active: {unit: sm, dim: cycles, peak: 1, raw: [0x0000000000000001]}\n"
                               "  sm__cycles_elapsed: {unit: sm, dim: cycles, peak: 1, raw: [0x0000000000000001]}\n"
                               "  sm__inst: {unit: sm, dim: instructions, peak: 4, raw: [0x0000000000000001]}\n"
                               "ratios: {}\nthroughputs: {}\n";
    static const char *const names[] = {"sm__bytes.sum", "sm__inst.sum", "sm__cycles_active.avg", "sm__inst.avg",
                                        "sm__hits.sum"};
    static const char *const kept[] = {"sm__inst.sum", "sm__cycles_active.avg", "sm__inst.avg"};
    static struct cw_metric metrics[5];
    const struct cw_eval_options options = {0};
    const struct cw_chip *less;
    cr_assert(cw_chip_parse(&less, yaml, sizeof yaml - 1, "less.yaml", arena, &err) == CW_OK, "%s", err.message);
    copy();
    for (int i = 0; i < 5; i++)
        cr_assert(cw_metric_parse(&metrics[i], chip, names[i], &err) == CW_OK);
    const struct cw_result a = {.chip = chip, .data = &data, .metrics = metrics, .metric_count = 5};
    const struct cw_result b = {.chip = less, .data = &other, .metrics = metrics, .metric_count = 5};
    cr_assert(cw_compare(&c, &a, &b, NULL, CW_BY_KERNEL, true, &options, arena, &err) == CW_OK, "%s", err.message);
    cr_assert(c.a.means.metric_count == 3 && c.b.means.metric_count == 3);
    for (int i = 0; i < 3; i++) {
        cr_expect_str_eq(c.a.means.names[i], kept[i]);
        cr_expect_str_eq(c.b.means.names[i], kept[i]);
    }
    cr_expect(c.unit_count == 2 && c.units[0] == c.units[2] && c.units[0] != c.units[1] && c.units[1] < 2);
    cr_expect(cw_compare_metric(&c, c.matches, 1).a == 200 && cw_compare_metric(&c, c.matches, 2).b == 400);
    double greatest[2];
    cw_compare_greatest(&c, c.matches, greatest);
    cr_expect(greatest[c.units[0]] == 1600 && greatest[c.units[1]] == 200);
}

/* ---- differences of captures ------------------------------------------------------------------------------------- */

Test(eval_compare, every_difference)
{
    static const struct cw_difference wanted[] = {
        {"chip", "TINY", "HUGE", true},
        {"devices", "2", "1", false},
        {"device name", "Tiny", "Big", true},
        {"simulated", "yes", "", true},
        {"filter", "", "k", true},
        {"clocks", "SM 1000 MHz, memory 500 MHz", "SM 1500 MHz, memory 500 MHz", false},
        {"profiler", "range", "sass", true},
        {"passes", "2", "4", true},
        {"counters of one alone", "3: sm__hits, ...", "3: a__first, ...", true},
        {"recorded by a name", "2: m2, ...", "something else", true},
        {"database", "00000000000000000000000000000000", "00000000000000000000000000ab0000", false},
        {"tool", "test", "other", false},
        {"capture", "complete", "incomplete", false},
        {"failure", "exit status 3", "killed by signal 11", true}};
    static const struct cw_pair theirs[] = {{"name", "Big"}, {"pci", "9"}, {"filter", "k"}};
    static const struct cw_gpu_clock slow[] = {{0, 1000, 500, 0}}, fast[] = {{0, 1500, 500, 0}};
    static const struct cw_gpu_clocks slow_clocks = {0, 1, slow}, fast_clocks = {0, 1, fast};
    static const struct cw_meaning old[] = {{"m3", 1, 1}, {"m2", 2, 1}, {"m1", 3, 1}, {"m4", 4, 1}};
    static const struct cw_meaning new[] = {{"m1", 9, 1}, {"m2", 8, 1}, {"m3", 1, 7}};
    static struct cw_schema_counter counters[SAMPLE_COUNTERS];
    copy();
    memcpy(counters, data.schema.counters, sizeof counters);
    counters[HITS].name = "z__last", counters[INST].name = "a__first", counters[LOOKUPS].name = "zz__last";
    other.schema.counters = counters;
    other.schema.chip = "HUGE";
    other.schema.pass_count = 4;
    other.schema.producer = "other";
    other.schema.profiler = CW_PROFILER_SASS;
    other.schema.database[13] = 0xab;
    other.complete = false;
    data.how = CW_END_EXITED, data.code = 3;
    other.how = CW_END_SIGNALLED, other.code = 11;
    other.device_count = 1;
    other_devices[0].attributes = theirs, other_devices[0].attribute_count = 3;
    other_ranges[2].device = 0;
    data.clocks = &slow_clocks, other.clocks = &fast_clocks;
    data.clocks_count = other.clocks_count = 1;
    data.schema.meanings = old, data.schema.meaning_count = 4;
    other.schema.meanings = new, other.schema.meaning_count = 3;
    static double durations[SAMPLE_RANGES][4];
    for (int i = 0; i < SAMPLE_RANGES; i++)
        other_ranges[i].durations = durations[i];
    compare(CW_BY_KERNEL);
    cr_assert(c.difference_count == sizeof wanted / sizeof *wanted, "%u", c.difference_count);
    for (uint32_t i = 0; i < c.difference_count; i++) {
        cr_expect_str_eq(c.differences[i].what, wanted[i].what);
        cr_expect_str_eq(c.differences[i].a, wanted[i].a);
        cr_expect_str_eq(c.differences[i].b, wanted[i].b);
        cr_expect(c.differences[i].other == wanted[i].other, "%s", wanted[i].what);
    }
    cr_expect_str_eq(cw_difference_side(""), "(none)");
    cr_expect_str_eq(cw_difference_side("x"), "x");
}

Test(eval_compare, a_program_that_ended_well_is_as_none)
{
    copy();
    data.how = CW_END_EXITED, data.code = 0;
    other.how = CW_END_NO_PROGRAM;
    compare(CW_BY_KERNEL);
    cr_expect(c.difference_count == 0);
    data.code = 1;
    compare(CW_BY_KERNEL);
    cr_assert(c.difference_count == 1);
    cr_expect_str_eq(c.differences[0].a, "exit status 1");
    cr_expect_str_eq(c.differences[0].b, "");
}
