#include "eval/join/joined.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "eval/compare/timeline_as_ranges.h"
#include "image/data_chunks.h"
#include "tests/support/add_rows.h"
#include "tests/support/alloc_fail.h"

#define F(id) CW_FIELD_##id
#define ADD(kind, ...) CW_ADD_ROW(&rows, 0, kind, __VA_ARGS__)

enum { NONE, ADDS, MULS, LAUNCH, PUSH, STEP, KERNEL, TEXTS };
static const char *const texts[] = {"", "adds", "muls", "cudaLaunchKernel_v7000", "push", "step", "kernel"};

static struct cw_arena *arena;
static struct cw_writer file;
static struct cw_add_rows rows;
static struct cw_counter_data data, counted;
static struct cw_trace trace;
static struct cw_timeline t;
static struct cw_joined joined;
static struct cw_error err;
static struct cw_range ranges[16];

static void set_up(void)
{
    static const struct cw_schema schema = {.chip = "GH100", .producer = "test", .profiler = CW_PROFILER_TRACE};
    static const struct cw_trace_device own[] = {{0, 0}};
    static const struct cw_trace_process process = {.pid = 70, .device_count = 1, .devices = own};
    arena = cw_arena_create();
    err = (struct cw_error)CW_ERROR_INIT;
    cw_writer_init(&file);
    rows = (struct cw_add_rows){.out = &file};
    cw_schema_write_header(&schema, &file);
    cw_schema_write(&schema, &file);
    cw_trace_write_kinds(&file);
    cw_counter_data_write_device(&schema, &(struct cw_device){.index = 0}, &file);
    cw_trace_write_process(0, &process, &file);
    cw_trace_write_texts(0, 1, texts + 1, TEXTS - 1, &file);
    for (uint64_t shape = ADDS; shape <= MULS; shape++)
        ADD(SHAPE, {F(ID), shape}, {F(NAME), shape}, {F(GRID_X), 8}, {F(GRID_Y), 1}, {F(GRID_Z), 1}, {F(BLOCK_X), 128},
            {F(BLOCK_Y), 1}, {F(BLOCK_Z), 1});
    counted = (struct cw_counter_data){.ranges = ranges};
}

static void tear_down(void)
{
    cw_timeline_free(&t);
    cw_add_rows_free(&rows);
    cw_arena_destroy(arena);
    cw_writer_free(&file);
}

TestSuite(joined, .init = set_up, .fini = tear_down);

/* A launch of a thread at `called`, which ran from `start` to `end`; in a graph unless that is 0. */
static void launch(uint64_t name, uint64_t thread, uint64_t called, uint64_t start, uint64_t end, uint64_t correlation,
                   uint64_t graph)
{
    ADD(RUNTIME, {F(START), called}, {F(END), called + 10}, {F(THREAD), thread}, {F(CORRELATION), correlation},
        {F(NAME), LAUNCH}, {F(RESULT), 0});
    ADD(KERNEL, {F(START), start}, {F(END), end}, {F(DEVICE), 0}, {F(CONTEXT), 1}, {F(STREAM), 7},
        {F(CORRELATION), correlation}, {F(SHAPE), name}, {F(GRAPH), graph ? graph : CW_TRACE_UNKNOWN});
}

static void push(uint64_t thread, uint64_t start, uint64_t end)
{
    ADD(NVTX_RANGE, {F(START), start}, {F(END), end}, {F(THREAD), thread}, {F(TYPE), PUSH}, {F(NAME), STEP});
}

/* A range of the other run, of 8 x 128 as kernels are; `nvtx` may be NULL. */
static void count(const char *kernel, const struct cw_pair *nvtx, uint64_t ns)
{
    static double times[64];
    times[counted.range_count] = (double)ns;
    ranges[counted.range_count] = (struct cw_range){.name = *kernel ? kernel : "step",
                                                    .kernel = kernel,
                                                    .process = 900,
                                                    .grid = {8, 1, 1},
                                                    .block = {128, 1, 1},
                                                    .durations = &times[counted.range_count],
                                                    .attribute_count = nvtx ? 1 : 0,
                                                    .attributes = nvtx};
    cr_assert(++counted.range_count <= sizeof times / sizeof *times);
}

static void load(void)
{
    const struct cw_range *all = counted.ranges;
    const uint32_t range_count = counted.range_count;
    cw_add_rows_flush(&rows, 0);
    cr_assert(cw_counter_data_read(&data, file.data, file.size, "t.cwd", arena, &err) == CW_OK);
    cr_assert(cw_trace_read(&trace, data.devices, data.device_count, file.data, file.size, "t.cwd", arena, &err) ==
              CW_OK);
    cr_assert(cw_timeline_load(&t, &trace, &data, file.size, arena, &err) == CW_OK);
    counted = data;
    counted.ranges = all;
    counted.range_count = range_count;
    counted.schema.pass_count = 1;
}

static void join(void)
{
    load();
    cr_assert(cw_joined_make(&joined, &t, &counted, &cw_timeline_no_chip, arena, &err) == CW_OK, "%s", err.message);
}

/* The n-th of those that are alike is the n-th, with the times of the trace: gaps of the device, and from the call. */
Test(joined, launches_have_twins_gaps_and_latencies)
{
    launch(ADDS, 70, 100, 200, 300, 1, 0);
    launch(MULS, 70, 150, 350, 450, 2, 0);
    launch(ADDS, 70, 250, 400, 500, 3, 0);
    launch(ADDS, 70, 600, 800, 900, 4, 0);
    count("muls", NULL, 50), count("adds", NULL, 100), count("adds", NULL, 150), count("subs", NULL, 1);
    join();
    static const uint32_t twins[] = {1, 0, 2, CW_NO_TWIN};
    static const double gaps[] = {NAN, 50, 0, 300}, latencies[] = {100, 200, 150, 200};
    cr_assert(joined.count == 4 && joined.whole == 400 && !joined.unnumbered && !joined.of_ranges && !joined.of_graphs);
    for (uint32_t i = 0; i < joined.count; i++) {
        const struct cw_joined_launch *l = &joined.launches[i];
        cr_expect(joined.join.a.twin[i] == twins[i], "%u", i);
        cr_expect(l->gap == gaps[i] || (isnan(l->gap) && isnan(gaps[i])), "%u: %g", i, l->gap);
        cr_expect(l->latency == latencies[i] && l->ns == 100 && l->process == 0, "%u: %g", i, l->latency);
    }
    cr_expect(joined.join.a.how[3] == CW_JOIN_FEWER && joined.join.b.how[3] == CW_JOIN_NO_KERNEL);
}

/* A row has the launches of a kernel, and how long those that have a twin took in either run. */
Test(joined, rows_of_kernels)
{
    struct cw_joined_rows made;
    launch(ADDS, 70, 100, 200, 300, 1, 0);
    launch(ADDS, 70, 250, 400, 500, 2, 0);
    launch(ADDS, 70, 600, 800, 900, 3, 0);
    launch(MULS, 70, 1000, 1100, 1150, 4, 0);
    count("adds", NULL, 120), count("adds", NULL, 140);
    join();
    cr_assert(cw_joined_rows_make(&made, &joined, CW_BY_KERNEL, 100, arena, &err) == CW_OK);
    cr_assert(made.groups.count == 2 && made.left == 0);
    const struct cw_joined_row *adds = &made.rows[0], *muls = &made.rows[1];
    cr_expect(made.groups.items[0].count == 3 && made.groups.items[0].total == 300);
    cr_expect(adds->twins == 2 && adds->like == 1 && adds->none == 0);
    cr_expect(adds->gap == 200 && adds->latency == (100 + 150 + 200) / 3.0, "%g %g", adds->gap, adds->latency);
    cr_expect(adds->counted == 130 && adds->beside == 100, "%g %g", adds->counted, adds->beside);
    cr_expect(fabs(cw_joined_slower(adds) - 0.3) < 1e-9);
    cr_expect(muls->twins == 0 && muls->none == 1 && isnan(muls->counted) && cw_joined_slower(muls) == 0);
    cr_assert(cw_joined_rows_make(&made, &joined, CW_BY_KERNEL, 1, arena, &err) == CW_OK);
    cr_expect(made.groups.count == 1 && made.left == 1 && made.left_time == 50);
}

/* Launches go by the NVTX ranges of their own thread: the other run knows no others. */
Test(joined, paths_are_those_of_the_launching_thread)
{
    static const struct cw_pair step = {"nvtx", "step"};
    push(70, 50, 1000);
    launch(ADDS, 70, 100, 200, 300, 1, 0);
    launch(ADDS, 71, 250, 400, 500, 2, 0); /* of a thread without ranges */
    count("adds", NULL, 100), count("adds", &step, 100);
    join();
    cr_assert(joined.join.paths && t.gpu[1].other_thread && t.gpu[1].path == t.gpu[0].path);
    cr_expect(joined.join.a.twin[0] == 1 && joined.join.a.twin[1] == 0);
    cr_expect_str_eq(joined.traced.launches[1].path, "");
}

/* A graph that was counted as one is one launch, from its first start to its last end. */
Test(joined, graphs_are_one_launch)
{
    launch(ADDS, 70, 100, 200, 300, 1, 5);
    ADD(KERNEL, {F(START), 310}, {F(END), 380}, {F(DEVICE), 0}, {F(CONTEXT), 1}, {F(STREAM), 7}, {F(CORRELATION), 1},
        {F(SHAPE), MULS}, {F(GRAPH), 5});
    launch(ADDS, 70, 500, 600, 700, 2, 0);
    count("graph (2 kernels)", NULL, 200), count("adds", NULL, 100);
    join();
    cr_assert(joined.of_graphs && joined.count == 2);
    cr_expect(joined.launches[0].ns == 180 && joined.join.a.twin[0] == 0 && joined.join.a.twin[1] == 1);
    cr_expect_str_eq(joined.traced.launches[0].kernel, "graph (2 kernels)");
}

/* Where user ranges were counted, launches are NVTX ranges, as long as the kernels that their thread launched. */
Test(joined, user_ranges)
{
    static const struct cw_pair step = {"nvtx", "step"};
    push(70, 50, 400);
    push(70, 450, 700);
    launch(ADDS, 70, 100, 200, 300, 1, 0);
    launch(MULS, 70, 150, 350, 420, 2, 0);
    launch(ADDS, 70, 500, 600, 700, 3, 0);
    launch(ADDS, 70, 800, 900, 990, 4, 0);
    count("", &step, 500), count("", &step, 600), count("", &step, 600);
    join();
    cr_assert(joined.of_ranges && joined.count == 2 && joined.whole == 360);
    cr_expect(joined.launches[0].ns == 170 && joined.launches[1].ns == 100);
    cr_expect(joined.join.a.twin[0] == 0 && joined.join.a.twin[1] == 1);
    cr_expect(joined.join.b.how[2] == CW_JOIN_FEWER);
}

Test(joined, says_why_nobody_knows_which_is_the_nth)
{
    launch(ADDS, 70, 100, 200, 300, 1, 0);
    ADD(ACCOUNT, {F(TYPE), KERNEL}, {F(LAUNCHED), 3}, {F(RECORDED), 1}, {F(DROPPED), 2});
    count("adds", NULL, 100);
    join();
    cr_assert_str_eq(joined.unnumbered, "the trace lost kernels");
    cr_expect(joined.join.a.how[0] == CW_JOIN_UNNUMBERED && joined.join.a.twin[0] == CW_NO_TWIN);
    t.accounts[0].dropped = 0;
    t.untimed[CW_TRACE_KERNEL] = 1;
    cr_assert(cw_joined_make(&joined, &t, &counted, &cw_timeline_no_chip, arena, &err) == CW_OK);
    cr_assert_str_eq(joined.unnumbered, "the trace has kernels without times");
    t.untimed[CW_TRACE_KERNEL] = 0;
    t.window_count = 1;
    cr_assert(cw_joined_make(&joined, &t, &counted, &cw_timeline_no_chip, arena, &err) == CW_OK);
    cr_assert_str_eq(joined.unnumbered, "the program was traced in windows");
    t.window_count = 0;
}

static enum cw_status join_again(struct cw_arena *own, struct cw_error *error)
{
    struct cw_joined again;
    struct cw_joined_rows made;
    const enum cw_status status = cw_joined_make(&again, &t, &counted, &cw_timeline_no_chip, own, error);
    return status == CW_OK ? cw_joined_rows_make(&made, &again, CW_BY_NVTX, 10, own, error) : status;
}

Test(joined, runs_out_of_memory_anywhere)
{
    static const struct cw_pair step = {"nvtx", "step"};
    push(70, 50, 1000);
    launch(ADDS, 70, 100, 200, 300, 1, 0);
    count("adds", &step, 100);
    join();
    const long tries = cw_alloc_fail_each(join_again);
    cr_assert(tries > 30, "%ld", tries);
}
