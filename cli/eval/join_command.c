/* metric-eval join: a trace with the metrics of its launches. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "cli/common/cli.h"
#include "cli/eval/run.h"
#include "eval/advice/advice.h"
#include "eval/join/joined.h"
#include "eval/join/joined_samples.h"
#include "eval/output/joined.h"
#include "eval/output/pm_range_table.h"
#include "metricdb/glossary.h"

struct join_options {
    struct cw_eval_request eval;
    char *const *words;
    size_t word_count;
    bool by_launch;
};

/* Profiler of a trace, as a capture's information has it. */
enum { TRACE = CW_PROFILER_TRACE };

static void take_by(void *options, char *text, struct argp_state *state)
{
    static const enum cw_group_by known[] = {CW_BY_KERNEL, CW_BY_FAMILY, CW_BY_NVTX,
                                             CW_BY_DEVICE, CW_BY_RANK,   CW_BY_STREAM};
    struct join_options *o = options;
    size_t i = 0;
    while (i < sizeof known / sizeof *known && strcmp(cw_group_by_names[known[i]], text) != 0)
        i++;
    o->by_launch = strcmp(text, "launch") == 0;
    if (!o->by_launch && i == sizeof known / sizeof *known)
        cw_usage_error(state, "found --by '%s', expected kernel, family, nvtx, stream, device, rank or launch", text);
    o->eval.by = o->by_launch ? CW_BY_KERNEL : known[i];
}

static void check_options(void *options, struct argp_state *state)
{
    const struct join_options *o = options;
    if (o->word_count < 2)
        cw_usage_error(state, "found %zu capture%s, expected a trace and a capture of ranges or PM samples at least",
                       o->word_count, o->word_count == 1 ? "" : "s");
    if (o->eval.all && o->eval.sources.count)
        cw_usage_error(state, "found --all and other metrics, expected one of them");
    if (o->by_launch && !o->eval.csv && !o->eval.json)
        cw_usage_error(state, "found --by launch for people, expected it with --csv or --json");
}

static const struct cw_option option_list[] = {
    {"all", 0, NULL, "every metric whose counters the ranges hold", CW_OPTION_FLAG(struct join_options, eval.all)},
    {"by", 0, "kernel|family|nvtx|stream|device|rank|launch",
     "a row for all launches of a kernel, grid and block (the default), of a family of kernels, in an NVTX range, a "
     "stream, on a device or of a rank; or, in CSV and JSON, for each launch",
     CW_OPTION_TAKE(take_by)},
    {"output", 'o', "FILE", "write HDF5; - is standard output", CW_OPTION_TEXT(struct join_options, eval.hdf5)},
    {"csv", 0, "FILE", "write CSV; - is standard output", CW_OPTION_TEXT(struct join_options, eval.csv)},
    {"json", 0, "FILE", "write JSON; - is standard output", CW_OPTION_TEXT(struct join_options, eval.json)},
    {"sort", 0, "COLUMN",
     "order the rows by launches, total, share, mean, least, greatest, spread, name or a metric, the greatest first; "
     "COLUMN:asc is the other way round",
     CW_OPTION_TEXT(struct join_options, eval.sort)},
    {"filter", 0, "FORMULA",
     "only rows for which this is true, as in 'dram__bytes.sum > 1e6' or 'share > 0.05'; may be repeated",
     .called = "filters", CW_OPTION_LIST(struct join_options, eval.filters, eval.filter_count)},
    {"top", 0, "N", "the first N rows (default of the table: 30)",
     CW_OPTION_NUMBER(struct join_options, eval.top, 1, UINT32_MAX)},
    {"quiet", 'q', NULL, "only the data: no summary, no notices", CW_OPTION_FLAG(struct join_options, eval.quiet)},
    {CW_OPTION_GROUP(struct join_options, eval.force, cw_cli_force_options)},
    {CW_OPTION_WORDS(struct join_options, words, word_count)},
    {CW_OPTION_CHECK(check_options)},
    {CW_OPTION_GROUP(struct join_options, eval.sources, cw_metric_sources_options)},
    {CW_OPTION_GROUP(struct join_options, eval, cw_eval_value_options)},
    {0},
};

/* ---- what is joined --------------------------------------------------------------------------------------------- */

struct inputs {
    const struct join_options *o;
    struct cw_eval_request requests[4];            /* of the trace, the ranges and the samples */
    struct cw_eval_run trace, ranges, samples, pm; /* samples: of PCs, pm: over time, where there are any */
    char **range_words;
    size_t range_count;
    struct cw_timeline timeline;
    struct cw_new_files outputs;
    struct cw_arena *arena;
    struct cw_error *err;
};

static enum cw_status check_outputs(const struct inputs *in)
{
    struct cw_eval_request request = in->o->eval;
    struct cw_eval_run all = {.o = &request, .arena = in->arena, .err = in->err};
    request.capture = in->o->words[0];
    request.words = in->o->words;
    request.word_count = in->o->word_count;
    return cw_eval_check_outputs(&all);
}

/* Opens one of the words, and keeps it where it is the trace. */
static enum cw_status sort_word(struct inputs *in, char *const *word)
{
    struct cw_eval_request request = in->o->eval;
    struct cw_eval_run run = {.o = &request, .arena = in->arena, .err = in->err, .info.size = sizeof run.info};
    request.capture = *word;
    request.by_block = true; /* ranges are opened again, all together */
    enum cw_status status = cw_eval_load_capture(&run);
    const int profiler = status == CW_OK ? (int)run.info.profiler : -1;
    const bool samples = profiler == COUNTERWORKS_PC_SAMPLES;
    const bool pm = profiler == COUNTERWORKS_SAMPLES;
    struct cw_eval_run *kept = profiler == TRACE ? &in->trace : samples ? &in->samples : pm ? &in->pm : NULL;
    struct cw_eval_request *kept_request = &in->requests[samples ? 2 : pm ? 3 : 0];
    if (kept && kept->capture) {
        status = cw_error_set(in->err, CW_ERR_USAGE, "%s: found a second %s, expected one", *word,
                              samples ? "capture of PC samples"
                              : pm    ? "capture of PM samples"
                                      : "trace");
    } else if (kept) {
        *kept_request = request;
        *kept = run;
        kept->o = kept_request;
        return CW_OK;
    } else if (profiler == COUNTERWORKS_RANGES) {
        in->range_words[in->range_count++] = *word;
    } else if (status == CW_OK) {
        status = cw_error_set(in->err, CW_ERR_USAGE,
                              "%s: found a capture of SASS metrics, expected a trace, ranges, PM samples or PC samples",
                              *word);
    }
    cw_eval_close(&run);
    return status;
}

static enum cw_status open_inputs(struct inputs *in)
{
    const struct join_options *o = in->o;
    enum cw_status status = CW_OK;
    in->range_words = cw_arena_alloc(in->arena, o->word_count, sizeof *in->range_words);
    if (!in->range_words)
        return cw_error_nomem(in->err);
    for (size_t i = 0; status == CW_OK && i < o->word_count; i++)
        status = sort_word(in, &o->words[i]);
    if (status == CW_OK && in->pm.capture && (in->range_count || in->samples.capture))
        status = cw_error_set(in->err, CW_ERR_USAGE,
                              "%s: found PM samples and other captures, expected them beside a trace alone",
                              in->pm.o->capture);
    if (status == CW_OK && in->pm.capture && in->trace.capture)
        return CW_OK;
    if (status == CW_OK && (!in->trace.capture || !in->range_count))
        status = cw_error_set(in->err, CW_ERR_USAGE, "found no %s, expected a trace and a capture of ranges",
                              in->trace.capture ? "capture of ranges" : "trace");
    if (status != CW_OK)
        return status;
    cw_eval_tell_incomplete(&in->trace);
    in->requests[1] = o->eval;
    in->requests[1].by_block = true;
    status = cw_eval_open(&in->ranges, &in->requests[1], in->range_words, in->range_count, in->arena, in->err);
    if (status == CW_OK && !in->ranges.capture->data.range_count)
        status = cw_error_set(in->err, CW_ERR_INPUT, "%s: found no ranges, expected some to join", in->range_words[0]);
    return status;
}

static enum cw_status load_timeline(struct inputs *in)
{
    const enum cw_status status = cw_eval_load_timeline(&in->trace, &in->timeline);
    return status == CW_OK ? cw_eval_need_rows(&in->trace, &in->timeline) : status;
}

/* ---- rows ------------------------------------------------------------------------------------------------------- */

/* How many rows there may be: each costs memory for every counter. */
static uint32_t most_rows(const struct inputs *in)
{
    enum { LEAST = 1000 };
    const uint64_t bytes = in->trace.capture->file.size + in->ranges.capture->file.size + 1000000;
    const uint64_t most = 4 * bytes / (cw_schema_columns(&in->ranges.capture->data.schema) + 1);
    return most < LEAST ? LEAST : most < UINT32_MAX ? (uint32_t)most : UINT32_MAX;
}

struct view {
    struct cw_joined joined;
    struct cw_joined_rows made;
    struct cw_eval_rows rows;
    struct cw_joined_output of;
    struct cw_sections sections;
    struct cw_output_rows shown;
    struct cw_instructions instructions;
    struct cw_pc_data raw;
    struct cw_joined_samples samples;
};

static enum cw_status make_rows(struct inputs *in, struct view *v, size_t top)
{
    enum cw_status status =
        cw_joined_rows_make(&v->made, &v->joined, in->o->eval.by, most_rows(in), in->arena, in->err);
    v->rows = (struct cw_eval_rows){.groups = v->made.groups, .counted = &v->made.counted};
    v->rows.rows = cw_arena_alloc(in->arena, v->made.groups.count, sizeof *v->rows.rows);
    if (status == CW_OK && !v->rows.rows)
        status = cw_error_nomem(in->err);
    for (uint32_t k = 0; status == CW_OK && k < v->made.groups.count; k++)
        v->rows.rows[v->rows.count++] = k;
    if (status == CW_OK)
        status = cw_joined_output_make(&v->of, &v->joined, &v->made, in->arena, in->err);
    v->of.trace = in->trace.capture->source;
    v->of.samples_source = in->samples.capture ? in->samples.capture->source : NULL;
    v->of.samples = v->samples;
    v->shown = (struct cw_output_rows){.sections = &v->sections, .joined = &v->of};
    return status == CW_OK ? cw_eval_choose_rows(&in->ranges, &v->rows, NULL, top) : status;
}

/* What limits the kernels, with the times of the trace; of other rows, what that adds up to. */
static enum cw_status add_advice(struct inputs *in, struct view *v)
{
    struct cw_eval_run *r = &in->ranges;
    const struct cw_advice *advice = NULL;
    r->result.source = r->capture->source;
    if (in->o->eval.by == CW_BY_KERNEL)
        return cw_eval_advise_kernels(r, &v->rows.groups, &v->shown.advice);
    struct cw_joined_rows *kernels = cw_arena_alloc(in->arena, 1, sizeof *kernels);
    struct cw_advice_groups *added = cw_arena_alloc(in->arena, 1, sizeof *added);
    if (!kernels || !added)
        return cw_error_nomem(in->err);
    enum cw_status status = cw_joined_rows_make(kernels, &v->joined, CW_BY_KERNEL, most_rows(in), in->arena, in->err);
    if (status == CW_OK)
        status = cw_eval_advise_kernels(r, &kernels->groups, &advice);
    if (status == CW_OK && advice)
        status = cw_advise_groups(added, advice, &v->rows.groups, in->arena, in->err);
    v->shown.advice_groups = status == CW_OK && advice ? added : NULL;
    return status;
}

/* ---- what is written -------------------------------------------------------------------------------------------- */

/* All ranges by themselves, which launches refer to; streamed: they are written one after another. */
static enum cw_status evaluate_ranges(struct inputs *in, struct cw_eval_run *each, bool streamed)
{
    *each = in->ranges;
    each->groups = NULL;
    each->result.values = each->result.spread = NULL;
    each->result.statuses = NULL;
    each->result.occurrences = NULL;
    each->result.streamed = streamed;
    counterworks_chip_tell(each->chip, NULL, NULL); /* it was all told of the rows */
    return cw_eval_wanted(each);
}

static enum cw_status describe(const char *const **texts, struct inputs *in, const struct cw_result *result)
{
    *texts = NULL;
    return in->o->eval.hdf5 ? cw_describe_metrics(texts, in->ranges.chip->folder, result->chip, result->metrics,
                                                  result->metric_count, in->arena, in->err)
                            : CW_OK;
}

static enum cw_status write_launches(struct inputs *in, struct view *v, struct cw_output *output)
{
    struct cw_eval_run *each = cw_arena_alloc(in->arena, 1, sizeof *each);
    const char *const *texts;
    enum cw_status status = each ? evaluate_ranges(in, each, false) : cw_error_nomem(in->err);
    if (status == CW_OK)
        status = describe(&texts, in, &each->result);
    return status == CW_OK ? cw_output_joined_launches(output, &v->shown, &each->result, texts, in->arena, in->err)
                           : status;
}

static enum cw_status write_hdf5(struct inputs *in, struct view *v, const struct cw_output *groups)
{
    struct cw_output output = *groups, ranges;
    struct cw_eval_run *each = cw_arena_alloc(in->arena, 1, sizeof *each);
    enum cw_status status = each ? evaluate_ranges(in, each, true) : cw_error_nomem(in->err);
    if (status == CW_OK)
        status = cw_lib_output(&ranges, &each->result, in->ranges.chip, in->arena, in->err);
    if (status == CW_OK) {
        output.tables[output.table_count++] = ranges.tables[0];
        status = cw_joined_add_tables(&output, &v->shown, true, in->arena, in->err);
    }
    struct cw_new_file *file;
    if (status == CW_OK)
        status = cw_new_files_open(&in->outputs, in->o->eval.hdf5, &file, in->err);
    return status == CW_OK ? cw_hdf5_make(&output, file, in->err) : status;
}

static enum cw_status write_files(struct inputs *in, struct view *v)
{
    const struct cw_eval_request *o = &in->o->eval;
    struct cw_output groups, *text = &groups, launches;
    enum cw_status status = make_rows(in, v, o->top);
    if (status == CW_OK)
        status = cw_eval_evaluate_rows(&in->ranges, &v->rows, cw_eval_wanted);
    if (status == CW_OK)
        status = cw_eval_output_rows(&in->ranges, &v->rows, &v->shown, &groups);
    if (status == CW_OK && o->hdf5)
        status = write_hdf5(in, v, &groups);
    if (status == CW_OK && in->o->by_launch) {
        status = write_launches(in, v, &launches);
        text = &launches;
    }
    if (status == CW_OK)
        status = cw_joined_add_tables(text, &v->shown, false, in->arena, in->err);
    for (int standard = 0; standard < 2 && status == CW_OK; standard++) { /* last, as its reader may leave */
        if (o->csv && cw_file_is_standard(o->csv) == standard)
            status = cw_new_files_print(&in->outputs, o->csv, cw_csv_write, text, in->err);
        if (status == CW_OK && o->json && cw_file_is_standard(o->json) == standard)
            status = cw_new_files_print(&in->outputs, o->json, cw_json_write, text, in->err);
        if (status == CW_OK)
            status = cw_new_files_close(&in->outputs, true, in->err);
    }
    cw_new_files_close(&in->outputs, false, in->err);
    return status;
}

/* Limiters and findings need no metrics to be named; those that are stand beside them. */
static enum cw_status print_rows(struct inputs *in, struct view *v)
{
    struct cw_eval_run *r = &in->ranges;
    const bool named = r->o->all || r->o->sources.count;
    struct cw_output output;
    enum cw_status status = make_rows(in, v, r->o->top ? r->o->top : CW_EVAL_LIST_TOP);
    if (status == CW_OK)
        status = cw_sections_load(&v->sections, r->chip->folder, "sections", in->arena, in->err);
    if (status == CW_OK)
        status = add_advice(in, v);
    if (status == CW_OK && named) {
        status = cw_eval_evaluate_rows(r, &v->rows, cw_eval_wanted);
        v->shown.asked = r->result.metric_count;
    } else if (status == CW_OK) {
        r->result.data = &v->rows.groups.data;
        r->result.metric_count = 0;
    }
    if (status == CW_OK)
        status = cw_eval_output_rows(r, &v->rows, &v->shown, &output);
    return status == CW_OK ? cw_eval_print(r, &output) : status;
}

static enum cw_status join_inputs(struct inputs *in)
{
    struct view *v = cw_arena_alloc(in->arena, 1, sizeof *v);
    const struct cw_eval_request *o = &in->o->eval;
    enum cw_status status = v ? load_timeline(in) : cw_error_nomem(in->err);
    if (status == CW_OK)
        status = cw_joined_make(&v->joined, &in->timeline, &in->ranges.capture->data, in->ranges.chip->chip, in->arena,
                                in->err);
    if (status == CW_OK && in->samples.capture)
        status = cw_eval_load_instructions(&in->samples, &v->instructions, &v->raw);
    if (status == CW_OK && in->samples.capture)
        status = cw_joined_samples_make(&v->samples, &v->joined, &v->instructions, in->arena, in->err);
    if (status == CW_OK && (o->hdf5 || o->csv || o->json))
        status = write_files(in, v);
    return status == CW_OK && cw_eval_prints(o) ? print_rows(in, v) : status;
}

/* ---- PM samples of another run ---------------------------------------------------------------------------------- */

/* Kernels have the time of the trace, and the metrics of the samples that fall into their launches of the other run. */
static enum cw_status join_samples(struct inputs *in)
{
    struct cw_eval_run *r = &in->pm;
    const struct cw_eval_request *o = &in->o->eval;
    const uint32_t top = o->top ? (uint32_t)o->top : CW_EVAL_LIST_TOP;
    struct cw_pm_ranges kernels;
    struct cw_output output;
    const char *option = o->by != CW_BY_KERNEL || in->o->by_launch ? "--by"
                         : o->filter_count                         ? "--filter"
                         : o->sort                                 ? "--sort"
                                                                   : NULL;
    enum cw_status status =
        option ? cw_error_set(in->err, CW_ERR_USAGE,
                              "%s: found %s, expected none with PM samples, which are joined by kernel", r->o->capture,
                              option)
               : load_timeline(in);
    if (status == CW_OK)
        status = cw_lib_load(r->capture, in->err);
    if (status == CW_OK)
        status = cw_eval_load_chip(r);
    if (status == CW_OK)
        status = cw_eval_select(r);
    if (status == CW_OK)
        status = cw_result_make(&r->result, &o->eval, in->arena, in->err);
    if (status == CW_OK && !r->capture->data.pm.launch_count)
        status =
            cw_error_set(in->err, CW_ERR_USAGE, "%s: found samples without launches, expected some", r->o->capture);
    if (status == CW_OK)
        status = cw_pm_kernels_make(&kernels, &r->result, &in->timeline, in->arena, in->err);
    const struct cw_pm_ranges_output shown = {&r->result, &kernels, kernels.count < top ? kernels.count : top,
                                              in->trace.capture->source};
    if (status == CW_OK)
        status = cw_output_pm_ranges(&output, &shown, in->arena, in->err);
    if (status == CW_OK)
        status = cw_eval_write_files(r, &output);
    return status == CW_OK && cw_eval_prints(o) ? cw_eval_print(r, &output) : status;
}

static enum cw_status join(const void *options, struct counterworks_chip *chip, struct cw_arena *arena,
                           struct cw_error *err)
{
    struct inputs in = {.o = options, .arena = arena, .err = err};
    (void)chip;
    cw_hdf5_begin();
    enum cw_status status = check_outputs(&in);
    if (status == CW_OK)
        status = open_inputs(&in);
    if (status == CW_OK)
        status = in.pm.capture ? join_samples(&in) : join_inputs(&in);
    cw_timeline_free(&in.timeline);
    cw_eval_close(&in.ranges);
    cw_eval_close(&in.samples);
    cw_eval_close(&in.pm);
    cw_eval_close(&in.trace);
    return status;
}

int cw_eval_join(int argc, char **argv)
{
    static const struct cw_usage usage = {
        option_list, "TRACE.cwd RUN.cwd... [HOT.cwd]\nTRACE.cwd PM.cwd",
        "Joins the undisturbed timeline of a program with the metrics of other runs of it: by rank or process, device, "
        "kernel, grid and block, NVTX ranges and occurrence. Each row has the time of the trace, and what limits it "
        "from the ranges. What did not match is listed. A capture of PC samples adds the hottest lines of each "
        "kernel. PM samples instead of ranges give each kernel the means of those that fall into its launches.\v"
        "Example:\n  metric-eval join trace.cwd run.cwd\n  metric-eval join trace.cwd run.cwd --by nvtx -o joined.h5\n"
        "  metric-eval join trace.cwd run.cwd --by launch -m sm__inst_executed.sum --csv -"};
    struct join_options options = {.eval.by = CW_BY_KERNEL};
    return cw_cli_run(&usage, argc, argv, &options, NULL, join);
}
