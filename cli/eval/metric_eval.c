/* metric-eval: counter data to metrics. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "cli/common/cli.h"
#include "cli/eval/run.h"
#include "cli/eval/native_reference.h"
#include "eval/check.h"
#include "eval/explain.h"

/* ---- command line ----------------------------------------------------------------------------------------------- */

static double duration(const char *text, const char *option, const struct argp_state *state)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !(value > 0 && value < 1e300))
        cw_usage_error(state, "found %s '%s', expected a number of nanoseconds above 0", option, text);
    return value;
}

static void read_frame(void *ns, char *text, struct argp_state *state)
{
    *(double *)ns = duration(text, "--frame-ns", state);
}

static void read_region(void *ns, char *text, struct argp_state *state)
{
    *(double *)ns = duration(text, "--region-ns", state);
}

static void read_top(void *top, char *text, struct argp_state *state)
{
    size_t count = strtoul(text, NULL, 10);
    if (!count || text[strspn(text, "0123456789")])
        cw_usage_error(state, "found --top '%s', expected a number above 0", text);
    *(size_t *)top = count;
}

/* "--check --native FILE" means --native FILE. */
static void read_check(void *check, char *text, struct argp_state *state)
{
    if (strcmp(text, "--native") == 0)
        state->next--;
    else
        *(const char **)check = text;
}

static void add_argument(void *request, char *arg, struct argp_state *state)
{
    struct cw_eval_request *o = request;
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
        cw_usage_error(state, "found '%s' after %s, expected one %s", arg, o->explain ? o->explained : o->capture,
                       o->explain ? "metric" : "capture");
}

static void check_options(void *request, struct argp_state *state)
{
    const struct cw_eval_request *o = request;
    bool metrics = o->sources.count || o->all, output = o->hdf5 || o->csv || o->json;
    if (!o->capture)
        cw_usage_error(state, "no capture: give a .cwd file");
    if (o->explain && !o->explained)
        cw_usage_error(state, "found no metric to explain after %s", o->capture);
    if (o->all && o->sources.count)
        cw_usage_error(state, "found --all and other metrics, expected one of them");
    if (o->csv && o->json && strcmp(o->csv, "-") == 0 && strcmp(o->json, "-") == 0)
        cw_usage_error(state, "found --csv and --json on standard output, expected one of them there");
    if (o->check && (metrics || output || o->range || o->native))
        cw_usage_error(state,
                       "found --check with metrics, ranges or outputs, expected it alone: the file names the metrics");
    if (o->native && (output || o->range))
        cw_usage_error(state, "found --native with ranges or outputs, expected none");
    if (o->show && (metrics || output || o->range || o->check || o->native))
        cw_usage_error(state, "found options of evaluation, expected none with show");
    if (o->explain && (metrics || output || o->check || o->native))
        cw_usage_error(state, "found other metrics or outputs, expected none with explain");
}

static const struct cw_option option_list[] = {
    {"all", 0, NULL, "every metric whose counters the capture holds", CW_OPTION_FLAG(struct cw_eval_request, all)},
    {"range", 0, "REGEX",
     "only ranges whose name or kernel matches; explain takes the first of them, or the range of that number",
     CW_OPTION_TEXT(struct cw_eval_request, range)},
    {"output", 'o', "FILE", "write HDF5", CW_OPTION_TEXT(struct cw_eval_request, hdf5)},
    {"csv", 0, "FILE", "write CSV; - is standard output", CW_OPTION_TEXT(struct cw_eval_request, csv)},
    {"json", 0, "FILE", "write JSON; - is standard output", CW_OPTION_TEXT(struct cw_eval_request, json)},
    {"frame-ns", 0, "N", "duration of your frame in nanoseconds, for the frame sub-metrics",
     CW_OPTION_READ(struct cw_eval_request, eval.frame_ns, read_frame)},
    {"region-ns", 0, "N", "duration of your region in nanoseconds, for the region sub-metrics",
     CW_OPTION_READ(struct cw_eval_request, eval.region_ns, read_region)},
    {"chip-file", 0, "FILE", "the chip's YAML file, instead of the shipped one",
     CW_OPTION_TEXT(struct cw_eval_request, chip.file)},
    {"top", 0, "N", "of PC samples and SASS metrics, show the N hottest instructions (default: 25)",
     CW_OPTION_READ(struct cw_eval_request, top, read_top)},
    {"check", 0, "FILE", "compare with values recorded in a JSON file",
     CW_OPTION_READ(struct cw_eval_request, check, read_check)},
    {"native", 0, "FILE",
     "compare with NVIDIA's evaluator, on the native counter data of the same run (FILE, FILE.1, FILE.2, ...): the "
     "metrics that are named, or every metric whose counters the capture holds; needs NVIDIA's host library",
     CW_OPTION_TEXT(struct cw_eval_request, native)},
    {CW_OPTION_TAKE(add_argument)},
    {CW_OPTION_CHECK(check_options)},
    {CW_OPTION_GROUP(struct cw_eval_request, sources, cw_metric_sources_options)},
    {CW_OPTION_GROUP(struct cw_eval_request, chip, cw_cli_metrics_db_options)},
    {0},
};

/* ---- commands --------------------------------------------------------------------------------------------------- */

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

static enum cw_status run_explain(struct cw_eval_run *r)
{
    const char *const *name = &r->o->explained;
    struct cw_result *of = &r->result;
    uint32_t range = 0;
    enum cw_status status = cw_eval_add_legacy(r, name, 1);
    if (status == CW_OK)
        status = cw_lib_select(of, r->capture, r->chip, name, 1, r->arena, r->err);
    if (status == CW_OK)
        status = cw_eval_choose_range(r, &range);
    return status == CW_OK ? cw_explain(stdout, of->chip, of->data, of->metrics, range, &r->o->eval, r->arena, r->err)
                           : status;
}

static enum cw_status run_evaluate(struct cw_eval_run *r)
{
    enum cw_status status = r->o->all             ? cw_eval_names(r, NULL, 0)
                            : r->o->sources.count ? cw_eval_named(r)
                                                  : cw_eval_planned(r);
    if (status == CW_OK)
        status = cw_eval_select_ranges(r);
    return status == CW_OK ? cw_eval_write_metrics(r) : status;
}

/* Samples and SASS metrics are no metrics of ranges: they need neither the chip's description nor names. */
static enum cw_status run_instructions(struct cw_eval_run *r)
{
    const struct cw_eval_request *o = r->o;
    if (o->show)
        return cw_show_instructions(r);
    if (o->sources.count || o->all || o->range || o->explain || o->check || o->native)
        return cw_error_set(r->err, CW_ERR_USAGE, "%s: found options about metrics, expected none for a capture of %s",
                            o->capture, r->info.profiler == COUNTERWORKS_PC_SAMPLES ? "PC samples" : "SASS metrics");
    return cw_eval_instructions(r);
}

/* Outputs would otherwise replace each other, or what they are made from. */
static enum cw_status check_outputs(const struct cw_eval_run *r)
{
    const struct cw_eval_request *o = r->o;
    const char *const files[] = {o->capture, o->hdf5, o->csv, o->json};
    for (size_t i = 1; i < sizeof files / sizeof *files; i++)
        for (size_t k = 0; files[i] && k < i; k++)
            if (files[k] && cw_file_is_same(files[k], files[i]))
                return cw_error_set(r->err, CW_ERR_USAGE, "found %s as %s, expected another file for each", files[i],
                                    k ? "two outputs" : "capture and output");
    return CW_OK;
}

static enum cw_status run_request(struct cw_eval_run *r)
{
    enum cw_status status = check_outputs(r);
    if (status == CW_OK)
        status = cw_eval_load_capture(r);
    if (status != CW_OK)
        return status;
    const bool instructions = r->info.profiler > COUNTERWORKS_SAMPLES;
    if (r->o->show || instructions) /* nothing is evaluated, which tells it otherwise */
        cw_lib_tell_incomplete(r->capture, &(struct counterworks_chip){.tell = cw_cli_tell});
    if (r->o->show)
        cw_capture_show(&r->capture->data, r->o->capture, stdout);
    if (instructions)
        return run_instructions(r);
    if (r->o->show)
        return CW_OK;
    status = cw_eval_load_chip(r);
    return status != CW_OK ? status
           : r->o->check   ? run_check(r)
           : r->o->native  ? run_native(r)
           : r->o->explain ? run_explain(r)
                           : run_evaluate(r);
}

static enum cw_status run(const void *options, struct counterworks_chip *chip, struct cw_arena *arena,
                          struct cw_error *err)
{
    struct cw_eval_run r = {.o = options, .arena = arena, .err = err, .chip = chip, .info.size = sizeof r.info};
    cw_hdf5_begin();
    enum cw_status status = run_request(&r);
    counterworks_chip_close(r.chip);
    counterworks_capture_close(r.capture);
    return status;
}

int main(int argc, char **argv)
{
    static const struct cw_usage usage = {
        option_list, "RUN.cwd\nshow RUN.cwd\nexplain RUN.cwd METRIC\nmerge A.cwd B.cwd... -o ALL.cwd",
        "Evaluates the metrics of a capture, and prints a table or writes HDF5, CSV or JSON. Without -m, --set or "
        "--all these are the metrics of the plan. Needs no GPU and no NVIDIA software. 'show' prints what the capture "
        "holds. 'explain' prints how a value came about: its formula with the numbers in it, down to the counters.\v"
        "Example:\n  metric-eval run.cwd\n  metric-eval run.cwd --set speed-of-light --range gemm -o run.h5\n"
        "  metric-eval run.cwd -m sm__inst_executed.sum --csv -\n"
        "  metric-eval explain run.cwd lts__t_sector_hit_rate.pct --range gemm\n"
        "  metric-eval --check values.json run.cwd\n  metric-eval --check --native run.native run.cwd"};
    struct cw_eval_request options = {.top = 25};
    cw_cli_init();
    if (argc > 1 && strcmp(argv[1], "merge") == 0) {
        static char title[] = "metric-eval merge";
        argv[1] = title;
        return cw_eval_merge(argc - 1, argv + 1);
    }
    return cw_cli_run(&usage, argc, argv, &options, NULL, run);
}
