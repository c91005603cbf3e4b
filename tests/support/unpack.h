/* What a file of packed chunks holds. */
#ifndef CW_TESTS_UNPACK_H
#define CW_TESTS_UNPACK_H

#include <stdbool.h>

#include "base/bytes.h"

/* Appends the file with the chunks of each PACK instead of it, and with the version that it has without. *packs: how
 * many there were. False where it does not read. */
bool cw_unpack(struct cw_writer *out, const void *file, size_t size, size_t *packs);

#endif
