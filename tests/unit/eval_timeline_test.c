#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "eval/compare/timeline_as_ranges.h"
#include "eval/timeline/groups.h"
#include "eval/timeline/memory.h"
#include "eval/timeline/usage.h"
#include "image/data_chunks.h"
#include "tests/support/add_rows.h"
#include "tests/support/alloc_fail.h"

#define F(id) CW_FIELD_##id
#define ADD(process, kind, ...) CW_ADD_ROW(&rows, process, kind, __VA_ARGS__)

static struct cw_arena *arena;
static struct cw_writer file;
static struct cw_add_rows rows;
static struct cw_counter_data data;
static struct cw_trace trace;
static struct cw_timeline t;
static struct cw_error err;

enum {
    NONE,
    GEMM,
    LAUNCH,
    HTOD,
    PUSH,
    START,
    A,
    B,
    C,
    THREAD,
    WORKER,
    STREAM,
    SYNC,
    PINNED,
    KERNEL,
    MALLOC,
    ALLOCATE,
    FREE,
    DEVICE,
    TEXTS
};
static const char *const texts[] = {"",
                                    "_Z4gemmIfEvPT_",
                                    "cudaLaunchKernel_v7000",
                                    "HtoD",
                                    "push",
                                    "start",
                                    "a",
                                    "b",
                                    "c",
                                    "thread",
                                    "worker",
                                    "stream",
                                    "cuStreamSynchronize",
                                    "pinned",
                                    "kernel",
                                    "cudaMalloc_v3020",
                                    "allocate",
                                    "free",
                                    "device"};
/* The other process has the same texts in another order. */
static const char *const others[] = {"", "push", "_Z4gemmIfEvPT_"};

static void set_up(void)
{
    static const struct cw_schema schema = {.chip = "GH100", .producer = "test", .profiler = CW_PROFILER_TRACE};
    static const struct cw_pair attributes[] = {{"rank", "3"}};
    static const struct cw_trace_device own[] = {{0, 4}}, another[] = {{0, 5}};
    static const struct cw_trace_process processes[] = {
        {.pid = 70, .device_count = 1, .devices = own},
        {.pid = 71, .device_count = 1, .devices = another, .attribute_count = 1, .attributes = attributes}};
    arena = cw_arena_create();
    cw_writer_init(&file);
    rows = (struct cw_add_rows){.out = &file};
    cw_schema_write_header(&schema, &file);
    cw_schema_write(&schema, &file);
    cw_trace_write_kinds(&file);
    for (uint32_t i = 4; i < 6; i++)
        cw_counter_data_write_device(&schema, &(struct cw_device){.index = i}, &file);
    cw_trace_write_process(0, &processes[0], &file);
    cw_trace_write_process(1, &processes[1], &file);
    cw_trace_write_texts(0, 1, texts + 1, TEXTS - 1, &file);
    cw_trace_write_texts(1, 1, others + 1, 2, &file);
}

static void tear_down(void)
{
    cw_timeline_free(&t);
    cw_add_rows_free(&rows);
    cw_arena_destroy(arena);
    cw_writer_free(&file);
}

TestSuite(timeline, .init = set_up, .fini = tear_down);

static enum cw_status load(void)
{
    cw_add_rows_flush(&rows, 0);
    cw_add_rows_flush(&rows, 1);
    cw_timeline_free(&t);
    err = (struct cw_error)CW_ERROR_INIT;
    enum cw_status status = cw_counter_data_read(&data, file.data, file.size, "t.cwd", arena, &err);
    if (status == CW_OK)
        status = cw_trace_read(&trace, data.devices, data.device_count, file.data, file.size, "t.cwd", arena, &err);
    return status == CW_OK ? cw_timeline_load(&t, &trace, &data, file.size, arena, &err) : status;
}

static void kernel(uint32_t process, uint64_t start, uint64_t end, uint64_t stream, uint64_t correlation)
{
    ADD(process, KERNEL, {F(START), start}, {F(END), end}, {F(DEVICE), 0}, {F(CONTEXT), 1}, {F(STREAM), stream},
        {F(CORRELATION), correlation}, {F(SHAPE), 9});
}

static void call(uint64_t start, uint64_t end, uint64_t thread, uint64_t correlation)
{
    ADD(0, RUNTIME, {F(START), start}, {F(END), end}, {F(THREAD), thread}, {F(CORRELATION), correlation},
        {F(NAME), LAUNCH}, {F(RESULT), 0});
}

static void range(uint64_t start, uint64_t end, uint64_t thread, uint64_t type, uint64_t domain, uint64_t name)
{
    ADD(0, NVTX_RANGE, {F(START), start}, {F(END), end}, {F(THREAD), thread}, {F(TYPE), type}, {F(DOMAIN), domain},
        {F(NAME), name});
}

static const char *path(uint32_t number)
{
    static char text[CW_TIMELINE_NAME_SIZE];
    return cw_timeline_path_text(&t, number, text);
}

/* Streams are by device, in each the items are by start, and texts of processes are one. */
Test(timeline, lanes_are_in_order)
{
    ADD(0, SHAPE, {F(ID), 9}, {F(NAME), GEMM}, {F(GRID_X), 8}, {F(BLOCK_X), 128}, {F(REGISTERS), 40});
    ADD(1, SHAPE, {F(ID), 9}, {F(NAME), 2}, {F(GRID_X), 16});
    kernel(1, 500, 600, 7, 1);
    kernel(0, 300, 350, 7, 3);
    kernel(0, 100, 200, 13, 1);
    kernel(0, 150, 250, 7, 2);
    kernel(0, 0, 0, 7, 4);
    kernel(0, 400, 390, 7, 5);
    ADD(0, COPY, {F(START), 260}, {F(END), 290}, {F(DEVICE), 0}, {F(CONTEXT), 1}, {F(STREAM), 7}, {F(BYTES), 4096},
        {F(DIRECTION), HTOD}, {F(SOURCE), PINNED});
    ADD(0, NAME, {F(TYPE), STREAM}, {F(ID), 13}, {F(CONTEXT), 1}, {F(NAME), WORKER});
    cr_assert(load() == CW_OK);
    cr_assert(t.stream_count == 3 && t.gpu_count == 5 && t.rows[CW_TRACE_KERNEL] == 6);
    cr_assert(t.untimed[CW_TRACE_KERNEL] == 2 && t.start == 100 && t.end == 600);
    cr_assert(t.streams[0].stream == 7 && t.streams[0].device == 0 && t.streams[0].gpu.count == 3);
    cr_assert(t.streams[1].stream == 13 && t.streams[1].gpu.count == 1);
    cr_assert_str_eq(t.names[t.streams[1].name].text, "worker");
    cr_assert(t.streams[2].process == 1 && t.streams[2].device == 1 && t.streams[2].gpu.first == 4);
    const struct cw_timeline_gpu *g = t.gpu;
    cr_assert(g[0].start == 150 && g[1].start == 260 && g[2].start == 300);
    cr_assert(g[1].kind == CW_TRACE_COPY && g[1].bytes == 4096 && g[1].shape == CW_TIMELINE_NONE);
    cr_assert_str_eq(t.names[g[1].name].text, "HtoD");
    cr_assert_str_eq(t.names[g[1].from].text, "pinned");
    cr_assert(g[0].name == g[4].name && g[0].shape != g[4].shape && t.shapes[g[4].shape].grid[0] == 16);
    const struct cw_timeline_shape *known = &t.shapes[g[0].shape], *unknown = &t.shapes[g[4].shape];
    cr_assert(known->registers == 40 && unknown->registers == CW_TIMELINE_NONE && !unknown->block[0]);
    cr_assert(unknown->static_shared == CW_TRACE_UNKNOWN && unknown->dynamic_shared == CW_TRACE_UNKNOWN);
    cr_assert(unknown->local_per_thread == CW_TRACE_UNKNOWN);
    cr_assert_str_eq(t.names[g[0].name].text, "_Z4gemmIfEvPT_");
    cr_assert_str_eq(t.names[g[0].name].shown, "void gemm<float>(float*)");
    cr_assert_str_eq(cw_timeline_attribute(&t, 1, "rank"), "3");
    cr_assert(!cw_timeline_attribute(&t, 0, "rank"));
}

/* A launch within a call of the runtime is that call's; one without a row has no call. */
/* Items of one start and end stay in the order of the file. */
static bool is_before(const struct cw_timeline_gpu *a, const struct cw_timeline_gpu *b)
{
    return a->start != b->start   ? a->start < b->start
           : a->end != b->end     ? a->end > b->end
           : a->block != b->block ? a->block < b->block
                                  : a->row < b->row;
}

static void expect_order(uint32_t count)
{
    cr_assert(load() == CW_OK, "%s", err.message);
    cr_assert(t.gpu_count == count && t.stream_count == 1 && t.streams[0].gpu.count == count);
    for (uint32_t i = 1; i < count; i++)
        cr_assert(is_before(&t.gpu[i - 1], &t.gpu[i]), "item %u", i);
}

/* Blocks of two kinds are of one time, and rows near one another may be in any order. */
Test(timeline, runs_of_a_lane_are_merged)
{
    enum { COUNT = 30000, SPAN = 1000 };
    for (uint64_t i = 0; i < COUNT; i++) {
        const uint64_t start = 1000 + 10 * i - 7 * (i * 2654435761u >> 8 & 15), end = start + 5 + i % 3;
        kernel(0, start, end, 7, i);
        if (i % 3 == 0)
            ADD(0, MEMSET, {F(START), start}, {F(END), end}, {F(DEVICE), 0}, {F(CONTEXT), 1}, {F(STREAM), 7});
        if (i % SPAN == 0)
            cw_add_rows_flush(&rows, 0);
    }
    expect_order(COUNT + COUNT / 3);
}

/* One that goes back behind more items than are merged in place. */
Test(timeline, lanes_come_into_order_from_any)
{
    enum { COUNT = 150000 };
    for (uint64_t i = 0; i < COUNT; i++) {
        const uint64_t start = 1000 + (i % 2 ? i : COUNT - i) / 2;
        kernel(0, start, start + 1 + (i * 2654435761u >> 8 & 255), 7, i * i);
    }
    expect_order(COUNT);
}

Test(timeline, launches_have_their_calls)
{
    kernel(0, 1000, 1100, 7, 12);
    kernel(0, 1200, 1300, 7, 11);
    kernel(0, 1400, 1500, 7, 99);
    kernel(1, 1000, 1100, 7, 12);
    ADD(0, DRIVER, {F(START), 902}, {F(END), 908}, {F(THREAD), 70}, {F(CORRELATION), 12}, {F(NAME), SYNC});
    call(900, 910, 70, 12);
    call(800, 810, 71, 11);
    ADD(0, SYNC, {F(START), 1000}, {F(END), 1310}, {F(TYPE), STREAM}, {F(CONTEXT), 1}, {F(STREAM), 7},
        {F(CORRELATION), 11});
    ADD(0, NAME, {F(TYPE), THREAD}, {F(ID), 71}, {F(NAME), WORKER});
    cr_assert(load() == CW_OK);
    cr_assert(t.thread_count == 2 && t.threads[0].thread == 70 && t.threads[1].calls.count == 1);
    cr_assert_str_eq(t.names[t.threads[1].name].text, "worker");
    cr_assert(t.calls[t.gpu[0].call].start == 900 && t.calls[t.gpu[0].call].kind == CW_TRACE_RUNTIME);
    cr_assert(t.calls[t.gpu[0].call].launched == 1 && t.calls[t.gpu[1].call].thread == 1);
    cr_assert(t.gpu[2].call == CW_TIMELINE_NONE && t.gpu[3].call == CW_TIMELINE_NONE);
    cr_assert_str_eq(t.names[t.calls[t.gpu[0].call].name].shown, "cudaLaunchKernel");
    cr_assert(t.wait_count == 1 && t.waits[0].stream == 0 && t.waits[0].thread == 1);
}

/* What is open for a thread, as it was opened: its own ranges and those of the whole process. */
Test(timeline, calls_have_the_ranges_around_them)
{
    range(100, 900, 70, PUSH, 0, A);
    range(200, 300, 70, PUSH, B, C);
    range(250, 700, 71, START, 0, B);
    range(400, 450, 71, PUSH, 0, C);
    range(650, 0, 71, PUSH, 0, A);
    call(50, 60, 70, 1);
    call(100, 110, 70, 2);
    call(210, 220, 70, 3);
    call(260, 270, 70, 4);
    call(300, 310, 70, 5);
    call(420, 430, 71, 6);
    call(800, 810, 71, 7);
    call(950, 960, 70, 8);
    kernel(0, 1000, 1100, 7, 4);
    static const char *const expected[] = {"", "a", "a/b@c", "a/b@c/b", "a/b", "", "b/c", "a"};
    cr_assert(load() == CW_OK);
    for (uint32_t i = 0; i < t.call_count; i++) {
        const uint32_t n = t.calls[i].correlation - 1;
        const char *want = n == 7 ? "a" : n == 6 ? "a" : n == 5 ? "b/c" : expected[n];
        cr_expect_str_eq(path(t.calls[i].path), want, "call %u: '%s', expected '%s'", n, path(t.calls[i].path), want);
    }
    cr_assert(t.calls[3].other_thread == false && t.calls[4].other_thread == false);
    cr_assert_str_eq(path(t.gpu[0].path), "a/b@c/b");
    cr_assert(t.range_count == 5 && t.ranges[4].open && t.ranges[4].end == 1100);
    cr_assert_str_eq(path(t.ranges[1].path), "a/b@c");
    cr_assert_str_eq(path(t.ranges[3].path), "b/c");
    cr_assert(!t.ranges[2].pushed && t.unfollowed == 0);
}

/* A thread that has no range lends that of the only one that has. */
Test(timeline, calls_of_threads_without_ranges_have_those_of_the_only_other_thread)
{
    range(100, 900, 70, PUSH, 0, A);
    range(200, 300, 70, PUSH, 0, B);
    range(500, 600, 71, PUSH, 0, C);
    range(910, 920, 71, START, 0, C);
    call(50, 60, 72, 1);
    call(250, 260, 72, 2);
    call(310, 320, 72, 3);
    call(550, 560, 72, 4);
    call(610, 620, 72, 5);
    call(620, 630, 71, 6);
    call(900, 901, 72, 7);
    call(915, 916, 72, 8);
    call(925, 926, 72, 9);
    for (uint64_t i = 1; i < 10; i++)
        kernel(0, 1000 * i, 1000 * i + 100, 7, i);
    static const char *const expected[] = {"", "a/b", "a", "", "a", "a", "", "c", ""};
    cr_assert(load() == CW_OK && t.gpu_count == 9);
    for (uint32_t i = 0; i < t.gpu_count; i++) {
        const bool other = i != 7 && *expected[i];
        cr_expect_str_eq(path(t.gpu[i].path), expected[i], "%u: '%s'", i, path(t.gpu[i].path));
        cr_expect(t.gpu[i].other_thread == other, "%u", i);
        cr_expect(cw_timeline_own_path(&t.gpu[i]) == (other ? 0 : t.gpu[i].path), "%u", i);
    }
}

/* Ranges beyond the deepest are not followed, and do not keep others from it. */
Test(timeline, ranges_have_a_depth)
{
    for (uint64_t i = 0; i < 300; i++)
        range(100 + i, 2000 - i, 70, PUSH, 0, A);
    range(2100, 2200, 70, PUSH, 0, B);
    call(500, 510, 70, 1);
    call(2150, 2160, 70, 2);
    cr_assert(load() == CW_OK);
    cr_assert(t.unfollowed == 44 && t.paths[t.calls[0].path].depth == 256);
    cr_assert_str_eq(path(t.calls[1].path), "b");
}

/* A range that ends needs no look at the ranges around it, however many they are. */
Test(timeline, ranges_that_nest_are_all_followed)
{
    enum { DEEP = 250, LEAVES = 8000 };
    for (uint64_t i = 0; i < DEEP; i++)
        range(100 + i, 1000000 - i, 70, PUSH, 0, A);
    for (uint64_t i = 0; i < LEAVES; i++)
        range(1000 + 100 * i, 1050 + 100 * i, 70, PUSH, 0, B);
    call(1000 + 100 * LEAVES, 1010 + 100 * LEAVES, 70, 1);
    cr_assert(load() == CW_OK);
    cr_expect(t.unfollowed == 0, "%u", (unsigned)t.unfollowed);
    cr_expect(t.range_count == DEEP + LEAVES && t.paths[t.ranges[t.range_count - 1].path].depth == DEEP + 1);
    cr_expect_eq(t.paths[t.calls[0].path].depth, DEEP);
}

/* A range that ends before ranges within it leaves the path of the others. */
Test(timeline, ranges_end_in_any_order)
{
    range(100, 500, 70, PUSH, 0, A);
    range(110, 200, 70, PUSH, 0, B);
    range(120, 400, 70, PUSH, 0, C);
    range(125, 300, 71, START, 0, A);
    call(130, 131, 70, 1);
    call(250, 251, 70, 2);
    call(350, 351, 70, 3);
    range(360, 370, 70, PUSH, 0, B);
    call(365, 366, 70, 4);
    call(380, 381, 70, 5);
    call(450, 451, 70, 6);
    static const char *const expected[] = {"a/b/c/a", "a/c/a", "a/c", "a/c/b", "a/c", "a"};
    cr_assert(load() == CW_OK && t.call_count == 6);
    for (uint32_t i = 0; i < t.call_count; i++)
        cr_expect_str_eq(path(t.calls[i].path), expected[i], "%u: %s", i, path(t.calls[i].path));
}

/* A long path is the same text as the same path of a capture, which has it in full, and a path that differs within what
 * is left out is another text. */
Test(timeline, long_paths_are_elided)
{
    enum { LONG = 2000, FIRST = TEXTS, DEEP = 5 };
    static char names[2][LONG + 1], whole[DEEP * (LONG + 1)], elided[CW_TIMELINE_NAME_SIZE];
    const char *const more[] = {names[0], names[1]};
    memset(names[0], 'x', LONG);
    memset(names[1], 'x', LONG);
    names[1][LONG / 2] = 'y';
    cw_trace_write_texts(0, FIRST, more, 2, &file);
    for (uint64_t k = 0; k < 2; k++)
        for (uint64_t i = 0; i < DEEP; i++)
            range(1000 * k + 100 + i, 1000 * k + 900 - i, 70, PUSH, 0, k && i == 2 ? FIRST + 1 : FIRST);
    cr_assert(load() == CW_OK && t.path_count == 9 && t.path_size == CW_TIMELINE_NAME_SIZE);
    for (int i = 0; i < DEEP; i++)
        snprintf(whole + strlen(whole), sizeof whole - strlen(whole), "%s%s", i ? "/" : "", names[0]);
    cr_assert_str_eq(path(5), cw_elide(whole, elided, sizeof elided));
    cr_assert_str_neq(path(8), elided);
    cr_assert_str_eq(path(1), names[0]);
    const char *const *all = cw_timeline_path_texts(&t, false, arena);
    cr_assert_not_null(all);
    for (uint32_t i = 0; i < t.path_count; i++)
        cr_assert_str_eq(all[i], path(i));
}

/* Texts of paths take no more than a multiple of the file. */
Test(timeline, paths_that_are_much_longer_than_the_file_are_short)
{
    enum { LONG = 60000, LEAVES = 12000, FIRST = TEXTS };
    static char name[LONG + 1];
    static char leaves[LEAVES][8];
    static const char *more[LEAVES + 1] = {name};
    memset(name, 'x', LONG);
    for (int i = 0; i < LEAVES; i++) {
        snprintf(leaves[i], sizeof leaves[i], "%d", i);
        more[i + 1] = leaves[i];
    }
    cw_trace_write_texts(0, FIRST, more, LEAVES + 1, &file);
    range(100, 10000000, 70, PUSH, 0, FIRST);
    for (uint64_t i = 0; i < LEAVES; i++)
        range(200 + 2 * i, 201 + 2 * i, 70, PUSH, 0, FIRST + 1 + i);
    cr_assert(load() == CW_OK && t.path_count == LEAVES + 2);
    const char *const *all = cw_timeline_path_texts(&t, false, arena);
    size_t size = 0;
    for (uint32_t i = 0; all && i < t.path_count; i++)
        size += strlen(all[i]) + 1;
    cr_assert(all && size < ((size_t)16 << 20) + 32 * file.size, "%zu for %zu", size, file.size);
    for (uint32_t i = 3; i < t.path_count; i++)
        cr_assert_str_neq(all[i - 1], all[i]);
}

static const char *group_name(enum cw_timeline_by by, uint32_t first)
{
    static char text[CW_TIMELINE_NAME_SIZE];
    struct cw_timeline_group group = {.first = first};
    const struct cw_timeline_groups groups = {.t = &t, .by = by, .count = 1, .items = &group};
    return cw_timeline_group_name(&groups, 0, text);
}

/* Contexts of a process number their streams alike, and hosts and containers their processes. */
Test(timeline, names_tell_apart_what_differs)
{
    static const struct cw_pair hosts[] = {{"host", "a"}, {"host", "b"}, {"host", "b"}};
    static const struct cw_trace_device device[] = {{0, 4}};
    for (uint32_t p = 2; p < 5; p++) {
        const struct cw_trace_process of = {
            .pid = 80, .device_count = 1, .devices = device, .attribute_count = 1, .attributes = &hosts[p - 2]};
        cw_trace_write_process(p, &of, &file);
        cw_trace_write_texts(p, 1, others + 1, 2, &file);
    }
    for (uint64_t i = 0; i < 2; i++)
        ADD(0, KERNEL, {F(START), 100 + i}, {F(END), 200}, {F(DEVICE), 0}, {F(CONTEXT), 1 + i}, {F(STREAM), 7});
    kernel(0, 100, 200, 8, 1);
    for (uint32_t p = 1; p < 5; p++) {
        kernel(p, 100, 200, 7, 1);
        cw_add_rows_flush(&rows, p);
    }
    cr_assert(load() == CW_OK && t.gpu_count == 7, "%s, %u", err.message, t.gpu_count);
    static const struct {
        uint32_t process;
        uint64_t context, stream;
        const char *of_process, *of_stream;
    } wanted[] = {{0, 1, 7, "process 70", "process 70 stream 7 of context 1 device 4"},
                  {0, 2, 7, "process 70", "process 70 stream 7 of context 2 device 4"},
                  {0, 1, 8, "process 70", "process 70 stream 8 device 4"},
                  {1, 1, 7, "process 71 rank 3", "rank 3 stream 7 device 5 process 71"},
                  {2, 1, 7, "process 80 on a", "process 80 on a stream 7 device 4"},
                  {3, 1, 7, "process 80 on b #1", "process 80 on b #1 stream 7 device 4"},
                  {4, 1, 7, "process 80 on b #2", "process 80 on b #2 stream 7 device 4"}};
    for (size_t w = 0; w < sizeof wanted / sizeof *wanted; w++) {
        uint32_t found = 0;
        for (uint32_t i = 0; i < t.gpu_count; i++) {
            const struct cw_timeline_stream *s = &t.streams[t.gpu[i].stream];
            if (s->process != wanted[w].process || s->context != wanted[w].context || s->stream != wanted[w].stream)
                continue;
            found++;
            cr_expect_str_eq(group_name(CW_TIMELINE_BY_PROCESS, i), wanted[w].of_process);
            cr_expect_str_eq(group_name(CW_TIMELINE_BY_STREAM, i), wanted[w].of_stream);
        }
        cr_expect_eq(found, 1, "%zu", w);
    }
}

/* Versions of one call are two calls. */
Test(timeline, calls_lose_their_versions_where_they_differ_otherwise)
{
    static const char *const more[] = {"cudaGraphInstantiate_v10000", "cudaGraphInstantiate_v12000",
                                       "cudaMalloc_v3020"};
    cw_trace_write_texts(0, TEXTS, more, 3, &file);
    for (uint64_t i = 0; i < 3; i++)
        ADD(0, RUNTIME, {F(START), 100 + 10 * i}, {F(END), 105 + 10 * i}, {F(THREAD), 70}, {F(NAME), TEXTS + i});
    cr_assert(load() == CW_OK && t.call_count == 3);
    cr_expect_str_eq(t.names[t.calls[0].name].shown, more[0]);
    cr_expect_str_eq(t.names[t.calls[1].name].shown, more[1]);
    cr_expect_str_eq(t.names[t.calls[2].name].shown, "cudaMalloc");
}

/* The last account counts, and windows that touch are one. */
Test(timeline, books_and_windows)
{
    ADD(0, ACCOUNT, {F(TYPE), KERNEL}, {F(LAUNCHED), 10}, {F(RECORDED), 9});
    ADD(0, ACCOUNT, {F(TYPE), KERNEL}, {F(LAUNCHED), 20}, {F(RECORDED), 17}, {F(DROPPED), 3});
    ADD(0, WINDOW, {F(START), 500}, {F(END), 600});
    ADD(0, WINDOW, {F(START), 100}, {F(END), 200});
    ADD(1, WINDOW, {F(START), 150}, {F(END), 300});
    cr_assert(load() == CW_OK);
    cr_assert(t.account_count == 1 && t.accounts[0].launched == 20 && t.accounts[0].dropped == 3);
    cr_assert_str_eq(t.accounts[0].kind, "kernel");
    cr_assert(t.window_count == 2 && t.windows[0].start == 100 && t.windows[0].end == 300);
    cr_assert(t.start == 0 && t.end == 0);
}

/* Rows that cost nothing in a file would cost much in memory. */
Test(timeline, rows_that_are_too_many_are_refused)
{
    enum { BLOCKS = 64, ROWS = 1 << 16, FIELDS = 6, ALL_EQUAL = 0, ONE_EACH = 1 };
    for (int b = 0; b < BLOCKS; b++) {
        const size_t start = cw_chunk_begin(&file, CW_CHUNK_TRACE_ROWS, CW_CHUNK_OPTIONAL);
        cw_write_u32(&file, 0);
        cw_write_u32(&file, CW_TRACE_RUNTIME);
        cw_write_u32(&file, ROWS);
        cw_write_u8(&file, ONE_EACH);
        memset(cw_write_room(&file, ROWS), 1, ROWS);
        for (int f = 1; f < FIELDS; f++) {
            cw_write_u8(&file, ALL_EQUAL);
            cw_write_u8(&file, 1);
        }
        cw_chunk_end(&file, start);
    }
    char text[300];
    cr_assert(load() == CW_ERR_INPUT);
    cw_error_format(&err, text, sizeof text);
    cr_assert(strstr(text, "found 4194304 rows in"), "%s", text);
}

static void call_of(uint64_t start, uint64_t end, uint64_t thread, uint64_t name)
{
    ADD(0, RUNTIME, {F(START), start}, {F(END), end}, {F(THREAD), thread}, {F(CORRELATION), 99}, {F(NAME), name});
}

/* What held up the thread that launched next is the cause, also where another thread that launches did it. */
Test(timeline, idle_has_causes_of_all_threads)
{
    struct cw_timeline_usage usage;
    call(100, 150, 70, 1);
    kernel(0, 200, 300, 7, 1);
    call_of(400, 600, 70, MALLOC); /* of a thread that launches */
    call_of(500, 700, 72, MALLOC); /* and of one that does not */
    call_of(650, 680, 71, MALLOC);
    call(800, 850, 71, 2);
    kernel(0, 900, 1000, 7, 2);
    cr_assert(load() == CW_OK);
    cr_assert(cw_timeline_use(&usage, &t, NULL, 0, arena, &err) == CW_OK && usage.device_count == 1);
    const struct cw_device_usage *d = &usage.devices[0];
    cr_assert(d->traced == 900 && d->busy == 200 && d->idle == 700 && d->gaps == 2);
    cr_expect(d->causes[CW_IDLE_MEMORY] == 200 + 30, "%g", d->causes[CW_IDLE_MEMORY]);
    cr_expect(d->causes[CW_IDLE_OWN] == 500 - 230, "%g", d->causes[CW_IDLE_OWN]);
    cr_expect(d->causes[CW_IDLE_LAUNCH] == 100 + 100 && d->causes[CW_IDLE_QUEUED] == 0);
}

/* A call that begins with the gap, as the first of a trace does, launches; one before it leaves work queued. */
Test(timeline, a_launch_is_queued_from_before_its_gap)
{
    struct cw_timeline_usage usage;
    call(100, 105, 70, 1);
    kernel(0, 110, 300, 7, 1);
    call(300, 310, 70, 2);
    kernel(0, 350, 400, 7, 2);
    call(399, 405, 70, 3);
    kernel(0, 420, 500, 7, 3);
    cr_assert(load() == CW_OK);
    cr_assert(cw_timeline_use(&usage, &t, NULL, 0, arena, &err) == CW_OK && usage.device_count == 1);
    const struct cw_device_usage *d = &usage.devices[0];
    cr_expect(d->gaps == 3 && d->idle == 10 + 50 + 20);
    cr_expect(d->causes[CW_IDLE_LAUNCH] == 10 + 50, "%g", d->causes[CW_IDLE_LAUNCH]);
    cr_expect(d->causes[CW_IDLE_QUEUED] == 20, "%g", d->causes[CW_IDLE_QUEUED]);
}

/* Within some times alone, and windows. */
Test(timeline, usage_of_some_of_the_time)
{
    static const struct cw_timeline_window within[] = {{150, 250}, {280, 500}, {5000, 6000}};
    struct cw_timeline_usage usage;
    call(100, 150, 70, 1);
    kernel(0, 200, 300, 7, 1);
    call(700, 750, 70, 2);
    kernel(0, 900, 1000, 7, 2);
    cr_assert(load() == CW_OK);
    cr_assert(cw_timeline_use(&usage, &t, within, 3, arena, &err) == CW_OK);
    const struct cw_device_usage *d = &usage.devices[0];
    cr_expect(d->traced == 320 && d->busy == 70 && d->idle == 250 && d->gaps == 2);
    cr_expect(d->causes[CW_IDLE_QUEUED] == 50 && d->causes[CW_IDLE_OWN] == 200);
    ADD(0, WINDOW, {F(START), 100}, {F(END), 400});
    cr_assert(load() == CW_OK);
    cr_assert(cw_timeline_use(&usage, &t, within, 3, arena, &err) == CW_OK);
    cr_expect(usage.devices[0].traced == 220 && usage.devices[0].idle == 150);
    cr_expect(usage.devices[0].causes[CW_IDLE_UNKNOWN] == 100, "what comes after a window is not known");
}

/* So many launches started within a time as it says, and not more than in half of it. */
Test(timeline, latencies_are_exact)
{
    struct cw_timeline_usage usage;
    for (uint64_t i = 1; i <= 200; i++) { /* 1000 ns apart; the last starts after 201 ns */
        call(1000 * i, 1000 * i + 1, 70, i);
        kernel(0, 1000 * i + 1 + i, 1000 * i + 300, 7, i);
    }
    call(500000, 500001, 70, 999); /* behind another */
    call(500002, 500003, 70, 1000);
    kernel(0, 500010, 500600, 7, 999);
    kernel(0, 500700, 500800, 7, 1000);
    cr_assert(load() == CW_OK && cw_timeline_use(&usage, &t, NULL, 0, arena, &err) == CW_OK);
    const struct cw_latency *l = &usage.at_once;
    cr_expect(l->count == 201 && usage.queued.count == 1 && usage.queued.within[CW_LATENCY_HALF] == 698);
    cr_expect(l->within[CW_LATENCY_HALF] == 101, "of 2 to 201 and 10 the 101st: %g",
              (double)l->within[CW_LATENCY_HALF]);
    cr_expect(l->within[CW_LATENCY_90] == 181 && l->within[CW_LATENCY_99] == 199 && l->within[CW_LATENCY_ALL] == 201);
}

static void memory(uint64_t time, uint64_t type, uint64_t kind, uint64_t address, uint64_t bytes)
{
    ADD(0, ALLOCATION, {F(TIME), time}, {F(TYPE), type}, {F(MEMORY), kind}, {F(ADDRESS), address}, {F(BYTES), bytes},
        {F(DEVICE), 0});
}

/* Rows of memory come in any order. What is freed is as large as what was allocated; what was there before is no less
 * than nothing. */
Test(timeline, memory_is_added_up_in_the_order_of_time)
{
    static const struct {
        uint64_t time;
        double now;
    } expected[] = {{50, 0}, {100, 1000}, {200, 0}, {300, 500}, {300, 800}, {400, 800}, {500, 300}};
    struct cw_memory_changes changes;
    memory(300, ALLOCATE, DEVICE, 2, 500);
    memory(300, ALLOCATE, DEVICE, 3, 300);
    memory(500, FREE, DEVICE, 2, CW_TRACE_UNKNOWN);
    memory(100, ALLOCATE, DEVICE, 1, 1000);
    memory(200, FREE, NONE, 1, 7);
    memory(50, FREE, DEVICE, 9, 4000);
    memory(400, ALLOCATE, PINNED, 4, 800);
    memory(0, ALLOCATE, DEVICE, 5, 1 << 20); /* nobody knows when */
    cr_assert(load() == CW_OK);
    cr_assert(cw_timeline_find_memory(&changes, &t, &err) == CW_OK && changes.count == 7 && changes.use_count == 2);
    for (size_t i = 0; i < changes.count; i++) {
        cr_expect(changes.items[i].time == expected[i].time && changes.items[i].now == expected[i].now, "%zu: %g", i,
                  changes.items[i].now);
        cr_expect(changes.items[i].use == (i == 5), "%zu", i);
    }
    cw_memory_changes_free(&changes);
}

static enum cw_status find_memory_again(struct cw_arena *own, struct cw_error *error)
{
    struct cw_memory_changes changes;
    const enum cw_status status = cw_timeline_find_memory(&changes, &t, error);
    (void)own;
    cw_memory_changes_free(&changes);
    return status;
}

Test(timeline, memory_runs_out_of_memory_anywhere)
{
    memory(100, ALLOCATE, DEVICE, 1, 1000);
    cr_assert(load() == CW_OK);
    const long count = cw_alloc_fail_each(find_memory_again);
    cr_assert(count > 5, "%ld", count);
}

static enum cw_status load_again(struct cw_arena *own, struct cw_error *error)
{
    struct cw_timeline again;
    const enum cw_status status = cw_timeline_load(&again, &trace, &data, file.size, own, error);
    cw_timeline_free(&again);
    return status;
}

Test(timeline, runs_out_of_memory_anywhere)
{
    range(100, 900, 70, PUSH, 0, A);
    call(210, 220, 70, 3);
    kernel(0, 1000, 1100, 7, 3);
    ADD(0, ACCOUNT, {F(TYPE), KERNEL}, {F(LAUNCHED), 10}, {F(RECORDED), 9});
    cr_assert(load() == CW_OK);
    const long count = cw_alloc_fail_each(load_again);
    cr_assert(count > 40, "%ld", count);
}

/* ---- as ranges --------------------------------------------------------------------------------------------------- */

static void as_ranges(struct cw_counter_data *made, bool patterns, const struct cw_timeline_keep *keep)
{
    cr_assert(cw_timeline_as_ranges(made, &t, patterns, keep, arena, &err) == CW_OK, "%s", err.message);
}

static void expect_repeats(const struct cw_counter_data *made, uint32_t launches, const uint32_t *numbers,
                           const double *durations, uint32_t count)
{
    const struct cw_repeats *r = made->repeats;
    cr_assert(r && made->range_count == count && r->launch_count == launches, "%u of %u", made->range_count,
              r->launch_count);
    for (uint32_t i = 0; i < count; i++)
        cr_expect(r->numbers[i] == numbers[i] && r->durations[i] == durations[i], "%u: %u, %g", i, r->numbers[i],
                  r->durations[i]);
}

/* What is alike is one launch: a kernel of one shape on any stream, a copy between the same kinds of memory. */
Test(timeline, items_of_gpus_are_ranges)
{
    static const uint32_t numbers[] = {0, 1, 0, 2, 3, 4, 0, 5}, some_numbers[] = {0, 1};
    static const double durations[] = {100, 30, 50, 25, 5, 70, 90, 100}, some_durations[] = {30, 5};
    static const bool keep[] = {false, true, false, false, true, false, false, false};
    static const struct cw_timeline_keep some = {.gpu = keep}, all = {0};
    struct cw_counter_data made;
    ADD(0, SHAPE, {F(ID), 9}, {F(NAME), GEMM}, {F(GRID_X), 8}, {F(GRID_Y), 2}, {F(GRID_Z), 1}, {F(BLOCK_X), 128},
        {F(BLOCK_Y), 1}, {F(BLOCK_Z), 3});
    ADD(0, SHAPE, {F(ID), 8}, {F(NAME), GEMM}, {F(GRID_X), 16}, {F(BLOCK_X), 128});
    ADD(1, SHAPE, {F(ID), 9}, {F(NAME), 2}, {F(GRID_X), 8}, {F(GRID_Y), 2}, {F(GRID_Z), 1}, {F(BLOCK_X), 128},
        {F(BLOCK_Y), 1}, {F(BLOCK_Z), 3});
    kernel(0, 100, 200, 7, 1);
    ADD(0, COPY, {F(START), 210}, {F(END), 240}, {F(DEVICE), 0}, {F(CONTEXT), 1}, {F(STREAM), 7}, {F(BYTES), 4096},
        {F(DIRECTION), HTOD}, {F(SOURCE), PINNED});
    kernel(0, 300, 350, 7, 2);
    ADD(0, COPY, {F(START), 400}, {F(END), 425}, {F(DEVICE), 0}, {F(CONTEXT), 1}, {F(STREAM), 7}, {F(BYTES), 4096},
        {F(DIRECTION), HTOD}, {F(SOURCE), DEVICE});
    ADD(0, MEMSET, {F(START), 430}, {F(END), 435}, {F(DEVICE), 0}, {F(CONTEXT), 1}, {F(STREAM), 7});
    ADD(0, KERNEL, {F(START), 500}, {F(END), 570}, {F(DEVICE), 0}, {F(CONTEXT), 1}, {F(STREAM), 7}, {F(CORRELATION), 3},
        {F(SHAPE), 8});
    kernel(0, 80, 170, 13, 4);
    kernel(1, 60, 160, 7, 1);
    cr_assert(load() == CW_OK && t.gpu_count == 8);
    as_ranges(&made, false, &all);
    expect_repeats(&made, 6, numbers, durations, 8);
    const struct cw_range *l = made.repeats->launches;
    cr_expect(made.repeats->first_ns == 60 && made.device_count == 2 && !made.directory);
    cr_expect_str_eq(l[0].kernel, "_Z4gemmIfEvPT_");
    cr_expect_str_eq(l[0].name, "void gemm<float>(float*)");
    cr_expect(l[0].process == 70 && l[0].device == 0 && l[0].context == 1 && l[0].stream == 7 && l[0].start_ns == 100 &&
              l[0].end_ns == 200 && !l[0].attribute_count);
    cr_expect(l[0].grid[0] == 8 && l[0].grid[1] == 2 && l[0].block[0] == 128 && l[0].block[2] == 3);
    cr_expect(l[1].name == l[1].kernel && strstr(l[1].name, "HtoD") && !l[1].grid[0] && !l[1].block[0]);
    cr_expect(strcmp(l[1].name, l[2].name) != 0 && strcmp(l[3].name, l[2].name) != 0);
    cr_expect(l[4].grid[0] == 16 && l[5].process == 71 && l[5].device == 1);
    as_ranges(&made, false, &some);
    expect_repeats(&made, 2, some_numbers, some_durations, 2);
    cr_expect(made.repeats->first_ns == 210);
    data.device_count = 0;
    data.devices = NULL;
    data.directory = (const struct cw_directory *)&made; /* what is made has none */
    data.schema.pass_count = 2;
    as_ranges(&made, false, &some);
    cr_assert(made.device_count == 1 && made.devices && !made.directory, "a range has one");
    cr_expect(made.devices[0].attribute_count == 0);
    cr_expect(isnan(made.repeats->durations[0]), "of one of several passes nobody knows it");
    data.schema.pass_count = 1;
    as_ranges(&made, false, &some);
    cr_expect(made.repeats->durations[0] == 30);
}

/* With patterns, launches within other NVTX ranges are others; the ranges themselves go by their paths. */
Test(timeline, ranges_of_nvtx_are_ranges)
{
    static const uint32_t flat[] = {0, 0, 0}, numbers[] = {0, 1, 2}, nvtx[] = {0, 1, 0, 2};
    static const double durations[] = {100, 100, 100}, times[] = {300, 50, 180, 40}, some_times[] = {50};
    struct cw_counter_data made;
    ADD(0, SHAPE, {F(ID), 9}, {F(NAME), GEMM}, {F(GRID_X), 8}, {F(BLOCK_X), 128});
    range(100, 400, 70, PUSH, 0, A);
    range(200, 250, 70, PUSH, 0, B);
    range(420, 600, 70, PUSH, 0, A);
    range(700, 740, 70, PUSH, 0, C);
    call(110, 120, 70, 1);
    call(210, 220, 70, 2);
    call(800, 810, 70, 3);
    for (uint64_t i = 1; i <= 3; i++)
        kernel(0, 1000 * i, 1000 * i + 100, 7, i);
    cr_assert(load() == CW_OK && t.gpu_count == 3 && t.range_count == 4);
    as_ranges(&made, false, NULL);
    expect_repeats(&made, 1, flat, durations, 3);
    as_ranges(&made, true, NULL);
    expect_repeats(&made, 3, numbers, durations, 3);
    const struct cw_range *l = made.repeats->launches;
    cr_assert(l[0].attribute_count == 1 && l[1].attribute_count == 1 && l[2].attribute_count == 0);
    cr_expect_str_eq(l[0].attributes->key, "nvtx");
    cr_expect_str_eq(l[0].attributes->value, "a");
    cr_expect_str_eq(l[1].attributes->value, "a/b");
    cr_assert(cw_timeline_nvtx_as_ranges(&made, &t, NULL, arena, &err) == CW_OK);
    expect_repeats(&made, 3, nvtx, times, 4);
    l = made.repeats->launches;
    cr_expect_str_eq(l[0].name, "a");
    cr_expect_str_eq(l[1].name, "a/b");
    cr_expect_str_eq(l[2].name, "c");
    cr_expect(!*l[0].kernel && l[0].process == 70 && l[0].start_ns == 100 && l[0].end_ns == 400 &&
              made.repeats->first_ns == 100);
    bool paths[8] = {false};
    const struct cw_timeline_keep some = {.paths = paths};
    cr_assert(t.path_count <= 8);
    paths[t.ranges[1].path] = true;
    cr_assert(cw_timeline_nvtx_as_ranges(&made, &t, &some, arena, &err) == CW_OK);
    expect_repeats(&made, 1, flat, some_times, 1);
    cr_expect_str_eq(made.repeats->launches[0].name, "a/b");
}

/* Alike are events of one type, cause and pair of devices, the longest first. */
Test(timeline, events_of_unified_memory_add_up)
{
    struct cw_timeline_extra extra;
    ADD(0, UNIFIED, {F(START), 100}, {F(END), 110}, {F(TYPE), PINNED}, {F(VALUE), 4096}, {F(TARGET_DEVICE), 0});
    ADD(0, UNIFIED, {F(START), 200}, {F(END), 260}, {F(TYPE), PINNED}, {F(VALUE), 8192}, {F(TARGET_DEVICE), 0});
    ADD(0, UNIFIED, {F(START), 300}, {F(END), 300}, {F(TYPE), DEVICE}, {F(CAUSE), A});
    ADD(0, UNIFIED, {F(START), 400}, {F(TYPE), PINNED}, {F(VALUE), 1}, {F(SOURCE_DEVICE), 0});
    ADD(0, UNIFIED, {F(START), 400}, {F(END), 300}, {F(TYPE), PINNED}, {F(VALUE), 1}, {F(SOURCE_DEVICE), 0});
    cr_assert_eq(load(), CW_OK, "%s", err.message);
    cr_assert_eq(cw_timeline_find_extra(&extra, &t, arena, &err), CW_OK);
    cr_assert_eq(extra.unified_count, 3);
    const struct cw_unified_use *u = extra.unified;
    cr_expect(u[0].events == 2 && u[0].value == 12288 && u[0].ns == 70 && u[0].cause == 0);
    cr_expect_str_eq(t.names[u[0].type].text, "pinned");
    cr_expect(u[0].source == CW_NO_TRACE_DEVICE && data.devices[u[0].target].index == 4);
    cr_expect(u[1].events == 2 && u[1].value == 2 && u[1].ns == 0 && u[1].target == CW_NO_TRACE_DEVICE);
    cr_expect(u[2].events == 1 && u[2].value == 0 && u[2].cause != 0);
}
