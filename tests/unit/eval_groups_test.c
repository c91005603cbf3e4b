#include "tests/support/seconds.h"
#include "tests/unit/eval_sample.h"

#include "eval/ranges/groups.h"

TestSuite(eval_groups, .init = set_up, .fini = tear_down);

static struct cw_groups groups;

static void group(enum cw_group_by by, const bool *keep)
{
    cr_assert(cw_groups_make(&groups, by, &data, chip, keep, arena, &err) == CW_OK, "%s", err.message);
}

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

Test(eval_groups, launches_of_one_kernel_on_alike_devices)
{
    group(CW_BY_KERNEL, NULL);
    cr_assert(groups.count == 2, "the third range's device has other peaks");
    cr_expect(groups.items[0].count == 2 && groups.items[0].ranges[0] == 0 && groups.items[0].ranges[1] == 1);
    cr_expect(groups.items[0].total == 4000 && groups.items[0].mean == 2000 && groups.items[0].deviation == 0);
    cr_expect(groups.total == 6000);
    memcpy(sample_facts[1], sample_facts[0], sizeof sample_facts[0]);
    group(CW_BY_KERNEL, NULL);
    cr_expect(groups.count == 1 && groups.items[0].count == 3);
    sample_ranges[1].grid[0]++;
    group(CW_BY_KERNEL, NULL);
    cr_expect(groups.count == 2, "another grid is another row");
    sample_ranges[0].kernel = "_Zother";
    group(CW_BY_KERNEL, NULL);
    cr_expect(groups.count == 3);
}

Test(eval_groups, launches_of_another_shape)
{
    memcpy(sample_facts[1], sample_facts[0], sizeof sample_facts[0]);
    for (int i = 0; i < 3; i++) {
        uint32_t *sizes[] = {&sample_ranges[1].grid[i], &sample_ranges[1].block[i]};
        for (int k = 0; k < 2; k++) {
            ++*sizes[k];
            group(CW_BY_KERNEL, NULL);
            cr_expect(groups.count == 2 && groups.items[0].count == 2, "%s %d", k ? "block" : "grid", i);
            cr_expect_eq(cw_group_share(&groups, &groups.items[0]), 4000.0 / 6000);
            --*sizes[k];
        }
    }
}

Test(eval_groups, longest_first)
{
    set_value(TIME, 2, 9000);
    group(CW_BY_KERNEL, NULL);
    cr_expect(groups.items[0].ranges[0] == 2 && groups.items[0].total == 9000);
    group(CW_BY_RANGE, NULL);
    cr_assert(groups.count == 3);
    cr_expect(groups.items[2].ranges[0] == 2, "ranges stay in their order");
}

Test(eval_groups, a_rate_is_that_of_all_launches)
{
    set_value(HITS, 0, 10), set_value(LOOKUPS, 0, 100);
    set_value(HITS, 1, 300), set_value(LOOKUPS, 1, 300);
    set_value(TIME, 0, 1000), set_value(TIME, 1, 3000);
    group(CW_BY_KERNEL, NULL);
    cr_expect(groups.items[0].mean == 2000 && groups.items[0].least == 1000 && groups.items[0].greatest == 3000 &&
                  fabs(groups.items[0].deviation - 1000 * sqrt(2)) < 1e-9,
              "of a sample, as the spread of a multiplexed value");
    group(CW_BY_RANGE, NULL);
    cr_expect(isnan(groups.items[0].deviation), "nobody knows it of one");
    group(CW_BY_KERNEL, NULL);
    cr_expect(value_of("sm__hit_rate.ratio", 0, CW_VALUE_OK) == 310.0 / 400);
    cr_expect(value_of("sm__hits.sum", 0, CW_VALUE_OK) == 155);
}

Test(eval_groups, ranges_that_lack_counters_do_not_count)
{
    set_form(HITS, 0, CW_FORM_NOT_COLLECTED);
    set_value(HITS, 1, 30), set_value(LOOKUPS, 1, 40), set_value(LOOKUPS, 0, 4000);
    group(CW_BY_KERNEL, NULL);
    cr_expect(groups.items[0].count == 2 && groups.items[0].used == 1 && groups.items[0].total == 4000);
    cr_expect(value_of("sm__hit_rate.ratio", 0, CW_VALUE_OK) == 0.75);
    set_form(HITS, 1, CW_FORM_NOT_COLLECTED);
    group(CW_BY_KERNEL, NULL);
    cr_expect(isnan(value_of("sm__hits.sum", 0, CW_VALUE_NOT_COLLECTED)));
}

Test(eval_groups, the_gravest_of_a_group_is_told)
{
    set_form(HITS, 1, CW_FORM_OVERFLOW);
    set_form(INST, 0, CW_FORM_INCOMPLETE);
    group(CW_BY_KERNEL, NULL);
    value_of("sm__hits.sum", 0, CW_VALUE_OVERFLOW);
    value_of("sm__inst.sum", 0, CW_VALUE_INCOMPLETE);
    value_of("sm__lookups.sum", 0, CW_VALUE_OK);
}

Test(eval_groups, facts_that_launches_agree_on)
{
    static const char *const names[] = {"launch__registers_per_thread", "launch__local_mem_per_thread"};
    static double facts[] = {40, 40, 64, 8, 24, NAN};
    data.schema.fact_count = 2;
    data.schema.fact_names = names;
    data.facts = facts;
    group(CW_BY_KERNEL, NULL);
    cr_expect(groups.data.facts[0] == 40 && groups.data.facts[1] == 64);
    cr_expect(groups.data.facts[2] == 16, "the mean of those that differ");
    cr_expect(isnan(groups.data.facts[3]));
}

Test(eval_groups, by_nvtx_device_and_rank)
{
    static const struct cw_pair step[] = {{"nvtx", "step"}, {"rank", "10"}}, other[] = {{"rank", "9"}};
    sample_ranges[0].attributes = sample_ranges[2].attributes = step;
    sample_ranges[0].attribute_count = sample_ranges[2].attribute_count = 2;
    sample_ranges[1].attributes = other;
    sample_ranges[1].attribute_count = 1;
    group(CW_BY_NVTX, NULL);
    cr_assert(groups.count == 2);
    cr_expect_str_eq(groups.items[0].name, "step");
    cr_expect_str_eq(groups.items[1].name, "(no NVTX range)");
    group(CW_BY_RANK, NULL);
    cr_expect_str_eq(groups.items[0].name, "rank 10");
    cr_expect_str_eq(groups.items[1].name, "rank 9");
    group(CW_BY_DEVICE, NULL);
    cr_expect_str_eq(groups.items[0].name, "device 0 Tiny");
    cr_expect(groups.items[0].count == 2);
}

Test(eval_groups, some_of_the_ranges)
{
    static const bool keep[] = {false, true, false}, none[] = {false, false, false};
    group(CW_BY_KERNEL, keep);
    cr_expect(groups.count == 1 && groups.items[0].ranges[0] == 1);
    group(CW_BY_KERNEL, none);
    cr_expect(groups.count == 0 && groups.total == 0);
}

Test(eval_groups, time_that_was_not_counted)
{
    for (uint32_t i = 0; i < SAMPLE_RANGES; i++)
        set_form(TIME, (int)i, CW_FORM_NOT_COLLECTED);
    group(CW_BY_RANGE, NULL);
    cr_expect(groups.durations[0] == 1000.5, "the shortest pass");
    sample_durations[0][0] = NAN;
    group(CW_BY_RANGE, NULL);
    cr_expect(isnan(groups.durations[0]), "replay makes start and end longer");
    cr_expect(isnan(groups.items[0].total) && groups.items[0].timed == 0);
    for (uint32_t i = 0; i < SAMPLE_RANGES; i++)
        sample_durations[i][0] = NAN;
    group(CW_BY_KERNEL, NULL);
    cr_expect(isnan(groups.total), "no time is known, which is not 0");
}

Test(eval_groups, a_time_that_overflowed_or_is_incomplete_is_none)
{
    set_form(TIME, 0, CW_FORM_OVERFLOW);
    set_form(TIME, 1, CW_FORM_INCOMPLETE);
    group(CW_BY_RANGE, NULL);
    cr_expect(isnan(groups.durations[0]) && isnan(groups.durations[1]) && groups.durations[2] > 0,
              "nor is that of a pass, which is another");
}

/* Comparing each device with each other takes minutes. */
Test(eval_groups, many_devices)
{
    cw_test_seconds(20);
    enum { MANY = 200000 };
    static struct cw_device devices[MANY];
    static struct cw_pair names[MANY];
    static char texts[MANY][12];
    for (uint32_t i = 0; i < MANY; i++) {
        snprintf(texts[i], sizeof texts[i], "%u", i == MANY - 1 ? 7 : i);
        names[i] = (struct cw_pair){"name", texts[i]};
        devices[i] =
            (struct cw_device){.index = i, .attributes = &names[i], .attribute_count = 1, .facts = sample_facts[0]};
    }
    data.devices = devices;
    data.device_count = MANY;
    sample_ranges[0].device = MANY - 1;
    sample_ranges[1].device = 7;
    sample_ranges[2].device = 8;
    group(CW_BY_KERNEL, NULL);
    cr_expect(groups.count == 2 && groups.items[0].count == 2, "the last is like number 7");
}

Test(eval_groups, kernels_of_one_name)
{
    sample_ranges[0].name = "void a::sum<int>(int*)", sample_ranges[1].name = "void b::sum<float>(float*)";
    sample_ranges[1].kernel = "_Zother";
    group(CW_BY_FAMILY, NULL);
    cr_assert(groups.count == 2, "the third range's device has other peaks");
    cr_expect(groups.items[0].count == 2 && groups.items[0].kernels == 2 && groups.items[1].kernels == 1);
    cr_expect_str_eq(groups.items[0].name, "sum");
    sample_ranges[0].kernel = sample_ranges[1].kernel = "";
    group(CW_BY_FAMILY, NULL);
    cr_expect(groups.count == 3, "names of user ranges stay as they are");
}

Test(eval_groups, short_launches)
{
    for (uint32_t i = 0; i < SAMPLE_RANGES; i++)
        set_value(TIME, i, i ? 9000 : 22000);
    group(CW_BY_KERNEL, NULL);
    struct cw_short_launches found = cw_groups_find_short(&groups);
    cr_expect(found.count == 2 && found.launches == 3 && found.share == 0.45, "%g", found.share);
    cr_expect(!found.many, "they are few");
    sample_ranges[2].kernel = "";
    group(CW_BY_RANGE, NULL);
    found = cw_groups_find_short(&groups);
    cr_expect(found.count == 1 && found.launches == 2, "a user range is no launch");
}
