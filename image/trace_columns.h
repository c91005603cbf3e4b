/* Stores columns of numbers in few bytes, for rows of a trace. See docs/formats.md, "Columns of a trace". */
#ifndef CW_IMAGE_TRACE_COLUMNS_H
#define CW_IMAGE_TRACE_COLUMNS_H

#include <stdbool.h>

#include "base/bytes.h"

/* Appends `count` (> 0) numbers in the shortest form. `before` is the column before this one, or NULL. */
void cw_column_write(struct cw_writer *out, const uint64_t *values, uint32_t count, const uint64_t *before);
/* Appends the numbers as they are, 8 bytes each, which takes the least time; a single number if all are equal and
 * `shorter` allows it. */
void cw_column_write_plain(struct cw_writer *out, const uint64_t *values, uint32_t count, bool shorter);
/* Reads `count` numbers into `values`; all zero after a failure. */
void cw_column_read(struct cw_reader *in, uint64_t *values, uint32_t count, const uint64_t *before);

#endif
