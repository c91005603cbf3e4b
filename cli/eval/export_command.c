/* metric-eval export: a capture for other programs. */
#include <string.h>

#include "base/file.h"
#include "base/progress.h"
#include "cli/common/cli.h"
#include "cli/eval/export_trace.h"
#include "cli/eval/run.h"
#include "eval/output/perfetto.h"
#include "eval/output/prometheus.h"
#include "eval/output/stacks.h"
#include "eval/ranges/spread.h"

enum format { CHROME, CSV, FOLDED, NDJSON, PERFETTO, PROMETHEUS, SPEEDSCOPE };
#define FORMATS "chrome, csv, folded, ndjson, perfetto, prometheus or speedscope"

struct export_options {
    struct cw_eval_request eval;
    const char *output;
    enum format format;
    bool chosen;
};

static void read_format(void *options, char *text, struct argp_state *state)
{
    static const char *const names[] = {"chrome", "csv", "folded", "ndjson", "perfetto", "prometheus", "speedscope"};
    struct export_options *o = options;
    size_t i = 0;
    while (i < sizeof names / sizeof *names && strcmp(names[i], text) != 0)
        i++;
    if (i == sizeof names / sizeof *names)
        cw_usage_error(state, "found --format '%s', expected " FORMATS, text);
    if (o->chosen && o->format != (enum format)i)
        cw_usage_error(state, "found --format '%s' and another format, expected one of them", text);
    o->format = (enum format)i;
    o->chosen = true;
}

static void take_perfetto(void *options, char *text, struct argp_state *state)
{
    struct export_options *o = options;
    if (o->output)
        cw_usage_error(state, "found two outputs, %s and %s, expected one", o->output, text);
    read_format(options, (char[]){"perfetto"}, state);
    o->output = text;
}

static void take_output(void *options, char *text, struct argp_state *state)
{
    struct export_options *o = options;
    if (o->output)
        cw_usage_error(state, "found two outputs, %s and %s, expected one", o->output, text);
    o->output = text;
}

static bool of_traces(enum format format)
{
    return format == CHROME || format == PERFETTO;
}

static void check_options(void *options, struct argp_state *state)
{
    const struct export_options *o = options;
    const bool stacks = o->format == FOLDED || o->format == SPEEDSCOPE;
    if (!o->eval.word_count || !o->chosen)
        cw_usage_error(state, "found no %s, expected %s", o->eval.word_count ? "--format" : "capture",
                       o->eval.word_count ? "one, or --perfetto FILE for a trace" : "RUN.cwd");
    if (of_traces(o->format) && cw_eval_option_of_ranges(&o->eval))
        cw_usage_error(state, "found %s, expected none for a trace", cw_eval_option_of_ranges(&o->eval));
    if (o->eval.all && o->eval.sources.count)
        cw_usage_error(state, "found --all and other metrics, expected one of them");
    if (stacks && (o->eval.all || o->eval.sources.count))
        cw_usage_error(state, "found metrics, expected none for stacks, which have time or samples");
}

static const struct cw_option option_list[] = {
    {"all", 0, NULL, "every metric whose counters the capture holds", CW_OPTION_FLAG(struct export_options, eval.all)},
    {"format", 0, "FORMAT", FORMATS, CW_OPTION_TAKE(read_format)},
    {"output", 'o', "FILE", "where to write (default: standard output)", CW_OPTION_TAKE(take_output)},
    {"perfetto", 0, "FILE", "the same as --format perfetto -o FILE", CW_OPTION_TAKE(take_perfetto)},
    {CW_OPTION_GROUP(struct export_options, eval.ranges, cw_eval_ranges_options)},
    {CW_OPTION_WORDS(struct export_options, eval.words, eval.word_count)},
    {CW_OPTION_CHECK(check_options)},
    {CW_OPTION_GROUP(struct export_options, eval.force, cw_cli_force_options)},
    {CW_OPTION_GROUP(struct export_options, eval.sources, cw_metric_sources_options)},
    {CW_OPTION_GROUP(struct export_options, eval, cw_eval_value_options)},
    {0},
};

static enum cw_status other_capture(const struct cw_eval_run *r, const char *expected)
{
    return cw_error_set(r->err, CW_ERR_USAGE, "%s: found a capture of another kind, expected one of %s", r->o->capture,
                        expected);
}

static enum cw_status write_file(const struct export_options *o, const struct cw_eval_run *r, cw_file_render *render,
                                 const void *what)
{
    if (!cw_file_is_standard(o->output))
        cw_progress_begin(r->o->quiet, false, "writing %s", o->output);
    const enum cw_status status = cw_file_print(o->output, render, what, r->err);
    cw_progress_end();
    return status;
}

static enum cw_status export_instructions(const struct export_options *o, struct cw_eval_run *r)
{
    struct cw_instructions in;
    struct cw_pc_data raw;
    struct cw_output rows;
    enum cw_status status =
        o->format == PROMETHEUS || cw_eval_option_of_ranges(r->o) ? other_capture(r, "ranges") : CW_OK;
    if (o->format != CSV && o->format != NDJSON && r->info.profiler != COUNTERWORKS_PC_SAMPLES)
        status = other_capture(r, "ranges or PC samples");
    if (status == CW_OK)
        status = cw_eval_load_instructions(r, &in, &raw);
    if (status != CW_OK)
        return status;
    if (o->format == CSV || o->format == NDJSON) {
        cw_output_instructions(&rows, &in);
        return write_file(o, r, o->format == CSV ? cw_csv_write_rows : cw_ndjson_write, &rows);
    }
    const struct cw_stacks_output stacks = {.source = r->capture->source, .samples = &in};
    return write_file(o, r, o->format == FOLDED ? cw_folded_write : cw_speedscope_write, &stacks);
}

static enum cw_status export_stacks(const struct export_options *o, struct cw_eval_run *r)
{
    struct cw_groups each;
    const struct cw_counter_data *data = r->result.data;
    bool *keep = cw_arena_alloc(r->arena, data->range_count, sizeof *keep);
    enum cw_status status = keep ? cw_eval_match_ranges(keep, r, &r->o->ranges) : cw_error_nomem(r->err);
    if (status == CW_OK)
        status = cw_groups_make(&each, CW_BY_RANGE, data, r->result.chip,
                                cw_eval_ranges_option(&r->o->ranges) ? keep : NULL, r->arena, r->err);
    const struct cw_stacks_output stacks = {.source = r->capture->source, .ranges = &each};
    return status == CW_OK
               ? write_file(o, r, o->format == FOLDED ? cw_folded_write : cw_speedscope_write, &stacks)
               : status;
}

static enum cw_status export_kernels(const struct export_options *o, struct cw_eval_run *r)
{
    struct cw_side side;
    enum cw_status status = cw_eval_keep_ranges(r, r);
    if (status == CW_OK)
        status = cw_side_make(&side, &r->result, CW_BY_KERNEL, &o->eval.eval, r->arena, r->err);
    return status == CW_OK ? write_file(o, r, cw_prometheus_write, &side) : status;
}

/* Which ranges are wanted; *keep is NULL for all. */
static enum cw_status match_ranges(struct cw_eval_run *r, const bool **keep)
{
    *keep = NULL;
    if (!cw_eval_ranges_option(&r->o->ranges))
        return CW_OK;
    bool *wanted = cw_arena_alloc(r->arena, r->capture->data.range_count, sizeof *wanted);
    *keep = wanted;
    return wanted ? cw_eval_match_ranges(wanted, r, &r->o->ranges) : cw_error_nomem(r->err);
}

/* Ranges keep their numbers. */
static enum cw_status select_ranges(struct cw_eval_run *r, const bool *keep)
{
    const uint32_t count = r->capture->data.range_count;
    uint32_t *rows = cw_arena_alloc(r->arena, count, sizeof *rows), kept = 0;
    for (uint32_t i = 0; rows && i < count; i++)
        if (keep[i])
            rows[kept++] = i;
    return rows ? cw_result_select(&r->result, rows, kept, r->err) : cw_error_nomem(r->err);
}

/* Ranges that were multiplexed and are alike are one. */
static enum cw_status make_folded(const struct export_options *o, struct cw_eval_run *r, const bool *keep,
                                  struct cw_output *rows)
{
    struct cw_groups *groups = cw_arena_alloc(r->arena, 1, sizeof *groups);
    const struct cw_counter_data *data = r->result.data;
    enum cw_status status = groups ? cw_groups_make(groups, CW_BY_FOLD, data, r->result.chip, keep, r->arena, r->err)
                                   : cw_error_nomem(r->err);
    if (status != CW_OK)
        return status;
    r->result.data = &groups->data;
    status = cw_result_make(&r->result, &o->eval.eval, r->arena, r->err);
    if (status == CW_OK)
        status = cw_spread_find(&r->result, groups, data, r->arena, r->err);
    return status == CW_OK ? cw_eval_output_ranges(rows, r, groups, NULL) : status;
}

static enum cw_status export_rows(const struct export_options *o, struct cw_eval_run *r)
{
    struct cw_output rows;
    const bool *keep;
    enum cw_status status = match_ranges(r, &keep);
    if (status == CW_OK && r->info.profiler == COUNTERWORKS_RANGES && cw_fold_has(r->result.data)) {
        status = make_folded(o, r, keep, &rows);
    } else if (status == CW_OK) {
        r->result.streamed = true;
        status = cw_result_make(&r->result, &o->eval.eval, r->arena, r->err);
        if (status == CW_OK && keep)
            status = select_ranges(r, keep);
        if (status == CW_OK)
            status = cw_lib_output(&rows, &r->result, NULL, r->arena, r->err);
    }
    return status == CW_OK
               ? write_file(o, r, o->format == CSV ? cw_csv_write_rows : cw_ndjson_write, &rows)
               : status;
}

static enum cw_status export_metrics(const struct export_options *o, struct cw_eval_run *r)
{
    const bool ranges = r->info.profiler == COUNTERWORKS_RANGES,
               stacks = o->format == FOLDED || o->format == SPEEDSCOPE;
    if (!ranges && (stacks || o->format == PROMETHEUS))
        return other_capture(r, stacks ? "ranges or PC samples" : "ranges");
    enum cw_status status = cw_eval_load_chip(r);
    if (status != CW_OK || stacks)
        return status == CW_OK ? export_stacks(o, r) : status;
    status = cw_eval_select(r);
    return status != CW_OK ? status : o->format == PROMETHEUS ? export_kernels(o, r) : export_rows(o, r);
}

/* Samples, beside the trace of their program that their capture has. */
static enum cw_status export_sampled(const struct export_options *o, struct cw_eval_run *r)
{
    enum cw_status status = cw_eval_load_chip(r);
    if (status == CW_OK)
        status = cw_eval_select(r);
    if (status == CW_OK)
        status = cw_result_make(&r->result, &o->eval.eval, r->arena, r->err);
    return status == CW_OK ? cw_eval_export_trace(r, o->output, o->format == CHROME) : status;
}

static enum cw_status export_any(const struct export_options *o, struct cw_eval_run *r)
{
    const bool trace = r->capture->data.schema.profiler == CW_PROFILER_TRACE;
    const bool sampled = r->info.profiler == COUNTERWORKS_SAMPLES && of_traces(o->format);
    if (trace && (o->eval.all || o->eval.sources.count))
        return cw_error_set(r->err, CW_ERR_USAGE, "%s: found %s, expected none for a trace, which has no metrics",
                            r->o->capture, o->eval.all ? "--all" : "metrics (-m, --set)");
    if (trace != of_traces(o->format) && !sampled)
        return trace ? cw_error_set(r->err, CW_ERR_USAGE,
                                    "%s: found a trace, expected --format perfetto or chrome for it", r->o->capture)
                     : cw_error_set(r->err, CW_ERR_USAGE,
                                    "%s: found no trace, expected what capture-agent trace records, or pm",
                                    r->o->capture);
    cw_eval_tell_incomplete(r);
    if (sampled)
        return export_sampled(o, r);
    return trace                                     ? cw_eval_export_trace(r, o->output, o->format == CHROME)
           : r->info.profiler > COUNTERWORKS_SAMPLES ? export_instructions(o, r)
                                                     : export_metrics(o, r);
}

/* No input is the output. */
static enum cw_status check_output(const struct export_options *o, struct cw_eval_run *r)
{
    enum cw_status status = cw_eval_expand(r);
    for (size_t i = 0; status == CW_OK && !cw_file_is_standard(o->output) && i < r->files.count; i++)
        if (cw_file_is_same(o->output, r->files.paths[i]))
            status = cw_error_set(r->err, CW_ERR_USAGE,
                                  "found %s as capture and output, expected another file for each", o->output);
    return status;
}

static enum cw_status export_capture(const void *options, struct counterworks_chip *chip, struct cw_arena *arena,
                                     struct cw_error *err)
{
    static const struct cw_file_kind kinds[] = {
        [CHROME] = {"JSON of Chrome's traces", false, {"{\"displayTimeUnit\": ", NULL}},
        [CSV] = {"CSV", false, {"range,", "sample,", "device,", NULL}},
        [FOLDED] = {"folded stacks", false, {NULL}},
        [NDJSON] = {"lines of JSON of metric-eval", false, {"{\"range\": ", "{\"sample\": ", "{\"device\": ", NULL}},
        [PERFETTO] = {"a trace of ours for Perfetto", true, {CW_PERFETTO_HEAD, NULL}},
        [PROMETHEUS] = {"Prometheus text", false, {"# TYPE ", NULL}},
        [SPEEDSCOPE] = {"JSON of speedscope", false, {"{\"$schema\": \"https://www.speedscope", NULL}}};
    struct export_options o = *(const struct export_options *)options;
    struct cw_eval_run r = {.o = &o.eval, .arena = arena, .err = err, .info.size = sizeof r.info};
    (void)chip;
    o.eval.capture = o.eval.words[0];
    o.output = o.output ? o.output : "-";
    o.eval.by_block = o.format == CSV || o.format == NDJSON;
    enum cw_status status = cw_file_may_replace(o.output, &kinds[o.format], o.eval.force, err);
    if (status == CW_OK)
        status = check_output(&o, &r);
    if (status == CW_OK)
        status = cw_eval_load_capture(&r);
    if (status == CW_OK)
        status = export_any(&o, &r);
    cw_eval_close(&r);
    return status;
}

int cw_eval_export(int argc, char **argv)
{
    static const struct cw_usage usage = {
        option_list, "RUN.cwd... --format FORMAT\nTRACE.cwd... --perfetto FILE",
        "Writes a capture for other programs: one row a value (csv, ndjson), stacks for flame graphs of time or PC "
        "samples (folded, speedscope), or the kernels' metrics for a monitor (prometheus); a trace, or PM samples with "
        "the trace beside them, for viewers of timelines (perfetto; chrome for small ones).\v"
        "Example:\n  metric-eval export run.cwd --format folded | flamegraph.pl >run.svg\n"
        "  metric-eval export run.cwd --format csv -o run.csv\n"
        "  metric-eval export trace.cwd --perfetto trace.pftrace"};
    struct export_options options = {0};
    return cw_cli_run(&usage, argc, argv, &options, NULL, export_capture);
}
