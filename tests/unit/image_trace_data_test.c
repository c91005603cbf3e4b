#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/varint.h"
#include "image/counter_data.h"
#include "image/data_chunks.h"
#include "image/provenance.h"
#include "image/trace_data.h"
#include "tests/support/chunk_edit.h"

static struct cw_arena *arena;
static struct cw_writer file;
static struct cw_counter_data data;
static struct cw_trace trace;
static struct cw_trace_buffer buffer;
static struct cw_error err;
static char text[1200];

enum { ROWS = 5000, FIELDS_AT_MOST = CW_TRACE_KIND_FIELDS_MAX };
static uint64_t values[FIELDS_AT_MOST][CW_TRACE_ROWS_MAX];
static const uint64_t *columns[FIELDS_AT_MOST];

enum { SCHM, TKND, DEVC, TPRC, TSTR, TREC, TREC2, HEADER = 24 };

static const char *const texts[] = {"gemm", "HtoD", "pageable"};

static void write_head(void)
{
    static const struct cw_pair attributes[] = {{"program", "train"}};
    static const struct cw_trace_device devices[] = {{0, 4}};
    const struct cw_schema schema = {.chip = "GH100", .producer = "test", .profiler = CW_PROFILER_TRACE};
    const struct cw_device device = {.index = 4};
    const struct cw_trace_process process = {
        .pid = 77, .attribute_count = 1, .attributes = attributes, .device_count = 1, .devices = devices};
    cw_schema_write_header(&schema, &file);
    cw_schema_write(&schema, &file);
    cw_trace_write_kinds(&file);
    cw_counter_data_write_device(&schema, &device, &file);
    cw_trace_write_process(0, &process, &file);
    cw_trace_write_texts(0, 1, texts, 3, &file);
}

/* Rows of a loop of kernels: what is alike in all, what grows, and what repeats. */
static void fill(enum cw_trace_kind kind, uint32_t count)
{
    for (uint32_t f = 0; f < cw_trace_kinds[kind].field_count; f++) {
        const enum cw_trace_type type = cw_trace_fields[cw_trace_kinds[kind].fields[f]].type;
        for (uint32_t i = 0; i < count; i++)
            values[f][i] = type == CW_TRACE_TEXT ? i % 4
                           : f == 0              ? 1700000000000000000u + 7919u * i
                           : f == 1              ? values[0][i] + 1000 + i % 37
                           : f % 5 == 2          ? CW_TRACE_UNKNOWN
                           : f % 5 == 3          ? (uint64_t)i * i * 0x123456789abcdefu
                                                 : i / 100;
        columns[f] = values[f];
    }
}

static void write_kind(enum cw_trace_kind kind, uint32_t count, bool plain)
{
    fill(kind, count);
    cw_trace_write_rows(0, kind, count, columns, plain, &file);
}

static void set_up(void)
{
    arena = cw_arena_create();
    cw_writer_init(&file);
    write_head();
}

static void tear_down(void)
{
    cw_arena_destroy(arena);
    cw_writer_free(&file);
    cw_trace_buffer_free(&buffer);
}

TestSuite(trace_data, .init = set_up, .fini = tear_down);

static enum cw_status read_bytes(const struct cw_writer *from)
{
    err = (struct cw_error)CW_ERROR_INIT;
    enum cw_status status = cw_counter_data_read(&data, from->data, from->size, "t.cwd", arena, &err);
    if (status == CW_OK)
        status = cw_trace_read(&trace, data.devices, data.device_count, from->data, from->size, "t.cwd", arena, &err);
    struct cw_trace_rows rows;
    for (size_t b = 0; b < trace.block_count && status == CW_OK; b++)
        status = cw_trace_read_rows(&rows, &trace, b, &buffer, &err);
    cw_error_format(&err, text, sizeof text);
    return status;
}

static void check_rows(size_t block, enum cw_trace_kind kind, uint32_t count)
{
    struct cw_trace_rows rows;
    cr_assert(cw_trace_read_rows(&rows, &trace, block, &buffer, &err) == CW_OK);
    cr_assert(rows.count == count && trace.kinds[rows.kind].kind == kind);
    fill(kind, count);
    for (uint32_t f = 0; f < cw_trace_kinds[kind].field_count; f++)
        for (uint32_t i = 0; i < count; i++)
            cr_assert(cw_trace_get(&rows, (enum cw_trace_field)cw_trace_kinds[kind].fields[f], i) == values[f][i],
                      "%s, field %u, row %u", cw_trace_kinds[kind].name, f, i);
}

Test(trace_data, every_kind_comes_back)
{
    for (int k = 0; k < CW_TRACE_KIND__COUNT; k++) {
        write_kind((enum cw_trace_kind)k, 1 + ROWS / (uint32_t)(k + 1), false);
        write_kind((enum cw_trace_kind)k, 1, true);
    }
    cr_assert(read_bytes(&file) == CW_OK, "%s", text);
    cr_assert(trace.block_count == 2 * CW_TRACE_KIND__COUNT && trace.process_count == 1);
    cr_assert(trace.processes[0].pid == 77);
    cr_assert_str_eq(cw_trace_text(&trace, 0, 1), "gemm");
    cr_assert_str_eq(cw_trace_text(&trace, 0, 0), "");
    cr_assert(cw_trace_device(&trace, 0, 0) == 0 && cw_trace_device(&trace, 0, 1) == CW_NO_TRACE_DEVICE);
    for (int k = 0; k < CW_TRACE_KIND__COUNT; k++) {
        check_rows(2 * (size_t)k, (enum cw_trace_kind)k, 1 + ROWS / (uint32_t)(k + 1));
        check_rows(2 * (size_t)k + 1, (enum cw_trace_kind)k, 1);
    }
}

/* Columns that one row alone makes unequal, written either way. */
Test(trace_data, one_row_may_differ)
{
    enum { COUNT = 5 };
    struct cw_trace_rows rows;
    for (uint32_t other = 0; other < COUNT; other++)
        for (int plain = 0; plain < 2; plain++) {
            for (int f = 0; f < 5; f++) {
                for (uint32_t i = 0; i < COUNT; i++)
                    values[f][i] = f == 2 ? i == other : 70000000000 + (i == other);
                columns[f] = values[f];
            }
            cw_trace_write_rows(0, CW_TRACE_OPENMP, COUNT, columns, plain, &file);
        }
    cr_assert(read_bytes(&file) == CW_OK && trace.block_count == 2 * COUNT, "%s", text);
    for (uint32_t block = 0; block < 2 * COUNT; block++) {
        cr_assert(cw_trace_read_rows(&rows, &trace, block, &buffer, &err) == CW_OK && rows.count == COUNT);
        for (uint32_t i = 0; i < COUNT; i++) {
            const bool differs = i == block / 2;
            cr_expect(cw_trace_get(&rows, CW_FIELD_START, i) == 70000000000u + differs, "block %u, row %u", block, i);
            cr_expect(cw_trace_get(&rows, CW_FIELD_COUNT, i) == 70000000000u + differs, "block %u, row %u", block, i);
            cr_expect(cw_trace_get(&rows, CW_FIELD_TYPE, i) == differs, "block %u, row %u", block, i);
        }
    }
}

/* Fields up to the last that is wanted, in the order of the kind; the others are not known. */
Test(trace_data, some_fields_are_read)
{
    bool wanted[CW_FIELD__COUNT] = {false};
    struct cw_trace_rows rows;
    write_kind(CW_TRACE_KERNEL, 10, false);
    cr_assert(read_bytes(&file) == CW_OK, "%s", text);
    for (uint32_t last = 0; last < cw_trace_kinds[CW_TRACE_KERNEL].field_count; last++) {
        memset(wanted, 0, sizeof wanted);
        wanted[cw_trace_kinds[CW_TRACE_KERNEL].fields[last]] = true;
        wanted[CW_FIELD_NOTE] = true; /* a kernel has none */
        cr_assert(cw_trace_read_some(&rows, &trace, 0, wanted, &buffer, &err) == CW_OK && rows.count == 10);
        fill(CW_TRACE_KERNEL, 10);
        for (uint32_t f = 0; f < cw_trace_kinds[CW_TRACE_KERNEL].field_count; f++) {
            const enum cw_trace_field field = (enum cw_trace_field)cw_trace_kinds[CW_TRACE_KERNEL].fields[f];
            for (uint32_t i = 0; i < 10; i++)
                cr_expect(cw_trace_get(&rows, field, i) ==
                              (f <= last ? values[f][i] : cw_trace_unknown(cw_trace_fields[field].type)),
                          "field %u of %u, row %u", f, last, i);
        }
    }
}

/* As the agent takes them, without a file. */
Test(trace_data, rows_are_decoded_alone)
{
    struct cw_edit_chunk chunk;
    struct cw_reader in;
    struct cw_trace_rows rows;
    write_kind(CW_TRACE_COPY, 6, false);
    cr_assert(cw_edit_find(file.data, file.size, TREC, &chunk));
    uint8_t *payload = file.data + chunk.offset + HEADER;
    cw_reader_init(&in, payload, chunk.size, "", 0, &err);
    cr_assert(cw_trace_rows_decode(&rows, &in, 4, &buffer) == CW_OK, "%s", err.message);
    cr_assert(rows.process == 0 && rows.kind == CW_TRACE_COPY && rows.count == 6);
    fill(CW_TRACE_COPY, 6);
    for (uint32_t f = 0; f < cw_trace_kinds[CW_TRACE_COPY].field_count; f++)
        for (uint32_t i = 0; i < 6; i++)
            cr_expect(cw_trace_get(&rows, (enum cw_trace_field)cw_trace_kinds[CW_TRACE_COPY].fields[f], i) ==
                      values[f][i]);
    err = (struct cw_error)CW_ERROR_INIT;
    cw_reader_init(&in, payload, chunk.size, "", 0, &err);
    cr_expect(cw_trace_rows_decode(&rows, &in, 3, &buffer) == CW_ERR_INPUT && strstr(err.message, "found text 3"), "%s",
              err.message);
    cw_store_u32(payload + 8, 0);
    err = (struct cw_error)CW_ERROR_INIT;
    cw_reader_init(&in, payload, chunk.size, "", 0, &err);
    cr_expect(cw_trace_rows_decode(&rows, &in, 4, &buffer) == CW_ERR_INPUT && strstr(err.message, "found 0 rows"), "%s",
              err.message);
    cw_store_u32(payload + 4, CW_TRACE_KIND__COUNT);
    err = (struct cw_error)CW_ERROR_INIT;
    cw_reader_init(&in, payload, chunk.size, "", 0, &err);
    cr_expect(cw_trace_rows_decode(&rows, &in, 4, &buffer) == CW_ERR_INPUT && strstr(err.message, "of rows, expected"),
              "%s", err.message);
}

/* All equal rows would cost a reader far more than their bytes: they take a byte for 64 values at least. */
Test(trace_data, equal_rows_are_not_too_dense)
{
    for (int f = 0; f < FIELDS_AT_MOST; f++) {
        memset(values[f], 0, sizeof values[f]);
        columns[f] = values[f];
    }
    for (int plain = 0; plain < 2; plain++) { /* the first column takes all its words, and each other one number */
        const size_t before = file.size, others = cw_trace_kinds[CW_TRACE_KERNEL].field_count - 1u;
        cw_trace_write_rows(0, CW_TRACE_KERNEL, CW_TRACE_ROWS_MAX, columns, plain, &file);
        cr_expect_eq(file.size - before, HEADER + 12 + 1 + 8 * CW_TRACE_ROWS_MAX + 2 * others);
        const size_t few = file.size; /* of few rows each is one number */
        cw_trace_write_rows(0, CW_TRACE_KERNEL, 3, columns, plain, &file);
        cr_expect_eq(file.size - few, HEADER + 12 + 2 + 2 * others);
    }
    cr_assert(read_bytes(&file) == CW_OK, "%s", text);
}

Test(trace_data, a_process_gets_more_texts_and_devices)
{
    static const char *const more[] = {"wait"};
    static const struct cw_trace_device devices[] = {{0, 4}, {1, 4}};
    const struct cw_trace_process process = {.pid = 77, .device_count = 2, .devices = devices};
    cw_trace_write_process(0, &process, &file);
    cw_trace_write_process(1, &process, &file);
    cw_trace_write_texts(0, 4, more, 1, &file);
    cr_assert(read_bytes(&file) == CW_OK, "%s", text);
    cr_assert(trace.process_count == 2 && trace.processes[0].text_count == 5 && trace.processes[1].text_count == 0);
    cr_assert_str_eq(cw_trace_text(&trace, 0, 4), "wait");
    cr_assert(cw_trace_device(&trace, 0, 1) == 0);
}

/* A file that dies keeps the rows before, and one of a later version keeps kinds and fields that are not known. */
Test(trace_data, a_cut_file_and_an_unknown_kind)
{
    static const uint8_t kinds[] = {1, 0, 0, 0, 4, 0, 0, 0,   'n', 'o', 'v', 'a', 1,
                                    0, 0, 0, 5, 0, 0, 0, 's', 't', 'a', 'r', 't', 1};
    uint8_t rows[] = {0, 0, 0, 0, CW_TRACE_KIND__COUNT, 0, 0, 0, 3, 0, 0, 0, 0, 9};
    struct cw_writer more, whole;
    cw_writer_init(&more);
    cw_writer_init(&whole);
    write_kind(CW_TRACE_KERNEL, 10, false);
    cw_edit_insert(&more, &file, 6, "TKND", CW_CHUNK_OPTIONAL, kinds, sizeof kinds);
    cw_edit_insert(&whole, &more, 7, "TREC", CW_CHUNK_OPTIONAL, rows, sizeof rows);
    cr_assert(read_bytes(&whole) == CW_OK, "%s", text);
    const struct cw_trace_kind_read *kind = &trace.kinds[CW_TRACE_KIND__COUNT];
    cr_assert(kind->kind == CW_TRACE_KIND__COUNT && kind->rows == 3 && strcmp(kind->name, "nova") == 0);
    struct cw_trace_rows read;
    cr_assert(cw_trace_read_rows(&read, &trace, 1, &buffer, &err) == CW_OK);
    cr_assert(read.columns[0][2] == 9 && cw_trace_get(&read, CW_FIELD_START, 1) == 9);
    whole.size -= 3;
    cr_assert(read_bytes(&whole) == CW_OK && !data.complete && trace.block_count == 1);
    cw_writer_free(&more);
    cw_writer_free(&whole);
}

/* A field that has another type in the file is not the one that is known by this name. */
Test(trace_data, a_known_field_of_another_type)
{
    static const uint8_t kinds[] = {1, 0, 0, 0, 4, 0, 0, 0,   'n', 'o', 'v', 'a', 1,
                                    0, 0, 0, 5, 0, 0, 0, 's', 't', 'a', 'r', 't', CW_TRACE_NUMBER};
    static const uint8_t rows[] = {0, 0, 0, 0, CW_TRACE_KIND__COUNT, 0, 0, 0, 3, 0, 0, 0, 0, 9};
    static const bool all[CW_FIELD__COUNT] = {[CW_FIELD_START] = true};
    struct cw_writer more, whole;
    struct cw_trace_rows read;
    cw_writer_init(&more);
    cw_writer_init(&whole);
    cw_edit_insert(&more, &file, TREC, "TKND", CW_CHUNK_OPTIONAL, kinds, sizeof kinds);
    cw_edit_insert(&whole, &more, TREC + 1, "TREC", CW_CHUNK_OPTIONAL, rows, sizeof rows);
    cr_assert(read_bytes(&whole) == CW_OK, "%s", text);
    cr_assert(cw_trace_read_rows(&read, &trace, 0, &buffer, &err) == CW_OK);
    cr_expect(read.columns[0][2] == 9 && cw_trace_get(&read, CW_FIELD_START, 2) == 0);
    cr_assert(cw_trace_read_some(&read, &trace, 0, all, &buffer, &err) == CW_OK);
    cr_expect(read.count == 3 && cw_trace_get(&read, CW_FIELD_START, 2) == 0);
    cw_writer_free(&more);
    cw_writer_free(&whole);
}

/* Before the type of signed numbers a priority, which was always known, and a payload, of which -1 was none, were
 * numbers. */
Test(trace_data, signed_fields_of_older_files)
{
    static const uint8_t kinds[] = {2,   0,   0,   0,   4,   0,   0,   0,   'n', 'o', 'v', 'a', 2,   0,   0,   0, 8,
                                    0,   0,   0,   'p', 'r', 'i', 'o', 'r', 'i', 't', 'y', 0,   7,   0,   0,   0, 'p',
                                    'a', 'y', 'l', 'o', 'a', 'd', 0,   4,   0,   0,   0,   'm', 'o', 'r', 'e', 1, 0,
                                    0,   0,   7,   0,   0,   0,   'p', 'a', 'y', 'l', 'o', 'a', 'd', 7};
    /* both columns: the numbers less those before, -1 and -1 */
    static const uint8_t old[] = {0, 0, 0, 0, CW_TRACE_KIND__COUNT, 0, 0, 0, 2, 0, 0, 0, 2, 1, 1, 2, 1, 1},
                         now[] = {0, 0, 0, 0, CW_TRACE_KIND__COUNT + 1, 0, 0, 0, 2, 0, 0, 0, 2, 1, 1};
    struct cw_writer more, rows, whole;
    cw_writer_init(&more);
    cw_writer_init(&rows);
    cw_writer_init(&whole);
    cw_edit_insert(&more, &file, 5, "TKND", CW_CHUNK_OPTIONAL, kinds, sizeof kinds);
    cw_edit_insert(&rows, &more, 6, "TREC", CW_CHUNK_OPTIONAL, old, sizeof old);
    cw_edit_insert(&whole, &rows, 7, "TREC", CW_CHUNK_OPTIONAL, now, sizeof now);
    cr_assert(read_bytes(&whole) == CW_OK, "%s", text);
    struct cw_trace_rows read;
    cr_assert(cw_trace_read_rows(&read, &trace, 0, &buffer, &err) == CW_OK);
    cr_expect_eq((int64_t)cw_trace_get(&read, CW_FIELD_PRIORITY, 0), -1);
    cr_expect_eq((int64_t)cw_trace_get(&read, CW_FIELD_PRIORITY, 1), -2);
    cr_expect_eq(cw_trace_get(&read, CW_FIELD_PAYLOAD, 0), CW_TRACE_SIGNED_UNKNOWN);
    cr_expect_eq((int64_t)cw_trace_get(&read, CW_FIELD_PAYLOAD, 1), -2);
    cr_assert(cw_trace_read_rows(&read, &trace, 1, &buffer, &err) == CW_OK);
    cr_expect_eq((int64_t)cw_trace_get(&read, CW_FIELD_PAYLOAD, 0), -1);
    cr_expect_eq(cw_trace_get(&read, CW_FIELD_PRIORITY, 0), CW_TRACE_SIGNED_UNKNOWN);
    cw_writer_free(&more);
    cw_writer_free(&rows);
    cw_writer_free(&whole);
}

static void refused(size_t chunk, size_t size, const char *payload, const char *message)
{
    struct cw_writer edited;
    struct cw_edit_chunk found;
    cw_writer_init(&edited);
    cr_assert(cw_edit_find(file.data, file.size, chunk, &found));
    cw_edit_replace(&edited, &file, chunk, payload, size);
    cr_assert(read_bytes(&edited) == CW_ERR_INPUT, "chunk %zu was taken: %s", chunk, message);
    cr_assert(strstr(text, message), "found: %s\nexpected: %s", text, message);
    cw_writer_free(&edited);
}

Test(trace_data, what_makes_no_sense_is_refused)
{
#define P "\0\0\0\0"
#define ONE "\1\0\0\0"
    write_kind(CW_TRACE_OPENMP, 1, false);
    refused(TPRC, 4, "\2\0\0\0", "found process 2, expected 0 or one before it");
    refused(TPRC, 20, P P P ONE "\0\0\0\0", "found a count of 1 devices of a process, expected at most the 0");
    refused(TPRC, 24, P P P ONE P "\7\0\0\0", "found a process on device 7, expected one with a DEVC chunk");
    refused(TSTR, 12, "\3\0\0\0" ONE P, "processes");
    refused(TSTR, 12, P "\2\0\0\0" P, "found texts from number 2 on, expected 1");
    refused(TREC, 12, ONE P ONE, "found rows of process 1, expected one of 1 before");
    refused(TREC, 12, P "\377\0\0\0" ONE, "found rows of kind 255, expected one of");
    refused(TREC, 12, P P P, "found 0 rows of 16 fields in 12 bytes, expected 1 to 65536 rows");
    refused(TREC, 12, P P "\377\377\0\0", "found 65535 rows of 16 fields in 12 bytes");
    /* the rows of an OpenMP region: start, end, type, thread, count */
    const char head[] = {0, 0, 0, 0, CW_TRACE_OPENMP, 0, 0, 0, 2, 0, 0, 0};
    static const struct {
        const char *columns, *message;
        size_t size;
    } wrong[] = {
        {"\7", "found form 7 of a column, expected one below 7", 1},
        {"\3", "found form 3 of a column", 1},
        {"\1\200", "found the end of the data in a varint", 2},
        {"\1\377\377\377\377\377\377\377\377\377\2", "found a varint of more than 64 bits", 11},
        {"\5\3\1", "found a run of 3 rows, expected 1 to 2", 3},
        {"\5\0\1", "found a run of 0 rows", 3},
        {"\5\1\1\2\1", "found a run of 2 rows, expected 1 to 1", 5},
        {"\4\0", "found 0 different values, expected 1 to 256", 2},
        {"\4\1\5\0\1", "found value 1 of 1", 5},
        {"\6\1\2\3", "found 3 bytes, expected 2 numbers of 8 bytes", 4},
        {"\0\1\0\1\0\11", "found text 9, expected one of the 4 of its process", 6},
        {"\0\1\0\1\0\1\0\1\0\1\0", "found 1 bytes after", 11},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char payload[64];
        memcpy(payload, head, sizeof head);
        memcpy(payload + sizeof head, wrong[i].columns, wrong[i].size);
        refused(TREC, sizeof head + wrong[i].size, payload, wrong[i].message);
    }
}

/* The rows of OpenMP regions, in columns that each suit one form; `different` values in one of them. */
static size_t write_forms(uint32_t count, uint32_t different)
{
    uint64_t odd = 1;
    for (uint32_t i = 0; i < count; i++) {
        odd = odd * 6364136223846793005u + 1442695040888963407u;
        values[0][i] = 1700000000000000000u + 1000000007 * (uint64_t)i * i;
        values[1][i] = values[0][i] + 500 + i % 2;                     /* near the column before */
        values[2][i] = i >= 200;                                       /* two runs */
        values[3][i] = i < different ? odd : values[3][i % different]; /* few of many bytes */
        values[4][i] = odd;                                            /* any */
    }
    for (int f = 0; f < 5; f++)
        columns[f] = values[f];
    const size_t before = file.size;
    cw_trace_write_rows(0, CW_TRACE_OPENMP, count, columns, false, &file);
    return file.size - before - HEADER - 12;
}

/* Each column takes the bytes of its shortest form, and one that says which. */
Test(trace_data, columns_are_in_their_shortest_form)
{
    enum { COUNT = 3000 };
    const size_t size = write_forms(COUNT, 256), more = write_forms(COUNT, 257);
    size_t wanted = 5 + 2 + 1 + 2 + 1 + 8 * COUNT; /* forms, two runs of 200 and 2,800, and words */
    uint64_t last = 0;
    for (uint32_t i = 0; i < COUNT; i++) {
        wanted += cw_varint_size((values[0][i] - last) << 1) + cw_varint_size((values[1][i] - values[0][i]) << 1);
        last = values[0][i];
    }
    cr_expect(more == wanted + 8 * COUNT, "%zu and not %zu: 257 values are too many for indices", more,
              wanted + 8 * COUNT);
    wanted += 2 + COUNT;
    for (uint32_t i = 0; i < 256; i++)
        wanted += cw_varint_size(values[3][i]);
    cr_expect(size == wanted, "%zu and not %zu", size, wanted);
    cr_assert(read_bytes(&file) == CW_OK, "%s", text);
    for (size_t block = 0; block < 2; block++) {
        struct cw_trace_rows rows;
        cr_assert(cw_trace_read_rows(&rows, &trace, block, &buffer, &err) == CW_OK && rows.count == COUNT);
        write_forms(COUNT, block ? 257 : 256);
        for (int f = 0; f < 5; f++)
            cr_expect(memcmp(rows.columns[f], values[f], COUNT * sizeof(uint64_t)) == 0, "column %d", f);
    }
}

/* Few large values by turns, for which indices are the shortest form, and another in one row. */
static uint64_t few(uint32_t i, uint32_t row, uint64_t other)
{
    return i == row ? other : i % 3 ? 0x123456789abcdef0u + i % 3 : 0xfedcba9876543210u;
}

Test(trace_data, a_value_of_one_row_is_among_the_few)
{
    enum { COUNT = 40 };
    static const uint64_t others[] = {0, 1, UINT64_MAX, 1000};
    struct cw_trace_rows rows;
    for (uint32_t b = 0; b < 4 * COUNT; b++) {
        const size_t before = file.size, least = 4 + 5 * 1 + 9 + 9 + 10 + COUNT;
        for (int f = 0; f < 5; f++) {
            for (uint32_t i = 0; i < COUNT; i++)
                values[f][i] = f == 3 ? few(i, b % COUNT, others[b / COUNT]) : 1;
            columns[f] = values[f];
        }
        cw_trace_write_rows(0, CW_TRACE_OPENMP, COUNT, columns, false, &file);
        cr_expect_eq(file.size - before - HEADER - 12, least + 1 + cw_varint_size(others[b / COUNT]));
    }
    cr_assert(read_bytes(&file) == CW_OK && trace.block_count == 4 * COUNT, "%s", text);
    for (uint32_t b = 0; b < 4 * COUNT; b++) {
        cr_assert(cw_trace_read_rows(&rows, &trace, b, &buffer, &err) == CW_OK);
        for (uint32_t i = 0; i < COUNT; i++)
            cr_assert(rows.columns[3][i] == few(i, b % COUNT, others[b / COUNT]), "block %u, row %u", b, i);
    }
}

/* Equal values are one number, whatever their count, and varints where they are few. */
Test(trace_data, equal_and_small_values_take_a_byte)
{
    for (uint32_t count = 1; count <= 300; count += 299) {
        for (uint32_t i = 0; i < count; i++)
            for (int f = 0; f < 5; f++)
                values[f][i] = f == 3 ? 1 + (i * i * 7 + i / 3) % 127 : 1;
        for (int f = 0; f < 5; f++)
            columns[f] = values[f];
        const size_t before = file.size;
        cw_trace_write_rows(0, CW_TRACE_OPENMP, count, columns, false, &file);
        cr_expect(file.size - before == HEADER + 12 + 5 + 4 + count, "%zu", file.size - before);
    }
}

/* The kernels of a loop: 24 bytes each at most. */
Test(trace_data, rows_take_few_bytes)
{
    static uint64_t row[FIELDS_AT_MOST][ROWS];
    const struct cw_trace_kind_info *kind = &cw_trace_kinds[CW_TRACE_KERNEL];
    uint64_t now = 1700000000000000000u;
    srand(1);
    for (uint32_t i = 0; i < ROWS; i++) {
        now += 3000 + (uint32_t)rand() % 4000;
        for (uint32_t f = 0; f < kind->field_count; f++)
            row[f][i] = CW_TRACE_UNKNOWN;
        row[0][i] = now;
        row[1][i] = now + 1500 + (uint32_t)rand() % 50000;
        row[2][i] = 0;
        row[3][i] = 1;
        row[4][i] = 7;
        row[5][i] = 5 * i + (uint32_t)rand() % 4;
        row[6][i] = (uint32_t)rand() % 90;
        row[7][i] = row[8][i] = 0;
        row[12][i] = (uint32_t)rand() % 4; /* a text */
    }
    for (uint32_t f = 0; f < kind->field_count; f++)
        columns[f] = row[f];
    const size_t before = file.size;
    cw_trace_write_rows(0, CW_TRACE_KERNEL, ROWS, columns, false, &file);
    cr_assert(read_bytes(&file) == CW_OK, "%s", text);
    cr_assert((file.size - before) / ROWS <= 12, "%zu bytes a row", (file.size - before) / ROWS);
}

Test(trace_data, what_a_trace_tells_of_its_process)
{
    const struct cw_provenance_fact *facts;
    uint32_t count;
    write_kind(CW_TRACE_KERNEL, 3, false);
    const struct cw_input input = cw_input_of(file.data, file.size, "t.cwd");
    cr_assert(cw_counter_data_open(&data, &input, arena, &err) == CW_OK, "%s", err.message);
    cr_assert(cw_provenance_read(&facts, &count, &data, arena, &err) == CW_OK, "%s", err.message);
    uint32_t told = 0;
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(facts[i].name, "process") == 0) {
            cr_expect(facts[i].value_count == 1 && facts[i].chunk == CW_CHUNK_TRACE_PROCESS);
            cr_expect_str_eq(facts[i].values[0], "77");
            told++;
        }
    cr_expect(told == 1);
}

/* Three processes with a block of kernels and one of copies each; a kind's rows are those of the kept processes. */
Test(trace_data, some_processes_are_kept)
{
    for (uint32_t p = 0; p < 3; p++) {
        const struct cw_trace_process process = {.pid = 77 + p};
        if (p) {
            cw_trace_write_process(p, &process, &file);
            cw_trace_write_texts(p, 1, texts, 3, &file);
        }
        fill(CW_TRACE_EXTERNAL, 2 + p);
        cw_trace_write_rows(p, CW_TRACE_EXTERNAL, 2 + p, columns, false, &file);
        fill(CW_TRACE_OPENMP, 20);
        cw_trace_write_rows(p, CW_TRACE_EDGE, 10 * (p + 1), columns, false, &file);
    }
    for (unsigned wanted = 0; wanted < 8; wanted++) {
        const bool keep[] = {wanted & 1, wanted & 2, wanted & 4};
        uint32_t kept = 0, rows = 0, edges = 0;
        cr_assert(read_bytes(&file) == CW_OK, "%s", text);
        cr_assert(cw_trace_keep(&trace, keep, arena));
        for (uint32_t p = 0; p < 3; p++) {
            if (!keep[p])
                continue;
            cr_assert(kept < trace.process_count && 2 * kept + 1 < trace.block_count);
            cr_expect(trace.processes[kept].pid == 77 + p);
            for (uint32_t b = 0; b < 2; b++) {
                const struct cw_trace_block *block = &trace.blocks[2 * kept + b];
                cr_expect(block->process == kept && block->count == (b ? 10 * (p + 1) : 2 + p));
            }
            rows += 2 + p, edges += 10 * (p + 1), kept++;
        }
        cr_expect(trace.process_count == kept && trace.block_count == 2 * kept);
        cr_expect(trace.kind_count == CW_TRACE_KIND__COUNT);
        for (uint32_t k = 0; k < trace.kind_count; k++)
            cr_expect(trace.kinds[k].kind == k && trace.kinds[k].rows == (k == CW_TRACE_EXTERNAL ? rows
                                                                          : k == CW_TRACE_EDGE   ? edges
                                                                                                 : 0));
    }
}

Test(trace_data, units_of_fields)
{
    cr_expect_str_eq(cw_trace_field_unit(CW_FIELD_BYTES), "bytes");
    cr_expect_str_eq(cw_trace_field_unit(CW_FIELD_POWER), "mW");
    cr_expect(cw_trace_field_unit(CW_FIELD_STREAM) == NULL);
}

/* A kind without fields and one with a field without a name, in a chunk that has no more, and a text that is empty. */
Test(trace_data, the_smallest_items_are_taken)
{
    static const uint8_t bare[] = {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
                         field[] = {1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, CW_TRACE_NUMBER};
    static const char *const none = "";
    struct cw_writer more, whole;
    cw_writer_init(&more);
    cw_writer_init(&whole);
    cw_trace_write_texts(0, 4, &none, 1, &file);
    cw_edit_insert(&more, &file, TREC, "TKND", CW_CHUNK_OPTIONAL, bare, sizeof bare);
    cw_edit_insert(&whole, &more, TREC, "TKND", CW_CHUNK_OPTIONAL, field, sizeof field);
    cr_assert(read_bytes(&whole) == CW_OK, "%s", text);
    cr_assert(trace.kind_count == CW_TRACE_KIND__COUNT + 2 && trace.processes[0].text_count == 5);
    cr_expect(trace.kinds[CW_TRACE_KIND__COUNT].field_count + trace.kinds[CW_TRACE_KIND__COUNT + 1].field_count == 1);
    cw_writer_free(&more);
    cw_writer_free(&whole);
}
