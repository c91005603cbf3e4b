/* From names of metrics to their values in a capture, with notices on the way. */
#include <inttypes.h>
#include <string.h>

#include "eval/eval_facts.h"
#include "metricdb/chip_load.h"
#include "metricdb/fact.h"
#include "metricdb/meaning.h"
#include "view/metrics.h"

/* ---- notices ---------------------------------------------------------------------------------------------------- */

static void tell_damage(struct cw_writer *line, const struct cw_damage *damage)
{
    cw_write_format(line,
                    "found %" PRIu64 " damaged place%s, the first at offset %" PRIu64 ": %" PRIu64 " bytes are lost",
                    damage->places, damage->places == 1 ? "" : "s", damage->first, damage->bytes);
    if (damage->counted)
        cw_write_format(line, " with %" PRIu64 " range%s", damage->ranges, damage->ranges == 1 ? "" : "s");
}

void cw_tell_incomplete(const struct counterworks_capture *capture, struct cw_notices *to)
{
    const struct cw_counter_data *d = &capture->data;
    const bool samples = d->schema.profiler == CW_PROFILER_PM;
    const uint32_t count = samples ? d->pm.sample_count : d->range_count;
    struct cw_writer line;
    if (d->complete)
        return;
    cw_writer_init(&line);
    cw_write_format(&line, "%s: ", capture->name);
    if (d->damage.places)
        tell_damage(&line, &d->damage);
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
                    " of its counters: %s%s",
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

enum cw_status cw_view_begin(struct cw_result *wanted, const struct counterworks_capture *capture,
                             const struct counterworks_chip *chip, struct cw_arena *arena, struct cw_error *err)
{
    const struct cw_schema *schema = &capture->data.schema;
    wanted->chip = chip->chip;
    wanted->data = &capture->data;
    wanted->source = capture->source;
    wanted->metric_count = 0;
    if (schema->profiler >= CW_PROFILER__PLANNED)
        return cw_error_set(err, CW_ERR_UNSUPPORTED, "found a capture of %s, expected one of ranges or samples",
                            cw_profiler_texts[schema->profiler]);
    enum cw_status status = cw_chip_rename(&wanted->chip, schema->chip, arena, err);
    if (status == CW_OK && schema->profiler == CW_PROFILER_PM)
        status = cw_chip_as_sampled(&wanted->chip, arena, err);
    return status;
}

bool cw_view_has_name(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static enum cw_status parse(struct cw_metric *metric, const struct cw_result *wanted,
                            const struct counterworks_capture *capture, const struct counterworks_chip *chip,
                            const char *name, struct cw_error *err)
{
    enum cw_status status = cw_metric_parse(metric, wanted->chip, name, NULL);
    if (status == CW_OK)
        return status;
    if (cw_view_has_name(capture->data.schema.metrics, capture->data.schema.metric_count,
                         name)) /* users' own formulas are in no capture */
        return cw_error_set(err, CW_ERR_USAGE,
                            "%s: found the metric '%.200s' in the plan, which %s does not have: give the file with its "
                            "formula by --metrics-db",
                            capture->name, name, wanted->chip->name);
    status = cw_metric_parse(metric, wanted->chip, name, err);
    cw_view_hint(err, chip, &name, 1);
    return status;
}

static enum cw_status take_named(struct cw_result *wanted, const struct counterworks_capture *capture,
                                 const struct counterworks_chip *chip, const char *const *names, size_t count,
                                 struct cw_arena *arena, struct cw_error *err)
{
    struct cw_metric *metrics = cw_arena_alloc(arena, count, sizeof *metrics);
    enum cw_status status = metrics ? CW_OK : cw_error_nomem(err);
    for (size_t i = 0; i < count && status == CW_OK; i++)
        status = parse(&metrics[i], wanted, capture, chip, names[i], err);
    wanted->metrics = metrics;
    wanted->metric_count = (uint32_t)count;
    return status;
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

enum cw_status cw_view_select(struct cw_result *wanted, const struct counterworks_capture *capture,
                              const struct counterworks_chip *chip, const char *const *names, size_t count,
                              struct cw_notices *notices, struct cw_arena *arena, struct cw_error *err)
{
    enum cw_status status = cw_view_begin(wanted, capture, chip, arena, err);
    if (status != CW_OK)
        return status;
    cw_tell_incomplete(capture, notices);
    tell_unknown_counters(capture, notices, wanted->chip);
    status = names ? take_named(wanted, capture, chip, names, count, arena, err) : take_held(wanted, arena, err);
    if (status == CW_OK && notices)
        tell_other_meanings(capture, notices, wanted, arena);
    return status;
}

enum cw_status cw_view_evaluate(struct cw_result *result, const struct counterworks_capture *capture,
                                const struct cw_counter_data *groups, const struct counterworks_chip *chip,
                                const char *const *names, size_t count, const struct cw_eval_options *options,
                                struct cw_notices *notices, struct cw_arena *arena, struct cw_error *err)
{
    enum cw_status status = cw_view_select(result, capture, chip, names, count, notices, arena, err);
    if (status == CW_OK && names)
        tell_without_formula(notices, result);
    result->data = groups ? groups : result->data;
    return status == CW_OK ? cw_result_make(result, options, arena, err) : status;
}
