#include "eval/ranges/explain_parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "image/range_view.h"
#include "metricdb/fact.h"

/* ---- numbers ---------------------------------------------------------------------------------------------------- */

const char *cw_explain_number(double value, char text[CW_NUMBER_SIZE])
{
    if (!isfinite(value))
        return cw_number_text(value, text);
    snprintf(text, CW_NUMBER_SIZE, fabs(value) < 1e15 && value == floor(value) ? "%.0f" : "%.8g", value);
    return text;
}

double cw_explain_value(const struct cw_explanation *e, uint32_t metric)
{
    return e->result.values[(size_t)metric * e->data->range_count + e->range];
}

enum cw_value_status cw_explain_status(const struct cw_explanation *e, uint32_t metric)
{
    return (enum cw_value_status)e->result.statuses[(size_t)metric * e->data->range_count + e->range];
}

/* ---- terms ------------------------------------------------------------------------------------------------------ */

double cw_explain_recorded(const struct cw_explanation *e, uint32_t column, enum cw_rollup rollup)
{
    return e->data->rollups[rollup][(size_t)column * e->data->range_count + e->range];
}

const struct cw_schema_counter *cw_explain_counter(const struct cw_explanation *e, uint32_t column)
{
    return &e->data->schema.counters[cw_schema_column_counter(&e->data->schema, column)];
}

static double operand_value(const struct cw_explanation *e, const struct cw_eval_operand *o)
{
    const struct cw_device *device = &e->data->devices[cw_launch_of(e->data, e->range)->device];
    bool user = o->kind == CW_EVAL_USER_CYCLES || o->kind == CW_EVAL_USER_PEAK;
    bool peak = o->kind == CW_EVAL_PEAK || o->kind == CW_EVAL_USER_PEAK;
    double value = peak ? device->facts[o->column].peak[o->rollup] : cw_explain_recorded(e, o->column, o->rollup);
    return user ? o->duration * value / (o->duration != 0 ? cw_explain_recorded(e, o->time, CW_AVG) : 1) : value;
}

/* (32 * sum(a) - sum(b)), with the values in place of the rollups where `numbers`. */
static void print_linear(const struct cw_explanation *e, const struct cw_eval_operand *o, bool numbers)
{
    const struct cw_linear *l = o->linear;
    char text[CW_NUMBER_SIZE];
    if (l->per != 1)
        cw_text_print(e->out, "%s * ", cw_explain_number(l->per, text));
    bool bare = l->count == 1 && l->coefficients[0] == 1;
    fputs(bare ? "" : "(", e->out);
    for (uint32_t i = 0; i < l->count; i++) {
        double by = l->coefficients[i];
        fputs(i ? by < 0 ? " - " : " + " : by < 0 ? "-" : "", e->out);
        if (fabs(by) != 1)
            cw_text_print(e->out, "%s * ", cw_explain_number(fabs(by), text));
        if (numbers)
            fputs(cw_explain_number(cw_explain_recorded(e, l->columns[i], o->rollup), text), e->out);
        else
            cw_text_print(e->out, "%s(%s)", cw_rollup_text(o->rollup), cw_explain_counter(e, l->columns[i])->name);
    }
    fputs(bare ? "" : ")", e->out);
}

static void print_operand(const struct cw_explanation *e, const struct cw_eval_operand *o, const char *before,
                          bool numbers)
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
        fputs(cw_explain_number(operand_value(e, o), text), e->out);
        return;
    }
    if (user)
        cw_text_print(e->out, "(%s ns of ", cw_explain_number(o->duration, text));
    cw_text_print(e->out, "%s(%s%s)%s", cw_rollup_text(o->rollup), peak, cw_explain_counter(e, o->column)->name,
                  user ? ")" : "");
}

void cw_explain_term(const struct cw_explanation *e, const struct cw_eval_term *t, bool numbers)
{
    char text[CW_NUMBER_SIZE];
    if (t->x.kind == CW_EVAL_NONE || t->scale != 1)
        fputs(t->scale == 1e9 ? "1e9" : cw_explain_number(t->scale, text), e->out);
    print_operand(e, &t->x, t->scale != 1 ? " * " : "", numbers);
    print_operand(e, &t->factor, " * ", numbers);
    for (int d = 0; d < CW_TERM_DIVISORS; d++)
        print_operand(e, &t->divisors[d], " / ", numbers);
}

/* ---- throughputs ------------------------------------------------------------------------------------------------ */

struct constituent {
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

static enum cw_status prepare(struct cw_explanation *e, struct cw_metric *list, uint32_t count)
{
    e->list = list;
    e->count = count;
    e->result = (struct cw_result){.chip = e->chip, .data = e->data, .metrics = list, .metric_count = count};
    return cw_result_make(&e->result, e->options, e->arena, e->err);
}

/* The constituents of a throughput, as metrics of counters; a count of 0 where they are not known. */
static enum cw_status list_constituents(const struct cw_explanation *e, const struct cw_metric *m,
                                        struct cw_metric **list, uint32_t *count)
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

enum cw_status cw_explain_constituents(struct cw_explanation *e, const struct cw_metric *throughput, uint32_t **order)
{
    struct cw_metric *list;
    uint32_t count;
    enum cw_status status = list_constituents(e, throughput, &list, &count);
    struct constituent *sorted = cw_arena_alloc(e->arena, count, sizeof *sorted);
    *order = cw_arena_alloc(e->arena, count, sizeof **order);
    if (status == CW_OK && (!sorted || !*order))
        status = cw_error_nomem(e->err);
    if (status == CW_OK)
        status = prepare(e, list, count);
    for (uint32_t i = 0; status == CW_OK && i < count; i++)
        sorted[i] = (struct constituent){i, cw_explain_value(e, i)};
    if (status == CW_OK)
        qsort(sorted, count, sizeof *sorted, by_value);
    for (uint32_t i = 0; status == CW_OK && i < count; i++)
        (*order)[i] = sorted[i].index;
    return status;
}

/* ---- formulas --------------------------------------------------------------------------------------------------- */

static bool same_metric(const struct cw_metric *a, const struct cw_metric *b)
{
    return a->type == b->type && a->base == b->base && a->rollup == b->rollup && a->sub == b->sub;
}

static void print_named(const struct cw_explanation *e, const char *name)
{
    struct cw_metric m;
    char text[CW_NUMBER_SIZE];
    bool known = cw_metric_parse(&m, e->chip, name, NULL) == CW_OK;
    for (uint32_t i = 0; known && i < e->count; i++)
        if (same_metric(&e->list[i], &m)) {
            fputs(cw_explain_number(cw_explain_value(e, i), text), e->out);
            return;
        }
    cw_text_put(e->out, CW_TEXT_LINE, name);
}

/* The text with values in place of names. */
void cw_explain_numbers(const struct cw_explanation *e, const char *text)
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

static void finish(void *view)
{
    cw_range_view_free(view);
}

static enum cw_status read_range(struct cw_explanation *e)
{
    struct cw_range_view *view = cw_arena_alloc(e->arena, 1, sizeof *view);
    e->number = e->range;
    if (!e->data->directory)
        return CW_OK;
    enum cw_status status = view ? cw_range_view_init(view, e->data, e->arena, e->err) : cw_error_nomem(e->err);
    if (status == CW_OK && !cw_arena_at_end(e->arena, finish, view))
        status = cw_error_nomem(e->err);
    if (status == CW_OK)
        status = cw_range_view_load(view, e->range, NULL, 1);
    if (status == CW_OK) {
        e->data = &view->data;
        e->range = 0;
    }
    return status;
}

enum cw_status cw_explain_list(struct cw_explanation *e, const struct cw_metric *metric)
{
    const enum cw_status status = read_range(e);
    if (status != CW_OK)
        return status;
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

uint32_t cw_explain_column(const struct cw_explanation *e, const char *name)
{
    for (uint32_t i = 0; i < e->data->schema.counter_count; i++)
        if (strcmp(e->data->schema.counters[i].name, name) == 0)
            return i;
    return CW_NONE;
}

enum cw_status cw_explain_needed(const struct cw_explanation *e, bool **needed)
{
    bool *held = cw_arena_alloc(e->arena, e->chip->counter_count, sizeof *held);
    *needed = cw_arena_alloc(e->arena, e->chip->counter_count, sizeof **needed);
    if (!*needed || !held)
        return cw_error_nomem(e->err);
    cw_eval_mark_held(held, e->chip, &e->data->schema);
    const struct cw_needs needs = {.chip = e->chip, .held = held, .add = mark, .context = *needed};
    for (uint32_t i = 0; i < e->count; i++) /* none where no formula is known */
        if (cw_metric_needs(&needs, &e->list[i], NULL) == CW_ERR_NOMEM)
            return cw_error_nomem(e->err);
    return CW_OK;
}

const char *cw_explain_form(const struct cw_explanation *e, uint32_t column)
{
    static const char *const forms[CW_FORM__ALL] = {[CW_FORM_NOT_COLLECTED] = "not collected",
                                                    [CW_FORM_UNAVAILABLE] = "unavailable",
                                                    [CW_FORM_OVERFLOW] = "overflow",
                                                    [CW_FORM_INCOMPLETE] = "incomplete",
                                                    [CW_FORM_MULTIPLEXED] = "multiplexed"};
    return forms[e->data->forms[(size_t)column * e->data->range_count + e->range]];
}

uint32_t cw_explain_instances(const struct cw_explanation *e, uint32_t column)
{
    uint32_t counter = cw_schema_column_counter(&e->data->schema, column);
    return e->data->devices[cw_launch_of(e->data, e->range)->device].facts[counter].instances;
}

const char *cw_explain_lack(const struct cw_explanation *e, uint32_t metric, struct cw_error *why)
{
    const struct cw_eval_metric *m = &e->result.plan.metrics[metric];
    const struct cw_needs needs = {.chip = e->chip};
    if (m->status != CW_VALUE_NOT_COLLECTED && m->term_count)
        return NULL;
    return cw_metric_needs(&needs, &e->list[metric], why) == CW_OK ? "the capture lacks a counter that it needs"
                                                                   : why->message;
}

const char *cw_explain_fact(const struct cw_explanation *e, uint32_t metric)
{
    static const char *const sources[] = {[CW_FACT_OF_RANGE] = "recorded with the launch",
                                          [CW_FACT_OF_LAUNCH] = "recorded with the launch",
                                          [CW_FACT_OF_DEVICE] = "recorded of the device"};
    return cw_explain_status(e, metric) == CW_VALUE_OK ? sources[cw_fact(e->list[metric].base)->source]
                                                       : "the capture does not say it";
}

/* ---- what was multiplexed --------------------------------------------------------------------------------------- */

const struct cw_group *cw_explain_group(const struct cw_explanation *e)
{
    return &e->fold->items[e->range];
}

uint32_t cw_explain_range(const struct cw_explanation *e)
{
    return e->fold ? cw_explain_group(e)->ranges[0] : e->number;
}

uint32_t cw_explain_occurrences(const struct cw_explanation *e, uint32_t column)
{
    return cw_spread_count(e->fold, e->range, column);
}

bool cw_explain_mixes(const struct cw_explanation *e, uint32_t metric)
{
    const struct cw_eval_metric *m = &e->result.plan.metrics[metric];
    bool mixes = m->status == CW_VALUE_MIXED_PASSES;
    for (uint32_t i = 0; m->formula && i < m->formula->metric_count; i++)
        mixes = mixes || e->result.plan.metrics[m->operand + i].status == CW_VALUE_MIXED_PASSES;
    return mixes;
}
