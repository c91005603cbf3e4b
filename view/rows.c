#define _GNU_SOURCE
#include "view/rows.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"
#include "base/text.h"
#include "eval/output/joined.h"
#include "eval/ranges/fold.h"
#include "eval/ranges/spread.h"
#include "eval/status.h"
#include "metricdb/expr.h"
#include "metricdb/rules.h"
#include "view/selection.h"

/* What a name in --filter and --sort stands for beside a metric. */
enum column { LAUNCHES, TOTAL, SHARE, MEAN, LEAST, GREATEST, SPREAD, NAME, COLUMN__COUNT };
static const char *const column_names[COLUMN__COUNT] = {"launches", "total",    "share",  "mean",
                                                        "least",    "greatest", "spread", "name"};

static enum column find_column(const char *name, size_t length)
{
    enum column c = 0;
    while (c < COLUMN__COUNT && (strncmp(column_names[c], name, length) != 0 || column_names[c][length]))
        c++;
    return c;
}

static double column_value(const struct cw_groups *groups, uint32_t group, enum column column)
{
    const struct cw_group *g = &groups->items[group];
    switch (column) {
    case LAUNCHES:
        return g->count;
    case TOTAL:
        return g->total;
    case SHARE:
        return cw_group_share(groups, g);
    case MEAN:
        return g->mean;
    case LEAST:
        return g->least;
    case GREATEST:
        return g->greatest;
    case SPREAD:
        return cw_group_spread(g);
    default:
        return NAN;
    }
}

/* ---- values by which rows are chosen ---------------------------------------------------------------------------- */

/* A name without "__" is rather a misspelt column than a metric that the chip does not have. */
static void tell_columns(struct cw_error *err, const char *option, const char *const *names, uint32_t count)
{
    struct cw_suggest near;
    char shown[160];
    uint32_t i = 0;
    while (i < count && strstr(names[i], "__"))
        i++;
    if (i == count || !strstr(err->message, names[i]))
        return;
    cw_suggest_init(&near, names[i]);
    for (enum column c = 0; c < COLUMN__COUNT; c++)
        cw_suggest_offer(&near, column_names[c]);
    *err = (struct cw_error)CW_ERROR_INIT;
    cw_error_set(
        err, CW_ERR_USAGE,
        "found %s '%.200s', expected a metric or one of launches, total, share, mean, least, greatest, spread, "
        "name%s",
        option, names[i], cw_suggest_text(&near, shown, sizeof shown));
}

/* The value of each name for each group, [name][group]: of columns and of metrics; their statuses, NULL of a column.
 * Adds no notices. */
static enum cw_status find_values(const struct cw_view_input *in, const struct cw_rows *rows, const char *option,
                                  const char *const *names, uint32_t count, const double ***values,
                                  const int8_t ***statuses)
{
    const uint32_t groups = rows->groups.count;
    const char **metrics = cw_arena_alloc(in->arena, count, sizeof *metrics);
    const double **list = *values = cw_arena_alloc(in->arena, count, sizeof *list);
    const int8_t **list_statuses = *statuses = cw_arena_alloc(in->arena, count, sizeof *list_statuses);
    uint32_t metric_count = 0;
    if (!metrics || !list || !list_statuses)
        return cw_error_nomem(in->err);
    for (uint32_t i = 0; i < count; i++) {
        const enum column column = find_column(names[i], strlen(names[i]));
        if (column >= NAME) {
            metrics[metric_count++] = names[i];
            continue;
        }
        double *own = cw_arena_alloc(in->arena, groups, sizeof *own);
        if (!own)
            return cw_error_nomem(in->err);
        for (uint32_t k = 0; k < groups; k++)
            own[k] = column_value(&rows->groups, k, column);
        list[i] = own;
    }
    if (!metric_count)
        return CW_OK;
    struct cw_result of = {0};
    struct cw_view_input silent = *in;
    silent.notices = NULL;
    const enum cw_status status = cw_view_evaluate_names(&of, &silent, &rows->groups.data, metrics, metric_count);
    if (status == CW_ERR_USAGE)
        tell_columns(in->err, option, metrics, metric_count);
    for (uint32_t i = 0, m = 0; status == CW_OK && i < count; i++)
        if (!list[i]) {
            list[i] = of.values + (size_t)m * groups;
            list_statuses[i] = of.statuses + (size_t)m++ * groups;
        }
    return status;
}

double cw_rows_expression(const struct cw_expr *expr, const double *const *values, uint32_t group)
{
    double stack[CW_EXPR_STACK_MAX + 1];
    uint32_t top = 0;
    for (uint32_t s = 0; s < expr->step_count; s++) {
        const struct cw_expr_step *step = &expr->steps[s];
        top -= cw_expr_takes(step->op);
        stack[top] = step->op == CW_EXPR_NUMBER ? step->number
                     : step->op == CW_EXPR_NAME ? values[step->name][group]
                                                : cw_expr_apply(step->op, stack + top);
        top++;
    }
    return stack[0];
}

/* Whether all that the expression names has a value there. */
static bool known(const struct cw_expr *expr, const double *const *values, uint32_t group)
{
    for (uint32_t n = 0; n < expr->name_count; n++)
        if (isnan(values[n][group]))
            return false;
    return true;
}

static enum cw_status filter(const struct cw_view_input *in, struct cw_rows *rows, const char *text)
{
    struct cw_expr expr;
    const double **values = NULL;
    const int8_t **statuses;
    uint32_t kept = 0, unknown = 0;
    enum cw_status status = cw_expr_parse_condition(&expr, text, "--filter", in->arena, in->err);
    if (status == CW_ERR_INPUT) /* of the command line */
        in->err->code = status = CW_ERR_USAGE;
    if (status == CW_OK)
        status = find_values(in, rows, "--filter", expr.names, expr.name_count, &values, &statuses);
    for (uint32_t i = 0; status == CW_OK && i < rows->count; i++) {
        const bool has = known(&expr, values, rows->rows[i]);
        const double value = has ? cw_rows_expression(&expr, values, rows->rows[i]) : 0;
        unknown += !has;
        if (value != 0 && !isnan(value))
            rows->rows[kept++] = rows->rows[i];
    }
    if (status == CW_OK) {
        rows->dropped += rows->count - kept;
        rows->unknown += unknown;
        rows->count = kept;
    }
    return status;
}

/* ---- order ------------------------------------------------------------------------------------------------------ */

struct order {
    const struct cw_groups *groups;
    const double *values;   /* NULL: by name */
    const int8_t *statuses; /* NULL: of a column, which has none */
    bool ascending;
};

/* Rows with an implausible value stand behind the others, rows without a value last, equal ones in their order. */
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
        found = strcmp(o->groups->items[i].name, o->groups->items[k].name);
    }
    found = o->ascending ? found : -found;
    return found ? found : (i > k) - (i < k);
}

/* "METRIC", "METRIC:asc", "METRIC:desc": numbers descend and names ascend, unless it says otherwise. */
static enum cw_status sort(const struct cw_view_input *in, struct cw_rows *rows, const char *text)
{
    const double **values = NULL;
    const int8_t **statuses = NULL;
    enum cw_status status = CW_OK;
    size_t length = strcspn(text, ":");
    struct order order = {.groups = &rows->groups, .ascending = find_column(text, length) == NAME};
    const char *name = cw_arena_strndup(in->arena, text, length);
    if (!name)
        return cw_error_nomem(in->err);
    if (text[length] && strcmp(text + length, ":asc") != 0 && strcmp(text + length, ":desc") != 0)
        return cw_error_set(in->err, CW_ERR_USAGE,
                            "found --sort '%s', expected a column or a metric, and :asc or :desc behind it", text);
    order.ascending = text[length] ? text[length + 1] == 'a' : order.ascending;
    if (find_column(text, length) != NAME)
        status = find_values(in, rows, "--sort", &name, 1, &values, &statuses);
    order.values = values ? *values : NULL;
    order.statuses = statuses ? *statuses : NULL;
    if (status == CW_OK)
        qsort_r(rows->rows, rows->count, sizeof *rows->rows, compare, &order);
    return status;
}

/* ---- groups ----------------------------------------------------------------------------------------------------- */

enum cw_group_by cw_rows_find_by(const char *name)
{
    enum cw_group_by by = 0;
    while (by < CW_BY__COUNT && strcmp(cw_group_by_names[by], name) != 0)
        by++;
    return by;
}

enum cw_group_by cw_rows_by(const struct cw_view_input *in, enum cw_group_by otherwise)
{
    const enum cw_group_by by = in->request->by ? cw_rows_find_by(in->request->by) : otherwise;
    return by == CW_BY_FOLD && !cw_fold_has(&in->capture->data) ? CW_BY_RANGE : by;
}

/* Ranges by themselves keep their numbers: those that the request leaves out are rows that are not shown. */
static enum cw_status group(const struct cw_view_input *in, struct cw_rows *rows, enum cw_group_by by, const bool *keep,
                            bool times)
{
    const struct cw_counter_data *data = &in->capture->data;
    const struct cw_chip *chip = in->chip->chip;
    const bool *of_groups = by == CW_BY_RANGE ? NULL : keep;
    enum cw_status status = CW_OK;
    if (times)
        status = cw_groups_make_times(&rows->groups, by, data, chip, of_groups, in->arena, in->err);
    if (status == CW_OK && (!times || rows->groups.count <= CW_VIEW_MOST_KERNELS))
        status = cw_groups_make(&rows->groups, by, data, chip, of_groups, in->arena, in->err);
    if (status == CW_OK && !(rows->rows = cw_arena_alloc(in->arena, rows->groups.count, sizeof *rows->rows)))
        status = cw_error_nomem(in->err);
    for (uint32_t i = 0; status == CW_OK && i < rows->groups.count; i++)
        if (by != CW_BY_RANGE || !keep || keep[i])
            rows->rows[rows->count++] = i;
    return status;
}

enum cw_status cw_rows_choose(struct cw_rows *rows, const struct cw_view_input *in, const char *order, size_t top)
{
    const struct counterworks_names *filters = &in->request->filters;
    enum cw_status status = CW_OK;
    order = in->request->sort ? in->request->sort : order;
    for (size_t i = 0; status == CW_OK && i < filters->count; i++)
        status = filter(in, rows, filters->names[i]);
    if (status == CW_OK && order)
        status = sort(in, rows, order);
    if (status == CW_OK && top && rows->count > top) {
        rows->left = rows->count - (uint32_t)top;
        rows->count = (uint32_t)top;
    }
    return status;
}

enum cw_status cw_rows_make(struct cw_rows *rows, const struct cw_view_input *in, enum cw_group_by by, size_t top,
                            bool times)
{
    const bool many = cw_launch_count(&in->capture->data) > CW_VIEW_MOST_KERNELS;
    const bool *keep;
    *rows = (struct cw_rows){0};
    enum cw_status status = cw_view_keep(&keep, in);
    if (status == CW_OK)
        status = group(in, rows, by, keep, times && many && !in->request->sort && !in->request->filters.count);
    const bool untimed = status == CW_OK && by != CW_BY_RANGE && by != CW_BY_FOLD && !(rows->groups.total > 0);
    return status == CW_OK ? cw_rows_choose(rows, in, untimed ? column_names[LAUNCHES] : NULL, top) : status;
}

/* ---- values ----------------------------------------------------------------------------------------------------- */

enum cw_status cw_rows_evaluate(struct cw_result *result, const struct cw_rows *rows, const struct cw_view_input *in,
                                cw_rows_evaluation *evaluate)
{
    const struct cw_groups *groups = &rows->groups, *counted = rows->counted ? rows->counted : groups;
    enum cw_status status = evaluate(result, in, &groups->data);
    if (status == CW_OK && counted->folds.kinds && groups->by != CW_BY_RANGE)
        status = cw_spread_find(result, counted, &in->capture->data, in->arena, in->err);
    return status == CW_OK ? cw_result_select(result, rows->rows, rows->count, in->err) : status;
}

enum cw_status cw_rows_output(struct cw_output *output, const struct cw_view_input *in, const struct cw_rows *rows,
                              const struct cw_result *result, struct cw_output_rows *shown)
{
    shown->data = &in->capture->data;
    shown->groups = &rows->groups;
    shown->rows = rows->rows;
    shown->count = rows->count;
    shown->left = rows->left;
    shown->dropped = rows->dropped;
    shown->unknown = rows->unknown;
    shown->result = result;
    shown->words = in->capture->word;
    shown->wide = in->request->wide;
    return cw_view_output_groups(output, in, shown);
}

enum cw_status cw_rows_advise(const struct cw_advice **advice, const struct cw_view_input *in,
                              const struct cw_chip *chip, const struct cw_groups *groups)
{
    struct cw_advice *made = cw_arena_alloc(in->arena, 1, sizeof *made);
    struct cw_error wrong = CW_ERROR_INIT;
    const struct cw_rules *rules;
    char text[1200];
    *advice = NULL;
    if (groups->count > CW_VIEW_MOST_KERNELS)
        return CW_OK;
    enum cw_status status =
        made ? cw_rules_load(&rules, chip, in->chip->folder, NULL, in->arena, &wrong) : cw_error_nomem(&wrong);
    if (status == CW_OK)
        status = cw_advise(made, rules, groups, CW_ADVICE_LEAST_GAIN, in->arena, &wrong);
    if (status == CW_ERR_NOMEM)
        return cw_error_nomem(in->err);
    if (status == CW_OK)
        *advice = made;
    else
        cw_notice(in->notices, "%s", cw_error_format(&wrong, text, sizeof text));
    return CW_OK;
}
