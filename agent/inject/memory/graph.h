/* The program's executable graphs: whether they can be launched again, and their writes to memory that the host sees.
 * The driver cannot describe an executable graph, so this follows the calls that make and change one. */
#ifndef CW_INJECT_GRAPH_H
#define CW_INJECT_GRAPH_H

#include "agent/inject/memory/graph_nodes.h"

struct cw_graph {
    struct cw_graph *next;
    CUgraphExec exec;
    struct cw_arena *arena;
    const char *obstacle;               /* reason why it cannot be launched again, as in cw_launch.once; NULL: it can */
    bool ordered;                       /* its nodes can be run separately, and their order is known */
    bool chain;                         /* no node runs beside another */
    bool switched;                      /* a node was disabled at some time, or may have been */
    uint32_t kernels;                   /* including child graphs */
    struct cw_graph_node *nodes, **end; /* including child graphs */
};

/* Whether a driver call creates executable graphs. */
bool cw_graph_makes(CUpti_CallbackId id);
/* Takes note of a call that creates, changes or destroys them, before it and after its return; ignores all others. */
void cw_graph_follow(CUpti_CallbackId id, const CUpti_CallbackData *call);
void cw_graphs_forget(void);

/* Finds a graph. Never NULL: a graph whose creation nobody saw has an obstacle. */
const struct cw_graph *cw_graph_find(CUgraphExec exec);
/* Stops running the graph's nodes separately from now on. */
void cw_graph_keep_whole(CUgraphExec exec);
/* The name of a launch: the kernel's, "" if it has none, or for a graph cw_graph_name, written into `graph`. */
enum { CW_GRAPH_NAME = 64 };
const char *cw_graph_launch_name(CUpti_CallbackId id, const CUpti_CallbackData *call, char graph[CW_GRAPH_NAME]);
/* Keeps the host memory that the graph may write. The GPU must be idle. False if there is too much of it, or if the
 * graph writes another device's memory. */
bool cw_graph_keep(const struct cw_graph *graph, uint32_t device, struct cw_shared *shared);

#endif
