#define _GNU_SOURCE
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "eval/ranges/explain.h"
#include "eval/ranges/explain_parts.h"
#include "metricdb/fact.h"

/* A number, null where there is none. */
static json_t *real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

/* What `print` prints of an explanation, as a string. */
static json_t *printed(const struct cw_explanation *of, const struct cw_eval_term *term, const char *formula,
                       bool numbers)
{
    struct cw_explanation e = *of;
    char *text = NULL;
    size_t size = 0;
    if (!(e.out = open_memstream(&text, &size)))
        return NULL;
    if (term)
        cw_explain_term(&e, term, numbers);
    else
        cw_explain_numbers(&e, formula);
    json_t *string = fclose(e.out) == 0 ? json_string(text) : NULL;
    free(text);
    return string;
}

static json_t *value_of(const struct cw_explanation *e, uint32_t metric)
{
    return json_pack("{s:s, s:s, s:o, s:s}", "name", e->result.names[metric], "unit", e->result.units[metric], "value",
                     real(cw_explain_value(e, metric)), "status", cw_value_status_text(cw_explain_status(e, metric)));
}

static void set_text(json_t **object, const char *key, const char *text)
{
    if (text && *text)
        cw_json_set(object, key, json_string(text));
}

/* By counters, and with their numbers. */
static void set_term(json_t **object, const struct cw_explanation *e, uint32_t metric)
{
    struct cw_error why = CW_ERROR_INIT;
    const char *lack = cw_explain_lack(e, metric, &why);
    const struct cw_eval_term *t = &e->result.plan.terms[e->result.plan.metrics[metric].term];
    set_text(object, "lack", lack);
    if (lack)
        return;
    cw_json_set(object, "formula", printed(e, t, NULL, false));
    cw_json_set(object, "numbers", printed(e, t, NULL, true));
}

static void set_formula(json_t **object, const struct cw_explanation *e, const struct cw_formula *f)
{
    json_t *needs = json_array();
    for (uint32_t i = 0; i < f->formulas.count; i++)
        cw_json_append(&needs, json_string(e->chip->formulas->items[f->formulas.items[i]].name));
    for (uint32_t i = 0; i < f->metric_count; i++) {
        char name[CW_METRIC_NAME_MAX];
        cw_json_append(&needs, json_string(cw_metric_name(e->chip, &f->metrics[i], name)));
    }
    set_text(object, "description", f->description);
    set_text(object, "formula", f->text);
    cw_json_set(object, "numbers", printed(e, NULL, f->text, true));
    cw_json_set(object, "needs", needs);
}

/* Its constituents, the largest first, each with its own formula. */
static enum cw_status set_throughput(json_t **object, const struct cw_explanation *whole, const struct cw_metric *m)
{
    struct cw_explanation e = *whole;
    uint32_t *order;
    enum cw_status status = cw_explain_constituents(&e, m, &order);
    if (status != CW_OK)
        return status;
    json_t *list = json_array();
    for (uint32_t i = 0; i < e.count; i++) {
        json_t *one = value_of(&e, order[i]);
        set_term(&one, &e, order[i]);
        cw_json_append(&list, one);
    }
    cw_json_set(object, "largest_of", list);
    return CW_OK;
}

static enum cw_status append_metric(json_t **list, const struct cw_explanation *e, uint32_t i)
{
    json_t *object = value_of(e, i);
    if (e->fold)
        cw_json_set(&object, "mixed", json_boolean(cw_explain_mixes(e, i)));
    const struct cw_metric *m = &e->list[i];
    enum cw_status status = CW_OK;
    set_text(&object, "type", cw_metric_type_text(m->type));
    if (m->type == CW_FORMULA) {
        set_formula(&object, e, &e->chip->formulas->items[m->base]);
    } else if (m->type == CW_FACT) {
        set_text(&object, "description", cw_fact(m->base)->description);
        set_text(&object, "source", cw_explain_fact(e, i));
    } else if (m->type == CW_THROUGHPUT) {
        status = set_throughput(&object, e, m);
    } else {
        set_term(&object, e, i);
    }
    cw_json_append(list, object);
    return status;
}

/* What was recorded in one pass, or in several that each have a part. */
static json_t *recording(const struct cw_explanation *e, uint32_t column)
{
    const struct cw_schema *schema = &e->data->schema;
    const struct cw_schema_counter *s = cw_explain_counter(e, column);
    const bool repeat = column >= schema->counter_count;
    const char *form = cw_explain_form(e, column);
    json_t *passes = json_array();
    for (uint32_t i = 0; i < s->pass_count && !repeat; i++)
        cw_json_append(&passes, json_integer(s->passes[i]));
    if (repeat)
        cw_json_append(&passes, json_integer(schema->repeats[column - schema->counter_count].pass));
    json_t *object = json_pack(
        "{s:o, s:b, s:I, s:s, s:o, s:o, s:o, s:o}", "passes", passes, "whole", repeat || s->whole, "instances",
        (json_int_t)cw_explain_instances(e, column), "status", form ? form : "ok", "sum",
        real(cw_explain_recorded(e, column, CW_SUM)), "avg", real(cw_explain_recorded(e, column, CW_AVG)), "min",
        real(cw_explain_recorded(e, column, CW_MIN)), "max", real(cw_explain_recorded(e, column, CW_MAX)));
    if (e->fold)
        cw_json_set(&object, "occurrences", json_integer(cw_explain_occurrences(e, column)));
    return object;
}

static void append_counter(json_t **list, const struct cw_explanation *e, const char *name)
{
    uint32_t column = cw_explain_column(e, name), first;
    json_t *recorded = json_array();
    if (column != CW_NONE) {
        cw_json_append(&recorded, recording(e, column));
        uint32_t repeats = cw_schema_repeats_of(&e->data->schema, column, &first);
        for (uint32_t i = first; i < first + repeats; i++)
            cw_json_append(&recorded, recording(e, e->data->schema.counter_count + i));
    }
    cw_json_append(list, json_pack("{s:s, s:o}", "name", name, "recorded", recorded));
}

enum cw_status cw_explain_json(json_t **tree, const struct cw_chip *chip, const struct cw_counter_data *data,
                               const struct cw_metric *metric, uint32_t range, const struct cw_groups *fold,
                               const struct cw_eval_options *options, struct cw_arena *arena, struct cw_error *err)
{
    struct cw_explanation e = {
        .chip = chip, .data = data, .options = options, .range = range, .fold = fold, .arena = arena, .err = err};
    bool *needed;
    *tree = NULL;
    enum cw_status status = cw_explain_list(&e, metric);
    if (status == CW_OK)
        status = cw_explain_needed(&e, &needed);
    if (status != CW_OK)
        return status;
    json_t *metrics = json_array(), *counters = json_array();
    for (uint32_t i = 0; i < e.count && status == CW_OK; i++)
        status = append_metric(&metrics, &e, i);
    for (uint32_t i = 0; i < chip->counter_count; i++)
        if (needed[i])
            append_counter(&counters, &e, chip->counters[i].name);
    const struct cw_range *g = cw_launch_of(data, range);
    *tree = json_pack("{s:I, s:s, s:s, s:o, s:o}", "range", (json_int_t)cw_explain_range(&e), "name", g->name, "kernel",
                      g->kernel, "metrics", metrics, "counters", counters);
    if (fold)
        cw_json_set(tree, "launches", json_integer(cw_explain_group(&e)->count));
    if (status == CW_OK && !*tree)
        status = cw_error_nomem(err);
    if (status != CW_OK) {
        json_decref(*tree);
        *tree = NULL;
    }
    return status;
}
