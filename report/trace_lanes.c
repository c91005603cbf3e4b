#include "report/trace_lanes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Lanes of a page, and groups whose heads it shows without being asked, at most. */
enum { MOST_LANES = 256, MOST_LISTED = 24 };
/* Lists of a timeline. */
enum { GPU, CALLS, WAITS, RANGES, MARKS, LISTS };

/* ---- events ----------------------------------------------------------------------------------------------------- */

static void get_event(struct cw_trace_event *event, const void *context, uint32_t i)
{
    const struct cw_report_lanes_lane *lane = context;
    const struct cw_timeline *t = lane->lanes->timeline;
    const uint32_t at = lane->order ? lane->order[i] : lane->first + i;
    *event = (struct cw_trace_event){
        .what = lane->lanes->whats[lane->list][at], .lane = CW_TIMELINE_NONE, .value = CW_TRACE_UNKNOWN};
    if (lane->list == GPU) {
        const struct cw_timeline_gpu *g = &t->gpu[at];
        event->start = g->start;
        event->end = g->end;
        event->value = g->bytes;
        if (g->call != CW_TIMELINE_NONE) {
            event->lane = lane->lanes->thread_lanes[t->calls[g->call].thread];
            event->call_start = t->calls[g->call].start;
        }
    } else if (lane->list == CALLS) {
        event->start = t->calls[at].start;
        event->end = t->calls[at].end;
    } else if (lane->list == WAITS) {
        event->start = t->waits[at].start;
        event->end = t->waits[at].end;
    } else if (lane->list == RANGES) {
        event->start = t->ranges[at].start;
        event->end = t->ranges[at].end;
    } else {
        event->start = event->end = t->marks[at].start;
    }
    if (event->end < event->start)
        event->end = event->start;
}

static uint32_t length_of(const struct cw_timeline *t, int list)
{
    const uint32_t counts[LISTS] = {t->gpu_count, t->call_count, t->wait_count, t->range_count, t->mark_count};
    return counts[list];
}

/* What an event is, and how long it took. */
static uint64_t what_of(const struct cw_timeline *t, int list, uint32_t i, struct cw_trace_what *what)
{
    *what = (struct cw_trace_what){0};
    if (list == GPU) {
        const struct cw_timeline_gpu *g = &t->gpu[i];
        *what = (struct cw_trace_what){.kind = g->kind, .name = g->name};
        if (g->kind == CW_TRACE_KERNEL && g->shape != CW_TIMELINE_NONE)
            what->parts[0] = g->shape + 1;
        if (g->kind == CW_TRACE_COPY) {
            what->parts[0] = g->from;
            what->parts[1] = g->to;
        }
        return g->end - g->start;
    }
    if (list == CALLS) {
        const struct cw_timeline_call *c = &t->calls[i];
        *what = (struct cw_trace_what){.kind = c->kind, .name = c->name, .parts = {c->result}};
        return c->end - c->start;
    }
    if (list == WAITS) {
        *what = (struct cw_trace_what){.kind = t->waits[i].kind, .name = t->waits[i].type};
        return t->waits[i].end - t->waits[i].start;
    }
    if (list == RANGES) {
        const struct cw_timeline_range *r = &t->ranges[i];
        *what = (struct cw_trace_what){.kind = CW_TRACE_NVTX_RANGE, .name = r->name, .parts = {r->domain, r->color}};
        return r->end - r->start;
    }
    const struct cw_timeline_mark *m = &t->marks[i];
    *what = (struct cw_trace_what){.kind = CW_TRACE_NVTX_MARK, .name = m->name, .parts = {m->domain, m->color}};
    return 0;
}

static bool name_all(struct cw_report_lanes *l)
{
    for (int list = 0; list < LISTS; list++) {
        const uint32_t count = length_of(l->timeline, list);
        l->whats[list] = calloc((size_t)count + 1, sizeof *l->whats[list]);
        for (uint32_t i = 0; i < count; i++) {
            struct cw_trace_what what;
            const uint64_t time = what_of(l->timeline, list, i, &what);
            if (!l->whats[list] || (l->whats[list][i] = cw_trace_names_add(&l->names, &what, time)) == CW_TIMELINE_NONE)
                return false;
        }
        l->events += count;
    }
    return true;
}

/* ---- lanes ------------------------------------------------------------------------------------------------------ */

struct making {
    struct cw_report_lanes *l;
    struct cw_arena *arena;
    bool failed;
};

/* Which of several processes, in words. */
static char *place_of(struct making *m, uint32_t process)
{
    const struct cw_timeline *t = m->l->timeline;
    const char *rank = cw_timeline_attribute(t, process, "rank");
    if (t->trace->process_count < 2)
        return cw_arena_strdup(m->arena, "");
    return rank ? cw_arena_printf(m->arena, ", rank %.20s%s", rank, t->process_marks[process])
                : cw_arena_printf(m->arena, ", process %" PRIu32 "%s", t->trace->processes[process].pid,
                                  t->process_marks[process]);
}

static void add_group(struct making *m, const struct cw_report_lanes_group *group)
{
    m->failed |= !group->title;
    m->l->groups[m->l->group_count++] = *group;
}

static void add_lane(struct making *m, struct cw_report_lanes_lane lane)
{
    if (!lane.count)
        return;
    m->failed |= !lane.title;
    lane.lanes = m->l;
    lane.group = m->l->group_count - 1;
    m->l->groups[lane.group].weight += lane.count;
    m->l->groups[lane.group].has_ranges |= lane.list == RANGES;
    m->l->lanes[m->l->lane_count++] = lane;
}

/* Streams, which are in the order of devices and processes. */
static void add_devices(struct making *m)
{
    const struct cw_timeline *t = m->l->timeline;
    for (uint32_t i = 0; i < t->stream_count && !m->failed; i++) {
        const struct cw_timeline_stream *s = &t->streams[i], *before = i ? &t->streams[i - 1] : NULL;
        if (!before || before->device != s->device || before->process != s->process) {
            const bool known = s->device != CW_NO_TRACE_DEVICE;
            const struct cw_device *device = known ? &t->data->devices[s->device] : NULL;
            const char *name = known ? cw_device_attribute(device, "name") : NULL, *place = place_of(m, s->process);
            char *title = !place  ? NULL
                          : known ? cw_arena_printf(m->arena, "Device %" PRIu32 " %.80s%s", device->index,
                                                    name ? name : "", place)
                                  : cw_arena_printf(m->arena, "A device that is not known%s", place);
            add_group(m, &(struct cw_report_lanes_group){title, s->process, s->device, .is_device = true});
        }
        const bool named = s->name, apart = s->shares_name || !named, contexts = apart && s->shares_number;
        char number[32] = "", context[48] = "";
        if (apart)
            snprintf(number, sizeof number, "%s %" PRIu64, named ? ", stream" : "Stream", s->stream);
        if (contexts)
            snprintf(context, sizeof context, " of context %" PRIu64, s->context);
        char *title = cw_arena_printf(m->arena, "%.60s%s%s", named ? t->names[s->name].shown : "", number, context);
        add_lane(m, (struct cw_report_lanes_lane){
                        .kind = "gpu", .title = title, .first = s->gpu.first, .count = s->gpu.count, .list = GPU});
    }
}

/* The ranges of a thread that were pushed there, or those that may end elsewhere. */
static void add_ranges(struct making *m, const struct cw_timeline_thread *thread, bool pushed)
{
    const struct cw_timeline *t = m->l->timeline;
    const struct cw_timeline_list list = thread->ranges;
    uint32_t count = 0;
    for (uint32_t i = list.first; i < list.first + list.count; i++)
        count += t->ranges[i].pushed == pushed;
    uint32_t *order = cw_arena_alloc(m->arena, count, sizeof *order);
    m->failed |= !order;
    if (!order || !count)
        return;
    count = 0;
    for (uint32_t i = list.first; i < list.first + list.count; i++)
        if (t->ranges[i].pushed == pushed)
            order[count++] = i;
    char *title = cw_arena_strdup(m->arena, pushed ? "NVTX" : "NVTX, start to end");
    add_lane(m, (struct cw_report_lanes_lane){
                    .kind = "nvtx", .title = title, .order = order, .count = count, .list = RANGES});
}

static char *thread_title(struct making *m, const struct cw_timeline_thread *thread)
{
    const struct cw_timeline *t = m->l->timeline;
    const char *place = place_of(m, thread->process);
    if (!place)
        return NULL;
    if (thread->thread == CW_TRACE_UNKNOWN)
        return cw_arena_printf(m->arena, "A thread that is not known%s", place);
    return cw_arena_printf(m->arena, "Thread %" PRIu64 "%s%.60s%s", thread->thread, thread->name ? " " : "",
                           t->names[thread->name].shown, place);
}

/* Threads; `waits` are the waits by thread, `first` where those of each begin. */
static void add_threads(struct making *m, const uint32_t *waits, const uint32_t *first)
{
    const struct cw_timeline *t = m->l->timeline;
    for (uint32_t i = 0; i <= t->thread_count && !m->failed; i++) {
        const struct cw_timeline_thread none = {.thread = CW_TRACE_UNKNOWN};
        const struct cw_timeline_thread *thread = i < t->thread_count ? &t->threads[i] : &none;
        const uint32_t count = first[i + 1] - first[i];
        if (i == t->thread_count && !count)
            return;
        char *title = i < t->thread_count ? thread_title(m, thread)
                                          : cw_arena_strdup(m->arena, "Waits of threads that are not known");
        add_group(m, &(struct cw_report_lanes_group){title, thread->process, CW_NO_TRACE_DEVICE, .is_device = false});
        add_ranges(m, thread, true);
        add_ranges(m, thread, false);
        add_lane(m, (struct cw_report_lanes_lane){.kind = "marks",
                                                  .title = cw_arena_strdup(m->arena, "NVTX marks"),
                                                  .first = thread->marks.first,
                                                  .count = thread->marks.count,
                                                  .list = MARKS});
        add_lane(m, (struct cw_report_lanes_lane){.kind = "calls",
                                                  .title = cw_arena_strdup(m->arena, "Calls"),
                                                  .first = thread->calls.first,
                                                  .count = thread->calls.count,
                                                  .list = CALLS});
        add_lane(m, (struct cw_report_lanes_lane){.kind = "waits",
                                                  .title = cw_arena_strdup(m->arena, "Waits"),
                                                  .order = waits + first[i],
                                                  .count = count,
                                                  .list = WAITS});
    }
}

static uint32_t bucket_of(const struct cw_timeline *t, uint32_t wait)
{
    return t->waits[wait].thread < t->thread_count ? t->waits[wait].thread : t->thread_count;
}

/* The waits of each thread, and behind them those of none: those of thread i are order[first[i]] to
 * order[first[i + 1] - 1]. */
static bool sort_waits(const struct cw_timeline *t, struct cw_arena *arena, uint32_t **order, uint32_t **first)
{
    uint32_t *ends = cw_arena_alloc(arena, (size_t)t->thread_count + 3, sizeof *ends);
    *order = cw_arena_alloc(arena, t->wait_count, sizeof **order);
    *first = ends;
    if (!*order || !ends)
        return false;
    for (uint32_t i = 0; i < t->wait_count; i++)
        ends[bucket_of(t, i) + 2]++;
    for (uint32_t b = 2; b < t->thread_count + 3; b++)
        ends[b] += ends[b - 1];
    for (uint32_t i = 0; i < t->wait_count; i++)
        (*order)[ends[bucket_of(t, i) + 1]++] = i;
    return true;
}

/* ---- which of them, and in which order ----------------------------------------------------------------------------
 */

static int by_count(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x < y) - (x > y);
}

/* How many events a lane has at least that is on the page. */
static bool find_least(const struct cw_report_lanes *l, uint32_t *least)
{
    *least = 0;
    if (l->lane_count <= MOST_LANES)
        return true;
    uint32_t *counts = calloc(l->lane_count, sizeof *counts);
    for (uint32_t i = 0; counts && i < l->lane_count; i++)
        counts[i] = l->lanes[i].count;
    if (counts) {
        qsort(counts, l->lane_count, sizeof *counts, by_count);
        *least = counts[MOST_LANES];
    }
    free(counts);
    return counts != NULL;
}

static int by_weight(const void *a, const void *b)
{
    const struct cw_report_lanes_group *x = *(struct cw_report_lanes_group *const *)a,
                                       *y = *(struct cw_report_lanes_group *const *)b;
    if (x->is_device != y->is_device || x->is_device)
        return x->is_device != y->is_device ? y->is_device - x->is_device : (x > y) - (x < y);
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    if (x->has_ranges != y->has_ranges)
        return y->has_ranges - x->has_ranges;
    return x->weight != y->weight ? (x->weight < y->weight) - (x->weight > y->weight) : (x > y) - (x < y);
}

/* Devices first, then the threads of each process: those with NVTX ranges, which say what the devices do, then those
 * with most events; lanes of one group follow one another. */
static bool arrange(struct cw_report_lanes *l, struct cw_arena *arena)
{
    struct cw_report_lanes_group **order =
        cw_arena_alloc(arena, l->group_count, sizeof(struct cw_report_lanes_group *));
    struct cw_report_lanes_group *groups = cw_arena_alloc(arena, l->group_count, sizeof *groups);
    struct cw_report_lanes_lane *lanes = cw_arena_alloc(arena, l->lane_count, sizeof *lanes);
    uint32_t *first = cw_arena_alloc(arena, (size_t)l->group_count + 1, sizeof *first);
    uint32_t least, lane_count = 0, group_count = 0;
    if (!order || !groups || !lanes || !first || !find_least(l, &least))
        return false;
    for (uint32_t g = 0; g < l->group_count; g++)
        order[g] = &l->groups[g];
    for (uint32_t i = 0, g = 0; g <= l->group_count; g++) {
        first[g] = i;
        while (i < l->lane_count && l->lanes[i].group == g)
            i++;
    }
    qsort(order, l->group_count, sizeof(struct cw_report_lanes_group *), by_weight);
    for (uint32_t k = 0; k < l->group_count; k++) {
        const uint32_t g = (uint32_t)(order[k] - l->groups), before = lane_count;
        for (uint32_t i = first[g]; i < first[g + 1]; i++)
            if (l->lanes[i].count > least) {
                lanes[lane_count] = l->lanes[i];
                lanes[lane_count++].group = group_count;
            }
        if (lane_count > before) {
            groups[group_count] = l->groups[g];
            groups[group_count].listed = group_count < MOST_LISTED;
            group_count++;
        }
    }
    l->lanes_left = l->lane_count - lane_count;
    l->lanes = lanes;
    l->groups = groups;
    l->lane_count = lane_count;
    l->group_count = group_count;
    return true;
}

static bool finish(struct cw_report_lanes *l, struct cw_arena *arena)
{
    const struct cw_timeline *t = l->timeline;
    l->encoded = cw_arena_alloc(arena, l->lane_count, sizeof *l->encoded);
    l->thread_lanes = cw_arena_alloc(arena, t->thread_count, sizeof *l->thread_lanes);
    if (!l->encoded || !l->thread_lanes)
        return false;
    for (uint32_t i = 0; i < t->thread_count; i++)
        l->thread_lanes[i] = CW_TIMELINE_NONE;
    for (uint32_t i = 0; i < l->lane_count; i++) {
        const struct cw_report_lanes_lane *lane = &l->lanes[i];
        l->encoded[i] = (struct cw_trace_lane){get_event, lane, lane->count};
        if (lane->list == CALLS)
            l->thread_lanes[t->calls[lane->first].thread] = i;
    }
    return true;
}

enum cw_status cw_report_lanes_make(struct cw_report_lanes *l, const struct cw_timeline *t, struct cw_arena *arena,
                                    struct cw_error *err)
{
    const size_t groups = (size_t)t->stream_count + t->thread_count + 1;
    *l = (struct cw_report_lanes){.timeline = t, .names.timeline = t};
    l->groups = cw_arena_alloc(arena, groups, sizeof *l->groups);
    l->lanes = cw_arena_alloc(arena, t->stream_count + ((size_t)t->thread_count + 1) * LISTS, sizeof *l->lanes);
    struct making m = {l, arena, !l->groups || !l->lanes};
    uint32_t *waits, *first;
    m.failed |= !name_all(l) || !sort_waits(t, arena, &waits, &first);
    if (!m.failed)
        add_devices(&m);
    if (!m.failed)
        add_threads(&m, waits, first);
    return !m.failed && arrange(l, arena) && finish(l, arena) ? CW_OK : cw_error_nomem(err);
}

void cw_report_lanes_free(struct cw_report_lanes *l)
{
    cw_trace_names_free(&l->names);
    for (int list = 0; list < LISTS; list++)
        free(l->whats[list]);
}
