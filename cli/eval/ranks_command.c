/* metric-eval ranks: differences between the ranks of a parallel job. */
#include "base/progress.h"
#include "cli/common/cli.h"
#include "cli/eval/session.h"

struct ranks {
    struct cw_eval_line line; /* first member; cw_eval_command takes it */
    enum { KERNEL, FAMILY, NVTX } by;
};

static void check_options(void *ranks, struct argp_state *state)
{
    static const char *const by[] = {"kernel", "family", "nvtx"};
    struct ranks *o = ranks;
    if (!o->line.word_count)
        cw_usage_error(state, "found no capture, expected files, a folder or @LIST");
    o->line.request.by = by[o->by];
}

static const struct cw_option option_list[] = {
    {"by", 0, "kernel|family|nvtx",
     "compare launches of one kernel and shape (default), of a family of kernels, or of one NVTX range",
     CW_OPTION_CHOICE(struct ranks, by)},
    {CW_OPTION_GROUP(struct ranks, line, cw_eval_file_options)},
    {CW_OPTION_GROUP(struct ranks, line, cw_eval_report_options)},
    {"top", 0, "N", "show the first N of kernels, slow ranks and metrics, or all (default: 10); files have all",
     CW_OPTION_OR_ALL, CW_OPTION_NUMBER(struct ranks, line.request.top, 1, UINT32_MAX)},
    {CW_OPTION_GROUP(struct ranks, line, cw_eval_quiet_options)},
    {CW_OPTION_GROUP(struct ranks, line, cw_eval_ranges_options)},
    {CW_OPTION_WORDS(struct ranks, line.words, line.word_count)},
    {CW_OPTION_CHECK(check_options)},
    {CW_OPTION_GROUP(struct ranks, line.sources, cw_metric_sources_options)},
    {CW_OPTION_GROUP(struct ranks, line, cw_eval_value_options)},
    {0},
};

/* Keeps the first batch open: all others must be of its plan. */
static enum cw_status take_first(struct cw_eval_session *s, struct cw_view_job **job,
                                 const struct cw_source_files *files)
{
    CW_TRY(cw_eval_open_files(s, &s->main, files));
    CW_TRY(cw_eval_open_chip(s, &s->main));
    CW_TRY(cw_eval_gather(s, s->main.chip));
    const struct cw_view_input in = cw_eval_input(s, &s->main, &s->request);
    CW_TRY(cw_view_job_begin(job, &in));
    return cw_view_job_add(*job, s->main.capture, s->arena);
}

static enum cw_status take_all(struct cw_eval_session *s, struct cw_view_job **job)
{
    const size_t begun = cw_view_job_batch(&s->found, 0);
    const struct cw_file_list some = {.paths = s->found.paths, .count = begun};
    struct cw_rank_origins origins = {.arena = s->arena};
    struct cw_source_files all = cw_eval_files(s, false);
    all.origins = &origins;
    struct cw_source_files first = all;
    first.found = &some;
    cw_progress_begin(s->o->quiet, false, "comparing %zu capture%s", s->found.count, s->found.count == 1 ? "" : "s");
    enum cw_status status = take_first(s, job, &first);
    if (status == CW_OK)
        status = cw_view_job_add_files(*job, &all, begun);
    cw_progress_end();
    if (status == CW_OK)
        cw_source_tell_ranks(&origins, s->o->quiet ? NULL : &s->notices);
    return status;
}

static enum cw_status compare(struct cw_eval_session *s)
{
    const struct cw_eval_line *o = s->o;
    struct counterworks_view view = {0};
    struct cw_view_job *job = NULL;
    CW_TRY(cw_eval_check_outputs(s));
    const struct cw_source_files of = cw_eval_files(s, false);
    enum cw_status status = take_all(s, &job);
    if (status == CW_OK)
        status = cw_view_job_finish(&view, job, cw_source_name(&s->found, &of, s->arena), o->hdf5);
    if (status == CW_OK && o->page)
        status = cw_eval_write_to(s, &view, CW_VIEW_HTML, o->page);
    if (status == CW_OK)
        status = cw_eval_write(s, &view, CW_EVAL_ALL);
    if (status == CW_OK && cw_eval_prints(o))
        status = cw_eval_print(s, &view);
    cw_view_job_free(job);
    return status;
}

int cw_eval_ranks(int argc, char **argv)
{
    static const struct cw_usage usage = {
        option_list, "RUN.cwd|FOLDER|@LIST...",
        "Compares the ranks of a parallel job: for each kernel the distribution of its time and metrics over ranks, "
        "and the slow ranks, with the reason. Lists missing ranks of the job. Without -m or --set it takes the metrics "
        "of the plan.\v"
        "Example:\n  $0 run.*.cwd\n  $0 ranks/ --by nvtx --format json\n"
        "  $0 ranks/ --set speed-of-light -o ranks.h5\n  $0 ranks/ -o ranks.html"};
    struct ranks options = {.line = {.run = compare, .takes = CW_EVAL_TABLES | CW_EVAL_PAGE}};
    return cw_eval_command(&usage, argc, argv, &options.line);
}
