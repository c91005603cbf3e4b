#define _GNU_SOURCE
#include "image/merge.h"

#include <inttypes.h>
#include <math.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "image/chunk.h"
#include "image/data_chunks.h"
#include "image/directory.h"
#include "image/merge_devices.h"
#include "image/pack_write.h"
#include "image/pc_data.h"
#include "image/range_read.h"
#include "image/redact.h"
#include "image/trace_data.h"

/* ---- devices and events of traces -------------------------------------------------------------------------------- */

/* Initialise with zeros. */
struct merge_trace {
    struct cw_arena *arena;
    void *lists;                        /* a tree of the result's lists of kinds */
    uint32_t process_count, kind_count; /* in the result */
    /* for the current input: */
    uint32_t first_process; /* number of its first process in the result */
    uint32_t kinds_found;
    uint32_t *kinds; /* kinds of the result by the input's own numbers */
    struct cw_writer renumbered;
};

struct list { /* a list of kinds: most inputs have the same one */
    struct cw_likeness payload;
    uint32_t first; /* index of its first kind in the result */
};

static int by_bytes(const void *left, const void *right)
{
    return cw_likeness_compare(&((const struct list *)left)->payload, &((const struct list *)right)->payload);
}

static void leave_trace(void *node)
{
    (void)node;
}

/* Begins the next input, with a valid `trace`. Memory for this input alone comes from `own`. CW_ERR_NOMEM, or
 * CW_ERR_USAGE if the result runs out of numbers. */
static enum cw_status merge_trace_begin(struct merge_trace *m, const struct cw_trace *trace, struct cw_arena *own,
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

static enum cw_status take_kinds(struct merge_trace *m, const struct cw_chunk *chunk, bool *wanted)
{
    struct cw_reader in;
    cw_reader_quiet(&in, chunk->payload, chunk->size);
    const uint32_t count = cw_read_u32(&in);
    const struct list list = {cw_likeness_of(chunk->payload, chunk->size), m->kind_count};
    void *const *found = tfind(&list, &m->lists, by_bytes);
    *wanted = !found;
    if (!found) {
        m->arena = m->arena ? m->arena : cw_arena_create();
        struct list *kept = m->arena ? cw_arena_alloc(m->arena, 1, sizeof *kept) : NULL;
        if (!kept)
            return CW_ERR_NOMEM;
        *kept = list;
        if (!(found = tsearch(kept, &m->lists, by_bytes)))
            return CW_ERR_NOMEM;
        m->kind_count += count;
    }
    for (uint32_t i = 0; i < count; i++)
        m->kinds[m->kinds_found++] = ((const struct list *)*found)->first + i;
    return CW_OK;
}

/* Changes a TKND, TPRC, TSTR or TREC chunk of the current input, in the order of the file, into the result's chunk;
 * *wanted is false if the result has it already. Devices keep their numbers. The payload is valid until the next call.
 * Fails with CW_ERR_NOMEM only. */
static enum cw_status merge_trace_renumber(struct merge_trace *m, struct cw_chunk *chunk, bool *wanted)
{
    struct cw_reader in;
    if (chunk->type == CW_CHUNK_TRACE_KINDS)
        return take_kinds(m, chunk, wanted);
    *wanted = true;
    m->renumbered.size = 0;
    cw_reader_quiet(&in, chunk->payload, chunk->size);
    cw_write_u32(&m->renumbered, m->first_process + cw_read_u32(&in));
    if (chunk->type == CW_CHUNK_TRACE_ROWS)
        cw_write_u32(&m->renumbered, m->kinds[cw_read_u32(&in)]);
    cw_write_bytes(&m->renumbered, chunk->payload + in.pos, chunk->size - in.pos);
    chunk->payload = m->renumbered.data;
    return m->renumbered.status == CW_OK ? CW_OK : CW_ERR_NOMEM;
}

static void merge_trace_free(struct merge_trace *m)
{
    tdestroy(m->lists, leave_trace);
    cw_arena_destroy(m->arena);
    cw_writer_free(&m->renumbered);
    *m = (struct merge_trace){0};
}

struct mapped {        /* a device of the current input */
    uint32_t from, to; /* number in the input and in the result */
    bool is_new;       /* the result did not have it yet */
};

/* A chunk that must be the same in all inputs. */
struct shared {
    bool found;
    struct cw_likeness payload;
};

struct merge {
    const struct cw_merge_files *files;
    struct cw_writer out;         /* output not yet put */
    struct cw_packer *packer;     /* for a sparse result of ranges, or NULL */
    struct cw_redactor *redactor; /* or NULL */
    struct cw_schema shape;       /* for the packer: the counts of everything */
    struct cw_writer packed;
    struct cw_error *err;
    struct cw_arena *arena;
    size_t index; /* of the current input */
    struct cw_merge_incomplete incomplete;
    const char *first;               /* name of the first input */
    enum cw_profiler profiler;       /* of the first input */
    struct cw_merge_devices devices; /* devices of the result */
    struct merge_trace trace;        /* trace of the result */
    void *modules;                   /* a tree of the modules already written: several processes run the same code */
    struct shared schema, repeats, meanings; /* chunks of the first input */
    uint32_t repeat_count, fact_count;
    const char *fact_names[CW_FACTS_MAX]; /* fact names of all inputs */
    uint64_t ranges, dropped;
    uint32_t intervals[CW_PC_MODE__COUNT]; /* of PC samples in the first input that has some: bits of exponents */
    const char *sampled;                   /* name of that input, or NULL */
    size_t sampled_index;
    enum cw_capture_end how;
    uint32_t code;
    /* for the current input: */
    const struct cw_counter_data *data;
    struct cw_arena *own;           /* lives as long as the input is open */
    void *map;                      /* a tree of its devices */
    bool has_rows;                  /* the input has chunks of a trace, which were read and found valid */
    uint32_t fact_at[CW_FACTS_MAX]; /* index of its facts in the result */
    struct cw_range_parts parts;    /* parts of the next range */
    uint8_t **uses;                 /* of the texts of its trace, for the redactor; or NULL */
};

/* Output is put once this many bytes have been collected. */
enum { PIECE = 1 << 20 };

/* Adds a copy of a node, kept in the arena, to a tree. */
static void *keep(struct cw_arena *arena, const void *node, size_t size, void **tree,
                  int (*compare)(const void *, const void *))
{
    void *kept = cw_arena_alloc(arena, 1, size);
    if (kept)
        memcpy(kept, node, size);
    return kept && tsearch(kept, tree, compare) ? kept : NULL;
}

static void leave(void *node)
{
    (void)node;
}

/* ---- devices ---------------------------------------------------------------------------------------------------- */

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int by_from(const void *left, const void *right)
{
    const struct mapped *a = left, *b = right;
    return compare(a->from, b->from);
}

static const struct mapped *find_mapped(const struct merge *m, uint32_t number)
{
    const struct mapped key = {.from = number};
    void *const *found = tfind(&key, &m->map, by_from);
    return found ? *found : NULL;
}

/* Returns the number in the result for a device of the input. Devices of samples never share a number with an earlier
 * input: samples use their device's own clock, and the device's description holds for one capture alone. NULL when out
 * of memory. */
static const struct mapped *map_device(struct merge *m, const struct cw_merge_device *device)
{
    struct mapped mapped = {.from = device->own};
    const bool apart = m->profiler != CW_PROFILER_RANGE && m->profiler != CW_PROFILER_TRACE;
    return cw_merge_devices_map(&m->devices, device, apart, &mapped.to, &mapped.is_new) == CW_OK
               ? keep(m->own, &mapped, sizeof mapped, &m->map, by_from)
               : NULL;
}

/* Device number of a DEVC or GCLK chunk. */
static uint32_t device_number(const struct cw_chunk *chunk)
{
    struct cw_reader in;
    cw_reader_quiet(&in, chunk->payload, chunk->size);
    return cw_read_u32(&in);
}

/* Returns a reader without bytes, for messages. */
static struct cw_reader reader_of(const struct merge *m, const struct cw_input *input)
{
    struct cw_reader file;
    cw_reader_init(&file, NULL, (size_t)input->size, input->name, 0, m->err);
    return file;
}

static bool is_of_instructions(enum cw_profiler profiler)
{
    return profiler == CW_PROFILER_PC || profiler == CW_PROFILER_SASS;
}

/* A PM sampling capture has rows of a trace beside its samples. */
static bool may_have_rows(const struct merge *m)
{
    return m->profiler == CW_PROFILER_TRACE || m->profiler == CW_PROFILER_PM;
}

static bool is_of_trace(uint32_t chunk)
{
    return chunk == CW_CHUNK_TRACE_KINDS || chunk == CW_CHUNK_TRACE_PROCESS || chunk == CW_CHUNK_TRACE_TEXTS ||
           chunk == CW_CHUNK_TRACE_ROWS;
}

static enum cw_status take_device(struct merge *m, struct cw_input *input, const struct cw_chunk *chunk)
{
    struct cw_merge_device device;
    const struct cw_reader file = reader_of(m, input);
    m->has_rows = m->has_rows || (may_have_rows(m) && is_of_trace(chunk->type));
    if (chunk->type != CW_CHUNK_DEVICE)
        return CW_OK;
    enum cw_status status = cw_merge_device_read(&device, &file, chunk);
    return status != CW_OK || map_device(m, &device) ? status : cw_error_nomem(m->err);
}

/* ---- chunks ----------------------------------------------------------------------------------------------------- */

static void skip_string(struct cw_reader *in)
{
    cw_read_bytes(in, cw_read_u32(in));
}

/* Places of device numbers in a chunk: `count` numbers, the first at `at`, each `step` bytes behind the one before. */
struct places {
    size_t at, step;
    uint32_t count;
};

static struct places find_numbers(const struct cw_chunk *chunk)
{
    struct cw_reader in;
    cw_reader_quiet(&in, chunk->payload, chunk->size);
    if (chunk->type == CW_CHUNK_RANGE) {
        skip_string(&in); /* its name */
        skip_string(&in); /* its kernel */
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
    if (chunk->type == CW_CHUNK_TRACE_PROCESS) {
        cw_read_u32(&in); /* process */
        cw_read_u32(&in); /* pid */
        for (uint32_t left = cw_read_count(&in, 8, "attributes"); left; left--) {
            skip_string(&in);
            skip_string(&in);
        }
        uint32_t count = cw_read_count(&in, 8, "devices");
        return (struct places){in.pos + 4, 8, count};
    }
    bool first = chunk->type == CW_CHUNK_DEVICE || chunk->type == CW_CHUNK_SAMPLES || chunk->type == CW_CHUNK_CLOCK ||
                 chunk->type == CW_CHUNK_WINDOW || chunk->type == CW_CHUNK_PC || chunk->type == CW_CHUNK_SASS ||
                 chunk->type == CW_CHUNK_UNCOUNTED || chunk->type == CW_CHUNK_GPU_CLOCKS;
    return (struct places){0, 0, first};
}

/* `end`: this is the last output. */
static enum cw_status put(struct merge *m, bool end)
{
    struct cw_writer *out = m->packer ? &m->packed : &m->out;
    bool good = m->out.status == CW_OK;
    if (good && m->packer)
        good = cw_packer_take(m->packer, m->out.data, m->out.size, out) == CW_OK &&
               (!end || cw_packer_finish(m->packer, out) == CW_OK);
    enum cw_status status = good ? CW_OK : cw_error_nomem(m->err);
    if (good && out->size)
        status = m->files->put(m->files->user, out->data, out->size, m->err);
    m->out.size = out->size = 0;
    return status;
}

static enum cw_status copy_chunk(struct merge *m, struct cw_input *input, const struct cw_chunk *chunk)
{
    struct places numbers = find_numbers(chunk);
    size_t start = cw_chunk_begin(&m->out, chunk->type, chunk->flags), done = 0;
    for (uint32_t i = 0; i < numbers.count; i++) {
        struct cw_reader in;
        size_t at = numbers.at + i * numbers.step;
        cw_reader_quiet(&in, chunk->payload + at, chunk->size - at);
        uint32_t number = cw_read_u32(&in);
        const struct mapped *device = find_mapped(m, number);
        /* A capture that died may have launches of a device that it had not described yet. */
        bool may_lack = chunk->type == CW_CHUNK_LAUNCHES;
        if (!device && may_lack && !(device = map_device(m, &(struct cw_merge_device){.own = number})))
            return cw_error_nomem(m->err);
        if (!device)
            return cw_error_set(m->err, CW_ERR_INPUT,
                                "%s: offset %" PRIu64 ": found device %" PRIu32 ", expected one with a DEVC chunk",
                                input->name, chunk->offset, number);
        cw_write_bytes(&m->out, chunk->payload + done, at - done);
        cw_write_u32(&m->out, device->to);
        done = at + 4;
    }
    cw_write_bytes(&m->out, chunk->payload + done, chunk->size - done);
    cw_chunk_end(&m->out, start);
    return m->out.size < PIECE ? CW_OK : put(m, false);
}

static int by_payload(const void *left, const void *right)
{
    return cw_likeness_compare(left, right);
}

static enum cw_status take_module(struct merge *m, struct cw_input *input, const struct cw_chunk *chunk)
{
    const struct cw_likeness code = cw_likeness_of(chunk->payload, chunk->size);
    if (tfind(&code, &m->modules, by_payload))
        return CW_OK;
    return keep(m->arena, &code, sizeof code, &m->modules, by_payload) ? copy_chunk(m, input, chunk)
                                                                       : cw_error_nomem(m->err);
}

/* Index in the result of a fact of the current input. */
static uint32_t fact_place(const struct merge *m, const char *name)
{
    uint32_t at = 0;
    while (at < m->fact_count && strcmp(m->fact_names[at], name) != 0)
        at++;
    return at;
}

/* Writes facts in the result's order: inputs may have different facts. */
static enum cw_status take_facts(struct merge *m, struct cw_input *input)
{
    const struct cw_schema *schema = &m->data->schema;
    double read[CW_FACTS_MAX], facts[CW_FACTS_MAX];
    const struct cw_reader file = reader_of(m, input);
    enum cw_status status = cw_facts_read(&file, &m->parts.facts, read, schema->fact_count);
    for (uint32_t i = 0; i < m->fact_count; i++)
        facts[i] = NAN;
    for (uint32_t i = 0; i < schema->fact_count; i++)
        facts[m->fact_at[i]] = read[i];
    if (status == CW_OK)
        cw_facts_write(facts, m->fact_count, &m->out);
    return status;
}

static enum cw_status take_range(struct merge *m, struct cw_input *input, const struct cw_chunk *chunk)
{
    const struct cw_range_parts *parts = &m->parts;
    enum cw_status status = parts->about.type ? copy_chunk(m, input, &parts->about) : CW_OK;
    if (status == CW_OK && parts->repeated.type && m->repeat_count)
        status = copy_chunk(m, input, &parts->repeated);
    if (status == CW_OK && parts->facts.type && m->data->schema.fact_count)
        status = take_facts(m, input);
    cw_range_parts_clear(&m->parts);
    return status == CW_OK ? copy_chunk(m, input, chunk) : status;
}

/* Refuses an input of another plan. Opens the first input again to say how the two differ. */
static enum cw_status refuse(struct merge *m, struct cw_input *input, const struct cw_schema *schema)
{
    bool planned = m->profiler == CW_PROFILER_RANGE || m->profiler == CW_PROFILER_PM;
    struct cw_input again;
    struct cw_counter_data first;
    enum cw_status status = m->files->open(m->files->user, 0, &again, m->err);
    if (status != CW_OK)
        return status;
    status = cw_counter_data_open(&first, &again, m->own, m->err);
    const char *difference = status == CW_OK ? cw_schema_difference(schema, &first.schema, m->own) : NULL;
    if (difference)
        status = cw_error_set(m->err, CW_ERR_USAGE, "%s: found a capture of %s than %s, expected the same: %s",
                              input->name, planned ? "another plan" : "other metrics", m->first, difference);
    else if (status == CW_OK)
        status = cw_error_nomem(m->err);
    m->files->close(m->files->user, &again);
    return status;
}

/* Takes a chunk that must be the same in all inputs. The result has the first input's. */
static enum cw_status take_alike(struct merge *m, struct cw_input *input, const struct cw_chunk *chunk)
{
    struct shared *own = chunk->type == CW_CHUNK_SCHEMA    ? &m->schema
                         : chunk->type == CW_CHUNK_REPEATS ? &m->repeats
                                                           : &m->meanings;
    const struct cw_likeness payload = cw_likeness_of(chunk->payload, chunk->size);
    if (!m->index) {
        *own = (struct shared){true, payload};
        enum cw_status status = copy_chunk(m, input, chunk);
        if (chunk->type == CW_CHUNK_SCHEMA)
            cw_schema_write_fact_names(m->fact_names, m->fact_count, &m->out);
        return status;
    }
    const bool planned = m->profiler != CW_PROFILER_TRACE; /* each file of a trace describes its own content */
    if (planned && (!own->found || cw_likeness_compare(&own->payload, &payload) != 0))
        return refuse(m, input, &m->data->schema);
    return CW_OK;
}

static enum cw_status take_trace(struct merge *m, struct cw_input *input, const struct cw_chunk *chunk)
{
    struct cw_chunk renumbered = *chunk;
    bool wanted;
    if (merge_trace_renumber(&m->trace, &renumbered, &wanted) != CW_OK)
        return cw_error_nomem(m->err);
    return wanted ? copy_chunk(m, input, &renumbered) : CW_OK;
}

/* Whether the input describes a device. The description may be lost and launches of the device still be there. */
static bool is_described(const struct merge *m, uint32_t number)
{
    uint32_t index;
    return cw_device_find(m->data->devices, m->data->device_count, number, &index);
}

static enum cw_status take_chunk(struct merge *m, struct cw_input *input, const struct cw_chunk *whole)
{
    bool part, kept = true;
    struct cw_chunk redacted = *whole;
    const struct cw_chunk *chunk = &redacted;
    if (m->redactor && cw_redact(m->redactor, &redacted, m->uses, &kept) != CW_OK)
        return cw_error_nomem(m->err);
    const enum cw_status status = kept ? cw_range_parts_take(&m->parts, chunk, &part, m->err) : CW_OK;
    if (status != CW_OK || !kept || part)
        return status;
    switch (chunk->type) {
    case CW_CHUNK_SCHEMA:
    case CW_CHUNK_REPEATS:
    case CW_CHUNK_MEANINGS:
        return take_alike(m, input, chunk);
    case CW_CHUNK_DEVICE:
        return find_mapped(m, device_number(chunk))->is_new ? copy_chunk(m, input, chunk) : CW_OK;
    case CW_CHUNK_MODULE:
        return take_module(m, input, chunk);
    case CW_CHUNK_RANGE:
        return take_range(m, input, chunk);
    case CW_CHUNK_SAMPLES:
    case CW_CHUNK_CLOCK:
    case CW_CHUNK_WINDOW:
    case CW_CHUNK_LAUNCHES:
        return copy_chunk(m, input, chunk);
    case CW_CHUNK_PC:
    case CW_CHUNK_SASS: /* in captures of others nobody has read them */
        return is_of_instructions(m->profiler) ? copy_chunk(m, input, chunk) : CW_OK;
    case CW_CHUNK_GPU_CLOCKS:
    case CW_CHUNK_UNCOUNTED:
        return is_described(m, device_number(chunk)) ? copy_chunk(m, input, chunk) : CW_OK;
    case CW_CHUNK_TRACE_KINDS:
    case CW_CHUNK_TRACE_PROCESS:
    case CW_CHUNK_TRACE_TEXTS:
    case CW_CHUNK_TRACE_ROWS:
        return m->has_rows ? take_trace(m, input, chunk) : CW_OK;
    default: /* the result gets its own end chunk */
        return CW_OK;
    }
}

/* Takes each whole chunk of an input that was read and found valid. */
static enum cw_status walk(struct merge *m, struct cw_input *input,
                           enum cw_status (*take)(struct merge *, struct cw_input *, const struct cw_chunk *))
{
    struct cw_chunk_walk walk;
    struct cw_chunk chunk;
    bool found = true, truncated = false;
    enum cw_status status = cw_chunk_walk_begin(&walk, input, &cw_counter_data_kind, 0, m->err);
    walk.gaps = &m->data->directory->gaps;
    while (status == CW_OK && (status = cw_chunk_walk_next(&walk, &chunk, &found, &truncated)) == CW_OK && found)
        status = take(m, input, &chunk);
    cw_chunk_walk_end(&walk);
    return status;
}

/* ---- inputs ----------------------------------------------------------------------------------------------------- */

static enum cw_status check_kind(struct merge *m, struct cw_input *input, const struct cw_counter_data *data)
{
    if (!m->index) {
        m->profiler = data->schema.profiler;
        m->repeat_count = data->schema.repeat_count;
        struct cw_schema schema = data->schema;
        schema.fact_count = m->fact_count;
        cw_schema_write_header(&schema, &m->out);
        m->shape = schema;
        if (m->files->sparse && m->profiler == CW_PROFILER_RANGE && !(m->packer = cw_packer_create(&m->shape)))
            return cw_error_nomem(m->err);
    }
    if (data->schema.profiler != m->profiler)
        return cw_error_set(m->err, CW_ERR_USAGE, "%s: found %s, expected %s as in %s", input->name,
                            cw_profiler_texts[data->schema.profiler], cw_profiler_texts[m->profiler], m->first);
    return data->schema.repeat_count == m->repeat_count ? CW_OK : refuse(m, input, &data->schema);
}

/* Copies rows unchanged: their reader checks them. */
static enum cw_status begin_trace(struct merge *m, struct cw_input *input)
{
    struct cw_trace trace;
    enum cw_status status =
        cw_trace_open(&trace, m->data->devices, m->data->device_count, input, input->name, m->own, m->err);
    if (status == CW_OK && m->files->job)
        status = cw_job_ranks_add_trace(m->files->job, &trace, m->err);
    if (status == CW_OK && m->files->origins)
        status = cw_rank_origins_add_trace(m->files->origins, &trace, input->name, m->err);
    if (status == CW_OK && m->redactor)
        status = cw_trace_uses_find(&m->uses, NULL, &trace, m->own, m->err);
    return status == CW_OK ? merge_trace_begin(&m->trace, &trace, m->own, m->err) : status;
}

static enum cw_status take_data(struct merge *m, struct cw_input *input, const struct cw_counter_data *data)
{
    cw_range_parts_clear(&m->parts);
    m->has_rows = m->profiler == CW_PROFILER_TRACE;
    m->uses = NULL;
    for (uint32_t i = 0; i < data->schema.fact_count; i++)
        m->fact_at[i] = fact_place(m, data->schema.fact_names[i]);
    enum cw_status status = walk(m, input, take_device);
    if (status == CW_OK && m->has_rows)
        status = begin_trace(m, input);
    if (status == CW_OK)
        status = walk(m, input, take_chunk);
    tdestroy(m->map, leave);
    m->map = NULL;
    m->ranges += data->range_count;
    if (m->files->ends)
        m->files->ends[m->index] = m->profiler == CW_PROFILER_TRACE ? m->trace.process_count : (uint32_t)m->ranges;
    m->dropped += data->dropped;
    if (!data->complete && !m->incomplete.count++)
        m->incomplete.first = m->index;
    if (data->complete && m->how != CW_END_SIGNALLED && !m->code) {
        m->how = data->how;
        m->code = data->code;
    }
    return status;
}

/* Refuses PC samples of another interval or mode than those of the first input with some: both do not add up. */
static enum cw_status take_interval(struct merge *m, const struct cw_input *input, const struct cw_pc_batch *b)
{
    static const char *const modes[CW_PC_MODE__COUNT] = {"continuous", "serialized"};
    const uint32_t bit = b->period ? UINT32_C(1) << b->period : 0, *of = m->intervals;
    if (!bit)
        return CW_OK;
    if (!m->sampled) {
        m->sampled = cw_arena_strdup(m->arena, input->name);
        m->sampled_index = m->index;
    }
    if (!m->sampled)
        return cw_error_nomem(m->err);
    if (m->sampled_index == m->index)
        m->intervals[b->mode] |= bit;
    if (of[b->mode] & bit)
        return CW_OK;
    const enum cw_pc_mode mode = of[b->mode] ? b->mode : 1 - b->mode;
    return cw_error_set(m->err, CW_ERR_USAGE,
                        "%s: found %s samples each 2^%u cycles, expected %s ones each 2^%d cycles as in %s",
                        input->name, modes[b->mode], b->period, modes[mode], __builtin_ctz(of[mode]), m->sampled);
}

static enum cw_status check_instructions(struct merge *m, struct cw_input *input)
{
    struct cw_pc_data instructions;
    enum cw_status status = cw_input_load(input, m->err);
    if (status == CW_OK)
        status = cw_pc_data_read(&instructions, input->bytes, (size_t)input->size, input->name, m->own, m->err);
    for (uint32_t i = 0; status == CW_OK && i < instructions.pc_count; i++)
        status = take_interval(m, input, &instructions.pc[i]);
    return status;
}

static enum cw_status take_input(struct merge *m, struct cw_input *input)
{
    struct cw_counter_data data;
    if (!m->index && !(m->first = cw_arena_strdup(m->arena, input->name)))
        return cw_error_nomem(m->err);
    enum cw_status status = cw_counter_data_open(&data, input, m->own, m->err);
    const enum cw_profiler profiler = data.schema.profiler;
    m->data = &data;
    if (status == CW_OK && is_of_instructions(profiler))
        status = check_instructions(m, input);
    if (status == CW_OK)
        status = check_kind(m, input, &data);
    if (status == CW_OK && m->files->job)
        status = cw_job_ranks_add(m->files->job, &data, m->err);
    if (status == CW_OK && m->files->origins && profiler != CW_PROFILER_TRACE)
        status = cw_rank_origins_add(m->files->origins, &data, input->name, m->err);
    return status == CW_OK ? take_data(m, input, &data) : status;
}

static enum cw_status add_fact_names(struct merge *m, const struct cw_schema *schema)
{
    for (uint32_t i = 0; i < schema->fact_count; i++) {
        if (fact_place(m, schema->fact_names[i]) < m->fact_count)
            continue;
        if (m->fact_count == CW_FACTS_MAX)
            return cw_error_set(m->err, CW_ERR_USAGE,
                                "found more than %d different facts of launches in all captures, expected no more",
                                CW_FACTS_MAX);
        m->fact_names[m->fact_count++] = schema->fact_names[i];
    }
    return CW_OK;
}

typedef enum cw_status look(struct merge *m, const struct cw_chunk_walk *walk, const struct cw_chunk *chunk,
                            bool *done);

/* Collects the names of facts, which stand before the ranges. */
static enum cw_status find_fact_names(struct merge *m, const struct cw_chunk_walk *walk, const struct cw_chunk *chunk,
                                      bool *done)
{
    *done = chunk->type == CW_CHUNK_RANGE || chunk->type == CW_CHUNK_FACT_NAMES;
    if (chunk->type != CW_CHUNK_FACT_NAMES)
        return CW_OK;
    const struct cw_reader file = cw_chunk_walk_reader(walk);
    struct cw_schema names = {0};
    struct cw_reader in;
    cw_chunk_open(&file, chunk, &in);
    cw_schema_read_fact_names(&names, &in, m->arena);
    return in.status == CW_OK ? add_fact_names(m, &names) : in.status;
}

static enum cw_status note_texts(struct merge *m, const struct cw_chunk_walk *walk, const struct cw_chunk *chunk,
                                 bool *done)
{
    (void)walk;
    *done = false;
    return cw_redactor_note(m->redactor, chunk);
}

/* Reports only I/O errors; other faults of an input show when it is read as a whole. */
static enum cw_status look_through(struct merge *m, struct cw_input *input, look *take)
{
    struct cw_chunk_walk walk;
    struct cw_chunk chunk;
    struct cw_chunk_gaps gaps = {0};
    struct cw_error err = CW_ERROR_INIT;
    bool found = true, done = false;
    enum cw_status status = cw_chunk_walk_begin(&walk, input, &cw_counter_data_kind, 0, &err);
    walk.mends = &gaps;
    while (status == CW_OK && !done && (status = cw_chunk_walk_next(&walk, &chunk, &found, NULL)) == CW_OK && found)
        status = take(m, &walk, &chunk, &done);
    if (status == CW_ERR_IO)
        cw_error_set(m->err, status, "%s", err.message);
    if (status == CW_ERR_NOMEM)
        cw_error_nomem(m->err);
    cw_chunk_walk_end(&walk);
    free(gaps.items);
    return status == CW_ERR_INPUT ? CW_OK : status;
}

static enum cw_status look_for_fact_names(struct merge *m, struct cw_input *input)
{
    return look_through(m, input, find_fact_names);
}

static enum cw_status look_for_texts(struct merge *m, struct cw_input *input)
{
    return look_through(m, input, note_texts);
}

/* Opens each input in turn and calls `take`. */
static enum cw_status each(struct merge *m, enum cw_status (*take)(struct merge *, struct cw_input *))
{
    enum cw_status status = CW_OK;
    for (size_t i = 0; i < m->files->count && status == CW_OK; i++) {
        struct cw_input input;
        m->index = i;
        m->own = cw_arena_create();
        status = m->own ? m->files->open(m->files->user, i, &input, m->err) : cw_error_nomem(m->err);
        if (status == CW_OK) {
            status = take(m, &input);
            m->files->close(m->files->user, &input);
        }
        cw_arena_destroy(m->own);
    }
    return status;
}

enum cw_status cw_counter_data_merge_files(const struct cw_merge_files *files, struct cw_error *err)
{
    struct merge m = {.files = files, .err = err, .arena = cw_arena_create()};
    cw_writer_init(&m.out);
    cw_writer_init(&m.packed);
    cw_writer_init(&m.trace.renumbered);
    m.redactor = files->redact ? cw_redactor_create() : NULL;
    enum cw_status status = m.arena && !m.redactor == !files->redact ? CW_OK : cw_error_nomem(err);
    if (!files->count)
        status = cw_error_set(err, CW_ERR_USAGE, "found no capture to merge, expected one at least");
    if (status == CW_OK)
        status = each(&m, look_for_fact_names);
    if (status == CW_OK && m.redactor)
        status = each(&m, look_for_texts);
    if (status == CW_OK)
        status = each(&m, take_input);
    if (files->incomplete)
        *files->incomplete = m.incomplete;
    if (status == CW_OK && !m.incomplete.count)
        cw_counter_data_write_end(m.ranges, m.dropped, m.how, m.code, &m.out);
    if (status == CW_OK)
        status = put(&m, true);
    cw_range_parts_free(&m.parts);
    cw_merge_devices_free(&m.devices);
    merge_trace_free(&m.trace);
    cw_packer_destroy(m.packer);
    cw_redactor_destroy(m.redactor);
    cw_writer_free(&m.packed);
    tdestroy(m.modules, leave);
    cw_arena_destroy(m.arena);
    cw_writer_free(&m.out);
    return status;
}
