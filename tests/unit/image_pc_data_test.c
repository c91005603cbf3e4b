#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/alloc_fail.h"
#include "tests/support/chunk_edit.h"
#include "tests/support/image_samples.h"

static struct cw_arena *arena;
static struct cw_pc_data data;
static struct cw_error err;
static struct cw_writer pc, sass;
static char text[1200];

enum { SCHM, DEVC, MODL, BATCH };

static void set_up(void)
{
    arena = cw_arena_create();
    cw_writer_init(&pc);
    cw_writer_init(&sass);
    cw_sample_pc_data(&pc, CW_PROFILER_PC, NULL, 0);
    cw_sample_pc_data(&sass, CW_PROFILER_SASS, NULL, 0);
    cr_assert(pc.status == CW_OK && sass.status == CW_OK);
}

static void tear_down(void)
{
    cw_arena_destroy(arena);
    cw_writer_free(&pc);
    cw_writer_free(&sass);
}

TestSuite(pc_data, .init = set_up, .fini = tear_down);

static enum cw_status read_bytes(const struct cw_writer *file)
{
    err = (struct cw_error)CW_ERROR_INIT;
    enum cw_status status = cw_pc_data_read(&data, file->data, file->size, "x.cwd", arena, &err);
    cw_error_format(&err, text, sizeof text);
    return status;
}

static void expect_instruction(const struct cw_instruction *a, const struct cw_instruction *b)
{
    cr_expect(a->module == b->module && a->pc == b->pc && a->symbol == b->symbol);
    cr_expect_str_eq(a->function, b->function);
}

Test(pc_data, samples_read_as_written)
{
    struct cw_pc_batch want = cw_sample_pc_batch();
    cr_assert(read_bytes(&pc) == CW_OK, "%s", text);
    cr_assert(data.module_count == 1 && data.pc_count == 2 && data.sass_count == 0);
    cr_expect(data.modules[0].crc == 0x1122334455667788 && data.modules[0].size == 4);
    const struct cw_pc_batch *b = &data.pc[1];
    cr_expect(b->device == want.device && b->process == want.process && b->start_ns == 1000 && b->end_ns == 2000);
    cr_expect(b->mode == want.mode && b->period == 31 && b->buffer_full);
    cr_expect(b->total == 100 && b->dropped == 9 && b->other == 11);
    cr_assert(b->reason_count == 3 && b->record_count == 3);
    for (uint32_t i = 0; i < 3; i++) {
        const struct cw_pc_record *r = &b->records[i], *w = &want.records[i];
        cr_expect_str_eq(b->reasons[i], want.reasons[i]);
        expect_instruction(&r->at, &w->at);
        cr_assert(r->launch == w->launch && r->stall_count == w->stall_count);
        for (uint32_t k = 0; k < r->stall_count; k++)
            cr_expect(r->stalls[k].reason == w->stalls[k].reason && r->stalls[k].samples == w->stalls[k].samples);
    }
}

/* Chunks of a device add up, also where they stand before its description. */
Test(pc_data, launches_that_were_not_counted_are_attributes_of_their_device)
{
    const struct cw_schema schema = {.chip = "GH100", .producer = "test", .profiler = CW_PROFILER_SASS};
    const struct cw_uncounted missed[] = {{.device = 0, .graphs = 9}, /* of no device that is described */
                                          {.device = 4, .graphs = 9},
                                          {.device = 2, .graphs = 4},
                                          {.device = 1, .kernels = 2, .example = "first", .others = 5},
                                          {.device = 1, .kernels = 1, .example = "later", .launchers = 1, .others = 2}};
    const struct cw_device devices[] = {{.index = 1}, {.index = 2}, {.index = 3}};
    struct cw_counter_data read;
    struct cw_writer file;
    cw_writer_init(&file);
    cw_chunk_write_header(&file, &cw_counter_data_kind);
    cw_schema_write(&schema, &file);
    for (size_t i = 0; i < sizeof missed / sizeof *missed; i++)
        cw_uncounted_chunk_write(&(struct cw_uncounted){missed[i].device, 7, missed[i].kernels,
                                                        missed[i].example ? missed[i].example : "", missed[i].graphs,
                                                        missed[i].launchers, missed[i].others},
                                 &file);
    for (size_t i = 0; i < 3; i++)
        cw_counter_data_write_device(&schema, &devices[i], &file);
    cw_counter_data_write_end(0, 0, CW_END_EXITED, 0, &file);
    cr_assert(cw_counter_data_read(&read, file.data, file.size, "x.cwd", arena, &err) == CW_OK);
    cr_assert_eq(read.device_count, 3);
    cr_expect_str_eq(cw_device_attribute(&read.devices[0], "launches_not_counted"),
                     "1 of kernels that launch others or work across GPUs, 7 of kernels that were not patched");
    cr_expect_str_eq(cw_device_attribute(&read.devices[0], "kernels_not_counted"), "3, such as first");
    cr_expect_str_eq(cw_device_attribute(&read.devices[1], "launches_not_counted"), "4 of CUDA graphs");
    cr_expect_null(cw_device_attribute(&read.devices[1], "kernels_not_counted"));
    cr_expect_eq(read.devices[2].attribute_count, 0);
    cw_writer_free(&file);
}

Test(pc_data, sums_of_what_was_not_counted_do_not_wrap)
{
    struct cw_uncounted sum = {.kernels = 1u << 31, .example = "first", .graphs = UINT64_MAX};
    cw_uncounted_add(&sum, &(struct cw_uncounted){.kernels = 1u << 31, .example = "later", .graphs = 2, .others = 3});
    cr_expect(sum.kernels == UINT32_MAX && sum.graphs == UINT64_MAX && sum.others == 3);
    cr_expect_str_eq(sum.example, "first");
}

/* Each of the reasons alone, and all. */
Test(pc_data, what_was_not_counted_in_words)
{
    static const struct {
        struct cw_uncounted of;
        bool any;
        const char *text;
    } cases[] = {
        {{.device = 1, .process = 2}, false, ""},
        {{.kernels = 1}, true, ""},
        {{.graphs = 1}, true, "1 of CUDA graphs"},
        {{.launchers = 2}, true, "2 of kernels that launch others or work across GPUs"},
        {{.others = 3}, true, "3 of kernels that were not patched"},
        {{.graphs = 4, .launchers = 5, .others = 6},
         true,
         "4 of CUDA graphs, 5 of kernels that launch others or work across GPUs, 6 of kernels that were not patched"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cr_expect(cw_uncounted_any(&cases[i].of) == cases[i].any, "%zu", i);
        cr_expect_str_eq(cw_uncounted_launches(&cases[i].of, arena), cases[i].text);
    }
}

Test(pc_data, sass_records_read_as_written)
{
    struct cw_sass_batch want = cw_sample_sass_batch();
    cr_assert(read_bytes(&sass) == CW_OK, "%s", text);
    cr_assert(data.module_count == 1 && data.pc_count == 0 && data.sass_count == 1);
    const struct cw_sass_batch *b = &data.sass[0];
    cr_expect(b->device == want.device && b->process == want.process && b->dropped == 4);
    cr_assert(b->metric_count == 2 && b->record_count == 2);
    for (uint32_t i = 0; i < 2; i++) {
        cr_expect_str_eq(b->metrics[i].name, want.metrics[i].name);
        cr_expect(b->metrics[i].level == want.metrics[i].level);
        expect_instruction(&b->records[i].at, &want.records[i].at);
        for (uint32_t m = 0; m < 2; m++) {
            cr_assert(b->records[i].counts[m] == want.records[i].counts[m]);
            for (uint32_t k = 0; k < want.records[i].counts[m]; k++)
                cr_expect(b->records[i].values[m][k] == want.records[i].values[m][k]);
        }
    }
}

Test(pc_data, readers_of_ranges_skip_them)
{
    struct cw_counter_data counters;
    cr_assert(cw_counter_data_read(&counters, pc.data, pc.size, "x.cwd", arena, &err) == CW_OK);
    cr_expect(counters.complete && counters.range_count == 0 && counters.dropped == 13);
    cr_expect(counters.schema.profiler == CW_PROFILER_PC);
}

/* Each payload cut anywhere, with its checksum made right, is refused. */
static void cut_everywhere(const struct cw_writer *file, size_t chunk)
{
    struct cw_edit_chunk at;
    cr_assert(cw_edit_find(file->data, file->size, chunk, &at));
    for (size_t size = 0; size < at.size; size++) {
        struct cw_writer cut;
        cw_writer_init(&cut);
        cw_edit_replace(&cut, file, chunk, file->data + at.offset + 24, size);
        cr_assert(read_bytes(&cut) == CW_ERR_INPUT, "payload of %zu bytes", size);
        cw_writer_free(&cut);
    }
}

Test(pc_data, payloads_that_end_early_are_refused)
{
    cut_everywhere(&pc, BATCH);
    cut_everywhere(&sass, BATCH);
}

Test(pc_data, a_file_cut_anywhere_keeps_its_whole_chunks)
{
    for (size_t size = 16; size < pc.size; size++) {
        struct cw_writer cut = pc;
        cut.size = size;
        cr_assert(read_bytes(&cut) == CW_OK, "%s", text);
        cr_expect(data.pc_count <= 2);
    }
}

/* One byte of the batch's payload. */
static void refuse_byte(const struct cw_writer *file, size_t at, uint8_t value, const char *expected)
{
    struct cw_edit_chunk chunk;
    struct cw_writer changed;
    cr_assert(cw_edit_find(file->data, file->size, BATCH, &chunk));
    uint8_t *payload = malloc(chunk.size);
    memcpy(payload, file->data + chunk.offset + 24, chunk.size);
    payload[at] = value;
    cw_writer_init(&changed);
    cw_edit_replace(&changed, file, BATCH, payload, chunk.size);
    cr_expect(read_bytes(&changed) == CW_ERR_INPUT);
    cr_expect(strstr(text, expected), "%s", text);
    cw_writer_free(&changed);
    free(payload);
}

Test(pc_data, fields_out_of_range_are_refused)
{
    refuse_byte(&pc, 24, 2, "found sampling mode 2, expected 0 (continuous) or 1 (serialized)");
    refuse_byte(&pc, 25, 32, "found sampling period 32, expected an exponent below 32");
    refuse_byte(&pc, 26, 2, "found a full buffer's flag 2, expected 0 or 1");
    refuse_byte(&pc, 54, 0xff, "stall reasons, expected at most");
    refuse_byte(&sass, 35, 0xff, "SASS metrics, expected at most");
    refuse_byte(&sass, 36 + 4 + 24, 3, "found level 3, expected 0 (GPU), 1 (SM) or 2 (SMSP)");
}

static const struct cw_writer *read_from;

static enum cw_status read_in(struct cw_arena *own, struct cw_error *why)
{
    return cw_pc_data_read(&data, read_from->data, read_from->size, "x", own, why);
}

Test(pc_data, every_failed_allocation_is_reported)
{
    const struct cw_writer *files[] = {&pc, &sass};
    for (int f = 0; f < 2; f++) {
        read_from = files[f];
        long count = cw_alloc_fail_each(read_in);
        cr_expect(count > 0 && count < 1000, "%ld allocations; an arena of a release build needs few", count);
    }
}

Test(pc_data, short_names_of_stall_reasons)
{
    static const char wait[] = "smsp__pcsamp_warps_issue_stalled_wait";
    cr_expect(cw_stall_reason_is(wait, "wait"));
    cr_expect(cw_stall_reason_is("smsp__pcsamp_warps_issue_stalled_wait_not_issued", "wait"));
    cr_expect(cw_stall_reason_is("smsp__pcsamp_warps_issue_stalled_wait_not_issued", "wait_not_issued"));
    cr_expect(cw_stall_reason_is(wait, wait));
    cr_expect_not(cw_stall_reason_is(wait, "wai"));
    cr_expect_not(cw_stall_reason_is(wait, "wait_not_issued"));
    cr_expect_not(cw_stall_reason_is("wait", "smsp"));
}

#define SAMPLED "smsp__pcsamp_warps_issue_stalled_"

Test(pc_data, legacy_names_of_stall_reasons)
{
    cr_expect_str_eq(cw_stall_reason_legacy(SAMPLED "wait"), CW_STALL_LEGACY "EXEC_DEPENDENCY");
    cr_expect_str_eq(cw_stall_reason_legacy(SAMPLED "wait_not_issued"), CW_STALL_LEGACY "EXEC_DEPENDENCY");
    cr_expect_str_eq(cw_stall_reason_legacy(SAMPLED "selected"), CW_STALL_LEGACY "NONE");
    cr_expect_str_eq(cw_stall_reason_legacy(SAMPLED "not_selected"), CW_STALL_LEGACY "NOT_SELECTED");
    cr_expect_null(cw_stall_reason_legacy(SAMPLED "gmma"));
    cr_expect_null(cw_stall_reason_legacy("wait"));
    cr_expect_null(cw_stall_reason_legacy(SAMPLED));
    cr_expect(cw_stall_reason_is(SAMPLED "short_scoreboard_not_issued", "EXEC_DEPENDENCY"));
    cr_expect(cw_stall_reason_is(SAMPLED "membar", CW_STALL_LEGACY "SYNC"));
    cr_expect_not(cw_stall_reason_is(SAMPLED "wait", "MEMORY_DEPENDENCY"));
    cr_expect_not(cw_stall_reason_is(SAMPLED "wait", "EXEC"));
    cr_expect_not(cw_stall_reason_is(SAMPLED "gmma", "NONE"));
}

Test(pc_data, samples_by_legacy_reasons)
{
    cr_assert(read_bytes(&pc) == CW_OK, "%s", text);
    cr_assert(cw_pc_data_use_legacy_reasons(&data, arena));
    cr_assert(data.pc_count == 2 && data.pc[1].reason_count == 3);
    cr_expect_str_eq(data.pc[1].reasons[0], CW_STALL_LEGACY "EXEC_DEPENDENCY");
    cr_expect_str_eq(data.pc[1].reasons[1], CW_STALL_LEGACY "EXEC_DEPENDENCY_not_issued");
    cr_expect_str_eq(data.pc[1].reasons[2], "µ");
}

static enum cw_status use_legacy_in(struct cw_arena *own, struct cw_error *why)
{
    CW_TRY(cw_pc_data_read(&data, pc.data, pc.size, "x", own, why));
    return cw_pc_data_use_legacy_reasons(&data, own) ? CW_OK : cw_error_nomem(why);
}

Test(pc_data, legacy_reasons_without_memory)
{
    cr_expect(cw_alloc_fail_each(use_legacy_in) > 0);
}

/* More chunks than the first room holds. */
Test(pc_data, many_batches)
{
    enum { BATCHES = 100 };
    const struct cw_schema schema = {.chip = "GH100", .producer = "test", .profiler = CW_PROFILER_PC};
    struct cw_writer file, payload;
    cw_writer_init(&file);
    cw_writer_init(&payload);
    cw_schema_write_header(&schema, &file);
    cw_schema_write(&schema, &file);
    for (uint32_t i = 0; i < BATCHES; i++) {
        payload.size = 0;
        cw_pc_batch_write(&(struct cw_pc_batch){.process = i}, &payload);
        cw_pc_chunk_write(payload.data, payload.size, &file);
    }
    cr_assert(read_bytes(&file) == CW_OK && data.pc_count == BATCHES, "%s", text);
    for (uint32_t i = 0; i < BATCHES; i++)
        cr_expect_eq(data.pc[i].process, i);
    cw_writer_free(&file);
    cw_writer_free(&payload);
}

/* Each list ends the batch, with items that are as small as can be. */
Test(pc_data, the_smallest_items_are_taken)
{
    const struct cw_stall stall = {0, 5};
    const char *const reason = "";
    struct cw_pc_record record = {.at.function = ""};
    struct cw_pc_batch batch = {.reason_count = 1, .reasons = &reason, .record_count = 1, .records = &record}, read;
    for (uint32_t stalls = 0; stalls < 2; stalls++) {
        struct cw_reader in;
        struct cw_writer out;
        cw_writer_init(&out);
        record.stall_count = stalls;
        record.stalls = &stall;
        cw_pc_batch_write(&batch, &out);
        cw_reader_init(&in, out.data, out.size, "x", 0, &err);
        cw_pc_batch_read(&read, &in, arena);
        cr_expect(in.status == CW_OK && in.pos == in.size && read.record_count == 1, "%s", err.message);
        cr_expect(read.records[0].stall_count == stalls);
        cw_writer_free(&out);
    }
    static const struct cw_sass_metric metrics[9] = {{"", CW_SASS_GPU}, {"", CW_SASS_GPU}, {"", CW_SASS_GPU},
                                                     {"", CW_SASS_GPU}, {"", CW_SASS_GPU}, {"", CW_SASS_GPU},
                                                     {"", CW_SASS_GPU}, {"", CW_SASS_GPU}, {"", CW_SASS_SM}};
    const uint64_t value = 7, *const values[9] = {&value, &value, &value, &value, &value,
                                                  &value, &value, &value, &value};
    for (uint32_t records = 0; records < 2; records++)
        for (uint32_t count = 0; count < 2; count++) {
            const uint32_t counts[9] = {0, 0, 0, 0, 0, 0, 0, 0, count};
            const struct cw_sass_record of = {{.function = ""}, counts, values};
            const struct cw_sass_batch some = {
                .metric_count = 9, .metrics = metrics, .record_count = records, .records = &of};
            struct cw_sass_batch back;
            struct cw_reader in;
            struct cw_writer out;
            cw_writer_init(&out);
            cw_sass_batch_write(&some, &out);
            cw_reader_init(&in, out.data, out.size, "x", 0, &err);
            cw_sass_batch_read(&back, &in, arena);
            cr_expect(in.status == CW_OK && in.pos == in.size, "%s", err.message);
            cr_expect(back.metric_count == 9 && back.metrics[8].level == CW_SASS_SM && back.record_count == records);
            cr_expect(!records || back.records[0].counts[8] == count);
            cw_writer_free(&out);
        }
}

/* Names that are equal, at the same place or not, are written once as long as they follow one another. */
Test(pc_data, a_function_is_named_once_for_its_records)
{
    static const char first[] = "gemm", again[] = "gemm";
    const struct cw_pc_record records[] = {{.at.function = first},
                                           {.at.function = again},
                                           {.at.function = "other"},
                                           {.at.function = first},
                                           {.at.function = first}};
    struct cw_pc_batch read;
    struct cw_reader in;
    struct cw_writer out;
    cw_writer_init(&out);
    cw_pc_batch_write(&(struct cw_pc_batch){.record_count = 5, .records = records}, &out);
    cr_expect_eq(out.size, 51 + 4 + 4 + (4 + 4) + (4 + 5) + (4 + 4) + 4 + 5 * 32, "%zu", out.size);
    cw_reader_init(&in, out.data, out.size, "x", 0, &err);
    cw_pc_batch_read(&read, &in, arena);
    cr_assert(in.status == CW_OK && read.record_count == 5);
    for (uint32_t i = 0; i < 5; i++)
        cr_expect_str_eq(read.records[i].at.function, records[i].at.function);
    cw_writer_free(&out);
}

Test(pc_data, names_shorter_than_the_mark_of_a_twin)
{
    cr_expect(!cw_stall_reason_is_twin("") && !cw_stall_reason_is_twin("not_issued"));
    cr_expect(cw_stall_reason_is_twin("_not_issued") && cw_stall_reason_is_twin("x_not_issued"));
    cr_expect(!cw_stall_reason_is_twin("x_not_issued_"));
}

static enum cw_status read_uncounted(struct cw_arena *own, struct cw_error *why)
{
    struct cw_counter_data of;
    return cw_counter_data_read(&of, sass.data, sass.size, "x", own, why);
}

Test(pc_data, no_memory_for_what_was_not_counted_is_told)
{
    const long count = cw_alloc_fail_each(read_uncounted);
    cr_expect(count > 3, "allocation %ld", -1 - count);
}

Test(pc_data, no_memory_for_writing_is_told)
{
    const struct cw_pc_batch batch = cw_sample_pc_batch();
    const struct cw_sass_batch metrics = cw_sample_sass_batch();
    long n = 0;
    for (bool failed = true; failed; n++) {
        struct cw_writer out;
        cw_writer_init(&out);
        cw_alloc_fail_after(n);
        cw_pc_batch_write(&batch, &out);
        cw_sass_batch_write(&metrics, &out);
        failed = cw_alloc_failed();
        cw_alloc_fail_after(-1);
        cr_expect(out.status == (failed ? CW_ERR_NOMEM : CW_OK), "allocation %ld", n);
        cw_writer_free(&out);
    }
    cr_expect(n > 3);
}
