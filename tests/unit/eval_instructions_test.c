#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "eval/output/output.h"
#include "eval/samples/lines.h"
#include "tests/support/image_samples.h"
#include "tests/support/seconds.h"

static struct cw_arena *arena;
static struct cw_bytes cubin; /* of tests/support/lines.cu */
static struct cw_instructions all;
static struct cw_error err;

static void set_up(void)
{
    arena = cw_arena_create();
    cr_assert(cw_file_read(&cubin, CW_SOURCE_DIR "/tests/support/lines.cubin", 1 << 20, &err) == CW_OK);
}

static void tear_down(void)
{
    cw_bytes_free(&cubin);
    cw_arena_destroy(arena);
}

TestSuite(instructions, .init = set_up, .fini = tear_down);

/* ---- lines ---- */

static uint32_t line_of(const struct cw_lines *lines, const char *function, uint64_t pc)
{
    struct cw_line found = {0};
    if (cw_lines_find(lines, function, pc, &found))
        cr_expect(strcmp(found.file, "/kernels/lines.cu") == 0 && found.number == 0);
    return found.line;
}

static const struct cw_lines *read_lines(const void *code, size_t size)
{
    const struct cw_lines *lines;
    cr_expect(cw_lines_read(&lines, CW_LINES_SOURCE, code, size, arena) == CW_OK);
    return lines;
}

Test(instructions, lines_of_each_function)
{
    const struct cw_lines *lines = read_lines(cubin.data, cubin.size);
    cr_assert(lines);
    cr_expect(line_of(lines, "_Z5firstPf", 0) == 2);
    cr_expect(line_of(lines, "_Z5firstPf", 0x70) == 4);
    cr_expect(line_of(lines, "_Z5firstPf", 0x80) == 5);
    cr_expect(line_of(lines, "_Z6secondPfPKf", 0) == 7);
    cr_expect(line_of(lines, "_Z6secondPfPKf", 0x50) == 11);
    cr_expect(line_of(lines, "_Z6secondPfPKf", 0x60) == 9);
}

Test(instructions, lines_of_ptx)
{
    const struct cw_lines *lines;
    struct cw_line found = {0};
    cr_expect(cw_lines_read(&lines, CW_LINES_PTX, cubin.data, cubin.size, arena) == CW_OK);
    cr_assert(cw_lines_find(lines, "_Z5firstPf", 0x70, &found));
    cr_expect(found.line && found.line <= cw_lines_text_count(lines));
    cr_expect_str_eq(cw_lines_text(lines, found.line), "st.global.f32 [%rd4], %f2;");
    cr_expect_str_eq(cw_lines_text(lines, 0), "");
    cr_expect_str_eq(cw_lines_text(lines, UINT32_MAX), "");
    for (size_t size = 0; size < cubin.size; size += 97)
        cw_lines_read(&lines, CW_LINES_PTX, cubin.data, size, arena);
}

Test(instructions, no_line_outside_of_functions)
{
    const struct cw_lines *lines = read_lines(cubin.data, cubin.size);
    cr_expect(line_of(lines, "_Z5firstPf", 0x180) == 0);
    cr_expect(line_of(lines, "_Z5firstPf", UINT64_MAX) == 0);
    cr_expect(line_of(lines, "_Z5third", 0) == 0);
    cr_expect(line_of(NULL, "_Z5firstPf", 0) == 0);
}

Test(instructions, what_is_no_module_has_no_lines)
{
    cr_expect_null(read_lines("", 0));
    cr_expect_null(read_lines("\x7f"
                              "ELF",
                              4));
    for (size_t size = 0; size < cubin.size; size += 97)
        read_lines(cubin.data, size);
}

/* ---- adding up ---- */

static const char *const reasons[] = {"a", "b"};
static const struct cw_stall two[] = {{0, 5}, {1, 3}}, one[] = {{1, 10}};
static const struct cw_pc_record records[] = {
    {{42, 0x50, "_Z6secondPfPKf", 1}, 0, 2, two},
    {{42, 0x10, "_Z5firstPf", 2}, 0, 1, one},
    {{42, 0x50, "_Z6secondPfPKf", 1}, 0, 1, one},
};

static void make(enum cw_profiler profiler, const struct cw_pc_data *raw)
{
    static struct cw_counter_data data;
    data = (struct cw_counter_data){.schema = {.chip = "GH100", .profiler = profiler}, .complete = true};
    cr_assert(cw_instructions_make(&all, &data, raw, "x.cwd", NULL, arena, &err) == CW_OK);
}

static void make_samples(void)
{
    static struct cw_pc_batch batches[2];
    static struct cw_module module;
    for (int i = 0; i < 2; i++)
        batches[i] = (struct cw_pc_batch){.process = 7,
                                          .start_ns = 100 + (uint64_t)i,
                                          .end_ns = 200 + (uint64_t)i,
                                          .period = 10,
                                          .buffer_full = i == 1,
                                          .total = 40,
                                          .dropped = 2,
                                          .other = 10,
                                          .reason_count = 2,
                                          .reasons = reasons,
                                          .record_count = 3,
                                          .records = records};
    module = (struct cw_module){42, cubin.data, cubin.size};
    make(CW_PROFILER_PC, &(struct cw_pc_data){.module_count = 1, .modules = &module, .pc_count = 2, .pc = batches});
}

Test(instructions, samples_add_up)
{
    make_samples();
    cr_expect(all.total == 80 && all.dropped == 4 && all.other == 20 && all.full_buffers == 1);
    cr_expect(all.first_ns == 100 && all.last_ns == 201 && all.batch_count == 2);
    cr_assert(all.pc_count == 3);
    cr_expect_str_eq(all.pc[0].at.function, "_Z5firstPf");
    cr_expect(all.pc[0].samples == 20 && all.pc[0].at.line == 4 && all.pc[0].process == 7);
    cr_expect_str_eq(all.pc[1].reason, "a");
    cr_expect(all.pc[1].samples == 10 && all.pc[1].at.line == 11);
    cr_expect_str_eq(all.pc[2].reason, "b");
    cr_expect(all.pc[2].samples == 26);
}

static char *text_of(enum cw_status (*write)(FILE *))
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    cr_assert(out && write(out) == CW_OK);
    fclose(out);
    return text;
}

static enum cw_status write_table(FILE *out)
{
    const struct cw_terminal_style style = {.top = 1};
    struct cw_output output;
    cw_output_instructions(&output, &all);
    return output.print(&output, &style, out, &err);
}

static enum cw_status write_csv(FILE *out)
{
    struct cw_output output;
    cw_output_instructions(&output, &all);
    return cw_csv_write(out, &output, &err);
}

Test(instructions, table_of_the_hottest)
{
    make_samples();
    char *text = text_of(write_table);
    cr_expect(strstr(text, "samples:  80; dropped 4 (5.00 %)"), "%s", text);
    cr_expect(strstr(text, "buffer was full 1 time:"), "%s", text);
    cr_expect(strstr(text, "36   64.3%           0  lines.cu:11"), "%s", text);
    cr_expect(strstr(text, "b 72 %, a 28 %"), "%s", text);
    cr_expect(strstr(text, "1 more instruction;"), "%s", text);
    cr_expect(strstr(text, "36   64.3%           0  second(float*, float const*)\n1 more function;"), "%s", text);
    cr_expect(strstr(text, "46   82.1%           0  b\n1 more reason;"), "%s", text);
    free(text);
}

/* A reason's twin counts part of the reason's samples again, unless only the twin was sampled. */
Test(instructions, twins_of_reasons_add_nothing)
{
    static const char *const names[] = {"wait", "wait_not_issued", "lg_throttle_not_issued"};
    static const struct cw_stall stalls[] = {{0, 30}, {1, 20}, {2, 10}};
    static const struct cw_pc_record record = {{42, 0x10, "_Z5firstPf", 2}, 0, 3, stalls};
    const struct cw_pc_batch batch = {
        .total = 40, .reason_count = 3, .reasons = names, .record_count = 1, .records = &record};
    make(CW_PROFILER_PC, &(struct cw_pc_data){.pc_count = 1, .pc = &batch});
    cr_assert(all.pc_count == 2);
    cr_expect(all.pc[0].samples == 10 && all.pc[0].not_issued == 10, "its reason was not sampled");
    cr_expect(all.pc[1].samples == 30 && all.pc[1].not_issued == 20);
    char *text = text_of(write_table);
    cr_expect(strstr(text, "40  100.0%          30  0x00010"), "%s", text);
    cr_expect(strstr(text, "wait 75 %, lg_throttle 25 %"), "%s", text);
    free(text);
}

/* Serialized, each launch has rows of its own: to look through all of them for each twin would take minutes here. */
Test(instructions, twins_of_many_launches)
{
    cw_test_seconds(60);
    enum { LAUNCHES = 200000 };
    static const char *const names[] = {"wait", "wait_not_issued"};
    static const struct cw_stall stalls[] = {{0, 3}, {1, 2}};
    static struct cw_pc_record many[LAUNCHES];
    for (uint32_t i = 0; i < LAUNCHES; i++)
        many[i] = (struct cw_pc_record){{42, 0x10, "f", 2}, i, 2, stalls};
    const struct cw_pc_batch batch = {
        .total = 1, .reason_count = 2, .reasons = names, .record_count = LAUNCHES, .records = many};
    make(CW_PROFILER_PC, &(struct cw_pc_data){.pc_count = 1, .pc = &batch});
    char *text = text_of(write_table);
    cr_expect(strstr(text, "600,000  100.0%     400,000  f"), "%s", text);
    free(text);
}

/* ---- SASS metrics ---- */

Test(instructions, values_of_instances_add_up)
{
    static const struct cw_sass_metric metrics[] = {{"m", CW_SASS_SM}};
    static const uint64_t values[] = {4, 0, 6};
    static const uint64_t *const lists[] = {values};
    static const uint32_t counts[] = {3};
    /* a SASS record has the low half of the module's number */
    static const struct cw_sass_record record = {{0x2a, 0x10, "_Z5firstPf", 2}, counts, lists};
    struct cw_sass_batch batch = {
        .dropped = 1, .metric_count = 1, .metrics = metrics, .record_count = 1, .records = &record};
    struct cw_sass_batch batches[] = {batch, batch};
    const struct cw_module module = {0xabcdef000000002a, cubin.data, cubin.size};
    make(CW_PROFILER_SASS,
         &(struct cw_pc_data){.module_count = 1, .modules = &module, .sass_count = 2, .sass = batches});
    cr_assert(all.sass_count == 1 && all.value_count == 3);
    const struct cw_sass_row *r = &all.sass[0];
    cr_expect(r->instances == 3 && r->sum == 20 && r->min == 0 && r->max == 12 && r->at.line == 4);
    cr_expect(all.values[0] == 8 && all.values[1] == 0 && all.values[2] == 12);
    char *text = text_of(write_csv);
    cr_expect_str_eq(text, "device,process,function,name,module,offset,file,line,metric,level,instances,first,sum,min,"
                           "max\n0,0,_Z5firstPf,first(float*),42,16,/kernels/lines.cu,4,m,sm,3,0,20,0,12\n");
    free(text);
}

Test(instructions, reasons_in_short)
{
    char text[CW_REASON_SIZE];
    cr_expect_str_eq(cw_reason_short("smsp__pcsamp_warps_issue_stalled_wait_not_issued", text), "wait");
    cr_expect_str_eq(cw_reason_short("smsp__pcsamp_sample_buffer_full", text), "sample_buffer_full");
    cr_expect_str_eq(cw_reason_short("other", text), "other");
}
