#include "report/trace_items.h"

#include <string.h>

/* Names of a group among which the one with most time is found; others are not counted. */
enum { GROUP_NAMES = 8 };

struct group { /* neighbours that are drawn as one */
    struct cw_trace_event first;
    uint64_t end, busy, until; /* until: what ran last, ended */
    uint32_t count, names, what[GROUP_NAMES];
    uint64_t time[GROUP_NAMES];
};

struct encoding {
    const struct cw_trace_names *names;
    struct cw_writer *out;
    struct cw_trace_size *size;
    uint64_t end, called; /* of the item before; when the call of the one before that has a call began */
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

static void put_item(struct encoding *e, const struct cw_trace_event *event, uint64_t end, uint32_t what)
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

static void put_group(struct encoding *e, struct group *g)
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

static void add(struct group *g, const struct cw_trace_event *event)
{
    if (!g->count)
        *g = (struct group){.first = *event, .end = event->start, .until = event->start};
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

void cw_trace_lane_encode(const struct cw_trace_lane *lane, const struct cw_trace_names *names, uint64_t origin,
                          uint64_t resolution, struct cw_writer *out, struct cw_trace_size *size)
{
    struct encoding e = {.names = names, .out = out, .size = size, .end = origin, .called = origin};
    struct group g = {.count = 0};
    for (uint32_t i = 0; i < lane->count; i++) {
        struct cw_trace_event event;
        lane->get(&event, lane->context, i);
        const bool tiny = event.end - event.start < resolution;
        if (g.count && (!tiny || event.end - g.first.start > resolution))
            put_group(&e, &g);
        if (tiny)
            add(&g, &event);
        else
            put_item(&e, &event, event.end, event.what);
    }
    put_group(&e, &g);
}

static uint64_t bytes_of(const struct cw_trace_lane *lanes, size_t count, const struct cw_trace_names *names,
                         uint64_t origin, uint64_t resolution)
{
    struct cw_trace_size size = {0};
    for (size_t i = 0; i < count; i++)
        cw_trace_lane_encode(&lanes[i], names, origin, resolution, NULL, &size);
    return size.bytes;
}

uint64_t cw_trace_lanes_fit(const struct cw_trace_lane *lanes, size_t count, const struct cw_trace_names *names,
                            uint64_t origin, uint64_t span, uint64_t most)
{
    if (bytes_of(lanes, count, names, origin, 0) <= most)
        return 0;
    uint64_t high = 128; /* ns: nothing that runs on a GPU is as short */
    while (high < span && bytes_of(lanes, count, names, origin, high) > most)
        high *= 2;
    uint64_t low = high / 2;
    for (int step = 0; step < 3; step++) {
        const uint64_t middle = low + (high - low) / 2;
        if (bytes_of(lanes, count, names, origin, middle) > most)
            low = middle;
        else
            high = middle;
    }
    return high;
}
