/* A CUDA graph under batched replay: all passes come before the program's own launch of it, which is not collected. */
#ifndef CW_INJECT_GRAPH_BATCH_H
#define CW_INJECT_GRAPH_BATCH_H

#include "agent/inject/ranges/collection.h"

/* Whether the kernels of this graph are launches of their own: they are asked for, and known. */
bool cw_graph_batch_is_apart(const struct cw_collection *c, const CUpti_CallbackData *call);

/* All passes of the plan of a graph that the program is about to launch, while nothing else is collected and no other
 * thread has a call under way. Memory is as before behind them, so that the program's own launch finds what it expects.
 * Sends its range, or those of its kernels that are wanted. NULL, or why there is none, and then whether the program's
 * own launch may be counted, by what cw_launch.once has; a failure ends the capture. */
const char *cw_graph_batch_collect(struct cw_collection *c, CUpti_CallbackId id, const CUpti_CallbackData *call,
                                   bool *may_run_once);

#endif
