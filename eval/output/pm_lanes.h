/* PM samples as counters, and the launches beside them, among the lanes of their capture's trace. */
#ifndef CW_EVAL_OUTPUT_PM_LANES_H
#define CW_EVAL_OUTPUT_PM_LANES_H

#include "eval/output/timeline_lanes.h"
#include "eval/result.h"

/* `result`: of samples, evaluated; the timeline is of the same capture, which is loaded. Unknown values become no
 * points. CW_ERR_UNSUPPORTED if the times of a device are not the wall clock's, or if the capture has no process. Texts
 * live in `arena`. */
enum cw_status cw_pm_write_lanes(const struct cw_result *result, const struct cw_timeline *timeline,
                                 const struct cw_lane_format *format, void *state, uint64_t *crowded,
                                 struct cw_arena *arena, struct cw_error *err);

#endif
