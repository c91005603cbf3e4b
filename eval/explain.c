#include "eval/explain.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "eval/result.h"
#include "metricdb/fact.h"

/* The metrics that one explanation speaks of, with their values: the metric itself, the formulas that it refers to, and
 * then the chip's own metrics. */
struct explain {
    FILE *out;
    const struct cw_chip *chip;
    const struct cw_counter_data *data;
    const struct cw_eval_options *options;
    uint32_t range;
    struct cw_metric *list;
    uint32_t count;
    struct cw_result result;
    struct cw_arena *arena;
    struct cw_error *err;
};

/* ---- numbers ---------------------------------------------------------------------------------------------------- */

static const char *number(double value, char text[CW_NUMBER_SIZE])
{
    if (!isfinite(value))
        return cw_number_text(value, text);
    snprintf(text, CW_NUMBER_SIZE, fabs(value) < 1e15 && value == floor(value) ? "%.0f" : "%.8g", value);
    return text;
}

static double value_of(const struct explain *e, uint32_t metric)
{
    return e->result.values[(size_t)metric * e->data->range_count + e->range];
}

static enum cw_value_status status_of(const struct explain *e, uint32_t metric)
{
    return (enum cw_value_status)e->result.statuses[(size_t)metric * e->data->range_count + e->range];
}

static void print_value(const struct explain *e, uint32_t metric)
{
    const char *unit = e->result.units[metric];
    char text[CW_NUMBER_SIZE];
    bool named = strcmp(unit, "1") != 0;
    cw_text_print(e->out, "%s = %s%s%s", e->result.names[metric], number(value_of(e, metric), text), named ? " " : "",
                  named ? unit : "");
    if (status_of(e, metric) != CW_VALUE_OK)
        cw_text_print(e->out, "  (%s)", cw_value_status_text(status_of(e, metric)));
    fputc('\n', e->out);
}

/* ---- terms ------------------------------------------------------------------------------------------------------ */

static double recorded(const struct explain *e, uint32_t column, enum cw_rollup rollup)
{
    return e->data->rollups[rollup][(size_t)column * e->data->range_count + e->range];
}

static const struct cw_schema_counter *counter_of(const struct explain *e, uint32_t column)
{
    return &e->data->schema.counters[cw_schema_column_counter(&e->data->schema, column)];
}

static double operand_value(const struct explain *e, const struct cw_eval_operand *o)
{
    const struct cw_device *device = &e->data->devices[e->data->ranges[e->range].device];
    bool user = o->kind == CW_EVAL_USER_CYCLES || o->kind == CW_EVAL_USER_PEAK;
    bool peak = o->kind == CW_EVAL_PEAK || o->kind == CW_EVAL_USER_PEAK;
    double value = peak ? device->facts[o->column].peak[o->rollup] : recorded(e, o->column, o->rollup);
    return user ? o->duration * value / (o->duration != 0 ? recorded(e, o->time, CW_AVG) : 1) : value;
}

/* (32 * sum(a) - sum(b)), with the values in place of the rollups where `numbers`. */
static void print_linear(const struct explain *e, const struct cw_eval_operand *o, bool numbers)
{
    const struct cw_linear *l = o->linear;
    char text[CW_NUMBER_SIZE];
    if (l->per != 1)
        cw_text_print(e->out, "%s * ", number(l->per, text));
    bool bare = l->count == 1 && l->coefficients[0] == 1;
    fputs(bare ? "" : "(", e->out);
    for (uint32_t i = 0; i < l->count; i++) {
        double by = l->coefficients[i];
        fputs(i ? by < 0 ? " - " : " + " : by < 0 ? "-" : "", e->out);
        if (fabs(by) != 1)
            cw_text_print(e->out, "%s * ", number(fabs(by), text));
        if (numbers)
            fputs(number(recorded(e, l->columns[i], o->rollup), text), e->out);
        else
            cw_text_print(e->out, "%s(%s)", cw_rollup_text(o->rollup), counter_of(e, l->columns[i])->name);
    }
    fputs(bare ? "" : ")", e->out);
}

static void print_operand(const struct explain *e, const struct cw_eval_operand *o, const char *before, bool numbers)
{
    bool user = o->kind == CW_EVAL_USER_CYCLES || o->kind == CW_EVAL_USER_PEAK;
    const char *peak = o->kind == CW_EVAL_PEAK || o->kind == CW_EVAL_USER_PEAK ? "peak of " : "";
    char text[CW_NUMBER_SIZE];
    if (o->kind == CW_EVAL_NONE || o->kind == CW_EVAL_PRESENT)
        return;
    fputs(before, e->out);
    if (o->kind == CW_EVAL_LINEAR) {
        print_linear(e, o, numbers);
        return;
    }
    if (numbers) {
        fputs(number(operand_value(e, o), text), e->out);
        return;
    }
    if (user)
        cw_text_print(e->out, "(%s ns of ", number(o->duration, text));
    cw_text_print(e->out, "%s(%s%s)%s", cw_rollup_text(o->rollup), peak, counter_of(e, o->column)->name,
                  user ? ")" : "");
}

static void print_term(const struct explain *e, const struct cw_eval_term *t, bool numbers)
{
    char text[CW_NUMBER_SIZE];
    fputs("    = ", e->out);
    if (t->x.kind == CW_EVAL_NONE || t->scale != 1)
        fputs(t->scale == 1e9 ? "1e9" : number(t->scale, text), e->out);
    print_operand(e, &t->x, t->scale != 1 ? " * " : "", numbers);
    print_operand(e, &t->factor, " * ", numbers);
    for (int d = 0; d < CW_TERM_DIVISORS; d++)
        print_operand(e, &t->divisors[d], " / ", numbers);
    fputc('\n', e->out);
}

static void print_lack(const struct explain *e, uint32_t metric)
{
    struct cw_error why = CW_ERROR_INIT;
    const struct cw_needs needs = {.chip = e->chip};
    bool known = cw_metric_needs(&needs, &e->list[metric], &why) == CW_OK;
    cw_text_print(e->out, "    %s\n", known ? "the capture lacks a counter that it needs" : why.message);
}

/* Where a fact comes from. */
static void print_fact(const struct explain *e, uint32_t metric)
{
    static const char *const sources[] = {[CW_FACT_OF_RANGE] = "recorded with the launch",
                                          [CW_FACT_OF_LAUNCH] = "recorded with the launch",
                                          [CW_FACT_OF_DEVICE] = "recorded of the device"};
    const struct cw_fact *f = cw_fact(e->list[metric].base);
    bool known = status_of(e, metric) == CW_VALUE_OK;
    cw_text_print(e->out, "    %s\n    %s\n", f->description,
                  known ? sources[f->source] : "the capture does not say it");
}

static void print_terms_of(const struct explain *e, uint32_t metric)
{
    const struct cw_eval_metric *m = &e->result.plan.metrics[metric];
    const struct cw_eval_term *t = &e->result.plan.terms[m->term];
    if (m->status == CW_VALUE_NOT_COLLECTED || !m->term_count) {
        print_lack(e, metric);
        return;
    }
    print_term(e, t, false);
    if (t->x.kind != CW_EVAL_NONE)
        print_term(e, t, true);
}

/* ---- throughputs ------------------------------------------------------------------------------------------------ */

struct constituent {
    struct cw_metric metric;
    uint32_t index;
    double value;
};

static int by_value(const void *a, const void *b)
{
    const struct constituent *x = a, *y = b;
    if (isnan(x->value) != isnan(y->value))
        return isnan(x->value) - isnan(y->value);
    if (x->value != y->value && !isnan(x->value))
        return x->value < y->value ? 1 : -1;
    return (x->index > y->index) - (x->index < y->index);
}

static enum cw_status prepare(struct explain *e, struct cw_metric *list, uint32_t count)
{
    e->list = list;
    e->count = count;
    e->result = (struct cw_result){.chip = e->chip, .data = e->data, .metrics = list, .metric_count = count};
    return cw_result_make(&e->result, e->options, e->arena, e->err);
}

/* The constituents of a throughput, as metrics of counters; a count of 0 where they are not known. */
static enum cw_status list_constituents(const struct explain *e, const struct cw_metric *m, struct cw_metric **list,
                                        uint32_t *count)
{
    struct cw_terms terms = {0};
    bool good = cw_terms_make(&terms, e->chip, m, NULL) != CW_ERR_NOMEM;
    *count = terms.count;
    *list = cw_arena_alloc(e->arena, terms.count, sizeof **list);
    for (uint32_t i = 0; *list && i < terms.count; i++)
        (*list)[i] = (struct cw_metric){CW_COUNTER, terms.items[i].x.counter, m->rollup, m->sub};
    cw_terms_free(&terms);
    return good && *list ? CW_OK : cw_error_nomem(e->err);
}

static enum cw_status print_throughput(const struct explain *whole, const struct cw_metric *m, double largest)
{
    struct explain e = *whole; /* the same range, with the constituents for metrics */
    struct cw_metric *list;
    uint32_t count;
    enum cw_status status = list_constituents(&e, m, &list, &count);
    if (status == CW_OK && !count)
        fputs("    its constituents are not known\n", e.out);
    if (status != CW_OK || !count)
        return status;
    struct constituent *sorted = cw_arena_alloc(e.arena, count, sizeof *sorted);
    status = sorted ? prepare(&e, list, count) : cw_error_nomem(e.err);
    if (status != CW_OK)
        return status;
    for (uint32_t i = 0; i < count; i++)
        sorted[i] = (struct constituent){list[i], i, value_of(&e, i)};
    qsort(sorted, count, sizeof *sorted, by_value);
    cw_text_print(e.out, "    = the largest of %" PRIu32 ", marked *\n", count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = sorted[i].index;
        char text[CW_NUMBER_SIZE];
        cw_text_print(e.out, "    %c %12s %%  %s", i == 0 && sorted[i].value == largest ? '*' : ' ',
                      number(sorted[i].value, text), e.result.names[at]);
        if (status_of(&e, at) != CW_VALUE_OK)
            cw_text_print(e.out, "  (%s)", cw_value_status_text(status_of(&e, at)));
        fputc('\n', e.out);
    }
    cw_text_print(e.out, "  %s\n", e.result.names[sorted[0].index]);
    print_terms_of(&e, sorted[0].index);
    return CW_OK;
}

/* ---- formulas --------------------------------------------------------------------------------------------------- */

static bool same_metric(const struct cw_metric *a, const struct cw_metric *b)
{
    return a->type == b->type && a->base == b->base && a->rollup == b->rollup && a->sub == b->sub;
}

static void print_named(const struct explain *e, const char *name)
{
    struct cw_metric m;
    char text[CW_NUMBER_SIZE];
    bool known = cw_metric_parse(&m, e->chip, name, NULL) == CW_OK;
    for (uint32_t i = 0; known && i < e->count; i++)
        if (same_metric(&e->list[i], &m)) {
            fputs(number(value_of(e, i), text), e->out);
            return;
        }
    cw_text_put(e->out, CW_TEXT_LINE, name);
}

/* The text with values in place of names. */
static void print_numbers(const struct explain *e, const char *text)
{
    static const char rest[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789.";
    while (*text) {
        char name[CW_EXPR_NAME_LENGTH_MAX + 1];
        size_t length = strspn(text, rest);
        if (!length || strchr("0123456789.", *text) || length >= sizeof name) {
            length = length ? length : 1;
            cw_text_print(e->out, "%.*s", (int)length, text);
        } else {
            memcpy(name, text, length);
            name[length] = 0;
            if (cw_expr_is_name(name)) /* not a function */
                print_named(e, name);
            else
                cw_text_put(e->out, CW_TEXT_LINE, name);
        }
        text += length;
    }
}

static void print_formula(const struct explain *e, const struct cw_formula *f)
{
    if (*f->description)
        cw_text_print(e->out, "    %s\n", f->description);
    cw_text_print(e->out, "    = %s\n    = ", f->text);
    print_numbers(e, f->text);
    fputc('\n', e->out);
}

static enum cw_status list_metrics(struct explain *e, const struct cw_metric *metric)
{
    const struct cw_formulas *all = e->chip->formulas;
    const struct cw_formula *root = metric->type == CW_FORMULA ? &all->items[metric->base] : NULL;
    uint32_t count = 0, room = 1 + (root ? all->count + root->metric_count : 0);
    struct cw_metric *list = cw_arena_alloc(e->arena, room, sizeof *list);
    bool *seen = cw_arena_alloc(e->arena, root ? all->count : 0, sizeof *seen);
    if (!list || !seen)
        return cw_error_nomem(e->err);
    list[count++] = *metric;
    for (uint32_t i = 0; root && i < count; i++) {
        const struct cw_list *inner = &all->items[list[i].base].formulas;
        for (uint32_t k = 0; k < inner->count; k++)
            if (!seen[inner->items[k]]) {
                seen[inner->items[k]] = true;
                list[count++] = (struct cw_metric){.type = CW_FORMULA, .base = inner->items[k]};
            }
    }
    if (root && root->metric_count)
        memcpy(list + count, root->metrics, root->metric_count * sizeof *list);
    return prepare(e, list, count + (root ? root->metric_count : 0));
}

/* ---- counters --------------------------------------------------------------------------------------------------- */

static void mark(void *context, uint32_t counter, unsigned rollups)
{
    (void)rollups;
    ((bool *)context)[counter] = true;
}

static uint32_t find_column(const struct explain *e, const char *name)
{
    for (uint32_t i = 0; i < e->data->schema.counter_count; i++)
        if (strcmp(e->data->schema.counters[i].name, name) == 0)
            return i;
    return CW_NONE;
}

static void print_column(const struct explain *e, uint32_t column)
{
    static const char *const forms[CW_FORM__COUNT] = {[CW_FORM_NOT_COLLECTED] = "not collected",
                                                      [CW_FORM_UNAVAILABLE] = "unavailable",
                                                      [CW_FORM_OVERFLOW] = "overflow",
                                                      [CW_FORM_INCOMPLETE] = "incomplete"};
    const struct cw_schema *schema = &e->data->schema;
    const struct cw_schema_counter *s = counter_of(e, column);
    const char *form = forms[e->data->forms[(size_t)column * e->data->range_count + e->range]];
    uint32_t instances = e->data->devices[e->data->ranges[e->range].device].facts[s - schema->counters].instances;
    char text[CW_NUMBER_SIZE];
    cw_text_print(e->out, " %9s", instances ? number(instances, text) : "unknown");
    for (enum cw_rollup r = CW_SUM; r < CW_ROLLUP_COUNT; r++)
        cw_text_print(e->out, " %15s", number(recorded(e, column, r), text));
    fputs("  ", e->out);
    bool repeat = column >= schema->counter_count;
    for (uint32_t i = 0; i < s->pass_count && !repeat; i++)
        cw_text_print(e->out, "%s%" PRIu32, i ? "," : "", s->passes[i]);
    if (repeat)
        cw_text_print(e->out, "%" PRIu32, schema->repeats[column - schema->counter_count].pass);
    cw_text_print(e->out, "%s%s%s%s\n", s->pass_count ? "" : "unknown", s->whole || !s->pass_count ? "" : " (in parts)",
                  form ? "  " : "", form ? form : "");
}

/* A line for each pass that has it whole. */
static void print_counter(const struct explain *e, uint32_t counter, int width)
{
    uint32_t column = find_column(e, e->chip->counters[counter].name), first;
    cw_text_print(e->out, "  %-*s", width, e->chip->counters[counter].name);
    if (column == CW_NONE) {
        fputs("  not collected\n", e->out);
        return;
    }
    print_column(e, column);
    uint32_t repeats = cw_schema_repeats_of(&e->data->schema, column, &first);
    for (uint32_t i = first; i < first + repeats; i++) {
        cw_text_print(e->out, "  %-*s", width, "");
        print_column(e, e->data->schema.counter_count + i);
    }
}

static enum cw_status print_counters(const struct explain *e)
{
    bool *needed = cw_arena_alloc(e->arena, e->chip->counter_count, sizeof *needed);
    bool *held = cw_arena_alloc(e->arena, e->chip->counter_count, sizeof *held);
    int width = 7;
    bool any = false;
    if (!needed || !held)
        return cw_error_nomem(e->err);
    cw_eval_mark_held(held, e->chip, &e->data->schema);
    const struct cw_needs needs = {.chip = e->chip, .held = held, .add = mark, .context = needed};
    for (uint32_t i = 0; i < e->count; i++) /* none where no formula is known */
        if (cw_metric_needs(&needs, &e->list[i], NULL) == CW_ERR_NOMEM)
            return cw_error_nomem(e->err);
    for (uint32_t i = 0; i < e->chip->counter_count; i++) {
        int length = needed[i] ? (int)cw_text_columns(e->chip->counters[i].name) : 0;
        width = length > width ? length : width;
        any = any || needed[i];
    }
    if (any)
        cw_text_print(e->out, "\n  %-*s %9s %15s %15s %15s %15s  passes\n", width, "counter", "instances", "sum", "avg",
                      "min", "max");
    for (uint32_t i = 0; i < e->chip->counter_count; i++)
        if (needed[i])
            print_counter(e, i, width);
    return CW_OK;
}

/* ---- public ----------------------------------------------------------------------------------------------------- */

static enum cw_status print_metric(const struct explain *e, uint32_t i)
{
    fputs(i ? "\n  " : "  ", e->out);
    print_value(e, i);
    if (e->list[i].type == CW_FORMULA)
        print_formula(e, &e->chip->formulas->items[e->list[i].base]);
    else if (e->list[i].type == CW_FACT)
        print_fact(e, i);
    else if (e->list[i].type == CW_THROUGHPUT)
        return print_throughput(e, &e->list[i], value_of(e, i));
    else
        print_terms_of(e, i);
    return CW_OK;
}

enum cw_status cw_explain(FILE *out, const struct cw_chip *chip, const struct cw_counter_data *data,
                          const struct cw_metric *metric, uint32_t range, const struct cw_eval_options *options,
                          struct cw_arena *arena, struct cw_error *err)
{
    struct explain e = {
        .out = out, .chip = chip, .data = data, .options = options, .range = range, .arena = arena, .err = err};
    const struct cw_range *g = &data->ranges[range];
    enum cw_status status = list_metrics(&e, metric);
    if (status != CW_OK)
        return status;
    cw_text_print(out, "range %" PRIu32 ": %s\n", range, *g->name ? g->name : g->kernel);
    for (uint32_t i = 0; i < e.count && status == CW_OK; i++)
        status = print_metric(&e, i);
    return status == CW_OK ? print_counters(&e) : status;
}
