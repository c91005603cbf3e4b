/* Loads the sections 'classes', 'limits' and 'pm_limits' of a chip file: the limits of one pass (data/schema.md).
 *
 * Internal to metricdb: metricdb/chip_load.c calls it once domains and raw counters are loaded. */
#ifndef CW_METRICDB_LIMITS_H
#define CW_METRICDB_LIMITS_H

#include "metricdb/chip.h"
#include "metricdb/yaml.h"

struct cw_limit_names {
    uint32_t count;
    /* Names for limits: all domains, with all their placements, then the classes in the order of the file. */
    const struct cw_limit_name {
        const char *name;
        struct cw_list placements;
    } * items;
};

/* Fills in the chip's limits. A section is NULL if the file does not have it; without 'pm_limits', sampling has the
 * limits of range profiling. `names` may be NULL. Failures are in `in->status`. */
void cw_limits_load(struct cw_chip *chip, struct cw_limit_names *names, struct cw_yaml_reader *in,
                    const struct cw_yaml *classes, const struct cw_yaml *limits, const struct cw_yaml *pm_limits);

#endif
