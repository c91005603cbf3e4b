/* Collects a CUDA graph under batched replay: all passes come before the program's own launch, which is not
 * collected. */
#ifndef CW_INJECT_GRAPH_BATCH_H
#define CW_INJECT_GRAPH_BATCH_H

#include "agent/inject/ranges/collection.h"

/* Whether the graph's kernels are collected as separate launches: they are requested, and known. */
bool cw_graph_batch_is_apart(const struct cw_collection *c, const CUpti_CallbackData *call);

/* Runs all passes of the plan for a graph that the program is about to launch, while nothing else is collected and no
 * other thread is in a call. Memory is unchanged afterwards, so that the program's own launch finds the data that it
 * expects. Sends the range of the graph, or of its wanted kernels. Returns NULL, or the reason why there is none; then
 * *may_run_once says whether the program's own launch may be counted, as in cw_launch.once. A failure ends the
 * capture. */
const char *cw_graph_batch_collect(struct cw_collection *c, CUpti_CallbackId id, const CUpti_CallbackData *call,
                                   bool *may_run_once);

#endif
