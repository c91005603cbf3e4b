#define _GNU_SOURCE
#include "report/report.h"

#include <string.h>

#include "eval/output/advice.h"
#include "eval/output/capture.h"
#include "report/job.h"
#include "report/kernels.h"
#include "report/launches.h"
#include "report/page.h"
#include "report/put.h"
#include "report/source.h"
#include "report/timeline.h"
#include "report/trace.h"

struct writing {
    FILE *page, *out; /* the file, and the stream into it for JSON */
    const struct cw_report *report;
    struct cw_layout layout;
    struct cw_report_kernels kernels;
    struct cw_error *err;
};

/* ---- data ------------------------------------------------------------------------------------------------------- */

static enum cw_status put_captures(struct writing *w)
{
    const struct cw_report *r = w->report;
    enum cw_status status = CW_OK;
    fputs(",\n\"captures\":[", w->out);
    for (size_t i = 0; i < r->capture_count && status == CW_OK; i++) {
        fputs(i ? ",\n" : "\n", w->out);
        status = cw_json_print(cw_capture_manifest(r->captures[i].data, r->captures[i].source), JSON_COMPACT, w->out,
                               w->err);
    }
    fputs("]", w->out);
    if (r->baseline && status == CW_OK) {
        fputs(",\n\"baseline\":", w->out);
        status =
            cw_json_print(cw_capture_manifest(r->baseline->data, r->baseline->source), JSON_COMPACT, w->out, w->err);
    }
    return status;
}

/* The captures, and of the kernels everything but when they ran. */
static enum cw_status put_main(struct writing *w)
{
    const struct cw_report *r = w->report;
    cw_put_text(w->out, "{\"title\":", r->captures[0].source);
    cw_put_text(w->out, ",\"version\":", CW_VERSION);
    if (r->hdf5)
        cw_put_text(w->out, ",\"hdf5\":", r->hdf5);
    enum cw_status status = put_captures(w);
    fputs(",\n\"layout\":", w->out);
    if (status == CW_OK)
        status = cw_json_print(json_incref(w->layout.tree), JSON_COMPACT, w->out, w->err);
    if (status == CW_OK && r->ranges)
        status = cw_report_kernels_put(w->out, &w->kernels, w->err);
    if (status == CW_OK && r->ranges)
        status = cw_report_launches_put(w->out, &w->kernels, w->err);
    fputs("}", w->out);
    return status;
}

static enum cw_status put_timelines(struct writing *w)
{
    const struct cw_report *r = w->report;
    enum cw_status status = CW_OK;
    size_t count = 0;
    fputs("[", w->out);
    for (size_t i = 0; i < r->capture_count && status == CW_OK; i++)
        status = cw_report_timelines_put(w->out, r, &r->captures[i], &count, w->err);
    fputs("]", w->out);
    return status;
}

static enum cw_status put_traces(struct writing *w)
{
    const struct cw_report *r = w->report;
    enum cw_status status = CW_OK;
    const char *before = "[";
    for (size_t i = 0; i < r->capture_count && status == CW_OK; i++) {
        if (!r->captures[i].timeline)
            continue;
        fputs(before, w->out);
        before = ",";
        status = cw_report_trace_put(w->out, &r->captures[i], r->arena, w->err);
    }
    fputs(*before == '[' ? "[]" : "]", w->out);
    return status;
}

static enum cw_status put_source(struct writing *w)
{
    const struct cw_report *r = w->report;
    enum cw_status status = CW_OK;
    const char *before = "[";
    for (size_t i = 0; i < r->capture_count && status == CW_OK; i++) {
        if (!r->captures[i].instructions)
            continue;
        fputs(before, w->out);
        before = ",";
        status = cw_report_source_put(w->out, &r->captures[i], r, w->err);
    }
    fputs(*before == '[' ? "[]" : "]", w->out);
    return status;
}

/* What limits each kernel and what to change, as "metric-eval advise --format json" has it. */
static enum cw_status put_advice(struct writing *w)
{
    const struct cw_report *r = w->report;
    struct cw_advice advice;
    if (!r->ranges || !r->rules) {
        fputs("null", w->out);
        return CW_OK;
    }
    enum cw_status status = cw_advise(&advice, r->rules, &w->kernels.groups, CW_ADVICE_LEAST_GAIN, r->arena, w->err);
    for (size_t i = 0; i < r->capture_count && status == CW_OK; i++)
        if (r->captures[i].data->schema.profiler == CW_PROFILER_PC)
            status = cw_advice_add_lines(&advice, r->captures[i].instructions, r->arena, w->err);
    const struct cw_advice_view view = {.advice = &advice, .source = r->ranges->source, .arena = r->arena};
    return status == CW_OK ? cw_advice_json(w->out, &view, w->err) : status;
}

static enum cw_status put_job(struct writing *w)
{
    if (w->report->job)
        return cw_report_job_put(w->out, w->report->job, w->err);
    fputs("null", w->out);
    return CW_OK;
}

static const struct part { /* an element of JSON in the page */
    const char *name;
    enum cw_status (*put)(struct writing *w);
} parts[] = {{"data", put_main},
             {"advice", put_advice},
             {"timelines", put_timelines},
             {"traces", put_traces},
             {"source", put_source},
             {"job", put_job}};

static enum cw_status put_part(struct writing *w, const struct part *part)
{
    fprintf(w->page, "<script type=\"application/json\" id=\"%s\">\n", part->name);
    w->out = cw_put_into_page(w->page);
    if (!w->out)
        return cw_error_nomem(w->err);
    enum cw_status status = part->put(w);
    fclose(w->out);
    fputs("\n</script>\n", w->page);
    return status;
}

/* ---- the page --------------------------------------------------------------------------------------------------- */

static void put_file(FILE *out, const struct cw_page_file *file)
{
    if (file->tag)
        fprintf(out, "<%s>\n", file->tag);
    fwrite(file->start, 1, (size_t)(file->end - file->start), out);
    if (file->tag)
        fprintf(out, "</%s>\n", file->tag);
}

/* What stands in the template as <!--= name -->. */
static enum cw_status put_named(struct writing *w, const char *name, size_t length)
{
    for (size_t i = 0; i < cw_page_file_count; i++)
        if (strlen(cw_page_files[i].name) == length && memcmp(cw_page_files[i].name, name, length) == 0)
            put_file(w->page, &cw_page_files[i]);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strlen(parts[i].name) == length && memcmp(parts[i].name, name, length) == 0)
            return put_part(w, &parts[i]);
    return CW_OK;
}

static enum cw_status put_page(struct writing *w)
{
    static const char before[] = "<!--= ", after[] = " -->";
    const char *at = cw_page_template.start;
    enum cw_status status = CW_OK;
    while (status == CW_OK) {
        const size_t left = (size_t)(cw_page_template.end - at);
        const char *mark = memmem(at, left, before, sizeof before - 1);
        fwrite(at, 1, mark ? (size_t)(mark - at) : left, w->page);
        if (!mark)
            break;
        const char *name = mark + sizeof before - 1;
        const char *end = memmem(name, (size_t)(cw_page_template.end - name), after, sizeof after - 1);
        status = put_named(w, name, (size_t)(end - name));
        at = end + sizeof after - 1;
    }
    return status;
}

enum cw_status cw_report_check(struct cw_error *err)
{
    return cw_page_whole ? CW_OK
                         : cw_error_set(err, CW_ERR_UNSUPPORTED,
                                        "found no library for charts when this was built, expected d3 for pages: "
                                        "install node-d3 and build again");
}

enum cw_status cw_report_write(FILE *out, const void *content, struct cw_error *err)
{
    struct writing w = {.page = out, .report = content, .err = err};
    enum cw_status status = cw_report_check(err);
    if (status == CW_OK)
        status = cw_layout_load(&w.layout, w.report->data_folder, w.report->arena, err);
    if (status == CW_OK && w.report->ranges)
        status = cw_report_kernels_make(&w.kernels, w.report, &w.layout, err);
    if (status == CW_OK)
        status = put_page(&w);
    json_decref(w.layout.tree);
    return status;
}
