/* Every kernel launch is a range of its own, and launches are replayed together: the first pass is the program's own
 * run of them; at the first call that they cannot be done again behind, device memory is put back and everything is
 * done again, once for each further pass. Setting a pass up is what costs, and a batch pays for it once.
 *
 * The program sees the results of the first pass when it reads, and of the last in later kernels. A kernel that is
 * given memory that the host shares is a batch of its own. So is a graph, whose passes all come before the program's
 * own launch of it. */
#include "agent/inject/checkpoint.h"
#include "agent/inject/graph.h"
#include "agent/inject/graph_range.h"
#include "agent/inject/in_flight.h"
#include "agent/inject/range.h"
#include "agent/inject/record.h"
#include "agent/inject/stream_capture.h"

enum { MOST_BATCHES = 64 };
static const uint64_t longest_ns = 5000000000; /* of a batch, so that a program that is killed takes little with it */
static const uint64_t patience_ns = 2000000000;

static struct batch {
    CUcontext context; /* NULL: unused */
    bool open;         /* the first pass is running */
    struct cw_record record;
    struct cw_checkpoint checkpoint;
} batches[MOST_BATCHES];

static struct batch *find(CUcontext context)
{
    for (int i = 0; i < MOST_BATCHES; i++)
        if (batches[i].context == context)
            return &batches[i];
    return NULL;
}

/* Calls that have entered and not left, launches apart, by what they may do to memory. READS: or wait. */
enum { NEITHER, CHANGES, READS };
static uint32_t in_flight[READS + 1];

/* Whether nothing is under way that would be undone with a batch that began now. */
static bool quiet(void)
{
    return !in_flight[CHANGES] && cw_collection_noted_all();
}

/* Where batches cannot be replayed, CUPTI's kernel replay goes through all passes at each launch. */
static bool setup(struct cw_reader *in)
{
    if (!cw_range_setup(in))
        return false;
    if (cw_record_init() && cw_checkpoint_init())
        return true;
    if (cw_collection_parts() > 1 || !cw_collection_sees_launches())
        cw_inject_fail(CW_ERR_UNSUPPORTED,
                       "launches cannot be replayed together here (no libcheckpoint.so beside CUPTI, or a driver for "
                       "CUDA before 12.4): --replay %s",
                       cw_collection_sees_launches() ? "kernel collects this plan, but not all of its values whole"
                                                     : "application collects this plan");
    cw_range_settings.replay = CW_REPLAY_KERNEL;
    cw_inject.mode = &cw_inject_range;
    return !cw_inject.over;
}

/* ---- passes ----------------------------------------------------------------------------------------------------- */

static void enter(void *user, uint32_t launch)
{
    cw_collection_enter(user, launch);
}

static void leave(void *user)
{
    cw_collection_leave(user);
}

/* The passes after the program's own: of the first part, then of the others. Memory is as the program expects it behind
 * each of them, also after a failure. */
static bool replay(struct cw_collection *c, struct batch *b)
{
    const struct cw_around around = {enter, leave, c};
    bool more = false, done = cw_collection_stop_pass(c, &more);
    while (done && (more || (cw_collection_next_part(c, &more) && more))) {
        bool restored = cw_checkpoint_restore(&b->checkpoint), started = restored && cw_collection_start_pass(c);
        bool played = restored && cw_record_play(&b->record, &around);
        done = started && played && cw_collection_stop_pass(c, &more);
        if (!played)
            cw_inject_fail(CW_ERR_DEVICE, "a batch of %u launches could not be replayed: %s", c->count,
                           restored ? "a launch failed" : "device memory was not restored");
    }
    return done && !cw_inject.over;
}

static bool at_rest(void)
{
    return quiet() && !in_flight[READS];
}

/* A copy to the host that is under way still wants this memory; a call that waits for ever does not. */
static void wait_for_others(const struct cw_collection *c)
{
    cw_in_flight_hold();
    cw_collection_wait(c, patience_ns);
    cw_in_flight_wait(at_rest);
    cw_in_flight_release();
}

/* Of a context that is no longer usable; what its launches computed is there. */
static void drop_batch(struct cw_collection *c)
{
    PARAMS(CUpti_RangeProfiler_Stop_Params, stop);
    stop.pRangeProfilerObject = c->object;
    cw_inject.api.cuptiRangeProfilerStop(&stop);
    for (uint32_t i = 0; i < c->count; i++)
        if (!c->launches[i].data.unwanted)
            cw_collection_skip(c, "what a context launched that could not be made current again");
    cw_collection_forget(c);
    cw_collection_release(c);
}

/* In its own context, whoever's call it is that ends it. */
static void replay_batch(struct cw_collection *c, struct batch *b)
{
    CUcontext current = NULL;
    cw_inject.api.cuCtxGetCurrent(&current);
    bool pushed = current != c->context && cw_inject.api.cuCtxPushCurrent_v2(c->context) == CUDA_SUCCESS;
    if (current != c->context && !pushed)
        drop_batch(c);
    else if (replay(c, b))
        cw_collection_deliver(c);
    if (pushed)
        cw_inject.api.cuCtxPopCurrent_v2(&current);
}

/* Ends whatever runs and sends its ranges, unless another thread does it meanwhile. */
static void end_collection(struct cw_collection *c)
{
    if (c->running)
        wait_for_others(c);
    if (!c->running)
        return;
    struct batch *b = find(c->context);
    if (!b->open) {
        cw_collection_flush(c);
        return;
    }
    uint64_t begin = cw_inject_now_ns();
    c->running = b->open = false;
    replay_batch(c, b);
    cw_range_spend(begin);
    cw_checkpoint_free(&b->checkpoint);
    cw_record_clear(&b->record);
}

/* One step towards having the device's counters. */
static void take_device(const struct cw_collection *c)
{
    struct cw_collection *other = cw_collection_beside(c);
    if (other)
        end_collection(other);
    if (other && !other->running)
        cw_collection_release(other);
}

static bool open_batch(struct cw_collection *c, struct batch *b)
{
    if (c->met_graph) /* CUPTI must not see it, where it still runs */
        cw_inject_synchronize(c->context);
    c->met_graph = false;
    if (!cw_checkpoint_save(&b->checkpoint, c->context))
        return false;
    b->open = cw_collection_arm(c, CUPTI_UserReplay);
    if (!b->open)
        cw_checkpoint_free(&b->checkpoint);
    return b->open;
}

static void end_and_report(struct cw_collection *c)
{
    end_collection(c);
    cw_collection_report_skipped(c);
}

static void finish_collection(struct cw_collection *c)
{
    end_and_report(c);
    if (!c->running) /* again, by another thread */
        cw_collection_release(c);
}

/* ---- what happens ----------------------------------------------------------------------------------------------- */

static void context_created(CUcontext context, uint32_t device)
{
    struct batch *b = find(NULL);
    struct cw_collection *c = b ? cw_collection_open(context, device) : NULL;
    if (c)
        *b = (struct batch){.context = context};
}

static void context_destroyed(CUcontext context)
{
    struct cw_collection *c = cw_collection_find(context);
    if (!c)
        return;
    end_and_report(c);
    cw_record_clear(&find(context)->record);
    find(context)->context = NULL;
    cw_collection_close(c);
}

/* Why nothing can begin now, or NULL. */
static const char *obstacle(const struct cw_collection *c)
{
    if (cw_stream_capture_is_under_way())
        return CW_WHY_CAPTURED;
    return c->running || quiet() ? NULL : CW_WHY_BESIDE;
}

/* Until a launch can be noted, or it is seen that it cannot be: one comes after another, so that every pass has the
 * same order, and none begins a batch beside a call that would be undone with it. Each wait lets other threads in, so
 * behind the last there is nothing left to wait for. */
static const char *make_room(struct cw_collection *c)
{
    bool waits = true;
    while (waits && c->context && !cw_inject.over && !cw_stream_capture_is_under_way()) {
        bool full =
            c->running && (c->count == cw_collection_at_once() || cw_inject_now_ns() - c->armed_ns > longest_ns);
        if (c->pending)
            cw_inject_wait();
        else if (full)
            end_collection(c);
        else if (cw_collection_beside(c))
            take_device(c);
        else
            waits = !c->running && !quiet() && cw_in_flight_wait(quiet);
    }
    return obstacle(c);
}

/* A launch into a batch, the open one or a new one; why not, or NULL. */
static const char *add_launch(struct cw_collection *c, struct batch *b, CUpti_CallbackId id,
                              const CUpti_CallbackData *call)
{
    const char *why = make_room(c);
    bool added = !why && !cw_inject.over && cw_record_add(&b->record, id, call);
    while (!why && !added && b->open && !cw_inject.over) { /* perhaps behind nothing else */
        end_collection(c);
        why = make_room(c);
        added = !why && !cw_inject.over && cw_record_add(&b->record, id, call);
    }
    if (added && (b->open || open_batch(c, b)) && cw_collection_launch(c, id, call))
        return NULL;
    if (why) /* the launch goes ahead, and not among those that are done again */
        end_collection(c);
    if (!b->open)
        cw_record_clear(&b->record);
    return why ? why : "a launch that cannot be done again, or for which memory could not be saved";
}

static void collect_graph(struct cw_collection *c, CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    uint64_t until = cw_inject_now_ns() + 2 * patience_ns;
    do {
        wait_for_others(c);
        end_collection(c);
        if (!cw_stream_capture_is_under_way())
            take_device(c);
    } while (!cw_inject.over && !cw_stream_capture_is_under_way() && (c->running || cw_collection_beside(c)) &&
             cw_inject_now_ns() < until);
    const char *why = c->running || !at_rest() ? CW_WHY_BESIDE : obstacle(c);
    if (!why && !cw_inject.over)
        why = cw_graph_collect(c, id, call, CW_REPLAY_BATCH);
    if (why)
        cw_collection_skip(c, why);
}

/* What another context of the device does may be to memory of this one. */
static void end_neighbours(const struct cw_collection *c)
{
    for (int i = 0; i < MOST_BATCHES; i++) {
        struct cw_collection *other = batches[i].open ? cw_collection_find(batches[i].context) : NULL;
        if (other && other != c && other->device == c->device)
            end_collection(other);
    }
}

/* True for a launch that is done again. */
static bool collect_launch(struct cw_collection *c, CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    struct batch *b = find(c->context);
    const char *why = add_launch(c, b, id, call);
    if (why) {
        cw_collection_skip(c, why);
        return false;
    }
    c->launches[c->count - 1].data.replay = CW_REPLAY_BATCH;
    cw_collection_enter(c, c->count);
    return true;
}

static void launch_entered(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    struct cw_collection *c = cw_collection_find(call->context);
    if (!c || !cw_stream_runs_launch(id, call))
        return;
    bool graph = cw_inject_launches_graph(id), wanted = cw_range_wants(id, call);
    c->met_graph = c->met_graph || graph;
    if (wanted && !graph && collect_launch(c, id, call))
        return;
    if (!wanted) {
        end_neighbours(c);
        end_collection(c);
    } else if (graph)
        collect_graph(c, id, call);
    c->met_graph = c->met_graph || graph; /* again: another thread may have begun and ended a batch */
}

static void launch_left(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    (void)id;
    struct cw_collection *c = cw_collection_find(call->context);
    if (!c || !c->running)
        return;
    struct batch *b = find(c->context);
    if (cw_collection_launched(c, call)) {
        cw_collection_leave(c);
        if (b->open && cw_inject_refused(call))
            cw_record_refuse(&b->record);
    }
    if (b->open && b->record.shared.first)
        end_collection(c);
}

static bool wants(CUpti_CallbackId id)
{
    return cw_record_effect(id) != CW_EFFECT_NONE;
}

static void call_entered(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    struct cw_collection *c = cw_collection_find(call->context);
    struct batch *b = c ? find(c->context) : NULL;
    cw_graph_follow(id, call);
    enum cw_effect effect = cw_record_effect(id);
    if (cw_stream_capture_begins(id))
        cw_collection_each(end_collection);
    bool changes = effect == CW_EFFECT_END || effect == CW_EFFECT_RECORD;
    if (c && effect != CW_EFFECT_READ)
        end_neighbours(c);
    if (b && b->open && effect != CW_EFFECT_READ &&
        (effect != CW_EFFECT_RECORD || !cw_record_add(&b->record, id, call)))
        end_collection(c);
    *call->correlationData = changes ? CHANGES : READS;
    in_flight[*call->correlationData]++;
}

/* A program that has read what it computed may be about to be killed, or to leave without its exit handlers. */
static void call_left(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    struct cw_collection *c = cw_collection_find(call->context);
    cw_graph_follow(id, call);
    uint64_t *kind = call->correlationData;
    if (*kind <= READS && in_flight[*kind])
        in_flight[*kind]--;
    bool read = id == CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoH_v2 || id == CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoH_v2_ptds;
    if (c && c->running && read && at_rest() && !c->pending && cw_range_affords_end())
        end_collection(c);
}

static void finish(void)
{
    cw_collection_each(finish_collection);
}

static void abandon(void)
{
    cw_collection_stop_all();
    for (int i = 0; i < MOST_BATCHES; i++) {
        if (batches[i].open)
            cw_checkpoint_free(&batches[i].checkpoint);
        batches[i].open = false;
        cw_record_clear(&batches[i].record);
    }
}

const struct cw_inject_mode cw_inject_batch = {.setup = setup,
                                               .context_created = context_created,
                                               .context_destroyed = context_destroyed,
                                               .launch_entered = launch_entered,
                                               .launch_left = launch_left,
                                               .finish = finish,
                                               .wants = wants,
                                               .call_entered = call_entered,
                                               .call_left = call_left,
                                               .abandoned = abandon};
