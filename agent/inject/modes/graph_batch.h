/* Collects a CUDA graph under batched replay. A graph that fits is part of a batch: its launches are repeated one by
 * one behind the program's own launch of the graph. For another graph all passes come before the program's own launch,
 * which is not collected. */
#ifndef CW_INJECT_GRAPH_BATCH_H
#define CW_INJECT_GRAPH_BATCH_H

#include "agent/inject/modes/batches.h"

/* Whether the graph's kernels are collected as separate launches: they are requested, and known. */
bool cw_graph_batch_is_apart(const struct cw_collection *c, const CUpti_CallbackData *call);

/* Number of launches that the graph adds to a batch; 0 if it cannot be part of one, because a kernel of it may wait for
 * another: kernels that run beside one another have to be known. */
uint32_t cw_graph_batch_fits(const struct cw_collection *c, const CUpti_CallbackData *call);
/* Adds the graph, which fits, to the record of a batch. False if it cannot be repeated so. */
bool cw_graph_batch_record(const struct cw_collection *c, struct cw_batch *b, CUpti_CallbackId id,
                           const CUpti_CallbackData *call);
/* Notes the graph's launches; there must be room for them. False when out of memory. */
bool cw_graph_batch_note(struct cw_collection *c, CUpti_CallbackId id, const CUpti_CallbackData *call);

/* Notes whether unknown kernels wait, after the launch of a graph in a batch has returned. `entered`: launches before
 * it. */
void cw_graph_batch_see(struct cw_collection *c, const CUpti_CallbackData *call, uint64_t entered);
/* Notes the host memory that a graph's nodes use. Whether work of another device may use some of it as well. */
bool cw_graph_batch_uses_several(const struct cw_collection *c, const CUpti_CallbackData *call);
/* The reason why the graph cannot be part of a batch while others reach memory; NULL if it can, or if no others do. */
const char *cw_graph_batch_reach(const struct cw_collection *c, const CUpti_CallbackData *call);

/* Runs all passes of the plan for a graph that the program is about to launch, while nothing else is collected and no
 * other thread is in a call. Memory is unchanged afterwards, so that the program's own launch finds the data that it
 * expects. Sends the range of the graph, or of its wanted kernels. Returns NULL, or the reason why there is none; then
 * *may_run_once says whether the program's own launch may be counted, as in cw_launch.once. A failure ends the
 * capture. */
const char *cw_graph_batch_collect(struct cw_collection *c, CUpti_CallbackId id, const CUpti_CallbackData *call,
                                   bool *may_run_once);

#endif
