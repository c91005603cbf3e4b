/* Views of several captures of one program, as a page of HTML. */
#include <string.h>

#include "eval/samples/source.h"
#include "metricdb/rules.h"
#include "report/report.h"
#include "view/compare.h"
#include "view/instructions.h"
#include "view/kind.h"
#include "view/metrics.h"
#include "view/selection.h"
#include "view/source.h"
#include "view/timeline.h"

enum { MOST_CAPTURES = 17, MOST_SERIES = 64 }; /* series: metrics of samples */

struct page {
    struct cw_report report;
    struct cw_report_capture list[MOST_CAPTURES], before;
    struct cw_result results[MOST_CAPTURES + 1];
    struct cw_timeline timelines[MOST_CAPTURES];
};

static enum cw_status take_samples(struct cw_report_capture *c, struct cw_result *result,
                                   const struct cw_view_input *in)
{
    const struct cw_schema *plan = &in->capture->data.schema;
    const uint32_t count = plan->metric_count < MOST_SERIES ? plan->metric_count : MOST_SERIES;
    enum cw_status status = cw_source_load(in->capture, in->err);
    if (status == CW_OK && count)
        status = cw_view_evaluate_names(result, in, NULL, plan->metrics, count);
    if (status == CW_OK && count)
        c->samples = result;
    return status;
}

static enum cw_status take_instructions(struct cw_report_capture *c, const struct cw_view_input *in)
{
    struct cw_instructions *made = cw_arena_alloc(in->arena, 1, sizeof *made);
    struct cw_pc_data *raw = cw_arena_alloc(in->arena, 1, sizeof *raw);
    c->instructions = made;
    return made && raw ? cw_view_load_instructions(made, raw, in->request->disassembler, in->capture, in->notices,
                                                   in->arena, in->err)
                       : cw_error_nomem(in->err);
}

/* Takes the chip of a capture of ranges, with the rules' formulas. */
static enum cw_status take_ranges(struct page *p, struct cw_report_capture *c, struct cw_result *result,
                                  const struct cw_view_input *in)
{
    const bool first = c != &p->before;
    const struct cw_rules *rules;
    CW_TRY(cw_view_select(result, in, (const char *[1]){NULL}, 0));
    CW_TRY(cw_rules_load(&rules, result->chip, in->chip->folder, NULL, in->arena, in->err));
    CW_TRY(cw_view_keep(&c->keep, in, !first));
    c->chip = rules->chip;
    if (first) {
        p->report.ranges = c;
        p->report.rules = rules;
        p->report.data_folder = in->chip->folder;
    }
    return CW_OK;
}

static enum cw_status take(struct page *p, struct cw_report_capture *c, size_t i, const struct cw_view_input *in)
{
    const enum cw_profiler profiler = in->capture->data.schema.profiler;
    *c = (struct cw_report_capture){.source = in->capture->source, .data = &in->capture->data};
    if (profiler == CW_PROFILER_PM)
        return take_samples(c, &p->results[i], in);
    if (profiler == CW_PROFILER_TRACE) {
        c->timeline = &p->timelines[i];
        return cw_view_timeline(&p->timelines[i], in);
    }
    if (profiler != CW_PROFILER_RANGE)
        return take_instructions(c, in);
    if (c != &p->before && p->report.ranges)
        return cw_error_set(
            in->err, CW_ERR_USAGE,
            "%s: found a second capture of ranges, expected one: \"metric-eval merge\" makes one of two",
            in->capture->asked);
    return take_ranges(p, c, &p->results[i], in);
}

static enum cw_status take_baseline(struct page *p, const struct cw_view_input *in,
                                    const struct counterworks_side *shown)
{
    const struct cw_view_input of = cw_view_beside(in, shown);
    if (of.capture->data.schema.profiler != CW_PROFILER_RANGE)
        return cw_error_set(in->err, CW_ERR_USAGE, "%s: found no ranges, expected a capture of ranges for --baseline",
                            of.capture->asked);
    if (!p->report.ranges)
        return cw_error_set(in->err, CW_ERR_USAGE,
                            "%s: found --baseline without a capture of ranges, expected one to compare",
                            of.capture->asked);
    p->report.baseline = &p->before;
    return take(p, &p->before, MOST_CAPTURES, &of);
}

/* Checks the metrics of the request: the chip must have all of them. */
static enum cw_status take_metrics(struct page *p, const struct cw_view_input *in)
{
    const struct counterworks_names *named = &in->request->metrics;
    struct cw_result named_result = {0};
    if (!named->count || p->report.ranges != &p->list[0])
        return CW_OK;
    p->report.metrics = (const char **)(uintptr_t)named->names;
    p->report.metric_count = named->count;
    return cw_view_select_names(&named_result, in, named->names, named->count);
}

static enum cw_status check(const struct cw_view_input *in, size_t with_count)
{
    const struct counterworks_request *o = in->request;
    const bool pm = in->capture->data.schema.profiler == CW_PROFILER_PM;
    const char *option = cw_selection_option(o);
    option = option ? option : o->filters.count ? "--filter" : o->sort ? "--sort" : NULL;
    enum cw_status status = pm && option ? cw_view_need_ranges(in->capture, " for ", option, in->err) : CW_OK;
    if (status == CW_OK && with_count >= MOST_CAPTURES)
        return cw_error_set(in->err, CW_ERR_USAGE, "found %zu captures beside the first, expected at most %d",
                            with_count, MOST_CAPTURES - 1);
    if (status == CW_OK)
        status = cw_report_check(in->err);
    if (status == CW_OK && (o->by || o->sort || o->filters.count || o->wide))
        return cw_error_set(in->err, CW_ERR_USAGE,
                            "found --by, --sort, --filter or --wide with a page, expected none: the page does that");
    return status;
}

static void free_page(void *owned)
{
    struct page *p = owned;
    for (size_t i = 0; i < MOST_CAPTURES; i++)
        cw_timeline_free(&p->timelines[i]);
}

static bool has_instructions(const struct cw_report *report)
{
    for (size_t i = 0; i < report->capture_count; i++)
        if (report->captures[i].instructions)
            return true;
    return false;
}

enum cw_status cw_view_page(struct counterworks_view *view, const struct cw_view_input *in,
                            const struct counterworks_report_options *page)
{
    struct page *p = cw_arena_alloc(in->arena, 1, sizeof *p);
    *view = (struct counterworks_view){.arena = in->arena, .free = p ? free_page : NULL, .owned = p};
    enum cw_status status = p ? check(in, page->with_count) : cw_error_nomem(in->err);
    if (status != CW_OK)
        return status;
    p->report = (struct cw_report){.captures = p->list,
                                   .capture_count = 1 + page->with_count,
                                   .hdf5 = page->hdf5,
                                   .source_paths = page->folders.names,
                                   .source_path_count = page->folders.count,
                                   .arena = in->arena};
    status = cw_source_check(&(struct cw_source){.folders = page->folders.names, .folder_count = page->folders.count},
                             in->err);
    if (status == CW_OK)
        status = take(p, &p->list[0], 0, in);
    for (size_t i = 0; i < page->with_count && status == CW_OK; i++) {
        const struct cw_view_input of = cw_view_beside(in, &page->with[i]); /* the request is for the first's */
        status = take(p, &p->list[i + 1], i + 1, &of);
    }
    const char *option = cw_selection_option(in->request);
    if (status == CW_OK && !p->report.ranges && option)
        status = cw_error_set(in->err, CW_ERR_USAGE,
                              "%s: found %s for a page without ranges, which shows all of its captures: expected none",
                              in->capture->asked, option);
    if (status == CW_OK && in->request->disassembler && !has_instructions(&p->report))
        status = cw_error_set(in->err, CW_ERR_USAGE,
                              "%s: found --disassemble for a page without PC samples and SASS metrics, expected none",
                              in->capture->asked);
    if (status == CW_OK && page->baseline)
        status = take_baseline(p, in, page->baseline);
    if (status == CW_OK)
        status = take_metrics(p, in);
    view->renders[CW_VIEW_HTML] = cw_report_write;
    view->content = &p->report;
    return status;
}
