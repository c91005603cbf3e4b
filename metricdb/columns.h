/* Packs columns of numbers: most columns of a chip's tables repeat a value or count up.
 *
 * A column is a sequence of runs. A run is a varint, 4 * length + kind, and the content of the kind:
 *
 *     0 same      one difference: the value that is repeated
 *     1 rising    one difference: the first of values that rise by 1
 *     2 plain     a difference for each value
 *     3 words     each value as it is, in two bytes
 *
 * A difference is from the value before (0 at the start), modulo 2^32, as a varint with the sign in bit 0. */
#ifndef CW_METRICDB_COLUMNS_H
#define CW_METRICDB_COLUMNS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"

enum { CW_COLUMN_VERSION = 2 };

void cw_column_put_varint(struct cw_writer *out, uint32_t value);
void cw_column_put(struct cw_writer *out, const uint32_t *values, size_t count);

/* Reads from `at` to `end` and never beyond. Sticky: yields 0 after a failure. */
struct cw_column_reader {
    const uint8_t *at, *end;
    bool bad;
};
uint32_t cw_column_varint(struct cw_column_reader *in);
/* Reads `count` values; each must be below `below`. */
void cw_column_get(struct cw_column_reader *in, uint32_t *values, size_t count, uint64_t below);

#endif
