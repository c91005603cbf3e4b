#include "cli/config/plan_explain.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "cli/common/cli.h"
#include "host/plan.h"
#include "json/json_tree.h"
#include "lib/handles.h"
#include "passes/parts.h"

enum {
    MOST_WEIGHED = 200, /* metrics; planning without each takes a while */
    MOST_SHOWN = 5,
};

struct saving { /* what the plan would be without a metric */
    uint32_t metric, passes;
};

struct explained {
    const struct counterworks_chip *chip;
    const struct cw_plan_options *options;
    const struct cw_plan *plan;
    uint32_t *loads; /* by domain: the passes that its counters alone need */
    uint32_t most;   /* the largest of them */
    struct saving *savings;
    uint32_t saving_count;
    bool weighed;
    struct cw_parts parts; /* as replay collects it; none for sampling over time */
};

/* ---- finding out ------------------------------------------------------------------------------------------------ */

static int by_saving(const void *a, const void *b)
{
    const struct saving *x = a, *y = b;
    if (x->passes != y->passes)
        return x->passes < y->passes ? -1 : 1;
    return (x->metric > y->metric) - (x->metric < y->metric);
}

static enum cw_status weigh(struct explained *e, struct cw_arena *arena, struct cw_error *err)
{
    const struct cw_config_image *image = &e->plan->image;
    const char **names = cw_arena_alloc(arena, image->metric_count, sizeof *names);
    e->savings = cw_arena_alloc(arena, image->metric_count, sizeof *e->savings);
    if (!names || !e->savings)
        return cw_error_nomem(err);
    enum cw_status status = CW_OK;
    e->weighed = image->metric_count > 1 && image->metric_count <= MOST_WEIGHED;
    for (uint32_t i = 0; e->weighed && status == CW_OK && i < image->metric_count; i++) {
        uint32_t passes, n = 0;
        for (uint32_t k = 0; k < image->metric_count; k++)
            if (k != i)
                names[n++] = image->metrics[k];
        status = cw_plan_passes(&passes, e->chip->chip, names, n, e->options, err);
        if (passes < image->pass_count)
            e->savings[e->saving_count++] = (struct saving){i, passes};
    }
    if (e->saving_count)
        qsort(e->savings, e->saving_count, sizeof *e->savings, by_saving);
    return status;
}

/* How much of the narrowest limit on a domain a pass uses up. */
struct slots {
    uint32_t counters, used, max; /* `max` 0: no limit speaks of the domain */
};

static uint32_t used_of(const struct cw_config_limit *limit, const struct cw_config_pass *pass, uint32_t domain)
{
    bool speaks = false;
    for (uint32_t k = 0; k < pass->count && !speaks; k++)
        for (uint32_t m = 0; m < limit->count && pass->placements[k].domain == domain && !speaks; m++)
            speaks = limit->members[m].raw == pass->placements[k].raw && limit->members[m].domain == domain;
    return speaks ? cw_config_limit_taken(limit, pass) : 0;
}

static struct slots slots_of(const struct cw_config_image *image, uint32_t pass, uint32_t domain)
{
    struct slots s = {0};
    for (uint32_t k = 0; k < image->passes[pass].count; k++)
        s.counters += image->passes[pass].placements[k].domain == domain;
    for (uint32_t l = 0; s.counters && l < image->limit_count; l++) {
        const struct cw_config_limit *limit = &image->limits[l];
        uint32_t used = limit->max > 1 ? used_of(limit, &image->passes[pass], domain) : 0;
        if (used && (!s.max || (uint64_t)used * s.max > (uint64_t)s.used * limit->max)) {
            s.used = used;
            s.max = limit->max;
        }
    }
    return s;
}

/* Why a metric that mixes passes is not whole: whether it would be, planned alone. */
static enum cw_status find_reason(const char **reason, const struct explained *e, const struct cw_plan_metric *m,
                                  struct cw_error *err)
{
    struct counterworks_plan *alone;
    struct counterworks_error error;
    struct counterworks_plan_options options = COUNTERWORKS_PLAN_OPTIONS;
    bool whole = false;
    options.profiler = (enum counterworks_profiler)e->options->profiler;
    if (counterworks_plan_make(&alone, e->chip, &m->name, 1, &options, &error) == COUNTERWORKS_OK)
        counterworks_plan_metric(alone, 0, NULL, NULL, &whole);
    *reason = !whole              ? "no pass can hold all counters of one of its values"
              : e->options->whole ? "no pass of this plan holds all counters of one of its values"
                                  : "other metrics need its counters in other passes";
    counterworks_plan_free(alone);
    return cw_cli_take(&error, err);
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

static void print_passes(const struct explained *e)
{
    const struct cw_config_image *image = &e->plan->image;
    cw_text_print(stdout,
                  "%s: %" PRIu32 " metric%s, %" PRIu32 " counter%s, %" PRIu32 " raw counter%s, %" PRIu32
                  " pass%s; every plan needs at least %" PRIu32 "\n\n",
                  image->chip, image->metric_count, s(image->metric_count), image->counter_count,
                  s(image->counter_count), image->raw_count, s(image->raw_count), image->pass_count,
                  es(image->pass_count), e->plan->bound);
    for (uint32_t i = 0; i < image->pass_count; i++) {
        cw_text_print(stdout, "pass %-3" PRIu32 " %2" PRIu32 " raw counter%s:", i, image->passes[i].count,
                      s(image->passes[i].count));
        for (uint32_t d = 0; d < image->domain_count; d++) {
            struct slots slots = slots_of(image, i, d);
            if (slots.max)
                cw_text_print(stdout, " %s %" PRIu32 "/%" PRIu32 "%s", image->domains[d].name, slots.used, slots.max,
                              e->loads[d] == e->most && slots.used >= slots.max ? "*" : "");
            else if (slots.counters)
                cw_text_print(stdout, " %s %" PRIu32, image->domains[d].name, slots.counters);
        }
        cw_text_print(stdout, "\n");
    }
    cw_text_print(stdout, "\nDOMAIN USED/LIMIT: what the pass uses of the domain's tightest limit; * a full domain "
                          "that forces the passes\n");
    for (uint32_t d = 0; d < image->domain_count; d++)
        if (e->loads[d] == e->most)
            cw_text_print(stdout, "%s alone needs %" PRIu32 " pass%s\n", image->domains[d].name, e->loads[d],
                          es(e->loads[d]));
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
    for (uint32_t i = 0; i < e->saving_count && i < MOST_SHOWN; i++)
        cw_text_print(stdout, "without %s: %" PRIu32 " pass%s\n", image->metrics[e->savings[i].metric],
                      e->savings[i].passes, es(e->savings[i].passes));
    if (e->weighed && !e->saving_count && image->pass_count > 1)
        cw_text_print(stdout, "leaving out any one metric saves no pass\n");
}

static enum cw_status print_metrics(const struct explained *e, struct cw_error *err)
{
    enum cw_status status = CW_OK;
    for (uint32_t i = 0; i < e->plan->metric_count && status == CW_OK; i++) {
        const struct cw_plan_metric *m = &e->plan->metrics[i];
        const char *reason = "";
        if (m->pass_count && !m->whole)
            status = find_reason(&reason, e, m, err);
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

static json_t *json_of_slots(const struct explained *e, uint32_t pass)
{
    const struct cw_config_image *image = &e->plan->image;
    json_t *slots = json_object();
    for (uint32_t d = 0; d < image->domain_count; d++) {
        struct slots s = slots_of(image, pass, d);
        if (s.max)
            cw_json_set(&slots, image->domains[d].name, json_pack("{s:i, s:i}", "used", (int)s.used, "of", (int)s.max));
    }
    return slots;
}

static json_t *json_of_pass(const struct explained *e, uint32_t pass)
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

static json_t *json_of_passes(const struct explained *e)
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
    for (uint32_t i = 0; i < e->saving_count; i++)
        cw_json_append(&list, json_pack("{s:s, s:i}", "without", e->plan->image.metrics[e->savings[i].metric], "passes",
                                        (int)e->savings[i].passes));
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
            *status = find_reason(&reason, e, m, err);
        cw_json_append(&list, *status == CW_OK ? json_of_metric(m, reason) : NULL);
    }
    return list;
}

static enum cw_status print_json(const struct explained *e, struct cw_error *err)
{
    enum cw_status status = CW_OK;
    json_t *metrics = json_of_metrics(e, &status, err);
    if (status != CW_OK)
        return status;
    json_t *root = json_pack("{s:s, s:i, s:i, s:o, s:o, s:o, s:o}", "chip", e->plan->image.chip, "fewest",
                             (int)e->plan->bound, "added", (int)e->parts.added, "passes", json_of_passes(e), "alone",
                             json_of_loads(e), "savings", json_of_savings(e), "metrics", metrics);
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
    if (status == CW_OK)
        status = weigh(&e, arena, err);
    const struct cw_parts_rules rules = {.how = CW_PARTS_FEW, .fits = cw_parts_fit_limits};
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
