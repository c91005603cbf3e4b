#include "agent/inject/modes/once.h"

#include "agent/inject/driver/idle.h"
#include "agent/inject/driver/in_flight.h"
#include "agent/inject/driver/reach.h"
#include "agent/inject/driver/stream_capture.h"
#include "agent/inject/memory/graph.h"
#include "agent/inject/memory/kernels.h"

static const uint64_t patience_ns = 2000000000;
/* Until its range ends, time counts as the launch's. So the end is polled: without pauses at first, then with pauses of
 * one part in SHARE of the time so far. */
static const uint64_t busy_ns = 200000;
enum { SHARE = 16 };

/* Ends the range of a launch that has ended, unless another thread has done so: by now another launch's range may be
 * open. */
static void pop(struct cw_collection *c, uint32_t launch, bool ended)
{
    if (!ended || !c->inside || c->inside_of != launch || c->pending)
        return;
    c->inside = false;
    cw_collection_pop(c);
}

/* Ends the range of the last launch once the context rests. False if it does not rest. */
static bool settle(struct cw_collection *c)
{
    if (!c->inside)
        return true;
    uint32_t launch = c->inside_of;
    cw_collection_wait(c, cw_collection_patience(c, patience_ns));
    bool rests = !c->pending && cw_collection_rests(c, patience_ns);
    pop(c, launch, rests);
    return !c->inside;
}

bool cw_once_end(struct cw_collection *c)
{
    if (!c->running)
        return true;
    if (!settle(c))
        return false;
    cw_collection_flush(c);
    return !c->running;
}

/* Marks the open range as unwanted, because other work runs in it. */
static void spoil(struct cw_collection *c)
{
    struct cw_launch *last = &c->launches[c->count - 1].data;
    if (!last->unwanted)
        cw_collection_skip(c, CW_WHY_WAITS);
    last->unwanted = true;
}

/* Takes the counters from other contexts of the device. False if one of them cannot end. */
static bool take_device(struct cw_collection *c)
{
    for (struct cw_collection *other; (other = cw_collection_beside(c));) {
        if (other->running && !(other->kind == CW_COLLECT_ONCE && cw_once_end(other)))
            return false;
        cw_collection_release(other);
    }
    return true;
}

/* Returns the reason why a range cannot begin now, or NULL. */
static const char *make_ready(struct cw_collection *c)
{
    if (cw_stream_capture_is_under_way())
        return CW_WHY_CAPTURED;
    if (!settle(c)) {
        spoil(c);
        return CW_WHY_WAITS;
    }
    if (cw_collection_is_due(c) && !cw_once_end(c))
        return CW_WHY_WAITS;
    if (!c->running && !take_device(c))
        return CW_WHY_BESIDE;
    if (!cw_collection_rests(c, patience_ns)) /* earlier launches must not count */
        return CW_WHY_WAITS;
    if (cw_stream_capture_is_under_way()) /* meanwhile */
        return CW_WHY_CAPTURED;
    if (!c->running && !c->pending && !cw_inject->over && c->context)
        cw_collection_arm(c, CW_COLLECT_ONCE);
    if (!c->running && c->kept_out)
        return c->kept_out;
    return c->running && c->kind == CW_COLLECT_ONCE && !c->inside && !c->pending ? NULL : CW_WHY_BESIDE;
}

void cw_once_pass(struct cw_collection *c)
{
    if (!settle(c))
        spoil(c);
}

/* Adds a launch as a range. Returns NULL, or the reason why not. */
static const char *add(struct cw_collection *c, CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    const char *obstacle = make_ready(c);
    char graph[CW_GRAPH_NAME];
    if (obstacle || cw_inject->over)
        return obstacle;
    return cw_collection_launch(c, id, call, cw_graph_launch_name(id, call, graph)) ? NULL : CW_WHY_BESIDE;
}

bool cw_once_may_wait(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    return !cw_inject_launches_graph(id) &&
           (cw_kernel_may_wait(id, call) ||
            (cw_kernel_habit(cw_inject_kernel(id, call)) == CW_KERNEL_UNKNOWN && cw_reach_by_name(call->symbolName)));
}

static void push(struct cw_collection *c, CUpti_CallbackId id, const CUpti_CallbackData *call, const char *why)
{
    struct cw_launch *launch = &c->launches[c->count - 1].data;
    launch->replay = cw_collections->in_turn || cw_collection_turns() > 1 ? CW_REPLAY_MULTIPLEX : CW_REPLAY_ONCE;
    launch->once = why;
    launch->pushed = true;
    c->inside_of = call->correlationId;
    *call->correlationData = cw_in_flight->entered;
    if (!launch->graphs && cw_kernel_waits(cw_inject_kernel(id, call)))
        c->waits = CW_WAITS_KERNEL;
    c->inside = cw_collection_push(c, c->count);
}

/* CUPTI blocks behind a closed range as well, until the profiler is disabled. The wait for the context, 0.1 s behind a
 * kernel that waits, is wanted also where it is disabled already: a run without it hung (docs/measurements.md).
 * Meanwhile another thread may count a launch. */
static void stand_aside(struct cw_collection *c)
{
    enum { TRIES = 3 };
    for (int i = 0; (!i || c->running) && i < TRIES && cw_once_end(c); i++)
        cw_collection_disable(c);
    if (c->running && c->inside)
        spoil(c);
}

bool cw_once_count(struct cw_collection *c, struct cw_pass_turn *turn, CUpti_CallbackId id,
                   const CUpti_CallbackData *call, const struct cw_once *how)
{
    const uint64_t begin = cw_inject_now_ns();
    const bool blocks = how->may_wait && cw_collection_turn_patches(c, c->running ? 0 : how->ahead);
    if (blocks)
        stand_aside(c);
    const uint64_t armed_ns = c->running ? c->armed_ns : 0;
    const uint32_t let_by = c->running ? 0 : how->ahead;
    c->let_by = let_by;
    const char *obstacle = blocks ? CW_WHY_WAITS : add(c, id, call);
    c->let_by = 0;
    if (c->running && c->armed_ns != armed_ns)
        cw_pass_started(c, turn, begin, let_by);
    else
        cw_pass_turns->ns.spent += cw_inject_now_ns() - begin;
    if (obstacle)
        cw_collection_skip(c, obstacle);
    if (obstacle || cw_inject->over)
        return false;
    cw_pass_counted(c, turn, how->kind);
    push(c, id, call, how->why);
    return true;
}

static void end_pass(struct cw_collection *c)
{
    cw_once_end(c);
}

bool cw_once_enter(struct cw_collection *c, CUpti_CallbackId id, const CUpti_CallbackData *call, bool wanted,
                   const char *why)
{
    struct cw_pass_turn *turn = wanted && cw_collection_turns() ? cw_pass_turn_of(c) : NULL;
    struct cw_once how = {.why = why, .may_wait = wanted && cw_once_may_wait(id, call)};
    if (!wanted)
        cw_once_pass(c);
    else if (!cw_collection_turns())
        cw_collection_skip(c, why);
    if (!turn)
        return wanted;
    how.kind = cw_pass_meet(turn, cw_pass_key(id, call));
    how.ahead = cw_pass_ahead(c, turn, how.may_wait);
    if (c->running && how.ahead && cw_pass_stop(c, turn, end_pass, NULL))
        how.ahead--;
    return !cw_once_count(c, turn, id, call, &how);
}

/* Ends the range when its launch ends. False if the launch does not end in time. */
static bool end_range(struct cw_collection *c, uint32_t launch, CUstream stream)
{
    uint64_t begin = cw_inject_now_ns(), waited = 0;
    bool ended = false;
    while (c->inside && c->inside_of == launch && !ended && waited < patience_ns && !cw_stream_capture_is_under_way()) {
        ended = cw_inject->api.cuStreamQuery(stream) != CUDA_ERROR_NOT_READY;
        waited = cw_inject_now_ns() - begin;
        if (!ended && waited > busy_ns)
            cw_inject_pause(waited / SHARE);
    }
    pop(c, launch, ended);
    return !c->inside || c->inside_of != launch;
}

void cw_once_leave(struct cw_collection *c, CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    struct cw_driver_launch launch;
    if (!c->running || !cw_collection_launched(c, call) || !cw_inject_launch(&launch, id, call))
        return;
    CUfunction kernel = launch.function;
    bool waits = kernel && cw_kernel_waits(kernel);
    if (waits)
        return;
    const bool ended = end_range(c, call->correlationId, cw_inject_stream(id, launch.config.hStream));
    if (!kernel || cw_stream_capture_is_under_way())
        return;
    if (!ended) {
        cw_kernel_note(kernel, CW_KERNEL_WAITS);
        c->waits = CW_WAITS_KERNEL;
    } else if (cw_kernel_habit(kernel) == CW_KERNEL_UNKNOWN) {
        cw_kernel_seen(kernel, true, *call->correlationData);
    }
}
