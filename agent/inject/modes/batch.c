/* Batched replay: each kernel launch is a range, and launches are replayed together. The first pass of a batch is the
 * program's own run. The batch ends at the first call after which its launches cannot be repeated. Then device memory
 * is restored and the batch repeated, once for each further pass. The setup of a pass is the main cost, and a batch
 * pays it once for all its launches.
 *
 * The program reads the results of the first pass, and later kernels read the results of the last. A graph is part of a
 * batch whose first pass runs without CUPTI. A graph is a batch of its own if its new kernels may run beside one
 * another, or if it is given host memory; all passes then come before the program's own launch. The first launch of a
 * kernel that is given memory shared with the host is a batch of its own as well. All its passes come behind the
 * program's own launch, because it may wait in that memory for the host's next step. Later ones are part of a batch
 * whose first pass runs without CUPTI.
 *
 * A launch is not repeated but counted once, with passes in turn (once.h), if it can reach other devices or memory that
 * others reach, or if its memory cannot be saved. Memory that others reach is neither saved nor restored, because they
 * may use it at any time; its hash before and after the first pass proves that the batch left it alone, until the first
 * collective (proof.h). */
#include "agent/inject/driver/idle.h"
#include "agent/inject/driver/in_flight.h"
#include "agent/inject/driver/module.h"
#include "agent/inject/driver/reach.h"
#include "agent/inject/driver/stream_capture.h"
#include "agent/inject/driver/streams.h"
#include "agent/inject/memory/graph.h"
#include "agent/inject/memory/kernels.h"
#include "agent/inject/memory/pinned.h"
#include "agent/inject/modes/batches.h"
#include "agent/inject/modes/graph_batch.h"
#include "agent/inject/modes/once.h"
#include "agent/inject/modes/range.h"
#include "agent/inject/ranges/gate.h"

static const uint64_t patience_ns = 2000000000, launch_patience_ns = 60000000000;
static const uint64_t reach_patience_ns = 10000000000;  /* wait for other processes, which repeat batches as well */
static const uint64_t recheck_ns = 5000000000;          /* time until memory is tried again after a shortage */
static const uint64_t join_patience_ns = 20000000;      /* wait for work that may write host memory */
static const uint64_t function_patience_ns = 100000000; /* wait for an unknown host function */
#define self cw_batches

static const char ended_by_neighbour[] = "another context of the GPU", ended_by_graph[] = "a CUDA graph",
                  ended_by_reach[] = "a launch that reaches memory of other devices or processes",
                  ended_by_suspect[] = "a kernel that may reach memory of other processes";
static const char too_dear[] =
    "a launch that reaches memory of other devices or processes, because counting each takes too long";
static const char reached_now[] = "a launch on another device may reach its memory, and has not ended";

/* Falls back to CUPTI's kernel replay, which runs all passes at each launch, if batches cannot be replayed. */
static bool setup(struct cw_reader *in)
{
    if (!cw_range_setup(in))
        return false;
    if (cw_record_init() && cw_checkpoint_init()) {
        cw_checkpoint_by_changes();
        return true;
    }
    if (cw_collections->plan.count > 1 || !cw_collection_sees_launches())
        cw_inject_fail(CW_ERR_UNSUPPORTED,
                       "launches cannot be replayed together here (no libcheckpoint.so beside CUPTI, or a driver for "
                       "CUDA before 12.4): --replay %s",
                       cw_collection_sees_launches() ? "kernel collects this plan, but not all of its values whole"
                                                     : "application collects this plan");
    cw_range_settings->replay = CW_REPLAY_KERNEL;
    cw_inject->mode = &cw_inject_range;
    return !cw_inject->over;
}

/* Returns the reason why launches must not be repeated now, or NULL. */
static const char *once_reason(const struct cw_batch *b)
{
    if (cw_batch_reach_reason())
        return cw_batch_reach_reason();
    return b->short_ns && cw_inject_now_ns() - b->short_ns < recheck_ns ? b->short_why : NULL;
}

/* Takes one step towards the device's counters. False if work of another context is in the way and does not end. */
static bool take_device(const struct cw_collection *c)
{
    struct cw_collection *other = cw_collection_beside(c);
    if (other)
        cw_batch_end(other, ended_by_neighbour);
    if (other && !other->running)
        cw_collection_release(other);
    return !other || !other->running;
}

/* Whether a kernel is unknown, and might wait for a later launch, perhaps of a device that reaches this one. */
static bool is_strange(const struct cw_collection *c, CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    return cw_kernel_habit(cw_inject_kernel(id, call)) == CW_KERNEL_UNKNOWN &&
           (cw_streams_overlap(id, call) || (cw_reach->peers && cw_batch_has_neighbour_device(c)));
}

static bool is_suspect(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    return cw_kernel_habit(cw_inject_kernel(id, call)) == CW_KERNEL_SUSPECT;
}

/* Returns the reason why a launch reaches other devices, or memory that others reach; NULL if it does not. */
static const char *reach_of(const struct cw_collection *c, CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    if (cw_inject_launches_graph(id))
        return cw_graph_batch_reach(c, call);
    const char *why = cw_reach_why_launch(id, call);
    if (!why && cw_reach_why() && cw_kernel_habit(cw_inject_kernel(id, call)) == CW_KERNEL_REACHES)
        why = cw_batch_reaches;
    return why;
}

/* Opens a batch. Returns NULL, or the reason why not. The context is at rest, because CUPTI must not see a graph that
 * still runs. While a program has new kernels, a batch first runs without CUPTI, which waits for each launch: one more
 * pass costs less than a batch for each kernel. */
static const char *open_batch(struct cw_collection *c, struct cw_batch *b)
{
    const char *why = cw_batch_save(c, b);
    if (why)
        return why;
    c->met_graph = false;
    b->record.since = b->since < b->record.since ? b->since : b->record.since;
    cw_batch_turn(c, CW_EFFORT_SETUP);
    b->began_ns = cw_inject_now_ns();
    b->open = b->familiar < CW_MOST_FAMILIAR ? cw_collection_stand_by(c) : cw_collection_arm(c, CW_COLLECT_LAUNCHES);
    cw_batch_turn(c, b->open ? CW_EFFORT_OWN : CW_EFFORT_NONE);
    if (!b->open)
        cw_batch_forget(b);
    return b->open ? NULL : c->kept_out ? c->kept_out : "a launch that could not be counted";
}

/* Ends the batch before a launch that is counted once. */
static void end_batch(struct cw_collection *c)
{
    if (c->running && c->kind != CW_COLLECT_ONCE)
        cw_batch_end(c, "a launch that is counted once");
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

static uint32_t other_device(const struct cw_collection *c)
{
    uint32_t i = 0;
    while (!cw_collections->slots[i].context || cw_collections->slots[i].device == c->device)
        i++;
    return cw_collections->slots[i].device;
}

static void context_created(CUcontext context, uint32_t device)
{
    struct cw_collection *c = cw_collection_open(context, device);
    if (!c)
        return;
    *cw_batch_of(c) = (struct cw_batch){.familiar = CW_MOST_FAMILIAR, .since = UINT64_MAX};
    if (!cw_batch_has_neighbour_device(c))
        return;
    if (!cw_reach->several) /* nobody has looked whether the first one uses what there is */
        cw_pinned_use_all(other_device(c));
    cw_reach_several_devices();
}

static void context_destroyed(CUcontext context)
{
    struct cw_collection *c = cw_collection_find(context);
    if (!c)
        return;
    struct cw_batch *b = cw_batch_of(c);
    cw_batch_end(c, "the end of its context");
    cw_collection_report_skipped(c);
    if (c->running) /* one of its kernels does not end, and freeing memory would wait for it */
        *b = (struct cw_batch){0};
    cw_batch_forget(b);
    cw_slow_forget(&b->slow);
    cw_memory_hash_forget(context);
    cw_pass_turn_end(c);
    cw_collection_close(c);
}

/* Returns the reason why no batch can begin now, or NULL. */
static const char *obstacle(const struct cw_collection *c)
{
    if (cw_stream_capture_is_under_way())
        return CW_WHY_CAPTURED;
    return c->running || cw_batch_quiet() ? NULL : CW_WHY_BESIDE;
}

/* Whether work on another device may still write memory of this device; a restore would lose these writes. Waits for
 * such work first. Its launch has ended all batches. */
static bool is_reached(const struct cw_collection *c)
{
    for (uint32_t i = 0; i < cw_collections->slot_count; i++) {
        struct cw_collection *other = &cw_collections->slots[i];
        if (!self->items[i].reaches || other == c)
            continue;
        if (other->pending)
            cw_collection_wait(other, cw_collection_patience(other, patience_ns));
        if (other->context && (other->pending || !cw_collection_rests(other, patience_ns)))
            return true;
        self->items[i].reaches = false;
    }
    return false;
}

static bool any_reaches(const struct cw_collection *c)
{
    for (uint32_t i = 0; i < cw_collections->slot_count; i++)
        if (self->items[i].reaches && &cw_collections->slots[i] != c)
            return true;
    return false;
}

/* Waits until a launch can be noted, or until it is certain that it cannot. Returns NULL, or the reason why not.
 * Launches come one after another, so that every pass has the same order. None begins a batch beside a call that would
 * be undone with it, or in a context that does not come to rest. Each wait lets other threads in, so the loop ends only
 * behind a round without a wait. */
static const char *make_room(struct cw_collection *c, struct cw_batch *b, bool strange, bool suspect)
{
    bool waits = true, rests = false;
    uint64_t until = cw_inject_now_ns() + launch_patience_ns;
    while (waits && c->context && !cw_inject->over && !cw_stream_capture_is_under_way()) {
        bool due = cw_collection_is_due(c);
        if (c->pending && (b->spoilt || cw_inject_now_ns() > until)) { /* that launch may wait for this one */
            b->spoilt = true;
            return CW_WHY_BESIDE;
        } else if (c->pending)
            cw_inject_wait();
        else if (due || (c->running && b->spoilt) ||
                 (b->open && (cw_batch_has_new_variables(b) || suspect || (strange && c->running != CW_STANDS_BY))))
            cw_batch_end(c, due && c->count == cw_collections->at_once ? "no more room"
                            : due                                      ? "its time"
                            : b->spoilt                                ? "unrecorded work beside it"
                            : cw_batch_has_new_variables(b)            ? "code that was loaded with variables"
                            : suspect                                  ? ended_by_suspect
                                                                       : "a new kernel beside other streams");
        else if (c->running && c->kind == CW_COLLECT_ONCE) {
            cw_batch_end(c, NULL);
            if (c->running && c->kind == CW_COLLECT_ONCE)
                return CW_WHY_WAITS;
        } else if (cw_collection_beside(c)) {
            if (!take_device(c))
                return CW_WHY_WAITS;
        } else if (!c->running && any_reaches(c)) {
            if (is_reached(c))
                return reached_now;
        } else if (!c->running && !cw_batch_quiet())
            waits = cw_in_flight_wait(cw_batch_quiet);
        else if (!rests && (!c->running || (strange && c->running == CW_STANDS_BY))) {
            /* a new kernel runs alone, so that it can be watched */
            rests = cw_collection_rests(c, c->running == CW_STANDS_BY ? (b->passed ? patience_ns : launch_patience_ns)
                                           : b->reaches && !self->in_vain ? reach_patience_ns
                                                                          : patience_ns);
            self->in_vain = self->in_vain || (!rests && b->reaches);
            b->reaches = b->reaches && !rests;
            b->passed = b->passed && !rests;
            if (!rests && !cw_stream_capture_is_under_way())
                return CW_WHY_WAITS;
        } else
            waits = false;
    }
    if (!obstacle(c) && b->saved && !b->open && b != self->trial) /* left by a trial that did not end */
        cw_batch_forget(b);
    return obstacle(c);
}

/* Whether no launch is inside the driver that may use the host memory of this device's launches. Beside other devices
 * each launch notes the host memory that it uses. */
static bool is_none_under_way(const struct cw_collection *c, const struct cw_batch *b)
{
    return cw_in_flight_no_launch() || (cw_batch_has_neighbour_device(c) && !c->pending && !b->spoilt && !b->slow.runs);
}

/* Whether a launch that is given host memory may join a batch that stands by: its kernel is known to end by itself, and
 * nothing runs that still writes the memory. */
static bool joins(const struct cw_collection *c, struct cw_batch *b, CUpti_CallbackId id,
                  const CUpti_CallbackData *call)
{
    /* the arguments last: every launch of such a batch comes here */
    const bool can = b->open && c->running == CW_STANDS_BY &&
                     cw_kernel_habit(cw_inject_kernel(id, call)) == CW_KERNEL_RESTS && !cw_batch_is_taken() &&
                     (!b->thread || b->thread == cw_inject_thread()) && !cw_batch_why_alone() && cw_idle_can_watch() &&
                     is_none_under_way(c, b) && cw_shared_given(id, call) && cw_idle_soon(c->context, join_patience_ns);
    b->passed = b->passed && !can;
    return can;
}

/* Whether a recorded launch that is given host memory must run alone: its kernel may wait there, or the memory is too
 * large to be kept for each launch of a batch. */
static bool needs_trial(const struct cw_batch *b, CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    return cw_record_launch_shares(&b->record) &&
           (b->record.shared.alone || cw_batch_is_taken() || cw_batch_why_alone() || !cw_idle_can_watch() ||
            cw_kernel_habit(cw_inject_kernel(id, call)) != CW_KERNEL_RESTS);
}

/* Adds a launch to the open batch, or to a new one. Returns NULL, or the reason why not. */
static const char *add_launch(struct cw_collection *c, struct cw_batch *b, CUpti_CallbackId id,
                              const CUpti_CallbackData *call)
{
    const char *why = NULL;
    bool added = false;
    const bool strange = is_strange(c, id, call);
    b->familiar = strange ? 0 : b->familiar + (b->familiar < CW_MOST_FAMILIAR);
    for (bool tries = true; tries;) {
        why = make_room(c, b, strange, is_suspect(id, call));
        why = why ? why : once_reason(b); /* may have changed during the waits */
        if (!why && cw_kernel_waits(cw_inject_kernel(id, call)))
            why = cw_batch_waits_for_host;
        added = !why && !cw_inject->over && cw_record_add(&b->record, id, call, !c->running || joins(c, b, id, call));
        tries = !why && !added && b->open && !cw_inject->over; /* it may be possible as the first of a batch */
        if (tries)
            cw_batch_end(c, "a launch that needs a batch of its own");
    }
    if (!why && !added)
        why = cw_batch_not_recorded;
    else if (!why && needs_trial(b, id, call))
        why = cw_batch_begin_trial(c, b, id, call);
    else if (!why) {
        const bool shares = cw_record_launch_shares(&b->record);
        b->familiar = shares ? 0 : b->familiar; /* CUPTI must not wait for it in the program's own run */
        b->thread = shares ? cw_inject_thread() : b->thread;
        why = b->open ? NULL : open_batch(c, b);
    }
    if (!why && (self->trial == b || cw_collection_launch(c, id, call, call->symbolName)))
        return NULL;
    if (why && !b->spoilt) /* the launch goes ahead unrecorded */
        cw_batch_end(c, "a launch that cannot be repeated");
    if (!b->open && !b->saved)
        cw_batch_forget(b);
    return why ? why : "a launch for which there was no room";
}

/* Adds a graph to the open batch, or to a new one. The batch first runs without CUPTI, and all passes come behind that.
 * False if the graph cannot be part of a batch. */
static bool add_graph(struct cw_collection *c, struct cw_batch *b, CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    uint32_t launches = cw_graph_batch_fits(c, call);
    if (launches && b->open && (c->running != CW_STANDS_BY || c->count + launches > cw_collections->at_once))
        cw_batch_end(c, c->running == CW_STANDS_BY ? "no more room" : ended_by_graph);
    if (!launches || make_room(c, b, false, false) || once_reason(b) || cw_inject->over)
        return false;
    launches = cw_graph_batch_fits(c, call); /* may have changed during the waits */
    bool added = launches && (!c->running || c->running == CW_STANDS_BY) &&
                 c->count + launches <= cw_collections->at_once && cw_graph_batch_record(c, b, id, call);
    b->familiar = added ? 0 : b->familiar;
    if (added && !b->open)
        added = !open_batch(c, b);
    if (added)
        cw_graph_batch_note(c, id, call);
    else if (!b->open && !b->saved)
        cw_record_clear(&b->record);
    return added;
}

/* Collects a graph as a batch of its own. `apart`: its kernels are separate launches, and the filter was not asked
 * yet. */
static void collect_graph(struct cw_collection *c, CUpti_CallbackId id, const CUpti_CallbackData *call, bool apart)
{
    uint64_t until = cw_inject_now_ns() + 2 * patience_ns;
    do {
        cw_batch_wait_for_others(c);
        cw_batch_end(c, ended_by_graph);
        if (!cw_stream_capture_is_under_way())
            take_device(c);
    } while (!cw_inject->over && !cw_stream_capture_is_under_way() && (c->running || cw_collection_beside(c)) &&
             cw_inject_now_ns() < until);
    bool rests = cw_idle_wait(c->context, patience_ns) || cw_stream_capture_is_under_way();
    const char *why = !rests ? CW_WHY_WAITS : c->running || !cw_batch_at_rest() ? CW_WHY_BESIDE : obstacle(c);
    if (!why && cw_reach_why()) { /* passes before the program's own launch allow no proof */
        cw_once_enter(c, id, call, !apart || cw_range_wants(id, call), cw_reach_why());
        return;
    }
    if (!why && !cw_checkpoint_has_room(0)) {
        cw_once_enter(c, id, call, !apart || cw_range_wants(id, call),
                      cw_batch_fall_short(cw_batch_of(c), cw_batch_no_room));
        return;
    }
    bool may_run_once = false;
    if (!why && !cw_inject->over)
        why = cw_graph_batch_collect(c, id, call, &may_run_once);
    if (why && may_run_once)
        cw_once_enter(c, id, call, !apart || cw_range_wants(id, call), why);
    else if (why)
        cw_collection_skip(c, why);
}

/* Ends batches of other contexts before a call that may change their memory: contexts of the same device, or of any if
 * the call frees something, because a program may free memory of another device than the current one. `c`: NULL if no
 * context is current. */
static void end_others(const struct cw_collection *c, bool of_any_device, const char *by)
{
    for (uint32_t i = 0; i < cw_collections->slot_count; i++) {
        struct cw_collection *other = &cw_collections->slots[i];
        if (self->items[i].open && other != c && (of_any_device || (c && other->device == c->device)))
            cw_batch_end(other, by);
    }
}

static void end_neighbours(const struct cw_collection *c)
{
    end_others(c, false, ended_by_neighbour);
}

/* Whether a launch may be counted once between batches: false if this would take more than a quarter of the time.
 * Switching CUPTI there and back takes 0.6 s on an H100, and a training step has dozens of collectives. */
static bool affords_switch(void)
{
    static const uint64_t free_ns = 5000000000;
    enum { SWITCH_SHARE = 4 };
    return self->switched_ns < free_ns + (self->first_ns ? cw_inject_now_ns() - self->first_ns : 0) / SWITCH_SHARE;
}

/* Counts a launch once. `reaches`: only this launch is, and launches around it are repeated. */
static void count_once(struct cw_collection *c, CUpti_CallbackId id, const CUpti_CallbackData *call, bool wanted,
                       const char *why, bool reaches)
{
    const uint64_t begin = cw_inject_now_ns();
    const bool switches =
        reaches && wanted && !c->running && c->configured.image && c->configured.kind != CW_COLLECT_ONCE;
    if (switches && !affords_switch()) {
        cw_collection_skip(c, too_dear);
        return;
    }
    cw_once_enter(c, id, call, wanted, why);
    self->in_vain = self->in_vain || (reaches && cw_batch_of(c)->reaches && cw_inject_now_ns() - begin > patience_ns);
    if (!switches)
        return;
    self->first_ns = self->first_ns ? self->first_ns : begin;
    self->switched_ns += 2 * (cw_inject_now_ns() - begin);
}

/* Whether a launch that cannot be repeated for this reason is counted once. Other reasons rule that out as well: an
 * active launch of another thread, a stream's capture, or a kernel that does not end. */
static bool is_reason_for_once(const char *why)
{
    return why == cw_batch_no_room || why == cw_batch_several_devices || why == cw_batch_not_saved ||
           why == cw_batch_not_recorded || why == cw_batch_waits_for_host || why == reached_now ||
           why == cw_batch_not_proven || why == cw_batch_reach_reason() || why == cw_reach_why();
}

static void collect_launch(struct cw_collection *c, CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    struct cw_batch *b = cw_batch_of(c);
    const char *why = add_launch(c, b, id, call);
    if (why && is_reason_for_once(why))
        cw_once_enter(c, id, call, true, why);
    else if (why)
        cw_collection_skip(c, why);
    else if (self->trial != b) {
        c->launches[c->count - 1].data.replay = CW_REPLAY_BATCH;
        cw_collection_enter(c, c->count);
    }
}

/* Notes, after all waits, that a call goes ahead, which no replay must undo. So the trial is marked as disturbed.
 * Unrecorded work of `c` spoils the open batches of its device, or all open batches if it `reaches` others. `c` NULL:
 * the work is recorded, or may be of any context. */
static void goes_ahead(const struct cw_collection *c, bool reaches)
{
    for (uint32_t i = 0; i < cw_collections->slot_count; i++)
        if (self->items[i].open && (reaches || (c && cw_collections->slots[i].device == c->device)))
            self->items[i].spoilt = true;
    for (uint32_t i = 0; reaches && i < cw_collections->slot_count; i++)
        self->items[i].reaches = self->items[i].reaches || !c || &cw_collections->slots[i] == c;
    self->disturbed = true;
}

/* Notes unrecorded work that may bring addresses of host memory to the devices. */
static void may_bring_addresses(void)
{
    for (uint32_t i = 0; i < cw_collections->slot_count; i++)
        self->items[i].since = UINT64_MAX;
}

/* Whether a launch is in its context's batch, or is the trial. */
static bool is_recorded(const struct cw_collection *c, const CUpti_CallbackData *call)
{
    const struct cw_batch *b = cw_batch_of(c);
    bool last = b->open && c->count && c->launches[c->count - 1].correlation == call->correlationId;
    return last || (self->trial == b && b->correlation == call->correlationId);
}

/* Whether another device has a batch that still grows. This launch will end it. */
static bool others_go_on(const struct cw_collection *c)
{
    for (uint32_t i = 0; i < cw_collections->slot_count; i++)
        if (self->items[i].open && !self->items[i].arrived && cw_collections->slots[i].device != c->device)
            return true;
    return false;
}

/* Waits at a collective for the threads of other devices, while they go on. They come to it one after another. The
 * first would end all batches, and launches of the others before the collective could not be repeated. */
static void let_others_arrive(const struct cw_collection *c, struct cw_batch *b)
{
    static const uint64_t pause_ns = 1000000, still_ns = 20000000, most_ns = 2000000000;
    const uint64_t begin = cw_inject_now_ns();
    uint64_t entered = cw_in_flight->entered, since = begin;
    b->arrived = true;
    while (c->context && others_go_on(c) && cw_inject_now_ns() - since < still_ns && since - begin < most_ns) {
        cw_inject_pause(pause_ns);
        since = cw_in_flight->entered == entered ? since : cw_inject_now_ns();
        entered = cw_in_flight->entered;
    }
    b->arrived = false;
}

/* Ends batches before a launch that reaches other devices or processes. */
static void end_reached(const struct cw_collection *c)
{
    let_others_arrive(c, cw_batch_of(c));
    end_others(c, true, ended_by_reach);
}

/* Restores the usual limit on the wait for a collective. It ends once the other processes have come to it, and they may
 * be in the middle of their passes. */
static void be_patient(struct cw_collection *c)
{
    if (cw_batch_of(c)->reaches && !cw_reach_why_all() && !self->in_vain && c->waits == CW_WAITS_KERNEL)
        c->waits = CW_WAITS_NOTHING;
}

/* Lets a launch go ahead uncollected because its kernel may wait for the program's next step, or is queued behind such
 * a kernel. One that is known to wait writes nothing but host memory: a batch that stands by goes on around it. */
static bool passes_by(struct cw_collection *c, struct cw_batch *b, CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    const CUfunction kernel = cw_inject_kernel(id, call);
    uint64_t arguments;
    cw_slow_judge(&b->slow);
    if (cw_inject_launches_graph(id) || self->trial || once_reason(b))
        return false;
    const bool behind = b->slow.runs, slow = cw_slow_is_again(&b->slow, id, call);
    if (!slow && !behind && cw_kernel_habit(kernel) != CW_KERNEL_SIGNALS)
        return false;
    if (!slow && !behind && !cw_shared_given_alone(id, call, &arguments)) {
        cw_kernel_note(kernel, CW_KERNEL_WAITS);
        return false;
    }
    if (b->open && (slow || behind || c->running != CW_STANDS_BY))
        cw_batch_end(c, CW_WHY_WAITS);
    b->familiar = 0;
    if (!c->context)
        return true;
    b->passed = b->open;
    if (cw_range_wants(id, call))
        cw_collection_skip(c, behind ? "a launch behind a kernel that may wait for the host" : CW_WHY_WAITS);
    if (behind) {
        end_neighbours(c);
        goes_ahead(c, false);
    }
    if (slow)
        cw_slow_enter(&b->slow, id, call);
    return true;
}

static bool rest(void);

/* Beside work of a context that is not captured, whose effects and end nobody follows, nothing is repeated if it may
 * reach other devices, and no launch that is given host memory. */
static void meet_stranger(bool reaches)
{
    self->stranger = true;
    if (!reaches || cw_reach_why_all())
        return;
    rest();
    cw_reach_everything("a GPU that is not captured");
    rest();
}

/* Whether a launch uses host memory that work of another device uses as well. Notes what it uses. */
static bool uses_memory_of_several(const struct cw_collection *c, CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    if (!cw_batch_has_neighbour_device(c))
        return false;
    return cw_inject_launches_graph(id) ? cw_graph_batch_uses_several(c, call)
                                        : cw_shared_with_devices(id, call, c->device);
}

static void launch_entered(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    struct cw_collection *c = cw_collection_find(call->context);
    *call->correlationData = cw_in_flight->entered;
    if (!c)
        meet_stranger(cw_reach->peers);
    if (!c || !cw_stream_runs_launch(id, call))
        return;
    const bool several = uses_memory_of_several(c, id, call);
    if (several)
        end_others(c, true, ended_by_neighbour);
    if (passes_by(c, cw_batch_of(c), id, call))
        return;
    const char *reach = cw_reach_why_all() ? NULL : reach_of(c, id, call);
    reach = reach || !several ? reach : cw_batch_several_devices;
    const char *once = reach ? reach : once_reason(cw_batch_of(c));
    be_patient(c);
    if (reach)
        end_reached(c);
    bool graph = cw_inject_launches_graph(id);
    bool apart = graph && !once && !self->trial && !cw_gate->closed && cw_graph_batch_is_apart(c, call);
    bool wanted = apart || cw_range_wants(id, call);
    c->met_graph = c->met_graph || graph;
    if (self->trial && wanted)
        cw_collection_skip(c, CW_WHY_BESIDE);
    else if (self->trial)
        ; /* nothing to collect */
    else if (once || (!wanted && c->kind == CW_COLLECT_ONCE && c->running)) {
        end_neighbours(c);
        end_batch(c);
        count_once(c, id, call, wanted, once, reach && !cw_batch_reach_reason());
    } else if (wanted && !graph)
        collect_launch(c, id, call);
    else if (!wanted) {
        end_neighbours(c);
        cw_batch_end(c, "an unwanted launch");
    } else if (!apart || !add_graph(c, cw_batch_of(c), id, call))
        collect_graph(c, id, call, apart);
    c->met_graph = c->met_graph || graph; /* again: another thread may have begun and ended a batch */
    if (c->context && !is_recorded(c, call)) {
        goes_ahead(c, reach);
        may_bring_addresses();
    }
}

static void launch_left(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    struct cw_collection *c = cw_collection_find(call->context);
    struct cw_batch *b = c ? cw_batch_of(c) : NULL;
    if (b)
        cw_slow_leave(&b->slow, id, call);
    if (b && b == self->trial && b->correlation == call->correlationId)
        cw_batch_end_trial(c, id, call);
    else if (c && c->kind == CW_COLLECT_ONCE)
        cw_once_leave(c, id, call);
    else if (c && c->running && cw_collection_launched(c, call)) {
        cw_collection_leave(c);
        const bool graph = cw_inject_launches_graph(id);
        b->spoilt = b->spoilt || (b->open && graph && cw_inject_refused(call)); /* some of its kernels may run */
        if (c->running == CW_STANDS_BY && !cw_inject_refused(call) && graph)
            cw_graph_batch_see(c, call, *call->correlationData);
        else if (c->running == CW_STANDS_BY && !cw_inject_refused(call) &&
                 (cw_kernel_habit(cw_inject_kernel(id, call)) == CW_KERNEL_UNKNOWN ||
                  cw_record_launch_shares(&b->record))) {
            const bool shares = cw_record_launch_shares(&b->record);
            const uint64_t since = cw_inject_now_ns();
            cw_batch_see(c, cw_inject_kernel(id, call), *call->correlationData);
            if (shares && cw_in_flight->entered == *call->correlationData + 1) /* else it waited for other threads */
                cw_slow_note(&b->slow, id, call, cw_inject_now_ns() - since);
        }
        b->spoilt = b->spoilt || (b->open && cw_batch_has_new_variables(b)); /* the launch itself may use them */
        if (b->open && cw_inject_refused(call))
            cw_record_refuse(&b->record);
        const bool managed = cw_pinned->managed || cw_variables->managed; /* the program may write it next */
        if (b->open && (managed || is_suspect(id, call)) && !c->pending && cw_batch_at_rest())
            cw_batch_end(c, managed ? "managed memory of the program" : ended_by_suspect);
    }
}

static void end_for_others(struct cw_collection *c)
{
    cw_batch_end(c, "a stream's capture, or memory that others reach");
}

static void end_for_gate(struct cw_collection *c)
{
    cw_batch_end(c, "the end of the captured time");
}

static bool rest(void)
{
    cw_collection_each(end_for_others);
    return !cw_collection_any_runs();
}

static void gate_turned(bool open)
{
    if (!open)
        cw_collection_each(end_for_gate);
}

/* A batch holds whole periods, as many as there is room for. */
static void period_began(uint64_t launches)
{
    for (uint32_t i = 0; i < cw_collections->slot_count && !cw_inject->over; i++) {
        struct cw_collection *c = &cw_collections->slots[i];
        if (self->items[i].open && c->count + launches > cw_collections->at_once)
            cw_batch_end(c, "a period");
    }
}

static void give_way(struct cw_collection *c)
{
    if (!c->pending && cw_batch_at_rest())
        cw_batch_end(c, "another process that waits for the counters");
}

static bool wants(CUpti_CallbackId id)
{
    return cw_record_wants(id);
}

/* Notes a copy to the host. If there are too many, the last entry stands for all memory. */
static void note_unread(struct cw_batch *b, CUpti_CallbackId id, const void *params)
{
    if (b->unread_count < CW_MOST_UNREAD)
        b->unread[b->unread_count++] = cw_transfer_host(id, params);
    else
        b->unread[CW_MOST_UNREAD - 1] = (struct cw_host_bytes){0, UINTPTR_MAX};
}

/* Whether it is too early to record a copy: the record keeps the source as it is now, but another copy still writes
 * it. */
static bool is_early(const struct cw_batch *b, CUpti_CallbackId id, const void *params)
{
    const struct cw_host_bytes from = b->unread_count ? cw_transfer_host(id, params) : (struct cw_host_bytes){0, 0};
    for (uint32_t i = 0; from.end && i < b->unread_count; i++)
        if (from.begin < b->unread[i].end && b->unread[i].begin < from.end)
            return true;
    return false;
}

/* Whether it is too early because a kernel may still write the source. CUPTI waits for kernels, but not in a batch that
 * stands by. */
static bool is_written(const struct cw_collection *c, CUpti_CallbackId id, const void *params)
{
    if (c->running != CW_STANDS_BY || !cw_transfer_host(id, params).end)
        return false;
    cw_in_flight_hold();
    const bool rests = cw_idle_wait(c->context, patience_ns);
    cw_in_flight_release();
    return !rests;
}

/* Whether a host function becomes part of the first pass, as the program's own work behind a wait does. It must have
 * ended by itself before. It makes no CUDA calls, and its context rests before later work follows. If CUPTI is armed,
 * the batch ends before the function: if the function waits for the program after all, CUPTI's stop, or a launch under
 * CUPTI, would wait without end. */
static bool lets_by(const struct cw_collection *c, const struct cw_batch *b, CUpti_CallbackId id,
                    const CUpti_CallbackData *call)
{
    const bool can = b && b->open && c->running == CW_STANDS_BY;
    const CUfunction function = can ? cw_inject_host_function(id, call->functionParams) : NULL;
    return function && cw_kernel_habit(function) == CW_KERNEL_RESTS;
}

/* Whether host memory may be freed while batches are open: none of their launches needs the memory itself. */
static bool spares(CUpti_CallbackId id, const void *params)
{
    bool spared = id == CUPTI_DRIVER_TRACE_CBID_cuMemFreeHost && !self->trial;
    void *memory = spared ? ((const cuMemFreeHost_params *)params)->p : NULL;
    for (uint32_t i = 0; spared && i < cw_collections->slot_count; i++)
        spared = !self->items[i].open ||
                 (self->items[i].checkpoint.mirror && cw_record_free_host(&self->items[i].record, memory));
    return spared;
}

/* Finds out whether a host function ends by itself, or perhaps waits for the program's next step. */
static void watch_function(struct cw_collection *c, struct cw_batch *b, CUfunction function)
{
    const enum cw_kernel_habit habit = cw_kernel_habit(function);
    if (habit == CW_KERNEL_WAITS || (habit == CW_KERNEL_RESTS && !b->open) || cw_stream_capture_is_under_way())
        return;
    const bool rests = cw_idle_wait(c->context, b->open ? patience_ns : function_patience_ns);
    if (cw_stream_capture_is_under_way() || !c->context)
        return;
    cw_kernel_note(function, rests ? CW_KERNEL_RESTS : CW_KERNEL_WAITS);
    c->waits = rests ? CW_WAITS_NOTHING : CW_WAITS_STREAM;
    if (!rests)
        b->waits = b->spoilt = b->open;
}

/* Call it before code is unloaded. `module` NULL: any module may go. */
static void code_goes(CUmodule module)
{
    for (uint32_t i = 0; i < cw_collections->slot_count; i++)
        cw_slow_code_goes(&self->items[i].slow, module);
    cw_collection_code_goes();
}

/* Whether a call that is none of the known copies may copy from or to memory of the host. */
static bool may_copy_host(const char *name)
{
    static const char *const device_alone[] = {"cuMemcpyPeer", "cuMemcpyAtoA", "cuMemcpyAtoD", "cuMemcpyDtoA"};
    bool may = strncmp(name, "cuMemcpy", 8) == 0;
    for (size_t i = 0; i < sizeof device_alone / sizeof *device_alone; i++)
        may = may && strncmp(name, device_alone[i], 12) != 0;
    return may;
}

/* Whether a copy or set uses host memory that work of another device uses as well. Notes what it uses: its stream may
 * be of the device that the copy is to or from, where another one is current. */
static bool uses_others_memory(const struct cw_collection *c, CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    uint64_t start;
    size_t size;
    if (!c || !cw_batch_has_neighbour_device(c))
        return false;
    if (!cw_transfer_is(id))
        return may_copy_host(cw_inject_call_name(id)) && cw_pinned_use_all(c->device);
    const struct cw_host_bytes host = cw_transfer_host(id, call->functionParams);
    const uint64_t at = cw_transfer_sets_host(id, call->functionParams)
                            ? ((const cuMemsetD8_v2_params *)call->functionParams)->dstDevice
                            : host.begin;
    if (!at || !cw_pinned_holds(at, &start, &size))
        return false;
    const int device = cw_transfer_device(id, call->functionParams);
    const bool several = cw_pinned_use(at, c->device);
    return (device >= 0 && cw_pinned_use(at, (uint32_t)device)) || several;
}

static void call_entered(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    struct cw_collection *c = cw_collection_find(call->context);
    struct cw_batch *b = c ? cw_batch_of(c) : NULL;
    cw_graph_follow(id, call);
    if (b)
        cw_slow_judge(&b->slow);
    bool at_once;
    enum cw_effect effect = cw_record_effect(id, call, &at_once);
    if (cw_stream_capture_begins(id))
        rest();
    const bool sets_host =
        effect == CW_EFFECT_RECORD && (!c || c->running != CW_ARMED) && cw_transfer_sets_host(id, call->functionParams);
    bool changes = (effect == CW_EFFECT_END && !lets_by(c, b, id, call) && !spares(id, call->functionParams)) ||
                   (effect == CW_EFFECT_RECORD && !sets_host);
    self->disturbed = self->disturbed || changes || sets_host;
    bool last = effect == CW_EFFECT_WAIT && b && b->unread_count && cw_range_affords_end();
    const bool gives_back = changes && effect == CW_EFFECT_END && cw_record_gives_back(id);
    const bool crosses = (changes && cw_reach_crosses(id, call)) || uses_others_memory(c, id, call);
    if (!c && call->context && crosses)
        meet_stranger(true);
    if (changes || last || crosses)
        end_others(c, gives_back || crosses, gives_back || crosses ? cw_inject_call_name(id) : ended_by_neighbour);
    bool early = b && changes && effect == CW_EFFECT_RECORD &&
                 (is_early(b, id, call->functionParams) || is_written(c, id, call->functionParams));
    bool recorded = b && b->open && changes && effect == CW_EFFECT_RECORD && !b->spoilt && !early && !crosses &&
                    cw_record_add(&b->record, id, call, false);
    if (b && b->open && effect == CW_EFFECT_READ && !at_once)
        note_unread(b, id, call->functionParams);
    if (b && b->open && (last || crosses || (changes && !recorded)))
        cw_batch_end(c, cw_inject_call_name(id));
    if (id == CUPTI_DRIVER_TRACE_CBID_cuModuleUnload)
        code_goes(((const cuModuleUnload_params *)call->functionParams)->hmod);
    else if (id == CUPTI_DRIVER_TRACE_CBID_cuLibraryUnload)
        code_goes(NULL);
    if (c && cw_inject_blocks_stream(id))
        c->waits = CW_WAITS_STREAM;
    if (changes && !recorded && !cw_record_gives_back(id))
        may_bring_addresses();
    if (changes || crosses)
        goes_ahead(c && c->context && !recorded && !crosses ? c : NULL, crosses);
    *call->correlationData = changes || sets_host || effect == CW_EFFECT_END ? CW_BATCH_CHANGES : CW_BATCH_READS;
    self->in_flight[*call->correlationData]++;
}

/* Ends a batch after the program has read results, because it may be killed next, or leave without its exit
 * handlers. */
static void call_left(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    struct cw_collection *c = cw_collection_find(call->context);
    cw_graph_follow(id, call);
    uint64_t *kind = call->correlationData;
    if (*kind <= CW_BATCH_READS && self->in_flight[*kind])
        self->in_flight[*kind]--;
    const CUfunction function = c ? cw_inject_host_function(id, call->functionParams) : NULL;
    if (function && !cw_inject_refused(call))
        watch_function(c, cw_batch_of(c), function);
    bool at_once, read = cw_record_effect(id, call, &at_once) == CW_EFFECT_READ && at_once;
    if (c && c->running && read && cw_batch_at_rest() && !c->pending && cw_range_affords_end())
        cw_batch_end(c, cw_inject_call_name(id));
}

static void end_with_program(struct cw_collection *c)
{
    cw_batch_end(c, "the end of the program");
}

static void finish(void)
{
    cw_collection_finish(end_with_program);
}

static void abandon(void)
{
    for (uint32_t i = 0; i < cw_collections->slot_count; i++) {
        struct cw_batch *b = &self->items[i];
        const struct cw_collection *c = &cw_collections->slots[i];
        /* freeing memory would wait for it */
        bool kernel_runs = (b->saved && !b->open) || c->pending ||
                           (c->running == CW_STANDS_BY && !cw_idle_wait(c->context, patience_ns));
        if (!kernel_runs)
            cw_batch_forget(b);
        b->open = false;
    }
    cw_collection_stop_all();
}

/* Later captures do without the memory that this one knew, as they do not see it change. */
static bool reset(void)
{
    const bool ended = cw_range_reset();
    memset(cw_batches, 0, sizeof *cw_batches);
    cw_checkpoint_library->by_changes = false;
    cw_pinned_forget();
    cw_graphs_forget();
    return ended;
}

const struct cw_inject_mode cw_inject_batch = {.facts = true,
                                               .load = cw_range_load,
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
                                               .rest = rest,
                                               .gate_turned = gate_turned,
                                               .reset = reset,
                                               .period_began = period_began,
                                               .give_way = give_way,
                                               .module_loaded = cw_module_look};
