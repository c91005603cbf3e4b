/* metric-eval ranks: how the ranks of a parallel job differ. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/progress.h"
#include "cli/common/cli.h"
#include "cli/eval/run.h"
#include "eval/output/ranks_output.h"
#include "report/report.h"

enum { BATCH = 32 << 20 }; /* bytes of files that are looked at together */

struct ranks_options {
    struct cw_eval_request eval;
    enum by { KERNEL, FAMILY, NVTX } by;
};

/* What lasts longer than a batch. The first batch stays: all others have to be of its plan. */
struct work {
    const struct ranks_options *o;
    struct cw_ranks ranks;
    struct cw_job_ranks job;
    struct cw_eval_run first;
    struct cw_eval_request request;
    struct cw_new_files outputs;
    bool begun, complete;
    uint32_t asked, cause[CW_CAUSE__COUNT];
    struct cw_arena *arena;
    struct cw_error *err;
};

static void check_options(void *options, struct argp_state *state)
{
    struct ranks_options *o = options;
    if (!o->eval.word_count)
        cw_usage_error(state, "found no capture, expected files, a folder or @LIST");
    o->eval.capture = o->eval.words[0];
}

static const struct cw_option option_list[] = {
    {"by", 0, "kernel|family|nvtx",
     "what is compared: launches of one kernel and shape (default), of a family of kernels, or of one NVTX range",
     CW_OPTION_CHOICE(struct ranks_options, by)},
    {"output", 'o', "FILE", "write HDF5; - is standard output", CW_OPTION_TEXT(struct ranks_options, eval.hdf5)},
    {"report", 0, "FILE", "write a page of HTML that shows the job; it opens in a browser, without a network",
     CW_OPTION_TEXT(struct ranks_options, eval.report.path)},
    {"csv", 0, "FILE", "write CSV; - is standard output", CW_OPTION_TEXT(struct ranks_options, eval.csv)},
    {"json", 0, "FILE", "write JSON; - is standard output", CW_OPTION_TEXT(struct ranks_options, eval.json)},
    {"top", 0, "N", "show the first N of kernels, slow ranks and metrics (default: 10); files have all",
     CW_OPTION_NUMBER(struct ranks_options, eval.top, 1, UINT32_MAX)},
    {"quiet", 'q', NULL, "only the data: no summary, no notices", CW_OPTION_FLAG(struct ranks_options, eval.quiet)},
    {CW_OPTION_GROUP(struct ranks_options, eval.ranges, cw_eval_ranges_options)},
    {CW_OPTION_WORDS(struct ranks_options, eval.words, eval.word_count)},
    {CW_OPTION_CHECK(check_options)},
    {CW_OPTION_GROUP(struct ranks_options, eval.force, cw_cli_force_options)},
    {CW_OPTION_GROUP(struct ranks_options, eval.sources, cw_metric_sources_options)},
    {CW_OPTION_GROUP(struct ranks_options, eval, cw_eval_value_options)},
    {0},
};

/* Behind the metrics that were asked for, those that tell why a rank is slow, where the chip has them. */
static enum cw_status add_causes(struct work *w, struct cw_eval_run *r)
{
    struct cw_result *wanted = &r->result;
    struct cw_metric *all = cw_arena_alloc(r->arena, wanted->metric_count + CW_CAUSE__COUNT, sizeof *all);
    if (!all)
        return cw_error_nomem(r->err);
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

/* Whether the batch is of the plan of the first. */
static enum cw_status check_plan(const struct work *w, const struct cw_eval_run *r)
{
    const struct cw_schema *first = &w->first.capture->data.schema, *schema = &r->capture->data.schema;
    const char *difference = cw_schema_difference(schema, first, r->arena);
    if (!difference)
        return cw_error_nomem(r->err);
    return !*difference ? CW_OK
                        : cw_error_set(r->err, CW_ERR_USAGE,
                                       "%s: found a capture of another plan than %s, expected the same: %s",
                                       r->files.paths[0], w->first.files.paths[0], difference);
}

static enum cw_status open_batch(struct work *w, struct cw_eval_run *r)
{
    enum cw_status status = cw_eval_load_capture(r);
    if (status == CW_OK)
        status = cw_eval_need_ranges(r, "", "");
    if (status == CW_OK && !w->begun)
        return cw_eval_load_chip(r);
    if (status == CW_OK)
        status = check_plan(w, r);
    r->chip = w->first.chip;
    return status == CW_OK ? cw_lib_begin(&r->result, r->capture, r->chip, r->arena, r->err) : status;
}

static enum cw_status evaluate_batch(struct work *w, struct cw_eval_run *r)
{
    static const enum cw_group_by by[] = {[KERNEL] = CW_BY_KERNEL, [FAMILY] = CW_BY_FAMILY, [NVTX] = CW_BY_NVTX};
    const struct cw_counter_data *data = &r->capture->data;
    struct cw_groups *groups = cw_arena_alloc(r->arena, 1, sizeof *groups);
    bool *keep = cw_arena_alloc(r->arena, data->range_count, sizeof *keep);
    enum cw_status status = groups && keep ? cw_eval_select(r) : cw_error_nomem(r->err);
    if (status == CW_OK)
        status = add_causes(w, r);
    if (status == CW_OK)
        status = cw_eval_match_ranges(keep, r, &r->o->ranges);
    if (status == CW_OK)
        status = cw_groups_make_of_ranks(groups, by[w->o->by], data, r->result.chip, keep, r->arena, r->err);
    r->result.data = &groups->data;
    if (status == CW_OK)
        status = cw_result_make(&r->result, &r->o->eval, r->arena, r->err);
    return status == CW_OK ? cw_ranks_add(&w->ranks, groups, data, &r->result, w->asked, w->cause, r->err) : status;
}

static enum cw_status take_batch(struct work *w, struct cw_file_list files)
{
    struct cw_arena *arena = w->begun ? cw_arena_create() : w->arena;
    struct cw_eval_run r = {.o = &w->request, .arena = arena, .err = w->err, .info.size = sizeof r.info};
    if (!arena)
        return cw_error_nomem(w->err);
    r.files = files;
    enum cw_status status = open_batch(w, &r);
    if (status == CW_OK)
        status = evaluate_batch(w, &r);
    if (status == CW_OK && !w->o->eval.ranges.ranks) /* of some ranks alone none is missing */
        status = cw_job_ranks_add(&w->job, &r.capture->data, w->err);
    w->complete = w->complete && status == CW_OK && r.capture->data.complete;
    if (status == CW_OK && w->begun)
        cw_eval_tell_incomplete(&r);
    if (!w->begun) {
        w->first = r;
        w->begun = true;
        if (r.chip) /* the other batches lack what this one lacks */
            counterworks_chip_tell(r.chip, NULL, NULL);
        return status;
    }
    counterworks_capture_close(r.capture);
    cw_arena_destroy(arena);
    return status;
}

/* How many files from `first` on make a batch. */
static size_t count_batch(const struct cw_file_list *files, size_t first)
{
    uint64_t bytes = 0;
    size_t i = first;
    for (; i < files->count && (i == first || bytes < BATCH); i++) {
        struct stat st;
        bytes += stat(files->paths[i], &st) == 0 && st.st_size > 0 ? (uint64_t)st.st_size : 0;
    }
    return i - first;
}

static enum cw_status take_all(struct work *w, const struct cw_file_list *files)
{
    enum cw_status status = CW_OK;
    w->complete = true;
    cw_progress_begin(w->o->eval.quiet, false, "comparing %zu captures", files->count);
    for (size_t i = 0, n; i < files->count && status == CW_OK; i += n) {
        cw_progress_at(i, files->count);
        n = count_batch(files, i);
        status = take_batch(w, (struct cw_file_list){files->paths + i, n});
    }
    cw_progress_end();
    return status == CW_OK ? cw_ranks_compare(&w->ranks, w->err) : status;
}

static enum cw_status write_page(struct work *w, const struct cw_ranks_view *view)
{
    const struct cw_report_capture capture = {.source = view->source, .data = view->data};
    const struct cw_report page = {.captures = &capture,
                                   .capture_count = 1,
                                   .job = view,
                                   .data_folder = w->first.chip->folder,
                                   .hdf5 = w->o->eval.hdf5,
                                   .arena = w->arena};
    return cw_new_files_print(&w->outputs, w->o->eval.report.path, cw_report_write, &page, w->err);
}

static enum cw_status write_all(struct work *w, const char *source)
{
    struct cw_counter_data shared = w->first.capture->data;
    struct cw_error lost = CW_ERROR_INIT;
    struct cw_result metrics = w->first.result;
    const struct cw_ranks_view view = {.ranks = &w->ranks,
                                       .metrics = &metrics,
                                       .data = &shared,
                                       .job = &w->job,
                                       .source = source,
                                       .top = w->o->eval.top,
                                       .err = &lost};
    struct cw_output output;
    cw_job_ranks_sort(&w->job);
    metrics.metric_count = w->asked;
    shared.device_count = shared.device_count > 0;
    shared.range_count = shared.clocks_count = 0;
    shared.complete = w->complete;
    enum cw_status status = cw_output_ranks(&output, &view, w->arena, w->err);
    if (status == CW_OK && w->o->eval.report.path)
        status = write_page(w, &view);
    w->first.outputs = &w->outputs;
    if (status == CW_OK)
        status = cw_eval_write(&w->first, &output);
    if (status == CW_OK && lost.code != CW_OK)
        *w->err = lost;
    return status == CW_OK ? lost.code : status;
}

static enum cw_status compare(const void *options, struct counterworks_chip *chip, struct cw_arena *arena,
                              struct cw_error *err)
{
    static const enum cw_group_by by[] = {[KERNEL] = CW_BY_KERNEL, [FAMILY] = CW_BY_FAMILY, [NVTX] = CW_BY_NVTX};
    const struct ranks_options *o = options;
    struct work w = {.o = o, .request = o->eval, .arena = arena, .err = err};
    struct cw_eval_run all = {.o = &o->eval, .arena = arena, .err = err};
    (void)chip;
    w.request.ranges.or_none = true;
    cw_hdf5_begin();
    enum cw_status status = cw_eval_check_outputs(&all);
    if (status == CW_OK)
        status = cw_ranks_begin(&w.ranks, by[o->by], err);
    if (status == CW_OK)
        status = take_all(&w, &all.files);
    if (status == CW_OK)
        status = write_all(&w, cw_eval_name_files(&all));
    cw_new_files_close(&w.outputs, false, err);
    cw_ranks_finish(&w.ranks);
    cw_job_ranks_free(&w.job);
    counterworks_capture_close(w.first.capture);
    counterworks_chip_close(w.first.chip);
    return status;
}

int cw_eval_ranks(int argc, char **argv)
{
    static const struct cw_usage usage = {
        option_list, "RUN.cwd|FOLDER|@LIST...",
        "Compares the ranks of a parallel job: for each kernel how its time and metrics are distributed over ranks, "
        "which ranks are slow, and why; and which ranks of the job are missing. Without -m or --set the metrics are "
        "those of the plan.\v"
        "Example:\n  metric-eval ranks run.*.cwd\n  metric-eval ranks ranks/ --by nvtx --json -\n"
        "  metric-eval ranks ranks/ --set speed-of-light -o ranks.h5\n  metric-eval ranks ranks/ --report ranks.html"};
    struct ranks_options options = {.eval.by_block = true};
    return cw_cli_run(&usage, argc, argv, &options, NULL, compare);
}
