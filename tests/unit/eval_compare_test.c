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
}

Test(eval_compare, relative_differences)
{
    cr_expect(cw_compare_relative(0, 0) == 0 && cw_compare_relative(5, 5) == 0);
    cr_expect(cw_compare_relative(0, 5) == 1 && cw_compare_relative(4, 5) == 0.2 && cw_compare_relative(-5, 5) == 2);
    cr_expect(cw_compare_relative(INFINITY, INFINITY) == 0 && cw_compare_relative(INFINITY, 1) == 1);
    cr_expect(isnan(cw_compare_relative(NAN, 1)));
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
