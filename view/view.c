#include "view/view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "metricdb/glossary.h"
#include "metricdb/set.h"
#include "view/metrics.h"

void cw_view_free(struct counterworks_view *view)
{
    if (view->free)
        view->free(view->owned);
    view->free = NULL;
}

enum cw_status cw_view_need_ranges(const struct counterworks_capture *capture, const char *why, const char *what,
                                   struct cw_error *err)
{
    if (capture->data.schema.profiler == CW_PROFILER_RANGE)
        return CW_OK;
    return cw_error_set(err, CW_ERR_USAGE, "%s: found %s, expected a capture of ranges%s%s", capture->first,
                        cw_profiler_texts[capture->data.schema.profiler], why, what);
}

/* ---- forms ------------------------------------------------------------------------------------------------------ */

static cw_file_render *const table_renders[CW_VIEW__COUNT] = {[CW_VIEW_CSV] = cw_csv_write,
                                                              [CW_VIEW_JSON] = cw_json_write,
                                                              [CW_VIEW_TIDY] = cw_csv_write_rows,
                                                              [CW_VIEW_NDJSON] = cw_ndjson_write};

const char *const cw_view_suffixes[CW_VIEW__COUNT][CW_VIEW_MOST_SUFFIXES + 1] = {
    [CW_VIEW_CSV] = {".csv"},
    [CW_VIEW_JSON] = {".json"},
    [CW_VIEW_HDF5] = {".h5", ".hdf5", ".nc"},
    [CW_VIEW_NDJSON] = {".ndjson", ".jsonl"},
    [CW_VIEW_FOLDED] = {".folded"},
    [CW_VIEW_SPEEDSCOPE] = {".speedscope.json"},
    [CW_VIEW_PROMETHEUS] = {".prom"},
    [CW_VIEW_PERFETTO] = {".pftrace", ".perfetto-trace"},
    [CW_VIEW_CHROME] = {".chrome.json", ".trace.json"},
    [CW_VIEW_HTML] = {".html", ".htm"},
    [CW_VIEW_YAML] = {".yaml"},
};

size_t cw_view_suffix_length(enum cw_view_format format, const char *path)
{
    const size_t size = strlen(path);
    for (const char *const *suffix = cw_view_suffixes[format]; *suffix; suffix++) {
        const size_t length = strlen(*suffix);
        if (size > length && strcmp(path + size - length, *suffix) == 0)
            return length;
    }
    return 0;
}

bool cw_view_has(const struct counterworks_view *view, enum cw_view_format format)
{
    return view->renders[format] ||
           (view->output.table_count && (format == CW_VIEW_HDF5 || table_renders[format] != NULL));
}

enum cw_status cw_view_write(const struct counterworks_view *view, enum cw_view_format format, const char *path,
                             struct cw_new_files *files, struct cw_error *err)
{
    struct cw_new_file *file;
    if (view->renders[format])
        return cw_new_files_print(files, path, view->renders[format], view->content, err);
    if (format != CW_VIEW_HDF5)
        return cw_new_files_print(files, path, table_renders[format], &view->output, err);
    const enum cw_status status = cw_new_files_open(files, path, &file, err);
    return status == CW_OK ? cw_hdf5_make(&view->output, file, err) : status;
}

enum cw_status cw_view_print(const struct counterworks_view *view, const struct cw_terminal_style *style, FILE *out,
                             struct cw_error *err)
{
    return view->output.print(&view->output, style, out, err);
}

/* ---- metrics ---------------------------------------------------------------------------------------------------- */

struct cw_eval_options cw_view_spans(const struct counterworks_request *request)
{
    return (struct cw_eval_options){request->frame_ns, request->region_ns};
}

/* A copy of the chip, with the legacy names among `names` as formulas. */
static enum cw_status add_legacy(struct counterworks_chip *own, const struct cw_view_input *in,
                                 const char *const *names, size_t count)
{
    *own = *in->chip;
    own->arena = in->arena;
    return names ? cw_view_add_legacy(own, names, count, in->err) : CW_OK;
}

enum cw_status cw_view_evaluate_names(struct cw_result *result, const struct cw_view_input *in,
                                      const struct cw_counter_data *groups, const char *const *names, size_t count)
{
    const struct cw_eval_options spans = cw_view_spans(in->request);
    struct counterworks_chip chip;
    const enum cw_status status = add_legacy(&chip, in, names, count);
    return status == CW_OK ? cw_view_evaluate(result, in->capture, groups, &chip, names, count, &spans, in->notices,
                                              in->arena, in->err)
                           : status;
}

/* A capture that names metrics itself could make ranges times metrics grow with the square of its size. Metrics that
 * people name grow with their request. */
static enum cw_status check_values(const struct cw_view_input *in, const struct cw_counter_data *groups)
{
    const struct cw_counter_data *data = &in->capture->data;
    const bool samples = data->schema.profiler == CW_PROFILER_PM;
    const uint64_t metrics = data->schema.metric_count;
    const uint64_t rows = groups ? groups->range_count : samples ? data->pm.sample_count : data->range_count;
    const uint64_t most = 8 * ((uint64_t)in->capture->file.size + 1000000);
    if (metrics * rows <= most)
        return CW_OK;
    return cw_error_set(in->err, CW_ERR_INPUT,
                        "%s: found %" PRIu64 " metrics of %" PRIu64 " %s in the plan, expected at most %" PRIu64
                        " values in a file of this size: name metrics by -m, --set or --all",
                        in->capture->asked, metrics, rows, samples ? "samples" : "ranges", most);
}

static enum cw_status check_planned(const struct cw_view_input *in, const struct cw_counter_data *groups)
{
    if (!in->capture->data.schema.metric_count)
        return cw_error_set(in->err, CW_ERR_USAGE, "%s: the capture names no metrics: give -m, --set or --all",
                            in->capture->asked);
    return check_values(in, groups);
}

enum cw_status cw_view_evaluate_wanted(struct cw_result *result, const struct cw_view_input *in,
                                       const struct cw_counter_data *groups)
{
    const struct cw_schema *plan = &in->capture->data.schema;
    const struct counterworks_names *named = &in->request->metrics;
    if (in->request->every)
        return cw_view_evaluate_names(result, in, groups, NULL, 0);
    if (named->count)
        return cw_view_evaluate_names(result, in, groups, named->names, named->count);
    const enum cw_status status = check_planned(in, groups);
    return status == CW_OK ? cw_view_evaluate_names(result, in, groups, plan->metrics, plan->metric_count) : status;
}

enum cw_status cw_view_evaluate_planned(struct cw_result *result, const struct cw_view_input *in,
                                        const struct cw_counter_data *groups)
{
    enum { MOST = 64 };
    const struct cw_schema *plan = &in->capture->data.schema;
    const size_t planned = plan->metric_count;
    const char **names = cw_arena_alloc(in->arena, planned + MOST, sizeof *names);
    size_t count = planned;
    struct cw_set set;
    if (!names)
        return cw_error_nomem(in->err);
    CW_TRY(check_planned(in, groups));
    memcpy(names, plan->metrics, planned * sizeof *names);
    /* a data folder may lack the set */
    if (cw_set_load(&set, in->chip->folder, "launch", in->chip->chip, in->arena, NULL) == CW_OK)
        for (size_t i = 0; i < set.metric_count && count < planned + MOST; i++)
            if (!cw_view_has_name(plan->metrics, planned, set.metrics[i]))
                names[count++] = set.metrics[i];
    return cw_view_evaluate_names(result, in, groups, names, count);
}

static int by_name(const void *a, const void *b)
{
    const char *const *x = *(const char *const *const *)a, *const *y = *(const char *const *const *)b;
    const int order = strcmp(*x, *y);
    return order ? order : (x > y) - (x < y);
}

/* Drops repeated names, and keeps the order. NULL when out of memory. */
static const char **each_once(const char *const *names, size_t *count, struct cw_arena *arena)
{
    const char *const **sorted = cw_arena_alloc(arena, *count, sizeof *sorted);
    bool *again = cw_arena_alloc(arena, *count, sizeof *again);
    const char **once = cw_arena_alloc(arena, *count, sizeof *once);
    size_t left = 0;
    if (!sorted || !again || !once)
        return NULL;
    for (size_t i = 0; i < *count; i++)
        sorted[i] = &names[i];
    if (*count)
        qsort(sorted, *count, sizeof *sorted, by_name);
    for (size_t i = 1; i < *count; i++)
        again[sorted[i] - names] = strcmp(*sorted[i - 1], *sorted[i]) == 0;
    for (size_t i = 0; i < *count; i++)
        if (!again[i])
            once[left++] = names[i];
    *count = left;
    return once;
}

enum cw_status cw_view_select_names(struct cw_result *result, const struct cw_view_input *in, const char *const *names,
                                    size_t count)
{
    struct counterworks_chip chip;
    const char **once = each_once(names, &count, in->arena);
    enum cw_status status = once ? add_legacy(&chip, in, once, count) : cw_error_nomem(in->err);
    return status == CW_OK ? cw_view_select(result, in->capture, &chip, once, count, in->notices, in->arena, in->err)
                           : status;
}

enum cw_status cw_view_select_wanted(struct cw_result *result, const struct cw_view_input *in)
{
    const struct cw_schema *plan = &in->capture->data.schema;
    const struct counterworks_names *named = &in->request->metrics;
    if (in->request->every)
        return cw_view_select(result, in->capture, in->chip, NULL, 0, in->notices, in->arena, in->err);
    if (named->count)
        return cw_view_select_names(result, in, named->names, named->count);
    const enum cw_status status = check_values(in, NULL);
    return status == CW_OK ? cw_view_select_names(result, in, plan->metrics, plan->metric_count) : status;
}

/* ---- tables ----------------------------------------------------------------------------------------------------- */

/* Descriptions of a result's metrics, from the chip's data folder, where the request wants them. */
static enum cw_status describe(const char *const **texts, const struct cw_view_input *in,
                               const struct cw_result *result)
{
    *texts = NULL;
    return in->request->full ? cw_describe_metrics(texts, in->chip->folder, result->chip, result->metrics,
                                                   result->metric_count, in->arena, in->err)
                             : CW_OK;
}

enum cw_status cw_view_output(struct cw_output *output, const struct cw_view_input *in, const struct cw_result *result)
{
    const char *const *texts;
    CW_TRY(describe(&texts, in, result));
    return result->ranges ? cw_output_ranges(output, result, texts, in->arena, in->err)
                          : cw_output_samples(output, result, texts, in->arena, in->err);
}

enum cw_status cw_view_output_groups(struct cw_output *output, const struct cw_view_input *in,
                                     const struct cw_output_rows *rows)
{
    const char *const *texts;
    CW_TRY(describe(&texts, in, rows->result));
    return cw_output_groups(output, rows, texts, in->arena, in->err);
}
