/* A chip as the text of its YAML file: the inverse of cw_chip_parse. */
#ifndef CW_METRICDB_CHIP_WRITE_H
#define CW_METRICDB_CHIP_WRITE_H

#include "base/bytes.h"
#include "metricdb/chip.h"

/* Deterministic. `source` has one line of provenance for each entry ("counters: imported from ..."), NULL-terminated.
 */
void cw_chip_write(const struct cw_chip *chip, const char *const *source, struct cw_writer *out);

#endif
