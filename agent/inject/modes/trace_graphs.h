/* Records how the program builds CUDA graphs: the graphs, their nodes, and which node waits for which. */
#ifndef CW_INJECT_TRACE_GRAPHS_H
#define CW_INJECT_TRACE_GRAPHS_H

#include "agent/inject/modes/trace_fields.h"

/* Asks CUPTI for the callbacks below, if one of the kinds (CW_TRACE_BIT) needs them. */
void cw_trace_graphs_begin(uint64_t kinds);
/* Whether a call may add a kernel to a graph, and the begin of such a call, or of a launch into a graph: nodes that it
 * creates have the kernel's name, until cw_own_calls.kernel is 0 again. */
bool cw_trace_graphs_follows(CUpti_CallbackId id);
void cw_trace_graphs_call(CUpti_CallbackId id, const CUpti_CallbackData *call);
/* Takes a callback about a graph; called without the rows' lock, while the driver may hold locks of its own. */
void cw_trace_graphs_take(CUpti_CallbackId id, const CUpti_GraphData *data);

#endif
