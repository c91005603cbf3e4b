/* Writes a chip as the text of its YAML file: the inverse of cw_chip_parse. */
#ifndef CW_METRICDB_CHIP_WRITE_H
#define CW_METRICDB_CHIP_WRITE_H

#include "base/bytes.h"
#include "metricdb/chip.h"

/* Deterministic. `source` is a NULL-terminated list of lines with the origin of entries ("counters: imported from
 * ..."). */
void cw_chip_write(const struct cw_chip *chip, const char *const *source, struct cw_writer *out);

#endif
