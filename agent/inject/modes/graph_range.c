/* CUPTI 13.0's automatic ranges cannot do with graphs: under kernel replay the program computed something else, and
 * under user replay the profiler fails to stop behind one. A user range around the launch has right values of all
 * counters of hardware; those that CUPTI counts by patching code come out as 0 in a graph (the agent leaves them out).
 */
#include "agent/inject/modes/graph_range.h"

#include "agent/inject/driver/idle.h"
#include "agent/inject/memory/checkpoint.h"
#include "agent/inject/memory/graph.h"

struct memory {
    struct cw_checkpoint device;
    struct cw_shared host;
};

static const char *save(struct memory *m, const struct cw_collection *c, const struct cw_graph *g)
{
    *m = (struct memory){.host = {.arena = cw_arena_create()}};
    if (m->host.arena && cw_idle_synchronize(c->context) && cw_graph_keep(g, c->device, &m->host) &&
        cw_checkpoint_init() && cw_checkpoint_save(&m->device, c->context))
        return NULL;
    cw_shared_release(&m->host);
    return "a CUDA graph for which memory could not be saved";
}

static bool restore(struct memory *m)
{
    bool restored = cw_shared_restore(&m->host);
    return cw_checkpoint_restore(&m->device) && restored;
}

static void release(struct memory *m)
{
    cw_checkpoint_free(&m->device);
    cw_shared_release(&m->host);
}

/* One pass, which has been started. */
static bool run(struct cw_collection *c, CUgraphExec exec, CUstream stream, bool *more)
{
    bool pushed = cw_collection_push(c, c->count);
    bool ran = pushed && cw_inject->api.cuGraphLaunch(exec, stream) == CUDA_SUCCESS && cw_idle_synchronize(c->context);
    uint64_t end_ns = cw_inject_now_ns();
    bool popped = pushed && cw_collection_pop(c), stopped = cw_collection_stop_pass(c, more);
    if (pushed && !ran)
        cw_inject_fail(CW_ERR_DEVICE, "a CUDA graph could not be launched for its passes");
    if (c->count && !c->launches[c->count - 1].data.end_ns)
        c->launches[c->count - 1].data.end_ns = end_ns;
    return ran && popped && stopped;
}

static void collect(struct cw_collection *c, CUgraphExec exec, CUstream stream, struct memory *m)
{
    bool more = true, good = true;
    while (good && more) {
        good = (c->running || cw_collection_start_pass(c)) && run(c, exec, stream, &more);
        c->running = false;
        if (!restore(m))
            cw_inject_fail(CW_ERR_DEVICE, "device memory could not be put back between the passes of a CUDA graph");
        good = good && !cw_inject->over && (more || cw_collection_next_part(c, &more));
    }
    if (good)
        cw_collection_deliver(c);
    else
        cw_collection_forget(c);
}

const char *cw_graph_collect(struct cw_collection *c, CUpti_CallbackId id, const CUpti_CallbackData *call,
                             enum cw_replay_kind replay)
{
    const cuGraphLaunch_params *p = call->functionParams;
    const struct cw_graph *g = cw_graph_find(p->hGraph);
    struct memory memory;
    char name[64];
    const char *obstacle = g->obstacle ? g->obstacle : save(&memory, c, g);
    if (obstacle)
        return obstacle;
    cw_graph_launch_name(call, name, sizeof name);
    if (cw_collection_arm_user(c) && cw_collection_graph(c, id, call, name)) {
        c->launches[c->count - 1].data.replay = replay;
        collect(c, p->hGraph, cw_inject_stream(id, p->hStream), &memory);
    }
    release(&memory);
    return NULL;
}
