/* Ranges that were multiplexed, as groups of them have their counters. */
#include "tests/support/seconds.h"
#include "tests/unit/eval_fold_sample.h"

TestSuite(eval_fold, .init = set_up, .fini = tear_down);

static double value_of(const char *name, uint32_t row, enum cw_value_status wanted)
{
    struct cw_metric metric;
    struct cw_result result = {.chip = chip, .data = &groups.data, .metrics = &metric, .metric_count = 1};
    const struct cw_eval_options options = {0};
    cr_assert(cw_metric_parse(&metric, chip, name, &err) == CW_OK, "%s", err.message);
    cr_assert(cw_result_make(&result, &options, arena, &err) == CW_OK, "%s", err.message);
    cr_expect(result.statuses[row] == (int8_t)wanted, "%s is %s", name,
              cw_value_status_text((enum cw_value_status)result.statuses[row]));
    return result.values[row];
}

/* The mean of a counter over the launches of a kernel in one pass. */
static double expected(int counter, uint32_t kernel, uint32_t kinds, uint32_t pass)
{
    double sum = 0;
    uint32_t count = 0;
    for (uint32_t i = kernel; i < data.range_count; i += kinds)
        if (i / kinds % SAMPLE_PASSES == pass) {
            sum += value_at(counter, i);
            count++;
        }
    return sum / count;
}

Test(eval_fold, each_counter_has_the_mean_of_the_launches_that_hold_it)
{
    make_launches(20, 2);
    multiplex(2);
    group(CW_BY_KERNEL, NULL);
    cr_assert(groups.count == 2 && groups.items[0].count == 10 && groups.items[0].multiplexed);
    cr_expect(groups.items[0].used == 10, "all stand for one another");
    for (uint32_t k = 0; k < 2; k++) {
        const uint32_t kernel = groups.items[k].ranges[0];
        cr_expect(value_of("sm__inst.sum", k, CW_VALUE_MULTIPLEXED) == expected(INST, kernel, 2, 0));
        cr_expect(value_of("sm__bytes.sum", k, CW_VALUE_MULTIPLEXED) == expected(BYTES, kernel, 2, 1));
        /* of one pass: hits over lookups of the same launches */
        cr_expect(value_of("sm__hit_rate.ratio", k, CW_VALUE_MULTIPLEXED) ==
                  expected(HITS, kernel, 2, 0) / expected(LOOKUPS, kernel, 2, 0));
        /* of two passes */
        cr_expect(value_of("sm__bytes.sum.per_cycle_active", k, CW_VALUE_MULTIPLEXED) > 0);
        cr_expect(groups.data.ranges[k].durations[0] > 0 && groups.data.ranges[k].durations[1] > 0);
    }
}

Test(eval_fold, a_pass_that_no_launch_was_counted_in_is_not_collected)
{
    make_launches(2, 2);
    multiplex(2);
    group(CW_BY_KERNEL, NULL);
    value_of("sm__inst.sum", 0, CW_VALUE_MULTIPLEXED);
    cr_expect(isnan(value_of("sm__bytes.sum", 0, CW_VALUE_NOT_COLLECTED)));
    cr_expect(isnan(value_of("sm__bytes.sum.per_cycle_active", 0, CW_VALUE_NOT_COLLECTED)));
}

/* They were taken around its call: 18 ms, where the GPU took 3 us. */
Test(eval_fold, the_hosts_times_are_none_of_the_gpu)
{
    static const struct cw_pair once[] = {{"once", "others reach its memory"}};
    make_launches(2, 1);
    for (uint32_t i = 0; i < 2; i++) {
        ranges[i].attributes = once;
        ranges[i].attribute_count = i;
        ranges[i].end_ns = ranges[i].start_ns + 1000000;
        durations[i][0] = durations[i][1] = NAN;
        cr_expect(isnan(cw_range_duration(&data, i, CW_NO_COLUMN)));
    }
}

/* What must not be repeated beside launches of the same kernel that were: each counts as one launch. */
Test(eval_fold, launches_that_were_repeated_count_beside_those_that_were_not)
{
    make_launches(6, 1);
    multiplex(1);
    for (uint32_t i = 4; i < 6; i++) {
        ranges[i].attribute_count = 0;
        for (int c = 0; c < SAMPLE_COUNTERS; c++) {
            forms[(size_t)c * 6 + i] = CW_FORM_ROLLUPS;
            rollups[CW_SUM][(size_t)c * 6 + i] = 600;
        }
    }
    group(CW_BY_KERNEL, NULL);
    const double of_four = (value_at(INST, 0) + value_at(INST, 2)) / 2, inst = (4 * of_four + 2 * 600) / 6;
    cr_expect_float_eq(value_of("sm__inst.sum", 0, CW_VALUE_MULTIPLEXED), inst, 1e-9);
    group(CW_BY_FOLD, NULL);
    cr_expect_eq(groups.count, 3, "those that were repeated are by themselves");
}

/* A change of pass empties caches, so that the launches behind it are told apart where there are others. */
Test(eval_fold, what_was_cold_is_left_out_where_others_were_not)
{
    static const struct cw_pair cold[] = {{"replay", "multiplex"}, {"cold", "yes"}};
    make_launches(10, 1);
    multiplex(1);
    for (uint32_t i = 0; i < 10; i++)
        if (i < 2 || i % 2) /* all of the second pass */
            ranges[i].attributes = cold;
    group(CW_BY_KERNEL, NULL);
    double warm = 0, all = 0;
    for (uint32_t i = 2; i < 10; i += 2)
        warm += value_at(INST, i) / 4;
    for (uint32_t i = 1; i < 10; i += 2)
        all += value_at(BYTES, i) / 5;
    cr_expect_float_eq(value_of("sm__inst.sum", 0, CW_VALUE_MULTIPLEXED), warm, 1e-9);
    cr_expect_float_eq(value_of("sm__bytes.sum", 0, CW_VALUE_MULTIPLEXED), all, 1e-9);
    cr_expect(forms[0] == CW_FORM_ROLLUPS, "the capture is as it was");
}

Test(eval_fold, what_was_cold_stays_where_no_other_is_asked_for)
{
    static const struct cw_pair cold[] = {{"replay", "multiplex"}, {"cold", "yes"}};
    bool keep[10] = {true};
    make_launches(10, 1);
    multiplex(1);
    ranges[0].attributes = cold;
    group(CW_BY_FOLD, keep);
    cr_expect_float_eq(value_of("sm__inst.sum", 0, CW_VALUE_MULTIPLEXED), value_at(INST, 0), 1e-9);
}

/* That of whole launches is the plain mean, whichever way they are put together. */
Test(eval_fold, whole_launches_have_the_plain_mean)
{
    make_launches(30, 3);
    group(CW_BY_KERNEL, NULL);
    static double plain[SAMPLE_COUNTERS * 3];
    cr_assert(groups.count == 3);
    for (size_t i = 0; i < SAMPLE_COUNTERS * 3; i++) {
        plain[i] = groups.data.rollups[CW_AVG][i];
        cr_expect(groups.data.forms[i] == CW_FORM_ROLLUPS);
    }
    for (uint32_t i = 0; i < 30; i++) {
        ranges[i].attributes = multiplexed;
        ranges[i].attribute_count = 2;
    }
    group(CW_BY_KERNEL, NULL);
    for (size_t i = 0; i < SAMPLE_COUNTERS * 3; i++)
        cr_expect(groups.data.rollups[CW_AVG][i] == plain[i] && groups.data.forms[i] == CW_FORM_MULTIPLEXED);
    group(CW_BY_FOLD, NULL);
    cr_assert(groups.count == 3 && groups.items[0].ranges[0] == 0 && groups.items[2].ranges[0] == 2, "as they began");
}

/* Of several kernels each stands for as many launches as it has, whichever pass these were counted in. */
Test(eval_fold, kernels_weigh_as_much_as_they_have_launches)
{
    make_launches(21, 2); /* 11 of one, 10 of the other */
    multiplex(2);
    group(CW_BY_DEVICE, NULL);
    cr_assert(groups.count == 1);
    const double wanted = (11 * expected(INST, 0, 2, 0) + 10 * expected(INST, 1, 2, 0)) / 21;
    cr_expect(fabs(value_of("sm__inst.sum", 0, CW_VALUE_MULTIPLEXED) / wanted - 1) < 1e-14);
}

/* One that was launched too rarely for all passes has what it was counted in. */
Test(eval_fold, a_kernel_without_a_counter_weighs_in_all_others)
{
    make_launches(23, 2); /* 12 of one, 11 of the other */
    multiplex(2);
    for (uint32_t i = 3; i < 23; i += 4)
        forget(BYTES, i);
    group(CW_BY_DEVICE, NULL);
    cr_assert(groups.count == 1 && groups.items[0].used == 23);
    const double wanted = (12 * expected(INST, 0, 2, 0) + 11 * expected(INST, 1, 2, 0)) / 23;
    cr_expect(fabs(value_of("sm__inst.sum", 0, CW_VALUE_MULTIPLEXED) / wanted - 1) < 1e-14);
    cr_expect_float_eq(value_of("sm__bytes.sum", 0, CW_VALUE_MULTIPLEXED), expected(BYTES, 0, 2, 1), 1e-9);
}

/* Also where each lacks what the other has. */
Test(eval_fold, kernels_that_were_counted_in_one_pass_each)
{
    make_launches(2, 2);
    multiplex(1); /* the first kernel in one pass, the other in the other */
    group(CW_BY_DEVICE, NULL);
    cr_expect(value_of("sm__inst.sum", 0, CW_VALUE_MULTIPLEXED) == value_at(INST, 0));
    cr_expect(value_of("sm__bytes.sum", 0, CW_VALUE_MULTIPLEXED) == value_at(BYTES, 1));
}

Test(eval_fold, whole_launches_beside_them_stay_by_themselves)
{
    static const struct cw_pair other[] = {{"replay", "multiplex"}, {"rank", "2"}};
    make_launches(12, 2);
    multiplex(2);
    ranges[0].attribute_count = 0;
    ranges[7].attribute_count = 0;
    ranges[11].attributes = other;
    group(CW_BY_FOLD, NULL);
    cr_assert(groups.count == 5, "two whole ones, two kernels of rank 1 and one of rank 2");
    cr_expect(groups.items[0].ranges[0] == 0 && groups.items[0].count == 1 && !groups.items[0].multiplexed);
    cr_expect(groups.items[1].ranges[0] == 1 && groups.items[1].count == 4 && groups.items[1].multiplexed);
    cr_expect(groups.items[3].ranges[0] == 7 && groups.items[4].ranges[0] == 11);
    value_of("sm__inst.sum", 0, CW_VALUE_OK);
    value_of("sm__inst.sum", 1, CW_VALUE_MULTIPLEXED);
}

/* Where the pass of a launch does not count time, it took what others of its kind took. */
Test(eval_fold, time_that_some_passes_count)
{
    make_launches(12, 2);
    multiplex(2);
    for (uint32_t i = 0; i < 12; i++)
        durations[i][1] = NAN;
    group(CW_BY_KERNEL, NULL);
    double sum = 0;
    for (uint32_t i = 0; i < 12; i += 4)
        sum += value_at(TIME, i);
    const struct cw_group *g = groups.items[0].ranges[0] == 0 ? &groups.items[0] : &groups.items[1];
    cr_expect(g->count == 6 && g->timed == 6);
    cr_expect(fabs(g->total - 2 * sum) < 1e-9, "%g and not %g", g->total, 2 * sum);
    cr_expect(isnan(groups.measured[2]) && groups.durations[2] == sum / 3);
    double squares = 0;
    for (uint32_t i = 0; i < 12; i += 4)
        squares += pow(value_at(TIME, i) - sum / 3, 2);
    cr_expect(fabs(g->deviation - sqrt(squares / 2)) < 1e-9, "estimates do not make it smaller");
}

/* A program may number its steps. */
Test(eval_fold, user_ranges_whose_names_differ_in_numbers)
{
    static const struct cw_pair paths[2][2] = {{{"replay", "multiplex"}, {"nvtx", "step 7/a"}},
                                               {{"replay", "multiplex"}, {"nvtx", "step 12/a"}}};
    static const char *const names[] = {"step 9", "step 10", "step 10", "step x"};
    make_launches(4, 1);
    multiplex(1);
    for (uint32_t i = 0; i < 4; i++) {
        ranges[i].kernel = "";
        ranges[i].name = names[i];
        ranges[i].attributes = paths[i % 2];
    }
    group(CW_BY_KERNEL, NULL);
    cr_assert(groups.count == 2);
    const uint32_t k = groups.items[0].count == 3 ? 0 : 1;
    cr_expect(groups.items[k].count == 3);
    cr_expect_str_eq(groups.items[k].name, "step *");
    cr_expect_str_eq(groups.data.ranges[k].name, "step *");
    cr_expect_str_eq(groups.items[1 - k].name, "step x");
    value_of("sm__bytes.sum.per_cycle_active", k, CW_VALUE_MULTIPLEXED);
    group(CW_BY_NVTX, NULL);
    cr_assert(groups.count == 1);
    cr_expect_str_eq(groups.items[0].name, "step */a");
    group(CW_BY_FAMILY, NULL);
    cr_expect(groups.count == 2);
    for (uint32_t i = 0; i < 4; i++)
        ranges[i].attribute_count = 0;
    group(CW_BY_KERNEL, NULL);
    cr_expect(groups.count == 3, "whole ones have their own names");
    cr_expect(cw_fold_compare_names("a1b22", "a333b4") == 0 && cw_fold_compare_names("a1b", "a1") > 0 &&
              cw_fold_compare_names("", "1") < 0);
}

Test(eval_fold, what_is_gravest_is_told)
{
    make_launches(4, 1);
    multiplex(1);
    forms[(size_t)INST * 4] = CW_FORM_OVERFLOW;
    group(CW_BY_KERNEL, NULL);
    value_of("sm__inst.sum", 0, CW_VALUE_OVERFLOW);
    value_of("sm__hits.sum", 0, CW_VALUE_MULTIPLEXED);
}

/* Comparing each with each would take minutes. */
Test(eval_fold, many_launches)
{
    cw_test_seconds(20);
    make_launches(MOST, 64);
    multiplex(64);
    for (uint32_t i = 0; i < MOST; i++)
        ranges[i].grid[0] = i / 4; /* ten thousand shapes */
    group(CW_BY_FOLD, NULL);
    cr_expect(groups.count == MOST);
    for (uint32_t i = 0; i < MOST; i++)
        ranges[i].grid[0] = 1;
    group(CW_BY_FOLD, NULL);
    cr_expect(groups.count == 64 && groups.items[5].count == MOST / 64);
}
