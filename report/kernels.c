#include "report/kernels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/shorten.h"
#include "eval/ranges/spread.h"
#include "metricdb/glossary.h"
#include "metricdb/term.h"
#include "metricdb/term_text.h"
#include "report/put.h"

/* What a page holds at most, so that it stays small: kernels, values (of counters and metrics), metrics of a plan. */
enum { MOST_KERNELS = 200, MOST_VALUES = 150000, MOST_PLANNED = 1000, MOST_METRICS = 3000 };

/* ---- which metrics ---------------------------------------------------------------------------------------------- */

struct choice {
    const struct cw_chip *chip;
    uint32_t count, room;
    struct cw_metric *list;
};

static bool same(const struct cw_metric *a, const struct cw_metric *b)
{
    return a->type == b->type && a->base == b->base && a->rollup == b->rollup && a->sub == b->sub;
}

static void choose(struct choice *c, const struct cw_metric *metric)
{
    for (uint32_t i = 0; i < c->count; i++)
        if (same(&c->list[i], metric))
            return;
    if (c->count < c->room)
        c->list[c->count++] = *metric;
}

static void choose_named(struct choice *c, const char *const *names, size_t count)
{
    struct cw_metric metric;
    for (size_t i = 0; i < count; i++)
        if (cw_metric_parse(&metric, c->chip, names[i], NULL) == CW_OK)
            choose(c, &metric);
}

/* What a metric is computed from: the metrics that a formula names, and the constituents of a throughput. */
static enum cw_status list_parts(struct choice *parts, const struct cw_metric *m)
{
    const struct cw_chip *chip = parts->chip;
    parts->count = 0;
    if (m->type == CW_FORMULA) {
        const struct cw_formula *f = &chip->formulas->items[m->base];
        for (uint32_t i = 0; i < f->formulas.count; i++)
            choose(parts, &(struct cw_metric){.type = CW_FORMULA, .base = f->formulas.items[i]});
        for (uint32_t i = 0; i < f->metric_count; i++)
            choose(parts, &f->metrics[i]);
    }
    if (m->type != CW_THROUGHPUT)
        return CW_OK;
    struct cw_terms terms = {0};
    const enum cw_status status = cw_terms_make(&terms, chip, m, NULL);
    for (uint32_t i = 0; i < terms.count && status == CW_OK; i++)
        choose(parts, &(struct cw_metric){CW_COUNTER, terms.items[i].x.counter, m->rollup, m->sub});
    cw_terms_free(&terms);
    return status == CW_ERR_NOMEM ? status : CW_OK;
}

static bool begin_choice(struct choice *c, const struct cw_chip *chip, struct cw_arena *arena)
{
    *c = (struct choice){.chip = chip, .room = MOST_METRICS};
    c->list = cw_arena_alloc(arena, MOST_METRICS, sizeof *c->list);
    return c->list != NULL;
}

static enum cw_status evaluate(struct cw_result *result, const struct choice *c, const struct cw_groups *groups,
                               const char *source, struct cw_arena *arena, struct cw_error *err)
{
    *result = (struct cw_result){
        .chip = c->chip, .data = &groups->data, .source = source, .metrics = c->list, .metric_count = c->count};
    return cw_result_make(result, &(struct cw_eval_options){0}, arena, err);
}

/* Whether the capture has the metric of any kernel. */
static bool is_collected(const struct cw_result *r, uint32_t metric)
{
    for (uint32_t i = 0; i < r->row_count; i++)
        if (r->statuses[(size_t)metric * r->row_count + i] < CW_VALUE_UNAVAILABLE)
            return true;
    return false;
}

static enum cw_status choose_metrics(struct cw_report_kernels *k, const struct cw_layout *layout, struct cw_error *err)
{
    const struct cw_report *report = k->report;
    const struct cw_schema *schema = &report->ranges->data->schema;
    const struct cw_chip *chip = report->ranges->chip;
    struct choice wanted, kept, parts;
    if (!begin_choice(&wanted, chip, report->arena) || !begin_choice(&kept, chip, report->arena) ||
        !begin_choice(&parts, chip, report->arena))
        return cw_error_nomem(err);
    choose_named(&wanted, report->metrics, report->metric_count);
    choose_named(&wanted, layout->metrics, layout->count);
    choose_named(&wanted, schema->metrics, schema->metric_count < MOST_PLANNED ? schema->metric_count : MOST_PLANNED);
    for (size_t i = 0; report->rules && i < report->rules->metric_count; i++)
        if (report->rules->metrics[i].type != CW_FORMULA)
            choose(&wanted, &report->rules->metrics[i]);
    enum cw_status status = evaluate(&k->result, &wanted, &k->groups, report->ranges->source, report->arena, err);
    if (status != CW_OK)
        return status;
    for (uint32_t i = 0; i < wanted.count; i++)
        if (is_collected(&k->result, i))
            choose(&kept, &wanted.list[i]);
    const uint32_t asked = kept.count;
    for (uint32_t i = 0; i < kept.count && status == CW_OK; i++) { /* the list grows by what its metrics need */
        status = list_parts(&parts, &kept.list[i]);
        for (uint32_t p = 0; p < parts.count; p++)
            choose(&kept, &parts.list[p]);
    }
    uint8_t *inner = cw_arena_alloc(report->arena, kept.count, sizeof *inner);
    if (status != CW_OK || !inner)
        return cw_error_nomem(err);
    for (uint32_t i = asked; i < kept.count; i++)
        inner[i] = 1;
    k->parts = inner;
    status = evaluate(&k->result, &kept, &k->groups, report->ranges->source, report->arena, err);
    if (status == CW_OK && k->groups.folds.kinds)
        status = cw_spread_find(&k->result, &k->groups, report->ranges->data, report->arena, err);
    if (status == CW_OK && report->baseline)
        status = evaluate(&k->was, &kept, &k->before, report->baseline->source, report->arena, err);
    return status;
}

/* ---- which counters --------------------------------------------------------------------------------------------- */

static void mark(void *context, uint32_t counter, unsigned rollups)
{
    (void)rollups;
    ((bool *)context)[counter] = true;
}

static bool find_columns(struct cw_report_kernels *k)
{
    const struct cw_report *report = k->report;
    const struct cw_chip *chip = k->result.chip;
    const struct cw_schema *schema = &report->ranges->data->schema;
    bool *needed = cw_arena_alloc(report->arena, chip->counter_count, sizeof *needed);
    bool *held = cw_arena_alloc(report->arena, chip->counter_count, sizeof *held);
    uint32_t *columns = cw_arena_alloc(report->arena, schema->counter_count, sizeof *columns);
    uint32_t *column_of = cw_arena_alloc(report->arena, chip->counter_count, sizeof *column_of);
    if (!needed || !held || !columns || !column_of)
        return false;
    cw_eval_mark_held(held, chip, schema);
    const struct cw_needs needs = {.chip = chip, .held = held, .add = mark, .context = needed};
    for (uint32_t i = 0; i < k->result.metric_count; i++)
        if (cw_metric_needs(&needs, &k->result.metrics[i], NULL) == CW_ERR_NOMEM)
            return false;
    for (uint32_t i = 0; i < chip->counter_count; i++)
        column_of[i] = CW_NONE;
    for (uint32_t c = 0; c < schema->counter_count; c++) {
        const char *name = schema->counters[c].name;
        enum cw_metric_type type;
        uint32_t counter;
        if (!cw_chip_find(chip, name, strlen(name), &type, &counter) || type != CW_COUNTER || !needed[counter])
            continue;
        column_of[counter] = k->column_count;
        columns[k->column_count++] = c;
    }
    k->columns = columns;
    k->column_of = column_of;
    return true;
}

/* ---- which kernels ---------------------------------------------------------------------------------------------- */

static uint32_t most_kernels(const struct cw_schema *schema)
{
    const uint32_t fit =
        MOST_VALUES / (4 * (schema->counter_count < MOST_METRICS ? schema->counter_count : MOST_METRICS) + 100);
    return fit < 10 ? 10 : fit < MOST_KERNELS ? fit : MOST_KERNELS;
}

/* Whether the page shows the kernel. */
static bool is_shown(const struct cw_report_kernels *k, const struct cw_range *range)
{
    for (uint32_t g = 0; g < k->groups.count; g++)
        if (cw_range_compare_kernels(&k->groups.data.ranges[g], range, true) == 0)
            return true;
    return false;
}

/* The kernels that take most of the time; of the baseline also those that the page shows. */
static enum cw_status choose_kernels(struct cw_groups *groups, const struct cw_report_capture *of,
                                     struct cw_report_kernels *k, struct cw_error *err)
{
    struct cw_arena *arena = k->report->arena;
    const struct cw_counter_data *data = of->data;
    const uint32_t most = most_kernels(&data->schema);
    const bool few = cw_launch_count(data) <= most; /* else their times say which are shown */
    enum cw_status status = (few ? cw_groups_make : cw_groups_make_times)(groups, CW_BY_KERNEL, data, of->chip, of->keep,
                                                                        arena, err);
    if (status != CW_OK)
        return status;
    const bool first = groups == &k->groups;
    if (first) {
        k->group_count = groups->count;
        k->total = groups->total;
    } else {
        k->total_before = groups->total;
    }
    if (few)
        return CW_OK;
    bool *keep = cw_arena_alloc(arena, data->range_count, sizeof *keep);
    if (!keep)
        return cw_error_nomem(err);
    for (uint32_t g = 0; g < groups->count; g++) {
        const bool kept = g < most || (!first && is_shown(k, &groups->data.ranges[g]));
        for (uint32_t i = 0; i < groups->items[g].count; i++)
            if (kept)
                keep[groups->items[g].ranges[i]] = true;
            else if (first)
                k->left++;
    }
    return cw_groups_make(groups, CW_BY_KERNEL, data, of->chip, keep, arena, err);
}

static bool number_ranges(struct cw_report_kernels *k)
{
    const uint32_t count = k->report->ranges->data->range_count;
    uint32_t *group_of = cw_arena_alloc(k->report->arena, count, sizeof *group_of);
    if (!group_of)
        return false;
    for (uint32_t i = 0; i < count; i++)
        group_of[i] = CW_NONE;
    for (uint32_t g = 0; g < k->groups.count; g++)
        for (uint32_t i = 0; i < k->groups.items[g].count; i++)
            group_of[k->groups.items[g].ranges[i]] = g;
    k->group_of = group_of;
    return true;
}

enum cw_status cw_report_kernels_make(struct cw_report_kernels *k, const struct cw_report *report,
                                      const struct cw_layout *layout, struct cw_error *err)
{
    *k = (struct cw_report_kernels){.report = report, .layout = layout};
    enum cw_status status = choose_kernels(&k->groups, report->ranges, k, err);
    if (status == CW_OK && report->baseline)
        status = choose_kernels(&k->before, report->baseline, k, err);
    if (status == CW_OK)
        status = choose_metrics(k, layout, err);
    if (status == CW_OK && !(number_ranges(k) && find_columns(k)))
        status = cw_error_nomem(err);
    return status;
}

/* ---- what is printed -------------------------------------------------------------------------------------------- */

static void put_parts(FILE *out, const struct cw_report_kernels *k, struct choice *parts)
{
    const char *before = ",\"parts\":[";
    for (uint32_t p = 0; p < parts->count; p++)
        for (uint32_t i = 0; i < k->result.metric_count; i++)
            if (same(&parts->list[p], &k->result.metrics[i])) {
                cw_put_count(out, before, i);
                before = ",";
            }
    fputs(parts->count ? "]" : "", out);
}

struct naming { /* the counters of a metric */
    FILE *out;
    const struct cw_report_kernels *k;
    uint32_t count;
};

static void put_counter_number(void *context, uint32_t counter, unsigned rollups)
{
    struct naming *n = context;
    (void)rollups;
    if (n->k->column_of[counter] != CW_NONE)
        cw_put_count(n->out, n->count++ ? "," : ",\"counters\":[", n->k->column_of[counter]);
}

/* How a metric is computed. */
static bool put_formula(FILE *out, const struct cw_report_kernels *k, const struct cw_metric *m)
{
    const struct cw_chip *chip = k->result.chip;
    if (m->type == CW_FORMULA) {
        cw_put_text(out, ",\"formula\":", chip->formulas->items[m->base].text);
        return true;
    }
    if (m->type == CW_FACT || m->type == CW_THROUGHPUT) /* recorded; the largest of its parts */
        return true;
    const char *text = cw_metric_formula(chip, m, k->report->arena);
    if (text)
        cw_put_text(out, ",\"formula\":", text);
    return text != NULL;
}

static bool put_metric(FILE *out, const struct cw_report_kernels *k, uint32_t i, const char *about,
                       struct choice *parts, const bool *held)
{
    const struct cw_metric *m = &k->result.metrics[i];
    struct naming naming = {out, k, 0};
    cw_put_text(out, i ? ",\n{\"name\":" : "\n{\"name\":", k->result.names[i]);
    cw_put_text(out, ",\"unit\":", k->result.units[i]);
    cw_put_text(out, ",\"type\":", cw_metric_type_text(m->type));
    if (about)
        cw_put_text(out, ",\"about\":", about);
    cw_put_count(out, ",\"section\":", cw_sections_find(&k->layout->sections, k->result.names[i]));
    if (k->parts[i])
        fputs(",\"part\":true", out);
    if (!put_formula(out, k, m) || list_parts(parts, m) != CW_OK)
        return false;
    put_parts(out, k, parts);
    const struct cw_needs needs = {.chip = k->result.chip, .held = held, .add = put_counter_number, .context = &naming};
    const bool enough = m->type == CW_FORMULA || cw_metric_needs(&needs, m, NULL) != CW_ERR_NOMEM;
    fputs(naming.count ? "]}" : "}", out);
    return enough;
}

static enum cw_status put_metrics(FILE *out, const struct cw_report_kernels *k, struct cw_error *err)
{
    const struct cw_result *r = &k->result;
    struct cw_arena *arena = k->report->arena;
    const char *const *about = NULL;
    struct choice parts;
    bool *held = cw_arena_alloc(arena, r->chip->counter_count, sizeof *held);
    enum cw_status status =
        cw_describe_metrics(&about, k->report->data_folder, r->chip, r->metrics, r->metric_count, arena, err);
    if (status != CW_OK || !held || !begin_choice(&parts, r->chip, arena))
        return cw_error_nomem(err);
    cw_eval_mark_held(held, r->chip, &r->data->schema);
    fputs(",\n\"sections\":[", out);
    for (uint32_t i = 0; i < k->layout->sections.count; i++)
        cw_put_text(out, i ? "," : "", k->layout->sections.items[i].title);
    fputs("],\n\"metrics\":[", out);
    for (uint32_t i = 0; i < r->metric_count; i++)
        if (!put_metric(out, k, i, about ? about[i] : NULL, &parts, held))
            return cw_error_nomem(err);
    fputs("]", out);
    return CW_OK;
}

static void put_counters(FILE *out, const struct cw_report_kernels *k)
{
    const struct cw_counter_data *data = k->report->ranges->data;
    fputs(",\n\"counters\":[", out);
    for (uint32_t i = 0; i < k->column_count; i++) {
        const struct cw_schema_counter *c = &data->schema.counters[k->columns[i]];
        cw_put_text(out, i ? ",\n{\"name\":" : "\n{\"name\":", c->name);
        fputs(c->whole ? ",\"passes\":[" : ",\"split\":true,\"passes\":[", out);
        for (uint32_t p = 0; p < c->pass_count; p++)
            cw_put_count(out, p ? "," : "", c->passes[p]);
        fputs("],\"devices\":[", out);
        for (uint32_t d = 0; d < data->device_count; d++) {
            const struct cw_device_facts *f = &data->devices[d].facts[k->columns[i]];
            cw_put_count(out, d ? ",[" : "[", f->instances);
            for (int r = 0; r < CW_ROLLUP_COUNT; r++)
                cw_put_number(out, ",", f->peak[r]);
            fputs("]", out);
        }
        fputs("]}", out);
    }
    fputs("]", out);
}

static void put_values(FILE *out, const struct cw_result *r, uint32_t row)
{
    fputs(",\"values\":[", out);
    for (uint32_t m = 0; m < r->metric_count; m++)
        cw_put_number(out, m ? "," : "", r->values[(size_t)m * r->row_count + row]);
    fputs("],\"statuses\":\"", out);
    for (uint32_t m = 0; m < r->metric_count; m++)
        putc('0' + r->statuses[(size_t)m * r->row_count + row], out);
    fputs("\"", out);
    for (uint32_t m = 0; r->occurrences && m < r->metric_count; m++)
        cw_put_count(out, m ? "," : ",\"occurrences\":[", r->occurrences[(size_t)m * r->row_count + row]);
    for (uint32_t m = 0; r->spread && m < r->metric_count; m++)
        cw_put_number(out, m ? "," : "],\"spreads\":[", r->spread[(size_t)m * r->row_count + row]);
    if (r->spread && r->metric_count)
        fputs("]", out);
}

static void put_group(FILE *out, const struct cw_group *g)
{
    cw_put_text(out, "{\"name\":", g->name);
    cw_put_short(out, ",\"short\":", g->name);
    cw_put_count(out, ",\"launches\":", g->count);
    cw_put_count(out, ",\"timed\":", g->timed);
    cw_put_number(out, ",\"total\":", g->total);
    cw_put_number(out, ",\"mean\":", g->mean);
    cw_put_number(out, ",\"least\":", g->least);
    cw_put_number(out, ",\"greatest\":", g->greatest);
    cw_put_number(out, ",\"deviation\":", g->deviation);
}

/* What the kernel was in the baseline. */
static void put_before(FILE *out, const struct cw_report_kernels *k, const struct cw_range *range)
{
    for (uint32_t b = 0; b < k->before.count; b++) {
        if (cw_range_compare_kernels(range, &k->before.data.ranges[b], true) != 0)
            continue;
        fputs(",\n \"before\":", out);
        put_group(out, &k->before.items[b]);
        put_values(out, &k->was, b);
        fputs("}", out);
        return;
    }
}

static void put_kernel(FILE *out, const struct cw_report_kernels *k, uint32_t g)
{
    const struct cw_counter_data *data = &k->groups.data;
    const struct cw_range *range = &data->ranges[g];
    char family[CW_SHORT_SIZE];
    put_group(out, &k->groups.items[g]);
    cw_put_text(out, ",\"family\":", *range->kernel ? cw_shorten_to_family(range->name, family) : range->name);
    cw_put_text(out, ",\"function\":", range->kernel);
    cw_put_size(out, ",\"grid\":", range->grid);
    cw_put_size(out, ",\"block\":", range->block);
    cw_put_count(out, ",\"device\":", range->device);
    put_values(out, &k->result, g);
    fputs(",\n \"counters\":[", out);
    for (uint32_t i = 0; i < k->column_count; i++) {
        const size_t at = (size_t)k->columns[i] * data->range_count + g;
        if (data->forms[at] <= CW_FORM_UNAVAILABLE) {
            fputs(i ? ",null" : "null", out);
            continue;
        }
        for (int r = 0; r < CW_ROLLUP_COUNT; r++)
            cw_put_number(out, r ? "," : i ? ",[" : "[", data->rollups[r][at]);
        fputs("]", out);
    }
    fputs("]", out);
    put_before(out, k, range);
    fputs("}", out);
}

/* Kernels of the baseline that are no more. */
static void put_gone(FILE *out, const struct cw_report_kernels *k)
{
    const char *before = ",\n\"gone\":[";
    for (uint32_t b = 0; b < k->before.count; b++) {
        if (k->group_count > k->groups.count) /* it may be among those that are not shown */
            break;
        if (is_shown(k, &k->before.data.ranges[b]))
            continue;
        fputs(before, out);
        put_group(out, &k->before.items[b]);
        fputs("}", out);
        before = ",";
    }
    fputs(*before == ',' && before[1] == 0 ? "]" : "", out);
}

enum cw_status cw_report_kernels_put(FILE *out, const struct cw_report_kernels *k, struct cw_error *err)
{
    const struct cw_groups *g = &k->groups;
    cw_put_number(out, ",\n\"total\":", k->total);
    cw_put_number(out, ",\"shown\":", g->total);
    cw_put_count(out, ",\"all_kernels\":", k->group_count);
    cw_put_count(out, ",\"launches_left\":", k->left);
    fputs(",\n\"statuses\":[", out);
    for (int s = 0; s < CW_VALUE_STATUS_COUNT; s++)
        cw_put_text(out, s ? "," : "", cw_value_status_text((enum cw_value_status)s));
    fputs("]", out);
    enum cw_status status = put_metrics(out, k, err);
    if (status != CW_OK)
        return status;
    put_counters(out, k);
    fputs(",\n\"kernels\":[", out);
    for (uint32_t i = 0; i < g->count; i++) {
        fputs(i ? ",\n" : "\n", out);
        put_kernel(out, k, i);
    }
    fputs("]", out);
    put_gone(out, k);
    if (k->report->baseline)
        cw_put_number(out, ",\n\"total_before\":", k->total_before);
    return CW_OK;
}
