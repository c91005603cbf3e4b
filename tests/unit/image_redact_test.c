#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <string.h>

#include "image/data_chunks.h"
#include "image/provenance.h"
#include "image/redact.h"
#include "tests/support/alloc_fail.h"
#include "tests/support/image_samples.h"
#include "tests/support/merge_memory.h"

/* A capture of two ranges on a device of that host. */
static void write_capture(struct cw_writer *out, const char *host)
{
    static const char *const names[] = {"load ~/secret/data.bin", "kernel (lambda at /home/alice/x.cu:12:3)"};
    const struct cw_pair attributes[] = {{"name", "GPU"},
                                         {"pci", host}, /* differs as the host does: two devices stay two */
                                         {"host", host},
                                         {"filter", "--range secret"},
                                         {"secret_key", "secret"}};
    static const struct cw_pair nvtx = {"nvtx", "outer/inner (1)/leaf/x"};
    const struct cw_schema schema = {.chip = "GH100", .producer = "test"};
    const struct cw_device device = {.index = 3, .attribute_count = 5, .attributes = attributes};
    cw_schema_write_header(&schema, out);
    cw_schema_write(&schema, out);
    cw_counter_data_write_device(&schema, &device, out);
    for (int i = 0; i < 2; i++) {
        const struct cw_range range = {.name = names[i],
                                       .kernel = "_Z6kernelv",
                                       .device = 3,
                                       .process = 7,
                                       .start_ns = 1000000000,
                                       .attribute_count = 1,
                                       .attributes = &nvtx};
        cw_counter_data_write_range(&schema, &range, NULL, out);
    }
    cw_counter_data_write_end(2, 0, CW_END_EXITED, 0, out);
}

static enum cw_status redact(struct cw_counter_data *data, struct cw_arena *own, struct cw_error *err)
{
    struct cw_writer a, b, out;
    cw_writer_init(&a);
    cw_writer_init(&b);
    cw_writer_init(&out);
    write_capture(&a, "node17");
    write_capture(&b, "node18");
    enum cw_status status = a.status == CW_OK ? b.status : a.status;
    const struct cw_merge_input inputs[] = {{"a", a.data, a.size}, {"b", b.data, b.size}};
    if (status == CW_OK)
        status = cw_merge_redacted(&out, inputs, 2, err);
    else
        cw_error_nomem(err);
    uint8_t *copy = status == CW_OK ? cw_arena_alloc(own, out.size, 1) : NULL;
    if (copy) {
        memcpy(copy, out.data, out.size);
        status = cw_counter_data_read(data, copy, out.size, "redacted", own, err);
        cr_expect(!memmem(copy, out.size, "secret", 6));
        cr_expect(!memmem(copy, out.size, "alice", 5));
    } else if (status == CW_OK) {
        status = cw_error_nomem(err);
    }
    cw_writer_free(&a);
    cw_writer_free(&b);
    cw_writer_free(&out);
    return status;
}

Test(redact, replaces_private_texts_and_keeps_different_ones_apart)
{
    struct cw_arena *arena = cw_arena_create();
    struct cw_counter_data data;
    cr_assert(redact(&data, arena, NULL) == CW_OK);
    cr_assert(data.device_count == 2 && data.range_count == 4);
    cr_expect_str_eq(cw_device_attribute(&data.devices[1], "host"), "host-1");
    cr_expect_str_eq(cw_device_attribute(&data.devices[0], "host"), "host-2");
    cr_expect_str_eq(cw_device_attribute(&data.devices[1], "filter"), "filter-1");
    cr_expect_str_eq(cw_device_attribute(&data.devices[1], "unknown key-1"), "unknown attribute-1");
    cr_expect_str_eq(cw_device_attribute(&data.devices[1], "name"), "GPU");
    cr_expect_str_eq(cw_launch_of(&data, 0)->name, "load path-b1");
    cr_expect_str_eq(cw_launch_of(&data, 1)->name, "kernel (lambda at path-c1:12:3)");
    cr_expect_str_eq(cw_launch_of(&data, 2)->name, "load path-b1");
    cr_expect_str_eq(cw_range_attribute(cw_launch_of(&data, 3), "nvtx"), "outer/inner (1)/leaf/x");
    cw_arena_destroy(arena);
}

/* The chunk's payload, redacted. */
static const uint8_t *redact_chunk(struct cw_redactor *r, struct cw_writer *of, uint32_t type, uint8_t *const *uses,
                                   size_t *size)
{
    bool kept;
    struct cw_chunk chunk = {
        .type = type, .payload = of->data + CW_CHUNK_HEADER_SIZE, .size = of->size - CW_CHUNK_HEADER_SIZE};
    cr_assert(cw_redact(r, &chunk, uses, &kept) == CW_OK && kept);
    *size = chunk.size;
    return chunk.payload;
}

/* The management library and CUPTI spell the UUID of one GPU in two ways. */
Test(redact, ends_of_links_are_the_devices_of_the_file)
{
    static const struct cw_pair uuids[] = {{"uuid", "GPU-8e4f00aa-1234-5678-9abc-def012345678"}};
    static const char *const ends[] = {"GPU-00000000000000000000000000000001", "GPU-8e4f00aa123456789abcdef012345678"};
    const struct cw_schema schema = {.chip = "GH100", .producer = "test", .profiler = CW_PROFILER_TRACE};
    const struct cw_device device = {.index = 0, .attribute_count = 1, .attributes = uuids};
    uint8_t uses[] = {CW_USE_NONE, CW_USE_UUID, CW_USE_UUID}, *of[] = {uses};
    struct cw_redactor *r = cw_redactor_create();
    struct cw_writer chunk;
    size_t size;
    cr_assert(r);
    cw_writer_init(&chunk);
    cw_counter_data_write_device(&schema, &device, &chunk);
    const uint8_t *bytes = redact_chunk(r, &chunk, CW_CHUNK_DEVICE, NULL, &size);
    cr_expect(memmem(bytes, size, "uuid-1", 6) && !memmem(bytes, size, "GPU-", 4));
    chunk.size = 0;
    cw_trace_write_texts(0, 1, ends, 2, &chunk);
    bytes = redact_chunk(r, &chunk, CW_CHUNK_TRACE_TEXTS, of, &size);
    const uint8_t *other = memmem(bytes, size, "uuid-2", 6), *same = memmem(bytes, size, "uuid-1", 6);
    cr_expect(other && same && other < same && !memmem(bytes, size, "GPU-", 4));
    cw_writer_free(&chunk);
    cw_redactor_destroy(r);
}

/* Names and paths of ranges, as merge --redact leaves them: in the order of the file, with one count of paths. */
static void expect_ranges(const char *const texts[][2], size_t count)
{
    const struct cw_schema schema = {.chip = "GH100", .producer = "test"};
    static const struct cw_device device = {.index = 0};
    struct cw_arena *arena = cw_arena_create();
    struct cw_counter_data data;
    struct cw_writer file, out, again;
    cw_writer_init(&file);
    cw_writer_init(&out);
    cw_writer_init(&again);
    cw_schema_write_header(&schema, &file);
    cw_schema_write(&schema, &file);
    cw_counter_data_write_device(&schema, &device, &file);
    for (size_t i = 0; i < count; i++) {
        const struct cw_pair nvtx = {"nvtx", texts[i][0]};
        const struct cw_range range = {.name = texts[i][0], .kernel = "", .attribute_count = 1, .attributes = &nvtx};
        const struct cw_range named = {.name = texts[i][0], .kernel = "k"};
        cw_counter_data_write_range(&schema, strchr(texts[i][1], '!') ? &named : &range, NULL, &file);
    }
    cw_counter_data_write_end(count, 0, CW_END_EXITED, 0, &file);
    const struct cw_merge_input in = {"in", file.data, file.size};
    cr_assert(cw_merge_redacted(&out, &in, 1, NULL) == CW_OK);
    const struct cw_merge_input redacted = {"redacted", out.data, out.size};
    cr_assert(cw_merge_redacted(&again, &redacted, 1, NULL) == CW_OK);
    cr_expect(again.size == out.size && memcmp(again.data, out.data, out.size) == 0, "a second time changes it");
    cr_assert(cw_counter_data_read(&data, out.data, out.size, "redacted", arena, NULL) == CW_OK);
    for (size_t i = 0; i < count; i++) {
        const struct cw_range *range = cw_launch_of(&data, (uint32_t)i);
        if (strchr(texts[i][1], '!'))
            cr_expect_str_eq(range->name, texts[i][1]);
        else
            cr_expect_str_eq(cw_range_attribute(range, "nvtx"), texts[i][1]);
        if (!*range->kernel)
            cr_expect_str_eq(range->name, texts[i][1]);
    }
    cw_arena_destroy(arena);
    cw_writer_free(&file);
    cw_writer_free(&out);
    cw_writer_free(&again);
}
#define EXPECT_RANGES(...)                                                                                             \
    expect_ranges((const char *const[][2]){__VA_ARGS__},                                                               \
                  sizeof(const char *const[][2]){__VA_ARGS__} / sizeof(char *[2]))

/* A range is the beginning of the ranges within it, so that they stay nested. */
Test(redact, replaces_each_part_of_a_path_in_paths_of_ranges)
{
    EXPECT_RANGES({"step//home/zanna/x", "step//path-b1/path-c1/path-d1"},
                  {"step//home/zanna/x/read", "step//path-b1/path-c1/path-d1/path-f1"}, {"/data/a", "/path-g1/path-h1"},
                  {"/data/a/read", "/path-g1/path-h1/path-f1"}, {"/softmax", "/path-j1"});
    EXPECT_RANGES({"io@/mnt/x", "io@/path-b1/path-c1"}, {"step 1/forward (a)/b/c", "step 1/forward (a)/b/c"},
                  {"load /data/my file/read", "load /path-d1/path-f1/path-g1"}, {"_/home/x", "_/path-h1/path-c1"},
                  {"a/~/b", "a/~/path-j1"}, {"w/https://u:pw@host", "w/https://path-k1"},
                  {"\xc3\xa9/b/c", "\xc3\xa9/b/c"}, {"\xe2\x86\x92/b", "\xe2\x86\x92/path-j1"},
                  {"a: \xe2\x86\x92/b/", "a: \xe2\x86\x92/path-j1/"});
    EXPECT_RANGES({"load_/home/x", "load_/path-b1/path-c1"}, {"a+/home/x", "a+/path-b1/path-c1"},
                  {"a?/home/x", "a?/path-b1/path-c1"}, {"a */home/x", "a */path-b1/path-c1"},
                  {"a $/home/x", "a $/path-b1/path-c1"}, {"f()/home/x", "f()/home/x"});
}

/* A name that looks like a replacement keeps it for itself. */
Test(redact, replacements_are_no_names_of_the_capture)
{
    EXPECT_RANGES({"!/a/b", "!path-d1"}, {"!path-b1", "!path-b1"}, {"!path-f", "!path-f"}, {"!path-a1", "!path-a1"},
                  {"! at path-c22:7", "! at path-c22:7"}, {"!/c/d", "!path-f1"}, {"/x/path-h1", "/path-g1/path-h1"},
                  {"!/e/f", "!path-j1"});
}

/* Readers may take names as one that differ in numbers alone: --by fold, and nvtx in a trace. */
Test(redact, paths_that_differ_in_numbers_alone_still_do)
{
    EXPECT_RANGES({"!/run1/x", "!path-b1"}, {"!/run1/y", "!path-c1"}, {"!/run22/x", "!path-b2"},
                  {"!/run/x", "!path-d1"}, {"!/run3/y", "!path-c2"}, {"!/run1/x", "!path-b1"}, {"/run7", "/path-f1"},
                  {"/run8", "/path-f2"});
}

/* Letters go on with two of them. */
Test(redact, paths_have_as_many_letters_as_they_need)
{
    struct cw_redactor *r = cw_redactor_create();
    struct cw_writer chunk;
    size_t size;
    uint8_t uses[] = {CW_USE_NONE, CW_USE_NVTX}, *of[] = {uses};
    cr_assert(r);
    cw_writer_init(&chunk);
    for (int i = 0; i < 400; i++) {
        static const char *const wanted[] = {[0] = "path-b1",    [18] = "path-z1",    [19] = "path-bb1",
                                             [379] = "path-zz1", [380] = "path-bbb1", [400] = NULL};
        char path[] = {'/', (char)('a' + i % 26), (char)('a' + i / 26), '/', 'x', 0};
        const char *text = path;
        chunk.size = 0;
        cw_trace_write_texts(0, 1, &text, 1, &chunk);
        const uint8_t *bytes = redact_chunk(r, &chunk, CW_CHUNK_TRACE_TEXTS, of, &size);
        if (wanted[i])
            cr_expect(size == 16 + strlen(wanted[i]) && memcmp(bytes + 16, wanted[i], size - 16) == 0, "%d: %.*s", i,
                      (int)size - 16, (const char *)bytes + 16);
    }
    cw_writer_free(&chunk);
    cw_redactor_destroy(r);
}

static enum cw_status redact_alone(struct cw_arena *own, struct cw_error *err)
{
    struct cw_counter_data data;
    return redact(&data, own, err);
}

Test(redact, every_failing_allocation_is_reported)
{
    cr_expect(cw_alloc_fail_each(redact_alone) > 20);
}

Test(redact, knows_a_path_by_its_beginning)
{
    static const struct {
        const char *text;
        size_t at, length;
    } cases[] = {{"/home/alice", 0, 11},
                 {"at /a/b:12", 3, 4},
                 {"~/x.cu", 0, 6},
                 {"a/b/c", 1, 0},
                 {"/ b/c", 0, 0},
                 {"/softmax", 0, 0},
                 {"file:///a/b", 5, 6},
                 {"//", 0, 0},
                 {"(/usr/x)", 1, 6},
                 {"_/a/b", 1, 4},
                 {"\"/tmp/é b\"", 1, 9},
                 {"/", 0, 0},
                 {"~x/y", 0, 0},
                 {"~", 0, 0},
                 {"~/", 0, 0},
                 {"x~/y", 1, 0},
                 {"/a+~@%=#/b!", 0, 10},
                 {"/a/b c", 0, 4},
                 {"/a.b-c_d/e", 0, 10},
                 {"=/a/b", 1, 4},
                 {"./a/b", 1, 0},
                 {"-/a/b", 1, 0},
                 {"\xc3\xa9/a/b", 2, 0},
                 {"/+/", 0, 0},
                 {"\"/mnt/with space/q x\" y", 1, 19},
                 {"'/a b/c' /d", 1, 0},
                 {"'/a/b c' d", 1, 6},
                 {"`/a/b c", 1, 4},
                 {"/mnt/with space/zanna/q at", 0, 23},
                 {"/a/b (1)/c", 0, 10},
                 {"/a/b,c:d/e!", 0, 10},
                 {"/a/b to /c/d", 0, 4},
                 {"/a/b to ~/c", 0, 4},
                 {"/a/b:12 x / y", 0, 4},
                 {"\xe2\x80\x9c/a/b", 3, 4},
                 {"\xc2\xab/a/b", 2, 4},
                 {"\xc2\xb5/a/b", 2, 0},
                 {"\xe3\x80\x8c/a/b", 3, 4},
                 {"\xe3\x81\x82/a/b", 3, 0},
                 {"\x80/a/b", 1, 0},
                 {"https://u:pw@host:80/x?k=1&s=2 y", 6, 24},
                 {"https://u:pw@host", 6, 11},
                 {"<ftp://u:p,w@host>", 5, 12},
                 {"a::b/c", 4, 0},
                 {"f<(N/2)/3/4>", 7, 4},
                 {"f<(N / 2) / 3>", 10, 0},
                 {"at::operator/(x, y)", 12, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t passed;
        const size_t length = cw_path_length(cases[i].text, cases[i].at, &passed);
        cr_expect(length == cases[i].length, "%s: %zu", cases[i].text, length);
    }
}

/* Else a name of a megabyte takes minutes. */
Test(redact, what_holds_no_path_is_looked_at_once)
{
    size_t passed;
    cr_expect_eq(cw_path_length("/+/+/+ /a/b", 0, &passed), 0);
    cr_expect_eq(passed, 6);
    cr_expect_eq(cw_path_length("~/~/~/", 0, &passed), 0);
    cr_expect_eq(passed, 6);
    cr_expect_eq(cw_path_length("x/+", 0, &passed), 0);
    cr_expect_eq(passed, 1);
}

static struct cw_writer sample;

static enum cw_status list(struct cw_arena *own, struct cw_error *err)
{
    struct cw_counter_data data;
    const struct cw_provenance_fact *facts;
    uint32_t count;
    const struct cw_input input = cw_input_of(sample.data, sample.size, "sample");
    enum cw_status status = cw_counter_data_open(&data, &input, own, err);
    if (status == CW_OK)
        status = cw_provenance_read(&facts, &count, &data, own, err);
    bool code = status != CW_OK;
    for (uint32_t i = 0; status == CW_OK && i < count; i++)
        code = code || (facts[i].care == CW_TEXT_PRIVATE && strcmp(facts[i].name, "code of kernels") == 0 &&
                        facts[i].value_count == 1);
    cr_expect(code);
    return status;
}

Test(redact, lists_code_and_reports_failing_allocations)
{
    cw_writer_init(&sample);
    cw_sample_pc_data(&sample, CW_PROFILER_PC, NULL, 0);
    const long failed = cw_alloc_fail_each(list);
    cr_expect(failed > 20, "%ld", failed);
    cw_writer_free(&sample);
}
