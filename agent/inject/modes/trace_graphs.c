#include "agent/inject/modes/trace_graphs.h"

enum { GRAPHS = 4096, NAMES = 1 << 15 };

static struct {
    struct { /* the last nodes with the name of a kernel: the node's number, and the text's */
        uint64_t node;
        uint32_t name;
    } names[NAMES];
    uint64_t with_nodes[GRAPHS]; /* the last graphs whose nodes were created, by number; under the rows' lock */
} state CW_STATE;
#define self (&state)

#define put cw_trace_put

void cw_trace_graphs_begin(uint64_t kinds)
{
    static const struct {
        CUpti_CallbackId id;
        enum cw_trace_kind kind;
    } wanted[] = {{CUPTI_CBID_RESOURCE_GRAPH_CREATED, CW_TRACE_GRAPH_MADE},
                  {CUPTI_CBID_RESOURCE_GRAPH_CLONED, CW_TRACE_GRAPH_MADE},
                  {CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING, CW_TRACE_GRAPH_MADE},
                  {CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED, CW_TRACE_GRAPH_MADE},
                  {CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING, CW_TRACE_GRAPH_MADE},
                  {CUPTI_CBID_RESOURCE_GRAPHNODE_CREATE_STARTING, CW_TRACE_NODE},
                  {CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, CW_TRACE_NODE},
                  {CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED, CW_TRACE_NODE},
                  {CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, CW_TRACE_EDGE},
                  {CUPTI_CBID_RESOURCE_GRAPHNODE_DEPENDENCY_CREATED, CW_TRACE_EDGE}};
    const struct cw_cupti *api = &cw_inject->api;
    if (!api->cuptiGetGraphId || !api->cuptiGetGraphNodeId)
        return;
    if (kinds & CW_TRACE_BIT(CW_TRACE_NODE))
        memset(self->names, 0, sizeof self->names); /* texts of an earlier trace had other numbers */
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (kinds & CW_TRACE_BIT(wanted[i].kind))
            api->cuptiEnableCallback(1, cw_inject->subscriber, CUPTI_CB_DOMAIN_RESOURCE, wanted[i].id);
}

/* ---- numbers: those of the rows of kernels and copies ------------------------------------------------------------ */

static uint64_t number_of_graph(CUgraph graph)
{
    uint32_t number;
    return graph && cw_inject->api.cuptiGetGraphId(graph, &number) == CUPTI_SUCCESS ? number : CW_TRACE_UNKNOWN;
}

static uint64_t number_of_executable(CUgraphExec graph)
{
    uint32_t number;
    return graph && cw_inject->api.cuptiGetGraphExecId &&
                   cw_inject->api.cuptiGetGraphExecId(graph, &number) == CUPTI_SUCCESS
               ? number
               : CW_TRACE_UNKNOWN;
}

static uint64_t number_of_node(CUgraphNode node)
{
    uint64_t number;
    return node && cw_inject->api.cuptiGetGraphNodeId(node, &number) == CUPTI_SUCCESS ? number : CW_TRACE_UNKNOWN;
}

/* ---- names ------------------------------------------------------------------------------------------------------ */

bool cw_trace_graphs_follows(CUpti_CallbackId id)
{
    return id == CUPTI_DRIVER_TRACE_CBID_cuGraphAddKernelNode ||
           id == CUPTI_DRIVER_TRACE_CBID_cuGraphAddKernelNode_v2 || id == CUPTI_DRIVER_TRACE_CBID_cuGraphAddNode ||
           id == CUPTI_DRIVER_TRACE_CBID_cuGraphAddNode_v2;
}

static const char *name_of_kernel(CUfunction function, CUkernel kernel)
{
    const struct cw_cupti *api = &cw_inject->api;
    const char *name = NULL;
    if (function && api->cuFuncGetName && api->cuFuncGetName(&name, function) == CUDA_SUCCESS)
        return name;
    kernel = kernel ? kernel : (CUkernel)function; /* a launch takes either */
    return kernel && api->cuKernelGetName && api->cuKernelGetName(&name, kernel) == CUDA_SUCCESS ? name : NULL;
}

/* The name of the kernel that a call adds to a graph; NULL if it adds none. */
static const char *name_of_added(CUpti_CallbackId id, const void *parameters)
{
    const CUgraphNodeParams *any = NULL;
    switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuGraphAddKernelNode: {
        const CUDA_KERNEL_NODE_PARAMS_v1 *kernel = ((const cuGraphAddKernelNode_params *)parameters)->nodeParams;
        return kernel ? name_of_kernel(kernel->func, NULL) : NULL;
    }
    case CUPTI_DRIVER_TRACE_CBID_cuGraphAddKernelNode_v2: {
        const CUDA_KERNEL_NODE_PARAMS *kernel = ((const cuGraphAddKernelNode_v2_params *)parameters)->nodeParams;
        return kernel ? name_of_kernel(kernel->func, kernel->kern) : NULL;
    }
    case CUPTI_DRIVER_TRACE_CBID_cuGraphAddNode:
        any = ((const cuGraphAddNode_params *)parameters)->nodeParams;
        break;
    case CUPTI_DRIVER_TRACE_CBID_cuGraphAddNode_v2:
        any = ((const cuGraphAddNode_v2_params *)parameters)->nodeParams;
        break;
    default:
        break;
    }
    return any && any->type == CU_GRAPH_NODE_TYPE_KERNEL ? name_of_kernel(any->kernel.func, any->kernel.kern) : NULL;
}

void cw_trace_graphs_call(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    if (!cw_inject_enter())
        return;
    const char *name = cw_trace_graphs_follows(id)    ? name_of_added(id, call->functionParams)
                       : cw_inject_launches_graph(id) ? NULL /* its symbol is none of a kernel */
                                                      : call->symbolName;
    cw_trace_rows_lock();
    cw_own_calls.kernel = cw_trace_text_number(name);
    cw_trace_rows_unlock();
    cw_inject_leave();
}

static uint32_t place_of(uint64_t node)
{
    return (uint32_t)(cw_inject_mix(0, node) % NAMES);
}

static uint32_t find_name(uint64_t node)
{
    return self->names[place_of(node)].node == node ? self->names[place_of(node)].name : 0;
}

static void keep_name(uint64_t node, uint32_t name)
{
    if (node == CW_TRACE_UNKNOWN)
        return;
    self->names[place_of(node)].node = node;
    self->names[place_of(node)].name = name;
}

/* ---- rows ------------------------------------------------------------------------------------------------------- */

static void put_graph(const char *type, uint64_t graph, uint64_t parent)
{
    cw_trace_rows_lock();
    const uint32_t text = cw_trace_text_number(type);
    if (cw_trace_row(CW_TRACE_GRAPH_MADE)) {
        put(CW_FIELD_TIME, cw_inject_now_ns());
        put(CW_FIELD_TYPE, text);
        put(CW_FIELD_GRAPH, graph);
        put(CW_FIELD_PARENT, parent);
    }
    cw_trace_rows_unlock();
}

/* CUPTI 13.0 gives the type of a node before its creation alone, on the same thread. Where the driver copies a graph
 * for itself, creations begin but do not end: such a graph has no nodes that run. */
static void put_node(const CUpti_GraphData *data)
{
    const uint64_t graph = number_of_graph(data->graph), node = number_of_node(data->node);
    const bool known = cw_own_calls.node == data->node;
    cw_trace_rows_lock();
    const bool kernel = known && cw_own_calls.node_type == CU_GRAPH_NODE_TYPE_KERNEL;
    const uint32_t name = !kernel ? 0 : cw_own_calls.kernel ? cw_own_calls.kernel : find_name(node);
    if (name)
        keep_name(node, name);
    self->with_nodes[graph % GRAPHS] = graph;
    if (cw_trace_row(CW_TRACE_NODE)) {
        put(CW_FIELD_TIME, cw_inject_now_ns());
        cw_trace_put_word(CW_FIELD_TYPE,
                          CW_TRACE_WORDS("kernel", "copy", "memset", "host", "graph", "empty", "wait_event",
                                         "event_record", "semaphores_signal", "semaphores_wait", "mem_alloc",
                                         "mem_free", "batch_mem_op", "conditional"),
                          known ? cw_own_calls.node_type : UINT32_MAX);
        put(CW_FIELD_GRAPH, graph);
        put(CW_FIELD_GRAPH_NODE, node);
        put(CW_FIELD_NAME, name);
    }
    cw_trace_rows_unlock();
}

/* A copy of a node has its name, whether the copy is created before or later. */
static void name_clone(const CUpti_GraphData *data)
{
    const uint64_t node = number_of_node(data->node), original = number_of_node(data->originalNode);
    cw_trace_rows_lock();
    const uint32_t name = node != CW_TRACE_UNKNOWN ? find_name(original) : 0;
    if (name) {
        keep_name(node, name);
        if (cw_trace_row_again(CW_TRACE_NODE, CW_FIELD_GRAPH_NODE, node))
            put(CW_FIELD_NAME, name);
    }
    cw_trace_rows_unlock();
}

static void put_edge(const CUpti_GraphData *data)
{
    const uint64_t graph = number_of_graph(data->graph), node = number_of_node(data->node);
    const uint64_t dependency = number_of_node(data->dependency);
    cw_trace_rows_lock();
    if (self->with_nodes[graph % GRAPHS] == graph && cw_trace_row(CW_TRACE_EDGE)) {
        put(CW_FIELD_TIME, cw_inject_now_ns());
        put(CW_FIELD_GRAPH, graph);
        put(CW_FIELD_GRAPH_NODE, node);
        put(CW_FIELD_DEPENDS_ON, dependency);
    }
    cw_trace_rows_unlock();
}

void cw_trace_graphs_take(CUpti_CallbackId id, const CUpti_GraphData *data)
{
    switch (id) {
    case CUPTI_CBID_RESOURCE_GRAPH_CREATED:
        put_graph("create", number_of_graph(data->graph), CW_TRACE_UNKNOWN);
        break;
    case CUPTI_CBID_RESOURCE_GRAPH_CLONED:
        put_graph("clone", number_of_graph(data->graph), number_of_graph(data->originalGraph));
        break;
    case CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING:
        put_graph("destroy", number_of_graph(data->graph), CW_TRACE_UNKNOWN);
        break;
    case CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED:
        put_graph("instantiate", number_of_executable(data->graphExec), number_of_graph(data->graph));
        break;
    case CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING:
        put_graph("destroy_executable", number_of_executable(data->graphExec), CW_TRACE_UNKNOWN);
        break;
    case CUPTI_CBID_RESOURCE_GRAPHNODE_CREATE_STARTING:
        cw_own_calls.node = data->node;
        cw_own_calls.node_type = (uint32_t)data->nodeType;
        break;
    case CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED:
        put_node(data);
        break;
    case CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED:
        name_clone(data);
        break;
    case CUPTI_CBID_RESOURCE_GRAPHNODE_DEPENDENCY_CREATED:
        put_edge(data);
        break;
    default:
        break;
    }
}
