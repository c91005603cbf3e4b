#define _GNU_SOURCE
#include <string.h>

#include <jansson.h>

#include "eval/compare/timeline_as_ranges.h"
#include "eval/output/chrome.h"
#include "eval/output/comparison.h"
#include "eval/output/perfetto.h"
#include "eval/output/timeline_lanes.h"
#include "eval/output/timeline_output.h"
#include "image/chunk.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/no_child.h"
#include "tests/support/chunk_edit.h"

/* Touches every value, so that the sanitizers see a bad pointer or length. */
static uint64_t check_rows(const struct cw_trace *trace, const struct cw_trace_rows *rows)
{
    const struct cw_trace_kind_read *kind = &trace->kinds[rows->kind];
    uint64_t sum = 0;
    CW_FUZZ_CHECK(rows->count > 0 && rows->count <= CW_TRACE_ROWS_MAX && rows->process < trace->process_count);
    for (uint32_t f = 0; f < kind->field_count; f++)
        for (uint32_t i = 0; i < rows->count; i++) {
            const uint64_t value = rows->columns[f][i];
            sum += value;
            if (kind->fields[f].type == CW_TRACE_TEXT)
                CW_FUZZ_CHECK(value == 0 || value < trace->processes[rows->process].text_count);
        }
    for (int f = 0; f < CW_FIELD__COUNT; f++)
        sum += cw_trace_get(rows, (enum cw_trace_field)f, rows->count - 1);
    return sum;
}

static void check_directory(const struct cw_trace *trace, const struct cw_counter_data *data)
{
    size_t length = 0;
    for (uint32_t p = 0; p < trace->process_count; p++) {
        for (uint32_t i = 0; i < trace->processes[p].text_count; i++)
            length += strlen(cw_trace_text(trace, p, i));
        for (uint32_t i = 0; i < trace->processes[p].device_count; i++)
            CW_FUZZ_CHECK(trace->processes[p].devices[i].device < data->device_count);
    }
    for (uint32_t k = 0; k < trace->kind_count; k++)
        CW_FUZZ_CHECK(trace->kinds[k].field_count <= CW_TRACE_KIND_FIELDS_MAX);
    volatile size_t used = length;
    (void)used;
}

static enum cw_status read_rows(const struct cw_trace *trace, struct cw_error *err)
{
    struct cw_trace_buffer buffer = {0};
    enum cw_status status = CW_OK;
    uint64_t sum = 0;
    for (size_t b = 0; b < trace->block_count && status == CW_OK; b++) {
        struct cw_trace_rows rows;
        status = cw_trace_read_rows(&rows, trace, b, &buffer, err);
        if (status == CW_OK)
            sum += check_rows(trace, &rows);
    }
    cw_trace_buffer_free(&buffer);
    volatile uint64_t used = sum;
    (void)used;
    return status;
}

static void check_timeline(const struct cw_timeline *t)
{
    for (uint32_t i = 0; i < t->gpu_count; i++) {
        CW_FUZZ_CHECK(t->gpu[i].stream < t->stream_count && t->gpu[i].name < t->name_count);
        CW_FUZZ_CHECK(t->gpu[i].call == CW_TIMELINE_NONE || t->gpu[i].call < t->call_count);
    }
    for (uint32_t i = 0; i < t->call_count; i++)
        CW_FUZZ_CHECK(t->calls[i].thread < t->thread_count && t->calls[i].path < t->path_count);
}

/* What metric-eval does with it, up to its last line of output. */
static void put_timeline(const struct cw_timeline *t, struct cw_arena *arena)
{
    static const struct cw_terminal_style style = {.width = 80, .bold = true};
    static FILE *nowhere;
    struct cw_timeline_sections sections;
    struct cw_timeline_rows rows[CW_TIMELINE_BY__COUNT];
    struct cw_timeline_tables *tables = NULL;
    struct cw_output output = {.data = t->data, .source = "fuzz"};
    struct cw_error err = CW_ERROR_INIT;
    if (!nowhere)
        nowhere = fopen("/dev/null", "w");
    CW_FUZZ_CHECK(nowhere && cw_timeline_sections_make(&sections, t, NULL, 0, arena, &err) == CW_OK);
    for (enum cw_timeline_by by = 0; by < CW_TIMELINE_BY__COUNT; by++)
        CW_FUZZ_CHECK(cw_timeline_rows_make(&rows[by], t, by, NULL, true, 0, arena, &err) == CW_OK);
    const struct cw_timeline_output people = {
        .t = t, .source = "fuzz", .list = &rows[CW_TIMELINE_BY_KERNEL], .sections = &sections};
    cw_timeline_print(&people, &style, nowhere);
    cw_timeline_show(t, nowhere, &err);
    CW_FUZZ_CHECK(cw_timeline_tables_make(&tables, &output, t, NULL, UINT64_MAX, arena, &err) == CW_OK);
    CW_FUZZ_CHECK(cw_csv_write(nowhere, &output, &err) == CW_OK);
    CW_FUZZ_CHECK(cw_json_write(nowhere, &output, &err) == CW_OK);
    cw_timeline_tables_free(tables);
}

static void put_perfetto(const struct cw_timeline *t, struct cw_arena *arena)
{
    static FILE *nowhere;
    uint64_t crowded;
    struct cw_error err = CW_ERROR_INIT;
    if (!nowhere)
        nowhere = fopen("/dev/null", "w");
    struct cw_perfetto *perfetto = nowhere ? cw_perfetto_create(nowhere) : NULL;
    CW_FUZZ_CHECK(perfetto);
    CW_FUZZ_CHECK(cw_timeline_write_lanes(t, NULL, NULL, &cw_perfetto_format, perfetto, &crowded, arena, &err) ==
                  CW_OK);
    CW_FUZZ_CHECK(cw_perfetto_is_whole(perfetto));
    cw_perfetto_free(perfetto);
}

/* It is JSON, whatever names are. Of many events the text is beyond the budget, which is one of reading. */
static void put_chrome(const struct cw_timeline *t, struct cw_arena *arena)
{
    enum { MOST = 10000 };
    uint64_t crowded;
    struct cw_error err = CW_ERROR_INIT;
    char *text = NULL;
    size_t size = 0;
    if ((uint64_t)t->gpu_count + t->call_count + t->wait_count + t->range_count + t->mark_count > MOST)
        return;
    FILE *out = open_memstream(&text, &size);
    struct cw_chrome *chrome = out ? cw_chrome_create(out, t) : NULL;
    CW_FUZZ_CHECK(chrome);
    CW_FUZZ_CHECK(cw_timeline_write_lanes(t, NULL, NULL, &cw_chrome_format, chrome, &crowded, arena, &err) == CW_OK);
    CW_FUZZ_CHECK(cw_chrome_finish(chrome) == CW_OK);
    cw_chrome_free(chrome);
    CW_FUZZ_CHECK(fclose(out) == 0);
    json_t *tree = json_loadb(text, size, JSON_DECODE_INT_AS_REAL, NULL); /* times may be beyond its integers */
    CW_FUZZ_CHECK(tree);
    json_decref(tree);
    free(text);
}

/* A trace beside itself, as ranges. */
static void compare_timeline(const struct cw_timeline *t, struct cw_arena *arena)
{
    static const struct cw_eval_options options = {0};
    static FILE *nowhere;
    struct cw_counter_data gpu, nvtx;
    struct cw_comparison of, ranges;
    struct cw_error err = CW_ERROR_INIT;
    CW_FUZZ_CHECK(cw_timeline_as_ranges(&gpu, t, true, NULL, arena, &err) == CW_OK);
    CW_FUZZ_CHECK(cw_timeline_nvtx_as_ranges(&nvtx, t, NULL, arena, &err) == CW_OK);
    const struct cw_result a = {.chip = &cw_timeline_no_chip, .data = &gpu, .source = "fuzz"};
    struct cw_result b = a;
    b.data = &nvtx;
    CW_FUZZ_CHECK(cw_compare(&of, &a, &a, NULL, CW_BY_KERNEL, true, &options, arena, &err) == CW_OK);
    CW_FUZZ_CHECK(cw_compare(&ranges, &b, &b, NULL, CW_BY_KERNEL, true, &options, arena, &err) == CW_OK);
    const struct cw_diff_output output = {.of = &of, .top = 10, .traces = true, .ranges = &ranges};
    if (!nowhere)
        nowhere = fopen("/dev/null", "w");
    CW_FUZZ_CHECK(nowhere && cw_diff_print(nowhere, &output, &err) == CW_OK);
}

static void parse(const uint8_t *bytes, size_t size)
{
    struct cw_arena *arena = cw_arena_create();
    struct cw_counter_data data;
    struct cw_trace trace;
    struct cw_timeline timeline;
    struct cw_error err = CW_ERROR_INIT;
    cw_fuzz_answer = bytes + size / 2;
    cw_fuzz_answer_size = size - size / 2;
    enum cw_status status = cw_counter_data_read(&data, bytes, size, "fuzz", arena, &err);
    if (status == CW_OK)
        status = cw_trace_read(&trace, data.devices, data.device_count, bytes, size, "fuzz", arena, &err);
    if (status == CW_OK) {
        check_directory(&trace, &data);
        status = read_rows(&trace, &err);
    }
    if (status == CW_OK) {
        status = cw_timeline_load(&timeline, &trace, &data, size, arena, &err);
        if (status == CW_OK) {
            check_timeline(&timeline);
            compare_timeline(&timeline, arena);
            put_timeline(&timeline, arena);
            put_perfetto(&timeline, arena);
            put_chrome(&timeline, arena);
        }
        cw_timeline_free(&timeline);
    }
    CW_FUZZ_CHECK(status == CW_OK || status == CW_ERR_INPUT);
    CW_FUZZ_CHECK(status == err.code);
    cw_arena_destroy(arena);
}

/* What a program sends its agent. */
static void decode(const uint8_t *bytes, size_t size)
{
    struct cw_trace_buffer buffer = {0};
    struct cw_trace_rows rows;
    struct cw_reader in;
    struct cw_error err = CW_ERROR_INIT;
    cw_reader_init(&in, bytes, size, "fuzz", 0, &err);
    const enum cw_status status = cw_trace_rows_decode(&rows, &in, 3, &buffer);
    CW_FUZZ_CHECK(status == CW_OK || status == CW_ERR_INPUT);
    cw_trace_buffer_free(&buffer);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    parse(bytes, size);
    decode(bytes, size);
    uint8_t *fixed = malloc(size ? size : 1);
    if (!fixed)
        return 0;
    memcpy(fixed, bytes, size);
    cw_edit_fix_checksums(fixed, size);
    parse(fixed, size);
    free(fixed);
    return 0;
}
