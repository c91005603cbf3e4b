/* The passes of a graph. */
#include <criterion/criterion.h>

#include "agent/inject/memory/graph.h"
#include "agent/inject/modes/batches.h"
#include "tests/support/fake_profiler.h"

static CUgraphExec exec = (CUgraphExec)0x1000;
static struct cw_collection *collection;
static struct fake_graph graph;
static uint8_t pinned[16];
static uint64_t word;
static void *parameters[] = {&word};
static int launches, fails_at; /* fails_at: the launch that does, from 1 */

/* What the graph does to device memory and to memory of the host's. */
static CUresult launch(CUgraphExec which, CUstream stream)
{
    cr_expect(which == exec && stream == (CUstream)0x20 && fake_profiler.open);
    cr_expect_eq(fake_profiler.device, 5, "each launch finds what was there before");
    cr_expect_eq(pinned[3], 7);
    fake_profiler.device = fake_profiler.device * 3 + 1;
    pinned[3]++;
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
    return cw_batch_collect_graph(collection, CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, &call, &may_run_once);
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
    collection->running = false;
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
    cr_expect_str_eq(fake_profiler.why,
                     "what a loop of user replay repeats, where the program left it before its last pass");
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
                     "what the program computes may be wrong from here on, and the capture ends here");
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
                                            "what the program computes may be wrong from here on, and the capture ends "
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
