/* Captures in which chunks are damaged: what is left of them. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "image/directory.h"
#include "image/range_read.h"
#include "tests/support/chunk_edit.h"
#include "tests/support/image_samples.h"
#include "tests/support/merge_memory.h"

enum {
    RANGES = 40,
    PASSES = 2,
    PARTS = CW_SAMPLE_COUNTERS + CW_SAMPLE_REPEATS,
    SECOND_DEVICE = RANGES / 2,
    CLOCKS_AFTER = 9
};

static struct cw_writer file;
static struct cw_arena *arena;
static struct cw_counter_data whole, data;
static struct cw_error err;

static struct cw_range sample_range(uint32_t i, bool attributes)
{
    static const struct cw_pair rank[] = {{"rank", "3"}};
    static const double durations[PASSES] = {1000.5, NAN}, facts[] = {40, NAN, -5};
    return (struct cw_range){.name = i % 3 ? "step" : "other",
                             .kernel = "_Z4stepPf",
                             .device = i < SECOND_DEVICE ? 0 : 5,
                             .process = 42,
                             .start_ns = 1000 + i,
                             .end_ns = 2000 + i,
                             .durations = durations,
                             .attribute_count = attributes,
                             .attributes = rank,
                             .facts = facts};
}

/* RANGES ranges, which begin at 1000 and on: SCHM DEVC RNGE... DEVC RNGE... ENDC; with parts SCHM FNAM RPTS, and RATT?
 * RVAL RFCT before each RNGE. Clocks of each device stand behind its CLOCKS_AFTER-th range. */
static void make(bool parts, bool attributes)
{
    static const char *const names[] = {"a", "b", "c"};
    static const struct cw_schema_repeat repeats[CW_SAMPLE_REPEATS] = {{0, 1}, {2, 0}};
    static const struct cw_gpu_clock reading = {1000, 1980, 2619, 0};
    const struct cw_device_facts facts[CW_SAMPLE_COUNTERS] = {{4, {4, 1, 1, 1}}};
    const struct cw_config_image image = cw_sample_plan();
    struct cw_schema schema;
    cr_assert(cw_schema_of_plan(&schema, &image, arena) == CW_OK);
    if (parts) {
        schema.fact_names = names;
        schema.fact_count = 3;
        schema.repeats = repeats;
        schema.repeat_count = CW_SAMPLE_REPEATS;
    }
    cw_writer_init(&file);
    cw_schema_write_header(&schema, &file);
    cw_schema_write(&schema, &file);
    for (uint32_t i = 0; i < RANGES; i++) {
        struct cw_value values[PARTS];
        struct cw_range range = sample_range(i, attributes);
        for (uint32_t c = 0; c < PARTS; c++)
            values[c] = (struct cw_value){CW_FORM_ROLLUPS, {100.0 * i + c, c, 0.5, i}, 0, NULL};
        if (i == 0 || i == SECOND_DEVICE)
            cw_counter_data_write_device(&schema, &(struct cw_device){range.device, 0, NULL, facts}, &file);
        range.facts = parts ? range.facts : NULL;
        cw_counter_data_write_range(&schema, &range, values, &file);
        if (i % SECOND_DEVICE == CLOCKS_AFTER)
            cw_gpu_clocks_write(&(struct cw_gpu_clocks){range.device, 1, &reading}, &file);
    }
    cw_counter_data_write_end(RANGES, 0, CW_END_EXITED, 0, &file);
}

static void set_up(bool parts, bool attributes)
{
    err = (struct cw_error)CW_ERROR_INIT;
    arena = cw_arena_create();
    make(parts, attributes);
    cr_assert(cw_counter_data_read(&whole, file.data, file.size, "x.cwd", arena, &err) == CW_OK, "%s", err.message);
    cr_assert(whole.range_count == RANGES && whole.complete && !whole.damage.places);
}

static void tear_down(void)
{
    cw_writer_free(&file);
    cw_arena_destroy(arena);
}

TestSuite(damage, .fini = tear_down);

enum way { PAYLOAD, CHECKSUM, FLAGS, TAG, FIRST_LETTER, LONGER, SHORTER, NONSENSE, ZEROS, WAYS };

static void damage(uint8_t *bytes, const struct cw_edit_chunk *chunk, enum way way)
{
    uint8_t *at = bytes + chunk->offset;
    if (way == PAYLOAD)
        at[24 + chunk->size / 2] ^= 0x10;
    if (way == CHECKSUM)
        at[16] ^= 1;
    if (way == FLAGS)
        at[5] ^= 0x80;
    if (way == TAG)
        at[1] ^= 4;
    if (way == FIRST_LETTER)
        at[0] ^= 0x80;
    if (way == LONGER)
        at[8] += 7;
    if (way == SHORTER)
        at[8] -= 1;
    if (way == NONSENSE)
        at[14] = 0xff;
    if (way == ZEROS)
        memset(at, 0, 24 + chunk->size);
}

static void expect_range(const struct cw_counter_data *d, uint32_t i, bool facts, bool repeats)
{
    const uint32_t k = (uint32_t)(d->ranges[i].start_ns - 1000);
    const struct cw_range *found = &d->ranges[i], *expected = &whole.ranges[k];
    cr_assert(k < RANGES);
    cr_expect(strcmp(found->name, expected->name) == 0 && found->attribute_count == expected->attribute_count);
    cr_expect(d->devices[found->device].index == whole.devices[expected->device].index);
    cr_expect(memcmp(found->durations, expected->durations, PASSES * sizeof(double)) == 0);
    for (uint32_t c = 0; c < (repeats ? cw_schema_columns(&whole.schema) : CW_SAMPLE_COUNTERS); c++)
        for (int r = 0; r < CW_ROLLUP_COUNT; r++)
            cr_expect(d->rollups[r][(size_t)c * d->range_count + i] == whole.rollups[r][(size_t)c * RANGES + k]);
    for (uint32_t f = 0; facts && f < whole.schema.fact_count; f++)
        cr_expect(memcmp(&d->facts[(size_t)f * d->range_count + i], &whole.facts[(size_t)f * RANGES + k], 8) == 0);
}

static bool is_part(uint32_t type)
{
    return type == CW_CHUNK_ABOUT || type == CW_CHUNK_REPEATED || type == CW_CHUNK_FACTS;
}

/* That all ranges are there but `count` from `first` on, and the one behind them where that may be. */
static void expect_but(uint32_t first, uint32_t count, bool one_more, uint32_t type)
{
    uint32_t missing = RANGES - data.range_count;
    cr_expect(missing == count || (one_more && missing == count + 1), "missing %u", missing);
    for (uint32_t i = 0; i < data.range_count; i++) {
        const uint64_t number = data.ranges[i].start_ns - 1000;
        cr_expect(number < first || number >= first + missing, "range %u", (unsigned)number);
        cr_expect(!i || data.ranges[i - 1].start_ns < data.ranges[i].start_ns);
        expect_range(&data, i, type != CW_CHUNK_FACT_NAMES, type != CW_CHUNK_REPEATS);
    }
    const uint64_t places = type == CW_CHUNK_DEVICE ? 2 : 1; /* before and behind its clocks */
    cr_expect(!data.complete && data.damage.places == places && data.damage.counted == (type != CW_CHUNK_END));
    cr_expect(data.damage.ranges == (type == CW_CHUNK_END ? 0 : missing));
}

/* Each chunk but the schema, in each way. Where ranges have no attributes, and it cannot be told what a damaged chunk
 * was, it may have been the attributes of the next range: that is lost, too. */
static void expect_each_chunk(bool attributes)
{
    struct cw_edit_chunk chunk;
    uint32_t range = 0;
    uint8_t *bytes = malloc(file.size);
    for (size_t n = 1; cw_edit_find(file.data, file.size, n, &chunk); n++) {
        for (enum way way = 0; way < WAYS; way++) {
            const bool legible = way == PAYLOAD || way == CHECKSUM;
            struct cw_arena *own = cw_arena_create();
            memcpy(bytes, file.data, file.size);
            damage(bytes, &chunk, way);
            const bool last = chunk.offset + 24 + chunk.size == file.size;
            cr_assert(cw_counter_data_read(&data, bytes, file.size, "x.cwd", own, &err) == CW_OK, "%s", err.message);
            if (last && (way == LONGER || way == NONSENSE)) /* which is cut off then */
                cr_expect(!data.complete && data.range_count == RANGES && !data.damage.places);
            else if (chunk.type == CW_CHUNK_DEVICE)
                expect_but(range, SECOND_DEVICE, false, chunk.type);
            else if (chunk.type == CW_CHUNK_RANGE)
                expect_but(range, 1, !legible && !attributes, chunk.type);
            else
                expect_but(range, is_part(chunk.type), !legible && !attributes && chunk.type != CW_CHUNK_END,
                           chunk.type);
            const bool of_clocks = chunk.type == CW_CHUNK_DEVICE || chunk.type == CW_CHUNK_GPU_CLOCKS;
            cr_expect(data.clocks_count == (of_clocks ? 1 : 2) && data.clocks[0].count == 1, "%d", way);
            cr_expect(last || chunk.offset >= data.damage.first);
            cr_expect(last || data.damage.bytes >= 24 + chunk.size);
            cw_arena_destroy(own);
        }
        range += chunk.type == CW_CHUNK_RANGE;
    }
    cr_expect(range == RANGES);
    free(bytes);
}

Test(damage, a_chunk_costs_its_range_alone)
{
    set_up(false, false);
    expect_each_chunk(false);
}

Test(damage, a_part_costs_its_range_alone)
{
    set_up(true, false);
    expect_each_chunk(false);
}

Test(damage, attributes_begin_a_range)
{
    set_up(true, true);
    expect_each_chunk(true);
}

Test(damage, of_a_schema_is_an_error)
{
    set_up(false, false);
    file.data[60] ^= 1;
    cr_expect(cw_counter_data_read(&data, file.data, file.size, "x.cwd", arena, &err) == CW_ERR_INPUT);
    cr_expect(strstr(err.message, "found a damaged chunk SCHM"), "%s", err.message);
}

Test(damage, every_second_range_is_lost_alone)
{
    struct cw_edit_chunk chunk;
    set_up(true, true);
    for (size_t n = 1, range = 0; cw_edit_find(file.data, file.size, n, &chunk); n++)
        if (chunk.type == CW_CHUNK_RANGE && range++ % 2)
            damage(file.data, &chunk, PAYLOAD);
    cr_assert(cw_counter_data_read(&data, file.data, file.size, "x.cwd", arena, &err) == CW_OK, "%s", err.message);
    cr_expect(data.range_count == RANGES / 2 && data.damage.places == RANGES / 2 && data.damage.ranges == RANGES / 2);
    for (uint32_t i = 0; i < data.range_count; i++) {
        cr_expect(data.ranges[i].start_ns == 1000 + 2 * i);
        expect_range(&data, i, true, true);
    }
}

/* Bytes between chunks are no range. */
Test(damage, what_is_no_chunk_is_left_out)
{
    struct cw_edit_chunk chunk;
    struct cw_writer out;
    set_up(true, true);
    cw_writer_init(&out);
    cr_assert(cw_edit_find(file.data, file.size, 8, &chunk));
    cw_write_bytes(&out, file.data, chunk.offset);
    for (int i = 0; i < 1000; i++)
        cw_write_format(&out, "RNGE%d", i);
    const size_t more = out.size - chunk.offset;
    cw_write_bytes(&out, file.data + chunk.offset, file.size - chunk.offset);
    cr_assert(cw_counter_data_read(&data, out.data, out.size, "x.cwd", arena, &err) == CW_OK, "%s", err.message);
    cr_expect(data.damage.places == 1 && data.damage.first <= chunk.offset && data.damage.bytes >= more);
    cr_expect(data.range_count >= RANGES - 1);
    cw_writer_free(&out);
}

/* Heads that each claim the rest of the file cost no more than to read it a few times. */
Test(damage, is_searched_in_time)
{
    enum { HEADS = 200000 };
    set_up(false, false);
    struct cw_writer out;
    cw_writer_init(&out);
    cw_write_bytes(&out, file.data, file.size - 45);
    for (int i = 0; i < HEADS; i++) {
        const size_t start = cw_chunk_begin(&out, CW_CHUNK_RANGE, 0);
        cw_store_u64(out.data + start + 8, 24 * (uint64_t)(HEADS - 1 - i));
        if (i % 2) { /* and whole ones between them */
            const size_t empty = cw_chunk_begin(&out, CW_CHUNK_TYPE('X', 'X', 'X', 'X'), CW_CHUNK_OPTIONAL);
            cw_chunk_end(&out, empty);
        }
    }
    const struct cw_input input = cw_input_of(out.data, out.size, "x.cwd");
    cr_assert(cw_counter_data_open(&data, &input, arena, &err) == CW_OK, "%s", err.message);
    cr_expect(data.range_count == RANGES && data.damage.places && !data.damage.counted);
    cr_expect(data.directory->gaps.tried < 6 * out.size);
    cw_writer_free(&out);
}

/* A chunk of more than 64 MB is looked at piece by piece before it is taken. */
Test(damage, of_a_large_chunk)
{
    enum { SIZE = (64 << 20) + 1000 };
    struct cw_edit_chunk chunk;
    struct cw_writer out;
    set_up(false, false);
    uint8_t *large = calloc(SIZE, 1);
    cw_writer_init(&out);
    cw_edit_insert(&out, &file, 10, "XTRA", CW_CHUNK_OPTIONAL, large, SIZE);
    free(large);
    cr_assert(cw_edit_find(out.data, out.size, 10, &chunk) && chunk.size == SIZE);
    for (int way = 0; way < 3; way++) { /* whole, with another byte, cut off */
        struct cw_arena *own = cw_arena_create();
        if (way == 1)
            out.data[chunk.offset + 24 + SIZE - 1] = 1;
        const size_t size = way == 2 ? chunk.offset + 24 + SIZE - 1 : out.size;
        cr_assert(cw_counter_data_read(&data, out.data, size, "x.cwd", own, &err) == CW_OK, "%s", err.message);
        cr_expect(data.complete == !way && data.damage.places == (way == 1));
        /* what was damaged may have been a part of the next range */
        cr_expect(way == 1 ? data.damage.bytes > 24 + SIZE && data.damage.bytes < 1000 + SIZE : !data.damage.bytes);
        cr_expect(data.range_count == (way == 0 ? RANGES : way == 1 ? RANGES - 1 : 8), "%u", data.range_count);
        cw_arena_destroy(own);
    }
    cw_writer_free(&out);
}

Test(damage, a_merge_has_the_rest)
{
    struct cw_edit_chunk chunk;
    struct cw_writer out, copy;
    set_up(true, true);
    cw_writer_init(&out);
    cw_writer_init(&copy);
    cw_write_bytes(&copy, file.data, file.size);
    cr_assert(cw_edit_find(file.data, file.size, 20, &chunk));
    damage(file.data, &chunk, ZEROS);
    const struct cw_merge_input inputs[] = {{"a", file.data, file.size}, {"b", copy.data, copy.size}};
    cr_assert(cw_merge_dense(&out, inputs, 2, &err) == CW_OK, "%s", err.message);
    cr_assert(cw_counter_data_read(&data, out.data, out.size, "x.cwd", arena, &err) == CW_OK, "%s", err.message);
    cr_expect(data.range_count == 2 * RANGES - 1 && !data.complete && !data.damage.places);
    for (uint32_t i = 0; i < data.range_count; i++)
        expect_range(&data, i, true, true);
    cw_writer_free(&out);
    cw_writer_free(&copy);
}

/* Appends chunks of the file, by their numbers. */
static void append(struct cw_writer *out, size_t from, size_t to)
{
    struct cw_edit_chunk chunk;
    for (size_t n = from; n < to && cw_edit_find(file.data, file.size, n, &chunk); n++)
        cw_write_bytes(out, file.data + chunk.offset, 24 + chunk.size);
}

/* A device between the parts of a range that is lost is none of them, so a merge has it. */
Test(damage, spares_a_device_among_the_parts_of_a_lost_range)
{
    enum { DEVICE = 3, PART, RANGE = PART + 2, SECOND = DEVICE + 1 + 3 * SECOND_DEVICE + 1 };
    struct cw_edit_chunk chunk;
    set_up(true, false);
    cr_assert(cw_edit_find(file.data, file.size, SECOND, &chunk) && chunk.type == CW_CHUNK_DEVICE);
    for (int first = 0; first < 2;
         first++) { /* SCHM FNAM RPTS RVAL DEVC [RFCT] RNGE..., [DEVC] RVAL RFCT DEVC RNGE... */
        struct cw_writer out, merged;
        cw_writer_init(&out);
        cw_writer_init(&merged);
        cw_write_bytes(&out, file.data, 16);
        append(&out, 0, first ? DEVICE : RANGE);
        append(&out, first ? PART : SECOND, first ? PART + 1 : SECOND + 1);
        append(&out, first ? DEVICE : RANGE, first ? DEVICE + 1 : SECOND);
        append(&out, first ? PART + 1 : SECOND + 1, SIZE_MAX);
        cr_assert(cw_edit_find(out.data, out.size, first ? PART + 1 : DEVICE, &chunk));
        cr_assert(chunk.type == (first ? CW_CHUNK_FACTS : CW_CHUNK_DEVICE));
        damage(out.data, &chunk, PAYLOAD);
        const struct cw_merge_input inputs[] = {{"a", out.data, out.size}, {"b", out.data, out.size}};
        cr_assert(cw_counter_data_read(&data, out.data, out.size, "x.cwd", arena, &err) == CW_OK, "%s", err.message);
        const uint32_t left = first ? RANGES - 1 : RANGES - SECOND_DEVICE;
        cr_expect(data.range_count == left && data.device_count == 1 + (uint32_t)first);
        cr_assert(cw_merge_dense(&merged, inputs, 2, &err) == CW_OK, "%s", err.message);
        cr_assert(cw_counter_data_read(&data, merged.data, merged.size, "x.cwd", arena, &err) == CW_OK, "%s",
                  err.message);
        cr_expect(data.range_count == 2 * left && data.device_count == 1 + (uint32_t)first && !data.damage.places);
        for (uint32_t i = 0; i < data.range_count; i++)
            expect_range(&data, i, true, true);
        cw_writer_free(&out);
        cw_writer_free(&merged);
    }
}
