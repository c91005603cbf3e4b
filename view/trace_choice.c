#include "view/timeline.h"

#include <string.h>

#include "base/search.h"
#include "view/selection.h"

struct choosing {
    const struct cw_view_input *in;
    const struct cw_timeline *t;
    struct cw_timeline_keep *to;
};

/* Selects names as in a capture of ranges: each name is a range. */
static enum cw_status match(const struct choosing *v, const struct counterworks_request *wanted, bool or_none,
                            const struct cw_range *names, uint32_t count, const uint32_t *parents, bool *found)
{
    const struct cw_counter_data data = {.range_count = count, .ranges = names};
    struct cw_view_input in = *v->in;
    in.request = wanted;
    return cw_select_ranges(found, &in, &data, parents, or_none);
}

/* Matches kernels by --kernel and --exclude; found[name]. */
static enum cw_status match_kernels(struct choosing *v, const struct counterworks_request *wanted, bool or_none,
                                    bool *found)
{
    const struct cw_timeline *t = v->t;
    struct cw_range *names = cw_arena_alloc(v->in->arena, t->name_count, sizeof *names);
    uint32_t *index = cw_arena_alloc(v->in->arena, t->name_count, sizeof *index);
    bool *fits = cw_arena_alloc(v->in->arena, t->name_count, sizeof *fits);
    bool *used = cw_arena_alloc(v->in->arena, t->name_count, sizeof *used);
    uint32_t count = 0;
    struct counterworks_request of_kernels = *wanted;
    if (!names || !index || !fits || !used)
        return cw_error_nomem(v->in->err);
    of_kernels.ranges = NULL;
    for (uint32_t i = 0; i < t->gpu_count; i++, cw_timeline_step(t)) {
        const uint32_t name = t->gpu[i].name;
        if (t->gpu[i].kind != CW_TRACE_KERNEL || used[name] || !name)
            continue;
        used[name] = true;
        index[count] = name;
        names[count++] = (struct cw_range){.name = t->names[name].shown, .kernel = t->names[name].text};
    }
    const enum cw_status status = match(v, &of_kernels, or_none, names, count, NULL, fits);
    for (uint32_t i = 0; status == CW_OK && i < count; i++)
        found[index[i]] = fits[i];
    return status;
}

/* Matches NVTX paths by --range, with the paths inside them; found[path]. */
static enum cw_status match_paths(struct choosing *v, const struct counterworks_request *wanted, bool or_none,
                                  bool *found)
{
    const struct cw_timeline *t = v->t;
    struct cw_range *names = cw_arena_alloc(v->in->arena, t->path_count, sizeof *names);
    uint32_t *parents = cw_arena_alloc(v->in->arena, t->path_count, sizeof *parents);
    struct counterworks_request of_paths = {.ranges = wanted->ranges};
    const char *const *texts = cw_timeline_path_texts(t, false, v->in->arena);
    if (!names || !parents || !texts)
        return cw_error_nomem(v->in->err);
    if (!t->range_count && !or_none)
        return cw_error_set(v->in->err, CW_ERR_USAGE, "%s: found --range, but no NVTX ranges in the trace",
                            v->in->capture->asked);
    for (uint32_t i = 0; i < t->path_count; i++) {
        names[i] = (struct cw_range){.name = texts[i], .kernel = ""};
        parents[i] = t->paths[i].parent;
    }
    return match(v, &of_paths, or_none, names, t->path_count, parents, found);
}

/* Finds when the ranges of these paths were open. */
static enum cw_status find_within(struct choosing *v, const bool *paths)
{
    const struct cw_timeline *t = v->t;
    struct cw_timeline_window *within = cw_arena_alloc(v->in->arena, t->range_count, sizeof *within);
    uint32_t count = 0;
    if (!within)
        return cw_error_nomem(v->in->err);
    for (uint32_t i = 0; i < t->range_count; i++, cw_timeline_step(t))
        if (paths[t->ranges[i].path])
            within[count++] = (struct cw_timeline_window){t->ranges[i].start, t->ranges[i].end};
    v->to->within = within;
    v->to->within_count = cw_timeline_join_windows(within, count);
    v->to->paths = paths;
    return CW_OK;
}

/* Chooses calls: by the kernel that a call launched, and by the ranges around the call. */
static enum cw_status choose_calls(struct choosing *v, const struct counterworks_request *wanted, const bool *gpu,
                                   const bool *paths)
{
    const struct cw_timeline *t = v->t;
    bool *keep = cw_arena_alloc(v->in->arena, t->call_count, sizeof *keep);
    bool *launched = cw_arena_alloc(v->in->arena, t->call_count, sizeof *launched);
    if (!keep || !launched)
        return cw_error_nomem(v->in->err);
    for (uint32_t i = 0; i < t->gpu_count; i++, cw_timeline_step(t))
        if (gpu[i] && t->gpu[i].call != CW_TIMELINE_NONE)
            launched[t->gpu[i].call] = true;
    for (uint32_t i = 0; i < t->call_count; i++, cw_timeline_step(t)) {
        const bool other = !wanted->kernels.count && (!wanted->excluded.count || !t->calls[i].launched);
        keep[i] = (other || launched[i]) && (!wanted->ranges || paths[t->calls[i].path]);
    }
    v->to->calls = keep;
    return CW_OK;
}

/* When wanted ranges were open in a thread, in order and without overlaps; stored from the index of the thread's first
 * range on. */
struct open {
    struct cw_timeline_window *windows;
    uint32_t *counts;
};

static bool find_open(const struct choosing *v, const bool *paths, struct open *open)
{
    const struct cw_timeline *t = v->t;
    open->windows = cw_arena_alloc(v->in->arena, t->range_count, sizeof *open->windows);
    open->counts = cw_arena_alloc(v->in->arena, t->thread_count, sizeof *open->counts);
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
    while (s.low < s.high) /* the first window that ends at `time` or later */
        cw_search_narrow(&s, own[cw_search_middle(&s)].end < time);
    return s.low < open->counts[thread] && own[s.low].start <= time;
}

/* Chooses waits and marks, which have no path of their own: a wait belongs to its call's ranges. Marks, and waits
 * without a call, belong to ranges open in their thread at the time. */
static enum cw_status choose_others(struct choosing *v, const bool *paths)
{
    const struct cw_timeline *t = v->t;
    struct open open;
    bool *waits = cw_arena_alloc(v->in->arena, t->wait_count, sizeof *waits);
    bool *marks = cw_arena_alloc(v->in->arena, t->mark_count, sizeof *marks);
    if (!waits || !marks || !find_open(v, paths, &open))
        return cw_error_nomem(v->in->err);
    for (uint32_t i = 0; i < t->wait_count; i++, cw_timeline_step(t)) {
        const struct cw_timeline_wait *w = &t->waits[i];
        waits[i] = w->call == CW_TIMELINE_NONE ? is_open(v, &open, w->thread, w->start) : paths[t->calls[w->call].path];
    }
    for (uint32_t i = 0; i < t->mark_count; i++, cw_timeline_step(t))
        marks[i] = is_open(v, &open, t->marks[i].thread, t->marks[i].start);
    v->to->waits = waits;
    v->to->marks = marks;
    return CW_OK;
}

#define BIT(kind) CW_TRACE_BIT(CW_TRACE_##kind)
/* Kinds whose rows --kernel selects, and further kinds for --range. */
static const uint64_t of_kernels = BIT(KERNEL) | BIT(COPY) | BIT(MEMSET) | BIT(GRAPH) | BIT(RUNTIME) | BIT(DRIVER) |
                                   BIT(INTERNAL),
                      of_ranges = BIT(NVTX_RANGE) | BIT(NVTX_MARK) | BIT(SYNC) | BIT(OVERHEAD) | BIT(JIT);

enum cw_status cw_trace_choose(struct cw_timeline_keep *to, const struct cw_view_input *in, const struct cw_timeline *t,
                               bool or_none)
{
    struct choosing choosing = {in, t, to}, *v = &choosing;
    struct counterworks_request of = *in->request;
    const struct counterworks_request *wanted = &of;
    *to = (struct cw_timeline_keep){0};
    of.ranks = NULL; /* reading the trace selected the ranks */
    if (!cw_selection_option(wanted))
        return CW_OK;
    bool *kernels = cw_arena_alloc(v->in->arena, t->name_count, sizeof *kernels);
    bool *paths = cw_arena_alloc(v->in->arena, t->path_count, sizeof *paths);
    bool *keep = cw_arena_alloc(v->in->arena, t->gpu_count, sizeof *keep);
    if (!kernels || !paths || !keep)
        return cw_error_nomem(v->in->err);
    const bool by_kernel = wanted->kernels.count || wanted->excluded.count;
    enum cw_status status = by_kernel ? match_kernels(v, wanted, or_none, kernels) : CW_OK;
    if (status == CW_OK && wanted->ranges)
        status = match_paths(v, wanted, or_none, paths);
    if (status == CW_OK && wanted->ranges)
        status = find_within(v, paths);
    for (uint32_t i = 0; status == CW_OK && i < t->gpu_count; i++, cw_timeline_step(t)) {
        const struct cw_timeline_gpu *g = &t->gpu[i];
        const bool kernel = g->kind == CW_TRACE_KERNEL;
        const bool named = !by_kernel || (kernel ? kernels[g->name] : !wanted->kernels.count);
        keep[i] = named && (!wanted->ranges || paths[g->path]);
    }
    v->to->gpu = keep;
    v->to->kinds = wanted->kernels.count ? of_kernels : wanted->ranges ? of_kernels | of_ranges : 0;
    if (status == CW_OK)
        status = choose_calls(v, wanted, keep, paths);
    return status == CW_OK && wanted->ranges ? choose_others(v, paths) : status;
}
