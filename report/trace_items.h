/* Events of a trace as the page has them: bytes for each lane.
 *
 * Where there are too many for the page, those that are shorter than `resolution` are drawn with their neighbours, as
 * long as these lie within that time: one item then stands for `count` events, and has the name that takes most of its
 * time.
 *
 * Items are in the order of their starts, numbers are varints (docs/formats.md, Traces):
 *   what * 8 + bits
 *   start, less the end of the item before, zigzag; length
 *   bit 0: how many events; time in which one of them ran
 *   bit 1: the lane of the call that launched it; when that began, less the same of the last item that has it, zigzag
 *   bit 2: a value: bytes of copies and memsets */
#ifndef CW_REPORT_TRACE_ITEMS_H
#define CW_REPORT_TRACE_ITEMS_H

#include "base/bytes.h"
#include "report/trace_names.h"

struct cw_trace_event {
    uint64_t start, end;
    uint32_t what;       /* index of struct cw_trace_names */
    uint32_t lane;       /* of the call, or CW_TIMELINE_NONE */
    uint64_t call_start; /* its start */
    uint64_t value;      /* CW_TRACE_UNKNOWN: none */
};

/* The event of a lane, 0 to count - 1, as they began. */
typedef void cw_trace_event_get(struct cw_trace_event *event, const void *context, uint32_t i);

struct cw_trace_lane {
    cw_trace_event_get *get;
    const void *context;
    uint32_t count;
};

struct cw_trace_size {
    uint64_t bytes, items, grouped; /* grouped: events that are drawn with others */
};

/* Encodes a lane, whose first time is `origin`, and adds to `size`. `out` may be NULL: it is measured alone. */
void cw_trace_lane_encode(const struct cw_trace_lane *lane, const struct cw_trace_names *names, uint64_t origin,
                          uint64_t resolution, struct cw_writer *out, struct cw_trace_size *size);
/* The least resolution with which lanes fit into `most` bytes; 0: all events fit. */
uint64_t cw_trace_lanes_fit(const struct cw_trace_lane *lanes, size_t count, const struct cw_trace_names *names,
                            uint64_t origin, uint64_t span, uint64_t most);

#endif
