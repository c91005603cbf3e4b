/* The program's executable graphs: whether they can be launched again, and what they write that the host sees. The
 * driver tells nothing of an executable graph, so this follows the calls that make and change one. */
#ifndef CW_INJECT_GRAPH_H
#define CW_INJECT_GRAPH_H

#include "agent/inject/memory/graph_nodes.h"

struct cw_graph {
    struct cw_graph *next;
    CUgraphExec exec;
    struct cw_arena *arena;
    const char *obstacle; /* why it cannot be launched again, as cw_launch.once has it; NULL: it can */
    bool ordered;         /* its nodes are known as work of their own, in an order in which they can be done */
    bool switched;        /* a node was switched off once, or may have been */
    uint32_t kernels;     /* with those of child graphs */
    struct cw_graph_node *nodes, **end; /* of child graphs as well */
};
struct cw_graphs {
    struct cw_graph *first;
};
extern struct cw_graphs *const cw_graphs;

/* Whether a call of the driver makes executable graphs. */
bool cw_graph_makes(CUpti_CallbackId id);
/* Takes note of a call that makes, changes or ends them, when it begins and when it has returned; others are ignored.
 */
void cw_graph_follow(CUpti_CallbackId id, const CUpti_CallbackData *call);

/* Never NULL: a graph that nobody saw being made has an obstacle. */
const struct cw_graph *cw_graph_find(CUgraphExec exec);
/* From now on its nodes are not done by themselves. */
void cw_graph_keep_whole(CUgraphExec exec);
/* The name of what a call launches: a kernel's, "" where it has none, or cw_graph_name of a graph, in `graph`. */
enum { CW_GRAPH_NAME = 64 };
const char *cw_graph_launch_name(CUpti_CallbackId id, const CUpti_CallbackData *call, char graph[CW_GRAPH_NAME]);
/* Keeps the memory of the host's that the graph may write. The GPU does nothing. False where that cannot be: there is
 * too much of it, or the graph writes another device's. */
bool cw_graph_keep(const struct cw_graph *graph, uint32_t device, struct cw_shared *shared);

#endif
