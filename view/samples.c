/* Views of captures of PM samples. */
#include <string.h>

#include "eval/join/pm_ranges.h"
#include "eval/output/pm_range_table.h"
#include "view/kind.h"
#include "view/lanes.h"
#include "view/metrics.h"
#include "view/selection.h"
#include "view/source.h"

enum { LIST_TOP = 30 };

struct samples {
    struct cw_result result;
    struct cw_timeline timeline;
    struct cw_pm_ranges ranges;
};

/* Adds up samples by the program's user ranges. */
static enum cw_status make_by_range(struct counterworks_view *view, const struct cw_view_input *in, struct samples *of)
{
    const uint32_t top = in->request->top ? in->request->top : LIST_TOP;
    enum cw_status status = cw_view_timeline(&of->timeline, in);
    if (status == CW_OK && !of->timeline.range_count)
        status = cw_error_set(in->err, CW_ERR_USAGE, "%s: found samples without user ranges (NVTX), expected some",
                              in->capture->asked);
    if (status == CW_OK)
        status = cw_pm_ranges_make(&of->ranges, &of->result, &of->timeline, in->arena, in->err);
    const uint32_t shown = of->ranges.count < top ? of->ranges.count : top;
    return status == CW_OK
               ? cw_output_pm_ranges(&view->output, &of->result, &of->ranges, shown, NULL, in->arena, in->err)
               : status;
}

/* Puts samples beside the trace of their program, which the capture has. */
static enum cw_status make_lanes(struct counterworks_view *view, const struct cw_view_input *in, struct samples *of)
{
    const struct cw_eval_options spans = cw_view_spans(in->request);
    CW_TRY(cw_view_select_wanted(&of->result, in));
    CW_TRY(cw_result_make(&of->result, &spans, in->arena, in->err));
    CW_TRY(cw_view_timeline(&of->timeline, in));
    return cw_view_lanes(view, in, &of->timeline, &of->result);
}

static enum cw_status check(const struct cw_view_input *in)
{
    const struct counterworks_request *o = in->request;
    const char *option = cw_selection_option(o);
    option = option ? option : o->filters.count ? "--filter" : o->sort ? "--sort" : NULL;
    if (option)
        return cw_view_need_ranges(in->capture, " for ", option, in->err);
    CW_TRY(cw_kind_check_form(in, 1 << COUNTERWORKS_LIST | 1 << COUNTERWORKS_TABLE | 1 << COUNTERWORKS_TIMELINE));
    if (o->by && strcmp(o->by, "nvtx") != 0)
        return cw_error_set(in->err, CW_ERR_USAGE, "%s: found --by %s, expected of samples nvtx", in->capture->asked,
                            o->by);
    return CW_OK;
}

static void free_samples(void *owned)
{
    cw_timeline_free(&((struct samples *)owned)->timeline);
}

static enum cw_status make(struct counterworks_view *view, const struct cw_view_input *in)
{
    struct samples *of = cw_arena_alloc(in->arena, 1, sizeof *of);
    const bool streamed = !in->request->by && in->request->form != COUNTERWORKS_TIMELINE;
    if (!of)
        return cw_error_nomem(in->err);
    view->free = free_samples;
    view->owned = of;
    of->result.streamed = streamed;
    enum cw_status status = streamed ? CW_OK : cw_source_load(in->capture, in->err);
    if (status != CW_OK)
        return status;
    if (in->request->form == COUNTERWORKS_TIMELINE)
        return make_lanes(view, in, of);
    status = cw_view_evaluate_wanted(&of->result, in, NULL);
    if (status != CW_OK)
        return status;
    return in->request->by ? make_by_range(view, in, of) : cw_view_output(&view->output, in, &of->result);
}

const struct cw_kind cw_view_samples = {.check = check, .make = make, .has_metrics = true};
