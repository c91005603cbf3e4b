/* metric-eval: counter data to metrics. */
#include <stdio.h>
#include <string.h>

#include "cli/common/cli.h"
#include "cli/eval/native_reference.h"
#include "cli/eval/session.h"

struct evaluate {
    struct cw_eval_line line;   /* first: it is what runs */
    const char *check, *native; /* to compare with */
};

/* ---- command line ----------------------------------------------------------------------------------------------- */

/* "--check --native FILE" means --native FILE. */
static void read_check(void *check, char *text, struct argp_state *state)
{
    if (strcmp(text, "--native") == 0)
        state->next--;
    else
        *(const char **)check = text;
}

static const char *option_of_selection(const struct counterworks_request *r, const struct cw_eval_line *o)
{
    return r->ranks            ? "--rank"
           : r->ranges         ? "--range"
           : o->kernels.count  ? "--kernel"
           : o->excluded.count ? "--exclude"
                               : NULL;
}

static void check_options(void *evaluate, struct argp_state *state)
{
    const struct evaluate *e = evaluate;
    const struct cw_eval_line *o = &e->line;
    const bool metrics = o->sources.count || o->request.every, output = cw_eval_writes(o) || o->page;
    const bool chosen = option_of_selection(&o->request, o) != NULL;
    if (metrics && o->sources.count && o->request.every)
        cw_usage_error(state, "found --all and other metrics, expected one of them");
    if (o->request.every && o->page && !cw_eval_writes(o))
        cw_usage_error(state, "found --all with --report, expected metrics by -m or --set beside those of the plan");
    if (e->check && (metrics || output || chosen || e->native))
        cw_usage_error(state,
                       "found --check with metrics, ranges or outputs, expected it alone: the file names the metrics");
    if (e->native && (output || chosen))
        cw_usage_error(state, "found --native with ranges or outputs, expected none");
    if (!o->page && (o->with.count || o->baseline))
        cw_usage_error(state, "found %s without --report, expected both", o->baseline ? "--baseline" : "--with");
}

static const struct cw_option option_list[] = {
    {"all", 0, NULL, "every metric whose counters the capture holds",
     CW_OPTION_FLAG(struct evaluate, line.request.every)},
    {CW_OPTION_GROUP(struct evaluate, line, cw_eval_file_options)},
    {"by", 0, CW_EVAL_BY_ALL, /* --help would put words far behind so long a value, where they did not begin a line */
     "\na row for all launches of a kernel (the default of the table), for a family of kernels, whose names differ in "
     "template arguments and sizes, for each range, for each range but one for all that were multiplexed and are alike "
     "(fold: the default of CSV, JSON and HDF5), or for all ranges of an NVTX range, a device, a rank or a stream; of "
     "a trace also by process, kind of copy, call, CUDA graph or each name of NVTX ranges (by nvtx \"step 1\" and "
     "\"step 2\" are one)",
     CW_OPTION_TAKE(cw_eval_take_any_by)},
    {"kind", 0, "KINDS", "of a trace: files have the rows of these kinds alone, as in kernel,copy; CSV needs one",
     CW_OPTION_TEXT(struct evaluate, line.request.kinds)},
    {CW_OPTION_GROUP(struct evaluate, line, cw_eval_row_options)},
    {"source-path", 0, "FOLDER",
     "where source files are, for the text of lines of PC samples and SASS metrics; may be "
     "repeated",
     .called = "folders", CW_OPTION_LIST(struct evaluate, line.folders.items, line.folders.count)},
    {"wide", 0, NULL, "each row in full, with all of its metrics", CW_OPTION_FLAG(struct evaluate, line.request.wide)},
    {CW_OPTION_GROUP(struct evaluate, line, cw_eval_quiet_options)},
    {CW_OPTION_GROUP(struct evaluate, line, cw_eval_ranges_options)},
    {"check", 0, "FILE", "compare with values recorded in a JSON file",
     CW_OPTION_READ(struct evaluate, check, read_check)},
    {"native", 0, "FILE",
     "compare with NVIDIA's evaluator, on the native counter data of the same run (FILE, FILE.1, FILE.2, ...): the "
     "metrics that are named, or every metric whose counters the capture holds; needs NVIDIA's host library",
     CW_OPTION_TEXT(struct evaluate, native)},
    {"report", 0, "FILE", "write a page of HTML that shows the capture; it opens in a browser, without a network",
     CW_OPTION_TEXT(struct evaluate, line.page)},
    {"with", 0, "MORE.cwd",
     "show this capture of the same program on the page as well: of ranges, samples over time, PC samples, SASS "
     "metrics or a trace; may be repeated",
     .called = "captures", CW_OPTION_LIST(struct evaluate, line.with.items, line.with.count)},
    {"baseline", 0, "OLD.cwd", "compare the page's kernels with those of this capture of ranges",
     CW_OPTION_TEXT(struct evaluate, line.baseline)},
    {CW_OPTION_GROUP(struct evaluate, line, cw_eval_capture_options)},
    {CW_OPTION_CHECK(check_options)},
    {CW_OPTION_GROUP(struct evaluate, line.sources, cw_metric_sources_options)},
    {CW_OPTION_GROUP(struct evaluate, line, cw_eval_value_options)},
    {0},
};

/* ---- comparison with values of others --------------------------------------------------------------------------- */

static enum cw_status check_values(struct cw_eval_session *s)
{
    const struct evaluate *e = (const struct evaluate *)s->o;
    const struct counterworks_names *named = &s->request.metrics;
    const struct cw_view_input in = cw_eval_input(s, &s->main, &s->request);
    const struct cw_eval_options spans = cw_view_spans(&s->request);
    struct cw_reference reference;
    struct cw_result result = {0};
    enum cw_status status = cw_source_load(s->main.capture, s->err);
    if (status == CW_OK && e->check)
        status = cw_reference_load(&reference, e->check, s->arena, s->err);
    if (status == CW_OK && e->check)
        status = cw_view_evaluate_names(&result, &in, NULL, reference.metrics, reference.metric_count);
    else if (status == CW_OK)
        status = cw_view_evaluate_names(&result, &in, NULL, named->count ? named->names : NULL, named->count);
    if (status == CW_OK && e->native)
        status = cw_native_reference_load(&reference, e->native, &result, &spans, s->arena, s->err);
    cw_eval_tell(s);
    return status == CW_OK ? cw_reference_compare(&reference, &result, stdout, s->err) : status;
}

/* ---- views ------------------------------------------------------------------------------------------------------ */

/* A view in an arena of its own: a file needs much of each range that is left when it is written. */
static enum cw_status put(struct cw_eval_session *s, const struct counterworks_request *request)
{
    struct cw_view_input in = cw_eval_input(s, &s->main, request);
    struct counterworks_view view = {0};
    in.arena = cw_arena_create();
    in.shared = &s->shared;
    enum cw_status status = in.arena ? cw_view_make(&view, &in) : cw_error_nomem(s->err);
    if (status == CW_OK)
        status = request->form == COUNTERWORKS_LIST ? cw_eval_print(s, &view) : cw_eval_write(s, &view, CW_EVAL_ALL);
    cw_view_free(&view);
    cw_arena_destroy(in.arena);
    return status;
}

static enum cw_status put_all(struct cw_eval_session *s)
{
    const struct cw_eval_line *o = s->o;
    struct counterworks_request table = s->request, list = s->request;
    enum cw_status status = CW_OK;
    table.form = COUNTERWORKS_TABLE;
    table.full = o->hdf5;
    table.single = o->csv;
    list.form = COUNTERWORKS_LIST;
    if (cw_eval_writes(o))
        status = put(s, &table);
    list.beside_file = cw_eval_writes(o);
    list.kinds = cw_eval_writes(o) ? NULL : list.kinds;
    return status == CW_OK && cw_eval_prints(o) ? put(s, &list) : status;
}

/* ---- all -------------------------------------------------------------------------------------------------------- */

/* Options of the command that some captures do not take. */
static enum cw_status check_capture(struct cw_eval_session *s)
{
    const struct evaluate *e = (const struct evaluate *)s->o;
    const struct cw_eval_line *o = s->o;
    const enum cw_profiler profiler = s->main.capture->data.schema.profiler;
    const char *compared = e->check ? "--check" : e->native ? "--native" : NULL, *asked = s->main.capture->asked;
    const char *database = o->chip.file ? "--chip-file" : o->chip.count ? "--metrics-db" : NULL;
    const bool alone = o->page && !cw_eval_writes(o);
    if (alone && o->sources.count && profiler != CW_PROFILER_RANGE)
        return cw_error_set(s->err, CW_ERR_USAGE,
                            "%s: found metrics for a page, expected none: only captures of ranges take them", asked);
    if (alone)
        return CW_OK;
    if (profiler == CW_PROFILER_TRACE && (compared || database))
        return cw_error_set(s->err, CW_ERR_USAGE, "%s: found %s, expected none for a trace, which has no metrics",
                            asked, compared ? compared : database);
    if (profiler == CW_PROFILER_TRACE && o->folders.count)
        return cw_error_set(s->err, CW_ERR_USAGE, "%s: found --source-path, expected none for a trace", asked);
    if (profiler == CW_PROFILER_PM && e->check)
        return cw_view_need_ranges(s->main.capture, " for ", compared, s->err);
    if (compared && profiler != CW_PROFILER_RANGE && profiler != CW_PROFILER_PM)
        return cw_error_set(s->err, CW_ERR_USAGE, "%s: found %s, expected no such option for a capture of %s", asked,
                            compared, cw_profiler_texts[profiler]);
    return CW_OK;
}

static enum cw_status run(struct cw_eval_session *s)
{
    const struct evaluate *e = (const struct evaluate *)s->o;
    const struct cw_eval_line *o = s->o;
    enum cw_status status = cw_eval_check_outputs(s);
    const struct cw_source_files files = cw_eval_files(s, e->check || e->native);
    if (status == CW_OK)
        status = cw_eval_open_files(s, &s->main, &files);
    if (status == CW_OK)
        status = check_capture(s);
    if (status == CW_OK)
        status = cw_eval_open_chip(s, &s->main);
    if (status == CW_OK)
        status = cw_eval_gather(s, s->main.chip);
    if (status == CW_OK && o->page)
        status = cw_eval_page(s);
    if (status != CW_OK || (o->page && !cw_eval_writes(o)))
        return status;
    return e->check || e->native ? check_values(s) : put_all(s);
}

static const struct cw_usage_command commands[] = {
    {"show", "what a capture holds", cw_eval_show},
    {"explain", "how a value came about", cw_eval_explain},
    {"merge", "several captures as one", cw_eval_merge},
    {"index", "find the ranks of a job faster", cw_eval_index},
    {"ranks", "how the ranks of a parallel job differ", cw_eval_ranks},
    {"advise", "what limits each kernel, and what to change", cw_eval_advise},
    {"diff", "what changed between two captures", cw_eval_diff},
    {"export", "a capture for other programs", cw_eval_export},
    {"join", "a trace with the metrics of its launches", cw_eval_join},
    {"gate", "whether a run is worse than another, for CI", cw_eval_gate},
};
enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

static int evaluate(int argc, char **argv)
{
    static const struct cw_usage usage = {
        option_list, "RUN.cwd...\nCOMMAND ...",
        "Evaluates the metrics of a capture, and prints a table or writes HDF5, CSV or JSON. Without -m, --set or "
        "--all these are the metrics of the plan. Needs no GPU and no NVIDIA software.\v"
        "\"metric-eval COMMAND --help\" explains a command.\n\n"
        "Example:\n  metric-eval run.cwd\n  metric-eval run.cwd --set speed-of-light --range gemm -o run.h5\n"
        "  metric-eval trace.cwd --by nvtx\n"
        "  metric-eval run.cwd -m sm__inst_executed.sum --csv -\n"
        "  metric-eval explain run.cwd lts__t_sector_hit_rate.pct --range gemm\n"
        "  metric-eval --check values.json run.cwd\n  metric-eval --check --native run.native run.cwd",
        commands, COMMAND_COUNT};
    struct evaluate options = {.line.run = run};
    return cw_eval_command(&usage, argc, argv, &options.line);
}

int main(int argc, char **argv)
{
    cw_cli_init();
    return cw_usage_run_or(argc, argv, commands, COMMAND_COUNT, evaluate);
}
