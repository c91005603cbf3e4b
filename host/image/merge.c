#include "host/image/merge.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "host/image/data_chunks.h"
#include "host/image/meanings.h"

struct numbered { /* a device of the result */
    uint32_t number;
    const uint8_t *description; /* its chunk behind the number */
    size_t size;
};

struct merge {
    struct cw_writer *out;
    struct cw_error *err;
    const struct cw_merge_input *first;
    size_t device_count, device_capacity;
    struct numbered *devices;
    uint32_t *from, *to; /* numbers of the current input's devices and what they are in the result */
    size_t map_count;
    struct cw_chunk schema, repeats, meanings; /* of the first input; empty before it, and where there are none */
    uint32_t repeat_count;
    uint64_t ranges, dropped;
    bool complete;
    enum cw_capture_end how;
    uint32_t code;
};

static bool is_taken(const struct merge *m, uint32_t number)
{
    for (size_t i = 0; i < m->device_count; i++)
        if (m->devices[i].number == number)
            return true;
    return false;
}

static void copy_chunk(struct merge *m, const struct cw_chunk *chunk, size_t at, uint32_t number)
{
    size_t start = cw_chunk_begin(m->out, chunk->type, chunk->flags);
    cw_write_bytes(m->out, chunk->payload, at);
    if (at < chunk->size) {
        cw_write_u32(m->out, number);
        cw_write_bytes(m->out, chunk->payload + at + 4, chunk->size - at - 4);
    }
    cw_chunk_end(m->out, start);
}

static enum cw_status refuse_plan(const struct merge *m, const struct cw_merge_input *input)
{
    return cw_error_set(m->err, CW_ERR_USAGE, "%s: found a capture of another plan than %s, expected the same",
                        input->name, m->first->name);
}

/* What all inputs have to have alike, of which the result has the first's. */
static enum cw_status take_alike(struct merge *m, const struct cw_merge_input *input, const struct cw_chunk *chunk)
{
    struct cw_chunk *own = chunk->type == CW_CHUNK_SCHEMA    ? &m->schema
                           : chunk->type == CW_CHUNK_REPEATS ? &m->repeats
                                                             : &m->meanings;
    if (input == m->first) {
        *own = *chunk;
        copy_chunk(m, chunk, chunk->size, 0);
    } else if (own->size != chunk->size || memcmp(own->payload, chunk->payload, chunk->size) != 0) {
        return refuse_plan(m, input);
    }
    return CW_OK;
}

static enum cw_status take_device(struct merge *m, const struct cw_chunk *chunk)
{
    struct cw_reader in;
    cw_reader_init(&in, chunk->payload, chunk->size, "", 0, NULL);
    uint32_t number = cw_read_u32(&in), found = number;
    const uint8_t *description = chunk->payload + 4;
    size_t size = chunk->size - 4, same = 0;
    while (same < m->device_count &&
           (m->devices[same].size != size || memcmp(m->devices[same].description, description, size) != 0))
        same++;
    if (same < m->device_count) {
        found = m->devices[same].number;
    } else {
        for (uint32_t next = 0; is_taken(m, found); next++)
            found = next;
        if (m->device_count == m->device_capacity) {
            size_t capacity = m->device_capacity ? 2 * m->device_capacity : 16;
            struct numbered *grown = realloc(m->devices, capacity * sizeof *grown);
            if (!grown)
                return cw_error_nomem(m->err);
            m->devices = grown;
            m->device_capacity = capacity;
        }
        m->devices[m->device_count++] = (struct numbered){found, description, size};
        copy_chunk(m, chunk, 0, found);
    }
    m->from[m->map_count] = number;
    m->to[m->map_count++] = found;
    return CW_OK;
}

static void take_range(struct merge *m, const struct cw_chunk *chunk)
{
    struct cw_reader in;
    cw_reader_init(&in, chunk->payload, chunk->size, "", 0, NULL);
    for (int i = 0; i < 2; i++) /* name and kernel */
        cw_read_bytes(&in, cw_read_u32(&in));
    size_t at = in.pos, i = 0;
    uint32_t number = cw_read_u32(&in);
    while (m->from[i] != number) /* the input was checked: the device is there */
        i++;
    copy_chunk(m, chunk, at, m->to[i]);
}

/* The chunks of an input that has been read as a whole and found good. */
static enum cw_status take_chunks(struct merge *m, const struct cw_merge_input *input, const struct cw_schema *schema)
{
    struct cw_reader file;
    struct cw_chunk chunk;
    bool found = true, truncated = false;
    cw_reader_init(&file, input->data, input->size, input->name, 0, m->err);
    enum cw_status status = cw_chunk_check_header(&file, &cw_counter_data_kind);
    if (status == CW_OK && input == m->first)
        cw_counter_data_write_header(schema, m->out);
    while (status == CW_OK && (status = cw_chunk_next(&file, &chunk, &found, &truncated)) == CW_OK && found) {
        if (chunk.type == CW_CHUNK_SCHEMA || chunk.type == CW_CHUNK_REPEATS || chunk.type == CW_CHUNK_MEANINGS)
            status = take_alike(m, input, &chunk);
        else if (chunk.type == CW_CHUNK_DEVICE)
            status = take_device(m, &chunk);
        else if (chunk.type == CW_CHUNK_ABOUT || chunk.type == CW_CHUNK_REPEATED)
            copy_chunk(m, &chunk, chunk.size, 0);
        else if (chunk.type == CW_CHUNK_RANGE)
            take_range(m, &chunk);
    }
    return status;
}

static enum cw_status take_input(struct merge *m, const struct cw_merge_input *input)
{
    struct cw_counter_data data;
    struct cw_arena *arena = cw_arena_create();
    if (!arena)
        return cw_error_nomem(m->err);
    enum cw_status status = cw_counter_data_read(&data, input->data, input->size, input->name, arena, m->err);
    if (status == CW_OK && data.schema.profiler != CW_PROFILER_RANGE)
        status = cw_error_set(m->err, CW_ERR_USAGE, "%s: found samples, expected a capture of ranges", input->name);
    if (input == m->first)
        m->repeat_count = data.schema.repeat_count;
    if (status == CW_OK && data.schema.repeat_count != m->repeat_count)
        status = refuse_plan(m, input);
    if (status == CW_OK) {
        m->map_count = 0;
        m->from = cw_arena_alloc(arena, data.device_count, sizeof *m->from);
        m->to = cw_arena_alloc(arena, data.device_count, sizeof *m->to);
        status = m->from && m->to ? take_chunks(m, input, &data.schema) : cw_error_nomem(m->err);
    }
    if (status == CW_OK) {
        m->ranges += data.range_count;
        m->dropped += data.dropped;
        m->complete = m->complete && data.complete;
        if (data.complete && m->how != CW_END_SIGNALLED && !m->code) {
            m->how = data.how;
            m->code = data.code;
        }
    }
    cw_arena_destroy(arena);
    return status;
}

enum cw_status cw_counter_data_merge(struct cw_writer *out, const struct cw_merge_input *inputs, size_t count,
                                     struct cw_error *err)
{
    struct merge m = {.out = out, .err = err, .first = inputs, .complete = true};
    enum cw_status status = CW_OK;
    for (size_t i = 0; i < count && status == CW_OK; i++)
        status = take_input(&m, &inputs[i]);
    if (status == CW_OK && m.complete)
        cw_counter_data_write_end(m.ranges, m.dropped, m.how, m.code, out);
    free(m.devices);
    return status == CW_OK && out->status != CW_OK ? cw_error_nomem(err) : status;
}
