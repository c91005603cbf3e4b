/* metric-eval export: a capture for other programs. */
#include <string.h>

#include "cli/common/cli.h"
#include "cli/eval/session.h"
#include "eval/output/perfetto.h"

static const struct format {
    const char *name;
    enum cw_view_format format;
    enum counterworks_form form;
    struct cw_file_kind kind;
} formats[] = {
    {"chrome", CW_VIEW_CHROME, COUNTERWORKS_TIMELINE, {"JSON of Chrome's traces", false, {"{\"displayTimeUnit\": "}}},
    {"csv", CW_VIEW_TIDY, COUNTERWORKS_TABLE, {"CSV", false, {"range,", "sample,", "device,"}}},
    {"folded", CW_VIEW_FOLDED, COUNTERWORKS_STACKS, {"folded stacks", false, {NULL}}},
    {"ndjson",
     CW_VIEW_NDJSON,
     COUNTERWORKS_TABLE,
     {"lines of JSON of metric-eval", false, {"{\"range\": ", "{\"sample\": ", "{\"device\": "}}},
    {"perfetto", CW_VIEW_PERFETTO, COUNTERWORKS_TIMELINE, {"a trace of ours for Perfetto", true, {CW_PERFETTO_HEAD}}},
    {"prometheus", CW_VIEW_PROMETHEUS, COUNTERWORKS_MONITOR, {"Prometheus text", false, {"# TYPE "}}},
    {"speedscope",
     CW_VIEW_SPEEDSCOPE,
     COUNTERWORKS_STACKS,
     {"JSON of speedscope", false, {"{\"$schema\": \"https://www.speedscope"}}}};
enum { FORMAT_COUNT = sizeof formats / sizeof *formats };
#define FORMATS "chrome, csv, folded, ndjson, perfetto, prometheus or speedscope"

struct export
{
    struct cw_eval_line line; /* first: it is what runs */
    const char *output;
    const struct format *format;
};

static void read_format(void *options, char *text, struct argp_state *state)
{
    struct export *o = options;
    size_t i = 0;
    while (i < FORMAT_COUNT && strcmp(formats[i].name, text) != 0)
        i++;
    if (i == FORMAT_COUNT)
        cw_usage_error(state, "found --format '%s', expected " FORMATS, text);
    if (o->format && o->format != &formats[i])
        cw_usage_error(state, "found --format '%s' and another format, expected one of them", text);
    o->format = &formats[i];
}

static void take_perfetto(void *options, char *text, struct argp_state *state)
{
    struct export *o = options;
    if (o->output)
        cw_usage_error(state, "found two outputs, %s and %s, expected one", o->output, text);
    read_format(options, (char[]){"perfetto"}, state);
    o->output = text;
}

static void take_output(void *options, char *text, struct argp_state *state)
{
    struct export *o = options;
    if (o->output)
        cw_usage_error(state, "found two outputs, %s and %s, expected one", o->output, text);
    o->output = text;
}

static void check_options(void *options, struct argp_state *state)
{
    const struct export *o = options;
    const enum counterworks_form form = o->format ? o->format->form : COUNTERWORKS_TABLE;
    if (!o->line.word_count || !o->format)
        cw_usage_error(state, "found no %s, expected %s", o->line.word_count ? "--format" : "capture",
                       o->line.word_count ? "one, or --perfetto FILE for a trace" : "RUN.cwd");
    if (form == COUNTERWORKS_TIMELINE && cw_eval_option_of_ranges(&o->line))
        cw_usage_error(state, "found %s, expected none for a trace", cw_eval_option_of_ranges(&o->line));
    if (o->line.request.every && o->line.sources.count)
        cw_usage_error(state, "found --all and other metrics, expected one of them");
    if (form == COUNTERWORKS_STACKS && (o->line.request.every || o->line.sources.count))
        cw_usage_error(state, "found metrics, expected none for stacks, which have time or samples");
}

static const struct cw_option option_list[] = {
    {"all", 0, NULL, "every metric whose counters the capture holds",
     CW_OPTION_FLAG(struct export, line.request.every)},
    {"format", 0, "FORMAT", FORMATS, CW_OPTION_TAKE(read_format)},
    {"output", 'o', "FILE", "where to write (default: standard output)", CW_OPTION_TAKE(take_output)},
    {"perfetto", 0, "FILE", "the same as --format perfetto -o FILE", CW_OPTION_TAKE(take_perfetto)},
    {CW_OPTION_GROUP(struct export, line, cw_eval_ranges_options)},
    {CW_OPTION_WORDS(struct export, line.words, line.word_count)},
    {CW_OPTION_CHECK(check_options)},
    {CW_OPTION_GROUP(struct export, line.force, cw_cli_force_options)},
    {CW_OPTION_GROUP(struct export, line.sources, cw_metric_sources_options)},
    {CW_OPTION_GROUP(struct export, line, cw_eval_value_options)},
    {0},
};

/* No input is the output. */
static enum cw_status check_output(struct cw_eval_session *s, const char *output)
{
    enum cw_status status = cw_eval_expand(s);
    for (size_t i = 0; status == CW_OK && !cw_file_is_standard(output) && i < s->found.count; i++)
        if (cw_file_is_same(output, s->found.paths[i]))
            status = cw_error_set(s->err, CW_ERR_USAGE,
                                  "found %s as capture and output, expected another file for each", output);
    return status;
}

/* Rows of a trace have --csv and --json for files of a kind. */
static enum cw_status check_trace(struct cw_eval_session *s, const struct format *format)
{
    const bool trace = s->main.capture->data.schema.profiler == CW_PROFILER_TRACE;
    if (!trace || format->form == COUNTERWORKS_TIMELINE)
        return CW_OK;
    return s->request.every || s->o->sources.count
               ? cw_error_set(s->err, CW_ERR_USAGE, "%s: found %s, expected none for a trace, which has no metrics",
                              s->main.capture->asked, s->request.every ? "--all" : "metrics (-m, --set)")
               : cw_error_set(s->err, CW_ERR_USAGE, "%s: found a trace, expected --format perfetto or chrome for it",
                              s->main.capture->asked);
}

static enum cw_status export(struct cw_eval_session *s) {
    const struct export *o = (const struct export *)s->o; const char *output = o->output ? o->output : "-";
    struct counterworks_view view = {0};
    s->request.form = o->format->form;
    enum cw_status status = cw_file_may_replace(output, &o->format->kind, o->line.force, s->err);
    if (status == CW_OK) status = check_output(s, output);
    if (status == CW_OK) status = cw_eval_open_main(s);
    if (status == CW_OK) status = check_trace(s, o->format);
    const struct cw_view_input in = cw_eval_input(s, &s->main, &s->request);
    if (status == CW_OK) status = cw_view_make(&view, &in);
    if (status == CW_OK) status = cw_eval_write_to(s, &view, o->format->format, output);
    cw_view_free(&view);
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
    struct export options = {.line.run = export};
    return cw_eval_command(&usage, argc, argv, &options.line);
}
