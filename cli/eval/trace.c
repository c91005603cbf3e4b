/* What metric-eval does with a trace: how it is added up, and in which order it is shown. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/progress.h"
#include "base/text.h"
#include "cli/common/cli.h"
#include "cli/eval/trace_choice.h"
#include "eval/output/timeline_output.h"
#include "metricdb/expr.h"

enum { LIST_TOP = 30, SECTION_TOP = 10 };

struct view {
    struct cw_eval_run *r;
    struct cw_timeline t;
    struct cw_eval_trace_choice choice;
    struct cw_timeline_window
        *within; /* when the ranges of --range were open, in order and apart; NULL: all the time */
    uint32_t within_count;
};

/* ---- which rows, and in which order ----------------------------------------------------------------------------- */

enum column {
    LAUNCHES,
    TOTAL,
    SHARE,
    MEAN,
    LEAST,
    GREATEST,
    BYTES,
    FAILED,
    SELF,
    RANGES,
    WALL,
    MEDIAN,
    FASTEST,
    SLOWEST,
    NODES,
    NAME,
    COLUMN__COUNT
};
static const char *const column_names[COLUMN__COUNT] = {"launches", "total",   "share", "mean",   "least", "greatest",
                                                        "bytes",    "failed",  "self",  "ranges", "wall",  "median",
                                                        "fastest",  "slowest", "nodes", "name"};

/* Whether rows have anything in a column. */
static bool has_column(enum cw_timeline_by by, enum column column)
{
    const bool ranges = cw_timeline_by_ranges(by), graphs = by == CW_TIMELINE_BY_GRAPH;
    switch (column) {
    case BYTES:
        return by != CW_TIMELINE_BY_CALL && by != CW_TIMELINE_BY_KERNEL && by != CW_TIMELINE_BY_FAMILY;
    case FAILED:
        return by == CW_TIMELINE_BY_CALL;
    case SELF:
        return ranges;
    case RANGES:
    case WALL:
    case MEDIAN:
    case FASTEST:
    case SLOWEST:
        return ranges || graphs;
    case NODES:
        return graphs;
    default:
        return true;
    }
}

static enum column find_column(enum cw_timeline_by by, const char *name, size_t length)
{
    enum column c = 0;
    while (c < COLUMN__COUNT &&
           (strncmp(column_names[c], name, length) != 0 || column_names[c][length] || !has_column(by, c)))
        c++;
    return c;
}

static double value_of(const struct cw_timeline_groups *groups, uint32_t group, enum column column)
{
    const struct cw_timeline_group *g = &groups->items[group];
    const double values[] = {(double)g->count,
                             g->total,
                             groups->total > 0 ? g->total / groups->total : 0,
                             cw_timeline_group_mean(g),
                             g->least,
                             g->greatest,
                             g->bytes,
                             (double)g->failed,
                             g->own,
                             (double)g->ranges,
                             g->wall,
                             g->median,
                             g->fastest,
                             g->longest,
                             (double)g->nodes};
    return values[column];
}

static enum cw_status check_column(enum column column, enum cw_timeline_by by, const char *option, const char *name,
                                   struct cw_error *err)
{
    char names[200] = "";
    size_t used = 0;
    if (column < COLUMN__COUNT)
        return CW_OK;
    for (enum column c = 0; c < NAME; c++)
        if (has_column(by, c))
            used += (size_t)snprintf(names + used, sizeof names - used, "%s, ", column_names[c]);
    return cw_error_set(err, CW_ERR_USAGE, "found %s '%.200s', expected of a trace by %s one of %sname", option, name,
                        cw_timeline_by_names[by], names);
}

static enum cw_status filter(struct cw_eval_run *r, struct cw_timeline_rows *rows, const char *text)
{
    struct cw_expr expr;
    uint32_t kept = 0;
    enum cw_status status = cw_expr_parse_condition(&expr, text, "--filter", r->arena, r->err);
    if (status == CW_ERR_INPUT) /* of the command line */
        r->err->code = status = CW_ERR_USAGE;
    const double **values = status == CW_OK ? cw_arena_alloc(r->arena, expr.name_count, sizeof *values) : NULL;
    if (status == CW_OK && !values)
        status = cw_error_nomem(r->err);
    for (uint32_t n = 0; status == CW_OK && n < expr.name_count; n++) {
        enum column column = find_column(rows->groups.by, expr.names[n], strlen(expr.names[n]));
        column = column == NAME ? COLUMN__COUNT : column;
        double *own = cw_arena_alloc(r->arena, rows->groups.count, sizeof *own);
        status =
            !own ? cw_error_nomem(r->err) : check_column(column, rows->groups.by, "--filter", expr.names[n], r->err);
        for (uint32_t i = 0; status == CW_OK && i < rows->groups.count; i++)
            own[i] = value_of(&rows->groups, i, column);
        values[n] = own;
    }
    for (uint32_t i = 0; status == CW_OK && i < rows->count; i++)
        if (cw_eval_expression(&expr, values, rows->rows[i]) > 0)
            rows->rows[kept++] = rows->rows[i];
    if (status == CW_OK) {
        rows->dropped += rows->count - kept;
        rows->count = kept;
    }
    return status;
}

struct order {
    const struct cw_timeline_groups *groups;
    enum column column;
    bool ascending;
    const char *const *names; /* by group; NULL: by a number */
};

static int compare(const void *left, const void *right, void *order)
{
    const struct order *o = order;
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    int found;
    if (o->names) {
        found = strcmp(o->names[a], o->names[b]);
    } else {
        const double x = value_of(o->groups, a, o->column), y = value_of(o->groups, b, o->column);
        found = (x > y) - (x < y);
    }
    found = o->ascending ? found : -found;
    return found ? found : (a > b) - (a < b);
}

static const char *const *list_names(const struct cw_timeline_groups *groups, struct cw_arena *arena)
{
    const char **names = cw_arena_alloc(arena, groups->count, sizeof *names);
    char text[CW_TIMELINE_NAME_SIZE];
    for (uint32_t g = 0; names && g < groups->count; g++)
        if (!(names[g] = cw_arena_strdup(arena, cw_timeline_group_name(groups, g, text))))
            return NULL;
    return names;
}

static enum cw_status sort(struct cw_eval_run *r, struct cw_timeline_rows *rows, const char *text)
{
    const size_t length = strcspn(text, ":");
    struct order order = {&rows->groups, find_column(rows->groups.by, text, length), false, NULL};
    if (text[length] && strcmp(text + length, ":asc") != 0 && strcmp(text + length, ":desc") != 0)
        order.column = COLUMN__COUNT;
    const enum cw_status status = check_column(order.column, rows->groups.by, "--sort", text, r->err);
    if (status != CW_OK)
        return status;
    order.ascending = text[length] ? text[length + 1] == 'a' : order.column == NAME;
    if (order.column == NAME && !(order.names = list_names(&rows->groups, r->arena)))
        return cw_error_nomem(r->err);
    qsort_r(rows->rows, rows->count, sizeof *rows->rows, compare, &order);
    return CW_OK;
}

static enum cw_status make_list(struct view *v, struct cw_timeline_rows *rows, enum cw_timeline_by by, size_t top)
{
    const struct cw_eval_request *o = v->r->o;
    enum cw_status status = cw_timeline_rows_make(rows, &v->t, by, &v->choice.keep, 0, v->r->arena, v->r->err);
    for (size_t i = 0; status == CW_OK && i < o->filter_count; i++)
        status = filter(v->r, rows, o->filters[i]);
    if (status == CW_OK && o->sort)
        status = sort(v->r, rows, o->sort);
    if (top && rows->count > top) {
        rows->left = rows->count - (uint32_t)top;
        rows->count = (uint32_t)top;
    }
    return status;
}

/* ---- for people ------------------------------------------------------------------------------------------------- */

static enum cw_status find_by(const struct cw_eval_run *r, enum cw_timeline_by *by)
{
    for (*by = 0; r->o->grouped && *by < CW_TIMELINE_BY__COUNT;)
        if (strcmp(cw_timeline_by_names[*by], r->o->by_name) == 0)
            return CW_OK;
        else
            ++*by;
    return *by < CW_TIMELINE_BY__COUNT
               ? CW_OK
               : cw_error_set(r->err, CW_ERR_USAGE,
                              "%s: found --by %s, expected of a trace kernel, family, nvtx, device, rank, stream, "
                              "process, copy, call, graph or nvtx-each",
                              r->o->capture, r->o->by_name);
}

static enum cw_status print(struct view *v)
{
    const struct cw_eval_request *o = v->r->o;
    struct cw_timeline_sections *sections = cw_arena_alloc(v->r->arena, 1, sizeof *sections);
    struct cw_timeline_rows list;
    const struct cw_terminal_style style = cw_eval_style(o);
    const bool alone = o->grouped || o->sort || o->filter_count || (v->choice.keep.gpu && !v->choice.within) ||
                       o->ranges.kernel_count || o->ranges.excluded_count;
    const size_t top = o->top ? o->top : o->wide ? 0 : alone ? LIST_TOP : SECTION_TOP;
    const struct cw_timeline_output output = {.t = &v->t,
                                              .source = v->r->capture->source,
                                              .words = cw_eval_word(v->r),
                                              .list = &list,
                                              .sections = alone ? NULL : sections,
                                              .wide = o->wide,
                                              .within = v->choice.within,
                                              .within_count = v->choice.within_count,
                                              .keep = &v->choice.keep};
    enum cw_timeline_by by;
    enum cw_status status = sections && output.words ? find_by(v->r, &by) : cw_error_nomem(v->r->err);
    if (status == CW_OK)
        status = make_list(v, &list, by, top);
    if (status == CW_OK && !alone)
        status = cw_timeline_sections_make(sections, &v->t, &v->choice.keep, v->choice.within, v->choice.within_count,
                                           top, v->r->arena, v->r->err);
    if (status == CW_OK)
        cw_timeline_print(&output, &style, stdout);
    return status;
}

/* ---- for programs ----------------------------------------------------------------------------------------------- */

static bool is_grouped(const struct cw_eval_request *o)
{
    return o->grouped || o->sort || o->filter_count;
}

enum { KINDS_SIZE = 24 * CW_TRACE_KIND__COUNT };

/* "kernel, copy" */
static const char *list_kinds(uint64_t kinds, char text[KINDS_SIZE])
{
    size_t used = 0;
    *text = 0;
    for (int k = 0; k < CW_TRACE_KIND__COUNT; k++)
        if (kinds & CW_TRACE_BIT(k))
            used += (size_t)snprintf(text + used, KINDS_SIZE - used, "%s%s", used ? ", " : "", cw_trace_kinds[k].name);
    return text;
}

/* The kinds of --kind, which are separated by commas; one that the trace does not have is a table without rows. */
static enum cw_status read_kinds(const struct view *v, uint64_t there, uint64_t *kinds)
{
    const char *option = v->r->o->kind;
    char text[KINDS_SIZE];
    for (const char *at = option; *at;) {
        const size_t length = strcspn(at, ",");
        int k = 0;
        while (k < CW_TRACE_KIND__COUNT &&
               (strlen(cw_trace_kinds[k].name) != length || strncmp(cw_trace_kinds[k].name, at, length) != 0))
            k++;
        if (k == CW_TRACE_KIND__COUNT)
            return cw_error_set(v->r->err, CW_ERR_USAGE,
                                "%s: found --kind %.200s, expected kinds of rows; the trace has %s", v->r->o->capture,
                                option, there ? list_kinds(there, text) : "none");
        *kinds |= CW_TRACE_BIT(k);
        at += length + (at[length] == ',');
    }
    return CW_OK;
}

/* Which kinds files have. A table of CSV has the columns of one. */
static enum cw_status choose_kinds(const struct view *v, uint64_t *kinds)
{
    const struct cw_eval_request *o = v->r->o;
    const uint64_t chosen = v->choice.keep.kinds;
    const char *option = o->ranges.kernel_count ? "--kernel" : "--range";
    char text[KINDS_SIZE];
    uint64_t there = 0;
    *kinds = 0;
    for (int k = 0; k < CW_TRACE_KIND__COUNT; k++)
        there |= v->t.rows[k] ? CW_TRACE_BIT(k) : 0;
    const enum cw_status status = o->kind ? read_kinds(v, there, kinds) : CW_OK;
    if (status != CW_OK)
        return status;
    if (!o->kind)
        *kinds = there;
    if (o->csv && (!o->kind || *kinds & (*kinds - 1)))
        return cw_error_set(v->r->err, CW_ERR_USAGE,
                            "%s: found --csv %s, expected --kind with one kind, or --by; kinds: %s", o->capture,
                            o->kind ? "of several kinds" : "alone", list_kinds(there, text));
    if (chosen && o->kind && *kinds & ~chosen)
        return cw_error_set(v->r->err, CW_ERR_USAGE,
                            "%s: found --kind %s with %s, expected kinds whose rows it chooses: %s", o->capture,
                            o->kind, option, list_kinds(there & chosen, text));
    if (chosen && *kinds & ~chosen && !o->quiet)
        cw_text_print(stderr, "metric-eval: %s: %s says nothing of these kinds, which are left out: %s\n", o->capture,
                      option, list_kinds(*kinds & ~chosen, text));
    return CW_OK;
}

static enum cw_status write_files(struct view *v)
{
    struct cw_eval_run *r = v->r;
    struct cw_output output = {.data = &r->capture->data, .source = r->capture->source};
    struct cw_timeline_tables *tables = NULL;
    struct cw_timeline_rows list;
    enum cw_timeline_by by;
    uint64_t kinds = 0;
    enum cw_status status = is_grouped(r->o) ? find_by(r, &by) : choose_kinds(v, &kinds);
    if (status == CW_OK && is_grouped(r->o))
        status = make_list(v, &list, by, r->o->top);
    if (status == CW_OK)
        status = is_grouped(r->o)
                     ? cw_timeline_rows_table(&output, &list, r->arena, r->err)
                     : cw_timeline_tables_make(&tables, &output, &v->t, &v->choice.keep, kinds, r->arena, r->err);
    if (status == CW_OK)
        status = cw_eval_write_files(r, &output);
    cw_timeline_tables_free(tables);
    return status;
}

/* ---- all -------------------------------------------------------------------------------------------------------- */

static enum cw_status check_options(const struct cw_eval_run *r)
{
    const struct cw_eval_request *o = r->o;
    const char *option = o->sources.count    ? "metrics"
                         : o->all            ? "--all"
                         : o->check          ? "--check"
                         : o->native         ? "--native"
                         : o->eval.frame_ns  ? "--frame-ns"
                         : o->eval.region_ns ? "--region-ns"
                         : o->chip.file      ? "--chip-file"
                         : o->chip.count     ? "--metrics-db"
                                             : NULL;
    if (!option && o->folder_count)
        return cw_error_set(r->err, CW_ERR_USAGE, "%s: found --source-path, expected none for a trace", o->capture);
    if (!option && o->kind && is_grouped(o))
        return cw_error_set(r->err, CW_ERR_USAGE, "%s: found --kind with %s, expected one of them", o->capture,
                            o->grouped ? "--by"
                            : o->sort  ? "--sort"
                                       : "--filter");
    if (!option && o->kind && !o->hdf5 && !o->csv && !o->json)
        return cw_error_set(r->err, CW_ERR_USAGE, "%s: found --kind, expected --csv, --json or -o with it", o->capture);
    return option ? cw_error_set(r->err, CW_ERR_USAGE, "%s: found %s, expected none for a trace, which has no metrics",
                                 o->capture, option)
                  : CW_OK;
}

enum cw_status cw_eval_trace(struct cw_eval_run *r)
{
    struct view v = {.r = r};
    enum cw_status status = check_options(r);
    cw_progress_begin(r->o->quiet, false, "reading %s", r->o->capture);
    if (status == CW_OK)
        status = cw_eval_load_timeline(r, &v.t);
    cw_progress_end();
    if (status == CW_OK)
        status = cw_eval_need_rows(r, &v.t);
    if (status == CW_OK && (r->o->hdf5 || r->o->csv || r->o->json))
        cw_eval_tell_incomplete(r);
    if (status == CW_OK)
        status = cw_eval_trace_choose(&v.choice, r, &v.t, false);
    if (status == CW_OK && (r->o->hdf5 || r->o->csv || r->o->json))
        status = write_files(&v);
    if (status == CW_OK && cw_eval_prints(r->o))
        status = print(&v);
    cw_timeline_free(&v.t);
    return status;
}
