#define _GNU_SOURCE
#include "eval/ranges/explain.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/shorten.h"
#include "base/text.h"
#include "base/unit.h"
#include "eval/ranges/group_means.h"
#include "eval/result.h"
#include "image/range_view.h"
#include "metricdb/fact.h"

/* The metrics of one explanation, with their values: the metric itself, the formulas that it refers to, and then the
 * chip's own metrics. */
struct explanation {
    FILE *out;
    const struct cw_chip *chip;
    const struct cw_counter_data *data;
    const struct cw_eval_options *options;
    unsigned width;               /* of the terminal; 0: none */
    uint32_t range, number;       /* of the data; of the capture */
    const struct cw_groups *fold; /* or NULL */
    struct cw_metric *list;
    uint32_t count;
    struct cw_result result;
    struct cw_arena *arena;
    struct cw_error *err;
};

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

static const char *explain_number(double value, char text[CW_NUMBER_SIZE])
{
    if (!isfinite(value))
        return cw_number_text(value, text);
    snprintf(text, CW_NUMBER_SIZE, fabs(value) < 1e15 && value == floor(value) ? "%.0f" : "%.8g", value);
    return text;
}

static double explain_value(const struct explanation *e, uint32_t metric)
{
    return e->result.values[(size_t)metric * e->data->range_count + e->range];
}

static enum cw_value_status explain_status(const struct explanation *e, uint32_t metric)
{
    return (enum cw_value_status)e->result.statuses[(size_t)metric * e->data->range_count + e->range];
}

/* ---- terms ------------------------------------------------------------------------------------------------------- */

static double explain_recorded(const struct explanation *e, uint32_t column, enum cw_rollup rollup)
{
    return e->data->rollups[rollup][(size_t)column * e->data->range_count + e->range];
}

static const struct cw_schema_counter *explain_counter(const struct explanation *e, uint32_t column)
{
    return &e->data->schema.counters[cw_schema_column_counter(&e->data->schema, column)];
}

static double operand_value(const struct explanation *e, const struct cw_eval_operand *o)
{
    const struct cw_device *device = &e->data->devices[cw_launch_of(e->data, e->range)->device];
    bool user = o->kind == CW_EVAL_USER_CYCLES || o->kind == CW_EVAL_USER_PEAK;
    bool peak = o->kind == CW_EVAL_PEAK || o->kind == CW_EVAL_USER_PEAK;
    double value = peak ? device->facts[o->column].peak[o->rollup] : explain_recorded(e, o->column, o->rollup);
    return user ? o->duration * value / (o->duration != 0 ? explain_recorded(e, o->time, CW_AVG) : 1) : value;
}

/* (32 * sum(a) - sum(b)), with `numbers` the values in place of the rollups. */
static void print_linear(const struct explanation *e, const struct cw_eval_operand *o, bool numbers)
{
    const struct cw_linear *l = o->linear;
    char text[CW_NUMBER_SIZE];
    if (l->per != 1)
        cw_text_print(e->out, "%s * ", explain_number(l->per, text));
    bool bare = l->count == 1 && l->coefficients[0] == 1;
    fputs(bare ? "" : "(", e->out);
    for (uint32_t i = 0; i < l->count; i++) {
        double by = l->coefficients[i];
        fputs(i ? by < 0 ? " - " : " + " : by < 0 ? "-" : "", e->out);
        if (fabs(by) != 1)
            cw_text_print(e->out, "%s * ", explain_number(fabs(by), text));
        if (numbers)
            fputs(explain_number(explain_recorded(e, l->columns[i], o->rollup), text), e->out);
        else
            cw_text_print(e->out, "%s(%s)", cw_rollup_text(o->rollup), explain_counter(e, l->columns[i])->name);
    }
    fputs(bare ? "" : ")", e->out);
}

static void print_operand(const struct explanation *e, const struct cw_eval_operand *o, const char *before,
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
        fputs(explain_number(operand_value(e, o), text), e->out);
        return;
    }
    if (user)
        cw_text_print(e->out, "(%s ns of ", explain_number(o->duration, text));
    cw_text_print(e->out, "%s(%s%s)%s", cw_rollup_text(o->rollup), peak, explain_counter(e, o->column)->name,
                  user ? ")" : "");
}

static void explain_term(const struct explanation *e, const struct cw_eval_term *t, bool numbers)
{
    char text[CW_NUMBER_SIZE];
    if (t->x.kind == CW_EVAL_NONE || t->scale != 1)
        fputs(t->scale == 1e9 ? "1e9" : explain_number(t->scale, text), e->out);
    print_operand(e, &t->x, t->scale != 1 ? " * " : "", numbers);
    print_operand(e, &t->factor, " * ", numbers);
    for (int d = 0; d < CW_TERM_DIVISORS; d++)
        print_operand(e, &t->divisors[d], " / ", numbers);
}

/* ---- throughputs ------------------------------------------------------------------------------------------------- */

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

static enum cw_status prepare(struct explanation *e, struct cw_metric *list, uint32_t count)
{
    e->list = list;
    e->count = count;
    e->result = (struct cw_result){.chip = e->chip, .data = e->data, .metrics = list, .metric_count = count};
    return cw_result_make(&e->result, e->options, e->arena, e->err);
}

/* Lists the constituents of a throughput, as metrics of counters; none if they are not known. */
static enum cw_status list_constituents(const struct explanation *e, const struct cw_metric *m, struct cw_metric **list,
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

static enum cw_status explain_constituents(struct explanation *e, const struct cw_metric *throughput, uint32_t **order)
{
    struct cw_metric *list;
    uint32_t count;
    CW_TRY(list_constituents(e, throughput, &list, &count));
    struct constituent *sorted = cw_arena_alloc(e->arena, count, sizeof *sorted);
    *order = cw_arena_alloc(e->arena, count, sizeof **order);
    if (!sorted || !*order)
        return cw_error_nomem(e->err);
    CW_TRY(prepare(e, list, count));
    for (uint32_t i = 0; i < count; i++)
        sorted[i] = (struct constituent){i, explain_value(e, i)};
    qsort(sorted, count, sizeof *sorted, by_value);
    for (uint32_t i = 0; i < count; i++)
        (*order)[i] = sorted[i].index;
    return CW_OK;
}

/* ---- formulas ---------------------------------------------------------------------------------------------------- */

static bool same_metric(const struct cw_metric *a, const struct cw_metric *b)
{
    return a->type == b->type && a->base == b->base && a->rollup == b->rollup && a->sub == b->sub;
}

/* Prints the value of a listed metric; false for other names. */
static bool print_listed(const struct explanation *e, const char *name)
{
    struct cw_metric m;
    char text[CW_NUMBER_SIZE];
    bool known = cw_metric_parse(&m, e->chip, name, NULL) == CW_OK;
    for (uint32_t i = 0; known && i < e->count; i++)
        if (same_metric(&e->list[i], &m)) {
            fputs(explain_number(explain_value(e, i), text), e->out);
            return true;
        }
    return false;
}

/* Prints the value of a name in the formula `of`. Names of a rule's values stand in a formula without their scope, as
 * "full" of "value.full". */
static void print_named(const struct explanation *e, const char *name, const char *of)
{
    const char *dot = strrchr(of, '.');
    const char *own = dot ? cw_arena_printf(e->arena, "%.*s%s", (int)(dot + 1 - of), of, name) : NULL;
    const char *shared = cw_arena_printf(e->arena, "value.%s", name);
    if (!print_listed(e, name) && !(own && print_listed(e, own)) && !(shared && print_listed(e, shared)))
        cw_text_put(e->out, CW_TEXT_LINE, name);
}

/* Prints a formula with values in place of names. */
static void explain_numbers(const struct explanation *e, const struct cw_formula *f)
{
    const char *text = f->text;
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
                print_named(e, name, f->name);
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

static enum cw_status read_range(struct explanation *e)
{
    struct cw_range_view *view = cw_arena_alloc(e->arena, 1, sizeof *view);
    e->number = e->range;
    if (!e->data->directory)
        return CW_OK;
    if (!view)
        return cw_error_nomem(e->err);
    CW_TRY(cw_range_view_init(view, e->data, e->arena, e->err));
    if (!cw_arena_at_end(e->arena, finish, view))
        return cw_error_nomem(e->err);
    CW_TRY(cw_range_view_load(view, e->range, NULL, 1));
    e->data = &view->data;
    e->range = 0;
    return CW_OK;
}

static enum cw_status explain_list(struct explanation *e, const struct cw_metric *metric)
{
    CW_TRY(read_range(e));
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

/* ---- counters ---------------------------------------------------------------------------------------------------- */

static void mark(void *context, uint32_t counter, unsigned rollups)
{
    (void)rollups;
    ((bool *)context)[counter] = true;
}

static uint32_t explain_column(const struct explanation *e, const char *name)
{
    for (uint32_t i = 0; i < e->data->schema.counter_count; i++)
        if (strcmp(e->data->schema.counters[i].name, name) == 0)
            return i;
    return CW_NONE;
}

/* Whether the file is of another profiler, which gives metrics in place of counters (eval/eval_plan.h). */
static bool has_given(const struct cw_schema *schema)
{
    for (uint32_t i = 0; i < schema->counter_count; i++)
        if (strchr(schema->counters[i].name, '.'))
            return true;
    return false;
}

static enum cw_status explain_needed(const struct explanation *e, bool **needed)
{
    bool *held = cw_arena_alloc(e->arena, e->chip->counter_count, sizeof *held);
    *needed = cw_arena_alloc(e->arena, e->chip->counter_count, sizeof **needed);
    if (!*needed || !held)
        return cw_error_nomem(e->err);
    cw_eval_mark_held(held, e->chip, &e->data->schema);
    const struct cw_needs needs = {.chip = e->chip, .held = held, .add = mark, .context = *needed};
    for (uint32_t i = 0; i < e->count; i++) /* none without a known formula */
        if (cw_metric_needs(&needs, &e->list[i], NULL) == CW_ERR_NOMEM)
            return cw_error_nomem(e->err);
    const bool given = has_given(&e->data->schema);
    for (uint32_t i = 0; given && i < e->chip->counter_count; i++)
        (*needed)[i] = (*needed)[i] && explain_column(e, e->chip->counters[i].name) != CW_NONE;
    return CW_OK;
}

static const char *explain_form(const struct explanation *e, uint32_t column)
{
    static const char *const forms[CW_FORM__ALL] = {[CW_FORM_NOT_COLLECTED] = "not collected",
                                                    [CW_FORM_UNAVAILABLE] = "unavailable",
                                                    [CW_FORM_OVERFLOW] = "overflow",
                                                    [CW_FORM_INCOMPLETE] = "incomplete",
                                                    [CW_FORM_MULTIPLEXED] = "multiplexed"};
    return forms[e->data->forms[(size_t)column * e->data->range_count + e->range]];
}

static uint32_t explain_instances(const struct explanation *e, uint32_t column)
{
    uint32_t counter = cw_schema_column_counter(&e->data->schema, column);
    return e->data->devices[cw_launch_of(e->data, e->range)->device].facts[counter].instances;
}

static const char *explain_lack(const struct explanation *e, uint32_t metric, struct cw_error *why)
{
    const struct cw_eval_metric *m = &e->result.plan.metrics[metric];
    const struct cw_needs needs = {.chip = e->chip};
    if (m->status != CW_VALUE_NOT_COLLECTED && m->term_count)
        return NULL;
    return cw_metric_needs(&needs, &e->list[metric], why) == CW_OK ? "the capture lacks a counter that it needs"
                                                                   : why->message;
}

static const char *explain_fact(const struct explanation *e, uint32_t metric)
{
    static const char *const sources[] = {[CW_FACT_OF_RANGE] = "recorded with the launch",
                                          [CW_FACT_OF_LAUNCH] = "recorded with the launch",
                                          [CW_FACT_OF_DEVICE] = "recorded of the device"};
    return explain_status(e, metric) == CW_VALUE_OK ? sources[cw_fact(e->list[metric].base)->source]
                                                    : "the capture lacks it";
}

/* ---- multiplexed ranges ------------------------------------------------------------------------------------------ */

static const struct cw_group *explain_group(const struct explanation *e)
{
    return &e->fold->items[e->range];
}

static uint32_t explain_range(const struct explanation *e)
{
    return e->fold ? explain_group(e)->ranges[0] : e->number;
}

static uint32_t explain_occurrences(const struct explanation *e, uint32_t column)
{
    return cw_group_occurrences(explain_group(e), column);
}

static bool explain_mixes(const struct explanation *e, uint32_t metric)
{
    const struct cw_eval_metric *m = &e->result.plan.metrics[metric];
    bool mixes = m->status == CW_VALUE_MIXED_PASSES;
    for (uint32_t i = 0; m->formula && i < m->formula->metric_count; i++)
        mixes = mixes || e->result.plan.metrics[m->operand + i].status == CW_VALUE_MIXED_PASSES;
    return mixes;
}

/* ---- text: metrics ----------------------------------------------------------------------------------------------- */

static void print_value(const struct explanation *e, uint32_t metric)
{
    char text[CW_NUMBER_SIZE], shown[CW_UNIT_SIZE];
    const char *unit = cw_unit_text(e->result.units[metric], shown);
    const bool named = *unit;
    cw_text_print(e->out, "%s = %s%s%s", e->result.names[metric], explain_number(explain_value(e, metric), text),
                  named ? " " : "", named ? unit : "");
    if (explain_status(e, metric) != CW_VALUE_OK)
        cw_text_print(e->out, "  (%s%s)", cw_value_status_text(explain_status(e, metric)),
                      (e->fold || explain_status(e, metric) == CW_VALUE_IMPLAUSIBLE) && explain_mixes(e, metric)
                          ? ", mixed passes"
                          : "");
    fputc('\n', e->out);
}

static void print_fact(const struct explanation *e, uint32_t metric)
{
    cw_text_print(e->out, "    %s\n    %s\n", cw_fact(e->list[metric].base)->description, explain_fact(e, metric));
}

static void print_line(const struct explanation *e, const struct cw_eval_term *t, bool numbers)
{
    fputs("    = ", e->out);
    explain_term(e, t, numbers);
    fputc('\n', e->out);
}

static void print_terms_of(const struct explanation *e, uint32_t metric)
{
    const struct cw_eval_term *t = &e->result.plan.terms[e->result.plan.metrics[metric].term];
    struct cw_error why = CW_ERROR_INIT;
    const char *lack = explain_lack(e, metric, &why);
    if (lack) {
        cw_text_print(e->out, "    %s\n", lack);
        return;
    }
    print_line(e, t, false);
    if (t->x.kind != CW_EVAL_NONE)
        print_line(e, t, true);
}

static enum cw_status print_throughput(const struct explanation *whole, const struct cw_metric *m, double largest)
{
    struct explanation e = *whole; /* the same range, with the constituents for metrics */
    uint32_t *order;
    CW_TRY(explain_constituents(&e, m, &order));
    if (!e.count) {
        fputs("    its constituents are not known\n", e.out);
        return CW_OK;
    }
    cw_text_print(e.out, "    = the largest of %" PRIu32 ", marked *\n", e.count);
    for (uint32_t i = 0; i < e.count; i++) {
        uint32_t at = order[i];
        char text[CW_NUMBER_SIZE];
        cw_text_print(e.out, "    %c %12s %%  %s", i == 0 && explain_value(&e, at) == largest ? '*' : ' ',
                      explain_number(explain_value(&e, at), text), e.result.names[at]);
        if (explain_status(&e, at) != CW_VALUE_OK)
            cw_text_print(e.out, "  (%s)", cw_value_status_text(explain_status(&e, at)));
        fputc('\n', e.out);
    }
    cw_text_print(e.out, "  %s\n", e.result.names[order[0]]);
    print_terms_of(&e, order[0]);
    return CW_OK;
}

/* ---- text: formulas ---------------------------------------------------------------------------------------------- */

static void print_formula(const struct explanation *e, const struct cw_formula *f)
{
    if (*f->description)
        cw_text_print(e->out, "    %s\n", f->description);
    cw_text_print(e->out, "    = %s\n    = ", f->text);
    explain_numbers(e, f);
    fputc('\n', e->out);
}

/* ---- text: counters ---------------------------------------------------------------------------------------------- */

/* Widths of the columns: a counter's name, its instances, and a number for each rollup. */
struct widths {
    int name, numbers[1 + CW_ROLLUP_COUNT];
};

static const char *number_text(const struct explanation *e, uint32_t column, int i, char text[CW_NUMBER_SIZE])
{
    const uint32_t instances = explain_instances(e, column);
    if (i)
        return explain_number(explain_recorded(e, column, (enum cw_rollup)(i - 1)), text);
    return instances ? explain_number(instances, text) : "unknown";
}

static void widen(struct widths *w, const struct explanation *e, uint32_t column)
{
    char text[CW_NUMBER_SIZE];
    for (int i = 0; i <= CW_ROLLUP_COUNT; i++) {
        const int length = (int)strlen(number_text(e, column, i, text));
        w->numbers[i] = length > w->numbers[i] ? length : w->numbers[i];
    }
}

static void print_column(const struct explanation *e, uint32_t column, const struct widths *w)
{
    const struct cw_schema *schema = &e->data->schema;
    const struct cw_schema_counter *s = explain_counter(e, column);
    const char *form = explain_form(e, column);
    char text[CW_NUMBER_SIZE];
    for (int i = 0; i <= CW_ROLLUP_COUNT; i++)
        cw_text_print(e->out, "  %*s", w->numbers[i], number_text(e, column, i, text));
    fputs("  ", e->out);
    bool repeat = column >= schema->counter_count;
    for (uint32_t i = 0; i < s->pass_count && !repeat; i++)
        cw_text_print(e->out, "%s%" PRIu32, i ? "," : "", s->passes[i]);
    if (repeat)
        cw_text_print(e->out, "%" PRIu32, schema->repeats[column - schema->counter_count].pass);
    cw_text_print(e->out, "%s%s%s%s", s->pass_count ? "" : "unknown", s->whole || !s->pass_count ? "" : " (in parts)",
                  form ? "  " : "", form ? form : "");
    if (e->fold)
        cw_text_print(e->out, "%s in %" PRIu32 " of %" PRIu32, form ? "" : " ", explain_occurrences(e, column),
                      explain_group(e)->count);
    fputc('\n', e->out);
}

/* Prints a line for each pass that has the counter whole. */
static void print_counter(const struct explanation *e, uint32_t counter, const struct widths *w)
{
    uint32_t column = explain_column(e, e->chip->counters[counter].name), first;
    const char *name = e->chip->counters[counter].name;
    cw_text_print(e->out, "  %-*s", w->name, name);
    if (cw_text_columns(name) > (size_t)w->name) /* a long name has a line of its own */
        cw_text_print(e->out, "\n  %*s", w->name, "");
    if (column == CW_NONE) {
        fputs("  not collected\n", e->out);
        return;
    }
    print_column(e, column, w);
    uint32_t repeats = cw_schema_repeats_of(&e->data->schema, column, &first);
    for (uint32_t i = first; i < first + repeats; i++) {
        cw_text_print(e->out, "  %-*s", w->name, "");
        print_column(e, e->data->schema.counter_count + i, w);
    }
}

/* The columns that the terminal leaves to names. */
static int fit_name(const struct explanation *e, const struct widths *w)
{
    enum { LEAST = 24, PASSES = 20 };
    int room = (int)e->width - 2 - PASSES;
    for (int i = 0; i <= CW_ROLLUP_COUNT; i++)
        room -= 2 + w->numbers[i];
    return !e->width || room >= w->name ? w->name : room > LEAST ? room : LEAST;
}

static enum cw_status print_counters(const struct explanation *e)
{
    static const char *const names[1 + CW_ROLLUP_COUNT] = {"instances", "sum", "avg", "min", "max"};
    struct widths w = {.name = 7};
    bool any = false, *needed;
    CW_TRY(explain_needed(e, &needed));
    for (uint32_t i = 0; i < e->chip->counter_count; i++) {
        const int length = needed[i] ? (int)cw_text_columns(e->chip->counters[i].name) : 0;
        const uint32_t column = needed[i] ? explain_column(e, e->chip->counters[i].name) : CW_NONE;
        uint32_t first, repeats = column == CW_NONE ? 0 : cw_schema_repeats_of(&e->data->schema, column, &first);
        w.name = length > w.name ? length : w.name;
        any = any || needed[i];
        if (column != CW_NONE)
            widen(&w, e, column);
        for (uint32_t k = 0; k < repeats; k++)
            widen(&w, e, e->data->schema.counter_count + first + k);
    }
    for (int i = 0; any && i <= CW_ROLLUP_COUNT; i++) {
        const int least = (int)strlen(names[i]);
        w.numbers[i] = w.numbers[i] > least ? w.numbers[i] : least;
    }
    w.name = fit_name(e, &w);
    if (any)
        cw_text_print(e->out, "\n  %-*s", w.name, "counter");
    for (int i = 0; any && i <= CW_ROLLUP_COUNT; i++)
        cw_text_print(e->out, "  %*s", w.numbers[i], names[i]);
    fputs(any ? "  passes\n" : "", e->out);
    for (uint32_t i = 0; i < e->chip->counter_count; i++)
        if (needed[i])
            print_counter(e, i, &w);
    return CW_OK;
}

/* ---- text: all --------------------------------------------------------------------------------------------------- */

static enum cw_status print_metric(const struct explanation *e, uint32_t i)
{
    fputs(i ? "\n  " : "  ", e->out);
    print_value(e, i);
    if (e->list[i].type == CW_FORMULA)
        print_formula(e, &e->chip->formulas->items[e->list[i].base]);
    else if (e->list[i].type == CW_FACT)
        print_fact(e, i);
    else if (e->list[i].type == CW_THROUGHPUT)
        return print_throughput(e, &e->list[i], explain_value(e, i));
    else
        print_terms_of(e, i);
    return CW_OK;
}

static void print_heading(const struct explanation *e)
{
    const struct cw_range *g = cw_launch_of(e->data, e->range);
    const char *name = *g->name ? g->name : g->kernel;
    char shown[CW_SHORT_SIZE]; /* some C++ names would fill the window */
    cw_text_print(e->out, "range %" PRIu32 ": %s\n", explain_range(e),
                  e->width ? cw_shorten(name, 2 * (size_t)e->width, shown) : name);
    if (e->fold)
        cw_text_print(e->out, "  with %" PRIu32 " more like it: each was counted in one pass\n",
                      explain_group(e)->count - 1);
}

enum cw_status cw_explain(FILE *out, const struct cw_chip *chip, const struct cw_counter_data *data,
                          const struct cw_metric *metric, uint32_t range, const struct cw_groups *fold,
                          const struct cw_eval_options *options, struct cw_arena *arena, struct cw_error *err)
{
    struct cw_text_wrap wrap;
    FILE *to = cw_text_wrap_begin(&wrap, out);
    struct explanation e = {.out = to,
                            .chip = chip,
                            .data = data,
                            .options = options,
                            .width = wrap.width,
                            .range = range,
                            .fold = fold,
                            .arena = arena,
                            .err = err};
    enum cw_status status = explain_list(&e, metric);
    if (status == CW_OK)
        print_heading(&e);
    for (uint32_t i = 0; i < e.count && status == CW_OK; i++)
        status = print_metric(&e, i);
    if (status == CW_OK)
        status = print_counters(&e);
    cw_text_wrap_end(&wrap);
    return status;
}

enum cw_status cw_explain_status(enum cw_value_status *value, const struct cw_chip *chip,
                                 const struct cw_counter_data *data, const struct cw_metric *metric, uint32_t range,
                                 const struct cw_eval_options *options, struct cw_arena *arena, struct cw_error *err)
{
    struct explanation e = {.chip = chip, .data = data, .options = options, .range = range, .arena = arena, .err = err};
    struct cw_metric *list = cw_arena_alloc(arena, 1, sizeof *list);
    CW_TRY(list ? read_range(&e) : cw_error_nomem(err));
    *list = *metric;
    CW_TRY(prepare(&e, list, 1));
    *value = explain_status(&e, 0);
    return CW_OK;
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

/* A number, or null for infinity and NaN. */
static json_t *real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

/* A term or a formula as a string. */
static json_t *printed(const struct explanation *of, const struct cw_eval_term *term, const struct cw_formula *formula,
                       bool numbers)
{
    struct explanation e = *of;
    char *text = NULL;
    size_t size = 0;
    if (!(e.out = open_memstream(&text, &size)))
        return NULL;
    if (term)
        explain_term(&e, term, numbers);
    else
        explain_numbers(&e, formula);
    json_t *string = fclose(e.out) == 0 ? json_string(text) : NULL;
    free(text);
    return string;
}

static json_t *value_of(const struct explanation *e, uint32_t metric)
{
    return json_pack("{s:s, s:s, s:o, s:s}", "name", e->result.names[metric], "unit", e->result.units[metric], "value",
                     real(explain_value(e, metric)), "status", cw_value_status_text(explain_status(e, metric)));
}

static void set_text(json_t **object, const char *key, const char *text)
{
    if (text && *text)
        cw_json_set(object, key, json_string(text));
}

/* Sets the formula by counters, and with numbers. */
static void set_term(json_t **object, const struct explanation *e, uint32_t metric)
{
    struct cw_error why = CW_ERROR_INIT;
    const char *lack = explain_lack(e, metric, &why);
    const struct cw_eval_term *t = &e->result.plan.terms[e->result.plan.metrics[metric].term];
    set_text(object, "lack", lack);
    if (lack)
        return;
    cw_json_set(object, "formula", printed(e, t, NULL, false));
    cw_json_set(object, "numbers", printed(e, t, NULL, true));
}

static void set_formula(json_t **object, const struct explanation *e, const struct cw_formula *f)
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
    cw_json_set(object, "numbers", printed(e, NULL, f, true));
    cw_json_set(object, "needs", needs);
}

/* Sets the constituents, the largest first, each with its own formula. */
static enum cw_status set_throughput(json_t **object, const struct explanation *whole, const struct cw_metric *m)
{
    struct explanation e = *whole;
    uint32_t *order;
    CW_TRY(explain_constituents(&e, m, &order));
    json_t *list = json_array();
    for (uint32_t i = 0; i < e.count; i++) {
        json_t *one = value_of(&e, order[i]);
        set_term(&one, &e, order[i]);
        cw_json_append(&list, one);
    }
    cw_json_set(object, "largest_of", list);
    return CW_OK;
}

static enum cw_status append_metric(json_t **list, const struct explanation *e, uint32_t i)
{
    json_t *object = value_of(e, i);
    if (e->fold)
        cw_json_set(&object, "mixed", json_boolean(explain_mixes(e, i)));
    const struct cw_metric *m = &e->list[i];
    enum cw_status status = CW_OK;
    set_text(&object, "type", cw_metric_type_text(m->type));
    if (m->type == CW_FORMULA) {
        set_formula(&object, e, &e->chip->formulas->items[m->base]);
    } else if (m->type == CW_FACT) {
        set_text(&object, "description", cw_fact(m->base)->description);
        set_text(&object, "source", explain_fact(e, i));
    } else if (m->type == CW_THROUGHPUT) {
        status = set_throughput(&object, e, m);
    } else {
        set_term(&object, e, i);
    }
    cw_json_append(list, object);
    return status;
}

/* A recording of one pass, or of several passes with a part each. */
static json_t *recording(const struct explanation *e, uint32_t column)
{
    const struct cw_schema *schema = &e->data->schema;
    const struct cw_schema_counter *s = explain_counter(e, column);
    const bool repeat = column >= schema->counter_count;
    const char *form = explain_form(e, column);
    json_t *passes = json_array();
    for (uint32_t i = 0; i < s->pass_count && !repeat; i++)
        cw_json_append(&passes, json_integer(s->passes[i]));
    if (repeat)
        cw_json_append(&passes, json_integer(schema->repeats[column - schema->counter_count].pass));
    json_t *object =
        json_pack("{s:o, s:b, s:I, s:s, s:o, s:o, s:o, s:o}", "passes", passes, "whole", repeat || s->whole,
                  "instances", (json_int_t)explain_instances(e, column), "status", form ? form : "ok", "sum",
                  real(explain_recorded(e, column, CW_SUM)), "avg", real(explain_recorded(e, column, CW_AVG)), "min",
                  real(explain_recorded(e, column, CW_MIN)), "max", real(explain_recorded(e, column, CW_MAX)));
    if (e->fold)
        cw_json_set(&object, "occurrences", json_integer(explain_occurrences(e, column)));
    return object;
}

static void append_counter(json_t **list, const struct explanation *e, const char *name)
{
    uint32_t column = explain_column(e, name), first;
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
    struct explanation e = {
        .chip = chip, .data = data, .options = options, .range = range, .fold = fold, .arena = arena, .err = err};
    bool *needed;
    *tree = NULL;
    CW_TRY(explain_list(&e, metric));
    CW_TRY(explain_needed(&e, &needed));
    enum cw_status status = CW_OK;
    json_t *metrics = json_array(), *counters = json_array();
    for (uint32_t i = 0; i < e.count && status == CW_OK; i++)
        status = append_metric(&metrics, &e, i);
    for (uint32_t i = 0; i < chip->counter_count; i++)
        if (needed[i])
            append_counter(&counters, &e, chip->counters[i].name);
    const struct cw_range *g = cw_launch_of(data, range);
    *tree = json_pack("{s:I, s:s, s:s, s:o, s:o}", "range", (json_int_t)explain_range(&e), "name", g->name, "kernel",
                      g->kernel, "metrics", metrics, "counters", counters);
    if (fold)
        cw_json_set(tree, "launches", json_integer(explain_group(&e)->count));
    if (status == CW_OK && !*tree)
        status = cw_error_nomem(err);
    if (status != CW_OK) {
        json_decref(*tree);
        *tree = NULL;
    }
    return status;
}
