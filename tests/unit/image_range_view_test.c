/* Captures in files, read some ranges at a time. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "image/range_view.h"
#include "tests/support/chunk_edit.h"
#include "tests/support/image_samples.h"

static char path[] = "/tmp/cw_range_view_XXXXXX";
static struct cw_arena *arena;
static struct cw_input input;
static struct cw_counter_data whole, data;
static struct cw_error err;
static int fd;

static void set_up(void (*make)(struct cw_writer *))
{
    struct cw_writer out;
    cw_writer_init(&out);
    make(&out);
    err = (struct cw_error)CW_ERROR_INIT;
    arena = cw_arena_create();
    fd = mkstemp(path);
    cr_assert(fd >= 0 && write(fd, out.data, out.size) == (ssize_t)out.size);
    cr_assert(cw_counter_data_read(&whole, out.data, out.size, "x.cwd", arena, &err) == CW_OK, "%s", err.message);
    cr_assert(cw_input_open(&input, path, SIZE_MAX, &err) == CW_OK && !input.bytes);
    cr_assert(cw_counter_data_open(&data, &input, arena, &err) == CW_OK, "%s", err.message);
    cw_writer_free(&out);
}

static void tear_down(void)
{
    cw_input_close(&input);
    close(fd);
    unlink(path);
    cw_arena_destroy(arena);
}

TestSuite(range_view, .fini = tear_down);

static void make_plain(struct cw_writer *out)
{
    cw_sample_data(out, true);
}

/* That range `i` of the view is range `k` of the whole. */
static void expect_range(const struct cw_range_view *view, uint32_t i, uint32_t k)
{
    const struct cw_range *found = &view->data.ranges[i], *expected = &whole.ranges[k];
    const uint32_t count = view->data.range_count, passes = whole.schema.pass_count;
    cr_expect_str_eq(found->name, expected->name);
    cr_expect_str_eq(found->kernel, expected->kernel);
    cr_expect(found->device == expected->device && found->start_ns == expected->start_ns);
    cr_expect(found->end_ns == expected->end_ns && found->attribute_count == expected->attribute_count);
    cr_expect(memcmp(found->durations, expected->durations, passes * sizeof(double)) == 0);
    for (uint32_t c = 0; c < cw_schema_columns(&whole.schema); c++) {
        const size_t at = (size_t)c * count + i, from = (size_t)c * whole.range_count + k;
        cr_expect_eq(view->data.forms[at], whole.forms[from], "column %u", c);
        for (int r = 0; r < CW_ROLLUP_COUNT; r++)
            cr_expect(memcmp(&view->data.rollups[r][at], &whole.rollups[r][from], sizeof(double)) == 0, "column %u", c);
    }
    for (uint32_t f = 0; f < whole.schema.fact_count; f++)
        cr_expect(memcmp(&view->data.facts[(size_t)f * count + i], &whole.facts[(size_t)f * whole.range_count + k],
                         sizeof(double)) == 0);
}

static void expect_all_ways_of(const struct cw_counter_data *of)
{
    static const uint32_t lists[][3] = {{0, 1, 2}, {2, 1, 0}, {1, 1, 2}};
    struct cw_range_view view;
    cr_assert(cw_range_view_init(&view, of, arena, &err) == CW_OK && view.room == 3);
    for (uint32_t first = 0; first < 3; first++)
        for (uint32_t count = 1; first + count <= 3; count++) {
            cr_assert(cw_range_view_load(&view, first, NULL, count) == CW_OK, "%s", err.message);
            for (uint32_t i = 0; i < count; i++)
                expect_range(&view, i, first + i);
        }
    for (size_t l = 0; l < sizeof lists / sizeof *lists; l++) {
        cr_assert(cw_range_view_load(&view, 0, lists[l], 3) == CW_OK, "%s", err.message);
        for (uint32_t i = 0; i < 3; i++)
            expect_range(&view, i, lists[l][i]);
    }
    cw_range_view_free(&view);
}

static void expect_all_ways(void)
{
    cr_expect(data.directory && !data.ranges && data.range_count == whole.range_count);
    expect_all_ways_of(&data);
    expect_all_ways_of(&whole); /* in memory */
}

Test(range_view, some_ranges_are_those_of_the_whole)
{
    set_up(make_plain);
    expect_all_ways();
}

Test(range_view, values_of_further_passes_go_with_their_range)
{
    set_up(cw_sample_repeats);
    expect_all_ways();
}

/* Columns 4 and 5 are further passes of counters 0 and 2. A multiplexed launch has one pass, which stands for both. */
Test(range_view, a_launch_alone_has_the_values_of_its_pass_in_each)
{
    enum { COLUMNS = 6, RANGES = 3, OWN = 0, FURTHER = 4 };
    static const struct cw_pair multiplexed[] = {{"replay", "multiplex"}};
    struct cw_range_view view;
    set_up(cw_sample_repeats);
    cr_assert(cw_schema_columns(&whole.schema) == COLUMNS && whole.range_count == RANGES);
    uint8_t *forms = (uint8_t *)whole.forms;
    double *sums = (double *)whole.rollups[CW_SUM], *most = (double *)whole.rollups[CW_MAX];
    for (uint32_t i = 0; i < RANGES * COLUMNS; i++) {
        forms[i] = CW_FORM_ROLLUPS;
        sums[i] = 100 + i, most[i] = 200 + i;
    }
    for (uint32_t i = 0; i < RANGES; i++) {
        struct cw_range *range = (struct cw_range *)&whole.ranges[i];
        range->attributes = multiplexed, range->attribute_count = 1;
    }
    forms[OWN * RANGES] = CW_FORM_NOT_COLLECTED;             /* the first has the further pass of counter 0, */
    forms[(FURTHER + 1) * RANGES + 1] = CW_FORM_MULTIPLEXED; /* and the second a mean beside its own of counter 2 */
    forms[2 * RANGES + 1] = CW_FORM_NOT_COLLECTED;
    forms[2 * RANGES + 2] = CW_FORM_NOT_COLLECTED; /* the third has the further pass of counter 2 */
    forms[2 * RANGES] = CW_FORM_MULTIPLEXED;
    for (int alone = 0; alone < 2; alone++) {
        cr_assert(cw_range_view_init(&view, &whole, arena, &err) == CW_OK);
        view.alone = alone;
        cr_assert(cw_range_view_load(&view, 0, NULL, RANGES) == CW_OK);
        for (uint32_t c = 0; c < COLUMNS; c++)
            for (uint32_t i = 0; i < RANGES; i++) {
                const uint32_t at = c * RANGES + i;
                const uint32_t from = !alone                       ? at
                                      : c == OWN && i == 0         ? FURTHER * RANGES
                                      : c == FURTHER && i > 0      ? OWN * RANGES + i
                                      : c == 2 && i == 2           ? (FURTHER + 1) * RANGES + 2
                                      : c == FURTHER + 1 && i == 1 ? 2 * RANGES + 1
                                                                   : at;
                cr_expect(view.data.forms[at] == forms[from], "column %u, range %u: %u", c, i, view.data.forms[at]);
                cr_expect(view.data.rollups[CW_SUM][at] == sums[from] && view.data.rollups[CW_MAX][at] == most[from],
                          "column %u, range %u: %g", c, i, view.data.rollups[CW_SUM][at]);
            }
        cw_range_view_free(&view);
    }
}

Test(range_view, facts_go_with_their_range)
{
    set_up(cw_sample_facts);
    expect_all_ways();
}

/* A mapping of the file would end the process here. */
Test(range_view, a_file_that_becomes_shorter_is_told)
{
    struct cw_range_view view;
    set_up(make_plain);
    cr_assert(ftruncate(fd, 100) == 0);
    cr_assert(cw_range_view_init(&view, &data, arena, &err) == CW_OK);
    cr_expect(cw_range_view_load(&view, 0, NULL, 3) == CW_ERR_IO);
    cr_expect(strstr(err.message, "found 100 bytes, expected the "), "%s", err.message);
    cw_range_view_free(&view);
}

Test(range_view, a_file_that_is_changed_is_told)
{
    struct cw_range_view view;
    set_up(make_plain);
    cr_assert(pwrite(fd, "\xff", 1, (off_t)input.size - 60) == 1);
    cr_assert(cw_range_view_init(&view, &data, arena, &err) == CW_OK);
    cr_expect(cw_range_view_load(&view, 0, NULL, 3) != CW_OK && err.message[0]);
    cw_range_view_free(&view);
}

/* The second range is another chunk by now: there is no third then. */
Test(range_view, a_range_that_is_gone_is_told)
{
    struct cw_range_view view;
    struct cw_edit_chunk chunk;
    struct cw_counter_data open;
    struct cw_writer out;
    set_up(make_plain);
    cw_writer_init(&out);
    make_plain(&out);
    const struct cw_input bytes = cw_input_of(out.data, out.size, "x.cwd");
    cr_assert(cw_counter_data_open(&open, &bytes, arena, &err) == CW_OK);
    cr_assert(cw_edit_find(out.data, out.size, 3, &chunk) && chunk.type == CW_CHUNK_RANGE);
    memcpy(out.data + chunk.offset, "XXXX\1", 5);
    cw_edit_fix_checksums(out.data, out.size);
    cr_assert(cw_range_view_init(&view, &open, arena, &err) == CW_OK);
    cr_expect(cw_range_view_load(&view, 0, NULL, 1) == CW_OK);
    cr_expect(cw_range_view_load(&view, 0, NULL, 3) == CW_ERR_IO);
    cr_expect_str_eq(err.message, "x.cwd: the file was changed while it was read");
    cw_range_view_free(&view);
    cw_writer_free(&out);
}

/* A chunk of a range or its values whose content is changed, with a checksum that is right. */
Test(range_view, content_that_is_changed_is_told)
{
    static const struct {
        size_t chunk, from_end;
        uint8_t byte;
    } cases[] = {{3, 10, 9}, {3, 9, 9}, {4, 1, 9}}; /* the forms of two repeats, and of the last counter */
    struct cw_counter_data open;
    set_up(cw_sample_repeats);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cw_range_view view;
        struct cw_edit_chunk chunk;
        struct cw_writer out;
        cw_writer_init(&out);
        cw_sample_repeats(&out);
        const struct cw_input bytes = cw_input_of(out.data, out.size, "x.cwd");
        cr_assert(cw_counter_data_open(&open, &bytes, arena, &err) == CW_OK);
        cr_assert(cw_edit_find(out.data, out.size, cases[i].chunk, &chunk));
        if (cases[i].chunk == 4) /* the last value, 7 in one number, without its last byte */
            cw_store_u64(out.data + chunk.offset + 8, chunk.size - 1);
        else
            out.data[chunk.offset + 24 + chunk.size - cases[i].from_end] = cases[i].byte;
        cw_edit_fix_checksums(out.data, out.size);
        cr_assert(cw_range_view_init(&view, &open, arena, &err) == CW_OK);
        cr_expect(cw_range_view_load(&view, 0, NULL, 1) == CW_ERR_INPUT, "%zu", i);
        cw_range_view_free(&view);
        cw_writer_free(&out);
    }
}

/* As many ranges as make columns of some 16,384 values: 16 at least, and 4096 at most. */
Test(range_view, room_is_for_ranges_of_any_width)
{
    static const uint32_t counters[] = {0, 1, 4, 5, 1000, 1024, 1025, 100000},
                          wanted[] = {4096, 4096, 4096, 3276, 16, 16, 16, 16};
    set_up(make_plain);
    for (size_t i = 0; i < sizeof counters / sizeof *counters; i++) {
        struct cw_counter_data wide = {.schema.counter_count = counters[i], .range_count = 5000};
        struct cw_range_view view;
        cr_assert(cw_range_view_init(&view, &wide, arena, &err) == CW_OK);
        cr_expect_eq(view.room, wanted[i], "%u: %u", counters[i], view.room);
        wide.range_count = 7;
        cr_assert(cw_range_view_init(&view, &wide, arena, &err) == CW_OK);
        cr_expect_eq(view.room, 7);
    }
}
