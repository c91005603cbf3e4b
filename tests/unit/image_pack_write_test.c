/* Which chunks a pack has: where one ends, and what stays as it was. */
#include <criterion/criterion.h>
#include <string.h>

#include "image/counter_data.h"
#include "image/data_chunks.h"
#include "image/pack.h"
#include "image/pack_write.h"
#include "tests/support/chunk_edit.h"
#include "tests/support/unpack.h"

static struct cw_writer file, packed, out;

static void set_up(void)
{
    cw_writer_init(&file);
    cw_writer_init(&packed);
    cw_writer_init(&out);
}

static void tear_down(void)
{
    cw_writer_free(&file);
    cw_writer_free(&packed);
    cw_writer_free(&out);
}

TestSuite(pack_write, .init = set_up, .fini = tear_down);

/* ---- where a block ends ----------------------------------------------------------------------------------------- */

enum { MANY_PASSES = 4095, NUMBERS = 14 + MANY_PASSES }; /* numbers of a range with so many durations */

static const struct cw_schema many = {.chip = "X", .producer = "test", .pass_count = MANY_PASSES},
                              few = {.chip = "X", .producer = "test"};
static struct cw_packer *packer;

static void begin(const struct cw_schema *schema)
{
    packer = cw_packer_create(schema);
    cw_schema_write_header(schema, &file);
    cw_schema_write(schema, &file);
}

/* Hands over what was written so far. */
static void take(void)
{
    cr_assert(cw_packer_take(packer, file.data, file.size, &packed) == CW_OK);
    file.size = 0;
}

static void take_ranges(const struct cw_schema *schema, uint32_t process, uint32_t count)
{
    static double durations[MANY_PASSES];
    for (uint32_t i = 0; i < count; i++) {
        const struct cw_range range = {
            .name = "name", .kernel = "kernel", .process = process, .start_ns = i, .durations = durations};
        cw_counter_data_write_range(schema, &range, NULL, &file);
        take();
    }
}

/* Ends it; its packs have these numbers of records. */
static void expect_records(const uint32_t *wanted, size_t count)
{
    struct cw_edit_chunk chunk;
    size_t packs = 0;
    cr_assert(cw_packer_finish(packer, &packed) == CW_OK);
    cw_packer_destroy(packer);
    for (size_t i = 0; cw_edit_find(packed.data, packed.size, i, &chunk); i++) {
        struct cw_reader in;
        if (chunk.type != CW_CHUNK_PACK)
            continue;
        cw_reader_init(&in, packed.data + chunk.offset + CW_CHUNK_HEADER_SIZE, 4, "", 0, NULL);
        const uint32_t records = cw_read_u32(&in);
        cr_expect(packs < count && records == wanted[packs], "pack %zu: %u records", packs, records);
        packs++;
    }
    cr_expect(packs == count, "%zu packs", packs);
}

/* A block of half its numbers ends where another process or a device begins, and one of all its numbers anywhere. */
Test(pack_write, a_block_ends_with_its_numbers)
{
    enum { HALF = ((4 << 20) + NUMBERS - 1) / NUMBERS, WHOLE = ((8 << 20) + NUMBERS - 1) / NUMBERS };
    begin(&many);
    take_ranges(&many, 1, HALF - 1); /* one range too few to end there */
    take_ranges(&many, 2, 1);
    take_ranges(&many, 2, 1); /* the same process goes on */
    take_ranges(&many, 3, WHOLE + 1);
    take_ranges(&many, 3, HALF - 1);
    cw_counter_data_write_device(&many, &(struct cw_device){0}, &file);
    take_ranges(&many, 3, 5);
    expect_records((const uint32_t[]){HALF + 1, WHOLE, HALF, 1 + 5}, 4);
}

Test(pack_write, a_block_ends_with_its_records)
{
    begin(&few);
    take_ranges(&few, 1, CW_PACK_RECORDS_MAX + 3);
    expect_records((const uint32_t[]){CW_PACK_RECORDS_MAX, 3}, 2);
}

/* Launches of a kernel are in groups of their own from 16 ranks on. */
Test(pack_write, launches_of_many_ranks_are_apart)
{
    enum { LAUNCHES = 3 };
    for (uint32_t ranks = 15; ranks <= 16; ranks++)
        for (int other = 0; other < 2; other++) { /* other: the ranks are devices of one process */
            struct cw_edit_chunk chunk;
            struct cw_reader in;
            size_t i = 0;
            file.size = packed.size = 0;
            begin(&few);
            for (uint32_t rank = 0; rank < ranks; rank++)
                for (uint32_t k = 0; k < LAUNCHES; k++) {
                    const struct cw_range range = {.name = "name",
                                                   .kernel = "kernel",
                                                   .process = other ? 1 : rank,
                                                   .device = other ? rank : 0,
                                                   .start_ns = 1000 * k};
                    cw_counter_data_write_range(&few, &range, NULL, &file);
                }
            take();
            cr_assert(cw_packer_finish(packer, &packed) == CW_OK);
            cw_packer_destroy(packer);
            while (cw_edit_find(packed.data, packed.size, i, &chunk) && chunk.type != CW_CHUNK_PACK)
                i++;
            cr_assert(chunk.type == CW_CHUNK_PACK);
            cw_reader_init(&in, packed.data + chunk.offset + CW_CHUNK_HEADER_SIZE, chunk.size, "", 0, NULL);
            cr_expect(cw_read_u32(&in) == LAUNCHES * ranks);
            for (uint32_t texts = cw_read_u32(&in); texts; texts--)
                cw_read_bytes(&in, cw_read_u32(&in));
            cr_expect_eq(cw_read_u32(&in), ranks < 16 ? 1 : LAUNCHES, "of %u", ranks);
        }
}

/* ---- what stays ------------------------------------------------------------------------------------------------- */

static void put_range(uint32_t process)
{
    cw_counter_data_write_range(&few, &(struct cw_range){.name = "name", .kernel = "kernel", .process = process}, NULL,
                                &file);
}

static void put_chunk(const char *type, uint32_t flags, const void *payload, size_t size)
{
    const size_t start = cw_chunk_begin(&file, CW_CHUNK_TYPE(type[0], type[1], type[2], type[3]), flags);
    cw_write_bytes(&file, payload, size);
    cw_chunk_end(&file, start);
}

/* Packs the file, as a whole and chunk by chunk: it unpacks to the same bytes, of so many packs. */
static void expect_same(size_t wanted)
{
    for (int whole = 0; whole < 2; whole++) {
        struct cw_edit_chunk chunk;
        size_t packs;
        packed.size = out.size = 0;
        packer = cw_packer_create(&few);
        if (whole)
            cr_assert(cw_packer_take(packer, file.data, file.size, &packed) == CW_OK);
        else
            cr_assert(cw_packer_take(packer, file.data, CW_FILE_HEADER_SIZE, &packed) == CW_OK);
        for (size_t i = 0; !whole && cw_edit_find(file.data, file.size, i, &chunk); i++)
            cr_assert(cw_packer_take(packer, file.data + chunk.offset, CW_CHUNK_HEADER_SIZE + chunk.size, &packed) ==
                      CW_OK);
        cr_assert(cw_packer_finish(packer, &packed) == CW_OK);
        cw_packer_destroy(packer);
        cr_assert(cw_unpack(&out, packed.data, packed.size, &packs));
        cr_expect(packs == wanted, "%zu packs", packs);
        cr_expect(out.size == file.size && memcmp(out.data, file.data, out.size) == 0);
    }
}

static void begin_file(uint32_t ranges)
{
    cw_schema_write_header(&few, &file);
    cw_schema_write(&few, &file);
    for (uint32_t i = 0; i < ranges; i++)
        put_range(i);
}

/* Starts and durations of each width, in any order of bits: whole numbers, and doubles that are whole, or others. */
Test(pack_write, numbers_of_every_width_come_back)
{
    static const struct cw_schema passes = {.chip = "X", .producer = "test", .pass_count = 3};
    enum { ROWS = 37 };
    uint64_t odd = 1;
    for (unsigned width = 1; width <= 64; width++) {
        size_t packs;
        file.size = packed.size = out.size = 0;
        begin(&passes);
        for (uint32_t i = 0; i < ROWS; i++) {
            double durations[3];
            odd = odd * 6364136223846793005u + 1442695040888963407u;
            const uint64_t number = odd >> (64 - width), rotated = odd << 32 | odd >> 32;
            memcpy(&durations[0], &number, sizeof number);
            durations[1] = (double)(rotated >> (64 - width));
            durations[2] = durations[1] / 3;
            const struct cw_range range = {.name = "name",
                                           .kernel = "kernel",
                                           .context = number,
                                           .stream = rotated >> (64 - width),
                                           .start_ns = odd,
                                           .end_ns = odd + number,
                                           .durations = durations};
            cw_counter_data_write_range(&passes, &range, NULL, &file);
        }
        cr_assert(cw_packer_take(packer, file.data, file.size, &packed) == CW_OK);
        cr_assert(cw_packer_finish(packer, &packed) == CW_OK);
        cw_packer_destroy(packer);
        cr_assert(cw_unpack(&out, packed.data, packed.size, &packs) && packs == 1);
        cr_expect(out.size == file.size && memcmp(out.data, file.data, out.size) == 0, "%u bits", width);
    }
}

/* The attributes of a range that does not follow, before each kind of chunk and at the end. */
Test(pack_write, parts_without_their_range_stay_where_they_are)
{
    static const uint8_t pair[] = {1, 0, 0, 0, 1, 0, 0, 0, 'a', 1, 0, 0, 0, 'b'}, clocks[8 + 24] = {0, 0, 0, 0, 1};
    begin_file(40);
    put_chunk("RATT", 1, pair, sizeof pair);
    cw_counter_data_write_device(&few, &(struct cw_device){0}, &file);
    for (uint32_t i = 0; i < 40; i++)
        put_range(i);
    put_chunk("RATT", 1, pair, sizeof pair);
    put_chunk("GCLK", 1, clocks, sizeof clocks);
    for (uint32_t i = 0; i < 40; i++)
        put_range(i);
    put_chunk("RATT", 1, pair, sizeof pair);
    put_chunk("MEAN", 1, "any", 3);
    for (uint32_t i = 0; i < 40; i++)
        put_range(i);
    put_chunk("RATT", 1, pair, sizeof pair);
    expect_same(4);
}

/* A chunk that is not well formed is no record. */
Test(pack_write, chunks_that_are_not_well_formed_stay)
{
    struct cw_edit_chunk chunk;
    begin_file(40);
    cr_assert(cw_edit_find(file.data, file.size, 1, &chunk));
    uint8_t range[200];
    cr_assert(chunk.size < sizeof range - 1);
    memcpy(range, file.data + chunk.offset + CW_CHUNK_HEADER_SIZE, chunk.size);
    range[chunk.size] = 0;
    static const size_t sizes[] = {0, 3, 8};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        put_chunk("RNGE", 0, range, sizes[i]);
    put_chunk("RNGE", 0, range, chunk.size - 1);
    put_chunk("RNGE", 0, range, chunk.size + 1);
    for (uint32_t i = 0; i < 40; i++)
        put_range(i);
    put_chunk("RATT", 1, "\1\0\0\0", 4); /* a pair too few, of a range that is right */
    put_range(1);
    for (uint32_t i = 0; i < 40; i++)
        put_range(i);
    expect_same(3);
}

/* A file without any range, and one that ends in its header. */
Test(pack_write, files_without_ranges_stay)
{
    begin_file(0);
    expect_same(0);
    cw_counter_data_write_end(0, 0, CW_END_EXITED, 0, &file);
    expect_same(0);
    file.size = CW_FILE_HEADER_SIZE;
    expect_same(0);
}
