/* PC sampling within ranges: when CUPTI may be asked to start, to stop and to hand out samples. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "agent/common/filter.h"
#include "agent/inject/driver/in_flight.h"
#include "agent/inject/driver/streams.h"
#include "agent/inject/driver/stream_capture.h"
#include "agent/inject/modes/pc.h"
#include "agent/inject/ranges/user_ranges.h"
#include "image/pc_data.h"
#include "tests/support/fake_profiler.h"

static const struct cw_inject_mode *const mode = &cw_inject_pc;
static const CUcontext context = (CUcontext)0x10, second = (CUcontext)0x20, third = (CUcontext)0x30;
static CUcontext sampled_one; /* CUPTI fails to deliver samples of two contexts */
static int launching, starts, stops, fetches, enabled;
static bool by_hand, on; /* by_hand: the library starts and stops sampling, which is on now */
static struct cw_filter_options filter = {.launch_count = UINT64_MAX};
/* What CUPTI has sampled since it was last asked: five samples and two of them again of each. */
static struct sampled {
    const char *function;
    uint32_t correlation;
} waiting[8];
static uint32_t waiting_count, reason_count;
static CUptiResult fetch_result = CUPTI_SUCCESS;

/* CUPTI and the driver wait for each other beside a launch, and a capture is spoilt. */
static CUptiResult quiet(int *calls)
{
    cr_expect(!launching && !fake_captured);
    ++*calls;
    return CUPTI_SUCCESS;
}

static CUptiResult start(CUpti_PCSamplingStartParams *p)
{
    cr_expect_eq(p->ctx, sampled_one);
    cr_expect(by_hand && !on);
    on = true;
    return quiet(&starts);
}

static CUptiResult stop(CUpti_PCSamplingStopParams *p)
{
    cr_expect_eq(p->ctx, sampled_one);
    cr_expect(by_hand && on);
    on = false;
    return quiet(&stops);
}

static CUptiResult get_data(CUpti_PCSamplingGetDataParams *p)
{
    CUpti_PCSamplingData *data = p->pcSamplingData;
    cr_expect_eq(p->ctx, sampled_one);
    for (uint32_t i = 0; i < waiting_count; i++) {
        CUpti_PCSamplingPCData *pc = &data->pPcData[i];
        pc->functionName = (char *)waiting[i].function;
        pc->correlationId = waiting[i].correlation;
        pc->stallReasonCount = 2;
        pc->stallReason[0] = (CUpti_PCSamplingStallReason){.pcSamplingStallReasonIndex = 0, .samples = 5};
        pc->stallReason[1] = (CUpti_PCSamplingStallReason){.pcSamplingStallReasonIndex = 1, .samples = 2};
    }
    data->totalNumPcs = waiting_count;
    data->totalSamples = 5 * waiting_count + 1; /* one of another program */
    data->nonUsrKernelsTotalSamples = 1;
    waiting_count = 0;
    quiet(&fetches);
    return fetch_result;
}

static CUptiResult result_string(CUptiResult result, const char **text)
{
    *text = "CUPTI_ERROR_UNKNOWN";
    return result == CUPTI_ERROR_UNKNOWN ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

static CUptiResult enable(CUpti_PCSamplingEnableParams *p)
{
    enabled++;
    cr_expect_null(sampled_one);
    sampled_one = p->ctx;
    by_hand = on = false;
    return p->ctx == context || p->ctx == second || p->ctx == third ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

static CUptiResult disable(CUpti_PCSamplingDisableParams *p)
{
    enabled--;
    cr_expect_eq(p->ctx, sampled_one);
    sampled_one = NULL;
    return CUPTI_SUCCESS;
}

/* Whether CUPTI returns from a launch only when its kernel has ended. */
static bool holds_up(void)
{
    return enabled && (on || !by_hand);
}

static CUptiResult count_reasons(CUpti_PCSamplingGetNumStallReasonsParams *p)
{
    *p->numStallReasons = reason_count;
    return CUPTI_SUCCESS;
}

static CUptiResult list_reasons(CUpti_PCSamplingGetStallReasonsParams *p)
{
    static const char *const names[] = {"smsp__pcsamp_warps_issue_stalled_wait",
                                        "smsp__pcsamp_warps_issue_stalled_wait_not_issued"};
    cr_assert_leq(p->numStallReasons, 2);
    for (uint32_t i = 0; i < p->numStallReasons; i++) {
        p->stallReasonIndex[i] = i;
        snprintf(p->stallReasons[i], CUPTI_STALL_REASON_STRING_SIZE, "%s", names[i]);
    }
    return CUPTI_SUCCESS;
}

static uint32_t chosen[8], chosen_count; /* reasons that CUPTI is asked for */

static CUptiResult attributes(CUpti_PCSamplingConfigurationInfoParams *p)
{
    for (size_t i = 0; i < p->numAttributes; i++) {
        const CUpti_PCSamplingConfigurationInfo *a = &p->pPCSamplingConfigurationInfo[i];
        if (a->attributeType == CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_ENABLE_START_STOP_CONTROL)
            by_hand = a->attributeData.enableStartStopControlData.enableStartStopControl;
        if (a->attributeType != CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_STALL_REASON)
            continue;
        chosen_count = (uint32_t)a->attributeData.stallReasonData.stallReasonCount;
        cr_assert_leq(chosen_count, 8);
        memcpy(chosen, a->attributeData.stallReasonData.pStallReasonIndex, chosen_count * sizeof *chosen);
    }
    return p->numAttributes ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

static const cuLaunchKernel_params plain = {.f = (CUfunction)2};
static const CUpti_CallbackData launch = {.context = context, .functionParams = &plain};

static void launch_begins(void)
{
    mode->launch_entered(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, &launch);
    cw_in_flight_launch_entered();
    launching++;
}

static void launch_ends_of(const CUpti_CallbackData *call)
{
    launching--;
    cw_in_flight_launch_left();
    mode->launch_left(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, call);
}

static void launch_ends(void)
{
    launch_ends_of(&launch);
}

static const char *wanted[4]; /* reasons of SETUP */
static uint32_t wanted_count;

static void write_setup(struct cw_writer *setup, uint8_t sampling, uint8_t period)
{
    cw_writer_init(setup);
    cw_write_u64(setup, 0);
    cw_write_u8(setup, sampling);
    cw_write_u8(setup, period);
    cw_write_u64(setup, 0);
    cw_write_u8(setup, false);
    cw_write_u32(setup, wanted_count);
    for (uint32_t i = 0; i < wanted_count; i++)
        cw_write_string(setup, wanted[i]);
    cw_filter_write(setup, &filter);
    fake_ask_when(setup);
}

static void begin(const char *range)
{
    struct cw_writer setup;
    fake_profiler_begin(NULL, 1, 1);
    struct cw_cupti *api = &cw_inject->api;
    api->cuptiGetResultString = result_string;
    api->cuptiPCSamplingEnable = enable;
    api->cuptiPCSamplingDisable = disable;
    api->cuptiPCSamplingStart = start;
    api->cuptiPCSamplingStop = stop;
    api->cuptiPCSamplingGetData = get_data;
    api->cuptiPCSamplingGetNumStallReasons = count_reasons;
    api->cuptiPCSamplingGetStallReasons = list_reasons;
    api->cuptiPCSamplingSetConfigurationAttribute = attributes;
    api->cuptiPCSamplingGetConfigurationAttribute = attributes;
    filter.range = range;
    write_setup(&setup, CW_PC_SERIALIZED, 5);
    fake_setup(mode, &setup);
    mode->context_created(context, 0);
}

static void end(void)
{
    mode->context_destroyed(context);
    cr_expect(!cw_inject->over, "%s", fake_profiler.failure);
    fake_profiler_end();
}

/* The agent reads no other one in a batch. */
Test(pc, takes_a_known_mode_alone)
{
    for (uint8_t sampling = CW_PC_CONTINUOUS; sampling <= CW_PC_MODE__COUNT; sampling++) {
        struct cw_writer setup;
        struct cw_reader in;
        fake_profiler_begin(NULL, 1, 1);
        write_setup(&setup, sampling, 5);
        cw_reader_init(&in, setup.data, setup.size, "setup", 0, NULL);
        cr_expect_eq(mode->setup(&in), sampling < CW_PC_MODE__COUNT);
        cw_writer_free(&setup);
        mode->reset();
        fake_profiler_end();
    }
}

/* CUPTI fills a list of each PC that has a place for each of its reasons. */
Test(pc, a_reason_of_several_names_is_chosen_once)
{
    reason_count = 2;
    wanted[wanted_count++] = "wait"; /* and the same that was not issued */
    wanted[wanted_count++] = "smsp__pcsamp_warps_issue_stalled_wait";
    wanted[wanted_count++] = "wait";
    begin(NULL);
    cr_expect_eq(chosen_count, 2);
    cr_expect(chosen[0] == 0 && chosen[1] == 1);
    end();
}

Test(pc, a_range_waits_for_launches_of_other_threads)
{
    begin("step");
    launch_begins();
    fake_profiler.meanwhile = launch_ends;
    cw_user_range_push(0, "step");
    cr_expect_null(fake_profiler.meanwhile);
    cr_expect_eq(starts, 1);
    launch_begins();
    fake_profiler.meanwhile = launch_ends;
    cw_user_range_pop(0);
    cr_expect_null(fake_profiler.meanwhile);
    cr_expect_eq(stops, 1);
    end();
}

Test(pc, samples_are_taken_while_something_is_to_be_captured)
{
    fake_when.profiler = true;
    begin(NULL);
    launch_begins();
    launch_ends();
    cr_expect(!starts && enabled);
    fake_profile(mode, true);
    cr_expect_eq(starts, 1);
    launch_begins();
    launch_ends();
    fake_profile(mode, false);
    cr_expect(starts == 1 && stops == 1);
    end();
}

/* And only within ranges that are wanted. */
Test(pc, what_is_captured_may_have_ranges)
{
    fake_when.profiler = true;
    begin("step");
    cw_user_range_push(0, "step");
    cr_expect_eq(starts, 0);
    fake_profile(mode, true);
    cr_expect_eq(starts, 1);
    cw_user_range_pop(0);
    cr_expect_eq(stops, 1);
    fake_profile(mode, false);
    cr_expect(starts == 1 && stops == 1);
    end();
}

Test(pc, ranges_that_begin_and_end_in_a_capture_are_settled_behind_it)
{
    begin("step");
    fake_capture(mode, context, (CUstream)0x7, true);
    cw_user_range_push(0, "step");
    cr_expect_eq(starts, 0);
    fake_capture(mode, context, (CUstream)0x7, false);
    cr_expect_eq(starts, 1);
    fake_capture(mode, context, (CUstream)0x7, true);
    cw_user_range_pop(0);
    cr_expect_eq(stops, 0);
    fake_capture(mode, context, (CUstream)0x7, false);
    cr_expect_eq(stops, 1);
    end();
}

Test(pc, samples_are_fetched_between_launches)
{
    begin(NULL);
    launch_begins();
    launch_ends();
    cr_expect_eq(fetches, 1);
    launch_begins();
    launch_begins();
    fake_profiler.meanwhile = launch_ends;
    launch_ends();
    cr_expect_null(fake_profiler.meanwhile, "it had to wait");
    cr_expect_geq(fetches, 2);
    const int before = fetches;
    fake_capture(mode, context, (CUstream)0x7, true);
    launch_begins();
    launch_ends();
    cr_expect_eq(fetches, before);
    fake_capture(mode, context, (CUstream)0x7, false);
    end();
}

/* A launch that is given memory of the host's; under sampling it is held up until the kernel has ended. */
static bool sampled(bool waits)
{
    static int of_host;
    void *argument = &of_host, *arguments[] = {&argument};
    const cuLaunchKernel_params params = {.f = (CUfunction)1, .kernelParams = arguments};
    static uint32_t correlation;
    const CUpti_CallbackData call = {.context = context, .functionParams = &params, .correlationId = ++correlation};
    fake_memory[0] = (struct fake_memory){.start = &of_host, .size = sizeof of_host, .type = CU_MEMORYTYPE_HOST};
    fake_profiler.busy = false;
    mode->launch_entered(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, &call);
    cw_in_flight_launch_entered();
    launching++;
    const bool held_up = holds_up();
    cr_expect(!held_up || !waits, "it never ends");
    cr_expect(enabled || fetch_result, "CUPTI names no kernel that is loaded until sampling is enabled again");
    fake_profiler.busy = waits;
    launch_ends_of(&call);
    return held_up;
}

Test(pc, a_kernel_that_waits_for_the_host_is_never_held_up)
{
    begin(NULL);
    cr_expect_not(sampled(true));
    cr_expect_not(holds_up(), "it still runs");
    cr_expect_not(sampled(true));
    fake_profiler.busy = false;
    launch_begins();
    cr_expect(holds_up(), "sampling goes on");
    launch_ends();
    end();
    cr_expect_not(enabled);
}

static void make_stream(void)
{
    const cuStreamCreate_params params = {0};
    const CUpti_CallbackData call = {.callbackSite = CUPTI_API_EXIT, .context = context, .functionParams = &params};
    cw_streams_follow(CUPTI_DRIVER_TRACE_CBID_cuStreamCreate, &call);
}

static bool sampled_beside(CUstream stream)
{
    const cuLaunchKernel_params params = {.f = (CUfunction)3, .hStream = stream};
    static uint32_t correlation = 100;
    const CUpti_CallbackData call = {.context = context, .functionParams = &params, .correlationId = ++correlation};
    fake_memory[0] = (struct fake_memory){0};
    mode->launch_entered(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, &call);
    cw_in_flight_launch_entered();
    launching++;
    const bool held_up = holds_up();
    launch_ends_of(&call);
    return held_up;
}

/* It may wait for what the program does next, and so does what is launched behind it. */
Test(pc, what_is_behind_a_function_of_the_host_is_not_held_up)
{
    static const struct fake_name names[] = {{CUPTI_DRIVER_TRACE_CBID_cuLaunchHostFunc, "cuLaunchHostFunc"}, {0}};
    const CUpti_CallbackData call = {.callbackSite = CUPTI_API_ENTER, .context = context};
    begin(NULL);
    fake_names = names;
    launch_begins();
    launch_ends();
    cr_expect(holds_up());
    cr_assert(mode->wants(CUPTI_DRIVER_TRACE_CBID_cuLaunchHostFunc));
    mode->call_entered(CUPTI_DRIVER_TRACE_CBID_cuLaunchHostFunc, &call);
    fake_profiler.busy = true;
    launch_begins();
    cr_expect_not(holds_up());
    launch_ends();
    fake_profiler.busy = false;
    launch_begins();
    cr_expect(holds_up(), "sampling goes on");
    launch_ends();
    end();
}

/* For a kernel that runs at the same time. */
Test(pc, a_kernel_may_wait_for_one_of_another_stream)
{
    begin(NULL);
    for (int i = 0; i < 2; i++)
        make_stream();
    cr_expect_not(sampled_beside((CUstream)0x20));
    cr_expect(sampled_beside((CUstream)0x20));
    end();
}

Test(pc, a_kernel_that_does_not_wait_is_sampled_from_its_second_launch_on)
{
    begin(NULL);
    cr_expect_not(sampled(false));
    cr_expect(holds_up());
    cr_expect(sampled(false));
    end();
}

Test(pc, a_range_behind_a_kernel_that_waits_is_settled_later)
{
    begin("step");
    fake_profiler.busy = true;
    cw_user_range_push(0, "step");
    cr_expect_eq(starts, 0, "its kernel is not to be seen in the range");
    fake_profiler.busy = false;
    launch_begins();
    launch_ends();
    cr_expect_eq(starts, 1);
    fake_profiler.busy = true;
    cw_user_range_pop(0);
    cr_expect_eq(stops, 0);
    fake_profiler.busy = false;
    launch_begins();
    launch_ends();
    cr_expect_eq(stops, 1);
    end();
}

/* As where a session begins beside a kernel that never ends. */
Test(pc, a_kernel_from_before_holds_no_launch_up_for_long)
{
    begin(NULL);
    fake_profiler.busy = true;
    const uint64_t then = fake_profiler.now_ns;
    launch_begins();
    launch_ends();
    cr_expect_lt(fake_profiler.now_ns - then, UINT64_C(1000000000));
    cr_expect_eq(starts, 0);
    fake_profiler.busy = false;
    launch_begins();
    cr_expect(holds_up());
    launch_ends();
    end();
}

Test(pc, a_program_ends_with_a_kernel_that_waits)
{
    begin(NULL);
    fake_profiler.busy = true;
    mode->finish();
    cr_expect(cw_inject->over && strstr(fake_profiler.failure, "before the program does"), "%s", fake_profiler.failure);
    cr_expect(enabled, "sampling was not ended, which would have waited");
    mode->context_destroyed(context);
    cr_expect(enabled, "it would wait still");
    cr_expect_not(mode->reset(), "no session can follow");
    fake_profiler_end();
}

/* ---- some kernels and launches ---------------------------------------------------------------------------------- */

static void run_kernel_in(CUcontext c, const char *function, uint32_t correlation)
{
    const CUpti_CallbackData call = {
        .context = c, .functionParams = &plain, .symbolName = function, .correlationId = correlation};
    mode->launch_entered(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, &call);
    cw_in_flight_launch_entered();
    launching++;
    waiting[waiting_count++] = (struct sampled){function, correlation};
    launch_ends_of(&call);
}

static void run_kernel(const char *function, uint32_t correlation)
{
    run_kernel_in(context, function, correlation);
}

/* The last batch that the agent was sent: the function of its only record, "" for none. */
static const char *sent(uint64_t *total, uint64_t *other)
{
    static char function[64];
    struct cw_reader in;
    struct cw_pc_batch batch;
    struct cw_arena *arena = cw_arena_create();
    cw_reader_init(&in, fake_profiler.other, fake_profiler.other_size, "message", 0, NULL);
    cw_pc_batch_read(&batch, &in, arena);
    cr_assert_eq(in.status, CW_OK);
    cr_assert_leq(batch.record_count, 1);
    snprintf(function, sizeof function, "%s", batch.record_count ? batch.records[0].at.function : "");
    *total = batch.total;
    *other = batch.other;
    cw_arena_destroy(arena);
    return function;
}

static void expect_sent(const char *function, uint64_t other)
{
    uint64_t total, others;
    cr_expect_str_eq(sent(&total, &others), function);
    cr_expect_eq(total, 6);
    cr_expect_eq(others, other);
}

Test(pc, samples_of_kernels_that_were_not_asked_for_are_other_code)
{
    reason_count = 2;
    filter.kernels[filter.kernel_count++] = "^add\\(";
    filter.excluded[filter.excluded_count++] = "double";
    begin(NULL);
    run_kernel("_Z3addPfi", 1);
    expect_sent("_Z3addPfi", 1);
    run_kernel("_Z3subPfi", 2);
    expect_sent("", 6);
    run_kernel("_Z3addPdi", 3);
    expect_sent("", 6);
    end();
}

Test(pc, launches_are_chosen_by_their_number_among_those_that_match)
{
    reason_count = 2;
    filter.kernels[filter.kernel_count++] = "^add\\(";
    filter.launch_skip = filter.launch_count = 1;
    begin(NULL);
    run_kernel("_Z3addPfi", 7);
    expect_sent("", 6);
    run_kernel("_Z3subPfi", 8);
    expect_sent("", 6);
    run_kernel("_Z3addPfi", 9);
    expect_sent("_Z3addPfi", 1);
    run_kernel("_Z3addPfi", 10);
    expect_sent("", 6);
    end();
}

/* Threads overtake each other between the number and the callback. */
Test(pc, chosen_launches_are_known_in_any_order)
{
    static const uint32_t numbers[] = {50, 20, 30, 10, 40};
    reason_count = 2;
    filter.launch_count = 5;
    begin(NULL);
    for (size_t i = 0; i < 5; i++) {
        run_kernel("_Z3addPfi", numbers[i]);
        expect_sent("_Z3addPfi", 1);
    }
    run_kernel("_Z3addPfi", 60);
    expect_sent("", 6);
    end();
}

/* CUPTI fails so where several processes of a GPU are sampled. */
Test(pc, samples_that_cannot_be_fetched_end_the_sampling_of_their_context_alone)
{
    begin(NULL);
    launch_begins();
    launch_ends();
    fetch_result = CUPTI_ERROR_UNKNOWN;
    launch_begins();
    launch_ends();
    cr_expect_eq(fetches, 2);
    cr_expect_not(enabled, "the program goes on at its own speed");
    launch_begins();
    launch_ends();
    cr_expect_eq(fetches, 2);
    mode->finish();
    end();
}

Test(pc, a_launch_beside_which_sampling_ended_does_not_begin_it_again)
{
    begin(NULL);
    fetch_result = CUPTI_ERROR_UNKNOWN;
    cr_expect_not(sampled(false));
    cr_expect_not(sampled(false));
    cr_expect_not(enabled);
    end();
}

static void launch_in(CUcontext c)
{
    const CUpti_CallbackData call = {.context = c, .functionParams = &plain};
    mode->launch_entered(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, &call);
    cw_in_flight_launch_entered();
    launching++;
    launch_ends_of(&call);
}

Test(pc, contexts_of_a_device_take_turns)
{
    begin(NULL);
    mode->context_created(second, 0);
    cr_expect_eq(sampled_one, context);
    launch_in(second);
    cr_expect_eq(sampled_one, second, "the first has had its turn");
    launch_in(context);
    cr_expect_eq(sampled_one, second, "a turn lasts for a moment");
    fake_profiler.now_ns += 60000000000;
    launch_in(second);
    cr_expect_eq(sampled_one, second);
    fake_profiler.busy_one = second;
    launch_in(context);
    cr_expect_eq(sampled_one, second, "its launches have not ended");
    fake_profiler.busy_one = NULL;
    launch_in(context);
    cr_expect_eq(sampled_one, second, "the next try is not yet due");
    fake_profiler.now_ns += 60000000000;
    launch_in(context);
    cr_expect_eq(sampled_one, context);
    mode->context_destroyed(context);
    cr_expect_null(sampled_one);
    launch_in(second);
    cr_expect_eq(sampled_one, second);
    mode->finish();
    cr_expect_null(sampled_one);
    mode->context_created(context, 0);
    end();
}

Test(pc, a_context_that_does_not_launch_gives_its_turn_away)
{
    begin("step");
    mode->context_created(second, 0);
    cw_user_range_push(0, "step");
    cr_expect_eq(starts, 1);
    launch_in(second);
    cr_expect_eq(sampled_one, second);
    cr_expect(starts == 2 && stops == 1);
    cw_user_range_pop(0);
    cr_expect_eq(stops, 2);
    mode->finish();
    end();
}

Test(pc, each_context_has_its_turn)
{
    CUcontext seen[6];
    begin(NULL);
    mode->context_created(second, 0);
    mode->context_created(third, 0);
    for (int i = 0; i < 6; i++) {
        for (int k = 0; k < 3; k++) {
            launch_in(context);
            launch_in(second);
            launch_in(third);
        }
        seen[i] = sampled_one;
        fake_profiler.now_ns += 60000000000;
    }
    for (int i = 2; i < 6; i++)
        cr_expect(seen[i] != seen[i - 1] && seen[i] != seen[i - 2], "%d", i);
    mode->context_destroyed(third);
    mode->context_destroyed(second);
    end();
}

Test(pc, a_turn_is_not_ended_for_a_context_that_does_not_rest)
{
    begin(NULL);
    mode->context_created(second, 0);
    fake_profiler.busy_one = second;
    launch_in(second);
    cr_expect_eq(sampled_one, context);
    mode->context_destroyed(second);
    end();
}

Test(pc, turns_do_not_change_where_nothing_is_to_be_sampled)
{
    begin("step");
    mode->context_created(second, 0);
    launch_in(second);
    cr_expect_eq(sampled_one, context);
    cw_user_range_push(0, "step");
    launch_in(second);
    cr_expect_eq(sampled_one, second);
    cw_user_range_pop(0);
    mode->context_destroyed(second);
    end();
}

/* A function of the host comes behind its last launch. */
Test(pc, a_context_that_was_set_aside_gives_its_turn_away)
{
    static const struct fake_name names[] = {{CUPTI_DRIVER_TRACE_CBID_cuLaunchHostFunc, "cuLaunchHostFunc"}, {0}};
    const CUpti_CallbackData call = {.callbackSite = CUPTI_API_ENTER, .context = context};
    begin(NULL);
    fake_names = names;
    mode->context_created(second, 0);
    launch_in(context);
    mode->call_entered(CUPTI_DRIVER_TRACE_CBID_cuLaunchHostFunc, &call);
    cr_expect_not(holds_up());
    launch_in(second);
    cr_expect_eq(sampled_one, second);
    mode->context_destroyed(second);
    end();
}

Test(pc, only_launches_that_can_be_sampled_are_numbered)
{
    reason_count = 2;
    filter.launch_count = 2;
    begin(NULL);
    mode->context_created(second, 0);
    run_kernel_in(second, "_Z3addPfi", 1);
    expect_sent("_Z3addPfi", 1);
    run_kernel("_Z3addPfi", 2); /* beside the turn of the second */
    run_kernel("_Z3addPfi", 3);
    run_kernel_in(second, "_Z3addPfi", 4);
    waiting_count = 0;
    run_kernel_in(second, "_Z3addPfi", 4);
    expect_sent("_Z3addPfi", 1);
    mode->context_destroyed(second);
    end();
}
