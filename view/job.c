/* Views of the ranks of a parallel job. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/progress.h"
#include "eval/compare/ranks.h"
#include "eval/output/ranks_output.h"
#include "image/schema.h"
#include "metricdb/metric.h"
#include "report/report.h"
#include "view/compare.h"
#include "view/metrics.h"
#include "view/selection.h"
#include "view/source.h"

enum { TOP = 10 };
enum { BATCH = 32 << 20 }; /* bytes of files that are open together */

/* All captures are of the first's plan. */
struct cw_view_job {
    struct cw_view_input in; /* of the first */
    enum cw_group_by by;
    struct cw_ranks ranks;
    struct cw_job_ranks job;
    struct cw_result first;
    bool begun, complete;
    uint32_t asked, cause[CW_CAUSE__COUNT];
    /* for the view: */
    struct cw_result metrics;
    struct cw_counter_data shared;
    struct cw_ranks_view shown;
    struct cw_report_capture capture;
    struct cw_report page;
};

/* Adds, behind the wanted metrics, metrics that explain a slow rank, as far as the chip has them. */
static enum cw_status add_causes(struct cw_view_job *w, struct cw_result *wanted, struct cw_arena *arena)
{
    struct cw_metric *all = cw_arena_alloc(arena, wanted->metric_count + CW_CAUSE__COUNT, sizeof *all);
    if (!all)
        return cw_error_nomem(w->in.err);
    w->asked = wanted->metric_count;
    if (w->asked)
        memcpy(all, wanted->metrics, w->asked * sizeof *all);
    for (int c = 0; c < CW_CAUSE__COUNT; c++) {
        w->cause[c] = CW_NO_CAUSE;
        for (int i = 0; i < 3 && cw_rank_causes[c][i] && w->cause[c] == CW_NO_CAUSE; i++) {
            struct cw_metric *m = &all[wanted->metric_count];
            if (cw_metric_parse(m, wanted->chip, cw_rank_causes[c][i], NULL) == CW_OK)
                w->cause[c] = wanted->metric_count++;
        }
    }
    wanted->metrics = all;
    return CW_OK;
}

static enum cw_status check_plan(const struct cw_view_job *w, const struct counterworks_capture *capture,
                                 struct cw_arena *arena)
{
    const char *difference = cw_schema_difference(&capture->data.schema, &w->in.capture->data.schema, arena);
    if (!difference)
        return cw_error_nomem(w->in.err);
    return !*difference ? CW_OK
                        : cw_error_set(w->in.err, CW_ERR_USAGE,
                                       "%s: found a capture of another plan than %s, expected the same: %s",
                                       capture->first, w->in.capture->first, difference);
}

static enum cw_status evaluate(struct cw_view_job *w, const struct cw_view_input *in, struct cw_result *result)
{
    const struct cw_eval_options spans = cw_view_spans(in->request);
    const struct cw_counter_data *data = &in->capture->data;
    struct cw_groups *groups = cw_arena_alloc(in->arena, 1, sizeof *groups);
    const bool *keep;
    if (!groups)
        return cw_error_nomem(in->err);
    CW_TRY(cw_view_select_wanted(result, in));
    CW_TRY(add_causes(w, result, in->arena));
    CW_TRY(cw_view_keep(&keep, in, true));
    CW_TRY(cw_groups_make_of_ranks(groups, w->by, data, result->chip, keep, in->arena, in->err));
    result->data = &groups->data;
    CW_TRY(cw_result_make(result, &spans, in->arena, in->err));
    return cw_ranks_add(&w->ranks, groups, data, result, w->asked, w->cause, in->err);
}

enum cw_status cw_view_job_begin(struct cw_view_job **job, const struct cw_view_input *in)
{
    struct cw_view_job *w = *job = cw_arena_alloc(in->arena, 1, sizeof *w);
    const char *by = in->request->by;
    if (!w)
        return cw_error_nomem(in->err);
    w->in = *in;
    w->by = !by || *by == 'k' ? CW_BY_KERNEL : *by == 'f' ? CW_BY_FAMILY : CW_BY_NVTX;
    w->complete = true;
    CW_TRY(cw_view_check_taken(in, CW_TAKES_LAUNCHES | CW_TAKES_BY | CW_TAKES_TOP | CW_TAKES_METRICS, "ranks"));
    CW_TRY(cw_view_check_by(in, (const char *const[]){"kernel", "family", "nvtx"}, 3));
    return cw_ranks_begin(&w->ranks, w->by, in->err);
}

enum cw_status cw_view_job_add(struct cw_view_job *w, struct counterworks_capture *capture, struct cw_arena *arena)
{
    struct cw_view_input in = w->in;
    struct cw_result result = {0};
    const bool first = !w->begun;
    in.capture = capture;
    in.arena = first ? w->in.arena : arena;
    in.notices = first ? w->in.notices : NULL; /* further captures lack the same metrics */
    w->begun = true;
    enum cw_status status = cw_view_need_ranges(capture, "", "", in.err);
    if (status == CW_OK && !first)
        status = check_plan(w, capture, arena);
    if (status == CW_OK)
        status = evaluate(w, &in, &result);
    if (status == CW_OK && !in.request->ranks) /* with selected ranks, no rank is missing */
        status = cw_job_ranks_add(&w->job, &capture->data, in.err);
    w->complete = w->complete && status == CW_OK && capture->data.complete;
    if (status == CW_OK && !first)
        cw_tell_incomplete(capture, w->in.notices);
    if (first)
        w->first = result;
    return status;
}

size_t cw_view_job_batch(const struct cw_file_list *files, size_t first)
{
    uint64_t bytes = 0;
    size_t i = first;
    for (; i < files->count && (i == first || bytes < BATCH); i++) {
        struct stat st;
        bytes += stat(files->paths[i], &st) == 0 && st.st_size > 0 ? (uint64_t)st.st_size : 0;
    }
    return i - first;
}

static enum cw_status add_batch(struct cw_view_job *w, const struct cw_source_files *files)
{
    struct counterworks_capture *capture = NULL;
    struct cw_arena *arena = cw_arena_create();
    enum cw_status status =
        arena ? cw_source_open(&capture, files, w->in.notices, w->in.err) : cw_error_nomem(w->in.err);
    if (status == CW_OK)
        status = cw_view_job_add(w, capture, arena);
    cw_source_close(capture);
    cw_arena_destroy(arena);
    return status;
}

enum cw_status cw_view_job_add_files(struct cw_view_job *w, const struct cw_source_files *of, size_t begun)
{
    const struct cw_file_list *files = of->found;
    enum cw_status status = CW_OK;
    for (size_t i = begun, n; i < files->count && status == CW_OK; i += n) {
        cw_progress_at(i, files->count);
        n = cw_view_job_batch(files, i);
        const struct cw_file_list some = {.paths = files->paths + i, .count = n};
        struct cw_source_files batch = *of;
        batch.found = &some;
        status = add_batch(w, &batch);
    }
    return status;
}

enum cw_status cw_view_job_finish(struct counterworks_view *view, struct cw_view_job *w, const char *source,
                                  const char *hdf5)
{
    const struct cw_view_input *in = &w->in;
    *view = (struct counterworks_view){.arena = in->arena};
    enum cw_status status = cw_ranks_compare(&w->ranks, in->err);
    if (status != CW_OK)
        return status;
    cw_job_ranks_sort(&w->job);
    w->shared = in->capture->data;
    w->shared.device_count = w->shared.device_count > 0;
    w->shared.range_count = w->shared.clocks_count = 0;
    w->shared.complete = w->complete;
    w->metrics = w->first;
    w->metrics.metric_count = w->asked;
    w->shown = (struct cw_ranks_view){.ranks = &w->ranks,
                                      .metrics = &w->metrics,
                                      .data = &w->shared,
                                      .job = &w->job,
                                      .source = source,
                                      .top = in->request->top,
                                      .err = in->err};
    w->capture = (struct cw_report_capture){.source = source, .data = &w->shared};
    w->page = (struct cw_report){.captures = &w->capture,
                                 .capture_count = 1,
                                 .job = &w->shown,
                                 .data_folder = in->chip->folder,
                                 .hdf5 = hdf5,
                                 .arena = in->arena};
    status = cw_output_ranks(&view->output, &w->shown, in->arena, in->err);
    view->renders[CW_VIEW_HTML] = cw_report_write;
    view->content = &w->page;
    return status;
}

void cw_view_job_free(struct cw_view_job *w)
{
    if (!w)
        return;
    cw_ranks_finish(&w->ranks);
    cw_job_ranks_free(&w->job);
}
