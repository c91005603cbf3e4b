#include "agent/inject/memory/graph.h"

#include <stdlib.h>

/* ---- graphs ----------------------------------------------------------------------------------------------------- */

static struct cw_graph **place_of(CUgraphExec exec)
{
    struct cw_graph **at = &cw_graphs->first;
    while (*at && (*at)->exec != exec)
        at = &(*at)->next;
    return at;
}

static void forget(CUgraphExec exec)
{
    struct cw_graph **at = place_of(exec), *g = *at;
    if (!g)
        return;
    *at = g->next;
    cw_arena_destroy(g->arena);
    free(g);
}

/* An executable graph that is as this graph now. */
static void remember(CUgraphExec exec, CUgraph graph)
{
    forget(exec);
    struct cw_graph *g = calloc(1, sizeof *g);
    struct cw_arena *arena = cw_arena_create();
    if (!g || !arena) {
        cw_arena_destroy(arena);
        free(g);
        return;
    }
    *g = (struct cw_graph){.next = cw_graphs->first, .exec = exec, .arena = arena};
    cw_graphs->first = g;
    cw_graph_read(g, graph);
}

/* ---- calls ------------------------------------------------------------------------------------------------------ */

/* A node of an executable graph. Of child graphs it is not known which of their nodes take the place of which. */
static void change(CUgraphExec exec, CUgraphNode node, CUgraphNodeType type, const void *params)
{
    struct cw_graph *g = *place_of(exec);
    if (g && type == CU_GRAPH_NODE_TYPE_KERNEL)
        cw_graph_set_kernel(g, node, params);
    else if (g && type == CU_GRAPH_NODE_TYPE_MEMCPY)
        cw_graph_set_copy(g, node, params);
    else if (g && type == CU_GRAPH_NODE_TYPE_MEMSET)
        cw_graph_set_memory(g, node, params);
    else if (type == CU_GRAPH_NODE_TYPE_GRAPH)
        forget(exec);
}

/* What a call does with executable graphs. The parameters of calls of a kind begin alike, and so do the versions of a
 * structure. */
enum kind { NOTHING, MAKES, UPDATES, SETS_KERNEL, SETS_COPY, SETS_MEMORY, SETS_CHILD, SETS_NODE, ENDS };

static enum kind kind_of(CUpti_CallbackId id)
{
    switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiate:
    case CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiate_v2:
    case CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithFlags:
    case CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithParams:
    case CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithParams_ptsz:
        return MAKES;
    case CUPTI_DRIVER_TRACE_CBID_cuGraphExecUpdate:
    case CUPTI_DRIVER_TRACE_CBID_cuGraphExecUpdate_v2:
        return UPDATES;
    case CUPTI_DRIVER_TRACE_CBID_cuGraphExecKernelNodeSetParams:
    case CUPTI_DRIVER_TRACE_CBID_cuGraphExecKernelNodeSetParams_v2:
        return SETS_KERNEL;
    case CUPTI_DRIVER_TRACE_CBID_cuGraphExecMemcpyNodeSetParams:
        return SETS_COPY;
    case CUPTI_DRIVER_TRACE_CBID_cuGraphExecMemsetNodeSetParams:
        return SETS_MEMORY;
    case CUPTI_DRIVER_TRACE_CBID_cuGraphExecChildGraphNodeSetParams:
        return SETS_CHILD;
    case CUPTI_DRIVER_TRACE_CBID_cuGraphExecNodeSetParams:
        return SETS_NODE;
    case CUPTI_DRIVER_TRACE_CBID_cuGraphExecDestroy:
        return ENDS;
    default:
        return NOTHING;
    }
}

bool cw_graph_follows(CUpti_CallbackId id)
{
    return kind_of(id) != NOTHING;
}

bool cw_graph_makes(CUpti_CallbackId id)
{
    return kind_of(id) == MAKES;
}

static void returned(enum kind kind, const void *params)
{
    const cuGraphInstantiateWithFlags_params *made = params;
    const cuGraphExecUpdate_params *updated = params;
    const cuGraphExecNodeSetParams_params *set = params;
    switch (kind) {
    case MAKES:
        return remember(*made->phGraphExec, made->hGraph);
    case UPDATES:
        return remember(updated->hGraphExec, updated->hGraph);
    case SETS_KERNEL:
        return change(set->hGraphExec, set->hNode, CU_GRAPH_NODE_TYPE_KERNEL, set->nodeParams);
    case SETS_COPY:
        return change(set->hGraphExec, set->hNode, CU_GRAPH_NODE_TYPE_MEMCPY, set->nodeParams);
    case SETS_MEMORY:
        return change(set->hGraphExec, set->hNode, CU_GRAPH_NODE_TYPE_MEMSET, set->nodeParams);
    case SETS_CHILD:
        return change(set->hGraphExec, set->hNode, CU_GRAPH_NODE_TYPE_GRAPH, set->nodeParams);
    case SETS_NODE:
        return change(set->hGraphExec, set->hNode, set->nodeParams->type,
                      set->nodeParams->type == CU_GRAPH_NODE_TYPE_MEMCPY ? &set->nodeParams->memcpy.copyParams
                                                                         : (const void *)&set->nodeParams->kernel);
    case NOTHING:
    case ENDS:
        return;
    }
}

void cw_graph_follow(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    enum kind kind = kind_of(id);
    if (kind == NOTHING)
        return;
    bool left = call->callbackSite == CUPTI_API_EXIT;
    if (left && !cw_inject_refused(call))
        returned(kind, call->functionParams);
    else if (kind == (left ? UPDATES : ENDS)) /* an update that failed may have changed some nodes */
        forget(*(const CUgraphExec *)call->functionParams);
}

const struct cw_graph *cw_graph_find(CUgraphExec exec)
{
    static const struct cw_graph none = {.obstacle = cw_graph_unknown};
    const struct cw_graph *g = *place_of(exec);
    return g ? g : &none;
}

void cw_graph_launch_name(const CUpti_CallbackData *call, char *name, size_t size)
{
    const cuGraphLaunch_params *launch = call->functionParams;
    cw_graph_name(cw_graph_find(launch->hGraph)->kernels, name, size);
}
