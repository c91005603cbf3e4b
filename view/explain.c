/* Views that explain a value. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/shorten.h"
#include "base/suggest.h"
#include "eval/ranges/explain.h"
#include "eval/ranges/fold.h"
#include "eval/ranges/groups.h"
#include "json/json_tree.h"
#include "metricdb/rules.h"
#include "view/compare.h"
#include "view/metrics.h"
#include "view/selection.h"

struct explain {
    struct cw_result result;
    const struct cw_counter_data *data;
    struct cw_groups groups;
    const struct cw_groups *fold; /* or NULL */
    uint32_t range;
    const struct cw_rule *rule; /* whose gain was asked for by the rule's name, or NULL */
    struct cw_eval_options spans;
    struct cw_arena *arena;
    json_t *tree; /* of cw_explain_json */
};

/* ---- the range -------------------------------------------------------------------------------------------------- */

/* Whether a range has the name. In names of multiplexed user ranges, numbers do not matter. */
static bool is_called(const struct cw_range *range, const char *name)
{
    return strcmp(name, range->name) == 0 ||
           (!*range->kernel && cw_range_is_multiplexed(range) && cw_fold_compare_names(name, range->name) == 0);
}

/* Reports further ranges behind the first. Other launches of its kernel are a notice; other kernels are an error, if
 * the request selects ranges or kernels. */
static enum cw_status tell_others(const struct cw_view_input *in, const bool *keep, uint32_t first)
{
    enum { LISTED = 5, SHOWN = 48 };
    const struct cw_counter_data *data = &in->capture->data;
    const struct counterworks_request *r = in->request;
    const bool asked = r->ranges || r->kernels.count || r->excluded.count;
    const char *names[LISTED + 1] = {cw_launch_of(data, first)->name};
    uint32_t kept = 0, listed = 1;
    char list[LISTED * (SHOWN * 4 + 16)], shown[CW_SHORT_SIZE];
    size_t used = (size_t)snprintf(list, sizeof list, "#%" PRIu32 " %s", first, cw_shorten(*names, SHOWN, shown));
    for (uint32_t i = first; i < data->range_count; i++) {
        bool known = keep && !keep[i];
        kept += !keep || keep[i];
        for (uint32_t k = 0; k < listed && !known; k++)
            known = is_called(cw_launch_of(data, i), names[k]);
        if (known || listed > LISTED)
            continue;
        names[listed] = cw_launch_of(data, i)->name;
        used += (size_t)snprintf(list + used, sizeof list - used, listed < LISTED ? ", #%" PRIu32 " %s" : ", ...", i,
                                 cw_shorten(cw_launch_of(data, i)->name, SHOWN, shown));
        listed++;
    }
    if (asked && listed > 1)
        return cw_error_set(in->err, CW_ERR_USAGE, "found several kernels or ranges, expected one: %s", list);
    struct cw_writer line;
    if (listed == 1 && cw_range_is_multiplexed(cw_launch_of(data, first))) /* one explanation covers all of them */
        return CW_OK;
    cw_writer_init(&line);
    cw_write_format(&line, "this is the first of %" PRIu32 " ranges; --range N explains another", kept);
    if (kept > 1)
        cw_notice_take(in->notices, &line);
    else
        cw_writer_free(&line);
    return CW_OK;
}

static enum cw_status choose_range(const struct cw_view_input *in, uint32_t *range)
{
    const struct cw_counter_data *data = &in->capture->data;
    const bool *keep;
    if (!data->range_count)
        return cw_error_set(in->err, CW_ERR_INPUT, "%s: found no range in the capture", in->capture->asked);
    const enum cw_status status = cw_view_keep(&keep, in, false);
    for (*range = 0; status == CW_OK && keep && !keep[*range];)
        ++*range;
    return status == CW_OK ? tell_others(in, keep, *range) : status;
}

/* ---- the value -------------------------------------------------------------------------------------------------- */

/* Adds the nearest limits and rules to the error, or the limits of the first level. */
static void add_limits(struct cw_error *err, const struct cw_rules *rules, const char *name)
{
    struct cw_suggest near;
    char text[256];
    cw_suggest_init(&near, name);
    for (size_t i = 0; i < rules->rule_count; i++)
        cw_suggest_offer(&near, rules->rules[i].id);
    for (size_t i = 0; i < rules->limiter_count; i++)
        cw_suggest_offer(&near, rules->limiters[i].id);
    cw_error_add(err, "%s", cw_suggest_text(&near, text, sizeof text));
    for (size_t i = 0; !near.count && i < rules->limiter_count; i = rules->limiters[i].next)
        cw_error_add(err, "%s %s", i ? "," : "; limits are", rules->limiters[i].id);
}

/* A name of no metric may be a value of the rules, which advice shows as evidence. */
static enum cw_status find_value(struct explain *of, const struct cw_view_input *in, const char *name,
                                 struct cw_error *err)
{
    struct cw_metric *metric = cw_arena_alloc(in->arena, 1, sizeof *metric);
    struct cw_result *result = &of->result;
    struct cw_view_input own = *in;
    const struct cw_rules *rules = NULL;
    own.err = err;
    CW_TRY(metric ? CW_OK : cw_error_nomem(err));
    CW_TRY(cw_view_select(result, &own, (const char *[1]){NULL}, 0));
    CW_TRY(cw_rules_load(&rules, result->chip, in->chip->folder, in->request->rules, in->arena, err));
    const struct cw_schema *plan = &in->capture->data.schema;
    const enum cw_status status = cw_rules_find(metric, rules, name, err);
    if (status == CW_ERR_UNSUPPORTED && !strstr(name, "__") && !strstr(in->err->message, "; did you mean ") &&
        !cw_view_has_name(plan->metrics, plan->metric_count, name))
        add_limits(in->err, rules, name);
    CW_TRY(status);
    for (size_t i = 0; i < rules->rule_count; i++)
        if (strcmp(rules->rules[i].id, name) == 0 && rules->rules[i].gain == metric->base)
            of->rule = &rules->rules[i];
    result->chip = rules->chip;
    result->metrics = metric;
    return CW_OK;
}

static enum cw_status find_metric(struct explain *of, const struct cw_view_input *in, const char *name)
{
    struct cw_error other = CW_ERROR_INIT;
    enum cw_status status = cw_view_select_names(&of->result, in, &name, 1);
    if (status == CW_OK)
        return CW_OK;
    const enum cw_status found = find_value(of, in, name, &other);
    const bool none = found == CW_ERR_UNSUPPORTED || !in->request->rules;
    if (found == CW_ERR_USAGE || !none) /* a value of several rules, or unreadable rules */
        *in->err = other;
    return found == CW_OK || found == CW_ERR_USAGE || !none ? found : status;
}

/* Explains a multiplexed range together with all ranges of its fold. */
static enum cw_status find_fold(struct explain *of, const struct cw_view_input *in)
{
    of->data = of->result.data;
    if (!cw_range_is_multiplexed(cw_launch_of(of->data, of->range)))
        return CW_OK;
    const enum cw_status status =
        cw_groups_make(&of->groups, CW_BY_FOLD, of->data, in->chip->chip, NULL, in->arena, in->err);
    of->fold = &of->groups;
    of->data = &of->groups.data;
    of->range = status == CW_OK ? cw_groups_find(&of->groups, of->range) : 0;
    return status;
}

static enum cw_status is_collected(bool *collected, const struct explain *of, uint32_t formula, struct cw_error *err)
{
    const struct cw_metric metric = {.type = CW_FORMULA, .base = formula};
    enum cw_value_status value = CW_VALUE_OK;
    if (formula != CW_NONE)
        CW_TRY(cw_explain_status(&value, of->result.chip, of->data, &metric, of->range, &of->spans, of->arena, err));
    *collected = value < CW_VALUE_UNAVAILABLE;
    return CW_OK;
}

/* Takes the gain by the launch alone where advice does, for lack of counters. */
static enum cw_status find_gain(struct explain *of, const struct cw_view_input *in)
{
    const struct cw_rule *rule = of->rule;
    if (!rule || rule->uncounted == CW_NONE)
        return CW_OK;
    const uint32_t parts[] = {rule->when, rule->refuted_by, rule->gain, rule->bound};
    bool all = true, timed = false, other, one;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        CW_TRY(is_collected(&one, of, parts[i], in->err));
        all = all && one;
    }
    CW_TRY(is_collected(&other, of, rule->uncounted, in->err));
    if (all || !other)
        return CW_OK;
    if (rule->by_launch != CW_NONE)
        CW_TRY(is_collected(&timed, of, rule->by_launch, in->err));
    struct cw_metric *metric = cw_arena_alloc(of->arena, 1, sizeof *metric);
    if (!metric)
        return cw_error_nomem(in->err);
    *metric = (struct cw_metric){.type = CW_FORMULA, .base = timed ? rule->by_launch : rule->uncounted};
    of->result.metrics = metric;
    struct cw_writer line;
    cw_writer_init(&line);
    cw_write_format(&line, "the capture lacks counters of rule.%s.gain: advice takes the gain by the launch alone",
                    rule->id);
    cw_notice_take(in->notices, &line);
    return CW_OK;
}

static enum cw_status print(const struct cw_output *output, const struct cw_terminal_style *style, FILE *out,
                            struct cw_error *err)
{
    const struct explain *of = output->result;
    (void)style;
    return cw_explain(out, of->result.chip, of->data, of->result.metrics, of->range, of->fold, &of->spans, of->arena,
                      err);
}

static enum cw_status write_json(FILE *out, const void *explain, struct cw_error *err)
{
    const struct explain *of = explain;
    const enum cw_status status = cw_json_print(json_incref(of->tree), JSON_INDENT(1), out, err);
    fputc('\n', out);
    return status;
}

static void free_explain(void *owned)
{
    json_decref(((struct explain *)owned)->tree);
}

/* ---- tables: the tree as rows ------------------------------------------------------------------------------------ */

struct explained {
    const char *metric, *unit, *status, *type, *formula, *numbers, *description;
    double value;
};

static const struct cw_output_column metric_columns[] = {
    {"metric", CW_CELL_TEXT, CW_TO_FILES, offsetof(struct explained, metric)},
    {"value", CW_CELL_F64, CW_TO_FILES, offsetof(struct explained, value)},
    {"unit", CW_CELL_TEXT, CW_TO_FILES, offsetof(struct explained, unit)},
    {"status", CW_CELL_TEXT, CW_TO_FILES, offsetof(struct explained, status)},
    {"type", CW_CELL_TEXT, CW_TO_FILES, offsetof(struct explained, type)},
    {"formula", CW_CELL_TEXT, CW_TO_FILES, offsetof(struct explained, formula)},
    {"numbers", CW_CELL_TEXT, CW_TO_FILES, offsetof(struct explained, numbers),
     .long_name = "the formula with the values of its parts"},
    {"description", CW_CELL_TEXT, CW_TO_FILES, offsetof(struct explained, description)},
};

struct recorded {
    const char *counter, *status;
    uint32_t first_pass, pass_count, instances;
    double sum, avg, min, max;
};

static const struct cw_output_column counter_columns[] = {
    {"counter", CW_CELL_TEXT, CW_TO_FILES, offsetof(struct recorded, counter)},
    {"status", CW_CELL_TEXT, CW_TO_FILES, offsetof(struct recorded, status)},
    {"first_pass", CW_CELL_U32, CW_TO_FILES, offsetof(struct recorded, first_pass)},
    {"pass_count", CW_CELL_U32, CW_TO_FILES, offsetof(struct recorded, pass_count),
     .long_name = "passes with a part each; 1: the pass has it whole; 0: not collected"},
    {"instances", CW_CELL_U32, CW_TO_FILES, offsetof(struct recorded, instances)},
    {"sum", CW_CELL_F64, CW_TO_FILES, offsetof(struct recorded, sum)},
    {"avg", CW_CELL_F64, CW_TO_FILES, offsetof(struct recorded, avg)},
    {"min", CW_CELL_F64, CW_TO_FILES, offsetof(struct recorded, min)},
    {"max", CW_CELL_F64, CW_TO_FILES, offsetof(struct recorded, max)},
};

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static double number_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static bool add_metrics(struct cw_output *output, const json_t *tree, struct cw_arena *arena)
{
    const json_t *metrics = json_object_get(tree, "metrics"), *m;
    struct explained *list = cw_arena_alloc(arena, json_array_size(metrics), sizeof *list);
    size_t i;
    json_array_foreach(metrics, i, m) if (list) list[i] =
        (struct explained){.metric = text_of(m, "name"),
                           .unit = text_of(m, "unit"),
                           .status = text_of(m, "status"),
                           .type = text_of(m, "type"),
                           .formula = text_of(m, "formula"),
                           .numbers = text_of(m, json_object_get(m, "numbers") ? "numbers" : "source"),
                           .description = text_of(m, "description"),
                           .value = number_of(m, "value")};
    output->tables[output->table_count++] = (struct cw_output_table){CW_OUTPUT_COLUMNS(metric_columns),
                                                                     .name = "metrics",
                                                                     .group = "explain/metric",
                                                                     .record_size = sizeof *list,
                                                                     .row_count = i,
                                                                     .row = cw_output_array,
                                                                     .content = list};
    return list;
}

static struct recorded recorded_of(const json_t *counter, const json_t *recording)
{
    const json_t *passes = json_object_get(recording, "passes");
    return (struct recorded){.counter = text_of(counter, "name"),
                             .status = recording ? text_of(recording, "status") : "not collected",
                             .first_pass = (uint32_t)json_integer_value(json_array_get(passes, 0)),
                             .pass_count = (uint32_t)json_array_size(passes),
                             .instances = (uint32_t)json_integer_value(json_object_get(recording, "instances")),
                             .sum = number_of(recording, "sum"),
                             .avg = number_of(recording, "avg"),
                             .min = number_of(recording, "min"),
                             .max = number_of(recording, "max")};
}

/* A counter that was not collected has a row, too. */
static bool add_counters(struct cw_output *output, const json_t *tree, struct cw_arena *arena)
{
    const json_t *counters = json_object_get(tree, "counters"), *counter, *recording;
    size_t i, k, count = 0;
    json_array_foreach(counters, i, counter) count += 1 + json_array_size(json_object_get(counter, "recorded"));
    struct recorded *list = cw_arena_alloc(arena, count, sizeof *list);
    count = 0;
    json_array_foreach(counters, i, counter)
    {
        const json_t *recorded = json_object_get(counter, "recorded");
        if (list && !json_array_size(recorded))
            list[count++] = recorded_of(counter, NULL);
        json_array_foreach(recorded, k, recording) if (list) list[count++] = recorded_of(counter, recording);
    }
    output->tables[output->table_count++] = (struct cw_output_table){CW_OUTPUT_COLUMNS(counter_columns),
                                                                     .name = "counters",
                                                                     .group = "explain/counter",
                                                                     .record_size = sizeof *list,
                                                                     .row_count = count,
                                                                     .row = cw_output_array,
                                                                     .content = list};
    return list;
}

/* ---- all -------------------------------------------------------------------------------------------------------- */

enum cw_status cw_view_explain(struct counterworks_view *view, const struct cw_view_input *in, const char *metric)
{
    struct explain *of = cw_arena_alloc(in->arena, 1, sizeof *of);
    *view = (struct counterworks_view){.arena = in->arena, .free = of ? free_explain : NULL, .owned = of};
    CW_TRY(of ? cw_view_need_ranges(in->capture, " for ", "explain", in->err) : cw_error_nomem(in->err));
    CW_TRY(cw_view_check_taken(in, CW_TAKES_LAUNCHES, "explain"));
    CW_TRY(find_metric(of, in, metric));
    CW_TRY(choose_range(in, &of->range));
    CW_TRY(find_fold(of, in));
    of->spans = cw_view_spans(in->request);
    of->arena = in->arena;
    CW_TRY(find_gain(of, in));
    view->output.print = print;
    view->output.result = view->content = of;
    view->output.data = &in->capture->data;
    view->output.source = in->capture->source;
    view->renders[CW_VIEW_JSON] = write_json;
    CW_TRY(cw_explain_json(&of->tree, of->result.chip, of->data, of->result.metrics, of->range, of->fold, &of->spans,
                           of->arena, in->err));
    const bool good =
        add_metrics(&view->output, of->tree, in->arena) && add_counters(&view->output, of->tree, in->arena);
    return good ? CW_OK : cw_error_nomem(in->err);
}
