#include "eval/output/lanes.h"

#include <stdlib.h>

#include "base/text.h"

#define NOTHING UINT32_MAX

struct row { /* a lane, or a further one of its name */
    struct cw_lane lane;
    uint32_t beside; /* the next row of the same lane, or NOTHING */
    uint32_t top;    /* the innermost open slice, or NOTHING */
    uint32_t depth;
};

struct slice { /* of an event that has not ended */
    uint64_t end;
    uint32_t row, below; /* below: the slice around it, or the next free place */
};

struct source {
    uint32_t count, next;
    void *context;
    cw_lane_time *time;
    cw_lane_fill *event;
};

/* The next step: the next event of a source, or the end of a slice. */
struct turn {
    uint64_t time;
    uint64_t order; /* at one time: ends before events, the innermost end first */
    uint32_t of;    /* source or slice */
    bool ends;
};

struct cw_lanes {
    struct cw_arena *arena;
    struct row *rows;
    struct slice *slices;
    struct turn *heap;
    struct source *sources;
    size_t row_count, row_room, slice_count, slice_room, heap_count, heap_room, source_count, source_room;
    uint32_t free_slice;
    uint64_t begun, crowded;
    bool nomem;
    const struct cw_lane_format *format;
    void *state;
};

/* Makes room for one more item. */
static bool make_room(struct cw_lanes *l, void **items, size_t count, size_t *room, size_t size)
{
    if (count < *room)
        return true;
    const size_t more = *room ? 2 * *room : 64;
    void *grown = more < NOTHING ? realloc(*items, more * size) : NULL;
    if (!grown) {
        l->nomem = true;
        return false;
    }
    *items = grown;
    *room = more;
    return true;
}

struct cw_lanes *cw_lanes_create(struct cw_arena *arena)
{
    struct cw_lanes *l = cw_arena_alloc(arena, 1, sizeof *l);
    if (l)
        *l = (struct cw_lanes){.arena = arena, .free_slice = NOTHING};
    return l;
}

void cw_lanes_free(struct cw_lanes *l)
{
    if (!l)
        return;
    free(l->rows);
    free(l->slices);
    free(l->heap);
    free(l->sources);
}

uint32_t cw_lanes_add(struct cw_lanes *l, const struct cw_lane *lane)
{
    if (!make_room(l, (void **)&l->rows, l->row_count, &l->row_room, sizeof *l->rows))
        return CW_NO_LANE;
    l->rows[l->row_count] = (struct row){*lane, NOTHING, NOTHING, 0};
    return (uint32_t)l->row_count++;
}

size_t cw_lanes_count(const struct cw_lanes *l)
{
    return l->row_count;
}

void cw_lanes_source(struct cw_lanes *l, uint32_t count, void *context, cw_lane_time *time, cw_lane_fill *event)
{
    if (count && make_room(l, (void **)&l->sources, l->source_count, &l->source_room, sizeof *l->sources))
        l->sources[l->source_count++] = (struct source){count, 0, context, time, event};
}

/* ---- the next step ----------------------------------------------------------------------------------------------- */

static bool before(const struct turn *a, const struct turn *b)
{
    return a->time != b->time ? a->time < b->time : a->ends != b->ends ? a->ends : a->order < b->order;
}

static void push(struct cw_lanes *l, struct turn turn)
{
    if (!make_room(l, (void **)&l->heap, l->heap_count, &l->heap_room, sizeof *l->heap))
        return;
    size_t at = l->heap_count++;
    for (; at && before(&turn, &l->heap[(at - 1) / 2]); at = (at - 1) / 2)
        l->heap[at] = l->heap[(at - 1) / 2];
    l->heap[at] = turn;
}

static struct turn pop(struct cw_lanes *l)
{
    const struct turn first = l->heap[0], last = l->heap[--l->heap_count];
    size_t at = 0;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child + 1 < l->heap_count && before(&l->heap[child + 1], &l->heap[child]))
            child++;
        if (child >= l->heap_count || !before(&l->heap[child], &last))
            break;
        l->heap[at] = l->heap[child];
        at = child;
    }
    l->heap[at] = last;
    return first;
}

static void push_source(struct cw_lanes *l, uint32_t s)
{
    const struct source *source = &l->sources[s];
    if (source->next < source->count)
        push(l, (struct turn){source->time(source->context, source->next), s, s, false});
}

/* ---- the row of an event ----------------------------------------------------------------------------------------- */

static bool fits(const struct cw_lanes *l, const struct row *row, uint64_t end)
{
    return row->top == NOTHING || (!row->lane.flat && row->depth < CW_LANES_DEEP && l->slices[row->top].end >= end);
}

/* The row that an event fits in, maybe a new one, or NOTHING. */
static uint32_t choose(struct cw_lanes *l, uint32_t lane, uint64_t end)
{
    uint32_t last = lane, count = 0;
    for (uint32_t row = lane; row != NOTHING; row = l->rows[row].beside, count++) {
        if (fits(l, &l->rows[row], end))
            return row;
        last = row;
    }
    if (count == CW_LANES_BESIDE)
        return NOTHING;
    struct cw_lane beside = l->rows[lane].lane;
    if (beside.kind == CW_LANE_THREAD) {
        beside.kind = CW_LANE_EVENTS;
        beside.parent = lane;
    }
    const uint32_t added = cw_lanes_add(l, &beside);
    if (added != CW_NO_LANE) {
        l->rows[last].beside = added;
        l->format->lane(l->state, added, &beside);
    }
    return added;
}

static void open_slice(struct cw_lanes *l, uint32_t row, uint64_t end)
{
    uint32_t s = l->free_slice;
    if (s != NOTHING) {
        l->free_slice = l->slices[s].below;
    } else {
        if (!make_room(l, (void **)&l->slices, l->slice_count, &l->slice_room, sizeof *l->slices))
            return;
        s = (uint32_t)l->slice_count++;
    }
    l->slices[s] = (struct slice){end, row, l->rows[row].top};
    l->rows[row].top = s;
    l->rows[row].depth++;
    push(l, (struct turn){end, UINT64_MAX - l->begun++, s, true});
}

static void close_slice(struct cw_lanes *l, uint32_t s)
{
    struct slice *slice = &l->slices[s];
    struct row *row = &l->rows[slice->row];
    l->format->end(l->state, slice->row, slice->end);
    row->top = slice->below;
    row->depth--;
    slice->below = l->free_slice;
    l->free_slice = s;
}

static void take(struct cw_lanes *l, struct cw_lane_event *e)
{
    if (l->rows[e->lane].lane.kind == CW_LANE_COUNTER) {
        l->format->count(l->state, e->lane, e->time, e->value);
        return;
    }
    e->end = e->end < e->time ? e->time : e->end;
    e->name = e->name && *e->name ? e->name : CW_TEXT_NO_NAME;
    const uint32_t row = e->instant ? NOTHING : choose(l, e->lane, e->end);
    if (row == NOTHING) {
        l->crowded += !e->instant;
        l->format->instant(l->state, e);
        return;
    }
    e->lane = row;
    l->format->begin(l->state, e);
    open_slice(l, row, e->end);
}

static void take_next(struct cw_lanes *l, uint32_t s)
{
    struct source *source = &l->sources[s];
    struct cw_lane_event event = {.lane = CW_NO_LANE};
    source->event(source->context, source->next++, &event);
    if (event.lane < l->row_count)
        take(l, &event);
    push_source(l, s);
}

enum cw_status cw_lanes_write(struct cw_lanes *l, const struct cw_lane_format *format, void *state, uint64_t *crowded,
                              struct cw_error *err)
{
    l->format = format;
    l->state = state;
    for (uint32_t s = 0; !l->nomem && s < l->source_count; s++)
        push_source(l, s);
    if (!l->nomem)
        format->start(state, l->heap_count ? l->heap[0].time : 0);
    const uint32_t lanes = (uint32_t)l->row_count;
    for (uint32_t i = 0; !l->nomem && i < lanes; i++)
        format->lane(state, i, &l->rows[i].lane);
    while (!l->nomem && l->heap_count && !format->full(state)) {
        const struct turn turn = pop(l);
        if (turn.ends)
            close_slice(l, turn.of);
        else
            take_next(l, turn.of);
    }
    *crowded = l->crowded;
    return l->nomem ? cw_error_nomem(err) : CW_OK;
}
