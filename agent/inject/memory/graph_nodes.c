#include "agent/inject/memory/graph_nodes.h"

enum { MOST_DEPTH = 64 };
const char cw_graph_unknown[] = "a CUDA graph whose contents are not known";

struct cw_graph_node {
    struct cw_graph_node *next;
    CUgraphNode handle;
    uint32_t count, room;
    uint64_t *words; /* that may be addresses: a kernel's parameters, or where a set writes */
    uint64_t to;     /* where a copy writes, unless in an array */
    size_t size;
};

/* ---- reading ---------------------------------------------------------------------------------------------------- */

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
            hinder(g, cw_graph_unknown);
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

/* Arguments that are packed into one buffer. */
static void add_packed(struct cw_graph *g, struct cw_graph_node *n, void **extra)
{
    const void *buffer;
    size_t size;
    if (!cw_inject_packed(extra, &buffer, &size))
        return hinder(g, cw_graph_unknown);
    if (buffer)
        add_words(g, n, buffer, size);
}

static void set_kernel(struct cw_graph *g, struct cw_graph_node *n, const CUDA_KERNEL_NODE_PARAMS *kernel)
{
    CUfunction function = kernel->func ? kernel->func : (CUfunction)kernel->kern;
    size_t count = 0, size;
    for (; !kernel->extra && cw_inject_parameter_size(function, count, &size); count++) {
        if (!kernel->kernelParams)
            return hinder(g, cw_graph_unknown);
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

static struct cw_graph_node *add_node(struct cw_graph *g, CUgraphNode handle)
{
    struct cw_graph_node *n = cw_arena_alloc(g->arena, 1, sizeof *n);
    if (!n) {
        hinder(g, cw_graph_unknown);
        return NULL;
    }
    *n = (struct cw_graph_node){.next = g->nodes, .handle = handle};
    g->nodes = n;
    return n;
}

static bool read_kernel(struct cw_graph *g, CUgraphNode handle)
{
    CUDA_KERNEL_NODE_PARAMS p = {0};
    CUkernelNodeAttrValue value = {0};
    struct cw_graph_node *n = add_node(g, handle);
    if (!n || cw_inject->api.cuGraphKernelNodeGetParams_v2(handle, &p) != CUDA_SUCCESS)
        return false;
    g->kernels++;
    set_kernel(g, n, &p);
    if (cw_inject->api.cuGraphKernelNodeGetAttribute(handle, CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE,
                                                     &value) == CUDA_SUCCESS &&
        value.deviceUpdatableKernelNode.deviceUpdatable)
        hinder(g, "a CUDA graph that kernels may change");
    return true;
}

static bool read_copy(struct cw_graph *g, CUgraphNode handle)
{
    CUDA_MEMCPY3D copy = {0};
    struct cw_graph_node *n = add_node(g, handle);
    if (!n || cw_inject->api.cuGraphMemcpyNodeGetParams(handle, &copy) != CUDA_SUCCESS)
        return false;
    set_copy(n, &copy);
    return true;
}

static bool read_set(struct cw_graph *g, CUgraphNode handle)
{
    CUDA_MEMSET_NODE_PARAMS set = {0};
    struct cw_graph_node *n = add_node(g, handle);
    if (!n || cw_inject->api.cuGraphMemsetNodeGetParams(handle, &set) != CUDA_SUCCESS)
        return false;
    add_word(g, n, set.dst);
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
        return read_kernel(g, handle);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        return read_copy(g, handle);
    case CU_GRAPH_NODE_TYPE_MEMSET:
        return read_set(g, handle);
    case CU_GRAPH_NODE_TYPE_GRAPH:
        return read_child(g, handle, depth);
    case CU_GRAPH_NODE_TYPE_EMPTY:
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        return true;
    case CU_GRAPH_NODE_TYPE_HOST:
        hinder(g, "a CUDA graph with a host node, whose function would run again in each pass");
        return true;
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
        hinder(g, "a CUDA graph that allocates or frees memory");
        return true;
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
        hinder(g, "a CUDA graph with a conditional node");
        return true;
    default: /* semaphores, and operations on memory that others wait for */
        hinder(g, "a CUDA graph with nodes that cannot run twice");
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
    for (size_t i = 0; i < count && good; i++)
        good = read_node(g, handles[i], depth);
    return good;
}

void cw_graph_read(struct cw_graph *g, CUgraph graph)
{
    const struct cw_cupti *api = &cw_inject->api;
    bool can = api->cuGraphGetNodes && api->cuGraphNodeGetType && api->cuGraphChildGraphNodeGetGraph &&
               api->cuGraphKernelNodeGetParams_v2 && api->cuGraphKernelNodeGetAttribute &&
               api->cuGraphMemcpyNodeGetParams && api->cuGraphMemsetNodeGetParams && api->cuFuncGetParamInfo;
    if (!can || !read_nodes(g, graph, 0)) {
        g->kernels = 0;
        g->obstacle = cw_graph_unknown;
    }
}

/* ---- changes ---------------------------------------------------------------------------------------------------- */

/* The node that a call changes. */
static struct cw_graph_node *node_of(struct cw_graph *g, CUgraphNode handle)
{
    struct cw_graph_node *n = g->nodes;
    while (n && n->handle != handle)
        n = n->next;
    n = n ? n : add_node(g, handle);
    if (n)
        n->count = 0;
    return n;
}

void cw_graph_set_kernel(struct cw_graph *g, CUgraphNode handle, const CUDA_KERNEL_NODE_PARAMS *kernel)
{
    struct cw_graph_node *n = node_of(g, handle);
    if (n)
        set_kernel(g, n, kernel);
}

void cw_graph_set_copy(struct cw_graph *g, CUgraphNode handle, const CUDA_MEMCPY3D *copy)
{
    struct cw_graph_node *n = node_of(g, handle);
    if (n)
        set_copy(n, copy);
}

void cw_graph_set_memory(struct cw_graph *g, CUgraphNode handle, const CUDA_MEMSET_NODE_PARAMS *set)
{
    struct cw_graph_node *n = node_of(g, handle);
    if (n)
        add_word(g, n, set->dst);
}

/* ---- for launching again ---------------------------------------------------------------------------------------- */

/* Device memory of another device than the one whose memory is put back. */
static bool is_elsewhere(uint64_t address, uint32_t device)
{
    int owner = 0;
    return cw_inject->api.cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address) == CUDA_SUCCESS &&
           owner >= 0 && (uint32_t)owner != device;
}

static bool keep_words(const struct cw_graph_node *n, uint32_t device, struct cw_shared *shared)
{
    bool good = true;
    for (uint32_t i = 0; i < n->count && good; i++)
        good =
            cw_shared_with_host(n->words[i]) ? cw_shared_keep(shared, n->words[i]) : !is_elsewhere(n->words[i], device);
    return good;
}

/* Memory of a copy that the driver knows nothing of is the host's. */
static bool keep_destination(const struct cw_graph_node *n, uint32_t device, struct cw_shared *shared)
{
    unsigned type = 0;
    if (!n->size)
        return true;
    bool known = cw_inject->api.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, n->to) == CUDA_SUCCESS;
    return known && !cw_shared_with_host(n->to) ? !is_elsewhere(n->to, device)
                                                : cw_shared_keep_bytes(shared, (void *)(uintptr_t)n->to, n->size);
}

bool cw_graph_keep(const struct cw_graph *g, uint32_t device, struct cw_shared *shared)
{
    bool good = true;
    for (const struct cw_graph_node *n = g->nodes; n && good; n = n->next) /* whole allocations before pieces of them */
        good = keep_words(n, device, shared);
    for (const struct cw_graph_node *n = g->nodes; n && good; n = n->next)
        good = keep_destination(n, device, shared);
    return good;
}
