/* Collects user ranges, and launches by kernel replay, application replay (one pass a run) or user replay. A device
 * serves one context at a time. */
#include "agent/inject/modes/range.h"

#include "agent/inject/driver/counters.h"
#include "agent/inject/driver/idle.h"
#include "agent/inject/driver/in_flight.h"
#include "agent/inject/driver/reach.h"
#include "agent/inject/driver/stream_capture.h"
#include "agent/inject/memory/checkpoint.h"
#include "agent/inject/memory/graph.h"
#include "agent/inject/memory/kernels.h"
#include "agent/inject/modes/once.h"
#include "agent/inject/modes/pass_turns.h"
#include "agent/inject/ranges/gate.h"
#include "agent/inject/ranges/user_ranges.h"
#include "base/demangle.h"

/* Limit on the time spent for cw_range_affords_end: free_ns and one part in SHARE of the program's time. Stopping and
 * starting takes most of a second if the plan has software counters. */
static const uint64_t free_ns = 3000000000;
enum { SHARE = 10 };
static const uint64_t patience_ns = 2000000000; /* limit on the wait for launches of other threads */
static const uint64_t replay_patience_ns = 60000000000;
/* Limits on the wait for work launched before or in a user range, which may itself wait for the program's next step:
 * usually; after one wait in vain; for an earlier range that still goes on. */
static const uint64_t range_patience_ns = 60000000000, again_patience_ns = 1000000000, settle_patience_ns = 1000000;

#define self cw_range_settings

void cw_range_load(void)
{
    cw_checkpoint_load();
    cw_inject_load_company();
    cw_demangle(""); /* loads the demangler, for names in the filter */
}

bool cw_range_setup(struct cw_reader *in)
{
    if (!cw_collection_setup(in))
        return false;
    uint32_t replay = cw_read_u32(in);
    self->replay = (enum cw_replay_kind)replay;
    self->user = cw_read_u8(in);
    self->level = cw_read_u32(in);
    self->levels = cw_read_u32(in);
    self->whole_graphs = cw_read_u8(in);
    uint32_t reserve_mb = cw_read_u32(in), on_host_mb = cw_read_u32(in);
    cw_checkpoint_limit(reserve_mb, on_host_mb);
    cw_filter_read(in, &self->options, cw_inject->arena);
    if (replay == CW_REPLAY_KERNEL && !cw_collection_sees_launches()) {
        cw_inject_fail(CW_ERR_UNSUPPORTED, "found a CUPTI older than CUDA 13.0's, which cannot replay kernels one by "
                                           "one; expected --replay batch or application");
        return false;
    }
    if (!cw_gate_read(in))
        return false;
    if (in->status != CW_OK || replay >= CW_REPLAY_ONCE || cw_filter_open(&self->filter, &self->options, NULL) != CW_OK)
        return false;
    cw_user_ranges_filter(&self->filter);
    return true;
}

bool cw_range_wants_kernel(const char *name)
{
    return !cw_gate->closed && cw_filter_launch(&self->filter, name ? name : "", cw_user_ranges_wanted());
}

bool cw_range_wants(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    char graph[CW_GRAPH_NAME];
    return cw_range_wants_kernel(cw_graph_launch_name(id, call, graph));
}

bool cw_range_wants_range(void)
{
    return !cw_gate->closed && cw_filter_launch(&self->filter, "", true);
}

void cw_range_spend(uint64_t begin_ns)
{
    self->first_ns = self->first_ns ? self->first_ns : begin_ns;
    self->spent_ns += cw_inject_now_ns() - begin_ns;
}

bool cw_range_affords_end(void)
{
    return cw_counters_any_wanted() ||
           self->spent_ns < free_ns + (self->first_ns ? (cw_inject_now_ns() - self->first_ns) / SHARE : 0);
}

/* ---- starting and stopping -------------------------------------------------------------------------------------- */

void cw_range_flush(struct cw_collection *c)
{
    uint64_t begin = cw_inject_now_ns();
    if (c->kind == CW_COLLECT_ONCE)
        cw_once_end(c);
    else if (!c->inside) /* CUPTI does not stop within a range */
        cw_collection_flush(c);
    cw_range_spend(begin);
}

/* User replay starts and stops where the program says. */
bool cw_range_may_stop(const struct cw_collection *c)
{
    return c->running && !c->pending && !c->open_range && self->replay != CW_REPLAY_USER;
}

static bool skip(struct cw_collection *c, const char *why)
{
    cw_collection_skip(c, why);
    return false;
}

bool cw_range_rests(struct cw_collection *c)
{
    bool rests = c->context && cw_idle_wait(c->context, c->in_vain ? again_patience_ns : range_patience_ns);
    c->in_vain = c->in_vain || (!rests && !cw_stream_capture_is_under_way());
    return rests;
}

/* Waits for the end of a graph, whose work must not count. */
static bool leave_graph(struct cw_collection *c)
{
    if (c->met_graph && !cw_range_rests(c))
        return skip(c, cw_stream_capture_is_under_way() ? CW_WHY_CAPTURED : CW_WHY_WAITS);
    c->met_graph = false;
    return true;
}

static bool take_device(struct cw_collection *c)
{
    uint64_t until = cw_inject_now_ns() + patience_ns;
    for (struct cw_collection *other; (other = cw_collection_beside(c));) {
        if (cw_stream_capture_is_under_way())
            return skip(c, CW_WHY_CAPTURED);
        if (other->pending && !other->open_range && self->replay != CW_REPLAY_USER && !c->waited) {
            cw_inject_wait();
            c->waited = cw_inject->over || cw_inject_now_ns() >= until;
            continue;
        }
        if (other->running && !cw_range_may_stop(other)) {
            cw_collection_skip(c, "work of a context while another context of the same GPU was collected");
            return false;
        }
        if (other->running)
            cw_range_flush(other);
        if (other->running) /* its kernel does not end */
            return skip(c, CW_WHY_BESIDE);
        cw_collection_release(other);
    }
    return true;
}

/* Whether every launch was noted that the profiler would see. */
static bool quiet(void)
{
    return self->user || cw_collection_noted_all();
}

/* Repeats until nothing prevents a start, or an obstacle stays. Each wait lets other threads in. */
bool cw_range_clear_the_way(struct cw_collection *c)
{
    bool waits = true;
    while (waits && !c->running && !cw_inject->over) {
        if (cw_stream_capture_is_under_way())
            return skip(c, CW_WHY_CAPTURED);
        waits = cw_collection_beside(c) || !quiet();
        if (!take_device(c))
            return false;
        if (!quiet() && !cw_in_flight_wait(quiet))
            return skip(c, CW_WHY_BESIDE);
    }
    return !cw_inject->over;
}

/* Whether the context has work that waits for the program: CUPTI would not start before its end. */
static bool is_waited_for(struct cw_collection *c)
{
    return c->waits && !cw_collection_rests(c, patience_ns);
}

bool cw_range_arm(struct cw_collection *c)
{
    uint64_t begin = cw_inject_now_ns();
    if (is_waited_for(c))
        return skip(c, cw_stream_capture_is_under_way() ? CW_WHY_CAPTURED : CW_WHY_WAITS);
    while (!c->running && c->met_graph) /* each wait lets other threads go on */
        if (!cw_range_clear_the_way(c) || (!c->running && !leave_graph(c)))
            return false;
    if (!cw_range_clear_the_way(c))
        return false;
    if (c->running || !c->context) /* meanwhile */
        return c->running;
    bool armed = cw_collection_arm(c, self->user                         ? CW_COLLECT_USER
                                      : self->replay == CW_REPLAY_KERNEL ? CW_COLLECT_KERNELS
                                                                         : CW_COLLECT_LAUNCHES);
    cw_range_spend(begin);
    return armed || (c->kept_out && skip(c, c->kept_out));
}

/* Follows calls that wait for the GPU, that begin a stream's capture, or that make a stream wait. */
bool cw_range_follows(CUpti_CallbackId id)
{
    static const CUpti_CallbackId waits[] = {
        CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize,
        CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize,
#if CUDA_VERSION >= 13000
        CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize_v2,
#endif
        CUPTI_DRIVER_TRACE_CBID_cuEventSynchronize,
        CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize_ptsz,
        CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoH_v2,
        CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoH_v2_ptds,
    };
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++)
        if (waits[i] == id)
            return true;
    return cw_stream_capture_begins(id) || cw_inject_blocks_stream(id);
}

static void call_left(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    struct cw_collection *c = cw_collection_find(call->context);
    if (c && !cw_inject_blocks_stream(id) && cw_range_may_stop(c) && c->count && cw_range_affords_end())
        cw_range_flush(c);
}

/* ---- launches --------------------------------------------------------------------------------------------------- */

/* Waits longer under kernel replay, because a launch may be in the middle of its passes. */
void cw_range_come_to_rest(struct cw_collection *c)
{
    cw_collection_wait(c, self->replay == CW_REPLAY_KERNEL ? replay_patience_ns : patience_ns);
    if (cw_range_may_stop(c))
        cw_range_flush(c);
}

/* A graph runs while nothing is collected (graph_batch.c says why). Kernel replay ends there, because its effect behind
 * a graph is not known. Application replay skips graphs: CUPTI fails to decode the pass of a graph that follows several
 * collections of launches. */
static void met_graph(struct cw_collection *c, bool wanted)
{
    c->met_graph = true;
    cw_range_come_to_rest(c);
    c->met_graph = true; /* again: another thread may have started and stopped */
    if (wanted && !cw_inject->over)
        cw_collection_skip(c, self->replay == CW_REPLAY_KERNEL ? CW_WHY_AFTER_GRAPH : CW_WHY_GRAPH);
}

/* Why launches are not collected now, or NULL. */
static const char *obstacle(const struct cw_collection *c)
{
    if (cw_stream_capture_is_under_way())
        return CW_WHY_CAPTURED;
    return c->met_graph && self->replay == CW_REPLAY_KERNEL ? CW_WHY_AFTER_GRAPH : NULL;
}

/* Ends the open range. If its work has not ended (`rests` false), CUPTI's range goes on until then, and is marked as
 * unwanted. */
static void end_range(struct cw_collection *c, bool rests)
{
    c->open_range = 0;
    if (!c->running || !c->count)
        return;
    if (!rests) {
        c->inside = true;
        c->launches[c->count - 1].data.unwanted = true;
        cw_collection_skip(c, CW_WHY_WAITS);
    } else if (cw_collection_pop(c)) {
        c->launches[c->count - 1].data.end_ns = cw_inject_now_ns();
    }
}

void cw_range_end(struct cw_collection *c)
{
    const uint64_t range = c->open_range;
    const bool rests = cw_range_rests(c); /* its own launches must count */
    if (c->open_range == range)           /* otherwise a capture has cut it meanwhile */
        end_range(c, rests);
}

bool cw_range_settle(struct cw_collection *c, uint64_t limit_ns)
{
    bool rests = c->inside && c->kind != CW_COLLECT_ONCE && cw_idle_wait(c->context, limit_ns);
    if (rests && c->inside && c->kind != CW_COLLECT_ONCE) { /* again, because the wait let other threads go on */
        c->inside = false;
        cw_collection_pop(c);
    }
    return !c->inside || c->kind == CW_COLLECT_ONCE;
}

/* Ends a user range before a stream's capture: kernels that are captured under the profiler crash if their graph is
 * launched without it. */
static void cut_range(struct cw_collection *c)
{
    const uint64_t range = c->open_range;
    const bool rests = cw_idle_wait_before_capture(c->context, range_patience_ns);
    if (c->open_range != range) /* meanwhile */
        return;
    end_range(c, rests);
    if (!rests)
        cw_inject_fail(CW_ERR_UNSUPPORTED, "found a stream that is captured into a CUDA graph in a user range, before "
                                           "its kernels have ended; expected the capture behind the range");
    if (!rests || !c->count)
        return;
    c->launches[c->count - 1].data.unwanted = true;
    cw_collection_skip(c, "a range in which the program captured a stream into a CUDA graph");
}

static void rest_before_capture(struct cw_collection *c)
{
    if (c->running && self->replay == CW_REPLAY_USER) {
        cw_collection_stop_all();
        cw_inject_fail(CW_ERR_UNSUPPORTED,
                       "found a stream that is captured into a CUDA graph in a loop of user replay; "
                       "expected the capture before it");
        return;
    }
    if (c->open_range)
        cut_range(c);
    cw_range_come_to_rest(c);
}

/* Ends the collection before a call that makes a stream wait: CUPTI would wait for each launch that the stream holds
 * up, and the program for CUPTI. Under user ranges CUPTI waits for no launch. */
static void rest_before_wait(struct cw_collection *c)
{
    if (!c || self->user || self->replay == CW_REPLAY_USER)
        return;
    cw_range_come_to_rest(c);
    c->waits = CW_WAITS_STREAM;
}

void cw_range_call_entered(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    if (cw_stream_capture_begins(id))
        cw_collection_each(rest_before_capture);
    else if (cw_inject_blocks_stream(id))
        rest_before_wait(cw_collection_find(call->context));
}

/* Ends the capture at a graph under user replay with a range for each launch: CUPTI fails to stop behind the graph. */
static void refuse_graph(const struct cw_collection *c)
{
    if (!c->running)
        return;
    cw_collection_stop_all();
    cw_inject_fail(CW_ERR_UNSUPPORTED, "found a CUDA graph launched under user replay with a range for each launch, "
                                       "which CUPTI cannot stop behind; expected --ranges user");
}

/* Starts a collection for a wanted launch, or ends it for an unwanted one. Pushed ranges come one after another. True
 * if the collection runs then. */
static bool make_ready(struct cw_collection *c, bool wanted)
{
    bool one_by_one = !cw_collection_sees_launches();
    do {
        while (one_by_one && c->pending && !cw_inject->over)
            cw_inject_wait();
        if (cw_range_may_stop(c) && (!wanted || (c->count && cw_collection_is_due(c))))
            cw_range_flush(c);
        if (cw_inject->over || (!c->running && (!wanted || self->replay == CW_REPLAY_USER || !cw_range_arm(c))))
            return false;
    } while (one_by_one && c->pending);
    return true;
}

/* Lets a launch run alone, to see whether its kernel waits for something behind the launch. */
static void see_alone(struct cw_collection *c, const CUpti_CallbackData *call)
{
    const bool rests = cw_collection_rests(c, range_patience_ns);
    if (!rests && !c->waits)
        c->waits = CW_WAITS_KERNEL;
    c->watched = rests ? call->correlationId : 0; /* only if it runs alone */
    c->entered = cw_in_flight->entered;
}

/* Lets the first launch of a kernel that is given host memory run alone, if it cannot be counted once. The kernel may
 * wait there for the program's step behind the launch, and CUPTI would wait for the kernel without end. */
static void watch(struct cw_collection *c, const CUpti_CallbackData *call)
{
    cw_range_come_to_rest(c);
    see_alone(c, call);
    cw_collection_skip(c, "the first launch of a kernel that may wait for the host, or for a kernel of another stream");
}

static void see(CUpti_CallbackId id, const CUpti_CallbackData *call, struct cw_collection *c)
{
    const CUfunction kernel = cw_inject_kernel(id, call);
    const bool known = cw_kernel_waits(kernel);
    const bool rests = !known && cw_idle_wait(c->context, CW_KERNEL_WATCH_NS);
    if (!known)
        cw_kernel_seen(kernel, rests, c->entered);
    c->waits = rests ? CW_WAITS_NOTHING : CW_WAITS_KERNEL;
    c->watched = 0;
}

/* Whether a launch's kernel may wait for a later step of the program, for which CUPTI would hold the launch up without
 * end. A kernel may wait for another stream's, too: application replay counts the first launch of each such kernel
 * apart, and loses nothing but in a pass that patches code. Kernel replay would lose its other passes, and nearly no
 * kernel waits so. */
static bool may_wait(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    return self->replay == CW_REPLAY_APPLICATION ? cw_kernel_may_wait(id, call) : cw_kernel_may_wait_for_host(id, call);
}

/* Returns the reason why a wanted launch is counted in one pass and not replayed, or NULL. Under application replay a
 * run collects only one pass anyway. So launches behind a new kernel are counted once as well, which changes only their
 * times. Kernel replay goes on behind each new kernel. */
static const char *why_once(const struct cw_collection *c, CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    const bool graph = cw_inject_launches_graph(id);
    if (cw_reach_why())
        return cw_reach_why();
    if (self->replay == CW_REPLAY_KERNEL && !graph && !cw_checkpoint_replay_has_room())
        return CW_ONCE_NO_ROOM;
    if (!cw_collection_turns() || graph)
        return NULL;
    const bool waits = may_wait(id, call);
    struct cw_pass_turn *turn = cw_pass_turn_of(c);
    const bool once = self->replay == CW_REPLAY_APPLICATION ? turn && cw_pass_is_strange(turn, waits)
                                                            : waits && cw_range_affords_end();
    if (!once)
        return NULL;
    if (!waits)
        return CW_ONCE_SOON;
    return cw_kernel_waits(cw_inject_kernel(id, call)) ? CW_ONCE_WAITS : CW_ONCE_NEW;
}

/* Whether the agent can be told of a launch or range that was not collected: under application replay it has a place
 * among those of other runs. */
static bool has_place(const struct cw_collection *c)
{
    return self->replay == CW_REPLAY_APPLICATION && !c->running && !c->count && c->context && !cw_inject->over;
}

/* Counts a launch once. False if the current collection, which would replay it, cannot be ended. A run whose only pass
 * patches code counts no kernel that may wait, so a new one is looked at. */
static bool count_once(struct cw_collection *c, CUpti_CallbackId id, const CUpti_CallbackData *call, bool wanted,
                       const char *why)
{
    if (c->running && c->kind != CW_COLLECT_ONCE)
        cw_range_come_to_rest(c);
    if (!c->context) /* by now */
        return true;
    if (c->running && c->kind != CW_COLLECT_ONCE)
        return false;
    const uint64_t begin = cw_inject_now_ns();
    const bool starts = !c->running;
    const bool uncounted = cw_once_enter(c, id, call, wanted, why);
    if (uncounted && has_place(c) && cw_collection_note(c, id, call, call->symbolName))
        cw_collection_miss(c);
    if (uncounted && cw_once_may_wait(id, call) && !cw_stream_capture_is_under_way() &&
        cw_kernel_habit(cw_inject_kernel(id, call)) == CW_KERNEL_UNKNOWN)
        see_alone(c, call);
    if (starts)
        cw_range_spend(begin);
    return true;
}

static bool is_missed(const struct cw_collection *c)
{
    return c->kept_out && has_place(c);
}

/* CUPTI replays every launch between start and stop. So an unwanted launch stops it, and the next wanted one starts it
 * again. During a launch of another thread it cannot stop; then the range of the unwanted launch is marked. */
static void launch_entered(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    struct cw_collection *c = cw_collection_find(call->context);
    bool graph = cw_inject_launches_graph(id);
    if (c && c->open_range)
        cw_collection_inside(c, id, call);
    if (!c || self->user || !cw_stream_runs_launch(id, call))
        return;
    bool wanted = cw_range_wants(id, call);
    const bool repeats = self->replay != CW_REPLAY_USER; /* under user replay the program repeats */
    const char *once = repeats && wanted ? why_once(c, id, call) : repeats ? cw_reach_why() : NULL;
    if (once || (!wanted && c->running && c->kind == CW_COLLECT_ONCE)) {
        if (count_once(c, id, call, wanted, once))
            return;
        wanted = false; /* another launch has not returned, and CUPTI cannot stop before that */
    } else if (c->running && c->kind == CW_COLLECT_ONCE) {
        cw_range_flush(c);
    }
    if (wanted && !graph && repeats && may_wait(id, call)) {
        watch(c, call);
        return;
    }
    if (graph && self->replay == CW_REPLAY_USER) {
        refuse_graph(c);
        return;
    }
    if (graph) {
        met_graph(c, wanted);
        return;
    }
    const char *why = obstacle(c);
    if (why) {
        cw_range_come_to_rest(c); /* so that CUPTI does not see this launch */
        if (wanted)
            cw_collection_skip(c, why);
        wanted = false;
        if (!c->running)
            return;
    }
    bool ready = make_ready(c, wanted);
    if (wanted && repeats && cw_reach_why() && count_once(c, id, call, wanted, cw_reach_why())) /* meanwhile */
        return;
    if (ready && c->kind != CW_COLLECT_ONCE && cw_collection_launch(c, id, call, call->symbolName)) {
        c->launches[c->count - 1].data.replay = self->replay;
        c->launches[c->count - 1].data.unwanted = !wanted;
        cw_collection_enter(c, c->count);
    } else if (wanted && is_missed(c) && cw_collection_note(c, id, call, call->symbolName))
        cw_collection_miss(c);
}

static void launch_left(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    (void)id;
    struct cw_collection *c = cw_collection_find(call->context);
    if (c && c->watched && c->watched == call->correlationId)
        see(id, call, c);
    else if (c && c->kind == CW_COLLECT_ONCE)
        cw_once_leave(c, id, call);
    else if (c && c->running && cw_collection_launched(c, call))
        cw_collection_leave(c);
}

/* ---- user ranges ------------------------------------------------------------------------------------------------ */

struct cw_collection *cw_range_current(void)
{
    CUcontext context = NULL;
    if (!cw_inject->api.cuCtxGetCurrent || cw_inject->api.cuCtxGetCurrent(&context) != CUDA_SUCCESS)
        return NULL;
    struct cw_collection *c = context ? cw_collection_find(context) : NULL;
    return c ? c : cw_collection_only();
}

void cw_range_begin(struct cw_collection *c, const struct cw_open_range *range)
{
    if (cw_range_may_stop(c) && c->count && cw_collection_is_due(c))
        cw_range_flush(c);
    if (c->open_range || cw_inject->over)
        return;
    if (!c->running && (self->replay == CW_REPLAY_USER || !cw_range_arm(c))) {
        if (is_missed(c) && cw_collection_range(c, range))
            cw_collection_miss(c);
        return;
    }
    if (!cw_collection_range(c, range) || !cw_collection_push(c, c->count))
        return;
    c->launches[c->count - 1].data.replay = self->replay;
    c->open_range = range->id;
}

static void range_opened(const struct cw_open_range *range)
{
    struct cw_collection *c = self->user && range->level == self->level ? cw_range_current() : NULL;
    if (!c || !cw_range_wants_range())
        return;
    if (cw_stream_capture_is_under_way()) {
        cw_collection_skip(c, CW_WHY_CAPTURED);
        return;
    }
    const bool rests = cw_range_settle(c, settle_patience_ns) && cw_range_rests(c); /* earlier work must not count */
    if (!rests && c->context && !cw_inject->over)
        cw_collection_skip(c, cw_stream_capture_is_under_way() ? CW_WHY_CAPTURED : CW_WHY_WAITS);
    if (rests && c->context)
        cw_range_begin(c, range);
}

void cw_range_closing(const struct cw_open_range *range)
{
    struct cw_collection *c = cw_collection_with_range(range->id);
    if (c)
        cw_range_end(c);
}

/* ---- contexts --------------------------------------------------------------------------------------------------- */

static void context_created(CUcontext context, uint32_t device)
{
    struct cw_collection *c = cw_collection_open(context, device);
    const struct cw_open_range *range = c && self->user ? cw_user_ranges_at_level(self->level) : NULL;
    if (range && cw_range_wants_range())
        cw_range_begin(c, range);
}

/* Skips the launches of a collection whose open range does not end: CUPTI cannot stop within a range, so their counts
 * are lost. */
static void lose(struct cw_collection *c)
{
    for (uint32_t i = 0; i < c->count; i++)
        if (!c->launches[i].data.unwanted)
            cw_collection_skip(c, CW_WHY_WAITS);
    cw_collection_forget(c);
}

static void deliver(struct cw_collection *c)
{
    if (c->open_range)
        cw_range_end(c);
    cw_range_settle(c, c->in_vain ? again_patience_ns : range_patience_ns);
    cw_range_flush(c);
    if (c->running && c->inside && c->kind != CW_COLLECT_ONCE)
        lose(c);
}

void cw_range_context_destroyed(CUcontext context)
{
    struct cw_collection *c = cw_collection_find(context);
    if (!c)
        return;
    deliver(c);
    cw_collection_report_skipped(c);
    cw_pass_turn_end(c);
    cw_collection_close(c);
}

void cw_range_finish(void)
{
    cw_collection_finish(deliver);
}

static void give_way(struct cw_collection *c)
{
    if (cw_range_may_stop(c))
        cw_range_flush(c);
}

/* Nothing has to end under user ranges and user replay: only the program itself repeats work. */
bool cw_range_rest(void)
{
    if (self->user || self->replay == CW_REPLAY_USER)
        return true;
    cw_collection_each(cw_range_come_to_rest);
    return !cw_collection_any_runs();
}

void cw_range_gate_turned(bool open)
{
    if (!open)
        cw_range_rest();
}

bool cw_range_reset(void)
{
    const bool stays = cw_collections->stays;
    cw_filter_close(&self->filter);
    *self = (struct cw_range_settings){0};
    memset(cw_pass_turns, 0, sizeof *cw_pass_turns); /* these are too large for the stack */
    memset(cw_collections, 0, sizeof *cw_collections);
    return !stays;
}

const struct cw_inject_mode cw_inject_range = {.facts = true,
                                               .load = cw_range_load,
                                               .setup = cw_range_setup,
                                               .context_created = context_created,
                                               .context_destroyed = cw_range_context_destroyed,
                                               .launch_entered = launch_entered,
                                               .launch_left = launch_left,
                                               .finish = cw_range_finish,
                                               .wants = cw_range_follows,
                                               .call_entered = cw_range_call_entered,
                                               .call_left = call_left,
                                               .range_opened = range_opened,
                                               .range_closing = cw_range_closing,
                                               .abandoned = cw_collection_stop_all,
                                               .rest = cw_range_rest,
                                               .gate_turned = cw_range_gate_turned,
                                               .reset = cw_range_reset,
                                               .give_way = give_way};
