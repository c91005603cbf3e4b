/* Every kernel launch is a range of its own, and launches are replayed together: the first pass is the program's own
 * run of them; at the first call that they cannot be done again behind, device memory is put back and everything is
 * done again, once for each further pass. Setting a pass up is what costs, and a batch pays for it once.
 *
 * The program sees the results of the first pass when it reads, and of the last in later kernels. A graph is a batch of
 * its own, whose passes all come before the program's own launch of it. So is a kernel that is given memory that the
 * host shares, whose passes all come behind the program's own: a kernel may wait there for what the host does next.
 *
 * What others can reach, and what cannot be saved, is not done again but counted once (once.h). */
#include "agent/inject/checkpoint.h"
#include "agent/inject/graph.h"
#include "agent/inject/graph_range.h"
#include "agent/inject/idle.h"
#include "agent/inject/in_flight.h"
#include "agent/inject/kernels.h"
#include "agent/inject/mode.h"
#include "agent/inject/once.h"
#include "agent/inject/range.h"
#include "agent/inject/reach.h"
#include "agent/inject/record.h"
#include "agent/inject/room.h"
#include "agent/inject/stream_capture.h"

enum { MOST_BATCHES = 64 };
static const uint64_t patience_ns = 2000000000, launch_patience_ns = 60000000000;
static const uint64_t recheck_ns = 5000000000; /* how long memory is taken to be short */
static const uint64_t least_watch_ns = 3000000000;
enum { WATCH = 20 }; /* a replay may take so many times what the program's own run took */

static struct batch {
    CUcontext context;           /* NULL: unused */
    bool open;                   /* the first pass is running */
    bool saved;                  /* there is a checkpoint */
    bool spoilt;                 /* something ran beside it that was not recorded: it cannot be done again */
    uint64_t began_ns, short_ns; /* the trial; when there was no room for a checkpoint, or 0 */
    uint32_t correlation;        /* of the trial */
    struct cw_record record;
    struct cw_checkpoint checkpoint;
} batches[MOST_BATCHES];

/* Why launches are counted once. */
static const char no_room[] = "there is no room to save what its GPU holds",
                  several_devices[] = "several GPUs may use the memory of the host's that it is given",
                  waits_for_host[] = "its kernel waits for what the host or another device does";

/* A launch that is given memory of the host's, between the program's call and its return; others were in the way. */
static struct batch *trial;
static bool disturbed;

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
    return !trial && !in_flight[CHANGES] && cw_collection_noted_all();
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

/* ---- memory ----------------------------------------------------------------------------------------------------- */

/* While a kernel still runs, memory cannot be given back without waiting for it. */
static void forget_memory(struct batch *b)
{
    if (b->saved)
        cw_checkpoint_free(&b->checkpoint);
    b->saved = false;
    cw_record_clear(&b->record);
}

/* Saves what the context holds; why not, or NULL. */
static const char *save_memory(const struct cw_collection *c, struct batch *b)
{
    if (!cw_room_to_save(0)) {
        b->short_ns = cw_inject_now_ns();
        return no_room;
    }
    b->saved = cw_checkpoint_save(&b->checkpoint, c->context);
    return b->saved ? NULL : "a launch for which memory could not be saved";
}

/* Why launches are not to be done again now, or NULL. */
static const char *once_reason(const struct batch *b)
{
    if (cw_reach_why())
        return cw_reach_why();
    return b->short_ns && cw_inject_now_ns() - b->short_ns < recheck_ns ? no_room : NULL;
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

/* A replay that does not come to its end waits for what the host has done meanwhile. */
static void let_go(void *shared)
{
    cw_shared_put_after(shared);
}

/* Does everything again; *late where that had to be ended. */
static bool play(struct cw_collection *c, struct batch *b, bool *late)
{
    const struct cw_around around = {enter, leave, c};
    const struct cw_launch *first = &c->launches[0].data;
    bool shares = b->record.shared.first != NULL;
    uint64_t limit = WATCH * (first->end_ns - first->start_ns);
    if (shares && !cw_idle_watch(limit > least_watch_ns ? limit : least_watch_ns, let_go, &b->record.shared))
        return false;
    bool played = cw_record_play(&b->record, &around);
    *late = shares && cw_idle_watch_end();
    return played;
}

/* The passes after the program's own, or after its start where that was a trial: of the first part, then of the others.
 * Memory is as the program expects it behind each of them, also after a failure. */
static bool replay(struct cw_collection *c, struct batch *b, bool tried)
{
    bool more = tried, started = tried, late = false, done = tried || cw_collection_stop_pass(c, &more);
    while (done && !late && (more || (cw_collection_next_part(c, &more) && more))) {
        bool restored = cw_checkpoint_restore(&b->checkpoint);
        started = restored && (started || cw_collection_start_pass(c));
        bool played = restored && play(c, b, &late);
        done = started && played && cw_collection_stop_pass(c, &more);
        started = false;
        if (!played)
            cw_inject_fail(CW_ERR_DEVICE, "a batch of %u launches could not be replayed: %s", c->count,
                           restored ? "a launch failed" : "device memory was not restored");
    }
    if (late) {
        cw_collection_skip(c, CW_WHY_WAITS);
        cw_collection_forget(c);
        cw_collection_release(c);
    }
    return done && !late && !cw_inject.over;
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

/* What its launches computed is there. */
static void drop_batch(struct cw_collection *c, const char *why)
{
    PARAMS(CUpti_RangeProfiler_Stop_Params, stop);
    stop.pRangeProfilerObject = c->object;
    cw_inject.api.cuptiRangeProfilerStop(&stop);
    for (uint32_t i = 0; i < c->count; i++)
        if (!c->launches[i].data.unwanted)
            cw_collection_skip(c, why);
    cw_collection_forget(c);
    cw_collection_release(c);
}

/* In its own context, whoever's call it is that ends it. */
static void replay_batch(struct cw_collection *c, struct batch *b)
{
    CUcontext current = NULL;
    cw_inject.api.cuCtxGetCurrent(&current);
    bool pushed = current != c->context && cw_inject.api.cuCtxPushCurrent_v2(c->context) == CUDA_SUCCESS;
    if (b->spoilt || cw_reach_why())
        drop_batch(c, b->spoilt ? CW_WHY_BESIDE : CW_WHY_REACHED);
    else if (current != c->context && !pushed)
        drop_batch(c, "what a context launched that could not be made current again");
    else if (replay(c, b, false))
        cw_collection_deliver(c);
    if (pushed)
        cw_inject.api.cuCtxPopCurrent_v2(&current);
}

/* Ends whatever runs and sends its ranges, unless another thread does it meanwhile. */
static void end_collection(struct cw_collection *c)
{
    if (c->running && c->once)
        cw_once_end(c);
    else if (c->running)
        wait_for_others(c);
    if (!c->running || c->once)
        return;
    struct batch *b = find(c->context);
    if (c->pending) { /* CUPTI cannot stop behind it, and what comes now is not recorded */
        b->spoilt = b->open;
        return;
    }
    if (!b->open) {
        cw_collection_flush(c);
        return;
    }
    uint64_t begin = cw_inject_now_ns();
    c->running = b->open = false;
    replay_batch(c, b);
    b->spoilt = false;
    cw_range_spend(begin);
    forget_memory(b);
}

/* One step towards having the device's counters. False where something that does not end is in the way. */
static bool take_device(const struct cw_collection *c)
{
    struct cw_collection *other = cw_collection_beside(c);
    if (other)
        end_collection(other);
    if (other && !other->running)
        cw_collection_release(other);
    return !other || !other->running;
}

/* Why not, or NULL. CUPTI must not see a graph that still runs, either. */
static const char *open_batch(struct cw_collection *c, struct batch *b)
{
    const char *why = save_memory(c, b);
    if (why)
        return why;
    c->met_graph = false;
    b->open = cw_collection_arm(c, CUPTI_UserReplay);
    if (!b->open)
        forget_memory(b);
    return b->open ? NULL : "a launch that could not be counted";
}

/* Whether several devices are used, which may write the same memory of the host's. */
static bool has_neighbour_device(const struct cw_collection *c)
{
    for (int i = 0; i < MOST_BATCHES; i++) {
        const struct cw_collection *other = batches[i].context ? cw_collection_find(batches[i].context) : NULL;
        if (other && other->device != c->device)
            return true;
    }
    return false;
}

/* A recorded launch that is given memory of the host's is about to run by itself; why not, or NULL. */
static const char *begin_trial(struct cw_collection *c, struct batch *b, CUpti_CallbackId id,
                               const CUpti_CallbackData *call)
{
    CUfunction kernel = cw_inject_launch_function(id, call->functionParams);
    bool waits = !at_rest();
    if (waits)
        wait_for_others(c);
    bool clear = at_rest() && !c->running && b->context && !cw_collection_beside(c);
    const char *why = cw_reach_why()                               ? cw_reach_why()
                      : has_neighbour_device(c)                    ? several_devices
                      : cw_kernel_habit(kernel) == CW_KERNEL_WAITS ? waits_for_host
                      : cw_stream_capture_is_under_way()           ? CW_WHY_CAPTURED
                      : !clear                                     ? CW_WHY_BESIDE
                                                                   : save_memory(c, b);
    if (!why && waits && !cw_shared_renew(&b->record.shared)) /* what was waited for may have written there */
        why = CW_WHY_BESIDE;
    if (why)
        return why;
    trial = b;
    disturbed = false;
    b->began_ns = cw_inject_now_ns();
    b->correlation = call->correlationId;
    cw_in_flight_hold();
    return NULL;
}

/* All passes of a launch that has run by itself and come to rest. */
static void replay_trial(struct cw_collection *c, struct batch *b, CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    uint64_t end_ns = cw_inject_now_ns();
    if (!cw_shared_keep_after(&b->record.shared)) {
        cw_collection_skip(c, CW_WHY_TOO_MUCH_SHARED);
        return;
    }
    bool armed = cw_collection_arm(c, CUPTI_UserReplay);
    c->running = false; /* nobody else is to end it */
    if (armed && cw_collection_graph(c, id, call, call->symbolName)) {
        c->launches[0].data.start_ns = b->began_ns;
        c->launches[0].data.end_ns = end_ns;
        c->launches[0].data.replay = CW_REPLAY_BATCH;
        if (replay(c, b, true))
            cw_collection_deliver(c);
        else if (!cw_inject.over)
            cw_kernel_note(cw_inject_launch_function(id, call->functionParams), CW_KERNEL_WAITS);
        cw_shared_put_after(&b->record.shared);
    }
    cw_range_spend(end_ns);
}

static void end_trial(struct cw_collection *c, CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    struct batch *b = trial;
    bool refused = cw_inject_refused(call), rests = cw_idle_wait(c->context, patience_ns);
    CUfunction kernel = cw_inject_launch_function(id, call->functionParams);
    if (!cw_stream_capture_is_under_way())
        cw_kernel_note(kernel, rests ? CW_KERNEL_RESTS : CW_KERNEL_WAITS);
    bool alone = !disturbed && !in_flight[CHANGES] && !in_flight[READS] && cw_collection_noted_all();
    const char *why = cw_stream_capture_is_under_way() ? CW_WHY_CAPTURED
                      : !rests                         ? CW_WHY_WAITS
                      : cw_reach_why()                 ? CW_WHY_REACHED
                      : !alone || c->running           ? CW_WHY_BESIDE
                                                       : NULL;
    if (!refused && !why && !cw_inject.over)
        replay_trial(c, b, id, call);
    else if (!refused && why)
        cw_collection_skip(c, why);
    if (rests)
        forget_memory(b);
    trial = NULL;
    cw_in_flight_release();
}

/* Before what is counted once. */
static void end_batch(struct cw_collection *c)
{
    if (c->running && !c->once)
        end_collection(c);
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
    struct batch *b = find(context);
    end_and_report(c);
    if (c->running) /* a kernel of it does not end, and would be waited for */
        *b = (struct batch){0};
    forget_memory(b);
    b->context = NULL;
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
 * same order, and none begins a batch beside a call that would be undone with it, or in a context that does not come to
 * rest. Each wait lets other threads in, so behind the last there is nothing left to wait for. */
static const char *make_room(struct cw_collection *c, struct batch *b)
{
    bool waits = true, rests = false;
    uint64_t until = cw_inject_now_ns() + launch_patience_ns;
    while (waits && c->context && !cw_inject.over && !cw_stream_capture_is_under_way()) {
        bool due = cw_collection_is_due(c);
        if (c->pending && (b->spoilt || cw_inject_now_ns() > until)) { /* it may wait for this one */
            b->spoilt = true;
            return CW_WHY_BESIDE;
        } else if (c->pending)
            cw_inject_wait();
        else if (due || (c->running && b->spoilt))
            end_collection(c);
        else if (c->running && c->once) {
            end_collection(c);
            if (c->running && c->once)
                return CW_WHY_WAITS;
        } else if (cw_collection_beside(c)) {
            if (!take_device(c))
                return CW_WHY_WAITS;
        } else if (!c->running && !quiet())
            waits = cw_in_flight_wait(quiet);
        else if (!c->running && !rests) {
            rests = cw_idle_wait(c->context, patience_ns);
            if (!rests && !cw_stream_capture_is_under_way())
                return CW_WHY_WAITS;
        } else
            waits = false;
    }
    if (!obstacle(c) && b->saved && !b->open && b != trial) /* left by a trial that did not end */
        forget_memory(b);
    return obstacle(c);
}

/* A launch into a batch, the open one or a new one; why not, or NULL. */
static const char *add_launch(struct cw_collection *c, struct batch *b, CUpti_CallbackId id,
                              const CUpti_CallbackData *call)
{
    const char *why = make_room(c, b);
    why = why ? why : once_reason(b); /* by now */
    bool added = !why && !cw_inject.over && cw_record_add(&b->record, id, call, !c->running);
    while (!why && !added && b->open && !cw_inject.over) { /* perhaps behind nothing else */
        end_collection(c);
        why = make_room(c, b);
        why = why ? why : once_reason(b);
        added = !why && !cw_inject.over && cw_record_add(&b->record, id, call, !c->running);
    }
    if (!why && !added)
        why = "a launch that cannot be done again";
    else if (!why && b->record.shared.first)
        why = begin_trial(c, b, id, call);
    else if (!why)
        why = b->open ? NULL : open_batch(c, b);
    if (!why && (trial == b || cw_collection_launch(c, id, call)))
        return NULL;
    if (why && !b->spoilt) /* the launch goes ahead, and not among those that are done again */
        end_collection(c);
    if (!b->open && !b->saved)
        cw_record_clear(&b->record);
    return why ? why : "a launch beside more than there is room for";
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
    bool rests = cw_idle_wait(c->context, patience_ns) || cw_stream_capture_is_under_way();
    const char *why = !rests ? CW_WHY_WAITS : c->running || !at_rest() ? CW_WHY_BESIDE : obstacle(c);
    if (!why && !cw_room_to_save(0)) {
        find(c->context)->short_ns = cw_inject_now_ns();
        cw_once_enter(c, id, call, true, no_room);
        return;
    }
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

static void collect_launch(struct cw_collection *c, CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    struct batch *b = find(c->context);
    const char *why = add_launch(c, b, id, call);
    if (why && (why == no_room || why == several_devices || why == waits_for_host || why == cw_reach_why()))
        cw_once_enter(c, id, call, true, why);
    else if (why)
        cw_collection_skip(c, why);
    else if (trial != b) {
        c->launches[c->count - 1].data.replay = CW_REPLAY_BATCH;
        cw_collection_enter(c, c->count);
    }
}

/* Behind all waits: what goes ahead now is not undone with what is tried. What is unrecorded work of `c` (else NULL) is
 * not undone with any batch of its device, either. */
static void goes_ahead(const struct cw_collection *c)
{
    for (int i = 0; i < MOST_BATCHES; i++) {
        const struct cw_collection *other = batches[i].open ? cw_collection_find(batches[i].context) : NULL;
        if (c && other && other->device == c->device)
            batches[i].spoilt = true;
    }
    disturbed = true;
}

/* Whether a launch is in its context's batch, or is the one that is tried. */
static bool is_recorded(const struct cw_collection *c, const CUpti_CallbackData *call)
{
    const struct batch *b = find(c->context);
    bool last = b->open && c->count && c->launches[c->count - 1].correlation == call->correlationId;
    return last || (trial == b && b->correlation == call->correlationId);
}

static void launch_entered(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    struct cw_collection *c = cw_collection_find(call->context);
    if (!c || !cw_stream_runs_launch(id, call))
        return;
    bool graph = cw_inject_launches_graph(id), wanted = cw_range_wants(id, call);
    const char *once = once_reason(find(c->context));
    c->met_graph = c->met_graph || graph;
    if (trial && wanted)
        cw_collection_skip(c, CW_WHY_BESIDE);
    else if (trial)
        ; /* it counts for none */
    else if (once || (!wanted && c->once && c->running)) {
        end_neighbours(c);
        end_batch(c);
        cw_once_enter(c, id, call, wanted, once);
    } else if (wanted && !graph)
        collect_launch(c, id, call);
    else if (!wanted) {
        end_neighbours(c);
        end_collection(c);
    } else
        collect_graph(c, id, call);
    c->met_graph = c->met_graph || graph; /* again: another thread may have begun and ended a batch */
    if (c->context && !is_recorded(c, call))
        goes_ahead(c);
}

static void launch_left(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    struct cw_collection *c = cw_collection_find(call->context);
    struct batch *b = c ? find(c->context) : NULL;
    if (b && b == trial && b->correlation == call->correlationId)
        end_trial(c, id, call);
    else if (c && c->once)
        cw_once_leave(c, id, call);
    else if (c && c->running && cw_collection_launched(c, call)) {
        cw_collection_leave(c);
        if (b->open && cw_inject_refused(call))
            cw_record_refuse(&b->record);
    }
}

static bool rest(void)
{
    cw_collection_each(end_collection);
    return !cw_collection_any_runs();
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
        rest();
    bool changes = effect == CW_EFFECT_END || effect == CW_EFFECT_RECORD;
    disturbed = disturbed || changes;
    if (c && effect != CW_EFFECT_READ)
        end_neighbours(c);
    bool recorded =
        b && b->open && effect == CW_EFFECT_RECORD && !b->spoilt && cw_record_add(&b->record, id, call, false);
    if (b && b->open && effect != CW_EFFECT_READ && !recorded)
        end_collection(c);
    if (changes)
        goes_ahead(c && c->context && !recorded ? c : NULL);
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
    for (int i = 0; i < MOST_BATCHES; i++) {
        struct batch *b = &batches[i];
        const struct cw_collection *c = b->context ? cw_collection_find(b->context) : NULL;
        bool kernel_runs = (b->saved && !b->open) || (c && c->pending); /* which giving memory back would wait for */
        if (!kernel_runs)
            forget_memory(b);
        b->open = false;
    }
    cw_collection_stop_all();
}

const struct cw_inject_mode cw_inject_batch = {.load = cw_range_load,
                                               .setup = setup,
                                               .context_created = context_created,
                                               .context_destroyed = context_destroyed,
                                               .launch_entered = launch_entered,
                                               .launch_left = launch_left,
                                               .finish = finish,
                                               .wants = wants,
                                               .call_entered = call_entered,
                                               .call_left = call_left,
                                               .abandoned = abandon,
                                               .rest = rest};
