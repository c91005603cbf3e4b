/* metric-config: plans counters for metrics, and writes the config image. */
#include "cli/config/metric_config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/progress.h"
#include "base/text.h"
#include "cli/common/chip.h"
#include "cli/common/cli.h"
#include "cli/common/metric_list.h"
#include "host/plan.h"
#include "image/limit_index.h"
#include "json/json_tree.h"
#include "lib/handles.h"
#include "passes/parts.h"

/* ---- command line ----------------------------------------------------------------------------------------------- */

enum { MOST_TOGETHER = 64 };

struct options {
    const char *output, *rules;
    struct cw_metric_sources sources;
    struct cw_cli_chip chip;
    struct counterworks_plan_options plan;
    const char *together[MOST_TOGETHER];
    bool all, for_advice, explain, json, no_native, force;
};

static void count_passes(void *most_passes, char *text, struct argp_state *state)
{
    char *end;
    unsigned long n = strtoul(text, &end, 10);
    if (*text < '1' || *text > '9' || *end || n > 1000000)
        cw_usage_error(state, "found '%s' passes, expected a number from 1 on", text);
    *(uint32_t *)most_passes = (uint32_t)n;
}

static void want_single_pass(void *most_passes, char *text, struct argp_state *state)
{
    (void)text, (void)state;
    *(uint32_t *)most_passes = 1;
}

static void keep_together(void *options, char *names, struct argp_state *state)
{
    struct options *o = options;
    if (o->plan.together_count == MOST_TOGETHER)
        cw_usage_error(state, "found more than %d times --keep-together", MOST_TOGETHER);
    cw_metric_sources_add(&o->sources, names, state);
    o->together[o->plan.together_count++] = names;
}

static void check_options(void *options, struct argp_state *state)
{
    const struct options *o = options;
    if (!o->sources.count && !o->all && !o->for_advice)
        cw_usage_error(state, "no metrics: give -m, --metrics-file, --set, --for-advice or --all");
    if (o->rules && !o->for_advice)
        cw_usage_error(state, "--rules needs --for-advice");
    if (o->plan.drop && !o->plan.most_passes && o->plan.profiler != COUNTERWORKS_SAMPLES)
        cw_usage_error(state, "--drop needs --max-passes, --single-pass or --profiler pm");
    if (o->plan.profiler == COUNTERWORKS_SAMPLES && o->plan.most_passes > 1)
        cw_usage_error(state, "sampling over time has one pass, found --max-passes %" PRIu32, o->plan.most_passes);
    if (o->output && cw_file_is_standard(o->output) && o->explain)
        cw_usage_error(state, "found -o - and --explain, expected one of them on standard output");
}

static const struct cw_option option_list[] = {
    {"all", 0, NULL,
     "plan everything: every counter with its peak, every ratio and throughput with a formula, and all of "
     "--metrics-db; counterworks RUN.cwd --all then has a value for each name",
     CW_OPTION_FLAG(struct options, all)},
    {"for-advice", 0, NULL, "plan the counters of \"counterworks advise\"", CW_OPTION_FLAG(struct options, for_advice)},
    {"rules", 0, "PATH", "with --for-advice: rules of your own as well, a YAML file or a folder of them",
     CW_OPTION_TEXT(struct options, rules)},
    {"profiler", 0, "range|pm",
     "the way to collect the plan: around kernels, or by sampling over time, which has one pass (default: range)",
     .called = "the profiler", CW_OPTION_CHOICE(struct options, plan.profiler)},
    {"max-passes", 0, "N", "refuse a plan of more than N passes",
     CW_OPTION_READ(struct options, plan.most_passes, count_passes)},
    {"single-pass", 0, NULL, "the same as --max-passes 1", CW_OPTION_RARE,
     CW_OPTION_READ(struct options, plan.most_passes, want_single_pass)},
    {"drop", 0, NULL,
     "do not refuse a plan that is too long: take the metrics in the given order, and leave out each one that needs a "
     "pass too many",
     CW_OPTION_FLAG(struct options, plan.drop)},
    {"keep-together", 0, "A,B,...", "also plan these metrics, with all their counters in one pass", CW_OPTION_RARE,
     CW_OPTION_TAKE(keep_together)},
    {"device-facts", 0, "FILE",
     "plan for the GPUs of a node, by the file of \"counterworks doctor --facts\" there: their chip, unless --chip "
     "chooses one of several, without missing units",
     CW_OPTION_TEXT(struct options, chip.node)},
    {"prefer", 0, "whole|passes|time",
     "the plan to choose. whole (default): each value that fits a pass has a pass with all its counters; if that needs "
     "more than --max-passes, as with passes. passes: as few passes as possible. time: the passes that take least time "
     "if each launch is replayed by itself, if the chip's file has costs of passes",
     CW_OPTION_CHOICE(struct options, plan.prefer)},
    {"output", 'o', "FILE", "the file for the config image; - is standard output",
     CW_OPTION_TEXT(struct options, output)},
    {CW_OPTION_GROUP(struct options, force, cw_cli_force_options)},
    {"explain", 0, NULL, "print the plan: passes, their counters, and the passes of each metric",
     CW_OPTION_FLAG(struct options, explain)},
    {"format", 0, "text|json", "the form of --explain (default: text)", .called = "the format",
     CW_OPTION_CHOICE(struct options, json)},
    {"native-library", 0, "FILE", "NVIDIA's host library, if not in its usual place", CW_OPTION_RARE,
     CW_OPTION_TEXT(struct options, plan.native_library)},
    {"no-native", 0, NULL, "do not use NVIDIA's host library, even if it is found: plan by the database alone",
     CW_OPTION_RARE, CW_OPTION_FLAG(struct options, no_native)},
    {CW_OPTION_GROUP(struct options, sources, cw_metric_sources_options)},
    {CW_OPTION_GROUP(struct options, chip, cw_cli_chip_options)},
    {CW_OPTION_CHECK(check_options)},
    {0},
};

/* ---- --explain: facts about a plan ------------------------------------------------------------------------------ */

enum { MOST_SHOWN = 5 };

/* A pass's use of a domain, by the domain's narrowest limit. */
struct slots {
    uint32_t counters, used, max; /* `max` 0: no limit for the domain */
    uint32_t limit;
};

struct explained {
    const struct counterworks_chip *chip;
    const struct cw_plan_options *options;
    const struct cw_plan *plan;
    uint32_t *loads; /* by domain: passes of its counters, if planned alone */
    uint32_t most;   /* the greatest of `loads` */
    struct cw_plan_savings savings;
    struct cw_limit_index limits;
    struct slots *slots;  /* by domain, of the current pass */
    const char **reasons; /* by metric: the reason for mixed passes, once it was looked up */
    FILE *out;
    struct cw_parts parts; /* as replay collects the plan; none for sampling over time */
};

/* Keeps the fullest limit, the first among equals. A limit of a single group does not count. */
static void narrow(struct slots *slots, const struct cw_config_image *image, uint32_t limit, uint32_t used)
{
    uint32_t max = image->limits[limit].max;
    if (max == 1)
        return;
    uint64_t here = (uint64_t)used * slots->max, before = (uint64_t)slots->used * max;
    if (!slots->max || here > before || (here == before && limit < slots->limit))
        *slots = (struct slots){slots->counters, used, max, limit};
}

/* Fills in the use of each domain by a pass: slots[domain]. */
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

/* Whether a metric would be whole in a plan of its own. */
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

/* Explains why a metric mixes passes. Many metrics are other values of the same counters. */
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

/* Plural ending for `n`. */
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
        e->out, "%s: %" PRIu32 " metric%s, %" PRIu32 " counter%s, %" PRIu32 " raw counter%s, %" PRIu32 " pass%s",
        image->chip, image->metric_count, s(image->metric_count), image->counter_count, s(image->counter_count),
        image->raw_count, s(image->raw_count), image->pass_count, es(image->pass_count));
    if (e->plan->bound > 1 && e->plan->bound < image->pass_count)
        cw_text_print(e->out, "; no plan has fewer than %" PRIu32, e->plan->bound);
    else if (e->plan->bound > 1)
        cw_text_print(e->out, "; no plan has fewer");
    cw_text_print(e->out, "\n\n");
    for (uint32_t i = 0; i < image->pass_count; i++) {
        cw_text_print(e->out, "pass %-3" PRIu32 " %2" PRIu32 " raw counter%s:", i, image->passes[i].count,
                      s(image->passes[i].count));
        find_slots(e, i);
        for (uint32_t d = 0; d < image->domain_count; d++) {
            const struct slots slots = e->slots[d];
            if (slots.max)
                cw_text_print(e->out, " %s %" PRIu32 "/%" PRIu32 "%s", image->domains[d].name, slots.used, slots.max,
                              e->loads[d] == e->most && slots.used >= slots.max ? "*" : "");
            else if (slots.counters)
                cw_text_print(e->out, " %s %" PRIu32, image->domains[d].name, slots.counters);
        }
        cw_text_print(e->out, "\n");
    }
    cw_text_print(e->out,
                  "\nDOMAIN USED/LIMIT: of the domain's tightest limit; * full, in the domain of most passes\n");
    for (uint32_t d = 0; d < image->domain_count; d++)
        if (e->loads[d] == e->most && e->most > 1)
            cw_text_print(e->out, "planned by themselves, the counters of %s take %" PRIu32 " passes\n",
                          image->domains[d].name, e->loads[d]);
}

/* A counter that fits no pass may need passes of its own (parts.h), which come last. */
static void print_added(const struct explained *e)
{
    const struct cw_schema *schema = &e->parts.schema;
    const struct cw_schema_counter *c = schema->counters;
    const uint32_t planned = e->plan->image.pass_count;
    while (e->parts.added && (!c->pass_count || c->passes[c->pass_count - 1] < planned))
        c++;
    if (e->parts.added)
        cw_text_print(e->out,
                      "batched and user replay add %" PRIu32 " pass%s, for counters that no pass holds, such as %s\n",
                      e->parts.added, es(e->parts.added), c->name);
}

static void print_savings(const struct explained *e)
{
    const struct cw_config_image *image = &e->plan->image;
    const struct cw_plan_savings *s = &e->savings;
    for (uint32_t i = 0; i < s->count && i < MOST_SHOWN; i++)
        cw_text_print(e->out, "without %s: %" PRIu32 " pass%s\n", image->metrics[s->items[i].metric],
                      s->items[i].passes, es(s->items[i].passes));
    if (s->weighed == image->metric_count && !s->count && image->pass_count > 1)
        cw_text_print(e->out, "leaving out any one metric saves no pass\n");
}

static enum cw_status print_metrics(const struct explained *e, struct cw_error *err)
{
    enum cw_status status = CW_OK;
    for (uint32_t i = 0; i < e->plan->metric_count && status == CW_OK; i++) {
        const struct cw_plan_metric *m = &e->plan->metrics[i];
        const char *reason = "";
        if (m->pass_count && !m->whole)
            status = find_reason(&reason, e, i, err);
        cw_text_print(e->out, "%-70s %s", m->name,
                      !m->pass_count ? "no pass, a fact of the device"
                      : m->whole     ? "pass "
                                     : "mixes passes ");
        for (uint32_t k = 0; k < m->pass_count; k++)
            cw_text_print(e->out, "%s%" PRIu32, k ? "," : "", m->passes[k]);
        cw_text_print(e->out, "%s%s%s\n", *reason ? ": " : "", reason,
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

/* NULL after a failure; *status has it, unless it is CW_OK: then memory ran out. */
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

static enum cw_status print_plan(const struct counterworks_plan *of, const struct counterworks_chip *chip, bool json,
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
    struct cw_text_wrap wrap;
    e.out = cw_text_wrap_begin(&wrap, stdout);
    print_passes(&e);
    print_added(&e);
    print_savings(&e);
    cw_text_print(e.out, "\n");
    status = print_metrics(&e, err);
    cw_text_wrap_end(&wrap);
    return status;
}

/* ---- all -------------------------------------------------------------------------------------------------------- */

/* Gathers all names, and, in the lists after the first, groups of names to keep together. */
static enum cw_status gather(struct counterworks_names *lists, const struct options *o, struct counterworks_chip *chip,
                             struct cw_arena *arena, struct cw_error *err)
{
    struct counterworks_error error;
    enum cw_status status = cw_metric_list_gather(lists, &o->sources, chip, arena, err);
    if (status == CW_OK && o->all)
        status = cw_metric_list_add_all(lists, chip, arena, err);
    if (status == CW_OK && o->for_advice)
        status = cw_metric_list_add_advice(lists, chip, o->rules, arena, err);
    for (size_t i = 0; status == CW_OK && i < o->plan.together_count; i++) {
        const struct cw_metric_sources one = {.count = 1, .items = {{CW_METRIC_NAMES, o->together[i]}}};
        status = cw_metric_list_gather(&lists[1 + i], &one, chip, arena, err);
    }
    if (status != CW_OK)
        return status;
    counterworks_chip_add_legacy(chip, lists->names, lists->count, &error);
    return cw_cli_take(&error, err);
}

static enum cw_status make_plan(const struct options *o, const struct counterworks_chip *chip,
                                const struct counterworks_names *lists, struct cw_arena *arena, struct cw_error *err)
{
    struct counterworks_plan_options options = o->plan;
    struct counterworks_plan *plan;
    struct counterworks_error error;
    options.together = lists + 1;
    options.native = !o->no_native;
    cw_progress_begin(o->chip.quiet, false, "planning %zu metric%s", lists->count, lists->count == 1 ? "" : "s");
    counterworks_plan_make(&plan, chip, lists->names, lists->count, &options, &error);
    cw_progress_end();
    if (plan && o->output)
        counterworks_plan_save(plan, o->output, &error);
    enum cw_status status = cw_cli_take(&error, err);
    if (status == CW_OK && o->explain)
        status = print_plan(plan, chip, o->json, arena, err);
    counterworks_plan_free(plan);
    if (status == CW_OK && !o->output && !o->explain) /* after planning, which reports wrong names first */
        return cw_error_set(err, CW_ERR_USAGE, "nothing to do: give -o FILE, --explain or both");
    return status;
}

static enum cw_status run(const void *options, struct counterworks_chip *chip, struct cw_arena *arena,
                          struct cw_error *err)
{
    struct counterworks_names lists[1 + MOST_TOGETHER] = {0};
    const struct options *o = options;
    enum cw_status status = cw_cli_keep_inputs(o->output, &o->chip, &o->sources, err);
    if (status == CW_OK)
        status = cw_file_keep(o->output, o->rules, "rules", err);
    if (status == CW_OK && o->output)
        status = cw_file_may_replace(o->output, &cw_file_plan, o->force, err);
    if (status == CW_OK)
        status = gather(lists, options, chip, arena, err);
    return status == CW_OK ? make_plan(options, chip, lists, arena, err) : status;
}

int cw_config_plan(int argc, char **argv)
{
    static const struct cw_usage usage = {
        option_list, "",
        "Plans the counters of metrics, in passes, and writes the plan as a config image for "
        "capture-agent. Needs no GPU and no NVIDIA software.\v"
        "Example:\n  $0 --chip GH100 --set speed-of-light -o plan.cwc\n"
        "  $0 --chip GH100 --for-advice -o advice.cwc\n"
        "  $0 --chip GH100 -m dram__bytes_read.sum --explain"};
    struct options options = {.plan = COUNTERWORKS_PLAN_OPTIONS};
    return cw_cli_run(&usage, argc, argv, &options, &options.chip, run);
}

int cw_config_main(int argc, char **argv)
{
    cw_cli_init();
    return cw_config_plan(argc, argv);
}
