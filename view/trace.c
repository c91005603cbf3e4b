/* Views of traces: groups, or rows one by one. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "eval/output/timeline_output.h"
#include "view/choose.h"
#include "view/kind.h"
#include "view/lanes.h"
#include "view/metrics.h"
#include "view/timeline.h"

enum { LIST_TOP = 30, SECTION_TOP = 10 };

struct trace {
    const struct cw_view_input *in; /* only while the view is made */
    struct cw_view_shared own;      /* for a view that shares with no other */
    const struct cw_timeline *t;
    struct cw_timeline_keep keep;
    struct cw_timeline_rows list;
    struct cw_timeline_sections sections;
    struct cw_timeline_output shown;
    struct cw_timeline_tables *tables;
};

/* ---- which rows, and in which order ----------------------------------------------------------------------------- */

static struct cw_group_row row_of(const void *groups, uint32_t group)
{
    return cw_timeline_group_row(groups, group);
}

static enum cw_status make_list(struct trace *v, struct cw_timeline_rows *rows, enum cw_timeline_by by, size_t top)
{
    const struct cw_view_input *in = v->in;
    const struct cw_timeline_groups *groups = &rows->groups;
    /* The terminal's list shows neither median nor deviation, unless a column is named. */
    const bool spread = in->request->form == COUNTERWORKS_TABLE || in->request->sort || in->request->filters.count;
    enum cw_status status = cw_timeline_rows_make(rows, v->t, by, &v->keep, spread, 0, in->arena, in->err);
    if (status != CW_OK)
        return status;
    const char **names = cw_arena_alloc(in->arena, groups->count, sizeof *names);
    struct cw_output_rows chosen = {.rows = rows->rows, .count = rows->count};
    const struct cw_choosing from = {.kind = cw_timeline_group_kind(by),
                                     .called = cw_arena_printf(in->arena, "of a trace by %s", cw_timeline_by_names[by]),
                                     .count = groups->count,
                                     .row = row_of,
                                     .groups = groups,
                                     .names = names};
    if (!names || !from.called)
        return cw_error_nomem(in->err);
    for (uint32_t g = 0; g < groups->count; g++) {
        char text[CW_TIMELINE_NAME_SIZE];
        if (in->request->sort && !(names[g] = cw_arena_strdup(in->arena, cw_timeline_group_name(groups, g, text))))
            return cw_error_nomem(in->err);
    }
    status = cw_choose(&chosen, &from, in, NULL, top);
    rows->count = chosen.count;
    rows->left = chosen.left;
    rows->dropped += chosen.dropped;
    return status;
}

/* ---- for people ------------------------------------------------------------------------------------------------- */

static enum cw_status find_by(const struct cw_view_input *in, const struct cw_timeline *t, enum cw_timeline_by *by)
{
    const bool joins = t->range_count && t->gpu_count;
    for (*by = 0; in->request->by && *by < CW_TIMELINE_BY__COUNT; ++*by)
        if (strcmp(cw_timeline_by_names[*by], in->request->by) == 0)
            break;
    if ((*by == CW_TIMELINE_BY_NVTX || *by == CW_TIMELINE_BY_NVTX_EACH) && joins && !t->call_count)
        cw_notice(
            in->notices,
            "%s: found no calls, which tell the NVTX range of a launch; expected a trace with the kind runtime or "
            "driver",
            in->capture->asked);
    return *by < CW_TIMELINE_BY__COUNT
               ? CW_OK
               : cw_error_set(in->err, CW_ERR_USAGE,
                              "%s: found --by %s, expected of a trace kernel, family, nvtx, device, rank, stream, "
                              "process, copy, call, graph or nvtx-each",
                              in->capture->asked, in->request->by);
}

static enum cw_status print(const struct cw_output *output, const struct cw_terminal_style *style, FILE *out,
                            struct cw_error *err)
{
    (void)err;
    cw_timeline_print(output->result, style, out);
    return CW_OK;
}

static enum cw_status make_rows(struct counterworks_view *view, struct trace *v)
{
    const struct cw_view_input *in = v->in;
    const struct counterworks_request *o = in->request;
    const bool alone = o->by || o->sort || o->filters.count || (v->keep.gpu && !v->keep.within) || o->kernels.count ||
                       o->excluded.count;
    const size_t top = o->top ? o->top : o->wide ? 0 : alone ? LIST_TOP : SECTION_TOP;
    enum cw_timeline_by by;
    enum cw_status status = find_by(in, v->t, &by);
    if (status == CW_OK)
        status = make_list(v, &v->list, by, top);
    if (status == CW_OK && !alone)
        status = cw_timeline_sections_make(&v->sections, v->t, &v->keep, top, in->arena, in->err);
    v->shown = (struct cw_timeline_output){.t = v->t,
                                           .source = in->capture->source,
                                           .words = in->capture->word,
                                           .list = &v->list,
                                           .sections = alone ? NULL : &v->sections,
                                           .wide = o->wide,
                                           .keep = &v->keep};
    view->output.print = print;
    view->output.result = &v->shown;
    return status;
}

/* ---- for programs ----------------------------------------------------------------------------------------------- */

static bool is_grouped(const struct counterworks_request *o)
{
    return o->by || o->sort || o->filters.count;
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

/* Reads --kind, kinds with commas between them. A kind without rows in the trace is an empty table. */
static enum cw_status read_kinds(const struct trace *v, uint64_t there, uint64_t *kinds)
{
    const char *option = v->in->request->kinds;
    char text[KINDS_SIZE];
    for (const char *at = option; at == option || *at;) {
        const size_t length = strcspn(at, ",");
        int k = 0;
        while (k < CW_TRACE_KIND__COUNT &&
               (strlen(cw_trace_kinds[k].name) != length || strncmp(cw_trace_kinds[k].name, at, length) != 0))
            k++;
        if (k == CW_TRACE_KIND__COUNT)
            return cw_error_set(v->in->err, CW_ERR_USAGE,
                                "%s: found --kind '%.200s', expected kinds of rows; the trace has %s",
                                v->in->capture->asked, option, there ? list_kinds(there, text) : "none");
        *kinds |= CW_TRACE_BIT(k);
        at += length + (at[length] == ',');
    }
    return CW_OK;
}

/* Chooses the kinds for files. CSV has the columns of one kind. */
static enum cw_status choose_kinds(const struct trace *v, uint64_t *kinds)
{
    const struct counterworks_request *o = v->in->request;
    const uint64_t chosen = v->keep.kinds;
    const char *option = o->kernels.count ? "--kernel" : "--range";
    char text[KINDS_SIZE];
    uint64_t there = 0;
    *kinds = 0;
    for (int k = 0; k < CW_TRACE_KIND__COUNT; k++)
        there |= v->t->rows[k] ? CW_TRACE_BIT(k) : 0;
    CW_TRY(o->kinds ? read_kinds(v, there, kinds) : CW_OK);
    if (!o->kinds)
        *kinds = there;
    if (o->single && (!o->kinds || *kinds & (*kinds - 1)))
        return cw_error_set(v->in->err, CW_ERR_USAGE,
                            "%s: found CSV %s, expected --kind with one kind, or --by; kinds: %s",
                            v->in->capture->asked, o->kinds ? "of several kinds" : "alone", list_kinds(there, text));
    if (chosen && o->kinds && *kinds & ~chosen)
        return cw_error_set(v->in->err, CW_ERR_USAGE,
                            "%s: found --kind %s with %s, expected kinds whose rows it chooses: %s",
                            v->in->capture->asked, o->kinds, option, list_kinds(there & chosen, text));
    if (chosen && *kinds & ~chosen)
        cw_notice(v->in->notices, "%s: %s leaves out kinds that it cannot choose from:  %s", v->in->capture->asked,
                  option, list_kinds(*kinds & ~chosen, text));
    return CW_OK;
}

static enum cw_status make_tables(struct counterworks_view *view, struct trace *v)
{
    const struct cw_view_input *in = v->in;
    struct cw_output *output = &view->output;
    enum cw_timeline_by by;
    uint64_t kinds = 0;
    if (!is_grouped(in->request)) {
        const enum cw_status status = choose_kinds(v, &kinds);
        return status == CW_OK ? cw_timeline_tables_make(&v->tables, output, v->t, &v->keep, kinds, in->arena, in->err)
                               : status;
    }
    CW_TRY(find_by(in, v->t, &by));
    CW_TRY(make_list(v, &v->list, by, in->request->top));
    return cw_timeline_rows_table(output, &v->list, in->arena, in->err);
}

/* ---- all -------------------------------------------------------------------------------------------------------- */

static enum cw_status check(const struct cw_view_input *in)
{
    const struct counterworks_request *o = in->request;
    const char *option = o->metrics.count ? "metrics"
                         : o->every       ? "--all"
                         : o->frame_ns    ? "--frame-ns"
                         : o->region_ns   ? "--region-ns"
                                          : NULL;
    if (option)
        return cw_error_set(in->err, CW_ERR_USAGE, "%s: found %s, expected none for a trace, which has no metrics",
                            in->capture->asked, option);
    if (o->form == COUNTERWORKS_STACKS || o->form == COUNTERWORKS_MONITOR)
        return cw_error_set(in->err, CW_ERR_USAGE, "%s: found a trace, expected --format perfetto or chrome for it",
                            in->capture->asked);
    if (o->kinds && is_grouped(o))
        return cw_error_set(in->err, CW_ERR_USAGE, "%s: found --kind with %s, expected one of them", in->capture->asked,
                            o->by     ? "--by"
                            : o->sort ? "--sort"
                                      : "--filter");
    if (o->kinds && o->form == COUNTERWORKS_LIST)
        return cw_error_set(in->err, CW_ERR_USAGE, "%s: found --kind, expected --format or -o with it",
                            in->capture->asked);
    return CW_OK;
}

static void free_trace(void *owned)
{
    struct trace *v = owned;
    cw_timeline_tables_free(v->tables);
    cw_view_share_free(&v->own);
}

static enum cw_status make(struct counterworks_view *view, const struct cw_view_input *in)
{
    struct trace *v = cw_arena_alloc(in->arena, 1, sizeof *v);
    if (!v)
        return cw_error_nomem(in->err);
    v->in = in;
    view->output.data = &in->capture->data;
    view->output.source = in->capture->source;
    view->free = free_trace;
    view->owned = v;
    if (in->request->form == COUNTERWORKS_TIMELINE)
        cw_tell_incomplete(in->capture, in->notices);
    v->own.arena = in->arena;
    struct cw_view_shared *shared = in->shared ? in->shared : &v->own;
    v->t = &shared->timeline;
    enum cw_status status = cw_view_share_timeline(shared, in);
    if (status == CW_OK)
        status = cw_view_need_rows(v->t, in);
    if (status == CW_OK && in->request->form == COUNTERWORKS_TABLE)
        cw_tell_incomplete(in->capture, in->notices);
    if (status == CW_OK && in->request->form == COUNTERWORKS_TIMELINE)
        return cw_view_lanes(view, in, v->t, NULL);
    if (status == CW_OK)
        status = cw_trace_choose(&v->keep, in, v->t, false);
    if (status == CW_OK)
        status = in->request->form == COUNTERWORKS_LIST ? make_rows(view, v) : make_tables(view, v);
    return status;
}

const struct cw_kind cw_view_trace = {.check = check, .make = make};
