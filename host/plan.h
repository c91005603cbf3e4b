/* From metric names to a config image: metrics -> counters -> raw counters -> passes. */
#ifndef CW_HOST_PLAN_H
#define CW_HOST_PLAN_H

#include "image/config_image.h"
#include "metricdb/chip.h"

struct cw_plan_metric {
    const char *name;
    uint32_t value_count;         /* a metric is computed from one value, a throughput from one for each constituent */
    const struct cw_list *values; /* the raw counters of each, as indices into the image's */
    /* from cw_plan_explain */
    uint32_t pass_count; /* the passes that hold counters of this metric, ascending */
    const uint32_t *passes;
    bool whole; /* each value has a pass with all its raw counters */
};

struct cw_plan {
    struct cw_config_image image;
    uint32_t bound; /* no plan for these metrics has fewer passes */
    uint64_t steps; /* placements tried, about: what it cost to make */
    uint32_t metric_count;
    struct cw_plan_metric *metrics;
};

struct cw_names {
    size_t count;
    const char *const *items;
};

struct cw_plan_options {
    enum cw_profiler profiler;
    bool quick; /* the least time to set passes up and to read them, rather than the fewest passes */
    bool whole; /* raw counters may stand in several passes, so that every value that fits one pass has one */
    size_t together_count;
    const struct cw_names *together; /* metrics of the plan, all counters of which are to share a pass */
};

/* Plans `count` metrics by full names; repeated names count once. Everything lives in `arena`; strings of `chip` are
 * borrowed. CW_ERR_USAGE for an unknown name or an empty list, CW_ERR_UNSUPPORTED for one that cannot be collected, or
 * for metrics that cannot be kept together. */
enum cw_status cw_plan_make(struct cw_plan *plan, const struct cw_chip *chip, const char *const *metrics, size_t count,
                            const struct cw_plan_options *options, struct cw_arena *arena, struct cw_error *err);

/* How many passes some metrics need; only the options' metrics that are among them are kept together. Leaves nothing
 * behind. `steps`, which may be NULL: what it cost. */
enum cw_status cw_plan_passes(uint32_t *passes, uint64_t *steps, const struct cw_chip *chip, const char *const *metrics,
                              size_t count, const struct cw_plan_options *options, struct cw_error *err);

/* Which of the metrics fit `most` passes: kept[i]. They are taken in their order, each that needs no pass too many. */
enum cw_status cw_plan_choose(bool *kept, const struct cw_chip *chip, const char *const *metrics, size_t count,
                              uint32_t most, const struct cw_plan_options *options, struct cw_error *err);

struct cw_plan_savings {
    uint32_t count, weighed; /* metrics that save passes; those of which it is known whether they do */
    uint64_t steps;          /* what that cost */
    struct cw_plan_saving {
        uint32_t metric, passes; /* how many the plan has without it, at most */
    } * items; /* by passes */
};

/* What it saves to leave out one metric. That costs some milliseconds, or as much as the plan did, so that of a large
 * plan it is known for some of the metrics only. */
enum cw_status cw_plan_weigh(struct cw_plan_savings *savings, const struct cw_plan *plan, const struct cw_chip *chip,
                             const struct cw_plan_options *options, struct cw_arena *arena, struct cw_error *err);

/* For each domain of the plan's image, how many passes its counters alone need. */
enum cw_status cw_plan_loads(uint32_t *loads, const struct cw_plan *plan, const struct cw_chip *chip,
                             struct cw_arena *arena, struct cw_error *err);

/* Fills in what each metric got, from the passes that the image has now (they may have been split since). */
enum cw_status cw_plan_explain(struct cw_plan *plan, struct cw_arena *arena, struct cw_error *err);

#endif
