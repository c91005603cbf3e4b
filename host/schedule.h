/* From raw counters to passes, by the limits of the chip's database alone (no NVIDIA software needed).
 *
 * A group is a set of raw counters that should be collected together because one value is computed from them. Every
 * raw counter of every group stands in a pass; groups are kept in one pass where the limits allow. */
#ifndef CW_HOST_SCHEDULE_H
#define CW_HOST_SCHEDULE_H

#include "image/config_image.h"
#include "metricdb/chip.h"

struct cw_pass {
    uint32_t count;
    const uint32_t *placements; /* indices into the chip's placements, ascending by raw counter */
};

struct cw_schedule {
    uint32_t bound; /* no schedule of these raw counters has fewer passes */
    uint32_t pass_count;
    const struct cw_pass *passes;
    uint64_t steps; /* placements tried, about: what it cost to make */
};

/* Without flags (--prefer passes) a schedule has the fewest passes, and raw counters stand in several of them where
 * that keeps more groups together. */
enum cw_schedule_flags {
    /* Each group that fits one pass has a pass with all of it, if need be by more passes. */
    CW_SCHEDULE_WHOLE = 1,
    /* The least time to set passes up and to read them, by the chip's pass costs, rather than the fewest passes; each
     * raw counter stands in one, unless the schedule is WHOLE too. */
    CW_SCHEDULE_QUICK = 2,
};

struct cw_schedule_task {
    const struct cw_chip *chip;
    enum cw_profiler profiler; /* whose limits every pass keeps: of range profiling or of PM sampling */
    size_t group_count;
    const struct cw_list *groups; /* of raw counters; they may overlap */
    unsigned flags;               /* a sum of the above */
};

/* The limits that a pass of a profiler keeps. */
struct cw_limits cw_schedule_limits(const struct cw_chip *chip, enum cw_profiler profiler);

/* Deterministic. CW_ERR_UNSUPPORTED for a raw counter that no domain collects. `schedule` lives in `arena`. */
enum cw_status cw_schedule_make(struct cw_schedule *schedule, const struct cw_schedule_task *task,
                                struct cw_arena *arena, struct cw_error *err);

#endif
