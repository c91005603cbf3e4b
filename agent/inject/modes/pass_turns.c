#include "agent/inject/modes/pass_turns.h"

#include "agent/inject/memory/graph.h"

/* Costs until they are measured: as on an H200 with 25 metrics. */
static const struct cw_pass_times at_first = {.start = 12000000, .stop = 3000000, .launch = 600000};
enum {
    WEIGHT = 4, /* a new time counts as one part in WEIGHT of the price */
    CHEAP = 32, /* a change costs at most as much as so many launches: in some passes a launch costs almost nothing */
    DRIFT = 64, /* the price of a launch rises by at most one part in DRIFT at a time */
    STRANGE = 64,
    MOST_STRANGE = 1 << 20, /* launches pushed after an unknown kernel: STRANGE, then twice as many each time */
};
static const uint64_t least_ns = 10000; /* least price of a launch */

#define self cw_pass_turns

struct cw_pass_turn *cw_pass_turn_of(const struct cw_collection *c)
{
    struct cw_pass_turn *t = &self->items[c - cw_collections->slots];
    if (!self->ns.launch)
        self->ns = at_first;
    if (!t->turns.kinds && !cw_turns_begin(&t->turns, cw_collection_turns(), !self->of_ranges)) {
        cw_inject_fail_memory();
        return NULL;
    }
    return t;
}

void cw_pass_turn_end(const struct cw_collection *c)
{
    struct cw_pass_turn *t = &self->items[c - cw_collections->slots];
    cw_turns_end(&t->turns);
    *t = (struct cw_pass_turn){0};
}

/* ---- costs ------------------------------------------------------------------------------------------------------ */

/* Learns a price. Limits an outlier, such as the very first change, so that it does not spoil the price. */
static void learn(uint64_t *price, uint64_t took)
{
    took = took < WEIGHT * *price ? took : WEIGHT * *price;
    *price += took / WEIGHT - *price / WEIGHT;
}

static struct cw_turns_costs costs(void)
{
    const struct cw_pass_times *ns = &self->ns;
    uint64_t change = ns->start + ns->stop, least = change / CHEAP, launch = ns->launch > least ? ns->launch : least;
    return (struct cw_turns_costs){.change_ns = change,
                                   .count_ns = self->of_ranges ? 0 : launch,
                                   .changes_ns = ns->changes,
                                   .room = cw_collections->at_once,
                                   .all_ns = ns->first ? cw_inject_now_ns() - ns->first : 0};
}

void cw_pass_learn_launch(const struct cw_launch *launch)
{
    uint64_t took = launch->end_ns - launch->start_ns, *price = &self->ns.launch;
    self->ns.spent += took;
    *price = took < *price ? took : *price + *price / DRIFT;
    *price = *price < least_ns ? least_ns : *price;
}

/* ---- kinds ------------------------------------------------------------------------------------------------------ */

uint32_t cw_pass_meet(struct cw_pass_turn *t, uint64_t key)
{
    return cw_turns_meet(&t->turns, key);
}

static uint64_t key_of_name(const char *name)
{
    uint64_t key = 1;
    while (*name)
        key = cw_inject_mix(key, (unsigned char)*name++);
    return key;
}

uint64_t cw_pass_key(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    struct cw_driver_launch l;
    char graph[CW_GRAPH_NAME];
    if (!cw_inject_launch(&l, id, call) || l.graph)
        return key_of_name(cw_graph_launch_name(id, call, graph));
    const CUlaunchConfig *g = &l.config;
    uint64_t key = cw_inject_mix((uintptr_t)l.function, (uint64_t)g->gridDimX << 32 | g->gridDimY);
    return cw_inject_mix(cw_inject_mix(key, (uint64_t)g->gridDimZ << 32 | g->blockDimX),
                         (uint64_t)g->blockDimY << 32 | g->blockDimZ);
}

bool cw_pass_is_strange(struct cw_pass_turn *t, bool may_wait)
{
    if (may_wait && !t->strange) {
        const uint32_t next = t->strange_next ? 2 * t->strange_next : STRANGE;
        t->strange_next = next < MOST_STRANGE ? next : MOST_STRANGE;
    }
    if (may_wait)
        t->strange = t->strange_next;
    else
        t->strange -= t->strange > 0;
    return t->strange;
}

/* ---- passes ----------------------------------------------------------------------------------------------------- */

uint32_t cw_pass_ahead(const struct cw_collection *c, struct cw_pass_turn *t, bool may_wait)
{
    const struct cw_turns_costs now = costs();
    if (!t->turns.kinds) /* the context has gone since the launch was met */
        return 0;
    cw_turns_set_pass(&t->turns, cw_collection_turn(c));
    uint32_t ahead = cw_turns_advance(&t->turns, &now), patched = 0;
    while (may_wait && patched < t->turns.passes && cw_collection_turn_patches(c, ahead + patched))
        patched++;
    return patched < t->turns.passes ? ahead + patched : ahead;
}

bool cw_pass_stop(struct cw_collection *c, struct cw_pass_turn *t, void (*end)(struct cw_collection *c),
                  const char *why)
{
    if (c->pending && t->in_vain)
        return false;
    c->effort.ended = cw_collections->in_turn ? why : NULL; /* otherwise it is about batches */
    uint64_t begin = cw_inject_now_ns();
    bool at_once = !c->pending && !c->inside;
    end(c);
    t->in_vain = c->running && c->pending;
    uint64_t took = cw_inject_now_ns() - begin;
    self->ns.spent += took;
    if (!c->running && at_once)
        learn(&self->ns.stop, took);
    return !c->running;
}

void cw_pass_started(const struct cw_collection *c, struct cw_pass_turn *t, uint64_t begin_ns, uint32_t let_by)
{
    uint64_t took = cw_inject_now_ns() - begin_ns;
    struct cw_pass_times *ns = &self->ns;
    cw_turns_started(&t->turns);
    ns->first = ns->first ? ns->first : begin_ns;
    ns->spent += took;
    if (!let_by && c->running)
        learn(&ns->start, took);
    ns->changes += (let_by + 1) * (ns->start + ns->stop);
    t->took_ns = t->took_ns ? t->took_ns : begin_ns;
}

void cw_pass_counted(const struct cw_collection *c, struct cw_pass_turn *t, uint32_t kind)
{
    cw_turns_set_pass(&t->turns, c->part);
    bool cold = cw_turns_count(&t->turns, kind);
    c->launches[c->count - 1].data.cold = cold && !self->of_ranges;
    t->launched_ns = cw_inject_now_ns();
}
