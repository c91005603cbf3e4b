/* metric-eval: tables, files and pages of a capture's metrics; table of sub-commands. */
#include <stdio.h>
#include <string.h>

#include "cli/common/cli.h"
#include "cli/eval/session.h"

/* ---- command line ----------------------------------------------------------------------------------------------- */

/* "--check --native FILE" means --native FILE. */
static void read_check(void *check, char *text, struct argp_state *state)
{
    if (strcmp(text, "--native") == 0)
        state->next--;
    else
        *(const char **)check = text;
}

static void check_options(void *line, struct argp_state *state)
{
    const struct cw_eval_line *o = line;
    const bool metrics = o->sources.count || o->request.every, output = cw_eval_writes(o) || o->page;
    const bool chosen = cw_eval_option_of_ranges(o) != NULL;
    cw_eval_check_every(o, state);
    if (o->request.every && o->page && !cw_eval_writes(o))
        cw_usage_error(state,
                       "found --all with a page, expected metrics by -m or --set: the page adds them to the plan's");
    if (o->check && (metrics || output || chosen || o->native))
        cw_usage_error(state,
                       "found --check with metrics, ranges or outputs, expected it alone: the file names the metrics");
    if (o->native && (output || chosen))
        cw_usage_error(state, "found --native with ranges or outputs, expected none");
    if (!o->page && (o->with.count || o->baseline))
        cw_usage_error(state, "found %s without a page, expected -o FILE.html", o->baseline ? "--baseline" : "--with");
}

static void take_disassemble(void *line, char *text, struct argp_state *state)
{
    (void)text;
    (void)state;
    ((struct cw_eval_line *)line)->request.disassembler = "nvdisasm";
}

static const struct cw_option code_options[] = {
    {"source-path", 0, "FOLDER",
     "the folder of source files, for the text of lines of PC samples and SASS metrics; may be repeated",
     .called = "folders", CW_OPTION_LIST(struct cw_eval_line, folders.items, folders.count)},
    {"disassemble", 0, NULL,
     "the text of instructions in PC samples and SASS metrics, by nvdisasm (CUDA toolkit), and their PTX",
     CW_OPTION_TAKE(take_disassemble)},
    {0},
};

static const struct cw_option beside_options[] = {
    {"with", 0, "MORE.cwd", "also show this capture of the same program, of any kind; may be repeated",
     .called = "captures", CW_OPTION_LIST(struct cw_eval_line, with.items, with.count)},
    {"baseline", 0, "OLD.cwd", "compare the page's kernels with this capture of ranges, by name, grid and block",
     CW_OPTION_TEXT(struct cw_eval_line, baseline)},
    {0},
};

static const struct cw_option table_options[] = {
    {"all", 0, NULL, "every metric whose counters the capture holds",
     CW_OPTION_FLAG(struct cw_eval_line, request.every)},
    {CW_OPTION_ROWS(cw_eval_file_options)},
    {"by", 0, CW_EVAL_BY_SHOWN,
     "a row for all launches of a kernel (the default of the table), for a family of kernels with names that differ "
     "only in template arguments and sizes, for each range, for all multiplexed ranges that are alike and each other "
     "range (fold: the default of CSV, JSON and HDF5), or for all ranges of an NVTX range, a device, a rank or a "
     "stream. A trace also has process, kind of copy, call, CUDA graph and nvtx-each; by nvtx \"step 1\" and \"step "
     "2\" are one, by nvtx-each two. PC samples have legacy-reason: the stall reasons of CUPTI's activity API",
     CW_OPTION_TAKE(cw_eval_take_any_by)},
    {"kind", 0, "KINDS", "for a trace: files have only rows of these kinds, as in kernel,copy; CSV needs one",
     CW_OPTION_TEXT(struct cw_eval_line, request.kinds)},
    {CW_OPTION_ROWS(cw_eval_row_options)},
    {CW_OPTION_ROWS(code_options)},
    {"wide", 0, NULL, "each row in full, with all of its metrics", CW_OPTION_FLAG(struct cw_eval_line, request.wide)},
    {CW_OPTION_ROWS(cw_eval_quiet_options)},
    {CW_OPTION_ROWS(cw_eval_ranges_options)},
    {"check", 0, "FILE", "the same as the command check --values FILE", CW_OPTION_RARE,
     CW_OPTION_READ(struct cw_eval_line, check, read_check)},
    {CW_OPTION_RARE, CW_OPTION_ROWS(cw_eval_native_options)},
    {CW_OPTION_ROWS(cw_eval_report_options)},
    {CW_OPTION_RARE, CW_OPTION_ROWS(beside_options)},
    {CW_OPTION_ROWS(cw_eval_capture_options)},
    {CW_OPTION_CHECK(check_options)},
    {CW_OPTION_GROUP(struct cw_eval_line, sources, cw_metric_sources_options)},
    {CW_OPTION_ROWS(cw_eval_value_options)},
    {0},
};

static void check_page(void *line, struct argp_state *state)
{
    if (!((const struct cw_eval_line *)line)->page)
        cw_usage_error(state, "found no output, expected -o FILE.html");
}

static const struct cw_option report_options[] = {
    {CW_OPTION_ROWS(cw_eval_output_options)},
    {CW_OPTION_ROWS(beside_options)},
    {CW_OPTION_ROWS(code_options)},
    {CW_OPTION_ROWS(cw_eval_quiet_options)},
    {CW_OPTION_ROWS(cw_eval_ranges_options)},
    {CW_OPTION_ROWS(cw_eval_capture_options)},
    {CW_OPTION_CHECK(check_page)},
    {CW_OPTION_GROUP(struct cw_eval_line, sources, cw_metric_sources_options)},
    {CW_OPTION_ROWS(cw_eval_value_options)},
    {0},
};

/* ---- views ------------------------------------------------------------------------------------------------------ */

/* Makes the view in an arena of its own, which frees a file's rows before the next output. */
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
    struct counterworks_request request = s->request;
    enum cw_status status = CW_OK;
    request.form = cw_eval_prints(o) ? COUNTERWORKS_LIST : COUNTERWORKS_TABLE;
    request.full = o->hdf5;
    request.single = o->csv;
    if (o->hdf5 || o->csv || o->json || cw_eval_prints(o))
        status = put(s, &request);
    for (size_t i = 0; i < o->other_count && status == CW_OK; i++)
        status = cw_eval_put_other(s, &o->others[i]);
    return status;
}

/* ---- page ------------------------------------------------------------------------------------------------------- */

struct beside {
    struct cw_eval_opened opened[CW_EVAL_REPEATED_MAX + 1];
    struct counterworks_side shown[CW_EVAL_REPEATED_MAX + 1];
};

static enum cw_status open_beside(struct cw_eval_session *s, struct beside *b, size_t i, const char *path)
{
    char *words[] = {(char *)(uintptr_t)path};
    const enum cw_status status = cw_eval_open(s, &b->opened[i], words, 1);
    b->shown[i] = (struct counterworks_side){b->opened[i].capture, b->opened[i].chip, 1};
    return status;
}

static enum cw_status put_page(struct cw_eval_session *s)
{
    const struct cw_eval_line *o = s->o;
    struct beside beside = {0};
    struct counterworks_view view = {0};
    const struct counterworks_report_options page = {.with = beside.shown,
                                                     .with_count = o->with.count,
                                                     .baseline =
                                                         o->baseline ? &beside.shown[CW_EVAL_REPEATED_MAX] : NULL,
                                                     .folders = {o->folders.count, o->folders.items},
                                                     .hdf5 = o->hdf5};
    const struct cw_view_input in = cw_eval_input(s, &s->main, &s->request);
    enum cw_status status = CW_OK;
    if (s->request.kinds && !cw_eval_writes(o))
        status = cw_error_set(s->err, CW_ERR_USAGE, "found --kind with a page, expected CSV, JSON or HDF5 beside it");
    for (size_t i = 0; i < o->with.count && status == CW_OK; i++)
        status = open_beside(s, &beside, i, o->with.items[i]);
    if (status == CW_OK && o->baseline)
        status = open_beside(s, &beside, CW_EVAL_REPEATED_MAX, o->baseline);
    if (status == CW_OK)
        status = cw_view_page(&view, &in, &page);
    if (status == CW_OK)
        status = cw_eval_write_to(s, &view, CW_VIEW_HTML, o->page);
    cw_view_free(&view);
    for (size_t i = 0; i <= CW_EVAL_REPEATED_MAX; i++)
        cw_eval_close(&beside.opened[i]);
    return status;
}

/* ---- all -------------------------------------------------------------------------------------------------------- */

/* Refuses options that do not fit the capture. */
static enum cw_status check_capture(struct cw_eval_session *s)
{
    const struct cw_eval_line *o = s->o;
    const enum cw_profiler profiler = s->main.capture->data.schema.profiler;
    const char *asked = s->main.capture->asked;
    const char *database = o->chip.file ? "--chip-file" : o->chip.count ? "--metrics-db" : NULL;
    const bool alone = o->page && !cw_eval_writes(o);
    if (alone && o->sources.count && profiler != CW_PROFILER_RANGE)
        return cw_error_set(s->err, CW_ERR_USAGE,
                            "%s: found metrics for a page, expected none: only captures of ranges take them", asked);
    if (alone)
        return CW_OK;
    if (profiler == CW_PROFILER_TRACE && database)
        return cw_error_set(s->err, CW_ERR_USAGE, "%s: found %s, expected none for a trace, which has no metrics",
                            asked, database);
    if (profiler == CW_PROFILER_TRACE && o->folders.count)
        return cw_error_set(s->err, CW_ERR_USAGE, "%s: found --source-path, expected none for a trace", asked);
    return CW_OK;
}

static enum cw_status run(struct cw_eval_session *s)
{
    const struct cw_eval_line *o = s->o;
    if (o->check || o->native)
        return cw_eval_compare(s);
    CW_TRY(cw_eval_check_outputs(s));
    const struct cw_source_files files = cw_eval_files(s, false);
    CW_TRY(cw_eval_open_files(s, &s->main, &files));
    CW_TRY(check_capture(s));
    CW_TRY(cw_eval_open_chip(s, &s->main));
    CW_TRY(cw_eval_gather(s, s->main.chip));
    if (o->page)
        CW_TRY(put_page(s));
    return o->page && !cw_eval_writes(o) ? CW_OK : put_all(s);
}

static const struct cw_usage_command commands[] = {
    {.name = "show", .summary = "the content of a capture: device, plan, counters", .run = cw_eval_show},
    {.name = "explain", .summary = "how a value came about", .run = cw_eval_explain},
    {.name = "merge", .summary = "several captures as one", .run = cw_eval_merge},
    {.name = "index", .summary = "find the ranks of a job faster", .run = cw_eval_index},
    {.name = "ranks", .summary = "how the ranks of a parallel job differ", .run = cw_eval_ranks},
    {.name = "advise", .summary = "the limit of each kernel, and how to change it", .run = cw_eval_advise},
    {.name = "diff", .summary = "the changes between two captures", .run = cw_eval_diff},
    {.name = "report", .summary = "a page of HTML", .run = cw_eval_report},
    {.name = "export", .summary = "a capture for other programs", .run = cw_eval_export},
    {.name = "join", .summary = "a trace with the metrics of its launches", .run = cw_eval_join},
    {.name = "gate", .summary = "whether a run is worse than another, for CI", .run = cw_eval_gate},
    {.name = "check", .summary = "compare values with reference values", .run = cw_eval_check},
};
enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

#define PURPOSE                                                                                                        \
    "Evaluates the metrics of a capture, and prints a table or writes files, such as HDF5, CSV or JSON. Without -m, "  \
    "--set or --all it takes the metrics of the plan. Needs no GPU and no NVIDIA software.\v"
#define EXAMPLES                                                                                                       \
    "Example:\n  $0 run.cwd\n  $0 run.cwd --set speed-of-light --range gemm -o run.h5\n"                               \
    "  $0 trace.cwd --by nvtx\n  $0 run.cwd -m sm__inst_executed.sum --format csv\n"                                   \
    "  $0 run.cwd -o run.csv -o run.html"

int cw_eval_table(int argc, char **argv)
{
    static const struct cw_usage usage = {table_options, "RUN.cwd...", PURPOSE EXAMPLES, NULL, 0};
    struct cw_eval_line line = {.run = run, .takes = CW_EVAL_TABLES | CW_EVAL_PAGE | CW_EVAL_FOREIGN};
    return cw_eval_command(&usage, argc, argv, &line);
}

int cw_eval_report(int argc, char **argv)
{
    static const struct cw_usage usage = {
        report_options, "RUN.cwd... -o FILE.html",
        "Makes a page of HTML from a capture. It opens in a browser, without a network. -m and --set add metrics to "
        "the plan's.\v"
        "Example:\n  $0 run.cwd -o run.html\n  $0 run.cwd --with trace.cwd --baseline old.cwd -o run.html",
        NULL, 0};
    struct cw_eval_line line = {.run = run, .takes = CW_EVAL_PAGE};
    return cw_eval_command(&usage, argc, argv, &line);
}

static int evaluate(int argc, char **argv)
{
    static const struct cw_usage usage = {table_options, "RUN.cwd...\nCOMMAND ...",
                                          PURPOSE "\"$0 COMMAND --help\" explains a command.\n\n" EXAMPLES, commands,
                                          COMMAND_COUNT};
    struct cw_eval_line line = {.run = run, .takes = CW_EVAL_TABLES | CW_EVAL_PAGE | CW_EVAL_FOREIGN};
    return cw_eval_command(&usage, argc, argv, &line);
}

int cw_eval_main(int argc, char **argv)
{
    cw_cli_init();
    return cw_usage_run_or(argc, argv, commands, COMMAND_COUNT, evaluate);
}
