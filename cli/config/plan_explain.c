#include "cli/config/plan_explain.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cli/common/cli.h"
#include "host/plan.h"
#include "image/limit_index.h"
#include "json/json_tree.h"
#include "lib/handles.h"
#include "passes/parts.h"

enum { MOST_SHOWN = 5 };

/* How much of the narrowest limit on a domain a pass uses up. */
struct slots {
    uint32_t counters, used, max; /* `max` 0: no limit speaks of the domain */
    uint32_t limit;
};

struct explained {
    const struct counterworks_chip *chip;
    const struct cw_plan_options *options;
    const struct cw_plan *plan;
    uint32_t *loads; /* by domain: the passes of its counters, planned by themselves */
    uint32_t most;   /* the largest of them */
    struct cw_plan_savings savings;
    struct cw_limit_index limits;
    struct slots *slots;   /* by domain, of the pass in question */
    const char **reasons;  /* by metric: why it mixes passes, as far as it was asked */
    struct cw_parts parts; /* as replay collects it; none for sampling over time */
};

/* ---- finding out ------------------------------------------------------------------------------------------------ */

/* Of equally full limits the first counts; one that allows a single group says nothing. */
static void narrow(struct slots *slots, const struct cw_config_image *image, uint32_t limit, uint32_t used)
{
    uint32_t max = image->limits[limit].max;
    if (max == 1)
        return;
    uint64_t here = (uint64_t)used * slots->max, before = (uint64_t)slots->used * max;
    if (!slots->max || here > before || (here == before && limit < slots->limit))
        *slots = (struct slots){slots->counters, used, max, limit};
}

/* Fills in what a pass uses of each domain: slots[domain]. */
static void find_slots(struct explained *e, uint32_t pass)
{
    const struct cw_config_image *image = &e->plan->image;
    const struct cw_config_pass *of = &image->passes[pass];
    struct cw_limit_index *limits = &e->limits;
    memset(e->slots, 0, image->domain_count * sizeof *e->slots);
    cw_limit_index_ask(limits, of);
    for (uint32_t k = 0; k < of->count; k++) {
        struct cw_placement at = of->placements[k];
        e->slots[at.domain].counters++;
        for (uint32_t i = limits->first[at.raw]; i < limits->first[at.raw + 1]; i++)
            if (limits->items[i].domain == at.domain)
                narrow(&e->slots[at.domain], image, limits->items[i].limit, limits->taken[limits->items[i].limit]);
    }
}

static bool same_values(const struct cw_plan_metric *a, const struct cw_plan_metric *b)
{
    bool same = a->value_count == b->value_count;
    for (uint32_t v = 0; same && v < a->value_count; v++)
        same = a->values[v].count == b->values[v].count &&
               memcmp(a->values[v].items, b->values[v].items, a->values[v].count * sizeof *a->values[v].items) == 0;
    return same;
}

/* Whether a metric would be whole, planned alone. */
static enum cw_status plan_alone(bool *whole, const struct explained *e, const struct cw_plan_metric *m,
                                 struct cw_error *err)
{
    struct counterworks_plan *alone;
    struct counterworks_error error;
    struct counterworks_plan_options options = COUNTERWORKS_PLAN_OPTIONS;
    options.profiler = (enum counterworks_profiler)e->options->profiler;
    *whole = false;
    if (counterworks_plan_make(&alone, e->chip, &m->name, 1, &options, &error) == COUNTERWORKS_OK)
        counterworks_plan_metric(alone, 0, NULL, NULL, whole);
    counterworks_plan_free(alone);
    return cw_cli_take(&error, err);
}

/* Why a metric that mixes passes is not whole. Many are other values of the same counters. */
static enum cw_status find_reason(const char **reason, const struct explained *e, uint32_t metric, struct cw_error *err)
{
    const struct cw_plan_metric *m = &e->plan->metrics[metric];
    enum cw_status status = CW_OK;
    uint32_t like = 0;
    while (like < metric && !(e->reasons[like] && same_values(&e->plan->metrics[like], m)))
        like++;
    if (like < metric) {
        e->reasons[metric] = e->reasons[like];
    } else {
        bool whole;
        status = plan_alone(&whole, e, m, err);
        e->reasons[metric] = !whole              ? "no pass can hold all counters of one of its values"
                             : e->options->whole ? "no pass of this plan holds all counters of one of its values"
                                                 : "other metrics need its counters in other passes";
    }
    *reason = e->reasons[metric];
    return status;
}

/* ---- text ------------------------------------------------------------------------------------------------------- */

/* What a word gets behind it where there are n. */
static const char *s(uint32_t n)
{
    return n == 1 ? "" : "s";
}

static const char *es(uint32_t n)
{
    return n == 1 ? "" : "es";
}

static void print_passes(struct explained *e)
{
    const struct cw_config_image *image = &e->plan->image;
    cw_text_print(
        stdout, "%s: %" PRIu32 " metric%s, %" PRIu32 " counter%s, %" PRIu32 " raw counter%s, %" PRIu32 " pass%s",
        image->chip, image->metric_count, s(image->metric_count), image->counter_count, s(image->counter_count),
        image->raw_count, s(image->raw_count), image->pass_count, es(image->pass_count));
    if (e->plan->bound > 1 && e->plan->bound < image->pass_count)
        cw_text_print(stdout, "; no plan has fewer than %" PRIu32, e->plan->bound);
    else if (e->plan->bound > 1)
        cw_text_print(stdout, "; no plan has fewer");
    cw_text_print(stdout, "\n\n");
    for (uint32_t i = 0; i < image->pass_count; i++) {
        cw_text_print(stdout, "pass %-3" PRIu32 " %2" PRIu32 " raw counter%s:", i, image->passes[i].count,
                      s(image->passes[i].count));
        find_slots(e, i);
        for (uint32_t d = 0; d < image->domain_count; d++) {
            const struct slots slots = e->slots[d];
            if (slots.max)
                cw_text_print(stdout, " %s %" PRIu32 "/%" PRIu32 "%s", image->domains[d].name, slots.used, slots.max,
                              e->loads[d] == e->most && slots.used >= slots.max ? "*" : "");
            else if (slots.counters)
                cw_text_print(stdout, " %s %" PRIu32, image->domains[d].name, slots.counters);
        }
        cw_text_print(stdout, "\n");
    }
    cw_text_print(stdout,
                  "\nDOMAIN USED/LIMIT: of the domain's tightest limit; * full, in the domain of most passes\n");
    for (uint32_t d = 0; d < image->domain_count; d++)
        if (e->loads[d] == e->most && e->most > 1)
            cw_text_print(stdout, "planned by themselves, the counters of %s take %" PRIu32 " passes\n",
                          image->domains[d].name, e->loads[d]);
}

/* A counter that no pass holds may need passes of its own (parts.h), which come last. */
static void print_added(const struct explained *e)
{
    const struct cw_schema *schema = &e->parts.schema;
    const struct cw_schema_counter *c = schema->counters;
    const uint32_t planned = e->plan->image.pass_count;
    while (e->parts.added && (!c->pass_count || c->passes[c->pass_count - 1] < planned))
        c++;
    if (e->parts.added)
        cw_text_print(stdout,
                      "batched and user replay add %" PRIu32 " pass%s, for counters that no pass holds, such as %s\n",
                      e->parts.added, es(e->parts.added), c->name);
}

static void print_savings(const struct explained *e)
{
    const struct cw_config_image *image = &e->plan->image;
    const struct cw_plan_savings *s = &e->savings;
    for (uint32_t i = 0; i < s->count && i < MOST_SHOWN; i++)
        cw_text_print(stdout, "without %s: %" PRIu32 " pass%s\n", image->metrics[s->items[i].metric],
                      s->items[i].passes, es(s->items[i].passes));
    if (s->weighed == image->metric_count && !s->count && image->pass_count > 1)
        cw_text_print(stdout, "leaving out any one metric saves no pass\n");
}

static enum cw_status print_metrics(const struct explained *e, struct cw_error *err)
{
    enum cw_status status = CW_OK;
    for (uint32_t i = 0; i < e->plan->metric_count && status == CW_OK; i++) {
        const struct cw_plan_metric *m = &e->plan->metrics[i];
        const char *reason = "";
        if (m->pass_count && !m->whole)
            status = find_reason(&reason, e, i, err);
        cw_text_print(stdout, "%-70s %s", m->name,
                      !m->pass_count ? "no pass, a fact of the device"
                      : m->whole     ? "pass "
                                     : "mixes passes ");
        for (uint32_t k = 0; k < m->pass_count; k++)
            cw_text_print(stdout, "%s%" PRIu32, k ? "," : "", m->passes[k]);
        cw_text_print(stdout, "%s%s%s\n", *reason ? ": " : "", reason,
                      m->whole && m->pass_count > 1 && m->value_count == 1 ? ", one of them with all its counters"
                                                                           : "");
    }
    return status;
}

/* ---- JSON ------------------------------------------------------------------------------------------------------- */

static json_t *json_of_slots(struct explained *e, uint32_t pass)
{
    const struct cw_config_image *image = &e->plan->image;
    json_t *slots = json_object();
    find_slots(e, pass);
    for (uint32_t d = 0; d < image->domain_count; d++) {
        const struct slots s = e->slots[d];
        if (s.max)
            cw_json_set(&slots, image->domains[d].name, json_pack("{s:i, s:i}", "used", (int)s.used, "of", (int)s.max));
    }
    return slots;
}

static json_t *json_of_pass(struct explained *e, uint32_t pass)
{
    const struct cw_config_image *image = &e->plan->image;
    json_t *raws = json_array(), *domains = json_array();
    for (uint32_t k = 0; k < image->passes[pass].count; k++) {
        const struct cw_placement *at = &image->passes[pass].placements[k];
        char id[24];
        snprintf(id, sizeof id, "0x%016" PRIx64, image->raws[at->raw]);
        cw_json_append(&raws, json_string(id));
        cw_json_append(&domains, json_string(image->domains[at->domain].name));
    }
    return json_pack("{s:o, s:o, s:o}", "raw", raws, "domains", domains, "slots", json_of_slots(e, pass));
}

static json_t *json_of_passes(struct explained *e)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < e->plan->image.pass_count; i++)
        cw_json_append(&list, json_of_pass(e, i));
    return list;
}

static json_t *json_of_loads(const struct explained *e)
{
    json_t *loads = json_object();
    for (uint32_t d = 0; d < e->plan->image.domain_count; d++)
        cw_json_set(&loads, e->plan->image.domains[d].name, json_integer(e->loads[d]));
    return loads;
}

static json_t *json_of_savings(const struct explained *e)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < e->savings.count; i++)
        cw_json_append(&list, json_pack("{s:s, s:i}", "without", e->plan->image.metrics[e->savings.items[i].metric],
                                        "passes", (int)e->savings.items[i].passes));
    return list;
}

static json_t *json_of_metric(const struct cw_plan_metric *m, const char *reason)
{
    json_t *list = json_array();
    for (uint32_t k = 0; k < m->pass_count; k++)
        cw_json_append(&list, json_integer(m->passes[k]));
    return json_pack("{s:s, s:o, s:b, s:s?}", "name", m->name, "passes", list, "whole", m->whole, "why", reason);
}

/* NULL after a failure, of which *status tells more than that memory did not do. */
static json_t *json_of_metrics(const struct explained *e, enum cw_status *status, struct cw_error *err)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < e->plan->metric_count && *status == CW_OK; i++) {
        const struct cw_plan_metric *m = &e->plan->metrics[i];
        const char *reason = NULL;
        if (m->pass_count && !m->whole)
            *status = find_reason(&reason, e, i, err);
        cw_json_append(&list, *status == CW_OK ? json_of_metric(m, reason) : NULL);
    }
    return list;
}

static enum cw_status print_json(struct explained *e, struct cw_error *err)
{
    enum cw_status status = CW_OK;
    json_t *metrics = json_of_metrics(e, &status, err);
    if (status != CW_OK)
        return status;
    json_t *root = json_pack("{s:s, s:i, s:i, s:o, s:o, s:i, s:o, s:o}", "chip", e->plan->image.chip, "fewest",
                             (int)e->plan->bound, "added", (int)e->parts.added, "passes", json_of_passes(e), "alone",
                             json_of_loads(e), "weighed", (int)e->savings.weighed, "savings", json_of_savings(e),
                             "metrics", metrics);
    status = cw_json_print(root, JSON_INDENT(1), stdout, err);
    cw_text_print(stdout, "\n");
    return status;
}

enum cw_status cw_plan_print(const struct counterworks_plan *of, const struct counterworks_chip *chip, bool json,
                             struct cw_arena *arena, struct cw_error *err)
{
    const struct cw_plan *plan = &of->plan;
    struct explained e = {.chip = chip, .options = &of->options, .plan = plan};
    e.loads = cw_arena_alloc(arena, plan->image.domain_count, sizeof *e.loads);
    enum cw_status status = e.loads ? cw_plan_loads(e.loads, plan, chip->chip, arena, err) : cw_error_nomem(err);
    for (uint32_t d = 0; status == CW_OK && d < plan->image.domain_count; d++)
        e.most = e.loads[d] > e.most ? e.loads[d] : e.most;
    e.slots = cw_arena_alloc(arena, plan->image.domain_count, sizeof *e.slots);
    e.reasons = cw_arena_alloc(arena, plan->metric_count, sizeof *e.reasons);
    if (status == CW_OK && (!e.slots || !e.reasons || !cw_limit_index_make(&e.limits, &plan->image, arena)))
        status = cw_error_nomem(err);
    if (status == CW_OK)
        status = cw_plan_weigh(&e.savings, plan, chip->chip, e.options, arena, err);
    const struct cw_parts_rules rules = {.how = CW_PARTS_FEW, .fits = cw_parts_fit_limits, .user = &e.limits};
    if (status == CW_OK && e.options->profiler == CW_PROFILER_RANGE)
        status = cw_parts_make(&e.parts, &plan->image, &rules, arena, err);
    if (status != CW_OK)
        return status;
    if (json)
        return print_json(&e, err);
    print_passes(&e);
    print_added(&e);
    print_savings(&e);
    cw_text_print(stdout, "\n");
    return print_metrics(&e, err);
}
