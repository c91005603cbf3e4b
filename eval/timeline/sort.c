/* Brings the lanes of a timeline, and the items of each, into order. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "eval/order.h"
#include "eval/timeline/parts.h"

/* The begin of every item in a lane. */
struct item {
    uint64_t start, end;
    uint32_t lane;
};
#define BEGINS_AS_ITEM(type, member)                                                                                   \
    _Static_assert(offsetof(type, start) == offsetof(struct item, start) &&                                            \
                       offsetof(type, end) == offsetof(struct item, end) &&                                            \
                       offsetof(type, member) == offsetof(struct item, lane) && sizeof(type) <= CW_ORDER_SIZE_MAX,     \
                   "it begins as an item")
BEGINS_AS_ITEM(struct cw_timeline_gpu, stream);
BEGINS_AS_ITEM(struct cw_timeline_call, thread);
BEGINS_AS_ITEM(struct cw_timeline_range, thread);
BEGINS_AS_ITEM(struct cw_timeline_mark, thread);

static bool is_after(const void *left, const void *right)
{
    const struct item *a = left, *b = right;
    return a->start != b->start ? a->start > b->start : a->end < b->end;
}

/* ---- items of a lane ------------------------------------------------------------------------------------------ */

/* A lane's items are ordered runs, one for each of its blocks. Blocks of several kinds overlap in time, so a run is
 * merged with the last items before it. A run that goes further back is left to a sort of indices. */
enum { BACK = 1 << 16, STEPS = 8, STEPS_FREE = 1 << 20 };

struct lane {
    char *items;
    size_t size;
    uint32_t count;
    struct cw_large *large;
    char *behind; /* room for BACK items, or for all */
};

static char *item_at(const struct lane *l, size_t index)
{
    return l->items + l->size * index;
}

/* The place of an item among the ordered items before `end`. */
static uint32_t find_place(const struct lane *l, uint32_t end, const void *item)
{
    const uint32_t back = end < BACK ? end : BACK;
    struct cw_search s = {end - back, end};
    while (s.low < s.high)
        cw_search_narrow(&s, !is_after(item_at(l, cw_search_middle(&s)), item));
    return (uint32_t)s.low;
}

/* Merges two runs, `place` to `run` and `run` to `end`. The shorter one is moved out first. */
static void merge_forward(struct lane *l, uint32_t place, uint32_t run, uint32_t end)
{
    const char *a = l->behind, *a_end = a + l->size * (run - place);
    const char *b = item_at(l, run), *b_end = item_at(l, end);
    char *to = item_at(l, place);
    memcpy(l->behind, to, l->size * (run - place));
    for (; a < a_end; to += l->size) {
        const char **from = b < b_end && is_after(a, b) ? &b : &a;
        memcpy(to, *from, l->size);
        *from += l->size;
    }
}

static void merge_backward(struct lane *l, uint32_t place, uint32_t run, uint32_t end)
{
    const char *a = item_at(l, run), *a_first = item_at(l, place);
    const char *b = l->behind + l->size * (end - run);
    char *to = item_at(l, end);
    memcpy(l->behind, a, l->size * (end - run));
    while (b > l->behind) {
        const char **from = a > a_first && is_after(a - l->size, b - l->size) ? &a : &b;
        *from -= l->size;
        memcpy(to -= l->size, *from, l->size);
    }
}

static void merge_run(struct lane *l, uint32_t place, uint32_t run, uint32_t end)
{
    if (end - run < run - place)
        merge_backward(l, place, run, end);
    else
        merge_forward(l, place, run, end);
}

/* False if a run goes further back, or if this takes too long: then some items are still out of order. */
static bool merge_runs(struct lane *l)
{
    const uint64_t most = STEPS * (uint64_t)l->count + STEPS_FREE;
    uint64_t steps = 0;
    for (uint32_t at = 1; at < l->count;) {
        cw_large_step(l->large);
        if (!is_after(item_at(l, at - 1), item_at(l, at))) {
            at++;
            continue;
        }
        const uint32_t place = find_place(l, at, item_at(l, at)), run = at;
        if (place && is_after(item_at(l, place - 1), item_at(l, run)))
            return false;
        for (at++; at < l->count && !is_after(item_at(l, at - 1), item_at(l, at)); at++)
            cw_large_step(l->large);
        steps += at - place;
        if (steps > most)
            return false;
        merge_run(l, place, run, at);
    }
    return true;
}

/* False when out of memory. */
static bool sort_by_index(struct lane *l)
{
    const struct cw_order_items of = {l->items, l->size, l->count, l->large};
    uint32_t *order = cw_large_alloc(l->large, l->count, sizeof *order);
    uint32_t *room = cw_large_alloc(l->large, l->count, sizeof *room);
    for (uint32_t i = 0; order && i < l->count; i++, cw_large_step(l->large))
        order[i] = i;
    const bool good = order && room;
    if (good) {
        cw_order_sort(&of, order, room, l->count, is_after);
        cw_order_apply(&of, order);
    }
    cw_large_free(l->large, order);
    cw_large_free(l->large, room);
    return good;
}

static bool sort_lane(struct lane *l)
{
    return merge_runs(l) || sort_by_index(l);
}

/* ---- lanes ------------------------------------------------------------------------------------------------------ */

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int by_stream(const void *left, const void *right, void *streams)
{
    const struct cw_timeline_stream *all = streams, *a = all + *(const uint32_t *)left,
                                    *b = all + *(const uint32_t *)right;
    const int device = compare(a->device, b->device), process = compare(a->process, b->process),
              context = compare(a->context, b->context);
    return device ? device : process ? process : context ? context : compare(a->stream, b->stream);
}

static int by_thread(const void *left, const void *right, void *threads)
{
    const struct cw_timeline_thread *all = threads, *a = all + *(const uint32_t *)left,
                                    *b = all + *(const uint32_t *)right;
    const int process = compare(a->process, b->process);
    return process ? process : compare(a->thread, b->thread);
}

/* Sorts lanes; returns the new place of each, NULL when out of memory. */
static uint32_t *rank_lanes(void *lanes, size_t size, uint32_t count,
                            int (*order_of)(const void *, const void *, void *), struct cw_arena *arena)
{
    uint32_t *order = calloc((size_t)count + 1, sizeof *order), *rank = cw_arena_alloc(arena, count, sizeof *rank);
    for (uint32_t i = 0; order && i < count; i++)
        order[i] = i;
    if (order && rank) {
        qsort_r(order, count, sizeof *order, order_of, lanes);
        for (uint32_t i = 0; i < count; i++)
            rank[order[i]] = i;
        cw_order_apply(&(struct cw_order_items){lanes, size, count}, order);
    }
    const bool good = order && rank;
    free(order);
    return good ? rank : NULL;
}

static uint32_t *sort_streams(struct cw_timeline_work *w)
{
    struct cw_timeline *t = w->t;
    t->stream_count = w->streams.count;
    t->streams = cw_arena_alloc(w->arena, t->stream_count, sizeof *t->streams);
    for (uint32_t i = 0; t->streams && i < t->stream_count; i++) {
        const uint64_t *part = w->streams.items[i].part;
        t->streams[i] = (struct cw_timeline_stream){
            .process = (uint32_t)part[0],
            .device = cw_trace_device(t->trace, (uint32_t)part[0], part[1]),
            .context = part[2],
            .stream = part[3],
        };
    }
    return t->streams ? rank_lanes(t->streams, sizeof *t->streams, t->stream_count, by_stream, w->arena) : NULL;
}

static uint32_t *sort_threads(struct cw_timeline_work *w)
{
    struct cw_timeline *t = w->t;
    t->thread_count = w->threads.count;
    t->threads = cw_arena_alloc(w->arena, t->thread_count, sizeof *t->threads);
    for (uint32_t i = 0; t->threads && i < t->thread_count; i++)
        t->threads[i] = (struct cw_timeline_thread){.process = (uint32_t)w->threads.items[i].part[0],
                                                    .thread = w->threads.items[i].part[1]};
    return t->threads ? rank_lanes(t->threads, sizeof *t->threads, t->thread_count, by_thread, w->arena) : NULL;
}

/* ---- names, and the streams of waits ----------------------------------------------------------------------------- */

struct naming {
    struct cw_timeline_work *w;
    struct cw_keys by_context; /* process, context, stream */
    uint32_t *streams;         /* [key of by_context] */
    const uint32_t *thread_rank;
};

static bool find_contexts(struct naming *n)
{
    const struct cw_timeline *t = n->w->t;
    n->streams = calloc((size_t)t->stream_count + 1, sizeof *n->streams);
    for (uint32_t i = 0; n->streams && i < t->stream_count; i++) {
        const struct cw_timeline_stream *s = &t->streams[i];
        const uint32_t before = n->by_context.count,
                       at = cw_keys_add(&n->by_context, (struct cw_key){{s->process, s->context, s->stream, 0}});
        if (at == CW_NO_KEY)
            return false;
        if (at == before)
            n->streams[at] = i;
    }
    return n->streams;
}

static uint32_t find_stream(const struct naming *n, uint64_t process, uint64_t context, uint64_t stream)
{
    const uint32_t at = cw_keys_find(&n->by_context, (struct cw_key){{process, context, stream, 0}});
    return at == CW_NO_KEY ? CW_TIMELINE_NONE : n->streams[at];
}

static enum cw_status take_name(void *context, const struct cw_trace_rows *rows, size_t block, struct cw_error *err)
{
    const struct naming *n = context;
    struct cw_timeline *t = n->w->t;
    (void)block;
    (void)err;
    for (uint32_t i = 0; i < rows->count; i++) {
        const char *type = cw_trace_text(t->trace, rows->process, cw_trace_get(rows, CW_FIELD_TYPE, i));
        const uint64_t id = cw_trace_get(rows, CW_FIELD_ID, i);
        const uint32_t name = cw_timeline_name(t, rows->process, cw_trace_get(rows, CW_FIELD_NAME, i));
        if (strcmp(type, "thread") == 0) {
            const uint32_t at = cw_keys_find(&n->w->threads, (struct cw_key){{rows->process, id, 0, 0}});
            if (at != CW_NO_KEY)
                t->threads[n->thread_rank[at]].name = name;
        } else if (strcmp(type, "stream") == 0) {
            const uint32_t at = find_stream(n, rows->process, cw_trace_get(rows, CW_FIELD_CONTEXT, i), id);
            if (at != CW_TIMELINE_NONE)
                t->streams[at].name = name;
        }
    }
    return CW_OK;
}

static enum cw_status name_lanes(struct cw_timeline_work *w, const uint32_t *thread_rank)
{
    struct cw_timeline *t = w->t;
    struct naming n = {.w = w, .thread_rank = thread_rank};
    enum cw_status status = find_contexts(&n) ? CW_OK : cw_error_nomem(w->err);
    if (status == CW_OK)
        status = cw_timeline_each(t, CW_TRACE_NAME, take_name, &n, w->err);
    for (uint32_t i = 0; status == CW_OK && i < t->wait_count; i++, cw_timeline_step(t)) {
        struct cw_timeline_wait *wait = &t->waits[i];
        wait->stream = find_stream(&n, wait->process, wait->context, wait->stream_number);
        wait->thread = wait->thread == CW_TIMELINE_NONE ? wait->thread : thread_rank[wait->thread];
    }
    cw_keys_free(&n.by_context);
    free(n.streams);
    return status;
}

/* ---- windows, lanes and items ------------------------------------------------------------------------------------ */

static int by_start(const void *left, const void *right)
{
    const struct cw_timeline_window *a = left, *b = right;
    return compare(a->start, b->start);
}

/* Windows of several processes may overlap. */
uint32_t cw_timeline_join_windows(struct cw_timeline_window *windows, uint32_t count)
{
    uint32_t kept = 0;
    qsort(windows, count, sizeof *windows, by_start);
    for (uint32_t i = 0; i < count; i++)
        if (kept && windows[i].start <= windows[kept - 1].end) {
            if (windows[i].end > windows[kept - 1].end)
                windows[kept - 1].end = windows[i].end;
        } else {
            windows[kept++] = windows[i];
        }
    return kept;
}

/* Gives lanes the places of their items, which come later. */
static uint32_t place_lanes(const struct cw_timeline_work *w, enum cw_timeline_laned laned)
{
    struct cw_timeline *t = w->t;
    const struct cw_timeline_counts *counts = &w->counts[laned];
    const uint32_t count = laned == CW_LANED_GPU ? t->stream_count : t->thread_count;
    const uint32_t *rank = laned == CW_LANED_GPU ? w->stream_rank : w->thread_rank;
    uint32_t first = 0;
    for (uint32_t k = 0; k < count; k++)
        cw_timeline_lane(t, laned, rank[k])->first = k < counts->room ? counts->items[k] : 0;
    for (uint32_t k = 0; k < count; k++) {
        struct cw_timeline_list *list = cw_timeline_lane(t, laned, k);
        const uint32_t own = list->first;
        *list = (struct cw_timeline_list){first, 0};
        first += own;
    }
    return first;
}

static bool make_lists(struct cw_timeline_work *w)
{
    struct cw_timeline *t = w->t;
    t->gpu_count = place_lanes(w, CW_LANED_GPU);
    t->call_count = place_lanes(w, CW_LANED_CALLS);
    t->range_count = place_lanes(w, CW_LANED_RANGES);
    t->mark_count = place_lanes(w, CW_LANED_MARKS);
    t->gpu = cw_large_alloc(t->large, (size_t)t->gpu_count + 1, sizeof *t->gpu);
    t->calls = cw_large_alloc(t->large, (size_t)t->call_count + 1, sizeof *t->calls);
    t->ranges = cw_large_alloc(t->large, (size_t)t->range_count + 1, sizeof *t->ranges);
    t->marks = cw_large_alloc(t->large, (size_t)t->mark_count + 1, sizeof *t->marks);
    return t->gpu && t->calls && t->ranges && t->marks;
}

enum cw_status cw_timeline_sort_lanes(struct cw_timeline_work *w)
{
    w->stream_rank = sort_streams(w);
    w->thread_rank = sort_threads(w);
    if (!w->stream_rank || !w->thread_rank || !make_lists(w))
        return cw_error_nomem(w->err);
    w->t->window_count = cw_timeline_join_windows(w->t->windows, w->t->window_count);
    return name_lanes(w, w->thread_rank);
}

static bool sort_list(struct cw_timeline *t, enum cw_timeline_laned laned, void *items, size_t size, char *behind)
{
    const uint32_t count = laned == CW_LANED_GPU ? t->stream_count : t->thread_count;
    bool good = true;
    for (uint32_t k = 0; good && k < count; k++) {
        const struct cw_timeline_list *list = cw_timeline_lane(t, laned, k);
        good = sort_lane(&(struct lane){(char *)items + size * list->first, size, list->count, t->large, behind});
    }
    return good;
}

enum cw_status cw_timeline_sort_items(struct cw_timeline_work *w)
{
    struct cw_timeline *t = w->t;
    const uint32_t counts[] = {t->gpu_count, t->call_count, t->range_count, t->mark_count, t->wait_count};
    uint32_t room = 1;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        room = counts[i] > room ? counts[i] : room;
    room = room < BACK ? room : BACK;
    char *behind = malloc((size_t)room * CW_ORDER_SIZE_MAX);
    const bool good = behind && sort_list(t, CW_LANED_GPU, t->gpu, sizeof *t->gpu, behind) &&
                      sort_list(t, CW_LANED_CALLS, t->calls, sizeof *t->calls, behind) &&
                      sort_list(t, CW_LANED_RANGES, t->ranges, sizeof *t->ranges, behind) &&
                      sort_list(t, CW_LANED_MARKS, t->marks, sizeof *t->marks, behind) &&
                      sort_lane(&(struct lane){(char *)t->waits, sizeof *t->waits, t->wait_count, t->large, behind});
    free(behind);
    return good ? CW_OK : cw_error_nomem(w->err);
}
