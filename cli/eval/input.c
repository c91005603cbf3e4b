#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/utf8.h"
#include "cli/eval/run.h"
#include "cli/eval/held_metrics.h"
#include "cli/common/cli.h"
#include "cli/eval/other_version.h"
#include "metricdb/chip_load.h"
#include "metricdb/term.h"

static const size_t largest_capture = (size_t)1 << 40;

bool cw_eval_of_instructions(const struct cw_eval_run *r)
{
    return r->data.schema.profiler == CW_PROFILER_PC || r->data.schema.profiler == CW_PROFILER_SASS;
}

bool cw_eval_of_samples(const struct cw_eval_run *r)
{
    return r->data.schema.profiler == CW_PROFILER_PM;
}

enum cw_status cw_eval_load_capture(struct cw_eval_run *r)
{
    char *source = cw_arena_strdup(r->arena, basename(r->o->capture));
    if (!source)
        return cw_error_nomem(r->err);
    cw_utf8_force(source, strlen(source));
    r->source = source;
    enum cw_status status = cw_file_read(&r->file, r->o->capture, largest_capture, r->err);
    if (status == CW_OK)
        status = cw_counter_data_read(&r->data, r->file.data, r->file.size, r->o->capture, r->arena, r->err);
    uint32_t count = status != CW_OK ? 0 : cw_eval_of_samples(r) ? r->data.pm.sample_count : r->data.range_count;
    if (status == CW_OK && cw_eval_of_instructions(r) && !r->data.complete)
        cw_text_print(stderr, "%s: %s: the capture is incomplete\n", program_invocation_short_name, r->o->capture);
    else if (status == CW_OK && !r->data.complete)
        cw_text_print(stderr, "%s: %s: the capture is incomplete; it holds %" PRIu32 " whole %s%s\n",
                      program_invocation_short_name, r->o->capture, count, cw_eval_of_samples(r) ? "sample" : "range",
                      count == 1 ? "" : "s");
    if (status == CW_OK && cw_eval_of_samples(r) && (r->o->range || r->o->explain || r->o->check || r->o->native))
        status = cw_error_set(r->err, CW_ERR_USAGE, "%s: found a capture of samples, expected one of ranges for %s",
                              r->o->capture,
                              r->o->range     ? "--range"
                              : r->o->explain ? "explain"
                                              : "--check");
    return status;
}

enum cw_status cw_eval_load_chip(struct cw_eval_run *r)
{
    const struct cw_schema *schema = &r->data.schema;
    struct cw_cli_chip from = r->o->chip;
    from.name = schema->chip;
    enum cw_status status = cw_cli_chip_open(&r->handle, &from, r->err);
    if (status == CW_OK)
        status = cw_chip_rename(&r->handle->chip, schema->chip, r->handle->arena, r->err);
    r->chip = status == CW_OK ? r->handle->chip : NULL;
    if (status == CW_OK)
        cw_say_other_version(r->o->capture, schema, r->chip);
    return status;
}

static bool is_planned(const struct cw_eval_run *r, const char *name)
{
    const struct cw_schema *schema = &r->data.schema;
    uint32_t i = 0;
    while (i < schema->metric_count && strcmp(schema->metrics[i], name) != 0)
        i++;
    return i < schema->metric_count;
}

/* A plan may name users' own metrics, whose formulas are in no capture. */
static enum cw_status parse_name(struct cw_eval_run *r, struct cw_metric *metric, const char *name)
{
    if (cw_metric_parse(metric, r->chip, name, NULL) == CW_OK || !is_planned(r, name))
        return cw_metric_parse(metric, r->chip, name, r->err);
    return cw_error_set(r->err, CW_ERR_USAGE,
                        "%s: found the metric '%.200s' in the plan, which %s does not have: give the file with its "
                        "formula by --metrics-db",
                        r->o->capture, name, r->chip->name);
}

enum cw_status cw_eval_parse_names(struct cw_eval_run *r, const char *const *names, size_t count)
{
    struct counterworks_error error;
    counterworks_chip_add_legacy(r->handle, names, count, &error);
    enum cw_status status = cw_cli_take(&error, r->err);
    r->chip = r->handle->chip;
    r->metrics = cw_arena_alloc(r->arena, count, sizeof *r->metrics);
    if (!r->metrics)
        return cw_error_nomem(r->err);
    for (; status == CW_OK && r->metric_count < count; r->metric_count++)
        status = parse_name(r, &r->metrics[r->metric_count], names[r->metric_count]);
    return status;
}

/* Their values will read "not collected", which another capture would not mend. */
static void say_without_formula(const struct cw_eval_run *r)
{
    struct cw_error first = CW_ERROR_INIT;
    size_t count = 0;
    for (size_t i = 0; i < r->metric_count; i++)
        count += cw_metric_needs(&(struct cw_needs){.chip = r->chip}, &r->metrics[i], &first) != CW_OK;
    if (count > 1)
        cw_text_print(stderr, "%s: %s, nor for %zu more of the metrics asked for\n", program_invocation_short_name,
                      first.message, count - 1);
    else if (count)
        cw_text_print(stderr, "%s: %s\n", program_invocation_short_name, first.message);
}

enum cw_status cw_eval_gather_named(struct cw_eval_run *r)
{
    struct cw_metric_list list = {0};
    enum cw_status status = cw_metric_list_gather(&list, &r->o->sources, r->handle, r->arena, r->err);
    if (status == CW_OK && !list.count)
        status = cw_error_set(r->err, CW_ERR_USAGE, "found no metric in what was asked for, expected at least one");
    if (status == CW_OK)
        status = cw_eval_parse_names(r, list.names, list.count);
    if (status == CW_OK)
        say_without_formula(r);
    cw_metric_list_free(&list);
    return status;
}

/* The number of ranges times that of the metrics that a capture names grows with the square of its size; where people
 * name the metrics, it grows with what they want. */
static enum cw_status check_values(const struct cw_eval_run *r)
{
    const uint64_t metrics = r->data.schema.metric_count, most = 8 * ((uint64_t)r->file.size + 1000000);
    const uint64_t ranges = cw_eval_of_samples(r) ? r->data.pm.sample_count : r->data.range_count;
    if (metrics * ranges <= most)
        return CW_OK;
    return cw_error_set(r->err, CW_ERR_INPUT,
                        "%s: found %" PRIu64 " metrics of %" PRIu64 " %s in the plan, expected at most %" PRIu64
                        " values in a file of this size: name metrics by -m, --set or --all",
                        r->o->capture, metrics, ranges, cw_eval_of_samples(r) ? "samples" : "ranges", most);
}

enum cw_status cw_eval_gather(struct cw_eval_run *r)
{
    if (r->o->all)
        return cw_held_metrics(&r->metrics, &r->metric_count, r->chip, &r->data.schema, r->arena, r->err);
    if (r->o->sources.count)
        return cw_eval_gather_named(r);
    if (!r->data.schema.metric_count)
        return cw_error_set(r->err, CW_ERR_USAGE, "%s: the capture names no metrics: give -m, --set or --all",
                            r->o->capture);
    enum cw_status status = check_values(r);
    return status == CW_OK ? cw_eval_parse_names(r, r->data.schema.metrics, r->data.schema.metric_count) : status;
}
