#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/varint.h"
#include "image/pack_write.h"
#include "image/range_view.h"
#include "tests/support/alloc_fail.h"
#include "tests/support/chunk_edit.h"
#include "tests/support/image_samples.h"
#include "tests/support/merge_memory.h"
#include "tests/support/unpack.h"

static struct cw_writer dense, sparse, out;
static struct cw_arena *arena;
static struct cw_error err;

static void set_up(void)
{
    arena = cw_arena_create();
    cw_writer_init(&dense);
    cw_writer_init(&sparse);
    cw_writer_init(&out);
    err = (struct cw_error)CW_ERROR_INIT;
}

static void tear_down(void)
{
    cw_writer_free(&dense);
    cw_writer_free(&sparse);
    cw_writer_free(&out);
    cw_arena_destroy(arena);
}

TestSuite(pack, .init = set_up, .fini = tear_down);

/* ---- ranks that are much alike ---------------------------------------------------------------------------------- */

enum { RANKS = 200, LAUNCHES = 3, COUNTERS = 8 };

static const struct cw_schema_counter counters[COUNTERS] = {
    {"sm__inst", true, 1, (const uint32_t[]){0}},   {"sm__cycles", true, 1, (const uint32_t[]){0}},
    {"sm__warps", true, 1, (const uint32_t[]){0}},  {"gpu__time", true, 1, (const uint32_t[]){0}},
    {"lts__odd", true, 1, (const uint32_t[]){0}},   {"lts__none", true, 1, (const uint32_t[]){0}},
    {"lts__parts", true, 1, (const uint32_t[]){0}}, {"lts__real", true, 1, (const uint32_t[]){0}},
};
static const char *const fact_names[] = {"launch__registers_per_thread"};
static const struct cw_schema_repeat repeats[] = {{1, 1}};
static const struct cw_schema schema = {.chip = "SMALL",
                                        .producer = "test",
                                        .profiler = CW_PROFILER_RANGE,
                                        .pass_count = 2,
                                        .counter_count = COUNTERS,
                                        .counters = counters,
                                        .repeat_count = 1,
                                        .repeats = repeats,
                                        .fact_count = 1,
                                        .fact_names = fact_names};

/* A sum over 4 instances, and its average. */
static struct cw_value value_of(double sum)
{
    return (struct cw_value){.form = CW_FORM_ROLLUPS, .rollup = {sum, sum / 4, floor(sum / 5), ceil(sum / 3)}};
}

static double odd_number(uint32_t i)
{
    const double odd[] = {NAN, INFINITY, -INFINITY, -0.0, 5e-324, 9007199254740993.0, -3, 0.1};
    return odd[i % 8];
}

static void write_launch(uint32_t rank, uint32_t launch, struct cw_writer *to)
{
    static const double parts[] = {3, 4, 5};
    char text[16];
    const struct cw_pair about[] = {{"rank", text}, {"nvtx", launch ? "step/forward" : "step"}};
    const double noise = (double)(rank * 7919 % 101), facts[] = {40.0 + launch};
    const double durations[] = {1000 + noise, NAN};
    const double cycles = 100000 * (launch + 1) + noise;
    struct cw_value values[COUNTERS + 1] = {
        value_of(1000 * (launch + 1)),
        value_of(cycles),
        value_of(3 * cycles),
        {.form = CW_FORM_ONE, .rollup = {cycles, cycles, cycles, cycles}},
        value_of(odd_number(rank)),
        {.form = CW_FORM_NOT_COLLECTED},
        {.form = CW_FORM_INSTANCES, .instance_count = 1 + rank % 3, .instances = parts},
        value_of(cycles / 7)};
    values[COUNTERS] = value_of(cycles);
    snprintf(text, sizeof text, "%u", rank);
    const struct cw_range range = {.name = launch == 2 ? "a" : "b",
                                   .kernel = "_Z1kPf",
                                   .device = 0,
                                   .process = 5000 + rank,
                                   .context = 1,
                                   .stream = launch,
                                   .grid = {launch == 2 ? 2 : 1, 1, 1},
                                   .block = {256, 1, 1},
                                   .start_ns = 1700000000000000000 + rank * 1000 + launch,
                                   .end_ns = 1700000000000000500 + rank * 1001 + launch,
                                   .durations = durations,
                                   .attribute_count = 2,
                                   .attributes = about,
                                   .facts = facts};
    cw_counter_data_write_range(&schema, &range, values, to);
}

static struct cw_writer make_rank(uint32_t rank)
{
    struct cw_device_facts facts[COUNTERS] = {{0}};
    char pci[16];
    const struct cw_pair about[] = {{"name", "SMALL"},    {"chip", "SMALL"}, {"backend", "sim"},
                                    {"simulated", "yes"}, {"pci", pci},      {"slot", "900"}};
    const struct cw_device device = {.attribute_count = 6, .attributes = about, .facts = facts};
    const struct cw_gpu_clock readings[] = {{1700000000000000000, 1980, 2619, 0},
                                            {1700000000000000000 + rank, 1980, 2619, rank % 2}};
    struct cw_writer file;
    snprintf(pci, sizeof pci, "%04x", rank / 2);
    for (uint32_t c = 0; c < COUNTERS; c++)
        facts[c] = (struct cw_device_facts){4, {4, 1, 1, 1}};
    cw_writer_init(&file);
    cw_schema_write_header(&schema, &file);
    cw_schema_write(&schema, &file);
    cw_counter_data_write_device(&schema, &device, &file);
    for (uint32_t launch = 0; launch < LAUNCHES; launch++)
        write_launch(rank, launch, &file);
    cw_gpu_clocks_write(&(struct cw_gpu_clocks){0, 2, readings}, &file);
    cw_counter_data_write_end(LAUNCHES, 0, CW_END_EXITED, 0, &file);
    return file;
}

/* Merges them both ways. */
static void merge_ranks(uint32_t count)
{
    struct cw_writer files[RANKS];
    struct cw_merge_input inputs[RANKS];
    for (uint32_t i = 0; i < count; i++) {
        files[i] = make_rank(i);
        inputs[i] = (struct cw_merge_input){"rank", files[i].data, files[i].size};
    }
    cr_assert(cw_merge_dense(&dense, inputs, count, &err) == CW_OK, "%s", err.message);
    cr_assert(cw_merge_sparse(&sparse, inputs, count, &err) == CW_OK, "%s", err.message);
    for (uint32_t i = 0; i < count; i++)
        cw_writer_free(&files[i]);
}

/* ---- what comes back -------------------------------------------------------------------------------------------- */

Test(pack, holds_the_very_bytes)
{
    size_t packs;
    merge_ranks(RANKS);
    cr_assert(cw_unpack(&out, sparse.data, sparse.size, &packs));
    cr_expect(packs == 1);
    cr_expect(out.size == dense.size && memcmp(out.data, dense.data, dense.size) == 0);
    cr_expect(sparse.data[8] == 2 && dense.data[8] == 1, "the version says that there are packed chunks");
    cr_expect(sparse.size < dense.size / 15, "%zu of %zu bytes", sparse.size, dense.size);
}

Test(pack, is_left_alone_where_it_is_no_shorter)
{
    static const struct cw_schema bare = {.chip = "SMALL", .producer = "test", .profiler = CW_PROFILER_RANGE};
    const struct cw_range range = {.name = "a",
                                   .kernel = "a",
                                   .context = 0x123456789abcdef,
                                   .start_ns = 0x123456789abcdef,
                                   .stream = 0x123456789abcdef,
                                   .end_ns = 0xf23456789abcdef};
    cw_schema_write_header(&bare, &out);
    cw_schema_write(&bare, &out);
    cw_counter_data_write_device(&bare, &(struct cw_device){.index = 0}, &out);
    cw_counter_data_write_range(&bare, &range, NULL, &out);
    const struct cw_merge_input one = {"sample", out.data, out.size};
    cr_assert(cw_merge_dense(&dense, &one, 1, &err) == CW_OK);
    cr_assert(cw_merge_sparse(&sparse, &one, 1, &err) == CW_OK);
    cr_expect(sparse.size == dense.size && memcmp(sparse.data, dense.data, dense.size) == 0);
}

Test(pack, ranks_alike_take_the_least_that_a_reader_takes)
{
    struct cw_writer file = make_rank(0);
    static struct cw_merge_input inputs[1500];
    for (size_t i = 0; i < 1500; i++)
        inputs[i] = (struct cw_merge_input){"rank", file.data, file.size};
    size_t packs;
    cr_assert(cw_merge_dense(&dense, inputs, 1500, &err) == CW_OK);
    cr_assert(cw_merge_sparse(&sparse, inputs, 1500, &err) == CW_OK);
    cr_expect(sparse.size > dense.size / CW_PACK_TIMES_MAX && sparse.size < dense.size / 100, "%zu of %zu", sparse.size,
              dense.size);
    cr_expect(cw_unpack(&out, sparse.data, sparse.size, &packs) && out.size == dense.size);
    cw_writer_free(&file);
}

enum { TURNS = 1000 };

/* Launches whose values go by turns, of two kernels by turns or of one. */
static size_t packed_by_turns(bool names, bool shapes)
{
    static const double durations[] = {1000, NAN};
    static const struct cw_device_facts facts[COUNTERS];
    const struct cw_device device = {.facts = facts};
    struct cw_writer file;
    cw_writer_init(&file);
    cw_schema_write_header(&schema, &file);
    cw_schema_write(&schema, &file);
    cw_counter_data_write_device(&schema, &device, &file);
    for (uint32_t i = 0; i < TURNS; i++) {
        struct cw_value values[COUNTERS + 1];
        for (uint32_t c = 0; c <= COUNTERS; c++)
            values[c] = value_of(12345.5 * (1 + i % 2) + c);
        const struct cw_range range = {.name = names && i % 2 ? "a" : "b",
                                       .kernel = names && i % 2 ? "a" : "b",
                                       .process = 1,
                                       .grid = {1, 1, shapes && i % 2 ? 2 : 1},
                                       .block = {256, 1, 1},
                                       .start_ns = 1000 * i,
                                       .end_ns = 1000 * i + 500,
                                       .durations = durations};
        cw_counter_data_write_range(&schema, &range, values, &file);
    }
    cw_counter_data_write_end(TURNS, 0, CW_END_EXITED, 0, &file);
    const struct cw_merge_input one = {"turns", file.data, file.size};
    sparse.size = 0;
    cr_assert(cw_merge_sparse(&sparse, &one, 1, &err) == CW_OK, "%s", err.message);
    cw_writer_free(&file);
    return sparse.size;
}

Test(pack, launches_of_a_kernel_are_packed_together)
{
    const size_t one = packed_by_turns(false, false), names = packed_by_turns(true, false),
                 shapes = packed_by_turns(false, true);
    cr_expect(names + TURNS < one && shapes + TURNS < one, "%zu, %zu and %zu bytes", one, names, shapes);
}

/* Any range, in any order, as in the file that is not packed. */
Test(pack, is_read_piece_by_piece)
{
    struct cw_counter_data whole, data;
    struct cw_range_view view;
    merge_ranks(RANKS);
    const struct cw_input input = cw_input_of(sparse.data, sparse.size, "sparse");
    cr_assert(cw_counter_data_read(&whole, dense.data, dense.size, "dense", arena, &err) == CW_OK);
    cr_assert(cw_counter_data_open(&data, &input, arena, &err) == CW_OK, "%s", err.message);
    cr_assert(cw_range_view_init(&view, &data, arena, &err) == CW_OK);
    cr_assert(data.range_count == whole.range_count && data.device_count == whole.device_count && data.complete);
    cr_assert(data.clocks_count == whole.clocks_count && data.device_count == RANKS / 2);
    for (uint32_t k = 0; k < data.range_count; k++) {
        const uint32_t i = k * 389 % data.range_count; /* each once */
        const struct cw_range *range = &whole.ranges[i];
        cr_assert(cw_range_view_load(&view, 0, &i, 1) == CW_OK);
        cr_expect(view.data.ranges[0].start_ns == range->start_ns && view.data.ranges[0].process == range->process);
        cr_expect(strcmp(cw_range_attribute(&view.data.ranges[0], "rank"), cw_range_attribute(range, "rank")) == 0);
        for (uint32_t c = 0; c < cw_schema_columns(&whole.schema); c++)
            for (int r = 0; r < CW_ROLLUP_COUNT; r++)
                cr_expect(memcmp(&view.data.rollups[r][c], &whole.rollups[r][(size_t)c * whole.range_count + i], 8) ==
                          0);
        cr_expect(view.data.facts[0] == whole.facts[i]);
    }
    cw_range_view_free(&view);
}

/* Launches of some ranks, without reading the others. */
Test(pack, some_ranks_are_read_alone)
{
    struct cw_counter_data all, some;
    merge_ranks(RANKS);
    const struct cw_input input = cw_input_of(sparse.data, sparse.size, "sparse");
    cr_assert(cw_counter_data_read(&all, dense.data, dense.size, "dense", arena, &err) == CW_OK);
    cr_assert(cw_counter_data_open_ranks(&some, &input, "7,150-151", arena, &err) == CW_OK, "%s", err.message);
    cr_expect(some.range_count == 3 * LAUNCHES && some.complete);
    cr_assert(cw_counter_data_load(&some, arena, &err) == CW_OK, "%s", err.message);
    for (uint32_t i = 0; i < some.range_count; i++) {
        const uint32_t rank = (const uint32_t[]){7, 150, 151}[i / LAUNCHES], from = rank * LAUNCHES + i % LAUNCHES;
        cr_expect(some.ranges[i].process == 5000 + rank && some.ranges[i].start_ns == all.ranges[from].start_ns);
        for (uint32_t c = 0; c < cw_schema_columns(&all.schema); c++)
            cr_expect(memcmp(&some.rollups[CW_MAX][(size_t)c * some.range_count + i],
                             &all.rollups[CW_MAX][(size_t)c * all.range_count + from], 8) == 0);
    }
    cr_assert(cw_counter_data_open_ranks(&some, &input, "200-4000000000", arena, &err) == CW_OK);
    cr_expect(some.range_count == 0 && some.device_count == 0);
}

static bool holds_any_of(const char *ranks)
{
    struct cw_edit_chunk at;
    struct cw_reader file;
    struct cw_pack pack = {0};
    size_t index = 0;
    while (cw_edit_find(sparse.data, sparse.size, index, &at) && at.type != CW_CHUNK_PACK)
        index++;
    cr_assert(cw_edit_find(sparse.data, sparse.size, index, &at));
    const struct cw_chunk chunk = {.type = at.type,
                                   .offset = at.offset,
                                   .payload = sparse.data + at.offset + CW_CHUNK_HEADER_SIZE,
                                   .size = at.size};
    cw_reader_init(&file, sparse.data, sparse.size, "sparse", 0, &err);
    cr_assert_eq(cw_pack_open(&pack, &chunk, ranks, &file), CW_OK, "%s", err.message);
    const bool holds = cw_pack_has_more(&pack);
    cw_pack_free(&pack);
    return holds;
}

/* What all devices say, and no rank is, costs no reading of records. */
Test(pack, a_number_that_is_no_rank_is_left_at_once)
{
    merge_ranks(5);
    cr_expect(holds_any_of("4") && holds_any_of("900,2"));
    cr_expect(!holds_any_of("900") && !holds_any_of("5-899"));
}

Test(pack, packed_files_are_merged_and_packed_again)
{
    struct cw_writer again;
    merge_ranks(RANKS);
    cw_writer_init(&again);
    const struct cw_merge_input one = {"sparse", sparse.data, sparse.size};
    cr_assert(cw_merge_dense(&out, &one, 1, &err) == CW_OK);
    cr_expect(out.size == dense.size && memcmp(out.data, dense.data, dense.size) == 0);
    cr_assert(cw_merge_sparse(&again, &one, 1, &err) == CW_OK);
    cr_expect(again.size == sparse.size && memcmp(again.data, sparse.data, sparse.size) == 0);
    cw_writer_free(&again);
}

Test(pack, a_file_that_ends_in_a_pack_keeps_what_is_before_it)
{
    struct cw_counter_data data;
    merge_ranks(RANKS);
    cr_assert(cw_counter_data_read(&data, sparse.data, sparse.size - 100, "cut", arena, &err) == CW_OK);
    cr_expect(!data.complete && data.range_count == 0);
}

/* Packs the chunks behind the header, of these types or of all others. */
static void pack_some(struct cw_writer *to, const char *type, bool those)
{
    struct cw_packer *packer = cw_packer_create(&schema);
    struct cw_writer chunks, packed;
    struct cw_edit_chunk c;
    cw_writer_init(&chunks);
    cw_writer_init(&packed);
    cw_write_bytes(&chunks, dense.data, CW_FILE_HEADER_SIZE);
    for (size_t i = 3; cw_edit_find(dense.data, dense.size, i, &c); i++)
        if (c.type != CW_CHUNK_TYPE('E', 'N', 'D', 'C') &&
            (c.type == CW_CHUNK_TYPE(type[0], type[1], type[2], type[3])) == those)
            cw_write_bytes(&chunks, dense.data + c.offset, CW_CHUNK_HEADER_SIZE + c.size);
    cr_assert(cw_packer_take(packer, chunks.data, chunks.size, &packed) == CW_OK);
    cr_assert(cw_packer_finish(packer, &packed) == CW_OK);
    cw_write_bytes(to, packed.data + CW_FILE_HEADER_SIZE, packed.size - CW_FILE_HEADER_SIZE);
    cw_packer_destroy(packer);
    cw_writer_free(&chunks);
    cw_writer_free(&packed);
}

/* One pack has the devices and another the ranges: what is damaged costs what is in it, and what needs that. */
Test(pack, damage_costs_the_pack_that_it_is_in)
{
    static const struct {
        size_t damaged; /* a chunk */
        uint32_t devices, ranges;
    } cases[] = {{3, 0, 0}, {4, 10, 0}, {0, 10, 60}};
    merge_ranks(20);
    struct cw_edit_chunk c;
    cr_assert(cw_edit_find(dense.data, dense.size, 3, &c));
    cw_write_bytes(&out, dense.data, c.offset);
    pack_some(&out, "DEVC", true);
    pack_some(&out, "DEVC", false);
    cw_counter_data_write_end(60, 0, CW_END_EXITED, 0, &out);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cw_counter_data data;
        struct cw_writer again;
        size_t packs;
        cw_writer_init(&again);
        cr_assert(cw_edit_find(out.data, out.size, cases[i].damaged, &c));
        if (cases[i].damaged)
            out.data[c.offset + 50] ^= 1;
        cr_assert(cw_counter_data_read(&data, out.data, out.size, "x.cwd", arena, &err) == CW_OK, "%s", err.message);
        cr_expect(data.device_count == cases[i].devices && data.range_count == cases[i].ranges);
        cr_expect(data.complete == !cases[i].damaged && data.damage.ranges == 60 - cases[i].ranges);
        const struct cw_merge_input one = {"x.cwd", out.data, out.size};
        dense.size = sparse.size = 0;
        cr_assert(cw_merge_dense(&dense, &one, 1, &err) == CW_OK, "%s", err.message);
        cr_assert(cw_merge_sparse(&sparse, &one, 1, &err) == CW_OK);
        cr_expect(cw_unpack(&again, sparse.data, sparse.size, &packs) && again.size == dense.size &&
                  memcmp(again.data, dense.data, dense.size) == 0);
        if (cases[i].damaged)
            out.data[c.offset + 50] ^= 1;
        cw_writer_free(&again);
    }
}

/* Back to the pack that is open, and from there on into the next. */
Test(pack, ranges_of_two_packs_are_read_in_any_order)
{
    enum { ALL = 120 };
    struct cw_counter_data data;
    struct cw_range_view view;
    struct cw_edit_chunk c;
    merge_ranks(20);
    cr_assert(cw_edit_find(dense.data, dense.size, 3, &c));
    cw_write_bytes(&out, dense.data, c.offset);
    pack_some(&out, "DEVC", true);
    pack_some(&out, "DEVC", false);
    pack_some(&out, "DEVC", false);
    cw_counter_data_write_end(ALL, 0, CW_END_EXITED, 0, &out);
    const struct cw_input input = cw_input_of(out.data, out.size, "packs");
    cr_assert(cw_counter_data_open(&data, &input, arena, &err) == CW_OK, "%s", err.message);
    cr_assert(cw_range_view_init(&view, &data, arena, &err) == CW_OK && view.room == ALL);
    for (uint32_t first = 0; first < ALL; first++) {
        uint32_t list[ALL + 2] = {first, first / 2}, count = 2;
        for (uint32_t i = first / 2 + 1; i < ALL && count < ALL; i += 7)
            list[count++] = i;
        cr_assert(cw_range_view_load(&view, 0, list, count) == CW_OK, "%s", err.message);
        for (uint32_t i = 0; i < count; i++) {
            const uint32_t rank = list[i] % 60 / LAUNCHES, launch = list[i] % LAUNCHES;
            cr_assert(view.ranges[i].start_ns == 1700000000000000000u + rank * 1000 + launch, "%u of %u", i, first);
        }
    }
    cw_range_view_free(&view);
}

static enum cw_status merge_few(struct cw_arena *own, struct cw_error *e)
{
    struct cw_writer to;
    struct cw_counter_data data;
    const struct cw_merge_input one = {"dense", dense.data, dense.size};
    cw_writer_init(&to);
    enum cw_status status = cw_merge_sparse(&to, &one, 1, e);
    if (status == CW_OK)
        status = cw_counter_data_read(&data, to.data, to.size, "sparse", own, e);
    cw_writer_free(&to);
    return status;
}

Test(pack, tells_of_every_allocation_that_fails)
{
    merge_ranks(20);
    const long failed = cw_alloc_fail_each(merge_few);
    cr_expect(failed > 60, "%ld", failed);
}

/* ---- what it is not to be --------------------------------------------------------------------------------------- */

static void put_text(struct cw_writer *to, const char *text)
{
    cw_write_u32(to, (uint32_t)strlen(text));
    cw_write_bytes(to, text, strlen(text));
}

/* A group of `rows` attributes: one key and one value, which is one of `texts`. */
static void put_group(struct cw_writer *to, uint32_t rows, uint32_t type)
{
    cw_write_u32(to, rows);
    cw_write_u32(to, 1);
    cw_write_u32(to, type);
    cw_write_u32(to, 1);
    cw_write_u32(to, 2);
    cw_write_varint(to, 1 << 3 | CW_PACK_U32);
    cw_write_varint(to, 2 << 3 | CW_PACK_TEXT);
}

struct bad {
    const char *expected;
    uint32_t records, rows, texts;
    const char *type;
    uint8_t columns[24];
    size_t size;
};

static enum cw_status read_bad(const struct bad *b)
{
    struct cw_pack pack = {0};
    struct cw_chunk chunk;
    struct cw_reader file;
    out.size = 0;
    cw_write_u32(&out, b->records);
    cw_write_u32(&out, b->texts);
    for (uint32_t i = 0; i < b->texts; i++)
        put_text(&out, i ? "a value" : "key");
    cw_write_u32(&out, 1);
    put_group(&out, b->rows, CW_CHUNK_TYPE(b->type[0], b->type[1], b->type[2], b->type[3]));
    cw_write_bytes(&out, b->columns, b->size);
    cw_reader_init(&file, NULL, 1000, "x.cwd", 0, &err);
    err = (struct cw_error)CW_ERROR_INIT;
    chunk = (struct cw_chunk){.type = CW_CHUNK_PACK, .offset = 100, .payload = out.data, .size = out.size};
    enum cw_status status = cw_pack_open(&pack, &chunk, NULL, &file);
    while (status == CW_OK && cw_pack_has_more(&pack))
        status = cw_pack_next(&pack, &chunk, &file);
    cw_pack_free(&pack);
    return status;
}

Test(pack, says_what_is_wrong)
{
    /* three columns: how many pairs, the key and the value; then the order */
    static const struct bad all[] = {
        {NULL, 2, 2, 2, "RATT", {0, 1, 0, 0, 1, 0, 1, 1, 0, 0}, 10},
        {"found 3 records in groups, expected 2", 2, 3, 2, "RATT", {0, 1, 0, 0, 0, 1, 0, 0}, 8},
        {"found record 1 in group 1", 2, 2, 2, "RATT", {0, 1, 0, 0, 0, 1, 1, 0, 1, 2}, 10},
        {"found chunk PACK with flags 1 in chunk PACK", 2, 2, 2, "PACK", {0, 1, 0, 0, 0, 1, 0, 0}, 8},
        {"found chunk ENDC with flags 1 in chunk PACK", 2, 2, 2, "ENDC", {0, 1, 0, 0, 0, 1, 0, 0}, 8},
        {"found form 5 of a field of kind 1", 2, 2, 2, "RATT", {5, 1, 0, 0, 0, 1, 0, 0}, 8},
        {"found form 2 of a field of kind 1", 2, 2, 2, "RATT", {2, 1, 0, 0, 0, 0, 1, 0, 0}, 9},
        {"found form 16 of a field of kind 1", 2, 2, 2, "RATT", {16, 1, 0, 0, 0, 1, 0, 0}, 8},
        {"found field 0 to follow the one 1 before it", 2, 2, 2, "RATT", {4, 1, 1, 1, 0, 0, 0, 1, 0, 0}, 10},
        {"found numbers of 65 bits", 2, 2, 2, "RATT", {1, 0, 65, 0, 0, 0, 0, 0, 0}, 9},
        {"found 0 different numbers", 2, 2, 2, "RATT", {3, 0, 0, 0, 0, 0, 0, 0}, 8},
        {"found a record in chunk PACK with a number or text that the pack lacks",
         2,
         2,
         2,
         "RATT",
         {0, 1, 0, 0, 0, 2, 0, 0},
         8},
        {"found a record in chunk PACK with a number or text that the pack lacks",
         2,
         2,
         2,
         "RATT",
         {0, 1, 0, 0, 3, 3, 0, 1, 0, 3, 0, 0},
         12},
        {"found data after the records", 2, 2, 2, "RATT", {0, 1, 0, 0, 0, 1, 0, 0, 7}, 9},
        {"bytes or more in a chunk PACK of 60", 60000, 60000, 2, "RATT", {0, 1, 0, 0, 0, 1, 0, 0}, 8},
        {"bytes or more in a chunk PACK of 60", 250, 250, 2, "RATT", {0, 1, 0, 9, 0, 9, 0, 0}, 8},
        {"found a count of 70000 records", 70000, 1, 2, "RATT", {0, 1, 0, 0, 0, 1, 0, 0}, 8},
        {"found a group without records", 0, 0, 2, "RATT", {0, 1, 0, 0, 0, 1, 0, 0}, 8},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const enum cw_status status = read_bad(&all[i]);
        cr_expect(status == (all[i].expected ? CW_ERR_INPUT : CW_OK), "%zu: %d %s", i, status, err.message);
        cr_expect(!all[i].expected || strstr(err.message, all[i].expected), "%zu: %s", i, err.message);
    }
}

/* No byte that is changed takes more than its message. */
Test(pack, takes_any_byte)
{
    struct cw_edit_chunk pack;
    merge_ranks(5);
    size_t index = 0;
    while (cw_edit_find(sparse.data, sparse.size, index, &pack) && pack.type != CW_CHUNK_PACK)
        index++;
    cr_assert(cw_edit_find(sparse.data, sparse.size, index, &pack));
    for (size_t i = 0; i < pack.size; i++) {
        struct cw_arena *own = cw_arena_create();
        struct cw_counter_data data;
        const uint8_t was = sparse.data[pack.offset + 24 + i];
        sparse.data[pack.offset + 24 + i] = (uint8_t)(was ^ (1 << i % 8));
        cw_edit_fix_checksums(sparse.data, sparse.size);
        err = (struct cw_error)CW_ERROR_INIT;
        const enum cw_status status = cw_counter_data_read(&data, sparse.data, sparse.size, "x.cwd", own, &err);
        cr_expect(status == CW_OK || status == CW_ERR_INPUT);
        cr_expect(!err.has_offset || err.offset <= sparse.size);
        sparse.data[pack.offset + 24 + i] = was;
        cw_arena_destroy(own);
    }
}
