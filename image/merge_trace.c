#define _GNU_SOURCE
#include "image/merge_trace.h"

#include <inttypes.h>
#include <search.h>

#include "image/data_chunks.h"
#include "image/merge_devices.h"

struct list { /* a list of kinds: most inputs have the same one */
    struct cw_likeness payload;
    uint32_t first; /* index of its first kind in the result */
};

static int by_payload(const void *left, const void *right)
{
    return cw_likeness_compare(&((const struct list *)left)->payload, &((const struct list *)right)->payload);
}

static void leave(void *node)
{
    (void)node;
}

enum cw_status cw_merge_trace_begin(struct cw_merge_trace *m, const struct cw_trace *trace, struct cw_arena *own,
                                    struct cw_error *err)
{
    if (trace->process_count > UINT32_MAX - m->process_count || trace->kind_count > UINT32_MAX - m->kind_count)
        return cw_error_set(err, CW_ERR_USAGE, "%s: found a trace too many, expected at most %" PRIu32 " processes",
                            trace->source, UINT32_MAX);
    m->first_process = m->process_count;
    m->process_count += trace->process_count;
    m->kinds_found = 0;
    m->kinds = cw_arena_alloc(own, trace->kind_count, sizeof *m->kinds);
    return m->kinds ? CW_OK : cw_error_nomem(err);
}

static enum cw_status take_kinds(struct cw_merge_trace *m, const struct cw_chunk *chunk, bool *wanted)
{
    struct cw_reader in;
    cw_reader_init(&in, chunk->payload, chunk->size, "", 0, NULL);
    const uint32_t count = cw_read_u32(&in);
    const struct list list = {cw_likeness_of(chunk->payload, chunk->size), m->kind_count};
    void *const *found = tfind(&list, &m->lists, by_payload);
    *wanted = !found;
    if (!found) {
        m->arena = m->arena ? m->arena : cw_arena_create();
        struct list *kept = m->arena ? cw_arena_alloc(m->arena, 1, sizeof *kept) : NULL;
        if (!kept)
            return CW_ERR_NOMEM;
        *kept = list;
        if (!(found = tsearch(kept, &m->lists, by_payload)))
            return CW_ERR_NOMEM;
        m->kind_count += count;
    }
    for (uint32_t i = 0; i < count; i++)
        m->kinds[m->kinds_found++] = ((const struct list *)*found)->first + i;
    return CW_OK;
}

enum cw_status cw_merge_trace_renumber(struct cw_merge_trace *m, struct cw_chunk *chunk, bool *wanted)
{
    struct cw_reader in;
    if (chunk->type == CW_CHUNK_TRACE_KINDS)
        return take_kinds(m, chunk, wanted);
    *wanted = true;
    m->renumbered.size = 0;
    cw_reader_init(&in, chunk->payload, chunk->size, "", 0, NULL);
    cw_write_u32(&m->renumbered, m->first_process + cw_read_u32(&in));
    if (chunk->type == CW_CHUNK_TRACE_ROWS)
        cw_write_u32(&m->renumbered, m->kinds[cw_read_u32(&in)]);
    cw_write_bytes(&m->renumbered, chunk->payload + in.pos, chunk->size - in.pos);
    chunk->payload = m->renumbered.data;
    return m->renumbered.status == CW_OK ? CW_OK : CW_ERR_NOMEM;
}

void cw_merge_trace_free(struct cw_merge_trace *m)
{
    tdestroy(m->lists, leave);
    cw_arena_destroy(m->arena);
    cw_writer_free(&m->renumbered);
    *m = (struct cw_merge_trace){0};
}
