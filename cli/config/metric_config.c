/* metric-config: from metrics to a config image. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/usage.h"
#include "cli/common/chip.h"
#include "cli/common/cli.h"
#include "cli/common/metric_list.h"
#include "cli/config/plan_explain.h"

enum { MOST_TOGETHER = 64 };

struct options {
    const char *output;
    struct cw_metric_sources sources;
    struct cw_cli_chip chip;
    struct counterworks_plan_options plan;
    const char *together[MOST_TOGETHER];
    bool all, explain, json;
};

enum {
    KEY_ALL = 256,
    KEY_PROFILER,
    KEY_EXPLAIN,
    KEY_FORMAT,
    KEY_LIBRARY,
    KEY_NO_NATIVE,
    KEY_MAX_PASSES,
    KEY_SINGLE_PASS,
    KEY_DROP,
    KEY_TOGETHER,
    KEY_PREFER
};

static const struct argp_option option_list[] = {
    {"all", KEY_ALL, 0, 0,
     "plan everything: every counter with its peak, every ratio and throughput with a formula, and all of "
     "--metrics-db; metric-eval --all then has a value for each of these names",
     0},
    {"profiler", KEY_PROFILER, "range|pm", 0,
     "how the plan will be collected: around kernels, or by sampling over time, which has one pass (default: range)",
     0},
    {"max-passes", KEY_MAX_PASSES, "N", 0, "refuse a plan of more than N passes", 0},
    {"single-pass", KEY_SINGLE_PASS, 0, 0, "the same as --max-passes 1", 0},
    {"drop", KEY_DROP, 0, 0,
     "do not refuse a plan that is too long: take the metrics in the order given, and leave out each that needs a pass "
     "too many",
     0},
    {"keep-together", KEY_TOGETHER, "A,B,...", 0, "plan these metrics too, with all their counters in one pass", 0},
    {"prefer", KEY_PREFER, "whole|passes|time", 0,
     "which plan to choose. whole (default): each value that fits a pass has a pass with all its counters; if that "
     "needs more than --max-passes, as with passes. passes: as few passes as possible. time: the passes that take "
     "least time where each launch is replayed by itself, if the chip's file knows what passes cost",
     0},
    {"output", 'o', "FILE", 0, "where to write the config image", 0},
    {"explain", KEY_EXPLAIN, 0, 0, "print the plan: passes, their counters, and the passes of each metric", 0},
    {"format", KEY_FORMAT, "text|json", 0, "the form of --explain (default: text)", 0},
    {"native-library", KEY_LIBRARY, "FILE", 0, "where NVIDIA's host library is, if not in its usual place", 0},
    {"no-native", KEY_NO_NATIVE, 0, 0,
     "do not use NVIDIA's host library, even where it is found: plan by the database alone", 0},
    {0},
};

static uint32_t count_of_passes(struct argp_state *state, const char *text)
{
    char *end;
    unsigned long n = strtoul(text, &end, 10);
    if (*text < '1' || *text > '9' || *end || n > 1000000)
        cw_usage_error(state, "found '%s' passes, expected a number from 1 on", text);
    return (uint32_t)n;
}

static void choose_profiler(struct options *o, const char *name, struct argp_state *state)
{
    o->plan.profiler = strcmp(name, "pm") == 0 ? COUNTERWORKS_SAMPLES : COUNTERWORKS_RANGES;
    if (strcmp(name, "range") != 0 && strcmp(name, "pm") != 0)
        cw_usage_error(state, "found the profiler '%s', expected range or pm", name);
}

static void choose_preference(struct options *o, const char *name, struct argp_state *state)
{
    o->plan.prefer = strcmp(name, "time") == 0     ? COUNTERWORKS_TIME
                     : strcmp(name, "passes") == 0 ? COUNTERWORKS_PASSES
                                                   : COUNTERWORKS_WHOLE;
    if (o->plan.prefer == COUNTERWORKS_WHOLE && strcmp(name, "whole") != 0)
        cw_usage_error(state, "found --prefer '%s', expected whole, passes or time", name);
}

static void keep_together(struct options *o, const char *names, struct argp_state *state)
{
    if (o->plan.together_count == MOST_TOGETHER)
        cw_usage_error(state, "found more than %d times --keep-together", MOST_TOGETHER);
    if (o->sources.count == CW_METRIC_SOURCES_MAX)
        cw_usage_error(state, "found more than %d metric options", CW_METRIC_SOURCES_MAX);
    o->together[o->plan.together_count++] = names;
    o->sources.items[o->sources.count].key = 'm';
    o->sources.items[o->sources.count++].text = names;
}

static void check_arguments(struct options *o, struct argp_state *state)
{
    if (!o->sources.count && !o->all)
        cw_usage_error(state, "no metrics: give -m, --metrics-file, --set or --all");
    if (o->plan.drop && !o->plan.most_passes && o->plan.profiler != COUNTERWORKS_SAMPLES)
        cw_usage_error(state, "--drop needs --max-passes, --single-pass or --profiler pm");
    if (o->plan.profiler == COUNTERWORKS_SAMPLES && o->plan.most_passes > 1)
        cw_usage_error(state, "sampling over time has one pass, found --max-passes %" PRIu32, o->plan.most_passes);
    if (!o->output && !o->explain)
        cw_usage_error(state, "nothing to do: give -o FILE, --explain or both");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *o = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &o->sources;
        state->child_inputs[1] = &o->chip;
        return 0;
    case KEY_ALL:
        o->all = true;
        return 0;
    case KEY_PROFILER:
        choose_profiler(o, arg, state);
        return 0;
    case KEY_MAX_PASSES:
        o->plan.most_passes = count_of_passes(state, arg);
        return 0;
    case KEY_SINGLE_PASS:
        o->plan.most_passes = 1;
        return 0;
    case KEY_DROP:
        o->plan.drop = true;
        return 0;
    case KEY_TOGETHER:
        keep_together(o, arg, state);
        return 0;
    case KEY_PREFER:
        choose_preference(o, arg, state);
        return 0;
    case 'o':
        o->output = arg;
        return 0;
    case KEY_EXPLAIN:
        o->explain = true;
        return 0;
    case KEY_FORMAT:
        o->json = strcmp(arg, "json") == 0;
        if (!o->json && strcmp(arg, "text") != 0)
            cw_usage_error(state, "found the format '%s', expected text or json", arg);
        return 0;
    case KEY_LIBRARY:
        o->plan.native_library = arg;
        return 0;
    case KEY_NO_NATIVE:
        o->plan.native = false;
        return 0;
    case ARGP_KEY_END:
        check_arguments(o, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* All names that were asked for, and in the lists after the first those to be kept together. */
static enum cw_status gather(struct cw_metric_list *lists, const struct options *o, struct counterworks_chip *chip,
                             struct cw_arena *arena, struct cw_error *err)
{
    struct counterworks_error error;
    enum cw_status status = cw_metric_list_gather(lists, &o->sources, chip, arena, err);
    if (status == CW_OK && o->all)
        status = cw_metric_list_add_all(lists, chip, arena, err);
    for (size_t i = 0; status == CW_OK && i < o->plan.together_count; i++) {
        const struct cw_metric_sources one = {.count = 1, .items = {{'m', o->together[i]}}};
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
    for (size_t i = 0; i < options.together_count; i++)
        together[i] = (struct counterworks_names){lists[1 + i].count, lists[1 + i].names};
    counterworks_plan_make(&plan, chip, lists->names, lists->count, &options, &error);
    if (plan && o->output)
        counterworks_plan_save(plan, o->output, &error);
    enum cw_status status = cw_cli_take(&error, err);
    if (status == CW_OK && o->explain)
        status = cw_plan_print(plan, chip, o->json, arena, err);
    counterworks_plan_free(plan);
    return status;
}

static enum cw_status run(const void *options, struct counterworks_chip *chip, struct cw_arena *arena,
                          struct cw_error *err)
{
    struct cw_metric_list lists[1 + MOST_TOGETHER] = {0};
    enum cw_status status = gather(lists, options, chip, arena, err);
    if (status == CW_OK)
        status = make_plan(options, chip, lists, arena, err);
    for (size_t i = 0; i < 1 + MOST_TOGETHER; i++)
        cw_metric_list_free(&lists[i]);
    return status;
}

int main(int argc, char **argv)
{
    static const struct argp_child children[] = {
        {&cw_metric_sources_argp, 0, NULL, 0}, {&cw_cli_chip_argp, 0, NULL, 0}, {0}};
    static const struct argp argp = {
        .options = option_list,
        .parser = parse,
        .args_doc = "",
        .doc = "Plans which counters to collect in which passes, and writes the plan as a config image for "
               "capture-agent. Needs no GPU and no NVIDIA software.\v"
               "Example:\n  metric-config --chip GH100 --set speed-of-light -o plan.cwc\n"
               "  metric-config --chip GH100 -m sm__inst_executed.sum,dram__bytes_read.sum.per_second --explain",
        .children = children};
    struct options options = {.plan = COUNTERWORKS_PLAN_OPTIONS};
    options.plan.native = true;
    cw_cli_init();
    return cw_cli_run(&argp, argc, argv, &options, &options.chip, run);
}
