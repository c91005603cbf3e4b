/* What is known of launches without counting. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image/data_chunks.h"
#include "image/directory.h"
#include "tests/support/alloc_fail.h"
#include "tests/support/chunk_edit.h"
#include "tests/support/image_samples.h"
#include "tests/support/merge_memory.h"

static struct cw_arena *arena;
static struct cw_counter_data data;
static struct cw_error err;
static struct cw_writer sample, out;
static char text[1200];

enum { SCHM, FNAM, DEVC, RFCT, RNGE, RFCT_2, HEADER = 24 };

static void set_up(void)
{
    arena = cw_arena_create();
    cw_writer_init(&sample);
    cw_writer_init(&out);
    cw_sample_facts(&sample);
    cr_assert(sample.status == CW_OK);
}

static void tear_down(void)
{
    cw_arena_destroy(arena);
    cw_writer_free(&sample);
    cw_writer_free(&out);
}

TestSuite(facts, .init = set_up, .fini = tear_down);

static void clear(struct cw_writer *file)
{
    cw_writer_free(file);
    cw_writer_init(file);
}

static enum cw_status read_file(const struct cw_writer *file)
{
    uint8_t *exact = malloc(file->size); /* so that the address sanitizer sees a read past the end */
    cr_assert(exact);
    memcpy(exact, file->data, file->size);
    err = (struct cw_error)CW_ERROR_INIT;
    enum cw_status status = cw_counter_data_read(&data, exact, file->size, "x.cwd", arena, &err);
    cw_error_format(&err, text, sizeof text);
    free(exact);
    return status;
}

static void refused(const struct cw_writer *file, const char *message, int line)
{
    cr_expect(read_file(file) == CW_ERR_INPUT && strstr(text, message), "line %d: found '%s', expected '%s'", line,
              text, message);
}

static bool same(double found, double expected)
{
    return found == expected || (isnan(found) && isnan(expected));
}

static void expect_fact(uint32_t fact, uint32_t range, double expected)
{
    double found = data.facts[fact * data.range_count + range];
    cr_expect(same(found, expected), "fact %u of range %u: found %g, expected %g", fact, range, found, expected);
}

/* Of a range of the sample, at the fact numbers that it has in the file. */
static void expect_sample(uint32_t range, uint32_t of_sample, const uint32_t at[CW_SAMPLE_FACTS])
{
    expect_fact(at[0], range, of_sample < 2 ? 40 : NAN);
    expect_fact(at[1], range, NAN);
    expect_fact(at[2], range, of_sample == 0 ? -5 : of_sample == 1 ? 2.5 : NAN);
}

static const uint32_t in_order[] = {0, 1, 2};

Test(facts, are_columns_with_names)
{
    cr_assert(read_file(&sample) == CW_OK, "%s", text);
    cr_assert(data.complete && data.range_count == CW_SAMPLE_RANGES && data.schema.fact_count == CW_SAMPLE_FACTS);
    cr_expect_str_eq(data.schema.fact_names[0], "launch__registers_per_thread");
    cr_expect_str_eq(data.schema.fact_names[2], "launch__priority");
    for (uint32_t r = 0; r < CW_SAMPLE_RANGES; r++)
        expect_sample(r, r, in_order);
    cr_expect(sample.data[10] == 4, "a minor version of its own");
}

Test(facts, take_four_bytes_where_they_are_whole)
{
    struct cw_edit_chunk chunk;
    cr_assert(cw_edit_find(sample.data, sample.size, RFCT, &chunk) && memcmp(&chunk.type, "RFCT", 4) == 0);
    cr_expect(chunk.size == 1 + 4 * CW_SAMPLE_FACTS && chunk.flags == 1);
    cr_assert(cw_edit_find(sample.data, sample.size, RFCT_2, &chunk) && memcmp(&chunk.type, "RFCT", 4) == 0);
    cr_expect(chunk.size == 1 + 8 * CW_SAMPLE_FACTS);
}

/* A launch of which nothing is known has no chunk of facts. */
Test(facts, that_are_all_unknown_are_not_written)
{
    static const double unknown[] = {NAN, NAN, NAN}, last[] = {NAN, NAN, 1};
    cw_facts_write(unknown, 3, &out);
    cw_facts_write(last, 0, &out);
    cr_expect(out.size == 0);
    cw_facts_write(last, 3, &out);
    cr_expect(out.size == HEADER + 1 + 4 * 3);
}

/* Of a capture in memory, of one in pieces, and of ranges made of another: none of the second fact. */
Test(facts, that_no_launch_has_are_not_known)
{
    struct cw_counter_data pieces;
    const struct cw_repeats repeats = {0};
    cr_assert(read_file(&sample) == CW_OK, "%s", text);
    const struct cw_input input = cw_input_of(sample.data, sample.size, "x.cwd");
    cr_assert(cw_counter_data_open(&pieces, &input, arena, &err) == CW_OK);
    data.directory = NULL;
    for (uint32_t f = 0; f < CW_SAMPLE_FACTS; f++) {
        cr_expect(cw_fact_is_known(&data, f) == (f != 1), "fact %u", f);
        cr_expect(cw_fact_is_known(&pieces, f) == (f != 1), "fact %u", f);
    }
    double *last = (double *)&data.facts[2 * CW_SAMPLE_RANGES - 1];
    *last = 7; /* of the last launch alone */
    cr_expect(cw_fact_is_known(&data, 1));
    data.repeats = &repeats;
    cr_expect(!cw_fact_is_known(&data, 0));
}

static void expect_kept(const double facts[CW_SAMPLE_FACTS], size_t bytes)
{
    struct cw_counter_data read;
    struct cw_writer file;
    struct cw_edit_chunk chunk;
    cr_assert(cw_counter_data_read(&read, sample.data, sample.size, "x", arena, &err) == CW_OK);
    struct cw_range range = read.ranges[0];
    range.facts = facts;
    cw_writer_init(&file);
    cw_schema_write_header(&read.schema, &file);
    cw_schema_write(&read.schema, &file);
    cw_counter_data_write_device(&read.schema, &read.devices[0], &file);
    cw_counter_data_write_range(&read.schema, &range, cw_sample_values(0), &file);
    cr_assert(cw_edit_find(file.data, file.size, RFCT, &chunk) && chunk.size == bytes, "%zu bytes", chunk.size);
    cr_assert(read_file(&file) == CW_OK, "%s", text);
    for (uint32_t f = 0; f < CW_SAMPLE_FACTS; f++) {
        expect_fact(f, 0, facts[f]);
        cr_expect(signbit(data.facts[f]) == signbit(facts[f]) || isnan(facts[f]));
    }
    cw_writer_free(&file);
}

Test(facts, of_every_size_read_back)
{
    expect_kept((const double[]){INT32_MAX, -INT32_MAX, 0}, 13);
    expect_kept((const double[]){INT32_MIN, NAN, 0}, 25);
    expect_kept((const double[]){2147483648.0, 1, 0}, 25);
    expect_kept((const double[]){INFINITY, -INFINITY, 1e300}, 25);
    expect_kept((const double[]){-0.0, 1, 2}, 25);
}

Test(facts, readers_that_do_not_know_them_see_the_rest)
{
    static const size_t chunks[] = {RFCT_2, RFCT, FNAM}; /* from the last, so that the others keep their numbers */
    struct cw_writer with = sample;
    for (size_t i = 0; i < 3; i++) {
        struct cw_writer without;
        cw_writer_init(&without);
        cw_edit_remove(&without, &with, chunks[i]);
        cw_writer_free(&with);
        with = without;
    }
    sample = with;
    cr_assert(read_file(&sample) == CW_OK, "%s", text);
    cr_expect(data.range_count == CW_SAMPLE_RANGES && data.schema.fact_count == 0);
}

Test(facts, without_their_names_say_nothing)
{
    cw_edit_remove(&out, &sample, FNAM);
    cr_assert(read_file(&out) == CW_OK, "%s", text);
    cr_expect(data.range_count == CW_SAMPLE_RANGES && data.schema.fact_count == 0);
}

Test(facts, bad_names_are_refused)
{
    struct cw_writer names;
    cw_writer_init(&names);
    cw_write_u32(&names, 2);
    cw_write_string(&names, "a");
    cw_write_string(&names, "a");
    cw_edit_replace(&out, &sample, FNAM, names.data, names.size);
    refused(&out, "found facts 'a' again, expected each once", __LINE__);
    clear(&names);
    cw_write_u32(&names, CW_FACTS_MAX + 1);
    for (int i = 0; i <= CW_FACTS_MAX; i++) {
        char name[16];
        snprintf(name, sizeof name, "f%d", i);
        cw_write_string(&names, name);
    }
    clear(&out);
    cw_edit_replace(&out, &sample, FNAM, names.data, names.size);
    refused(&out, "found 65 facts, expected at most 64", __LINE__);
    cw_writer_free(&names);
}

Test(facts, bad_facts_are_refused)
{
    static const uint8_t bad_form[1 + 4 * CW_SAMPLE_FACTS] = {2};
    static const uint8_t plain[1 + 4 * CW_SAMPLE_FACTS + 1];
    cw_edit_replace(&out, &sample, RFCT, bad_form, sizeof bad_form);
    refused(&out, "found form 2, expected 0 (whole numbers) or 1", __LINE__);
    clear(&out);
    cw_edit_replace(&out, &sample, RFCT, plain, 1 + 4 * CW_SAMPLE_FACTS - 1);
    refused(&out, "found 3 bytes, expected 4 more", __LINE__);
    clear(&out);
    cw_edit_replace(&out, &sample, RFCT, plain, sizeof plain);
    refused(&out, "found 1 bytes after the end of chunk RFCT", __LINE__);
}

/* Neither behind a part of a range. */
Test(facts, are_not_named_inside_of_a_range)
{
    struct cw_writer samples, names;
    cw_writer_init(&samples);
    cw_writer_init(&names);
    cw_write_u32(&names, 0);
    cw_sample_data(&samples, true);
    cw_edit_insert(&out, &samples, 2, "RATT", 1, names.data, names.size);
    cr_assert(read_file(&out) == CW_OK, "%s", text);
    clear(&samples);
    cw_edit_insert(&samples, &out, 3, "FNAM", 1, names.data, names.size);
    refused(&samples, "found chunk FNAM, expected it once", __LINE__);
    clear(&samples);
    cw_edit_insert(&samples, &out, 3, "MEAN", 1, names.data, names.size);
    refused(&samples, "found chunk MEAN again or inside of a range, expected it once", __LINE__);
    cw_writer_free(&samples);
    cw_writer_free(&names);
}

Test(facts, are_named_once_before_all_ranges)
{
    struct cw_edit_chunk chunk;
    struct cw_writer samples; /* of PM sampling */
    static const char message[] = "found chunk FNAM, expected it once, before the ranges of a range capture";
    cr_assert(cw_edit_find(sample.data, sample.size, FNAM, &chunk));
    const uint8_t *names = sample.data + chunk.offset + HEADER;
    cw_edit_insert(&out, &sample, DEVC, "FNAM", 1, names, chunk.size);
    refused(&out, message, __LINE__);
    clear(&out);
    cw_writer_init(&samples);
    cw_sample_data(&samples, true);
    cw_edit_insert(&out, &samples, 3, "FNAM", 1, names, chunk.size); /* behind the first range */
    refused(&out, message, __LINE__);
    clear(&out);
    clear(&samples);
    cw_sample_pm(&samples, 2, true);
    cw_edit_insert(&out, &samples, 1, "FNAM", 1, names, chunk.size);
    refused(&out, message, __LINE__);
    cw_writer_free(&samples);
}

static enum cw_status read_in(struct cw_arena *own, struct cw_error *why)
{
    return cw_counter_data_read(&data, sample.data, sample.size, "x", own, why);
}

Test(facts, every_failed_allocation_is_reported)
{
    long count = cw_alloc_fail_each(read_in);
    cr_expect(count > 3 && count < 1000, "allocation %ld", -1 - count);
}

/* ---- merging ---- */

static enum cw_status merge(const struct cw_writer *a, const struct cw_writer *b)
{
    const struct cw_merge_input inputs[] = {{"a", a->data, a->size}, {"b", b->data, b->size}};
    clear(&out);
    err = (struct cw_error)CW_ERROR_INIT;
    return cw_merge_dense(&out, inputs, 2, &err);
}

Test(facts, of_one_file_merge_into_the_same_bytes)
{
    const struct cw_merge_input one = {"a", sample.data, sample.size};
    cr_assert(cw_merge_dense(&out, &one, 1, &err) == CW_OK, "%s", err.message);
    cr_expect(out.size == sample.size && memcmp(out.data, sample.data, out.size) == 0);
}

Test(facts, are_merged_with_their_ranges)
{
    cr_assert(merge(&sample, &sample) == CW_OK, "%s", err.message);
    cr_assert(read_file(&out) == CW_OK, "%s", text);
    cr_assert(data.range_count == 2 * CW_SAMPLE_RANGES && data.schema.fact_count == CW_SAMPLE_FACTS);
    for (uint32_t r = 0; r < data.range_count; r++)
        expect_sample(r, r % CW_SAMPLE_RANGES, in_order);
}

/* The sample with its last name first, and another one behind those that it has. */
static void rename_facts(struct cw_writer *to)
{
    struct cw_writer names;
    cw_writer_init(&names);
    cw_write_u32(&names, CW_SAMPLE_FACTS);
    cw_write_string(&names, "launch__priority");
    cw_write_string(&names, "launch__shared_mem_per_block_static");
    cw_write_string(&names, "another");
    cw_edit_replace(to, &sample, FNAM, names.data, names.size);
    cw_writer_free(&names);
}

Test(facts, of_other_names_stand_beside_each_other)
{
    struct cw_writer other;
    cw_writer_init(&other);
    rename_facts(&other);
    cr_assert(merge(&sample, &other) == CW_OK, "%s", err.message);
    cr_assert(read_file(&out) == CW_OK, "%s", text);
    cr_assert(data.range_count == 2 * CW_SAMPLE_RANGES && data.schema.fact_count == 4);
    cr_expect_str_eq(data.schema.fact_names[3], "another");
    for (uint32_t r = 0; r < CW_SAMPLE_RANGES; r++) {
        static const uint32_t exchanged[] = {2, 1, 3};
        expect_sample(r, r, in_order);
        expect_fact(3, r, NAN);
        expect_sample(CW_SAMPLE_RANGES + r, r, exchanged);
        expect_fact(0, CW_SAMPLE_RANGES + r, NAN);
    }
    cw_writer_free(&other);
}

Test(facts, of_one_input_leave_the_others_unknown)
{
    struct cw_writer without;
    cw_writer_init(&without);
    cw_sample_data(&without, true);
    cr_assert(merge(&without, &sample) == CW_OK, "%s", err.message);
    cr_expect(out.data[10] == 4);
    cr_assert(read_file(&out) == CW_OK, "%s", text);
    cr_assert(data.schema.fact_count == CW_SAMPLE_FACTS);
    for (uint32_t r = 0; r < CW_SAMPLE_RANGES; r++) {
        expect_sample(r, 2, in_order);
        expect_sample(CW_SAMPLE_RANGES + r, r, in_order);
    }
    cw_writer_free(&without);
}

/* The sample with as many facts as there may be. */
static void name_many(struct cw_writer *to, const char *format)
{
    struct cw_writer names, bare, fewer;
    cw_writer_init(&names);
    cw_writer_init(&bare);
    cw_writer_init(&fewer);
    cw_write_u32(&names, CW_FACTS_MAX);
    for (int i = 0; i < CW_FACTS_MAX; i++) {
        char name[32];
        snprintf(name, sizeof name, "%s%d", format, i);
        cw_write_string(&names, name);
    }
    cw_edit_remove(&fewer, &sample, RFCT_2);
    cw_edit_remove(&bare, &fewer, RFCT);
    cw_edit_replace(to, &bare, FNAM, names.data, names.size);
    cw_writer_free(&names);
    cw_writer_free(&bare);
    cw_writer_free(&fewer);
}

Test(facts, too_many_different_ones_do_not_merge)
{
    struct cw_writer many, others;
    cw_writer_init(&many);
    cw_writer_init(&others);
    name_many(&many, "a");
    name_many(&others, "b");
    cr_expect(merge(&many, &many) == CW_OK, "%s", err.message);
    cr_expect(merge(&many, &others) == CW_ERR_USAGE && strstr(err.message, "more than 64 different facts"), "%s",
              err.message);
    cw_writer_free(&many);
    cw_writer_free(&others);
}
