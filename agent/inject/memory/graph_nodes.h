/* Nodes of a CUDA graph as work of their own: in which order, and how to do one without its graph. */
#ifndef CW_INJECT_GRAPH_NODES_H
#define CW_INJECT_GRAPH_NODES_H

#include "agent/inject/memory/transfer.h"

/* A kernel, a copy or a set. */
struct cw_graph_node {
    struct cw_graph_node *next; /* in the order in which they can be done */
    CUgraphNode handle;
    CUgraphNodeType type;
    bool off; /* the program has switched it off: it does nothing */
    /* where it may write (graph.c) */
    uint32_t count, room;
    uint64_t *words; /* that may be addresses: a kernel's parameters, or where a set writes */
    uint64_t to;     /* where a copy writes, unless in an array */
    size_t size;
    /* a kernel; its stream is not known before */
    struct cw_driver_launch launch;
    CUcontext context; /* NULL unknown */
    uint8_t *arguments;
    size_t arguments_room;
    /* a copy or a set */
    struct cw_transfer transfer;
    CUDA_MEMCPY3D copy;
};

/* Puts the nodes of one graph into an order in which each comes behind those that it waits for. False where that is not
 * known. */
bool cw_graph_order(CUgraph graph, CUgraphNode *nodes, size_t count, struct cw_arena *arena);

/* Each keeps what a node is given; `params` as the driver has them for its type. False where it is not understood, or
 * without memory. What one kernel needs is reused for the next that takes its place. */
bool cw_graph_node_keep(struct cw_graph_node *node, const void *params, struct cw_arena *arena);
/* The attributes of a kernel's launch. */
bool cw_graph_node_keep_attributes(struct cw_graph_node *node, struct cw_arena *arena);

/* Its function's name, or NULL. */
const char *cw_graph_node_name(const struct cw_graph_node *node);
/* Does its work on a stream of the current context. */
CUresult cw_graph_node_do(const struct cw_graph_node *node, CUstream stream);

#endif
