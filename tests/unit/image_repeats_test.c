/* Counters that were recorded whole in several passes. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/alloc_fail.h"
#include "tests/support/chunk_edit.h"
#include "tests/support/image_samples.h"
#include "tests/support/merge_memory.h"

static struct cw_arena *arena;
static struct cw_counter_data data;
static struct cw_error err;
static struct cw_writer sample, out;
static char text[1200];

enum { SCHM, RPTS, DEVC, RVAL, RNGE, HEADER = 24 };

static void set_up(void)
{
    arena = cw_arena_create();
    cw_writer_init(&sample);
    cw_writer_init(&out);
    cw_sample_repeats(&sample);
    cr_assert(sample.status == CW_OK);
}

static void tear_down(void)
{
    cw_arena_destroy(arena);
    cw_writer_free(&sample);
    cw_writer_free(&out);
}

TestSuite(repeats, .init = set_up, .fini = tear_down);

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

static double value_at(uint32_t column, uint32_t range)
{
    return data.rollups[CW_AVG][(size_t)column * data.range_count + range];
}

static void refused(const struct cw_writer *file, const char *message, int line)
{
    cr_expect(read_file(file) == CW_ERR_INPUT && strstr(text, message), "line %d: found '%s', expected '%s'", line,
              text, message);
}

Test(repeats, are_columns_behind_the_counters)
{
    cr_assert(read_file(&sample) == CW_OK, "%s", text);
    const struct cw_schema *s = &data.schema;
    cr_assert(data.complete && data.range_count == CW_SAMPLE_RANGES && s->repeat_count == CW_SAMPLE_REPEATS);
    cr_expect(cw_schema_columns(s) == CW_SAMPLE_COUNTERS + CW_SAMPLE_REPEATS);
    cr_expect(value_at(0, 0) == 4, "the counter's own pass");
    for (uint32_t r = 0; r < CW_SAMPLE_RANGES; r++)
        for (uint32_t i = 0; i < CW_SAMPLE_REPEATS; i++)
            cr_expect(value_at(CW_SAMPLE_COUNTERS + i, r) == 10 * r + i);
    cr_expect(sample.data[10] == 2, "a minor version of its own");
}

/* Against a search through the list, for each choice of passes beside a counter's own, 1. */
Test(repeats, of_any_list_are_found)
{
    enum { COUNTERS = 3, PASSES = 3 };
    static const uint32_t own[] = {1};
    static const struct cw_schema_counter counters[COUNTERS] = {
        {"a", true, 1, own}, {"b", true, 1, own}, {"c", true, 1, own}};
    for (unsigned chosen = 0; chosen < 64; chosen++) {
        struct cw_schema_repeat list[2 * COUNTERS];
        uint32_t count = 0;
        for (unsigned i = 0; i < 6; i++)
            if (chosen >> i & 1)
                list[count++] = (struct cw_schema_repeat){i / 2, i % 2 * 2};
        const struct cw_schema s = {
            .counter_count = COUNTERS, .counters = counters, .repeat_count = count, .repeats = list};
        for (uint32_t c = 0, at = 0; c < COUNTERS; c++) {
            uint32_t first, begin = at;
            for (uint32_t p = 0; p < PASSES; p++) {
                const bool there = p == 1 || (at < count && list[at].counter == c && list[at].pass == p);
                const uint32_t wanted = p == 1 ? c : there ? COUNTERS + at : CW_NO_COLUMN;
                cr_expect(cw_schema_column_in(&s, c, p) == wanted, "%u of %u in %x", c, p, chosen);
                cr_expect(!there || cw_schema_column_counter(&s, wanted) == c);
                at += there && p != 1;
            }
            cr_expect(cw_schema_repeats_of(&s, c, &first) == at - begin && first == begin, "%u in %x", c, chosen);
        }
    }
}

Test(repeats, are_found_by_counter_and_pass)
{
    uint32_t first;
    cr_assert(read_file(&sample) == CW_OK, "%s", text);
    const struct cw_schema *s = &data.schema;
    cr_expect(cw_schema_column_in(s, 0, 0) == 0 && cw_schema_column_in(s, 0, 1) == CW_SAMPLE_COUNTERS);
    cr_expect(cw_schema_column_in(s, 2, 1) == 2 && cw_schema_column_in(s, 2, 0) == CW_SAMPLE_COUNTERS + 1);
    cr_expect(cw_schema_column_in(s, 1, 0) == CW_NO_COLUMN, "a counter that no pass holds whole");
    cr_expect(cw_schema_column_in(s, 3, 1) == 3, "one without raw counters is in every pass");
    cr_expect(cw_schema_column_counter(s, 3) == 3 && cw_schema_column_counter(s, CW_SAMPLE_COUNTERS + 1) == 2);
    cr_expect(cw_schema_repeats_of(s, 2, &first) == 1 && first == 1);
    cr_expect(cw_schema_repeats_of(s, 1, &first) == 0);
}

Test(repeats, readers_that_do_not_know_them_see_the_rest)
{
    struct cw_writer without;
    cw_writer_init(&without);
    cw_edit_remove(&without, &sample, RPTS);
    for (size_t at; (at = 0, without.size);) { /* every RVAL */
        struct cw_edit_chunk chunk;
        while (cw_edit_find(without.data, without.size, at, &chunk) && memcmp(&chunk.type, "RVAL", 4) != 0)
            at++;
        if (!cw_edit_find(without.data, without.size, at, &chunk))
            break;
        cw_writer_free(&out);
        cw_writer_init(&out);
        cw_edit_remove(&out, &without, at);
        cw_writer_free(&without);
        without = out;
        cw_writer_init(&out);
    }
    cr_assert(read_file(&without) == CW_OK, "%s", text);
    cr_expect(data.range_count == CW_SAMPLE_RANGES && data.schema.repeat_count == 0 && value_at(0, 0) == 4);
    cw_writer_free(&without);
}

static void patch(size_t index, size_t at, uint32_t number)
{
    struct cw_edit_chunk chunk;
    cw_writer_free(&out);
    cw_writer_init(&out);
    cw_write_bytes(&out, sample.data, sample.size);
    cr_assert(cw_edit_find(out.data, out.size, index, &chunk) && at + 4 <= chunk.size);
    memcpy(out.data + chunk.offset + HEADER + at, &number, 4);
    cw_edit_fix_checksums(out.data, out.size);
}

Test(repeats, bad_lists_are_refused)
{
    patch(RPTS, 0, UINT32_MAX);
    refused(&out, "found a count of 4294967295 repeats, expected at most the 2 that fit the data", __LINE__);
    patch(RPTS, 4, 7);
    refused(&out, "found counter 7, expected one below 4", __LINE__);
    patch(RPTS, 8, 2);
    refused(&out, "found pass 2, expected one below 2", __LINE__);
    patch(RPTS, 8, 0);
    refused(&out, "found counter 0 again in pass 0, expected a whole counter in another pass", __LINE__);
    patch(RPTS, 4, 1);
    refused(&out, "found counter 1 again in pass 1, expected a whole counter in another pass", __LINE__);
    patch(RPTS, 12, 0);
    refused(&out, "found counter 0 again in pass 0", __LINE__);
    patch(RPTS, 0, 1);
    refused(&out, "found 8 bytes after the end of chunk RPTS", __LINE__);
}

Test(repeats, stand_in_order)
{
    const uint8_t list[] = {2, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0};
    cw_edit_replace(&out, &sample, RPTS, list, sizeof list);
    refused(&out, "found counter 0 of pass 1 behind counter 2 of pass 0, expected them in order", __LINE__);
    const uint8_t twice[] = {2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0};
    cw_writer_free(&out);
    cw_writer_init(&out);
    cw_edit_replace(&out, &sample, RPTS, twice, sizeof twice);
    refused(&out, "found counter 0 of pass 1 behind counter 0 of pass 1, expected them in order", __LINE__);
}

Test(repeats, each_range_has_its_values)
{
    cw_edit_remove(&out, &sample, RVAL);
    refused(&out, "found a range of 0 bytes in RVAL, expected a value for each of 2 repeats", __LINE__);
    cw_writer_free(&out);
    cw_writer_init(&out);
    cw_edit_replace(&out, &sample, RVAL, "\0\0\0", 3);
    refused(&out, "RVAL", __LINE__);
    cw_writer_free(&out);
    cw_writer_init(&out);
    cw_edit_replace(&out, &sample, RVAL, "\0\11", 2);
    refused(&out, "found form 9, expected a form below 8", __LINE__);
}

Test(repeats, stand_once_before_all_ranges)
{
    struct cw_edit_chunk chunk;
    cr_assert(cw_edit_find(sample.data, sample.size, RPTS, &chunk));
    cw_edit_insert(&out, &sample, DEVC, "RPTS", 1, sample.data + chunk.offset + HEADER, chunk.size);
    refused(&out, "found chunk RPTS, expected it once, before the ranges of a range capture", __LINE__);
    cw_writer_free(&out);
    cw_writer_init(&out);
    struct cw_writer samples; /* of PM sampling */
    cw_writer_init(&samples);
    cw_sample_pm(&samples, 2, true);
    cw_edit_insert(&out, &samples, 1, "RPTS", 1, sample.data + chunk.offset + HEADER, chunk.size);
    refused(&out, "found chunk RPTS, expected it once, before the ranges of a range capture", __LINE__);
    cw_writer_free(&samples);
}

static enum cw_status read_in(struct cw_arena *own, struct cw_error *why)
{
    return cw_counter_data_read(&data, sample.data, sample.size, "x", own, why);
}

Test(repeats, every_failed_allocation_is_reported)
{
    long count = cw_alloc_fail_each(read_in);
    cr_expect(count > 3 && count < 1000, "allocation %ld", -1 - count);
}

static enum cw_status merge(const struct cw_writer *a, const struct cw_writer *b)
{
    const struct cw_merge_input inputs[] = {{"a", a->data, a->size}, {"b", b->data, b->size}};
    cw_writer_free(&out);
    cw_writer_init(&out);
    err = (struct cw_error)CW_ERROR_INIT;
    return cw_merge_dense(&out, inputs, 2, &err);
}

Test(repeats, are_merged_with_their_ranges)
{
    cr_assert(merge(&sample, &sample) == CW_OK, "%s", err.message);
    cr_assert(read_file(&out) == CW_OK, "%s", text);
    cr_expect(data.range_count == 2 * CW_SAMPLE_RANGES);
    for (uint32_t r = 0; r < data.range_count; r++)
        cr_expect(value_at(CW_SAMPLE_COUNTERS, r) == 10 * (r % CW_SAMPLE_RANGES));
}

Test(repeats, captures_with_other_repeats_do_not_merge)
{
    struct cw_writer without;
    cw_writer_init(&without);
    cw_sample_data(&without, true);
    cr_expect(merge(&sample, &without) == CW_ERR_USAGE && strstr(err.message, "another plan"));
    cr_expect(merge(&without, &sample) == CW_ERR_USAGE && strstr(err.message, "another plan"));
    cw_writer_free(&without);
}
