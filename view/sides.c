/* Views of two captures: changes between them, and whether one is worse than the other, by rules that are learnt from
 * runs of one program. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "eval/compare/better.h"
#include "eval/compare/compare.h"
#include "eval/compare/gate.h"
#include "eval/compare/timeline_as_ranges.h"
#include "eval/output/comparison.h"
#include "eval/status.h"
#include "view/compare.h"
#include "view/kind.h"
#include "view/metrics.h"
#include "view/selection.h"
#include "view/timeline.h"

/* ---- both sides -------------------------------------------------------------------------------------------------- */

struct cw_view_input cw_view_beside(const struct cw_view_input *in, const struct counterworks_side *side)
{
    struct cw_view_input of = *in;
    of.capture = (struct counterworks_capture *)(uintptr_t)side->capture;
    of.chip = side->chip;
    return of;
}

/* Counts the runs that have some of `items`, ranges or processes by their numbers in the capture, in ascending order. A
 * run without any in the capture counts as well, unless it may be of other ranks. */
static uint32_t count_runs(const struct cw_view_input *in, const uint32_t *items, uint32_t count)
{
    const struct counterworks_capture *c = in->capture;
    uint32_t runs = 0, at = 0, begin = 0;
    for (size_t run = 0; run < c->run_count; begin = c->run_ends[run++]) {
        const uint32_t first = at;
        while (at < count && items[at] < c->run_ends[run])
            at++;
        runs += at > first || (begin == c->run_ends[run] && !in->request->ranks);
    }
    return runs ? runs : 1;
}

/* Sets the number of runs of a side of ranges: the caller's, or that of the runs with launches of the request's ranks.
 */
static enum cw_status set_runs(uint32_t *runs, const struct counterworks_side *side, const struct cw_view_input *in)
{
    const struct cw_counter_data *data = &in->capture->data;
    const uint32_t all = in->capture->run_count ? data->range_count : 0;
    uint32_t *items = cw_arena_alloc(in->arena, all, sizeof *items);
    uint32_t count = 0;
    if (!items)
        return cw_error_nomem(in->err);
    for (uint32_t i = 0; i < all; i++)
        if (cw_selection_has_rank(in->request, cw_range_attribute(cw_launch_of(data, i), "rank")))
            items[count++] = i;
    *runs = side->runs ? side->runs : count_runs(in, items, count);
    return CW_OK;
}

struct sides {
    struct cw_view_input other; /* input of the second side */
    struct cw_result a, b;
};

/* Begins the second side; the first must have its metrics. */
static enum cw_status begin_other_side(struct sides *sides, const struct cw_view_input *in,
                                       const struct counterworks_side *other)
{
    sides->other = cw_view_beside(in, other);
    CW_TRY(cw_view_need_ranges(other->capture, "", "", in->err));
    cw_tell_incomplete(other->capture, in->notices);
    return cw_view_begin(&sides->b, &sides->other);
}

/* Reduces both sides to the ranges that the request wants. A range may be on one side alone. */
static enum cw_status leave_sides(struct sides *sides, const struct cw_view_input *in)
{
    uint32_t a, b;
    CW_TRY(cw_view_leave(&sides->a, in, true, &a));
    CW_TRY(cw_view_leave(&sides->b, &sides->other, true, &b));
    if (a + b || !cw_selection_option(in->request))
        return CW_OK;
    return cw_view_leave(&sides->a, in, false, &a); /* reports why nothing is left */
}

/* ---- changes ----------------------------------------------------------------------------------------------------- */

struct diff {
    struct sides sides;
    struct cw_comparison of;
    struct cw_diff_output shown;
    uint32_t runs[2];
    bool is_trace;
    /* for traces: */
    struct cw_comparison ranges; /* NVTX ranges; `of` has GPU activity */
    struct side {
        struct cw_view_input in;
        struct cw_timeline t;
        struct cw_timeline_keep keep;
        struct cw_counter_data gpu, nvtx; /* as ranges */
        struct cw_timeline_usage usage;
    } traces[2];
};

/* ---- ranges ----------------------------------------------------------------------------------------------------- */

static enum cw_status diff_ranges(struct diff *d, const struct cw_view_input *in,
                                  const struct counterworks_side *before, const struct counterworks_side *after,
                                  enum cw_group_by by)
{
    const struct cw_eval_options spans = cw_view_spans(in->request);
    CW_TRY(cw_view_need_ranges(in->capture, "", "", in->err));
    CW_TRY(cw_view_select_wanted(&d->sides.a, in));
    CW_TRY(begin_other_side(&d->sides, in, after));
    CW_TRY(set_runs(&d->runs[0], before, in));
    CW_TRY(set_runs(&d->runs[1], after, &d->sides.other));
    CW_TRY(leave_sides(&d->sides, in));
    return cw_compare(&d->of, &d->sides.a, &d->sides.b, d->runs, by, true, &spans, in->arena, in->err);
}

/* ---- traces ----------------------------------------------------------------------------------------------------- */

/* Reads a trace, and sets the number of its runs: the caller's, or that of the runs of which the timeline keeps a
 * process. */
static enum cw_status load(struct side *s, const struct counterworks_side *of, uint32_t *runs)
{
    cw_tell_incomplete(s->in.capture, s->in.notices);
    CW_TRY(cw_view_timeline(&s->t, &s->in));
    const struct cw_trace *trace = s->t.trace;
    uint32_t *items = cw_arena_alloc(s->in.arena, trace->process_count, sizeof *items);
    if (!items)
        return cw_error_nomem(s->in.err);
    for (uint32_t p = 0; p < trace->process_count; p++)
        items[p] = trace->processes[p].number;
    *runs = of->runs ? of->runs : count_runs(&s->in, items, trace->process_count);
    return cw_trace_choose(&s->keep, &s->in, &s->t, true);
}

/* With `patterns`, NVTX paths that differ in numbers alone ("step 1", "step 2") are one. */
static enum cw_status make_ranges(struct side *s, bool patterns)
{
    const struct cw_view_input *in = &s->in;
    const struct cw_timeline_keep *keep = &s->keep;
    CW_TRY(cw_timeline_use(&s->usage, &s->t, keep->within, keep->within_count, in->arena, in->err));
    CW_TRY(cw_timeline_nvtx_as_ranges(&s->nvtx, &s->t, keep, in->arena, in->err));
    return cw_timeline_as_ranges(&s->gpu, &s->t, patterns, keep, in->arena, in->err);
}

/* If nothing is left on either side, reports why for the first. */
static enum cw_status check_left(const struct diff *d, bool nvtx)
{
    struct cw_timeline_keep none;
    return d->traces[0].gpu.range_count || d->traces[1].gpu.range_count || nvtx
               ? CW_OK
               : cw_trace_choose(&none, &d->traces[0].in, &d->traces[0].t, false);
}

static enum cw_status compare_traces(struct cw_comparison *c, const struct diff *d, bool nvtx, const uint32_t runs[2],
                                     enum cw_group_by by)
{
    const struct side *a = &d->traces[0], *b = &d->traces[1];
    const struct cw_eval_options spans = {0};
    const struct cw_result x = {
        .chip = &cw_timeline_no_chip, .data = nvtx ? &a->nvtx : &a->gpu, .source = a->in.capture->source};
    const struct cw_result y = {
        .chip = &cw_timeline_no_chip, .data = nvtx ? &b->nvtx : &b->gpu, .source = b->in.capture->source};
    return cw_compare(c, &x, &y, runs, by, true, &spans, a->in.arena, a->in.err);
}

static enum cw_status check_traces(const struct cw_view_input *in, const struct counterworks_side *other)
{
    if (other->capture->data.schema.profiler != CW_PROFILER_TRACE)
        return cw_error_set(in->err, CW_ERR_USAGE, "%s: found a capture that is no trace, expected one as the other",
                            other->capture->asked);
    if (in->request->every || in->request->metrics.count)
        return cw_error_set(in->err, CW_ERR_USAGE, "%s: found %s, expected none for a trace, which has no metrics",
                            in->capture->asked, in->request->every ? "--all" : "metrics");
    return CW_OK;
}

static enum cw_status diff_traces(struct diff *d, const struct cw_view_input *in,
                                  const struct counterworks_side *before, const struct counterworks_side *after,
                                  enum cw_group_by by)
{
    const struct counterworks_request *o = in->request;
    const bool by_kernel = o->kernels.count || o->excluded.count;
    enum cw_status status = check_traces(in, after);
    d->traces[0].in = *in;
    d->traces[1].in = cw_view_beside(in, after);
    for (int i = 0; i < 2 && status == CW_OK; i++)
        status = load(&d->traces[i], i ? after : before, &d->runs[i]);
    for (int i = 0; i < 2 && status == CW_OK; i++)
        status = make_ranges(&d->traces[i], by == CW_BY_NVTX);
    const bool nvtx = !by_kernel && (d->traces[0].nvtx.range_count || d->traces[1].nvtx.range_count);
    if (status == CW_OK)
        status = check_left(d, nvtx);
    if (status == CW_OK)
        status = compare_traces(&d->of, d, false, d->runs, by);
    if (status == CW_OK && nvtx)
        status = compare_traces(&d->ranges, d, true, d->runs, CW_BY_KERNEL);
    const bool used = !by_kernel && d->runs[0] == 1 && d->runs[1] == 1;
    d->shown.a_usage = used ? &d->traces[0].usage : NULL;
    d->shown.b_usage = used ? &d->traces[1].usage : NULL;
    d->shown.ranges = nvtx ? &d->ranges : NULL;
    return status;
}

/* ---- all -------------------------------------------------------------------------------------------------------- */

static enum cw_status print(const struct cw_output *output, const struct cw_terminal_style *style, FILE *out,
                            struct cw_error *err)
{
    struct cw_diff_output shown = *(const struct cw_diff_output *)output->result;
    shown.width = style->width;
    shown.quiet = style->quiet;
    return cw_diff_print(out, &shown, err);
}

static void free_diff(void *owned)
{
    struct diff *d = owned;
    for (int i = 0; i < 2; i++)
        cw_timeline_free(&d->traces[i].t);
}

enum cw_status cw_view_diff(struct counterworks_view *view, const struct cw_view_input *in,
                            const struct counterworks_side *before, const struct counterworks_side *after)
{
    enum { TOP = 10 };
    struct diff *d = cw_arena_alloc(in->arena, 1, sizeof *d);
    const enum cw_group_by by = in->request->by && *in->request->by == 'n' ? CW_BY_NVTX : CW_BY_KERNEL;
    *view = (struct counterworks_view){.arena = in->arena};
    if (!d)
        return cw_error_nomem(in->err);
    view->free = free_diff;
    view->owned = d;
    d->is_trace = in->capture->data.schema.profiler == CW_PROFILER_TRACE;
    enum cw_status status = cw_view_check_taken(
        in, CW_TAKES_LAUNCHES | CW_TAKES_BY | CW_TAKES_TOP | CW_TAKES_METRICS | CW_TAKES_EVERY, "diff");
    if (status == CW_OK)
        status = cw_view_check_by(in, (const char *const[]){"kernel", "nvtx"}, 2);
    if (status == CW_OK)
        status = (d->is_trace ? diff_traces : diff_ranges)(d, in, before, after, by);
    d->shown.of = &d->of;
    d->shown.top = in->request->top ? in->request->top : TOP;
    d->shown.traces = d->is_trace;
    view->output.print = print;
    view->output.result = view->content = &d->shown;
    view->renders[CW_VIEW_JSON] = cw_diff_write_json;
    return status == CW_OK ? cw_diff_tables(&view->output, &d->shown, in->arena, in->err) : status;
}

/* ---- learning --------------------------------------------------------------------------------------------------- */

enum { TIME, LAUNCHES, FIRST_METRIC };

struct cw_view_learning {
    struct cw_view_input in; /* of the first run */
    struct cw_result wanted; /* its metrics */
    const char *first;       /* its name */
    struct cw_gate_runs runs;
    struct cw_gate_rules rules;
    struct cw_gate_summary summary;
    const char *path; /* of the rules */
    enum cw_metric_class *classes;
    double *values;
    struct cw_gate_time *times;
    struct cw_opened_file *files; /* of all runs so far, in the order of cw_opened_file_compare */
    size_t file_count;
    struct cw_arena *arena;
    struct cw_error *err;
};

/* Refuses a file of an earlier run, which says nothing of the differences between runs. Of several it names the one
 * that is first by its name: their own order is of numbers that a file system gives. */
static enum cw_status take_files(struct cw_view_learning *l, const char *name,
                                 const struct counterworks_capture *capture)
{
    const size_t before = l->file_count, count = before + capture->file_count;
    struct cw_opened_file *all = cw_arena_alloc(l->arena, count, sizeof *all);
    const struct cw_opened_file *first = NULL;
    if (!all)
        return cw_error_nomem(l->err);
    for (size_t i = 0; i < count; i++) {
        all[i] = i < before ? l->files[i] : capture->files[i - before];
        const struct cw_opened_file *same =
            i < before || !before ? NULL : bsearch(&all[i], l->files, before, sizeof *all, cw_opened_file_compare);
        if (same && (!first || strcmp(same->path, first->path) < 0))
            first = same;
        if (i >= before && !(all[i].path = cw_arena_strdup(l->arena, all[i].path)))
            return cw_error_nomem(l->err);
    }
    if (first)
        return cw_error_set(l->err, CW_ERR_USAGE, "%s: found a file of another run (%s), expected each run once", name,
                            first->path);
    qsort(all, count, sizeof *all, cw_opened_file_compare);
    l->files = all;
    l->file_count = count;
    return CW_OK;
}

static enum cw_status make_room(struct cw_view_learning *l, const struct cw_comparison *c)
{
    const struct cw_side *side = &c->a;
    struct cw_gate_runs *r = &l->runs;
    const char **names, **kernels;
    r->kernel_count = side->groups.count;
    r->metric_count = FIRST_METRIC + side->means.metric_count;
    r->metrics = names = cw_arena_alloc(l->arena, r->metric_count, sizeof *names);
    r->kernels = kernels = cw_arena_alloc(l->arena, r->kernel_count, sizeof *kernels);
    r->classes = l->classes = cw_arena_alloc(l->arena, r->metric_count, sizeof *l->classes);
    r->values = l->values =
        cw_arena_alloc(l->arena, (size_t)r->metric_count * r->kernel_count, r->runs * sizeof *l->values);
    r->times = l->times = cw_arena_alloc(l->arena, r->kernel_count, r->runs * sizeof *l->times);
    if (!r->kernel_count)
        return cw_error_set(l->err, CW_ERR_INCOMPARABLE, "%s: found no range, expected launches to learn from",
                            l->first);
    if (!names || !kernels || !l->classes || !l->values || !l->times)
        return cw_error_nomem(l->err);
    names[TIME] = cw_gate_time;
    names[LAUNCHES] = cw_gate_launches;
    for (uint32_t i = FIRST_METRIC; i < r->metric_count; i++) { /* the comparison's names end with its run */
        names[i] = cw_arena_strdup(l->arena, side->means.names[i - FIRST_METRIC]);
        l->classes[i] = c->classes[i - FIRST_METRIC];
    }
    for (uint32_t i = 0; i < r->metric_count; i++)
        if (!names[i])
            return cw_error_nomem(l->err);
    for (uint32_t k = 0; k < r->kernel_count; k++)
        if (!(kernels[k] = cw_group_label(&side->groups, k, 0, l->arena)))
            return cw_error_nomem(l->err);
    return CW_OK;
}

/* Takes the value of a metric in a group. An implausible value counts as missing. */
static enum cw_status take_metric(struct cw_view_learning *l, const char *name, const struct cw_side *side,
                                  uint32_t metric, uint32_t from, double *to)
{
    const size_t at = (size_t)(metric - FIRST_METRIC) * side->means.row_count + from;
    const int status = side->means.statuses[at];
    if (cw_value_is_lost(status))
        return cw_error_set(l->err, CW_ERR_INCOMPARABLE, "%s: found %s of %.200s: %s, expected values to learn from",
                            name, side->means.names[metric - FIRST_METRIC], side->groups.items[from].name,
                            cw_value_status_text((enum cw_value_status)status));
    *to = status == CW_VALUE_IMPLAUSIBLE || !isfinite(side->means.values[at]) ? NAN : side->means.values[at];
    return CW_OK;
}

/* Takes the values of group `from` for kernel `to` in the run. */
static enum cw_status take_values(struct cw_view_learning *l, uint32_t run, const char *name,
                                  const struct cw_side *side, const struct cw_gate_time *times, uint32_t from,
                                  uint32_t to)
{
    const struct cw_gate_runs *r = &l->runs;
    const struct cw_group *group = &side->groups.items[from];
    enum cw_status status = CW_OK;
    if (cw_group_is_partly_timed(group))
        return cw_error_set(l->err, CW_ERR_INCOMPARABLE,
                            "%s: found no time of %" PRIu32 " of %" PRIu32
                            " launches of %.200s, expected all: its counter overflowed or is incomplete",
                            name, group->count - group->timed, group->count, group->name);
    l->times[(size_t)to * r->runs + run] = times[from];
    for (uint32_t m = 0; m < r->metric_count && status == CW_OK; m++) {
        double *value = &l->values[((size_t)m * r->kernel_count + to) * r->runs + run];
        if (m == TIME)
            *value = group->timed ? group->mean : NAN;
        else if (m == LAUNCHES)
            *value = group->count;
        else
            status = take_metric(l, name, side, m, from, value);
    }
    return status;
}

static enum cw_status take_run(struct cw_view_learning *l, uint32_t run, const char *name,
                               const struct cw_comparison *c, struct cw_arena *arena)
{
    struct cw_gate_time *times;
    enum cw_status status = cw_gate_times_make(&times, &c->b, arena, l->err);
    for (uint32_t i = 0; i < c->difference_count; i++)
        if (c->differences[i].other)
            return cw_error_set(l->err, CW_ERR_INCOMPARABLE, "%s: found %s as %s, expected %s as in %s", name,
                                c->differences[i].what, cw_difference_side(c->differences[i].b),
                                cw_difference_side(c->differences[i].a), l->first);
    for (uint32_t i = 0; i < c->match_count && status == CW_OK; i++) {
        const struct cw_match *m = &c->matches[i];
        if (m->a == CW_NO_GROUP || m->b == CW_NO_GROUP || m->reshaped)
            return cw_error_set(l->err, CW_ERR_INCOMPARABLE,
                                "%s: found other kernels or shapes than in %s, such as %.200s: expected runs of one "
                                "program",
                                name, l->first,
                                m->a == CW_NO_GROUP ? c->b.groups.items[m->b].name : c->a.groups.items[m->a].name);
        status = take_values(l, run, name, &c->b, times, m->b, m->a);
    }
    return status;
}

static ssize_t count_bytes(void *total, const char *data, size_t size)
{
    (void)data;
    *(uint64_t *)total += size;
    return (ssize_t)size;
}

/* Checks that gate will be able to read the rules. */
static enum cw_status check_size(const struct cw_view_learning *l)
{
    const struct cw_gate_rules *rules = &l->rules;
    uint64_t size = 0;
    FILE *out = fopencookie(&size, "w", (cookie_io_functions_t){.write = count_bytes});
    enum cw_status status = out ? cw_gate_write(out, rules, l->err) : cw_error_nomem(l->err);
    if (out && fclose(out) != 0 && status == CW_OK)
        status = cw_error_nomem(l->err);
    if (status != CW_OK || size <= CW_GATE_RULES_MAX)
        return status;
    return cw_error_set(l->err, CW_ERR_USAGE,
                        "found rules of %" PRIu64 " MB for %" PRIu32 " metrics of %" PRIu32
                        " kernels, expected at most %d MB, the limit of gate: name fewer metrics by -m or --set",
                        (size >> 20) + 1, rules->metric_count, l->runs.kernel_count, CW_GATE_RULES_MAX >> 20);
}

/* Selects the request's metrics, else the plan's metrics that show changes best, else all of the plan's. */
static enum cw_status select_metrics_to_learn(struct cw_result *result, const struct cw_view_input *in)
{
    const struct cw_schema *plan = &in->capture->data.schema;
    enum cw_metric_class *classes;
    size_t count = 0;
    if (in->request->every || in->request->metrics.count)
        return cw_view_select_wanted(result, in);
    const char **names = cw_arena_alloc(in->arena, plan->metric_count, sizeof *names);
    enum cw_status status =
        names ? cw_metric_classes(&classes, plan->metrics, plan->metric_count, NULL, in->arena, in->err)
              : cw_error_nomem(in->err);
    for (size_t i = 0; status == CW_OK && i < plan->metric_count; i++)
        if (classes[i] != CW_CLASS_OTHER)
            names[count++] = plan->metrics[i];
    return status != CW_OK ? status
           : count         ? cw_view_select_names(result, in, names, count)
                           : cw_view_select_wanted(result, in);
}

enum cw_status cw_view_learn_begin(struct cw_view_learning **learning, const struct cw_view_input *in, uint32_t runs)
{
    struct cw_view_learning *l = *learning = cw_arena_alloc(in->arena, 1, sizeof *l);
    if (!l)
        return cw_error_nomem(in->err);
    l->in = *in;
    l->first = in->capture->name;
    l->arena = in->arena;
    l->err = in->err;
    l->runs.runs = runs;
    CW_TRY(cw_view_check_taken(in, CW_TAKES_LAUNCHES | CW_TAKES_METRICS | CW_TAKES_EVERY, "gate"));
    CW_TRY(cw_view_need_ranges(in->capture, "", "", in->err));
    return select_metrics_to_learn(&l->wanted, in);
}

enum cw_status cw_view_learn_add(struct cw_view_learning *l, uint32_t run, const char *name,
                                 struct counterworks_capture *capture, const struct counterworks_chip *chip)
{
    struct cw_arena *arena = cw_arena_create();
    struct cw_view_input in = l->in;
    struct sides sides = {.a = l->wanted};
    const struct cw_eval_options spans = cw_view_spans(in.request);
    struct cw_comparison c;
    if (!arena)
        return cw_error_nomem(l->err);
    in.arena = arena;
    enum cw_status status = take_files(l, name, capture);
    if (status == CW_OK)
        status = begin_other_side(&sides, &in, &(struct counterworks_side){capture, chip, 1});
    if (status == CW_OK)
        status = leave_sides(&sides, &in);
    if (status == CW_OK)
        status = cw_compare(&c, &sides.a, &sides.b, NULL, CW_BY_KERNEL, false, &spans, arena, l->err);
    if (status == CW_OK && !run)
        status = make_room(l, &c);
    if (status == CW_OK)
        status = take_run(l, run, name, &c, arena);
    cw_arena_destroy(arena);
    return status;
}

static enum cw_status print_learned(const struct cw_output *output, const struct cw_terminal_style *style, FILE *out,
                                    struct cw_error *err)
{
    (void)style;
    (void)err;
    const struct cw_view_learning *l = output->result;
    cw_gate_print_summary(out, l->path, &l->runs, &l->summary);
    return CW_OK;
}

enum cw_status cw_view_learn_finish(struct counterworks_view *view, struct cw_view_learning *l, const char *path)
{
    const struct cw_counter_data *d = &l->in.capture->data;
    const char *name = d->device_count ? cw_device_attribute(&d->devices[0], "name") : NULL;
    *view = (struct counterworks_view){.arena = l->arena};
    l->rules.chip = d->schema.chip;
    l->rules.device = name ? name : "";
    enum cw_status status = cw_gate_learn(&l->rules, &l->summary, &l->runs, l->arena, l->err);
    if (status == CW_OK)
        status = check_size(l);
    l->path = path;
    view->renders[CW_VIEW_YAML] = cw_gate_write;
    view->content = &l->rules;
    view->output.print = print_learned;
    view->output.result = l;
    return status;
}

/* ---- judging ---------------------------------------------------------------------------------------------------- */

struct gate {
    struct sides sides;
    struct cw_bytes file;
    struct cw_gate_rules rules;
    struct cw_comparison of;
    struct cw_judgement judgement;
};

static enum cw_status select_metrics(struct cw_result *result, const struct cw_view_input *in,
                                     const struct cw_gate_rules *rules)
{
    const char **names = cw_arena_alloc(in->arena, rules->metric_count + (size_t)1, sizeof *names);
    size_t count = 0;
    if (!names)
        return cw_error_nomem(in->err);
    for (uint32_t i = 0; i < rules->metric_count; i++)
        if (strcmp(rules->metrics[i].name, cw_gate_time) != 0 && strcmp(rules->metrics[i].name, cw_gate_launches) != 0)
            names[count++] = rules->metrics[i].name;
    return cw_view_select_names(result, in, names, count);
}

static void set_verdict(struct counterworks_view *view, const struct gate *g, const struct cw_view_input *in,
                        const struct counterworks_side *other, double need)
{
    static const enum cw_status codes[CW_VERDICT__COUNT] = {
        [CW_AMBIGUOUS] = CW_ERR_AMBIGUOUS, [CW_WORSE] = CW_ERR_DIFFERS, [CW_INCOMPARABLE] = CW_ERR_INCOMPARABLE};
    const enum cw_verdict verdict = g->judgement.verdict;
    const char *a = in->capture->asked, *b = other->capture->asked;
    view->judged = (enum counterworks_verdict)verdict;
    if (codes[verdict] == CW_OK)
        return;
    if (verdict == CW_AMBIGUOUS && g->judgement.needed)
        cw_error_set(&view->verdict, codes[verdict], "%s and %s: found too little to show slow-downs of %g%%", a, b,
                     100 * need);
    else
        cw_error_set(&view->verdict, codes[verdict], "%s and %s are %s%s", a, b,
                     verdict == CW_INCOMPARABLE ? "" : "not the same: the second is ", cw_verdict_names[verdict]);
}

const char *cw_view_verdict_text(enum counterworks_verdict verdict)
{
    return cw_verdict_names[verdict];
}

static enum cw_status print_judgement(const struct cw_output *output, const struct cw_terminal_style *style, FILE *out,
                                      struct cw_error *err)
{
    (void)style;
    return cw_gate_print(out, output->result, err);
}

static void free_gate(void *owned)
{
    cw_bytes_free(&((struct gate *)owned)->file);
}

enum cw_status cw_view_gate(struct counterworks_view *view, const struct cw_view_input *in,
                            const struct counterworks_side *before, const struct counterworks_side *after,
                            const char *rules, double need)
{
    uint32_t runs[2];
    const struct cw_eval_options spans = cw_view_spans(in->request);
    struct gate *g = cw_arena_alloc(in->arena, 1, sizeof *g);
    *view = (struct counterworks_view){.arena = in->arena, .free = g ? free_gate : NULL, .owned = g};
    CW_TRY(cw_view_check_taken(in, CW_TAKES_LAUNCHES, "gate"));
    CW_TRY(g ? cw_file_read(&g->file, rules, CW_GATE_RULES_MAX, in->err) : cw_error_nomem(in->err));
    CW_TRY(cw_gate_parse(&g->rules, g->file.data, g->file.size, rules, in->arena, in->err));
    CW_TRY(cw_view_need_ranges(in->capture, "", "", in->err));
    CW_TRY(select_metrics(&g->sides.a, in, &g->rules));
    CW_TRY(begin_other_side(&g->sides, in, after));
    CW_TRY(set_runs(&runs[0], before, in));
    CW_TRY(set_runs(&runs[1], after, &g->sides.other));
    CW_TRY(leave_sides(&g->sides, in));
    CW_TRY(cw_compare(&g->of, &g->sides.a, &g->sides.b, runs, CW_BY_KERNEL, false, &spans, in->arena, in->err));
    CW_TRY(cw_gate_judge(&g->judgement, &g->rules, &g->of, need, in->arena, in->err));
    set_verdict(view, g, in, after, need);
    view->output.print = print_judgement;
    view->output.result = view->content = &g->judgement;
    view->renders[CW_VIEW_JSON] = cw_gate_write_json;
    return cw_gate_tables(&view->output, &g->judgement, in->arena, in->err);
}
