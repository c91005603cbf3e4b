#define _GNU_SOURCE
#include "image/provenance.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/hash_table.h"
#include "image/data_chunks.h"
#include "image/directory.h"
#include "image/range_read.h"

struct known { /* a value of a fact */
    uint32_t fact;
    const char *value;
};

enum { SPANS = 8, TIME_SIZE = 32 };

struct finding {
    struct cw_arena *arena;
    struct cw_provenance_fact *facts;
    uint32_t count;
    size_t room, known_room;
    struct cw_hash_table table;
    struct known *known;
    uint32_t chunk; /* type of the current chunk */
    struct span {
        uint32_t chunk;
        uint64_t first_ns, last_ns;
    } spans[SPANS]; /* times, for each type of chunk that has them */
};

/* ---- values ------------------------------------------------------------------------------------------------------ */

static uint32_t find_fact(struct finding *f, uint32_t chunk, const struct cw_text_fact *fact)
{
    uint32_t i = 0;
    while (i < f->count && (f->facts[i].chunk != chunk || strcmp(f->facts[i].name, fact->name) != 0))
        i++;
    if (i < f->count)
        return i;
    struct cw_provenance_fact *facts = cw_grown(f->facts, &f->room, f->count, sizeof *facts);
    if (!facts)
        return CW_NO_ITEM;
    f->facts = facts;
    facts[f->count++] = (struct cw_provenance_fact){.chunk = chunk, .name = fact->name, .care = fact->care};
    return i;
}

static bool is_known(const void *items, uint32_t item, const void *key)
{
    const struct known *a = (const struct known *)items + item, *b = key;
    return a->fact == b->fact && strcmp(a->value, b->value) == 0;
}

static bool add_value(struct finding *f, const struct cw_text_fact *fact, const char *value)
{
    const struct known key = {find_fact(f, f->chunk, fact), value};
    if (key.fact == CW_NO_ITEM)
        return false;
    const uint64_t hash = XXH3_64bits_withSeed(value, strlen(value), key.fact);
    const uint32_t before = f->table.count, at = cw_hash_table_add(&f->table, hash, is_known, f->known, &key);
    if (at == CW_NO_ITEM || at < before)
        return at < before;
    struct known *known = cw_grown(f->known, &f->known_room, at, sizeof *known);
    struct cw_provenance_fact *of = &f->facts[key.fact];
    f->known = known ? known : f->known;
    const char *kept = cw_arena_strdup(f->arena, value);
    const char **values = cw_grown((void *)of->values, &of->room, of->value_count, sizeof *values);
    of->values = values ? values : of->values;
    if (!known || !kept || !values)
        return false;
    known[at] = (struct known){key.fact, kept};
    values[of->value_count++] = kept;
    return true;
}

static const char *take_text(void *finding, const struct cw_text_fact *fact, const char *text)
{
    return !*text || add_value(finding, fact, text) ? text : NULL;
}

static bool add_text(struct finding *f, const char *name, enum cw_text_care care, const char *value)
{
    const struct cw_text_fact fact = {name, care};
    return value && add_value(f, &fact, value);
}

static void add_time(struct finding *f, uint64_t ns)
{
    int i = 0;
    while (i < SPANS - 1 && f->spans[i].chunk && f->spans[i].chunk != f->chunk)
        i++;
    struct span *s = &f->spans[i];
    s->chunk = f->chunk;
    s->first_ns = ns && (!s->first_ns || ns < s->first_ns) ? ns : s->first_ns;
    s->last_ns = ns > s->last_ns ? ns : s->last_ns;
}

static bool add_spans(struct finding *f)
{
    bool good = true;
    for (int i = 0; i < SPANS && good; i++)
        for (int last = 0; last < 2 && good && f->spans[i].first_ns; last++) {
            const uint64_t ns = last ? f->spans[i].last_ns : f->spans[i].first_ns;
            const time_t seconds = (time_t)(ns / 1000000000);
            struct tm tm;
            char text[TIME_SIZE] = "";
            f->chunk = f->spans[i].chunk;
            if (gmtime_r(&seconds, &tm) && strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &tm))
                good = add_text(f, "time", CW_TEXT_KEPT, text);
        }
    return good;
}

/* ---- chunks ------------------------------------------------------------------------------------------------------ */

static bool add_process(struct finding *f, uint32_t number)
{
    return add_text(f, "process", CW_TEXT_KEPT, cw_arena_printf(f->arena, "%" PRIu32, number));
}

static bool take_range(struct finding *f, const struct cw_chunk *chunk)
{
    struct cw_reader in;
    cw_reader_quiet(&in, chunk->payload, chunk->size);
    cw_read_bytes(&in, cw_read_u32(&in)); /* name */
    cw_read_bytes(&in, cw_read_u32(&in)); /* kernel */
    cw_read_u32(&in);                     /* device */
    const uint32_t process = cw_read_u32(&in);
    cw_read_bytes(&in, cw_range_head_size(chunk) - in.pos);
    add_time(f, cw_read_u64(&in));
    return add_process(f, process);
}

static void skip_texts(struct cw_reader *in, size_t behind)
{
    for (uint32_t left = cw_read_u32(in); left && in->status == CW_OK; left--) {
        cw_read_bytes(in, cw_read_u32(in));
        cw_read_bytes(in, behind);
    }
}

/* Takes the checksums of modules in the records of a PCSM, or of a SASS with so many metrics. Whoever has the same code
 * recognizes it by them. */
static bool take_modules(struct finding *f, struct cw_reader *in, uint32_t metrics)
{
    uint64_t last = 0;
    bool good = true;
    skip_texts(in, 0); /* functions */
    for (uint32_t left = cw_read_u32(in); left && good && in->status == CW_OK; left--) {
        const uint64_t module = cw_read_u64(in);
        cw_read_bytes(in, 8 + 4 + 4); /* pc, function, symbol */
        if (f->chunk == CW_CHUNK_PC) {
            cw_read_u32(in); /* launch */
            cw_read_bytes(in, (size_t)cw_read_u32(in) * 8);
        }
        for (uint32_t m = 0; m < metrics; m++)
            cw_read_bytes(in, (size_t)cw_read_u32(in) * 8);
        if (in->status == CW_OK && module && module != last)
            good = add_text(f, "checksum of code", CW_TEXT_KEPT, cw_arena_printf(f->arena, "%016" PRIx64, module));
        last = module;
    }
    return good;
}

static bool take_instructions(struct finding *f, const struct cw_chunk *chunk)
{
    struct cw_reader in;
    uint32_t metrics = 0;
    cw_reader_quiet(&in, chunk->payload, chunk->size);
    cw_read_u32(&in); /* device */
    const uint32_t process = cw_read_u32(&in);
    add_time(f, cw_read_u64(&in));
    add_time(f, cw_read_u64(&in));
    if (chunk->type == CW_CHUNK_PC) {
        cw_read_bytes(&in, 1 + 1 + 1 + 8 + 8 + 8); /* mode, period, full, total, dropped, other */
        skip_texts(&in, 0);
    } else {
        cw_read_u64(&in); /* dropped */
        struct cw_reader list = in;
        metrics = cw_read_u32(&list);
        skip_texts(&in, 1); /* level */
    }
    return add_process(f, process) && take_modules(f, &in, metrics);
}

/* Work without counts: how many launches of each sort there were. */
static bool take_uncounted(struct finding *f, const struct cw_chunk *chunk)
{
    struct cw_reader in;
    cw_reader_quiet(&in, chunk->payload, chunk->size);
    cw_read_u32(&in); /* device */
    const uint32_t process = cw_read_u32(&in);
    uint64_t launches = cw_read_u32(&in);
    cw_read_bytes(&in, cw_read_u32(&in)); /* example */
    for (int i = 0; i < 3; i++)
        launches += cw_read_u64(&in);
    return add_process(f, process) &&
           add_text(f, "launches without counts", CW_TEXT_KEPT, cw_arena_printf(f->arena, "%" PRIu64, launches));
}

static bool take_end(struct finding *f, const struct cw_counter_data *data)
{
    return data->how == CW_END_NO_PROGRAM ||
           add_text(
               f, "end of the program", CW_TEXT_KEPT,
               cw_arena_printf(f->arena, "%s %" PRIu32, data->how == CW_END_EXITED ? "status" : "signal", data->code));
}

static bool take_schema(struct finding *f, const struct cw_schema *schema)
{
    bool good = add_text(f, "producer", CW_TEXT_KEPT, schema->producer);
    for (uint32_t i = 0; i < schema->metric_count && good; i++)
        good = add_text(f, "requested metric", CW_TEXT_KEPT, schema->metrics[i]);
    return good;
}

/* Takes the facts of a chunk that are no texts. */
static bool take_numbers(struct finding *f, const struct cw_chunk *chunk, const struct cw_counter_data *data)
{
    struct cw_reader in;
    cw_reader_quiet(&in, chunk->payload, chunk->size);
    const uint32_t first = cw_read_u32(&in), second = cw_read_u32(&in);
    switch (chunk->type) {
    case CW_CHUNK_SCHEMA:
        return take_schema(f, &data->schema);
    case CW_CHUNK_RANGE:
        return take_range(f, chunk);
    case CW_CHUNK_LAUNCHES:
        return add_process(f, first);
    case CW_CHUNK_UNCOUNTED:
        return take_uncounted(f, chunk);
    case CW_CHUNK_PC:
    case CW_CHUNK_SASS:
        return take_instructions(f, chunk);
    case CW_CHUNK_TRACE_PROCESS:
        return add_process(f, second);
    case CW_CHUNK_CLOCK:
        cw_read_u32(&in); /* the rest of the device's time */
        add_time(f, cw_read_u64(&in));
        return true;
    case CW_CHUNK_MODULE:
        return add_text(
            f, "code of kernels", CW_TEXT_PRIVATE,
            cw_arena_printf(f->arena, "%08" PRIx32 "%08" PRIx32 ", %zu bytes", second, first, chunk->size - in.pos));
    case CW_CHUNK_END:
        return take_end(f, data);
    default:
        return true;
    }
}

static enum cw_status take_chunks(struct finding *f, const struct cw_counter_data *data, uint8_t *const *uses,
                                  struct cw_error *err)
{
    struct cw_chunk_walk walk;
    struct cw_chunk chunk;
    struct cw_writer copy;
    bool found = true, truncated;
    enum cw_status status = cw_chunk_walk_begin(&walk, data->input, &cw_counter_data_kind, 0, err);
    walk.gaps = &data->directory->gaps;
    cw_writer_init(&copy);
    while (status == CW_OK && (status = cw_chunk_walk_next(&walk, &chunk, &found, &truncated)) == CW_OK && found) {
        copy.size = 0;
        f->chunk = chunk.type;
        if (cw_capture_texts_take(&chunk, uses, take_text, f, &copy) != CW_OK || !take_numbers(f, &chunk, data))
            status = cw_error_nomem(err);
    }
    cw_writer_free(&copy);
    cw_chunk_walk_end(&walk);
    return status;
}

static bool add_count(struct finding *f, const char *name, uint64_t count)
{
    f->chunk = CW_CHUNK_TRACE_ROWS;
    return !count || add_text(f, name, CW_TEXT_KEPT, cw_arena_printf(f->arena, "%" PRIu64, count));
}

/* ---- the whole capture ------------------------------------------------------------------------------------------- */

static bool has_rows(const struct cw_schema *schema)
{
    return schema->profiler == CW_PROFILER_TRACE || schema->profiler == CW_PROFILER_PM;
}

enum cw_status cw_provenance_read(const struct cw_provenance_fact **facts, uint32_t *count,
                                  const struct cw_counter_data *data, struct cw_arena *arena, struct cw_error *err)
{
    struct finding f = {.arena = arena};
    struct cw_trace trace;
    uint8_t **uses = NULL;
    struct cw_trace_numbers numbers = {0};
    enum cw_status status = CW_OK;
    if (has_rows(&data->schema))
        status = cw_trace_open(&trace, data->devices, data->device_count, data->input, data->input->name, arena, err);
    if (status == CW_OK && has_rows(&data->schema))
        status = cw_trace_uses_find(&uses, &numbers, &trace, arena, err);
    if (status == CW_OK)
        status = take_chunks(&f, data, uses, err);
    f.chunk = CW_CHUNK_TRACE_ROWS;
    add_time(&f, numbers.first_ns);
    add_time(&f, numbers.last_ns);
    if (status == CW_OK && !(add_spans(&f) && add_count(&f, "numbers of NVTX payloads", numbers.payloads) &&
                             add_count(&f, "addresses of memory and code", numbers.addresses)))
        status = cw_error_nomem(err);
    for (uint32_t i = 0; i < f.count; i++)
        if (!cw_arena_adopt(arena, (void *)f.facts[i].values))
            status = cw_error_nomem(err);
    if (!cw_arena_adopt(arena, f.facts))
        status = cw_error_nomem(err);
    cw_hash_table_free(&f.table);
    free(f.known);
    *facts = f.facts;
    *count = f.count;
    return status;
}
