#include "tests/support/chunk_edit.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { FILE_HEADER = 16, CHUNK_HEADER = 24 };

static uint64_t load(const uint8_t *at, size_t size)
{
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++)
        value |= (uint64_t)at[i] << (8 * i);
    return value;
}

/* The chunk at `offset`, if all of it is there. */
static bool chunk_at(const uint8_t *file, size_t size, size_t offset, struct cw_edit_chunk *chunk)
{
    if (offset > size || size - offset < CHUNK_HEADER)
        return false;
    uint64_t length = load(file + offset + 8, 8);
    if (length > size - offset - CHUNK_HEADER)
        return false;
    chunk->type = (uint32_t)load(file + offset, 4);
    chunk->flags = (uint32_t)load(file + offset + 4, 4);
    chunk->offset = offset;
    chunk->size = (size_t)length;
    return true;
}

static size_t chunk_end(const struct cw_edit_chunk *chunk)
{
    return chunk->offset + CHUNK_HEADER + chunk->size;
}

bool cw_edit_find(const uint8_t *file, size_t size, size_t index, struct cw_edit_chunk *chunk)
{
    size_t offset = FILE_HEADER;
    for (size_t i = 0; chunk_at(file, size, offset, chunk); i++) {
        if (i == index)
            return true;
        offset = chunk_end(chunk);
    }
    return false;
}

static uint64_t checksum(const uint8_t *head, const uint8_t *payload, size_t size)
{
    XXH3_state_t state;
    XXH3_64bits_reset(&state);
    XXH3_64bits_update(&state, head, 16);
    XXH3_64bits_update(&state, payload, size);
    return XXH3_64bits_digest(&state);
}

void cw_edit_fix_checksums(uint8_t *file, size_t size)
{
    struct cw_edit_chunk chunk;
    for (size_t offset = FILE_HEADER; chunk_at(file, size, offset, &chunk); offset = chunk_end(&chunk)) {
        uint8_t *head = file + offset;
        cw_store_u64(head + 16, checksum(head, head + CHUNK_HEADER, chunk.size));
    }
}

static void write_chunk(struct cw_writer *out, uint32_t type, uint32_t flags, const void *payload, size_t size)
{
    uint8_t head[CHUNK_HEADER];
    cw_store_u32(head, type);
    cw_store_u32(head + 4, flags);
    cw_store_u64(head + 8, size);
    cw_store_u64(head + 16, checksum(head, payload ? payload : "", size));
    cw_write_bytes(out, head, sizeof head);
    cw_write_bytes(out, payload, size);
}

void cw_edit_insert(struct cw_writer *out, const struct cw_writer *file, size_t index, const char *type, uint32_t flags,
                    const void *payload, size_t payload_size)
{
    struct cw_edit_chunk chunk;
    size_t at = cw_edit_find(file->data, file->size, index, &chunk) ? chunk.offset : file->size;
    cw_write_bytes(out, file->data, at);
    write_chunk(out, (uint32_t)load((const uint8_t *)type, 4), flags, payload, payload_size);
    cw_write_bytes(out, file->data + at, file->size - at);
}

void cw_edit_remove(struct cw_writer *out, const struct cw_writer *file, size_t index)
{
    struct cw_edit_chunk chunk;
    if (!cw_edit_find(file->data, file->size, index, &chunk))
        return;
    cw_write_bytes(out, file->data, chunk.offset);
    cw_write_bytes(out, file->data + chunk_end(&chunk), file->size - chunk_end(&chunk));
}

void cw_edit_replace(struct cw_writer *out, const struct cw_writer *file, size_t index, const void *payload,
                     size_t payload_size)
{
    struct cw_edit_chunk chunk;
    if (!cw_edit_find(file->data, file->size, index, &chunk))
        return;
    cw_write_bytes(out, file->data, chunk.offset);
    write_chunk(out, chunk.type, chunk.flags, payload, payload_size);
    cw_write_bytes(out, file->data + chunk_end(&chunk), file->size - chunk_end(&chunk));
}
