/* A trace as a capture of ranges without counters, for all that compares captures. */
#ifndef CW_EVAL_COMPARE_TIMELINE_AS_RANGES_H
#define CW_EVAL_COMPARE_TIMELINE_AS_RANGES_H

#include "eval/timeline/groups.h"
#include "metricdb/chip.h"

/* Whose counters captures without any have. */
extern const struct cw_chip cw_timeline_no_chip;

/* A range for all that ran on a GPU: kernels by name and shape, copies by direction and kinds of memory, whole graphs
 * as one; of `keep`, which may be NULL. Their attribute `nvtx` is the path of the NVTX ranges around their launch; with
 * `patterns` its numbers are stars; without them ranges of one kernel and shape may have the path of another of these.
 * All else is that of timeline->data. In `arena` and timeline->large. CW_ERR_NOMEM alone. */
enum cw_status cw_timeline_as_ranges(struct cw_counter_data *data, const struct cw_timeline *timeline, bool patterns,
                                     const struct cw_timeline_keep *keep, struct cw_arena *arena, struct cw_error *err);
/* A range for each NVTX range, by its path with stars for numbers, from where it was opened to its end. */
enum cw_status cw_timeline_nvtx_as_ranges(struct cw_counter_data *data, const struct cw_timeline *timeline,
                                          const struct cw_timeline_keep *keep, struct cw_arena *arena,
                                          struct cw_error *err);

#endif
