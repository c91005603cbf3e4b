#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image/counter_data.h"
#include "image/fields.h"
#include "image/provenance.h"
#include "image/trace_data.h"
#include "tests/support/alloc_fail.h"
#include "tests/support/chunk_edit.h"
#include "tests/support/image_samples.h"

static struct cw_arena *arena;
static struct cw_counter_data data;
static struct cw_error err;
static struct cw_writer sample;
static char text[1200];

enum { SCHM, DEVC, RNGE, RNGE2, DEVC2, RNGE3, ENDC, HEADER = 24 };

static void set_up(void)
{
    arena = cw_arena_create();
    cw_writer_init(&sample);
    cw_sample_data(&sample, true);
    cr_assert(sample.status == CW_OK);
}

static void tear_down(void)
{
    cw_arena_destroy(arena);
    cw_writer_free(&sample);
}

TestSuite(counter_data, .init = set_up, .fini = tear_down);

/* From a block of the exact size, so that the address sanitizer sees a read past the end. */
static enum cw_status read_bytes(const void *bytes, size_t size)
{
    uint8_t *exact = malloc(size ? size : 1);
    cr_assert(exact);
    if (size)
        memcpy(exact, bytes, size);
    err = (struct cw_error)CW_ERROR_INIT;
    enum cw_status status = cw_counter_data_read(&data, exact, size, "x.cwd", arena, &err);
    cw_error_format(&err, text, sizeof text);
    free(exact);
    return status;
}

#define REFUSED(bytes, size, expected)                                                                                 \
    do {                                                                                                               \
        cr_expect(read_bytes(bytes, size) == CW_ERR_INPUT);                                                            \
        cr_expect_str_eq(text, expected);                                                                              \
    } while (0)

static size_t chunk_offset(const struct cw_writer *file, size_t index)
{
    struct cw_edit_chunk chunk;
    cr_assert(cw_edit_find(file->data, file->size, index, &chunk), "chunk %zu", index);
    return chunk.offset;
}

/* Expects an error with this text at `at` of chunk `index`, counted from the chunk's header. */
static void refused_in(const struct cw_writer *file, size_t index, size_t at, const char *message, int line)
{
    char expected[1200];
    snprintf(expected, sizeof expected, "x.cwd: offset %zu: %s", chunk_offset(file, index) + at, message);
    enum cw_status status = read_bytes(file->data, file->size);
    cr_expect(status == CW_ERR_INPUT && strcmp(text, expected) == 0, "line %d: found '%s', expected '%s'", line, text,
              expected);
}

static double value_at(uint32_t counter, enum cw_rollup rollup, uint32_t range)
{
    return data.rollups[rollup][(size_t)counter * data.range_count + range];
}

static void expect_value(uint32_t range, uint32_t counter, enum cw_value_form form, double sum, double avg, double min,
                         double max)
{
    const double expected[] = {sum, avg, min, max};
    cr_expect(data.forms[(size_t)counter * data.range_count + range] == form, "range %u, counter %u", range, counter);
    for (int r = 0; r < CW_ROLLUP_COUNT; r++) {
        double found = value_at(counter, (enum cw_rollup)r, range);
        bool same = isnan(found) ? isnan(expected[r]) : memcmp(&found, &expected[r], sizeof found) == 0;
        cr_expect(same, "range %u, counter %u, rollup %d: found %g, expected %g", range, counter, r, found,
                  expected[r]);
    }
}

Test(counter_data, reads_into_columns)
{
    cr_assert(read_bytes(sample.data, sample.size) == CW_OK, "%s", text);
    cr_expect(data.complete && data.dropped == 11 && data.how == CW_END_SIGNALLED && data.code == 9);
    cr_assert(data.range_count == CW_SAMPLE_RANGES && data.schema.counter_count == CW_SAMPLE_COUNTERS);
    expect_value(0, 0, CW_FORM_ROLLUPS, 528, 4, 1, 8);
    expect_value(0, 1, CW_FORM_OVERFLOW, 1e300, INFINITY, -1, 0.5);
    expect_value(0, 2, CW_FORM_INSTANCES, 10, 2.5, 1, 4);
    expect_value(0, 3, CW_FORM_ONE, 7, 7, 7, 7);
    expect_value(1, 0, CW_FORM_NOT_COLLECTED, NAN, NAN, NAN, NAN);
    expect_value(1, 1, CW_FORM_UNAVAILABLE, NAN, NAN, NAN, NAN);
    expect_value(1, 2, CW_FORM_ZERO, 0, 0, 0, 0);
    expect_value(1, 3, CW_FORM_INCOMPLETE, 1, 2, 3, 4);
    expect_value(2, 0, CW_FORM_ZERO, 0, 0, 0, 0);
    expect_value(2, 1, CW_FORM_ROLLUPS, -0.0, 0, 0, 0);
    expect_value(2, 2, CW_FORM_ZERO, 0, 0, 0, 0);
    expect_value(2, 3, CW_FORM_ONE, -0.0, -0.0, -0.0, -0.0);
}

Test(counter_data, reads_ranges_and_devices)
{
    cr_assert(read_bytes(sample.data, sample.size) == CW_OK, "%s", text);
    const struct cw_range *first = &data.ranges[0], *last = &data.ranges[2];
    cr_expect(strcmp(first->name, "step") == 0 && strcmp(first->kernel, "_Z4stepPf") == 0);
    cr_expect(first->process == 4242 && first->context == 1 && first->stream == 7);
    cr_expect(first->grid[0] == 132 && first->block[0] == 256 && first->start_ns == 1000 && first->end_ns == 2000);
    cr_expect(first->durations[0] == 1000.5 && isnan(first->durations[1]));
    cr_expect(isnan(data.ranges[1].durations[0]) && isnan(data.ranges[1].durations[1]));
    cr_expect(strcmp(last->name, "µ") == 0 && last->kernel[0] == 0 && last->end_ns == UINT64_MAX);
    cr_expect(last->grid[2] == 3 && last->block[2] == 6 && last->context == UINT64_MAX);
    cr_assert(data.device_count == 2);
    cr_expect(first->device == 0 && last->device == 1 && data.devices[1].index == 4294967295);
    cr_expect_str_eq(cw_device_attribute(&data.devices[0], "backend"), "sim");
    cr_expect(cw_device_attribute(&data.devices[1], "backend") == NULL);
    cr_expect(data.devices[0].facts[1].instances == 132 && data.devices[0].facts[1].peak[CW_SUM] == 528);
    cr_expect(isnan(data.devices[0].facts[2].peak[CW_MAX]));
}

/* The first start of all, whatever their order; one without a start does not count. */
Test(counter_data, when_the_first_range_began)
{
    static const uint64_t starts[][4] = {
        {500, 0, 200, 300}, {0, 0, 0, 0}, {0, 700, 900, 800}, {100, 200, 300, 0}, {4, 3, 2, 1}};
    static const uint64_t wanted[] = {200, 0, 700, 100, 1};
    static const struct cw_schema schema = {.chip = "X", .producer = "test"};
    static const struct cw_device device = {.index = 3};
    for (size_t row = 0; row < sizeof wanted / sizeof *wanted; row++) {
        struct cw_writer file;
        cw_writer_init(&file);
        cw_schema_write_header(&schema, &file);
        cw_schema_write(&schema, &file);
        cw_counter_data_write_device(&schema, &device, &file);
        for (int i = 0; i < 4; i++) {
            const struct cw_range range = {.name = i % 2 ? "a" : "b",
                                           .kernel = "k",
                                           .device = 3,
                                           .start_ns = starts[row][i],
                                           .end_ns = starts[row][i] + 9};
            cw_counter_data_write_range(&schema, &range, NULL, &file);
        }
        cw_counter_data_write_end(4, 0, CW_END_EXITED, 0, &file);
        const struct cw_input input = cw_input_of(file.data, file.size, "x.cwd");
        cr_assert(cw_counter_data_open(&data, &input, arena, &err) == CW_OK, "%s", err.message);
        cr_expect(data.directory && data.range_count == 4 && cw_launch_count(&data) == 2);
        cr_expect(cw_ranges_begin(&data) == wanted[row], "%zu", row);
        cr_expect_str_eq(cw_launch_of(&data, 3)->name, "a");
        cr_expect(cw_launch_number(&data, 2) == 0 && cw_launch_number(&data, 1) == 1);
        cr_assert(cw_counter_data_load(&data, arena, &err) == CW_OK);
        cr_expect(cw_ranges_begin(&data) == wanted[row] && data.ranges[2].start_ns == starts[row][2]);
        cw_writer_free(&file);
    }
}

Test(counter_data, clocks_of_a_device)
{
    static const struct cw_gpu_clocks clocks[] = {
        {.device = 0}, {.device = 2}, {.device = 2}, {.device = 2}, {.device = 3}};
    static const uint32_t wanted[][2] = {{1, 0}, {0, 1}, {3, 1}, {1, 4}, {0, 5}};
    const struct cw_counter_data of = {.clocks_count = 5, .clocks = clocks};
    for (uint32_t device = 0; device < 5; device++) {
        uint32_t first;
        cr_expect(cw_counter_data_clocks(&of, device, &first) == wanted[device][0] && first == wanted[device][1], "%u",
                  device);
    }
}

Test(counter_data, schema_is_the_plans)
{
    cr_assert(read_bytes(sample.data, sample.size) == CW_OK, "%s", text);
    const struct cw_schema *schema = &data.schema;
    cr_expect(strcmp(schema->chip, "GH100") == 0 && strcmp(schema->producer, "test µ1") == 0);
    cr_expect(schema->profiler == CW_PROFILER_RANGE && schema->database[15] == 16 && schema->pass_count == 2);
    cr_expect(schema->metric_count == 2 && strcmp(schema->metrics[1], "dram__sectors.sum.per_second") == 0);
    cr_expect(schema->counters[0].whole && schema->counters[0].pass_count == 1 && schema->counters[0].passes[0] == 0);
    cr_expect(!schema->counters[1].whole && schema->counters[1].pass_count == 2 && schema->counters[1].passes[1] == 1);
    cr_expect(schema->counters[3].whole && schema->counters[3].pass_count == 2);
}

Test(counter_data, writing_is_deterministic)
{
    struct cw_writer again;
    cw_writer_init(&again);
    cw_sample_data(&again, true);
    cr_expect(again.size == sample.size && memcmp(again.data, sample.data, sample.size) == 0);
    cw_writer_free(&again);
}

Test(counter_data, the_shortest_form_is_written)
{
    /* bytes of each value after the form: rollups, rollups, a list of four, one; none, none, none, rollups; ... */
    static const size_t sizes[CW_SAMPLE_RANGES] = {4 + 32 + 32 + 36 + 8, 4 + 32, 4 + 32 + 8};
    static const size_t chunks[CW_SAMPLE_RANGES] = {RNGE, RNGE2, RNGE3};
    static const size_t names[CW_SAMPLE_RANGES] = {4 + 9, 4 + 9, 2};
    for (size_t i = 0; i < CW_SAMPLE_RANGES; i++) {
        struct cw_edit_chunk chunk;
        cr_assert(cw_edit_find(sample.data, sample.size, chunks[i], &chunk));
        cr_expect_eq(chunk.size, 8 + names[i] + 8 + 16 + 24 + 16 + 16 + sizes[i], "range %zu", i);
    }
}

/* One counter and one range around a value; NULL where it does not read. */
static const double *pass_through(struct cw_value value, enum cw_value_form *form)
{
    static double rollup[CW_ROLLUP_COUNT];
    struct cw_schema_counter counter = {.name = "c"};
    struct cw_schema schema = {.chip = "", .producer = "", .counter_count = 1, .counters = &counter};
    struct cw_device_facts facts = {0};
    struct cw_device device = {.facts = &facts};
    struct cw_range range = {.name = "", .kernel = ""};
    struct cw_config_image plan = {.chip = "", .producer = ""};
    struct cw_config_counter planned = {.name = "c"};
    plan.counter_count = 1;
    plan.counters = &planned;
    struct cw_writer out;
    cw_writer_init(&out);
    cw_config_image_prefix(&plan, &out);
    cw_counter_data_write_device(&schema, &device, &out);
    cw_counter_data_write_range(&schema, &range, &value, &out);
    cw_counter_data_write_end(1, 0, CW_END_EXITED, 0, &out);
    enum cw_status status = read_bytes(out.data, out.size);
    cw_writer_free(&out);
    cr_assert(status == CW_OK, "%s", text);
    *form = (enum cw_value_form)data.forms[0];
    for (int r = 0; r < CW_ROLLUP_COUNT; r++)
        rollup[r] = data.rollups[r][0];
    return rollup;
}

Test(counter_data, rollups_of_instances)
{
    enum cw_value_form form;
    const double mixed[] = {-1, NAN, 5}, leading[] = {NAN, 1}, tiny[] = {0.1, 0.2, 0.3}, minus[] = {-0.0, -0.0};
    const double *r;
    r = pass_through((struct cw_value){CW_FORM_INSTANCES, .instance_count = 3, .instances = mixed}, &form);
    cr_expect(isnan(r[CW_SUM]) && isnan(r[CW_AVG]) && isnan(r[CW_MIN]) && isnan(r[CW_MAX]));
    r = pass_through((struct cw_value){CW_FORM_INSTANCES, .instance_count = 2, .instances = leading}, &form);
    cr_expect(isnan(r[CW_SUM]) && isnan(r[CW_AVG]) && isnan(r[CW_MIN]) && isnan(r[CW_MAX]));
    r = pass_through((struct cw_value){CW_FORM_INSTANCES, .instance_count = 3, .instances = tiny}, &form);
    cr_expect(r[CW_SUM] == 0.1 + 0.2 + 0.3 && r[CW_AVG] == (0.1 + 0.2 + 0.3) / 3);
    cr_expect(r[CW_MIN] == 0.1 && r[CW_MAX] == 0.3);
    r = pass_through((struct cw_value){CW_FORM_INSTANCES, .instance_count = 2, .instances = minus}, &form);
    cr_expect(form == CW_FORM_INSTANCES && signbit(r[CW_SUM]) && signbit(r[CW_MAX]));
    r = pass_through((struct cw_value){CW_FORM_INSTANCES, .instance_count = 0}, &form);
    cr_expect(form == CW_FORM_NOT_COLLECTED && isnan(r[CW_SUM]));
}

Test(counter_data, forms_that_carry_a_statement_stay)
{
    enum cw_value_form form;
    const double *r = pass_through((struct cw_value){CW_FORM_OVERFLOW, {0, 0, 0, 0}}, &form);
    cr_expect(form == CW_FORM_OVERFLOW && r[CW_SUM] == 0);
    r = pass_through((struct cw_value){CW_FORM_INCOMPLETE, {2, 2, 2, 2}}, &form);
    cr_expect(form == CW_FORM_INCOMPLETE && r[CW_MIN] == 2);
    r = pass_through((struct cw_value){CW_FORM_ONE, {0, 0, 0, 0}}, &form);
    cr_expect(form == CW_FORM_ZERO && r[CW_MAX] == 0);
    r = pass_through((struct cw_value){CW_FORM_ONE, {3, 0, 0, 0}}, &form);
    cr_expect(form == CW_FORM_ONE && r[CW_MAX] == 3);
    r = pass_through((struct cw_value){CW_FORM_ROLLUPS, {NAN, NAN, NAN, NAN}}, &form);
    cr_expect(form == CW_FORM_ONE && isnan(r[CW_MIN]));
}

Test(counter_data, a_file_that_was_cut_keeps_its_whole_chunks)
{
    size_t prefix = chunk_offset(&sample, DEVC);
    for (size_t size = 0; size < sample.size; size++) {
        enum cw_status status = read_bytes(sample.data, size);
        if (size < prefix) {
            cr_expect(status == CW_ERR_INPUT && err.offset <= size, "%zu bytes: %s", size, text);
            continue;
        }
        uint32_t ranges = (size >= chunk_offset(&sample, RNGE2)) + (size >= chunk_offset(&sample, DEVC2)) +
                          (size >= chunk_offset(&sample, ENDC));
        cr_expect(status == CW_OK && !data.complete && data.range_count == ranges, "%zu bytes: %s", size, text);
        cr_expect(ranges == 0 || value_at(0, CW_SUM, 0) == 528);
    }
}

/* Of the header and the schema; what any other costs is in image_damage_test.c. */
Test(counter_data, every_flipped_bit_is_told)
{
    for (size_t bit = 0; bit < 8 * sample.size; bit++) {
        if (bit / 8 == 10 || bit / 8 == 11) /* the minor version */
            continue;
        sample.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        enum cw_status status = read_bytes(sample.data, sample.size);
        sample.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        if (bit / 8 < chunk_offset(&sample, DEVC))
            cr_expect(status == CW_ERR_INPUT, "bit %zu", bit);
        else
            cr_expect(status == CW_OK && !data.complete, "bit %zu", bit);
    }
}

Test(counter_data, headers_of_other_files_are_refused)
{
    struct cw_config_image plan = cw_sample_plan();
    struct cw_writer out;
    cw_writer_init(&out);
    cw_config_image_write(&plan, &out);
    REFUSED(out.data, out.size, "x.cwd: offset 0: found a config image, expected counter data");
    cw_writer_free(&out);
    err = (struct cw_error)CW_ERROR_INIT;
    cr_expect(cw_counter_data_read(&data, "", 0, "-", arena, &err) == CW_ERR_INPUT);
    cr_expect(strstr(err.message, "found nothing on standard input, which can be read once"), "%s", err.message);
    err = (struct cw_error)CW_ERROR_INIT;
    cr_expect(cw_counter_data_read(&data, "x", 1, "-", arena, &err) == CW_ERR_INPUT);
    cr_expect(strstr(err.message, "found another kind of file"), "%s", err.message);
    REFUSED("", 0, "x.cwd: offset 0: found an empty file, expected counter data");
    REFUSED(sample.data, 16, "x.cwd: offset 16: found the end of the file, expected chunk SCHM");
    REFUSED(sample.data, 17, "x.cwd: offset 16: the file ends inside a chunk");
    sample.data[8] = 0x34;
    sample.data[9] = 0x12;
    REFUSED(sample.data, sample.size, "x.cwd: offset 8: found counter data version 4660, expected version 1 or 2");
    sample.data[8] = 1;
    sample.data[9] = 0;
    sample.data[10] = 3; /* minor */
    cr_expect(read_bytes(sample.data, sample.size) == CW_OK && data.range_count == 3);
}

static void refused_insert(size_t index, const char *type, uint32_t flags, const char *message, int line)
{
    struct cw_writer out;
    cw_writer_init(&out);
    cw_edit_insert(&out, &sample, index, type, flags, "", 0);
    refused_in(&out, index, 0, message, line);
    cw_writer_free(&out);
}

Test(counter_data, chunks_out_of_place_are_refused)
{
    refused_insert(0, "DEVC", 0, "found chunk DEVC with flags 0, expected chunk SCHM with flags 0", __LINE__);
    refused_insert(0, "SCHM", 1, "found chunk SCHM with flags 1, expected chunk SCHM with flags 0", __LINE__);
    refused_insert(1, "SCHM", 0, "found chunk SCHM again, expected it once", __LINE__);
    refused_insert(2, "RNGE", 1, "found chunk RNGE with flags 1, expected flags 0", __LINE__);
    refused_insert(3, "XTRA", 0, "found an unknown chunk XTRA that is not optional, expected one of version 1.5",
                   __LINE__);
    refused_insert(ENDC + 1, "XTRA", 1, "found 24 bytes after the end chunk, expected the end of the file", __LINE__);
    cw_write_u8(&sample, 0);
    refused_in(&sample, ENDC, HEADER + 21, "found 1 bytes after the end chunk, expected the end of the file", __LINE__);
}

Test(counter_data, unknown_optional_chunks_are_skipped)
{
    for (size_t index = DEVC; index <= ENDC; index++) {
        struct cw_writer out;
        cw_writer_init(&out);
        cw_edit_insert(&out, &sample, index, "XTRA", 1, "whatever", 8);
        cr_expect(read_bytes(out.data, out.size) == CW_OK && data.complete && data.range_count == 3, "%s", text);
        cw_writer_free(&out);
    }
}

Test(counter_data, a_device_stands_before_its_ranges)
{
    struct cw_writer without, later;
    struct cw_edit_chunk device;
    cw_writer_init(&without);
    cw_writer_init(&later);
    cw_edit_remove(&without, &sample, DEVC);
    refused_in(&without, 1, HEADER + 17 + 4, "found a range of device 0, expected one with a DEVC chunk before it",
               __LINE__);
    cr_assert(cw_edit_find(sample.data, sample.size, DEVC, &device));
    cw_edit_insert(&later, &without, 3, "DEVC", 0, sample.data + device.offset + HEADER, device.size);
    refused_in(&later, 1, HEADER + 17 + 4, "found a range of device 0, expected one with a DEVC chunk before it",
               __LINE__);
    cw_writer_free(&later);
    cw_writer_init(&later);
    cw_edit_insert(&later, &sample, ENDC, "DEVC", 0, sample.data + device.offset + HEADER, device.size);
    refused_in(&later, ENDC, 0, "found device 0 again, expected each once", __LINE__);
    cw_writer_free(&later);
    cw_writer_init(&later);
    cr_assert(cw_edit_find(sample.data, sample.size, DEVC2, &device));
    cw_edit_insert(&later, &sample, ENDC, "DEVC", 0, sample.data + device.offset + HEADER, device.size);
    refused_in(&later, ENDC, 0, "found device 4294967295 again, expected each once", __LINE__);
    cw_writer_free(&later);
    cw_writer_free(&without);
}

/* A file whose checksums are right and whose content is not: four bytes are put at `at` of a chunk's payload. */
Test(counter_data, bad_content_is_refused)
{
    static const struct {
        int line;
        size_t index, at;
        uint8_t bytes[4];
        size_t found;
        const char *message;
    } cases[] = {
        {__LINE__,
         SCHM,
         9,
         {7, 1, 2, 3},
         9,
         "found profiler 7, expected 0 (range), 1 (pm), 2 (pc), 3 (sass) or 4 (trace)"},
        {__LINE__,
         SCHM,
         42,
         {0xff, 0xff, 0xff, 0xff},
         42,
         "found a count of 4294967295 counters, expected at most the 20 that fit the data"},
        {__LINE__, SCHM, 67, {2, 1, 0, 0}, 67, "found a counter's whole flag 2, expected 0 or 1"},
        {__LINE__,
         SCHM,
         68,
         {0, 0, 1, 0},
         68,
         "found a count of 65536 passes of a counter, expected at most the 39 that fit the data"},
        {__LINE__, SCHM, 72, {2}, 72, "found pass 2, expected one below 2"},
        {__LINE__, SCHM, 106, {0}, 106, "found pass 0, expected one above 0"},
        {__LINE__,
         DEVC,
         4,
         {0xff, 0xff, 0xff, 0xff},
         4,
         "found a count of 4294967295 attributes, expected at most 1024"},
        {__LINE__, DEVC, 4, {3}, 65, "found 164 bytes of counter facts, expected the 144 of 4 counters"},
        {__LINE__, RNGE, 0, {0xff, 0xff, 0xff, 0xff}, 0, "found a string of 4294967295 bytes, expected at most 65536"},
        {__LINE__, RNGE, 0, {0xff, 0, 0, 0}, 4, "found 209 bytes, expected 255 more"},
        {__LINE__, RNGE, 21, {9}, 21, "found a range of device 9, expected one with a DEVC chunk before it"},
        {__LINE__, RNGE, 134, {8, 0, 0, 0}, 134, "found form 8, expected a form below 8"},
        {__LINE__,
         RNGE,
         168,
         {0xff, 0xff, 0xff, 0xff},
         168,
         "found a count of 4294967295 instances, expected at most the 5 that fit the data"},
        {__LINE__, RNGE, 168, {0}, 168, "found a value of 0 instances, expected at least 1"},
        {__LINE__, RNGE, 134, {0, 0, 0, 0}, 0, NULL},
        {__LINE__, ENDC, 0, {4}, 0, "found an end chunk for 4 ranges, expected the 3 of the file"},
        {__LINE__,
         ENDC,
         16,
         {3, 0, 0, 0},
         16,
         "found end of the capture 3, expected 0 (exited), 1 (signalled) or 2 (no program)"},
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

Test(counter_data, a_range_has_a_value_for_each_counter)
{
    struct cw_writer out;
    cw_writer_init(&out);
    cw_edit_insert(&out, &sample, ENDC, "RNGE", 0, "\0\0\0", 3);
    refused_in(&out, ENDC, 0, "found a range of 3 bytes, expected a value for each of 4 counters", __LINE__);
    out.size = chunk_offset(&out, ENDC + 1);
    refused_in(&out, ENDC, 0, "found a range of 3 bytes, expected a value for each of 4 counters", __LINE__);
    cw_writer_free(&out);
}

/* The durations stand before the values: of the first range, whose last bytes are missing. */
Test(counter_data, a_range_has_a_duration_for_each_pass)
{
    struct cw_edit_chunk chunk;
    struct cw_writer out;
    char message[80];
    cr_assert(read_bytes(sample.data, sample.size) == CW_OK && data.schema.pass_count == 2);
    const size_t head = 4 + strlen(cw_launch_of(&data, 0)->name) + 4 + strlen(cw_launch_of(&data, 0)->kernel) + 4 + 4 +
                        8 + 8 + 6 * 4 + 8 + 8;
    cr_assert(cw_edit_find(sample.data, sample.size, RNGE, &chunk) && chunk.size > head + 16);
    for (size_t size = 4; size < head; size++) { /* what the launch is ends too early */
        cw_writer_init(&out);
        cw_edit_replace(&out, &sample, RNGE, sample.data + chunk.offset + HEADER, size);
        cr_expect(read_bytes(out.data, out.size) == CW_ERR_INPUT && strstr(text, " bytes, expected "), "%zu bytes: %s",
                  size, text);
        cw_writer_free(&out);
    }
    for (size_t left = 8; left < 16; left++) {
        cw_writer_init(&out);
        cw_edit_replace(&out, &sample, RNGE, sample.data + chunk.offset + HEADER, head + left);
        snprintf(message, sizeof message, "found %zu bytes, expected the durations of 2 passes", left);
        refused_in(&out, RNGE, HEADER + head, message, __LINE__);
        cw_writer_free(&out);
    }
}

/* The number of passes has no list of its own, and a capture without ranges has no durations either. */
Test(counter_data, a_hostile_number_of_passes_is_refused)
{
    uint8_t *passes = sample.data + chunk_offset(&sample, SCHM) + HEADER + 38;
    sample.size = chunk_offset(&sample, RNGE);
    memset(passes, 0xff, 4);
    cw_edit_fix_checksums(sample.data, sample.size);
    refused_in(&sample, SCHM, HEADER + 38, "found a count of 4294967295 passes, expected at most 4096", __LINE__);
    cw_store_u32(passes, CW_PASSES_MAX + 1);
    cw_edit_fix_checksums(sample.data, sample.size);
    refused_in(&sample, SCHM, HEADER + 38, "found a count of 4097 passes, expected at most 4096", __LINE__);
    cw_store_u32(passes, CW_PASSES_MAX);
    cw_edit_fix_checksums(sample.data, sample.size);
    cr_expect(read_bytes(sample.data, sample.size) == CW_OK, "%s", text);
}

/* What is looked for by name, or evaluated for each name, is there once: else work grows with the square of the file.
 */
Test(counter_data, names_and_keys_are_there_once)
{
    static const struct cw_pair pairs[] = {{"b", "1"}, {"a", "2"}, {"b", "3"}};
    static const char *const names[] = {"m.sum", "n.sum", "m.sum"};
    static struct cw_pair many[1025];
    static char keys[1025][8];
    const struct cw_device device = {.index = 7, .attribute_count = 3, .attributes = pairs};
    struct cw_schema schema = {.chip = "", .producer = "", .metric_count = 3, .metrics = names};
    struct cw_writer out;
    cw_writer_init(&out);
    cw_schema_write_header(&schema, &out);
    cw_schema_write(&schema, &out);
    refused_in(&out, SCHM, HEADER + 4 + 1 + 16 + 4 + 4 + 4 + 4 + 2 * 9,
               "found metrics 'm.sum' again, expected each once", __LINE__);
    schema.profiler = CW_PROFILER_SASS;
    out.size = 0;
    cw_schema_write_header(&schema, &out);
    cw_schema_write(&schema, &out);
    cr_expect(read_bytes(out.data, out.size) == CW_OK, "%s", text);
    size_t before = out.size;
    cw_counter_data_write_device(&schema, &device, &out);
    refused_in(&out, DEVC, HEADER + 4 + 4 + 2 * 10, "found key 'b' again, expected each once", __LINE__);
    for (uint32_t i = 0; i < 1025; i++) {
        snprintf(keys[i], sizeof keys[i], "k%u", i);
        many[i] = (struct cw_pair){keys[i], ""};
    }
    for (uint32_t count = 1024; count <= 1025; count++) {
        out.size = before;
        cw_counter_data_write_device(
            &schema, &(struct cw_device){.index = 7, .attribute_count = count, .attributes = many}, &out);
        if (count == 1024)
            cr_expect(read_bytes(out.data, out.size) == CW_OK, "%s", text);
        else
            refused_in(&out, DEVC, HEADER + 4, "found a count of 1025 attributes, expected at most 1024", __LINE__);
    }
    cw_writer_free(&out);
}

Test(counter_data, pairs_are_copied)
{
    char key[] = "a", value[] = "x";
    const struct cw_pair pairs[] = {{"rank", "3"}, {key, value}, {"b", ""}};
    const struct cw_pair *copy = cw_pairs_copy(pairs, 3, arena);
    cr_assert(copy);
    key[0] = value[0] = '?';
    cr_expect_str_eq(cw_pair_find(copy, 3, "rank"), "3");
    cr_expect_str_eq(cw_pair_find(copy, 3, "a"), "x");
    cr_expect_str_eq(cw_pair_find(copy, 3, "b"), "");
    cr_expect_null(cw_pair_find(copy, 2, "b"));
}

static enum cw_status read_in(struct cw_arena *own, struct cw_error *why)
{
    return cw_counter_data_read(&data, sample.data, sample.size, "x", own, why);
}

Test(counter_data, every_failed_allocation_is_reported)
{
    long count = cw_alloc_fail_each(read_in);
    cr_expect(count > 3 && count < 1000, "allocation %ld", -1 - count);
}

static bool stands_in(const struct cw_config_pass *pass, uint32_t raw)
{
    for (uint32_t k = 0; k < pass->count; k++)
        if (pass->placements[k].raw == raw)
            return true;
    return false;
}

/* The plain way to a counter's passes. */
static uint32_t search_passes(const struct cw_config_image *plan, uint32_t counter, uint32_t *passes, bool *whole)
{
    const struct cw_config_counter *c = &plan->counters[counter];
    uint32_t all = 0, some = 0;
    for (uint32_t i = 0; i < plan->pass_count; i++) {
        uint32_t held = 0;
        for (uint32_t k = 0; k < c->raw_count; k++)
            held += stands_in(&plan->passes[i], c->raws[k]);
        all += held == c->raw_count;
        if (held || !c->raw_count)
            passes[some++] = i;
    }
    *whole = some > 0 && all == some && (some == 1 || !c->raw_count);
    return some;
}

/* A raw counter is there once in a pass, though several domains place it; each domain of a pass has a number. */
Test(counter_data, copies_of_raw_counters)
{
    static const struct cw_placement first[] = {{0, 0}, {1, 0}, {0, 1}, {2, 0}}, second[] = {{2, 1}, {0, 1}, {2, 0}};
    static const struct cw_config_pass passes[] = {{4, first}, {3, second}};
    static const struct cw_config_image plan = {.domain_count = 2, .raw_count = 3, .pass_count = 2, .passes = passes};
    static const struct cw_copy wanted[] = {
        {0, 0, first}, {1, 2, second + 1}, {0, 0, first + 1}, {0, 0, first + 3}, {1, 2, second}};
    static const uint32_t ends[] = {0, 2, 3, 5};
    struct cw_copies copies;
    cr_assert(cw_copies_list(&copies, &plan, arena));
    cr_expect(copies.pair_count == 4);
    for (int r = 0; r < 4; r++)
        cr_expect(copies.first[r] == ends[r], "%d: %u", r, copies.first[r]);
    for (int i = 0; i < 5; i++)
        cr_expect(copies.items[i].pass == wanted[i].pass && copies.items[i].pair == wanted[i].pair &&
                      copies.items[i].at == wanted[i].at,
                  "%d: pass %u, pair %u", i, copies.items[i].pass, copies.items[i].pair);
}

/* The quick way to all counters' passes against the plain one for each, over random plans. */
Test(counter_data, schema_of_plan_agrees_with_counter_passes)
{
    enum { RAWS = 6, DOMAINS = 3, PASSES = 5, COUNTERS = 40 };
    uint32_t seed = 1;
#define RANDOM(n) ((seed = seed * 1664525 + 1013904223) >> 16) % (n)
    for (int round = 0; round < 200; round++) {
        struct cw_placement placements[PASSES][RAWS * DOMAINS];
        struct cw_config_pass passes[PASSES];
        struct cw_config_counter counters[COUNTERS];
        uint32_t uses[COUNTERS][4];
        for (uint32_t i = 0; i < PASSES; i++) {
            passes[i] = (struct cw_config_pass){0, placements[i]};
            for (uint32_t k = 0; k < RAWS * DOMAINS; k++)
                if (RANDOM(6) == 0)
                    placements[i][passes[i].count++] = (struct cw_placement){k / DOMAINS, k % DOMAINS};
        }
        for (uint32_t i = 0; i < COUNTERS; i++) {
            counters[i] = (struct cw_config_counter){.name = "c", .raw_count = RANDOM(5), .raws = uses[i]};
            for (uint32_t k = 0; k < 4; k++)
                uses[i][k] = RANDOM(RAWS);
        }
        struct cw_config_image plan = {.chip = "",
                                       .producer = "",
                                       .domain_count = DOMAINS,
                                       .raw_count = RAWS,
                                       .pass_count = PASSES,
                                       .counter_count = COUNTERS,
                                       .passes = passes,
                                       .counters = counters};
        struct cw_schema schema;
        cr_assert(cw_schema_of_plan(&schema, &plan, arena) == CW_OK);
        for (uint32_t i = 0; i < COUNTERS; i++) {
            uint32_t plain[PASSES];
            bool whole;
            uint32_t count = search_passes(&plan, i, plain, &whole);
            cr_assert(count == schema.counters[i].pass_count && whole == schema.counters[i].whole);
            cr_assert(memcmp(plain, schema.counters[i].passes, count * sizeof *plain) == 0);
        }
    }
}

/* ---- differences of schemas, and provenance ---------------------------------------------------------------------- */

Test(counter_data, how_plans_differ)
{
    static const struct cw_schema_counter counters[] = {
        {.name = "b"}, {.name = "a"}, {.name = "c"}, {.name = "d"}, {.name = "e"}};
    static const char *const metrics[] = {"m", "n"};
    const struct cw_schema all = {.chip = "X",
                                  .producer = "test",
                                  .pass_count = 3,
                                  .counter_count = 5,
                                  .counters = counters,
                                  .metric_count = 2,
                                  .metrics = metrics};
    struct cw_schema other = all;
    other.fact_count = 1; /* names of facts may differ */
    other.fact_names = metrics;
#define EXPECT_DIFFERENCE(wanted) cr_expect_str_eq(cw_schema_difference(&other, &all, arena), wanted)
    EXPECT_DIFFERENCE("");
    other.database[0] = 1;
    EXPECT_DIFFERENCE("it was planned with another version of the chip's database");
    other.database[0] = 0, other.database[15] = 1, other.pass_count = 4;
    EXPECT_DIFFERENCE("it has 4 passes, not 3");
    other.pass_count = 1;
    EXPECT_DIFFERENCE("it has 1 pass, not 3");
    other.metric_count = 1;
    EXPECT_DIFFERENCE("it lacks the metric n");
    cr_expect_str_eq(cw_schema_difference(&all, &other, arena), "it alone has the metric n");
    other.counter_count = 4;
    EXPECT_DIFFERENCE("it lacks the counter e");
    other.counter_count = 3;
    EXPECT_DIFFERENCE("it lacks the counters d, e");
    other.counters = counters + 2;
    other.counter_count = 2;
    EXPECT_DIFFERENCE("it lacks the counters b, a, e");
    other.counter_count = 1;
    EXPECT_DIFFERENCE("it lacks the counters b, a, d and 1 more");
    cr_expect_str_eq(cw_schema_difference(&all, &other, arena), "it alone has the counters b, a, d and 1 more");
    static const struct cw_schema_counter own[] = {{.name = "f"}, {.name = "a"}, {.name = "g"}};
    other.counters = own, other.counter_count = 3;
    EXPECT_DIFFERENCE("it lacks the counters b, c, d and 1 more, and has the counters f, g");
    other.chip = "Y";
    EXPECT_DIFFERENCE("its chip is Y, not X");
    static const struct cw_schema_counter whole[] = {
        {.name = "b", .whole = true}, {.name = "a"}, {.name = "c"}, {.name = "d"}, {.name = "e"}};
    other = all;
    other.counters = whole;
    EXPECT_DIFFERENCE("its counters lie in other passes, or have other meanings");
}

/* "RNGE process: 4242, 7; ": facts with their chunks and values, in the order of the file. */
static void expect_provenance(void (*make)(struct cw_writer *), const char *wanted)
{
    struct cw_writer file;
    const struct cw_provenance_fact *facts;
    uint32_t count;
    cw_writer_init(&file);
    make(&file);
    const struct cw_input input = cw_input_of(file.data, file.size, "x.cwd");
    cr_assert(cw_counter_data_open(&data, &input, arena, &err) == CW_OK, "%s", err.message);
    cr_assert(cw_provenance_read(&facts, &count, &data, arena, &err) == CW_OK, "%s", err.message);
    const char *told = "";
    for (uint32_t i = 0; i < count; i++) {
        const struct cw_provenance_fact *f = &facts[i];
        told = cw_arena_printf(arena, "%s%.4s %s%s:", told, (const char *)&f->chunk, f->name,
                               f->care == CW_TEXT_KEPT      ? ""
                               : f->care == CW_TEXT_PRIVATE ? " (private)"
                                                            : " (no paths)");
        for (uint32_t k = 0; k < f->value_count; k++)
            told = cw_arena_printf(arena, "%s%s %s", told, k ? "," : "", f->values[k]);
        told = cw_arena_printf(arena, "%s\n", told);
    }
    cr_expect_str_eq(told, wanted, "%s", told);
    cw_writer_free(&file);
}

static void make_plain(struct cw_writer *out)
{
    cw_sample_data(out, true);
}

static void make_pm(struct cw_writer *out)
{
    cw_sample_pm(out, 2, true);
}

static void make_sass(struct cw_writer *out)
{
    cw_sample_pc_data(out, CW_PROFILER_SASS, NULL, 0);
}

/* Rows of windows beside samples. */
static void make_rows(struct cw_writer *out)
{
    static const uint64_t start = 3000000000, end = 5000000000, name = 1;
    static const uint64_t *const columns[] = {&start, &end, &name};
    static const char *const window = "first";
    cw_sample_pm(out, 2, false);
    cw_trace_write_kinds(out);
    cw_trace_write_process(0, &(struct cw_trace_process){.pid = 77}, out);
    cw_trace_write_texts(0, 1, &window, 1, out);
    cw_trace_write_rows(0, CW_TRACE_WINDOW, 1, columns, false, out);
}

static void make_pc(struct cw_writer *out)
{
    cw_sample_pc_data(out, CW_PROFILER_PC, NULL, 0);
}

/* Four ranges of three processes, which began at :25, nobody knows when, at :20 and at :29. */
static void make_timed(struct cw_writer *out)
{
    static const struct cw_schema schema = {.chip = "X", .producer = "test"};
    static const struct cw_device device = {.index = 3};
    static const uint64_t starts[] = {1700000005, 0, 1700000000, 1700000009};
    cw_schema_write_header(&schema, out);
    cw_schema_write(&schema, out);
    cw_counter_data_write_device(&schema, &device, out);
    for (uint32_t i = 0; i < 4; i++) {
        const struct cw_range range = {
            .name = "n", .kernel = "k", .device = 3, .process = 8 - i % 3, .start_ns = starts[i] * 1000000000};
        cw_counter_data_write_range(&schema, &range, NULL, out);
    }
    cw_counter_data_write_end(4, 0, CW_END_NO_PROGRAM, 0, out);
}

Test(counter_data, what_captures_tell_of_their_program)
{
    expect_provenance(make_timed, "SCHM producer: test\n"
                                  "RNGE range (no paths): n\n"
                                  "RNGE kernel (no paths): k\n"
                                  "RNGE process: 8, 7, 6\n"
                                  "RNGE time: 2023-11-14T22:13:20Z, 2023-11-14T22:13:29Z\n");
    expect_provenance(make_plain, "SCHM producer: test µ1\n"
                                  "SCHM requested metric: sm__cycles_active.avg, dram__sectors.sum.per_second\n"
                                  "DEVC name: Sample GPU\n"
                                  "DEVC chip: GH100\n"
                                  "DEVC backend: sim\n"
                                  "DEVC simulated: yes\n"
                                  "RNGE range (no paths): step, µ\n"
                                  "RNGE kernel (no paths): _Z4stepPf\n"
                                  "RNGE process: 4242, 1\n"
                                  "ENDC end of the program: signal 9\n"
                                  "RNGE time: 1970-01-01T00:00:00Z\n");
    expect_provenance(make_pm, "SCHM producer: test µ1\n"
                               "SCHM requested metric: sm__cycles_active.avg, dram__sectors.sum.per_second\n"
                               "DEVC name: Sample GPU\n"
                               "DEVC chip: GH100\n"
                               "DEVC backend: sim\n"
                               "DEVC simulated: yes\n"
                               "LNCH kernel (no paths): gemm, µ\n"
                               "LNCH process: 4242\n"
                               "CLCK time: 1970-01-01T00:00:00Z\n");
    expect_provenance(make_pc, "SCHM producer: test\n"
                               "DEVC name: Sample GPU\n"
                               "DEVC chip: GH100\n"
                               "DEVC backend: sim\n"
                               "DEVC simulated: yes\n"
                               "MODL code of kernels (private): 1122334455667788, 4 bytes\n"
                               "PCSM function (no paths): _Z4stepPf, other\n"
                               "PCSM process: 4242\n"
                               "PCSM checksum of code: 1122334455667788\n"
                               "ENDC end of the program: status 0\n"
                               "PCSM time: 1970-01-01T00:00:00Z\n");
    expect_provenance(make_sass, "SCHM producer: test\n"
                                 "DEVC name: Sample GPU\n"
                                 "DEVC chip: GH100\n"
                                 "DEVC backend: sim\n"
                                 "DEVC simulated: yes\n"
                                 "MODL code of kernels (private): 1122334455667788, 4 bytes\n"
                                 "SASS function (no paths): _Z4stepPf\n"
                                 "SASS process: 4242\n"
                                 "SASS checksum of code: 0000000055667788\n"
                                 "NCNT kernel (no paths): _Z4waitPi\n"
                                 "NCNT process: 4242\n"
                                 "NCNT launches without counts: 4\n"
                                 "ENDC end of the program: status 0\n"
                                 "SASS time: 1970-01-01T00:00:00Z\n");
    expect_provenance(make_rows, "SCHM producer: test µ1\n"
                                 "SCHM requested metric: sm__cycles_active.avg, dram__sectors.sum.per_second\n"
                                 "DEVC name: Sample GPU\n"
                                 "DEVC chip: GH100\n"
                                 "DEVC backend: sim\n"
                                 "DEVC simulated: yes\n"
                                 "LNCH kernel (no paths): gemm, µ\n"
                                 "LNCH process: 4242\n"
                                 "TPRC process: 77\n"
                                 "TSTR window (private): first\n"
                                 "CLCK time: 1970-01-01T00:00:00Z\n"
                                 "TREC time: 1970-01-01T00:00:03Z, 1970-01-01T00:00:05Z\n");
}
