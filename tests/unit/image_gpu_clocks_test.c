/* Clocks of a GPU while it was captured. */
#include <criterion/criterion.h>
#include <string.h>

#include "image/merge.h"
#include "tests/support/alloc_fail.h"
#include "tests/support/image_samples.h"

static struct cw_arena *arena;
static struct cw_counter_data data;
static struct cw_error err;
static struct cw_writer file;

static const struct cw_gpu_clock steady[] = {{1000, 1980, 2619, 1}, {2000, 1965, 2619, 0}};
static const struct cw_gpu_clock slower[] = {{1000, 1980, 2619, 0}, {1500, 1200, 2619, 0x40}, {2000, 1755, 2619, 0x4}};

/* The sample data has the devices 0 and 3. */
static void set_up(void)
{
    arena = cw_arena_create();
    cw_writer_init(&file);
    cw_sample_data(&file, false);
}

static void tear_down(void)
{
    cw_arena_destroy(arena);
    cw_writer_free(&file);
}

TestSuite(gpu_clocks, .init = set_up, .fini = tear_down);

static void add(uint32_t device, const struct cw_gpu_clock *readings, uint32_t count)
{
    const struct cw_gpu_clocks clocks = {device, count, readings};
    cw_gpu_clocks_write(&clocks, &file);
}

static enum cw_status read_file(void)
{
    err = (struct cw_error)CW_ERROR_INIT;
    return cw_counter_data_read(&data, file.data, file.size, "x.cwd", arena, &err);
}

Test(gpu_clocks, are_read_as_they_were_written)
{
    cr_assert_eq(read_file(), CW_OK, "%s", err.message);
    const uint32_t last = data.devices[data.device_count - 1].index;
    cr_expect_eq(data.clocks_count, 0, "an older file has none");
    add(last, slower, 3);
    add(data.devices[0].index, steady, 2);
    cr_assert_eq(read_file(), CW_OK, "%s", err.message);
    cr_assert_eq(data.clocks_count, 2);
    cr_expect(data.clocks[1].device == data.device_count - 1 && data.clocks[0].device == 0);
    cr_assert_eq(data.clocks[1].count, 3);
    cr_expect_eq(memcmp(data.clocks[1].readings, slower, sizeof slower), 0);
    cr_expect_eq(memcmp(data.clocks[0].readings, steady, sizeof steady), 0);
}

/* Of merged captures each has its own. */
Test(gpu_clocks, of_a_device_are_found_in_the_order_of_time)
{
    uint32_t first;
    cr_assert_eq(read_file(), CW_OK);
    const uint32_t last = data.devices[data.device_count - 1].index;
    cr_expect_eq(cw_counter_data_clocks(&data, 0, &first), 0);
    add(last, slower + 2, 1);
    add(last, slower, 1);
    cr_assert_eq(read_file(), CW_OK);
    cr_expect_eq(cw_counter_data_clocks(&data, 0, &first), 0);
    cr_assert_eq(cw_counter_data_clocks(&data, data.device_count - 1, &first), 2);
    cr_expect(data.clocks[first].readings->wall_ns == 1000 && data.clocks[first + 1].readings->wall_ns == 2000);
}

Test(gpu_clocks, two_per_cent_are_no_move)
{
    char text[CW_GPU_CLOCKS_TEXT];
    const struct cw_gpu_clocks a = {0, 2, steady}, b = {0, 3, slower}, one = {0, 1, slower};
    cr_expect(!cw_gpu_clocks_moved(&a) && cw_gpu_clocks_moved(&b) && !cw_gpu_clocks_moved(&one));
    cr_expect_str_eq(cw_gpu_clocks_text(&a, text), "SM 1965 MHz, memory 2619 MHz");
    cr_expect_str_eq(cw_gpu_clocks_text(&b, text), "clocks moved from SM 1980 MHz, memory 2619 MHz to SM 1755 MHz, "
                                                   "memory 2619 MHz; kept down by power, heat");
    const struct cw_gpu_clock at[] = {{0, 1000, 0, 0}, {0, 980, 2619, 0}, {0, 979, UINT32_MAX, UINT64_MAX}};
    cr_expect(!cw_gpu_clocks_moved(&(struct cw_gpu_clocks){0, 2, at}), "an unknown clock has not moved");
    cr_expect(cw_gpu_clocks_moved(&(struct cw_gpu_clocks){0, 3, at}));
    cr_expect(cw_gpu_clocks_moved(&(struct cw_gpu_clocks){0, 2, at + 1}), "memory alone");
    cr_expect_lt(strlen(cw_gpu_clocks_text(&(struct cw_gpu_clocks){0, 3, at}, text)), CW_GPU_CLOCKS_TEXT - 1);
    const struct cw_gpu_clock parts[] = {{0, 1980, 0, 0}, {0, 1000, 0, 4}, {0, 0, 2619, 0}, {0, 0, 0, 0}};
    cr_expect_str_eq(cw_gpu_clocks_text(&(struct cw_gpu_clocks){0, 1, parts}, text), "SM 1980 MHz");
    cr_expect_str_eq(cw_gpu_clocks_text(&(struct cw_gpu_clocks){0, 2, parts}, text),
                     "clocks moved from SM 1980 MHz to SM 1000 MHz; kept down by power");
    cr_expect_str_eq(cw_gpu_clocks_text(&(struct cw_gpu_clocks){0, 1, parts + 2}, text), "memory 2619 MHz");
    cr_expect_str_eq(cw_gpu_clocks_text(&(struct cw_gpu_clocks){0, 1, parts + 3}, text), "unknown");
}

Test(gpu_clocks, two_captures_may_have_run_at_others)
{
    const struct cw_gpu_clocks a = {0, 2, steady}, b = {0, 3, slower}, early = {0, 1, steady}, end = {0, 1, slower + 2};
    cr_expect(!cw_gpu_clocks_differ(&a, &a) && !cw_gpu_clocks_differ(&b, &b) && !cw_gpu_clocks_differ(&a, &early));
    cr_expect(cw_gpu_clocks_differ(&a, &b), "in the end");
    cr_expect(cw_gpu_clocks_differ(&a, &end) && cw_gpu_clocks_differ(&end, &b));
}

Test(gpu_clocks, of_no_device_or_without_a_reading_are_refused)
{
    add(77, steady, 2);
    cr_expect_eq(read_file(), CW_ERR_INPUT);
    cr_expect_str_eq(err.message, "found clocks of device 77, expected one with a DEVC chunk");
    tear_down();
    set_up();
    add(0, steady, 0);
    cr_expect_eq(read_file(), CW_ERR_INPUT);
    cr_expect_str_eq(err.message, "found no reading of clocks, expected at least 1");
}

Test(gpu_clocks, running_out_of_memory_is_an_error)
{
    enum cw_status status = CW_ERR_NOMEM;
    add(0, slower, 3);
    for (long i = 0; status == CW_ERR_NOMEM; i++) {
        cr_assert_lt(i, 1000);
        cw_alloc_fail_after(i);
        status = read_file();
        bool failed = cw_alloc_failed();
        cw_alloc_fail_after(-1);
        cr_expect_eq(status, failed ? CW_ERR_NOMEM : CW_OK, "allocation %ld", i);
    }
}
