/* PM samples as counters, and the launches beside them, among the lanes of the trace that their capture has. */
#ifndef CW_EVAL_OUTPUT_PM_LANES_H
#define CW_EVAL_OUTPUT_PM_LANES_H

#include "eval/output/timeline_lanes.h"
#include "eval/result.h"

/* `result`: of samples, evaluated, whose capture is loaded and that of the timeline. Values that are not known are no
 * points. Times of a device whose clock is not the wall's are CW_ERR_UNSUPPORTED, and so is a capture without a
 * process. Texts live in `arena`. */
enum cw_status cw_pm_write_lanes(const struct cw_result *result, const struct cw_timeline *timeline,
                                 const struct cw_lane_format *format, void *state, uint64_t *crowded,
                                 struct cw_arena *arena, struct cw_error *err);

#endif
