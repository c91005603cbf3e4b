#include "import/transfer.h"

#include <math.h>
#include <string.h>

struct transfer {
    struct cw_facts *facts;
    const struct cw_chip *from;
    bool own, measured; /* own: `from` is a file of this very chip; measured: it was made from captures */
    uint32_t *local;    /* by counter of `from`: the counter of the same name here, or CW_NONE */
    uint32_t *remote;   /* by counter here: the one of `from` */
    enum cw_status status;
};

static bool same_raws(const struct transfer *t, const struct cw_list *here, const struct cw_list *there)
{
    if (here->count != there->count)
        return false;
    for (uint32_t i = 0; i < here->count; i++)
        if (t->facts->chip.raws[here->items[i]].id != t->from->raws[there->items[i]].id)
            return false;
    return true;
}

static uint32_t remote_base(const struct transfer *t, enum cw_metric_type wanted, const char *name)
{
    enum cw_metric_type type;
    uint32_t index;
    return cw_chip_find(t->from, name, strlen(name), &type, &index) && type == wanted ? index : CW_NONE;
}

/* ---- counters --------------------------------------------------------------------------------------------------- */

/* The cycles that the other file divides by; `otherwise` if this chip lacks them. */
static uint32_t cycles(const struct transfer *t, uint32_t there, const struct cw_list *needed, uint32_t otherwise)
{
    if (there == CW_NONE)
        return CW_NONE;
    uint32_t here = t->local[there];
    bool same = here != CW_NONE && same_raws(t, &t->facts->counters[here].raws, &t->from->counters[there].raws) &&
                cw_list_within(&t->facts->counters[here].raws, needed);
    return same ? here : otherwise;
}

/* Whether a formula holds for all chips. The width of a pipe and the number of instances of one unit in another are
 * specific to a chip; a whole being the sum of its parts, and a sector having 32 bytes, are not. */
static bool is_general(const struct cw_counter *c)
{
    bool general = c->per == 1;
    for (uint32_t k = 0; k < c->terms.count && general; k++)
        general = fabs(c->coefficients[k]) == 1 || strcmp(c->dimension, "bytes") == 0;
    return general;
}

/* Takes all counters or none. */
static struct cw_list take_counters(struct transfer *t, const struct cw_list *from)
{
    uint32_t *items = cw_arena_alloc(t->facts->arena, from->count, sizeof *items);
    if (!items)
        t->status = CW_ERR_NOMEM;
    for (uint32_t k = 0; items && k < from->count; k++)
        if ((items[k] = t->local[from->items[k]]) == CW_NONE)
            return (struct cw_list){0, NULL};
    return (struct cw_list){items ? from->count : 0, items};
}

/* Takes a combination over as a whole, if its counters exist here and need the same raw counters. */
static void take_terms(struct transfer *t, struct cw_counter *c, const struct cw_counter *from)
{
    const struct cw_list terms = take_counters(t, &from->terms);
    double *coefficients = cw_arena_alloc(t->facts->arena, terms.count, sizeof *coefficients);
    bool whole = terms.count && (t->own || is_general(from));
    if (!coefficients)
        t->status = CW_ERR_NOMEM;
    for (uint32_t k = 0; k < terms.count && whole; k++)
        whole = same_raws(t, &t->facts->counters[terms.items[k]].raws, &t->from->counters[from->terms.items[k]].raws);
    if (t->status != CW_OK || !whole)
        return;
    memcpy(coefficients, from->coefficients, terms.count * sizeof *coefficients);
    c->terms = terms;
    c->coefficients = coefficients;
    c->per = from->per;
    c->confirmed = t->own ? from->confirmed : 0;
}

static void take_counter(struct transfer *t, uint32_t i)
{
    struct cw_counter *c = &t->facts->counters[i];
    const struct cw_counter *from = t->remote[i] == CW_NONE ? NULL : &t->from->counters[t->remote[i]];
    if (!from || !same_raws(t, &c->raws, &from->raws))
        return;
    if (t->measured) {
        c->active = cycles(t, from->active, &t->facts->active_raws[i], c->active);
        c->elapsed = cycles(t, from->elapsed, &t->facts->elapsed_raws[i], c->elapsed);
    }
    if (t->measured || from->confirmed)
        take_terms(t, c, from);
    if (t->own && !isnan(from->peak)) {
        c->peak = from->peak;
        c->instances = from->instances;
    }
}

/* ---- ratios ----------------------------------------------------------------------------------------------------- */

/* Whether numerator and denominator need the raw counters of the ratio, and as many as in the other file. */
static bool agrees(const struct transfer *t, const struct cw_ratio *r, const struct cw_ratio *from, uint32_t n,
                   uint32_t d)
{
    const struct cw_list *above = &t->facts->counters[n].raws, *below = &t->facts->counters[d].raws;
    return above->count == t->from->counters[from->numerator].raws.count &&
           below->count == t->from->counters[from->denominator].raws.count && cw_list_within(above, &r->raws) &&
           cw_list_within(below, &r->raws) && cw_list_covered(&r->raws, above, below);
}

/* A warp has 32 threads, a sector 32 bytes and a wavefront 128 on every chip from 7.0 on. */
static bool is_general_rate(const struct cw_ratio *r)
{
    static const char *const dimensions[] = {"bytes/l2_sectors", "bytes/l1tex_wavefronts", "l2_sectors/l1tex_requests",
                                             "threads/warps"};
    bool general = strstr(r->name, "__thread_inst_executed") && strstr(r->name, "_per_inst_executed");
    for (size_t i = 0; i < sizeof dimensions / sizeof *dimensions && !general; i++)
        general = strcmp(r->dimension, dimensions[i]) == 0;
    return general;
}

static void take_ratio(struct transfer *t, uint32_t i)
{
    struct cw_ratio *r = &t->facts->ratios[i];
    uint32_t index = remote_base(t, CW_RATIO, r->name);
    const struct cw_ratio *from = index == CW_NONE ? NULL : &t->from->ratios[index];
    if (!from || r->raws.count != from->raws.count || (t->own && !same_raws(t, &r->raws, &from->raws)))
        return;
    if (!t->measured && !from->confirmed)
        return;
    uint32_t n = CW_NONE, d = CW_NONE;
    if (from->numerator != CW_NONE) {
        n = t->local[from->numerator];
        d = t->local[from->denominator];
        if (n == CW_NONE || d == CW_NONE || !agrees(t, r, from, n, d))
            return;
    }
    r->numerator = n;
    r->denominator = d;
    r->scale = from->scale;
    /* 1 is that of shares, and of ratios whose limit the library does not know; others are the other chip's */
    if (t->own || from->max_rate == 1 || is_general_rate(from))
        r->max_rate = from->max_rate;
    if (t->own)
        r->confirmed = from->confirmed;
}

/* ---- throughputs ------------------------------------------------------------------------------------------------ */

static void take_throughput(struct transfer *t, uint32_t i)
{
    struct cw_throughput *here = &t->facts->throughputs[i];
    uint32_t index = remote_base(t, CW_THROUGHPUT, here->name);
    const struct cw_throughput *from = index == CW_NONE ? NULL : &t->from->throughputs[index];
    if (!from || !same_raws(t, &here->raws, &from->raws) || (!t->measured && !from->confirmed))
        return;
    /* samples of this chip told which formula is right, or that the one its name suggests is wrong */
    bool tried = t->own && t->measured && here->listed == CW_OF_SAMPLES && !here->throughputs.count;
    if (tried || (!here->counters.count && !here->throughputs.count))
        here->counters = take_counters(t, &from->counters);
    if (t->own && here->counters.count == from->counters.count && here->throughputs.count == from->throughputs.count)
        here->confirmed = from->confirmed;
}

/* ---- all -------------------------------------------------------------------------------------------------------- */

static bool match_names(struct transfer *t)
{
    const struct cw_chip *chip = &t->facts->chip;
    t->local = cw_arena_alloc(t->facts->arena, t->from->counter_count, sizeof *t->local);
    t->remote = cw_arena_alloc(t->facts->arena, chip->counter_count, sizeof *t->remote);
    if (!t->local || !t->remote)
        return false;
    for (uint32_t i = 0; i < t->from->counter_count; i++)
        t->local[i] = CW_NONE;
    for (uint32_t i = 0; i < chip->counter_count; i++) {
        t->remote[i] = remote_base(t, CW_COUNTER, chip->counters[i].name);
        if (t->remote[i] != CW_NONE)
            t->local[t->remote[i]] = i;
    }
    return true;
}

static enum cw_status take_all(struct cw_facts *facts, const struct cw_chip *from, bool own, struct cw_error *err)
{
    struct transfer t = {.facts = facts, .from = from, .own = own, .measured = cw_chip_measured(from)};
    if (!match_names(&t))
        return cw_error_nomem(err);
    for (uint32_t i = 0; i < facts->chip.counter_count; i++)
        take_counter(&t, i);
    cw_facts_settle_units(facts);
    for (uint32_t i = 0; i < facts->chip.ratio_count; i++)
        take_ratio(&t, i);
    for (uint32_t i = 0; i < facts->chip.throughput_count; i++)
        take_throughput(&t, i);
    return t.status == CW_OK ? CW_OK : cw_error_nomem(err);
}

enum cw_status cw_transfer_formulas(struct cw_facts *facts, const struct cw_chip *other, struct cw_error *err)
{
    return take_all(facts, other, false, err);
}

/* Takes pass costs. A domain that no longer exists costs nothing. */
static bool take_pass_costs(struct cw_facts *facts, const struct cw_chip *earlier)
{
    struct cw_pass_cost *costs = cw_arena_alloc(facts->arena, earlier->pass_cost_count, sizeof *costs);
    for (uint32_t i = 0; costs && i < earlier->pass_cost_count; i++) {
        const struct cw_list *from = &earlier->pass_costs[i].domains;
        uint32_t n = 0, *domains = cw_arena_alloc(facts->arena, from->count, sizeof *domains);
        for (uint32_t k = 0; domains && k < from->count; k++)
            for (uint32_t d = 0; d < facts->chip.domain_count; d++)
                if (strcmp(facts->chip.domains[d].name, earlier->domains[from->items[k]].name) == 0)
                    domains[n++] = d;
        if (!domains)
            return false;
        costs[i] = (struct cw_pass_cost){earlier->pass_costs[i].cost, {n, domains}};
    }
    facts->chip.pass_costs = costs;
    facts->chip.pass_cost_count = costs ? earlier->pass_cost_count : 0;
    return costs;
}

enum cw_status cw_transfer_facts(struct cw_facts *facts, const struct cw_chip *earlier, struct cw_error *err)
{
    if (earlier->device_counter != CW_NONE)
        facts->chip.device_counter = cw_chip_find_raw(&facts->chip, earlier->raws[earlier->device_counter].id);
    return take_pass_costs(facts, earlier) ? take_all(facts, earlier, true, err) : cw_error_nomem(err);
}
