#include "eval/samples/instructions.h"

#include <stdlib.h>
#include <string.h>

#include "eval/samples/texts.h"

/* ---- rows that add up ------------------------------------------------------------------------------------------- */

/* Merges rows of equal keys now and then, so that a long capture needs room for distinct rows only. */
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

static int compare_pc(const void *left, const void *right)
{
    const struct cw_pc_row *a = left, *b = right;
    int order = order_u64(a->device, b->device);
    order = order ? order : order_u64(a->process, b->process);
    order = order ? order : order_u64(a->launch, b->launch);
    order = order ? order : cw_place_compare(&a->at, &b->at);
    return order ? order : cw_text_compare(a->reason, b->reason);
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
    order = order ? order : cw_place_compare(&a->at, &b->at);
    order = order ? order : cw_text_compare(a->metric, b->metric);
    order = order ? order : cw_text_compare(a->level, b->level);
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
    struct cw_texts texts;
    struct cw_arena *arena;
};

static bool order_texts(struct make *m)
{
    for (uint32_t i = 0; i < m->raw->pc_count; i++) {
        const struct cw_pc_batch *b = &m->raw->pc[i];
        for (uint32_t k = 0; k < b->reason_count; k++)
            cw_texts_note(&m->texts, b->reasons[k]);
        for (uint32_t k = 0; k < b->record_count; k++)
            cw_texts_note(&m->texts, b->records[k].at.function);
    }
    for (uint32_t i = 0; i < m->raw->sass_count; i++) {
        const struct cw_sass_batch *b = &m->raw->sass[i];
        for (uint32_t k = 0; k < b->metric_count; k++)
            cw_texts_note(&m->texts, b->metrics[k].name);
        for (uint32_t k = 0; k < b->record_count; k++)
            cw_texts_note(&m->texts, b->records[k].at.function);
    }
    for (int level = 0; level < CW_SASS_LEVEL__COUNT; level++)
        cw_texts_note(&m->texts, cw_sass_level_names[level]);
    return cw_texts_order(&m->texts, m->arena);
}

static struct cw_place place(const struct make *m, const struct cw_instruction *at)
{
    return (struct cw_place){.function = cw_texts_one(&m->texts, at->function), .module = at->module, .offset = at->pc};
}

static bool add_pc_batch(const struct make *m, struct rows *rows, const struct cw_pc_batch *b)
{
    struct cw_pc_row row = {.device = b->device, .process = b->process};
    for (uint32_t i = 0; i < b->record_count; i++) {
        const struct cw_pc_record *r = &b->records[i];
        row.at = place(m, &r->at);
        row.launch = r->launch;
        for (uint32_t k = 0; k < r->stall_count; k++) {
            row.reason = cw_texts_one(&m->texts, b->reasons[r->stalls[k].reason]);
            row.samples = r->stalls[k].samples;
            if (!add(rows, &row))
                return false;
        }
    }
    return true;
}

static bool add_sass_batch(const struct make *m, struct rows *rows, const struct cw_sass_batch *b)
{
    struct cw_sass_row row = {.device = b->device, .process = b->process};
    for (uint32_t i = 0; i < b->record_count; i++) {
        const struct cw_sass_record *r = &b->records[i];
        row.at = place(m, &r->at);
        for (uint32_t k = 0; k < b->metric_count; k++) {
            row.metric = cw_texts_one(&m->texts, b->metrics[k].name);
            row.level = cw_texts_one(&m->texts, cw_sass_level_names[b->metrics[k].level]);
            row.instances = r->counts[k];
            if (!row.instances) /* another record of the instruction has this metric */
                continue;
            row.values = cw_arena_alloc(m->arena, r->counts[k], sizeof *row.values);
            if (!row.values)
                return false;
            memcpy(row.values, r->values[k], row.instances * sizeof *row.values);
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

/* Whether `twin` is the reason "X_not_issued" for the X of `row`, of the same instruction. */
static bool is_twin(const struct cw_pc_row *row, const struct cw_pc_row *twin)
{
    static const char ending[] = "_not_issued";
    const size_t length = strlen(row->reason);
    return strncmp(twin->reason, row->reason, length) == 0 && strcmp(twin->reason + length, ending) == 0;
}

static bool same_instruction(const struct cw_pc_row *a, const struct cw_pc_row *b)
{
    return a->device == b->device && a->process == b->process && a->launch == b->launch &&
           cw_place_compare(&a->at, &b->at) == 0;
}

/* A twin counts again the samples of its reason in which the scheduler issued nothing: it becomes a part of the
 * reason's row. A twin without a sampled reason stays a row. Returns the count of rows. */
static size_t join_twins(struct cw_pc_row *rows, size_t count)
{
    size_t kept = 0, first = 0; /* row of the instruction */
    for (size_t i = 0; i < count; i++) {
        struct cw_pc_row row = rows[i];
        size_t low = first = kept && same_instruction(&rows[kept - 1], &row) ? first : kept, high = kept;
        const size_t length = strlen(row.reason), ending = sizeof "_not_issued" - 1;
        while (length > ending && low < high) { /* rows are in the order of their reasons */
            const size_t middle = low + (high - low) / 2;
            const int order = strncmp(rows[middle].reason, row.reason, length - ending);
            if (order > 0 || (order == 0 && rows[middle].reason[length - ending]))
                high = middle;
            else if (order == 0)
                low = high = middle;
            else
                low = middle + 1;
        }
        if (low < kept && length > ending && is_twin(&rows[low], &row)) {
            rows[low].not_issued = row.samples;
            continue;
        }
        row.not_issued = length > ending && strcmp(row.reason + length - ending, "_not_issued") == 0 ? row.samples : 0;
        rows[kept++] = row;
    }
    return kept;
}

static bool make_pc(struct make *m)
{
    struct cw_instructions *out = m->out;
    struct rows rows = {.size = sizeof(struct cw_pc_row), .compare = compare_pc, .absorb = absorb_pc};
    struct cw_pc_batch_row *batches = cw_arena_alloc(m->arena, m->raw->pc_count, sizeof *batches);
    bool good = batches != NULL;
    for (uint32_t i = 0; good && i < m->raw->pc_count; i++) {
        const struct cw_pc_batch *b = &m->raw->pc[i];
        good = add_pc_batch(m, &rows, b);
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
    struct cw_pc_row *own = good ? finish(&rows, m->arena) : NULL;
    out->pc = own;
    out->pc_count = own ? join_twins(own, rows.count) : 0;
    free(rows.at);
    return own != NULL;
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
        good = add_sass_batch(m, &rows, &m->raw->sass[i]);
        out->dropped += m->raw->sass[i].dropped;
        note_time(out, m->raw->sass[i].start_ns, m->raw->sass[i].end_ns);
    }
    struct cw_sass_row *own = good ? finish(&rows, m->arena) : NULL;
    out->sass = own;
    out->sass_count = rows.count;
    free(rows.at);
    return own && lay_out_values(out, own, m->arena);
}

/* ---- all -------------------------------------------------------------------------------------------------------- */

static enum cw_status resolve(struct make *m, const char *disassembler, struct cw_error *err)
{
    struct cw_instructions *out = m->out;
    size_t count = out->pc_count + out->sass_count;
    struct cw_place **places = calloc(count + 1, sizeof *places);
    if (!places)
        return cw_error_nomem(err);
    for (size_t i = 0; i < out->pc_count; i++)
        places[i] = &((struct cw_pc_row *)out->pc)[i].at;
    for (size_t i = 0; i < out->sass_count; i++)
        places[out->pc_count + i] = &((struct cw_sass_row *)out->sass)[i].at;
    enum cw_status status = cw_places_resolve(places, count, m->raw->modules, m->raw->module_count, disassembler,
                                              &out->left, m->arena, err);
    free(places);
    return status;
}

enum cw_status cw_instructions_make(struct cw_instructions *out, const struct cw_counter_data *data,
                                    const struct cw_pc_data *raw, const char *source, const char *disassembler,
                                    struct cw_arena *arena, struct cw_error *err)
{
    *out = (struct cw_instructions){
        .data = data, .source = source, .module_count = raw->module_count, .disassembled = disassembler};
    struct make m = {.out = out, .raw = raw, .arena = arena};
    bool good = order_texts(&m) && make_pc(&m) && make_sass(&m);
    cw_texts_free(&m.texts);
    return good ? resolve(&m, disassembler, err) : cw_error_nomem(err);
}
