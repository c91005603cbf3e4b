/* The lanes of a trace: a process for each that was traced, in it its threads with their calls and NVTX ranges, each
 * GPU with its streams and counters, and what kept the process waiting. */
#ifndef CW_EVAL_OUTPUT_TIMELINE_LANES_H
#define CW_EVAL_OUTPUT_TIMELINE_LANES_H

#include "eval/output/lane_places.h"
#include "eval/timeline/timeline.h"

struct cw_timeline_lanes_told {
    uint64_t crowded; /* events that are instants, as too many others were at their time */
    uint64_t untimed; /* events without a time, which are in no lane */
};

/* Lanes and sources of more events. */
struct cw_lane_more {
    void *context;
    enum cw_status (*add)(void *context, struct cw_lane_places *places, struct cw_error *err);
};

/* `more` may be NULL. Texts live in `arena`. */
enum cw_status cw_timeline_write_lanes(const struct cw_timeline *timeline, const struct cw_lane_more *more,
                                       const struct cw_lane_format *format, void *state,
                                       struct cw_timeline_lanes_told *told, struct cw_arena *arena,
                                       struct cw_error *err);

#endif
