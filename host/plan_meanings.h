/* What a plan's names stand for, so that captures can tell when a later database means something else by them. */
#ifndef CW_HOST_PLAN_MEANINGS_H
#define CW_HOST_PLAN_MEANINGS_H

#include "image/config_image.h"
#include "metricdb/metric.h"

/* Fills the image's meanings: of the metrics' base names and of all that those are computed from. */
enum cw_status cw_plan_meanings(struct cw_config_image *image, const struct cw_chip *chip,
                                const struct cw_metric *metrics, size_t count, struct cw_arena *arena,
                                struct cw_error *err);

#endif
