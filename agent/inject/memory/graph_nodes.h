/* Runs nodes of a CUDA graph separately: finds their order, and runs one without its graph. */
#ifndef CW_INJECT_GRAPH_NODES_H
#define CW_INJECT_GRAPH_NODES_H

#include "agent/inject/memory/transfer.h"

/* A kernel, a copy or a set. */
struct cw_graph_node {
    struct cw_graph_node *next; /* in an order that respects all dependencies */
    CUgraphNode handle;
    CUgraphNodeType type;
    bool off; /* disabled by the program */
    /* memory that it may write (graph.c) */
    uint32_t count, room;
    uint64_t *words; /* possible addresses: a kernel's parameters, or the destination of a set */
    uint64_t to;     /* destination of a copy, unless that is an array */
    size_t size;
    /* for a kernel; its stream is not known in advance */
    struct cw_driver_launch launch;
    CUcontext context; /* NULL: unknown */
    uint8_t *arguments;
    size_t arguments_room;
    /* for a copy or a set */
    struct cw_transfer transfer;
    CUDA_MEMCPY3D copy;
};

/* Orders the nodes of one graph so that each comes after the nodes that it waits for. False if that is not known.
 * *chain becomes false if some may run beside one another. */
bool cw_graph_order(CUgraph graph, CUgraphNode *nodes, size_t count, struct cw_arena *arena, bool *chain);

/* Keeps the parameters of a node; `params` is in the driver's form for its type. False if they are not understood, or
 * when out of memory. Memory of one kernel is reused for the kernel that replaces it. */
bool cw_graph_node_keep(struct cw_graph_node *node, const void *params, struct cw_arena *arena);
/* Keeps the launch attributes of a kernel. */
bool cw_graph_node_keep_attributes(struct cw_graph_node *node, struct cw_arena *arena);

/* Name of its function, or NULL. */
const char *cw_graph_node_name(const struct cw_graph_node *node);
/* Runs the node on a stream of the current context. */
CUresult cw_graph_node_do(const struct cw_graph_node *node, CUstream stream);

#endif
