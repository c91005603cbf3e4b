/* Collects CUDA graphs. CUPTI 13.0's automatic ranges fail with graphs: under kernel replay the program computed wrong
 * results, and under user replay the profiler fails to stop behind a graph. So the kernels, copies and sets of a graph
 * are launched one after the other without the graph, in passes of their own: then each kernel is a range, and SASS
 * counters count it.
 *
 * If the nodes cannot be run separately, the graph is one range, pushed around its launch. All hardware counters are
 * right in it. Counters that CUPTI counts by patching code are 0 there (the agent leaves them out). */
#include "agent/inject/modes/graph_batch.h"

#include <stdlib.h>

#include "agent/inject/driver/idle.h"
#include "agent/inject/driver/kernel_facts.h"
#include "agent/inject/driver/reach.h"
#include "agent/inject/driver/stuck.h"
#include "agent/inject/memory/graph.h"
#include "agent/inject/memory/kernels.h"
#include "agent/inject/memory/pinned.h"
#include "agent/inject/modes/range.h"

static const char not_put_back[] =
    "found that memory could not be put back behind a pass of a CUDA graph; " CW_MAY_BE_WRONG
    ", and the capture ends here";

static const char of_graph[] = "it is a CUDA graph, and other devices or processes can reach memory";

/* ---- memory ----------------------------------------------------------------------------------------------------- */

struct graph_memory {
    struct cw_checkpoint device;
    struct cw_shared host;
};

static const char *save_graph(struct graph_memory *m, const struct cw_collection *c, const struct cw_graph *g)
{
    *m = (struct graph_memory){.host = {.arena = cw_arena_create()}};
    if (m->host.arena && cw_idle_synchronize(c->context) && cw_graph_keep(g, c->device, &m->host) &&
        cw_checkpoint_init() && cw_checkpoint_save(&m->device, c->context)) {
        if (cw_checkpoint_is_whole(&m->device)) /* the program's own launch comes behind the passes */
            return NULL;
        cw_checkpoint_free(&m->device);
    }
    cw_shared_release(&m->host);
    return cw_batch_not_saved;
}

static bool restore_graph(struct graph_memory *m)
{
    bool restored = cw_shared_restore(&m->host);
    return cw_checkpoint_restore(&m->device) && restored;
}

/* Behind the last pass comes the program's own launch: before it all of memory has to be as it was. */
static bool restore_behind_pass(struct graph_memory *m, bool another)
{
    if (!another)
        return restore_graph(m);
    bool restored = cw_shared_restore(&m->host);
    return cw_checkpoint_restore_between(&m->device) && restored;
}

static void release_graph(struct graph_memory *m)
{
    cw_checkpoint_free(&m->device);
    cw_shared_release(&m->host);
}

/* Abandons the memory of a graph without freeing device memory, because that would wait for the graph. */
static void abandon_graph(struct graph_memory *m)
{
    cw_pinned_free(m->device.pinned);
    cw_arena_destroy(m->host.arena);
}

/* Gives up a graph that waits for a step of the program behind the program's own launch. Nothing can take the graph
 * back, and until it ends, CUPTI cannot stop and no memory can be freed. So the program goes on beside it. */
static void lose_graph(struct cw_collection *c)
{
    c->object = NULL;
    c->running = CW_STOPPED;
    cw_collection_forget(c);
    cw_batch_tell("found that a CUDA graph did not end in a pass that comes before the program's own launch of "
                  "it; " CW_MAY_BE_WRONG ", and the capture ends here");
}

/* ---- as one range ----------------------------------------------------------------------------------------------- */

/* Runs the graph in one started pass. *ends: the graph ends. */
static bool run_graph(struct cw_collection *c, CUgraphExec exec, CUstream stream, bool *more, bool *ends)
{
    cw_batch_turn(c, CW_EFFORT_LAUNCH);
    bool pushed = cw_collection_push(c, c->count);
    bool ran = pushed && cw_inject->api.cuGraphLaunch(exec, stream) == CUDA_SUCCESS;
    *ends = !ran || cw_idle_wait_alone(c->context, cw_batch_rest_patience_ns);
    if (!*ends)
        return false;
    uint64_t end_ns = cw_inject_now_ns();
    bool popped = pushed && cw_collection_pop(c), stopped = cw_batch_stop_pass(c, more);
    if (c->count && !c->launches[c->count - 1].data.end_ns)
        c->launches[c->count - 1].data.end_ns = end_ns;
    return ran && popped && stopped;
}

/* Collects the graph as one range. False if the graph does not end. */
static bool collect_whole(struct cw_collection *c, CUgraphExec exec, CUstream stream, struct graph_memory *m)
{
    bool more = true, good = true, ends = true;
    while (good && more) {
        cw_batch_turn(c, CW_EFFORT_START);
        good = (c->running || cw_collection_start_pass(c)) && run_graph(c, exec, stream, &more, &ends);
        if (!ends) {
            lose_graph(c);
            return false;
        }
        c->running = CW_STOPPED;
        cw_batch_turn(c, CW_EFFORT_RESTORE);
        const bool another = good && more && !cw_inject->over;
        const bool restored = restore_behind_pass(m, another);
        if (!restored)
            cw_batch_tell(not_put_back);
        else if (!good && !cw_inject->over)
            cw_batch_tell("found that a CUDA graph could not be launched for its passes; memory was put back, and the "
                          "capture ends here");
        good = restored && (another || (good && !more && !cw_inject->over && cw_batch_next_part(c, &more)));
    }
    c->effort.ended = "a CUDA graph";
    if (good)
        cw_batch_deliver(c);
    else
        cw_collection_forget(c);
    return true;
}

/* ---- kernel by kernel ------------------------------------------------------------------------------------------- */

struct apart {
    struct cw_collection *c;
    const struct cw_graph *graph;
    struct graph_memory *memory;
    CUstream stream;
    uint64_t stream_id;
    bool *wanted;         /* by kernel */
    uint32_t count, last; /* last: number of kernels up to the last wanted one */
    bool lost;            /* a launched kernel does not end */
};

static bool is_launch(const struct cw_graph_node *n)
{
    return n->type == CU_GRAPH_NODE_TYPE_KERNEL && !n->off;
}

bool cw_graph_batch_is_apart(const struct cw_collection *c, const CUpti_CallbackData *call)
{
    const struct cw_graph *g = cw_graph_find(((const cuGraphLaunch_params *)call->functionParams)->hGraph);
    bool apart = !cw_range_settings->whole_graphs && !g->obstacle && g->ordered && cw_inject->api.cuFuncGetName;
    uint32_t launches = 0;
    for (const struct cw_graph_node *n = g->nodes; n && apart; n = n->next) {
        if (!is_launch(n))
            continue;
        launches++;
        apart = (!n->context || n->context == c->context) && !cw_kernel_waits(n->launch.function);
    }
    return apart && launches;
}

/* Chooses the wanted kernels, and counts each for the filter. False when out of memory. */
static bool choose(struct apart *a)
{
    uint32_t k = 0;
    for (const struct cw_graph_node *n = a->graph->nodes; n; n = n->next)
        a->count += is_launch(n);
    a->wanted = calloc(a->count, sizeof *a->wanted);
    for (const struct cw_graph_node *n = a->graph->nodes; n && a->wanted; n = n->next) {
        if (!is_launch(n))
            continue;
        a->wanted[k++] = cw_range_wants_kernel(cw_graph_node_name(n));
        a->last = a->wanted[k - 1] ? k : a->last;
    }
    return a->wanted != NULL;
}

static bool launch(struct cw_collection *c, const struct cw_graph_node *n, uint32_t number, CUstream stream)
{
    struct cw_launch *l = &c->launches[number].data;
    bool first = !l->end_ns;
    if (first)
        l->start_ns = cw_inject_now_ns();
    cw_stuck_launch();
    cw_collection_enter(c, number + 1);
    bool launched = cw_graph_node_do(n, stream) == CUDA_SUCCESS;
    cw_collection_leave(c);
    if (first)
        l->end_ns = cw_inject_now_ns();
    return launched;
}

/* Runs the nodes from kernel `from` up to before kernel `to`, each kernel with the nodes before it. `counted`: in a
 * pass. */
static bool play(struct apart *a, uint32_t from, uint32_t to, bool counted)
{
    uint32_t k = 0;
    bool good = true;
    for (const struct cw_graph_node *n = a->graph->nodes; n && k < to && good; n = n->next) {
        if (k >= from && !n->off)
            good = counted && is_launch(n) ? launch(a->c, n, k - from, a->stream)
                                           : cw_graph_node_do(n, a->stream) == CUDA_SUCCESS;
        k += is_launch(n);
    }
    a->lost = !cw_idle_wait_alone(a->c->context, cw_batch_rest_patience_ns);
    cw_stuck_launched();
    return good && !a->lost;
}

static void note(const struct apart *a, uint32_t from, uint32_t to)
{
    uint32_t k = 0;
    for (const struct cw_graph_node *n = a->graph->nodes; n && k < to; n = n->next) {
        if (is_launch(n) && k >= from) {
            cw_kernel_facts_learn_here(n->launch.function);
            cw_collection_note_kernel(a->c, &n->launch, a->stream_id, 0, cw_graph_node_name(n));
            struct cw_launch *l = &a->c->launches[a->c->count - 1].data;
            l->replay = CW_REPLAY_BATCH;
            l->unwanted = !a->wanted[k];
            l->graph_kernel = k + 1;
            l->graph_kernels = a->count;
        }
        k += is_launch(n);
    }
}

/* Collects the passes of some kernels, each behind an uncounted run of the kernels before them. False if one could not
 * be launched separately; memory is as before then. */
static bool collect_some(struct apart *a, uint32_t from, uint32_t to)
{
    struct cw_collection *c = a->c;
    bool more = true, played = !from || play(a, 0, from, false);
    cw_batch_turn(c, CW_EFFORT_SETUP);
    bool armed = played && cw_collection_arm(c, CW_COLLECT_LAUNCHES), good = armed;
    if (armed)
        note(a, from, to);
    while (good && more) {
        cw_batch_turn(c, CW_EFFORT_START);
        good = c->running || ((played = !from || play(a, 0, from, false)) && cw_collection_start_pass(c));
        c->running = CW_STOPPED; /* no other code must end it */
        cw_batch_turn(c, CW_EFFORT_LAUNCH);
        played = played && (!good || play(a, from, to, true));
        if (a->lost)
            return false;
        bool stopped = good && cw_batch_stop_pass(c, &more);
        cw_batch_turn(c, CW_EFFORT_RESTORE);
        const bool another = played && stopped && more && !cw_inject->over;
        const bool restored = restore_behind_pass(a->memory, another);
        if (!restored)
            cw_batch_tell(not_put_back);
        good =
            restored && (another || (played && stopped && !more && !cw_inject->over && cw_batch_next_part(c, &more)));
    }
    if (a->lost)
        return false;
    c->effort.ended = "a CUDA graph";
    if (good)
        cw_batch_deliver(c);
    else
        cw_collection_forget(c);
    if (!armed && from && !restore_graph(a->memory))
        cw_batch_tell(not_put_back);
    if (!played)
        cw_collection_release(c);
    return played;
}

/* Runs unknown kernels once without CUPTI. In its passes CUPTI waits for each launch, and would wait for ever if a
 * kernel waits for another, or for the program's next step. False if one could not be launched separately. */
static bool meet(struct apart *a)
{
    uint32_t strange = 0, k = 0;
    for (const struct cw_graph_node *n = a->graph->nodes; n && k < a->last; k += is_launch(n), n = n->next)
        strange += is_launch(n) && cw_kernel_habit(n->launch.function) == CW_KERNEL_UNKNOWN;
    if (!strange)
        return true;
    const bool good = play(a, 0, a->last, false);
    k = 0;
    for (const struct cw_graph_node *n = a->graph->nodes; n && good && k < a->last; k += is_launch(n), n = n->next)
        if (is_launch(n))
            cw_kernel_note(n->launch.function, CW_KERNEL_RESTS);
    if (!a->lost && !restore_graph(a->memory))
        cw_batch_tell(not_put_back);
    return good;
}

/* Collects the kernels separately. False if one could not be launched separately. */
static bool collect_apart(struct apart *a)
{
    const uint32_t last = a->last;
    bool good = meet(a);
    for (uint32_t from = 0; from < last && good && !a->c->kept_out && !cw_inject->over;) {
        uint32_t to = from + cw_collections->at_once < last ? from + cw_collections->at_once : last;
        if (a->wanted[from])
            good = collect_some(a, from, to);
        from = a->wanted[from] ? to : from + 1;
    }
    return good;
}

/* ---- as part of a batch ----------------------------------------------------------------------------------------- */

static const struct cw_graph *graph_of(const CUpti_CallbackData *call)
{
    return cw_graph_find(((const cuGraphLaunch_params *)call->functionParams)->hGraph);
}

uint32_t cw_graph_batch_fits(const struct cw_collection *c, const CUpti_CallbackData *call)
{
    const struct cw_graph *g = graph_of(call);
    uint32_t launches = 0;
    bool known = cw_graph_batch_is_apart(c, call);
    for (const struct cw_graph_node *n = g->nodes; n && known; n = n->next) {
        const enum cw_kernel_habit habit = is_launch(n) ? cw_kernel_habit(n->launch.function) : CW_KERNEL_RESTS;
        known = habit == CW_KERNEL_RESTS || (habit == CW_KERNEL_UNKNOWN && g->chain);
        launches += is_launch(n);
    }
    return known && launches <= cw_collections->at_once ? launches : 0;
}

bool cw_graph_batch_record(const struct cw_collection *c, struct cw_batch *b, CUpti_CallbackId id,
                           const CUpti_CallbackData *call)
{
    const cuGraphLaunch_params *p = call->functionParams;
    return cw_graph_batch_is_apart(c, call) &&
           cw_record_add_nodes(&b->record, graph_of(call)->nodes, cw_inject_stream(id, p->hStream));
}

bool cw_graph_batch_note(struct cw_collection *c, CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    const cuGraphLaunch_params *p = call->functionParams;
    struct apart a = {.c = c, .graph = graph_of(call), .stream_id = cw_inject_stream_id(id, c->context, p->hStream)};
    const bool good = choose(&a);
    if (good)
        note(&a, 0, a.count);
    for (uint32_t i = 0; i < a.count && good; i++)
        c->launches[c->count - a.count + i].data.end_ns = i + 1 < a.count ? cw_inject_now_ns() : 0;
    if (good) {
        c->launches[c->count - 1].correlation = call->correlationId; /* its return is the graph's */
        c->pending++;
    } else
        cw_inject_fail_memory();
    free(a.wanted);
    return good;
}

void cw_graph_batch_see(struct cw_collection *c, const CUpti_CallbackData *call, uint64_t entered)
{
    const struct cw_batch *b = cw_batch_of(c);
    for (const struct cw_graph_node *n = graph_of(call)->nodes; n && !b->waits && b->open; n = n->next)
        if (is_launch(n) && cw_kernel_habit(n->launch.function) == CW_KERNEL_UNKNOWN)
            cw_batch_see(c, n->launch.function, entered);
}

/* ---- memory that others reach ----------------------------------------------------------------------------------- */

static bool is_side_reached(CUmemorytype type, CUdeviceptr address)
{
    return type != CU_MEMORYTYPE_ARRAY && cw_reach_has(address);
}

static const char *reach_of(const struct cw_graph_node *n)
{
    const CUDA_MEMCPY3D *copy = &n->copy;
    if (is_launch(n))
        return cw_kernel_habit(n->launch.function) == CW_KERNEL_REACHES
                   ? cw_batch_reaches
                   : cw_reach_why_kernel(&n->launch, cw_graph_node_name(n));
    if (n->type == CU_GRAPH_NODE_TYPE_MEMSET)
        return cw_reach_has(n->transfer.to) ? of_graph : NULL;
    return is_side_reached(copy->dstMemoryType, copy->dstDevice) ||
                   is_side_reached(copy->srcMemoryType, copy->srcDevice)
               ? of_graph
               : NULL;
}

bool cw_graph_batch_uses_several(const struct cw_collection *c, const CUpti_CallbackData *call)
{
    const struct cw_graph *graph = graph_of(call);
    bool several = false;
    if (graph->obstacle) /* not all of its nodes are known */
        return cw_pinned_use_all(c->device);
    for (const struct cw_graph_node *n = graph->nodes; n; n = n->next) {
        const uint64_t copied[] = {n->to, (uintptr_t)n->copy.srcHost, n->copy.srcDevice};
        for (uint32_t i = 0; i < n->count; i++)
            several = cw_shared_use(n->words[i], c->device) || several;
        for (size_t i = 0; i < sizeof copied / sizeof *copied; i++)
            several = cw_shared_use(copied[i], c->device) || several;
    }
    return several;
}

const char *cw_graph_batch_reach(const struct cw_collection *c, const CUpti_CallbackData *call)
{
    const char *why = cw_reach_why() ? cw_reach_why_all() : NULL;
    if (!cw_reach_why() || why)
        return why;
    if (!cw_graph_batch_fits(c, call))
        return of_graph;
    for (const struct cw_graph_node *n = graph_of(call)->nodes; n && !why; n = n->next)
        why = n->off ? NULL : reach_of(n);
    return why;
}

/* ---- a launch --------------------------------------------------------------------------------------------------- */

static void collect(struct apart *a, CUpti_CallbackId id, const CUpti_CallbackData *call, bool apart)
{
    struct cw_collection *c = a->c;
    const cuGraphLaunch_params *p = call->functionParams;
    char name[CW_GRAPH_NAME];
    if (apart && collect_apart(a))
        return;
    if (a->lost)
        lose_graph(c);
    if (apart)
        cw_graph_keep_whole(p->hGraph);
    if (!a->lost && cw_collection_arm(c, CW_COLLECT_USER) &&
        cw_collection_note(c, id, call, cw_graph_launch_name(id, call, name))) {
        c->launches[c->count - 1].data.replay = CW_REPLAY_BATCH;
        a->lost = !collect_whole(c, p->hGraph, a->stream, a->memory);
    }
}

const char *cw_graph_batch_collect(struct cw_collection *c, CUpti_CallbackId id, const CUpti_CallbackData *call,
                                   bool *may_run_once)
{
    const cuGraphLaunch_params *p = call->functionParams;
    struct graph_memory memory;
    struct apart a = {.c = c,
                      .graph = cw_graph_find(p->hGraph),
                      .memory = &memory,
                      .stream = cw_inject_stream(id, p->hStream),
                      .stream_id = cw_inject_stream_id(id, c->context, p->hStream)};
    const bool apart = cw_graph_batch_is_apart(c, call) && choose(&a);
    c->kept_out = NULL; /* the obstacle to an earlier graph may be gone */
    *may_run_once = false;
    if (apart && !a.last) {
        free(a.wanted);
        return NULL;
    }
    cw_batch_turn(c, CW_EFFORT_SAVE);
    const char *obstacle = a.graph->obstacle ? a.graph->obstacle : save_graph(&memory, c, a.graph);
    cw_batch_turn(c, obstacle ? CW_EFFORT_NONE : CW_EFFORT_SETUP);
    *may_run_once = obstacle != NULL;
    if (!obstacle) {
        collect(&a, id, call, apart);
        (a.lost ? abandon_graph : release_graph)(&memory);
        c->effort.ended = NULL;
        cw_batch_turn(c, CW_EFFORT_NONE);
    }
    free(a.wanted);
    return obstacle ? obstacle : c->kept_out;
}
