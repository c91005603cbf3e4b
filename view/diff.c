/* Views of changes between two captures. */
#include "eval/compare/compare.h"
#include "eval/compare/timeline_as_ranges.h"
#include "eval/output/comparison.h"
#include "view/compare.h"
#include "view/kind.h"
#include "view/metrics.h"
#include "view/selection.h"
#include "view/sides.h"
#include "view/timeline.h"

struct diff {
    struct cw_view_sides sides;
    struct cw_comparison of;
    struct cw_diff_output shown;
    bool is_trace;
    /* for traces: */
    struct cw_comparison ranges; /* NVTX ranges; `of` has GPU activity */
    struct side {
        struct cw_view_input in;
        struct cw_timeline t;
        struct cw_trace_choice choice;
        struct cw_counter_data gpu, nvtx; /* as ranges */
        struct cw_timeline_usage usage;
    } traces[2];
};

/* ---- ranges ----------------------------------------------------------------------------------------------------- */

enum cw_status cw_view_other_side(struct cw_view_sides *sides, const struct cw_view_input *in,
                                  const struct cw_view_other *other)
{
    sides->other = *in;
    sides->other.capture = other->capture;
    sides->other.chip = other->chip;
    CW_TRY(cw_view_need_ranges(other->capture, "", "", in->err));
    cw_tell_incomplete(other->capture, in->notices);
    return cw_view_begin(&sides->b, &sides->other);
}

enum cw_status cw_view_leave_sides(struct cw_view_sides *sides, const struct cw_view_input *in)
{
    uint32_t a, b;
    CW_TRY(cw_view_leave(&sides->a, in, true, &a));
    CW_TRY(cw_view_leave(&sides->b, &sides->other, true, &b));
    if (a + b || !cw_selection_option(in->request))
        return CW_OK;
    return cw_view_leave(&sides->a, in, false, &a); /* reports why nothing is left */
}

static enum cw_status compare(struct diff *d, const struct cw_view_input *in, const struct cw_view_other *other,
                              enum cw_group_by by)
{
    const struct cw_eval_options spans = cw_view_spans(in->request);
    return cw_compare(&d->of, &d->sides.a, &d->sides.b, other->runs, by, true, &spans, in->arena, in->err);
}

static enum cw_status diff_ranges(struct diff *d, const struct cw_view_input *in, const struct cw_view_other *other,
                                  enum cw_group_by by)
{
    CW_TRY(cw_view_need_ranges(in->capture, "", "", in->err));
    CW_TRY(cw_view_select_wanted(&d->sides.a, in));
    CW_TRY(cw_view_other_side(&d->sides, in, other));
    CW_TRY(cw_view_leave_sides(&d->sides, in));
    return compare(d, in, other, by);
}

/* ---- traces ----------------------------------------------------------------------------------------------------- */

static enum cw_status load(struct side *s, const struct cw_view_input *in, struct counterworks_capture *capture)
{
    s->in = *in;
    s->in.capture = capture;
    cw_tell_incomplete(capture, in->notices);
    CW_TRY(cw_view_timeline(&s->t, &s->in));
    return cw_trace_choose(&s->choice, &s->in, &s->t, true);
}

/* With `patterns`, NVTX paths that differ in numbers alone ("step 1", "step 2") are one. */
static enum cw_status make_ranges(struct side *s, bool patterns)
{
    const struct cw_view_input *in = &s->in;
    const struct cw_timeline_keep *keep = &s->choice.keep;
    CW_TRY(cw_timeline_use(&s->usage, &s->t, s->choice.within, s->choice.within_count, in->arena, in->err));
    CW_TRY(cw_timeline_nvtx_as_ranges(&s->nvtx, &s->t, keep, in->arena, in->err));
    return cw_timeline_as_ranges(&s->gpu, &s->t, patterns, keep, in->arena, in->err);
}

/* If nothing is left on either side, reports why for the first. */
static enum cw_status check_left(const struct diff *d, bool nvtx)
{
    struct cw_trace_choice none;
    return d->traces[0].gpu.range_count || d->traces[1].gpu.range_count || nvtx
               ? CW_OK
               : cw_trace_choose(&none, &d->traces[0].in, &d->traces[0].t, false);
}

static enum cw_status compare_traces(struct cw_comparison *c, const struct diff *d, bool nvtx, const uint32_t runs[2],
                                     enum cw_group_by by)
{
    const struct side *a = &d->traces[0], *b = &d->traces[1];
    const struct cw_eval_options spans = {0};
    const struct cw_result x = {
        .chip = &cw_timeline_no_chip, .data = nvtx ? &a->nvtx : &a->gpu, .source = a->in.capture->source};
    const struct cw_result y = {
        .chip = &cw_timeline_no_chip, .data = nvtx ? &b->nvtx : &b->gpu, .source = b->in.capture->source};
    return cw_compare(c, &x, &y, runs, by, true, &spans, a->in.arena, a->in.err);
}

static enum cw_status check_traces(const struct cw_view_input *in, const struct cw_view_other *other)
{
    if (other->capture->data.schema.profiler != CW_PROFILER_TRACE)
        return cw_error_set(in->err, CW_ERR_USAGE, "%s: found a capture that is no trace, expected one as the other",
                            other->capture->asked);
    if (in->request->every || in->request->metrics.count)
        return cw_error_set(in->err, CW_ERR_USAGE, "%s: found %s, expected none for a trace, which has no metrics",
                            in->capture->asked, in->request->every ? "--all" : "metrics");
    return CW_OK;
}

static enum cw_status diff_traces(struct diff *d, const struct cw_view_input *in, const struct cw_view_other *other,
                                  enum cw_group_by by)
{
    const struct counterworks_request *o = in->request;
    const bool by_kernel = o->kernels.count || o->excluded.count;
    enum cw_status status = check_traces(in, other);
    if (status == CW_OK)
        status = load(&d->traces[0], in, in->capture);
    if (status == CW_OK)
        status = load(&d->traces[1], in, other->capture);
    for (int i = 0; i < 2 && status == CW_OK; i++)
        status = make_ranges(&d->traces[i], by == CW_BY_NVTX);
    const bool nvtx = !by_kernel && (d->traces[0].nvtx.range_count || d->traces[1].nvtx.range_count);
    if (status == CW_OK)
        status = check_left(d, nvtx);
    if (status == CW_OK)
        status = compare_traces(&d->of, d, false, other->runs, by);
    if (status == CW_OK && nvtx)
        status = compare_traces(&d->ranges, d, true, other->runs, CW_BY_KERNEL);
    const bool used = !by_kernel && other->runs[0] == 1 && other->runs[1] == 1;
    d->shown.a_usage = used ? &d->traces[0].usage : NULL;
    d->shown.b_usage = used ? &d->traces[1].usage : NULL;
    d->shown.ranges = nvtx ? &d->ranges : NULL;
    return status;
}

/* ---- all -------------------------------------------------------------------------------------------------------- */

static enum cw_status print(const struct cw_output *output, const struct cw_terminal_style *style, FILE *out,
                            struct cw_error *err)
{
    struct cw_diff_output shown = *(const struct cw_diff_output *)output->result;
    shown.width = style->width;
    return cw_diff_print(out, &shown, err);
}

static void free_diff(void *owned)
{
    struct diff *d = owned;
    for (int i = 0; i < 2; i++)
        cw_timeline_free(&d->traces[i].t);
}

enum cw_status cw_view_diff(struct counterworks_view *view, const struct cw_view_input *in,
                            const struct cw_view_other *other)
{
    enum { TOP = 10 };
    struct diff *d = cw_arena_alloc(in->arena, 1, sizeof *d);
    const enum cw_group_by by = in->request->by && *in->request->by == 'n' ? CW_BY_NVTX : CW_BY_KERNEL;
    *view = (struct counterworks_view){.arena = in->arena};
    if (!d)
        return cw_error_nomem(in->err);
    view->free = free_diff;
    view->owned = d;
    d->is_trace = in->capture->data.schema.profiler == CW_PROFILER_TRACE;
    enum cw_status status = cw_view_check_by(in, (const char *const[]){"kernel", "nvtx"}, 2);
    if (status == CW_OK)
        status = (d->is_trace ? diff_traces : diff_ranges)(d, in, other, by);
    d->shown.of = &d->of;
    d->shown.top = in->request->top ? in->request->top : TOP;
    d->shown.traces = d->is_trace;
    view->output.print = print;
    view->output.result = view->content = &d->shown;
    view->renders[CW_VIEW_JSON] = cw_diff_write_json;
    return status;
}
