#define _GNU_SOURCE
#include "agent/inject/modes/batches.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/inject/driver/idle.h"
#include "agent/inject/driver/in_flight.h"
#include "agent/inject/driver/module.h"
#include "agent/inject/driver/reach.h"
#include "agent/inject/driver/say.h"
#include "agent/inject/driver/stream_capture.h"
#include "agent/inject/driver/stuck.h"
#include "agent/inject/memory/kernels.h"
#include "agent/inject/memory/pinned.h"
#include "agent/inject/modes/once.h"
#include "agent/inject/modes/range.h"
#include "base/demangle.h"

static const uint64_t patience_ns = 2000000000, least_watch_ns = 3000000000, watch_each_ns = 20000000;
const uint64_t cw_batch_rest_patience_ns = 60000000000;
enum { TAKEN = 4, MOST_TAKEN = 12 }; /* launches that are to be repeated for one that is lost; how many may be due */
enum { WATCH = 20 };                 /* a replay may take at most so many times as long as the program's own run */
enum { MOST_LACKED = 8 };            /* each costs its launches, and a start of the profiler (0.25 s) */

#define self cw_batches

const char cw_batch_no_room[] = CW_ONCE_NO_ROOM,
           cw_batch_several_devices[] = "several GPUs may use the host memory that it is given",
           cw_batch_not_saved[] = "its GPU's memory could not be saved",
           cw_batch_not_recorded[] = "its arguments, or memory that the host shares with it, could not be kept",
           cw_batch_waits_for_host[] = CW_ONCE_WAITS,
           cw_batch_not_proven[] = "memory that other processes reach could not be checked",
           cw_batch_reaches[] = "its kernel changed memory that other processes reach";

static const char no_thread[] = "a launch that is given host memory, because no thread is there to watch it";
static const char why_used[] = "a launch whose host memory another thread may use";
static const char why_touched[] = "a launch during which memory changed that other processes reach";
static const char why_lacking[] = "a launch that wrote memory for which there was no room to save it";
static const char why_loaded[] = "a launch while code was loaded, whose variables cannot be put back";

struct cw_batch *cw_batch_of(const struct cw_collection *c)
{
    return &self->items[c - cw_collections->slots];
}

bool cw_batch_quiet(void)
{
    return !self->trial && !self->in_flight[CW_BATCH_CHANGES] && cw_collection_noted_all();
}

bool cw_batch_at_rest(void)
{
    return cw_batch_quiet() && !self->in_flight[CW_BATCH_READS];
}

void cw_batch_wait_for_others(const struct cw_collection *c)
{
    cw_in_flight_hold();
    cw_collection_wait(c, patience_ns);
    cw_in_flight_wait(cw_batch_at_rest);
    cw_in_flight_release();
}

void cw_batch_turn(struct cw_collection *c, enum cw_effort_phase to)
{
    cw_effort_turn(&c->effort, to, cw_inject_now_ns());
}

const char *cw_batch_reach_reason(void)
{
    const bool would_restore = cw_reach_beyond() && !cw_checkpoint_leaves_out();
    return would_restore ? cw_reach_why() : cw_reach_why_all();
}

/* Whether others have gained access to memory since it was saved. */
static bool is_reached(const struct cw_batch *b)
{
    return cw_batch_reach_reason() || b->changes != cw_reach->changes;
}

/* ---- memory ----------------------------------------------------------------------------------------------------- */

void cw_batch_forget(struct cw_batch *b)
{
    if (b->saved)
        cw_checkpoint_free(&b->checkpoint);
    b->saved = false;
    b->thread = 0;
    b->since = b->record.first ? cw_pinned->count : b->since;
    cw_record_clear(&b->record);
}

const char *cw_batch_fall_short(struct cw_batch *b, const char *why)
{
    b->short_ns = cw_inject_now_ns();
    b->short_why = why;
    return why;
}

/* The reason why memory cannot be restored, after a try. Memory that lacks a copy gets one, so the next batch may be
 * repeated; if several in a row cannot, launches are counted once for some seconds, by which nothing is lost. */
static const char *unrestored(struct cw_batch *b)
{
    if (!cw_checkpoint_lacks(&b->checkpoint))
        return cw_batch_not_saved;
    if (++b->lacked == MOST_LACKED) {
        cw_batch_fall_short(b, cw_batch_no_room);
        b->lacked = 0;
    }
    return why_lacking;
}

const char *cw_batch_save(struct cw_collection *c, struct cw_batch *b)
{
    if (!cw_checkpoint_has_room(0))
        return cw_batch_fall_short(b, cw_batch_no_room);
    cw_batch_turn(c, CW_EFFORT_SAVE);
    b->modules = atomic_load(&cw_variables->modules);
    b->changes = cw_reach->changes;
    b->saved = cw_checkpoint_save(&b->checkpoint, c->context);
    const char *why = !b->saved                                ? cw_batch_not_saved
                      : !cw_proof_begin(&b->proof, c->context) ? cw_batch_not_proven
                                                               : NULL;
    if (why && b->saved)
        cw_batch_forget(b);
    cw_batch_turn(c, CW_EFFORT_NONE);
    return why ? cw_batch_fall_short(b, why) : NULL;
}

/* ---- memory that others reach ------------------------------------------------------------------------------------ */

struct judged {
    bool same;
    CUfunction first; /* first kernel of the batch */
    bool several;     /* the batch has several kernels */
};

static void count_kernel(void *user, CUfunction kernel)
{
    struct judged *j = user;
    j->several = j->several || (j->first && j->first != kernel);
    j->first = kernel;
}

static void judge(void *user, CUfunction kernel)
{
    const struct judged *j = user;
    if (!j->same)
        cw_kernel_note(kernel, j->several ? CW_KERNEL_SUSPECT : CW_KERNEL_REACHES);
    else if (cw_kernel_habit(kernel) == CW_KERNEL_SUSPECT)
        cw_kernel_note(kernel, CW_KERNEL_RESTS);
}

static void tell_guilty(const char *kernel)
{
    char *readable = cw_demangle(kernel);
    cw_say("memory that other processes reach changed while kernel %.200s ran, which was not given its address: the "
           "kernel is counted in one pass at a time from here on",
           readable ? readable : kernel);
    free(readable);
}

/* Whether the first pass left memory alone that others reach. If not, another process or one of the kernels has changed
 * it. Each of the kernels runs in a batch of its own next time; a kernel that already ran alone is guilty. */
static bool left_alone(struct cw_collection *c, struct cw_batch *b)
{
    if (!b->proof.needed)
        return true;
    struct judged judged = {.same = cw_proof_holds(&b->proof, c->context)};
    cw_record_kernels(&b->record, count_kernel, &judged);
    cw_record_kernels(&b->record, judge, &judged);
    if (!judged.same && !judged.several && c->count)
        tell_guilty(c->launches[0].data.kernel);
    return judged.same;
}

bool cw_batch_has_new_variables(const struct cw_batch *b)
{
    return atomic_load(&cw_variables->modules) != b->modules;
}

/* ---- passes ----------------------------------------------------------------------------------------------------- */

static void enter(void *user, uint32_t launch)
{
    cw_stuck_launch();
    cw_collection_enter(user, launch);
}

static void leave(void *user)
{
    cw_collection_leave(user);
}

/* Called if a replay does not end, because it waits for the host's later writes: puts these writes back. */
static void let_go(void *shared)
{
    cw_shared_let_go(shared);
}

/* Repeats the batch; *late: it did not end in time, and its wait was ended. */
static CUresult play(struct cw_collection *c, struct cw_batch *b, bool counts, bool *late)
{
    bool shares = b->record.shared.first != NULL;
    const uint64_t least = least_watch_ns + c->count * watch_each_ns, own = WATCH * (b->ended_ns - b->began_ns),
                   limit = own < least                       ? least
                           : own < cw_batch_rest_patience_ns ? own
                                                             : cw_batch_rest_patience_ns;
    if (shares && !cw_idle_watch(limit, let_go, &b->record.shared))
        return CUDA_ERROR_UNKNOWN;
    CUresult result = cw_record_play(&b->record, counts ? enter : NULL, counts ? leave : NULL, c);
    *late = shares && cw_idle_watch_end();
    cw_stuck_launched();
    return result;
}

bool cw_batch_stop_pass(struct cw_collection *c, bool *more)
{
    cw_batch_turn(c, CW_EFFORT_STOP);
    return cw_collection_stop_pass(c, more);
}

bool cw_batch_next_part(struct cw_collection *c, bool *more)
{
    cw_batch_turn(c, CW_EFFORT_DECODE);
    return cw_collection_next_part(c, more);
}

void cw_batch_tell(const char *text)
{
    if (cw_inject->over)
        cw_say("%s", text);
    else
        cw_inject_fail(CW_ERR_DEVICE, "%s", text);
}

static void leave_pass(struct cw_collection *c, bool started)
{
    PARAMS(CUpti_RangeProfiler_Stop_Params, stop, .pRangeProfilerObject = c->object);
    if (started)
        cw_inject->api.cuptiRangeProfilerStop(&stop);
    cw_collection_release(c);
}

/* Ends the capture after a launch failed in a repeated pass. Memory is then neither as before the batch nor as behind
 * it. So this restores it and repeats the batch without the profiler, which may go well. */
static void end_behind_failure(struct cw_collection *c, struct cw_batch *b, CUresult result)
{
    char text[240];
    bool late;
    const bool right = cw_checkpoint_restore(&b->checkpoint) && play(c, b, false, &late) == CUDA_SUCCESS;
    snprintf(text, sizeof text,
             "found that a launch failed (CUDA error %d) in a repeated pass of a batch of %" PRIu32
             "%s, and the capture ends here",
             (int)result, c->count,
             right ? "; the program has its usual results" : ", and again without the profiler; " CW_MAY_BE_WRONG);
    cw_batch_tell(text);
}

static void end_without_memory(const struct cw_collection *c, const struct cw_batch *b)
{
    char text[240];
    snprintf(text, sizeof text,
             "found that device memory could not be put back (%s error %d) for another pass of a batch of %" PRIu32
             "; " CW_MAY_BE_WRONG ", and the capture ends here",
             b->checkpoint.mirror ? "CUDA" : "CUPTI", b->checkpoint.error, c->count);
    cw_batch_tell(text);
}

static void drop_launches(struct cw_collection *c, const char *why)
{
    for (uint32_t i = 0; i < c->count; i++)
        if (!c->launches[i].data.unwanted)
            cw_collection_skip(c, why);
    cw_collection_forget(c);
    cw_collection_release(c);
}

/* Drops the batch without a replay; its results stay in memory. `armed`: stops CUPTI first. */
static void drop_batch(struct cw_collection *c, bool armed, const char *why)
{
    PARAMS(CUpti_RangeProfiler_Stop_Params, stop, .pRangeProfilerObject = c->object);
    if (armed)
        cw_inject->api.cuptiRangeProfilerStop(&stop);
    drop_launches(c, why);
}

static void note_waiting(void *user, CUfunction kernel)
{
    (void)user;
    cw_kernel_note(kernel, CW_KERNEL_WAITS);
}

/* Restores memory for a pass; *partly: only what earlier passes are known to have changed. The program goes on from the
 * last pass, before which all of memory is looked at. So it is where a kernel may have to be let go. */
static bool restore_for_pass(const struct cw_collection *c, struct cw_batch *b, bool started, bool *partly)
{
    *partly = !started && !b->record.shared.first && !cw_collection_has_last_pass(c);
    if (started)
        return cw_checkpoint_restore_started(&b->checkpoint);
    return *partly ? cw_checkpoint_restore_between(&b->checkpoint) : cw_checkpoint_restore(&b->checkpoint);
}

/* Starts the pass of a repetition. If that fails, the repetition is the program's last one. */
static bool start_pass(struct cw_collection *c, struct cw_batch *b, bool *restored, bool *partly)
{
    if (*restored && cw_collection_start_pass(c))
        return true;
    if (*restored && *partly)
        *restored = cw_checkpoint_restore(&b->checkpoint);
    *partly = false;
    return false;
}

/* After a failure behind a pass for which memory was restored partly: does everything once more. */
static void end_behind_part(struct cw_collection *c, struct cw_batch *b)
{
    bool late;
    const bool restored = cw_checkpoint_restore(&b->checkpoint);
    const CUresult result = restored ? play(c, b, false, &late) : CUDA_SUCCESS;
    if (!restored)
        end_without_memory(c, b);
    else if (result != CUDA_SUCCESS)
        end_behind_failure(c, b, result);
}

bool cw_batch_replay(struct cw_collection *c, struct cw_batch *b, bool tried)
{
    bool more = tried, started = tried, late = false, partly = false, done = tried || cw_batch_stop_pass(c, &more);
    if (done && !tried && !left_alone(c, b)) {
        drop_batch(c, false, why_touched);
        return false;
    }
    while (done && !late && (more || (cw_batch_next_part(c, &more) && more))) {
        cw_batch_turn(c, CW_EFFORT_RESTORE);
        bool restored = restore_for_pass(c, b, started, &partly);
        if (!restored && cw_checkpoint_lacks(&b->checkpoint)) {
            drop_batch(c, started, unrestored(b));
            return false;
        }
        b->lacked = 0;
        cw_batch_turn(c, CW_EFFORT_START);
        started = started || start_pass(c, b, &restored, &partly);
        cw_batch_turn(c, CW_EFFORT_LAUNCH);
        CUresult result = restored ? play(c, b, true, &late) : CUDA_SUCCESS;
        const bool failed = !restored || result != CUDA_SUCCESS;
        partly = partly && !failed;
        if (failed)
            leave_pass(c, started);
        if (!restored)
            end_without_memory(c, b);
        else if (failed)
            end_behind_failure(c, b, result);
        done = started && !failed && cw_batch_stop_pass(c, &more);
        started = false;
    }
    if (partly)
        end_behind_part(c, b);
    if (late && c->count > 1) /* later launches of the pass have found the memory as it is at the end */
        cw_say("a kernel waited for the host when its batch was repeated; " CW_MAY_BE_WRONG);
    if (late) {
        cw_record_given_host(&b->record, note_waiting, NULL);
        drop_launches(c, CW_WHY_WAITS);
    }
    return done && !late && !cw_inject->over;
}

/* ---- the end ---------------------------------------------------------------------------------------------------- */

void cw_batch_deliver(struct cw_collection *c)
{
    cw_batch_turn(c, CW_EFFORT_NONE);
    cw_collection_deliver(c);
}

/* Arms CUPTI for a batch that ran without it, so that all passes come behind. Returns NULL, or the reason why not. */
static const char *arm_behind(struct cw_collection *c, struct cw_batch *b)
{
    cw_batch_turn(c, CW_EFFORT_RESTORE);
    if (!cw_checkpoint_look(&b->checkpoint))
        return unrestored(b);
    cw_batch_turn(c, CW_EFFORT_SETUP);
    cw_collection_arm(c, CW_COLLECT_LAUNCHES);
    c->running = CW_STOPPED; /* no other code must end it */
    return c->kept_out;
}

/* Waits for launches that ran without CUPTI: memory must not be restored while they run. */
static void come_to_rest(struct cw_collection *c, struct cw_batch *b)
{
    const uint64_t limit = b->passed ? patience_ns : cw_batch_rest_patience_ns, until = cw_inject_now_ns() + limit;
    uint64_t entered;
    cw_in_flight_hold();
    do { /* again, if held-up threads have gone on, as they do after a while */
        entered = c->pending ? UINT64_MAX : cw_in_flight->entered;
        if (!cw_idle_wait(c->context, limit))
            b->waits = b->spoilt = true;
        else if (cw_in_flight->entered != entered && cw_inject_now_ns() > until)
            b->spoilt = true;
    } while (c->running == CW_STANDS_BY && !c->pending && !b->spoilt && cw_in_flight->entered != entered);
    cw_in_flight_release();
}

void cw_batch_see(struct cw_collection *c, CUfunction kernel, uint64_t entered)
{
    struct cw_batch *b = cw_batch_of(c);
    cw_in_flight_hold();
    const bool rests = cw_idle_wait(c->context, CW_KERNEL_WATCH_NS);
    cw_in_flight_release();
    cw_kernel_seen(kernel, rests, entered);
    b->passed = b->passed && !rests;
    if (rests || cw_stream_capture_is_under_way())
        return;
    c->waits = CW_WAITS_KERNEL;
    b->waits = b->spoilt = b->open;
}

static void give_taken(uint32_t launches)
{
    self->taken -= self->taken < launches ? self->taken : launches;
}

/* Whether a thread of the program may still use its host memory. */
static bool lives(uint64_t thread)
{
    return syscall(SYS_tgkill, getpid(), (pid_t)thread, 0) == 0 || errno != ESRCH;
}

/* Replays a batch in its own context, which may not be the current one. `armed`: the program's own run was the first
 * pass. */
static void replay_batch(struct cw_collection *c, struct cw_batch *b, bool armed)
{
    CUcontext current = NULL;
    cw_inject->api.cuCtxGetCurrent(&current);
    bool pushed = current != c->context && cw_inject->api.cuCtxPushCurrent_v2(c->context) == CUDA_SUCCESS;
    const char *kept_out = NULL;
    if (b->spoilt || is_reached(b))
        drop_batch(c, armed,
                   !b->spoilt                      ? CW_WHY_REACHED
                   : b->waits                      ? CW_WHY_WAITS
                   : cw_batch_has_new_variables(b) ? why_loaded
                                                   : CW_WHY_BESIDE);
    else if (current != c->context && !pushed)
        drop_batch(c, armed, "launches of a context that could not be made current again");
    else if (b->thread && b->thread != cw_inject_thread() && lives(b->thread) &&
             cw_shared_is_there(&b->record.shared)) {
        self->taken += TAKEN * c->count;
        drop_batch(c, armed, why_used);
    } else if (!cw_shared_keep_after(&b->record.shared))
        drop_batch(c, armed, CW_WHY_TOO_MUCH_SHARED);
    else if (!armed && !left_alone(c, b))
        drop_batch(c, false, why_touched);
    else if (!armed && (kept_out = arm_behind(c, b)))
        drop_batch(c, false, kept_out);
    else if (!cw_inject->over) {
        give_taken(b->record.shared.first ? c->count : 0);
        if (cw_batch_replay(c, b, !armed))
            cw_batch_deliver(c);
        cw_shared_put_after(&b->record.shared);
    }
    if (pushed)
        cw_inject->api.cuCtxPopCurrent_v2(&current);
}

void cw_batch_end(struct cw_collection *c, const char *by)
{
    if (c->running && c->kind == CW_COLLECT_ONCE)
        cw_once_end(c);
    else if (c->running)
        cw_batch_wait_for_others(c);
    if (!c->running || c->kind == CW_COLLECT_ONCE)
        return;
    struct cw_batch *b = cw_batch_of(c);
    if (c->running == CW_STANDS_BY && !c->pending && !b->spoilt)
        come_to_rest(c, b);
    if (!c->running || c->kind == CW_COLLECT_ONCE)
        return;
    if (c->pending) { /* CUPTI cannot stop now, and later work is not recorded */
        b->spoilt = b->open;
        return;
    }
    if (!b->open) {
        cw_collection_flush(c);
        return;
    }
    uint64_t begin = b->ended_ns = cw_inject_now_ns();
    const bool armed = c->running == CW_ARMED;
    c->running = CW_STOPPED;
    b->open = false;
    c->effort.ended = by;
    replay_batch(c, b, armed);
    c->effort.ended = NULL; /* also if nothing was sent */
    const bool rests = !b->waits;
    b->spoilt = b->waits = b->passed = false;
    b->thread = 0;
    b->unread_count = 0;
    cw_range_spend(begin);
    cw_batch_turn(c, CW_EFFORT_RESTORE);
    if (rests) /* otherwise freeing memory would wait for the kernel */
        cw_batch_forget(b);
    cw_batch_turn(c, CW_EFFORT_NONE);
}

/* ---- a trial ---------------------------------------------------------------------------------------------------- */

bool cw_batch_has_neighbour_device(const struct cw_collection *c)
{
    for (uint32_t i = 0; i < cw_collections->slot_count; i++)
        if (cw_collections->slots[i].context && cw_collections->slots[i].device != c->device)
            return true;
    return false;
}

bool cw_batch_is_taken(void)
{
    return self->taken >= MOST_TAKEN;
}

const char *cw_batch_why_alone(void)
{
    if (cw_reach_why_all() || cw_reach_beyond() || cw_reach->collectives)
        return cw_reach_why_all() ? cw_reach_why_all() : cw_reach_why();
    return self->stranger ? cw_batch_several_devices : NULL;
}

const char *cw_batch_begin_trial(struct cw_collection *c, struct cw_batch *b, CUpti_CallbackId id,
                                 const CUpti_CallbackData *call)
{
    CUfunction kernel = cw_inject_kernel(id, call);
    bool waits = !cw_batch_at_rest();
    if (waits)
        cw_batch_wait_for_others(c);
    bool clear = cw_batch_at_rest() && !c->running && c->context && !cw_collection_beside(c);
    const char *why = cw_batch_why_alone()               ? cw_batch_why_alone()
                      : cw_kernel_waits(kernel)          ? cw_batch_waits_for_host
                      : cw_stream_capture_is_under_way() ? CW_WHY_CAPTURED
                      : !clear                           ? CW_WHY_BESIDE
                      : !cw_idle_can_watch()             ? no_thread /* checked now: later, memory would be restored */
                                                         : cw_batch_save(c, b);
    if (!why && waits && !cw_shared_renew(&b->record.shared)) /* the work may have written there until now */
        why = CW_WHY_BESIDE;
    if (why)
        return why;
    self->trial = b;
    self->disturbed = false;
    b->began_ns = cw_inject_now_ns();
    b->correlation = call->correlationId;
    cw_batch_turn(c, CW_EFFORT_OWN);
    cw_in_flight_hold();
    return NULL;
}

/* Runs all passes of a launch that has run alone and come to rest. */
static void replay_trial(struct cw_collection *c, struct cw_batch *b, CUpti_CallbackId id,
                         const CUpti_CallbackData *call)
{
    const uint64_t end_ns = b->ended_ns = cw_inject_now_ns();
    if (!cw_shared_keep_after(&b->record.shared)) {
        cw_collection_skip(c, CW_WHY_TOO_MUCH_SHARED);
        return;
    }
    cw_batch_turn(c, CW_EFFORT_RESTORE);
    if (!cw_checkpoint_look(&b->checkpoint)) {
        cw_collection_skip(c, unrestored(b));
        return;
    }
    cw_batch_turn(c, CW_EFFORT_SETUP);
    bool armed = cw_collection_arm(c, CW_COLLECT_LAUNCHES);
    c->running = CW_STOPPED; /* no other code must end it */
    if (armed && cw_collection_note(c, id, call, call->symbolName)) {
        c->launches[0].data.start_ns = b->began_ns;
        c->launches[0].data.end_ns = end_ns;
        c->launches[0].data.replay = CW_REPLAY_BATCH;
        c->effort.ended = "a launch that is given host memory";
        give_taken(1);
        if (cw_batch_replay(c, b, true))
            cw_batch_deliver(c);
        else if (!cw_inject->over)
            cw_kernel_note(cw_inject_kernel(id, call), CW_KERNEL_WAITS);
        cw_shared_put_after(&b->record.shared);
    } else if (c->kept_out)
        cw_collection_skip(c, c->kept_out);
    c->effort.ended = NULL;
    cw_range_spend(end_ns);
}

void cw_batch_end_trial(struct cw_collection *c, CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    struct cw_batch *b = self->trial;
    const uint64_t since = cw_inject_now_ns();
    bool refused = cw_inject_refused(call), rests = cw_idle_wait(c->context, CW_KERNEL_WATCH_NS);
    CUfunction kernel = cw_inject_kernel(id, call);
    if (!cw_stream_capture_is_under_way())
        cw_kernel_note(kernel, rests ? CW_KERNEL_RESTS : CW_KERNEL_WAITS);
    if (rests)
        cw_slow_note(&b->slow, id, call, cw_inject_now_ns() - since);
    bool alone = !self->disturbed && !self->in_flight[CW_BATCH_CHANGES] && !self->in_flight[CW_BATCH_READS] &&
                 cw_collection_noted_all();
    const char *why = cw_stream_capture_is_under_way()        ? CW_WHY_CAPTURED
                      : !rests                                ? CW_WHY_WAITS
                      : cw_batch_why_alone() || is_reached(b) ? CW_WHY_REACHED
                      : !alone || c->running                  ? CW_WHY_BESIDE
                      : cw_batch_has_new_variables(b)         ? why_loaded
                                                              : NULL;
    if (!refused && !why && !cw_inject->over)
        replay_trial(c, b, id, call);
    else if (!refused && why)
        cw_collection_skip(c, why);
    cw_batch_turn(c, CW_EFFORT_NONE);
    if (rests)
        cw_batch_forget(b);
    self->trial = NULL;
    cw_in_flight_release();
}
