/* The nodes of an executable graph: whether they can run twice, and what they write that the host sees. */
#ifndef CW_INJECT_GRAPH_NODES_H
#define CW_INJECT_GRAPH_NODES_H

#include "agent/inject/graph.h"

/* The obstacle of a graph that nothing is known of. */
extern const char cw_graph_unknown[];

/* Reads all nodes of the graph that an executable graph, which has an arena and no nodes, was made from. */
void cw_graph_read(struct cw_graph *graph, CUgraph from);
/* Changes of one node. */
void cw_graph_set_kernel(struct cw_graph *graph, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *kernel);
void cw_graph_set_copy(struct cw_graph *graph, CUgraphNode node, const CUDA_MEMCPY3D *copy);
void cw_graph_set_memory(struct cw_graph *graph, CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *set);

#endif
