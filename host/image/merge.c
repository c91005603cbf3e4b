#define _GNU_SOURCE
#include "host/image/merge.h"

#include <inttypes.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "host/image/config_image.h"
#include "host/image/data_chunks.h"
#include "host/image/meanings.h"
#include "host/image/pc_data.h"

enum { MOST_DEVICES = 1 << 14 };

struct numbered { /* a device of the result */
    uint32_t number;
    const uint8_t *description; /* its chunk behind the number */
    size_t size;
    const struct cw_merge_input *input; /* the last that has it */
};

struct mapped {        /* a device of the current input */
    uint32_t from, to; /* its number there and in the result */
    bool is_new;       /* to the result */
};

struct merge {
    struct cw_writer *out;
    struct cw_error *err;
    const struct cw_merge_input *first;
    enum cw_profiler profiler; /* of the first input */
    size_t device_count;
    uint32_t next_number; /* none below it is free */
    struct numbered devices[MOST_DEVICES];
    size_t map_count;
    struct mapped *map; /* by `from` */
    void *modules;      /* a tree of those that were written: several processes run the same code */
    struct cw_chunk schema, repeats, meanings; /* of the first input; empty before it, and where there are none */
    uint32_t repeat_count;
    uint64_t ranges, dropped;
    bool complete;
    enum cw_capture_end how;
    uint32_t code;
};

/* ---- devices ---------------------------------------------------------------------------------------------------- */

static bool is_taken(const struct merge *m, uint32_t number)
{
    for (size_t i = 0; i < m->device_count; i++)
        if (m->devices[i].number == number)
            return true;
    return false;
}

/* One that an earlier input describes alike: two of one input are two, however they are described. */
static struct numbered *find_alike(struct merge *m, const struct numbered *device)
{
    for (size_t i = 0; i < m->device_count; i++) {
        struct numbered *d = &m->devices[i];
        if (d->input != device->input && d->size == device->size &&
            memcmp(d->description, device->description, d->size) == 0)
            return d;
    }
    return NULL;
}

static struct numbered *add_device(struct merge *m, struct numbered device)
{
    if (m->device_count == MOST_DEVICES)
        return NULL;
    if (is_taken(m, device.number)) {
        while (is_taken(m, m->next_number))
            m->next_number++;
        device.number = m->next_number;
    }
    m->devices[m->device_count] = device;
    return &m->devices[m->device_count++];
}

static enum cw_status take_number(struct merge *m, const struct cw_merge_input *input, const struct cw_chunk *chunk)
{
    if (chunk->type != CW_CHUNK_DEVICE)
        return CW_OK;
    struct cw_reader in;
    cw_reader_init(&in, chunk->payload, chunk->size, "", 0, NULL);
    struct numbered device = {.number = cw_read_u32(&in), .input = input};
    device.description = chunk->payload + in.pos;
    device.size = chunk->size - in.pos;
    struct numbered *alike = find_alike(m, &device), *kept = alike ? alike : add_device(m, device);
    if (!kept)
        return cw_error_set(m->err, CW_ERR_UNSUPPORTED, "%s: found more than %d devices together, expected no more",
                            input->name, MOST_DEVICES);
    kept->input = input;
    m->map[m->map_count++] = (struct mapped){device.number, kept->number, !alike};
    return CW_OK;
}

static int by_from(const void *left, const void *right)
{
    const struct mapped *a = left, *b = right;
    return (a->from > b->from) - (a->from < b->from);
}

static const struct mapped *find_mapped(const struct merge *m, uint32_t number)
{
    struct mapped key = {.from = number};
    return bsearch(&key, m->map, m->map_count, sizeof key, by_from);
}

/* ---- chunks ----------------------------------------------------------------------------------------------------- */

static void skip_string(struct cw_reader *in)
{
    cw_read_bytes(in, cw_read_u32(in));
}

/* Where a chunk has numbers of devices: `count` of them, the first at `at`, each `step` bytes behind the one before. */
struct places {
    size_t at, step;
    uint32_t count;
};

static struct places find_numbers(const struct cw_chunk *chunk)
{
    struct cw_reader in;
    cw_reader_init(&in, chunk->payload, chunk->size, "", 0, NULL);
    if (chunk->type == CW_CHUNK_RANGE) {
        skip_string(&in); /* its name */
        skip_string(&in); /* and kernel */
        return (struct places){in.pos, 0, 1};
    }
    if (chunk->type == CW_CHUNK_LAUNCHES) {
        cw_read_u32(&in); /* process */
        cw_read_u64(&in); /* dropped */
        for (uint32_t left = cw_read_count(&in, 4, "names"); left; left--)
            skip_string(&in);
        uint32_t count = cw_read_count(&in, CW_LAUNCH_SIZE, "launches");
        return (struct places){in.pos + 4, CW_LAUNCH_SIZE, count};
    }
    bool first = chunk->type == CW_CHUNK_DEVICE || chunk->type == CW_CHUNK_SAMPLES || chunk->type == CW_CHUNK_CLOCK ||
                 chunk->type == CW_CHUNK_PC || chunk->type == CW_CHUNK_SASS;
    return (struct places){0, 0, first};
}

static enum cw_status copy_chunk(struct merge *m, const struct cw_merge_input *input, const struct cw_chunk *chunk)
{
    struct places numbers = find_numbers(chunk);
    size_t start = cw_chunk_begin(m->out, chunk->type, chunk->flags), done = 0;
    for (uint32_t i = 0; i < numbers.count; i++) {
        struct cw_reader in;
        size_t at = numbers.at + i * numbers.step;
        cw_reader_init(&in, chunk->payload + at, chunk->size - at, "", 0, NULL);
        uint32_t number = cw_read_u32(&in);
        const struct mapped *device = find_mapped(m, number);
        if (!device)
            return cw_error_set(m->err, CW_ERR_INPUT,
                                "%s: offset %" PRIu64 ": found device %" PRIu32 ", expected one with a DEVC chunk",
                                input->name, chunk->offset, number);
        cw_write_bytes(m->out, chunk->payload + done, at - done);
        cw_write_u32(m->out, device->to);
        done = at + 4;
    }
    cw_write_bytes(m->out, chunk->payload + done, chunk->size - done);
    cw_chunk_end(m->out, start);
    return CW_OK;
}

static int by_payload(const void *left, const void *right)
{
    const struct cw_chunk *a = left, *b = right;
    if (a->size != b->size)
        return a->size < b->size ? -1 : 1;
    return memcmp(a->payload, b->payload, a->size); /* begins with the code's checksum */
}

static enum cw_status take_module(struct merge *m, const struct cw_merge_input *input, const struct cw_chunk *chunk)
{
    if (tfind(chunk, &m->modules, by_payload))
        return CW_OK;
    struct cw_chunk *kept = malloc(sizeof *kept);
    if (kept)
        *kept = *chunk;
    if (!kept || !tsearch(kept, &m->modules, by_payload)) {
        free(kept);
        return cw_error_nomem(m->err);
    }
    return copy_chunk(m, input, chunk);
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
        return copy_chunk(m, input, chunk);
    }
    if (own->size != chunk->size || memcmp(own->payload, chunk->payload, chunk->size) != 0)
        return refuse_plan(m, input);
    return CW_OK;
}

static bool is_new(const struct merge *m, const struct cw_chunk *chunk)
{
    struct cw_reader in;
    cw_reader_init(&in, chunk->payload, chunk->size, "", 0, NULL);
    return find_mapped(m, cw_read_u32(&in))->is_new;
}

static enum cw_status take_chunk(struct merge *m, const struct cw_merge_input *input, const struct cw_chunk *chunk)
{
    switch (chunk->type) {
    case CW_CHUNK_SCHEMA:
    case CW_CHUNK_REPEATS:
    case CW_CHUNK_MEANINGS:
        return take_alike(m, input, chunk);
    case CW_CHUNK_DEVICE:
        return is_new(m, chunk) ? copy_chunk(m, input, chunk) : CW_OK;
    case CW_CHUNK_MODULE:
        return take_module(m, input, chunk);
    case CW_CHUNK_ABOUT:
    case CW_CHUNK_REPEATED:
    case CW_CHUNK_RANGE:
    case CW_CHUNK_SAMPLES:
    case CW_CHUNK_CLOCK:
    case CW_CHUNK_LAUNCHES:
    case CW_CHUNK_PC:
    case CW_CHUNK_SASS:
        return copy_chunk(m, input, chunk);
    default: /* the result has an end of its own */
        return CW_OK;
    }
}

/* Each whole chunk of an input that has been read and found good. */
static enum cw_status walk(struct merge *m, const struct cw_merge_input *input,
                           enum cw_status (*take)(struct merge *, const struct cw_merge_input *,
                                                  const struct cw_chunk *))
{
    struct cw_reader file;
    struct cw_chunk chunk;
    bool found = true, truncated = false;
    cw_reader_init(&file, input->data, input->size, input->name, 0, m->err);
    enum cw_status status = cw_chunk_check_header(&file, &cw_counter_data_kind);
    while (status == CW_OK && (status = cw_chunk_next(&file, &chunk, &found, &truncated)) == CW_OK && found)
        status = take(m, input, &chunk);
    return status;
}

/* ---- inputs ----------------------------------------------------------------------------------------------------- */

static enum cw_status check_kind(struct merge *m, const struct cw_merge_input *input,
                                 const struct cw_counter_data *data)
{
    if (input == m->first) {
        m->profiler = data->schema.profiler;
        m->repeat_count = data->schema.repeat_count;
        cw_counter_data_write_header(&data->schema, m->out);
    }
    if (data->schema.profiler != m->profiler)
        return cw_error_set(m->err, CW_ERR_USAGE, "%s: found a capture of the profiler %s, expected %s, which %s is of",
                            input->name, cw_profiler_names[data->schema.profiler], cw_profiler_names[m->profiler],
                            m->first->name);
    return data->schema.repeat_count == m->repeat_count ? CW_OK : refuse_plan(m, input);
}

static void take_end(struct merge *m, const struct cw_counter_data *data)
{
    m->ranges += data->range_count;
    m->dropped += data->dropped;
    m->complete = m->complete && data->complete;
    if (data->complete && m->how != CW_END_SIGNALLED && !m->code) {
        m->how = data->how;
        m->code = data->code;
    }
}

static enum cw_status take_input(struct merge *m, const struct cw_merge_input *input)
{
    struct cw_counter_data data;
    struct cw_pc_data instructions;
    struct cw_arena *arena = cw_arena_create();
    if (!arena)
        return cw_error_nomem(m->err);
    enum cw_status status = cw_counter_data_read(&data, input->data, input->size, input->name, arena, m->err);
    if (status == CW_OK)
        status = cw_pc_data_read(&instructions, input->data, input->size, input->name, arena, m->err);
    if (status == CW_OK)
        status = check_kind(m, input, &data);
    if (status == CW_OK) {
        m->map_count = 0;
        m->map = cw_arena_alloc(arena, data.device_count, sizeof *m->map);
        status = m->map ? walk(m, input, take_number) : cw_error_nomem(m->err);
    }
    if (status == CW_OK) {
        qsort(m->map, m->map_count, sizeof *m->map, by_from);
        status = walk(m, input, take_chunk);
    }
    if (status == CW_OK)
        take_end(m, &data);
    cw_arena_destroy(arena);
    return status;
}

enum cw_status cw_counter_data_merge(struct cw_writer *out, const struct cw_merge_input *inputs, size_t count,
                                     struct cw_error *err)
{
    struct merge *m = calloc(1, sizeof *m);
    enum cw_status status = m ? CW_OK : cw_error_nomem(err);
    if (!m)
        return status;
    m->out = out;
    m->err = err;
    m->first = inputs;
    m->complete = true;
    for (size_t i = 0; i < count && status == CW_OK; i++)
        status = take_input(m, &inputs[i]);
    if (status == CW_OK && m->complete)
        cw_counter_data_write_end(m->ranges, m->dropped, m->how, m->code, out);
    tdestroy(m->modules, free);
    free(m);
    return status == CW_OK && out->status != CW_OK ? cw_error_nomem(err) : status;
}
