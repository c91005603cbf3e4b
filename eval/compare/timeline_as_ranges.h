/* A trace as a capture of ranges without counters, for all code that compares captures. */
#ifndef CW_EVAL_COMPARE_TIMELINE_AS_RANGES_H
#define CW_EVAL_COMPARE_TIMELINE_AS_RANGES_H

#include "eval/timeline/groups.h"
#include "metricdb/chip.h"

/* The chip of captures without counters. */
extern const struct cw_chip cw_timeline_no_chip;

/* Makes a range for each item on a GPU: kernels by name and shape, copies by direction and kinds of memory, all whole
 * graphs alike; only items of `keep`, which may be NULL. The attribute `nvtx` is the path of the NVTX ranges around the
 * launch. With `patterns`, stars take the place of its numbers; without, a range may have the path of another range of
 * its kernel and shape. The rest is timeline->data's. Lives in `arena` and timeline->large. CW_ERR_NOMEM alone. */
enum cw_status cw_timeline_as_ranges(struct cw_counter_data *data, const struct cw_timeline *timeline, bool patterns,
                                     const struct cw_timeline_keep *keep, struct cw_arena *arena, struct cw_error *err);
/* Makes a range for each NVTX range, from its opening to its end, by its path with stars for numbers. */
enum cw_status cw_timeline_nvtx_as_ranges(struct cw_counter_data *data, const struct cw_timeline *timeline,
                                          const struct cw_timeline_keep *keep, struct cw_arena *arena,
                                          struct cw_error *err);

#endif
