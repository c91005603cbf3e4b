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

/* ---- places ------------------------------------------------------------------------------------------------------ */

static const struct cw_group *group_with(uint32_t range)
{
    return &groups.items[cw_groups_find(&groups, range)];
}

Test(eval_groups, by_stream)
{
    static const struct cw_pair pci[2][2] = {{{"name", "Tiny"}, {"pci", "1"}}, {{"name", "Tiny"}, {"pci", "2"}}};
    for (int i = 0; i < 2; i++)
        sample_devices[i].attributes = pci[i];
    for (int i = 0; i < SAMPLE_RANGES; i++)
        sample_ranges[i].stream = 7, sample_ranges[i].context = 40 + (uint64_t)i;
    group(CW_BY_STREAM, NULL);
    cr_assert(groups.count == 3 && groups.gpu_count == 2);
    cr_expect_str_eq(group_with(0)->name, "device 0 stream 7 of context 40");
    cr_expect_str_eq(group_with(1)->name, "device 0 stream 7 of context 41");
    cr_expect_str_eq(group_with(2)->name, "device 1 stream 7", "none on this device is like it");
    sample_ranges[1].process = 9;
    group(CW_BY_STREAM, NULL);
    cr_expect_str_eq(group_with(0)->name, "device 0 process 7 stream 7");
    cr_expect_str_eq(group_with(1)->name, "device 0 process 9 stream 7");
    sample_ranges[2].device = 0;
    group(CW_BY_STREAM, NULL);
    cr_expect_str_eq(group_with(0)->name, "device 0 process 7 stream 7 of context 40");
    cr_expect_str_eq(group_with(1)->name, "device 0 process 9 stream 7");
    cr_expect_str_eq(group_with(2)->name, "device 0 process 7 stream 7 of context 42");
    sample_ranges[1].stream = 8;
    group(CW_BY_STREAM, NULL);
    cr_expect_str_eq(group_with(1)->name, "device 0 stream 8");
    cr_expect_str_eq(group_with(0)->name, "device 0 stream 7 of context 40");
    sample_ranges[2].context = 40;
    group(CW_BY_STREAM, NULL);
    cr_assert(groups.count == 2 && groups.items[0].count == 2);
    cr_expect_str_eq(groups.items[0].name, "device 0 stream 7");
}

Test(eval_groups, where_launches_of_a_group_were)
{
    memcpy(sample_facts[1], sample_facts[0], sizeof sample_facts[0]);
    for (int i = 0; i < SAMPLE_RANGES; i++)
        sample_ranges[i].stream = 7;
    group(CW_BY_KERNEL, NULL);
    cr_assert(groups.count == 1);
    cr_expect(groups.items[0].stream == 7 && groups.items[0].several_gpus && !groups.items[0].several_processes);
    sample_ranges[1].stream = 8, sample_ranges[1].process = 9, sample_ranges[2].device = 0;
    group(CW_BY_KERNEL, NULL);
    cr_expect(groups.items[0].stream == UINT64_MAX && !groups.items[0].several_gpus &&
              groups.items[0].several_processes);
    sample_ranges[1].stream = 7, sample_ranges[2].stream = 8, sample_ranges[1].process = 7;
    group(CW_BY_KERNEL, NULL);
    cr_expect(groups.items[0].stream == UINT64_MAX && !groups.items[0].several_processes);
    for (int i = 0; i < SAMPLE_RANGES; i++)
        sample_ranges[i].stream = 0, sample_ranges[i].kernel = "";
    group(CW_BY_DEVICE, NULL);
    cr_expect(groups.items[0].stream == UINT64_MAX, "user ranges have none");
}

Test(eval_groups, kernels_and_shapes_are_counted)
{
    memcpy(sample_facts[1], sample_facts[0], sizeof sample_facts[0]);
    group(CW_BY_DEVICE, NULL);
    cr_assert(groups.count == 2);
    cr_expect(groups.kernels == 1 && groups.shapes == 1 && groups.items[0].kernels == 1 && groups.items[0].shapes == 1);
    sample_ranges[1].grid[2]++;
    group(CW_BY_DEVICE, NULL);
    cr_expect(groups.kernels == 1 && groups.shapes == 2 && group_with(0)->kernels == 1 && group_with(0)->shapes == 2 &&
              group_with(2)->shapes == 1);
    sample_ranges[2].kernel = "_Zother";
    group(CW_BY_DEVICE, NULL);
    cr_expect(groups.kernels == 2 && groups.shapes == 3 && group_with(2)->kernels == 1);
    group(CW_BY_KERNEL, NULL);
    cr_expect(groups.kernels == 2 && groups.shapes == 3 && groups.items[0].kernels == 1 && groups.items[0].shapes == 1);
}

/* The mean has a shape if all launches have it. */
Test(eval_groups, shapes_of_means)
{
    group(CW_BY_DEVICE, NULL);
    cr_expect(groups.data.ranges[0].grid[1] == 2 && groups.data.ranges[0].block[0] == 32);
    sample_ranges[1].block[2]++;
    group(CW_BY_DEVICE, NULL);
    const uint32_t of = cw_groups_find(&groups, 0);
    cr_expect(!groups.data.ranges[of].grid[0] && !groups.data.ranges[of].grid[2] && !groups.data.ranges[of].block[0]);
    cr_expect(groups.data.ranges[1 - of].grid[2] == 3);
}

/* ---- order, times and answers ------------------------------------------------------------------------------------ */

Test(eval_groups, means_are_in_the_order_of_groups)
{
    static const double times[] = {2000, 3000, 9000};
    for (int i = 0; i < SAMPLE_RANGES; i++) {
        sample_ranges[i].kernel = i == 0 ? "_Za" : i == 1 ? "_Zb" : "_Zc";
        set_value(TIME, i, times[i]);
        set_value(INST, i, 100.0 * (i + 1));
    }
    group(CW_BY_KERNEL, NULL);
    cr_assert(groups.count == 3);
    for (uint32_t k = 0; k < 3; k++) {
        cr_expect(groups.items[k].ranges[0] == 2 - k && groups.items[k].before == 2 - k);
        cr_expect_str_eq(groups.data.ranges[k].name, sample_ranges[2 - k].name);
        cr_expect(value_of("sm__inst.sum", k, CW_VALUE_OK) == 100.0 * (3 - k));
        cr_expect(cw_groups_find(&groups, k) == 2 - k);
        cr_expect_float_eq(cw_group_share(&groups, &groups.items[k]), times[2 - k] / 14000, 1e-12);
        cr_expect(isnan(cw_group_spread(&groups.items[k])) && groups.data.ranges[k].durations[0] == 1002.5 - k);
    }
    group(CW_BY_RANGE, NULL);
    const uint32_t *longest = cw_groups_longest(&groups, arena);
    for (uint32_t k = 0; k < 3; k++)
        cr_expect(longest[k] == 2 - k && groups.items[k].ranges[0] == k && groups.items[k].used == 1);
    set_form(TIME, 2, CW_FORM_OVERFLOW);
    group(CW_BY_RANGE, NULL);
    longest = cw_groups_longest(&groups, arena);
    cr_expect(longest[0] == 1 && longest[1] == 0 && longest[2] == 2, "those without a time are last");
    cr_expect(groups.total == 5000 && groups.whole == 5000 && !cw_groups_are_part(&groups));
}

Test(eval_groups, some_without_a_time)
{
    static const bool keep[] = {true, true, false};
    set_value(TIME, 0, 1000), set_value(TIME, 1, 3000);
    group(CW_BY_KERNEL, keep);
    cr_assert(groups.count == 1 && groups.total == 4000 && groups.whole == 6000);
    cr_expect(cw_groups_are_part(&groups) && cw_groups_are_of_launches(&groups));
    cr_expect_float_eq(cw_group_spread(&groups.items[0]), sqrt(2) / 2, 1e-12);
    cr_expect(groups.items[0].median == 2000 && groups.items[0].measured == 2 && groups.items[0].timed == 2);
    cr_expect(!cw_group_is_partly_timed(&groups.items[0]));
    set_form(TIME, 0, CW_FORM_INCOMPLETE);
    group(CW_BY_KERNEL, keep);
    cr_expect(groups.items[0].total == 3000 && groups.items[0].mean == 3000 && groups.items[0].median == 3000);
    cr_expect(cw_group_is_partly_timed(&groups.items[0]) && isnan(cw_group_spread(&groups.items[0])));
    set_form(TIME, 1, CW_FORM_INCOMPLETE);
    group(CW_BY_KERNEL, keep);
    cr_expect(!cw_group_is_partly_timed(&groups.items[0]) && isnan(groups.items[0].mean) && groups.whole == 2000);
    cr_expect(isnan(groups.items[0].median) && isnan(groups.items[0].least));
}

/* Without means: the first range of each group, and no values. */
Test(eval_groups, times_alone)
{
    static double facts[] = {1, 2, 3};
    static const char *const names[] = {"fact"};
    data.facts = facts;
    data.schema.fact_count = 1;
    data.schema.fact_names = names;
    set_value(TIME, 2, 9000);
    cr_assert(cw_groups_make_times(&groups, CW_BY_KERNEL, &data, chip, NULL, arena, &err) == CW_OK);
    cr_assert(groups.count == 2 && groups.of_times && groups.data.range_count == 2);
    cr_expect(groups.items[0].total == 9000 && groups.items[1].total == 4000 && groups.total == 13000);
    cr_expect_str_eq(groups.data.ranges[0].name, "third");
    cr_expect_str_eq(groups.data.ranges[1].name, "first");
    cr_expect(!groups.data.forms && !groups.data.facts && !groups.data.directory && !groups.data.repeats);
    for (int r = 0; r < CW_ROLLUP_COUNT; r++)
        cr_expect(!groups.data.rollups[r]);
}

/* Ranges that repeat few launches, as those of a trace: ns 10, 20 and so on. */
Test(eval_groups, of_launches_that_repeat)
{
    enum { COUNT = 7 };
    static const uint32_t numbers[COUNT] = {0, 1, 0, 2, 1, 0, 1};
    static const double ns[COUNT] = {10, 20, 30, NAN, 50, 60, 70};
    static const bool keep[COUNT] = {true, false, true, true, true, true, false};
    struct cw_repeats repeats = {
        .launch_count = 3, .launches = sample_ranges, .numbers = numbers, .durations = ns, .first_ns = 1};
    struct cw_counter_data of = {
        .schema = data.schema, .device_count = 2, .devices = sample_devices, .range_count = COUNT, .repeats = &repeats};
    memcpy(sample_facts[1], sample_facts[0], sizeof sample_facts[0]);
    sample_ranges[1].grid[0] = 9, sample_ranges[2].kernel = "_Zlast";
    cr_assert(cw_groups_make(&groups, CW_BY_KERNEL, &of, chip, NULL, arena, &err) == CW_OK);
    cr_assert(groups.count == 3 && groups.total == 240 && groups.whole == 240);
    cr_expect(groups.items[0].total == 140 && groups.items[0].count == 3 && groups.items[0].used == 3);
    cr_expect(groups.items[0].least == 20 && groups.items[0].greatest == 70 && groups.items[0].median == 50);
    cr_expect(groups.items[1].total == 100 && groups.items[1].ranges[1] == 2 && groups.items[1].ranges[2] == 5);
    cr_expect(isnan(groups.items[2].total) && groups.items[2].used == 1);
    cr_expect(groups.kernels == 2 && groups.shapes == 3 && groups.data.ranges[0].grid[0] == 9);
    cr_assert(cw_groups_make(&groups, CW_BY_FAMILY, &of, chip, keep, arena, &err) == CW_OK);
    cr_assert(groups.count == 3 && groups.total == 150 && groups.whole == 240);
    cr_expect(groups.items[0].count == 3 && groups.items[1].count == 1);
    sample_ranges[1].name = sample_ranges[0].name;
    cr_assert(cw_groups_make(&groups, CW_BY_FAMILY, &of, chip, NULL, arena, &err) == CW_OK);
    cr_assert(groups.count == 2 && groups.items[0].count == 6 && groups.items[0].kernels == 1);
    cr_expect(groups.items[0].shapes == 2 && !groups.data.ranges[0].grid[0], "launches of two shapes");
    for (uint32_t i = 1; i < 6; i++)
        cr_expect(groups.items[0].ranges[i - 1] < groups.items[0].ranges[i], "in the order of the file");
    cr_assert(cw_groups_make(&groups, CW_BY_RANGE, &of, chip, NULL, arena, &err) == CW_OK);
    cr_assert(groups.count == COUNT && groups.items[5].total == 60 && groups.items[5].used == 1);
}

/* Ranges of other ranks are in other groups; a rank is a number. */
Test(eval_groups, of_ranks)
{
    static const struct cw_pair ranks[] = {{"rank", "10"}, {"rank", "9"}, {"rank", "010"}};
    memcpy(sample_facts[1], sample_facts[0], sizeof sample_facts[0]);
    for (int i = 0; i < SAMPLE_RANGES; i++)
        sample_ranges[i].attributes = &ranks[i], sample_ranges[i].attribute_count = 1;
    cr_assert(cw_groups_make_of_ranks(&groups, CW_BY_KERNEL, &data, chip, NULL, arena, &err) == CW_OK);
    cr_assert(groups.count == 2 && groups.of_ranks && groups.items[0].count == 2);
    cr_expect(groups.items[0].ranges[1] == 2 && groups.items[1].ranges[0] == 1);
    sample_ranges[2].attribute_count = 0;
    group(CW_BY_RANK, NULL);
    cr_assert(groups.count == 3);
    cr_expect_str_eq(group_with(2)->name, "(no rank)");
}

/* User ranges within others are in their time already. */
Test(eval_groups, nested_ranges)
{
    static const char *const names[] = {"b", "a/x", "a"};
    static const double times[] = {1000, 200, 500};
    for (int i = 0; i < SAMPLE_RANGES; i++) {
        sample_ranges[i] = (struct cw_range){.name = names[i], .kernel = "", .durations = sample_durations[i]};
        set_value(TIME, i, times[i]);
    }
    group(CW_BY_KERNEL, NULL);
    cr_expect(groups.total == 1500 && groups.whole == 1500 && groups.nested == 1 && groups.count == 3);
    cr_expect(!cw_groups_are_of_launches(&groups));
    sample_ranges[1].name = "ab/x";
    group(CW_BY_KERNEL, NULL);
    cr_expect(groups.total == 1700 && groups.nested == 0, "of none that is there");
    sample_ranges[1].name = "a/x/y";
    group(CW_BY_KERNEL, NULL);
    cr_expect(groups.total == 1500 && groups.nested == 1, "deeper within it");
    sample_ranges[1].device = 1;
    group(CW_BY_KERNEL, NULL);
    cr_expect(groups.total == 1700 && groups.nested == 0, "of another GPU");
    sample_ranges[1].device = 0;
    static const bool keep[] = {true, true, false};
    group(CW_BY_KERNEL, keep);
    cr_expect(groups.total == 1200 && groups.whole == 1500 && groups.nested == 0, "the outer one is left out");
    static const struct cw_pair path = {"nvtx", "b/in"};
    sample_ranges[1].attributes = &path, sample_ranges[1].attribute_count = 1;
    group(CW_BY_NVTX, NULL);
    cr_expect(groups.total == 1500 && groups.nested == 1, "by its path");
}

/* 20 and more, and half of all launches or a tenth of the time. */
Test(eval_groups, many_short_launches)
{
    enum { MOST = 400 };
    static const struct {
        uint32_t count, short_ones;
        double ns, long_ns;
        bool many;
    } rows[] = {{40, 20, 1000, 1e6, true},   {38, 19, 1000, 1e6, false},   {41, 20, 1000, 1e6, false},
                {400, 20, 9999, 1e4, false}, {180, 20, 9999, 11000, true}, {60, 20, 9000, 45100, false},
                {60, 20, 9000, 40000, true}, {40, 20, 10000, 1e6, false}};
    static struct cw_range launches[MOST];
    static uint32_t numbers[MOST];
    static double ns[MOST];
    for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
        for (uint32_t i = 0; i < rows[row].count; i++)
            ns[i] = i < rows[row].short_ones ? rows[row].ns : rows[row].long_ns;
        launches[0] = sample_ranges[0];
        struct cw_repeats repeats = {.launch_count = 1, .launches = launches, .numbers = numbers, .durations = ns};
        struct cw_counter_data of = {.schema = data.schema,
                                     .device_count = 2,
                                     .devices = sample_devices,
                                     .range_count = rows[row].count,
                                     .repeats = &repeats};
        cr_assert(cw_groups_make(&groups, CW_BY_KERNEL, &of, chip, NULL, arena, &err) == CW_OK);
        const struct cw_short_launches found = cw_groups_find_short(&groups);
        cr_expect(found.many == rows[row].many && found.launches == rows[row].count, "row %zu: %g", row, found.share);
        cr_expect(found.count == (rows[row].ns < 10000 ? rows[row].short_ones : 0), "row %zu", row);
    }
}
