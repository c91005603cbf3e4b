#define _GNU_SOURCE
#include "report/kernels.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/file.h"
#include "base/shorten.h"
#include "eval/ranges/spread.h"
#include "eval/sections.h"
#include "json/json_tree.h"
#include "metricdb/data.h"
#include "metricdb/glossary.h"
#include "metricdb/term.h"
#include "metricdb/yaml.h"
#include "report/put.h"

/* ---- data/report.yaml -------------------------------------------------------------------------------------------- */

enum { LARGEST = 1 << 20 };

struct loading {
    struct cw_layout *layout;
    size_t room;
};

/* Converts a node; texts below "metrics" are names of metrics. */
static json_t *convert(struct loading *l, const struct cw_yaml *node, bool names)
{
    if (node->kind == CW_YAML_SCALAR) {
        if (names && l->layout->count < l->room)
            l->layout->metrics[l->layout->count++] = node->text;
        return json_string(node->text);
    }
    json_t *made = node->kind == CW_YAML_SEQUENCE ? json_array() : json_object();
    for (size_t i = 0; i < node->count; i++)
        if (node->kind == CW_YAML_SEQUENCE)
            cw_json_append(&made, convert(l, &node->items[i], names));
        else
            cw_json_set(&made, node->keys[i].text,
                        convert(l, &node->items[i], strcmp(node->keys[i].text, "metrics") == 0));
    return made;
}

enum cw_status cw_layout_parse(struct cw_layout *layout, const void *text, size_t size, const char *path,
                               struct cw_arena *arena, struct cw_error *err)
{
    static const char *const keys[] = {"schema", "summary", "stalls", "roofline", "memory", NULL};
    struct cw_yaml_reader in = {.source = path, .arena = arena, .err = err, .status = CW_OK};
    const struct cw_yaml *root = cw_yaml_load(&in, "a page's layout", keys, 1, text, size);
    struct loading l = {layout, size};
    *layout = (struct cw_layout){.metrics = root ? cw_yaml_array(&in, size, sizeof *layout->metrics) : NULL};
    if (in.status != CW_OK)
        return in.status;
    layout->tree = convert(&l, root, false);
    return layout->tree ? CW_OK : cw_error_nomem(err);
}

enum cw_status cw_layout_load(struct cw_layout *layout, const char *data, struct cw_arena *arena, struct cw_error *err)
{
    static const char none[] = "schema: 1\n";
    char path[CW_DATA_PATH_MAX];
    struct cw_bytes file = {0};
    *layout = (struct cw_layout){0};
    enum cw_status status = cw_data_path(path, data, "report", err);
    if (status != CW_OK)
        return status;
    if (access(path, F_OK) != 0) /* a user's data folder may lack it */
        status = cw_layout_parse(layout, none, sizeof none - 1, path, arena, err);
    else if ((status = cw_file_read(&file, path, LARGEST, err)) == CW_OK)
        status = cw_layout_parse(layout, file.data, file.size, path, arena, err);
    cw_bytes_free(&file);
    return status == CW_OK ? cw_sections_load(&layout->sections, data, "sections", arena, err) : status;
}

/* Limits keep the page small: kernels, values of counters and metrics, metrics of a plan, all metrics. */
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

/* Lists the metrics that a formula names, or the constituents of a throughput. */
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

/* Whether the capture has the metric of at least one kernel. */
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
    for (uint32_t i = 0; i < kept.count && status == CW_OK; i++) { /* the list grows by the parts of its metrics */
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

/* The kernels with most time; of the baseline, also the kernels that the page shows. */
static enum cw_status choose_kernels(struct cw_groups *groups, const struct cw_report_capture *of,
                                     struct cw_report_kernels *k, struct cw_error *err)
{
    struct cw_arena *arena = k->report->arena;
    const struct cw_counter_data *data = of->data;
    const uint32_t most = most_kernels(&data->schema);
    const bool few = cw_launch_count(data) <= most; /* otherwise their times decide which ones the page shows */
    enum cw_status status =
        (few ? cw_groups_make : cw_groups_make_times)(groups, CW_BY_KERNEL, data, of->chip, of->keep, arena, err);
    if (status != CW_OK)
        return status;
    const bool first = groups == &k->groups;
    if (first) {
        k->group_count = groups->count;
        k->total = groups->total;
        k->untimed = cw_groups_untimed(groups);
    } else {
        k->total_before = cw_groups_untimed(groups) ? NAN : groups->total;
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

/* The formula of a metric, as text. */
static bool put_formula(FILE *out, const struct cw_report_kernels *k, const struct cw_metric *m)
{
    const struct cw_chip *chip = k->result.chip;
    if (m->type == CW_FORMULA) {
        cw_put_text(out, ",\"formula\":", chip->formulas->items[m->base].text);
        return true;
    }
    if (m->type == CW_FACT ||
        m->type == CW_THROUGHPUT) /* a fact is recorded, a throughput is the largest of its parts */
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
    if (status == CW_OK && (!held || !begin_choice(&parts, r->chip, arena)))
        status = cw_error_nomem(err);
    if (status != CW_OK)
        return status;
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

static void put_group(FILE *out, const struct cw_group *g, size_t apart)
{
    cw_put_text(out, "{\"name\":", g->name);
    cw_put_short_apart(out, ",\"short\":", g->name, apart);
    cw_put_count(out, ",\"launches\":", g->count);
    cw_put_count(out, ",\"timed\":", g->timed);
    cw_put_count(out, ",\"used\":", cw_group_is_partly_used(g) ? g->used : g->count);
    cw_put_number(out, ",\"total\":", g->total);
    cw_put_number(out, ",\"mean\":", g->mean);
    cw_put_number(out, ",\"least\":", g->least);
    cw_put_number(out, ",\"greatest\":", g->greatest);
    cw_put_number(out, ",\"deviation\":", g->deviation);
}

/* The kernel in the baseline. */
static void put_before(FILE *out, const struct cw_report_kernels *k, const struct cw_range *range)
{
    for (uint32_t b = 0; b < k->before.count; b++) {
        if (cw_range_compare_kernels(range, &k->before.data.ranges[b], true) != 0)
            continue;
        fputs(",\n \"before\":", out);
        put_group(out, &k->before.items[b], 0);
        put_values(out, &k->was, b);
        fputs("}", out);
        return;
    }
}

static void put_kernel(FILE *out, const struct cw_report_kernels *k, uint32_t g, size_t apart)
{
    const struct cw_counter_data *data = &k->groups.data;
    const struct cw_range *range = &data->ranges[g];
    char family[CW_SHORT_SIZE];
    put_group(out, &k->groups.items[g], apart);
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

/* Kernels of the baseline that ran no more. */
static void put_gone(FILE *out, const struct cw_report_kernels *k)
{
    const char *before = ",\n\"gone\":[";
    for (uint32_t b = 0; b < k->before.count; b++) {
        if (k->group_count > k->groups.count) /* it may be a kernel that the page leaves out */
            break;
        if (is_shown(k, &k->before.data.ranges[b]))
            continue;
        fputs(before, out);
        put_group(out, &k->before.items[b], 0);
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
    const char **names = calloc((size_t)g->count + 1, sizeof *names);
    if (!names)
        return cw_error_nomem(err);
    for (uint32_t i = 0; i < g->count; i++)
        names[i] = g->items[i].name;
    size_t *alike = cw_put_alike(names, g->count);
    fputs(",\n\"kernels\":[", out);
    for (uint32_t i = 0; i < g->count; i++) {
        fputs(i ? ",\n" : "\n", out);
        put_kernel(out, k, i, alike ? alike[i] : 0);
    }
    free(alike);
    free(names);
    fputs("]", out);
    put_gone(out, k);
    if (k->report->baseline)
        cw_put_number(out, ",\n\"total_before\":", k->untimed ? NAN : k->total_before);
    return CW_OK;
}

/* ---- launches ---------------------------------------------------------------------------------------------------- */

/* Most NVTX ranges (longest first), kernels in all of them, and values of an attribute. */
enum { MOST_PATHS = 1000, MOST_PARTS = 20000, MOST_TOLD = 8 };

/* ---- how they were counted -------------------------------------------------------------------------------------- */

struct told {
    const char *key, *value;
    uint32_t ranges;
};

/* Counts one range for its key and value. A key with too many values has "various" for the others. */
static size_t tell(struct told *list, size_t count, const char *key, const char *value)
{
    static const char others[] = "various";
    size_t i = 0, values = 0;
    for (; i < count && (strcmp(list[i].key, key) != 0 || strcmp(list[i].value, value) != 0); i++)
        values += strcmp(list[i].key, key) == 0;
    if (i == count && values >= MOST_TOLD && strcmp(value, others) != 0)
        return tell(list, count, key, others);
    if (i == count)
        list[count++] = (struct told){key, value, 0};
    list[i].ranges++;
    return count;
}

static void put_told(FILE *out, const struct cw_report_capture *c)
{
    static const char *const keys[] = {"once", "scope", "graphs", "runs"}; /* docs/formats.md */
    struct told list[sizeof keys / sizeof *keys * (MOST_TOLD + 1)];
    size_t count = 0;
    uint32_t unwanted = 0;
    for (uint32_t i = 0; i < c->data->range_count; i++) {
        if (c->keep && !c->keep[i]) {
            unwanted++;
            continue;
        }
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
            const char *value = cw_range_attribute(cw_launch_of(c->data, i), keys[k]);
            count = value ? tell(list, count, keys[k], value) : count;
        }
    }
    cw_put_count(out, ",\n\"unwanted\":", unwanted);
    fputs(",\"told\":[", out);
    for (size_t i = 0; i < count; i++) {
        cw_put_text(out, i ? ",{\"key\":" : "{\"key\":", list[i].key);
        cw_put_text(out, ",\"value\":", list[i].value);
        cw_put_count(out, ",\"ranges\":", list[i].ranges);
        fputs("}", out);
    }
    fputs("]", out);
}

/* ---- NVTX ranges ------------------------------------------------------------------------------------------------ */

struct part { /* the launches of a kernel in an NVTX range */
    const char *path;
    uint32_t kernel, launches, timed; /* kernel: CW_NONE for a kernel that the page leaves out */
    double total;
};

struct path { /* parts[first] and on */
    size_t first, count;
    double total;
};

static int by_path(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    const int order = x->path == y->path ? 0 : strcmp(x->path, y->path);
    return order ? order : (x->kernel > y->kernel) - (x->kernel < y->kernel);
}

static int by_total(const void *a, const void *b)
{
    const struct path *x = a, *y = b;
    return x->total != y->total ? (x->total < y->total) - (x->total > y->total)
                                : (x->first > y->first) - (x->first < y->first);
}

/* Makes a part for each launch with a kept range. `*inside`: whether a launch lies in an NVTX range. */
static size_t find_launches(const struct cw_report_kernels *k, struct part *parts, bool *inside)
{
    const struct cw_counter_data *data = k->report->ranges->data;
    const uint32_t launches = cw_launch_count(data);
    for (uint32_t i = 0; i < launches; i++)
        parts[i] = (struct part){.kernel = CW_NONE};
    for (uint32_t i = 0; i < data->range_count; i++) {
        const uint32_t launch = cw_launch_number(data, i);
        if (k->report->ranges->keep && !k->report->ranges->keep[i])
            continue;
        const char *path = cw_range_attribute(cw_launch(data, launch), "nvtx");
        parts[launch] = (struct part){.path = path ? path : "", .kernel = k->group_of[i]};
        *inside = *inside || path;
    }
    size_t count = 0;
    for (uint32_t i = 0; i < launches; i++)
        if (parts[i].path)
            parts[count++] = parts[i];
    return count;
}

/* Joins equal parts. Returns the number of parts left. */
static size_t join(struct part *parts, size_t count)
{
    size_t made = 0;
    qsort(parts, count, sizeof *parts, by_path);
    for (size_t i = 0; i < count; i++)
        if (!made || by_path(&parts[made - 1], &parts[i]) != 0)
            parts[made++] = parts[i];
    return made;
}

static struct part *find_part(const struct cw_report_kernels *k, uint32_t launch, struct part *parts, size_t count,
                              uint32_t kernel)
{
    const char *path = cw_range_attribute(cw_launch(k->report->ranges->data, launch), "nvtx");
    const struct part key = {.path = path ? path : "", .kernel = kernel};
    return bsearch(&key, parts, count, sizeof *parts, by_path);
}

/* Adds launches and times to parts. `found`: the part of each launch, once it is looked up. */
static void take_launches(const struct cw_report_kernels *k, struct part *parts, size_t count, struct part **found)
{
    const struct cw_counter_data *data = k->report->ranges->data;
    for (uint32_t i = 0; i < data->range_count; i++) {
        const uint32_t launch = cw_launch_number(data, i);
        const double ns = k->groups.durations[i];
        if (k->report->ranges->keep && !k->report->ranges->keep[i])
            continue;
        if (!found[launch])
            found[launch] = find_part(k, launch, parts, count, k->group_of[i]);
        found[launch]->launches++;
        found[launch]->timed += !isnan(ns);
        found[launch]->total += isnan(ns) ? 0 : ns;
    }
}

static size_t find_paths(const struct part *parts, size_t count, struct path *paths)
{
    size_t made = 0;
    for (size_t i = 0; i < count; i++) {
        if (!i || strcmp(parts[i - 1].path, parts[i].path) != 0)
            paths[made++] = (struct path){.first = i};
        paths[made - 1].count++;
        paths[made - 1].total += parts[i].total;
    }
    qsort(paths, made, sizeof *paths, by_total);
    return made;
}

static void put_path(FILE *out, const struct path *path, const struct part *parts)
{
    cw_put_text(out, "{\"path\":", parts[path->first].path);
    fputs(",\"kernels\":[", out);
    for (size_t i = path->first; i < path->first + path->count; i++) {
        fputs(i > path->first ? ",[" : "[", out);
        if (parts[i].kernel == CW_NONE)
            fputs("null", out);
        else
            cw_put_count(out, "", parts[i].kernel);
        cw_put_count(out, ",", parts[i].launches);
        cw_put_number(out, ",", parts[i].total);
        cw_put_count(out, ",", parts[i].timed);
        fputs("]", out);
    }
    fputs("]}", out);
}

static enum cw_status put_nvtx(FILE *out, const struct cw_report_kernels *k, struct cw_error *err)
{
    const size_t room = (size_t)cw_launch_count(k->report->ranges->data) + 1;
    struct part *parts = calloc(room, sizeof *parts), **found = calloc(room, sizeof *found);
    struct path *paths = calloc(room, sizeof *paths);
    bool inside = false;
    size_t put = 0, i = 0;
    const bool enough = parts && paths && found;
    size_t count = enough ? find_launches(k, parts, &inside) : 0;
    if (inside) {
        count = join(parts, count);
        take_launches(k, parts, count, found);
        count = find_paths(parts, count, paths);
        fputs(",\n\"nvtx\":[", out);
        for (; i < count && i < MOST_PATHS && put + paths[i].count <= MOST_PARTS; put += paths[i++].count) {
            fputs(i ? ",\n" : "\n", out);
            put_path(out, &paths[i], parts);
        }
        cw_put_count(out, "],\"nvtx_left\":", count - i);
    }
    free(found);
    free(parts);
    free(paths);
    return enough ? CW_OK : cw_error_nomem(err);
}

enum cw_status cw_report_launches_put(FILE *out, const struct cw_report_kernels *k, struct cw_error *err)
{
    put_told(out, k->report->ranges);
    cw_put_count(out, ",\n\"untimed\":", k->untimed);
    return put_nvtx(out, k, err);
}
