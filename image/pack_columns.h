/* Writes the fields of similar records as short columns of a PACK chunk. */
#ifndef CW_IMAGE_PACK_COLUMNS_H
#define CW_IMAGE_PACK_COLUMNS_H

#include "image/pack.h"

/* Appends a column for each field of `count` rows, whose numbers begin at numbers[firsts[row]]: f64 as their bits,
 * texts as their index. False when out of memory. */
bool cw_pack_write_columns(struct cw_writer *out, const uint64_t *numbers, const size_t *firsts, uint32_t count,
                           const uint8_t *kinds, uint32_t fields);
/* Appends a column of whole numbers that depends on no other. */
void cw_pack_write_numbers(struct cw_writer *out, const uint64_t *numbers, uint32_t count);

#endif
