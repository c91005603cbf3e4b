#include "agent/inject/memory/graph.h"

#include <stdlib.h>

#include "agent/inject/memory/regions.h"

static struct cw_graph *graphs CW_STATE; /* the newest */

enum { MOST_DEPTH = 64 };
static const char unknown[] = "it is a CUDA graph whose contents are not known";

/* ---- reading nodes ---------------------------------------------------------------------------------------------- */

static void hinder(struct cw_graph *g, const char *obstacle)
{
    if (!g->obstacle)
        g->obstacle = obstacle;
}

static void add_word(struct cw_graph *g, struct cw_graph_node *n, uint64_t word)
{
    if (word < CW_LOWEST_ADDRESS)
        return;
    if (n->count == n->room) {
        uint32_t room = n->room ? 2 * n->room : 8;
        uint64_t *words = cw_arena_alloc(g->arena, room, sizeof *words);
        if (!words) {
            hinder(g, unknown);
            return;
        }
        if (n->count)
            memcpy(words, n->words, n->count * sizeof *words);
        n->words = words;
        n->room = room;
    }
    n->words[n->count++] = word;
}

static void add_words(struct cw_graph *g, struct cw_graph_node *n, const void *parameter, size_t size)
{
    for (size_t at = 0; at + 8 <= size; at += 8) {
        uint64_t word;
        memcpy(&word, (const uint8_t *)parameter + at, sizeof word);
        add_word(g, n, word);
    }
}

/* Adds arguments that are packed into one buffer. */
static void add_packed(struct cw_graph *g, struct cw_graph_node *n, void **extra)
{
    const void *buffer;
    size_t size;
    if (!cw_inject_packed(extra, &buffer, &size))
        return hinder(g, unknown);
    if (buffer)
        add_words(g, n, buffer, size);
}

static void set_kernel(struct cw_graph *g, struct cw_graph_node *n, const CUDA_KERNEL_NODE_PARAMS *kernel)
{
    CUfunction function = kernel->func ? kernel->func : (CUfunction)kernel->kern;
    size_t count = 0, size;
    for (; !kernel->extra && cw_inject_parameter_size(function, count, &size); count++) {
        if (!kernel->kernelParams)
            return hinder(g, unknown);
        add_words(g, n, kernel->kernelParams[count], size);
    }
    if (kernel->extra)
        add_packed(g, n, kernel->extra);
}

static void set_copy(struct cw_graph_node *n, const CUDA_MEMCPY3D *copy)
{
    bool writes = copy->dstMemoryType != CU_MEMORYTYPE_ARRAY && copy->Height && copy->Depth;
    uint64_t start = copy->dstMemoryType == CU_MEMORYTYPE_HOST ? (uintptr_t)copy->dstHost : copy->dstDevice;
    n->to = start + (copy->dstZ * copy->dstHeight + copy->dstY) * copy->dstPitch + copy->dstXInBytes;
    n->size =
        writes ? ((copy->Depth - 1) * copy->dstHeight + copy->Height - 1) * copy->dstPitch + copy->WidthInBytes : 0;
}

static struct cw_graph_node *add_node(struct cw_graph *g, CUgraphNode handle, CUgraphNodeType type)
{
    struct cw_graph_node *n = cw_arena_alloc(g->arena, 1, sizeof *n);
    if (!n) {
        hinder(g, unknown);
        return NULL;
    }
    *n = (struct cw_graph_node){.handle = handle, .type = type};
    *g->end = n;
    g->end = &n->next;
    return n;
}

/* Sets the parameters of a kernel, copy or set; `params`: in the driver's form for the type. */
static void set_node(struct cw_graph *g, struct cw_graph_node *n, CUgraphNodeType type, const void *params)
{
    n->type = type;
    n->count = 0;
    g->ordered = cw_graph_node_keep(n, params, g->arena) && g->ordered;
    if (type == CU_GRAPH_NODE_TYPE_KERNEL)
        set_kernel(g, n, params);
    else if (type == CU_GRAPH_NODE_TYPE_MEMCPY)
        set_copy(n, params);
    else
        add_word(g, n, ((const CUDA_MEMSET_NODE_PARAMS *)params)->dst);
}

static bool is_updatable(CUgraphNode kernel)
{
    CUkernelNodeAttrValue value = {0};
    return cw_inject->api.cuGraphKernelNodeGetAttribute(kernel, CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE,
                                                        &value) == CUDA_SUCCESS &&
           value.deviceUpdatableKernelNode.deviceUpdatable;
}

static bool read_work(struct cw_graph *g, CUgraphNode handle, CUgraphNodeType type)
{
    union {
        CUDA_KERNEL_NODE_PARAMS kernel;
        CUDA_MEMCPY3D copy;
        CUDA_MEMSET_NODE_PARAMS set;
    } p;
    memset(&p, 0, sizeof p);
    const struct cw_cupti *api = &cw_inject->api;
    struct cw_graph_node *n = add_node(g, handle, type);
    CUresult result = type == CU_GRAPH_NODE_TYPE_KERNEL   ? api->cuGraphKernelNodeGetParams_v2(handle, &p.kernel)
                      : type == CU_GRAPH_NODE_TYPE_MEMCPY ? api->cuGraphMemcpyNodeGetParams(handle, &p.copy)
                                                          : api->cuGraphMemsetNodeGetParams(handle, &p.set);
    if (!n || result != CUDA_SUCCESS)
        return false;
    set_node(g, n, type, &p);
    g->kernels += type == CU_GRAPH_NODE_TYPE_KERNEL;
    if (type == CU_GRAPH_NODE_TYPE_KERNEL) {
        g->ordered = cw_graph_node_keep_attributes(n, g->arena) && g->ordered;
        if (is_updatable(handle))
            hinder(g, "it is a CUDA graph that kernels may change");
    }
    return true;
}

static bool read_nodes(struct cw_graph *g, CUgraph graph, int depth);

static bool read_child(struct cw_graph *g, CUgraphNode handle, int depth)
{
    CUgraph child = NULL;
    return depth < MOST_DEPTH && cw_inject->api.cuGraphChildGraphNodeGetGraph(handle, &child) == CUDA_SUCCESS &&
           read_nodes(g, child, depth + 1);
}

static bool read_node(struct cw_graph *g, CUgraphNode handle, int depth)
{
    CUgraphNodeType type;
    if (cw_inject->api.cuGraphNodeGetType(handle, &type) != CUDA_SUCCESS)
        return false;
    switch (type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
    case CU_GRAPH_NODE_TYPE_MEMCPY:
    case CU_GRAPH_NODE_TYPE_MEMSET:
        return read_work(g, handle, type);
    case CU_GRAPH_NODE_TYPE_GRAPH:
        return read_child(g, handle, depth);
    case CU_GRAPH_NODE_TYPE_EMPTY:
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        return true;
    case CU_GRAPH_NODE_TYPE_HOST:
        hinder(g, "it is a CUDA graph with a host node, whose function would run again in each pass");
        return true;
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
        hinder(g, "it is a CUDA graph that allocates or frees memory");
        return true;
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
        hinder(g, "it is a CUDA graph with a conditional node");
        return true;
    default: /* semaphores, and memory operations that others wait for */
        hinder(g, "it is a CUDA graph with nodes that cannot run twice");
        return true;
    }
}

static bool read_nodes(struct cw_graph *g, CUgraph graph, int depth)
{
    size_t count = 0;
    if (cw_inject->api.cuGraphGetNodes(graph, NULL, &count) != CUDA_SUCCESS)
        return false;
    CUgraphNode *handles = cw_arena_alloc(g->arena, count, sizeof(CUgraphNode));
    bool good = handles && (!count || cw_inject->api.cuGraphGetNodes(graph, handles, &count) == CUDA_SUCCESS);
    g->ordered = good && cw_graph_order(graph, handles, count, g->arena, &g->chain) && g->ordered;
    for (size_t i = 0; i < count && good; i++)
        good = read_node(g, handles[i], depth);
    return good;
}

/* Reads all nodes of the source graph of an executable graph, which has none yet. */
static void read_graph(struct cw_graph *g, CUgraph graph)
{
    const struct cw_cupti *api = &cw_inject->api;
    bool can = api->cuGraphGetNodes && api->cuGraphNodeGetType && api->cuGraphChildGraphNodeGetGraph &&
               api->cuGraphKernelNodeGetParams_v2 && api->cuGraphKernelNodeGetAttribute &&
               api->cuGraphMemcpyNodeGetParams && api->cuGraphMemsetNodeGetParams && api->cuFuncGetParamInfo;
    g->ordered = can && api->cuLaunchKernelEx;
    if (!can || !read_nodes(g, graph, 0)) {
        g->kernels = 0;
        g->obstacle = unknown;
    }
}

/* ---- graphs ----------------------------------------------------------------------------------------------------- */

static struct cw_graph **place_of(CUgraphExec exec)
{
    struct cw_graph **at = &graphs;
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

void cw_graphs_forget(void)
{
    while (graphs)
        forget(graphs->exec);
}

/* Notes that an executable graph is equal to this graph now. */
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
    *g = (struct cw_graph){.next = graphs, .exec = exec, .arena = arena, .chain = true};
    g->end = &g->nodes;
    graphs = g;
    read_graph(g, graph);
}

/* Updates an executable graph. Disabled nodes stay disabled, but it is unknown which nodes of the new graph they are,
 * and whether an unknown graph has any. */
static void update(CUgraphExec exec, CUgraph graph)
{
    const struct cw_graph *before = *place_of(exec);
    bool switched = !before || before->switched;
    remember(exec, graph);
    struct cw_graph *g = *place_of(exec);
    if (!g)
        return;
    g->switched = switched;
    g->ordered = g->ordered && !switched;
}

/* ---- calls ------------------------------------------------------------------------------------------------------ */

/* Finds the node that a call changes. An unknown node has no known place in the order, so the order is unknown from
 * then on. */
static struct cw_graph_node *node_of(struct cw_graph *g, CUgraphNode handle, CUgraphNodeType type)
{
    struct cw_graph_node *n = g->nodes;
    while (n && n->handle != handle)
        n = n->next;
    g->ordered = n && g->ordered;
    return n ? n : add_node(g, handle, type);
}

/* Changes a node. For a child graph it is unknown how its new nodes correspond to the old ones. */
static void change(CUgraphExec exec, CUgraphNode handle, CUgraphNodeType type, const void *params)
{
    bool read =
        type == CU_GRAPH_NODE_TYPE_KERNEL || type == CU_GRAPH_NODE_TYPE_MEMCPY || type == CU_GRAPH_NODE_TYPE_MEMSET;
    struct cw_graph *g = *place_of(exec);
    struct cw_graph_node *n = g && read ? node_of(g, handle, type) : NULL;
    if (type == CU_GRAPH_NODE_TYPE_GRAPH)
        forget(exec);
    else if (n)
        set_node(g, n, type, params);
}

static void switch_node(CUgraphExec exec, CUgraphNode handle, bool on)
{
    struct cw_graph *g = *place_of(exec);
    struct cw_graph_node *n = g && !g->obstacle ? node_of(g, handle, CU_GRAPH_NODE_TYPE_EMPTY) : NULL;
    if (g)
        g->switched = g->switched || !on;
    if (n)
        n->off = !on;
}

/* Effect of a call on executable graphs. Calls of one kind begin with the same parameters, and so do versions of a
 * structure; the first version for a kernel is shorter. */
enum kind {
    NOTHING,
    MAKES,
    UPDATES,
    SETS_OLD_KERNEL,
    SETS_KERNEL,
    SETS_COPY,
    SETS_MEMORY,
    SETS_CHILD,
    SETS_NODE,
    SWITCHES,
    ENDS
};
static const CUgraphNodeType types[] = {[SETS_KERNEL] = CU_GRAPH_NODE_TYPE_KERNEL,
                                        [SETS_COPY] = CU_GRAPH_NODE_TYPE_MEMCPY,
                                        [SETS_MEMORY] = CU_GRAPH_NODE_TYPE_MEMSET,
                                        [SETS_CHILD] = CU_GRAPH_NODE_TYPE_GRAPH};

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
        return SETS_OLD_KERNEL;
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
    case CUPTI_DRIVER_TRACE_CBID_cuGraphNodeSetEnabled:
        return SWITCHES;
    case CUPTI_DRIVER_TRACE_CBID_cuGraphExecDestroy:
        return ENDS;
    default:
        return NOTHING;
    }
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
    const cuGraphNodeSetEnabled_params *switched = params;
    CUDA_KERNEL_NODE_PARAMS kernel = {0};
    switch (kind) {
    case MAKES:
        return remember(*made->phGraphExec, made->hGraph);
    case UPDATES:
        return update(updated->hGraphExec, updated->hGraph);
    case SETS_OLD_KERNEL:
        memcpy(&kernel, set->nodeParams, sizeof(CUDA_KERNEL_NODE_PARAMS_v1));
        return change(set->hGraphExec, set->hNode, CU_GRAPH_NODE_TYPE_KERNEL, &kernel);
    case SETS_KERNEL:
    case SETS_COPY:
    case SETS_MEMORY:
    case SETS_CHILD:
        return change(set->hGraphExec, set->hNode, types[kind], set->nodeParams);
    case SETS_NODE:
        return change(set->hGraphExec, set->hNode, set->nodeParams->type,
                      set->nodeParams->type == CU_GRAPH_NODE_TYPE_MEMCPY ? &set->nodeParams->memcpy.copyParams
                                                                         : (const void *)&set->nodeParams->kernel);
    case SWITCHES:
        return switch_node(switched->hGraphExec, switched->hNode, switched->isEnabled);
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
    else if (kind == (left ? UPDATES : ENDS)) /* a failed update may have changed some nodes */
        forget(*(const CUgraphExec *)call->functionParams);
}

const struct cw_graph *cw_graph_find(CUgraphExec exec)
{
    static const struct cw_graph none = {.obstacle = unknown};
    const struct cw_graph *g = *place_of(exec);
    return g ? g : &none;
}

void cw_graph_keep_whole(CUgraphExec exec)
{
    struct cw_graph *g = *place_of(exec);
    if (g)
        g->ordered = false;
}

const char *cw_graph_launch_name(CUpti_CallbackId id, const CUpti_CallbackData *call, char graph[CW_GRAPH_NAME])
{
    if (!cw_inject_launches_graph(id))
        return call->symbolName ? call->symbolName : "";
    const cuGraphLaunch_params *launch = call->functionParams;
    cw_graph_name(cw_graph_find(launch->hGraph)->kernels, graph, CW_GRAPH_NAME);
    return graph;
}

/* ---- for repeated launches -------------------------------------------------------------------------------------- */

/* Whether memory belongs to another device than the one whose memory is restored. */
static bool is_elsewhere(uint64_t address, uint32_t device)
{
    const int owner = cw_inject_device_of(address);
    return owner >= 0 && (uint32_t)owner != device;
}

static bool keep_words(const struct cw_graph_node *n, uint32_t device, struct cw_shared *shared)
{
    bool good = true;
    for (uint32_t i = 0; i < n->count && good; i++) {
        cw_regions_know(n->words[i]); /* before memory is saved */
        good = cw_shared_with_host(n->words[i]) ? cw_shared_keep(shared, n->words[i], NULL, true)
                                                : !is_elsewhere(n->words[i], device);
    }
    return good;
}

/* Keeps the destination of a copy. Memory unknown to the driver belongs to the host. */
static bool keep_destination(const struct cw_graph_node *n, uint32_t device, struct cw_shared *shared)
{
    unsigned type = 0;
    if (!n->size)
        return true;
    cw_regions_know(n->to);
    bool known = cw_inject->api.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, n->to) == CUDA_SUCCESS;
    return known && !cw_shared_with_host(n->to) ? !is_elsewhere(n->to, device)
                                                : cw_shared_keep_bytes(shared, (void *)(uintptr_t)n->to, n->size);
}

bool cw_graph_keep(const struct cw_graph *g, uint32_t device, struct cw_shared *shared)
{
    bool good = true;
    for (const struct cw_graph_node *n = g->nodes; n && good; n = n->next) /* whole allocations before parts of them */
        good = keep_words(n, device, shared);
    for (const struct cw_graph_node *n = g->nodes; n && good; n = n->next)
        good = keep_destination(n, device, shared);
    return good;
}
