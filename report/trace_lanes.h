/* The lanes of a trace, in groups: one for each device of a process, and one for each thread. */
#ifndef CW_REPORT_TRACE_LANES_H
#define CW_REPORT_TRACE_LANES_H

#include "base/arena.h"
#include "report/trace_items.h"

struct cw_report_lanes;

struct cw_report_lanes_group {
    char *title;
    uint32_t process, device; /* device: index into the file's, CW_NO_TRACE_DEVICE: not known */
    bool is_device, listed, has_ranges; /* has_ranges: of NVTX */
    uint64_t weight; /* events */
};

struct cw_report_lanes_lane {
    const struct cw_report_lanes *lanes;
    const char *kind; /* "gpu", "calls", "waits", "nvtx", "marks" */
    char *title;
    uint32_t group;
    const uint32_t *order; /* events of the lane; NULL: first, first + 1... */
    uint32_t first, count;
    uint8_t list; /* which of the timeline's lists they are in */
};

struct cw_report_lanes {
    const struct cw_timeline *timeline;
    struct cw_trace_names names;
    uint32_t group_count, lane_count, lanes_left; /* left: those of fewest events, of too many */
    struct cw_report_lanes_group *groups;
    struct cw_report_lanes_lane *lanes;
    struct cw_trace_lane *encoded; /* for cw_trace_lane_encode */
    uint32_t *thread_lanes;        /* [thread]: lane of its calls, or CW_TIMELINE_NONE */
    uint32_t *whats[5];            /* by list: [event]: index of names */
    uint64_t events;
};

/* All that it makes lives in the arena, except for names. CW_ERR_NOMEM alone. To be freed in any case. */
enum cw_status cw_report_lanes_make(struct cw_report_lanes *lanes, const struct cw_timeline *timeline,
                                    struct cw_arena *arena, struct cw_error *err);
void cw_report_lanes_free(struct cw_report_lanes *lanes);

#endif
