#include "report/trace_lanes.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/shorten.h"
#include "eval/keys.h"
#include "eval/timeline/groups.h"
#include "report/put.h"

/* Kinds of events on the page: the kinds of rows, and idle time. */
enum { IDLE = CW_TRACE_KIND__COUNT, KINDS };

/* ---- names of events --------------------------------------------------------------------------------------------- */

struct label { /* a distinct event; the page calls them "whats" */
    uint8_t kind;
    uint32_t name;        /* index of the timeline */
    uint32_t parts[3];    /* shape + 1; from and to of a copy; result of a call; domain and colour of an NVTX range */
    uint64_t count, time; /* totals of its events */
    uint32_t number;      /* place on the page */
};

struct names {
    const struct cw_timeline *timeline;
    struct label *whats;
    size_t room;
    struct cw_keys keys; /* kind, name and parts of each label */
};

/* Most labels on a page, bytes of their texts, and bytes of one text. */
enum { MOST_WHATS = 10000, MOST_TEXT = 1500000, LONGEST = 16384 };

/* Adds an event of `time` ns to its label. Returns the label's index; CW_TIMELINE_NONE: out of memory. */
static uint32_t add_name(struct names *n, const struct label *what, uint64_t time)
{
    const uint32_t count = n->keys.count;
    struct label *whats = cw_grown(n->whats, &n->room, count, sizeof *whats);
    n->whats = whats ? whats : n->whats;
    const struct cw_key key = {
        {(uint64_t)what->kind << 32 | what->name, what->parts[0], what->parts[1], what->parts[2]}};
    const uint32_t at = whats ? cw_keys_add(&n->keys, key) : CW_NO_KEY;
    if (at == CW_NO_KEY)
        return CW_TIMELINE_NONE;
    if (at == count)
        whats[at] = *what;
    whats[at].count++;
    whats[at].time += time;
    return at;
}

static void free_names(struct names *n)
{
    free(n->whats);
    cw_keys_free(&n->keys);
    *n = (struct names){.timeline = n->timeline};
}

/* ---- texts ------------------------------------------------------------------------------------------------------ */

struct texts { /* names on the page */
    const struct cw_timeline *timeline;
    uint32_t *numbers; /* [name]: 1 + its place; 0: not on the page */
    uint32_t *list, count;
    uint8_t *kernels; /* [name]: whether a kernel has it */
    uint64_t bytes;
};

static uint64_t cost_of(const char *text)
{
    uint64_t bytes = 3;
    for (const unsigned char *c = (const unsigned char *)text; *c && bytes <= LONGEST; c++)
        bytes += *c < 32 || *c == '<' || *c == '"' || *c == '\\' || *c == 127 ? 6 : 1;
    return bytes;
}

/* Whether a name is on the page, after adding it if it fits. */
static bool fits(struct texts *t, uint32_t name, bool kernel)
{
    if (t->numbers[name])
        return true;
    const uint64_t cost = cost_of(t->timeline->names[name].shown);
    if (cost > LONGEST || t->bytes + cost > MOST_TEXT)
        return false;
    t->bytes += cost + (kernel ? 2 * 70 : 0);
    t->list[t->count++] = name;
    t->numbers[name] = t->count;
    t->kernels[name] = kernel;
    return true;
}

static void put_names(FILE *out, const struct texts *t)
{
    char text[CW_SHORT_SIZE];
    fputs(",\n\"names\":[", out);
    for (uint32_t i = 0; i < t->count; i++) {
        const char *name = t->timeline->names[t->list[i]].shown;
        cw_put_text(out, i ? (t->kernels[t->list[i]] ? ",\n[" : ",") : t->kernels[t->list[i]] ? "[" : "", name);
        if (!t->kernels[t->list[i]])
            continue;
        cw_put_short(out, ",", name);
        cw_put_text(out, ",", cw_shorten_to_family(name, text));
        fputs("]", out);
    }
    fputs("]", out);
}

/* ---- numbers ---------------------------------------------------------------------------------------------------- */

static int by_time(const void *a, const void *b)
{
    const struct label *x = *(struct label *const *)a, *y = *(struct label *const *)b;
    if (x->time != y->time)
        return (x->time < y->time) - (x->time > y->time);
    return x->count != y->count ? (x->count < y->count) - (x->count > y->count) : (x > y) - (x < y);
}

/* Writes unknown sizes as 0, other unknown numbers as null. */
static void put_shape(FILE *out, const struct cw_timeline_shape *s)
{
    const uint64_t registers = s->registers == CW_TIMELINE_NONE ? CW_TRACE_UNKNOWN : s->registers;
    const uint64_t numbers[] = {s->grid[0],  s->grid[1], s->grid[2],       s->block[0],      s->block[1],
                                s->block[2], registers,  s->static_shared, s->dynamic_shared};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i] == CW_TRACE_UNKNOWN)
            fputs(",null", out);
        else
            cw_put_count(out, i ? "," : ",\"shape\":[", numbers[i]);
    fputs("]", out);
}

static void put_what(FILE *out, const struct texts *t, const struct label *w)
{
    cw_put_count(out, w->number ? ",\n{\"kind\":" : "\n{\"kind\":", w->kind);
    cw_put_count(out, ",\"name\":", t->numbers[w->name] - 1);
    cw_put_count(out, ",\"count\":", w->count);
    cw_put_count(out, ",\"time\":", w->time);
    if (w->kind == CW_TRACE_KERNEL && w->parts[0]) {
        put_shape(out, &t->timeline->shapes[w->parts[0] - 1]);
    } else if (w->kind == CW_TRACE_COPY) {
        cw_put_count(out, ",\"from\":", t->numbers[w->parts[0]] - 1);
        cw_put_count(out, ",\"to\":", t->numbers[w->parts[1]] - 1);
    } else if (w->kind == CW_TRACE_NVTX_RANGE || w->kind == CW_TRACE_NVTX_MARK) {
        cw_put_count(out, ",\"domain\":", t->numbers[w->parts[0]] - 1);
        cw_put_count(out, ",\"color\":", w->parts[1]);
    } else if (w->kind != CW_TRACE_KERNEL && w->parts[0]) {
        cw_put_count(out, ",\"result\":", w->parts[0]);
    }
    fputs("}", out);
}

static bool is_named(struct texts *t, const struct label *w)
{
    const bool copy = w->kind == CW_TRACE_COPY, nvtx = w->kind == CW_TRACE_NVTX_RANGE || w->kind == CW_TRACE_NVTX_MARK;
    return fits(t, w->name, w->kind == CW_TRACE_KERNEL) && (!(copy || nvtx) || fits(t, w->parts[0], false)) &&
           (!copy || fits(t, w->parts[1], false));
}

/* Numbers the labels that fit on the page; the others share one number for each kind. Returns how many share. */
static uint32_t number(FILE *out, struct texts *t, struct label **order, uint32_t count)
{
    struct label others[KINDS] = {{0}};
    uint32_t next = 0, left = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct label *w = order[i], *other = &others[w->kind];
        if (next < MOST_WHATS && is_named(t, w)) {
            w->number = next++;
            put_what(out, t, w);
            continue;
        }
        left++;
        w->number = UINT32_MAX;
        other->count += w->count;
        other->time += w->time;
    }
    for (uint32_t k = 0; k < KINDS; k++)
        if (others[k].count) {
            others[k].kind = (uint8_t)k;
            others[k].number = next++;
            put_what(out, t, &others[k]);
        }
    for (uint32_t i = 0; i < count; i++)
        if (order[i]->number == UINT32_MAX)
            order[i]->number = others[order[i]->kind].number;
    return left;
}

static bool put_all_names(struct names *n, FILE *out)
{
    const size_t room = (size_t)n->timeline->name_count + 1;
    struct texts t = {n->timeline, calloc(room, sizeof *t.numbers), calloc(room, sizeof *t.list),
                      0,           calloc(room, sizeof *t.kernels), 0};
    struct label **order = calloc((size_t)n->keys.count + 1, sizeof(struct label *));
    const bool enough = t.numbers && t.list && t.kernels && order;
    if (enough) {
        fits(&t, 0, false);
        for (uint32_t i = 0; i < n->keys.count; i++)
            order[i] = &n->whats[i];
        qsort(order, n->keys.count, sizeof(struct label *), by_time);
        fputs(",\n\"kinds\":[", out);
        for (uint32_t k = 0; k < KINDS; k++)
            cw_put_text(out, k ? "," : "", k == IDLE ? "idle" : cw_trace_kinds[k].name);
        fputs("],\n\"whats\":[", out);
        const uint32_t left = number(out, &t, order, n->keys.count);
        cw_put_count(out, "],\"names_left\":", left);
        put_names(out, &t);
    }
    free(t.numbers);
    free(t.list);
    free(t.kernels);
    free(order);
    return enough;
}

/* Most lanes on a page, and most groups that it lists at first. */
enum { MOST_LANES = 256, MOST_LISTED = 24 };
/* The timeline's lists of events. */
enum { GPU, CALLS, WAITS, RANGES, MARKS, LISTS };

struct group {
    char *title;
    uint32_t process, device;           /* device: index into the file's devices; CW_NO_TRACE_DEVICE: unknown */
    bool is_device, listed, has_ranges; /* has_ranges: it has NVTX ranges */
    uint64_t weight;                    /* number of events */
};

struct lane {
    const struct cw_report_lanes *lanes;
    const char *kind; /* "gpu", "calls", "waits", "nvtx", "marks" */
    char *title;
    uint32_t group;
    const uint32_t *order; /* events of the lane; NULL: `count` events from `first` */
    uint32_t first, count;
    uint8_t list; /* list with these events */
};

struct cw_report_lanes {
    const struct cw_timeline *timeline;
    struct names names;
    uint32_t group_count, lane_count, lanes_left; /* lanes_left: the lanes with fewest events, if there are too many */
    struct group *groups;
    struct lane *lanes;
    uint32_t *thread_lanes; /* by thread: lane of its calls, or CW_TIMELINE_NONE */
    uint32_t *whats[5];     /* by list and event: index into `names` */
    uint64_t events;
};

/* ---- events ----------------------------------------------------------------------------------------------------- */

struct event {
    uint64_t start, end;
    uint32_t what;       /* index into `names` */
    uint32_t lane;       /* of the call that launched it, or CW_TIMELINE_NONE */
    uint64_t call_start; /* start of this call */
    uint64_t value;      /* CW_TRACE_UNKNOWN: none */
};

static void get_event(struct event *event, const struct lane *lane, uint32_t i)
{
    const struct cw_timeline *t = lane->lanes->timeline;
    const uint32_t at = lane->order ? lane->order[i] : lane->first + i;
    *event =
        (struct event){.what = lane->lanes->whats[lane->list][at], .lane = CW_TIMELINE_NONE, .value = CW_TRACE_UNKNOWN};
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

/* Describes an event. Returns its duration. */
static uint64_t what_of(const struct cw_timeline *t, int list, uint32_t i, struct label *what)
{
    *what = (struct label){0};
    if (list == GPU) {
        const struct cw_timeline_gpu *g = &t->gpu[i];
        *what = (struct label){.kind = g->kind, .name = g->name};
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
        *what = (struct label){.kind = c->kind, .name = c->name, .parts = {c->result}};
        return c->end - c->start;
    }
    if (list == WAITS) {
        *what = (struct label){.kind = t->waits[i].kind, .name = t->waits[i].type};
        return t->waits[i].end - t->waits[i].start;
    }
    if (list == RANGES) {
        const struct cw_timeline_range *r = &t->ranges[i];
        *what = (struct label){.kind = CW_TRACE_NVTX_RANGE, .name = r->name, .parts = {r->domain, r->color}};
        return r->end - r->start;
    }
    const struct cw_timeline_mark *m = &t->marks[i];
    *what = (struct label){.kind = CW_TRACE_NVTX_MARK, .name = m->name, .parts = {m->domain, m->color}};
    return 0;
}

static bool name_all(struct cw_report_lanes *l)
{
    for (int list = 0; list < LISTS; list++) {
        const uint32_t count = length_of(l->timeline, list);
        l->whats[list] = calloc((size_t)count + 1, sizeof *l->whats[list]);
        for (uint32_t i = 0; i < count; i++) {
            struct label what;
            const uint64_t time = what_of(l->timeline, list, i, &what);
            if (!l->whats[list] || (l->whats[list][i] = add_name(&l->names, &what, time)) == CW_TIMELINE_NONE)
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

/* The rank or number of a process, for titles; empty if there is only one process. */
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

static void add_group(struct making *m, const struct group *group)
{
    m->failed |= !group->title;
    m->l->groups[m->l->group_count++] = *group;
}

static void add_lane(struct making *m, struct lane lane)
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

/* Adds streams, in the order of devices and processes. */
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
                                  : cw_arena_printf(m->arena, "Unknown device%s", place);
            add_group(m, &(struct group){title, s->process, s->device, .is_device = true});
        }
        const bool named = s->name, apart = s->shares_name || !named;
        char number[32] = "", context[CW_TIMELINE_CONTEXT_SIZE] = "";
        if (apart && s->stream == CW_TRACE_UNKNOWN)
            snprintf(number, sizeof number, "%s ?", named ? ", stream" : "Stream");
        else if (apart)
            snprintf(number, sizeof number, "%s %" PRIu64, named ? ", stream" : "Stream", s->stream);
        if (apart)
            cw_timeline_context(s, context);
        char *title = cw_arena_printf(m->arena, "%.60s%s%s", named ? t->names[s->name].shown : "", number, context);
        add_lane(
            m, (struct lane){.kind = "gpu", .title = title, .first = s->gpu.first, .count = s->gpu.count, .list = GPU});
    }
}

/* Adds a thread's NVTX ranges: either push-pop ranges, or start-end ranges, which may end in another thread. */
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
    add_lane(m, (struct lane){.kind = "nvtx", .title = title, .order = order, .count = count, .list = RANGES});
}

static char *thread_title(struct making *m, const struct cw_timeline_thread *thread)
{
    const struct cw_timeline *t = m->l->timeline;
    const char *place = place_of(m, thread->process);
    if (!place)
        return NULL;
    if (thread->thread == CW_TRACE_UNKNOWN)
        return cw_arena_printf(m->arena, "Unknown thread%s", place);
    return cw_arena_printf(m->arena, "Thread %" PRIu64 "%s%.60s%s", thread->thread, thread->name ? " " : "",
                           t->names[thread->name].shown, place);
}

/* Adds threads. `waits` has the waits by thread, `first` the index of each thread's first wait. */
static void add_threads(struct making *m, const uint32_t *waits, const uint32_t *first)
{
    const struct cw_timeline *t = m->l->timeline;
    for (uint32_t i = 0; i <= t->thread_count && !m->failed; i++) {
        const struct cw_timeline_thread none = {.thread = CW_TRACE_UNKNOWN};
        const struct cw_timeline_thread *thread = i < t->thread_count ? &t->threads[i] : &none;
        const uint32_t count = first[i + 1] - first[i];
        if (i == t->thread_count && !count)
            return;
        char *title =
            i < t->thread_count ? thread_title(m, thread) : cw_arena_strdup(m->arena, "Waits of unknown threads");
        add_group(m, &(struct group){title, thread->process, CW_NO_TRACE_DEVICE, .is_device = false});
        add_ranges(m, thread, true);
        add_ranges(m, thread, false);
        add_lane(m, (struct lane){.kind = "marks",
                                  .title = cw_arena_strdup(m->arena, "NVTX marks"),
                                  .first = thread->marks.first,
                                  .count = thread->marks.count,
                                  .list = MARKS});
        add_lane(m, (struct lane){.kind = "calls",
                                  .title = cw_arena_strdup(m->arena, "Calls"),
                                  .first = thread->calls.first,
                                  .count = thread->calls.count,
                                  .list = CALLS});
        add_lane(m, (struct lane){.kind = "waits",
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

/* Sorts waits by thread; waits without a thread come last. Thread i has order[first[i]] to order[first[i + 1] - 1]. */
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

/* ---- which of them, and in which order --------------------------------------------------------------------------- */

static int by_count(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x < y) - (x > y);
}

/* Finds a number of events; the page keeps the lanes with more. */
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
    const struct group *x = *(struct group *const *)a, *y = *(struct group *const *)b;
    if (x->is_device != y->is_device || x->is_device)
        return x->is_device != y->is_device ? y->is_device - x->is_device : (x > y) - (x < y);
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    if (x->has_ranges != y->has_ranges)
        return y->has_ranges - x->has_ranges;
    return x->weight != y->weight ? (x->weight < y->weight) - (x->weight > y->weight) : (x > y) - (x < y);
}

/* Orders groups: devices, then the threads of each process; threads with NVTX ranges come first, because their ranges
 * name the work, then threads with most events. The lanes of a group stay together. */
static bool arrange(struct cw_report_lanes *l, struct cw_arena *arena)
{
    struct group **order = cw_arena_alloc(arena, l->group_count, sizeof(struct group *));
    struct group *groups = cw_arena_alloc(arena, l->group_count, sizeof *groups);
    struct lane *lanes = cw_arena_alloc(arena, l->lane_count, sizeof *lanes);
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
    qsort(order, l->group_count, sizeof(struct group *), by_weight);
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
    l->thread_lanes = cw_arena_alloc(arena, t->thread_count, sizeof *l->thread_lanes);
    if (!l->thread_lanes)
        return false;
    for (uint32_t i = 0; i < t->thread_count; i++)
        l->thread_lanes[i] = CW_TIMELINE_NONE;
    for (uint32_t i = 0; i < l->lane_count; i++) {
        const struct lane *lane = &l->lanes[i];
        if (lane->list == CALLS)
            l->thread_lanes[t->calls[lane->first].thread] = i;
    }
    return true;
}

/* ---- events of a lane, encoded ----------------------------------------------------------------------------------- */

struct encoded_size {
    uint64_t bytes, items, grouped; /* grouped: events drawn with others */
};

/* A group of neighbours has the name with most time among its first GROUP_NAMES names. */
enum { GROUP_NAMES = 8 };

struct neighbours { /* neighbours drawn as one item */
    struct event first;
    uint64_t end, busy, until; /* until: the latest end so far */
    uint32_t count, names, what[GROUP_NAMES];
    uint64_t time[GROUP_NAMES];
};

/* Most bytes of all events on a page, before base64. */
enum { MOST_BYTES = 5600000 };

struct encoding {
    const struct names *names;
    struct cw_writer *out;
    struct encoded_size *size;
    uint64_t end, called; /* end of the item before; start of the last call */
};

static void put_number(struct encoding *e, uint64_t value)
{
    do {
        e->size->bytes++;
        if (e->out)
            cw_write_u8(e->out, (uint8_t)((value & 127) | (value > 127 ? 128 : 0)));
        value >>= 7;
    } while (value);
}

static uint64_t zigzag(uint64_t difference)
{
    return difference << 1 ^ (0 - (difference >> 63));
}

static void put_item(struct encoding *e, const struct event *event, uint64_t end, uint32_t what)
{
    const bool called = event->lane != CW_TIMELINE_NONE, valued = event->value != CW_TRACE_UNKNOWN;
    put_number(e, (uint64_t)e->names->whats[what].number * 8 + (called ? 2 : 0) + (valued ? 4 : 0));
    put_number(e, zigzag(event->start - e->end));
    put_number(e, end - event->start);
    if (called) {
        put_number(e, event->lane);
        put_number(e, zigzag(event->call_start - e->called));
        e->called = event->call_start;
    }
    if (valued)
        put_number(e, event->value);
    e->end = end;
    e->size->items++;
}

static void put_neighbours(struct encoding *e, struct neighbours *g)
{
    uint32_t most = 0;
    if (g->count == 1) {
        put_item(e, &g->first, g->end, g->first.what);
    } else if (g->count) {
        for (uint32_t i = 1; i < g->names; i++)
            most = g->time[i] > g->time[most] ? i : most;
        put_number(e, (uint64_t)e->names->whats[g->what[most]].number * 8 + 1);
        put_number(e, zigzag(g->first.start - e->end));
        put_number(e, g->end - g->first.start);
        put_number(e, g->count);
        put_number(e, g->busy);
        e->end = g->end;
        e->size->items++;
        e->size->grouped += g->count;
    }
    g->count = 0;
}

static void add_neighbour(struct neighbours *g, const struct event *event)
{
    if (!g->count)
        *g = (struct neighbours){.first = *event, .end = event->start, .until = event->start};
    const uint64_t from = event->start > g->until ? event->start : g->until;
    g->busy += event->end > from ? event->end - from : 0;
    g->until = event->end > g->until ? event->end : g->until;
    g->end = g->until;
    g->count++;
    uint32_t i = 0;
    while (i < g->names && g->what[i] != event->what)
        i++;
    if (i == g->names && i < GROUP_NAMES) {
        g->what[g->names++] = event->what;
        g->time[i] = 0;
    }
    if (i < g->names)
        g->time[i] += event->end - event->start;
}

/* Encodes a lane and adds to `size`; without `out` it only measures. */
static void encode_lane(const struct lane *lane, uint64_t resolution, struct cw_writer *out, struct encoded_size *size)
{
    const uint64_t origin = lane->lanes->timeline->start;
    struct encoding e = {.names = &lane->lanes->names, .out = out, .size = size, .end = origin, .called = origin};
    struct neighbours g = {.count = 0};
    for (uint32_t i = 0; i < lane->count; i++) {
        struct event event;
        get_event(&event, lane, i);
        const bool tiny = event.end - event.start < resolution;
        if (g.count && (!tiny || event.end - g.first.start > resolution))
            put_neighbours(&e, &g);
        if (tiny)
            add_neighbour(&g, &event);
        else
            put_item(&e, &event, event.end, event.what);
    }
    put_neighbours(&e, &g);
}

static bool fit_page(const struct cw_report_lanes *l, uint64_t resolution)
{
    struct encoded_size size = {0};
    for (uint32_t i = 0; i < l->lane_count; i++)
        encode_lane(&l->lanes[i], resolution, NULL, &size);
    return size.bytes <= MOST_BYTES;
}

/* The least resolution with which the lanes fit on a page; 0: all events fit. */
static uint64_t find_resolution(const struct cw_report_lanes *l)
{
    if (fit_page(l, 0))
        return 0;
    uint64_t high = 128; /* ns: shorter than anything on a GPU */
    while (high < l->timeline->end - l->timeline->start && !fit_page(l, high))
        high *= 2;
    uint64_t low = high / 2;
    for (int step = 0; step < 3; step++) {
        const uint64_t middle = low + (high - low) / 2;
        if (fit_page(l, middle))
            high = middle;
        else
            low = middle;
    }
    return high;
}

static void put_groups(FILE *out, const struct cw_report_lanes *l)
{
    fputs(",\n\"groups\":[", out);
    for (uint32_t i = 0; i < l->group_count; i++) {
        const struct group *g = &l->groups[i];
        cw_put_text(out, i ? ",\n{\"title\":" : "\n{\"title\":", g->title);
        fputs(g->listed ? ",\"listed\":true" : ",\"listed\":false", out);
        if (g->is_device && g->device != CW_NO_TRACE_DEVICE)
            cw_put_count(out, ",\"device\":", l->timeline->data->devices[g->device].index);
        else if (g->is_device)
            fputs(",\"device\":null", out);
        fputs("}", out);
    }
    fputs("]", out);
}

static enum cw_status put_lanes(FILE *out, const struct cw_report_lanes *l, uint64_t resolution,
                                struct encoded_size *size)
{
    enum cw_status status = CW_OK;
    fputs(",\n\"lanes\":[", out);
    for (uint32_t i = 0; i < l->lane_count && status == CW_OK; i++) {
        struct cw_writer bytes;
        cw_writer_init(&bytes);
        encode_lane(&l->lanes[i], resolution, &bytes, size);
        status = bytes.status;
        cw_put_count(out, i ? ",\n{\"group\":" : "\n{\"group\":", l->lanes[i].group);
        cw_put_text(out, ",\"kind\":", l->lanes[i].kind);
        cw_put_text(out, ",\"title\":", l->lanes[i].title);
        if (status == CW_OK)
            cw_put_bytes(out, ",\"data\":", bytes.data, bytes.size);
        fputs("}", out);
        cw_writer_free(&bytes);
    }
    fputs("]", out);
    return status;
}

/* ---- public ----------------------------------------------------------------------------------------------------- */

enum cw_status cw_report_lanes_make(struct cw_report_lanes **made, const struct cw_timeline *t, struct cw_arena *arena,
                                    struct cw_error *err)
{
    const size_t groups = (size_t)t->stream_count + t->thread_count + 1;
    struct cw_report_lanes *l = *made = cw_arena_alloc(arena, 1, sizeof *l);
    if (!l)
        return cw_error_nomem(err);
    l->timeline = l->names.timeline = t;
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
    if (!l)
        return;
    free_names(&l->names);
    for (int list = 0; list < LISTS; list++)
        free(l->whats[list]);
}

enum cw_status cw_report_lanes_put(FILE *out, struct cw_report_lanes *l, struct cw_error *err)
{
    struct encoded_size size = {0};
    cw_put_count(out, ",\"events\":", l->events);
    cw_put_count(out, ",\"lanes_left\":", l->lanes_left);
    put_groups(out, l);
    if (!put_all_names(&l->names, out))
        return cw_error_nomem(err);
    const uint64_t resolution = find_resolution(l);
    if (put_lanes(out, l, resolution, &size) != CW_OK)
        return cw_error_nomem(err);
    cw_put_count(out, ",\n\"resolution\":", resolution);
    cw_put_count(out, ",\"items\":", size.items);
    cw_put_count(out, ",\"grouped\":", size.grouped);
    return CW_OK;
}

uint32_t cw_report_lanes_group(const struct cw_report_lanes *l, uint32_t process, uint32_t device)
{
    uint32_t found = CW_TIMELINE_NONE;
    for (uint32_t g = 0; g < l->group_count; g++)
        if (l->groups[g].is_device && l->groups[g].device == device &&
            (found == CW_TIMELINE_NONE || l->groups[g].process == process))
            found = g;
    return found;
}
