/* Framing shared by both formats: a file header and checksummed chunks. See docs/formats.md. */
#ifndef CW_IMAGE_CHUNK_H
#define CW_IMAGE_CHUNK_H

#include "base/bytes.h"

enum { CW_FILE_HEADER_SIZE = 16, CW_CHUNK_HEADER_SIZE = 24, CW_CHUNK_OPTIONAL = 1 };
#define CW_CHUNK_TYPE(a, b, c, d) ((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)

struct cw_chunk_kind {
    const char *magic;     /* 8 bytes */
    uint16_t major, minor; /* version to write */
    const char *what;      /* "a config image", for messages */
    uint16_t newest;       /* newest major version that can be read */
};
extern const struct cw_chunk_kind cw_config_image_kind, cw_counter_data_kind;

void cw_chunk_write_header(struct cw_writer *out, const struct cw_chunk_kind *kind);

/* Starts a chunk in `out` and returns its start. The caller writes the fields; cw_chunk_end fills in length and
 * checksum. */
size_t cw_chunk_begin(struct cw_writer *out, uint32_t type, uint32_t flags);
void cw_chunk_end(struct cw_writer *out, size_t start);

/* A place identifies a chunk: the offset in the file, and in the bits above it the record number within a pack. */
enum { CW_PLACE_SHIFT = 48 };

struct cw_chunk {
    uint32_t type, flags;
    uint64_t offset; /* offset of the chunk header in the file; for a packed chunk, of the pack's header */
    uint64_t place;  /* place for cw_chunk_walk_seek */
    bool packed;     /* the payload comes from a pack, so its bytes are not in the file */
    const uint8_t *payload;
    size_t size;
};

enum cw_status cw_chunk_check_header(struct cw_reader *file, const struct cw_chunk_kind *kind);

/* Reads the chunk at the reader's position and verifies its checksum. At the end of the data `*found` is false. A file
 * that ends inside the chunk is an error if `truncated` is NULL; else it sets *truncated and *found = false. */
enum cw_status cw_chunk_next(struct cw_reader *file, struct cw_chunk *chunk, bool *found, bool *truncated);

/* Opens a reader over the chunk's payload, and finishes it: succeeds only if nothing failed and every byte was read. */
void cw_chunk_open(const struct cw_reader *file, const struct cw_chunk *chunk, struct cw_reader *payload);
enum cw_status cw_chunk_finish(struct cw_reader *payload, const struct cw_chunk *chunk);

/* Writes "PLAN" for a type, printable for any bytes. Returns `text` (5 bytes). */
const char *cw_chunk_type_text(uint32_t type, char text[5]);

#endif
