#include "agent/inject/memory/graph_nodes.h"

#include <stdlib.h>

#include "base/buckets.h"

/* ---- order ------------------------------------------------------------------------------------------------------ */

struct place {
    CUgraphNode node;
    uint32_t at;
};

static int by_node(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    return (x->node > y->node) - (x->node < y->node);
}

/* Edges of a graph between node indices: edge i leads from->[i] to to[i]. */
struct edges {
    size_t count;
    uint32_t *from, *to;
};

static bool find_places(struct edges *e, const CUgraphNode *nodes, size_t count, CUgraphNode *const ends[2],
                        struct cw_arena *arena)
{
    struct place *places = cw_arena_alloc(arena, count, sizeof *places);
    uint32_t *const found[] = {e->from, e->to};
    for (size_t i = 0; places && i < count; i++)
        places[i] = (struct place){nodes[i], (uint32_t)i};
    if (places)
        qsort(places, count, sizeof *places, by_node);
    for (size_t i = 0; places && i < 2 * e->count; i++) {
        const struct place key = {ends[i % 2][i / 2], 0};
        const struct place *p = bsearch(&key, places, count, sizeof *places, by_node);
        if (!p)
            return false;
        found[i % 2][i / 2] = p->at;
    }
    return places != NULL;
}

static bool read_edges(struct edges *e, CUgraph graph, const CUgraphNode *nodes, size_t count, struct cw_arena *arena)
{
    const struct cw_cupti *api = &cw_inject->api;
    e->count = 0;
    if (!api->cuGraphGetEdges_v2 || api->cuGraphGetEdges_v2(graph, NULL, NULL, NULL, &e->count) != CUDA_SUCCESS)
        return false;
    if (e->count > UINT32_MAX / 2 || count > UINT32_MAX / 2)
        return false;
    CUgraphNode *from = cw_arena_alloc(arena, e->count, sizeof(CUgraphNode)),
                *to = cw_arena_alloc(arena, e->count, sizeof(CUgraphNode));
    CUgraphEdgeData *data = cw_arena_alloc(arena, e->count, sizeof *data); /* or the call fails for some edges */
    e->from = cw_arena_alloc(arena, e->count, sizeof *e->from);
    e->to = cw_arena_alloc(arena, e->count, sizeof *e->to);
    if (!from || !to || !data || !e->from || !e->to)
        return false;
    if (e->count && api->cuGraphGetEdges_v2(graph, from, to, data, &e->count) != CUDA_SUCCESS)
        return false;
    CUgraphNode *const ends[] = {from, to};
    return find_places(e, nodes, count, ends, arena);
}

bool cw_graph_order(CUgraph graph, CUgraphNode *nodes, size_t count, struct cw_arena *arena, bool *chain)
{
    struct edges e;
    if (!read_edges(&e, graph, nodes, count, arena))
        return false;
    uint32_t *first = cw_arena_alloc(arena, count + 2, sizeof *first),
             *order = cw_arena_alloc(arena, e.count, sizeof *order),
             *waits_for = cw_arena_alloc(arena, count, sizeof *waits_for),
             *ready = cw_arena_alloc(arena, count, sizeof *ready);
    CUgraphNode *before = cw_arena_alloc(arena, count, sizeof(CUgraphNode));
    if (!first || !order || !waits_for || !ready || !before)
        return false;
    cw_buckets_sort(first, (uint32_t)count, order, e.from, sizeof *e.from, (uint32_t)e.count);
    memset(waits_for, 0, count * sizeof *waits_for);
    for (size_t i = 0; i < e.count; i++)
        waits_for[e.to[i]]++;
    size_t known = 0, done = 0;
    for (uint32_t i = 0; i < count; i++)
        if (!waits_for[i])
            ready[known++] = i;
    for (; done < known; done++) {
        *chain = *chain && known == done + 1;
        for (uint32_t i = first[ready[done]]; i < first[ready[done] + 1]; i++)
            if (--waits_for[e.to[order[i]]] == 0)
                ready[known++] = e.to[order[i]];
    }
    if (count)
        memcpy(before, nodes, count * sizeof(CUgraphNode));
    for (size_t i = 0; i < done; i++)
        nodes[i] = before[ready[i]];
    return done == count;
}

/* ---- parameters of nodes ---------------------------------------------------------------------------------------- */

static bool make_room(struct cw_graph_node *n, size_t size, struct cw_arena *arena)
{
    if (size <= n->arguments_room)
        return true;
    n->arguments = cw_arena_alloc(arena, size, 1);
    n->arguments_room = n->arguments ? size : 0;
    return n->arguments != NULL;
}

/* Offset of the next parameter, aligned for any type. */
static size_t align(size_t at)
{
    return (at + 15) & ~(size_t)15;
}

/* Keeps the list of pointers, with the values behind it. */
static bool keep_parameters(struct cw_graph_node *n, void **parameters, struct cw_arena *arena)
{
    CUfunction function = n->launch.function;
    size_t count = 0, size, bytes = 0;
    for (; cw_inject_parameter_size(function, count, &size); count++)
        bytes += align(size);
    size_t at = align((count + 1) * sizeof(void *));
    if ((count && !parameters) || !make_room(n, at + bytes + 16, arena))
        return false;
    uint8_t *begin = n->arguments + (-(uintptr_t)n->arguments & 15);
    n->launch.parameters = (void **)(void *)begin;
    for (size_t i = 0; i < count && cw_inject_parameter_size(function, i, &size); i++) {
        memcpy(begin + at, parameters[i], size);
        n->launch.parameters[i] = begin + at;
        at += align(size);
    }
    return true;
}

/* Keeps packed arguments: the driver's list of five, the size, then the buffer. */
static bool keep_packed(struct cw_graph_node *n, void **extra, struct cw_arena *arena)
{
    enum { LIST = 5 };
    const void *buffer;
    size_t size, at = align(LIST * sizeof(void *) + sizeof(size_t));
    if (!cw_inject_packed(extra, &buffer, &size) || !buffer || !make_room(n, at + size + 16, arena))
        return false;
    uint8_t *begin = n->arguments + (-(uintptr_t)n->arguments & 15), *kept_size = begin + LIST * sizeof(void *);
    memcpy(kept_size, &size, sizeof size);
    memcpy(begin + at, buffer, size);
    void *list[LIST] = {CU_LAUNCH_PARAM_BUFFER_POINTER, begin + at, CU_LAUNCH_PARAM_BUFFER_SIZE, kept_size,
                        CU_LAUNCH_PARAM_END};
    memcpy(begin, list, sizeof list);
    n->launch.packed = (void **)(void *)begin;
    return true;
}

static bool keep_kernel(struct cw_graph_node *n, const CUDA_KERNEL_NODE_PARAMS *k, struct cw_arena *arena)
{
    const CUlaunchConfig before = n->launch.config;
    n->launch = (struct cw_driver_launch){.function = k->func ? k->func : (CUfunction)k->kern,
                                          .config = {.gridDimX = k->gridDimX,
                                                     .gridDimY = k->gridDimY,
                                                     .gridDimZ = k->gridDimZ,
                                                     .blockDimX = k->blockDimX,
                                                     .blockDimY = k->blockDimY,
                                                     .blockDimZ = k->blockDimZ,
                                                     .sharedMemBytes = k->sharedMemBytes,
                                                     .attrs = before.attrs,
                                                     .numAttrs = before.numAttrs}};
    n->context = k->ctx;
    return k->extra ? keep_packed(n, k->extra, arena) : keep_parameters(n, k->kernelParams, arena);
}

static bool keep_set(struct cw_graph_node *n, const CUDA_MEMSET_NODE_PARAMS *s)
{
    n->transfer = (struct cw_transfer){.kind = CW_TRANSFER_SET,
                                       .to = s->dst,
                                       .value = s->value,
                                       .width = s->elementSize,
                                       .count = s->width,
                                       .rows = s->height > 1 ? s->height : 0,
                                       .pitch = s->pitch};
    return true;
}

bool cw_graph_node_keep(struct cw_graph_node *n, const void *params, struct cw_arena *arena)
{
    if (n->type == CU_GRAPH_NODE_TYPE_KERNEL)
        return keep_kernel(n, params, arena);
    if (n->type == CU_GRAPH_NODE_TYPE_MEMSET)
        return keep_set(n, params);
    n->copy = *(const CUDA_MEMCPY3D *)params;
    n->transfer = (struct cw_transfer){.kind = CW_TRANSFER_BOX, .box = &n->copy};
    return true;
}

/* Whether an attribute given by the driver differs from its default. */
static bool says_something(const CUlaunchAttribute *a)
{
    switch (a->id) {
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
        return a->value.clusterDim.x && a->value.clusterDim.y && a->value.clusterDim.z;
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
        return a->value.cooperative != 0;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        return a->value.clusterSchedulingPolicyPreference != CU_CLUSTER_SCHEDULING_POLICY_DEFAULT;
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
        return a->value.accessPolicyWindow.num_bytes != 0;
    default: /* 0 means no carve-out; drivers without the attribute return it, too */
        return a->value.sharedMemCarveout > 0;
    }
}

bool cw_graph_node_keep_attributes(struct cw_graph_node *n, struct cw_arena *arena)
{
    static const CUlaunchAttributeID ids[] = {
        CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
        CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW,
        CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT};
    enum { MOST = sizeof ids / sizeof *ids };
    CUlaunchAttribute found[MOST];
    unsigned count = 0;
    for (int i = 0; i < MOST; i++) {
        found[count] = (CUlaunchAttribute){.id = ids[i]};
        if (cw_inject->api.cuGraphKernelNodeGetAttribute(n->handle, ids[i], &found[count].value) == CUDA_SUCCESS)
            count += says_something(&found[count]);
    }
    n->launch.config.numAttrs = count;
    n->launch.config.attrs = count ? cw_arena_alloc(arena, count, sizeof *found) : NULL;
    if (n->launch.config.attrs)
        memcpy(n->launch.config.attrs, found, count * sizeof *found);
    return !count || n->launch.config.attrs;
}

/* ---- running nodes ---------------------------------------------------------------------------------------------- */

const char *cw_graph_node_name(const struct cw_graph_node *n)
{
    const struct cw_cupti *api = &cw_inject->api;
    const char *name = NULL;
    bool known = api->cuFuncGetName && api->cuFuncGetName(&name, n->launch.function) == CUDA_SUCCESS;
    known =
        known || (api->cuKernelGetName && api->cuKernelGetName(&name, (CUkernel)n->launch.function) == CUDA_SUCCESS);
    return known ? name : NULL;
}

CUresult cw_graph_node_do(const struct cw_graph_node *n, CUstream stream)
{
    if (n->type == CU_GRAPH_NODE_TYPE_KERNEL) {
        CUlaunchConfig config = n->launch.config;
        config.hStream = stream;
        return cw_inject->api.cuLaunchKernelEx(&config, n->launch.function, n->launch.parameters, n->launch.packed);
    }
    struct cw_transfer transfer = n->transfer;
    transfer.stream = stream;
    return cw_transfer_do(&transfer);
}
