/* metric-config: from metrics to a config image. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/progress.h"
#include "cli/common/chip.h"
#include "cli/common/cli.h"
#include "cli/common/metric_list.h"
#include "cli/config/metric_config.h"
#include "cli/config/plan_explain.h"

enum { MOST_TOGETHER = 64 };

struct options {
    const char *output, *rules;
    struct cw_metric_sources sources;
    struct cw_cli_chip chip;
    struct counterworks_plan_options plan;
    const char *together[MOST_TOGETHER];
    bool all, for_advice, explain, json, no_native, force;
};

static void count_passes(void *most_passes, char *text, struct argp_state *state)
{
    char *end;
    unsigned long n = strtoul(text, &end, 10);
    if (*text < '1' || *text > '9' || *end || n > 1000000)
        cw_usage_error(state, "found '%s' passes, expected a number from 1 on", text);
    *(uint32_t *)most_passes = (uint32_t)n;
}

static void want_single_pass(void *most_passes, char *text, struct argp_state *state)
{
    (void)text, (void)state;
    *(uint32_t *)most_passes = 1;
}

static void keep_together(void *options, char *names, struct argp_state *state)
{
    struct options *o = options;
    if (o->plan.together_count == MOST_TOGETHER)
        cw_usage_error(state, "found more than %d times --keep-together", MOST_TOGETHER);
    cw_metric_sources_add(&o->sources, names, state);
    o->together[o->plan.together_count++] = names;
}

static void check_options(void *options, struct argp_state *state)
{
    const struct options *o = options;
    if (!o->sources.count && !o->all && !o->for_advice)
        cw_usage_error(state, "no metrics: give -m, --metrics-file, --set, --for-advice or --all");
    if (o->rules && !o->for_advice)
        cw_usage_error(state, "--rules needs --for-advice");
    if (o->plan.drop && !o->plan.most_passes && o->plan.profiler != COUNTERWORKS_SAMPLES)
        cw_usage_error(state, "--drop needs --max-passes, --single-pass or --profiler pm");
    if (o->plan.profiler == COUNTERWORKS_SAMPLES && o->plan.most_passes > 1)
        cw_usage_error(state, "sampling over time has one pass, found --max-passes %" PRIu32, o->plan.most_passes);
    if (o->output && cw_file_is_standard(o->output) && o->explain)
        cw_usage_error(state, "found -o - and --explain, expected one of them on standard output");
}

static const struct cw_option option_list[] = {
    {"all", 0, NULL,
     "plan everything: every counter with its peak, every ratio and throughput with a formula, and all of "
     "--metrics-db; counterworks RUN.cwd --all then has a value for each name",
     CW_OPTION_FLAG(struct options, all)},
    {"for-advice", 0, NULL, "plan the counters of \"counterworks advise\"", CW_OPTION_FLAG(struct options, for_advice)},
    {"rules", 0, "PATH", "with --for-advice: rules of your own as well, a YAML file or a folder of them",
     CW_OPTION_TEXT(struct options, rules)},
    {"profiler", 0, "range|pm",
     "the way to collect the plan: around kernels, or by sampling over time, which has one pass (default: range)",
     .called = "the profiler", CW_OPTION_CHOICE(struct options, plan.profiler)},
    {"max-passes", 0, "N", "refuse a plan of more than N passes",
     CW_OPTION_READ(struct options, plan.most_passes, count_passes)},
    {"single-pass", 0, NULL, "the same as --max-passes 1", CW_OPTION_RARE,
     CW_OPTION_READ(struct options, plan.most_passes, want_single_pass)},
    {"drop", 0, NULL,
     "do not refuse a plan that is too long: take the metrics in the order given, and leave out each that needs a pass "
     "too many",
     CW_OPTION_FLAG(struct options, plan.drop)},
    {"keep-together", 0, "A,B,...", "also plan these metrics, with all their counters in one pass", CW_OPTION_RARE,
     CW_OPTION_TAKE(keep_together)},
    {"device-facts", 0, "FILE",
     "plan for the GPUs of a node, by the file of \"counterworks doctor --facts\" there: their chip, unless --chip "
     "chooses one of several, without missing units",
     CW_OPTION_TEXT(struct options, chip.node)},
    {"prefer", 0, "whole|passes|time",
     "the plan to choose. whole (default): each value that fits a pass has a pass with all its counters; if that needs "
     "more than --max-passes, as with passes. passes: as few passes as possible. time: the passes that take least time "
     "if each launch is replayed by itself, if the chip's file has costs of passes",
     CW_OPTION_CHOICE(struct options, plan.prefer)},
    {"output", 'o', "FILE", "the file for the config image; - is standard output",
     CW_OPTION_TEXT(struct options, output)},
    {CW_OPTION_GROUP(struct options, force, cw_cli_force_options)},
    {"explain", 0, NULL, "print the plan: passes, their counters, and the passes of each metric",
     CW_OPTION_FLAG(struct options, explain)},
    {"format", 0, "text|json", "the form of --explain (default: text)", .called = "the format",
     CW_OPTION_CHOICE(struct options, json)},
    {"native-library", 0, "FILE", "NVIDIA's host library, if not in its usual place", CW_OPTION_RARE,
     CW_OPTION_TEXT(struct options, plan.native_library)},
    {"no-native", 0, NULL, "do not use NVIDIA's host library, even if it is found: plan by the database alone",
     CW_OPTION_RARE, CW_OPTION_FLAG(struct options, no_native)},
    {CW_OPTION_GROUP(struct options, sources, cw_metric_sources_options)},
    {CW_OPTION_GROUP(struct options, chip, cw_cli_chip_options)},
    {CW_OPTION_CHECK(check_options)},
    {0},
};

/* All names that were asked for, and in the lists after the first those to be kept together. */
static enum cw_status gather(struct cw_metric_list *lists, const struct options *o, struct counterworks_chip *chip,
                             struct cw_arena *arena, struct cw_error *err)
{
    struct counterworks_error error;
    enum cw_status status = cw_metric_list_gather(lists, &o->sources, chip, arena, err);
    if (status == CW_OK && o->all)
        status = cw_metric_list_add_all(lists, chip, arena, err);
    if (status == CW_OK && o->for_advice)
        status = cw_metric_list_add_advice(lists, chip, o->rules, arena, err);
    for (size_t i = 0; status == CW_OK && i < o->plan.together_count; i++) {
        const struct cw_metric_sources one = {.count = 1, .items = {{CW_METRIC_NAMES, o->together[i]}}};
        status = cw_metric_list_gather(&lists[1 + i], &one, chip, arena, err);
    }
    if (status != CW_OK)
        return status;
    counterworks_chip_add_legacy(chip, lists->names, lists->count, &error);
    return cw_cli_take(&error, err);
}

static enum cw_status make_plan(const struct options *o, const struct counterworks_chip *chip,
                                const struct cw_metric_list *lists, struct cw_arena *arena, struct cw_error *err)
{
    struct counterworks_names together[MOST_TOGETHER];
    struct counterworks_plan_options options = o->plan;
    struct counterworks_plan *plan;
    struct counterworks_error error;
    options.together = together;
    options.native = !o->no_native;
    for (size_t i = 0; i < options.together_count; i++)
        together[i] = (struct counterworks_names){lists[1 + i].count, lists[1 + i].names};
    cw_progress_begin(o->chip.quiet, false, "planning %zu metrics", lists->count);
    counterworks_plan_make(&plan, chip, lists->names, lists->count, &options, &error);
    cw_progress_end();
    if (plan && o->output)
        counterworks_plan_save(plan, o->output, &error);
    enum cw_status status = cw_cli_take(&error, err);
    if (status == CW_OK && o->explain)
        status = cw_plan_print(plan, chip, o->json, arena, err);
    counterworks_plan_free(plan);
    if (status == CW_OK && !o->output && !o->explain) /* a wrong name is the mistake that comes first */
        return cw_error_set(err, CW_ERR_USAGE, "nothing to do: give -o FILE, --explain or both");
    return status;
}

static enum cw_status run(const void *options, struct counterworks_chip *chip, struct cw_arena *arena,
                          struct cw_error *err)
{
    struct cw_metric_list lists[1 + MOST_TOGETHER] = {0};
    const struct options *o = options;
    enum cw_status status = o->output ? cw_file_may_replace(o->output, &cw_file_plan, o->force, err) : CW_OK;
    if (status == CW_OK)
        status = gather(lists, options, chip, arena, err);
    if (status == CW_OK)
        status = make_plan(options, chip, lists, arena, err);
    for (size_t i = 0; i < 1 + MOST_TOGETHER; i++)
        cw_metric_list_free(&lists[i]);
    return status;
}

int cw_config_plan(int argc, char **argv)
{
    static const struct cw_usage usage = {
        option_list, "",
        "Plans which counters to collect in which passes, and writes the plan as a config image for "
        "capture-agent. Needs no GPU and no NVIDIA software.\v"
        "Example:\n  $0 --chip GH100 --set speed-of-light -o plan.cwc\n"
        "  $0 --chip GH100 --for-advice -o advice.cwc\n"
        "  $0 --chip GH100 -m sm__inst_executed.sum,dram__bytes_read.sum.per_second --explain"};
    struct options options = {.plan = COUNTERWORKS_PLAN_OPTIONS};
    return cw_cli_run(&usage, argc, argv, &options, &options.chip, run);
}

int cw_config_main(int argc, char **argv)
{
    cw_cli_init();
    return cw_config_plan(argc, argv);
}
