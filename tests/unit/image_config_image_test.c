#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image/config_image.h"
#include "tests/support/alloc_fail.h"
#include "tests/support/chunk_edit.h"
#include "tests/support/image_samples.h"

static struct cw_arena *arena;
static struct cw_config_image image;
static struct cw_error err;
static struct cw_writer sample; /* the sample plan with a native image, written */
static char text[1200];

enum { PLAN, DOMN, RAWC, PASS, CNTR, METR, LIMT, PRFX, NATV, CHUNKS, HEADER = 24 };

static void set_up(void)
{
    struct cw_config_image plan = cw_sample_plan_native();
    arena = cw_arena_create();
    cw_writer_init(&sample);
    cw_config_image_write(&plan, &sample);
    cr_assert(sample.status == CW_OK);
}

static void tear_down(void)
{
    cw_arena_destroy(arena);
    cw_writer_free(&sample);
}

TestSuite(config_image, .init = set_up, .fini = tear_down);

/* From a block of the exact size, so that the address sanitizer sees a read past the end. Strings and lists of the
 * image stay; `native` does not. */
static enum cw_status read_bytes(const void *data, size_t size)
{
    uint8_t *exact = malloc(size ? size : 1);
    cr_assert(exact);
    if (size)
        memcpy(exact, data, size);
    err = (struct cw_error)CW_ERROR_INIT;
    enum cw_status status = cw_config_image_read(&image, exact, size, "x.cwc", arena, &err);
    cw_error_format(&err, text, sizeof text);
    free(exact);
    return status;
}

/* Expects an error with exactly this text. */
#define REFUSED(data, size, expected)                                                                                  \
    do {                                                                                                               \
        cr_expect(read_bytes(data, size) == CW_ERR_INPUT);                                                             \
        cr_expect_str_eq(text, expected);                                                                              \
    } while (0)

/* As REFUSED, for a message at a place in the payload of a chunk of the file. */
static void refused_in(const struct cw_writer *file, size_t index, size_t at, const char *message, int line)
{
    struct cw_edit_chunk chunk;
    char expected[1200];
    cr_assert(cw_edit_find(file->data, file->size, index, &chunk));
    snprintf(expected, sizeof expected, "x.cwc: offset %zu: %s", chunk.offset + HEADER + at, message);
    enum cw_status status = read_bytes(file->data, file->size);
    cr_expect(status == CW_ERR_INPUT && strcmp(text, expected) == 0, "line %d: found '%s', expected '%s'", line, text,
              expected);
}

Test(config_image, round_trip_keeps_every_field)
{
    struct cw_config_image plan = cw_sample_plan_native();
    cr_assert(cw_config_image_read(&image, sample.data, sample.size, "x", arena, NULL) == CW_OK);
    cr_expect_str_eq(image.chip, "GH100");
    cr_expect_str_eq(image.producer, "test µ1");
    cr_expect(image.profiler == CW_PROFILER_RANGE);
    cr_expect(memcmp(image.database, plan.database, 16) == 0);
    cr_expect(image.parameter_count == 2 && strcmp(image.parameters[1].key, "replay") == 0 &&
              strcmp(image.parameters[1].value, "kernel") == 0);
    cr_expect(image.domain_count == 2 && image.domains[1].id == 7 && strcmp(image.domains[1].name, "fbp") == 0);
    cr_expect(image.raw_count == 3 && image.raws[2] == 0x100000030);
    cr_expect(image.pass_count == 2 && image.passes[0].count == 2 && image.passes[1].count == 1);
    cr_expect(image.passes[1].placements[0].raw == 2 && image.passes[1].placements[0].domain == 1);
    cr_expect(image.counter_count == 4 && strcmp(image.counters[1].name, "sm__inst_executed") == 0);
    cr_expect(image.counters[1].instances == 132 && image.counters[1].peak == 4.0);
    cr_expect(image.counters[1].raw_count == 2 && image.counters[1].raws[1] == 2);
    cr_expect(isnan(image.counters[2].peak));
    cr_expect(image.metric_count == 2 && strcmp(image.metrics[0], "sm__cycles_active.avg") == 0);
    cr_expect(image.limit_count == 1 && image.limits[0].max == 1 && image.limits[0].count == 2);
    cr_expect(image.limits[0].members[1].raw == 2 && image.limits[0].groups[1] == 6);
    cr_expect_str_eq(image.native_library, "libnvperf_host.so 2025.1");
    cr_expect(image.native_size == 5 && memcmp(image.native, plan.native, 5) == 0);
}

Test(config_image, parameters_are_found_by_name)
{
    const struct cw_config_image plan = cw_sample_plan();
    cr_expect_str_eq(cw_config_parameter(&plan, "sampling-interval"), "auto");
    cr_expect_str_eq(cw_config_parameter(&plan, "replay"), "kernel");
    cr_expect_null(cw_config_parameter(&plan, "cold"));
}

static void expect_same_bytes(struct cw_config_image plan)
{
    struct cw_writer first, again;
    cw_writer_init(&first);
    cw_writer_init(&again);
    cw_config_image_write(&plan, &first);
    cr_assert(cw_config_image_read(&image, first.data, first.size, "x", arena, NULL) == CW_OK);
    cw_config_image_write(&image, &again);
    cr_expect(first.size == again.size && memcmp(first.data, again.data, first.size) == 0);
    cw_writer_free(&first);
    cw_writer_free(&again);
}

Test(config_image, what_was_read_writes_to_the_same_bytes)
{
    expect_same_bytes(cw_sample_plan());
    expect_same_bytes(cw_sample_plan_native());
    expect_same_bytes(cw_sample_plan_empty());
}

/* Lists of one item each, which is as small as can be: it fills what its chunk has behind the count. */
Test(config_image, the_smallest_items_are_taken)
{
    static const struct cw_pair parameter = {"", ""};
    static const struct cw_config_domain domain = {0, ""};
    static const struct cw_config_pass passes[] = {{0, NULL}, {0, NULL}};
    static const struct cw_config_counter counter = {"", 0, 0, 0, NULL};
    static const struct cw_config_limit limits[] = {{1, 0, NULL, NULL}, {2, 0, NULL, NULL}};
    static const struct cw_meaning meaning = {"", 0, 0};
    static const char *const metric = "";
    expect_same_bytes((struct cw_config_image){.chip = "",
                                               .producer = "",
                                               .parameter_count = 1,
                                               .domain_count = 1,
                                               .raw_count = 1,
                                               .pass_count = 2,
                                               .counter_count = 1,
                                               .metric_count = 1,
                                               .limit_count = 2,
                                               .meaning_count = 1,
                                               .parameters = &parameter,
                                               .domains = &domain,
                                               .raws = (const uint64_t[]){1},
                                               .passes = passes,
                                               .counters = &counter,
                                               .metrics = &metric,
                                               .limits = limits,
                                               .meanings = &meaning});
    cr_expect(image.limit_count == 2 && image.limits[1].max == 2 && image.pass_count == 2);
    cr_expect(image.counter_count == 1 && image.meaning_count == 1 && image.metric_count == 1);
}

Test(config_image, prefix_is_in_the_image)
{
    struct cw_config_image plan = cw_sample_plan();
    struct cw_edit_chunk chunk;
    struct cw_writer prefix;
    cw_writer_init(&prefix);
    cw_config_image_prefix(&plan, &prefix);
    cr_assert(cw_edit_find(sample.data, sample.size, PRFX, &chunk));
    cr_expect(chunk.size == prefix.size);
    cr_expect(memcmp(sample.data + chunk.offset + HEADER, prefix.data, prefix.size) == 0);
    cw_writer_free(&prefix);
}

Test(config_image, every_truncation_is_refused)
{
    struct cw_edit_chunk native;
    cr_assert(cw_edit_find(sample.data, sample.size, NATV, &native));
    for (size_t size = 0; size < sample.size; size++) {
        enum cw_status status = read_bytes(sample.data, size);
        /* without its optional last chunk an image is whole */
        cr_expect(status == (size == native.offset ? CW_OK : CW_ERR_INPUT), "%zu bytes: %s", size, text);
        cr_expect(status == CW_OK || (err.has_offset && err.offset <= size), "%zu bytes: %s", size, text);
    }
}

Test(config_image, every_flipped_bit_is_refused)
{
    for (size_t bit = 0; bit < 8 * sample.size; bit++) {
        if (bit / 8 == 10 || bit / 8 == 11) /* the minor version */
            continue;
        sample.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        cr_expect(read_bytes(sample.data, sample.size) == CW_ERR_INPUT, "bit %zu", bit);
        sample.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
}

Test(config_image, a_later_minor_version_is_read)
{
    sample.data[10] = 9;
    cr_expect(read_bytes(sample.data, sample.size) == CW_OK);
    cr_expect(image.counter_count == 4 && image.native_size == 5);
}

Test(config_image, headers_of_other_files_are_refused)
{
    struct cw_writer data;
    cw_writer_init(&data);
    cw_sample_data(&data, true);
    REFUSED(data.data, data.size, "x.cwc: offset 0: found counter data, expected a config image");
    cw_writer_free(&data);
    REFUSED("", 0, "x.cwc: offset 0: found an empty file, expected a config image");
    REFUSED("# a text file, longer than a header\n", 36,
            "x.cwc: offset 0: found another kind of file, expected a config image");
    REFUSED(sample.data, 15, "x.cwc: offset 0: found a file of 15 bytes, expected a config image with a header of 16");
    REFUSED(sample.data, 16, "x.cwc: offset 16: found the end of the file, expected chunk PLAN");
    REFUSED(sample.data, 20, "x.cwc: offset 16: the file ends inside a chunk");
    sample.data[8] = 2;
    REFUSED(sample.data, sample.size, "x.cwc: offset 8: found a config image version 2, expected version 1");
    sample.data[8] = 1;
    sample.data[12] = 1;
    REFUSED(sample.data, sample.size, "x.cwc: offset 12: found a reserved header field in use, expected 0");
}

Test(config_image, damage_is_named_by_its_chunk)
{
    sample.data[16 + HEADER + 5] ^= 1;
    REFUSED(sample.data, sample.size, "x.cwc: offset 16: found a damaged chunk PLAN, its checksum does not match");
}

Test(config_image, unknown_optional_chunks_are_skipped)
{
    for (size_t index = 0; index <= CHUNKS; index++) {
        struct cw_writer out;
        cw_writer_init(&out);
        cw_edit_insert(&out, &sample, index, "XTRA", 1, "whatever", 8);
        if (index == 0)
            REFUSED(out.data, out.size, "x.cwc: offset 16: found chunk XTRA, expected chunk PLAN");
        else
            cr_expect(read_bytes(out.data, out.size) == CW_OK, "before chunk %zu: %s", index, text);
        cw_writer_free(&out);
    }
}

/* Behind MEAN, of which this plan has none, and so in front of LIMT. */
Test(config_image, rollups_read_back)
{
    static const uint8_t rollups[CW_SAMPLE_COUNTERS] = {0, 1, 10, 15}, wrong[CW_SAMPLE_COUNTERS] = {1, 2, 16, 0};
    enum { RLUP = 6 };
    struct cw_config_image plan = cw_sample_plan(), back;
    struct cw_writer out, bad;
    plan.profiler = CW_PROFILER_PM;
    plan.rollups = rollups;
    cw_writer_init(&out);
    cw_writer_init(&bad);
    cw_config_image_write(&plan, &out);
    cr_assert_eq(cw_config_image_read(&back, out.data, out.size, "x.cwc", arena, NULL), CW_OK);
    cr_expect(out.data[10] == 2 && memcmp(back.rollups, rollups, sizeof rollups) == 0);
    cw_edit_replace(&bad, &out, RLUP, wrong, sizeof wrong);
    cr_expect_eq(read_bytes(bad.data, bad.size), CW_ERR_INPUT);
    cr_expect(strstr(text, "found the rollups 0x10, expected bits of four"), "%s", text);
    bad.size = 0;
    cw_edit_replace(&bad, &out, RLUP, rollups, sizeof rollups - 1);
    cr_expect_eq(read_bytes(bad.data, bad.size), CW_ERR_INPUT);
    cw_writer_free(&out);
    cw_writer_free(&bad);
}

static void refused_insert(size_t index, const char *type, uint32_t flags, const char *message, int line)
{
    struct cw_edit_chunk chunk;
    struct cw_writer out;
    char expected[300];
    cw_writer_init(&out);
    cw_edit_insert(&out, &sample, index, type, flags, "", 0);
    cr_assert(cw_edit_find(out.data, out.size, index, &chunk));
    snprintf(expected, sizeof expected, "x.cwc: offset %zu: %s", chunk.offset, message);
    enum cw_status status = read_bytes(out.data, out.size);
    cr_expect(status == CW_ERR_INPUT && strcmp(text, expected) == 0, "line %d: found '%s', expected '%s'", line, text,
              expected);
    cw_writer_free(&out);
}

Test(config_image, chunks_out_of_place_are_refused)
{
    refused_insert(1, "XTRA", 0, "found an unknown chunk XTRA that is not optional, expected one of version 1.2",
                   __LINE__);
    refused_insert(CHUNKS, "\1\2é", 0, "found an unknown chunk ???? that is not optional, expected one of version 1.2",
                   __LINE__);
    refused_insert(1, "PLAN", 0, "found chunk PLAN, expected chunk DOMN", __LINE__);
    refused_insert(0, "DOMN", 0, "found chunk DOMN, expected chunk PLAN", __LINE__);
    refused_insert(1, "DOMN", 1, "found chunk DOMN with flags 1, expected flags 0", __LINE__);
    refused_insert(NATV, "NATV", 0, "found chunk NATV with flags 0, expected flags 1", __LINE__);
    refused_insert(CHUNKS, "NATV", 1, "found chunk NATV, expected the end of the file", __LINE__);
    refused_insert(CHUNKS, "METR", 0, "found chunk METR, expected the end of the file", __LINE__);
    refused_insert(LIMT, "DOMN", 0, "found chunk DOMN, expected chunk LIMT",
                   __LINE__); /* optional ones may be missing */
    for (size_t index = 0; index < NATV; index++) {
        struct cw_writer out;
        cw_writer_init(&out);
        cw_edit_remove(&out, &sample, index);
        cr_expect(read_bytes(out.data, out.size) == CW_ERR_INPUT, "without chunk %zu", index);
        cw_writer_free(&out);
    }
}

Test(config_image, flags_of_the_future_are_refused)
{
    sample.data[16 + 4] = 2;
    cw_edit_fix_checksums(sample.data, sample.size);
    REFUSED(sample.data, sample.size, "x.cwc: offset 20: found chunk flags 0x2, expected 0 or 1");
}

/* A file whose checksums are right and whose content is not: four bytes are put at `at` of a chunk's payload. */
Test(config_image, bad_content_is_refused)
{
    static const struct {
        int line;
        size_t index, at;
        uint8_t bytes[4];
        size_t found; /* where the message is about */
        const char *message;
    } cases[] = {
        {__LINE__, PLAN, 4, {0xff, 'H', '1', '0'}, 4, "found a string of 5 bytes that is not UTF-8 text"},
        {__LINE__, PLAN, 4, {'G', 0, '1', '0'}, 4, "found a string of 5 bytes that is not UTF-8 text"},
        {__LINE__, PLAN, 9, {2, 1, 2, 3}, 9, "found profiler 2, expected 0 (range) or 1 (pm)"},
        {__LINE__,
         PLAN,
         38,
         {0xff, 0xff, 0xff, 0xff},
         38,
         "found a count of 4294967295 parameters, expected at most 1024"},
        {__LINE__, DOMN, 0, {3}, 0, "found a count of 3 domains, expected at most the 2 that fit the data"},
        {__LINE__, DOMN, 0, {1}, 15, "found 11 bytes after the end of chunk DOMN, expected none"},
        {__LINE__,
         RAWC,
         0,
         {0xff, 0xff, 0xff, 0xff},
         0,
         "found a count of 4294967295 raw counters, expected at most the 3 that fit the data"},
        {__LINE__, RAWC, 4, {0}, 4, "found raw counter id 0, expected one above 0"},
        {__LINE__, RAWC, 12, {10}, 12, "found raw counter id 10, expected one above 10"},
        {__LINE__, RAWC, 24, {0}, 28, NULL}, /* still above 20: the last one alone changes */
        {__LINE__, PASS, 0, {9}, 0, "found a count of 9 passes, expected at most the 8 that fit the data"},
        {__LINE__, PASS, 4, {5}, 4, "found a count of 5 placements, expected at most the 3 that fit the data"},
        {__LINE__, PASS, 8, {3}, 8, "found raw counter 3, expected one below 3"},
        {__LINE__, PASS, 12, {2}, 12, "found domain 2, expected one below 2"},
        {__LINE__, PASS, 16, {0}, 16, "found a placement of the pass again, expected each once"},
        {__LINE__,
         CNTR,
         0,
         {0, 0, 0, 1},
         0,
         "found a count of 16777216 counters, expected at most the 7 that fit the data"},
        {__LINE__,
         CNTR,
         37,
         {0xff, 0xff, 0xff, 0x7f},
         37,
         "found a count of 2147483647 raw counters, expected at most the 30 that fit the data"},
        {__LINE__, CNTR, 41, {3}, 41, "found raw counter 3, expected one below 3"},
        {__LINE__,
         METR,
         0,
         {0xff, 0xff, 0, 0},
         0,
         "found a count of 65535 metrics, expected at most the 14 that fit the data"},
        {__LINE__, METR, 4, {0xff, 0, 0, 0}, 8, "found 53 bytes, expected 255 more"},
        {__LINE__, LIMT, 4, {0}, 4, "found a limit of 0 groups, expected at least 1"},
        {__LINE__,
         LIMT,
         8,
         {3},
         8,
         "found a count of 3 members of the limit, expected at most the 2 that fit the data"},
        {__LINE__, LIMT, 12, {3}, 12, "found raw counter 3, expected one below 3"},
        {__LINE__, LIMT, 16, {2}, 16, "found domain 2, expected one below 2"},
        {__LINE__,
         PRFX,
         0,
         {0x88, 'C', 'W', 'D'},
         0,
         "found another counter-data prefix, expected the one of this plan"},
        {__LINE__, PRFX, 80, {0xff, 1, 2, 3}, 80, "found another counter-data prefix, expected the one of this plan"},
        {__LINE__, NATV, 0, {0xff}, 4, "found 29 bytes, expected 255 more"},
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
            refused_in(&copy, cases[i].index, cases[i].found, cases[i].message, cases[i].line);
        else
            cr_expect(read_bytes(copy.data, copy.size) == CW_OK, "line %d: %s", cases[i].line, text);
        cw_writer_free(&copy);
    }
}

Test(config_image, a_counter_is_named_once)
{
    struct cw_config_counter counters[] = {
        {"b", 0, NAN, 0, NULL}, {"a", 0, NAN, 0, NULL}, {"b", 0, NAN, 0, NULL}, {"a", 0, NAN, 0, NULL}};
    struct cw_config_image plan = cw_sample_plan();
    struct cw_writer out;
    plan.counters = counters;
    plan.counter_count = 4;
    cw_writer_init(&out);
    cw_config_image_write(&plan, &out);
    refused_in(&out, CNTR, 4 + 2 * 21, "found counter 'b' again, expected each once", __LINE__);
    cw_writer_free(&out);
}

Test(config_image, too_many_passes_are_refused)
{
    static const struct cw_config_pass passes[CW_PASSES_MAX + 1];
    struct cw_config_image plan = cw_sample_plan();
    struct cw_writer out;
    plan.passes = passes;
    for (plan.pass_count = CW_PASSES_MAX; plan.pass_count <= CW_PASSES_MAX + 1; plan.pass_count++) {
        cw_writer_init(&out);
        cw_config_image_write(&plan, &out);
        if (plan.pass_count > CW_PASSES_MAX)
            refused_in(&out, PASS, 0, "found a count of 4097 passes, expected at most 4096", __LINE__);
        else
            cr_expect(read_bytes(out.data, out.size) == CW_OK, "%s", text);
        cw_writer_free(&out);
    }
}

/* A small file must not ask for a large table of counters and their passes. */
Test(config_image, work_for_the_prefix_is_bounded)
{
    enum { MANY = 2100 };
    static struct cw_config_pass passes[MANY];
    static struct cw_config_counter counters[MANY];
    static char names[MANY][8];
    static const struct cw_placement placement = {0, 0};
    static const uint32_t raw = 0;
    struct cw_config_image plan = cw_sample_plan();
    for (int i = 0; i < MANY; i++) {
        snprintf(names[i], sizeof names[i], "c%d", i);
        passes[i] = (struct cw_config_pass){1, &placement};
        counters[i] = (struct cw_config_counter){names[i], 0, NAN, 1, &raw};
    }
    plan.passes = passes;
    plan.pass_count = MANY;
    plan.counters = counters;
    struct cw_writer out;
    for (int full = 0; full < 2; full++) {
        plan.counter_count = full ? MANY : CW_CONFIG_PAIRS_MAX / MANY;
        cw_writer_init(&out);
        cw_config_image_write(&plan, &out);
        cr_expect(read_bytes(out.data, out.size) == (full ? CW_ERR_INPUT : CW_OK), "%s", text);
        cr_expect(!full || strstr(text, "found more than 4194304 passes over all counters"));
        cw_writer_free(&out);
    }
}

static enum cw_status read_in(struct cw_arena *own, struct cw_error *why)
{
    return cw_config_image_read(&image, sample.data, sample.size, "x", own, why);
}

Test(config_image, every_failed_allocation_is_reported)
{
    long count = cw_alloc_fail_each(read_in);
    cr_expect(count > 5 && count < 1000, "allocation %ld", -1 - count);
}

Test(config_image, a_failed_allocation_while_writing_is_kept)
{
    struct cw_config_image plan = cw_sample_plan();
    bool failed = true;
    for (long count = 0; failed && count < 1000; count++) {
        struct cw_writer out;
        cw_writer_init(&out);
        cw_alloc_fail_after(count);
        cw_config_image_write(&plan, &out);
        failed = cw_alloc_failed();
        cw_alloc_fail_after(-1);
        cr_expect(out.status == (failed ? CW_ERR_NOMEM : CW_OK), "allocation %ld", count);
        cw_writer_free(&out);
    }
    cr_expect(!failed);
}

Test(config_image, passes_of_a_counter)
{
    struct cw_config_image plan = cw_sample_plan();
    struct cw_schema schema;
    const struct cw_schema_counter *c;
    cr_assert(cw_schema_of_plan(&schema, &plan, arena) == CW_OK);
    c = schema.counters;
    cr_expect(c[0].pass_count == 1 && c[0].whole && c[0].passes[0] == 0);
    cr_expect(c[1].pass_count == 2 && !c[1].whole && c[1].passes[0] == 0 && c[1].passes[1] == 1);
    cr_expect(c[2].pass_count == 1 && c[2].whole && c[2].passes[0] == 1);
    cr_expect(c[3].pass_count == 2 && c[3].whole && c[3].passes[0] == 0 && c[3].passes[1] == 1);
    plan.pass_count = 0;
    cr_assert(cw_schema_of_plan(&schema, &plan, arena) == CW_OK);
    cr_expect(schema.counters[1].pass_count == 0 && !schema.counters[1].whole);
    cr_expect(schema.counters[3].pass_count == 0 && !schema.counters[3].whole);
}
