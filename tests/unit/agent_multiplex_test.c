/* Launches and user ranges that are counted once each, in passes that take turns, around programs of all kinds. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "agent/inject/driver/reach.h"
#include "agent/inject/driver/stream_capture.h"
#include "agent/inject/memory/kernels.h"
#include "agent/inject/memory/shared.h"
#include "agent/inject/modes/multiplex.h"
#include "agent/inject/modes/range.h"
#include "agent/inject/ranges/user_ranges.h"
#include "tests/support/fake_profiler.h"

enum { KERNEL = CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, MS = 1000000 };

static const struct cw_inject_mode *const mode = &cw_inject_multiplex;
static const CUcontext context = (CUcontext)0x10, beside = (CUcontext)0x20, elsewhere = FAKE_CONTEXTS_OF_SECOND_DEVICE;
static const CUfunction given = (CUfunction)1; /* how many parameters it has */
static uint32_t correlation, seen, flag;       /* seen: by CUPTI, as ranges */
static uint64_t word, launch_ns;               /* launch_ns: what a launch takes where it is counted */
static void *parameters[] = {&word};
static const struct fake_name names[] = {{CUPTI_DRIVER_TRACE_CBID_cuIpcGetMemHandle, "cuIpcGetMemHandle"}, {0}};

/* ---- the program ------------------------------------------------------------------------------------------------ */

/* Kernels of the same grid are alike. */
static uint32_t begin_kernel(CUcontext of, CUfunction function, uint32_t grid)
{
    const cuLaunchKernel_params params = {.f = function, .gridDimX = grid, .blockDimX = 1, .kernelParams = parameters};
    fake_launch_begins(mode, KERNEL, &params, of, ++correlation);
    bool automatic = fake_profiler.running && fake_profiler.range == CUPTI_AutoRange;
    seen += automatic;
    fake_profiler.now_ns += automatic || fake_profiler.open ? launch_ns : 10000;
    return correlation;
}

static void end_kernel(CUcontext of, CUfunction function, uint32_t number, CUresult result)
{
    const cuLaunchKernel_params params = {.f = function, .gridDimX = 1, .blockDimX = 1, .kernelParams = parameters};
    fake_launch_ends(mode, KERNEL, &params, of, number, result);
}

static void kernel_of(CUcontext of, uint32_t grid)
{
    end_kernel(of, NULL, begin_kernel(of, NULL, grid), CUDA_SUCCESS);
}

static void kernel(uint32_t grid)
{
    kernel_of(context, grid);
}

static void graph(void)
{
    static struct fake_graph nodes;
    const cuGraphLaunch_params params = {.hGraph = (CUgraphExec)&nodes};
    const uint32_t number = ++correlation;
    fake_launch_begins(mode, CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, &params, context, number);
    cr_expect(!fake_profiler.running || fake_profiler.range == CUPTI_UserRange, "CUPTI could not stop behind it");
    fake_launch_ends(mode, CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, &params, context, number, CUDA_SUCCESS);
}

static void share_memory(void)
{
    fake_share_memory(mode);
}

/* ---- tests ------------------------------------------------------------------------------------------------------ */

static struct asked { /* of the capture */
    uint32_t passes, room, every, slowdown;
    bool user;
    struct cw_filter_options filter;
} asked;

static void set_up(void)
{
    asked = (struct asked){.passes = 3, .room = 64, .every = 1, .filter = {.launch_count = UINT64_MAX}};
    launch_ns = 600000;
    correlation = seen = 0;
}

TestSuite(multiplex, .init = set_up);

static void begin(void)
{
    struct cw_writer setup;
    fake_profiler_begin(&setup, asked.passes, 1);
    fake_profiler.in_turn = true;
    fake_profiler.start_ns = 12 * MS;
    fake_profiler.stop_ns = 3 * MS;
    cw_store_u32(setup.data, asked.room);
    fake_ask(&setup, CW_REPLAY_MULTIPLEX, asked.user, &asked.filter);
    cw_write_u32(&setup, asked.every);
    cw_write_u32(&setup, asked.slowdown);
    fake_names = names;
    fake_memory[0] = (struct fake_memory){&flag, sizeof flag, CU_MEMORYTYPE_HOST, false, 0};
    word = (uintptr_t)&flag;
    cw_reach_init();
    fake_profiler.current = context;
    fake_setup(mode, &setup);
    mode->context_created(context, 0);
}

static void end(void)
{
    mode->finish();
    cr_expect(!cw_inject->over, "%s", fake_profiler.failure);
    mode->context_destroyed(context);
    cr_expect(!fake_profiler.running && !fake_profiler.open);
    for (uint32_t i = 0; i < fake_profiler.sent_count; i++) {
        cr_expect_eq(fake_profiler.sent[i].replay, CW_REPLAY_MULTIPLEX);
        cr_expect_str_empty(fake_profiler.sent[i].once);
    }
    fake_profiler_end();
}

/* How often a pass has counted launches of this grid; of all passes together. */
static uint32_t counted(uint32_t part, uint32_t grid)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < fake_profiler.sent_count; i++)
        n += fake_profiler.part_of[i] == part && fake_profiler.sent[i].grid[0] == grid &&
             !fake_profiler.sent[i].unwanted;
    return n;
}

static uint32_t counted_at_all(uint32_t grid)
{
    uint32_t n = 0;
    for (uint32_t p = 0; p < asked.passes; p++)
        n += counted(p, grid);
    return n;
}

static uint32_t least_counted(uint32_t grid)
{
    uint32_t least = UINT32_MAX;
    for (uint32_t p = 0; p < asked.passes; p++)
        least = counted(p, grid) < least ? counted(p, grid) : least;
    return least;
}

Test(multiplex, each_launch_is_counted_in_one_pass_and_passes_take_turns)
{
    begin();
    for (uint32_t i = 0; i < 3 * 5; i++)
        kernel(1 + i % 5);
    mode->finish();
    cr_expect_eq(fake_profiler.sent_count, 15);
    cr_expect_eq(seen, 15);
    cr_expect_eq(fake_profiler.starts, 3);
    cr_expect_eq(fake_profiler.skipped, 0);
    for (uint32_t grid = 1; grid <= 5; grid++)
        cr_expect_eq(least_counted(grid), 1);
    end();
}

/* A change of pass empties caches: the first launch of a kernel behind it is told from those that follow. */
Test(multiplex, what_a_change_of_pass_has_made_cold_is_told)
{
    asked.passes = 2;
    begin();
    for (uint32_t i = 0; i < 8 * 3; i++)
        kernel(1 + i % 3);
    mode->finish();
    for (uint32_t i = 0; i < fake_profiler.sent_count; i++) {
        bool first = i < 3 || fake_profiler.part_of[i - 3] != fake_profiler.part_of[i];
        cr_expect_eq(fake_profiler.sent[i].cold, first, "%u", i);
    }
    end();
}

/* Whatever the period of the program, and with little room. */
/* For range --verbose: what a change of pass goes into, and why there was one. */
Test(multiplex, what_a_pass_took_and_what_ended_it_are_told)
{
    begin();
    for (uint32_t i = 0; i < 4 * 11; i++)
        kernel(1 + i % 11);
    cr_expect_str_eq(fake_profiler.ended, "the turn of another pass");
    const uint64_t *spent = fake_profiler.spent_ns;
    cr_expect_eq(spent[CW_EFFORT_START], 12 * MS);
    cr_expect_eq(spent[CW_EFFORT_STOP], 3 * MS);
    cr_expect_geq(spent[CW_EFFORT_OWN], 11 * launch_ns);
    end();
    cr_expect_str_eq(fake_profiler.ended, "the end of the collection");
}

Test(multiplex, no_pass_starves)
{
    for (asked.passes = 2; asked.passes <= 13; asked.passes += 3)
        for (uint32_t period = 1; period <= 120; period += 7) {
            begin();
            for (uint32_t i = 0; i < 2 * asked.passes * period; i++)
                kernel(1 + i % period);
            mode->finish();
            cr_expect_eq(fake_profiler.sent_count, 2 * asked.passes * period);
            cr_expect_eq(fake_profiler.sent_count, seen);
            for (uint32_t grid = 1; grid <= period; grid++)
                cr_expect_geq(least_counted(grid), 1, "passes %u, period %u", asked.passes, period);
            end();
            seen = 0;
        }
}

Test(multiplex, one_of_so_many_is_counted_in_stretches)
{
    asked.every = 4;
    begin();
    for (uint32_t i = 0; i < 4 * 3 * 5; i++) {
        kernel(1 + i % 5);
        cr_expect(i >= 45 || (fake_profiler.running > 0) == (i % 20 < 5), "%u", i);
    }
    for (uint32_t i = 0; i < 2400; i++)
        kernel(1 + i % 5);
    mode->finish();
    cr_expect_lt(fake_profiler.sent_count, 700);
    cr_expect_gt(fake_profiler.sent_count, 500);
    for (uint32_t grid = 1; grid <= 5; grid++)
        cr_expect_geq(least_counted(grid), 20);
    end();
}

/* A share of the program's own time. */
Test(multiplex, counting_takes_no_more_than_was_asked_for)
{
    asked.slowdown = 5000;
    begin();
    uint64_t first = fake_profiler.now_ns;
    for (uint32_t i = 0; i < 20000; i++) {
        fake_profiler.now_ns += MS;
        kernel(1 + i % 5);
    }
    double all = (double)(fake_profiler.now_ns - first), plain = 20000.0 * (MS + 10000);
    cr_expect_lt(all, plain * 1.06, "%g of %g", all, plain);
    cr_expect_gt(all, plain * 1.03);
    mode->finish();
    for (uint32_t grid = 1; grid <= 5; grid++)
        cr_expect_geq(least_counted(grid), 1);
    end();
}

/* What nobody wants runs beside the rest, until it has cost as much as to stop for it. */
Test(multiplex, unwanted_launches_are_left_out_and_stopped_for)
{
    asked.filter.launch_skip = 2;
    asked.filter.launch_count = 4;
    begin();
    for (uint32_t i = 0; i < 200; i++)
        kernel(1);
    cr_expect_eq(fake_profiler.running, 0);
    mode->finish();
    cr_expect_eq(counted_at_all(1), 4);
    cr_expect_eq(seen, fake_profiler.sent_count);
    cr_expect_lt(seen, 50);
    end();
}

Test(multiplex, a_launch_that_the_driver_refuses_is_none)
{
    begin();
    kernel(1);
    end_kernel(context, NULL, begin_kernel(context, NULL, 1), CUDA_ERROR_INVALID_VALUE);
    kernel(2);
    mode->finish();
    cr_expect_eq(fake_profiler.sent_count, 2);
    end();
}

/* A collection holds only so much, and so does the time that a program which is killed takes with it. */
Test(multiplex, what_was_counted_is_sent_in_time)
{
    asked.room = 4;
    begin();
    for (uint32_t i = 0; i < 9; i++)
        kernel(1 + i);
    cr_expect_eq(fake_profiler.sent_count, 8);
    fake_profiler.now_ns += 6000ull * MS;
    kernel(10);
    cr_expect_eq(fake_profiler.sent_count, 9);
    end();
}

/* The program has waited for the GPU and may end now; but there may be a wait behind each launch. */
Test(multiplex, what_was_counted_is_sent_where_the_program_waits)
{
    asked.passes = 2;
    begin();
    const CUpti_CallbackData call = {.callbackSite = CUPTI_API_EXIT, .context = context};
    for (uint32_t i = 1; i <= 500; i++) {
        kernel(i % 2);
        mode->call_left(CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize, &call);
        cr_expect(i > 10 || fake_profiler.sent_count == i);
    }
    cr_expect_lt(fake_profiler.starts, 60);
    end();
}

/* Behind a graph CUPTI cannot stop where it has ranges of its own; so from there on they are ours. */
Test(multiplex, graphs_are_counted_in_their_turn)
{
    begin();
    kernel(1);
    for (int i = 0; i < 3; i++) {
        graph();
        kernel(1);
    }
    mode->finish();
    cr_assert_eq(fake_profiler.sent_count, 7);
    cr_expect_eq(seen, 1);
    uint32_t graphs[3] = {0};
    for (uint32_t i = 0; i < 7; i++)
        if (fake_profiler.sent[i].graphs)
            graphs[fake_profiler.part_of[i]]++;
        else
            cr_expect_eq(fake_profiler.sent[i].pushed, i > 0);
    cr_expect(graphs[0] == 1 && graphs[1] == 1 && graphs[2] == 1);
    cr_expect_eq(least_counted(1), 1);
    cr_expect_eq(fake_profiler.skipped, 0);
    end();
}

Test(multiplex, nothing_is_counted_while_a_stream_is_captured)
{
    begin();
    kernel(1);
    fake_capture(mode, context, (CUstream)0x7, true);
    cr_expect_eq(fake_profiler.running, 0);
    kernel(1);
    cr_expect_eq(fake_profiler.running, 0);
    fake_capture(mode, context, (CUstream)0x7, false);
    kernel(1);
    cr_expect_eq(fake_profiler.running, 1);
    mode->finish();
    cr_expect_eq(fake_profiler.sent_count, 2);
    cr_expect_eq(fake_profiler.skipped, 1);
    cr_expect_str_eq(fake_profiler.why, CW_WHY_CAPTURED);
    end();
}

/* What others can reach is counted like everything: nothing is repeated. */
Test(multiplex, a_rank_with_collectives_is_counted_as_any_program)
{
    begin();
    kernel(1);
    share_memory();
    for (int i = 0; i < 3; i++)
        kernel(1);
    mode->finish();
    cr_expect_eq(fake_profiler.sent_count, 4);
    cr_expect_eq(seen, 4);
    cr_expect_eq(fake_profiler.pushed, 0);
    end();
}

/* For a range of CUPTI's own each launch is waited for, and a collective of several GPUs would wait for the next. */
Test(multiplex, collectives_of_one_process_are_pushed_and_waited_for_no_longer_than_they_take)
{
    begin();
    fake_profiler.current = elsewhere;
    mode->context_created(elsewhere, 1);
    cw_inject->devices = 3;
    kernel(1);
    share_memory();
    uint32_t first = begin_kernel(context, given, 2);
    fake_profiler.busy = true;
    end_kernel(context, given, first, CUDA_SUCCESS);
    fake_profiler.busy = false; /* the other one is not */
    uint32_t second = begin_kernel(elsewhere, given, 2);
    end_kernel(elsewhere, given, second, CUDA_SUCCESS);
    kernel(1);
    mode->finish();
    cr_expect_eq(seen, 1);
    cr_expect_eq(counted_at_all(2), 2);
    cr_expect_eq(counted_at_all(1), 2);
    mode->context_destroyed(elsewhere);
    end();
}

/* The same where the other GPU is not to be profiled. */
Test(multiplex, nor_are_they_waited_for_where_one_device_alone_is_profiled)
{
    begin();
    cw_inject->devices = 3;
    share_memory();
    uint32_t number = begin_kernel(context, given, 2);
    fake_profiler.busy = true;
    end_kernel(context, given, number, CUDA_SUCCESS);
    cr_expect(fake_profiler.open, "the program goes on to launch the other one");
    fake_profiler.busy = false;
    mode->finish();
    cr_expect_eq(seen, 0);
    cr_expect_eq(counted_at_all(2), 1);
    end();
}

/* A kernel that is given memory of the host's may wait there for what the program does next. So its first launch is
 * pushed, which CUPTI does not wait for, and so are some launches behind it: changing kinds of range takes its time. */
Test(multiplex, a_kernel_that_may_wait_is_pushed_until_it_is_known)
{
    begin();
    kernel(1);
    for (uint32_t i = 0; i < 200; i++)
        end_kernel(context, given, begin_kernel(context, given, 2), CUDA_SUCCESS);
    cr_expect_eq(cw_kernel_habit(given), CW_KERNEL_RESTS);
    mode->finish();
    cr_expect_eq(counted_at_all(2), 200);
    cr_expect_eq(fake_profiler.pushed, 64);
    cr_expect_eq(seen, 1 + 200 - 64);
    cr_expect_eq(fake_profiler.skipped, 0);
    end();
}

Test(multiplex, the_first_launch_of_none_of_many_kernels_is_lost)
{
    cr_assert_lt(200, CW_MOST_KERNELS);
    begin();
    for (uintptr_t i = 1; i <= 200; i++) { /* each has parameters of its own number */
        cw_kernel_forget();
        end_kernel(context, given, begin_kernel(context, given, (uint32_t)i), CUDA_SUCCESS);
        kernel(1000);
    }
    mode->finish();
    cr_expect_eq(fake_profiler.sent_count, 400);
    cr_expect_eq(fake_profiler.skipped, 0);
    end();
}

/* Another launch meanwhile may have been what it waited for. */
Test(multiplex, a_kernel_beside_others_stays_unknown)
{
    begin();
    uint32_t number = begin_kernel(context, given, 2);
    uint32_t other = begin_kernel(elsewhere, NULL, 3);
    end_kernel(context, given, number, CUDA_SUCCESS);
    cr_expect_eq(cw_kernel_habit(given), CW_KERNEL_UNKNOWN);
    end_kernel(elsewhere, NULL, other, CUDA_SUCCESS);
    end();
}

Test(multiplex, one_that_does_wait_is_known_and_goes_on)
{
    begin();
    uint32_t number = begin_kernel(context, given, 2);
    fake_profiler.busy = true;
    end_kernel(context, given, number, CUDA_SUCCESS);
    cr_expect_eq(cw_kernel_habit(given), CW_KERNEL_WAITS);
    cr_expect(fake_profiler.open, "its range goes on");
    fake_profiler.busy = false;
    kernel(1);
    mode->finish();
    cr_expect_eq(counted_at_all(2), 1);
    cr_expect_eq(counted_at_all(1), 1);
    end();
}

Test(multiplex, one_that_waits_is_pushed_and_the_program_goes_on)
{
    begin();
    cw_kernel_note(given, CW_KERNEL_WAITS);
    kernel(1);
    uint32_t number = begin_kernel(context, given, 2);
    fake_profiler.busy = true;
    end_kernel(context, given, number, CUDA_SUCCESS);
    cr_expect(fake_profiler.open, "its range goes on");
    fake_profiler.busy = false;
    kernel(1);
    mode->finish();
    cr_expect_eq(counted_at_all(1), 2);
    cr_expect_eq(counted_at_all(2), 1);
    end();
}

/* ---- threads and contexts --------------------------------------------------------------------------------------- */

static uint32_t under_way;

static void return_launch(void)
{
    end_kernel(context, NULL, under_way, CUDA_SUCCESS);
}

Test(multiplex, a_pass_is_changed_behind_launches_of_other_threads)
{
    begin();
    under_way = begin_kernel(context, NULL, 1);
    fake_profiler.meanwhile = return_launch;
    kernel(1);
    cr_expect_null(fake_profiler.meanwhile, "it had to wait");
    mode->finish();
    cr_expect_eq(fake_profiler.sent_count, 2);
    cr_expect_neq(fake_profiler.part_of[0], fake_profiler.part_of[1]);
    end();
}

static void end_context(void)
{
    mode->context_destroyed(context);
}

/* As where another thread ends the session while the launch waits. */
Test(multiplex, a_launch_whose_context_goes_meanwhile_is_not_counted)
{
    begin();
    const uint32_t other = begin_kernel(context, NULL, 1);
    fake_profiler.meanwhile = end_context;
    const uint32_t number = begin_kernel(context, NULL, 2);
    cr_expect_null(fake_profiler.meanwhile, "it had to wait");
    cr_expect(!fake_profiler.running && !fake_profiler.open);
    end_kernel(context, NULL, number, CUDA_SUCCESS);
    end_kernel(context, NULL, other, CUDA_SUCCESS);
    mode->context_created(context, 0);
    kernel(3);
    end();
    cr_expect_eq(fake_profiler.skipped, 0);
}

Test(multiplex, one_that_does_not_return_is_waited_for_once)
{
    begin();
    under_way = begin_kernel(context, NULL, 1);
    kernel(1);
    uint64_t then = fake_profiler.now_ns;
    kernel(1);
    cr_expect_lt(fake_profiler.now_ns, then + 1000ull * MS);
    return_launch();
    kernel(1);
    mode->finish();
    cr_expect_eq(fake_profiler.sent_count, 4);
    cr_expect_eq(fake_profiler.part_of[2], 0);
    cr_expect_eq(fake_profiler.part_of[3], 1);
    end();
}

/* To give the counters of a device to another context costs as much as many changes of pass. */
Test(multiplex, contexts_of_one_device_take_its_counters_for_a_while)
{
    begin();
    fake_profiler.current = beside;
    mode->context_created(beside, 0);
    for (uint32_t i = 0; i < 400; i++) {
        kernel_of(context, 1);
        kernel_of(beside, 2);
        fake_profiler.now_ns += 10 * MS;
    }
    mode->finish();
    cr_expect_gt(counted_at_all(1), 100);
    cr_expect_gt(counted_at_all(2), 100);
    cr_expect_lt(fake_profiler.objects, 12);
    mode->context_destroyed(beside);
    end();
}

/* ---- user ranges ------------------------------------------------------------------------------------------------ */

static uint32_t counted_path(uint32_t part, const char *path)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < fake_profiler.sent_count; i++)
        n += fake_profiler.part_of[i] == part && strcmp(fake_profiler.sent[i].nvtx, path) == 0;
    return n;
}

Test(multiplex, each_occurrence_of_a_user_range_takes_the_next_pass)
{
    asked.user = true;
    begin();
    for (int i = 0; i < 6; i++) {
        cw_user_range_push(0, "forward");
        kernel(1);
        cw_user_range_pop(0);
        cw_user_range_push(0, "backward");
        cw_user_range_push(0, "within");
        kernel(1);
        cw_user_range_pop(0);
        cw_user_range_pop(0);
    }
    mode->finish();
    cr_expect_eq(fake_profiler.sent_count, 12);
    for (uint32_t p = 0; p < 3; p++)
        cr_expect(counted_path(p, "forward") == 2 && counted_path(p, "backward") == 2);
    cr_expect_leq(fake_profiler.starts, 6);
    end();
}

Test(multiplex, every_so_many_occurrences_of_a_user_range_are_counted)
{
    asked.user = true;
    asked.every = 5;
    begin();
    for (int i = 0; i < 30; i++) {
        cw_user_range_push(0, "step");
        kernel(1);
        cr_expect_eq(fake_profiler.open, i % 5 == 0);
        cw_user_range_pop(0);
    }
    mode->finish();
    for (uint32_t p = 0; p < 3; p++)
        cr_expect_eq(counted_path(p, "step"), 2);
    end();
}

Test(multiplex, user_ranges_are_counted_as_often_as_the_program_can_bear)
{
    asked.user = true;
    asked.slowdown = 5000;
    begin();
    uint64_t first = fake_profiler.now_ns;
    for (int i = 0; i < 3000; i++) {
        cw_user_range_push(0, "step");
        fake_profiler.now_ns += 10 * MS;
        cw_user_range_pop(0);
    }
    double all = (double)(fake_profiler.now_ns - first), plain = 3000.0 * 10 * MS;
    cr_expect_lt(all, plain * 1.055, "%g of %g", all, plain);
    cr_expect_gt(all, plain * 1.04, "%g of %g", all, plain);
    mode->finish();
    for (uint32_t p = 0; p < 3; p++)
        cr_expect_gt(counted_path(p, "step"), 20);
    end();
}

/* Where each is numbered, each has a pass all the same. */
Test(multiplex, numbered_ranges_take_turns)
{
    asked.user = true;
    begin();
    for (int i = 8; i < 14; i++) {
        char name[16];
        snprintf(name, sizeof name, "step %d", i);
        cw_user_range_push(0, name);
        cw_user_range_pop(0);
    }
    mode->finish();
    uint32_t found[3] = {0};
    for (uint32_t i = 0; i < fake_profiler.sent_count; i++)
        found[fake_profiler.part_of[i]]++;
    cr_expect(found[0] == 2 && found[1] == 2 && found[2] == 2);
    end();
}

/* One that was open before the program came to use the GPU. */
Test(multiplex, a_range_that_is_open_when_a_context_is_made_is_counted)
{
    asked.user = true;
    begin();
    mode->context_destroyed(context);
    cw_user_range_push(0, "step");
    mode->context_created(context, 0);
    cr_expect(fake_profiler.open);
    cw_user_range_pop(0);
    cw_user_range_push(0, "step");
    cw_user_range_pop(0);
    mode->finish();
    cr_expect_eq(fake_profiler.sent_count, 2);
    cr_expect_neq(fake_profiler.part_of[0], fake_profiler.part_of[1]);
    end();
}

Test(multiplex, a_capture_cuts_a_user_range)
{
    asked.user = true;
    begin();
    cw_user_range_push(0, "step");
    fake_capture(mode, context, (CUstream)0x7, true);
    cr_expect(!fake_profiler.open && !fake_profiler.running);
    fake_capture(mode, context, (CUstream)0x7, false);
    cw_user_range_pop(0);
    cw_user_range_push(0, "step");
    cw_user_range_pop(0);
    mode->finish();
    cr_assert_eq(fake_profiler.sent_count, 2);
    cr_expect(fake_profiler.sent[0].unwanted && !fake_profiler.sent[1].unwanted);
    end();
}

/* Its kernel waits for what the program does behind it. */
Test(multiplex, a_user_range_that_does_not_end_is_none_and_holds_nothing_up)
{
    asked.user = true;
    begin();
    cw_user_range_push(0, "step");
    fake_profiler.busy = true;
    cw_user_range_pop(0);
    cr_expect(fake_profiler.open && fake_profiler.running);
    cw_user_range_push(0, "step");
    cw_user_range_pop(0);
    fake_profiler.busy = false;
    cw_user_range_push(0, "step");
    cr_expect_eq(fake_profiler.open, 1);
    cw_user_range_pop(0);
    cr_expect_eq(fake_profiler.open, 0);
    mode->finish();
    cr_assert_eq(fake_profiler.sent_count, 2);
    cr_expect(fake_profiler.sent[0].unwanted && !fake_profiler.sent[1].unwanted);
    cr_expect_eq(fake_profiler.skipped, 2);
    cr_expect_str_eq(fake_profiler.why, CW_WHY_WAITS);
    end();
}

/* With an older CUPTI, which sees no launches by itself. */
Test(multiplex, an_older_CUPTI_counts_launches_that_are_pushed)
{
    begin();
    fake_profiler.version = 120900;
    for (int i = 0; i < 6; i++)
        kernel(1);
    mode->finish();
    cr_expect_eq(fake_profiler.sent_count, 6);
    cr_expect_eq(fake_profiler.pushed, 6);
    cr_expect_geq(least_counted(1), 1);
    end();
}
