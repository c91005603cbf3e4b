/* When of a program's time is captured: whole periods of its launches, from one time to another, between calls of the
 * profiler's API; by each way to collect launches. A launch takes a millisecond. */
#include <criterion/criterion.h>
#include <malloc.h>

#include "agent/common/steady_report.h"
#include "agent/inject/driver/reach.h"
#include "agent/inject/modes/batches.h"
#include "agent/inject/modes/multiplex.h"
#include "agent/inject/modes/range.h"
#include "agent/inject/ranges/gate.h"
#include "agent/inject/ranges/user_ranges.h"
#include "tests/support/fake_profiler.h"

enum { KERNEL = CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, MS = 1000000, STEP = 20, ROOM = 64 };

static const struct cw_inject_mode *mode;
static const CUcontext context = (CUcontext)0x10;
static uint32_t correlation, reports, steps;
static struct cw_steady_report report;

static CUresult launch_again(const CUlaunchConfig *config, CUfunction function, void **list, void **extra)
{
    (void)list;
    cr_expect(config && !function && !extra && fake_profiler.running);
    return CUDA_SUCCESS;
}

/* Kernels of the same block are alike. */
static void kernel(uint32_t block)
{
    const uint32_t number = ++correlation;
    const cuLaunchKernel_params params = {.gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = block};
    fake_launch_begins(mode, KERNEL, &params, context, number);
    fake_profiler.now_ns += MS;
    fake_launch_ends(mode, KERNEL, &params, context, number, CUDA_SUCCESS);
}

static void warm_up(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        kernel(1000 + i);
}

static void step(void)
{
    for (uint32_t i = 0; i < STEP; i++)
        kernel(1 + i);
    steps++;
}

static void hear(enum cw_message_type type, const struct cw_writer *message)
{
    struct cw_reader in;
    if (type != CW_MESSAGE_STEADY)
        return;
    cw_reader_init(&in, message->data, message->size, "report", 0, NULL);
    cw_steady_report_read(&in, &report);
    cr_expect(cw_reader_finish(&in, "a report") == CW_OK);
    reports++;
}

static void begin(const struct cw_inject_mode *which, enum cw_replay_kind replay, bool user,
                  struct cw_trace_window_options when)
{
    struct cw_writer setup;
    const bool in_turn = replay == CW_REPLAY_MULTIPLEX;
    mode = which;
    fake_profiler_begin(&setup,
                        replay == CW_REPLAY_BATCH ? FAKE_PARTS
                        : in_turn                 ? FAKE_PASSES
                                                  : 1,
                        replay == CW_REPLAY_BATCH ? FAKE_PASSES : 1);
    fake_profiler.in_turn = in_turn;
    fake_profiler.now_ns = 1000ull * MS;
    fake_profiler.hear = hear;
    fake_when = when;
    cw_store_u32(setup.data, ROOM);
    fake_ask(&setup, replay, user, NULL);
    if (in_turn) {
        cw_write_u32(&setup, 1);
        cw_write_u32(&setup, 0);
    }
    cw_inject->api.cuLaunchKernelEx = launch_again;
    cw_reach_init();
    fake_profiler.current = context;
    fake_setup(mode, &setup);
    mode->context_created(context, 0);
}

static void end(void)
{
    cw_gate_finish();
    mode->finish();
    cr_expect(!cw_inject->over, "%s", fake_profiler.failure);
    mode->context_destroyed(context);
    cr_expect_eq(fake_profiler.skipped, 0);
    fake_profiler_end();
}

/* Those that are wanted. */
static uint32_t captured(void)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < fake_profiler.sent_count; i++)
        count += !fake_profiler.sent[i].unwanted;
    return count;
}

/* ---- periods ---------------------------------------------------------------------------------------------------- */

static const struct {
    const struct cw_inject_mode *mode;
    enum cw_replay_kind replay;
} ways[] = {{&cw_inject_batch, CW_REPLAY_BATCH},
            {&cw_inject_range, CW_REPLAY_KERNEL},
            {&cw_inject_range, CW_REPLAY_APPLICATION},
            {&cw_inject_multiplex, CW_REPLAY_MULTIPLEX}};

Test(gate, so_many_whole_periods_are_captured_by_each_way)
{
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        begin(ways[w].mode, ways[w].replay, false, (struct cw_trace_window_options){.periods = 2});
        warm_up(100);
        cr_expect_eq(fake_profiler.starts, 0, "warm-up is undisturbed");
        for (int i = 0; i < 60; i++)
            step();
        cr_expect_eq(fake_profiler.running, 0, "what comes behind it is, too");
        end();
        cr_assert_eq(captured(), 2 * STEP);
        uint32_t first = fake_profiler.sent[0].block[0], k = 0;
        for (uint32_t i = 0; i < fake_profiler.sent_count; i++) {
            const struct cw_launch *l = &fake_profiler.sent[i];
            if (l->unwanted)
                continue;
            cr_expect_eq(l->block[0], 1 + (first - 1 + k) % STEP, "in their order, none left out");
            cr_expect_eq(l->period, 1 + k++ / STEP);
        }
        cr_expect_eq(first, 1, "from the step's first on");
        cr_expect(report.period.found && report.period.launches == STEP && report.count == 2);
        cr_expect_eq(report.period.before, 100);
        cr_expect_eq(report.period.count, 59);
        cr_expect(cw_steady_share(&report) > 0.9 && cw_steady_share(&report) < 0.95);
    }
}

Test(gate, all_periods_are_captured_to_the_end)
{
    begin(&cw_inject_batch, CW_REPLAY_BATCH, false, (struct cw_trace_window_options){.periods = CW_EVERY_PERIOD});
    warm_up(100);
    for (int i = 0; i < 100; i++)
        step();
    end();
    cr_expect(captured() >= 70 * STEP && captured() < 98 * STEP);
    cr_expect_eq(captured() % STEP, 0);
    cr_expect_eq(report.count + 1, captured() / STEP, "the last one has no end");
}

/* A batch holds whole periods, as many as there is room for. */
Test(gate, batches_end_at_periods)
{
    begin(&cw_inject_batch, CW_REPLAY_BATCH, false, (struct cw_trace_window_options){.periods = 7});
    for (int i = 0; i < 60; i++)
        step();
    cr_expect_eq(fake_profiler.batches, 3, "of 3, 3 and 1 periods");
    end();
    cr_expect_eq(captured(), 7 * STEP);
}

/* What the agent was told before the end is there where the program is killed. */
Test(gate, a_period_is_told_as_soon_as_it_is_found)
{
    begin(&cw_inject_batch, CW_REPLAY_BATCH, false, (struct cw_trace_window_options){.periods = 1});
    while (!reports && steps < 100)
        step();
    cr_expect_eq(reports, 1);
    cr_expect(report.period.found && report.period.launches == STEP && !report.count);
    step();
    cr_expect_eq(reports, 2);
    cr_expect_eq(report.count, 1);
    end();
}

Test(gate, nothing_is_captured_where_nothing_repeats_and_that_is_told)
{
    begin(&cw_inject_batch, CW_REPLAY_BATCH, false, (struct cw_trace_window_options){.periods = 2});
    warm_up(3000);
    end();
    cr_expect_eq(captured(), 0);
    cr_expect_eq(reports, 1);
    cr_expect(!report.period.found && !report.given_up && report.period.all == 3000);
}

Test(gate, after_five_minutes_without_a_period_all_is_captured)
{
    begin(&cw_inject_batch, CW_REPLAY_BATCH, false, (struct cw_trace_window_options){.periods = 2});
    warm_up(100);
    fake_profiler.now_ns += 301000ull * MS;
    warm_up(50);
    end();
    cr_expect_eq(captured(), 50);
    cr_expect(!report.period.found && report.given_up);
    cr_expect_eq(fake_profiler.sent[0].period, 0);
}

/* ---- times and calls -------------------------------------------------------------------------------------------- */

Test(gate, from_one_time_to_another)
{
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        begin(ways[w].mode, ways[w].replay, false,
              (struct cw_trace_window_options){.delay_ns = 100ull * MS, .duration_ns = 50ull * MS});
        for (uint32_t i = 0; i < 300; i++)
            kernel(1 + i);
        cr_expect_eq(fake_profiler.running, 0);
        end();
        cr_assert_eq(captured(), 50);
        cr_expect_eq(fake_profiler.sent[0].block[0], 101);
        cr_expect_eq(fake_profiler.sent[0].period, 0);
    }
    cr_expect_eq(reports, 0, "nobody asked");
}

Test(gate, between_calls_of_the_profilers_api)
{
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        begin(ways[w].mode, ways[w].replay, false, (struct cw_trace_window_options){.profiler = true});
        cr_expect(cw_gate_follows(CUPTI_DRIVER_TRACE_CBID_cuProfilerStart));
        warm_up(10);
        fake_profile(mode, true);
        warm_up(5);
        cr_expect_eq(fake_profiler.running, 1);
        fake_profile(mode, false);
        cr_expect_eq(fake_profiler.running, 0, "it ends with the call");
        warm_up(10);
        fake_profile(mode, true);
        warm_up(3);
        end();
        cr_expect_eq(captured(), 8);
    }
}

Test(gate, user_ranges_between_calls_of_the_profilers_api)
{
    begin(&cw_inject_range, CW_REPLAY_APPLICATION, true, (struct cw_trace_window_options){.profiler = true});
    for (int i = 0; i < 6; i++) {
        if (i == 2 || i == 4)
            fake_profile(mode, i == 2);
        cw_user_range_push(0, "step");
        kernel(1);
        cw_user_range_pop(0);
    }
    end();
    cr_expect_eq(captured(), 2);
}

Test(gate, nothing_is_asked_of_it_by_itself)
{
    begin(&cw_inject_batch, CW_REPLAY_BATCH, false, (struct cw_trace_window_options){0});
    cr_expect(!cw_gate->asked && !cw_gate->closed && !cw_gate_follows(CUPTI_DRIVER_TRACE_CBID_cuProfilerStart));
    warm_up(5);
    end();
    cr_expect_eq(captured(), 5);
    cr_expect_eq(fake_profiler.sent[0].period, 0);
}

/* Nothing is finished where a capture has failed. */
Test(gate, a_capture_that_has_failed_leaves_no_memory)
{
    struct cw_writer setup;
    struct cw_reader in;
    fake_profiler_begin(NULL, 1, 1);
    cw_writer_init(&setup);
    fake_when = (struct cw_trace_window_options){.periods = 2};
    fake_ask_when(&setup);
    cw_reader_init(&in, setup.data, setup.size, "setup", 0, NULL);
    const struct mallinfo2 before = mallinfo2();
    cr_assert(cw_gate_read(&in) && cw_gate->steady.period);
    cw_gate_reset();
    const struct mallinfo2 after = mallinfo2();
    cr_expect_leq(after.uordblks + after.hblkhd, before.uordblks + before.hblkhd);
    cw_writer_free(&setup);
    fake_profiler_end();
}
