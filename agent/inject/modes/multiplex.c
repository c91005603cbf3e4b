/* Multiplexing. Launches are ranges that CUPTI sees by itself, for those that are pushed are timed with 10 to 40 us of
 * what surrounds them. They are pushed, for good, where CUPTI's own ranges are no way: with an older CUPTI, from the
 * first CUDA graph on, behind which it cannot stop, and for kernels that wait for the host or, launched by the same
 * process, for one another: for CUPTI's own ranges each launch is waited for. */
#include "agent/inject/modes/multiplex.h"

#include <stdlib.h>

#include "agent/inject/driver/idle.h"
#include "agent/inject/driver/in_flight.h"
#include "agent/inject/driver/reach.h"
#include "agent/inject/driver/stream_capture.h"
#include "agent/inject/memory/graph.h"
#include "agent/inject/memory/kernels.h"
#include "agent/inject/modes/once.h"
#include "agent/inject/modes/range.h"
#include "agent/inject/ranges/user_ranges.h"

/* What counting costs is measured; until then it is as on an H200 with 25 metrics. */
static const struct cw_multiplex_times at_first = {.start = 12000000, .stop = 3000000, .launch = 600000};
enum {
    WEIGHT = 4,       /* of a new price beside the old ones, as one part of so many */
    CHEAP = 32,       /* launches that a change is worth at the most: some passes cost a launch next to nothing */
    DRIFT = 64,       /* how soon the price of a launch is found to have risen */
    EARLY_SHARE = 16, /* of the time, beyond early_free_ns */
};
static const uint64_t launch_patience_ns = 2000000000; /* with a launch of another thread */
/* What may be spent to send what was counted before a program that ends at once takes it along. */
static const uint64_t early_free_ns = 200000000;
static const uint64_t least_ns = 10000;                         /* that a launch takes */
static const uint64_t hold_ns = 2000000000, idle_ns = 50000000; /* of the counters of a device with several contexts */

#define self cw_multiplex
#define settings cw_range_settings

static bool setup(struct cw_reader *in)
{
    cw_collections->in_turn = true;
    self->ns = at_first;
    if (!cw_range_setup(in))
        return false;
    self->every = cw_read_u32(in);
    self->slowdown = cw_read_u32(in);
    return in->status == CW_OK && self->every;
}

/* That of a collection, NULL without memory, where the capture is over. */
static struct cw_multiplexed *multiplexed_of(const struct cw_collection *c)
{
    struct cw_multiplexed *m = &self->items[c - cw_collections->slots];
    if (!m->turns.kinds && !cw_turns_begin(&m->turns, cw_collections->part_count, !settings->user)) {
        cw_inject_fail_memory();
        return NULL;
    }
    return m;
}

/* ---- what it costs ---------------------------------------------------------------------------------------------- */

/* One that stands out, such as the first of all, does not make every other dear. */
static void learn(uint64_t *price, uint64_t took)
{
    took = took < WEIGHT * *price ? took : WEIGHT * *price;
    *price += took / WEIGHT - *price / WEIGHT;
}

static struct cw_turns_costs costs(void)
{
    const struct cw_multiplex_times *ns = &self->ns;
    uint64_t change = ns->start + ns->stop, least = change / CHEAP, launch = ns->launch > least ? ns->launch : least;
    return (struct cw_turns_costs){.change_ns = change,
                                   .count_ns = settings->user ? 0 : launch,
                                   .changes_ns = ns->changes,
                                   .room = cw_collections->at_once,
                                   .all_ns = ns->first ? cw_inject_now_ns() - ns->first : 0};
}

/* A launch that was counted has returned: what it took beside its kernel is the least that any takes. */
static void learn_launch(const struct cw_launch *launch)
{
    uint64_t took = launch->end_ns - launch->start_ns, *price = &self->ns.launch;
    self->ns.spent += took;
    *price = took < *price ? took : *price + *price / DRIFT;
    *price = *price < least_ns ? least_ns : *price;
}

/* Whether the program has been going on for long enough that what counting took is the share of it that was asked for.
 */
static bool is_paid_off(void)
{
    const struct cw_multiplex_times *ns = &self->ns;
    double all = ns->first ? (double)(cw_inject_now_ns() - ns->first) : 0, spent = (double)ns->spent;
    return !self->slowdown || spent * 100000 <= (all - spent) * self->slowdown;
}

/* ---- passes ----------------------------------------------------------------------------------------------------- */

/* How many passes to go on before something that was just met is counted; where it does not run, how many to let by. */
static uint32_t passes_ahead(const struct cw_collection *c, struct cw_multiplexed *m)
{
    const struct cw_turns_costs now = costs();
    cw_turns_set_pass(&m->turns, c->running ? c->part : c->up);
    return cw_turns_advance(&m->turns, &now);
}

/* Ends the pass that runs, and says why. False where a launch has not returned, or does not end; it is not waited for
 * again. */
static bool stop(struct cw_collection *c, struct cw_multiplexed *m, const char *why)
{
    if (c->pending && m->in_vain)
        return false;
    c->effort.ended = why;
    uint64_t begin = cw_inject_now_ns();
    bool at_once = !c->pending && !c->inside;
    cw_range_come_to_rest(c);
    m->in_vain = c->running && c->pending;
    uint64_t took = cw_inject_now_ns() - begin;
    self->ns.spent += took;
    if (c->running)
        return false;
    if (at_once)
        learn(&self->ns.stop, took);
    m->rest = (uint64_t)(self->every - 1) * m->stretch;
    m->stretch = m->unwanted = 0;
    return true;
}

/* Accounts for a start that took its time since `begin`. */
static void started(const struct cw_collection *c, struct cw_multiplexed *m, uint64_t begin, uint32_t let_by)
{
    uint64_t took = cw_inject_now_ns() - begin;
    struct cw_multiplex_times *ns = &self->ns;
    cw_turns_started(&m->turns);
    ns->first = ns->first ? ns->first : begin;
    ns->spent += took;
    if (!let_by && c->running)
        learn(&ns->start, took);
    ns->changes += (let_by + 1) * (ns->start + ns->stop);
    m->took_ns = m->took_ns ? m->took_ns : begin;
}

/* The last launch or range is counted by the pass that runs. */
static void note_counted(const struct cw_collection *c, struct cw_multiplexed *m, uint32_t kind)
{
    cw_turns_set_pass(&m->turns, c->part);
    bool cold = cw_turns_count(&m->turns, kind);
    c->launches[c->count - 1].data.cold = cold && !settings->user;
    m->launched_ns = cw_inject_now_ns();
}

/* Another context of the device that was given its counters not long ago, and uses them, keeps them for a while: to
 * take them costs as much as many changes. */
static bool is_held_by_another(const struct cw_collection *c)
{
    const struct cw_collection *other = cw_collection_beside(c);
    if (!other)
        return false;
    const struct cw_multiplexed *m = &self->items[other - cw_collections->slots];
    uint64_t now = cw_inject_now_ns();
    return now - m->took_ns < hold_ns && now - m->launched_ns < idle_ns;
}

/* Whether what is wanted is counted now; else it goes by. */
static bool is_to_be_counted(struct cw_collection *c, struct cw_multiplexed *m)
{
    if (c->running && !m->rest)
        return true;
    if (m->rest) {
        m->rest--;
        return false;
    }
    return is_paid_off();
}

/* ---- launches, as ranges that CUPTI sees ------------------------------------------------------------------------ */

/* Makes the pass run that is to count. False where it cannot, or where it is time to let launches go by. */
static bool make_ready(struct cw_collection *c, struct cw_multiplexed *m)
{
    uint32_t ahead = passes_ahead(c, m);
    bool due = c->running && c->count && cw_collection_is_due(c);
    if (c->running && (ahead || due) && stop(c, m, ahead ? "the turn of another pass" : "no more room, or time")) {
        ahead = ahead ? ahead - 1 : 0;
        if (!settings->user && !is_to_be_counted(c, m))
            return false;
    }
    if (cw_inject->over || c->running)
        return c->running;
    if (is_held_by_another(c)) {
        cw_collection_skip(c, "what a context did while another of the same GPU was being collected");
        return false;
    }
    uint64_t begin = cw_inject_now_ns();
    m->took_ns = c->object ? m->took_ns : 0;
    c->let_by = ahead;
    bool armed = cw_range_arm(c);
    c->let_by = 0;
    if (armed)
        started(c, m, begin, ahead);
    return armed;
}

/* One that nobody wants is counted as well while it runs. It is stopped when they have cost as much as that. */
static void pass_by(struct cw_collection *c, struct cw_multiplexed *m)
{
    bool dear = ++m->unwanted * self->ns.launch >= self->ns.start + self->ns.stop;
    if (c->running && !c->pending && (dear || cw_collection_is_due(c)))
        stop(c, m, "launches that nobody wants");
}

/* A kernel that may wait for the host, which must not be counted before it was seen. */
static void see_first(const CUpti_CallbackData *call, struct cw_collection *c, struct cw_multiplexed *m, bool counts)
{
    if (c->running)
        stop(c, m, "a kernel that may wait for the program");
    if (counts)
        cw_range_watch(c, call);
}

static void wait_for_others(const struct cw_collection *c, struct cw_multiplexed *m)
{
    if (c->pending && !m->in_vain)
        cw_collection_wait(c, launch_patience_ns);
    m->in_vain = c->pending > 0;
}

static void enter_automatic(CUpti_CallbackId id, const CUpti_CallbackData *call, struct cw_collection *c,
                            struct cw_multiplexed *m, uint32_t kind, bool wanted)
{
    bool captured = cw_stream_capture_is_under_way();
    if (captured && wanted)
        cw_collection_skip(c, CW_WHY_CAPTURED);
    bool counts = wanted && !captured && is_to_be_counted(c, m);
    if ((counts || c->running) && cw_kernel_may_wait(id, call)) {
        see_first(call, c, m, counts);
        return;
    }
    if (counts || c->running) /* ranges come in the order of launches, which threads may change behind this */
        wait_for_others(c, m);
    counts = counts && make_ready(c, m);
    if (!counts && !captured)
        pass_by(c, m);
    if (!c->running || c->once || !cw_collection_launch(c, id, call, call->symbolName))
        return;
    struct cw_launch *launch = &c->launches[c->count - 1].data;
    launch->replay = CW_REPLAY_MULTIPLEX;
    launch->unwanted = !counts;
    if (!counts)
        return;
    note_counted(c, m, kind);
    m->stretch++;
    m->unwanted = 0;
}

/* ---- launches, as ranges that are pushed ------------------------------------------------------------------------ */

static void enter_pushed(CUpti_CallbackId id, const CUpti_CallbackData *call, struct cw_collection *c,
                         struct cw_multiplexed *m, uint32_t kind, bool wanted)
{
    bool counts = wanted && is_to_be_counted(c, m);
    uint32_t ahead = counts ? passes_ahead(c, m) : 0;
    if (c->running && ahead && stop(c, m, "the turn of another pass")) {
        ahead--;
        counts = is_to_be_counted(c, m);
    }
    uint64_t begin = cw_inject_now_ns();
    uint64_t armed_ns = c->running ? c->armed_ns : 0;
    uint32_t let_by = c->running ? 0 : ahead;
    c->let_by = let_by;
    cw_once_enter(c, id, call, counts, NULL);
    c->let_by = 0;
    if (c->running && c->armed_ns != armed_ns)
        started(c, m, begin, let_by);
    else
        self->ns.spent += counts ? cw_inject_now_ns() - begin : 0;
    if (!counts || !c->running || !c->count || c->launches[c->count - 1].correlation != call->correlationId)
        return;
    note_counted(c, m, kind);
    m->stretch++;
}

/* Whether a launch cannot be a range of CUPTI's own, nor those behind it. */
static bool has_to_be_pushed(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    return cw_inject_launches_graph(id) || !cw_collection_sees_launches() ||
           cw_kernel_habit(cw_inject_kernel(id, call)) == CW_KERNEL_WAITS ||
           (cw_reach_why() && (cw_inject->devices & (cw_inject->devices - 1)));
}

/* ---- what the program does -------------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t key, uint64_t more)
{
    key = (key ^ more) * UINT64_C(0x9e3779b97f4a7c15);
    return key ^ key >> 29;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Of a user range. Numbers in names are alike: a program may number its steps. */
static uint64_t key_of_path(const char *path)
{
    uint64_t key = 1;
    for (; *path; path++)
        if (!is_digit(*path) || !is_digit(path[1]))
            key = mix(key, is_digit(*path) ? '0' : (unsigned char)*path);
    return key;
}

static uint64_t key_of_name(const char *name)
{
    uint64_t key = 1;
    while (*name)
        key = mix(key, (unsigned char)*name++);
    return key;
}

static uint64_t key_of_launch(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    struct cw_driver_launch l;
    char graph[CW_GRAPH_NAME];
    if (!cw_inject_launch(&l, id, call) || l.graph)
        return key_of_name(cw_graph_launch_name(id, call, graph));
    const CUlaunchConfig *g = &l.config;
    uint64_t key = mix((uintptr_t)l.function, (uint64_t)g->gridDimX << 32 | g->gridDimY);
    return mix(mix(key, (uint64_t)g->gridDimZ << 32 | g->blockDimX), (uint64_t)g->blockDimY << 32 | g->blockDimZ);
}

/* From here on launches are pushed, once nothing else is collected. */
static void push_from_here(struct cw_collection *c, struct cw_multiplexed *m)
{
    cw_range_come_to_rest(c);
    m->one_by_one = !c->running;
}

static void launch_entered(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    struct cw_collection *c = cw_collection_find(call->context);
    if (c && c->open_range)
        cw_collection_inside(c, id, call);
    struct cw_multiplexed *m = c && !settings->user && cw_stream_runs_launch(id, call) ? multiplexed_of(c) : NULL;
    if (!m)
        return;
    bool wanted = cw_range_wants(id, call);
    uint32_t kind = wanted ? cw_turns_meet(&m->turns, key_of_launch(id, call)) : 0;
    if (!m->one_by_one && has_to_be_pushed(id, call))
        push_from_here(c, m);
    if (m->one_by_one)
        enter_pushed(id, call, c, m, kind, wanted);
    else if (cw_inject_launches_graph(id) && wanted)
        cw_collection_skip(c, CW_WHY_BESIDE);
    else if (!cw_inject_launches_graph(id))
        enter_automatic(id, call, c, m, kind, wanted);
}

static void launch_left(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    struct cw_collection *c = cw_collection_find(call->context);
    uint64_t begin = cw_inject_now_ns();
    if (c && c->watched && c->watched == call->correlationId) {
        cw_range_see(id, call, c);
    } else if (c && c->once) {
        cw_once_leave(c, id, call);
        self->ns.spent += cw_inject_now_ns() - begin;
    } else if (c && c->running && cw_collection_launched(c, call)) {
        const struct cw_seen_launch *last = c->count ? &c->launches[c->count - 1] : NULL;
        if (last && last->correlation == call->correlationId && last->data.end_ns)
            learn_launch(&last->data);
    }
}

/* The program has waited for the GPU, and what comes next may be its end. */
static void call_left(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    struct cw_collection *c = cw_collection_find(call->context);
    struct cw_multiplex_times *ns = &self->ns;
    if (!c || cw_inject_blocks_stream(id) || !cw_range_may_stop(c) || !c->count ||
        ns->early > early_free_ns + (cw_inject_now_ns() - ns->first) / EARLY_SHARE)
        return;
    ns->early += ns->start + ns->stop;
    stop(c, &self->items[c - cw_collections->slots], "a wait of the program's, which may be its end");
}

/* For another process that waits for the counters. */
static void give_way(struct cw_collection *c)
{
    if (cw_range_may_stop(c))
        stop(c, &self->items[c - cw_collections->slots], "another process that waits for the counters");
}

/* ---- user ranges ------------------------------------------------------------------------------------------------ */

/* Whether this one is counted; its kind is then met. */
static bool takes_part(const struct cw_open_range *range, struct cw_multiplexed *m, uint32_t *kind)
{
    char *path = cw_user_ranges_path(range->id);
    *kind = cw_turns_meet(&m->turns, key_of_path(path ? path : ""));
    free(path);
    return (m->turns.kinds[*kind].met - 1) % self->every == 0 && is_paid_off();
}

static void range_opened(const struct cw_open_range *range)
{
    struct cw_collection *c = settings->user && range->level == settings->level ? cw_range_current() : NULL;
    struct cw_multiplexed *m = c && !c->open_range ? multiplexed_of(c) : NULL;
    uint32_t kind;
    if (!m || !cw_filter_launch(&settings->filter, "", true) || !takes_part(range, m, &kind))
        return;
    if (cw_stream_capture_is_under_way()) {
        cw_collection_skip(c, CW_WHY_CAPTURED);
        return;
    }
    uint64_t begin = cw_inject_now_ns();
    bool rests = cw_range_settle(c, 1000000) && cw_range_rests(c); /* what was launched before must not count */
    self->ns.spent += cw_inject_now_ns() - begin;
    if (!c->context || cw_inject->over) /* by now */
        return;
    if (!rests && !cw_stream_capture_is_under_way())
        cw_collection_skip(c, CW_WHY_WAITS);
    if (!rests || c->open_range || !make_ready(c, m))
        return;
    begin = cw_inject_now_ns();
    cw_range_begin(c, range);
    self->ns.spent += cw_inject_now_ns() - begin;
    if (c->open_range != range->id)
        return;
    note_counted(c, m, kind);
}

static void range_closing(const struct cw_open_range *range)
{
    struct cw_collection *c = cw_collection_with_range(range->id);
    if (!c)
        return;
    uint64_t begin = cw_inject_now_ns();
    cw_range_end(c);
    self->ns.spent += cw_inject_now_ns() - begin;
}

/* ---- contexts --------------------------------------------------------------------------------------------------- */

/* A range may be open already, from before the program came to use the GPU. */
static void context_created(CUcontext context, uint32_t device)
{
    const struct cw_open_range *range =
        settings->user ? cw_nesting_at_level(&cw_user_ranges->open, settings->level) : NULL;
    if (cw_collection_open(context, device) && range)
        range_opened(range);
}

static void context_destroyed(CUcontext context)
{
    struct cw_collection *c = cw_collection_find(context);
    if (!c)
        return;
    struct cw_multiplexed *m = &self->items[c - cw_collections->slots];
    cw_range_context_destroyed(context);
    cw_turns_end(&m->turns);
    *m = (struct cw_multiplexed){0};
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
                                                   .give_way = give_way};
