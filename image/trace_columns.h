/* Columns of numbers in few bytes: how rows of a trace are stored. See docs/formats.md, "Columns of a trace". */
#ifndef CW_IMAGE_TRACE_COLUMNS_H
#define CW_IMAGE_TRACE_COLUMNS_H

#include <stdbool.h>

#include "base/bytes.h"

/* Appends `count` (> 0) numbers in the shortest form. `before` is the column before it, or NULL. */
void cw_column_write(struct cw_writer *out, const uint64_t *values, uint32_t count, const uint64_t *before);
/* The same as they are, 8 bytes each, which takes the least time; where all are equal and `shorter` allows it, one
 * number. */
void cw_column_write_plain(struct cw_writer *out, const uint64_t *values, uint32_t count, bool shorter);
/* Reads `count` numbers into `values`; all zero after a failure. */
void cw_column_read(struct cw_reader *in, uint64_t *values, uint32_t count, const uint64_t *before);

#endif
