/* metric-eval: counter data to metrics. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/eval_merge.h"
#include "cli/eval_instructions.h"
#include "cli/held_metrics.h"
#include "cli/metric_list.h"
#include "cli/legacy_names.h"
#include "cli/metrics_db.h"
#include "cli/native_reference.h"
#include "cli/text_output.h"
#include "eval/check.h"
#include "eval/csv.h"
#include "eval/explain.h"
#include "eval/hdf5.h"
#include "eval/json.h"
#include "eval/pm.h"
#include "eval/table.h"
#include "host/base/file.h"
#include "metricdb/glossary.h"

static const size_t largest_capture = (size_t)1 << 40;

struct options {
    const char *capture, *chip_file, *range, *hdf5, *csv, *json, *check, *native, *explained;
    struct cw_metric_sources sources;
    struct cw_eval_options eval;
    struct cw_metrics_db metrics_db;
    bool all, show, explain;
    size_t top;
};

enum {
    KEY_ALL = 256,
    KEY_CSV,
    KEY_JSON,
    KEY_RANGE,
    KEY_FRAME,
    KEY_REGION,
    KEY_CHIP_FILE,
    KEY_CHECK,
    KEY_NATIVE,
    KEY_TOP
};

static const struct argp_option option_list[] = {
    {"all", KEY_ALL, 0, 0, "every metric whose counters the capture holds", 0},
    {"range", KEY_RANGE, "REGEX", 0,
     "only ranges whose name or kernel matches; explain takes the first of them, or one by its number", 0},
    {"output", 'o', "FILE", 0, "write HDF5", 0},
    {"csv", KEY_CSV, "FILE", 0, "write CSV; - is standard output", 0},
    {"json", KEY_JSON, "FILE", 0, "write JSON; - is standard output", 0},
    {"frame-ns", KEY_FRAME, "N", 0, "duration of your frame in nanoseconds, for the frame sub-metrics", 0},
    {"region-ns", KEY_REGION, "N", 0, "duration of your region in nanoseconds, for the region sub-metrics", 0},
    {"chip-file", KEY_CHIP_FILE, "FILE", 0, "the chip's YAML file, instead of the shipped one", 0},
    {"top", KEY_TOP, "N", 0, "of samples and SASS metrics: show the N hottest instructions (default: 25)", 0},
    {"check", KEY_CHECK, "FILE", 0, "compare with values recorded in a JSON file", 0},
    {"native", KEY_NATIVE, "FILE", 0,
     "compare with NVIDIA's evaluator on the native counter data of the same run, FILE and FILE.1, FILE.2, ... (needs "
     "their host library): what is asked for, or every metric whose counters the capture holds",
     0},
    {0},
};

/* ---- command line ----------------------------------------------------------------------------------------------- */

static double duration(const char *text, const char *option, struct argp_state *state)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !(value > 0 && value < 1e300))
        argp_error(state, "found %s '%s', expected a number of nanoseconds above 0", option, text);
    return value;
}

static void add_argument(struct options *o, const char *arg, struct argp_state *state)
{
    bool first = !o->show && !o->explain && !o->capture;
    if (first && strcmp(arg, "show") == 0)
        o->show = true;
    else if (first && strcmp(arg, "explain") == 0)
        o->explain = true;
    else if (!o->capture)
        o->capture = arg;
    else if (o->explain && !o->explained)
        o->explained = arg;
    else
        argp_error(state, "found '%s' after %s, expected one %s", arg, o->explain ? o->explained : o->capture,
                   o->explain ? "metric" : "capture");
}

static void check_options(const struct options *o, struct argp_state *state)
{
    bool metrics = o->sources.count || o->all, output = o->hdf5 || o->csv || o->json;
    if (!o->capture)
        argp_error(state, "no capture: give a .cwd file");
    if (o->explain && !o->explained)
        argp_error(state, "found no metric to explain after %s", o->capture);
    if (o->all && o->sources.count)
        argp_error(state, "found --all and other metrics, expected one of them");
    if (o->csv && o->json && strcmp(o->csv, "-") == 0 && strcmp(o->json, "-") == 0)
        argp_error(state, "found --csv and --json on standard output, expected one of them there");
    if (o->check && (metrics || output || o->range || o->native))
        argp_error(state,
                   "found --check with metrics, ranges or outputs, expected it alone: the file names the metrics");
    if (o->native && (output || o->range))
        argp_error(state, "found --native with ranges or outputs, expected none");
    if (o->show && (metrics || output || o->range || o->check || o->native))
        argp_error(state, "found options of evaluation, expected none with show");
    if (o->explain && (metrics || output || o->check || o->native))
        argp_error(state, "found other metrics or outputs, expected none with explain");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *o = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &o->sources;
        state->child_inputs[1] = &o->metrics_db;
        return 0;
    case KEY_ALL:
        o->all = true;
        return 0;
    case KEY_RANGE:
        o->range = arg;
        return 0;
    case 'o':
        o->hdf5 = arg;
        return 0;
    case KEY_CSV:
        o->csv = arg;
        return 0;
    case KEY_JSON:
        o->json = arg;
        return 0;
    case KEY_FRAME:
        o->eval.frame_ns = duration(arg, "--frame-ns", state);
        return 0;
    case KEY_REGION:
        o->eval.region_ns = duration(arg, "--region-ns", state);
        return 0;
    case KEY_CHIP_FILE:
        o->chip_file = arg;
        return 0;
    case KEY_CHECK: /* "--check --native FILE" means --native FILE */
        if (strcmp(arg, "--native") == 0)
            state->next--;
        else
            o->check = arg;
        return 0;
    case KEY_NATIVE:
        o->native = arg;
        return 0;
    case KEY_TOP:
        o->top = strtoul(arg, NULL, 10);
        if (!o->top || arg[strspn(arg, "0123456789")])
            argp_error(state, "found --top '%s', expected a number above 0", arg);
        return 0;
    case ARGP_KEY_ARG:
        add_argument(o, arg, state);
        return 0;
    case ARGP_KEY_END:
        check_options(o, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* ---- input ------------------------------------------------------------------------------------------------------ */

struct run {
    const struct options *o;
    struct cw_arena *arena;
    struct cw_error *err;
    struct cw_bytes file; /* samples stay in it */
    struct cw_counter_data data;
    const struct cw_chip *chip;
    struct cw_metric *metrics;
    size_t metric_count;
    struct cw_pm_result samples; /* of PM sampling */
    struct cw_result ranges;     /* of any other capture */
};

static bool is_of_instructions(const struct run *r)
{
    return r->data.schema.profiler == CW_PROFILER_PC || r->data.schema.profiler == CW_PROFILER_SASS;
}

static bool is_pm(const struct run *r)
{
    return r->data.schema.profiler == CW_PROFILER_PM;
}

static enum cw_status load_capture(struct run *r)
{
    enum cw_status status = cw_file_read(&r->file, r->o->capture, largest_capture, r->err);
    if (status == CW_OK)
        status = cw_counter_data_read(&r->data, r->file.data, r->file.size, r->o->capture, r->arena, r->err);
    if (status == CW_OK && is_of_instructions(r) && !r->data.complete)
        fprintf(stderr, "%s: %s: the capture is incomplete\n", program_invocation_short_name, r->o->capture);
    else if (status == CW_OK && !r->data.complete)
        fprintf(stderr, "%s: %s: the capture is incomplete; it holds %" PRIu32 " whole %s\n",
                program_invocation_short_name, r->o->capture, is_pm(r) ? r->data.pm.sample_count : r->data.range_count,
                is_pm(r) ? "samples" : "ranges");
    if (status == CW_OK && is_pm(r) && (r->o->range || r->o->explain || r->o->check || r->o->native))
        status = cw_error_set(r->err, CW_ERR_USAGE, "%s: found a capture of samples, expected one of ranges for %s",
                              r->o->capture,
                              r->o->range     ? "--range"
                              : r->o->explain ? "explain"
                                              : "--check");
    return status;
}

/* Counters go by their names, so a capture of another version of the database is read as far as both know them. */
static void say_unknown_counters(const struct run *r)
{
    const struct cw_schema *schema = &r->data.schema;
    const char *first = NULL;
    uint32_t unknown = 0;
    if (memcmp(schema->database, r->chip->hash, sizeof r->chip->hash) == 0)
        return;
    for (uint32_t i = 0; i < schema->counter_count; i++) {
        const char *name = schema->counters[i].name;
        enum cw_metric_type type;
        uint32_t index;
        if (cw_chip_find(r->chip, name, strlen(name), &type, &index) && type == CW_COUNTER)
            continue;
        first = first ? first : name;
        unknown++;
    }
    if (unknown)
        fprintf(stderr,
                "%s: %s: planned with another version of the %s database; this one does not know %" PRIu32
                " of its counters: %s%s\n",
                program_invocation_short_name, r->o->capture, r->chip->name, unknown, first,
                unknown > 1 ? ", ..." : "");
}

static enum cw_status load_chip(struct run *r)
{
    const struct cw_schema *schema = &r->data.schema;
    enum cw_status status = r->o->chip_file ? cw_chip_load_file(&r->chip, r->o->chip_file, r->arena, r->err)
                                            : cw_chip_load(&r->chip, schema->chip, r->arena, r->err);
    if (status == CW_OK)
        status = cw_chip_rename(&r->chip, schema->chip, r->arena, r->err);
    if (status != CW_OK)
        return status;
    say_unknown_counters(r);
    return cw_metrics_db_load(&r->chip, &r->o->metrics_db, r->arena, r->err);
}

static bool is_planned(const struct run *r, const char *name)
{
    const struct cw_schema *schema = &r->data.schema;
    uint32_t i = 0;
    while (i < schema->metric_count && strcmp(schema->metrics[i], name) != 0)
        i++;
    return i < schema->metric_count;
}

/* A plan may name users' own metrics, whose formulas are in no capture. */
static enum cw_status parse_name(struct run *r, struct cw_metric *metric, const char *name)
{
    if (cw_metric_parse(metric, r->chip, name, NULL) == CW_OK || !is_planned(r, name))
        return cw_metric_parse(metric, r->chip, name, r->err);
    return cw_error_set(r->err, CW_ERR_USAGE,
                        "%s: found the metric '%.200s' in the plan, which %s does not have: give the file with its "
                        "formula by --metrics-db",
                        r->o->capture, name, r->chip->name);
}

static enum cw_status parse_names(struct run *r, const char *const *names, size_t count)
{
    enum cw_status status = cw_legacy_names_adopt(&r->chip, names, count, r->arena, r->err);
    r->metrics = cw_arena_alloc(r->arena, count, sizeof *r->metrics);
    if (!r->metrics)
        return cw_error_nomem(r->err);
    for (; status == CW_OK && r->metric_count < count; r->metric_count++)
        status = parse_name(r, &r->metrics[r->metric_count], names[r->metric_count]);
    return status;
}

static enum cw_status gather_named(struct run *r)
{
    struct cw_metric_list list = {0};
    enum cw_status status = cw_metric_list_gather(&list, &r->o->sources, r->chip, r->arena, r->err);
    if (status == CW_OK && !list.count)
        status = cw_error_set(r->err, CW_ERR_USAGE, "found no metric in what was asked for, expected at least one");
    if (status == CW_OK)
        status = parse_names(r, list.names, list.count);
    cw_metric_list_free(&list);
    return status;
}

static enum cw_status gather(struct run *r)
{
    if (r->o->all)
        return cw_held_metrics(&r->metrics, &r->metric_count, r->chip, &r->data.schema, r->arena, r->err);
    if (r->o->sources.count)
        return gather_named(r);
    if (!r->data.schema.metric_count)
        return cw_error_set(r->err, CW_ERR_USAGE, "%s: the capture names no metrics: give -m, --set or --all",
                            r->o->capture);
    return parse_names(r, r->data.schema.metrics, r->data.schema.metric_count);
}

/* Marks the ranges that --range matches in `keep`, at least one; all without --range. */
static enum cw_status match_ranges(struct run *r, bool *keep)
{
    uint32_t count = r->data.range_count;
    regex_t regex;
    int failed = regcomp(&regex, r->o->range ? r->o->range : "", REG_EXTENDED | REG_NOSUB);
    if (failed) {
        char text[200];
        regerror(failed, &regex, text, sizeof text);
        return cw_error_set(r->err, CW_ERR_USAGE, "found the range '%s', expected a regular expression: %s",
                            r->o->range, text);
    }
    bool any = false;
    for (uint32_t i = 0; i < count; i++) {
        const struct cw_range *range = &r->data.ranges[i];
        keep[i] = regexec(&regex, range->name, 0, NULL, 0) == 0 || regexec(&regex, range->kernel, 0, NULL, 0) == 0;
        any = any || keep[i];
    }
    regfree(&regex);
    if (!any && r->o->range)
        return cw_error_set(r->err, CW_ERR_USAGE,
                            "found no range that matches '%s' among the %" PRIu32 " of the capture", r->o->range,
                            count);
    return CW_OK;
}

static enum cw_status select_ranges(struct run *r, struct cw_result *result)
{
    if (!r->o->range)
        return CW_OK;
    bool *keep = cw_arena_alloc(r->arena, result->range_count, sizeof *keep);
    enum cw_status status = keep ? match_ranges(r, keep) : cw_error_nomem(r->err);
    if (status == CW_OK)
        cw_result_select(result, keep);
    return status;
}

/* One range: by its number, or the first that matches. */
static enum cw_status choose_range(struct run *r, uint32_t *range)
{
    uint32_t count = r->data.range_count;
    const char *text = r->o->range;
    bool *keep = cw_arena_alloc(r->arena, count, sizeof *keep);
    if (!keep)
        return cw_error_nomem(r->err);
    if (!count)
        return cw_error_set(r->err, CW_ERR_INPUT, "%s: found no range in the capture", r->o->capture);
    if (text && *text && text[strspn(text, "0123456789")] == 0) {
        unsigned long index = strtoul(text, NULL, 10);
        *range = (uint32_t)index;
        return index < count ? CW_OK
                             : cw_error_set(r->err, CW_ERR_USAGE, "found the range %s, expected one of 0 to %" PRIu32,
                                            text, count - 1);
    }
    enum cw_status status = match_ranges(r, keep);
    for (*range = 0; status == CW_OK && !keep[*range];)
        ++*range;
    return status;
}

/* ---- output ----------------------------------------------------------------------------------------------------- */

/* Descriptions are a courtesy: without a glossary there are none. */
static const char *const *describe(struct run *r)
{
    const struct cw_result *result = is_pm(r) ? &r->samples.base : &r->ranges;
    const struct cw_glossary *glossary;
    const char **texts = cw_arena_alloc(r->arena, result->metric_count, sizeof *texts);
    if (!texts || cw_glossary_load(&glossary, r->arena, NULL) != CW_OK)
        return NULL;
    for (uint32_t i = 0; i < result->metric_count; i++) {
        char text[CW_DESCRIPTION_MAX];
        cw_describe_metric(glossary, r->chip, &result->metrics[i], text, sizeof text);
        if (!(texts[i] = cw_arena_strdup(r->arena, text)))
            return NULL;
    }
    return texts;
}

static enum cw_status render_csv(FILE *out, const void *result, struct cw_error *err)
{
    (void)err;
    cw_csv_write(result, out);
    return CW_OK;
}

static enum cw_status render_json(FILE *out, const void *result, struct cw_error *err)
{
    return cw_json_write(result, out, err);
}

static enum cw_status render_pm_csv(FILE *out, const void *result, struct cw_error *err)
{
    (void)err;
    cw_pm_csv_write(result, out);
    return CW_OK;
}

static enum cw_status render_pm_json(FILE *out, const void *result, struct cw_error *err)
{
    return cw_pm_json_write(result, out, err);
}

static struct cw_table_style terminal_style(void)
{
    struct cw_table_style style = {0};
    struct winsize size;
    const char *columns = getenv("COLUMNS");
    if (!isatty(STDOUT_FILENO))
        return style;
    style.bold = true;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col)
        style.width = size.ws_col;
    else if (columns)
        style.width = (unsigned)strtoul(columns, NULL, 10);
    return style;
}

static enum cw_status write_hdf5(struct run *r)
{
    return is_pm(r) ? cw_pm_hdf5_write(&r->samples, describe(r), r->o->hdf5, r->err)
                    : cw_hdf5_write(&r->ranges, describe(r), r->o->hdf5, r->err);
}

static enum cw_status write_table(struct run *r)
{
    struct cw_table_style style = terminal_style();
    if (is_pm(r))
        return cw_pm_table_write(&r->samples, stdout, r->err);
    cw_table_write(&r->ranges, &style, stdout);
    return CW_OK;
}

static enum cw_status write_outputs(struct run *r)
{
    const struct options *o = r->o;
    enum cw_status status = CW_OK;
    if (o->hdf5)
        status = write_hdf5(r);
    if (status == CW_OK && o->csv)
        status = is_pm(r) ? cw_text_output(o->csv, render_pm_csv, &r->samples, r->err)
                          : cw_text_output(o->csv, render_csv, &r->ranges, r->err);
    if (status == CW_OK && o->json)
        status = is_pm(r) ? cw_text_output(o->json, render_pm_json, &r->samples, r->err)
                          : cw_text_output(o->json, render_json, &r->ranges, r->err);
    bool taken = (o->csv && strcmp(o->csv, "-") == 0) || (o->json && strcmp(o->json, "-") == 0);
    return status == CW_OK && !taken ? write_table(r) : status;
}

/* ---- commands --------------------------------------------------------------------------------------------------- */

static enum cw_status evaluate(struct run *r)
{
    if (is_pm(r))
        return cw_pm_result_make(&r->samples, r->chip, &r->data, basename(r->o->capture), r->metrics, r->metric_count,
                                 &r->o->eval, r->arena, r->err);
    return cw_result_make(&r->ranges, r->chip, &r->data, basename(r->o->capture), r->metrics, r->metric_count,
                          &r->o->eval, r->arena, r->err);
}

static enum cw_status run_check(struct run *r)
{
    struct cw_reference reference;
    enum cw_status status = cw_reference_load(&reference, r->o->check, r->arena, r->err);
    if (status == CW_OK)
        status = parse_names(r, reference.metrics, reference.metric_count);
    if (status == CW_OK)
        status = evaluate(r);
    return status == CW_OK ? cw_reference_compare(&reference, &r->ranges, stdout, r->err) : status;
}

static enum cw_status run_native(struct run *r)
{
    struct cw_reference reference;
    enum cw_status status = r->o->sources.count ? gather_named(r)
                                                : cw_held_metrics(&r->metrics, &r->metric_count, r->chip,
                                                                  &r->data.schema, r->arena, r->err);
    if (status == CW_OK)
        status = evaluate(r);
    if (status == CW_OK)
        status = cw_native_reference_load(&reference, r->o->native, &r->ranges, &r->o->eval, r->arena, r->err);
    return status == CW_OK ? cw_reference_compare(&reference, &r->ranges, stdout, r->err) : status;
}

static enum cw_status run_explain(struct run *r)
{
    uint32_t range = 0;
    enum cw_status status = parse_names(r, &r->o->explained, 1);
    if (status == CW_OK)
        status = choose_range(r, &range);
    return status == CW_OK ? cw_explain(stdout, r->chip, &r->data, r->metrics, range, &r->o->eval, r->arena, r->err)
                           : status;
}

static enum cw_status run_evaluate(struct run *r)
{
    enum cw_status status = gather(r);
    if (status == CW_OK)
        status = evaluate(r);
    if (status == CW_OK)
        status = select_ranges(r, &r->ranges);
    return status == CW_OK ? write_outputs(r) : status;
}

/* Samples and SASS metrics are no metrics of ranges: they need neither the chip's description nor names. */
static enum cw_status run_instructions(struct run *r)
{
    const struct options *o = r->o;
    const struct cw_instruction_outputs outputs = {o->capture, o->hdf5, o->csv, o->json, o->top};
    if (o->show)
        return cw_show_instructions(&outputs, &r->data, &r->file, r->arena, r->err);
    if (o->sources.count || o->all || o->range || o->explain || o->check || o->native)
        return cw_error_set(r->err, CW_ERR_USAGE, "%s: found options about metrics, expected none for a capture of %s",
                            o->capture, r->data.schema.profiler == CW_PROFILER_PC ? "PC samples" : "SASS metrics");
    return cw_eval_instructions(&outputs, &r->data, &r->file, r->arena, r->err);
}

static enum cw_status run(struct run *r)
{
    enum cw_status status = load_capture(r);
    if (status == CW_OK && r->o->show)
        cw_table_show(&r->data, r->o->capture, stdout);
    if (status == CW_OK && is_of_instructions(r)) {
        status = run_instructions(r);
    } else if (status == CW_OK && !r->o->show) {
        status = load_chip(r);
        if (status == CW_OK)
            status = r->o->check     ? run_check(r)
                     : r->o->native  ? run_native(r)
                     : r->o->explain ? run_explain(r)
                                     : run_evaluate(r);
    }
    if ((fflush(stdout) != 0 || ferror(stdout)) && (status == CW_OK || status == CW_ERR_DIFFERS)) {
        *r->err = (struct cw_error)CW_ERROR_INIT;
        status = cw_error_set(r->err, CW_ERR_IO, "cannot write to standard output: %s", strerror(errno));
    }
    return status;
}

int main(int argc, char **argv)
{
    static const struct argp_child children[] = {
        {&cw_metric_sources_argp, 0, NULL, 0}, {&cw_metrics_db_argp, 0, NULL, 0}, {0}};
    static const struct argp argp = {
        option_list,
        parse,
        "RUN.cwd\nshow RUN.cwd\nexplain RUN.cwd METRIC\nmerge A.cwd B.cwd... -o ALL.cwd",
        "Evaluates the metrics of a capture (those of the plan, unless others are named): a table on standard output, "
        "HDF5, CSV and JSON. Needs no GPU and no "
        "NVIDIA "
        "software. 'show' prints what the capture holds, 'explain' how a value came about: its formula with the "
        "numbers "
        "in it, down to the counters.\v"
        "Example:\n  metric-eval run.cwd\n  metric-eval run.cwd --set speed-of-light --range gemm -o run.h5\n"
        "  metric-eval run.cwd -m sm__inst_executed.sum --csv -\n"
        "  metric-eval explain run.cwd lts__t_sector_hit_rate.pct --range gemm\n"
        "  metric-eval --check values.json run.cwd\n  metric-eval --check --native run.native run.cwd",
        children,
        NULL,
        NULL};
    struct options options = {.top = 25};
    cw_cli_init();
    if (argc > 1 && strcmp(argv[1], "merge") == 0) {
        static char title[] = "metric-eval merge";
        argv[1] = title;
        return cw_eval_merge(argc - 1, argv + 1);
    }
    argp_parse(&argp, argc, argv, 0, NULL, &options);
    struct cw_error err = CW_ERROR_INIT;
    struct run r = {.o = &options, .arena = cw_arena_create(), .err = &err};
    enum cw_status status = r.arena ? run(&r) : cw_error_nomem(&err);
    cw_arena_destroy(r.arena);
    cw_bytes_free(&r.file);
    return status == CW_OK ? 0 : cw_cli_fail(&err);
}
