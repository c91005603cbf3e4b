/* metric-eval --report: a page of HTML that shows one or several captures. */
#include <string.h>

#include "cli/common/cli.h"
#include "cli/eval/run.h"
#include "report/report.h"

/* Captures of a page, and metrics of samples for which values are computed, at most. */
enum { MOST_CAPTURES = 1 + CW_EVAL_REPEATED_MAX, MOST_SERIES = 64 };

static void check_report(void *request, struct argp_state *state)
{
    const struct cw_eval_report *o = request;
    if (!o->path && (o->with_count || o->baseline))
        cw_usage_error(state, "found %s without --report, expected both", o->baseline ? "--baseline" : "--with");
}

const struct cw_option cw_eval_report_options[] = {
    {"report", 0, "FILE", "write a page of HTML that shows the capture; it opens in a browser, without a network",
     CW_OPTION_TEXT(struct cw_eval_report, path)},
    {"with", 0, "MORE.cwd",
     "show this capture of the same program on the page as well: of ranges, samples over time, PC samples, SASS "
     "metrics or a trace; may be repeated",
     .called = "captures", CW_OPTION_LIST(struct cw_eval_report, with, with_count)},
    {"baseline", 0, "OLD.cwd", "compare the page's kernels with those of this capture of ranges",
     CW_OPTION_TEXT(struct cw_eval_report, baseline)},
    {CW_OPTION_CHECK(check_report)},
    {0},
};

struct reporting {
    struct cw_eval_run *r;
    struct cw_report report;
    struct cw_report_capture list[MOST_CAPTURES], before;
    struct cw_eval_request asked[MOST_CAPTURES + 1]; /* of each further capture, and the baseline */
    struct cw_eval_run runs[MOST_CAPTURES + 1];
    struct cw_timeline timelines[MOST_CAPTURES];
};

static enum cw_status open_capture(struct reporting *p, struct cw_eval_run *run, const char *path)
{
    struct cw_eval_run *r = p->r;
    struct cw_eval_request *asked = &p->asked[run - p->runs];
    *asked = (struct cw_eval_request){.capture = path, .chip = r->o->chip, .by_block = true};
    *run = (struct cw_eval_run){.o = asked, .arena = r->arena, .err = r->err, .info.size = sizeof run->info};
    return cw_eval_load_capture(run);
}

static enum cw_status take_samples(struct cw_eval_run *run, struct cw_report_capture *c)
{
    const uint64_t count = run->info.metric_count;
    enum cw_status status = cw_lib_load(run->capture, run->err);
    if (status == CW_OK)
        status = cw_eval_load_chip(run);
    if (status == CW_OK && count)
        status = cw_eval_names(run, run->info.metrics, count < MOST_SERIES ? count : MOST_SERIES);
    if (status == CW_OK && count)
        c->samples = &run->result;
    return status;
}

static enum cw_status take_instructions(struct cw_eval_run *run, struct cw_report_capture *c)
{
    struct cw_instructions *in = cw_arena_alloc(run->arena, 1, sizeof *in);
    struct cw_pc_data *raw = cw_arena_alloc(run->arena, 1, sizeof *raw);
    c->instructions = in;
    return in && raw ? cw_eval_load_instructions(run, in, raw) : cw_error_nomem(run->err);
}

static enum cw_status take_trace(struct reporting *p, struct cw_eval_run *run, struct cw_report_capture *c)
{
    struct cw_timeline *timeline = &p->timelines[c - p->list];
    c->timeline = timeline;
    return cw_eval_load_timeline(run, timeline);
}

/* The chip of a capture of ranges, with the formulas of the rules. */
static enum cw_status take_ranges(struct reporting *p, struct cw_eval_run *run, struct cw_report_capture *c)
{
    const struct cw_rules *rules = NULL;
    enum cw_status status = cw_eval_load_chip(run);
    if (status == CW_OK)
        status = cw_lib_select(&run->result, run->capture, run->chip, (const char *[1]){NULL}, 0, run->arena, run->err);
    if (status == CW_OK)
        status = cw_rules_load(&rules, run->result.chip, run->chip->folder, NULL, run->arena, run->err);
    if (status != CW_OK)
        return status;
    bool *keep = cw_arena_alloc(run->arena, c->data->range_count, sizeof *keep);
    if (!keep)
        return cw_error_nomem(run->err);
    struct cw_eval_ranges wanted = p->r->o->ranges;
    wanted.or_none = c == &p->before;
    c->chip = rules->chip;
    c->keep = keep;
    status = cw_eval_match_ranges(keep, run, &wanted);
    if (c != &p->before) {
        p->report.ranges = c;
        p->report.rules = rules;
        p->report.data_folder = run->chip->folder;
    }
    return status;
}

static enum cw_status take(struct reporting *p, struct cw_eval_run *run, struct cw_report_capture *c)
{
    *c = (struct cw_report_capture){.source = run->capture->source, .data = &run->capture->data};
    if (run->info.profiler == COUNTERWORKS_SAMPLES)
        return take_samples(run, c);
    if (c->data->schema.profiler == CW_PROFILER_TRACE)
        return take_trace(p, run, c);
    if (run->info.profiler != COUNTERWORKS_RANGES)
        return take_instructions(run, c);
    if (c != &p->before && p->report.ranges)
        return cw_error_set(
            run->err, CW_ERR_USAGE,
            "%s: found a second capture of ranges, expected one: \"metric-eval merge\" makes one of two",
            run->o->capture);
    return take_ranges(p, run, c);
}

static enum cw_status take_baseline(struct reporting *p)
{
    const char *path = p->r->o->report.baseline;
    struct cw_eval_run *run = &p->runs[MOST_CAPTURES];
    enum cw_status status = open_capture(p, run, path);
    if (status == CW_OK && run->info.profiler != COUNTERWORKS_RANGES)
        status = cw_error_set(p->r->err, CW_ERR_USAGE, "%s: found no ranges, expected a capture of them for --baseline",
                              path);
    if (status == CW_OK && !p->report.ranges)
        status = cw_error_set(p->r->err, CW_ERR_USAGE,
                              "%s: found --baseline without a capture of ranges, expected one to compare", path);
    if (status == CW_OK)
        status = take(p, run, &p->before);
    p->report.baseline = &p->before;
    return status;
}

/* Metrics that are asked for; a name that the chip does not have is an error. */
static enum cw_status take_metrics(struct reporting *p)
{
    struct cw_eval_run *r = p->r;
    struct cw_metric_list list = {0};
    if (!r->o->sources.count || p->report.ranges != &p->list[0])
        return CW_OK;
    enum cw_status status = cw_metric_list_gather(&list, &r->o->sources, r->chip, r->arena, r->err);
    if (status == CW_OK)
        status = cw_eval_add_legacy(r, list.names, list.count);
    if (status == CW_OK)
        status = cw_lib_select(&r->result, r->capture, r->chip, list.names, list.count, r->arena, r->err);
    const char **names = cw_arena_alloc(r->arena, list.count, sizeof *names);
    if (status == CW_OK && !names)
        status = cw_error_nomem(r->err);
    if (status == CW_OK && list.count)
        memcpy(names, list.names, list.count * sizeof *names);
    p->report.metrics = names;
    p->report.metric_count = status == CW_OK ? list.count : 0;
    cw_metric_list_free(&list);
    return status;
}

static enum cw_status gather(struct reporting *p)
{
    const struct cw_eval_report *o = &p->r->o->report;
    enum cw_status status = take(p, p->r, &p->list[0]);
    for (size_t i = 0; i < o->with_count && status == CW_OK; i++) {
        status = open_capture(p, &p->runs[i], o->with[i]);
        if (status == CW_OK)
            status = take(p, &p->runs[i], &p->list[i + 1]);
    }
    const char *option = cw_eval_option_of_ranges(p->r->o);
    if (status == CW_OK && !p->report.ranges && option)
        status = cw_error_set(p->r->err, CW_ERR_USAGE, "%s: found no ranges, expected a capture of them for %s",
                              p->r->o->capture, option);
    if (status == CW_OK && o->baseline)
        status = take_baseline(p);
    return status == CW_OK ? take_metrics(p) : status;
}

enum cw_status cw_eval_report(struct cw_eval_run *r)
{
    const struct cw_eval_request *o = r->o;
    struct reporting *p = cw_arena_alloc(r->arena, 1, sizeof *p);
    enum cw_status status = cw_report_check(r->err);
    if (status == CW_OK && (o->grouped || o->sort || o->filter_count || o->wide))
        status =
            cw_error_set(r->err, CW_ERR_USAGE,
                         "found --by, --sort, --filter or --wide with --report, expected none: the page does that");
    if (status == CW_OK && o->kind && cw_eval_report_alone(o))
        status =
            cw_error_set(r->err, CW_ERR_USAGE, "found --kind with --report, expected --csv, --json or -o beside it");
    if (status != CW_OK || !p)
        return p ? status : cw_error_nomem(r->err);
    p->r = r;
    p->report = (struct cw_report){.captures = p->list,
                                   .capture_count = 1 + o->report.with_count,
                                   .hdf5 = o->hdf5,
                                   .source_paths = o->folders,
                                   .source_path_count = o->folder_count,
                                   .arena = r->arena};
    status = gather(p);
    if (status == CW_OK)
        status = cw_new_files_print(r->outputs, o->report.path, cw_report_write, &p->report, r->err);
    for (size_t i = 0; i < MOST_CAPTURES; i++)
        cw_timeline_free(&p->timelines[i]);
    for (size_t i = 0; i <= MOST_CAPTURES; i++) {
        counterworks_chip_close(p->runs[i].chip);
        counterworks_capture_close(p->runs[i].capture);
    }
    counterworks_chip_close(r->chip);
    r->chip = NULL; /* other outputs begin anew */
    return status;
}
