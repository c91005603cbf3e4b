/* What the sub-commands of metric-eval share: options, and how they run. */
#include <stdlib.h>

#include "cli/common/cli.h"
#include "cli/eval/run.h"

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

static void check_capture(void *request, struct argp_state *state)
{
    struct cw_eval_request *o = request;
    if (!o->word_count)
        cw_usage_error(state, "no capture: give a .cwd file, or - for standard input");
    o->capture = o->words[0];
}

const struct cw_option cw_eval_capture_options[] = {
    {CW_OPTION_WORDS(struct cw_eval_request, words, word_count)},
    {CW_OPTION_CHECK(check_capture)},
    {0},
};

const struct cw_option cw_eval_format_options[] = {
    {"format", 0, "text|json", "the form (default: text)", .called = "the format",
     CW_OPTION_CHOICE(struct cw_eval_request, as_json)},
    {0},
};

const struct cw_option cw_eval_value_options[] = {
    {"frame-ns", 0, "N", "duration of your frame in nanoseconds, for the frame sub-metrics",
     CW_OPTION_READ(struct cw_eval_request, eval.frame_ns, read_frame)},
    {"region-ns", 0, "N", "duration of your region in nanoseconds, for the region sub-metrics",
     CW_OPTION_READ(struct cw_eval_request, eval.region_ns, read_region)},
    {"chip-file", 0, "FILE", "the chip's YAML file, instead of the shipped one",
     CW_OPTION_TEXT(struct cw_eval_request, chip.file)},
    {CW_OPTION_GROUP(struct cw_eval_request, chip, cw_cli_metrics_db_options)},
    {0},
};

static enum cw_status run(const void *options, struct counterworks_chip *chip, struct cw_arena *arena,
                          struct cw_error *err)
{
    const struct cw_eval_request *o = options;
    struct cw_new_files outputs = {0};
    struct cw_eval_run r = {
        .o = o, .arena = arena, .err = err, .chip = chip, .info.size = sizeof r.info, .outputs = &outputs};
    cw_hdf5_begin();
    enum cw_status status = o->run(&r);
    const enum cw_status closing = cw_new_files_close(&outputs, status == CW_OK, err);
    status = status == CW_OK ? closing : status;
    counterworks_chip_close(r.chip);
    counterworks_capture_close(r.capture);
    return status;
}

enum cw_status cw_eval_print_json(json_t *tree, struct cw_error *err)
{
    enum cw_status status = cw_json_print(tree, JSON_INDENT(1), stdout, err);
    fputc('\n', stdout);
    return status;
}

int cw_eval_command(const struct cw_usage *usage, int argc, char **argv, struct cw_eval_request *request)
{
    return cw_cli_run(usage, argc, argv, request, NULL, run);
}
