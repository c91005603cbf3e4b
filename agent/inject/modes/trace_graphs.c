#include "agent/inject/modes/trace_graphs.h"

enum { GRAPHS = 4096 };

static struct {
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
                  {CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, CW_TRACE_EDGE},
                  {CUPTI_CBID_RESOURCE_GRAPHNODE_DEPENDENCY_CREATED, CW_TRACE_EDGE}};
    const struct cw_cupti *api = &cw_inject->api;
    if (!api->cuptiGetGraphId || !api->cuptiGetGraphNodeId)
        return;
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
    case CUPTI_CBID_RESOURCE_GRAPHNODE_DEPENDENCY_CREATED:
        put_edge(data);
        break;
    default:
        break;
    }
}
