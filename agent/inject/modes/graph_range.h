/* A launch of a CUDA graph as one range. */
#ifndef CW_INJECT_GRAPH_RANGE_H
#define CW_INJECT_GRAPH_RANGE_H

#include "agent/inject/ranges/collection.h"

/* All passes of the plan of a graph that the program is about to launch, while nothing else is collected and no other
 * thread has a call under way. Memory is as before behind them, so that the program's own launch, which is not
 * collected, finds what it expects. Sends the range. NULL, or why the graph was left out; a failure ends the capture.
 */
const char *cw_graph_collect(struct cw_collection *c, CUpti_CallbackId id, const CUpti_CallbackData *call,
                             enum cw_replay_kind replay);

#endif
