/* The texts of each chunk of a capture, as redaction and provenance take them. */
#include <criterion/criterion.h>
#include <string.h>

#include "image/capture_texts.h"
#include "image/data_chunks.h"
#include "tests/support/chunk_edit.h"
#include "tests/support/image_samples.h"
#include "tests/support/merge_memory.h"

static struct cw_arena *arena;
static struct cw_writer file, taken, out;
static struct cw_counter_data data;
static struct cw_trace trace;
static struct cw_error err;

static void set_up(void)
{
    arena = cw_arena_create();
    cw_writer_init(&file);
    cw_writer_init(&taken);
    cw_writer_init(&out);
    err = (struct cw_error)CW_ERROR_INIT;
}

static void tear_down(void)
{
    cw_arena_destroy(arena);
    cw_writer_free(&file);
    cw_writer_free(&taken);
    cw_writer_free(&out);
}

TestSuite(capture_texts, .init = set_up, .fini = tear_down);

Test(capture_texts, a_type_is_shown_in_letters)
{
    char shown[5];
    cr_expect_str_eq(cw_chunk_type_text(CW_CHUNK_TYPE('A', 'b', '!', '9'), shown), "Ab!9");
    cr_expect_str_eq(cw_chunk_type_text(CW_CHUNK_TYPE(0x1f, 0x20, 0x7e, 0x7f), shown), "? ~?");
    cr_expect_str_eq(cw_chunk_type_text(CW_CHUNK_TYPE(0, 0x80, 0xff, '\n'), shown), "????");
}

static const char *keep(void *user, const struct cw_text_fact *fact, const char *text)
{
    static const char *const cares[] = {"kept", "without paths", "private"};
    (void)user;
    cw_write_format(&taken, "%s (%s): %s\n", fact->name, cares[fact->care], text);
    return text;
}

static const char *shorten(void *user, const struct cw_text_fact *fact, const char *text)
{
    (void)user;
    (void)fact;
    return *text ? "-" : "";
}

static const char *fail(void *user, const struct cw_text_fact *fact, const char *text)
{
    (void)fact;
    return --*(int *)user < 0 ? NULL : text;
}

static enum cw_status take(const struct cw_edit_chunk *of, uint8_t *const *uses, cw_text_take *by, void *user)
{
    const struct cw_chunk chunk = {.type = of->type,
                                   .flags = of->flags,
                                   .offset = of->offset,
                                   .payload = file.data + of->offset + CW_CHUNK_HEADER_SIZE,
                                   .size = of->size};
    cw_writer_free(&out);
    cw_writer_init(&out);
    return cw_capture_texts_take(&chunk, uses, by, user, &out);
}

/* Each chunk of the file whose texts stay has the same bytes; each lack of memory is said. The texts are `wanted`. */
static void expect_texts(uint8_t *const *uses, const char *wanted)
{
    struct cw_edit_chunk chunk;
    taken.size = 0;
    for (size_t n = 0; cw_edit_find(file.data, file.size, n, &chunk); n++) {
        char type[5];
        cw_chunk_type_text(chunk.type, type);
        const size_t before = taken.size;
        cr_assert(take(&chunk, uses, keep, NULL) == CW_OK);
        cr_expect(out.size == chunk.size && memcmp(out.data, file.data + chunk.offset + 24, out.size) == 0, "%s", type);
        int texts = 0;
        for (size_t i = before; i < taken.size; i++)
            texts += taken.data[i] == '\n';
        for (int k = 0; k <= texts; k++) {
            int left = k;
            cr_expect(take(&chunk, uses, fail, &left) == (k < texts ? CW_ERR_NOMEM : CW_OK), "%s, text %d", type, k);
        }
    }
    cw_write_u8(&taken, 0);
    cr_expect_str_eq((const char *)taken.data, wanted);
}

/* The file whose texts are all "-", or empty, reads as before. */
static void shorten_all(uint8_t *const *uses, size_t chunks)
{
    struct cw_edit_chunk chunk;
    for (size_t n = 0; n < chunks; n++) {
        struct cw_writer edited;
        cw_writer_init(&edited);
        cr_assert(cw_edit_find(file.data, file.size, n, &chunk));
        cr_assert(take(&chunk, uses, shorten, NULL) == CW_OK);
        cw_edit_replace(&edited, &file, n, out.data, out.size);
        cw_writer_free(&file);
        file = edited;
    }
    cr_assert(cw_counter_data_read(&data, file.data, file.size, "x", arena, &err) == CW_OK, "%s", err.message);
}

Test(capture_texts, of_ranges)
{
    static const struct cw_pair of_device[] = {{"host", "node17"}, {"name", "GPU"}, {"of tomorrow", "what"}};
    static const struct cw_pair of_range[] = {{"nvtx", "step"}, {"rank", "3"}, {"counted_until", "n"}};
    const struct cw_schema schema = {.chip = "GH100", .producer = "test"};
    const struct cw_device device = {.index = 3, .attribute_count = 3, .attributes = of_device};
    const struct cw_range range = {.name = "a name",
                                   .kernel = "_Z1kv",
                                   .device = 3,
                                   .process = 7,
                                   .start_ns = 5,
                                   .end_ns = 9,
                                   .attribute_count = 3,
                                   .attributes = of_range};
    cw_schema_write_header(&schema, &file);
    cw_schema_write(&schema, &file);
    cw_counter_data_write_device(&schema, &device, &file);
    cw_counter_data_write_range(&schema, &range, NULL, &file);
    cw_counter_data_write_end(1, 0, CW_END_EXITED, 0, &file);
    expect_texts(NULL, "host (private): node17\nname (kept): GPU\nunknown key (private): of tomorrow\n"
                       "unknown attribute (private): what\n"
                       "nvtx (without paths): step\nrank (kept): 3\ncounted_until (without paths): n\n"
                       "range (without paths): a name\nkernel (without paths): _Z1kv\n");
    shorten_all(NULL, 5);
    cr_assert(data.complete && data.range_count == 1);
    const struct cw_range *read = cw_launch_of(&data, 0);
    cr_expect_str_eq(read->name, "-");
    cr_expect_str_eq(read->kernel, "-");
    cr_expect_str_eq(cw_range_attribute(read, "nvtx"), "-");
    cr_expect_str_eq(cw_device_attribute(&data.devices[0], "-"), "-");
    cr_expect(read->process == 7 && data.ranges[0].start_ns == 5 && data.ranges[0].end_ns == 9);
}

Test(capture_texts, of_instructions)
{
    struct cw_pc_data pc;
    cw_sample_pc_data(&file, CW_PROFILER_PC, NULL, 0);
    struct cw_edit_chunk device;
    cr_assert(cw_edit_find(file.data, file.size, 1, &device) && device.type == CW_CHUNK_DEVICE);
    cr_assert(take(&device, NULL, keep, NULL) == CW_OK);
    cw_write_u8(&taken, 0);
    const char *of_device = cw_arena_strdup(arena, (const char *)taken.data);
    static const char functions[] = "function (without paths): _Z4stepPf\nfunction (without paths): other\n";
    expect_texts(NULL, cw_arena_printf(arena, "%s%s%s", of_device, functions, functions));
    shorten_all(NULL, 6);
    cr_assert(cw_pc_data_read(&pc, file.data, file.size, "x", arena, &err) == CW_OK, "%s", err.message);
    cr_assert(pc.pc_count == 2 && pc.pc[1].record_count == 3 && pc.pc[1].reason_count == 3);
    cr_expect_str_eq(pc.pc[1].records[0].at.function, "-");
    cr_expect_str_eq(pc.pc[1].reasons[0], "smsp__pcsamp_warps_issue_stalled_wait");
    cr_expect(pc.pc[1].total == 100 && pc.pc[1].records[2].at.pc == UINT64_MAX);

    cw_writer_free(&file);
    cw_writer_init(&file);
    cw_sample_pc_data(&file, CW_PROFILER_SASS, NULL, 0);
    expect_texts(NULL, cw_arena_printf(arena, "%s%s%s", of_device, "function (without paths): _Z4stepPf\n",
                                       "kernel (without paths): _Z4waitPi\n"));
    shorten_all(NULL, 6);
    cr_assert(cw_pc_data_read(&pc, file.data, file.size, "x", arena, &err) == CW_OK, "%s", err.message);
    cr_assert(pc.sass_count == 1 && pc.sass[0].record_count == 2);
    cr_expect_str_eq(pc.sass[0].records[1].at.function, "-");
    cr_expect_str_eq(pc.sass[0].metrics[1].name, "smsp__sass_thread_inst_executed");
    cr_expect(pc.sass[0].metrics[1].level == CW_SASS_SM && pc.sass[0].records[0].values[1][2] == UINT64_C(1) << 40);
    cr_expect_str_eq(cw_device_attribute(&data.devices[0], "launches_not_counted"), "3 of CUDA graphs");
}

Test(capture_texts, of_launches_beside_samples)
{
    cw_sample_pm(&file, 2, true);
    struct cw_edit_chunk chunk;
    size_t n = 0;
    while (cw_edit_find(file.data, file.size, n, &chunk) && chunk.type != CW_CHUNK_LAUNCHES)
        n++;
    cr_assert(take(&chunk, NULL, keep, NULL) == CW_OK);
    cw_write_u8(&taken, 0);
    cr_expect_str_eq((const char *)taken.data, "kernel (without paths): gemm\nkernel (without paths): µ\n");
    shorten_all(NULL, CW_SAMPLE_PM_CHUNKS);
    cr_assert(data.pm.launch_count == 2 && data.pm.launches[0].end_ns - data.pm.launches[0].start_ns == 150);
    cr_expect_str_eq(data.pm.names[data.pm.launches[1].name], "-");
}

/* ---- traces ------------------------------------------------------------------------------------------------------ */

/* A row of a kind: a text for one field, and a time for each. Other fields are unknown. */
static void write_row(uint32_t process, enum cw_trace_kind kind, enum cw_trace_field field, uint64_t text,
                      uint64_t time)
{
    uint64_t values[CW_TRACE_KIND_FIELDS_MAX];
    const uint64_t *columns[CW_TRACE_KIND_FIELDS_MAX];
    for (uint32_t f = 0; f < cw_trace_kinds[kind].field_count; f++) {
        const enum cw_trace_field of = (enum cw_trace_field)cw_trace_kinds[kind].fields[f];
        const enum cw_trace_type type = cw_trace_fields[of].type;
        values[f] = of == field ? text : type == CW_TRACE_TIME ? time : cw_trace_unknown(type);
        columns[f] = &values[f];
    }
    cw_trace_write_rows(process, kind, 1, columns, false, &file);
}

static const struct {
    enum cw_trace_kind kind;
    enum cw_trace_field field;
    const char *text;
    enum cw_trace_use use;
    const char *fact;
} used[] = {
    {CW_TRACE_SHAPE, CW_FIELD_NAME, "gemm", CW_USE_KERNEL, "kernel (without paths)"},
    {CW_TRACE_NVTX_RANGE, CW_FIELD_NAME, "step", CW_USE_NVTX, "NVTX name (without paths)"},
    {CW_TRACE_NVTX_MARK, CW_FIELD_NAME, "mark", CW_USE_NVTX, "NVTX name (without paths)"},
    {CW_TRACE_NVTX_MARK, CW_FIELD_DOMAIN, "domain", CW_USE_NVTX, "NVTX name (without paths)"},
    {CW_TRACE_NVTX_RANGE, CW_FIELD_CATEGORY, "category", CW_USE_NVTX, "NVTX name (without paths)"},
    {CW_TRACE_NAME, CW_FIELD_NAME, "alice", CW_USE_LABEL, "label (private)"},
    {CW_TRACE_DRIVER, CW_FIELD_NAME, "cuInit", CW_USE_WORD, "word (kept)"},
    {CW_TRACE_RUNTIME, CW_FIELD_NAME, "cudaFree", CW_USE_WORD, "word (kept)"},
    {CW_TRACE_WINDOW, CW_FIELD_NAME, "^first", CW_USE_WINDOW, "window (private)"},
    {CW_TRACE_NVTX_MARK, CW_FIELD_PAYLOAD_TEXT, "{\"host\":\"a\"}", CW_USE_PAYLOAD, "payload (private)"},
    {CW_TRACE_LINK, CW_FIELD_SOURCE, "GPU-0f", CW_USE_UUID, "uuid (private)"},
    {CW_TRACE_LINK, CW_FIELD_TARGET, "bus 0000:3f", CW_USE_WORD, "word (kept)"},
    {CW_TRACE_LINK, CW_FIELD_SOURCE, "npu 0002:0 b", CW_USE_UUID, "uuid (private)"},
    {CW_TRACE_LINK, CW_FIELD_TARGET, "CPU", CW_USE_WORD, "word (kept)"},
    {CW_TRACE_COPY, CW_FIELD_SOURCE, "pageable", CW_USE_WORD, "word (kept)"},
    {CW_TRACE_INTERNAL, CW_FIELD_NAME, "memset", CW_USE_NAME, "name (without paths)"},
    {CW_TRACE_COPY, CW_FIELD_DIRECTION, "HtoD", CW_USE_WORD, "word (kept)"},
    {CW_TRACE_ALLOCATION, CW_FIELD_CALLER, "main", CW_USE_CALLER, "caller (private)"},
    {CW_TRACE_JIT, CW_FIELD_FILE, "a.cubin", CW_USE_FILE, "file (private)"},
    {CW_TRACE_ACCOUNT, CW_FIELD_NOTE, "all there", CW_USE_NOTE, "note (without paths)"},
    {CW_TRACE_ACCOUNT, CW_FIELD_NOTE, "push", CW_USE_WORD, "word (kept)"}, /* also a word of another row, below */
    {CW_TRACE_KIND__COUNT, CW_FIELD__COUNT, "nobody", CW_USE_NONE, "unused text (private)"},
};
enum { USED = sizeof used / sizeof *used, OTHERS = 2 };

/* Two processes. The texts of the second are those of the first in two chunks, the last two of them in the second. */
static void write_trace(void)
{
    static const struct cw_pair attributes[] = {{"program", "train"}, {"rank", "5"}};
    const struct cw_schema schema = {.chip = "GH100", .producer = "test", .profiler = CW_PROFILER_TRACE};
    const struct cw_trace_process process = {.pid = 77, .attribute_count = 2, .attributes = attributes};
    const char *texts[USED];
    cw_schema_write_header(&schema, &file);
    cw_schema_write(&schema, &file);
    cw_trace_write_kinds(&file);
    cw_trace_write_process(0, &process, &file);
    cw_trace_write_process(1, &process, &file);
    for (uint32_t i = 0; i < USED; i++)
        texts[i] = used[i].text;
    cw_trace_write_texts(0, 1, texts, USED, &file);
    cw_trace_write_texts(1, 1, texts, USED - OTHERS, &file);
    cw_trace_write_texts(1, 1 + USED - OTHERS, texts + USED - OTHERS, OTHERS, &file);
    for (uint32_t i = 0; i < USED - 1; i++)
        write_row(0, used[i].kind, used[i].field, 1 + i, i == 0 ? 3000 : i == 5 ? 0 : 4000 + i);
    write_row(0, CW_TRACE_NVTX_RANGE, CW_FIELD_TYPE, USED - 1, 9000);
    write_row(0, CW_TRACE_NVTX_RANGE, CW_FIELD_NAME, USED - 1, 3500);
    write_row(1, CW_TRACE_NVTX_RANGE, CW_FIELD_NAME, USED, 3600);
    write_row(0, CW_TRACE_ALLOCATION, CW_FIELD_ADDRESS, 0x7000, 4000);
    write_row(1, CW_TRACE_ALLOCATION, CW_FIELD_PC, 0x4000, 4000);
    write_row(1, CW_TRACE_NVTX_MARK, CW_FIELD_PAYLOAD, 5, 4000);
    write_row(1, CW_TRACE_NVTX_MARK, CW_FIELD_REAL_PAYLOAD, 0, 4000);
    write_row(1, CW_TRACE_NVTX_RANGE, CW_FIELD_UNSIGNED_PAYLOAD, UINT64_MAX, 4000);
    cw_counter_data_write_end(0, 0, CW_END_EXITED, 0, &file);
}

static uint8_t **find_uses(struct cw_trace_numbers *numbers)
{
    uint8_t **uses;
    cr_assert(cw_counter_data_read(&data, file.data, file.size, "x", arena, &err) == CW_OK, "%s", err.message);
    cr_assert(cw_trace_read(&trace, data.devices, data.device_count, file.data, file.size, "x", arena, &err) == CW_OK);
    cr_assert(cw_trace_uses_find(&uses, numbers, &trace, arena, &err) == CW_OK, "%s", err.message);
    return uses;
}

Test(capture_texts, uses_of_the_texts_of_a_trace)
{
    struct cw_trace_numbers numbers = {0};
    write_trace();
    uint8_t **uses = find_uses(&numbers);
    cr_assert(trace.process_count == 2 && trace.processes[0].text_count == USED + 1);
    for (uint32_t i = 0; i < USED; i++) {
        cr_expect(uses[0][1 + i] == used[i].use, "%s: %d", used[i].text, uses[0][1 + i]);
        cr_expect(uses[1][1 + i] == (i == USED - 1 ? CW_USE_NVTX : CW_USE_NONE), "%s", used[i].text);
    }
    cr_expect(numbers.first_ns == 3500 && numbers.last_ns == 9000, "a shape has no time: %lu",
              (unsigned long)numbers.first_ns);
    cr_expect(numbers.payloads == 2 && numbers.addresses == 2, "one payload is unknown");
    cr_expect(find_uses(NULL)[0][1] == CW_USE_KERNEL);
}

/* Each text of each kind is a word of the format, a name, or private. Whoever adds a field decides it here. */
Test(capture_texts, words_are_those_of_listed_fields)
{
    static const char words[] =
        " type channel_type cache_requested cache_executed launch window_hit window_miss direction "
        "source target memory pool_type cause source_ports target_ports peers devices "
        "shared_config link_access ";
    static const char *const text = "x";
    const struct cw_schema schema = {.chip = "GH100", .producer = "test", .profiler = CW_PROFILER_TRACE};
    const struct cw_trace_process process = {.pid = 77};
    for (int kind = 0; kind < CW_TRACE_KIND__COUNT; kind++)
        for (uint32_t f = 0; f < cw_trace_kinds[kind].field_count; f++) {
            const enum cw_trace_field field = (enum cw_trace_field)cw_trace_kinds[kind].fields[f];
            if (cw_trace_fields[field].type != CW_TRACE_TEXT || field == CW_FIELD_NAME ||
                (kind == CW_TRACE_LINK && (field == CW_FIELD_SOURCE || field == CW_FIELD_TARGET)))
                continue;
            cw_writer_free(&file);
            cw_writer_init(&file);
            cw_schema_write_header(&schema, &file);
            cw_schema_write(&schema, &file);
            cw_trace_write_kinds(&file);
            cw_trace_write_process(0, &process, &file);
            cw_trace_write_texts(0, 1, &text, 1, &file);
            write_row(0, (enum cw_trace_kind)kind, field, 1, 4000);
            const char *name = cw_arena_printf(arena, " %s ", cw_trace_fields[field].name);
            const uint8_t use = find_uses(NULL)[0][1];
            cr_expect((use == CW_USE_WORD) == (strstr(words, name) != NULL), "%s.%s", cw_trace_kinds[kind].name, name);
            cr_expect(use != CW_USE_UNKNOWN, "%s.%s", cw_trace_kinds[kind].name, name);
        }
}

Test(capture_texts, of_traces)
{
    write_trace();
    uint8_t **uses = find_uses(NULL);
    char *wanted = cw_arena_strdup(arena, "program (private): train\nrank (kept): 5\n"
                                          "program (private): train\nrank (kept): 5\n");
    for (uint32_t i = 0; i < USED; i++)
        wanted = cw_arena_printf(arena, "%s%s: %s\n", wanted, used[i].fact, used[i].text);
    for (uint32_t i = 0; i < USED; i++)
        wanted = cw_arena_printf(arena, "%s%s: %s\n", wanted,
                                 i == USED - 1 ? "NVTX name (without paths)" : "unused text (private)", used[i].text);
    expect_texts(uses, wanted);
}

Test(capture_texts, of_a_redacted_trace)
{
    static const char *const kept[] = {"gemm",   "step",      "mark",     "domain",       "category", "label-1",
                                       "cuInit", "cudaFree",  "window-1", "payload-1",    "uuid-1",   "bus 0000:3f",
                                       "uuid-2", "CPU",       "pageable", "memset",       "HtoD",     "caller-1",
                                       "file-1", "all there", "push",     "unused text-1"};
    write_trace();
    const struct cw_merge_input one = {"x", file.data, file.size};
    struct cw_writer redacted;
    cw_writer_init(&redacted);
    cr_assert(cw_merge_redacted(&redacted, &one, 1, &err) == CW_OK, "%s", err.message);
    cr_assert(cw_counter_data_read(&data, redacted.data, redacted.size, "y", arena, &err) == CW_OK, "%s", err.message);
    cr_assert(cw_trace_read(&trace, data.devices, data.device_count, redacted.data, redacted.size, "y", arena, &err) ==
              CW_OK);
    cr_assert(trace.process_count == 2 && trace.processes[0].text_count == USED + 1 && data.complete);
    for (uint32_t i = 0; i < USED; i++)
        cr_expect_str_eq(cw_trace_text(&trace, 0, 1 + i), kept[i]);
    cr_expect_str_eq(cw_trace_text(&trace, 1, USED), "nobody");
    cr_expect_str_eq(cw_trace_attribute(&trace.processes[1], "program"), "program-1");
    cr_expect_str_eq(cw_trace_attribute(&trace.processes[1], "rank"), "5");
    cw_writer_free(&redacted);
}

/* Kinds and fields of a later version may have private names; the words of this one stay. */
Test(capture_texts, of_kinds_that_are_unknown)
{
    cw_write_u32(&file, 2);
    cw_write_string(&file, "window");
    cw_write_u32(&file, 2);
    cw_write_string(&file, "start");
    cw_write_u8(&file, CW_TRACE_TIME);
    cw_write_string(&file, "stop");
    cw_write_u8(&file, CW_TRACE_TIME);
    cw_write_string(&file, "door");
    cw_write_u32(&file, 1);
    cw_write_string(&file, "name");
    cw_write_u8(&file, CW_TRACE_TEXT);
    const struct cw_chunk chunk = {.type = CW_CHUNK_TRACE_KINDS, .payload = file.data, .size = file.size};
    cr_assert(cw_capture_texts_take(&chunk, NULL, keep, NULL, &out) == CW_OK);
    cw_write_u8(&taken, 0);
    cr_expect_str_eq((const char *)taken.data, "unknown field (private): stop\nunknown kind (private): door\n");
    cr_expect(out.size == file.size && memcmp(out.data, file.data, file.size) == 0);
    for (int left = 0; left < 2; left++) {
        int k = left;
        cr_expect(cw_capture_texts_take(&chunk, NULL, fail, &k, &out) == CW_ERR_NOMEM);
        cw_writer_free(&out);
        cw_writer_init(&out);
    }
}

/* The text of a use that nobody looked for may be private. */
Test(capture_texts, of_a_trace_whose_uses_are_unknown)
{
    static const char *const text = "gemm";
    cw_trace_write_texts(0, 1, &text, 1, &out);
    const struct cw_chunk chunk = {.type = CW_CHUNK_TRACE_TEXTS,
                                   .payload = out.data + CW_CHUNK_HEADER_SIZE,
                                   .size = out.size - CW_CHUNK_HEADER_SIZE};
    cr_assert(cw_capture_texts_take(&chunk, NULL, keep, NULL, &file) == CW_OK);
    cw_write_u8(&taken, 0);
    cr_expect_str_eq((const char *)taken.data, "unknown text (private): gemm\n");
    cr_expect(file.size == chunk.size && memcmp(file.data, chunk.payload, chunk.size) == 0);
}
