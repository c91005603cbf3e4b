/* The passes of a graph. */
#include <criterion/criterion.h>

#include "agent/inject/memory/checkpoint.h"
#include "agent/inject/memory/graph.h"
#include "agent/inject/modes/graph_batch.h"
#include "agent/inject/modes/range.h"
#include "tests/support/fake_profiler.h"

static CUgraphExec exec = (CUgraphExec)0x1000;
static struct cw_collection *collection;
static struct fake_graph graph;
static uint8_t pinned[16];
static uint64_t word;
static void *parameters[] = {&word};
static int launches, fails_at;   /* fails_at: the launch that does, from 1 */
static bool given_pinned = true; /* the graph is */

/* What the graph does to device memory and to memory of the host's. */
static CUresult launch(CUgraphExec which, CUstream stream)
{
    cr_expect(which == exec && stream == (CUstream)0x20 && fake_profiler.open);
    cr_expect_eq(fake_profiler.device, 5, "each launch finds what was there before");
    cr_expect_eq(pinned[3], 7);
    fake_profiler.device = fake_profiler.device * 3 + 1;
    pinned[3] += given_pinned;
    return ++launches == fails_at ? CUDA_ERROR_LAUNCH_FAILED : CUDA_SUCCESS;
}

static void set_up(void)
{
    struct cw_writer setup;
    struct cw_reader in;
    fake_profiler_begin(&setup, FAKE_PARTS, FAKE_PASSES);
    cw_inject->api.cuGraphLaunch = launch;
    cw_reader_init(&in, setup.data, setup.size, "setup", 0, NULL);
    cr_assert(cw_collection_setup(&in));
    cw_writer_free(&setup);
    collection = cw_collection_open((CUcontext)0x10, 0);
    cr_assert(collection);
    fake_profiler.device = 5;
    pinned[3] = 7;
    fake_memory[0] = (struct fake_memory){pinned, sizeof pinned, CU_MEMORYTYPE_HOST, false, 0};
    word = (uintptr_t)pinned;
    fake_kernel(&graph, parameters, 1);
}

static void tear_down(void)
{
    cw_collection_close(collection);
    fake_profiler_end();
}

TestSuite(graph_range, .init = set_up, .fini = tear_down);

static bool may_run_once;

static const char *collect(void)
{
    const cuGraphInstantiateWithFlags_params made = {.phGraphExec = &exec, .hGraph = (CUgraph)&graph};
    const cuGraphLaunch_params params = {.hGraph = exec, .hStream = (CUstream)0x20};
    const CUpti_CallbackData call = {.callbackSite = CUPTI_API_ENTER, .functionParams = &params};
    fake_call(cw_graph_follow, CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithFlags, &made, CUDA_SUCCESS);
    return cw_graph_batch_collect(collection, CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, &call, &may_run_once);
}

Test(graph_range, goes_through_all_passes_of_all_parts_and_leaves_memory_as_it_was)
{
    cr_expect_null(collect());
    cr_expect_eq(launches, FAKE_PARTS * FAKE_PASSES);
    cr_expect_eq(fake_profiler.device, 5);
    cr_expect_eq(pinned[3], 7);
    cr_expect_eq(fake_profiler.sent_count, 1);
    cr_expect_eq(fake_profiler.sent_parts, FAKE_PARTS);
    cr_expect_str_eq(fake_profiler.sent[0].kernel, "graph (1 kernel)");
    cr_expect_eq(fake_profiler.sent[0].graphs, 1);
    cr_expect_eq(fake_profiler.sent[0].stream, FAKE_STREAMS + 0x20);
    cr_expect(!collection->running && !collection->count && !cw_inject->over);
}

Test(graph_range, another_kind_of_range_takes_another_object)
{
    int objects = fake_profiler.objects;
    bool more;
    cr_assert(cw_collection_arm(collection, CW_COLLECT_LAUNCHES));
    cr_expect_eq(fake_profiler.objects, objects, "the first is as good as new");
    cr_expect(cw_collection_stop_pass(collection, &more));
    collection->running = CW_STOPPED;
    cr_expect_null(collect());
    cr_expect_eq(fake_profiler.objects, objects + 1);
    cr_assert(cw_collection_arm(collection, CW_COLLECT_LAUNCHES));
    cr_expect_eq(fake_profiler.objects, objects + 2);
    cr_expect_eq(fake_profiler.range, CUPTI_AutoRange);
    cr_expect(cw_collection_stop_pass(collection, &more));
}

Test(graph_range, a_loop_that_is_left_early_has_no_ranges)
{
    const struct cw_open_range range = {.id = 1};
    cr_assert(cw_collection_arm(collection, CW_COLLECT_USER));
    cr_assert(cw_collection_range(collection, &range) && cw_collection_push(collection, 1));
    cr_assert(cw_collection_pop(collection));
    cw_collection_flush(collection);
    cr_expect_eq(fake_profiler.sent_count, 0);
    cr_assert(cw_collection_arm(collection, CW_COLLECT_USER)); /* one without a range */
    cw_collection_flush(collection);
    cr_expect_null(collect(), "what follows is collected from the first pass on");
    cr_expect_eq(fake_profiler.sent_count, 1);
    cr_expect_eq(fake_profiler.skipped, 1);
    cr_expect_str_eq(fake_profiler.why, "work in a loop of user replay that the program left before its last pass");
}

Test(graph_range, a_profiler_that_takes_other_passes_ends_the_capture)
{
    fake_profiler.missing = 1;
    cr_expect_null(collect());
    cr_expect_str_eq(fake_profiler.failure, "CUPTI was done after 5 passes of the plan, which has more");
    cr_expect_eq(fake_profiler.device, 5);
    cr_expect_eq(fake_profiler.sent_count, 0);
}

Test(graph_range, memory_is_as_it_was_after_a_launch_that_fails)
{
    fails_at = 2;
    cr_expect_null(collect());
    cr_expect_str_eq(fake_profiler.failure, "found that a CUDA graph could not be launched for its passes; memory was "
                                            "put back, and the capture ends here");
    cr_expect_eq(fake_profiler.device, 5);
    cr_expect_eq(pinned[3], 7);
    cr_expect_eq(fake_profiler.sent_count, 0);
    cr_expect(!fake_profiler.running);
}

/* It waits for a kernel that the program launches behind it. */
Test(graph_range, a_graph_that_does_not_end_holds_the_program_up_for_a_while)
{
    fake_profiler.busy = true;
    const uint64_t before = fake_profiler.now_ns;
    cr_expect_null(collect());
    cr_expect_lt(fake_profiler.now_ns - before, UINT64_C(100000000000));
    cr_expect_eq(launches, 1);
    cr_expect_str_eq(fake_profiler.failure,
                     "found that a CUDA graph did not end in a pass that comes before the program's own launch of it; "
                     "the program's results may be wrong from here on, and the capture ends here");
    cr_expect(!collection->running && !fake_profiler.sent_count && !fake_profiler.restored);
}

static CUptiResult no_restore(struct cw_checkpoint *checkpoint)
{
    return checkpoint ? CUPTI_ERROR_UNKNOWN : CUPTI_ERROR_INVALID_PARAMETER;
}

Test(graph_range, memory_that_cannot_be_put_back_is_told_also_behind_a_launch_that_fails)
{
    fails_at = 1;
    cw_checkpoint_library->restore = no_restore;
    cr_expect_null(collect());
    cr_expect_str_eq(fake_profiler.failure, "found that memory could not be put back behind a pass of a CUDA graph; "
                                            "the program's results may be wrong from here on, and the capture ends "
                                            "here");
    cr_expect(!fake_profiler.running);
}

Test(graph_range, a_graph_with_a_host_node_is_not_touched)
{
    fake_other(&graph, CU_GRAPH_NODE_TYPE_HOST);
    cr_expect_str_eq(collect(), "it is a CUDA graph with a host node, whose function would run again in each pass");
    cr_expect(may_run_once);
    cr_expect_eq(launches, 0);
    cr_expect(!fake_profiler.running);
}

Test(graph_range, waits_for_no_other_process)
{
    fake_profiler.taken = "a launch while another process held the counters";
    cr_expect_str_eq(collect(), "a launch while another process held the counters");
    cr_expect_not(may_run_once);
    cr_expect_eq(launches, 0);
    cr_expect_eq(pinned[3], 7);
    fake_profiler.taken = NULL;
    cr_expect_null(collect());
    cr_expect_eq(fake_profiler.sent_count, 1);
}

/* ---- kernel by kernel ------------------------------------------------------------------------------------------- */

static int refuses_at;      /* the kernel that cannot be launched by itself, from 1 */
static char order[256];     /* of the kernels, each by a letter: "ab" */
static int inside, outside; /* launches of kernels in a pass, and before one */
static uint64_t letter_of[8] = {0, 1, 2, 3, 4, 5, 6, 7};

/* A kernel is a letter: its function is 1, the number of its parameters, and that is the letter. */
static CUresult launch_kernel(const CUlaunchConfig *config, CUfunction function, void **given, void **extra)
{
    uint64_t letter;
    cr_assert(function == (CUfunction)1 && !extra && config->hStream == (CUstream)0x20);
    memcpy(&letter, given[0], sizeof letter);
    const size_t at = strlen(order);
    order[at] = (char)('a' + letter);
    order[at + 1] = 0;
    inside += fake_profiler.running;
    outside += !fake_profiler.running;
    cr_expect_eq(config->gridDimX, 10 + letter);
    fake_profiler.device = fake_profiler.device * 3 + (uint32_t)letter;
    return inside + outside == refuses_at ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

static CUresult function_name(const char **name, CUfunction function)
{
    *name = function == (CUfunction)1 ? "letter" : NULL;
    return CUDA_SUCCESS;
}

static CUresult set_memory(CUdeviceptr to, unsigned value, size_t count, CUstream stream)
{
    cr_expect(to == 0x10000 && value == 9 && count == 4 && stream == (CUstream)0x20);
    fake_profiler.device += value;
    return CUDA_SUCCESS;
}

/* Kernels a, b, ... of which none waits for another but for the edges that follow. */
static void make_letters(uint32_t count)
{
    static void *given[8][1];
    cw_inject->api.cuLaunchKernelEx = launch_kernel;
    cw_inject->api.cuFuncGetName = function_name;
    cw_inject->api.cuMemsetD32Async = set_memory;
    cw_filter_open(&cw_range_settings->filter, &(struct cw_filter_options){.launch_count = UINT64_MAX}, NULL);
    graph = (struct fake_graph){0};
    given_pinned = false;
    *order = 0;
    inside = outside = refuses_at = 0;
    for (uint32_t i = 0; i < count; i++) {
        given[i][0] = &letter_of[i];
        fake_kernel(&graph, given[i], 1)->kernel.gridDimX = 10 + i;
    }
}

static void expect_letters(const char *letters)
{
    cr_assert_eq(fake_profiler.sent_count, strlen(letters));
    for (uint32_t i = 0; letters[i]; i++) {
        const struct cw_launch *l = &fake_profiler.sent[i];
        cr_expect_eq(l->grid[0], 10u + (uint32_t)(letters[i] - 'a'), "launch %u", i);
        cr_expect_eq(l->graphs, 0);
        cr_expect_eq(l->replay, CW_REPLAY_BATCH);
        cr_expect_eq(l->stream, FAKE_STREAMS + 0x20);
        cr_expect(l->start_ns && l->end_ns >= l->start_ns);
    }
    cr_expect_eq(fake_profiler.device, 5, "the program's own launch finds what was there before");
    cr_expect(!collection->running && !collection->count && !cw_inject->over, "%s", fake_profiler.failure);
}

static void wait_for(uint32_t node, uint32_t other)
{
    graph.edges[graph.edge_count][0] = other;
    graph.edges[graph.edge_count++][1] = node;
}

Test(graph_range, kernels_are_launched_in_an_order_that_their_edges_allow)
{
    make_letters(4);
    wait_for(0, 3); /* d before a before c */
    wait_for(2, 0);
    cr_expect_null(collect());
    cr_expect_str_eq(fake_profiler.sent[0].kernel, "letter");
    expect_letters("bdac");
    cr_expect_eq(inside, 4 * FAKE_PARTS * FAKE_PASSES);
    cr_expect_eq(outside, 4, "each once, as it is not known");
    cr_expect_eq(launches, 0, "never as a graph");
    cr_expect_eq(fake_profiler.sent[2].graph_kernel, 3);
    cr_expect_eq(fake_profiler.sent[2].graph_kernels, 4);
    cr_expect_eq(fake_profiler.range, CUPTI_AutoRange);
    cr_expect_eq(fake_profiler.skipped, 0);
}

Test(graph_range, other_nodes_are_done_between_kernels_and_child_graphs_in_their_place)
{
    static struct fake_graph child;
    make_letters(2);
    child = graph;
    make_letters(1);
    child.nodes[0].kernel.gridDimX = 11; /* b and c */
    child.nodes[0].kernel.kernelParams = (void *[]){&letter_of[1]};
    child.nodes[1].kernel.gridDimX = 12;
    child.nodes[1].kernel.kernelParams = (void *[]){&letter_of[2]};
    fake_other(&graph, CU_GRAPH_NODE_TYPE_GRAPH)->child = &child;
    fake_other(&graph, CU_GRAPH_NODE_TYPE_EMPTY);
    fake_other(&graph, CU_GRAPH_NODE_TYPE_MEMSET)->set =
        (CUDA_MEMSET_NODE_PARAMS){.dst = 0x10000, .elementSize = 4, .value = 9, .width = 4, .height = 1};
    wait_for(1, 3); /* the child behind the set */
    wait_for(0, 1); /* a behind the child */
    cr_expect_null(collect());
    expect_letters("bca");
}

Test(graph_range, nodes_that_are_switched_off_or_changed_are_launched_so)
{
    make_letters(3);
    cr_expect_null(collect());
    expect_letters("abc");
    const cuGraphNodeSetEnabled_params off = {.hGraphExec = exec, .hNode = (CUgraphNode)&graph.nodes[0]};
    fake_call(cw_graph_follow, CUPTI_DRIVER_TRACE_CBID_cuGraphNodeSetEnabled, &off, CUDA_SUCCESS);
    const CUDA_KERNEL_NODE_PARAMS changed = {
        .func = (CUfunction)1, .gridDimX = 15, .kernelParams = (void *[]){&letter_of[5]}};
    const cuGraphExecKernelNodeSetParams_v2_params set = {
        .hGraphExec = exec, .hNode = (CUgraphNode)&graph.nodes[2], .nodeParams = &changed};
    for (int i = 0; i < 100; i++) /* without an end to it */
        fake_call(cw_graph_follow, CUPTI_DRIVER_TRACE_CBID_cuGraphExecKernelNodeSetParams_v2, &set, CUDA_SUCCESS);
    fake_profiler.sent_count = 0;
    const cuGraphLaunch_params params = {.hGraph = exec, .hStream = (CUstream)0x20};
    const CUpti_CallbackData call = {.callbackSite = CUPTI_API_ENTER, .functionParams = &params};
    cr_expect_null(cw_graph_batch_collect(collection, CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, &call, &may_run_once));
    expect_letters("bf");
}

Test(graph_range, a_graph_with_nodes_switched_off_is_a_whole_once_it_is_updated)
{
    make_letters(3);
    cr_expect_null(collect());
    const cuGraphNodeSetEnabled_params off = {.hGraphExec = exec, .hNode = (CUgraphNode)&graph.nodes[0]};
    const cuGraphExecUpdate_v2_params updated = {.hGraphExec = exec, .hGraph = (CUgraph)&graph};
    const cuGraphLaunch_params launch = {.hGraph = exec};
    const CUpti_CallbackData call = {.functionParams = &launch};
    fake_call(cw_graph_follow, CUPTI_DRIVER_TRACE_CBID_cuGraphExecUpdate_v2, &updated, CUDA_SUCCESS);
    cr_expect(cw_graph_batch_is_apart(collection, &call), "all of it is known");
    fake_call(cw_graph_follow, CUPTI_DRIVER_TRACE_CBID_cuGraphNodeSetEnabled, &off, CUDA_SUCCESS);
    cr_expect(cw_graph_batch_is_apart(collection, &call), "so is which node is off");
    for (int i = 0; i < 2; i++) {
        fake_call(cw_graph_follow, CUPTI_DRIVER_TRACE_CBID_cuGraphExecUpdate_v2, &updated, CUDA_SUCCESS);
        cr_expect_not(cw_graph_batch_is_apart(collection, &call), "it stays off, in whatever became of it");
    }
    const cuGraphInstantiateWithFlags_params made = {.phGraphExec = &(CUgraphExec){exec}, .hGraph = (CUgraph)&graph};
    fake_call(cw_graph_follow, CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithFlags, &made, CUDA_SUCCESS);
    cr_expect(cw_graph_batch_is_apart(collection, &call), "another graph");
    fake_call(cw_graph_follow, CUPTI_DRIVER_TRACE_CBID_cuGraphExecUpdate_v2, &updated, CUDA_ERROR_INVALID_VALUE);
    fake_call(cw_graph_follow, CUPTI_DRIVER_TRACE_CBID_cuGraphExecUpdate_v2, &updated, CUDA_SUCCESS);
    cr_expect_not(cw_graph_batch_is_apart(collection, &call), "an update that failed leaves nothing that is known");
}

Test(graph_range, of_older_parameters_of_a_kernel_no_more_is_read_than_there_is)
{
    make_letters(2);
    cr_expect_null(collect());
    const struct {
        CUDA_KERNEL_NODE_PARAMS_v1 params;
        uint64_t behind[2];
    } changed = {{.func = (CUfunction)1, .gridDimX = 15, .kernelParams = (void *[]){&letter_of[5]}}, {1, 1}};
    const cuGraphExecKernelNodeSetParams_params set = {
        .hGraphExec = exec, .hNode = (CUgraphNode)&graph.nodes[1], .nodeParams = &changed.params};
    fake_call(cw_graph_follow, CUPTI_DRIVER_TRACE_CBID_cuGraphExecKernelNodeSetParams, &set, CUDA_SUCCESS);
    fake_profiler.sent_count = 0;
    const cuGraphLaunch_params params = {.hGraph = exec, .hStream = (CUstream)0x20};
    const CUpti_CallbackData call = {.callbackSite = CUPTI_API_ENTER, .functionParams = &params};
    cr_expect_null(cw_graph_batch_collect(collection, CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, &call, &may_run_once));
    expect_letters("af");
}

Test(graph_range, more_kernels_than_there_is_room_for_come_in_pieces)
{
    make_letters(5);
    cw_collections->at_once = 2;
    cr_expect_null(collect());
    expect_letters("abcde");
    cr_expect_eq(inside, 5 * FAKE_PARTS * FAKE_PASSES);
    cr_expect_eq(outside, 5 + (2 + 4) * FAKE_PARTS * FAKE_PASSES, "those before a piece are not counted");
}

/* CUPTI would not come back from the launch of a kernel that waits for what the program does next. */
Test(graph_range, kernels_that_are_not_known_run_without_the_profiler_first)
{
    make_letters(2);
    fake_profiler.busy = true;
    cr_expect_null(collect());
    cr_expect_str_eq(order, "ab");
    cr_expect_eq(inside, 0);
    cr_expect_str_eq(fake_profiler.failure,
                     "found that a CUDA graph did not end in a pass that comes before the program's own launch of it; "
                     "the program's results may be wrong from here on, and the capture ends here");
    cr_expect(!collection->running && !fake_profiler.sent_count && !fake_profiler.restored);
}

Test(graph_range, kernels_are_collected_once_another_process_has_given_the_counters_back)
{
    make_letters(2);
    fake_profiler.taken = "a launch while another process held the counters";
    cr_expect_str_eq(collect(), "a launch while another process held the counters");
    cr_expect_eq(inside, 0);
    fake_profiler.taken = NULL;
    cr_expect_null(collect());
    expect_letters("ab");
}

static CUptiResult no_save(struct cw_checkpoint *checkpoint)
{
    cr_expect_null(checkpoint, "for nothing");
    return CUPTI_SUCCESS;
}

Test(graph_range, kernels_that_nobody_wants_have_no_range)
{
    make_letters(5);
    cw_range_settings->filter.options.launch_skip = 1;
    cw_range_settings->filter.options.launch_count = 2;
    cr_expect_null(collect());
    expect_letters("bc");
    cr_expect_eq(inside, 2 * FAKE_PARTS * FAKE_PASSES);
    cr_expect_eq(outside, 3 + FAKE_PARTS * FAKE_PASSES);
    cw_range_settings->filter.options.launch_count = 0;
    fake_profiler.sent_count = 0;
    *order = 0;
    cw_checkpoint_library->save = no_save;
    cr_expect_null(collect());
    expect_letters("");
    cr_expect_str_eq(order, "");
}

Test(graph_range, where_a_kernel_cannot_be_launched_by_itself_the_graph_is_one_range)
{
    make_letters(3);
    refuses_at = 8; /* in the second pass */
    cr_expect_null(collect());
    cr_expect_eq(launches, FAKE_PARTS * FAKE_PASSES);
    cr_assert_eq(fake_profiler.sent_count, 1);
    cr_expect_str_eq(fake_profiler.sent[0].kernel, "graph (3 kernels)");
    cr_expect_eq(fake_profiler.device, 5);
    cr_expect_eq(pinned[3], 7);
    cr_expect(!cw_inject->over, "%s", fake_profiler.failure);
    const cuGraphLaunch_params params = {.hGraph = exec};
    const CUpti_CallbackData call = {.callbackSite = CUPTI_API_ENTER, .functionParams = &params};
    cr_expect_not(cw_graph_batch_is_apart(collection, &call), "nor is it tried again");
}

Test(graph_range, a_graph_is_a_whole_where_that_is_asked_for_or_its_order_is_not_known)
{
    make_letters(2);
    cw_range_settings->whole_graphs = true;
    cr_expect_null(collect());
    cr_expect_str_eq(fake_profiler.sent[0].kernel, "graph (2 kernels)");
    cw_range_settings->whole_graphs = false;
    wait_for(0, 1);
    wait_for(1, 0);
    cr_expect_null(collect());
    cr_expect_eq(fake_profiler.sent_count, 2);
    cr_expect_str_eq(fake_profiler.sent[1].kernel, "graph (2 kernels)");
    cr_expect_str_eq(order, "");
}
