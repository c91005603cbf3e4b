#include <criterion/criterion.h>

#include "agent/inject/memory/graph.h"
#include "tests/support/fake_driver.h"

static CUgraphExec exec = (CUgraphExec)0x1000;

static void instantiate(struct fake_graph *graph)
{
    const cuGraphInstantiateWithFlags_params params = {.phGraphExec = &exec, .hGraph = (CUgraph)graph};
    fake_call(cw_graph_follow, CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithFlags, &params, CUDA_SUCCESS);
}

static void update(struct fake_graph *graph, CUresult result)
{
    const cuGraphExecUpdate_v2_params params = {.hGraphExec = exec, .hGraph = (CUgraph)graph};
    fake_call(cw_graph_follow, CUPTI_DRIVER_TRACE_CBID_cuGraphExecUpdate_v2, &params, result);
}

static void set_kernel(const struct fake_node *node, void **parameters, CUresult result)
{
    const CUDA_KERNEL_NODE_PARAMS kernel = {.func = (CUfunction)1, .kernelParams = parameters};
    const cuGraphExecKernelNodeSetParams_v2_params params = {
        .hGraphExec = exec, .hNode = (CUgraphNode)node, .nodeParams = &kernel};
    fake_call(cw_graph_follow, CUPTI_DRIVER_TRACE_CBID_cuGraphExecKernelNodeSetParams_v2, &params, result);
}

/* Whether memory is kept, by what becomes of a byte that the graph would have changed. */
static bool keeps(uint8_t *byte)
{
    struct cw_shared shared = {.arena = cw_arena_create()};
    uint8_t before = *byte;
    cr_assert(cw_graph_keep(cw_graph_find(exec), 0, &shared));
    ++*byte;
    cw_shared_restore(&shared);
    bool kept = *byte == before;
    *byte = before;
    cw_arena_destroy(shared.arena);
    return kept;
}

Test(graph, counts_kernels_with_those_of_children)
{
    fake_driver();
    struct fake_graph child = {0}, graph = {0};
    fake_kernel(&child, NULL, 0);
    fake_kernel(&child, NULL, 0);
    fake_kernel(&graph, NULL, 0);
    fake_other(&graph, CU_GRAPH_NODE_TYPE_EMPTY);
    fake_other(&graph, CU_GRAPH_NODE_TYPE_EVENT_RECORD);
    fake_other(&graph, CU_GRAPH_NODE_TYPE_MEMSET);
    fake_other(&graph, CU_GRAPH_NODE_TYPE_GRAPH)->child = &child;
    instantiate(&graph);
    cr_expect_null(cw_graph_find(exec)->obstacle);
    cr_expect_eq(cw_graph_find(exec)->kernels, 3);
}

Test(graph, nodes_that_cannot_run_twice_are_obstacles)
{
    static const CUgraphNodeType types[] = {
        CU_GRAPH_NODE_TYPE_HOST,        CU_GRAPH_NODE_TYPE_MEM_ALLOC,        CU_GRAPH_NODE_TYPE_MEM_FREE,
        CU_GRAPH_NODE_TYPE_CONDITIONAL, CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP,
    };
    fake_driver();
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        struct fake_graph child = {0}, graph = {0};
        fake_other(&child, types[i]);
        fake_other(&graph, CU_GRAPH_NODE_TYPE_GRAPH)->child = &child;
        instantiate(&graph);
        cr_expect_not_null(cw_graph_find(exec)->obstacle, "node type %d", types[i]);
    }
    struct fake_graph graph = {0};
    fake_kernel(&graph, NULL, 0)->updatable = true;
    instantiate(&graph);
    cr_expect_str_eq(cw_graph_find(exec)->obstacle, "it is a CUDA graph that kernels may change");
}

Test(graph, is_unknown_before_it_is_made_and_after_its_end)
{
    fake_driver();
    struct fake_graph graph = {0};
    const cuGraphExecDestroy_params params = {.hGraphExec = exec};
    cr_expect_str_eq(cw_graph_find(exec)->obstacle, "it is a CUDA graph whose contents are not known");
    instantiate(&graph);
    cr_expect_null(cw_graph_find(exec)->obstacle);
    fake_call(cw_graph_follow, CUPTI_DRIVER_TRACE_CBID_cuGraphExecDestroy, &params, CUDA_SUCCESS);
    cr_expect_not_null(cw_graph_find(exec)->obstacle);
}

Test(graph, keeps_what_the_host_sees_too)
{
    static uint8_t pinned[64], managed[64], device[64], landed[64], other[64];
    fake_driver();
    fake_memory[0] = (struct fake_memory){pinned, sizeof pinned, CU_MEMORYTYPE_HOST, false, 0};
    fake_memory[1] = (struct fake_memory){managed, sizeof managed, CU_MEMORYTYPE_DEVICE, true, 0};
    fake_memory[2] = (struct fake_memory){device, sizeof device, CU_MEMORYTYPE_DEVICE, false, 0};
    uint64_t words[] = {(uintptr_t)(pinned + 8), 5, (uintptr_t)device};
    void *parameters[] = {&words[0], &words[1], &words[2]};
    struct fake_graph graph = {0};
    fake_copy(&graph, pinned + 32, 8);
    fake_kernel(&graph, parameters, 3);
    fake_copy(&graph, landed + 16, 16);
    fake_other(&graph, CU_GRAPH_NODE_TYPE_MEMSET)->set.dst = (uintptr_t)managed;
    instantiate(&graph);
    cr_expect(keeps(pinned), "the whole allocation");
    cr_expect(keeps(&pinned[63]));
    cr_expect(keeps(&managed[40]));
    cr_expect(keeps(&landed[16]));
    cr_expect(keeps(&landed[31]));
    cr_expect(!keeps(&landed[15]), "only what is copied");
    cr_expect(!keeps(&landed[32]));
    cr_expect(!keeps(device), "that is the checkpoint's");
    cr_expect(!keeps(other));
}

Test(graph, a_copy_of_rows_ends_where_the_last_one_does)
{
    static uint8_t landed[256];
    fake_driver();
    struct fake_graph graph = {0};
    CUDA_MEMCPY3D *copy = &fake_copy(&graph, landed, 4)->copy;
    copy->dstXInBytes = 2;
    copy->dstY = 1;
    copy->dstPitch = 16;
    copy->dstHeight = 4;
    copy->Height = 2;
    copy->Depth = 2;
    instantiate(&graph);
    cr_expect(!keeps(&landed[17]));
    cr_expect(keeps(&landed[18]));
    cr_expect(keeps(&landed[16 * 6 + 5])); /* the second row of the second slice */
    cr_expect(!keeps(&landed[16 * 6 + 6]));
}

Test(graph, changes_of_nodes_are_followed)
{
    static uint8_t first[64], second[64], third[64];
    fake_driver();
    fake_memory[0] = (struct fake_memory){first, sizeof first, CU_MEMORYTYPE_HOST, false, 0};
    fake_memory[1] = (struct fake_memory){second, sizeof second, CU_MEMORYTYPE_HOST, false, 0};
    fake_memory[2] = (struct fake_memory){third, sizeof third, CU_MEMORYTYPE_HOST, false, 0};
    uint64_t words[] = {(uintptr_t)first, (uintptr_t)second, (uintptr_t)third};
    void *parameters[] = {&words[0], &words[1], &words[2]};
    struct fake_graph graph = {0}, updated = {0};
    const struct fake_node *node = fake_kernel(&graph, &parameters[0], 1);
    instantiate(&graph);
    set_kernel(node, &parameters[1], CUDA_ERROR_INVALID_VALUE);
    cr_expect(keeps(first) && !keeps(second), "a change that the driver refused");
    set_kernel(node, &parameters[1], CUDA_SUCCESS);
    cr_expect(!keeps(first) && keeps(second));
    fake_kernel(&updated, &parameters[2], 1);
    update(&updated, CUDA_SUCCESS);
    cr_expect(!keeps(second) && keeps(third));
    update(&updated, CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    cr_expect_not_null(cw_graph_find(exec)->obstacle, "which nodes were changed is not known");
}

Test(graph, memory_of_another_device_cannot_be_put_back)
{
    static uint8_t memory[64];
    struct cw_shared shared = {.arena = cw_arena_create()};
    fake_driver();
    fake_memory[0] = (struct fake_memory){memory, sizeof memory, CU_MEMORYTYPE_DEVICE, false, 1};
    uint64_t word = (uintptr_t)memory;
    void *parameters[] = {&word};
    struct fake_graph graph = {0};
    fake_kernel(&graph, parameters, 1);
    instantiate(&graph);
    cr_expect(!cw_graph_keep(cw_graph_find(exec), 0, &shared));
    cr_expect(cw_graph_keep(cw_graph_find(exec), 1, &shared));
    cw_arena_destroy(shared.arena);
}
