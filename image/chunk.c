#include "image/chunk.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/file.h"

const struct cw_chunk_kind cw_config_image_kind = {CW_FILE_HEAD_PLAN, 1, 0, "a config image", 1};
const struct cw_chunk_kind cw_counter_data_kind = {CW_FILE_HEAD_CAPTURE, 1, 0, "counter data", 2};

void cw_chunk_write_header(struct cw_writer *out, const struct cw_chunk_kind *kind)
{
    cw_write_bytes(out, kind->magic, 8);
    cw_write_u16(out, kind->major);
    cw_write_u16(out, kind->minor);
    cw_write_u32(out, 0);
}

static uint64_t checksum(const uint8_t *head, const uint8_t *payload, size_t size)
{
    XXH3_state_t state;
    XXH3_64bits_reset(&state);
    XXH3_64bits_update(&state, head, 16);
    XXH3_64bits_update(&state, payload, size);
    return XXH3_64bits_digest(&state);
}

size_t cw_chunk_begin(struct cw_writer *out, uint32_t type, uint32_t flags)
{
    size_t start = out->size;
    cw_write_u32(out, type);
    cw_write_u32(out, flags);
    cw_write_u64(out, 0);
    cw_write_u64(out, 0);
    return start;
}

void cw_chunk_end(struct cw_writer *out, size_t start)
{
    if (out->status != CW_OK)
        return;
    uint8_t *head = out->data + start;
    size_t size = out->size - start - CW_CHUNK_HEADER_SIZE;
    cw_store_u64(head + 8, size);
    cw_store_u64(head + 16, checksum(head, head + CW_CHUNK_HEADER_SIZE, size));
}

/* Refuses a file of another kind and names the kind that it seems to be. */
static enum cw_status refuse_magic(struct cw_reader *file, const struct cw_chunk_kind *kind)
{
    bool config = kind == &cw_config_image_kind;
    const struct cw_chunk_kind *other = config ? &cw_counter_data_kind : &cw_config_image_kind;
    size_t known = file->size < 8 ? file->size : 8;
    if (known > 0 && memcmp(file->data, kind->magic, known) == 0)
        return cw_reader_fail(file, "found a file of %zu bytes, expected %s with a header of %d", file->size,
                              kind->what, CW_FILE_HEADER_SIZE);
    bool swapped = known == 8 && memcmp(file->data, other->magic, 8) == 0;
    if (!file->size && strcmp(file->source, "-") == 0)
        return cw_reader_fail(file, "found nothing on standard input, which can be read once, expected %s", kind->what);
    return cw_reader_fail(file, "found %s, expected %s",
                          swapped       ? other->what
                          : !file->size ? "an empty file"
                                        : "another kind of file",
                          kind->what);
}

enum cw_status cw_chunk_check_header(struct cw_reader *file, const struct cw_chunk_kind *kind)
{
    if (file->size < CW_FILE_HEADER_SIZE || memcmp(file->data, kind->magic, 8) != 0)
        return refuse_magic(file, kind);
    file->pos = 8;
    uint16_t major = cw_read_u16(file);
    if (major < 1 || major > kind->newest)
        return cw_reader_fail_at(file, 8, "found %s version %u, expected version %s", kind->what, major,
                                 kind->newest == 1 ? "1" : "1 or 2");
    cw_read_u16(file);
    if (cw_read_u32(file) != 0)
        return cw_reader_fail_at(file, 12, "found a reserved header field in use, expected 0");
    return file->status;
}

enum cw_status cw_chunk_next(struct cw_reader *file, struct cw_chunk *chunk, bool *found, bool *truncated)
{
    *found = false;
    if (file->status != CW_OK || file->pos == file->size)
        return file->status;
    size_t left = file->size - file->pos, start = file->pos;
    uint64_t length = 0;
    if (left >= CW_CHUNK_HEADER_SIZE) {
        chunk->offset = chunk->place = file->base + start;
        chunk->packed = false;
        chunk->type = cw_read_u32(file);
        chunk->flags = cw_read_u32(file);
        length = cw_read_u64(file);
        if (chunk->flags & ~(uint32_t)CW_CHUNK_OPTIONAL)
            return cw_reader_fail_at(file, start + 4, "found chunk flags 0x%x, expected 0 or 1", chunk->flags);
    }
    if (left < CW_CHUNK_HEADER_SIZE || length > left - CW_CHUNK_HEADER_SIZE) {
        file->pos = start;
        if (truncated) {
            *truncated = true;
            return CW_OK;
        }
        return cw_reader_fail(file, "the file ends inside a chunk");
    }
    uint64_t stored = cw_read_u64(file);
    chunk->size = (size_t)length;
    chunk->payload = cw_read_bytes(file, chunk->size);
    char text[5];
    if (checksum(file->data + start, chunk->payload, chunk->size) != stored)
        return cw_reader_fail_at(file, start, "found a damaged chunk %s, its checksum does not match",
                                 cw_chunk_type_text(chunk->type, text));
    *found = true;
    return CW_OK;
}

void cw_chunk_open(const struct cw_reader *file, const struct cw_chunk *chunk, struct cw_reader *payload)
{
    cw_reader_init(payload, chunk->payload, chunk->size, file->source, chunk->offset + CW_CHUNK_HEADER_SIZE, file->err);
    payload->elsewhere = chunk->packed;
}

enum cw_status cw_chunk_finish(struct cw_reader *payload, const struct cw_chunk *chunk)
{
    char text[5], what[16] = "chunk ";
    strcat(what, cw_chunk_type_text(chunk->type, text));
    return cw_reader_finish(payload, what);
}

const char *cw_chunk_type_text(uint32_t type, char text[5])
{
    for (int i = 0; i < 4; i++) {
        uint8_t c = (uint8_t)(type >> (8 * i));
        text[i] = c >= 0x20 && c < 0x7f ? (char)c : '?';
    }
    text[4] = 0;
    return text;
}
