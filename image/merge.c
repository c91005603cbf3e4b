#define _GNU_SOURCE
#include "image/merge.h"

#include <inttypes.h>
#include <math.h>
#include <search.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image/data_chunks.h"
#include "image/pc_data.h"

struct joined {                 /* a device of the result */
    uint32_t number, own;       /* there, and in the input that it came with */
    const char *place;          /* its PCI address, "" where it does not tell */
    const uint8_t *description; /* its chunk behind the number */
    size_t size;
};

struct mapped {        /* a device of the current input */
    uint32_t from, to; /* its number there and in the result */
    bool is_new;       /* to the result */
};

struct merge {
    struct cw_writer *out;
    struct cw_error *err;
    struct cw_arena *arena;
    const struct cw_merge_input *first;
    enum cw_profiler profiler;     /* of the first input */
    void *by_number, *by_likeness; /* trees of the result's devices */
    uint32_t next_number;          /* none below it is free */
    void *modules;                 /* a tree of those that were written: several processes run the same code */
    struct cw_chunk schema, repeats, meanings; /* of the first input; empty before it, and where there are none */
    uint32_t repeat_count, fact_count;
    const char *fact_names[CW_FACTS_MAX]; /* of all inputs */
    uint64_t ranges, dropped;
    bool complete;
    enum cw_capture_end how;
    uint32_t code;
    /* of the current input: */
    const struct cw_counter_data *data;
    void *map;                              /* a tree of them */
    uint32_t fact_at[CW_FACTS_MAX];         /* where its facts stand in the result */
    struct cw_chunk about, repeated, facts; /* what the next range is said to be; empty where nothing is */
};

/* Nodes of trees are the arena's. */
static void *keep(struct merge *m, const void *node, size_t size, void **tree,
                  int (*compare)(const void *, const void *))
{
    void *kept = cw_arena_alloc(m->arena, 1, size);
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

static int by_number(const void *left, const void *right)
{
    const struct joined *a = left, *b = right;
    return compare(a->number, b->number);
}

/* What is described alike is one device, but without an address only where its inputs number it alike, too. */
static int by_likeness(const void *left, const void *right)
{
    const struct joined *a = left, *b = right;
    int order = a->size != b->size ? compare(a->size, b->size) : memcmp(a->description, b->description, a->size);
    return order || *a->place ? order : compare(a->own, b->own);
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

/* Where an earlier input has the device, it stays one. Samples have their device's own clock, and say of the device
 * what is true of one capture alone: theirs never does. */
static const struct joined *find_alike(const struct merge *m, const struct joined *device)
{
    void *const *found = m->profiler == CW_PROFILER_RANGE ? tfind(device, &m->by_likeness, by_likeness) : NULL;
    return found ? *found : NULL;
}

/* The number in the result for a device of the input: its own where that is free, else the lowest that is. NULL when
 * out of memory. */
static const struct mapped *map_device(struct merge *m, struct joined device)
{
    const struct joined *alike = device.size ? find_alike(m, &device) : NULL;
    struct mapped mapped = {device.own, alike ? alike->number : device.own, !alike};
    if (!alike) {
        for (device.number = device.own; tfind(&device, &m->by_number, by_number);)
            device.number = m->next_number++;
        mapped.to = device.number;
        struct joined *kept = keep(m, &device, sizeof device, &m->by_number, by_number);
        if (!kept || (device.size && !tsearch(kept, &m->by_likeness, by_likeness)))
            return NULL;
    }
    return keep(m, &mapped, sizeof mapped, &m->map, by_from);
}

/* Of a chunk DEVC. */
static uint32_t device_number(const struct cw_chunk *chunk)
{
    struct cw_reader in;
    cw_reader_init(&in, chunk->payload, chunk->size, "", 0, NULL);
    return cw_read_u32(&in);
}

static enum cw_status take_device(struct merge *m, const struct cw_merge_input *input, const struct cw_chunk *chunk)
{
    (void)input;
    if (chunk->type != CW_CHUNK_DEVICE)
        return CW_OK;
    uint32_t number = device_number(chunk), index = 0;
    cw_device_find(m->data->devices, m->data->device_count, number, &index); /* which has been read */
    const char *place = cw_device_attribute(&m->data->devices[index], "pci");
    const struct joined device = {.own = number,
                                  .place = place ? cw_arena_strdup(m->arena, place) : "",
                                  .description = chunk->payload + 4,
                                  .size = chunk->size - 4};
    return device.place && map_device(m, device) ? CW_OK : cw_error_nomem(m->err);
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
                 chunk->type == CW_CHUNK_WINDOW || chunk->type == CW_CHUNK_PC || chunk->type == CW_CHUNK_SASS ||
                 chunk->type == CW_CHUNK_GPU_CLOCKS;
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
        /* a capture that died has launches of devices that it had not described yet */
        bool may_lack = chunk->type == CW_CHUNK_LAUNCHES;
        if (!device && may_lack && !(device = map_device(m, (struct joined){.own = number, .place = ""})))
            return cw_error_nomem(m->err);
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
    /* begins with the code's checksum */
    return a->size != b->size ? compare(a->size, b->size) : memcmp(a->payload, b->payload, a->size);
}

static enum cw_status take_module(struct merge *m, const struct cw_merge_input *input, const struct cw_chunk *chunk)
{
    if (tfind(chunk, &m->modules, by_payload))
        return CW_OK;
    return keep(m, chunk, sizeof *chunk, &m->modules, by_payload) ? copy_chunk(m, input, chunk)
                                                                  : cw_error_nomem(m->err);
}

/* Where a name of the current input's facts stands in the result. */
static uint32_t fact_place(const struct merge *m, const char *name)
{
    uint32_t at = 0;
    while (at < m->fact_count && strcmp(m->fact_names[at], name) != 0)
        at++;
    return at;
}

/* Facts in the result's order: inputs may have different ones. */
static enum cw_status take_facts(struct merge *m, const struct cw_merge_input *input)
{
    const struct cw_schema *schema = &m->data->schema;
    double read[CW_FACTS_MAX], facts[CW_FACTS_MAX];
    struct cw_reader file;
    cw_reader_init(&file, input->data, input->size, input->name, 0, m->err);
    enum cw_status status = cw_facts_read(&file, &m->facts, read, schema->fact_count);
    for (uint32_t i = 0; i < m->fact_count; i++)
        facts[i] = NAN;
    for (uint32_t i = 0; i < schema->fact_count; i++)
        facts[m->fact_at[i]] = read[i];
    if (status == CW_OK)
        cw_facts_write(facts, m->fact_count, m->out);
    return status;
}

static enum cw_status take_range(struct merge *m, const struct cw_merge_input *input, const struct cw_chunk *chunk)
{
    enum cw_status status = m->about.type ? copy_chunk(m, input, &m->about) : CW_OK;
    if (status == CW_OK && m->repeated.type)
        status = copy_chunk(m, input, &m->repeated);
    if (status == CW_OK && m->facts.type && m->data->schema.fact_count)
        status = take_facts(m, input);
    m->about = m->repeated = m->facts = (struct cw_chunk){0};
    return status == CW_OK ? copy_chunk(m, input, chunk) : status;
}

/* A text that is cut off at the end of its room. */
struct text {
    char at[600];
    size_t used;
};

__attribute__((format(printf, 2, 3))) static void say(struct text *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(t->at + t->used, sizeof t->at - t->used, format, args);
    va_end(args);
    t->used += n < 0 ? 0 : (size_t)n < sizeof t->at - t->used ? (size_t)n : sizeof t->at - t->used - 1;
}

static int by_name(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static const char *name_of(const struct cw_schema *s, bool counters, uint32_t i)
{
    return counters ? s->counters[i].name : s->metrics[i];
}

static uint32_t count_of(const struct cw_schema *s, bool counters)
{
    return counters ? s->counter_count : s->metric_count;
}

/* "a, b, c and 7 more": what `b` has and `a` lacks. Returns how many that are. */
static uint32_t say_missing(struct merge *m, struct text *t, const struct cw_schema *a, const struct cw_schema *b,
                            bool counters)
{
    enum { SHOWN = 3 };
    uint32_t has = count_of(a, counters), missing = 0;
    const char **sorted = cw_arena_alloc(m->arena, has, sizeof *sorted);
    for (uint32_t i = 0; sorted && i < has; i++)
        sorted[i] = name_of(a, counters, i);
    if (sorted)
        qsort(sorted, has, sizeof *sorted, by_name);
    for (uint32_t i = 0; sorted && i < count_of(b, counters); i++) {
        const char *name = name_of(b, counters, i);
        if (!bsearch(&name, sorted, has, sizeof *sorted, by_name) && missing++ < SHOWN)
            say(t, "%s%.60s", missing > 1 ? ", " : "", name);
    }
    if (missing > SHOWN)
        say(t, " and %" PRIu32 " more", missing - SHOWN);
    return missing;
}

/* What the plan of `a` has otherwise than that of `b`. */
static void say_difference(struct merge *m, struct text *t, const struct cw_schema *a, const struct cw_schema *b)
{
    if (strcmp(a->chip, b->chip) != 0) {
        say(t, "it is of the chip %.30s, not %.30s", a->chip, b->chip);
        return;
    }
    for (int counters = 1; counters >= 0; counters--) {
        const char *what = counters ? "counter" : "metric";
        struct text lacks = {0}, more = {0};
        uint32_t less = say_missing(m, &lacks, a, b, counters), other = say_missing(m, &more, b, a, counters);
        if (less)
            say(t, "it lacks the %s%s %s", what, less > 1 ? "s" : "", lacks.at);
        if (other)
            say(t, "%s the %s%s %s", less ? ", and has" : "it alone has", what, other > 1 ? "s" : "", more.at);
        if (less || other)
            return;
    }
    if (a->pass_count != b->pass_count)
        say(t, "it has %" PRIu32 " passes, not %" PRIu32, a->pass_count, b->pass_count);
    else if (memcmp(a->database, b->database, sizeof a->database) != 0)
        say(t, "it was planned with another version of the chip's database");
    else
        say(t, "its counters lie in other passes, or mean something else");
}

static enum cw_status refuse(struct merge *m, const struct cw_merge_input *input, const struct cw_schema *schema)
{
    bool planned = m->profiler == CW_PROFILER_RANGE || m->profiler == CW_PROFILER_PM;
    struct cw_counter_data first;
    struct text difference = {0};
    enum cw_status status =
        cw_counter_data_read(&first, m->first->data, m->first->size, m->first->name, m->arena, m->err);
    if (status != CW_OK)
        return status;
    say_difference(m, &difference, schema, &first.schema);
    return cw_error_set(m->err, CW_ERR_USAGE, "%s: found a capture of %s than %s, expected the same: %s", input->name,
                        planned ? "another plan" : "other metrics", m->first->name, difference.at);
}

/* What all inputs have to have alike, of which the result has the first's. */
static enum cw_status take_alike(struct merge *m, const struct cw_merge_input *input, const struct cw_chunk *chunk)
{
    struct cw_chunk *own = chunk->type == CW_CHUNK_SCHEMA    ? &m->schema
                           : chunk->type == CW_CHUNK_REPEATS ? &m->repeats
                                                             : &m->meanings;
    if (input == m->first) {
        *own = *chunk;
        enum cw_status status = copy_chunk(m, input, chunk);
        if (chunk->type == CW_CHUNK_SCHEMA)
            cw_schema_write_fact_names(m->fact_names, m->fact_count, m->out);
        return status;
    }
    if (own->size != chunk->size || memcmp(own->payload, chunk->payload, chunk->size) != 0)
        return refuse(m, input, &m->data->schema);
    return CW_OK;
}

static enum cw_status take_chunk(struct merge *m, const struct cw_merge_input *input, const struct cw_chunk *chunk)
{
    switch (chunk->type) {
    case CW_CHUNK_SCHEMA:
    case CW_CHUNK_REPEATS:
    case CW_CHUNK_MEANINGS:
        return take_alike(m, input, chunk);
    case CW_CHUNK_DEVICE:
        return find_mapped(m, device_number(chunk))->is_new ? copy_chunk(m, input, chunk) : CW_OK;
    case CW_CHUNK_MODULE:
        return take_module(m, input, chunk);
    case CW_CHUNK_ABOUT:
        m->about = *chunk;
        return CW_OK;
    case CW_CHUNK_REPEATED:
        m->repeated = *chunk;
        return CW_OK;
    case CW_CHUNK_FACTS:
        m->facts = *chunk;
        return CW_OK;
    case CW_CHUNK_RANGE:
        return take_range(m, input, chunk);
    case CW_CHUNK_SAMPLES:
    case CW_CHUNK_CLOCK:
    case CW_CHUNK_WINDOW:
    case CW_CHUNK_LAUNCHES:
    case CW_CHUNK_PC:
    case CW_CHUNK_SASS:
    case CW_CHUNK_GPU_CLOCKS:
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
        struct cw_schema schema = data->schema;
        schema.fact_count = m->fact_count;
        cw_schema_write_header(&schema, m->out);
    }
    if (data->schema.profiler != m->profiler)
        return cw_error_set(m->err, CW_ERR_USAGE, "%s: found a capture of the profiler %s, expected %s, which %s is of",
                            input->name, cw_profiler_names[data->schema.profiler], cw_profiler_names[m->profiler],
                            m->first->name);
    return data->schema.repeat_count == m->repeat_count ? CW_OK : refuse(m, input, &data->schema);
}

static enum cw_status take_data(struct merge *m, const struct cw_merge_input *input, const struct cw_counter_data *data)
{
    m->data = data;
    m->about = m->repeated = m->facts = (struct cw_chunk){0};
    for (uint32_t i = 0; i < data->schema.fact_count; i++)
        m->fact_at[i] = fact_place(m, data->schema.fact_names[i]);
    enum cw_status status = walk(m, input, take_device);
    if (status == CW_OK)
        status = walk(m, input, take_chunk);
    tdestroy(m->map, leave);
    m->map = NULL;
    m->ranges += data->range_count;
    m->dropped += data->dropped;
    m->complete = m->complete && data->complete;
    if (data->complete && m->how != CW_END_SIGNALLED && !m->code) {
        m->how = data->how;
        m->code = data->code;
    }
    return status;
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
    if (status == CW_OK)
        status = take_data(m, input, &data);
    cw_arena_destroy(arena);
    return status;
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

/* They stand before the ranges. What is wrong with an input is told when it is read in whole. */
static enum cw_status find_fact_names(struct merge *m, const struct cw_merge_input *input)
{
    struct cw_reader file, in;
    struct cw_chunk chunk;
    bool found = true, truncated = false;
    cw_reader_init(&file, input->data, input->size, input->name, 0, NULL);
    cw_chunk_check_header(&file, &cw_counter_data_kind);
    while (cw_chunk_next(&file, &chunk, &found, &truncated) == CW_OK && found && chunk.type != CW_CHUNK_RANGE) {
        struct cw_schema names = {0};
        if (chunk.type != CW_CHUNK_FACT_NAMES)
            continue;
        cw_chunk_open(&file, &chunk, &in);
        cw_schema_read_fact_names(&names, &in, m->arena);
        if (in.status != CW_OK)
            return in.status == CW_ERR_NOMEM ? cw_error_nomem(m->err) : CW_OK;
        return add_fact_names(m, &names);
    }
    return CW_OK;
}

enum cw_status cw_counter_data_merge(struct cw_writer *out, const struct cw_merge_input *inputs, size_t count,
                                     struct cw_error *err)
{
    struct merge m = {.out = out, .err = err, .first = inputs, .complete = true, .arena = cw_arena_create()};
    enum cw_status status = m.arena ? CW_OK : cw_error_nomem(err);
    if (!count)
        status = cw_error_set(err, CW_ERR_USAGE, "found no capture to merge, expected one at least");
    for (size_t i = 0; i < count && status == CW_OK; i++)
        status = find_fact_names(&m, &inputs[i]);
    for (size_t i = 0; i < count && status == CW_OK; i++)
        status = take_input(&m, &inputs[i]);
    if (status == CW_OK && m.complete)
        cw_counter_data_write_end(m.ranges, m.dropped, m.how, m.code, out);
    tdestroy(m.by_likeness, leave);
    tdestroy(m.by_number, leave);
    tdestroy(m.modules, leave);
    cw_arena_destroy(m.arena);
    return status == CW_OK && out->status != CW_OK ? cw_error_nomem(err) : status;
}
