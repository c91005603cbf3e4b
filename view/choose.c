#define _GNU_SOURCE
#include "view/choose.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"
#include "eval/status.h"
#include "metricdb/expr.h"
#include "view/metrics.h"

static bool is_name(const char *text, size_t length)
{
    return length == 4 && strncmp(text, "name", 4) == 0;
}

/* ---- values ----------------------------------------------------------------------------------------------------- */

static enum cw_status no_column(const struct cw_choosing *from, const char *option, const char *name,
                                struct cw_error *err)
{
    char names[CW_GROUP_COLUMN_NAMES];
    return cw_error_set(err, CW_ERR_USAGE, "found %s '%.200s', expected %s one of %s, name", option, name, from->called,
                        cw_group_column_names(from->kind, names));
}

/* A name without "__" is more likely a misspelt column than an unknown metric. */
static void tell_columns(struct cw_error *err, enum cw_group_kind kind, const char *option, const char *const *names,
                         uint32_t count)
{
    struct cw_suggest near;
    char shown[160], columns[CW_GROUP_COLUMN_NAMES];
    uint32_t i = 0;
    while (i < count && strstr(names[i], "__"))
        i++;
    if (i == count || !strstr(err->message, names[i]))
        return;
    cw_suggest_init(&near, names[i]);
    for (size_t c = 0; c < cw_group_column_count; c++)
        if (cw_group_columns[c].name && cw_group_columns[c].kinds & kind)
            cw_suggest_offer(&near, cw_group_columns[c].name);
    cw_suggest_offer(&near, "name");
    *err = (struct cw_error)CW_ERROR_INIT;
    cw_error_set(err, CW_ERR_USAGE, "found %s '%.200s', expected a metric or one of %s, name%s", option, names[i],
                 cw_group_column_names(kind, columns), cw_suggest_text(&near, shown, sizeof shown));
}

struct values {
    const double **of;       /* [name][group] */
    const int8_t **statuses; /* [name][group]; NULL for a column */
};

static enum cw_status add_metrics(struct values *values, const struct cw_choosing *from, const struct cw_view_input *in,
                                  const char *option, const char *const *metrics, uint32_t metric_count, uint32_t count)
{
    struct cw_result of = {0};
    struct cw_view_input silent = *in;
    silent.notices = NULL;
    const enum cw_status status = cw_view_evaluate_names(&of, &silent, from->data, metrics, metric_count);
    if (status == CW_ERR_USAGE)
        tell_columns(in->err, from->kind, option, metrics, metric_count);
    for (uint32_t i = 0, m = 0; status == CW_OK && i < count; i++)
        if (!values->of[i]) {
            values->of[i] = of.values + (size_t)m * from->count;
            values->statuses[i] = of.statuses + (size_t)m++ * from->count;
        }
    return status;
}

/* The value of each name for each group: of columns and of metrics. Adds no notices. */
static enum cw_status find_values(struct values *values, const struct cw_choosing *from, const struct cw_view_input *in,
                                  const char *option, const char *const *names, uint32_t count)
{
    const char **metrics = cw_arena_alloc(in->arena, count, sizeof *metrics);
    values->of = cw_arena_alloc(in->arena, count, sizeof *values->of);
    values->statuses = cw_arena_alloc(in->arena, count, sizeof *values->statuses);
    uint32_t metric_count = 0;
    if (!metrics || !values->of || !values->statuses)
        return cw_error_nomem(in->err);
    for (uint32_t i = 0; i < count; i++) {
        const struct cw_group_column *column = cw_group_column_find(from->kind, names[i], strlen(names[i]));
        if (!column && !from->data)
            return no_column(from, option, names[i], in->err);
        if (!column) {
            metrics[metric_count++] = names[i];
            continue;
        }
        double *own = cw_arena_alloc(in->arena, from->count, sizeof *own);
        if (!own)
            return cw_error_nomem(in->err);
        for (uint32_t k = 0; k < from->count; k++) {
            const struct cw_group_row row = from->row(from->groups, k);
            own[k] = cw_group_column_value(column, &row);
        }
        values->of[i] = own;
    }
    return metric_count ? add_metrics(values, from, in, option, metrics, metric_count, count) : CW_OK;
}

/* ---- filters ---------------------------------------------------------------------------------------------------- */

/* A quotient by zero is unknown, as a metric with a zero denominator is, and so is everything made of it. */
static double apply(enum cw_expr_op op, const double *taken)
{
    const uint32_t judged = op == CW_EXPR_IF ? 1 : cw_expr_takes(op);
    for (uint32_t i = 0; i < judged; i++)
        if (isnan(taken[i]))
            return NAN;
    return op == CW_EXPR_DIVIDE && taken[1] == 0 ? NAN : cw_expr_apply(op, taken);
}

static double evaluate(const struct cw_expr *expr, const double *const *values, uint32_t group)
{
    double stack[CW_EXPR_STACK_MAX + 1];
    uint32_t top = 0;
    for (uint32_t s = 0; s < expr->step_count; s++) {
        const struct cw_expr_step *step = &expr->steps[s];
        top -= cw_expr_takes(step->op);
        stack[top] = step->op == CW_EXPR_NUMBER ? step->number
                     : step->op == CW_EXPR_NAME ? values[step->name][group]
                                                : apply(step->op, stack + top);
        top++;
    }
    return stack[0];
}

/* Whether every name in the expression has a value for the group. */
static bool known(const struct cw_expr *expr, const double *const *values, uint32_t group)
{
    for (uint32_t n = 0; n < expr->name_count; n++)
        if (isnan(values[n][group]))
            return false;
    return true;
}

static enum cw_status filter(struct cw_output_rows *chosen, const struct cw_choosing *from,
                             const struct cw_view_input *in, const char *text)
{
    struct cw_expr expr;
    struct values values;
    uint32_t kept = 0, unknown = 0;
    enum cw_status status = cw_expr_parse_condition(&expr, text, "--filter", in->arena, in->err);
    if (status == CW_ERR_INPUT) /* the text comes from the command line */
        in->err->code = status = CW_ERR_USAGE;
    if (status == CW_OK)
        status = find_values(&values, from, in, "--filter", expr.names, expr.name_count);
    if (status != CW_OK)
        return status;
    for (uint32_t i = 0; i < chosen->count; i++) {
        const bool has = known(&expr, values.of, chosen->rows[i]);
        const double value = has ? evaluate(&expr, values.of, chosen->rows[i]) : NAN;
        unknown += isnan(value);
        if (value != 0 && !isnan(value))
            chosen->rows[kept++] = chosen->rows[i];
    }
    chosen->dropped += chosen->count - kept;
    chosen->unknown += unknown;
    chosen->count = kept;
    return CW_OK;
}

/* ---- order ------------------------------------------------------------------------------------------------------ */

struct order {
    const char *const *names;
    const double *values;   /* NULL: by name */
    const int8_t *statuses; /* NULL: a column has none */
    bool ascending;
};

/* Puts rows with implausible values behind the others, and rows without a value last. Equal rows keep their order. */
static int compare(const void *a, const void *b, void *order)
{
    const struct order *o = order;
    const uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    int found;
    if (o->values) {
        const double x = o->values[i], y = o->values[k];
        const int rank = cw_value_rank(x, o->statuses ? o->statuses[i] : CW_VALUE_OK);
        const int other = cw_value_rank(y, o->statuses ? o->statuses[k] : CW_VALUE_OK);
        if (rank != other || isnan(x))
            return rank != other ? rank - other : (i > k) - (i < k);
        found = (x > y) - (x < y);
    } else {
        found = strcmp(o->names[i], o->names[k]);
    }
    found = o->ascending ? found : -found;
    return found ? found : (i > k) - (i < k);
}

/* "METRIC", "METRIC:asc", "METRIC:desc": by default numbers descend and names ascend. */
static enum cw_status sort(struct cw_output_rows *chosen, const struct cw_choosing *from,
                           const struct cw_view_input *in, const char *text)
{
    const size_t length = strcspn(text, ":");
    const bool by_name = is_name(text, length);
    struct order order = {.names = from->names, .ascending = text[length] ? text[length + 1] == 'a' : by_name};
    const char *name = cw_arena_strndup(in->arena, text, length);
    struct values values;
    enum cw_status status = CW_OK;
    if (!name)
        return cw_error_nomem(in->err);
    if (text[length] && strcmp(text + length, ":asc") != 0 && strcmp(text + length, ":desc") != 0)
        return from->data
                   ? cw_error_set(in->err, CW_ERR_USAGE,
                                  "found --sort '%s', expected a column or a metric, and :asc or :desc behind it", text)
                   : no_column(from, "--sort", text, in->err);
    if (!by_name)
        status = find_values(&values, from, in, "--sort", &name, 1);
    if (status != CW_OK)
        return status;
    order.values = by_name ? NULL : *values.of;
    order.statuses = by_name ? NULL : *values.statuses;
    qsort_r(chosen->rows, chosen->count, sizeof *chosen->rows, compare, &order);
    return CW_OK;
}

enum cw_status cw_choose(struct cw_output_rows *chosen, const struct cw_choosing *from, const struct cw_view_input *in,
                         const char *order, size_t top)
{
    const struct counterworks_names *filters = &in->request->filters;
    enum cw_status status = CW_OK;
    order = in->request->sort ? in->request->sort : order;
    for (size_t i = 0; status == CW_OK && i < filters->count; i++)
        status = filter(chosen, from, in, filters->names[i]);
    if (status == CW_OK && order)
        status = sort(chosen, from, in, order);
    if (status == CW_OK && top && chosen->count > top) {
        chosen->left = chosen->count - (uint32_t)top;
        chosen->count = (uint32_t)top;
    }
    return status;
}
