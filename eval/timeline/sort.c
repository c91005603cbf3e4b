/* Lanes of a timeline, and what is in each, in order. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "eval/order.h"
#include "eval/timeline/parts.h"

/* What all items of lanes begin with. */
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

/* Brings items into the order of lanes, whose places are in `rank`, and of time; `lists` gets the items of each lane.
 */
static bool sort_items(const struct cw_order_items *of, const uint32_t *rank, struct cw_timeline_list *lists,
                       uint32_t lane_count)
{
    uint32_t *order = calloc((size_t)of->count + 1, sizeof *order), *room = calloc((size_t)of->count + 1, sizeof *room);
    uint32_t first = 0;
    memset(lists, 0, lane_count * sizeof *lists);
    for (uint32_t i = 0; order && room && i < of->count; i++) {
        struct item *item = (struct item *)(void *)((char *)of->items + of->size * i);
        item->lane = rank[item->lane];
        lists[item->lane].count++;
    }
    for (uint32_t l = 0; l < lane_count; l++) {
        lists[l].first = first;
        first += lists[l].count;
        lists[l].count = 0;
    }
    for (uint32_t i = 0; order && room && i < of->count; i++) {
        struct cw_timeline_list *list = &lists[((struct item *)(void *)((char *)of->items + of->size * i))->lane];
        order[list->first + list->count++] = i;
    }
    for (uint32_t l = 0; order && room && l < lane_count; l++)
        cw_order_sort(of, order + lists[l].first, room, lists[l].count, is_after);
    const bool good = order && room;
    if (good)
        cw_order_apply(of, order);
    free(order);
    free(room);
    return good;
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

/* Sorts lanes; returns the rank of each as it was, NULL when out of memory. */
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

/* ---- names, and streams that are waited for --------------------------------------------------------------------- */

struct naming {
    struct cw_timeline_work *w;
    struct cw_keys by_context; /* process, context, stream */
    uint32_t *streams;         /* by that */
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
    for (uint32_t i = 0; status == CW_OK && i < t->wait_count; i++) {
        struct cw_timeline_wait *wait = &t->waits[i];
        wait->stream = find_stream(&n, wait->process, wait->context, wait->stream_number);
        wait->thread = wait->thread == CW_TIMELINE_NONE ? wait->thread : thread_rank[wait->thread];
    }
    cw_keys_free(&n.by_context);
    free(n.streams);
    return status;
}

/* ---- all -------------------------------------------------------------------------------------------------------- */

static bool sort_waits(struct cw_timeline *t)
{
    const struct cw_order_items items = {t->waits, sizeof *t->waits, t->wait_count};
    uint32_t *order = calloc((size_t)t->wait_count + 1, sizeof *order);
    uint32_t *room = calloc((size_t)t->wait_count + 1, sizeof *room);
    for (uint32_t i = 0; order && i < t->wait_count; i++)
        order[i] = i;
    const bool good = order && room;
    if (good) {
        cw_order_sort(&items, order, room, t->wait_count, is_after);
        cw_order_apply(&items, order);
    }
    free(order);
    free(room);
    return good;
}

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

static bool sort_all(struct cw_timeline_work *w, const uint32_t *streams, const uint32_t *threads)
{
    struct cw_timeline *t = w->t;
    const uint32_t lanes = t->stream_count > t->thread_count ? t->stream_count : t->thread_count;
    struct cw_timeline_list *lists = calloc((size_t)lanes + 1, sizeof *lists);
    bool good = lists && sort_items(&(struct cw_order_items){t->gpu, sizeof *t->gpu, t->gpu_count}, streams, lists,
                                    t->stream_count);
    for (uint32_t i = 0; good && i < t->stream_count; i++)
        t->streams[i].gpu = lists[i];
    good = good && sort_items(&(struct cw_order_items){t->calls, sizeof *t->calls, t->call_count}, threads, lists,
                              t->thread_count);
    for (uint32_t i = 0; good && i < t->thread_count; i++)
        t->threads[i].calls = lists[i];
    good = good && sort_items(&(struct cw_order_items){t->ranges, sizeof *t->ranges, t->range_count}, threads, lists,
                              t->thread_count);
    for (uint32_t i = 0; good && i < t->thread_count; i++)
        t->threads[i].ranges = lists[i];
    good = good && sort_items(&(struct cw_order_items){t->marks, sizeof *t->marks, t->mark_count}, threads, lists,
                              t->thread_count);
    for (uint32_t i = 0; good && i < t->thread_count; i++)
        t->threads[i].marks = lists[i];
    free(lists);
    return good && sort_waits(t);
}

enum cw_status cw_timeline_sort(struct cw_timeline_work *w)
{
    const uint32_t *streams = sort_streams(w), *threads = sort_threads(w);
    if (!streams || !threads)
        return cw_error_nomem(w->err);
    w->t->window_count = cw_timeline_join_windows(w->t->windows, w->t->window_count);
    const enum cw_status status = name_lanes(w, threads);
    return status != CW_OK ? status : sort_all(w, streams, threads) ? CW_OK : cw_error_nomem(w->err);
}
