/* metric-eval: counter data to metrics. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/cli.h"
#include "cli/eval/run.h"
#include "cli/eval/native_reference.h"
#include "eval/check.h"

/* ---- command line ----------------------------------------------------------------------------------------------- */

/* "--check --native FILE" means --native FILE. */
static void read_check(void *check, char *text, struct argp_state *state)
{
    if (strcmp(text, "--native") == 0)
        state->next--;
    else
        *(const char **)check = text;
}

static void check_options(void *request, struct argp_state *state)
{
    const struct cw_eval_request *o = request;
    bool metrics = o->sources.count || o->all, output = o->hdf5 || o->csv || o->json || o->report.path;
    if (o->all && o->sources.count)
        cw_usage_error(state, "found --all and other metrics, expected one of them");
    if (o->all && cw_eval_report_alone(o))
        cw_usage_error(state, "found --all with --report, expected metrics by -m or --set beside those of the plan");
    if (o->check && (metrics || output || cw_eval_ranges_option(&o->ranges) || o->native))
        cw_usage_error(state,
                       "found --check with metrics, ranges or outputs, expected it alone: the file names the metrics");
    if (o->native && (output || cw_eval_ranges_option(&o->ranges)))
        cw_usage_error(state, "found --native with ranges or outputs, expected none");
}

static const struct cw_option option_list[] = {
    {"all", 0, NULL, "every metric whose counters the capture holds", CW_OPTION_FLAG(struct cw_eval_request, all)},
    {"output", 'o', "FILE", "write HDF5; - is standard output", CW_OPTION_TEXT(struct cw_eval_request, hdf5)},
    {"csv", 0, "FILE", "write CSV; - is standard output", CW_OPTION_TEXT(struct cw_eval_request, csv)},
    {"json", 0, "FILE", "write JSON; - is standard output", CW_OPTION_TEXT(struct cw_eval_request, json)},
    {"by", 0, CW_EVAL_BY_ALL, /* --help would put words far behind so long a value, where they did not begin a line */
     "\na row for all launches of a kernel (the default of the table), for a family of kernels, whose names differ in "
     "template arguments and sizes, for each range, for each range but one for all that were multiplexed and are alike "
     "(fold: the default of CSV, JSON and HDF5), or for all ranges of an NVTX range, a device, a rank or a stream; of "
     "a trace also by process, kind of copy, call, CUDA graph or each name of NVTX ranges (by nvtx \"step 1\" and "
     "\"step 2\" are one)",
     CW_OPTION_TAKE(cw_eval_take_any_by)},
    {"kind", 0, "KINDS", "of a trace: files have the rows of these kinds alone, as in kernel,copy; CSV needs one",
     CW_OPTION_TEXT(struct cw_eval_request, kind)},
    {"sort", 0, "COLUMN",
     "order the rows by launches, total, share, mean, least, greatest, spread, name or a metric, the "
     "greatest first; of a trace also by bytes, failed, self, ranges, wall, median, fastest, slowest or nodes, where "
     "its rows have that; COLUMN:asc is the other way round",
     CW_OPTION_TEXT(struct cw_eval_request, sort)},
    {"filter", 0, "FORMULA",
     "only rows for which this is true, as in 'dram__bytes.sum > 1e6' or 'share > 0.05'; may be "
     "repeated",
     .called = "filters", CW_OPTION_LIST(struct cw_eval_request, filters, filter_count)},
    {"top", 0, "N",
     "the first N rows (default of the table: 30); of PC samples and SASS metrics, the N hottest lines, "
     "functions and instructions (default: 10)",
     CW_OPTION_NUMBER(struct cw_eval_request, top, 1, UINT32_MAX)},
    {"source-path", 0, "FOLDER",
     "where source files are, for the text of lines of PC samples and SASS metrics; may be "
     "repeated",
     .called = "folders", CW_OPTION_LIST(struct cw_eval_request, folders, folder_count)},
    {"wide", 0, NULL, "each row in full, with all of its metrics", CW_OPTION_FLAG(struct cw_eval_request, wide)},
    {"quiet", 'q', NULL, "only the data: no summary, no notices", CW_OPTION_FLAG(struct cw_eval_request, quiet)},
    {CW_OPTION_GROUP(struct cw_eval_request, ranges, cw_eval_ranges_options)},
    {"check", 0, "FILE", "compare with values recorded in a JSON file",
     CW_OPTION_READ(struct cw_eval_request, check, read_check)},
    {"native", 0, "FILE",
     "compare with NVIDIA's evaluator, on the native counter data of the same run (FILE, FILE.1, FILE.2, ...): the "
     "metrics that are named, or every metric whose counters the capture holds; needs NVIDIA's host library",
     CW_OPTION_TEXT(struct cw_eval_request, native)},
    {CW_OPTION_GROUP(struct cw_eval_request, force, cw_cli_force_options)},
    {CW_OPTION_GROUP(struct cw_eval_request, report, cw_eval_report_options)},
    {CW_OPTION_ROWS(cw_eval_capture_options)},
    {CW_OPTION_CHECK(check_options)},
    {CW_OPTION_GROUP(struct cw_eval_request, sources, cw_metric_sources_options)},
    {CW_OPTION_ROWS(cw_eval_value_options)},
    {0},
};

/* ---- evaluation ------------------------------------------------------------------------------------------------- */

static enum cw_status run_check(struct cw_eval_run *r)
{
    struct cw_reference reference;
    enum cw_status status = cw_reference_load(&reference, r->o->check, r->arena, r->err);
    if (status == CW_OK)
        status = cw_eval_names(r, reference.metrics, reference.metric_count);
    return status == CW_OK ? cw_reference_compare(&reference, &r->result, stdout, r->err) : status;
}

static enum cw_status run_native(struct cw_eval_run *r)
{
    struct cw_reference reference;
    enum cw_status status = r->o->sources.count ? cw_eval_named(r) : cw_eval_names(r, NULL, 0);
    if (status == CW_OK)
        status = cw_native_reference_load(&reference, r->o->native, &r->result, &r->o->eval, r->arena, r->err);
    return status == CW_OK ? cw_reference_compare(&reference, &r->result, stdout, r->err) : status;
}

static enum cw_status run_evaluate(struct cw_eval_run *r)
{
    if (r->info.profiler == COUNTERWORKS_RANGES)
        return cw_eval_ranges(r);
    r->result.streamed = !r->o->grouped;
    enum cw_status status = r->o->grouped ? cw_lib_load(r->capture, r->err) : CW_OK;
    if (status == CW_OK)
        status = cw_eval_wanted(r);
    return status != CW_OK ? status : r->o->grouped ? cw_eval_samples_by_range(r) : cw_eval_write_samples(r);
}

/* Samples and SASS metrics are no metrics of ranges: they need neither the chip's description nor names. */
static enum cw_status run_instructions(struct cw_eval_run *r)
{
    const struct cw_eval_request *o = r->o;
    const char *of_ranges = cw_eval_option_of_ranges(o);
    if (o->sources.count || o->all || of_ranges)
        return cw_error_set(r->err, CW_ERR_USAGE, "%s: found %s, expected no such option for a capture of %s",
                            o->capture,
                            of_ranges ? of_ranges
                            : o->all  ? "--all"
                                      : "metrics",
                            cw_profiler_texts[r->capture->data.schema.profiler]);
    return cw_eval_instructions(r);
}

static enum cw_status run(struct cw_eval_run *r)
{
    enum cw_status status = cw_eval_check_outputs(r);
    if (status == CW_OK)
        status = cw_eval_load_capture(r);
    if (status == CW_OK && cw_eval_report_alone(r->o) && r->o->sources.count && r->info.profiler != COUNTERWORKS_RANGES)
        status = cw_error_set(r->err, CW_ERR_USAGE,
                              "%s: found metrics for a page, expected none: only captures of ranges take them",
                              r->o->capture);
    if (status == CW_OK && r->o->report.path)
        status = cw_eval_report(r);
    if (status != CW_OK || cw_eval_report_alone(r->o))
        return status;
    if (r->capture->data.schema.profiler == CW_PROFILER_TRACE)
        return cw_eval_trace(r);
    if (r->o->kind)
        return cw_error_set(r->err, CW_ERR_USAGE, "%s: found --kind, expected it of a trace alone", r->o->capture);
    if (r->o->grouped && r->o->by == CW_BY__COUNT && r->info.profiler == COUNTERWORKS_RANGES)
        return cw_error_set(r->err, CW_ERR_USAGE, "%s: found --by %s, expected of ranges " CW_EVAL_BY_WORDS,
                            r->o->capture, r->o->by_name);
    if (r->info.profiler > COUNTERWORKS_SAMPLES) {
        cw_eval_tell_incomplete(r);
        return run_instructions(r);
    }
    status = cw_eval_load_chip(r);
    return status != CW_OK ? status : r->o->check ? run_check(r) : r->o->native ? run_native(r) : run_evaluate(r);
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
    struct cw_eval_request request = {.run = run, .by_block = true};
    return cw_eval_command(&usage, argc, argv, &request);
}

int main(int argc, char **argv)
{
    cw_cli_init();
    return cw_usage_run_or(argc, argv, commands, COMMAND_COUNT, evaluate);
}
