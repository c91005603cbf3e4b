#include "tests/support/unpack.h"

#include "image/chunk_walk.h"

bool cw_unpack(struct cw_writer *out, const void *bytes, size_t size, size_t *packs)
{
    const struct cw_input file = cw_input_of(bytes, size, "packed");
    struct cw_chunk_walk walk;
    struct cw_chunk chunk;
    bool found = true, truncated = false, good = size >= CW_FILE_HEADER_SIZE;
    uint64_t last = 0;
    *packs = 0;
    cw_write_bytes(out, bytes, good ? CW_FILE_HEADER_SIZE : 0);
    if (good && out->status == CW_OK)
        out->data[8] = 1;
    good = good && cw_chunk_walk_begin(&walk, &file, &cw_counter_data_kind, 0, NULL) == CW_OK;
    while (good && (good = cw_chunk_walk_next(&walk, &chunk, &found, &truncated) == CW_OK) && found) {
        const size_t start = cw_chunk_begin(out, chunk.type, chunk.flags);
        cw_write_bytes(out, chunk.payload, chunk.size);
        cw_chunk_end(out, start);
        *packs += chunk.packed && chunk.offset != last;
        last = chunk.offset;
    }
    cw_chunk_walk_end(&walk);
    return good && out->status == CW_OK;
}
