/* The lanes of a trace: each traced process has its threads with their calls and NVTX ranges, its GPUs with their
 * streams and counters, and its waits. */
#ifndef CW_EVAL_OUTPUT_TIMELINE_LANES_H
#define CW_EVAL_OUTPUT_TIMELINE_LANES_H

#include "eval/output/lane_places.h"
#include "eval/timeline/timeline.h"

/* Adds lanes and sources of more events. */
typedef enum cw_status cw_lanes_more(void *context, struct cw_lane_places *places, struct cw_error *err);

/* `more` may be NULL. *crowded: events that became instants, as too many others were at their time. Events without a
 * time are in no lane (`untimed` of the timeline counts them). Texts live in `arena`. */
enum cw_status cw_timeline_write_lanes(const struct cw_timeline *timeline, cw_lanes_more *more, void *context,
                                       const struct cw_lane_format *format, void *state, uint64_t *crowded,
                                       struct cw_arena *arena, struct cw_error *err);

#endif
