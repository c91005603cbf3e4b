/* The 'classes' and 'limits' sections of a chip file: what one pass can hold (data/schema.md).
 *
 * Internal to metricdb: metricdb/chip.c calls it once domains and raw counters are loaded. */
#ifndef CW_METRICDB_LIMITS_H
#define CW_METRICDB_LIMITS_H

#include "metricdb/chip.h"
#include "metricdb/yaml.h"

/* Fills chip->limits from both sections; either may be NULL, which means that the file has none. Failures are in
 * `in->status`. */
void cw_limits_load(struct cw_chip *chip, struct cw_yaml_reader *in, const struct cw_yaml *classes,
                    const struct cw_yaml *limits);

#endif
