/* Views of captures of ranges. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "eval/compare/compare.h"
#include "eval/output/prometheus.h"
#include "eval/output/stacks.h"
#include "metricdb/glossary.h"
#include "view/kind.h"
#include "view/metrics.h"
#include "view/rows.h"
#include "view/selection.h"

enum { LIST_TOP = 30 }; /* rows of a list */

struct ranges {
    struct cw_groups groups;
    struct cw_output_rows rows;
    struct cw_result result;
    struct cw_sections sections;
};

/* ---- rows for programs ------------------------------------------------------------------------------------------ */

/* Lists ranges in their order, without the groups that sorting and filtering need. */
static enum cw_status list_rows(struct cw_output_rows *rows, const struct cw_view_input *in)
{
    const uint32_t count = in->capture->data.range_count, top = in->request->top;
    const bool *keep;
    rows->rows = cw_arena_alloc(in->arena, count, sizeof *rows->rows);
    if (!rows->rows)
        return cw_error_nomem(in->err);
    const enum cw_status status = cw_view_keep(&keep, in, false);
    for (uint32_t i = 0; status == CW_OK && i < count && !(top && rows->count == top); i++)
        if (!keep || keep[i])
            rows->rows[rows->count++] = i;
    return status;
}

/* Streams values from the capture's file to the output, some ranges at a time. */
static enum cw_status make_stream(struct counterworks_view *view, const struct cw_view_input *in, struct ranges *of)
{
    const struct counterworks_request *o = in->request;
    const bool chosen = o->sort || o->filters.count, all = !chosen && !o->top && !cw_selection_option(o);
    enum cw_status status = all      ? CW_OK
                            : chosen ? cw_rows_make(&of->rows, &of->groups, in, CW_BY_RANGE, o->top, false)
                                     : list_rows(&of->rows, in);
    of->result.streamed = true;
    if (status == CW_OK)
        status = cw_view_evaluate_wanted(&of->result, in, NULL);
    if (status == CW_OK && !all)
        status = cw_result_select(&of->result, of->rows.rows, of->rows.count, in->err);
    return status == CW_OK ? cw_view_output(&view->output, in, &of->result) : status;
}

/* Puts groups by range or fold as ranges, which keep their numbers in the capture. */
static enum cw_status put_ranges(struct counterworks_view *view, const struct cw_view_input *in, struct ranges *of)
{
    const struct cw_groups *groups = &of->groups;
    uint32_t *numbers = cw_arena_alloc(in->arena, groups->count, sizeof *numbers);
    if (!numbers)
        return cw_error_nomem(in->err);
    for (uint32_t k = 0; k < groups->count; k++)
        numbers[k] = groups->items[k].ranges[0];
    of->result.numbers = numbers;
    const enum cw_status status = cw_view_output(&view->output, in, &of->result);
    view->output.data = &in->capture->data;
    return status;
}

static enum cw_status make_table(struct counterworks_view *view, const struct cw_view_input *in, struct ranges *of)
{
    const enum cw_group_by by = cw_rows_by(in, CW_BY_FOLD);
    if (in->capture->data.directory && by == CW_BY_RANGE)
        return make_stream(view, in, of);
    CW_TRY(cw_rows_make(&of->rows, &of->groups, in, by, in->request->top, false));
    CW_TRY(cw_rows_evaluate(&of->result, &of->rows, &of->groups, in, cw_view_evaluate_wanted));
    return by == CW_BY_RANGE || by == CW_BY_FOLD ? put_ranges(view, in, of)
                                                 : cw_rows_output(&view->output, in, &of->result, &of->rows);
}

/* ---- rows for people -------------------------------------------------------------------------------------------- */

/* For rows other than kernels and ranges, adds up the advice on their kernels. */
static enum cw_status add_advice(struct ranges *of, const struct cw_view_input *in)
{
    const struct cw_groups *rows = &of->groups;
    const struct cw_advice *advice = NULL;
    const bool *keep;
    if (rows->by == CW_BY_KERNEL || rows->by == CW_BY_RANGE || rows->by == CW_BY_FOLD)
        return cw_rows_advise(&of->rows.advice, in, of->result.chip, rows);
    struct cw_groups *kernels = cw_arena_alloc(in->arena, 1, sizeof *kernels);
    struct cw_advice_groups *added = cw_arena_alloc(in->arena, 1, sizeof *added);
    if (!kernels || !added)
        return cw_error_nomem(in->err);
    enum cw_status status = cw_view_keep(&keep, in, false);
    if (status == CW_OK)
        status = cw_groups_make(kernels, CW_BY_KERNEL, &in->capture->data, in->chip->chip, keep, in->arena, in->err);
    if (status == CW_OK)
        status = cw_rows_advise(&advice, in, of->result.chip, kernels);
    if (status == CW_OK && advice)
        status = cw_advise_groups(added, advice, rows, in->arena, in->err);
    of->rows.advice_groups = status == CW_OK && advice ? added : NULL;
    return status;
}

/* Adds the meaning of high and low values, if there is a glossary. */
static enum cw_status add_readings(struct ranges *of, const struct cw_view_input *in)
{
    const struct cw_result *r = &of->result;
    const struct cw_glossary *glossary;
    const char **list = cw_arena_alloc(in->arena, r->metric_count, sizeof *list);
    if (!list)
        return cw_error_nomem(in->err);
    CW_TRY(cw_glossary_load_if_there(&glossary, in->chip->folder, NULL, in->arena, in->err));
    for (uint32_t m = 0; glossary && m < r->metric_count; m++) {
        const char *base = cw_arena_strndup(in->arena, r->names[m], strcspn(r->names[m], "."));
        if (!base)
            return cw_error_nomem(in->err);
        list[m] = cw_glossary_reading(glossary, base);
    }
    of->rows.readings = list;
    return CW_OK;
}

/* A list of kernels evaluates only metrics that the request names. A single kernel, shown in full, has the plan's. */
static enum cw_status make_list(struct counterworks_view *view, const struct cw_view_input *in, struct ranges *of)
{
    const struct counterworks_request *o = in->request;
    const size_t top = o->top ? o->top : o->wide ? 0 : LIST_TOP;
    const bool named = o->every || o->metrics.count;
    enum cw_status status = cw_view_begin(&of->result, in);
    if (status == CW_OK)
        status = cw_rows_make(&of->rows, &of->groups, in, cw_rows_by(in, CW_BY_KERNEL), top, !named && !o->wide);
    const bool one = status == CW_OK && of->rows.count == 1 && !of->rows.left;
    of->rows.sections = &of->sections;
    if (status == CW_OK)
        status = cw_sections_load(&of->sections, in->chip->folder, "sections", in->arena, in->err);
    if (status == CW_OK && !named)
        status = add_advice(of, in);
    if (status == CW_OK && (named || o->wide || one)) {
        status = cw_rows_evaluate(&of->result, &of->rows, &of->groups, in,
                                  named ? cw_view_evaluate_wanted : cw_view_evaluate_planned);
        of->rows.asked = named ? of->result.metric_count : in->capture->data.schema.metric_count;
    } else if (status == CW_OK) {
        of->result.data = &of->groups.data;
        cw_tell_incomplete(in->capture, in->notices);
    }
    if (status == CW_OK && one && !o->quiet)
        status = add_readings(of, in);
    return status == CW_OK ? cw_rows_output(&view->output, in, &of->result, &of->rows) : status;
}

/* ---- other forms ------------------------------------------------------------------------------------------------ */

/* "3 launches", "1 range" */
static const char *count_text(const struct cw_groups *groups, uint64_t count, char text[CW_NUMBER_SIZE])
{
    const bool launches = cw_groups_are_of_launches(groups);
    cw_text_format(text, CW_NUMBER_SIZE, "%" PRIu64 " %s%s", count, launches ? "launch" : "range",
                   count == 1 ? ""
                   : launches ? "es"
                              : "s");
    return text;
}

/* Reports `untimed` of all ranges; `without` ends "1 of 3 launches has no time and is ..." */
static void tell_untimed(const struct cw_view_input *in, const struct cw_groups *groups, uint64_t untimed,
                         const char *without)
{
    uint64_t all = 0;
    char text[CW_NUMBER_SIZE];
    for (uint32_t i = 0; i < groups->count; i++)
        all += groups->items[i].count;
    if (untimed)
        cw_notice(in->notices, "%s: %" PRIu64 " of %s %s %s", in->capture->asked, untimed,
                  count_text(groups, all, text), untimed == 1 ? "has no time and is" : "have no time and are", without);
}

static enum cw_status make_stacks(struct counterworks_view *view, const struct cw_view_input *in, struct ranges *of)
{
    struct cw_stacks_output *stacks = cw_arena_alloc(in->arena, 1, sizeof *stacks);
    const bool *keep;
    enum cw_status status = stacks ? cw_view_keep(&keep, in, false) : cw_error_nomem(in->err);
    cw_tell_incomplete(in->capture, in->notices);
    if (status == CW_OK)
        status = cw_view_begin(&of->result, in);
    if (status == CW_OK)
        status =
            cw_groups_make(&of->groups, CW_BY_RANGE, &in->capture->data, of->result.chip, keep, in->arena, in->err);
    if (status != CW_OK)
        return status;
    const uint32_t untimed = cw_stacks_left_out(&of->groups);
    char text[CW_NUMBER_SIZE];
    if (untimed && untimed == of->groups.count)
        return cw_error_set(in->err, CW_ERR_INPUT, "%s: found %s without a time, expected one with a time for stacks",
                            in->capture->asked, count_text(&of->groups, untimed, text));
    tell_untimed(in, &of->groups, untimed, "left out");
    *stacks = (struct cw_stacks_output){.source = in->capture->source, .ranges = &of->groups};
    view->content = stacks;
    view->renders[CW_VIEW_FOLDED] = cw_folded_write;
    view->renders[CW_VIEW_SPEEDSCOPE] = cw_speedscope_write;
    return CW_OK;
}

static enum cw_status make_monitor(struct counterworks_view *view, const struct cw_view_input *in, struct ranges *of)
{
    const struct cw_eval_options spans = cw_view_spans(in->request);
    struct cw_side *side = cw_arena_alloc(in->arena, 1, sizeof *side);
    enum cw_status status = side ? cw_view_select_wanted(&of->result, in) : cw_error_nomem(in->err);
    uint32_t kept;
    if (status == CW_OK)
        status = cw_view_leave(&of->result, in, false, &kept);
    if (status == CW_OK)
        status = cw_side_make(side, &of->result, CW_BY_KERNEL, &spans, in->arena, in->err);
    if (status == CW_OK)
        tell_untimed(in, &side->groups, cw_groups_untimed(&side->groups), "not in counterworks_time_seconds");
    view->content = side;
    view->renders[CW_VIEW_PROMETHEUS] = cw_prometheus_write;
    return status;
}

/* ---- all -------------------------------------------------------------------------------------------------------- */

static enum cw_status check(const struct cw_view_input *in)
{
    const struct counterworks_request *o = in->request;
    CW_TRY(cw_kind_check_form(in, 1 << COUNTERWORKS_LIST | 1 << COUNTERWORKS_TABLE | 1 << COUNTERWORKS_STACKS |
                                      1 << COUNTERWORKS_MONITOR));
    if (o->by && cw_rows_find_by(o->by) == CW_BY__COUNT)
        return cw_error_set(in->err, CW_ERR_USAGE,
                            "%s: found --by %s, expected of ranges kernel, family, range, fold, nvtx, device, rank or "
                            "stream",
                            in->capture->asked, o->by);
    return CW_OK;
}

static enum cw_status make(struct counterworks_view *view, const struct cw_view_input *in)
{
    struct ranges *of = cw_arena_alloc(in->arena, 1, sizeof *of);
    if (!of)
        return cw_error_nomem(in->err);
    return in->request->form == COUNTERWORKS_LIST      ? make_list(view, in, of)
           : in->request->form == COUNTERWORKS_STACKS  ? make_stacks(view, in, of)
           : in->request->form == COUNTERWORKS_MONITOR ? make_monitor(view, in, of)
                                                       : make_table(view, in, of);
}

const struct cw_kind cw_view_ranges = {.check = check, .make = make, .has_metrics = true};
