#include <stdio.h>
#include <stdlib.h>

#include "agent/parts_work.h"

static const struct cw_placement *find(const struct cw_config_pass *pass, uint32_t raw)
{
    return cw_parts_find(pass->placements, pass->count, raw);
}

static bool has(const struct cw_config_pass *pass, uint32_t raw)
{
    return find(pass, raw) != NULL;
}

static bool holds(const struct cw_config_pass *pass, const struct cw_config_counter *counter)
{
    uint32_t held = 0;
    while (held < counter->raw_count && has(pass, counter->raws[held]))
        held++;
    return held == counter->raw_count;
}

static bool is_held(const struct cw_config_image *plan, const struct cw_config_counter *counter)
{
    for (uint32_t p = 0; p < plan->pass_count; p++)
        if (holds(&plan->passes[p], counter))
            return true;
    return !counter->raw_count;
}

/* ---- without repetition ----------------------------------------------------------------------------------------- */

enum { UNDECIDED = UINT32_MAX };

struct sized { /* a counter of the plan */
    uint32_t counter, raws;
};

static int by_raws(const void *a, const void *b)
{
    const struct sized *x = a, *y = b;
    if (x->raws != y->raws)
        return x->raws > y->raws ? -1 : 1;
    return (x->counter > y->counter) - (x->counter < y->counter);
}

struct single {
    const struct cw_config_image *plan;
    uint32_t *kept_in; /* of each raw counter: the pass that it is left to, or UNDECIDED */
    bool *used;        /* [pass * domains + domain]: something that stays is collected there */
};

static void leave(struct single *s, uint32_t pass, const struct cw_placement *at)
{
    s->kept_in[at->raw] = pass;
    s->used[(size_t)pass * s->plan->domain_count + at->domain] = true;
}

/* How many domains more a pass has with these raw counters; UNDECIDED where it lacks one, or has to leave it to another
 * pass. */
static uint32_t domains_more(const struct single *s, uint32_t pass, const uint32_t *raws, uint32_t raw_count)
{
    uint32_t more = 0;
    for (uint32_t r = 0; r < raw_count; r++) {
        const struct cw_placement *at = find(&s->plan->passes[pass], raws[r]);
        if (!at || (s->kept_in[raws[r]] != UNDECIDED && s->kept_in[raws[r]] != pass))
            return UNDECIDED;
        more += !s->used[(size_t)pass * s->plan->domain_count + at->domain];
    }
    return more;
}

/* Leaves raw counters to a pass that has them all, where there is one: each domain costs time at every launch. */
static void choose_pass(struct single *s, const uint32_t *raws, uint32_t raw_count)
{
    uint32_t best = UNDECIDED, fewest = UNDECIDED;
    for (uint32_t p = 0; p < s->plan->pass_count; p++) {
        uint32_t more = domains_more(s, p, raws, raw_count);
        if (more < fewest) {
            fewest = more;
            best = p;
        }
    }
    for (uint32_t r = 0; r < raw_count && best != UNDECIDED; r++)
        leave(s, best, find(&s->plan->passes[best], raws[r]));
}

/* What stands once has no choice. */
static void leave_uncopied(struct single *s)
{
    const struct cw_config_image *plan = s->plan;
    for (uint32_t p = 0; p < plan->pass_count; p++)
        for (uint32_t k = 0; k < plan->passes[p].count; k++) {
            const struct cw_placement *at = &plan->passes[p].placements[k];
            bool copied = false;
            for (uint32_t other = 0; other < plan->pass_count && !copied; other++)
                copied = other != p && has(&plan->passes[other], at->raw);
            if (!copied)
                leave(s, p, at);
        }
}

static bool repeats(const struct cw_config_image *plan, uint32_t *seen_in)
{
    for (uint32_t p = 0; p < plan->pass_count; p++)
        for (uint32_t k = 0; k < plan->passes[p].count; k++) {
            uint32_t *seen = &seen_in[plan->passes[p].placements[k].raw];
            if (*seen && *seen != p + 1)
                return true;
            *seen = p + 1;
        }
    return false;
}

bool cw_parts_single(struct cw_config_image *single, const struct cw_config_image *plan, struct cw_arena *arena)
{
    struct single s = {plan, cw_arena_alloc(arena, plan->raw_count, sizeof *s.kept_in),
                       cw_arena_alloc(arena, (size_t)plan->pass_count * plan->domain_count, 1)};
    uint32_t count = 0;
    struct sized *order = cw_arena_alloc(arena, plan->counter_count, sizeof *order);
    struct cw_config_pass *passes = cw_arena_alloc(arena, plan->pass_count, sizeof *passes);
    *single = *plan;
    if (!s.kept_in || !s.used || !order || !passes)
        return false;
    if (!repeats(plan, s.kept_in))
        return true;
    for (uint32_t r = 0; r < plan->raw_count; r++)
        s.kept_in[r] = UNDECIDED;
    leave_uncopied(&s);
    for (uint32_t c = 0; c < plan->counter_count; c++)
        order[c] = (struct sized){c, plan->counters[c].raw_count};
    qsort(order, plan->counter_count, sizeof *order, by_raws);
    for (uint32_t c = 0; c < plan->counter_count; c++)
        choose_pass(&s, plan->counters[order[c].counter].raws, plan->counters[order[c].counter].raw_count);
    for (uint32_t r = 0; r < plan->raw_count; r++)
        if (s.kept_in[r] == UNDECIDED)
            choose_pass(&s, &r, 1);
    for (uint32_t p = 0; p < plan->pass_count; p++) {
        const struct cw_config_pass *from = &plan->passes[p];
        struct cw_placement *placements = cw_arena_alloc(arena, from->count, sizeof *placements);
        if (!placements)
            return false;
        passes[count] = (struct cw_config_pass){0, placements};
        for (uint32_t k = 0; k < from->count; k++)
            if (s.kept_in[from->placements[k].raw] == p)
                placements[passes[count].count++] = from->placements[k];
        count += passes[count].count > 0;
    }
    single->passes = passes;
    single->pass_count = count;
    single->native = NULL;
    return true;
}

/* ---- passes that hold counters whole ---------------------------------------------------------------------------- */

struct completion {
    struct cw_config_image *plan;
    struct cw_arena *arena;
    cw_parts_fits *fits;
    void *user;
    struct cw_config_pass *passes; /* room for one more for each counter */
    uint32_t *domain;              /* where the plan collects each raw counter */
};

/* Puts a counter's raw counters into a pass where that fits. */
static enum cw_status put_counter(struct completion *m, struct cw_config_pass *pass,
                                  const struct cw_config_counter *counter, bool *answer, struct cw_error *err)
{
    struct cw_placement *placements =
        cw_arena_alloc(m->arena, (size_t)pass->count + counter->raw_count, sizeof *placements);
    if (!placements)
        return cw_error_nomem(err);
    struct cw_config_pass grown = {pass->count, placements};
    for (uint32_t i = 0; i < pass->count; i++)
        placements[i] = pass->placements[i];
    for (uint32_t r = 0; r < counter->raw_count; r++)
        if (!has(&grown, counter->raws[r]))
            placements[grown.count++] = (struct cw_placement){counter->raws[r], m->domain[counter->raws[r]]};
    enum cw_status status = m->fits(m->user, m->plan, &grown, answer, err);
    if (status == CW_OK && *answer)
        *pass = grown;
    return status;
}

static enum cw_status place_counter(struct completion *m, uint32_t first, uint32_t *count, uint32_t c,
                                    struct cw_error *err)
{
    const struct cw_config_counter *counter = &m->plan->counters[c];
    enum cw_status status = CW_OK;
    bool placed = false;
    for (uint32_t p = first; p < *count && status == CW_OK && !placed; p++)
        status = put_counter(m, &m->passes[p], counter, &placed, err);
    if (status != CW_OK || placed)
        return status;
    m->passes[*count] = (struct cw_config_pass){0};
    status = put_counter(m, &m->passes[*count], counter, &placed, err);
    *count += placed;
    return status;
}

enum cw_status cw_parts_complete(struct cw_config_image *plan, cw_parts_fits *fits, void *user, uint32_t *added,
                                 struct cw_arena *arena, struct cw_error *err)
{
    struct completion m = {.plan = plan, .arena = arena, .fits = fits, .user = user};
    uint32_t count = plan->pass_count;
    *added = 0;
    m.passes = cw_arena_alloc(arena, (size_t)count + plan->counter_count, sizeof *m.passes);
    m.domain = cw_arena_alloc(arena, plan->raw_count, sizeof *m.domain);
    if (!m.passes || !m.domain)
        return cw_error_nomem(err);
    for (uint32_t p = 0; p < count; p++) {
        m.passes[p] = plan->passes[p];
        for (uint32_t i = 0; i < plan->passes[p].count; i++)
            m.domain[plan->passes[p].placements[i].raw] = plan->passes[p].placements[i].domain;
    }
    enum cw_status status = CW_OK;
    for (uint32_t c = 0; c < plan->counter_count && status == CW_OK; c++)
        if (!is_held(plan, &plan->counters[c]))
            status = place_counter(&m, plan->pass_count, &count, c, err);
    *added = count - plan->pass_count;
    plan->passes = m.passes;
    plan->pass_count = count;
    if (*added)
        plan->native = NULL;
    return status;
}

void cw_parts_report(const struct cw_parts *parts, enum cw_parting how, uint32_t added)
{
    added += parts->added;
    if (added)
        fprintf(stderr, "capture-agent: %u pass%s added for counters that the plan spreads over several\n", added,
                added > 1 ? "es" : "");
    const struct cw_schema *schema = &parts->schema;
    uint32_t count = 0, first = 0;
    for (uint32_t c = schema->counter_count; how == CW_PARTS_PASSES && c-- > 0;)
        if (!schema->counters[c].whole) {
            first = c;
            count++;
        }
    if (count)
        fprintf(stderr,
                "capture-agent: no single pass holds %s%s; application replay leaves such counters out (%u of %u), "
                "kernel replay does not\n",
                schema->counters[first].name, count > 1 ? " and others" : "", count, schema->counter_count);
}
