/* Ranges by kernel replay and by application replay, around a program that captures streams into graphs. */
#include <criterion/criterion.h>

#include "agent/inject/driver/stream_capture.h"
#include "agent/inject/memory/kernels.h"
#include "agent/inject/modes/range.h"
#include "agent/inject/ranges/user_ranges.h"
#include "tests/support/fake_profiler.h"

static const struct cw_inject_mode *const mode = &cw_inject_range;
static const CUcontext context = (CUcontext)0x10;
static const CUstream other = (CUstream)0x8;
static uint32_t correlation;

/* ---- the program ------------------------------------------------------------------------------------------------ */

static void kernel_begins(CUstream stream)
{
    const cuLaunchKernel_params params = {.gridDimX = 1, .blockDimX = 1, .hStream = stream};
    fake_launch_begins(mode, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, &params, context, ++correlation);
}

static void kernel_ends(uint32_t number)
{
    fake_launch_ends(mode, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, NULL, context, number, CUDA_SUCCESS);
}

static void kernel(CUstream stream)
{
    kernel_begins(stream);
    kernel_ends(correlation);
}

static void capture_begins(void)
{
    fake_capture(mode, context, (CUstream)0x7, true);
}

static void capture_ends(void)
{
    fake_capture(mode, context, (CUstream)0x7, false);
}

/* ---- tests ------------------------------------------------------------------------------------------------------ */

static void begin(enum cw_replay_kind replay, bool user)
{
    struct cw_writer setup;
    fake_profiler_begin(&setup, 1, 1);
    fake_ask(&setup, replay, user, NULL);
    fake_profiler.current = context;
    fake_setup(mode, &setup);
    mode->context_created(context, 0);
}

static void end(void)
{
    cr_expect(!cw_inject->over, "%s", fake_profiler.failure);
    mode->context_destroyed(context);
    fake_profiler_end();
}

/* To start and to stop is to wait for the context, which would spoil the capture. */
Test(range, nothing_is_collected_while_a_stream_is_captured)
{
    begin(CW_REPLAY_KERNEL, false);
    kernel(NULL);
    cr_expect_eq(fake_profiler.running, 1);
    capture_begins();
    cr_expect_eq(fake_profiler.running, 0);
    cr_expect_eq(fake_profiler.sent_count, 1);
    kernel((CUstream)0x7); /* a node */
    kernel(other);
    cr_expect_eq(fake_profiler.running, 0);
    capture_ends();
    kernel(other);
    cr_expect_eq(fake_profiler.running, 1);
    mode->finish();
    cr_expect_eq(fake_profiler.sent_count, 2);
    cr_expect_eq(fake_profiler.skipped, 1);
    cr_expect_str_eq(fake_profiler.why, CW_WHY_CAPTURED);
    end();
}

static CUptiResult name_of_call(CUpti_CallbackDomain domain, uint32_t id, const char **name)
{
    (void)domain;
    *name = id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz ? "cuLaunchKernel_ptsz" : "cuLaunchKernel";
    return CUPTI_SUCCESS;
}

/* Those of the trace, and not handles, which the driver gives again. */
Test(range, contexts_and_streams_are_cuptis_numbers)
{
    begin(CW_REPLAY_KERNEL, false);
    cw_inject->api.cuptiGetCallbackName = name_of_call;
    kernel(NULL);
    kernel(other);
    kernel(CU_STREAM_LEGACY);
    kernel(CU_STREAM_PER_THREAD);
    mode->finish();
    cr_assert_eq(fake_profiler.sent_count, 4);
    static const uint64_t streams[] = {FAKE_OWN_STREAM, FAKE_STREAMS + 8, FAKE_OWN_STREAM, FAKE_THREAD_STREAM};
    for (int i = 0; i < 4; i++) {
        cr_expect_eq(fake_profiler.sent[i].context, FAKE_CONTEXTS + 0x10);
        cr_expect_eq(fake_profiler.sent[i].stream, streams[i], "launch %d", i);
    }
    cr_expect_eq(cw_inject_stream_id(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz, context, NULL), FAKE_THREAD_STREAM);
    cr_expect_eq(cw_inject_stream_id(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, NULL, other), 0, "CUPTI does not know");
    end();
}

static uint32_t under_way;

static void launch_again(void)
{
    kernel_ends(under_way);
    kernel_begins(other);
    cr_expect_eq(fake_profiler.running, 0, "it is not collected, and CUPTI must not see it");
    kernel_ends(correlation);
}

/* A thread that launches one kernel after another does not keep the collection running. */
Test(range, a_capture_waits_for_launches_and_not_for_those_behind_them)
{
    begin(CW_REPLAY_KERNEL, false);
    kernel_begins(other);
    under_way = correlation;
    fake_profiler.meanwhile = launch_again;
    capture_begins();
    cr_expect_null(fake_profiler.meanwhile, "it had to wait");
    cr_expect_eq(fake_profiler.running, 0);
    capture_ends();
    mode->finish();
    cr_expect_eq(fake_profiler.sent_count, 1);
    cr_expect_eq(fake_profiler.skipped, 1);
    end();
}

static void all_ends(void)
{
    cw_inject->over = true;
}

/* Launches that return behind its end are not counted any more. */
Test(range, a_launch_waits_for_no_other_behind_the_end_of_the_capture, .timeout = 20)
{
    begin(CW_REPLAY_APPLICATION, false);
    fake_profiler.version = 26; /* CUDA 12.9: a range for each launch */
    kernel_begins(other);
    fake_profiler.meanwhile = all_ends;
    kernel_begins(other);
    cr_expect_null(fake_profiler.meanwhile, "it had to wait");
    fake_profiler_end();
}

static uint32_t unnoted;

static void unnoted_ends(void)
{
    kernel_ends(unnoted);
}

/* CUPTI would see it. */
Test(range, starts_behind_launches_that_are_not_collected)
{
    begin(CW_REPLAY_KERNEL, false);
    cw_range_settings->filter.options.launch_skip = 1;
    kernel_begins(other);
    unnoted = correlation;
    fake_profiler.meanwhile = unnoted_ends;
    kernel(other);
    cr_expect_null(fake_profiler.meanwhile, "it had to wait");
    cr_expect_eq(fake_profiler.running, 1);
    mode->finish();
    cr_expect_eq(fake_profiler.sent_count, 1);
    end();
}

/* What is captured under the profiler crashes without it. */
Test(range, a_capture_cuts_user_ranges)
{
    begin(CW_REPLAY_APPLICATION, true);
    cw_user_range_push(0, "all");
    cr_expect(fake_profiler.open && fake_profiler.running);
    capture_begins();
    cr_expect(!fake_profiler.open && !fake_profiler.running);
    cr_expect_eq(fake_profiler.sent_count, 1);
    cr_expect(fake_profiler.sent[0].unwanted);
    cr_expect_str_eq(fake_profiler.why, "a range in which the program captured a stream into a CUDA graph");
    cw_user_range_pop(0);
    cw_user_range_push(0, "inside");
    cw_user_range_pop(0);
    cr_expect_eq(fake_profiler.running, 0);
    capture_ends();
    cw_user_range_push(0, "behind");
    cr_expect(fake_profiler.open);
    cw_user_range_pop(0);
    mode->finish();
    cr_assert_eq(fake_profiler.sent_count, 2);
    cr_expect(!fake_profiler.sent[1].unwanted);
    cr_expect_str_eq(fake_profiler.sent[1].nvtx, "behind");
    cr_expect_eq(fake_profiler.skipped, 2);
    end();
}

/* A kernel may wait for what the program does behind the range's begin or end, or a function of the host's in a stream
 * may name a range itself. */
Test(range, a_user_range_does_not_wait_for_ever)
{
    begin(CW_REPLAY_APPLICATION, true);
    fake_profiler.busy = true;
    cw_user_range_push(0, "behind work that does not end");
    cr_expect_eq(fake_profiler.open, 0);
    cw_user_range_pop(0);
    fake_profiler.busy = false;
    cw_user_range_push(0, "with work that does not end");
    cr_expect_eq(fake_profiler.open, 1);
    fake_profiler.busy = true;
    cw_user_range_pop(0);
    cr_expect_eq(fake_profiler.open, 1, "CUPTI would wait for it");
    cw_user_range_push(0, "within that");
    cw_user_range_pop(0);
    fake_profiler.busy = false;
    cw_user_range_push(0, "whole");
    cw_user_range_pop(0);
    mode->finish();
    cr_assert_eq(fake_profiler.sent_count, 2);
    cr_expect(fake_profiler.sent[0].unwanted && !fake_profiler.sent[1].unwanted);
    cr_expect_str_eq(fake_profiler.sent[1].nvtx, "whole");
    cr_expect_eq(fake_profiler.skipped, 3);
    cr_expect_str_eq(fake_profiler.why, CW_WHY_WAITS);
    end();
}

static void end_in_the_middle(bool whole)
{
    begin(CW_REPLAY_APPLICATION, true);
    cw_user_range_push(0, "whole");
    cw_user_range_pop(0);
    cw_user_range_push(0, "open");
    fake_profiler.busy = !whole;
    mode->finish();
    cr_expect_eq(fake_profiler.sent_count, whole ? 2 : 0);
    cr_expect_eq(fake_profiler.skipped, whole ? 0 : 2);
    fake_profiler.busy = false;
    end();
}

Test(range, nor_does_the_end_of_the_program)
{
    end_in_the_middle(true);
}

Test(range, nor_does_the_end_of_the_program_while_a_kernel_waits)
{
    end_in_the_middle(false);
}

Test(range, nor_does_a_capture)
{
    begin(CW_REPLAY_APPLICATION, true);
    cw_user_range_push(0, "all");
    fake_profiler.busy = true;
    capture_begins();
    cr_expect(cw_inject->over);
    cr_expect(strstr(fake_profiler.failure, "before its kernels have ended"), "%s", fake_profiler.failure);
    fake_profiler_end();
}

Test(range, nor_does_a_launch_behind_a_graph)
{
    const cuGraphLaunch_params params = {0};
    const CUpti_CallbackData graph = {
        .callbackSite = CUPTI_API_ENTER, .functionParams = &params, .context = context, .correlationId = 99};
    begin(CW_REPLAY_APPLICATION, false);
    mode->launch_entered(CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, &graph);
    fake_profiler.busy = true;
    kernel(NULL);
    cr_expect_eq(fake_profiler.running, 0, "what runs of the graph must not count");
    fake_profiler.busy = false;
    kernel(NULL);
    cr_expect_eq(fake_profiler.running, 1);
    mode->finish();
    cr_expect_eq(fake_profiler.skipped, 2);
    end();
}

static void told(CUpti_CallbackId id, CUstream stream, CUpti_ApiCallbackSite site, CUresult result)
{
    const cuStreamEndCapture_params params = {.hStream = stream}; /* the others begin alike */
    const CUpti_CallbackData call = {
        .callbackSite = site, .functionParams = &params, .functionReturnValue = &result, .context = (CUcontext)0x20};
    cw_stream_capture_follow(id, &call);
}

/* One that was refused, or whose stream or context is gone, is none; nor is one that ended while another context was
 * current. */
Test(range, a_capture_that_is_not_under_way_is_forgotten)
{
    begin(CW_REPLAY_KERNEL, false);
    told(CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2, other, CUPTI_API_ENTER, CUDA_SUCCESS);
    cr_expect(cw_stream_capture_is_under_way());
    told(CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2, other, CUPTI_API_EXIT, CUDA_ERROR_INVALID_VALUE);
    cr_expect_not(cw_stream_capture_is_under_way());
    capture_begins();
    told(CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture, (CUstream)0x7, CUPTI_API_EXIT,
         CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
    cr_expect(cw_stream_capture_is_under_way());
    told(CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture, (CUstream)0x7, CUPTI_API_EXIT, CUDA_SUCCESS);
    cr_expect_not(cw_stream_capture_is_under_way());
    capture_begins();
    told(CUPTI_DRIVER_TRACE_CBID_cuStreamDestroy_v2, (CUstream)0x7, CUPTI_API_EXIT, CUDA_SUCCESS);
    cr_expect_not(cw_stream_capture_is_under_way());
    capture_begins();
    cw_stream_capture_forget(context);
    cr_expect_not(cw_stream_capture_is_under_way());
    kernel(other);
    cr_expect_eq(fake_profiler.running, 1);
    mode->finish();
    end();
}

/* ---- other processes --------------------------------------------------------------------------------------------- */

/* CUPTI would fail to start, and the capture with it. */
Test(range, launches_while_another_process_has_the_counters_are_left_out)
{
    begin(CW_REPLAY_KERNEL, false);
    fake_profiler.taken = "a launch while another process held the counters";
    kernel(other);
    kernel(other);
    cr_expect_eq(fake_profiler.running, 0);
    fake_profiler.taken = NULL;
    kernel(other);
    cr_expect_eq(fake_profiler.running, 1);
    mode->finish();
    cr_expect_eq(fake_profiler.sent_count, 1);
    cr_expect_eq(fake_profiler.skipped, 2);
    cr_expect_str_eq(fake_profiler.why, "a launch while another process held the counters");
    end();
}

Test(range, a_gpu_that_is_busy_is_tried_again)
{
    begin(CW_REPLAY_KERNEL, false);
    fake_profiler.refusals = 2; /* the first is tried again, the second is not */
    kernel(other);
    cr_expect_eq(fake_profiler.running, 0);
    kernel(other);
    cr_expect_eq(fake_profiler.running, 1);
    cr_expect_eq(fake_profiler.objects, 2, "one that was refused is not used again");
    mode->finish();
    cr_expect_eq(fake_profiler.sent_count, 1);
    cr_expect_eq(fake_profiler.skipped, 1);
    end();
}

/* Another run may have collected them: the agent is told where they were. */
Test(range, under_application_replay_launches_that_are_left_out_are_told_in_their_place)
{
    begin(CW_REPLAY_APPLICATION, false);
    fake_profiler.taken = "a launch while another process held the counters";
    kernel(other);
    fake_profiler.taken = NULL;
    kernel(other);
    mode->finish();
    cr_assert_eq(fake_profiler.sent_count, 2);
    cr_expect(fake_profiler.sent[0].unwanted && !fake_profiler.sent[1].unwanted);
    cr_expect_str_eq(fake_profiler.sent[0].kernel, "step");
    cr_expect_eq(fake_profiler.skipped, 1);
    end();
}

Test(range, user_ranges_while_another_process_has_the_counters_are_left_out)
{
    begin(CW_REPLAY_APPLICATION, true);
    fake_profiler.taken = "a launch while another process held the counters";
    cw_user_range_push(0, "first");
    cw_user_range_pop(0);
    fake_profiler.taken = NULL;
    cw_user_range_push(0, "second");
    cw_user_range_pop(0);
    mode->finish();
    cr_assert_eq(fake_profiler.sent_count, 2);
    cr_expect_str_eq(fake_profiler.sent[0].nvtx, "first");
    cr_expect(fake_profiler.sent[0].unwanted && !fake_profiler.sent[1].unwanted);
    cr_expect_str_eq(fake_profiler.sent[1].nvtx, "second");
    cr_expect_eq(fake_profiler.skipped, 1);
    end();
}

static void give_way(void)
{
    fake_profiler.give_way("0000:0a:00.0");
}

Test(range, gives_way_to_a_process_that_waits)
{
    begin(CW_REPLAY_KERNEL, false);
    kernel(other);
    give_way();
    cr_expect_eq(fake_profiler.running, 1, "it has just begun");
    fake_profiler.give_way("0000:0b:00.0");
    fake_profiler.now_ns += 1000000000;
    kernel_begins(other);
    give_way();
    cr_expect_eq(fake_profiler.given, 0, "a launch has not returned");
    kernel_ends(correlation);
    give_way();
    cr_expect_eq(fake_profiler.given, 1);
    cr_expect_eq(fake_profiler.sent_count, 2);
    give_way();
    cr_expect_eq(fake_profiler.given, 1);
    kernel(other);
    cr_expect_eq(fake_profiler.objects, 2);
    mode->finish();
    cr_expect_eq(fake_profiler.sent_count, 3);
    end();
}

/* CUPTI would wait for the kernel where it is disabled, and can be enabled once only. */
Test(range, no_session_follows_a_kernel_that_does_not_end)
{
    for (int busy = 0; busy < 2; busy++) {
        begin(CW_REPLAY_APPLICATION, true);
        cw_user_range_push(0, "step");
        fake_profiler.busy = busy;
        cw_user_range_pop(0);
        mode->finish();
        mode->context_destroyed(context);
        cr_expect_eq(fake_profiler.open, busy);
        cr_expect_eq(mode->reset(), !busy);
        fake_profiler.busy = false;
        fake_profiler_end();
    }
}

/* What waits for a context would wait for ever beside a kernel that waits for the program, and spoil a capture. */
Test(range, gives_way_only_where_the_context_rests)
{
    begin(CW_REPLAY_KERNEL, false);
    kernel(other);
    capture_begins();
    cr_expect_eq(fake_profiler.running, 0);
    give_way();
    cr_expect_eq(fake_profiler.given, 0);
    capture_ends();
    fake_profiler.busy = true;
    give_way();
    cr_expect_eq(fake_profiler.given, 0);
    fake_profiler.busy = false;
    give_way();
    cr_expect_eq(fake_profiler.given, 1);
    mode->finish();
    end();
}
