#include "eval/instructions.h"

#include <stdlib.h>
#include <string.h>

#include "eval/lines.h"
#include "host/base/demangle.h"

/* ---- rows that add up ------------------------------------------------------------------------------------------- */

/* Rows of equal keys become one now and then, so that a long capture needs no more room than its distinct rows. */
struct rows {
    char *at;
    size_t count, capacity, merged, size;
    int (*compare)(const void *, const void *);
    void (*absorb)(void *into, const void *from);
};
enum { ROWS_AT_LEAST = 1 << 16 };

static void merge(struct rows *r)
{
    size_t kept = 0;
    if (r->count)
        qsort(r->at, r->count, r->size, r->compare);
    for (size_t i = 0; i < r->count; i++) {
        char *row = r->at + i * r->size, *last = kept ? r->at + (kept - 1) * r->size : NULL;
        if (last && r->compare(last, row) == 0)
            r->absorb(last, row);
        else
            memmove(r->at + kept++ * r->size, row, r->size);
    }
    r->count = r->merged = kept;
}

static bool add(struct rows *r, const void *row)
{
    if (r->count == r->capacity && r->count > 2 * r->merged)
        merge(r);
    if (r->count == r->capacity) {
        size_t capacity = r->capacity ? 2 * r->capacity : ROWS_AT_LEAST;
        char *grown = realloc(r->at, capacity * r->size);
        if (!grown)
            return false;
        r->at = grown;
        r->capacity = capacity;
    }
    memcpy(r->at + r->count++ * r->size, row, r->size);
    return true;
}

/* The merged rows in memory of the arena; NULL when out of memory. */
static void *finish(struct rows *r, struct cw_arena *arena)
{
    merge(r);
    void *own = cw_arena_alloc(arena, r->count, r->size);
    if (own && r->count)
        memcpy(own, r->at, r->count * r->size);
    return own;
}

/* ---- keys ------------------------------------------------------------------------------------------------------- */

static int order_u64(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int order_text(const char *a, const char *b)
{
    return a == b ? 0 : strcmp(a, b);
}

static int order_places(const struct cw_place *a, const struct cw_place *b)
{
    int order = order_text(a->function, b->function);
    order = order ? order : order_u64(a->module, b->module);
    return order ? order : order_u64(a->offset, b->offset);
}

static int compare_pc(const void *left, const void *right)
{
    const struct cw_pc_row *a = left, *b = right;
    int order = order_u64(a->device, b->device);
    order = order ? order : order_u64(a->process, b->process);
    order = order ? order : order_u64(a->launch, b->launch);
    order = order ? order : order_places(&a->at, &b->at);
    return order ? order : order_text(a->reason, b->reason);
}

static void absorb_pc(void *into, const void *from)
{
    ((struct cw_pc_row *)into)->samples += ((const struct cw_pc_row *)from)->samples;
}

static int compare_sass(const void *left, const void *right)
{
    const struct cw_sass_row *a = left, *b = right;
    int order = order_u64(a->device, b->device);
    order = order ? order : order_u64(a->process, b->process);
    order = order ? order : order_places(&a->at, &b->at);
    order = order ? order : order_text(a->metric, b->metric);
    order = order ? order : order_text(a->level, b->level);
    return order ? order : order_u64(a->instances, b->instances);
}

static void absorb_sass(void *into, const void *from)
{
    struct cw_sass_row *a = into;
    const struct cw_sass_row *b = from;
    for (uint64_t i = 0; i < a->instances; i++)
        a->values[i] += b->values[i];
}

/* ---- batches to rows -------------------------------------------------------------------------------------------- */

struct make {
    struct cw_instructions *out;
    const struct cw_pc_data *raw;
    struct cw_arena *arena;
    const struct cw_lines **lines; /* of each module, once read */
    bool *read;
};

static struct cw_place place(const struct cw_instruction *at)
{
    return (struct cw_place){.function = at->function, .module = at->module, .offset = at->pc, .name = "", .file = ""};
}

static bool add_pc_batch(struct rows *rows, const struct cw_pc_batch *b)
{
    struct cw_pc_row row = {.device = b->device, .process = b->process};
    for (uint32_t i = 0; i < b->record_count; i++) {
        const struct cw_pc_record *r = &b->records[i];
        row.at = place(&r->at);
        row.launch = r->launch;
        for (uint32_t k = 0; k < r->stall_count; k++) {
            row.reason = b->reasons[r->stalls[k].reason];
            row.samples = r->stalls[k].samples;
            if (!add(rows, &row))
                return false;
        }
    }
    return true;
}

static bool add_sass_batch(struct rows *rows, const struct cw_sass_batch *b, struct cw_arena *arena)
{
    struct cw_sass_row row = {.device = b->device, .process = b->process};
    for (uint32_t i = 0; i < b->record_count; i++) {
        const struct cw_sass_record *r = &b->records[i];
        row.at = place(&r->at);
        for (uint32_t m = 0; m < b->metric_count; m++) {
            row.metric = b->metrics[m].name;
            row.level = cw_sass_level_names[b->metrics[m].level];
            row.instances = r->counts[m];
            if (!row.instances) /* another record of the instruction has this metric */
                continue;
            row.values = cw_arena_alloc(arena, r->counts[m], sizeof *row.values);
            if (!row.values)
                return false;
            memcpy(row.values, r->values[m], row.instances * sizeof *row.values);
            if (!add(rows, &row))
                return false;
        }
    }
    return true;
}

static void note_time(struct cw_instructions *out, uint64_t start_ns, uint64_t end_ns)
{
    if (!out->first_ns || start_ns < out->first_ns)
        out->first_ns = start_ns;
    if (end_ns > out->last_ns)
        out->last_ns = end_ns;
}

static bool make_pc(struct make *m)
{
    struct cw_instructions *out = m->out;
    struct rows rows = {.size = sizeof(struct cw_pc_row), .compare = compare_pc, .absorb = absorb_pc};
    struct cw_pc_batch_row *batches = cw_arena_alloc(m->arena, m->raw->pc_count, sizeof *batches);
    bool good = batches != NULL;
    for (uint32_t i = 0; good && i < m->raw->pc_count; i++) {
        const struct cw_pc_batch *b = &m->raw->pc[i];
        good = add_pc_batch(&rows, b);
        batches[i] = (struct cw_pc_batch_row){.device = b->device,
                                              .process = b->process,
                                              .period = b->period,
                                              .serialized = b->mode == CW_PC_SERIALIZED,
                                              .buffer_full = b->buffer_full,
                                              .start_ns = b->start_ns,
                                              .end_ns = b->end_ns,
                                              .total = b->total,
                                              .dropped = b->dropped,
                                              .other = b->other};
        out->total += b->total;
        out->dropped += b->dropped;
        out->other += b->other;
        out->full_buffers += b->buffer_full;
        note_time(out, b->start_ns, b->end_ns);
    }
    out->batches = batches;
    out->batch_count = m->raw->pc_count;
    out->pc = good ? finish(&rows, m->arena) : NULL;
    out->pc_count = rows.count;
    free(rows.at);
    return out->pc != NULL;
}

/* Rollups, and all values one after another. */
static bool lay_out_values(struct cw_instructions *out, struct cw_sass_row *rows, struct cw_arena *arena)
{
    for (size_t i = 0; i < out->sass_count; i++)
        out->value_count += rows[i].instances;
    uint64_t *values = cw_arena_alloc(arena, out->value_count, sizeof *values), first = 0;
    for (size_t i = 0; values && i < out->sass_count; i++) {
        struct cw_sass_row *r = &rows[i];
        r->first = first;
        r->min = r->values[0];
        for (uint64_t k = 0; k < r->instances; k++) {
            values[first++] = r->values[k];
            r->sum += r->values[k];
            r->min = r->values[k] < r->min ? r->values[k] : r->min;
            r->max = r->values[k] > r->max ? r->values[k] : r->max;
        }
    }
    out->values = values;
    return values != NULL;
}

static bool make_sass(struct make *m)
{
    struct cw_instructions *out = m->out;
    struct rows rows = {.size = sizeof(struct cw_sass_row), .compare = compare_sass, .absorb = absorb_sass};
    bool good = true;
    for (uint32_t i = 0; good && i < m->raw->sass_count; i++) {
        good = add_sass_batch(&rows, &m->raw->sass[i], m->arena);
        out->dropped += m->raw->sass[i].dropped;
        note_time(out, m->raw->sass[i].start_ns, m->raw->sass[i].end_ns);
    }
    struct cw_sass_row *own = good ? finish(&rows, m->arena) : NULL;
    out->sass = own;
    out->sass_count = rows.count;
    free(rows.at);
    return own && lay_out_values(out, own, m->arena);
}

/* ---- places ----------------------------------------------------------------------------------------------------- */

static const struct cw_lines *lines_of(struct make *m, uint64_t crc)
{
    /* the low half of the number is enough: SASS records have no more */
    for (uint32_t i = 0; i < m->raw->module_count; i++) {
        const struct cw_module *module = &m->raw->modules[i];
        if ((uint32_t)module->crc != (uint32_t)crc)
            continue;
        if (!m->read[i])
            m->lines[i] = cw_lines_read(module->code, module->size, m->arena);
        m->read[i] = true;
        return m->lines[i];
    }
    return NULL;
}

static const char *readable(struct make *m, const char *function)
{
    char *text = cw_demangle(function);
    const char *own = text ? cw_arena_strdup(m->arena, text) : function;
    free(text);
    return own ? own : function;
}

/* `last` is the place before, which mostly is of the same function. */
static void resolve(struct make *m, struct cw_place *at, const struct cw_place *last)
{
    at->name = last && order_text(last->function, at->function) == 0 ? last->name : readable(m, at->function);
    cw_lines_find(lines_of(m, at->module), at->function, at->offset, &at->file, &at->line);
}

enum cw_status cw_instructions_make(struct cw_instructions *out, const struct cw_counter_data *data,
                                    const struct cw_pc_data *raw, const char *source, struct cw_arena *arena,
                                    struct cw_error *err)
{
    *out = (struct cw_instructions){.data = data, .source = source, .module_count = raw->module_count};
    struct make m = {.out = out,
                     .raw = raw,
                     .arena = arena,
                     .lines = cw_arena_alloc(arena, raw->module_count, sizeof *m.lines),
                     .read = cw_arena_alloc(arena, raw->module_count, sizeof *m.read)};
    if (!m.lines || !m.read || !make_pc(&m) || !make_sass(&m))
        return cw_error_nomem(err);
    struct cw_pc_row *pc = (struct cw_pc_row *)out->pc;
    for (size_t i = 0; i < out->pc_count; i++)
        resolve(&m, &pc[i].at, i ? &pc[i - 1].at : NULL);
    struct cw_sass_row *sass = (struct cw_sass_row *)out->sass;
    for (size_t i = 0; i < out->sass_count; i++)
        resolve(&m, &sass[i].at, i ? &sass[i - 1].at : NULL);
    return CW_OK;
}

/* ---- tables ----------------------------------------------------------------------------------------------------- */

#define PLACE(type)                                                                                                    \
    {"function", CW_FIELD_TEXT, offsetof(type, at.function)}, {"name", CW_FIELD_TEXT, offsetof(type, at.name)},        \
        {"module", CW_FIELD_U64, offsetof(type, at.module)}, {"offset", CW_FIELD_U64, offsetof(type, at.offset)},      \
        {"file", CW_FIELD_TEXT, offsetof(type, at.file)},                                                              \
    {                                                                                                                  \
        "line", CW_FIELD_U32, offsetof(type, at.line)                                                                  \
    }
#define FIELD(type, kind, member)                                                                                      \
    {                                                                                                                  \
#member, kind, offsetof(struct type, member)                                                                   \
    }

static const struct cw_field pc_fields[] = {
    FIELD(cw_pc_row, CW_FIELD_U32, device),  FIELD(cw_pc_row, CW_FIELD_U32, process),
    FIELD(cw_pc_row, CW_FIELD_U32, launch),  PLACE(struct cw_pc_row),
    FIELD(cw_pc_row, CW_FIELD_TEXT, reason), FIELD(cw_pc_row, CW_FIELD_U64, samples),
};
static const struct cw_field batch_fields[] = {
    FIELD(cw_pc_batch_row, CW_FIELD_U32, device),      FIELD(cw_pc_batch_row, CW_FIELD_U32, process),
    FIELD(cw_pc_batch_row, CW_FIELD_U32, period),      FIELD(cw_pc_batch_row, CW_FIELD_U32, serialized),
    FIELD(cw_pc_batch_row, CW_FIELD_U32, buffer_full), FIELD(cw_pc_batch_row, CW_FIELD_U64, start_ns),
    FIELD(cw_pc_batch_row, CW_FIELD_U64, end_ns),      FIELD(cw_pc_batch_row, CW_FIELD_U64, total),
    FIELD(cw_pc_batch_row, CW_FIELD_U64, dropped),     FIELD(cw_pc_batch_row, CW_FIELD_U64, other),
};
static const struct cw_field sass_fields[] = {
    FIELD(cw_sass_row, CW_FIELD_U32, device),
    FIELD(cw_sass_row, CW_FIELD_U32, process),
    PLACE(struct cw_sass_row),
    FIELD(cw_sass_row, CW_FIELD_TEXT, metric),
    FIELD(cw_sass_row, CW_FIELD_TEXT, level),
    FIELD(cw_sass_row, CW_FIELD_U64, instances),
    FIELD(cw_sass_row, CW_FIELD_U64, first),
    FIELD(cw_sass_row, CW_FIELD_U64, sum),
    FIELD(cw_sass_row, CW_FIELD_U64, min),
    FIELD(cw_sass_row, CW_FIELD_U64, max),
};
static const struct cw_field value_fields[] = {{"value", CW_FIELD_U64, 0}};

#define TABLE(name, rows, count, fields)                                                                               \
    ((struct cw_records){name, rows, count, sizeof *(rows), fields, sizeof(fields) / sizeof *(fields)})

size_t cw_instructions_records(const struct cw_instructions *in, struct cw_records tables[CW_INSTRUCTION_TABLES])
{
    if (in->data->schema.profiler == CW_PROFILER_SASS) {
        tables[0] = TABLE("records", in->sass, in->sass_count, sass_fields);
        tables[1] = TABLE("values", in->values, in->value_count, value_fields);
    } else {
        tables[0] = TABLE("samples", in->pc, in->pc_count, pc_fields);
        tables[1] = TABLE("batches", in->batches, in->batch_count, batch_fields);
    }
    return 2;
}
