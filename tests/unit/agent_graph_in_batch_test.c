/* Graphs as part of batches: they are launched once, by the program, and their nodes are repeated one by one behind
 * that. Memory of the device is one number. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "agent/inject/driver/reach.h"
#include "agent/inject/memory/graph.h"
#include "agent/inject/memory/kernels.h"
#include "agent/inject/modes/batches.h"
#include "agent/inject/modes/range.h"
#include "tests/support/fake_profiler.h"

enum {
    KERNEL = CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
    GRAPH = CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch,
    SET = CUPTI_DRIVER_TRACE_CBID_cuGraphExecKernelNodeSetParams_v2,
    PASSES = FAKE_PARTS * FAKE_PASSES,
};

static const struct fake_name names[] = {{SET, "cuGraphExecKernelNodeSetParams_v2"}, {0}};
static const struct cw_inject_mode *const mode = &cw_inject_batch;
static const CUcontext context = (CUcontext)0x10;
static const CUstream stream = (CUstream)0x20;
static CUgraphExec exec = (CUgraphExec)0x1000;
static struct fake_graph graph;
static uint64_t values[2] = {1, 2}, pinned;
static void *lists[2][1] = {{&values[0]}, {&values[1]}};
static uint32_t correlation, expected;
static int replays;

/* ---- what the device does --------------------------------------------------------------------------------------- */

static void run(uint32_t *memory, uint64_t value)
{
    *memory = *memory * 3 + (uint32_t)value;
}

static CUresult launch(const CUlaunchConfig *config, CUfunction function, void **list, void **extra)
{
    cr_assert(function == (CUfunction)1 && !extra && config->hStream == stream);
    run(&fake_profiler.device, *(uint64_t *)list[0]);
    replays++;
    return CUDA_SUCCESS;
}

static CUresult name_of(const char **name, CUfunction function)
{
    *name = function == (CUfunction)1 ? "letter" : NULL;
    return CUDA_SUCCESS;
}

static CUresult set_memory(CUdeviceptr to, unsigned value, size_t count, CUstream of)
{
    cr_expect(to == 0x10000 && count == 4 && of == stream);
    fake_profiler.device += value;
    return CUDA_SUCCESS;
}

/* ---- the program ------------------------------------------------------------------------------------------------ */

static void kernel(uint64_t value)
{
    void *list[] = {&value};
    const cuLaunchKernel_params params = {
        .f = (CUfunction)1, .gridDimX = 1, .blockDimX = 1, .hStream = stream, .kernelParams = list};
    const uint32_t number = ++correlation;
    fake_launch_begins(mode, KERNEL, &params, context, number);
    run(&fake_profiler.device, value);
    run(&expected, value);
    fake_launch_ends(mode, KERNEL, &params, context, number, CUDA_SUCCESS);
}

static void run_graph(uint32_t *memory)
{
    *memory += 9;
    run(memory, values[0]);
    run(memory, values[1]);
}

static void launch_graph(CUresult result)
{
    const cuGraphLaunch_params params = {.hGraph = exec, .hStream = stream};
    const uint32_t number = ++correlation;
    fake_launch_begins(mode, GRAPH, &params, context, number);
    if (result == CUDA_SUCCESS) {
        run_graph(&fake_profiler.device);
        run_graph(&expected);
    }
    fake_launch_ends(mode, GRAPH, &params, context, number, result);
}

static void set_value(uint32_t node, uint64_t value)
{
    uint64_t kept;
    CUresult result = CUDA_SUCCESS;
    static void *list[1];
    values[node - 1] = value;
    list[0] = &values[node - 1];
    CUDA_KERNEL_NODE_PARAMS kernel = graph.nodes[node].kernel;
    kernel.kernelParams = list;
    const cuGraphExecKernelNodeSetParams_v2_params params = {
        .hGraphExec = exec, .hNode = (CUgraphNode)&graph.nodes[node], .nodeParams = &kernel};
    CUpti_CallbackData call = {.callbackSite = CUPTI_API_ENTER,
                               .correlationData = &kept,
                               .functionParams = &params,
                               .functionReturnValue = &result,
                               .context = context};
    cr_assert(mode->wants(SET));
    mode->call_entered(SET, &call);
    call.callbackSite = CUPTI_API_EXIT;
    mode->call_left(SET, &call);
}

static void instantiate(void)
{
    const cuGraphInstantiateWithFlags_params made = {.phGraphExec = &exec, .hGraph = (CUgraph)&graph};
    fake_call(cw_graph_follow, CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithFlags, &made, CUDA_SUCCESS);
}

static void set_up(void)
{
    struct cw_writer setup;
    fake_profiler_begin(&setup, FAKE_PARTS, FAKE_PASSES);
    fake_ask(&setup, CW_REPLAY_BATCH, false, NULL);
    cw_inject->api.cuLaunchKernelEx = launch;
    cw_inject->api.cuFuncGetName = name_of;
    cw_inject->api.cuMemsetD32Async = set_memory;
    fake_names = names;
    fake_memory[0] = (struct fake_memory){&pinned, sizeof pinned, CU_MEMORYTYPE_HOST, false, 0};
    fake_memory[1] = (struct fake_memory){(void *)0x10000, 0x1000, CU_MEMORYTYPE_DEVICE, false, 0};
    fake_setup(mode, &setup);
    cw_collections->at_once = 16;
    fake_profiler.current = context;
    fake_profiler.device = expected = 1;
    mode->context_created(context, 0);
    fake_other(&graph, CU_GRAPH_NODE_TYPE_MEMSET)->set =
        (CUDA_MEMSET_NODE_PARAMS){.dst = 0x10000, .elementSize = 4, .value = 9, .width = 4, .height = 1};
    fake_kernel(&graph, lists[0], 1)->kernel.gridDimX = 1;
    fake_kernel(&graph, lists[1], 1)->kernel.gridDimX = 1;
    instantiate();
}

/* The nodes wait for one another; before, they may run beside one another. */
static void make_chain(void)
{
    for (size_t i = 0; i < 2; i++) {
        graph.edges[graph.edge_count][0] = i;
        graph.edges[graph.edge_count++][1] = i + 1;
    }
    instantiate();
}

static void tear_down(void)
{
    mode->finish();
    cr_expect_eq(fake_profiler.device, expected);
    cr_expect(!cw_inject->over, "%s", fake_profiler.failure);
    mode->context_destroyed(context);
    fake_profiler_end();
}

TestSuite(graph_in_batch, .init = set_up, .fini = tear_down);

static void expect_batches(uint32_t batches, uint32_t sent)
{
    mode->finish();
    cr_expect_eq(fake_profiler.batches, batches, "%u", fake_profiler.batches);
    cr_expect_eq(fake_profiler.sent_count, sent, "%u", fake_profiler.sent_count);
    cr_expect_eq(fake_profiler.skipped, 0);
    for (uint32_t i = 0; i < fake_profiler.sent_count; i++) {
        cr_expect_eq(fake_profiler.sent[i].replay, CW_REPLAY_BATCH);
        cr_expect(!*fake_profiler.sent[i].once && fake_profiler.sent[i].end_ns >= fake_profiler.sent[i].start_ns);
        cr_expect(fake_profiler.sent[i].start_ns && fake_profiler.sent[i].stream == FAKE_STREAMS + 0x20);
    }
}

Test(graph_in_batch, is_a_batch_of_its_own_until_its_kernels_are_known)
{
    launch_graph(CUDA_SUCCESS);
    cr_expect_eq(cw_kernel_habit((CUfunction)1), CW_KERNEL_RESTS);
    expect_batches(1, 2);
}

/* None of its kernels can wait for another. */
Test(graph_in_batch, is_part_of_a_batch_at_once_where_one_node_follows_another)
{
    make_chain();
    launch_graph(CUDA_SUCCESS);
    cr_expect_eq(cw_kernel_habit((CUfunction)1), CW_KERNEL_RESTS, "it was watched");
    cr_expect_eq(fake_profiler.batches, 0);
    kernel(5);
    expect_batches(1, 3);
    cr_expect_eq(replays, 3 * PASSES);
}

Test(graph_in_batch, is_not_repeated_where_a_new_kernel_of_it_waits)
{
    make_chain();
    const cuGraphLaunch_params params = {.hGraph = exec, .hStream = stream};
    const uint32_t number = ++correlation;
    fake_launch_begins(mode, GRAPH, &params, context, number);
    run_graph(&fake_profiler.device);
    run_graph(&expected);
    fake_profiler.busy = true;
    fake_launch_ends(mode, GRAPH, &params, context, number, CUDA_SUCCESS);
    fake_profiler.busy = false;
    mode->finish();
    cr_expect_eq(cw_kernel_habit((CUfunction)1), CW_KERNEL_WAITS);
    cr_expect_eq(replays, 0);
    cr_expect_eq(fake_profiler.skipped, 2);
}

/* ---- others ------------------------------------------------------------------------------------------------------ */

static void reach(void)
{
    cw_reach->reached = true;
    snprintf(cw_reach->why, sizeof cw_reach->why, "others reach memory");
}

Test(graph_in_batch, is_repeated_where_it_cannot_reach_what_others_do)
{
    make_chain();
    reach();
    launch_graph(CUDA_SUCCESS);
    expect_batches(1, 2);
    cr_expect_eq(replays, 2 * PASSES);
}

static void expect_once(const char *why)
{
    launch_graph(CUDA_SUCCESS);
    mode->finish();
    cr_expect_eq(replays, 0);
    cr_assert_eq(fake_profiler.sent_count, 1);
    cr_expect_str_eq(fake_profiler.sent[0].once, why);
}

Test(graph_in_batch, is_counted_once_where_it_is_given_memory_of_another_process)
{
    struct cw_reach_range range = {
        .begin = UINT64_C(0x7f0000000000), .end = UINT64_C(0x7f0000001000), .kind = CW_REACH_FOREIGN};
    make_chain();
    reach();
    cw_checkpoint_library->leaves_out = true;
    cw_reach->ranges = &range;
    cw_reach->count = 1;
    cw_reach->low = range.begin;
    cw_reach->high = range.end;
    values[1] = UINT64_C(0x7f0000000008);
    instantiate();
    expect_once("it is given memory that other devices or processes can reach");
    cw_reach->count = 0;
    cw_reach->ranges = NULL;
    values[1] = 2;
}

/* Its passes would come before the program's own launch. */
Test(graph_in_batch, is_counted_once_where_it_can_be_no_part_of_a_batch)
{
    reach();
    expect_once("it is a CUDA graph, and other devices or processes can reach memory");
}

Test(graph_in_batch, is_counted_once_beside_others_where_it_has_memory_of_the_host)
{
    make_chain();
    reach();
    values[1] = (uintptr_t)&pinned;
    instantiate();
    expect_once("others reach memory");
    values[1] = 2;
}

/* ---- batches ------------------------------------------------------------------------------------------------------
 */

Test(graph_in_batch, goes_together_with_what_is_launched_around_it)
{
    launch_graph(CUDA_SUCCESS);
    const int before = replays;
    kernel(5); /* a batch under CUPTI, which must not see a graph */
    launch_graph(CUDA_SUCCESS);
    kernel(6);
    launch_graph(CUDA_SUCCESS);
    kernel(7);
    cr_expect_eq(fake_profiler.running, 0);
    cr_expect_eq(fake_profiler.batches, 2);
    expect_batches(3, 2 + 1 + 6);
    cr_expect_eq(replays - before, PASSES - 1 + 6 * PASSES, "all passes come behind the program's own run");
    const struct cw_launch *l = &fake_profiler.sent[3];
    cr_expect(l->graph_kernel == 1 && l->graph_kernels == 2 && l[1].graph_kernel == 2 && !l[2].graph_kernels);
    cr_expect_str_eq(l->kernel, "letter");
    cr_expect_str_eq(l[2].kernel, "step");
}

/* What is repeated is the graph as it was launched. */
Test(graph_in_batch, goes_on_where_the_graph_is_changed)
{
    launch_graph(CUDA_SUCCESS);
    launch_graph(CUDA_SUCCESS);
    set_value(2, 40);
    launch_graph(CUDA_SUCCESS);
    set_value(1, 50);
    kernel(6);
    expect_batches(2, 2 + 5);
}

Test(graph_in_batch, begins_another_batch_where_there_is_no_room)
{
    launch_graph(CUDA_SUCCESS);
    cw_collections->at_once = 5;
    for (int i = 0; i < 4; i++)
        launch_graph(CUDA_SUCCESS);
    expect_batches(3, 10);
}

Test(graph_in_batch, is_not_repeated_where_the_driver_refused_it)
{
    launch_graph(CUDA_SUCCESS);
    const int before = replays;
    kernel(5);
    launch_graph(CUDA_SUCCESS);
    launch_graph(CUDA_ERROR_INVALID_VALUE);
    kernel(6);
    mode->finish();
    cr_expect_eq(replays - before, 2 * (PASSES - 1) + 1, "the kernels before and behind");
    cr_expect_gt(fake_profiler.skipped, 0);
}

Test(graph_in_batch, kernels_that_nobody_wants_are_repeated_and_not_sent)
{
    launch_graph(CUDA_SUCCESS);
    cw_range_settings->filter.options.launch_count = 4; /* two so far */
    launch_graph(CUDA_SUCCESS);
    launch_graph(CUDA_SUCCESS);
    mode->finish();
    uint32_t wanted = 0;
    for (uint32_t i = 0; i < fake_profiler.sent_count; i++)
        wanted += !fake_profiler.sent[i].unwanted;
    cr_expect_eq(wanted, 4);
}

/* A kernel that is given memory of the host's has to be alone. */
Test(graph_in_batch, is_a_batch_of_its_own_with_memory_of_the_host)
{
    launch_graph(CUDA_SUCCESS);
    values[0] = (uintptr_t)&pinned;
    instantiate();
    kernel(5);
    launch_graph(CUDA_SUCCESS);
    launch_graph(CUDA_SUCCESS);
    expect_batches(4, 2 + 1 + 2 + 2);
    values[0] = 1;
}
