/* Batched replay of a program whose memory is one number: what it reads is what it would without a profiler. */
#include <criterion/criterion.h>

#include "agent/inject/driver/in_flight.h"
#include "agent/inject/driver/module.h"
#include "agent/inject/driver/stream_capture.h"
#include "agent/inject/memory/graph.h"
#include "agent/inject/modes/batches.h"
#include "agent/inject/modes/range.h"
#include "tests/support/fake_profiler.h"

static const struct cw_inject_mode *const mode = &cw_inject_batch;
static CUcontext context = (CUcontext)0x10, owner = (CUcontext)0x10;
static CUgraphExec exec = (CUgraphExec)0x1000, host_exec = (CUgraphExec)0x2000;
static uint32_t counter; /* in pinned memory, which the graph counts up */
static uint64_t word;
static void *parameters[] = {&word};
static uint32_t expected = 1, correlation;
static int replays;

/* ---- what the device does --------------------------------------------------------------------------------------- */

/* An older CUPTI sees no launch that no range was pushed for. */
static void run_kernel(uint32_t *memory)
{
    if (memory == &fake_profiler.device)
        cr_expect_eq(fake_profiler.open, fake_profiler.version < CW_CUPTI_OF_CUDA_13 && fake_profiler.running);
    *memory = *memory * 3 + 1;
}

static void run_graph(uint32_t *memory)
{
    *memory = *memory * 5 + 2;
}

static CUresult launch_kernel(const CUlaunchConfig *config, CUfunction function, void **given, void **extra)
{
    cr_expect(config && !function && given && !extra && fake_profiler.running);
    cr_expect(!owner || fake_profiler.current == owner, "launches are replayed in their own context");
    run_kernel(&fake_profiler.device);
    replays++;
    return CUDA_SUCCESS;
}

static int shared_size; /* that a launch of a kernel may ask for */

static CUresult function_attribute(int *value, CUfunction_attribute attribute, CUfunction function)
{
    (void)function;
    *value = attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES ? shared_size : 0;
    return CUDA_SUCCESS;
}

static CUresult launch_graph(CUgraphExec which, CUstream stream)
{
    cr_expect(which == exec && !stream && fake_profiler.open, "only one that can run twice, in a range");
    run_graph(&fake_profiler.device);
    counter++;
    replays++;
    return CUDA_SUCCESS;
}

static CUresult set_memory(CUdeviceptr to, unsigned value, size_t count, CUstream stream)
{
    cr_expect(!to && count == 1 && !stream);
    fake_profiler.device = value;
    return CUDA_SUCCESS;
}

/* Calls beside launches, and whether a batch ends at them. */
static const struct named_call {
    CUpti_CallbackId id;
    const char *name;
    bool ends;
} named_calls[] = {
#define CALL_THAT(ends, call)                                                                                          \
    {                                                                                                                  \
        CUPTI_DRIVER_TRACE_CBID_##call, #call, ends                                                                    \
    }
    /* as a step of training makes them */
    CALL_THAT(false, cuMemcpyDtoH_v2), /* while that is not too dear */
    CALL_THAT(false, cuMemcpyDtoHAsync_v2),
    CALL_THAT(false, cuMemcpyAsync), /* to the host */
    CALL_THAT(false, cuEventRecord),
    CALL_THAT(false, cuEventQuery),
    CALL_THAT(false, cuEventSynchronize),
    CALL_THAT(false, cuStreamWaitEvent),
    CALL_THAT(false, cuStreamSynchronize),
    CALL_THAT(false, cuStreamIsCapturing),
    CALL_THAT(false, cuMemAlloc_v2),
    CALL_THAT(false, cuMemAllocAsync),
    CALL_THAT(true, cuMemFree_v2),
    CALL_THAT(true, cuMemFreeAsync),
    CALL_THAT(false, cuMemGetInfo_v2),
    CALL_THAT(false, cuMemHostAlloc),
    CALL_THAT(false, cuCtxGetCurrent),
    CALL_THAT(false, cuPointerGetAttribute),
    CALL_THAT(false, cuGetProcAddress_v2),
    CALL_THAT(false, cuFuncGetAttribute),
    CALL_THAT(false, cuFuncSetAttribute),
    CALL_THAT(false, cuOccupancyMaxActiveBlocksPerMultiprocessor),
    CALL_THAT(false, cuModuleLoadData),
    CALL_THAT(false, cuLibraryLoadData),
    CALL_THAT(true, cuModuleUnload),
    CALL_THAT(true, cuMemPoolTrimTo),
    CALL_THAT(true, cuStreamDestroy_v2),
    CALL_THAT(true, cuLaunchHostFunc),
    CALL_THAT(true, cuMemcpyPeerAsync),
    /* a batch holds no graph */
    CALL_THAT(false, cuGraphExecKernelNodeSetParams_v2),
    CALL_THAT(false, cuGraphExecMemcpyNodeSetParams),
    CALL_THAT(false, cuGraphKernelNodeSetParams_v2),
    CALL_THAT(false, cuGraphNodeSetEnabled),
    CALL_THAT(true, cuGraphExecDestroy),
    /* what only asks, compiles, or moves memory about */
    CALL_THAT(false, cuDeviceTotalMem_v2),
    CALL_THAT(false, cuDeviceComputeCapability),
    CALL_THAT(false, cuDevicePrimaryCtxRetain),
    CALL_THAT(false, cuLibraryEnumerateKernels),
    CALL_THAT(false, cuModuleEnumerateFunctions),
    CALL_THAT(false, cuLinkCreate_v2),
    CALL_THAT(false, cuLinkAddData_v2),
    CALL_THAT(false, cuLinkComplete),
    CALL_THAT(false, cuLinkDestroy),
    CALL_THAT(false, cuMemGetAccess),
    CALL_THAT(false, cuMemGetAllocationGranularity),
    CALL_THAT(false, cuMemGetAllocationPropertiesFromHandle),
    CALL_THAT(false, cuMemPoolGetAttribute),
    CALL_THAT(false, cuMemPoolSetAttribute),
    CALL_THAT(false, cuMemPoolCreate),
    CALL_THAT(false, cuDeviceSetMemPool),
    CALL_THAT(false, cuMemAdvise),
    CALL_THAT(false, cuMemPrefetchAsync),
    CALL_THAT(false, cuMemRangeGetAttribute),
    CALL_THAT(false, cuProfilerStart),
    CALL_THAT(false, cuProfilerStop),
    CALL_THAT(false, cuTexObjectGetResourceDesc),
    /* of a driver that is newer than what this was built with */
    {CUPTI_DRIVER_TRACE_CBID_SIZE, "cuMemcpySomeNewWay", true},
    {CUPTI_DRIVER_TRACE_CBID_SIZE + 1, "cuMemGetInfo_v3", false},
};
enum { NAMED_CALLS = sizeof named_calls / sizeof *named_calls };

static CUptiResult callback_name(CUpti_CallbackDomain domain, uint32_t id, const char **name)
{
    (void)domain;
    *name = id == CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize       ? "cuCtxSynchronize"
            : id == CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2 ? "cuMemcpyHtoDAsync_v2"
                                                                 : NULL;
    for (int i = 0; i < NAMED_CALLS && !*name; i++)
        *name = named_calls[i].id == id ? named_calls[i].name : NULL;
    return CUPTI_SUCCESS;
}

/* ---- the program ------------------------------------------------------------------------------------------------ */

static uint32_t enter(CUpti_CallbackId id, const void *params)
{
    const uint32_t number = ++correlation; /* others may launch meanwhile */
    fake_launch_begins(mode, id, params, context, number);
    return number;
}

static void kernel(void)
{
    const cuLaunchKernel_params params = {.gridDimX = 1, .blockDimX = 1};
    uint32_t number = enter(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, &params);
    run_kernel(&fake_profiler.device);
    run_kernel(&expected);
    fake_launch_ends(mode, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, &params, context, number, CUDA_SUCCESS);
}

static void refused_kernel(void)
{
    const cuLaunchKernel_params params = {.gridDimX = 1, .blockDimX = 1};
    uint32_t number = enter(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, &params);
    fake_launch_ends(mode, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, &params, context, number, CUDA_ERROR_INVALID_VALUE);
}

static void graph(CUgraphExec which)
{
    const cuGraphLaunch_params params = {.hGraph = which};
    uint32_t number = enter(CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, &params);
    run_graph(&fake_profiler.device);
    run_graph(&expected);
    counter++;
    fake_launch_ends(mode, CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, &params, context, number, CUDA_SUCCESS);
}

static void follow(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    (call->callbackSite == CUPTI_API_ENTER ? mode->call_entered : mode->call_left)(id, call);
}

static void instantiate(CUgraphExec *which, struct fake_graph *from)
{
    const cuGraphInstantiateWithFlags_params params = {.phGraphExec = which, .hGraph = (CUgraph)from};
    cr_expect(mode->wants(CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithFlags));
    fake_call(follow, CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithFlags, &params, CUDA_SUCCESS);
}

static uint64_t *kept_for(CUcontext from)
{
    static uint64_t by_context[0x200];
    return &by_context[(uintptr_t)from];
}

static void call_begins(CUpti_CallbackId id, const void *params, CUcontext from)
{
    const CUpti_CallbackData call = {
        .callbackSite = CUPTI_API_ENTER, .correlationData = kept_for(from), .functionParams = params, .context = from};
    mode->call_entered(id, &call);
}

static void call_ends(CUpti_CallbackId id, CUcontext from)
{
    static const uint64_t params[64];
    CUresult result = CUDA_SUCCESS;
    const CUpti_CallbackData call = {.callbackSite = CUPTI_API_EXIT,
                                     .correlationData = kept_for(from),
                                     .functionParams = params,
                                     .functionReturnValue = &result,
                                     .context = from};
    mode->call_left(id, &call);
}

static void read_begins(CUcontext from)
{
    call_begins(CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoH_v2, NULL, from);
}

static void read_ends(CUcontext from)
{
    call_ends(CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoH_v2, from);
}

static void set_begins(unsigned value)
{
    const cuMemsetD32Async_params params = {.ui = value, .N = 1};
    call_begins(CUPTI_DRIVER_TRACE_CBID_cuMemsetD32Async, &params, context);
}

static void set_ends(void)
{
    call_ends(CUPTI_DRIVER_TRACE_CBID_cuMemsetD32Async, context);
}

static void read_back(void)
{
    read_begins(context);
    read_ends(context);
    cr_expect_eq(fake_profiler.device, expected);
}

/* ---- tests ------------------------------------------------------------------------------------------------------ */

static void begin(void)
{
    struct cw_writer setup;
    fake_profiler_begin(&setup, FAKE_PARTS, FAKE_PASSES);
    fake_ask(&setup, CW_REPLAY_BATCH, false, NULL);
    cw_inject->api.cuLaunchKernelEx = launch_kernel;
    cw_inject->api.cuGraphLaunch = launch_graph;
    cw_inject->api.cuFuncGetAttribute = function_attribute;
    cw_inject->api.cuMemsetD32Async = set_memory;
    cw_inject->api.cuptiGetCallbackName = callback_name;
    fake_setup(mode, &setup);
    fake_profiler.device = expected;
    mode->context_created(context, 0);
}

Test(batch, a_graph_is_a_batch_of_its_own)
{
    static struct fake_graph one, host;
    begin();
    fake_memory[0] = (struct fake_memory){&counter, sizeof counter, CU_MEMORYTYPE_HOST, false, 0};
    word = (uintptr_t)&counter;
    fake_kernel(&one, parameters, 1);
    fake_other(&host, CU_GRAPH_NODE_TYPE_HOST);
    instantiate(&exec, &one);
    instantiate(&host_exec, &host);

    kernel();
    kernel();
    read_back();
    graph(exec);
    read_back();
    graph(exec);
    kernel();
    read_back();
    graph(host_exec);
    read_back();
    kernel();
    mode->finish();
    read_back();
    cr_expect_eq(counter, 3, "each graph was launched once");

    static const char *const names[] = {"step",  "step", "graph (1 kernel)", "graph (1 kernel)", "step",
                                        "graph", "step"};
    cr_assert_eq(fake_profiler.sent_count, sizeof names / sizeof *names);
    for (uint32_t i = 0; i < fake_profiler.sent_count; i++) {
        cr_expect_str_eq(fake_profiler.sent[i].kernel, names[i]);
        cr_expect_eq(fake_profiler.sent[i].graphs, *names[i] == 'g');
    }
    /* of four launches the program's own was the first pass; two graphs had all passes before it */
    cr_expect_eq(replays, 4 * (FAKE_PARTS * FAKE_PASSES - 1) + 2 * FAKE_PARTS * FAKE_PASSES);
    cr_expect_eq(fake_profiler.skipped, 0);
    cr_expect_str_eq(fake_profiler.sent[5].once,
                     "it is a CUDA graph with a host node, whose function would run again in each pass");
    cr_expect(!cw_inject->over, "%s", fake_profiler.failure);
    mode->context_destroyed(context);
    fake_profiler_end();
}

Test(batch, a_graph_that_nobody_wants_runs_between_batches)
{
    static struct fake_graph one;
    begin();
    cw_range_settings->filter.options.launch_count = 1;
    fake_kernel(&one, NULL, 0);
    instantiate(&exec, &one);
    kernel();
    graph(exec);
    read_back();
    mode->finish();
    read_back();
    cr_expect_eq(fake_profiler.sent_count, 1);
    cr_expect_eq(fake_profiler.skipped, 0);
    mode->context_destroyed(context);
    fake_profiler_end();
}

/* What it has read may be its last act, but ending at each read must stay cheap beside the program. */
Test(batch, ends_where_the_program_has_read_what_it_computed)
{
    begin();
    kernel();
    kernel();
    cr_expect_eq(fake_profiler.sent_count, 0);
    read_back();
    cr_expect_eq(fake_profiler.sent_count, 2);
    cw_range_settings->spent_ns = UINT64_MAX / 2;
    kernel();
    read_back();
    cr_expect_eq(fake_profiler.sent_count, 2);
    mode->finish();
    read_back();
    cr_expect_eq(fake_profiler.sent_count, 3);
    cr_expect(!cw_inject->over, "%s", fake_profiler.failure);
    mode->context_destroyed(context);
    fake_profiler_end();
}

static void expect_end(uint32_t batches, const char *by)
{
    cr_expect_eq(fake_profiler.batches, batches);
    cr_expect_str_eq(fake_profiler.ended, by);
}

Test(batch, says_what_ended_it)
{
    static struct fake_graph one;
    begin();
    fake_kernel(&one, NULL, 0);
    instantiate(&exec, &one);
    kernel();
    read_back();
    expect_end(1, "cuMemcpyDtoH_v2");
    for (int i = 0; i < 5; i++)
        kernel();
    expect_end(2, "no more room");
    graph(exec);
    expect_end(4, "a CUDA graph");
    kernel();
    fake_profiler.now_ns += 6000000000;
    kernel();
    expect_end(5, "its time");
    cw_range_settings->filter.options.launch_count = 0;
    kernel();
    expect_end(6, "an unwanted launch");
    cw_range_settings->filter.options.launch_count = UINT64_MAX;
    kernel();
    fake_capture(mode, context, (CUstream)0x7, true);
    expect_end(7, "a stream's capture, or memory that others reach");
    kernel();
    read_back();
    cr_expect_eq(fake_profiler.batches, 7, "what was left out is no batch");
    fake_capture(mode, context, (CUstream)0x7, false);
    kernel();
    mode->finish();
    expect_end(8, "the end of the program");
    cr_expect(!cw_inject->over, "%s", fake_profiler.failure);
    mode->context_destroyed(context);
    fake_profiler_end();
}

/* Each look at the clock takes a millisecond. */
Test(batch, says_what_it_took)
{
    begin();
    fake_profiler.slow = true;
    kernel();
    kernel();
    read_back();
    const uint64_t *spent = fake_profiler.spent_ns, passes = FAKE_PARTS * FAKE_PASSES;
    static const enum cw_effort_phase once[] = {CW_EFFORT_SAVE, CW_EFFORT_SETUP, CW_EFFORT_OWN};
    for (size_t i = 0; i < sizeof once / sizeof *once; i++)
        cr_expect_geq(spent[once[i]], 1000000, "phase %d", (int)once[i]);
    cr_expect_eq(spent[CW_EFFORT_LAUNCH], (passes - 1) * (1 + 2) * 1000000, "with a look before each launch");
    cr_expect_eq(spent[CW_EFFORT_RESTORE], (passes - 1) * 1000000);
    cr_expect_geq(spent[CW_EFFORT_STOP], passes * 1000000);
    cr_expect_geq(spent[CW_EFFORT_DECODE], FAKE_PARTS * 1000000);
    kernel();
    read_back();
    cr_expect_lt(fake_profiler.spent_ns[CW_EFFORT_OWN], spent[CW_EFFORT_OWN] + 10000000, "each batch has its own");
    cr_expect_eq(fake_profiler.spent_ns[CW_EFFORT_LAUNCH], (passes - 1) * (1 + 1) * 1000000);
    cr_expect(!cw_inject->over, "%s", fake_profiler.failure);
    mode->context_destroyed(context);
    fake_profiler_end();
}

Test(batch, ends_only_at_calls_that_cannot_be_done_again)
{
    begin();
    cw_range_settings->spent_ns = UINT64_MAX / 2; /* so that it does not end at a read */
    for (int i = 0; i < NAMED_CALLS; i++) {
        const struct named_call *call = &named_calls[i];
        static const uint64_t params[64];
        if (!fake_profiler.running)
            kernel();
        uint32_t before = fake_profiler.batches;
        if (mode->wants(call->id)) {
            call_begins(call->id, params, context);
            call_ends(call->id, context);
        }
        cr_expect_eq(fake_profiler.batches, before + call->ends, "%s", call->name);
        if (call->ends)
            cr_expect_str_eq(fake_profiler.ended, call->name);
    }
    mode->finish();
    cr_expect_eq(fake_profiler.device, expected);
    cr_expect(!cw_inject->over, "%s", fake_profiler.failure);
    mode->context_destroyed(context);
    fake_profiler_end();
}

static CUresult bring(CUdeviceptr to, const void *from, size_t size, CUstream stream)
{
    (void)to, (void)from, (void)size, (void)stream;
    return CUDA_SUCCESS;
}

/* What it would bring again is what stood there when it was asked for, and a copy that goes on still may change that.
 */
Test(batch, ends_at_a_copy_of_what_a_copy_may_be_bringing)
{
    static uint8_t pinned[16], beside[16];
    const cuMemcpyHtoDAsync_v2_params other = {.dstDevice = 0x200000, .srcHost = beside, .ByteCount = sizeof beside};
    const cuMemcpyHtoDAsync_v2_params there = {.dstDevice = 0x200000, .srcHost = pinned, .ByteCount = sizeof pinned};
    const cuMemcpyDtoHAsync_v2_params back = {.dstHost = pinned, .srcDevice = 0x200000, .ByteCount = sizeof pinned};
    begin();
    cw_inject->api.cuMemcpyHtoDAsync_v2 = bring;
    fake_memory[0] = (struct fake_memory){.start = pinned, .size = sizeof pinned, .type = CU_MEMORYTYPE_HOST};
    kernel();
    call_begins(CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2, &there, context);
    call_ends(CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2, context);
    call_begins(CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2, &back, context);
    call_ends(CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2, context);
    call_begins(CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2, &other, context);
    call_ends(CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2, context);
    cr_expect_eq(fake_profiler.batches, 0);
    call_begins(CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2, &there, context);
    expect_end(1, "cuMemcpyHtoDAsync_v2");
    call_ends(CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2, context);
    cr_expect(!cw_inject->over, "%s", fake_profiler.failure);
    mode->context_destroyed(context);
    fake_profiler_end();
}

static void read_later(void)
{
    static uint8_t back[16];
    const cuMemcpyDtoHAsync_v2_params params = {.dstHost = back, .srcDevice = 0x200000, .ByteCount = sizeof back};
    call_begins(CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2, &params, context);
    call_ends(CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2, context);
}

/* As at reads: what follows may be the end of the program, without its exit handlers. */
Test(batch, ends_where_the_program_waits_for_what_it_reads_while_that_is_cheap)
{
    begin();
    kernel();
    read_later();
    call_begins(CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize, NULL, context);
    expect_end(1, "cuCtxSynchronize");
    call_ends(CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize, context);
    cw_range_settings->spent_ns = UINT64_MAX / 2;
    kernel();
    read_later();
    call_begins(CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize, NULL, context);
    call_ends(CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize, context);
    kernel();
    cr_expect_eq(fake_profiler.batches, 1);
    read_back();
    mode->finish();
    read_back();
    cr_expect_eq(fake_profiler.sent_count, 3);
    cr_expect(!cw_inject->over, "%s", fake_profiler.failure);
    mode->context_destroyed(context);
    fake_profiler_end();
}

/* A program that chooses the fastest of its kernels waits for each. */
Test(batch, goes_on_where_the_program_waits_and_reads_nothing)
{
    begin();
    kernel();
    call_begins(CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize, NULL, context);
    call_ends(CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize, context);
    kernel();
    cr_expect_eq(fake_profiler.batches, 0);
    mode->finish();
    cr_expect_eq(fake_profiler.batches, 1);
    read_back();
    mode->context_destroyed(context);
    fake_profiler_end();
}

static void host_function(CUhostFn function)
{
    const cuLaunchHostFunc_params params = {.fn = function};
    CUresult result = CUDA_SUCCESS;
    CUpti_CallbackData call = {.callbackSite = CUPTI_API_ENTER,
                               .correlationData = kept_for(context),
                               .functionParams = &params,
                               .functionReturnValue = &result,
                               .context = context};
    mode->call_entered(CUPTI_DRIVER_TRACE_CBID_cuLaunchHostFunc, &call);
    call.callbackSite = CUPTI_API_EXIT;
    mode->call_left(CUPTI_DRIVER_TRACE_CBID_cuLaunchHostFunc, &call);
}

static void CUDA_CB signals(void *user)
{
    (void)user;
}

/* Batches run without CUPTI, as while kernels are new. */
static void stand_by(void)
{
    cw_batches->items[0].familiar = 0;
}

/* It is known from then on to end by itself, as one that only signals does. */
Test(batch, goes_on_at_a_function_of_the_host_that_has_ended_by_itself)
{
    begin();
    stand_by();
    kernel();
    host_function(signals);
    expect_end(1, "cuLaunchHostFunc");
    for (int i = 0; i < 3; i++) {
        kernel();
        host_function(signals);
    }
    kernel();
    mode->finish();
    cr_expect_eq(fake_profiler.batches, 2);
    read_back();
    cr_expect_eq(fake_profiler.sent_count, 5);
    cr_expect_eq(fake_profiler.skipped, 0);
    mode->context_destroyed(context);
    fake_profiler_end();
}

/* This time it waits for what the program does behind the next launch. */
Test(batch, is_not_repeated_behind_a_function_of_the_host_that_waits_after_all)
{
    begin();
    stand_by();
    host_function(signals);
    kernel();
    fake_profiler.busy = true;
    host_function(signals);
    kernel();
    fake_profiler.busy = false;
    cr_expect_eq(replays, 0);
    kernel();
    host_function(signals);
    expect_end(1, "cuLaunchHostFunc");
    mode->finish();
    read_back();
    cr_expect_eq(fake_profiler.skipped, 2);
    mode->context_destroyed(context);
    fake_profiler_end();
}

/* CUPTI would wait for it when it is stopped, for ever if it waits for the program. */
Test(batch, ends_before_any_function_of_the_host_while_cupti_is_armed)
{
    begin();
    host_function(signals);
    for (uint32_t i = 1; i <= 3; i++) {
        kernel();
        cr_expect_eq(fake_profiler.running, 1);
        host_function(signals);
        expect_end(i, "cuLaunchHostFunc");
    }
    mode->context_destroyed(context);
    fake_profiler_end();
}

/* Counting for the device is cheap, and right while nothing else uses it. */
Test(batch, counts_for_the_device_until_something_else_uses_it)
{
    begin();
    fake_profiler.alone = true;
    kernel();
    cr_expect_eq(fake_profiler.scope, CW_SCOPE_DEVICE);
    read_back();
    kernel();
    fake_profiler.alone = false;
    read_back();
    fake_profiler.alone = true;
    kernel();
    cr_expect_eq(fake_profiler.scope, CW_SCOPE_CONTEXT, "what came once may come again");
    mode->finish();
    read_back();

    static const enum cw_scope scopes[] = {CW_SCOPE_DEVICE, CW_SCOPE_SHARED, CW_SCOPE_CONTEXT};
    cr_assert_eq(fake_profiler.sent_count, 3);
    for (int i = 0; i < 3; i++)
        cr_expect_eq(fake_profiler.sent[i].scope, scopes[i], "launch %d", i);
    cr_expect_eq(fake_profiler.objects, 2, "another scope takes another object");
    cr_expect(!cw_inject->over, "%s", fake_profiler.failure);
    mode->context_destroyed(context);
    fake_profiler_end();
}

/* A device counts for one at a time; either is something else to the other. */
Test(batch, contexts_of_a_device_take_turns)
{
    const CUcontext other = (CUcontext)0x20;
    begin();
    fake_profiler.alone = true;
    kernel();
    mode->context_created(other, 0);
    kernel();
    context = other;
    kernel();
    cr_expect_eq(fake_profiler.sent_count, 2, "the first context's batch ended");
    owner = other;
    read_back();
    context = owner = (CUcontext)0x10;
    kernel();
    context = other;
    kernel();
    owner = other;
    read_back();
    mode->finish();
    read_back();
    static const enum cw_scope scopes[] = {CW_SCOPE_SHARED, CW_SCOPE_SHARED, CW_SCOPE_CONTEXT, CW_SCOPE_CONTEXT,
                                           CW_SCOPE_CONTEXT};
    cr_assert_eq(fake_profiler.sent_count, 5);
    for (int i = 0; i < 5; i++)
        cr_expect_eq(fake_profiler.sent[i].scope, scopes[i], "launch %d", i);
    cr_expect(!cw_inject->over, "%s", fake_profiler.failure);
    mode->context_destroyed(other);
    mode->context_destroyed((CUcontext)0x10);
    fake_profiler_end();
}

Test(batch, devices_count_at_the_same_time)
{
    const CUcontext first = context, second = FAKE_CONTEXTS_OF_SECOND_DEVICE;
    begin();
    fake_profiler.alone = true;
    mode->context_created(second, 1);
    owner = NULL; /* either, and memory is only modelled for one */
    kernel();
    context = second;
    kernel();
    context = first;
    kernel();
    cr_expect_eq(fake_profiler.running, 2);
    cr_expect_eq(fake_profiler.sent_count, 0);
    mode->finish();
    cr_expect_eq(fake_profiler.sent_count, 3);
    cr_expect_eq(fake_profiler.objects, 2);
    for (int i = 0; i < 3; i++)
        cr_expect_eq(fake_profiler.sent[i].scope, CW_SCOPE_DEVICE, "launch %d", i);
    cr_expect(!cw_inject->over, "%s", fake_profiler.failure);
    mode->context_destroyed(second);
    mode->context_destroyed(first);
    fake_profiler_end();
}

Test(batch, launches_are_pushed_where_cupti_does_not_see_them)
{
    static struct fake_graph one;
    begin();
    fake_profiler.version = 26;
    fake_kernel(&one, NULL, 0);
    instantiate(&exec, &one);
    kernel();
    kernel();
    read_back();
    graph(exec);
    kernel();
    mode->finish();
    read_back();
    cr_expect_eq(fake_profiler.sent_count, 4);
    cr_expect_eq(fake_profiler.pushed, 4 * FAKE_PARTS * FAKE_PASSES);
    cr_expect_eq(fake_profiler.objects, 1, "all ranges are of one kind");
    cr_expect(!cw_inject->over, "%s", fake_profiler.failure);
    mode->context_destroyed(context);
    fake_profiler_end();
}

/* ---- other threads ---------------------------------------------------------------------------------------------- */

static const CUcontext second = (CUcontext)0x20, third = (CUcontext)0x30;

static void launch_beside(void)
{
    read_ends(second);
    kernel();
}

/* One thread waits for the other context's batch to end; another of its context launches meanwhile. */
Test(batch, launches_of_two_threads_that_waited_are_one_batch)
{
    begin();
    mode->context_created(second, 0);
    owner = NULL;
    context = second;
    kernel();
    read_begins(second);
    context = (CUcontext)0x10;
    fake_profiler.meanwhile = launch_beside;
    kernel();
    cr_expect_null(fake_profiler.meanwhile, "it had to wait");
    read_back();
    cr_expect_eq(fake_profiler.sent_count, 3);
    cr_expect(!cw_inject->over, "%s", fake_profiler.failure);
    mode->context_destroyed(second);
    mode->context_destroyed(context);
    fake_profiler_end();
}

static void destroy_beside(void)
{
    read_ends(second);
    mode->context_destroyed((CUcontext)0x10);
}

static void set_lands(void)
{
    fake_profiler.device = expected = 7;
    set_ends();
}

/* Memory is not saved before what another thread does to it is done: it would not be done again. */
Test(batch, waits_for_what_is_under_way_when_it_begins)
{
    begin();
    set_begins(7);
    fake_profiler.meanwhile = set_lands;
    kernel();
    cr_expect_null(fake_profiler.meanwhile, "it had to wait");
    set_begins(9);
    fake_profiler.device = expected = 9;
    set_ends();
    kernel();
    read_back();
    mode->finish();
    read_back();
    cr_expect_eq(fake_profiler.sent_count, 2);
    cr_expect(!cw_inject->over, "%s", fake_profiler.failure);
    mode->context_destroyed(context);
    fake_profiler_end();
}

static const cuLaunchKernel_params plain = {.gridDimX = 1, .blockDimX = 1};
static uint32_t under_way;

static void launch_lands(void)
{
    run_kernel(&fake_profiler.device);
    run_kernel(&expected);
    fake_launch_ends(mode, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, &plain, context, under_way, CUDA_SUCCESS);
}

Test(batch, waits_for_launches_that_nobody_wants)
{
    begin();
    cw_range_settings->filter.options.launch_skip = 1;
    under_way = enter(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, &plain);
    fake_profiler.meanwhile = launch_lands;
    kernel();
    cr_expect_null(fake_profiler.meanwhile, "it had to wait");
    mode->finish();
    read_back();
    cr_expect_eq(fake_profiler.sent_count, 1);
    cr_expect(!cw_inject->over, "%s", fake_profiler.failure);
    mode->context_destroyed(context);
    fake_profiler_end();
}

/* To wait for the context would spoil the program's capture, and to replay is to wait. */
Test(batch, nothing_is_replayed_while_a_stream_is_captured)
{
    begin();
    kernel();
    fake_capture(mode, context, (CUstream)0x7, true);
    cr_expect_eq(fake_profiler.sent_count, 1, "what was open ends before");
    int before = replays;
    kernel();
    read_back();
    cr_expect_eq(replays, before);
    cr_expect_eq(fake_profiler.running, 0);
    fake_capture(mode, context, (CUstream)0x7, false);
    kernel();
    mode->finish();
    read_back();
    cr_expect_eq(fake_profiler.sent_count, 2);
    cr_expect_eq(fake_profiler.skipped, 1);
    cr_expect_str_eq(fake_profiler.why, CW_WHY_CAPTURED);
    cr_expect(!cw_inject->over, "%s", fake_profiler.failure);
    mode->context_destroyed(context);
    fake_profiler_end();
}

/* It may be waiting for the launch. */
Test(batch, waits_once_for_a_call_that_does_not_return)
{
    begin();
    set_begins(7);
    kernel();
    uint64_t then = fake_profiler.now_ns;
    kernel();
    kernel();
    cr_expect_eq(fake_profiler.now_ns, then);
    cr_expect_eq(fake_profiler.running, 0);
    fake_profiler.device = expected = 7;
    set_ends();
    kernel();
    mode->finish();
    read_back();
    cr_expect_eq(fake_profiler.sent_count, 1);
    cr_expect_eq(fake_profiler.skipped, 3);
    cr_expect_str_eq(fake_profiler.why, CW_WHY_BESIDE);
    cr_expect(!cw_inject->over, "%s", fake_profiler.failure);
    mode->context_destroyed(context);
    fake_profiler_end();
}

/* A read changes nothing. */
Test(batch, begins_beside_a_read)
{
    begin();
    read_begins(context);
    uint64_t then = fake_profiler.now_ns;
    kernel();
    cr_expect_eq(fake_profiler.now_ns, then);
    cr_expect_eq(fake_profiler.running, 1);
    read_ends(context);
    mode->finish();
    cr_expect_eq(fake_profiler.sent_count, 1);
    mode->context_destroyed(context);
    fake_profiler_end();
}

static void load_lands(void)
{
    call_ends(CUPTI_DRIVER_TRACE_CBID_cuLibraryLoadData, context);
}

/* CUPTI may patch code in a repeated launch, beside which no other thread may load code. */
Test(batch, nothing_is_repeated_beside_a_load_of_code)
{
    begin();
    cr_expect(mode->wants(CUPTI_DRIVER_TRACE_CBID_cuLibraryLoadData));
    kernel();
    call_begins(CUPTI_DRIVER_TRACE_CBID_cuLibraryLoadData, NULL, context);
    fake_profiler.meanwhile = load_lands;
    mode->finish();
    cr_expect_null(fake_profiler.meanwhile, "it had to wait");
    cr_expect_eq(fake_profiler.sent_count, 1);
    mode->context_destroyed(context);
    fake_profiler_end();
}

static int objects_behind_unload(unsigned patches)
{
    const cuModuleUnload_params unload = {.hmod = (CUmodule)0x99};
    fake_patches = patches;
    begin();
    fake_patches = 0;
    kernel();
    call_begins(CUPTI_DRIVER_TRACE_CBID_cuModuleUnload, &unload, context);
    call_ends(CUPTI_DRIVER_TRACE_CBID_cuModuleUnload, context);
    kernel();
    mode->finish();
    cr_expect_eq(fake_profiler.sent_count, 2);
    const int objects = fake_profiler.objects;
    mode->context_destroyed(context);
    fake_profiler_end();
    return objects;
}

Test(batch, cupti_forgets_the_code_to_patch_before_code_is_unloaded)
{
    cr_expect_eq(objects_behind_unload(1), 2);
    cr_expect_eq(objects_behind_unload(0), 1);
}

/* What waits goes on with its own context, whichever is gone. */
Test(batch, a_context_may_go_while_another_waits)
{
    begin();
    mode->context_created(second, 0);
    mode->context_created(third, 0);
    owner = NULL;
    context = second;
    kernel();
    read_begins(second);
    context = third;
    fake_profiler.meanwhile = destroy_beside;
    kernel();
    cr_expect_null(fake_profiler.meanwhile, "it had to wait");
    kernel();
    read_back();
    cr_expect_eq(fake_profiler.sent_count, 3);
    cr_expect(!cw_inject->over, "%s", fake_profiler.failure);
    mode->context_destroyed(second);
    mode->context_destroyed(third);
    fake_profiler_end();
}

/* A program may try a launch that is too large, and go on with a smaller one. */
Test(batch, what_the_driver_refused_is_not_done_again)
{
    begin();
    kernel();
    refused_kernel();
    kernel();
    read_back();
    cr_expect_eq(fake_profiler.sent_count, 2);
    cr_expect_eq(replays, 2 * (FAKE_PARTS * FAKE_PASSES - 1));
    fake_profiler.version = 26;
    kernel();
    refused_kernel();
    read_back();
    cr_assert_eq(fake_profiler.sent_count, 4);
    cr_expect(!fake_profiler.sent[2].unwanted && fake_profiler.sent[3].unwanted, "its range was pushed");
    cr_expect(!cw_inject->over, "%s", fake_profiler.failure);
    mode->context_destroyed(context);
    fake_profiler_end();
}

/* Memory of this context may be what another's call writes. */
Test(batch, a_neighbours_copy_ends_a_batch)
{
    begin();
    mode->context_created(second, 0);
    kernel();
    call_begins(CUPTI_DRIVER_TRACE_CBID_cuMemFree_v2, NULL, second);
    cr_expect_eq(fake_profiler.sent_count, 1);
    mode->context_destroyed(second);
    mode->context_destroyed(context);
    fake_profiler_end();
}

/* It may be of another device than the current one, or none may be current. */
static void give_back(CUpti_CallbackId id, CUcontext from)
{
    begin();
    mode->context_created(FAKE_CONTEXTS_OF_SECOND_DEVICE, 1);
    kernel();
    call_begins(CUPTI_DRIVER_TRACE_CBID_cuMemHostAlloc, NULL, from);
    cr_expect_eq(fake_profiler.sent_count, 0);
    call_ends(CUPTI_DRIVER_TRACE_CBID_cuMemHostAlloc, from);
    call_begins(id, NULL, from);
    cr_expect_eq(fake_profiler.sent_count, 1);
    cr_expect(!cw_inject->over, "%s", fake_profiler.failure);
    mode->context_destroyed(FAKE_CONTEXTS_OF_SECOND_DEVICE);
    mode->context_destroyed(context);
    fake_profiler_end();
}

Test(batch, ends_where_memory_is_freed_beside_another_device)
{
    give_back(CUPTI_DRIVER_TRACE_CBID_cuMemFree_v2, FAKE_CONTEXTS_OF_SECOND_DEVICE);
}

Test(batch, ends_where_a_stream_is_destroyed_without_a_context)
{
    give_back(CUPTI_DRIVER_TRACE_CBID_cuStreamDestroy_v2, NULL);
}

static void set_shared_size(int size)
{
    const cuFuncSetAttribute_params params = {.attrib = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, .value = size};
    cr_expect(mode->wants(CUPTI_DRIVER_TRACE_CBID_cuFuncSetAttribute));
    call_begins(CUPTI_DRIVER_TRACE_CBID_cuFuncSetAttribute, &params, context);
    call_ends(CUPTI_DRIVER_TRACE_CBID_cuFuncSetAttribute, context);
    shared_size = size;
}

/* A launch that is done again behind a limit that was lowered would be refused. */
Test(batch, ends_where_a_kernel_may_ask_for_less_than_before)
{
    begin();
    shared_size = 1000;
    kernel();
    set_shared_size(1000);
    set_shared_size(2000);
    kernel();
    cr_expect_eq(fake_profiler.batches, 0);
    set_shared_size(1999);
    cr_expect_eq(fake_profiler.batches, 1);
    cr_expect_eq(fake_profiler.sent_count, 2);
    read_back();
    mode->context_destroyed(context);
    fake_profiler_end();
}

/* They were not saved with the rest of memory, and hold what a kernel counts, say. */
Test(batch, ends_where_code_was_loaded_with_variables)
{
    begin();
    kernel();
    kernel();
    cw_variables->modules++;
    kernel();
    cr_expect_eq(fake_profiler.sent_count, 2);
    cr_expect_str_eq(fake_profiler.ended, "code that was loaded with variables");
    read_back();
    cr_expect_eq(fake_profiler.sent_count, 3);
    cr_expect_eq(fake_profiler.skipped, 0);
    mode->context_destroyed(context);
    fake_profiler_end();
}

Test(batch, a_launch_that_loads_code_with_variables_is_not_done_again)
{
    const cuLaunchKernel_params params = {.gridDimX = 1, .blockDimX = 1};
    begin();
    uint32_t number = enter(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, &params);
    run_kernel(&fake_profiler.device);
    run_kernel(&expected);
    cw_variables->modules++;
    fake_launch_ends(mode, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, &params, context, number, CUDA_SUCCESS);
    read_back();
    cr_expect_eq(replays, 0);
    mode->finish();
    cr_expect_eq(fake_profiler.skipped, 1);
    cr_expect(strstr(fake_profiler.why, "variables cannot be put back"), "%s", fake_profiler.why);
    cr_expect(!cw_inject->over, "%s", fake_profiler.failure);
    mode->context_destroyed(context);
    fake_profiler_end();
}

static CUresult launch_without_event(const CUlaunchConfig *config, CUfunction function, void **given, void **extra)
{
    cr_assert(config->numAttrs == 2 && !function && given && !extra);
    cr_expect_eq(config->attrs[0].id, CU_LAUNCH_ATTRIBUTE_IGNORE);
    cr_expect_eq(config->attrs[1].id, CU_LAUNCH_ATTRIBUTE_PRIORITY);
    run_kernel(&fake_profiler.device);
    replays++;
    return CUDA_SUCCESS;
}

/* The program may have destroyed it, or take the time from it. */
Test(batch, an_event_that_a_launch_records_is_not_recorded_again)
{
    CUlaunchAttribute attributes[] = {{.id = CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT},
                                      {.id = CU_LAUNCH_ATTRIBUTE_PRIORITY, .value = {.priority = 1}}};
    CUlaunchConfig config = {.gridDimX = 1, .blockDimX = 1, .attrs = attributes, .numAttrs = 2};
    const cuLaunchKernelEx_params params = {.config = &config};
    begin();
    cw_inject->api.cuLaunchKernelEx = launch_without_event;
    uint32_t number = enter(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx, &params);
    run_kernel(&fake_profiler.device);
    run_kernel(&expected);
    fake_launch_ends(mode, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx, &params, context, number, CUDA_SUCCESS);
    read_back();
    cr_expect_eq(replays, FAKE_PARTS * FAKE_PASSES - 1);
    cr_expect(!cw_inject->over, "%s", fake_profiler.failure);
    mode->context_destroyed(context);
    fake_profiler_end();
}

/* ---- other processes --------------------------------------------------------------------------------------------- */

Test(batch, launches_while_another_process_has_the_counters_are_left_out)
{
    static struct fake_graph one;
    begin();
    fake_kernel(&one, NULL, 0);
    instantiate(&exec, &one);
    fake_profiler.taken = "a launch while another process held the counters";
    kernel();
    graph(exec);
    kernel();
    read_back();
    fake_profiler.taken = NULL;
    kernel();
    mode->finish();
    read_back();
    cr_expect_eq(fake_profiler.sent_count, 1);
    cr_expect_eq(fake_profiler.skipped, 3);
    cr_expect_str_eq(fake_profiler.why, "a launch while another process held the counters");
    cr_expect(!cw_inject->over, "%s", fake_profiler.failure);
    mode->context_destroyed(context);
    fake_profiler_end();
}

/* A batch ends where the program has read, however often, and where it has gone on for a while. */
Test(batch, gives_way_to_a_process_that_waits)
{
    begin();
    cw_range_settings->spent_ns = UINT64_MAX / 2;
    kernel();
    read_back();
    cr_expect_eq(fake_profiler.sent_count, 0);
    fake_profiler.wanted = true;
    read_back();
    cr_expect_eq(fake_profiler.sent_count, 1);
    kernel();
    fake_profiler.give_way("0000:0a:00.0");
    cr_expect_eq(fake_profiler.given, 0, "it has just begun");
    fake_profiler.now_ns += 1000000000;
    read_begins(context);
    fake_profiler.give_way("0000:0a:00.0");
    cr_expect_eq(fake_profiler.given, 0, "a read is under way");
    read_ends(context);
    kernel();
    fake_profiler.now_ns += 1000000000;
    fake_profiler.give_way("0000:0a:00.0");
    cr_expect_eq(fake_profiler.given, 1);
    cr_expect_eq(fake_profiler.sent_count, 3);
    mode->finish();
    read_back();
    cr_expect(!cw_inject->over, "%s", fake_profiler.failure);
    mode->context_destroyed(context);
    fake_profiler_end();
}
