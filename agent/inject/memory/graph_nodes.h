/* The nodes of an executable graph: whether they can run twice, and what they write that the host sees. */
#ifndef CW_INJECT_GRAPH_NODES_H
#define CW_INJECT_GRAPH_NODES_H

#include "agent/inject/memory/shared.h"

struct cw_graph_node;

struct cw_graph {
    struct cw_graph *next;
    CUgraphExec exec;
    struct cw_arena *arena;
    const char *obstacle; /* why it cannot be launched again; NULL: it can */
    uint32_t kernels;     /* with those of child graphs */
    struct cw_graph_node *nodes;
};

/* The obstacle of a graph that nothing is known of. */
extern const char cw_graph_unknown[];

/* Reads all nodes of the graph that an executable graph, which has an arena and no nodes, was made from. */
void cw_graph_read(struct cw_graph *graph, CUgraph from);
/* Changes of one node. */
void cw_graph_set_kernel(struct cw_graph *graph, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *kernel);
void cw_graph_set_copy(struct cw_graph *graph, CUgraphNode node, const CUDA_MEMCPY3D *copy);
void cw_graph_set_memory(struct cw_graph *graph, CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *set);

/* Keeps the memory of the host's that the graph may write. The GPU does nothing. False where that cannot be: there is
 * too much of it, or the graph writes another device's. */
bool cw_graph_keep(const struct cw_graph *graph, uint32_t device, struct cw_shared *shared);

#endif
