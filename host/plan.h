/* Plans: turns metric names into a config image. Metrics -> counters -> raw counters -> passes. */
#ifndef CW_HOST_PLAN_H
#define CW_HOST_PLAN_H

#include "image/config_image.h"
#include "metricdb/chip.h"

struct cw_plan {
    struct cw_config_image image;
    uint32_t bound; /* lower bound: no plan for these metrics has fewer passes */
    uint64_t steps; /* cost of making the plan: placements tried, roughly */
    uint32_t metric_count;
    struct cw_plan_metric {
        const char *name;
        uint32_t value_count;         /* number of values: one, for a throughput one for each constituent */
        const struct cw_list *values; /* raw counters of each value, as indices into the image's */
        /* set by cw_plan_explain: */
        uint32_t pass_count; /* passes with counters of this metric, ascending */
        const uint32_t *passes;
        bool whole; /* every value has a pass with all its raw counters */
    } * metrics;
};

struct cw_plan_options {
    enum cw_profiler profiler;
    bool quick; /* minimize the time to set up and read passes, not their number */
    bool whole; /* give every value that fits one pass such a pass; raw counters may stand in several passes */
    size_t together_count;
    const struct cw_names {
        size_t count;
        const char *const *items;
    } * together; /* metrics of the plan whose counters are to share a pass */
};

/* Plans `count` metrics by full names; repeated names count once. Everything lives in `arena`; strings of `chip` are
 * borrowed. CW_ERR_USAGE for an unknown name or an empty list. CW_ERR_UNSUPPORTED if a metric cannot be collected, or
 * if metrics cannot be kept together. */
enum cw_status cw_plan_make(struct cw_plan *plan, const struct cw_chip *chip, const char *const *metrics, size_t count,
                            const struct cw_plan_options *options, struct cw_arena *arena, struct cw_error *err);

/* Counts the passes that some metrics need. Keeps together only metrics of the options that are among them. Leaves
 * nothing in memory. `steps` gets the cost and may be NULL. */
enum cw_status cw_plan_passes(uint32_t *passes, uint64_t *steps, const struct cw_chip *chip, const char *const *metrics,
                              size_t count, const struct cw_plan_options *options, struct cw_error *err);

/* Chooses metrics that fit in `most` passes: kept[i]. Takes them in their order and leaves out each one that would need
 * another pass. */
enum cw_status cw_plan_choose(bool *kept, const struct cw_chip *chip, const char *const *metrics, size_t count,
                              uint32_t most, const struct cw_plan_options *options, struct cw_error *err);

struct cw_plan_savings {
    uint32_t count, weighed; /* count: metrics that save passes; weighed: metrics for which the saving is known */
    uint64_t steps;          /* cost of weighing */
    struct cw_plan_saving {
        uint32_t metric, passes; /* passes: upper bound for the plan without the metric */
    } * items;                   /* sorted by passes */
};

/* Estimates the passes saved by leaving out one metric. The work is limited to some milliseconds or the cost of the
 * plan itself, so for a large plan the saving is known for some metrics only. */
enum cw_status cw_plan_weigh(struct cw_plan_savings *savings, const struct cw_plan *plan, const struct cw_chip *chip,
                             const struct cw_plan_options *options, struct cw_arena *arena, struct cw_error *err);

/* Counts, for each domain of the plan's image, the passes that its counters alone need. */
enum cw_status cw_plan_loads(uint32_t *loads, const struct cw_plan *plan, const struct cw_chip *chip,
                             struct cw_arena *arena, struct cw_error *err);

/* Fills in passes and wholeness of each metric from the image's current passes, which may have been split since
 * planning. */
enum cw_status cw_plan_explain(struct cw_plan *plan, struct cw_arena *arena, struct cw_error *err);

#endif
