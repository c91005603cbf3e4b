#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "image/pm_view.h"
#include "tests/support/alloc_fail.h"
#include "tests/support/chunk_edit.h"
#include "tests/support/image_samples.h"

static struct cw_arena *arena;
static struct cw_counter_data data;
static struct cw_error err;
static struct cw_writer sample;
static char text[1200];

enum { SCHM, DEVC, CLCK, SMPL, SMPL2, LNCH, CLCK2, ENDC, WNDW = ENDC, HEADER = 24 };

static void make(int clocks, bool complete)
{
    cw_writer_free(&sample);
    cw_writer_init(&sample);
    cw_sample_pm(&sample, clocks, complete);
    cr_assert(sample.status == CW_OK);
}

static void set_up(void)
{
    arena = cw_arena_create();
    cw_writer_init(&sample);
    make(2, true);
}

static void tear_down(void)
{
    cw_arena_destroy(arena);
    cw_writer_free(&sample);
}

TestSuite(pm_data, .init = set_up, .fini = tear_down);

static enum cw_status read_bytes(const void *bytes, size_t size)
{
    err = (struct cw_error)CW_ERROR_INIT;
    enum cw_status status = cw_counter_data_read(&data, bytes, size, "x.cwd", arena, &err);
    cw_error_format(&err, text, sizeof text);
    return status;
}

static void read_sample(void)
{
    cr_assert(read_bytes(sample.data, sample.size) == CW_OK, "%s", text);
}

static void refused_in(const struct cw_writer *file, size_t index, size_t at, const char *message, int line)
{
    char expected[1200];
    struct cw_edit_chunk chunk;
    cr_assert(cw_edit_find(file->data, file->size, index, &chunk));
    snprintf(expected, sizeof expected, "x.cwd: offset %zu: %s", chunk.offset + at, message);
    enum cw_status status = read_bytes(file->data, file->size);
    cr_expect(status == CW_ERR_INPUT && strcmp(text, expected) == 0, "line %d: found '%s', expected '%s'", line, text,
              expected);
}

static void expect_column(const struct cw_pm_view *view, uint32_t counter, enum cw_rollup rollup,
                          const double *expected)
{
    for (uint32_t i = 0; i < view->data.range_count; i++) {
        double found = view->data.rollups[rollup][(size_t)counter * view->data.range_count + i];
        bool same = isnan(found) ? isnan(expected[i]) : memcmp(&found, &expected[i], sizeof found) == 0;
        cr_expect(same, "counter %u, rollup %d, sample %u: found %g, expected %g", counter, rollup, i, found,
                  expected[i]);
    }
}

Test(pm_data, says_what_there_is)
{
    read_sample();
    const struct cw_pm_data *pm = &data.pm;
    cr_expect(data.complete && data.range_count == 0 && data.dropped == 4 && data.how == CW_END_NO_PROGRAM);
    cr_assert(pm->block_count == 2 && pm->sample_count == 4 && pm->largest == 3 && pm->clock_count == 2);
    cr_expect(pm->lost == 4 && pm->overflow_count == 1 && pm->blocks[1].overflow && pm->blocks[1].first == 3);
    cr_expect(pm->launch_count == 2 && pm->launches_dropped == 1 && pm->launches[0].process == 4242);
    cr_expect_str_eq(pm->names[pm->launches[0].name], "µ");
    cr_expect_str_eq(pm->names[pm->launches[1].name], "gemm");
    cr_expect(pm->launches[1].device == 3 && pm->launches[1].stream == UINT64_MAX && pm->launches[1].end_ns == 300 &&
              pm->launches[0].end_ns == 50000250);
}

/* They are counted, and at no time: neither in 1970 nor where the clocks' distance would put them. */
Test(pm_data, launches_without_times_are_only_counted)
{
    static const char *const name = "gemm";
    static const struct cw_kernel_launch launches[] = {
        {.context = 1, .stream = 7}, {.context = 1, .stream = 7, .start_ns = 400, .end_ns = 500}, {.context = 1}};
    make(2, false);
    cw_pm_write_launches(4242, 0, &name, 1, launches, 3, &sample);
    read_sample();
    cr_expect(data.pm.launch_count == 3 && data.pm.launches_untimed == 2 && data.pm.launches[2].end_ns == 50000500);
    for (uint32_t i = 0; i < data.pm.launch_count; i++)
        cr_expect(data.pm.launches[i].start_ns, "launch %u", i);
}

Test(pm_data, a_capture_of_samples_is_of_version_1_1_and_others_of_1_0)
{
    cr_expect(sample.data[8] == 1 && sample.data[10] == 1);
    struct cw_writer other;
    cw_writer_init(&other);
    cw_sample_data(&other, true);
    cr_expect(other.data[8] == 1 && other.data[10] == 0);
    cw_writer_free(&other);
}

Test(pm_data, sums_become_rollups)
{
    static const double first[] = {132, 264, 396}, average[] = {1, 2, 3}, none[] = {NAN, NAN, NAN}, zero[] = {0, 0, 0};
    static const double third[] = {0.5, 1e300, -0.0}, last[] = {4294967295, 1, 7};
    struct cw_pm_view view;
    read_sample();
    cr_assert(cw_pm_view_init(&view, &data, arena, &err) == CW_OK);
    cw_pm_view_load(&view, &data, 0, 0);
    cr_assert(view.data.range_count == 3 && view.data.device_count == 1);
    cr_expect(view.columns[0] == CW_COLUMN_COUNTS && view.columns[1] == CW_COLUMN_ZERO);
    cr_expect(view.columns[2] == CW_COLUMN_SUMS && view.columns[3] == CW_COLUMN_COUNTS);
    expect_column(&view, 0, CW_SUM, first);
    expect_column(&view, 0, CW_AVG, average);
    expect_column(&view, 0, CW_MIN, none);
    for (int r = 0; r < CW_ROLLUP_COUNT; r++)
        expect_column(&view, 1, (enum cw_rollup)r, zero);
    expect_column(&view, 2, CW_SUM, third);
    for (int r = 0; r < CW_ROLLUP_COUNT; r++) /* one instance */
        expect_column(&view, 3, (enum cw_rollup)r, last);
}

/* A block may be larger than what is made columns at a time. */
Test(pm_data, a_block_is_loaded_piece_by_piece)
{
    static const double first[] = {132, 264, 396}, third[] = {0.5, 1e300, -0.0}, last[] = {4294967295, 1, 7};
    struct cw_pm_view view;
    read_sample();
    cr_assert(cw_pm_view_init(&view, &data, arena, &err) == CW_OK);
    view.room = 2;
    for (uint32_t from = 0; from < 3; from += 2) {
        cr_assert(cw_pm_view_load(&view, &data, 0, from) == (from ? 1 : 2));
        expect_column(&view, 0, CW_SUM, first + from);
        expect_column(&view, 2, CW_SUM, third + from);
        expect_column(&view, 3, CW_MAX, last + from);
    }
}

Test(pm_data, forms_of_a_column)
{
    static const double none[] = {NAN}, sum[] = {9}, average[] = {90};
    struct cw_pm_view view;
    read_sample();
    cr_assert(cw_pm_view_init(&view, &data, arena, &err) == CW_OK);
    cw_pm_view_load(&view, &data, 1, 0);
    cr_assert(view.data.range_count == 1);
    cr_expect(view.data.forms[0] == CW_FORM_NOT_COLLECTED && view.data.forms[1] == CW_FORM_UNAVAILABLE);
    cr_expect(view.data.forms[2] == CW_FORM_ROLLUPS && view.columns[2] == CW_COLUMN_ROLLUPS);
    expect_column(&view, 0, CW_SUM, none);
    expect_column(&view, 1, CW_MAX, none);
    expect_column(&view, 2, CW_SUM, sum);
    expect_column(&view, 2, CW_AVG, average);
    expect_column(&view, 2, CW_MAX, sum);
}

/* All samples, and all rollups where they differ; the view has loaded other values before. */
Test(pm_data, a_block_has_nothing_of_the_one_before)
{
    static const uint64_t start[] = {9000, 9100, 9200}, end[] = {9100, 9200, 9300};
    static const double sevens[12] = {7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7}, zeros[12];
    static const double late[12] = {0, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0}, none[] = {NAN, NAN, NAN};
    static const uint8_t full[] = {CW_COLUMN_ROLLUPS, CW_COLUMN_ROLLUPS, CW_COLUMN_ROLLUPS, CW_COLUMN_ROLLUPS};
    static const uint8_t forms[] = {CW_COLUMN_ROLLUPS, CW_COLUMN_UNAVAILABLE, CW_COLUMN_ROLLUPS, CW_COLUMN_SUMS};
    const struct cw_block before = {0, 3, 0, false, start, end, {sevens, sevens, sevens, sevens}, full};
    const struct cw_block block = {0, 3, 0, false, start, end, {zeros, zeros, zeros, late}, forms};
    struct cw_pm_view view;
    make(2, false);
    read_sample();
    const struct cw_schema schema = data.schema;
    cw_pm_write_block(&schema, &before, &sample);
    cw_pm_write_block(&schema, &block, &sample);
    read_sample();
    cr_assert(data.pm.block_count == 4 && cw_pm_view_init(&view, &data, arena, &err) == CW_OK);
    cr_assert(cw_pm_view_load(&view, &data, 2, 0) == 3);
    for (uint32_t c = 0; c < 4; c++)
        for (int r = 0; r < CW_ROLLUP_COUNT; r++)
            expect_column(&view, c, (enum cw_rollup)r, sevens);
    cr_assert(cw_pm_view_load(&view, &data, 3, 0) == 3);
    cr_expect(view.columns[0] == CW_COLUMN_ZERO && view.columns[1] == CW_COLUMN_UNAVAILABLE);
    cr_expect(view.columns[2] == CW_COLUMN_ROLLUPS && view.columns[3] == CW_COLUMN_ZERO, "one greatest value is not 0");
    for (int r = 0; r < CW_ROLLUP_COUNT; r++) {
        expect_column(&view, 0, (enum cw_rollup)r, zeros);
        expect_column(&view, 1, (enum cw_rollup)r, none);
        expect_column(&view, 2, (enum cw_rollup)r, r == CW_MAX ? late + 6 : zeros);
        expect_column(&view, 3, (enum cw_rollup)r, zeros);
    }
    for (int i = 0; i < 3; i++)
        cr_expect(view.data.forms[i] == CW_FORM_ZERO && view.data.forms[3 + i] == CW_FORM_UNAVAILABLE &&
                  view.data.forms[6 + i] == CW_FORM_ROLLUPS && view.data.forms[9 + i] == CW_FORM_ZERO);
    cw_pm_view_free(&view);
}

Test(pm_data, times_are_the_wall_clocks)
{
    read_sample(); /* between the pairs the wall's clock gains 500 ns in a million */
    cr_expect(data.pm.correlated[0]);
    cr_expect_eq(data.pm.start_ns[0], 50001000);
    cr_expect_eq(data.pm.end_ns[1], 50003001);
    cr_expect_eq(data.pm.end_ns[3], 50007003);
    make(1, true);
    read_sample(); /* no drift is known */
    cr_expect(data.pm.correlated[0] && data.pm.start_ns[0] == 50001000 && data.pm.end_ns[3] == 50007000);
    make(0, true);
    read_sample();
    cr_expect(!data.pm.correlated[0] && data.pm.start_ns[0] == 1000 && data.pm.end_ns[3] == 7000);
}

/* Two devices, the second of which has a clock of its own and the third none; in the order of their numbers. */
Test(pm_data, each_device_has_its_own_clock)
{
    static const struct cw_schema schema = {.chip = "X", .producer = "test", .profiler = CW_PROFILER_PM};
    static const uint32_t numbers[] = {9, 2, 5}, indices[] = {2, 0, 1};
    static const uint64_t from[] = {3000, 3100}, to[] = {3100, 3200};
    static const char *const name = "gemm";
    cw_writer_free(&sample);
    cw_writer_init(&sample);
    cw_schema_write_header(&schema, &sample);
    cw_schema_write(&schema, &sample);
    for (uint32_t d = 0; d < 3; d++) {
        const struct cw_clock_pair pairs[] = {{1000, 5000000 * (d + 1), 3}, {1001000, 5000000 * (d + 1) + 1000000, 3}};
        const struct cw_block block = {.device = numbers[d], .count = 2, .start = from, .end = to};
        const struct cw_kernel_launch launch = {.device = numbers[d], .start_ns = 4000, .end_ns = 4001};
        cw_counter_data_write_device(&schema, &(struct cw_device){.index = numbers[d]}, &sample);
        for (int i = 0; i < 2 && d < 2; i++)
            cw_pm_write_clock(numbers[d], &pairs[i], &sample);
        cw_pm_write_block(&schema, &block, &sample);
        cw_pm_write_window(&(struct cw_pm_window){numbers[d], 3500, 3600}, &sample);
        cw_pm_write_launches(7, 0, &name, 1, &launch, 1, &sample);
    }
    read_sample();
    const struct cw_pm_data *pm = &data.pm;
    cr_assert(pm->block_count == 3 && pm->clock_count == 4 && pm->window_count == 3 && pm->launch_count == 3);
    for (uint32_t d = 0; d < 3; d++) {
        const uint64_t origin = d < 2 ? 5000000 * (d + 1) - 1000 : 0;
        cr_expect(pm->correlated[indices[d]] == (d < 2));
        cr_expect(pm->blocks[d].device == indices[d] && pm->windows[d].device == indices[d]);
        cr_expect(pm->blocks[d].start_ns == origin + 3000 && pm->blocks[d].end_ns == origin + 3200);
        cr_expect(pm->start_ns[2 * d + 1] == origin + 3100 && pm->end_ns[2 * d] == origin + 3100);
        cr_expect(pm->windows[d].start_ns == origin + 3500 && pm->windows[d].end_ns == origin + 3600);
        cr_expect(pm->launches[d].start_ns == origin + 4000 && pm->launches[d].end_ns == origin + 4001);
    }
}

/* Names without a letter and no launches; one launch; one sample without counters. */
Test(pm_data, the_smallest_items_are_taken)
{
    static const struct cw_schema schema = {.chip = "X", .producer = "test", .profiler = CW_PROFILER_PM};
    static const char *const names[] = {"", "", "", "", ""};
    static const uint64_t time = 9;
    cw_writer_free(&sample);
    cw_writer_init(&sample);
    cw_schema_write_header(&schema, &sample);
    cw_schema_write(&schema, &sample);
    cw_counter_data_write_device(&schema, &(struct cw_device){0}, &sample);
    cw_pm_write_launches(7, 0, names, 5, NULL, 0, &sample);
    cw_pm_write_launches(7, 0, names, 1, &(struct cw_kernel_launch){.end_ns = 1}, 1, &sample);
    cw_pm_write_block(&schema, &(struct cw_block){.count = 1, .start = &time, .end = &time}, &sample);
    read_sample();
    cr_expect(data.pm.name_count == 6 && data.pm.launch_count == 1 && data.pm.sample_count == 1);
}

/* Between and beyond two pairs of clocks, of which the second is credible where they drift by less than a thousandth.
 */
Test(pm_data, clocks_drift)
{
    static const struct {
        struct cw_clock_pair first, last;
        uint64_t device, wall;
    } cases[] = {
        {{1000, 50000, 0}, {1001000, 1050500, 0}, 501000, 550250},
        {{1000, 50000, 0}, {1001000, 1050500, 0}, 2001000, 2051000},
        {{1001000, 2000000, 0}, {2001000, 3000500, 0}, 1000, 999500}, /* before the first */
        {{1000, 50000, 0}, {1001000, 1049500, 0}, 501000, 549750},
        {{1000, 50000, 0}, {1001000, 1051001, 0}, 501000, 550000}, /* they drift too much */
        {{1000, 50000, 0}, {1001000, 1048999, 0}, 501000, 550000},
        {{1000, 50000, 0}, {1001000, 1050999, 0}, 401000, 450400},
        {{1001000, 50000, 0}, {1000, 1050500, 0}, 1002000, 51000}, /* the second is before the first */
        {{1000, 50000, 0}, {1000, 50100, 0}, 2000, 51000},
        {{0, 1, 0}, {1u << 31, (1u << 31) + (1u << 21) + 1, 0}, 1ull << 62, (1ull << 62) + 1 + 1000000000000000},
        {{0, 1ull << 62, 0},
         {1u << 31, (1ull << 62) + (1u << 31) - (1u << 21), 0},
         1ull << 61,
         (1ull << 62) + (1ull << 61) - 1000000000000000},
    };
    static const struct cw_schema schema = {.chip = "X", .producer = "test", .profiler = CW_PROFILER_PM};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cw_writer_free(&sample);
        cw_writer_init(&sample);
        cw_schema_write_header(&schema, &sample);
        cw_schema_write(&schema, &sample);
        cw_counter_data_write_device(&schema, &(struct cw_device){0}, &sample);
        cw_pm_write_clock(0, &cases[i].first, &sample);
        cw_pm_write_clock(0, &cases[i].last, &sample);
        read_sample();
        cr_expect_eq(cw_pm_time(&data.pm, 0, cases[i].device), cases[i].wall, "%zu: %llu", i,
                     (unsigned long long)cw_pm_time(&data.pm, 0, cases[i].device));
    }
}

/* One counter of a device with so many instances. */
static const struct cw_schema one = {.chip = "X",
                                     .producer = "test",
                                     .profiler = CW_PROFILER_PM,
                                     .counter_count = 1,
                                     .counters = &(const struct cw_schema_counter){.name = "c"}};

static void begin_one(uint32_t instances)
{
    cw_writer_free(&sample);
    cw_writer_init(&sample);
    cw_schema_write_header(&one, &sample);
    cw_schema_write(&one, &sample);
    cw_counter_data_write_device(
        &one, &(struct cw_device){.facts = &(const struct cw_device_facts){.instances = instances}}, &sample);
}

/* Two samples of a counter, of which one decides the form: it comes back as it was. */
Test(pm_data, sums_are_counts_where_they_may_be)
{
    static const uint64_t time[] = {1, 2};
    static const uint8_t forms[] = {CW_COLUMN_SUMS};
    static const struct {
        double value;
        enum cw_column_form form;
    } cases[] = {{0, CW_COLUMN_COUNTS},          {4294967295, CW_COLUMN_COUNTS}, {4294967296, CW_COLUMN_SUMS},
                 {-1, CW_COLUMN_SUMS},           {0.5, CW_COLUMN_SUMS},          {-0.0, CW_COLUMN_SUMS},
                 {INFINITY, CW_COLUMN_SUMS},     {NAN, CW_COLUMN_SUMS},          {1e300, CW_COLUMN_SUMS},
                 {4294967295.5, CW_COLUMN_SUMS}, {3, CW_COLUMN_COUNTS}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int second = 0; second < 2; second++) {
            const double sums[] = {second ? 7 : cases[i].value, second ? cases[i].value : 7};
            const struct cw_block block = {0, 2, 0, false, time, time, {sums, sums, sums, sums}, forms};
            struct cw_pm_view view;
            begin_one((uint32_t)i);
            cw_pm_write_block(&one, &block, &sample);
            read_sample();
            cr_assert(cw_pm_view_init(&view, &data, arena, &err) == CW_OK && cw_pm_view_load(&view, &data, 0, 0) == 2);
            cr_expect(view.columns[0] == cases[i].form, "%g: %d", cases[i].value, view.columns[0]);
            expect_column(&view, 0, CW_SUM, sums);
            for (int k = 0; k < 2; k++) /* no average of no instance */
                cr_expect(i || isnan(view.data.rollups[CW_AVG][k]));
            cr_expect(!i || view.data.rollups[CW_AVG][second ? 0 : 1] == 7.0 / (double)i);
            cw_pm_view_free(&view);
        }
}

/* A file that ends behind each part of a large block, which is read part by part; and one with another form. */
Test(pm_data, a_file_that_is_changed_is_told)
{
    enum { COUNT = 40000 };
    static const uint8_t form = CW_COLUMN_ROLLUPS;
    static uint64_t time[COUNT];
    static double values[COUNT];
    const struct cw_block block = {0, COUNT, 0, false, time, time, {values, values, values, values}, &form};
    struct cw_edit_chunk chunk;
    for (uint32_t i = 0; i < COUNT; i++)
        time[i] = i, values[i] = i + 0.5;
    begin_one(1);
    cw_pm_write_block(&one, &block, &sample);
    cr_assert(cw_edit_find(sample.data, sample.size, 2, &chunk));
    const size_t start = chunk.offset + HEADER + 17, form_at = start + 16 * COUNT;
    const size_t ends[] = {start,          start + 8 * COUNT,       form_at,
                           form_at + 1,    form_at + 1 + 8 * COUNT, form_at + 1 + 24 * COUNT,
                           sample.size - 1};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        char path[] = "/tmp/cw_pm_data_XXXXXX";
        struct cw_input input;
        struct cw_pm_view view;
        const int fd = mkstemp(path);
        cr_assert(fd >= 0 && write(fd, sample.data, sample.size) == (ssize_t)sample.size);
        err = (struct cw_error)CW_ERROR_INIT;
        cr_assert(cw_input_open(&input, path, SIZE_MAX, &err) == CW_OK && !input.bytes);
        cr_assert(cw_counter_data_open(&data, &input, arena, &err) == CW_OK, "%s", err.message);
        cr_assert(cw_pm_view_init(&view, &data, arena, &err) == CW_OK && view.room == COUNT);
        cr_assert(cw_pm_view_load(&view, &data, 0, 0) == COUNT && view.data.rollups[CW_MAX][COUNT - 1] == COUNT - 0.5);
        cr_assert(ftruncate(fd, (off_t)ends[i]) == 0);
        cr_expect(cw_pm_view_load(&view, &data, 0, 0) == 0 && view.status == CW_ERR_IO, "%zu", i);
        cr_expect(strstr(err.message, " bytes, expected the "), "%s", err.message);
        err = (struct cw_error)CW_ERROR_INIT;
        cr_expect(cw_counter_data_load(&data, arena, &err) == (i < 2 ? CW_ERR_IO : CW_OK), "%zu: %s", i, err.message);
        cw_pm_view_free(&view);
        cw_input_close(&input);
        close(fd);
        unlink(path);
    }
    struct cw_pm_view view;
    read_sample();
    cr_assert(cw_pm_view_init(&view, &data, arena, &err) == CW_OK);
    sample.data[form_at] = CW_COLUMN__COUNT;
    cr_expect(cw_pm_view_load(&view, &data, 0, 0) == 0 && view.status == CW_ERR_IO);
    cr_expect_str_eq(err.message, "x.cwd: the file was changed while it was read");
    cw_pm_view_free(&view);
}

Test(pm_data, a_file_that_was_cut_keeps_its_whole_chunks)
{
    struct cw_edit_chunk device, first, second;
    cr_assert(cw_edit_find(sample.data, sample.size, DEVC, &device));
    cr_assert(cw_edit_find(sample.data, sample.size, SMPL2, &first));
    cr_assert(cw_edit_find(sample.data, sample.size, LNCH, &second));
    for (size_t size = device.offset; size < sample.size; size++) {
        cr_expect(read_bytes(sample.data, size) == (size < device.offset ? CW_ERR_INPUT : CW_OK), "%zu: %s", size,
                  text);
        uint32_t samples = size >= second.offset ? 4 : size >= first.offset ? 3 : 0;
        cr_expect(!data.complete && data.pm.sample_count == samples, "%zu bytes: %u samples", size,
                  data.pm.sample_count);
    }
}

Test(pm_data, windows_have_the_times_of_samples)
{
    struct cw_writer out;
    cw_writer_init(&out);
    cw_sample_windows(&out);
    cr_assert(read_bytes(out.data, out.size) == CW_OK, "%s", text);
    const struct cw_pm_data *pm = &data.pm;
    cr_assert(data.complete && pm->window_count == 2 && pm->sample_count == 4);
    cr_expect(pm->windows[0].start_ns == pm->start_ns[0] && pm->windows[0].end_ns == pm->end_ns[2]);
    cr_expect(pm->windows[1].start_ns == pm->start_ns[3] && pm->windows[1].end_ns == pm->end_ns[3]);
    struct cw_edit_chunk chunk;
    cr_assert(cw_edit_find(out.data, out.size, WNDW, &chunk));
    out.data[chunk.offset + HEADER + 5] = 0xff; /* of when it starts */
    cw_edit_fix_checksums(out.data, out.size);
    refused_in(&out, WNDW, HEADER + 12, "found a window that ends 61512 ns before it begins, expected none", __LINE__);
    out.data[chunk.offset + HEADER + 5] = 3;
    out.data[chunk.offset + HEADER] = 9;
    cw_edit_fix_checksums(out.data, out.size);
    refused_in(&out, WNDW, HEADER, "found device 9, expected one with a DEVC chunk", __LINE__);
    cw_writer_free(&out);
    read_sample();
    cr_expect(data.pm.window_count == 0);
}

Test(pm_data, samples_without_their_device_are_refused)
{
    struct cw_writer out;
    cw_writer_init(&out);
    cw_edit_remove(&out, &sample, DEVC);
    refused_in(&out, CLCK - 1, HEADER, "found device 0, expected one with a DEVC chunk", __LINE__);
    cw_writer_free(&out);
}

/* Four bytes are put at `at` of a chunk's payload. */
Test(pm_data, bad_content_is_refused)
{
    static const struct {
        int line;
        size_t index, at;
        uint8_t bytes[4];
        size_t found;
        const char *message;
    } cases[] = {
        {__LINE__, CLCK, 0, {9}, 0, "found device 9, expected one with a DEVC chunk"},
        {__LINE__, SMPL, 0, {9}, 0, "found device 9, expected one with a DEVC chunk"},
        {__LINE__, SMPL, 12, {2, 3, 0, 0}, 12, "found overflow 2, expected 0 or 1"},
        {__LINE__,
         SMPL,
         13,
         {0xff, 0xff, 0xff, 0x7f},
         13,
         "found a count of 2147483647 samples, expected at most the 6 that fit the data"},
        {__LINE__, SMPL, 13, {0}, 13, "found 0 samples of 4 counters, expected 1 to 4194304 values"},
        {__LINE__, SMPL, 65, {6}, 65, "found form of a column 6, expected a form below 6"},
        {__LINE__, SMPL, 65, {0}, 66, NULL},
        {__LINE__,
         LNCH,
         12,
         {0xff, 0xff, 0xff, 0xff},
         12,
         "found a count of 4294967295 names, expected at most the 24 that fit the data"},
        {__LINE__, LNCH, 30, {9}, 30, "found a count of 9 launches, expected at most the 2 that fit the data"},
        {__LINE__, LNCH, 34, {2}, 34, "found name 2, expected one below 2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cw_edit_chunk chunk;
        struct cw_writer copy;
        cw_writer_init(&copy);
        cw_write_bytes(&copy, sample.data, sample.size);
        cr_assert(cw_edit_find(copy.data, copy.size, cases[i].index, &chunk) && cases[i].at + 4 <= chunk.size);
        memcpy(copy.data + chunk.offset + HEADER + cases[i].at, cases[i].bytes, 4);
        cw_edit_fix_checksums(copy.data, copy.size);
        if (cases[i].message)
            refused_in(&copy, cases[i].index, HEADER + cases[i].found, cases[i].message, cases[i].line);
        else
            cr_expect(read_bytes(copy.data, copy.size) == CW_ERR_INPUT, "line %d", cases[i].line);
        cw_writer_free(&copy);
    }
}

static enum cw_status read_in(struct cw_arena *own, struct cw_error *why)
{
    struct cw_pm_view view;
    enum cw_status status = cw_counter_data_read(&data, sample.data, sample.size, "x", own, why);
    return status == CW_OK ? cw_pm_view_init(&view, &data, own, why) : status;
}

Test(pm_data, every_failed_allocation_is_reported)
{
    long count = cw_alloc_fail_each(read_in);
    cr_expect(count > 3 && count < 1000, "allocation %ld", -1 - count);
}
