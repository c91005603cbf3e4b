/* What a trace has beside what ran on GPUs, calls, waits and NVTX: counters of GPUs and of memory, and rows of other
 * kinds, each with its fields as it is. */
#ifndef CW_EVAL_OUTPUT_LANE_ROWS_H
#define CW_EVAL_OUTPUT_LANE_ROWS_H

#include "eval/output/lane_places.h"

struct cw_lane_rows {
    struct cw_lane_places *places;
    struct cw_lane_point *points; /* of counters, by time */
    struct cw_lane_row *rows;     /* by start */
    uint64_t *values;             /* of their fields */
    size_t point_count, point_room, row_count, row_room, value_count, value_room;
    struct cw_lane_note notes[CW_TRACE_KIND_FIELDS_MAX];
};

/* Adds their lanes and sources. To be freed behind the lanes, also after a failure. CW_ERR_NOMEM, or what is wrong with
 * a block. */
enum cw_status cw_lane_rows_add(struct cw_lane_rows *rows, struct cw_lane_places *places, struct cw_error *err);
void cw_lane_rows_free(struct cw_lane_rows *rows);

#endif
