/* How many ranges a value is of, and how much they differ. */
#include "tests/unit/eval_fold_sample.h"

#include "eval/ranges/spread.h"

TestSuite(eval_spread, .init = set_up, .fini = tear_down);

static struct cw_result result;

static void evaluate(enum cw_group_by by, const char *const *names, uint32_t count)
{
    static struct cw_metric metrics[8];
    const struct cw_eval_options options = {0};
    group(by, NULL);
    for (uint32_t m = 0; m < count; m++)
        cr_assert(cw_metric_parse(&metrics[m], chip, names[m], &err) == CW_OK, "%s", err.message);
    result = (struct cw_result){.chip = chip, .data = &groups.data, .metrics = metrics, .metric_count = count};
    cr_assert(cw_result_make(&result, &options, arena, &err) == CW_OK, "%s", err.message);
    cr_assert(cw_spread_find(&result, &groups, &data, arena, &err) == CW_OK, "%s", err.message);
}

/* The sample standard deviation of a counter over the launches of the first kernel in the first pass. */
static double expected_spread(int counter, uint32_t kinds)
{
    double sum = 0, squares = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < data.range_count; i += 2 * kinds, count++)
        sum += value_at(counter, i);
    for (uint32_t i = 0; i < data.range_count; i += 2 * kinds)
        squares += pow(value_at(counter, i) - sum / count, 2);
    return sqrt(squares / (count - 1));
}

Test(eval_spread, of_values_within_a_pass_and_across)
{
    static const char *const names[] = {"sm__inst.sum", "sm__bytes.sum", "sm__bytes.sum.per_cycle_active",
                                        "sm__missing.sum", "sm__inst.sum.peak_sustained"};
    make_launches(22, 2); /* 11 of each, 6 in the first pass and 5 in the second */
    multiplex(2);
    evaluate(CW_BY_FOLD, names, 5);
    const uint32_t *n = result.occurrences;
    cr_assert(groups.count == 2);
    cr_expect(n[0] == 6 && n[2] == 5 && n[4] == 5, "of two passes: as many as the rarer has");
    cr_expect(n[6] == 11 && n[8] == 11, "what needs no counter is of all");
    cr_expect(fabs(result.spread[0] - expected_spread(INST, 2)) < 1e-9);
    cr_expect(result.spread[2] > 0 && isnan(result.spread[4]), "no launch has a value of two passes");
    cr_expect(isnan(result.spread[6]) && result.statuses[6] == CW_VALUE_NOT_COLLECTED);
    cr_expect(result.spread[8] == 0);
}

Test(eval_spread, of_one_launch_there_is_none)
{
    static const char *const names[] = {"sm__inst.sum", "sm__bytes.sum"};
    make_launches(4, 2);
    multiplex(2);
    evaluate(CW_BY_FOLD, names, 2);
    cr_expect(result.occurrences[0] == 1 && isnan(result.spread[0]));
    cr_expect(result.occurrences[2] == 1 && isnan(result.spread[2]));
}

/* Numbers of a hostile file. */
Test(eval_spread, what_is_no_number_does_not_count)
{
    static const char *const names[] = {"sm__inst.sum"};
    make_launches(10, 1);
    multiplex(1);
    rollups[CW_SUM][INST * 10] = INFINITY;
    rollups[CW_SUM][INST * 10 + 2] = NAN;
    rollups[CW_SUM][INST * 10 + 4] = 7;
    rollups[CW_SUM][INST * 10 + 6] = 9;
    forget(INST, 8);
    evaluate(CW_BY_FOLD, names, 1);
    cr_expect(result.occurrences[0] == 4 && fabs(result.spread[0] - sqrt(2)) < 1e-12, "%g", result.spread[0]);
}

/* As the mean leaves it out where others were warm. */
Test(eval_spread, what_was_cold_does_not_count)
{
    static const char *const names[] = {"sm__inst.sum"};
    static const struct cw_pair cold[] = {{"replay", "multiplex"}, {"cold", "yes"}};
    make_launches(8, 1);
    multiplex(1);
    ranges[0].attributes = cold;
    for (uint32_t i = 0; i < 8; i += 2)
        rollups[CW_SUM][INST * 8 + i] = 10 + i; /* 12, 14 and 16 are warm */
    evaluate(CW_BY_KERNEL, names, 1);
    cr_expect(result.values[0] == 14 && result.occurrences[0] == 3);
    cr_expect_float_eq(result.spread[0], 2, 1e-12);
}

Test(eval_spread, rows_are_chosen_with_it)
{
    static const char *const names[] = {"sm__inst.sum", "sm__bytes.sum"};
    static const uint32_t rows[] = {2, 0};
    make_launches(33, 3);
    multiplex(3);
    evaluate(CW_BY_FOLD, names, 2);
    const uint32_t occurrences[] = {result.occurrences[2], result.occurrences[0], result.occurrences[5],
                                    result.occurrences[3]};
    const double spread[] = {result.spread[2], result.spread[0], result.spread[5], result.spread[3]};
    const double values[] = {result.values[2], result.values[0], result.values[5], result.values[3]};
    cr_assert(cw_result_select(&result, rows, 2, &err) == CW_OK);
    for (int i = 0; i < 4; i++)
        cr_expect(result.occurrences[i] == occurrences[i] && result.spread[i] == spread[i] &&
                  result.values[i] == values[i]);
    cr_expect(result.ranges[0] == 2 && result.ranges[1] == 0);
}

/* As the mean of a device takes in each counter wherever it was counted. */
Test(eval_spread, of_kernels_that_lack_a_counter)
{
    static const char *const names[] = {"sm__inst.sum", "sm__bytes.sum"};
    make_launches(23, 2);
    multiplex(2);
    for (uint32_t i = 3; i < 23; i += 4) /* those of the second kernel */
        forget(BYTES, i);
    evaluate(CW_BY_DEVICE, names, 2);
    cr_assert(groups.count == 1);
    cr_expect(result.occurrences[0] == 12 && result.occurrences[1] == 6, "%u and %u", result.occurrences[0],
              result.occurrences[1]);
    cr_expect(result.statuses[1] == CW_VALUE_MULTIPLEXED && result.spread[1] > 0);
}

/* A ratio of counters of two passes is not one of different kernels. */
Test(eval_spread, a_value_of_several_counters_is_of_kernels_that_have_all)
{
    static const char *const names[] = {"sm__inst.sum", "sm__bytes.sum", "sm__bytes.sum.per_cycle_active"};
    make_launches(23, 2);
    multiplex(2);
    evaluate(CW_BY_KERNEL, names, 3);
    const double wanted = result.values[4 + (groups.items[1].ranges[0] == 0)]; /* of the first kernel */
    for (uint32_t i = 3; i < 23; i += 4)                                       /* the second has no bytes */
        forget(BYTES, i);
    for (uint32_t i = 1; i < 23; i += 4) /* and other cycles */
        for (int r = 0; r < CW_ROLLUP_COUNT; r++)
            for (int c = 0; c < SAMPLE_COUNTERS; c++)
                rollups[r][(size_t)c * 23 + i] *= 1000;
    evaluate(CW_BY_DEVICE, names, 3);
    cr_assert(groups.count == 1 && result.statuses[2] == CW_VALUE_MULTIPLEXED);
    cr_expect(fabs(result.values[2] / wanted - 1) < 1e-12, "%g and not %g", result.values[2], wanted);
    cr_expect(result.occurrences[0] == 12 && result.occurrences[1] == 6 && result.occurrences[2] == 6);
    make_launches(2, 2);
    multiplex(1); /* each kernel in a pass of its own */
    evaluate(CW_BY_DEVICE, names, 3);
    cr_expect(result.values[0] > 0 && result.values[1] > 0 && result.occurrences[0] == 1);
    cr_expect(isnan(result.values[2]) && result.statuses[2] == CW_VALUE_NOT_COLLECTED && !result.occurrences[2]);
}

/* Cold launches that a value takes in, as their kernel has no others, are in its spread as well. */
Test(eval_spread, of_the_launches_that_the_value_is_of)
{
    static const char *const names[] = {"sm__inst.sum"};
    static const struct cw_pair cold[] = {{"replay", "multiplex"}, {"cold", "yes"}};
    make_launches(8, 2);
    for (uint32_t i = 0; i < 8; i++) {
        ranges[i].attributes = i % 2 ? cold : multiplexed;
        ranges[i].attribute_count = 2;
    }
    double sum = 0, squares = 0;
    for (uint32_t i = 0; i < 8; i++)
        sum += value_at(INST, i);
    for (uint32_t i = 0; i < 8; i++)
        squares += pow(value_at(INST, i) - sum / 8, 2);
    evaluate(CW_BY_DEVICE, names, 1);
    cr_assert(groups.count == 1 && result.occurrences[0] == 8);
    cr_expect_float_eq(result.values[0], sum / 8, 1e-9);
    cr_expect_float_eq(result.spread[0], sqrt(squares / 7), 1e-9);
}

/* A value of several counters is of the whole launches that have all of them: here bytes and cycles. */
Test(eval_spread, whole_launches_count_by_their_columns)
{
    static const char *const names[] = {"sm__bytes.sum.per_cycle_active", "sm__hit_rate.ratio", "sm__inst.sum"};
    make_launches(7, 1);
    ranges[6].name = ranges[6].kernel = "other";
    ranges[6].attributes = multiplexed;
    ranges[6].attribute_count = 2;
    for (int c = 0; c < SAMPLE_COUNTERS; c++)
        if (c != TIME)
            forget(c, 6);
    forget(BYTES, 1), forget(ACTIVE, 2), forget(BYTES, 3), forget(ACTIVE, 3), forget(INST, 4);
    evaluate(CW_BY_DEVICE, names, 3);
    cr_assert(groups.count == 1);
    const double bytes = 2000 + (0 + 4 + 5) / 3.0, cycles = (3000 + (0 + 4 + 5) / 3.0) / 2;
    cr_expect_float_eq(result.values[0], bytes / cycles, 1e-12, "%g", result.values[0]);
    cr_expect(result.occurrences[0] == 3 && result.occurrences[1] == 6 && result.occurrences[2] == 5);
    cr_expect_float_eq(result.values[1], (6000 + 2.5) / (8000 + 2.5), 1e-12);
    cr_expect_float_eq(result.values[2], 7000 + (0 + 1 + 2 + 3 + 5) / 5.0, 1e-9);
    double mean = 0, squares = 0;
    for (int i = 0; i < 6; i++)
        mean += i == 0 || i > 3 ? (2000.0 + i) / (1500 + i / 2.0) / 3 : 0;
    for (int i = 0; i < 6; i++)
        squares += i == 0 || i > 3 ? pow((2000.0 + i) / (1500 + i / 2.0) - mean, 2) : 0;
    cr_expect_float_eq(result.spread[0], sqrt(squares / 2), 1e-12);
}

/* In rows of other kernels spread and number differ, and go with their row. */
Test(eval_spread, rows_of_other_spreads_are_chosen)
{
    static const char *const names[] = {"sm__inst.sum", "sm__hits.sum"};
    static const uint32_t rows[] = {1, 0};
    make_launches(10, 2);
    multiplex(1);
    for (uint32_t i = 0; i < 10; i++) {
        const bool first = i < 4;
        ranges[i].kernel = ranges[i].name = first ? "kernel_0" : "kernel_1";
        if (i % 2)
            continue;
        for (int r = 0; r < CW_ROLLUP_COUNT; r++) {
            rollups[r][INST * 10 + i] = 100 + (first ? 1 : 10) * i;
            rollups[r][HITS * 10 + i] = 50 + (first ? 3 : 30) * i;
        }
    }
    evaluate(CW_BY_FOLD, names, 2);
    cr_assert(groups.count == 2);
    cr_assert(cw_result_select(&result, rows, 2, &err) == CW_OK);
    static const double spread[] = {20, 1.4142135623730951, 60, 4.242640687119285}; /* of 4, 6, 8 and of 0, 2 */
    static const uint32_t occurrences[] = {3, 2, 3, 2};
    for (int i = 0; i < 4; i++) {
        cr_expect_float_eq(result.spread[i], spread[i], 1e-9, "%d: %g", i, result.spread[i]);
        cr_expect(result.occurrences[i] == occurrences[i]);
    }
    cr_expect(result.values[0] == 160 && result.values[3] == 53);
}

/* More values than are evaluated at a time. */
Test(eval_spread, of_many)
{
    static const char *const names[] = {"sm__inst.sum", "sm__hits.sum", "sm__inst.sum", "sm__hits.sum",
                                        "sm__inst.sum", "sm__hits.sum", "sm__inst.sum", "sm__hits.sum"};
    make_launches(MOST, 2);
    multiplex(2);
    evaluate(CW_BY_FOLD, names, 8);
    for (int m = 0; m < 8; m++)
        cr_expect(result.spread[2 * m] == result.spread[2 * (m % 2)] && result.occurrences[2 * m] == MOST / 4);
}
