/* From metric names to a config image: metrics -> counters -> raw counters -> passes. */
#ifndef CW_HOST_PLAN_H
#define CW_HOST_PLAN_H

#include "host/image/config_image.h"
#include "metricdb/chip.h"

struct cw_plan_metric {
    const char *name;
    uint32_t value_count; /* a metric is computed from one value, a throughput from one for each constituent */
    const struct cw_list *values; /* the raw counters of each, as indices into the image's */
    /* from cw_plan_explain */
    uint32_t pass_count; /* the passes that hold counters of this metric, ascending */
    const uint32_t *passes;
    bool whole; /* each value has a pass with all its raw counters */
};

struct cw_plan {
    struct cw_config_image image;
    uint32_t metric_count;
    struct cw_plan_metric *metrics;
};

/* Plans `count` metrics by full names; repeated names count once. Everything lives in `arena`; strings of `chip` are
 * borrowed. CW_ERR_USAGE for an unknown name or an empty list, CW_ERR_UNSUPPORTED for one that cannot be collected. */
enum cw_status cw_plan_make(struct cw_plan *plan, const struct cw_chip *chip, const char *const *metrics, size_t count,
                            enum cw_profiler profiler, struct cw_arena *arena, struct cw_error *err);

/* Fills in what each metric got, from the passes that the image has now (they may have been split since). */
enum cw_status cw_plan_explain(struct cw_plan *plan, struct cw_arena *arena, struct cw_error *err);

#endif
