#define _GNU_SOURCE
#include "eval/ranges/explain.h"

#include <inttypes.h>
#include <string.h>

#include "base/shorten.h"
#include "base/text.h"
#include "eval/ranges/explain_parts.h"
#include "metricdb/fact.h"

static void print_value(const struct cw_explanation *e, uint32_t metric)
{
    const char *unit = e->result.units[metric];
    char text[CW_NUMBER_SIZE];
    bool named = strcmp(unit, "1") != 0;
    cw_text_print(e->out, "%s = %s%s%s", e->result.names[metric], cw_explain_number(cw_explain_value(e, metric), text),
                  named ? " " : "", named ? unit : "");
    if (cw_explain_status(e, metric) != CW_VALUE_OK)
        cw_text_print(e->out, "  (%s%s)", cw_value_status_text(cw_explain_status(e, metric)),
                      (e->fold || cw_explain_status(e, metric) == CW_VALUE_IMPLAUSIBLE) && cw_explain_mixes(e, metric)
                          ? ", mixed passes"
                          : "");
    fputc('\n', e->out);
}

static void print_fact(const struct cw_explanation *e, uint32_t metric)
{
    cw_text_print(e->out, "    %s\n    %s\n", cw_fact(e->list[metric].base)->description, cw_explain_fact(e, metric));
}

static void print_line(const struct cw_explanation *e, const struct cw_eval_term *t, bool numbers)
{
    fputs("    = ", e->out);
    cw_explain_term(e, t, numbers);
    fputc('\n', e->out);
}

static void print_terms_of(const struct cw_explanation *e, uint32_t metric)
{
    const struct cw_eval_term *t = &e->result.plan.terms[e->result.plan.metrics[metric].term];
    struct cw_error why = CW_ERROR_INIT;
    const char *lack = cw_explain_lack(e, metric, &why);
    if (lack) {
        cw_text_print(e->out, "    %s\n", lack);
        return;
    }
    print_line(e, t, false);
    if (t->x.kind != CW_EVAL_NONE)
        print_line(e, t, true);
}

static enum cw_status print_throughput(const struct cw_explanation *whole, const struct cw_metric *m, double largest)
{
    struct cw_explanation e = *whole; /* the same range, with the constituents for metrics */
    uint32_t *order;
    enum cw_status status = cw_explain_constituents(&e, m, &order);
    if (status == CW_OK && !e.count)
        fputs("    its constituents are not known\n", e.out);
    if (status != CW_OK || !e.count)
        return status;
    cw_text_print(e.out, "    = the largest of %" PRIu32 ", marked *\n", e.count);
    for (uint32_t i = 0; i < e.count; i++) {
        uint32_t at = order[i];
        char text[CW_NUMBER_SIZE];
        cw_text_print(e.out, "    %c %12s %%  %s", i == 0 && cw_explain_value(&e, at) == largest ? '*' : ' ',
                      cw_explain_number(cw_explain_value(&e, at), text), e.result.names[at]);
        if (cw_explain_status(&e, at) != CW_VALUE_OK)
            cw_text_print(e.out, "  (%s)", cw_value_status_text(cw_explain_status(&e, at)));
        fputc('\n', e.out);
    }
    cw_text_print(e.out, "  %s\n", e.result.names[order[0]]);
    print_terms_of(&e, order[0]);
    return CW_OK;
}

/* ---- formulas --------------------------------------------------------------------------------------------------- */

static void print_formula(const struct cw_explanation *e, const struct cw_formula *f)
{
    if (*f->description)
        cw_text_print(e->out, "    %s\n", f->description);
    cw_text_print(e->out, "    = %s\n    = ", f->text);
    cw_explain_numbers(e, f->text);
    fputc('\n', e->out);
}

/* ---- counters --------------------------------------------------------------------------------------------------- */

/* How wide the columns are: a counter's name, its instances, and a number for each rollup. */
struct widths {
    int name, numbers[1 + CW_ROLLUP_COUNT];
};

static const char *number_text(const struct cw_explanation *e, uint32_t column, int i, char text[CW_NUMBER_SIZE])
{
    const uint32_t instances = cw_explain_instances(e, column);
    if (i)
        return cw_explain_number(cw_explain_recorded(e, column, (enum cw_rollup)(i - 1)), text);
    return instances ? cw_explain_number(instances, text) : "unknown";
}

static void widen(struct widths *w, const struct cw_explanation *e, uint32_t column)
{
    char text[CW_NUMBER_SIZE];
    for (int i = 0; i <= CW_ROLLUP_COUNT; i++) {
        const int length = (int)strlen(number_text(e, column, i, text));
        w->numbers[i] = length > w->numbers[i] ? length : w->numbers[i];
    }
}

static void print_column(const struct cw_explanation *e, uint32_t column, const struct widths *w)
{
    const struct cw_schema *schema = &e->data->schema;
    const struct cw_schema_counter *s = cw_explain_counter(e, column);
    const char *form = cw_explain_form(e, column);
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
        cw_text_print(e->out, "%s in %" PRIu32 " of %" PRIu32, form ? "" : " ", cw_explain_occurrences(e, column),
                      cw_explain_group(e)->count);
    fputc('\n', e->out);
}

/* A line for each pass that has it whole. */
static void print_counter(const struct cw_explanation *e, uint32_t counter, const struct widths *w)
{
    uint32_t column = cw_explain_column(e, e->chip->counters[counter].name), first;
    cw_text_print(e->out, "  %-*s", w->name, e->chip->counters[counter].name);
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

static enum cw_status print_counters(const struct cw_explanation *e)
{
    static const char *const names[1 + CW_ROLLUP_COUNT] = {"instances", "sum", "avg", "min", "max"};
    struct widths w = {.name = 7};
    bool any = false, *needed;
    enum cw_status status = cw_explain_needed(e, &needed);
    if (status != CW_OK)
        return status;
    for (uint32_t i = 0; i < e->chip->counter_count; i++) {
        const int length = needed[i] ? (int)cw_text_columns(e->chip->counters[i].name) : 0;
        const uint32_t column = needed[i] ? cw_explain_column(e, e->chip->counters[i].name) : CW_NONE;
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

/* ---- public ----------------------------------------------------------------------------------------------------- */

static enum cw_status print_metric(const struct cw_explanation *e, uint32_t i)
{
    fputs(i ? "\n  " : "  ", e->out);
    print_value(e, i);
    if (e->list[i].type == CW_FORMULA)
        print_formula(e, &e->chip->formulas->items[e->list[i].base]);
    else if (e->list[i].type == CW_FACT)
        print_fact(e, i);
    else if (e->list[i].type == CW_THROUGHPUT)
        return print_throughput(e, &e->list[i], cw_explain_value(e, i));
    else
        print_terms_of(e, i);
    return CW_OK;
}

enum cw_status cw_explain(FILE *out, const struct cw_chip *chip, const struct cw_counter_data *data,
                          const struct cw_metric *metric, uint32_t range, const struct cw_groups *fold,
                          const struct cw_eval_options *options, struct cw_arena *arena, struct cw_error *err)
{
    struct cw_explanation e = {.out = out,
                               .chip = chip,
                               .data = data,
                               .options = options,
                               .range = range,
                               .fold = fold,
                               .arena = arena,
                               .err = err};
    const struct cw_range *g = cw_launch_of(data, range);
    const char *name = *g->name ? g->name : g->kernel;
    const unsigned width = cw_text_width(fileno(out));
    char shown[CW_SHORT_SIZE]; /* some names of C++ would fill the window */
    enum cw_status status = cw_explain_list(&e, metric);
    if (status != CW_OK)
        return status;
    cw_text_print(out, "range %" PRIu32 ": %s\n", cw_explain_range(&e),
                  width ? cw_shorten(name, 2 * (size_t)width, shown) : name);
    if (fold)
        cw_text_print(out, "  with %" PRIu32 " more that are alike: each was counted in one pass\n",
                      cw_explain_group(&e)->count - 1);
    for (uint32_t i = 0; i < e.count && status == CW_OK; i++)
        status = print_metric(&e, i);
    return status == CW_OK ? print_counters(&e) : status;
}
