/* Which of a trace is looked at. */
#include <string.h>

#include "base/search.h"
#include "cli/common/cli.h"
#include "cli/eval/trace_choice.h"

struct choosing {
    struct cw_eval_run *r;
    const struct cw_timeline *t;
    struct cw_eval_trace_choice *to;
};

/* The texts stand for names in the same way as those of captures of ranges (cli/eval/ranges.c): each name is a range,
 * of which found[i] is whether it is wanted. */
static enum cw_status match(struct cw_eval_run *r, const struct cw_eval_ranges *wanted, const struct cw_range *names,
                            uint32_t count, bool *found)
{
    struct counterworks_chip teller = {.tell = r->o->quiet ? NULL : cw_cli_tell};
    struct counterworks_capture as_ranges = {.data = {.range_count = count, .ranges = names}};
    struct cw_eval_run of_names = {
        .o = r->o, .files = r->files, .arena = r->arena, .err = r->err, .capture = &as_ranges, .chip = &teller};
    return cw_eval_match_ranges(found, &of_names, wanted);
}

/* Kernels by --kernel and --exclude; found[name]. */
static enum cw_status match_kernels(struct choosing *v, const struct cw_eval_ranges *wanted, bool *found)
{
    const struct cw_timeline *t = v->t;
    struct cw_range *names = cw_arena_alloc(v->r->arena, t->name_count, sizeof *names);
    uint32_t *index = cw_arena_alloc(v->r->arena, t->name_count, sizeof *index);
    bool *fits = cw_arena_alloc(v->r->arena, t->name_count, sizeof *fits);
    bool *used = cw_arena_alloc(v->r->arena, t->name_count, sizeof *used);
    uint32_t count = 0;
    struct cw_eval_ranges of_kernels = *wanted;
    if (!names || !index || !fits || !used)
        return cw_error_nomem(v->r->err);
    of_kernels.ranges = NULL;
    for (uint32_t i = 0; i < t->gpu_count; i++, cw_timeline_step(t)) {
        const uint32_t name = t->gpu[i].name;
        if (t->gpu[i].kind != CW_TRACE_KERNEL || used[name] || !name)
            continue;
        used[name] = true;
        index[count] = name;
        names[count++] = (struct cw_range){.name = t->names[name].shown, .kernel = t->names[name].text};
    }
    const enum cw_status status = match(v->r, &of_kernels, names, count, fits);
    for (uint32_t i = 0; status == CW_OK && i < count; i++)
        found[index[i]] = fits[i];
    return status;
}

/* NVTX paths by --range, and those in them; found[path]. */
static enum cw_status match_paths(struct choosing *v, const struct cw_eval_ranges *wanted, bool *found)
{
    const struct cw_timeline *t = v->t;
    struct cw_range *names = cw_arena_alloc(v->r->arena, t->path_count, sizeof *names);
    uint32_t *parents = cw_arena_alloc(v->r->arena, t->path_count, sizeof *parents);
    struct cw_eval_ranges of_paths = {.ranges = wanted->ranges, .or_none = wanted->or_none};
    const char *const *texts = cw_timeline_path_texts(t, false, v->r->arena);
    if (!names || !parents || !texts)
        return cw_error_nomem(v->r->err);
    if (!t->range_count && !wanted->or_none)
        return cw_error_set(v->r->err, CW_ERR_USAGE, "%s: found --range, but no NVTX ranges in the trace",
                            v->r->o->capture);
    for (uint32_t i = 0; i < t->path_count; i++) {
        names[i] = (struct cw_range){.name = texts[i], .kernel = ""};
        parents[i] = t->paths[i].parent;
    }
    of_paths.parents = parents;
    return match(v->r, &of_paths, names, t->path_count, found);
}

/* When the ranges of these paths were open. */
static enum cw_status find_within(struct choosing *v, const bool *paths)
{
    const struct cw_timeline *t = v->t;
    v->to->within = cw_arena_alloc(v->r->arena, t->range_count, sizeof *v->to->within);
    if (!v->to->within)
        return cw_error_nomem(v->r->err);
    for (uint32_t i = 0; i < t->range_count; i++, cw_timeline_step(t))
        if (paths[t->ranges[i].path])
            v->to->within[v->to->within_count++] = (struct cw_timeline_window){t->ranges[i].start, t->ranges[i].end};
    v->to->within_count = cw_timeline_join_windows(v->to->within, v->to->within_count);
    v->to->keep.paths = paths;
    return CW_OK;
}

/* What a call launched decides by kernel, the ranges around it by range. */
static enum cw_status choose_calls(struct choosing *v, const struct cw_eval_ranges *wanted, const bool *gpu,
                                   const bool *paths)
{
    const struct cw_timeline *t = v->t;
    bool *keep = cw_arena_alloc(v->r->arena, t->call_count, sizeof *keep);
    bool *launched = cw_arena_alloc(v->r->arena, t->call_count, sizeof *launched);
    if (!keep || !launched)
        return cw_error_nomem(v->r->err);
    for (uint32_t i = 0; i < t->gpu_count; i++, cw_timeline_step(t))
        if (gpu[i] && t->gpu[i].call != CW_TIMELINE_NONE)
            launched[t->gpu[i].call] = true;
    for (uint32_t i = 0; i < t->call_count; i++, cw_timeline_step(t)) {
        const bool other = !wanted->kernel_count && (!wanted->excluded_count || !t->calls[i].launched);
        keep[i] = (other || launched[i]) && (!wanted->ranges || paths[t->calls[i].path]);
    }
    v->to->keep.calls = keep;
    return CW_OK;
}

/* When ranges that are wanted were open in a thread, in order and apart: behind the place of its first range. */
struct open {
    struct cw_timeline_window *windows;
    uint32_t *counts;
};

static bool find_open(const struct choosing *v, const bool *paths, struct open *open)
{
    const struct cw_timeline *t = v->t;
    open->windows = cw_arena_alloc(v->r->arena, t->range_count, sizeof *open->windows);
    open->counts = cw_arena_alloc(v->r->arena, t->thread_count, sizeof *open->counts);
    for (uint32_t k = 0; open->windows && open->counts && k < t->thread_count; k++) {
        const struct cw_timeline_list list = t->threads[k].ranges;
        struct cw_timeline_window *own = open->windows + list.first;
        for (uint32_t i = list.first; i < list.first + list.count; i++)
            if (paths[t->ranges[i].path])
                own[open->counts[k]++] = (struct cw_timeline_window){t->ranges[i].start, t->ranges[i].end};
        open->counts[k] = cw_timeline_join_windows(own, open->counts[k]);
    }
    return open->windows && open->counts;
}

static bool is_open(const struct choosing *v, const struct open *open, uint32_t thread, uint64_t time)
{
    if (thread == CW_TIMELINE_NONE)
        return false;
    const struct cw_timeline_window *own = open->windows + v->t->threads[thread].ranges.first;
    struct cw_search s = {0, open->counts[thread]};
    while (s.low < s.high) /* the first that does not end before it */
        cw_search_narrow(&s, own[cw_search_middle(&s)].end < time);
    return s.low < open->counts[thread] && own[s.low].start <= time;
}

/* What has no ranges around it of its own: a wait is where its call is, else where its thread was then, as a mark. */
static enum cw_status choose_others(struct choosing *v, const bool *paths)
{
    const struct cw_timeline *t = v->t;
    struct open open;
    bool *waits = cw_arena_alloc(v->r->arena, t->wait_count, sizeof *waits);
    bool *marks = cw_arena_alloc(v->r->arena, t->mark_count, sizeof *marks);
    if (!waits || !marks || !find_open(v, paths, &open))
        return cw_error_nomem(v->r->err);
    for (uint32_t i = 0; i < t->wait_count; i++, cw_timeline_step(t)) {
        const struct cw_timeline_wait *w = &t->waits[i];
        waits[i] = w->call == CW_TIMELINE_NONE ? is_open(v, &open, w->thread, w->start) : paths[t->calls[w->call].path];
    }
    for (uint32_t i = 0; i < t->mark_count; i++, cw_timeline_step(t))
        marks[i] = is_open(v, &open, t->marks[i].thread, t->marks[i].start);
    v->to->keep.waits = waits;
    v->to->keep.marks = marks;
    return CW_OK;
}

#define BIT(kind) CW_TRACE_BIT(CW_TRACE_##kind)
/* Kinds whose rows --kernel chooses, and those that --range chooses. */
static const uint64_t of_kernels = BIT(KERNEL) | BIT(COPY) | BIT(MEMSET) | BIT(GRAPH) | BIT(RUNTIME) | BIT(DRIVER) |
                                   BIT(INTERNAL),
                      of_ranges = BIT(NVTX_RANGE) | BIT(NVTX_MARK) | BIT(SYNC) | BIT(OVERHEAD) | BIT(JIT);

enum cw_status cw_eval_trace_choose(struct cw_eval_trace_choice *choice, struct cw_eval_run *r,
                                    const struct cw_timeline *t, bool or_none)
{
    struct choosing choosing = {r, t, choice}, *v = &choosing;
    struct cw_eval_ranges of = r->o->ranges;
    const struct cw_eval_ranges *wanted = &of;
    *choice = (struct cw_eval_trace_choice){0};
    of.or_none = or_none;
    of.ranks = NULL; /* they were chosen when the trace was read */
    if (!cw_eval_ranges_option(wanted))
        return CW_OK;
    bool *kernels = cw_arena_alloc(v->r->arena, t->name_count, sizeof *kernels);
    bool *paths = cw_arena_alloc(v->r->arena, t->path_count, sizeof *paths);
    bool *keep = cw_arena_alloc(v->r->arena, t->gpu_count, sizeof *keep);
    if (!kernels || !paths || !keep)
        return cw_error_nomem(v->r->err);
    const bool by_kernel = wanted->kernel_count || wanted->excluded_count;
    enum cw_status status = by_kernel ? match_kernels(v, wanted, kernels) : CW_OK;
    if (status == CW_OK && wanted->ranges)
        status = match_paths(v, wanted, paths);
    if (status == CW_OK && wanted->ranges)
        status = find_within(v, paths);
    for (uint32_t i = 0; status == CW_OK && i < t->gpu_count; i++, cw_timeline_step(t)) {
        const struct cw_timeline_gpu *g = &t->gpu[i];
        const bool kernel = g->kind == CW_TRACE_KERNEL;
        const bool named = !by_kernel || (kernel ? kernels[g->name] : !wanted->kernel_count);
        keep[i] = named && (!wanted->ranges || paths[g->path]);
    }
    v->to->keep.gpu = keep;
    v->to->keep.kinds = wanted->kernel_count ? of_kernels : wanted->ranges ? of_kernels | of_ranges : 0;
    if (status == CW_OK)
        status = choose_calls(v, wanted, keep, paths);
    return status == CW_OK && wanted->ranges ? choose_others(v, paths) : status;
}
