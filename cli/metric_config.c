/* metric-config: from metrics to a config image. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "cli/cli.h"
#include "cli/legacy_names.h"
#include "cli/metric_hint.h"
#include "cli/metric_list.h"
#include "cli/metrics_db.h"
#include "host/base/file.h"
#include "host/nvperf/lower.h"
#include "host/plan.h"

struct options {
    const char *chip, *chip_file, *output, *library;
    struct cw_metric_sources sources;
    struct cw_metrics_db metrics_db;
    enum cw_profiler profiler;
    bool explain, json, no_native;
};

enum { KEY_PROFILER = 256, KEY_EXPLAIN, KEY_FORMAT, KEY_CHIP_FILE, KEY_LIBRARY, KEY_NO_NATIVE };

static const struct argp_option option_list[] = {
    {"chip", 'c', "NAME", 0, "the chip to plan for (metric-query chips lists them)", 0},
    {"chip-file", KEY_CHIP_FILE, "FILE", 0, "a chip's YAML file, instead of --chip", 0},
    {"profiler", KEY_PROFILER, "range", 0, "how the plan will be collected (default: range)", 0},
    {"output", 'o', "FILE", 0, "where to write the config image", 0},
    {"explain", KEY_EXPLAIN, 0, 0, "print the plan: passes, their counters, and the passes of each metric", 0},
    {"format", KEY_FORMAT, "text|json", 0, "the form of --explain (default: text)", 0},
    {"native-library", KEY_LIBRARY, "FILE", 0, "NVIDIA's host library, where it is not found by itself", 0},
    {"no-native", KEY_NO_NATIVE, 0, 0,
     "do not use NVIDIA's host library, even where it is found: plan by the database alone", 0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *o = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &o->sources;
        state->child_inputs[1] = &o->metrics_db;
        return 0;
    case 'c':
        o->chip = arg;
        return 0;
    case KEY_CHIP_FILE:
        o->chip_file = arg;
        return 0;
    case KEY_PROFILER:
        if (strcmp(arg, "range") != 0)
            argp_error(state, "found the profiler '%s', expected range", arg);
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
            argp_error(state, "found the format '%s', expected text or json", arg);
        return 0;
    case KEY_LIBRARY:
        o->library = arg;
        return 0;
    case KEY_NO_NATIVE:
        o->no_native = true;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "found '%s', expected only options", arg);
        return 0;
    case ARGP_KEY_END:
        if (!o->chip == !o->chip_file)
            argp_error(state, "one of --chip and --chip-file is required");
        if (!o->sources.count)
            argp_error(state, "no metrics: give -m, --metrics-file or --set");
        if (!o->output && !o->explain)
            argp_error(state, "nothing to do: give -o FILE, --explain or both");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void explain_text(const struct cw_plan *plan)
{
    const struct cw_config_image *image = &plan->image;
    printf("%s: %" PRIu32 " metrics, %" PRIu32 " counters, %" PRIu32 " raw counters, %" PRIu32 " pass%s\n\n",
           image->chip, image->metric_count, image->counter_count, image->raw_count, image->pass_count,
           image->pass_count == 1 ? "" : "es");
    for (uint32_t i = 0; i < image->pass_count; i++) {
        const struct cw_config_pass *pass = &image->passes[i];
        printf("pass %-3" PRIu32 " %2" PRIu32 " raw counters:", i, pass->count);
        for (uint32_t d = 0; d < image->domain_count; d++) {
            uint32_t n = 0;
            for (uint32_t k = 0; k < pass->count; k++)
                n += pass->placements[k].domain == d;
            if (n)
                printf(" %s %" PRIu32, image->domains[d].name, n);
        }
        printf("\n");
    }
    printf("\n");
    for (uint32_t i = 0; i < plan->metric_count; i++) {
        const struct cw_plan_metric *m = &plan->metrics[i];
        printf("%-70s %s", m->name,
               !m->pass_count ? "no pass, a fact of the device"
               : m->whole     ? "pass "
                              : "mixes passes ");
        for (uint32_t k = 0; k < m->pass_count; k++)
            printf("%s%" PRIu32, k ? "," : "", m->passes[k]);
        printf("\n");
    }
}

static enum cw_status explain_json(const struct cw_plan *plan, struct cw_error *err)
{
    json_t *passes = json_array(), *metrics = json_array();
    for (uint32_t i = 0; i < plan->image.pass_count; i++) {
        json_t *raws = json_array(), *domains = json_array();
        for (uint32_t k = 0; k < plan->image.passes[i].count; k++) {
            const struct cw_placement *at = &plan->image.passes[i].placements[k];
            char id[24];
            snprintf(id, sizeof id, "0x%016" PRIx64, plan->image.raws[at->raw]);
            json_array_append_new(raws, json_string(id));
            json_array_append_new(domains, json_string(plan->image.domains[at->domain].name));
        }
        json_array_append_new(passes, json_pack("{s:o, s:o}", "raw", raws, "domains", domains));
    }
    for (uint32_t i = 0; i < plan->metric_count; i++) {
        json_t *list = json_array();
        for (uint32_t k = 0; k < plan->metrics[i].pass_count; k++)
            json_array_append_new(list, json_integer(plan->metrics[i].passes[k]));
        json_array_append_new(metrics, json_pack("{s:s, s:o, s:b}", "name", plan->metrics[i].name, "passes", list,
                                                 "whole", plan->metrics[i].whole));
    }
    json_t *root = json_pack("{s:s, s:o, s:o}", "chip", plan->image.chip, "passes", passes, "metrics", metrics);
    int failed = root ? json_dumpf(root, stdout, JSON_INDENT(1)) : -1;
    json_decref(root);
    printf("\n");
    return failed ? cw_error_nomem(err) : CW_OK;
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
        fprintf(stderr, "metric-config: NVIDIA's library split %" PRIu32 " pass%s that the database's limits allow\n",
                splits, splits == 1 ? "" : "es");
        status = cw_plan_explain(plan, arena, err);
    }
    if (status == CW_OK)
        status = cw_nvperf_lower(library, image, native, err);
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

static enum cw_status run(const struct options *o, struct cw_metric_list *list, struct cw_arena *arena,
                          struct cw_error *err)
{
    const struct cw_chip *chip;
    struct cw_plan plan;
    struct cw_writer native;
    cw_writer_init(&native);
    enum cw_status status =
        o->chip ? cw_chip_load(&chip, o->chip, arena, err) : cw_chip_load_file(&chip, o->chip_file, arena, err);
    if (status == CW_OK)
        status = cw_metrics_db_load(&chip, &o->metrics_db, arena, err);
    if (status == CW_OK)
        status = cw_metric_list_gather(list, &o->sources, chip, arena, err);
    if (status == CW_OK)
        status = cw_legacy_names_adopt(&chip, list->names, list->count, arena, err);
    if (status == CW_OK) {
        status = cw_plan_make(&plan, chip, list->names, list->count, o->profiler, arena, err);
        cw_metric_hint(err, chip, list->names, list->count);
    }
    if (status == CW_OK)
        status = prove(o, &plan, &native, arena, err);
    if (status == CW_OK && o->output)
        status = write_image(o, &plan, arena, err);
    if (status == CW_OK && o->explain && o->json)
        status = explain_json(&plan, err);
    else if (status == CW_OK && o->explain)
        explain_text(&plan);
    if (status == CW_OK && fflush(stdout) != 0)
        status = cw_error_set(err, CW_ERR_IO, "cannot write to standard output");
    cw_writer_free(&native);
    return status;
}

int main(int argc, char **argv)
{
    static const struct argp_child children[] = {
        {&cw_metric_sources_argp, 0, NULL, 0}, {&cw_metrics_db_argp, 0, NULL, 0}, {0}};
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
    struct options options = {0};
    cw_cli_init();
    argp_parse(&argp, argc, argv, 0, NULL, &options);
    struct cw_error err = CW_ERROR_INIT;
    struct cw_metric_list list = {0};
    struct cw_arena *arena = cw_arena_create();
    enum cw_status status = arena ? run(&options, &list, arena, &err) : cw_error_nomem(&err);
    cw_metric_list_free(&list);
    cw_arena_destroy(arena);
    return status == CW_OK ? 0 : cw_cli_fail(&err);
}
