/* Means of samples within user ranges. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "eval/join/pm_ranges.h"

/* Two devices with four samples of 10 ns each, from 100 on; those of the second come first in the file. */
enum { SAMPLES = 8, A = 1, B = 2, OF_A, OF_B, INNER, PATHS };
static struct cw_device devices[] = {{.index = 0}, {.index = 3}};
static const struct cw_pm_block blocks[] = {{.device = 1, .first = 0, .count = 4},
                                            {.device = 0, .first = 4, .count = 4}};
static uint64_t start[SAMPLES], end[SAMPLES];
static bool correlated[] = {true, true};
static const struct cw_counter_data data = {.device_count = 2,
                                            .devices = devices,
                                            .pm = {.block_count = 2,
                                                   .sample_count = SAMPLES,
                                                   .blocks = blocks,
                                                   .start_ns = start,
                                                   .end_ns = end,
                                                   .correlated = correlated}};
static double values[] = {1000, 2000, 3000, 4000, 1, 2, NAN, 4};
static int8_t statuses[] = {0, 0, 0, 0, 0, 0, CW_VALUE_NOT_COLLECTED, 0};
static const struct cw_result result = {
    .data = &data, .metric_count = 1, .row_count = SAMPLES, .values = values, .statuses = statuses};

/* The first process uses device 0, the second both. */
static const struct cw_trace_device first[] = {{0, 0}}, both[] = {{0, 0}, {1, 1}};
static const struct cw_trace_process processes[] = {{.device_count = 1, .devices = first},
                                                    {.device_count = 2, .devices = both}};
static const struct cw_trace trace = {.process_count = 2, .processes = processes};
static struct cw_timeline_name names[] = {{"", ""}, {"a", "a"}, {"b", "b"}};
static struct cw_timeline_part parts[3];
static struct cw_timeline_path paths[PATHS] = {[OF_A] = {0, 0, A, 1}, [OF_B] = {0, 0, B, 1}, [INNER] = {OF_A, 0, B, 2}};
static struct cw_timeline_thread threads[] = {{.process = 0}, {.process = 1}};

static struct cw_arena *arena;
static struct cw_pm_ranges made;
static struct cw_error err;

static void set_up(void)
{
    arena = cw_arena_create();
    for (int i = 0; i < 3; i++)
        parts[i] = (struct cw_timeline_part){names[i].text, cw_text_sum(names[i].text, strlen(names[i].text)),
                                             cw_text_sum(names[i].text, strlen(names[i].text))};
    for (uint64_t i = 0; i < SAMPLES; i++) {
        start[i] = 100 + 10 * (i % 4);
        end[i] = start[i] + 10;
    }
}

static void tear_down(void)
{
    cw_arena_destroy(arena);
}

TestSuite(pm_ranges, .init = set_up, .fini = tear_down);

static enum cw_status make(struct cw_timeline_range *ranges, uint32_t count)
{
    const struct cw_timeline t = {.trace = &trace,
                                  .data = &data,
                                  .ranges = ranges,
                                  .range_count = count,
                                  .threads = threads,
                                  .paths = paths,
                                  .path_count = PATHS,
                                  .parts = parts,
                                  .path_size = CW_TIMELINE_NAME_SIZE,
                                  .names = names,
                                  .name_count = 3};
    return cw_pm_ranges_make(&made, &result, &t, arena, &err);
}

static void expect(uint32_t row, const char *path, uint32_t device, uint32_t ranges, uint32_t samples, uint64_t ns,
                   double mean)
{
    const struct cw_pm_range *r = &made.items[row];
    cr_assert_lt(row, made.count);
    cr_expect_str_eq(r->path, path);
    cr_expect(r->device == device && r->ranges == ranges && r->samples == samples && r->time_ns == ns,
              "%s: device %u, %u ranges, %u samples, %llu ns", path, r->device, r->ranges, r->samples,
              (unsigned long long)r->time_ns);
    cr_expect((isnan(mean) && isnan(made.values[row])) || fabs(made.values[row] - mean) < 1e-9, "%s: %g", path,
              made.values[row]);
}

Test(pm_ranges, samples_weigh_as_much_as_they_last_in_a_range)
{
    struct cw_timeline_range ranges[] = {{.start = 105, .end = 120, .path = OF_A},
                                         {.start = 112, .end = 114, .path = INNER}};
    cr_assert_eq(make(ranges, 2), CW_OK);
    cr_assert_eq(made.count, 2);
    expect(0, "a", 0, 1, 2, 15, (1 * 5 + 2 * 10) / 15.);
    expect(1, "a/b", 0, 1, 1, 2, 2);
}

/* As from several threads at a time, and again later. */
Test(pm_ranges, ranges_that_overlap_count_once)
{
    struct cw_timeline_range ranges[] = {{.start = 100, .end = 112, .path = OF_A},
                                         {.start = 130, .end = 135, .path = OF_A},
                                         {.start = 104, .end = 106, .path = OF_A},
                                         {.start = 110, .end = 115, .path = OF_A}};
    cr_assert_eq(make(ranges, 4), CW_OK);
    expect(0, "a", 0, 4, 3, 20, (1 * 10 + 2 * 5 + 4 * 5) / 20.);
}

Test(pm_ranges, ranges_are_of_the_devices_of_their_process)
{
    struct cw_timeline_range ranges[] = {{.start = 100, .end = 110, .path = OF_B},
                                         {.start = 110, .end = 140, .path = OF_B, .thread = 1}};
    cr_assert_eq(make(ranges, 2), CW_OK);
    cr_assert_eq(made.count, 2);
    expect(0, "b", 0, 2, 4, 40, (1 + 2 + 4) / 3.); /* what has no value is no zero */
    expect(1, "b", 3, 1, 3, 30, 3000);
    cr_expect_eq(made.statuses[0], CW_VALUE_NOT_COLLECTED);
    cr_expect_eq(made.statuses[1], 0);
}

Test(pm_ranges, a_range_without_samples_has_no_value)
{
    struct cw_timeline_range ranges[] = {{.start = 10, .end = 20, .path = OF_A},
                                         {.start = 138, .end = 139, .path = OF_B, .open = true}};
    cr_assert_eq(make(ranges, 2), CW_OK);
    expect(0, "b", 0, 1, 1, 2, 4);
    expect(1, "a", 0, 1, 0, 0, NAN);
    cr_expect_eq(made.statuses[0], CW_VALUE_OK);
    cr_expect_eq(made.statuses[1], CW_VALUE_NOT_COLLECTED);
}

Test(pm_ranges, times_of_the_gpu_alone_are_refused)
{
    struct cw_timeline_range ranges[] = {{.start = 10, .end = 20, .path = OF_A}};
    correlated[1] = false;
    cr_expect_eq(make(ranges, 1), CW_ERR_USAGE);
    cr_expect_str_eq(err.message, "found no reading of the clock of device 3, expected one to place samples in "
                                  "ranges");
}

/* A launch names its device by number; that of the second device is not its index. */
Test(pm_ranges, launches_are_of_devices_by_number)
{
    static const char *kernels[] = {"k"};
    static struct cw_kernel_launch launches[] = {{.device = 3, .start_ns = 100, .end_ns = 110},
                                                 {.device = 0, .start_ns = 130, .end_ns = 140},
                                                 {.device = 1, .start_ns = 100, .end_ns = 140}};
    struct cw_counter_data launched = data;
    struct cw_result of = result;
    const struct cw_timeline t = {.trace = &trace, .data = &data, .paths = paths, .path_count = 1, .names = names};
    launched.pm.launches = launches;
    launched.pm.launch_count = 3;
    launched.pm.names = kernels;
    launched.pm.name_count = 1;
    of.data = &launched;
    cr_assert_eq(cw_pm_kernels_make(&made, &of, &t, arena, &err), CW_OK);
    cr_assert_eq(made.count, 2);
    const uint32_t second = made.items[0].device == 3 ? 0 : 1;
    expect(second, "k", 3, 1, 1, 10, 1000);
    expect(1 - second, "k", 0, 1, 1, 10, 4);
}
