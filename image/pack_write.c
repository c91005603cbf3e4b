#include "image/pack_write.h"

#include <stdlib.h>

#include "image/data_chunks.h"
#include "image/pack_block.h"

/* Numbers that a block holds: from NUMBERS_ENOUGH on, it ends where the next rank begins; it exceeds NUMBERS_MOST by at
 * most one record. */
enum { NUMBERS_ENOUGH = 4 << 20, NUMBERS_MOST = 8 << 20 };

struct cw_packer {
    struct cw_writer held;    /* output before the first block */
    struct cw_writer pending; /* chunks of the record being collected */
    struct cw_pack_block *block;
    bool begun, packs; /* the first block was written, and packing made it shorter */
    bool failed;       /* out of memory */
};

/* ---- blocks ----------------------------------------------------------------------------------------------------- */

/* Replaces the pack at `start` by its chunks. */
static bool unpack(struct cw_writer *out, size_t start)
{
    struct cw_reader file;
    struct cw_chunk chunk;
    struct cw_pack pack = {0};
    bool found;
    cw_reader_init(&file, out->data + start, out->size - start, "", 0, NULL);
    bool good = cw_chunk_next(&file, &chunk, &found, NULL) == CW_OK && found &&
                cw_pack_open(&pack, &chunk, NULL, &file) == CW_OK;
    out->size = start;
    while (good && cw_pack_has_more(&pack) && (good = cw_pack_next(&pack, &chunk, &file) == CW_OK)) {
        const size_t at = cw_chunk_begin(out, chunk.type, chunk.flags);
        cw_write_bytes(out, chunk.payload, chunk.size);
        cw_chunk_end(out, at);
    }
    cw_pack_free(&pack);
    return good && out->status == CW_OK;
}

/* Writes a block. The first block decides whether the file has packed chunks, which its version states. */
static void write_block(struct cw_packer *p, struct cw_writer *out)
{
    const size_t start = out->size;
    const struct cw_pack_filled filled = cw_pack_block_filled(p->block);
    if (!filled.records || p->failed)
        return;
    p->failed = !cw_pack_block_write(p->block, out);
    const bool shorter = !p->failed && out->size - start < filled.dense;
    if (!p->begun)
        p->packs = shorter;
    if (!p->failed && !(shorter && p->packs))
        p->failed = !unpack(out, start);
    cw_pack_block_empty(p->block);
}

/* Writes a block, and before the first one the output that was held back. */
static void flush(struct cw_packer *p, struct cw_writer *out)
{
    struct cw_writer block;
    if (p->begun) {
        write_block(p, out);
        return;
    }
    if (!cw_pack_block_filled(p->block).records)
        return;
    cw_writer_init(&block);
    write_block(p, &block);
    p->begun = true;
    if (p->packs && p->held.size >= CW_FILE_HEADER_SIZE)
        p->held.data[8] = CW_PACK_MAJOR;
    cw_write_bytes(out, p->held.data, p->held.size);
    cw_write_bytes(out, block.data, block.size);
    cw_writer_free(&p->held);
    cw_writer_free(&block);
}

/* ---- chunks ----------------------------------------------------------------------------------------------------- */

/* Process of a launch. */
static uint32_t process_of(const struct cw_chunk *range)
{
    struct cw_reader in;
    cw_reader_init(&in, range->payload, range->size, "", 0, NULL);
    cw_read_bytes(&in, cw_read_u32(&in));
    cw_read_bytes(&in, cw_read_u32(&in));
    cw_read_u32(&in);
    return cw_read_u32(&in);
}

/* Whether the block is full enough to end before the record that this chunk completes: a new rank begins with it. */
static bool is_enough(const struct cw_packer *p, const struct cw_chunk *chunk)
{
    const struct cw_pack_filled filled = cw_pack_block_filled(p->block);
    const bool next =
        chunk->type == CW_CHUNK_DEVICE || (chunk->type == CW_CHUNK_RANGE && process_of(chunk) != filled.process);
    return filled.records == CW_PACK_RECORDS_MAX || filled.numbers >= (next ? NUMBERS_ENOUGH : NUMBERS_MOST);
}

static struct cw_writer *begin_of(struct cw_packer *p, struct cw_writer *out)
{
    return p->begun ? out : &p->held;
}

/* Writes chunks that cannot be packed unchanged, behind the earlier ones. */
static void put_pending(struct cw_packer *p, struct cw_writer *out)
{
    flush(p, out);
    cw_write_bytes(begin_of(p, out), p->pending.data, p->pending.size);
    p->pending.size = 0;
}

static void take_chunk(struct cw_packer *p, const struct cw_chunk *chunk, const uint8_t *bytes, struct cw_writer *out)
{
    const bool holds = cw_pack_may_hold(chunk->type);
    const bool ends =
        chunk->type == CW_CHUNK_RANGE || chunk->type == CW_CHUNK_DEVICE || chunk->type == CW_CHUNK_GPU_CLOCKS;
    if (!holds || (ends && chunk->type != CW_CHUNK_RANGE)) /* parts of a range that did not follow */
        if (p->pending.size)
            put_pending(p, out);
    cw_write_bytes(&p->pending, bytes, CW_CHUNK_HEADER_SIZE + chunk->size);
    if (!holds) {
        put_pending(p, out);
    } else if (ends) {
        if (is_enough(p, chunk))
            flush(p, out);
        if (cw_pack_block_add(p->block, &p->pending))
            p->pending.size = 0;
        else if (!cw_pack_block_filled(p->block).failed)
            put_pending(p, out);
    }
}

static enum cw_status told(const struct cw_packer *p, const struct cw_writer *out)
{
    const bool good = !p->failed && !cw_pack_block_filled(p->block).failed && p->held.status == CW_OK &&
                      p->pending.status == CW_OK && out->status == CW_OK;
    return good ? CW_OK : CW_ERR_NOMEM;
}

enum cw_status cw_packer_take(struct cw_packer *p, const void *data, size_t size, struct cw_writer *out)
{
    struct cw_reader file;
    struct cw_chunk chunk;
    bool found = true;
    cw_reader_init(&file, data, size, "", 0, NULL);
    if (!p->held.size && !p->begun)
        cw_write_bytes(&p->held, cw_read_bytes(&file, CW_FILE_HEADER_SIZE), CW_FILE_HEADER_SIZE);
    while (told(p, out) == CW_OK && cw_chunk_next(&file, &chunk, &found, NULL) == CW_OK && found)
        take_chunk(p, &chunk, file.data + chunk.offset, out);
    return told(p, out);
}

enum cw_status cw_packer_finish(struct cw_packer *p, struct cw_writer *out)
{
    put_pending(p, out);
    if (!p->begun)
        cw_write_bytes(out, p->held.data, p->held.size);
    return told(p, out);
}

struct cw_packer *cw_packer_create(const struct cw_schema *schema)
{
    struct cw_packer *p = calloc(1, sizeof *p);
    if (p && (p->block = cw_pack_block_create(schema)))
        return p;
    free(p);
    return NULL;
}

void cw_packer_destroy(struct cw_packer *p)
{
    if (!p)
        return;
    cw_pack_block_destroy(p->block);
    cw_writer_free(&p->held);
    cw_writer_free(&p->pending);
    free(p);
}
