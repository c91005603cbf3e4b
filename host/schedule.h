/* Schedules raw counters into passes by the limits in the chip's database alone (no NVIDIA software needed).
 *
 * A group is a set of raw counters to collect together, because one value is computed from them. The schedule puts
 * every raw counter of every group into a pass and keeps groups in one pass if the limits allow. */
#ifndef CW_HOST_SCHEDULE_H
#define CW_HOST_SCHEDULE_H

#include "host/schedule_packing.h"
#include "host/schedule_search.h"
#include "image/config_image.h"
#include "metricdb/chip.h"

struct cw_schedule {
    uint32_t bound; /* lower bound: no schedule of these raw counters has fewer passes */
    uint32_t pass_count;
    const struct cw_pass {
        uint32_t count;
        const uint32_t *placements; /* indices into the chip's placements, ascending by raw counter */
    } * passes;
    uint64_t steps; /* cost of making it: placements tried, roughly */
};

/* Without flags (--prefer passes) a schedule has the fewest passes; raw counters stand in several passes if that keeps
 * more groups together. */
enum cw_schedule_flags {
    /* Gives each group that fits one pass a pass with all of it, with more passes if needed. */
    CW_SCHEDULE_WHOLE = 1,
    /* Minimizes the time to set up and read passes, by the chip's pass costs, rather than their number; each raw
     * counter stands in one pass, unless the schedule is WHOLE too. */
    CW_SCHEDULE_QUICK = 2,
};

struct cw_schedule_task {
    const struct cw_chip *chip;
    enum cw_profiler profiler; /* every pass keeps its limits: range profiling or PM sampling */
    size_t group_count;
    const struct cw_list *groups; /* groups of raw counters; they may overlap */
    unsigned flags;               /* sum of cw_schedule_flags */
};

/* Returns the limits on a pass of a profiler. */
struct cw_limits cw_schedule_limits(const struct cw_chip *chip, enum cw_profiler profiler);

/* Makes a schedule, deterministically, in `arena`. CW_ERR_UNSUPPORTED for a raw counter that no domain collects. */
enum cw_status cw_schedule_make(struct cw_schedule *schedule, const struct cw_schedule_task *task,
                                struct cw_arena *arena, struct cw_error *err);

/* All three are deterministic and fail with CW_ERR_NOMEM only, unless noted. */

#endif
