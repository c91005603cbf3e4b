/* Multiplexing. Usually CUPTI makes each launch a range by itself (an automatic range). A range can also be pushed
 * around a launch, but the time of a pushed range includes 10 to 40 us of surrounding work.
 *
 * Launches are pushed for good where automatic ranges fail: with an older CUPTI; from the first CUDA graph on, because
 * CUPTI cannot stop behind a graph; and for kernels that wait for the host or, in one process, for one another, because
 * CUPTI waits for each launch in an automatic range. Launches are pushed for a while after new kernels that may wait,
 * so that the first launches of new kernels are not lost. */
#include "agent/inject/modes/multiplex.h"

#include <stdlib.h>

#include "agent/inject/driver/idle.h"
#include "agent/inject/driver/in_flight.h"
#include "agent/inject/driver/reach.h"
#include "agent/inject/driver/stream_capture.h"
#include "agent/inject/memory/graph.h"
#include "agent/inject/memory/kernels.h"
#include "agent/inject/modes/once.h"
#include "agent/inject/modes/pass_turns.h"
#include "agent/inject/modes/range.h"
#include "agent/inject/ranges/user_ranges.h"

struct multiplexed {   /* one per collection, in the same slot */
    bool one_by_one;   /* launches are pushed as ranges, for good (once.h) */
    uint32_t stretch;  /* launches counted since the last start */
    uint32_t unwanted; /* unwanted launches since the last wanted one, while a pass runs */
    uint64_t rest;     /* number of wanted launches still to pass uncounted */
};

static struct {
    uint32_t every, slowdown; /* from SETUP */
    struct multiplexed items[CW_MOST_CONTEXTS];
    uint64_t early_ns; /* time of changes whose only reason was a wait of the program */
} state CW_STATE;
#define self (&state)

enum { EARLY_SHARE = 16 }; /* limit, beyond early_free_ns: one part in so many of the time */
static const uint64_t launch_patience_ns = 2000000000; /* limit on the wait for a launch of another thread */
/* Time for early changes of passes. They send the counted ranges while the program waits for the GPU, because a program
 * that ends right after would lose them. */
static const uint64_t early_free_ns = 200000000;
/* A context keeps its device's counters from other contexts: at most hold_ns in all, idle_ns without a launch. */
static const uint64_t hold_ns = 2000000000, idle_ns = 50000000;

#define settings cw_range_settings
#define times (&cw_pass_turns->ns)

static bool setup(struct cw_reader *in)
{
    cw_collections->in_turn = true;
    if (!cw_range_setup(in))
        return false;
    cw_pass_turns->of_ranges = settings->user;
    self->every = cw_read_u32(in);
    self->slowdown = cw_read_u32(in);
    return in->status == CW_OK && self->every;
}

static struct multiplexed *multiplexed_of(const struct cw_collection *c)
{
    return &self->items[c - cw_collections->slots];
}

/* Whether the time spent on counting is within the requested share of the program's time. */
static bool is_paid_off(void)
{
    const struct cw_pass_times *ns = times;
    double all = ns->first ? (double)(cw_inject_now_ns() - ns->first) : 0, spent = (double)ns->spent;
    return !self->slowdown || spent * 100000 <= (all - spent) * self->slowdown;
}

/* ---- passes ----------------------------------------------------------------------------------------------------- */

static bool stop(struct cw_collection *c, struct cw_pass_turn *t, const char *why)
{
    struct multiplexed *m = multiplexed_of(c);
    if (!cw_pass_stop(c, t, cw_range_come_to_rest, why))
        return false;
    m->rest = (uint64_t)(self->every - 1) * m->stretch;
    m->stretch = m->unwanted = 0;
    return true;
}

/* Whether another context of the device keeps the counters for now: it took them recently, and uses them. Taking them
 * away costs as much as many changes of passes. */
static bool is_held_by_another(const struct cw_collection *c)
{
    const struct cw_collection *other = cw_collection_beside(c);
    if (!other)
        return false;
    const struct cw_pass_turn *t = &cw_pass_turns->items[other - cw_collections->slots];
    uint64_t now = cw_inject_now_ns();
    return now - t->took_ns < hold_ns && now - t->launched_ns < idle_ns;
}

/* Whether a wanted launch is counted now; otherwise it passes uncounted. */
static bool is_to_be_counted(const struct cw_collection *c)
{
    struct multiplexed *m = multiplexed_of(c);
    if (c->running && !m->rest)
        return true;
    if (m->rest) {
        m->rest--;
        return false;
    }
    return is_paid_off();
}

/* ---- launches as pushed ranges ----------------------------------------------------------------------------------- */

static void count_pushed(CUpti_CallbackId id, const CUpti_CallbackData *call, struct cw_collection *c,
                         struct cw_pass_turn *t, uint32_t kind)
{
    const bool may_wait = cw_once_may_wait(id, call);
    uint32_t ahead = cw_pass_ahead(c, t, may_wait);
    bool counts = true;
    if (c->running && ahead && stop(c, t, "the turn of another pass")) {
        ahead--;
        counts = is_to_be_counted(c);
    }
    if (!counts)
        cw_once_pass(c);
    else if (cw_once_count(c, t, id, call, &(struct cw_once){.kind = kind, .ahead = ahead, .may_wait = may_wait}))
        multiplexed_of(c)->stretch++;
}

static void enter_pushed(CUpti_CallbackId id, const CUpti_CallbackData *call, struct cw_collection *c,
                         struct cw_pass_turn *t, uint32_t kind, bool wanted)
{
    if (wanted && is_to_be_counted(c))
        count_pushed(id, call, c, t, kind);
    else
        cw_once_pass(c);
}

/* Whether this launch and all later ones have to be pushed. */
static bool has_to_be_pushed(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    return cw_inject_launches_graph(id) || !cw_collection_sees_launches() ||
           cw_kernel_waits(cw_inject_kernel(id, call)) ||
           (cw_reach_why() && (cw_inject->devices & (cw_inject->devices - 1)));
}

/* Pushes launches from here on, once no other collection runs. */
static void push_from_here(struct cw_collection *c)
{
    cw_range_come_to_rest(c);
    multiplexed_of(c)->one_by_one = !c->running;
}

/* Whether the launch is pushed because of recent new kernels. If there are none, this ends the pushed ranges, and the
 * launch is pushed only if they cannot end. */
static bool is_still_pushed(CUpti_CallbackId id, const CUpti_CallbackData *call, struct cw_collection *c,
                            struct cw_pass_turn *t)
{
    if (t->strange && cw_pass_is_strange(t, cw_kernel_may_wait(id, call)))
        return true;
    if (c->running && c->kind == CW_COLLECT_ONCE)
        stop(c, t, "known kernels");
    return c->running && c->kind == CW_COLLECT_ONCE;
}

/* ---- launches as automatic ranges -------------------------------------------------------------------------------- */

/* Starts the pass that is to count a launch or range. False if it cannot start, or if launches are to pass uncounted
 * now. */
static bool make_ready(struct cw_collection *c, struct cw_pass_turn *t)
{
    uint32_t ahead = cw_pass_ahead(c, t, false);
    bool due = c->running && c->count && cw_collection_is_due(c);
    if (c->running && (ahead || due) && stop(c, t, ahead ? "the turn of another pass" : "no more room, or time")) {
        ahead = ahead ? ahead - 1 : 0;
        if (!settings->user && !is_to_be_counted(c))
            return false;
    }
    if (cw_inject->over || !c->context || c->running) /* by now */
        return c->running;
    if (is_held_by_another(c)) {
        cw_collection_skip(c, "work of a context while another context of the same GPU was collected");
        return false;
    }
    uint64_t begin = cw_inject_now_ns();
    t->took_ns = c->object ? t->took_ns : 0;
    c->let_by = ahead;
    bool armed = cw_range_arm(c);
    c->let_by = 0;
    if (armed)
        cw_pass_started(c, t, begin, ahead);
    return armed;
}

/* Handles an unwanted launch. While a pass runs, CUPTI counts it as well. So the pass ends once unwanted launches have
 * cost as much as a stop and a start. */
static void pass_by(struct cw_collection *c, struct cw_pass_turn *t)
{
    bool dear = ++multiplexed_of(c)->unwanted * times->launch >= times->start + times->stop;
    if (c->running && !c->pending && (dear || cw_collection_is_due(c)))
        stop(c, t, "unwanted launches");
}

static void wait_for_others(const struct cw_collection *c, struct cw_pass_turn *t)
{
    if (c->pending && !t->in_vain)
        cw_collection_wait(c, launch_patience_ns);
    t->in_vain = c->pending > 0;
}

/* Handles the first launch of a kernel that may wait: pushes it. */
static void enter_strange(CUpti_CallbackId id, const CUpti_CallbackData *call, struct cw_collection *c,
                          struct cw_pass_turn *t, uint32_t kind, bool counts)
{
    if (c->running)
        stop(c, t, "a kernel that may wait for the program");
    if (counts && !c->running && cw_pass_is_strange(t, true))
        count_pushed(id, call, c, t, kind);
    else if (counts)
        cw_collection_skip(c, CW_WHY_BESIDE);
}

static void enter_automatic(CUpti_CallbackId id, const CUpti_CallbackData *call, struct cw_collection *c,
                            struct cw_pass_turn *t, uint32_t kind, bool wanted)
{
    bool captured = cw_stream_capture_is_under_way();
    if (captured && wanted)
        cw_collection_skip(c, CW_WHY_CAPTURED);
    bool counts = wanted && !captured && is_to_be_counted(c);
    if ((counts || c->running) && cw_kernel_may_wait(id, call)) { /* CUPTI would wait for it without end */
        enter_strange(id, call, c, t, kind, counts);
        return;
    }
    if (counts || c->running) /* CUPTI's ranges have the order of launches, which parallel threads could mix up */
        wait_for_others(c, t);
    counts = counts && make_ready(c, t);
    if (!counts && !captured)
        pass_by(c, t);
    if (!c->running || c->kind == CW_COLLECT_ONCE || !cw_collection_launch(c, id, call, call->symbolName))
        return;
    struct cw_launch *launch = &c->launches[c->count - 1].data;
    launch->replay = CW_REPLAY_MULTIPLEX;
    launch->unwanted = !counts;
    if (!counts)
        return;
    cw_pass_counted(c, t, kind);
    multiplexed_of(c)->stretch++;
    multiplexed_of(c)->unwanted = 0;
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The key of a user range. All numbers in names count as equal, because a program may number its steps. */
static uint64_t key_of_path(const char *path)
{
    uint64_t key = 1;
    for (; *path; path++)
        if (!is_digit(*path) || !is_digit(path[1]))
            key = cw_inject_mix(key, is_digit(*path) ? '0' : (unsigned char)*path);
    return key;
}

static void launch_entered(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    struct cw_collection *c = cw_collection_find(call->context);
    if (c && c->open_range)
        cw_collection_inside(c, id, call);
    struct cw_pass_turn *t = c && !settings->user && cw_stream_runs_launch(id, call) ? cw_pass_turn_of(c) : NULL;
    if (!t)
        return;
    const struct multiplexed *m = multiplexed_of(c);
    bool wanted = cw_range_wants(id, call);
    uint32_t kind = wanted ? cw_pass_meet(t, cw_pass_key(id, call)) : 0;
    if (!m->one_by_one && has_to_be_pushed(id, call))
        push_from_here(c);
    if (m->one_by_one || is_still_pushed(id, call, c, t))
        enter_pushed(id, call, c, t, kind, wanted);
    else if (cw_inject_launches_graph(id) && wanted)
        cw_collection_skip(c, CW_WHY_BESIDE);
    else if (!cw_inject_launches_graph(id))
        enter_automatic(id, call, c, t, kind, wanted);
}

static void launch_left(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    struct cw_collection *c = cw_collection_find(call->context);
    uint64_t begin = cw_inject_now_ns();
    if (c && c->kind == CW_COLLECT_ONCE) {
        cw_once_leave(c, id, call);
        times->spent += cw_inject_now_ns() - begin;
    } else if (c && c->running && cw_collection_launched(c, call)) {
        const struct cw_seen_launch *last = c->count ? &c->launches[c->count - 1] : NULL;
        if (last && last->correlation == call->correlationId && last->data.end_ns)
            cw_pass_learn_launch(&last->data);
    }
}

/* Sends the counted ranges after the program has waited for the GPU, because it may end next. */
static void call_left(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    struct cw_collection *c = cw_collection_find(call->context);
    if (!c || cw_inject_blocks_stream(id) || !cw_range_may_stop(c) || !c->count ||
        self->early_ns > early_free_ns + (cw_inject_now_ns() - times->first) / EARLY_SHARE)
        return;
    self->early_ns += times->start + times->stop;
    stop(c, &cw_pass_turns->items[c - cw_collections->slots], "a wait of the program, which may end next");
}

/* Ends the pass for another process that waits for the counters. */
static void give_way(struct cw_collection *c)
{
    if (cw_range_may_stop(c))
        stop(c, &cw_pass_turns->items[c - cw_collections->slots], "another process that waits for the counters");
}

/* ---- user ranges ------------------------------------------------------------------------------------------------ */

/* Whether this user range is counted. Notes the occurrence, and sets its *kind. */
static bool takes_part(const struct cw_open_range *range, struct cw_pass_turn *t, uint32_t *kind)
{
    char *path = cw_user_ranges_path(range->id);
    *kind = cw_pass_meet(t, key_of_path(path ? path : ""));
    free(path);
    return (t->turns.kinds[*kind].met - 1) % self->every == 0 && is_paid_off();
}

static void range_opened(const struct cw_open_range *range)
{
    struct cw_collection *c = settings->user && range->level == settings->level ? cw_range_current() : NULL;
    struct cw_pass_turn *t = c && !c->open_range ? cw_pass_turn_of(c) : NULL;
    uint32_t kind;
    if (!t || !cw_range_wants_range() || !takes_part(range, t, &kind))
        return;
    if (cw_stream_capture_is_under_way()) {
        cw_collection_skip(c, CW_WHY_CAPTURED);
        return;
    }
    uint64_t begin = cw_inject_now_ns();
    bool rests = cw_range_settle(c, 1000000) && cw_range_rests(c); /* earlier launches must not count */
    times->spent += cw_inject_now_ns() - begin;
    if (!c->context || cw_inject->over) /* by now */
        return;
    if (!rests && !cw_stream_capture_is_under_way())
        cw_collection_skip(c, CW_WHY_WAITS);
    if (!rests || c->open_range || !make_ready(c, t))
        return;
    begin = cw_inject_now_ns();
    cw_range_begin(c, range);
    times->spent += cw_inject_now_ns() - begin;
    if (c->open_range != range->id)
        return;
    cw_pass_counted(c, t, kind);
}

static void range_closing(const struct cw_open_range *range)
{
    struct cw_collection *c = cw_collection_with_range(range->id);
    if (!c)
        return;
    uint64_t begin = cw_inject_now_ns();
    cw_range_end(c);
    times->spent += cw_inject_now_ns() - begin;
}

/* ---- contexts --------------------------------------------------------------------------------------------------- */

/* A range may be open already, from before the program first used the GPU. */
static void context_created(CUcontext context, uint32_t device)
{
    const struct cw_open_range *range = settings->user ? cw_user_ranges_at_level(settings->level) : NULL;
    if (cw_collection_open(context, device) && range)
        range_opened(range);
}

static void context_destroyed(CUcontext context)
{
    struct cw_collection *c = cw_collection_find(context);
    if (!c)
        return;
    *multiplexed_of(c) = (struct multiplexed){0};
    cw_range_context_destroyed(context);
}

static bool reset(void)
{
    memset(self, 0, sizeof *self);
    return cw_range_reset();
}

const struct cw_inject_mode cw_inject_multiplex = {.facts = true,
                                                   .load = cw_range_load,
                                                   .setup = setup,
                                                   .context_created = context_created,
                                                   .context_destroyed = context_destroyed,
                                                   .launch_entered = launch_entered,
                                                   .launch_left = launch_left,
                                                   .finish = cw_range_finish,
                                                   .wants = cw_range_follows,
                                                   .call_entered = cw_range_call_entered,
                                                   .call_left = call_left,
                                                   .range_opened = range_opened,
                                                   .range_closing = range_closing,
                                                   .abandoned = cw_collection_stop_all,
                                                   .rest = cw_range_rest,
                                                   .gate_turned = cw_range_gate_turned,
                                                   .reset = reset,
                                                   .give_way = give_way};
