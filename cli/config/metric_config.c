/* metric-config: from metrics to a config image. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "base/usage.h"
#include "cli/common/cli.h"
#include "cli/common/metric_list.h"
#include "cli/common/chip.h"
#include "cli/config/plan_explain.h"
#include "host/nvperf/lower.h"
#include "host/plan.h"

enum { MOST_TOGETHER = 64 };

struct options {
    const char *output, *library;
    struct cw_metric_sources sources;
    struct cw_cli_chip chip;
    struct cw_plan_options plan;
    const char *together_texts[MOST_TOGETHER];
    struct cw_names together[MOST_TOGETHER];
    uint32_t most_passes; /* 0: any number */
    bool all, drop, explain, json, no_native;
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
    o->plan.profiler = strcmp(name, "pm") == 0 ? CW_PROFILER_PM : CW_PROFILER_RANGE;
    if (strcmp(name, "range") != 0 && strcmp(name, "pm") != 0)
        cw_usage_error(state, "found the profiler '%s', expected range or pm", name);
}

static void choose_preference(struct options *o, const char *name, struct argp_state *state)
{
    o->plan.quick = strcmp(name, "time") == 0;
    o->plan.whole = strcmp(name, "whole") == 0;
    if (!o->plan.quick && !o->plan.whole && strcmp(name, "passes") != 0)
        cw_usage_error(state, "found --prefer '%s', expected whole, passes or time", name);
}

static void keep_together(struct options *o, const char *names, struct argp_state *state)
{
    if (o->plan.together_count == MOST_TOGETHER)
        cw_usage_error(state, "found more than %d times --keep-together", MOST_TOGETHER);
    if (o->sources.count == CW_METRIC_SOURCES_MAX)
        cw_usage_error(state, "found more than %d metric options", CW_METRIC_SOURCES_MAX);
    o->together_texts[o->plan.together_count++] = names;
    o->sources.items[o->sources.count].key = 'm';
    o->sources.items[o->sources.count++].text = names;
}

static void check_arguments(struct options *o, struct argp_state *state)
{
    if (!o->sources.count && !o->all)
        cw_usage_error(state, "no metrics: give -m, --metrics-file, --set or --all");
    if (o->drop && !o->most_passes && o->plan.profiler != CW_PROFILER_PM)
        cw_usage_error(state, "--drop needs --max-passes, --single-pass or --profiler pm");
    if (o->plan.profiler == CW_PROFILER_PM && o->most_passes > 1)
        cw_usage_error(state, "sampling over time has one pass, found --max-passes %" PRIu32, o->most_passes);
    if (o->plan.profiler == CW_PROFILER_PM)
        o->most_passes = 1;
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
        o->most_passes = count_of_passes(state, arg);
        return 0;
    case KEY_SINGLE_PASS:
        o->most_passes = 1;
        return 0;
    case KEY_DROP:
        o->drop = true;
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
        o->library = arg;
        return 0;
    case KEY_NO_NATIVE:
        o->no_native = true;
        return 0;
    case ARGP_KEY_END:
        check_arguments(o, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* Where NVIDIA's host library is found, it proves each pass; one that it would split is split here, and a config image
 * of theirs for the very same passes goes into `native`, so that the node needs no host library to collect. */
static enum cw_status prove(const struct options *o, struct cw_plan *plan, struct cw_writer *native,
                            struct cw_arena *arena, struct cw_error *err)
{
    const struct cw_nvperf *library;
    struct cw_config_image *image = &plan->image;
    uint32_t splits;
    if (o->no_native || cw_nvperf_open(&library, o->library, o->library ? err : NULL) != CW_OK)
        return o->library && !o->no_native ? err->code : CW_OK;
    enum cw_status status = cw_nvperf_repair(library, image, &splits, arena, err);
    if (status == CW_OK && splits) {
        cw_text_print(stderr,
                      "metric-config: NVIDIA's library split %" PRIu32 " pass%s that the database's limits allow\n",
                      splits, splits == 1 ? "" : "es");
        status = cw_plan_explain(plan, arena, err);
    }
    if (status == CW_OK)
        status = cw_nvperf_lower(library, image, 0, native, err);
    image->native_library = "libnvperf_host";
    image->native = native->data;
    image->native_size = native->size;
    return status;
}

static enum cw_status write_image(const struct options *o, const struct cw_plan *plan, struct cw_arena *arena,
                                  struct cw_error *err)
{
    struct cw_writer out;
    cw_writer_init(&out);
    cw_config_image_write(&plan->image, &out);
    enum cw_status status = out.status == CW_OK ? CW_OK : cw_error_nomem(err);
    /* what a reader would refuse must not be written */
    struct cw_config_image check;
    if (status == CW_OK)
        status = cw_config_image_read(&check, out.data, out.size, o->output, arena, err);
    if (status == CW_OK)
        status = cw_file_write(o->output, out.data, out.size, err);
    cw_writer_free(&out);
    return status;
}

static enum cw_status read_together(struct options *o, const struct counterworks_chip *chip, struct cw_arena *arena,
                                    struct cw_error *err)
{
    enum cw_status status = CW_OK;
    for (size_t i = 0; status == CW_OK && i < o->plan.together_count; i++) {
        struct cw_metric_list list = {0};
        struct cw_metric_sources one = {.count = 1};
        one.items[0].key = 'm';
        one.items[0].text = o->together_texts[i];
        status = cw_metric_list_gather(&list, &one, chip, arena, err);
        const char **names = status == CW_OK ? cw_arena_alloc(arena, list.count, sizeof *names) : NULL;
        if (status == CW_OK && !names)
            status = cw_error_nomem(err);
        if (names && list.count)
            memcpy(names, list.names, list.count * sizeof *names);
        o->together[i] = (struct cw_names){list.count, names};
        cw_metric_list_free(&list);
    }
    o->plan.together = o->together;
    return status;
}

enum { MOST_NAMED = 8 };

/* "2 of 5 metrics: a, b" */
static void name_dropped(const struct cw_metric_list *list, const bool *kept, char *text, size_t size)
{
    size_t dropped = 0, used = 0;
    for (size_t i = 0; i < list->count; i++)
        dropped += !kept[i];
    used = (size_t)snprintf(text, size, "%zu of %zu metrics:", dropped, list->count);
    for (size_t i = 0, named = 0; i < list->count && named <= MOST_NAMED && used < size; i++)
        if (!kept[i]) {
            used += (size_t)snprintf(text + used, size - used, "%s %s", named ? "," : "",
                                     named < MOST_NAMED ? list->names[i] : "...");
            named++;
        }
}

/* Refuses metrics that need more passes than allowed, or leaves some out, and says which. Values give way first. */
static enum cw_status limit_passes(struct options *o, const struct cw_chip *chip, struct cw_metric_list *list,
                                   struct cw_error *err)
{
    uint32_t passes;
    char text[700];
    enum cw_status status = cw_plan_passes(&passes, chip, list->names, list->count, &o->plan, err);
    if (status == CW_OK && o->plan.whole && passes > o->most_passes) {
        o->plan.whole = false;
        status = cw_plan_passes(&passes, chip, list->names, list->count, &o->plan, err);
    }
    if (status != CW_OK || passes <= o->most_passes)
        return status;
    bool *kept = calloc(list->count, sizeof *kept);
    status = kept ? cw_plan_choose(kept, chip, list->names, list->count, o->most_passes, &o->plan, err)
                  : cw_error_nomem(err);
    if (status == CW_OK)
        name_dropped(list, kept, text, sizeof text);
    if (status == CW_OK && !o->drop)
        status = cw_error_set(err, CW_ERR_UNSUPPORTED,
                              "found %" PRIu32 " passes, expected at most %" PRIu32 "; --drop would leave out %s",
                              passes, o->most_passes, text);
    size_t n = 0;
    for (size_t i = 0; status == CW_OK && i < list->count; i++)
        if (kept[i])
            list->names[n++] = list->names[i];
    if (status == CW_OK && !n)
        status = cw_error_set(err, CW_ERR_UNSUPPORTED, "found no metric that fits %" PRIu32 " pass%s", o->most_passes,
                              o->most_passes == 1 ? "" : "es");
    if (status == CW_OK) {
        list->count = n;
        cw_text_print(stderr, "metric-config: left out %s\n", text);
    }
    free(kept);
    return status;
}

static enum cw_status plan(struct options *o, const struct counterworks_chip *handle, struct cw_metric_list *list,
                           struct cw_plan *out, struct cw_arena *arena, struct cw_error *err)
{
    const struct cw_chip *chip = handle->chip;
    enum cw_status status = read_together(o, handle, arena, err);
    if (status == CW_OK && o->most_passes)
        status = limit_passes(o, chip, list, err);
    return status == CW_OK ? cw_plan_make(out, chip, list->names, list->count, &o->plan, arena, err) : status;
}

static enum cw_status run(struct options *o, struct cw_metric_list *list, struct cw_arena *arena, struct cw_error *err)
{
    struct counterworks_chip *handle = NULL;
    struct counterworks_error error;
    struct cw_plan p;
    struct cw_writer native;
    cw_writer_init(&native);
    enum cw_status status = cw_cli_chip_open(&handle, &o->chip, err);
    if (status == CW_OK)
        status = cw_metric_list_gather(list, &o->sources, handle, arena, err);
    if (status == CW_OK && o->all)
        status = cw_metric_list_add_all(list, handle, arena, err);
    if (status == CW_OK) {
        counterworks_chip_add_legacy(handle, list->names, list->count, &error);
        status = cw_cli_take(&error, err);
    }
    const struct cw_chip *chip = handle ? handle->chip : NULL;
    if (status == CW_OK && o->plan.profiler == CW_PROFILER_PM && chip->pm_limits == chip->limits)
        cw_text_print(stderr, "metric-config: found no limits of sampling over time for this chip; planned by those of "
                              "range profiling, which never allow more\n");
    if (status == CW_OK) {
        status = plan(o, handle, list, &p, arena, err);
        cw_lib_hint(err, handle, list->names, list->count);
    }
    if (status == CW_OK)
        status = prove(o, &p, &native, arena, err);
    if (status == CW_OK && o->output)
        status = write_image(o, &p, arena, err);
    if (status == CW_OK && o->explain)
        status = cw_plan_print(&p, chip, &o->plan, o->json, arena, err);
    cw_writer_free(&native);
    counterworks_chip_close(handle);
    return status;
}

int main(int argc, char **argv)
{
    static const struct argp_child children[] = {
        {&cw_metric_sources_argp, 0, NULL, 0}, {&cw_cli_chip_argp, 0, NULL, 0}, {0}};
    static const struct argp argp = {
        option_list,
        parse,
        "",
        "Plans which counters to collect in which passes, and writes the plan as a config image for capture-agent. "
        "Needs no GPU and no NVIDIA software.\v"
        "Example:\n  metric-config --chip GH100 --set speed-of-light -o plan.cwc\n"
        "  metric-config --chip GH100 -m sm__inst_executed.sum,dram__bytes_read.sum.per_second --explain",
        children,
        NULL,
        NULL};
    struct options options = {.plan.whole = true};
    cw_cli_init();
    cw_usage_parse(&argp, argc, argv, 0, &options);
    struct cw_error err = CW_ERROR_INIT;
    struct cw_metric_list list = {0};
    struct cw_arena *arena = cw_arena_create();
    enum cw_status status = arena ? run(&options, &list, arena, &err) : cw_error_nomem(&err);
    cw_metric_list_free(&list);
    cw_arena_destroy(arena);
    return cw_cli_finish(status, &err);
}
