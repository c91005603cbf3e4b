#include "view/view.h"

#include <string.h>

#include "eval/samples/source.h"
#include "metricdb/glossary.h"

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

struct cw_eval_options cw_view_spans(const struct counterworks_request *request)
{
    return (struct cw_eval_options){request->frame_ns, request->region_ns};
}

/* ---- forms ------------------------------------------------------------------------------------------------------ */

static cw_file_render *const table_renders[CW_VIEW__COUNT] = {[CW_VIEW_CSV] = cw_csv_write,
                                                              [CW_VIEW_JSON] = cw_json_write,
                                                              [CW_VIEW_TIDY] = cw_csv_write_tidy,
                                                              [CW_VIEW_CSV_0] = cw_csv_write_0,
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
    if (!cw_view_has(view, format))
        return cw_error_set(err, CW_ERR_USAGE, "%s: found a format for tables, expected another: there are none here",
                            path);
    if (view->renders[format])
        return cw_new_files_print(files, path, view->renders[format], view->content, err);
    if (format != CW_VIEW_HDF5)
        return cw_new_files_print(files, path, table_renders[format], &view->output, err);
    CW_TRY(cw_new_files_open(files, path, &file, err));
    return cw_hdf5_make(&view->output, file, err);
}

enum cw_status cw_view_print(const struct counterworks_view *view, const struct cw_terminal_style *style, FILE *out,
                             struct cw_error *err)
{
    const enum cw_status status = style->source ? cw_source_check(style->source, err) : CW_OK;
    return status == CW_OK ? view->output.print(&view->output, style, out, err) : status;
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
