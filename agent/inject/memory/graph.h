/* The program's executable graphs, as far as it has to be known whether they can be launched again. The driver tells
 * nothing of an executable graph, so this follows the calls that make and change one. */
#ifndef CW_INJECT_GRAPH_H
#define CW_INJECT_GRAPH_H

#include "agent/inject/memory/graph_nodes.h"

struct cw_graphs {
    struct cw_graph *first;
};
extern struct cw_graphs *const cw_graphs;

/* Whether a call of the driver makes, changes or ends executable graphs. */
bool cw_graph_follows(CUpti_CallbackId id);
bool cw_graph_makes(CUpti_CallbackId id);
/* Takes note of such a call, when it begins and when it has returned; others are ignored. */
void cw_graph_follow(CUpti_CallbackId id, const CUpti_CallbackData *call);

/* Never NULL: a graph that nobody saw being made has an obstacle. */
const struct cw_graph *cw_graph_find(CUgraphExec exec);
/* cw_graph_name of the graph that a call launches. */
void cw_graph_launch_name(const CUpti_CallbackData *call, char *name, size_t size);

#endif
