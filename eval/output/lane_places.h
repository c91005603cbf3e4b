/* Finds the lane of a device, stream, counter or kind of a trace, for the files that fill lanes. */
#ifndef CW_EVAL_OUTPUT_LANE_PLACES_H
#define CW_EVAL_OUTPUT_LANE_PLACES_H

#include "eval/keys.h"
#include "eval/output/lanes.h"
#include "eval/timeline/timeline.h"

struct cw_lane_places {
    const struct cw_timeline *timeline;
    struct cw_lanes *lanes;
    struct cw_arena *arena;
    uint32_t *processes; /* the lane of each process */
    int32_t *pids;       /* its number for viewers, which is unique */
    struct cw_keys keys; /* of lanes in processes: process, device, enum cw_lane_place, number */
    uint32_t *of_key;    /* [key]: its lane */
    size_t room;
    bool nomem;
};

/* Adds the lanes of all processes. To be freed also after a failure, which sets `nomem`. */
void cw_lane_places_begin(struct cw_lane_places *places, const struct cw_timeline *timeline, struct cw_lanes *lanes,
                          struct cw_arena *arena);
void cw_lane_places_free(struct cw_lane_places *places);

/* The lane of a key: of a process, and of one of its devices unless the key's device is CW_NO_TRACE_DEVICE. A lane that
 * is not there yet is added as a copy of `lane`, with `detail` (or NULL) behind its name and its parent found here. */
enum cw_lane_place {
    CW_PLACE_DEVICE,
    CW_PLACE_STREAM,
    CW_PLACE_COUNTER,
    CW_PLACE_MEMORY,
    CW_PLACE_KIND,
    CW_PLACE_METRIC,
    CW_PLACE_LAUNCHES
};
uint32_t cw_lane_place(struct cw_lane_places *places, const struct cw_key *key, const struct cw_lane *lane,
                       const char *detail);
/* "GPU 0" */
const char *cw_lane_device_name(struct cw_lane_places *places, uint32_t device);

#endif
