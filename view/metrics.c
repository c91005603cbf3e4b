/* From names of metrics to their values in a capture, with notices on the way. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "eval/eval_facts.h"
#include "metricdb/chip_load.h"
#include "metricdb/fact.h"
#include "metricdb/meaning.h"
#include "metricdb/set.h"
#include "view/metrics.h"

/* ---- notices ---------------------------------------------------------------------------------------------------- */

static void tell_damage(struct cw_writer *line, const struct cw_counter_data *data)
{
    const struct cw_damage *damage = &data->damage;
    cw_write_format(line,
                    "found %" PRIu64 " damaged place%s, the first at offset %" PRIu64 ": %" PRIu64 " bytes are lost",
                    damage->places, damage->places == 1 ? "" : "s", damage->first, damage->bytes);
    if (damage->counted && data->schema.profiler == CW_PROFILER_RANGE)
        cw_write_format(line, " with %" PRIu64 " range%s", damage->ranges, damage->ranges == 1 ? "" : "s");
}

void cw_tell_unread(const struct counterworks_capture *capture, uint32_t names, uint32_t modules,
                    struct cw_notices *notices)
{
    struct cw_writer line;
    if (!names && !modules)
        return;
    cw_writer_init(&line);
    cw_write_format(&line, "%s: ", capture->asked);
    if (names)
        cw_write_format(&line, "%" PRIu32 " name%s mangled", names, names == 1 ? " stays" : "s stay");
    if (modules)
        cw_write_format(&line, "%slines of %" PRIu32 " module%s are left out", names ? " and the " : "", modules,
                        modules == 1 ? "" : "s");
    cw_write_format(&line, ": to read them takes more memory or time than their size or the system allows");
    cw_notice_take(notices, &line);
}

void cw_tell_incomplete(const struct counterworks_capture *capture, struct cw_notices *to)
{
    const struct cw_counter_data *d = &capture->data;
    const bool samples = d->schema.profiler == CW_PROFILER_PM;
    const uint32_t count = samples ? d->pm.sample_count : d->range_count;
    struct cw_writer line;
    if (d->complete && d->dropped && d->schema.profiler == CW_PROFILER_RANGE)
        cw_notice(to, "%s: %" PRIu64 " %s not collected", capture->name, d->dropped,
                  d->dropped == 1 ? "launch or range was" : "launches or ranges were");
    if (d->complete)
        return;
    cw_writer_init(&line);
    cw_write_format(&line, "%s: ", capture->name);
    if (d->damage.places)
        tell_damage(&line, d);
    else
        cw_write_format(&line, "the capture is incomplete");
    if (d->schema.profiler < CW_PROFILER__PLANNED)
        cw_write_format(&line, "; it holds %" PRIu32 " whole %s%s", count, samples ? "sample" : "range",
                        count == 1 ? "" : "s");
    cw_notice_take(to, &line);
}

/* Counters are matched by name, so a capture of another database version is read as far as both versions agree. */
static void tell_unknown_counters(const struct counterworks_capture *capture, struct cw_notices *to,
                                  const struct cw_chip *chip)
{
    const struct cw_schema *schema = &capture->data.schema;
    struct cw_writer line;
    const char *first = NULL;
    uint32_t unknown = 0;
    if (memcmp(schema->database, chip->hash, sizeof chip->hash) == 0)
        return;
    for (uint32_t i = 0; i < schema->counter_count; i++) {
        const char *name = schema->counters[i].name;
        enum cw_metric_type type;
        uint32_t index;
        if (cw_chip_find(chip, name, strlen(name), &type, &index) && type == CW_COUNTER)
            continue;
        first = first ? first : name;
        unknown++;
    }
    if (!unknown)
        return;
    cw_writer_init(&line);
    cw_write_format(&line,
                    "%s: planned with another version of the %s database; this one does not know %" PRIu32
                    " of its counters: %.200s%s",
                    capture->name, chip->name, unknown, first, unknown > 1 ? ", ..." : "");
    cw_notice_take(to, &line);
}

/* Marks the base names that the metrics are computed from, or all if the result has no metrics: marks[type][base].
 * False when out of memory. */
static bool mark_used(uint8_t *marks[CW_FORMULA + 1], const struct cw_result *r, struct cw_arena *arena)
{
    bool good = true;
    for (enum cw_metric_type type = CW_COUNTER; type <= CW_FORMULA; type++) {
        const uint32_t count = cw_metric_base_count(r->chip, type);
        marks[type] = cw_arena_alloc(arena, count, sizeof **marks);
        good = good && marks[type];
        if (marks[type] && count && !r->metric_count)
            memset(marks[type], 1, count);
    }
    for (uint32_t i = 0; good && i < r->metric_count; i++)
        cw_base_mark(r->chip, r->metrics[i].type, r->metrics[i].base, marks);
    return good;
}

/* Names the difference between the plan's meaning of a used name and the chip's, or NULL. */
static const char *difference(const struct cw_chip *chip, const struct cw_meaning *planned,
                              uint8_t *const marks[CW_FORMULA + 1])
{
    const struct cw_base_meaning then = {planned->raws, planned->formula};
    enum cw_metric_type type = CW_FORMULA;
    uint32_t base = cw_formulas_find(chip, planned->name);
    if (base == CW_NONE && !cw_chip_find(chip, planned->name, strlen(planned->name), &type, &base))
        return NULL;
    if (!marks[type][base])
        return NULL;
    struct cw_base_meaning now = cw_base_meaning(chip, type, base);
    return !cw_base_meaning_changed(&then, &now) ? NULL
           : then.raws == now.raws               ? "another formula"
           : type == CW_FORMULA                  ? "another unit"
                                                 : "other raw counters";
}

static void tell_other_meanings(const struct counterworks_capture *capture, struct cw_notices *to,
                                const struct cw_result *wanted, struct cw_arena *arena)
{
    enum { MOST_NAMED = 4 };
    const struct cw_schema *schema = &capture->data.schema;
    const struct cw_chip *chip = wanted->chip;
    uint8_t *marks[CW_FORMULA + 1];
    struct cw_writer line;
    uint32_t count = 0, named = 0;
    if (!schema->meaning_count || !mark_used(marks, wanted, arena))
        return;
    for (uint32_t i = 0; i < schema->meaning_count; i++)
        count += difference(chip, &schema->meanings[i], marks) != NULL;
    if (!count)
        return;
    cw_writer_init(&line);
    cw_write_format(&line, "%s: when this was planned, %" PRIu32 " name%s meant something else than for %s here:",
                    capture->name, count, count == 1 ? "" : "s", chip->name);
    for (uint32_t i = 0; i < schema->meaning_count && named < MOST_NAMED; i++) {
        const char *what = difference(chip, &schema->meanings[i], marks);
        if (what)
            cw_write_format(&line, "%s %s (%s)", named++ ? "," : "", schema->meanings[i].name, what);
    }
    cw_write_format(&line, "%s", count > named ? ", ..." : "");
    cw_notice_take(to, &line);
}

/* Their values read "not collected", and another capture would not change that. */
static void tell_without_formula(struct cw_notices *to, const struct cw_result *r)
{
    struct cw_error first = CW_ERROR_INIT;
    struct cw_writer line;
    uint32_t count = 0;
    for (uint32_t i = 0; to && i < r->metric_count; i++)
        count += cw_metric_needs(&(struct cw_needs){.chip = r->chip}, &r->metrics[i], &first) == CW_ERR_UNSUPPORTED;
    if (!count)
        return;
    cw_writer_init(&line);
    cw_write_format(&line, "%s", first.message);
    if (count > 1)
        cw_write_format(&line, ", nor for %" PRIu32 " more of the metrics", count - 1);
    cw_notice_take(to, &line);
}

/* ---- metrics ---------------------------------------------------------------------------------------------------- */

enum cw_status cw_view_begin(struct cw_result *wanted, const struct cw_view_input *in)
{
    const struct cw_schema *schema = &in->capture->data.schema;
    wanted->chip = in->chip->chip;
    wanted->data = &in->capture->data;
    wanted->source = in->capture->source;
    wanted->metric_count = 0;
    if (schema->profiler >= CW_PROFILER__PLANNED)
        return cw_error_set(in->err, CW_ERR_UNSUPPORTED, "found a capture of %s, expected one of ranges or samples",
                            cw_profiler_texts[schema->profiler]);
    CW_TRY(cw_chip_rename(&wanted->chip, schema->chip, in->arena, in->err));
    return schema->profiler == CW_PROFILER_PM ? cw_chip_as_sampled(&wanted->chip, in->arena, in->err) : CW_OK;
}

bool cw_view_has_name(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static enum cw_status parse(struct cw_metric *metric, const struct cw_result *wanted, const struct cw_view_input *in,
                            const char *name)
{
    const struct cw_schema *plan = &in->capture->data.schema;
    enum cw_status status = cw_metric_parse(metric, wanted->chip, name, NULL);
    if (status == CW_OK)
        return status;
    if (cw_view_has_name(plan->metrics, plan->metric_count, name)) /* users' own formulas are in no capture */
        return cw_error_set(in->err, CW_ERR_USAGE,
                            "%s: found the metric '%.200s' in the plan, which %s does not have: give the file with its "
                            "formula by --metrics-db",
                            in->capture->name, name, wanted->chip->name);
    status = cw_metric_parse(metric, wanted->chip, name, in->err);
    cw_view_hint(in->err, in->chip, CW_OF_BOTH, &name, 1);
    return status;
}

static enum cw_status take_named(struct cw_result *wanted, const struct cw_view_input *in, const char *const *names,
                                 size_t count)
{
    struct cw_metric *metrics = cw_arena_alloc(in->arena, count, sizeof *metrics);
    if (!metrics)
        return cw_error_nomem(in->err);
    for (size_t i = 0; i < count; i++)
        CW_TRY(parse(&metrics[i], wanted, in, names[i]));
    wanted->metrics = metrics;
    wanted->metric_count = (uint32_t)count;
    return CW_OK;
}

struct holding {
    const bool *held, *facts; /* counters of the chip, and facts, in the capture */
    bool lacks;
};

static void look_up(void *context, uint32_t counter, unsigned rollups)
{
    (void)rollups;
    struct holding *h = context;
    h->lacks = h->lacks || !h->held[counter];
}

/* Whether the capture has all counters and facts of a metric. CW_ERR_NOMEM, or CW_OK. */
static enum cw_status is_held(bool *is, struct holding *h, const struct cw_chip *chip, const struct cw_metric *m)
{
    const struct cw_needs needs = {.chip = chip, .held = h->held, .add = look_up, .context = h};
    h->lacks = false;
    enum cw_status status = cw_metric_needs(&needs, m, NULL);
    uint32_t count;
    const struct cw_metric *parts = cw_metric_parts(chip, m, &count);
    for (uint32_t i = 0; i < count; i++)
        h->lacks = h->lacks || (parts[i].type == CW_FACT && !h->facts[parts[i].base]);
    *is = status == CW_OK && !h->lacks;
    return status == CW_ERR_NOMEM ? status : CW_OK;
}

/* For a capture of ranges, leaves out metrics that CUPTI lists for PM sampling alone. */
static bool may_be_held(const struct cw_result *wanted, enum cw_metric_type type, uint32_t base)
{
    return type >= CW_METRIC_TYPE_COUNT || wanted->data->schema.profiler == CW_PROFILER_PM ||
           cw_chip_lists(wanted->chip, type, base, CW_OF_RANGES);
}

/* Takes all metrics of the chip, formulas and facts included, whose counters the capture has. */
static enum cw_status take_held(struct cw_result *wanted, struct cw_arena *arena, struct cw_error *err)
{
    const struct cw_chip *chip = wanted->chip;
    bool *held = cw_arena_alloc(arena, chip->counter_count, sizeof *held);
    bool *facts = cw_arena_alloc(arena, cw_fact_count(), sizeof *facts);
    struct holding holding = {.held = held, .facts = facts};
    size_t room = 0;
    for (enum cw_metric_type type = CW_COUNTER; type < CW_ALL_TYPES_COUNT; type++)
        room += (size_t)cw_metric_base_count(chip, type) * cw_metric_variants(type);
    struct cw_metric *metrics = cw_arena_alloc(arena, room, sizeof *metrics);
    if (!held || !facts || !metrics)
        return cw_error_nomem(err);
    for (uint32_t i = 0; i < cw_fact_count(); i++)
        facts[i] = cw_eval_facts_held(wanted->data, i);
    cw_eval_mark_held(held, chip, &wanted->data->schema);
    for (enum cw_metric_type type = CW_COUNTER; type < CW_ALL_TYPES_COUNT; type++)
        for (uint32_t base = 0; base < cw_metric_base_count(chip, type); base++)
            for (uint32_t v = 0; may_be_held(wanted, type, base) && v < cw_metric_variants(type); v++) {
                struct cw_metric m = cw_metric_variant(type, base, v);
                bool is;
                if (is_held(&is, &holding, chip, &m) != CW_OK)
                    return cw_error_nomem(err);
                if (is)
                    metrics[wanted->metric_count++] = m;
            }
    wanted->metrics = metrics;
    return CW_OK;
}

enum cw_status cw_view_select(struct cw_result *wanted, const struct cw_view_input *in, const char *const *names,
                              size_t count)
{
    CW_TRY(cw_view_begin(wanted, in));
    cw_tell_incomplete(in->capture, in->notices);
    tell_unknown_counters(in->capture, in->notices, wanted->chip);
    CW_TRY(names ? take_named(wanted, in, names, count) : take_held(wanted, in->arena, in->err));
    if (in->notices)
        tell_other_meanings(in->capture, in->notices, wanted, in->arena);
    return CW_OK;
}

enum cw_status cw_view_evaluate(struct cw_result *result, const struct cw_view_input *in,
                                const struct cw_counter_data *groups, const char *const *names, size_t count)
{
    const struct cw_eval_options spans = cw_view_spans(in->request);
    CW_TRY(cw_view_select(result, in, names, count));
    if (names)
        tell_without_formula(in->notices, result);
    result->data = groups ? groups : result->data;
    return cw_result_make(result, &spans, in->arena, in->err);
}

/* ---- metrics of a request --------------------------------------------------------------------------------------- */

/* A copy of the chip for the input `own`, with the legacy names among `names` as formulas. */
static enum cw_status add_legacy(struct cw_view_input *own, struct counterworks_chip *chip,
                                 const struct cw_view_input *in, const char *const *names, size_t count)
{
    *chip = *in->chip;
    chip->arena = in->arena;
    *own = *in;
    own->chip = chip;
    return names ? cw_view_add_legacy(chip, names, count, in->err) : CW_OK;
}

enum cw_status cw_view_evaluate_names(struct cw_result *result, const struct cw_view_input *in,
                                      const struct cw_counter_data *groups, const char *const *names, size_t count)
{
    struct counterworks_chip chip;
    struct cw_view_input own;
    CW_TRY(add_legacy(&own, &chip, in, names, count));
    return cw_view_evaluate(result, &own, groups, names, count);
}

/* A capture that names metrics itself could make ranges times metrics grow with the square of its size. Metrics that
 * people name grow with their request. */
static enum cw_status check_values(const struct cw_view_input *in, const struct cw_counter_data *groups)
{
    const struct cw_counter_data *data = &in->capture->data;
    const bool samples = data->schema.profiler == CW_PROFILER_PM;
    const uint64_t metrics = data->schema.metric_count;
    const uint64_t rows = groups ? groups->range_count : samples ? data->pm.sample_count : data->range_count;
    const uint64_t most = 8 * ((uint64_t)in->capture->file.size + 1000000);
    if (metrics * rows <= most)
        return CW_OK;
    return cw_error_set(in->err, CW_ERR_INPUT,
                        "%s: found %" PRIu64 " metrics of %" PRIu64 " %s in the plan, expected at most %" PRIu64
                        " values in a file of this size: name metrics by -m, --set or --all",
                        in->capture->asked, metrics, rows, samples ? "samples" : "ranges", most);
}

static enum cw_status check_planned(const struct cw_view_input *in, const struct cw_counter_data *groups)
{
    if (!in->capture->data.schema.metric_count)
        return cw_error_set(in->err, CW_ERR_USAGE, "%s: the capture names no metrics: give -m, --set or --all",
                            in->capture->asked);
    return check_values(in, groups);
}

static int by_name(const void *a, const void *b)
{
    const char *const *x = *(const char *const *const *)a, *const *y = *(const char *const *const *)b;
    const int order = strcmp(*x, *y);
    return order ? order : (x > y) - (x < y);
}

/* Drops repeated names, and keeps the order. NULL when out of memory. */
static const char **each_once(const char *const *names, size_t *count, struct cw_arena *arena)
{
    const char *const **sorted = cw_arena_alloc(arena, *count, sizeof *sorted);
    bool *again = cw_arena_alloc(arena, *count, sizeof *again);
    const char **once = cw_arena_alloc(arena, *count, sizeof *once);
    size_t left = 0;
    if (!sorted || !again || !once)
        return NULL;
    for (size_t i = 0; i < *count; i++)
        sorted[i] = &names[i];
    if (*count)
        qsort(sorted, *count, sizeof *sorted, by_name);
    for (size_t i = 1; i < *count; i++)
        again[sorted[i] - names] = strcmp(*sorted[i - 1], *sorted[i]) == 0;
    for (size_t i = 0; i < *count; i++)
        if (!again[i])
            once[left++] = names[i];
    *count = left;
    return once;
}

static enum cw_status evaluate_once(struct cw_result *result, const struct cw_view_input *in,
                                    const struct cw_counter_data *groups, const char *const *names, size_t count)
{
    const char **once = each_once(names, &count, in->arena);
    return once ? cw_view_evaluate_names(result, in, groups, once, count) : cw_error_nomem(in->err);
}

enum cw_status cw_view_evaluate_wanted(struct cw_result *result, const struct cw_view_input *in,
                                       const struct cw_counter_data *groups)
{
    const struct cw_schema *plan = &in->capture->data.schema;
    const struct counterworks_names *named = &in->request->metrics;
    if (in->request->every)
        return cw_view_evaluate_names(result, in, groups, NULL, 0);
    if (named->count)
        return evaluate_once(result, in, groups, named->names, named->count);
    CW_TRY(check_planned(in, groups));
    return evaluate_once(result, in, groups, plan->metrics, plan->metric_count);
}

enum cw_status cw_view_evaluate_planned(struct cw_result *result, const struct cw_view_input *in,
                                        const struct cw_counter_data *groups)
{
    enum { MOST = 64 };
    const struct cw_schema *plan = &in->capture->data.schema;
    const size_t planned = plan->metric_count;
    const char **names = cw_arena_alloc(in->arena, planned + MOST, sizeof *names);
    size_t count = planned;
    struct cw_set set;
    if (!names)
        return cw_error_nomem(in->err);
    CW_TRY(check_planned(in, groups));
    memcpy(names, plan->metrics, planned * sizeof *names);
    /* a data folder may lack the set */
    if (cw_set_load(&set, in->chip->folder, "launch", in->chip->chip, in->arena, NULL) == CW_OK)
        for (size_t i = 0; i < set.metric_count && count < planned + MOST; i++)
            if (!cw_view_has_name(plan->metrics, planned, set.metrics[i]))
                names[count++] = set.metrics[i];
    return evaluate_once(result, in, groups, names, count);
}

enum cw_status cw_view_select_names(struct cw_result *result, const struct cw_view_input *in, const char *const *names,
                                    size_t count)
{
    struct counterworks_chip chip;
    struct cw_view_input own;
    const char **once = each_once(names, &count, in->arena);
    if (!once)
        return cw_error_nomem(in->err);
    CW_TRY(add_legacy(&own, &chip, in, once, count));
    return cw_view_select(result, &own, once, count);
}

enum cw_status cw_view_select_wanted(struct cw_result *result, const struct cw_view_input *in)
{
    const struct cw_schema *plan = &in->capture->data.schema;
    const struct counterworks_names *named = &in->request->metrics;
    if (in->request->every)
        return cw_view_select(result, in, NULL, 0);
    if (named->count)
        return cw_view_select_names(result, in, named->names, named->count);
    CW_TRY(check_values(in, NULL));
    return cw_view_select_names(result, in, plan->metrics, plan->metric_count);
}
