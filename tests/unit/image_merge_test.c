#include <criterion/criterion.h>
#include <string.h>

#include "host/image/merge.h"
#include "tests/support/alloc_fail.h"
#include "tests/support/chunk_edit.h"
#include "tests/support/image_samples.h"

static struct cw_writer sample, short_sample, out;
static struct cw_arena *arena;
static struct cw_error err;

static void set_up(void)
{
    arena = cw_arena_create();
    cw_writer_init(&sample);
    cw_writer_init(&short_sample);
    cw_writer_init(&out);
    cw_sample_data(&sample, true);
    cw_sample_data(&short_sample, false);
    err = (struct cw_error)CW_ERROR_INIT;
}

static void tear_down(void)
{
    cw_writer_free(&sample);
    cw_writer_free(&short_sample);
    cw_writer_free(&out);
    cw_arena_destroy(arena);
}

TestSuite(merge, .init = set_up, .fini = tear_down);

static enum cw_status merge(const struct cw_writer *a, const struct cw_writer *b)
{
    const struct cw_merge_input inputs[] = {{"a", a->data, a->size}, {"b", b->data, b->size}};
    return cw_counter_data_merge(&out, inputs, 2, &err);
}

static struct cw_counter_data read_result(void)
{
    struct cw_counter_data data;
    cr_assert(cw_counter_data_read(&data, out.data, out.size, "merged", arena, NULL) == CW_OK);
    return data;
}

Test(merge, one_alone_keeps_its_bytes)
{
    const struct cw_merge_input one = {"a", sample.data, sample.size};
    cr_assert(cw_counter_data_merge(&out, &one, 1, &err) == CW_OK);
    cr_expect(out.size == sample.size && memcmp(out.data, sample.data, out.size) == 0);
}

Test(merge, devices_that_are_alike_stay_one)
{
    cr_assert(merge(&sample, &sample) == CW_OK);
    struct cw_counter_data data = read_result(), before;
    cr_assert(cw_counter_data_read(&before, sample.data, sample.size, "sample", arena, NULL) == CW_OK);
    cr_expect(data.device_count == before.device_count);
    cr_expect(data.range_count == 2 * before.range_count);
    cr_expect(data.dropped == 2 * before.dropped);
    cr_expect(data.complete);
    for (uint32_t i = 0; i < before.range_count; i++)
        cr_expect(data.ranges[i + before.range_count].device == before.ranges[i].device, "range %u", i);
}

Test(merge, another_device_gets_another_number)
{
    struct cw_writer other;
    struct cw_edit_chunk chunk;
    cw_writer_init(&other);
    cw_write_bytes(&other, sample.data, sample.size);
    cr_assert(cw_edit_find(other.data, other.size, 1, &chunk));
    other.data[chunk.offset + 24 + chunk.size - 1] ^= 0x10; /* a fact of the first device */
    cw_edit_fix_checksums(other.data, other.size);
    cr_assert(merge(&sample, &other) == CW_OK);
    struct cw_counter_data data = read_result();
    cr_assert(data.device_count == 3);
    cr_expect(data.devices[2].index != data.devices[0].index && data.devices[2].index != data.devices[1].index);
    cr_expect(data.ranges[CW_SAMPLE_RANGES].device == 2);
    cr_expect(data.ranges[0].device == 0);
    cw_writer_free(&other);
}

Test(merge, an_incomplete_part_leaves_the_whole_incomplete)
{
    cr_assert(merge(&sample, &short_sample) == CW_OK);
    cr_expect(!read_result().complete);
}

Test(merge, attributes_of_ranges_stay_with_them)
{
    struct cw_writer pairs, about;
    cw_writer_init(&pairs);
    cw_writer_init(&about);
    cw_write_u32(&pairs, 1);
    cw_write_string(&pairs, "nvtx");
    cw_write_string(&pairs, "outer/inner");
    cw_edit_insert(&about, &sample, 3, "RATT", 1, pairs.data, pairs.size); /* before the second range */
    cr_assert(merge(&about, &sample) == CW_OK);
    struct cw_counter_data data = read_result();
    cr_expect(data.ranges[0].attribute_count == 0);
    cr_assert(data.ranges[1].attribute_count == 1);
    cr_expect(strcmp(cw_range_attribute(&data.ranges[1], "nvtx"), "outer/inner") == 0);
    cr_expect(cw_range_attribute(&data.ranges[1], "other") == NULL);
    cr_expect(data.ranges[2].attribute_count == 0);
    cw_writer_free(&pairs);
    cw_writer_free(&about);
}

Test(merge, damaged_input_is_refused)
{
    struct cw_writer damaged;
    cw_writer_init(&damaged);
    cw_write_bytes(&damaged, sample.data, sample.size);
    damaged.data[sample.size / 2] ^= 1;
    cr_expect(merge(&sample, &damaged) == CW_ERR_INPUT);
    cw_writer_free(&damaged);
}

Test(merge, every_failing_allocation_is_reported)
{
    bool failed = true;
    for (long n = 0; n < 500 && failed; n++) {
        cw_writer_free(&out);
        cw_writer_init(&out);
        cw_alloc_fail_after(n);
        enum cw_status status = merge(&sample, &sample);
        failed = cw_alloc_failed();
        cw_alloc_fail_after(-1);
        cr_expect(status == (failed ? CW_ERR_NOMEM : CW_OK), "allocation %ld", n);
    }
    cr_expect(!failed);
}
