#include "tests/support/fake_driver.h"

#include "agent/inject/state.h"

struct fake_memory fake_memory[FAKE_MOST];
CUstream fake_captured;
CUcontext fake_owner;
const struct fake_name *fake_names;
size_t fake_total, fake_unused;

static CUresult get_nodes(CUgraph graph, CUgraphNode *nodes, size_t *count)
{
    struct fake_graph *g = (struct fake_graph *)graph;
    for (size_t i = 0; nodes && i < g->count; i++)
        nodes[i] = (CUgraphNode)&g->nodes[i];
    *count = g->count;
    return CUDA_SUCCESS;
}

static CUresult get_edges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *data, size_t *count)
{
    struct fake_graph *g = (struct fake_graph *)graph;
    for (size_t i = 0; from && data && i < g->edge_count; i++) {
        from[i] = (CUgraphNode)&g->nodes[g->edges[i][0]];
        to[i] = (CUgraphNode)&g->nodes[g->edges[i][1]];
    }
    *count = g->edge_count;
    return CUDA_SUCCESS;
}

static CUresult get_type(CUgraphNode node, CUgraphNodeType *type)
{
    *type = ((struct fake_node *)node)->type;
    return CUDA_SUCCESS;
}

static CUresult get_child(CUgraphNode node, CUgraph *graph)
{
    *graph = (CUgraph)((struct fake_node *)node)->child;
    return CUDA_SUCCESS;
}

static CUresult get_kernel(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *params)
{
    *params = ((struct fake_node *)node)->kernel;
    return CUDA_SUCCESS;
}

static CUresult get_attribute(CUgraphNode node, CUkernelNodeAttrID id, CUkernelNodeAttrValue *value)
{
    if (id != CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE)
        return CUDA_ERROR_INVALID_VALUE;
    value->deviceUpdatableKernelNode.deviceUpdatable = ((struct fake_node *)node)->updatable;
    return CUDA_SUCCESS;
}

static CUresult get_copy(CUgraphNode node, CUDA_MEMCPY3D *params)
{
    *params = ((struct fake_node *)node)->copy;
    return CUDA_SUCCESS;
}

static CUresult get_set(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS *params)
{
    *params = ((struct fake_node *)node)->set;
    return CUDA_SUCCESS;
}

static CUresult parameter_info(CUfunction function, size_t index, size_t *offset, size_t *size)
{
    *offset = 8 * index;
    *size = 8;
    return index < (size_t)(uintptr_t)function ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult pointer_attribute(void *to, CUpointer_attribute attribute, CUdeviceptr address)
{
    struct fake_memory *m = fake_memory;
    while (m < fake_memory + FAKE_MOST && address - (uintptr_t)m->start >= m->size)
        m++;
    if (m == fake_memory + FAKE_MOST)
        return CUDA_ERROR_INVALID_VALUE;
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *(unsigned *)to = m->type;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        *(unsigned *)to = m->managed;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        *(void **)to = (void *)(uintptr_t)address;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        *(CUdeviceptr *)to = (uintptr_t)m->start;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        *(size_t *)to = m->size;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        *(CUcontext *)to = fake_owner;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *(int *)to = m->device;
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

static CUresult synchronize(void)
{
    return CUDA_SUCCESS;
}

static CUresult own_device(CUdevice *device)
{
    *device = 0;
    return CUDA_SUCCESS;
}

static CUresult memory_info(size_t *unused, size_t *total)
{
    *unused = fake_unused;
    *total = fake_total;
    return CUDA_SUCCESS;
}

static CUresult is_capturing(CUstream stream, CUstreamCaptureStatus *status)
{
    *status = stream && stream == fake_captured ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
}

static CUptiResult name_call(CUpti_CallbackDomain domain, uint32_t id, const char **name)
{
    const struct fake_name *found = fake_names;
    while (found && found->name && found->id != id)
        found++;
    *name = found ? found->name : NULL;
    return domain == CUPTI_CB_DOMAIN_DRIVER_API && id ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

static CUptiResult context_id(CUcontext context, uint32_t *id)
{
    *id = FAKE_CONTEXTS + (uint32_t)(uintptr_t)context;
    return context ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_CONTEXT;
}

static CUptiResult stream_id(CUcontext context, CUstream stream, uint8_t of_thread, uint32_t *id)
{
    *id = stream ? FAKE_STREAMS + (uint32_t)(uintptr_t)stream : of_thread ? FAKE_THREAD_STREAM : FAKE_OWN_STREAM;
    return context && stream != CU_STREAM_LEGACY && stream != CU_STREAM_PER_THREAD ? CUPTI_SUCCESS
                                                                                   : CUPTI_ERROR_INVALID_STREAM;
}

void fake_driver(void)
{
    fake_captured = NULL;
    fake_owner = NULL;
    fake_names = NULL;
    fake_total = fake_unused = (size_t)80 << 30;
    memset(fake_memory, 0, sizeof fake_memory);
    cw_inject_state = (struct cw_inject_state){0};
    cw_inject->api = (struct cw_cupti){.cuGraphGetNodes = get_nodes,
                                       .cuGraphGetEdges_v2 = get_edges,
                                       .cuGraphNodeGetType = get_type,
                                       .cuGraphChildGraphNodeGetGraph = get_child,
                                       .cuGraphKernelNodeGetParams_v2 = get_kernel,
                                       .cuGraphKernelNodeGetAttribute = get_attribute,
                                       .cuGraphMemcpyNodeGetParams = get_copy,
                                       .cuGraphMemsetNodeGetParams = get_set,
                                       .cuFuncGetParamInfo = parameter_info,
                                       .cuPointerGetAttribute = pointer_attribute,
                                       .cuCtxGetDevice = own_device,
                                       .cuCtxSynchronize = synchronize,
                                       .cuMemGetInfo_v2 = memory_info,
                                       .cuStreamIsCapturing = is_capturing,
                                       .cuptiGetContextId = context_id,
                                       .cuptiGetStreamIdEx = stream_id,
                                       .cuptiGetCallbackName = name_call};
}

struct fake_node *fake_other(struct fake_graph *g, CUgraphNodeType type)
{
    g->nodes[g->count] = (struct fake_node){.type = type};
    return &g->nodes[g->count++];
}

struct fake_node *fake_kernel(struct fake_graph *g, void **parameters, size_t count)
{
    struct fake_node *n = fake_other(g, CU_GRAPH_NODE_TYPE_KERNEL);
    n->kernel = (CUDA_KERNEL_NODE_PARAMS){.func = (CUfunction)(uintptr_t)count, .kernelParams = parameters};
    return n;
}

struct fake_node *fake_copy(struct fake_graph *g, void *to, size_t size)
{
    struct fake_node *n = fake_other(g, CU_GRAPH_NODE_TYPE_MEMCPY);
    n->copy = (CUDA_MEMCPY3D){
        .dstMemoryType = CU_MEMORYTYPE_HOST, .dstHost = to, .WidthInBytes = size, .Height = 1, .Depth = 1};
    return n;
}

void fake_call(void (*follow)(CUpti_CallbackId, const CUpti_CallbackData *), CUpti_CallbackId id, const void *params,
               CUresult result)
{
    uint64_t kept;
    CUpti_CallbackData call = {.callbackSite = CUPTI_API_ENTER, .correlationData = &kept, .functionParams = params};
    follow(id, &call);
    call.callbackSite = CUPTI_API_EXIT;
    call.functionReturnValue = &result;
    follow(id, &call);
}
