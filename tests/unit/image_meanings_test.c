/* What names stood for: in plans and in the captures of them. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "image/fields.h"
#include "tests/support/alloc_fail.h"
#include "tests/support/chunk_edit.h"
#include "tests/support/image_samples.h"
#include "tests/support/merge_memory.h"

enum { MEAN_OF_PLAN = 6, MEAN_OF_DATA = 1 };

static struct cw_arena *arena;
static struct cw_writer plan, data, out;
static struct cw_error err;
static char text[1200];

static void set_up(void)
{
    struct cw_config_image image = cw_sample_plan_meanings();
    arena = cw_arena_create();
    cw_writer_init(&plan);
    cw_writer_init(&data);
    cw_writer_init(&out);
    cw_config_image_write(&image, &plan);
    cw_config_image_prefix(&image, &data);
    cr_assert(plan.status == CW_OK && data.status == CW_OK);
}

static void tear_down(void)
{
    cw_arena_destroy(arena);
    cw_writer_free(&plan);
    cw_writer_free(&data);
    cw_writer_free(&out);
}

TestSuite(meanings, .init = set_up, .fini = tear_down);

static enum cw_status read_plan(struct cw_config_image *image, const struct cw_writer *file)
{
    err = (struct cw_error)CW_ERROR_INIT;
    enum cw_status status = cw_config_image_read(image, file->data, file->size, "x.cwc", arena, &err);
    cw_error_format(&err, text, sizeof text);
    return status;
}

static enum cw_status read_data(struct cw_counter_data *read, const struct cw_writer *file)
{
    err = (struct cw_error)CW_ERROR_INIT;
    enum cw_status status = cw_counter_data_read(read, file->data, file->size, "x.cwd", arena, &err);
    cw_error_format(&err, text, sizeof text);
    return status;
}

static void expect_same(const struct cw_meaning *read, uint32_t count)
{
    const struct cw_meaning *meanings = cw_sample_plan_meanings().meanings;
    cr_assert_eq(count, 2);
    for (uint32_t i = 0; i < count; i++) {
        cr_expect_str_eq(read[i].name, meanings[i].name);
        cr_expect(read[i].raws == meanings[i].raws && read[i].formula == meanings[i].formula);
    }
}

Test(meanings, read_back_from_plans_and_captures)
{
    struct cw_config_image image;
    struct cw_counter_data read;
    cr_assert_eq(read_plan(&image, &plan), CW_OK, "%s", text);
    expect_same(image.meanings, image.meaning_count);
    cr_expect(image.native_size && plan.data[10] == 1);
    cr_assert_eq(read_data(&read, &data), CW_OK, "%s", text);
    expect_same(read.schema.meanings, read.schema.meaning_count);
    cr_expect_eq(data.data[10], 3);
    cw_schema_write(&read.schema, &out);
    cr_expect(out.size == data.size - 16 && memcmp(out.data, data.data + 16, out.size) == 0);
}

Test(meanings, may_be_missing_but_not_differ)
{
    struct cw_config_image image;
    cw_edit_remove(&out, &plan, MEAN_OF_PLAN);
    cr_expect_eq(read_plan(&image, &out), CW_ERR_INPUT, "the prefix still has them");
    cr_expect(strstr(text, "PRFX") || strstr(text, "prefix"), "%s", text);
    struct cw_config_image without = cw_sample_plan();
    cw_writer_free(&out);
    cw_writer_init(&out);
    cw_config_image_write(&without, &out);
    cr_expect(read_plan(&image, &out) == CW_OK && image.meaning_count == 0 && out.data[10] == 0);
}

Test(meanings, are_refused_out_of_place)
{
    struct cw_edit_chunk chunk;
    struct cw_config_image image;
    struct cw_counter_data read;
    cr_assert(cw_edit_find(plan.data, plan.size, MEAN_OF_PLAN, &chunk) && chunk.type == CW_CHUNK_MEANINGS);
    const uint8_t *payload = plan.data + chunk.offset + CW_CHUNK_HEADER_SIZE;
    cw_edit_insert(&out, &plan, MEAN_OF_PLAN + 2, "MEAN", CW_CHUNK_OPTIONAL, payload, chunk.size);
    cr_expect_eq(read_plan(&image, &out), CW_ERR_INPUT);
    cr_expect(strstr(text, "found chunk MEAN, expected chunk PRFX"), "%s", text);
    cw_writer_free(&out);
    cw_writer_init(&out);
    cw_edit_insert(&out, &data, MEAN_OF_DATA, "MEAN", CW_CHUNK_OPTIONAL, payload, chunk.size);
    cr_expect_eq(read_data(&read, &out), CW_ERR_INPUT);
    cr_expect(strstr(text, "found chunk MEAN again"), "%s", text);
}

Test(meanings, hostile_payloads_are_refused)
{
    static const struct {
        size_t at;
        uint8_t byte;
        const char *message;
    } cases[] = {{3, 0x7f, "meanings"}, {0, 3, ""}, {0, 1, "after the end of chunk MEAN"}, {7, 0x7f, ""}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cw_edit_chunk chunk;
        struct cw_counter_data read;
        cw_writer_free(&out);
        cw_writer_init(&out);
        cw_write_bytes(&out, data.data, data.size);
        cr_assert(cw_edit_find(out.data, out.size, MEAN_OF_DATA, &chunk));
        out.data[chunk.offset + CW_CHUNK_HEADER_SIZE + cases[i].at] = cases[i].byte;
        cw_edit_fix_checksums(out.data, out.size);
        cr_expect_eq(read_data(&read, &out), CW_ERR_INPUT, "case %zu", i);
        cr_expect(strstr(text, "offset") && strstr(text, cases[i].message), "case %zu: %s", i, text);
    }
}

Test(meanings, captures_that_differ_in_them_are_not_merged)
{
    struct cw_writer other;
    cw_writer_init(&other);
    cw_write_bytes(&other, data.data, data.size);
    other.data[other.size - 1] ^= 1;
    cw_edit_fix_checksums(other.data, other.size);
    const struct cw_merge_input alike[] = {{"a.cwd", data.data, data.size}, {"b.cwd", data.data, data.size}};
    const struct cw_merge_input apart[] = {{"a.cwd", data.data, data.size}, {"b.cwd", other.data, other.size}};
    cr_expect_eq(cw_merge_dense(&out, alike, 2, &err), CW_OK);
    cr_expect(out.size == data.size && memcmp(out.data, data.data, out.size) == 0);
    cr_expect_eq(cw_merge_dense(&out, apart, 2, &err), CW_ERR_USAGE);
    cw_writer_free(&other);
}

Test(meanings, no_memory_is_said)
{
    for (long n = 0;; n++) {
        struct cw_config_image image;
        struct cw_arena *own = cw_arena_create();
        cw_alloc_fail_after(n);
        enum cw_status status = cw_config_image_read(&image, plan.data, plan.size, "x.cwc", own, NULL);
        bool failed = cw_alloc_failed();
        cw_alloc_fail_after(-1);
        cw_arena_destroy(own);
        cr_expect_eq(status, failed ? CW_ERR_NOMEM : CW_OK, "allocation %ld", n);
        if (!failed)
            break;
    }
}
