/* Edits files of chunks, so that a test reaches what lies behind order and checksum. Works on the bytes alone, with
 * its own XXH3, and takes damaged files: it stops at the first chunk that does not fit. */
#ifndef CW_TESTS_CHUNK_EDIT_H
#define CW_TESTS_CHUNK_EDIT_H

#include <stdbool.h>

#include "base/bytes.h"

struct cw_edit_chunk {
    uint32_t type, flags;
    size_t offset, size; /* of the chunk's header; of its payload */
};

/* The chunk number `index`, from 0. False where there is none. */
bool cw_edit_find(const uint8_t *file, size_t size, size_t index, struct cw_edit_chunk *chunk);

/* Makes the checksum of every whole chunk right. */
void cw_edit_fix_checksums(uint8_t *file, size_t size);

/* Appends to `out` the file with a chunk put in front of chunk `index` (or at the end), or without chunk `index`, or
 * with another payload in it. */
void cw_edit_insert(struct cw_writer *out, const struct cw_writer *file, size_t index, const char *type, uint32_t flags,
                    const void *payload, size_t payload_size);
void cw_edit_remove(struct cw_writer *out, const struct cw_writer *file, size_t index);
void cw_edit_replace(struct cw_writer *out, const struct cw_writer *file, size_t index, const void *payload,
                     size_t payload_size);

#endif
