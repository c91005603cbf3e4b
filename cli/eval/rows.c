/* Which rows of a capture are shown, and in which order: --by, --range, --kernel, --exclude, --filter, --sort and
 * --top. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"
#include "base/text.h"
#include "cli/common/cli.h"
#include "cli/eval/run.h"
#include "eval/timeline/groups.h"
#include "metricdb/expr.h"

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
 * Prints no notices. */
static enum cw_status find_values(struct cw_eval_run *r, const struct cw_eval_rows *rows, const char *option,
                                  const char *const *names, uint32_t count, const double ***values,
                                  const int8_t ***statuses)
{
    const uint32_t groups = rows->groups.count;
    const char **metrics = cw_arena_alloc(r->arena, count, sizeof *metrics);
    const double **list = *values = cw_arena_alloc(r->arena, count, sizeof *list);
    const int8_t **list_statuses = *statuses = cw_arena_alloc(r->arena, count, sizeof *list_statuses);
    uint32_t metric_count = 0;
    if (!metrics || !list || !list_statuses)
        return cw_error_nomem(r->err);
    for (uint32_t i = 0; i < count; i++) {
        const enum column column = find_column(names[i], strlen(names[i]));
        if (column >= NAME) {
            metrics[metric_count++] = names[i];
            continue;
        }
        double *own = cw_arena_alloc(r->arena, groups, sizeof *own);
        if (!own)
            return cw_error_nomem(r->err);
        for (uint32_t k = 0; k < groups; k++)
            own[k] = column_value(&rows->groups, k, column);
        list[i] = own;
    }
    if (!metric_count)
        return CW_OK;
    struct cw_eval_run of = *r;
    of.groups = &rows->groups;
    counterworks_chip_tell(r->chip, NULL, NULL);
    const enum cw_status status = cw_eval_names(&of, metrics, metric_count);
    counterworks_chip_tell(r->chip, r->o->quiet ? NULL : cw_cli_tell, NULL);
    if (status == CW_ERR_USAGE)
        tell_columns(r->err, option, metrics, metric_count);
    for (uint32_t i = 0, m = 0; status == CW_OK && i < count; i++)
        if (!list[i]) {
            list[i] = of.result.values + (size_t)m * groups;
            list_statuses[i] = of.result.statuses + (size_t)m++ * groups;
        }
    return status;
}

double cw_eval_expression(const struct cw_expr *expr, const double *const *values, uint32_t group)
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

static enum cw_status filter(struct cw_eval_run *r, struct cw_eval_rows *rows, const char *text)
{
    struct cw_expr expr;
    const double **values = NULL;
    const int8_t **statuses;
    uint32_t kept = 0, unknown = 0;
    enum cw_status status = cw_expr_parse_condition(&expr, text, "--filter", r->arena, r->err);
    if (status == CW_ERR_INPUT) /* of the command line */
        r->err->code = status = CW_ERR_USAGE;
    if (status == CW_OK)
        status = find_values(r, rows, "--filter", expr.names, expr.name_count, &values, &statuses);
    for (uint32_t i = 0; status == CW_OK && i < rows->count; i++) {
        const bool has = known(&expr, values, rows->rows[i]);
        const double value = has ? cw_eval_expression(&expr, values, rows->rows[i]) : 0;
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
static enum cw_status sort(struct cw_eval_run *r, struct cw_eval_rows *rows, const char *text)
{
    const double **values = NULL;
    const int8_t **statuses = NULL;
    enum cw_status status = CW_OK;
    size_t length = strcspn(text, ":");
    struct order order = {.groups = &rows->groups, .ascending = find_column(text, length) == NAME};
    const char *name = cw_arena_strndup(r->arena, text, length);
    if (!name)
        return cw_error_nomem(r->err);
    if (text[length] && strcmp(text + length, ":asc") != 0 && strcmp(text + length, ":desc") != 0)
        return cw_error_set(r->err, CW_ERR_USAGE,
                            "found --sort '%s', expected a column or a metric, and :asc or :desc behind it", text);
    order.ascending = text[length] ? text[length + 1] == 'a' : order.ascending;
    if (find_column(text, length) != NAME)
        status = find_values(r, rows, "--sort", &name, 1, &values, &statuses);
    order.values = values ? *values : NULL;
    order.statuses = statuses ? *statuses : NULL;
    if (status == CW_OK)
        qsort_r(rows->rows, rows->count, sizeof *rows->rows, compare, &order);
    return status;
}

/* ---- groups ----------------------------------------------------------------------------------------------------- */

static bool take_by(struct cw_eval_request *o, const char *text)
{
    for (o->by = 0; o->by < CW_BY__COUNT && strcmp(cw_group_by_names[o->by], text) != 0;)
        o->by++;
    o->grouped = true;
    o->by_name = text;
    return o->by < CW_BY__COUNT;
}

void cw_eval_take_by(void *request, char *text, struct argp_state *state)
{
    if (!take_by(request, text))
        cw_usage_error(state, "found --by '%s', expected " CW_EVAL_BY_WORDS, text);
}

void cw_eval_take_any_by(void *request, char *text, struct argp_state *state)
{
    enum cw_timeline_by by = 0;
    while (by < CW_TIMELINE_BY__COUNT && strcmp(cw_timeline_by_names[by], text) != 0)
        by++;
    if (!take_by(request, text) && by == CW_TIMELINE_BY__COUNT)
        cw_usage_error(state,
                       "found --by '%s', expected " CW_EVAL_BY_WORDS "; of a trace also process, "
                       "copy, call, graph or nvtx-each",
                       text);
}

/* ---- all -------------------------------------------------------------------------------------------------------- */

/* Ranges by themselves keep their numbers: those that --range leaves out are rows that are not shown. `keep`: room, or
 * NULL for all; `times`: of more groups than advice is made of, their times are enough. */
static enum cw_status group(struct cw_eval_run *r, struct cw_eval_rows *rows, enum cw_group_by by, bool *keep,
                            bool times)
{
    const struct cw_counter_data *data = &r->capture->data;
    enum cw_status status = keep ? cw_eval_match_ranges(keep, r, &r->o->ranges) : CW_OK;
    const bool *of_groups = by == CW_BY_RANGE ? NULL : keep;
    if (status == CW_OK && times)
        status = cw_groups_make_times(&rows->groups, by, data, r->chip->chip, of_groups, r->arena, r->err);
    if (status == CW_OK && (!times || rows->groups.count <= CW_EVAL_MOST_KERNELS))
        status = cw_groups_make(&rows->groups, by, data, r->chip->chip, of_groups, r->arena, r->err);
    if (status == CW_OK && !(rows->rows = cw_arena_alloc(r->arena, rows->groups.count, sizeof *rows->rows)))
        status = cw_error_nomem(r->err);
    for (uint32_t i = 0; status == CW_OK && i < rows->groups.count; i++)
        if (by != CW_BY_RANGE || !keep || keep[i])
            rows->rows[rows->count++] = i;
    return status;
}

enum cw_status cw_eval_choose_rows(struct cw_eval_run *r, struct cw_eval_rows *rows, const char *order, size_t top)
{
    enum cw_status status = CW_OK;
    order = r->o->sort ? r->o->sort : order;
    for (size_t i = 0; status == CW_OK && i < r->o->filter_count; i++)
        status = filter(r, rows, r->o->filters[i]);
    if (status == CW_OK && order)
        status = sort(r, rows, order);
    if (status == CW_OK && top && rows->count > top) {
        rows->left = rows->count - (uint32_t)top;
        rows->count = (uint32_t)top;
    }
    return status;
}

static enum cw_status make_rows(struct cw_eval_run *r, struct cw_eval_rows *rows, enum cw_group_by by, size_t top,
                                bool times)
{
    const uint32_t count = r->capture->data.range_count;
    const bool some = cw_eval_ranges_option(&r->o->ranges) != NULL;
    bool *keep = some ? cw_arena_alloc(r->arena, count, sizeof *keep) : NULL;
    *rows = (struct cw_eval_rows){0};
    if (some && !keep)
        return cw_error_nomem(r->err);
    enum cw_status status = group(r, rows, by, keep, times);
    const bool untimed = status == CW_OK && by != CW_BY_RANGE && by != CW_BY_FOLD && !(rows->groups.total > 0);
    return status == CW_OK ? cw_eval_choose_rows(r, rows, untimed ? column_names[LAUNCHES] : NULL, top) : status;
}

enum cw_status cw_eval_make_rows(struct cw_eval_run *r, struct cw_eval_rows *rows, enum cw_group_by by, size_t top)
{
    return make_rows(r, rows, by, top, false);
}

enum cw_status cw_eval_make_rows_of_times(struct cw_eval_run *r, struct cw_eval_rows *rows, enum cw_group_by by,
                                          size_t top)
{
    const bool many = cw_launch_count(&r->capture->data) > CW_EVAL_MOST_KERNELS;
    return make_rows(r, rows, by, top, many && !r->o->sort && !r->o->filter_count);
}
