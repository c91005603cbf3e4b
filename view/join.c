/* Views of a trace with the metrics of its launches. */
#include <stdlib.h>
#include <string.h>

#include "eval/advice/advice.h"
#include "eval/join/joined.h"
#include "eval/output/joined.h"
#include "eval/output/pm_range_table.h"
#include "image/schema.h"
#include "metricdb/glossary.h"
#include "view/compare.h"
#include "view/instructions.h"
#include "view/metrics.h"
#include "view/rows.h"
#include "view/source.h"
#include "view/timeline.h"

enum { LIST_TOP = 30 };

struct join {
    struct counterworks_capture *trace, *samples; /* samples: PC samples, or NULL */
    struct cw_view_shared own, *shared;           /* own: for a view that shares with no other */
    enum cw_group_by by;
    bool by_launch;
    const struct cw_joined *joined;
    struct cw_joined_rows made;
    struct cw_result result, each; /* of the rows; of every range by itself */
    struct cw_joined_output of;
    struct cw_sections sections;
    struct cw_output_rows rows;
    struct cw_instructions instructions;
    struct cw_pc_data raw;
    struct cw_joined_samples hot;
    struct cw_output ranges;
    struct cw_pm_ranges kernels;
};

/* ---- rows ------------------------------------------------------------------------------------------------------- */

/* Limits the rows: each costs memory for every counter. */
static uint32_t most_rows(const struct join *j, const struct cw_view_input *in)
{
    enum { LEAST = 1000 };
    const uint64_t bytes = j->trace->file.size + in->capture->file.size + 1000000;
    const uint64_t most = 4 * bytes / (cw_schema_columns(&in->capture->data.schema) + 1);
    return most < LEAST ? LEAST : most < UINT32_MAX ? (uint32_t)most : UINT32_MAX;
}

static enum cw_status make_rows(struct join *j, const struct cw_view_input *in, size_t top)
{
    enum cw_status status = cw_joined_rows_make(&j->made, j->joined, j->by, most_rows(j, in), in->arena, in->err);
    if (status == CW_OK)
        status = cw_joined_output_make(&j->of, j->joined, &j->made, in->arena, in->err);
    j->of.trace = j->trace->source;
    j->of.samples_source = j->samples ? j->samples->source : NULL;
    j->of.samples = j->hot;
    j->rows = (struct cw_output_rows){.sections = &j->sections, .joined = &j->of};
    return status == CW_OK ? cw_rows_choose(&j->rows, &j->made.groups, NULL, in, NULL, top) : status;
}

/* Advises on kernels, with the times of the trace; adds the advice up for other rows. */
static enum cw_status add_advice(struct join *j, const struct cw_view_input *in)
{
    const struct cw_advice *advice = NULL;
    if (j->by == CW_BY_KERNEL)
        return cw_rows_advise(&j->rows.advice, in, j->result.chip, &j->made.groups);
    struct cw_joined_rows *kernels = cw_arena_alloc(in->arena, 1, sizeof *kernels);
    struct cw_advice_groups *added = cw_arena_alloc(in->arena, 1, sizeof *added);
    if (!kernels || !added)
        return cw_error_nomem(in->err);
    enum cw_status status = cw_joined_rows_make(kernels, j->joined, CW_BY_KERNEL, most_rows(j, in), in->arena, in->err);
    if (status == CW_OK)
        status = cw_rows_advise(&advice, in, j->result.chip, &kernels->groups);
    if (status == CW_OK && advice)
        status = cw_advise_groups(added, advice, &j->made.groups, in->arena, in->err);
    j->rows.advice_groups = status == CW_OK && advice ? added : NULL;
    return status;
}

/* ---- forms ------------------------------------------------------------------------------------------------------ */

/* Evaluates every range by itself, for the launches that refer to it. Streamed: writes them one after another. */
static enum cw_status evaluate_ranges(struct join *j, const struct cw_view_input *in, bool streamed)
{
    struct cw_view_input silent = *in; /* the rows added all notices */
    silent.notices = NULL;
    j->each.streamed = streamed;
    return cw_view_evaluate_wanted(&j->each, &silent, NULL);
}

static enum cw_status put_launches(struct counterworks_view *view, struct join *j, const struct cw_view_input *in)
{
    CW_TRY(evaluate_ranges(j, in, false));
    return cw_output_joined_launches(&view->output, &j->rows, &j->each, NULL, in->arena, in->err);
}

static enum cw_status add_ranges(struct counterworks_view *view, struct join *j, const struct cw_view_input *in)
{
    enum cw_status status = evaluate_ranges(j, in, true);
    if (status == CW_OK)
        status = cw_view_output(&j->ranges, in, &j->each);
    if (status == CW_OK)
        view->output.tables[view->output.table_count++] = j->ranges.tables[0];
    return status;
}

static enum cw_status make_table(struct counterworks_view *view, struct join *j, const struct cw_view_input *in)
{
    const bool full = in->request->full;
    CW_TRY(make_rows(j, in, in->request->top));
    CW_TRY(cw_rows_evaluate(&j->result, &j->rows, &j->made.counted, in, cw_view_evaluate_wanted));
    CW_TRY(cw_rows_output(&view->output, in, &j->result, &j->rows));
    if (j->by_launch && !full)
        CW_TRY(put_launches(view, j, in));
    if (full)
        CW_TRY(add_ranges(view, j, in));
    return cw_joined_add_tables(&view->output, &j->rows, full, in->arena, in->err);
}

/* Limiters and findings need no metrics from the request; named metrics stand beside them. */
static enum cw_status make_list(struct counterworks_view *view, struct join *j, const struct cw_view_input *in)
{
    const struct counterworks_request *o = in->request;
    const bool named = o->every || o->metrics.count;
    enum cw_status status = make_rows(j, in, o->top ? o->top : LIST_TOP);
    if (status == CW_OK)
        status = cw_sections_load(&j->sections, in->chip->folder, "sections", in->arena, in->err);
    if (status == CW_OK)
        status = add_advice(j, in);
    if (status == CW_OK && named) {
        status = cw_rows_evaluate(&j->result, &j->rows, &j->made.counted, in, cw_view_evaluate_wanted);
        j->rows.asked = j->result.metric_count;
    } else if (status == CW_OK) {
        j->result.data = &j->made.groups.data;
        j->result.metric_count = 0;
    }
    return status == CW_OK ? cw_rows_output(&view->output, in, &j->result, &j->rows) : status;
}

/* Finds the ranges of launches once for all forms. */
static enum cw_status match(struct join *j, const struct cw_view_input *in)
{
    struct cw_view_shared *shared = j->shared;
    enum cw_status status = CW_OK;
    if (!shared->joined) {
        struct cw_joined *made = cw_arena_alloc(shared->arena, 1, sizeof *made);
        status =
            made ? cw_joined_make(made, &shared->timeline, &in->capture->data, in->chip->chip, shared->arena, in->err)
                 : cw_error_nomem(in->err);
        shared->joined = status == CW_OK ? made : NULL;
    }
    j->joined = shared->joined;
    return status;
}

static enum cw_status join_ranges(struct counterworks_view *view, struct join *j, const struct cw_view_input *in)
{
    CW_TRY(cw_view_begin(&j->result, in));
    CW_TRY(match(j, in));
    if (j->samples)
        CW_TRY(cw_view_load_instructions(&j->instructions, &j->raw, NULL, j->samples, in->notices, in->arena, in->err));
    if (j->samples)
        CW_TRY(cw_joined_samples_make(&j->hot, j->joined, &j->instructions, in->arena, in->err));
    return in->request->form == COUNTERWORKS_LIST ? make_list(view, j, in) : make_table(view, j, in);
}

/* ---- PM samples of another run ---------------------------------------------------------------------------------- */

/* Gives kernels the time of the trace, and the means of samples from their launches in the other run. */
static enum cw_status join_samples(struct counterworks_view *view, struct join *j, const struct cw_view_input *in)
{
    const uint32_t top = in->request->top ? in->request->top : LIST_TOP;
    const struct cw_eval_options spans = cw_view_spans(in->request);
    enum cw_status status = cw_source_load(in->capture, in->err);
    if (status == CW_OK)
        status = cw_view_select_wanted(&j->result, in);
    if (status == CW_OK)
        status = cw_result_make(&j->result, &spans, in->arena, in->err);
    if (status == CW_OK && !in->capture->data.pm.launch_count)
        status = cw_error_set(in->err, CW_ERR_USAGE, "%s: found samples without launches, expected some",
                              in->capture->asked);
    if (status == CW_OK)
        status = cw_pm_kernels_make(&j->kernels, &j->result, &j->shared->timeline, in->arena, in->err);
    const uint32_t shown = j->kernels.count < top ? j->kernels.count : top;
    return status == CW_OK ? cw_output_pm_ranges(&view->output, &j->result, &j->kernels, shown, j->trace->source,
                                                 in->arena, in->err)
                           : status;
}

static enum cw_status check_samples(const struct cw_view_input *in)
{
    const struct counterworks_request *o = in->request;
    const char *option = o->by && strcmp(o->by, "kernel") != 0 ? "--by"
                         : o->filters.count                    ? "--filter"
                         : o->sort                             ? "--sort"
                                                               : NULL;
    return option ? cw_error_set(in->err, CW_ERR_USAGE,
                                 "%s: found %s, expected none with PM samples, which are joined by kernel",
                                 in->capture->asked, option)
                  : CW_OK;
}

/* ---- all -------------------------------------------------------------------------------------------------------- */

static enum cw_status check_kind(const struct counterworks_capture *capture, bool good, const char *expected,
                                 struct cw_error *err)
{
    return good ? CW_OK
                : cw_error_set(err, CW_ERR_USAGE, "%s: found %s, expected %s", capture->asked,
                               cw_profiler_texts[capture->data.schema.profiler], expected);
}

static enum cw_status check_inputs(const struct cw_view_input *in, const struct counterworks_capture *trace,
                                   const struct counterworks_capture *samples)
{
    static const char *const by[] = {"kernel", "family", "range", "fold", "nvtx", "device", "rank", "stream", "launch"};
    const enum cw_profiler of = in->capture->data.schema.profiler;
    const bool pm = of == CW_PROFILER_PM;
    CW_TRY(check_kind(trace, trace->data.schema.profiler == CW_PROFILER_TRACE, "a trace to join", in->err));
    CW_TRY(check_kind(in->capture, pm || of == CW_PROFILER_RANGE,
                      "a capture of ranges or of samples over time beside the trace", in->err));
    if (samples)
        CW_TRY(check_kind(samples, samples->data.schema.profiler == CW_PROFILER_PC, "PC samples", in->err));
    return pm ? check_samples(in) : cw_view_check_by(in, by, sizeof by / sizeof *by);
}

static void free_join(void *owned)
{
    cw_view_share_free(&((struct join *)owned)->own);
}

enum cw_status cw_view_join(struct counterworks_view *view, const struct cw_view_input *in,
                            struct counterworks_capture *trace, struct counterworks_capture *samples)
{
    struct join *j = cw_arena_alloc(in->arena, 1, sizeof *j);
    struct cw_view_input of_trace = *in;
    const char *by = in->request->by;
    const bool pm = in->capture->data.schema.profiler == CW_PROFILER_PM;
    *view = (struct counterworks_view){.arena = in->arena};
    if (!j)
        return cw_error_nomem(in->err);
    view->free = free_join;
    view->owned = j;
    j->own.arena = in->arena;
    j->shared = in->shared ? in->shared : &j->own;
    j->trace = trace;
    j->samples = samples;
    j->by_launch = by && strcmp(by, "launch") == 0;
    j->by = by && !j->by_launch ? cw_rows_find_by(by) : CW_BY_KERNEL;
    of_trace.capture = trace;
    enum cw_status status =
        cw_view_check_taken(in, CW_TAKES_BY | CW_TAKES_ROWS | CW_TAKES_TOP | CW_TAKES_METRICS | CW_TAKES_EVERY, "join");
    if (status == CW_OK)
        status = check_inputs(in, trace, samples);
    if (status == CW_OK) {
        cw_tell_incomplete(trace, in->notices);
        cw_tell_incomplete(in->capture, in->notices);
    }
    if (status == CW_OK && !pm && !in->capture->data.range_count)
        status = cw_error_set(in->err, CW_ERR_INPUT, "%s: found no ranges, expected some to join", in->capture->asked);
    if (status == CW_OK)
        status = cw_view_share_timeline(j->shared, &of_trace);
    if (status == CW_OK)
        status = cw_view_need_rows(&j->shared->timeline, &of_trace);
    if (status == CW_OK)
        status = pm ? join_samples(view, j, in) : join_ranges(view, j, in);
    return status;
}
