#define _GNU_SOURCE
#include "foreign/trace_maker.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/hash_table.h"
#include "base/utf8.h"
#include "foreign/chip.h"
#include "image/counter_data.h"

enum { BLOCK = 8192, MOST_PROCESSES = 256, MOST_ATTRIBUTES = 8, MOST_GPUS = 1024, MOST_OF_GPU = 16 };

struct rows {
    uint64_t *values; /* [row][field of the kind] */
    size_t count, room;
};

struct shape {
    uint64_t of[CW_TRACE_KIND_FIELDS_MAX];
};

struct process {
    uint64_t key;
    struct cw_trace_process about;
    struct cw_pair attributes[MOST_ATTRIBUTES];
    struct cw_trace_device *devices;
    char **texts; /* the first is "" */
    size_t text_count, text_room, text_written;
    struct cw_hash_table text_table, shape_table;
    struct shape *shapes;
    size_t shape_room;
    bool written; /* as it is now */
    struct rows rows[CW_TRACE_KIND__COUNT];
};

struct gpu {
    uint32_t number, count;
    const char *chip;
    struct cw_pair attributes[MOST_OF_GPU + 4];
    bool written;
};

struct cw_trace_maker {
    const char *from, *source;
    struct cw_error *err;
    enum cw_status status;
    struct cw_arena *arena;
    struct cw_spool spool;
    bool begun;
    struct process *processes[MOST_PROCESSES];
    uint32_t process_count, introduced, gpu_count, last;
    struct gpu *gpus;
    size_t gpu_room;
};

void cw_made_row_begin(cw_made_row row)
{
    for (int f = 0; f < CW_FIELD__COUNT; f++)
        row[f] = cw_trace_unknown(cw_trace_fields[f].type);
}

static void fail_memory(struct cw_trace_maker *m)
{
    if (m->status == CW_OK)
        m->status = cw_error_nomem(m->err);
}

struct cw_trace_maker *cw_trace_maker_create(const char *from, const char *source, struct cw_error *err)
{
    struct cw_trace_maker *m = calloc(1, sizeof *m);
    if (m)
        *m = (struct cw_trace_maker){.from = from, .source = source, .err = err, .arena = cw_arena_create()};
    if (m && m->arena)
        return m;
    free(m);
    cw_error_nomem(err);
    return NULL;
}

static void free_process(struct process *p)
{
    for (size_t i = 0; i < p->text_count; i++)
        free(p->texts[i]);
    for (int k = 0; k < CW_TRACE_KIND__COUNT; k++)
        free(p->rows[k].values);
    cw_hash_table_free(&p->text_table);
    cw_hash_table_free(&p->shape_table);
    free(p->texts);
    free(p->shapes);
    free(p->devices);
    free(p);
}

void cw_trace_maker_free(struct cw_trace_maker *m)
{
    if (!m)
        return;
    for (uint32_t i = 0; i < m->process_count; i++)
        free_process(m->processes[i]);
    free(m->gpus);
    cw_spool_free(&m->spool);
    cw_arena_destroy(m->arena);
    free(m);
}

bool cw_trace_maker_failed(const struct cw_trace_maker *m)
{
    return m->status != CW_OK;
}

/* ---- GPUs ------------------------------------------------------------------------------------------------------- */

static struct gpu *find_gpu(const struct cw_trace_maker *m, uint32_t number)
{
    for (uint32_t i = 0; i < m->gpu_count; i++)
        if (m->gpus[i].number == number)
            return &m->gpus[i];
    return NULL;
}

static enum cw_status find_chip(struct cw_trace_maker *m, struct gpu *g)
{
    const char *name = cw_pair_find(g->attributes, g->count, "name"), *path;
    const char *major = cw_pair_find(g->attributes, g->count, "compute_capability_major");
    const char *minor = cw_pair_find(g->attributes, g->count, "compute_capability_minor");
    char capability[64] = "";
    if (major && minor)
        snprintf(capability, sizeof capability, "sm_%s%s", major, minor);
    const enum cw_status status = cw_foreign_chip(&path, &g->chip, name ? name : "", capability, m->arena, m->err);
    if (status != CW_ERR_USAGE)
        return status;
    g->chip = "unknown";
    return CW_OK;
}

void cw_trace_maker_gpu(struct cw_trace_maker *m, uint32_t number, const struct cw_pair *attributes, uint32_t count)
{
    if (m->status != CW_OK || find_gpu(m, number))
        return;
    if (m->gpu_count == MOST_GPUS) {
        m->status =
            cw_error_set(m->err, CW_ERR_INPUT, "%s: found more than %d GPUs, expected no more", m->source, MOST_GPUS);
        return;
    }
    struct gpu *grown = cw_grown(m->gpus, &m->gpu_room, m->gpu_count, sizeof *grown);
    count = count < MOST_OF_GPU ? count : MOST_OF_GPU;
    const struct cw_pair *copy = grown ? cw_pairs_copy(attributes, count, m->arena) : NULL;
    m->gpus = grown ? grown : m->gpus;
    if (!copy) {
        fail_memory(m);
        return;
    }
    struct gpu *g = &m->gpus[m->gpu_count++];
    *g = (struct gpu){.number = number, .count = count};
    if (count)
        memcpy(g->attributes, copy, count * sizeof *copy);
    m->status = find_chip(m, g);
    if (!cw_pair_find(g->attributes, g->count, "name"))
        g->attributes[g->count++] = (struct cw_pair){"name", "unknown"};
    g->attributes[g->count++] = (struct cw_pair){"chip", g->chip};
    g->attributes[g->count++] = (struct cw_pair){"backend", m->from};
    g->attributes[g->count++] = (struct cw_pair){"simulated", "no"};
}

/* ---- processes and texts ---------------------------------------------------------------------------------------- */

static bool add_text(struct process *p, const char *text)
{
    char **grown = cw_grown(p->texts, &p->text_room, p->text_count, sizeof *grown);
    char *copy = strdup(text);
    p->texts = grown ? grown : p->texts;
    if (!grown || !copy) {
        free(copy);
        return false;
    }
    cw_utf8_force(copy, strlen(copy));
    p->texts[p->text_count++] = copy;
    return true;
}

uint32_t cw_trace_maker_process(struct cw_trace_maker *m, uint64_t key, uint32_t pid)
{
    if (m->last < m->process_count && m->processes[m->last]->key == key)
        return m->last;
    for (m->last = 0; m->last < m->process_count; m->last++)
        if (m->processes[m->last]->key == key)
            return m->last;
    m->last = 0;
    if (m->process_count == MOST_PROCESSES && m->status == CW_OK)
        m->status = cw_error_set(m->err, CW_ERR_UNSUPPORTED, "%s: found more than %d processes, expected no more",
                                 m->source, MOST_PROCESSES);
    if (m->status != CW_OK)
        return 0;
    struct process *p = calloc(1, sizeof *p);
    if (!p || !(p->devices = calloc(CW_TRACE_DEVICES_MAX, sizeof *p->devices)) || !add_text(p, "")) {
        if (p)
            free_process(p);
        fail_memory(m);
        return 0;
    }
    p->key = key;
    p->about = (struct cw_trace_process){.pid = pid, .attributes = p->attributes, .devices = p->devices};
    p->text_written = 1;
    m->processes[m->process_count] = p;
    m->last = m->process_count++;
    cw_trace_maker_text(m, m->last, m->from); /* rows may name the empty text only where there are others */
    return m->last;
}

/* NULL after a failure. */
static struct process *process_of(struct cw_trace_maker *m, uint32_t process)
{
    return m->status == CW_OK ? m->processes[process] : NULL;
}

void cw_trace_maker_pid(struct cw_trace_maker *m, uint32_t process, uint32_t pid)
{
    struct process *p = process_of(m, process);
    if (!p || p->about.pid == pid)
        return;
    p->about.pid = pid;
    p->written = false;
}

void cw_trace_maker_attribute(struct cw_trace_maker *m, uint32_t process, const char *key, const char *value)
{
    struct process *p = process_of(m, process);
    if (!p || p->about.attribute_count == MOST_ATTRIBUTES || cw_pair_find(p->attributes, p->about.attribute_count, key))
        return;
    const struct cw_pair *copy = cw_pairs_copy(&(const struct cw_pair){key, value}, 1, m->arena);
    if (!copy) {
        fail_memory(m);
        return;
    }
    p->attributes[p->about.attribute_count++] = *copy;
    p->written = false;
}

void cw_trace_maker_device(struct cw_trace_maker *m, uint32_t process, uint32_t device, uint32_t gpu)
{
    struct process *p = process_of(m, process);
    for (uint32_t i = 0; p && i < p->about.device_count; i++)
        if (p->devices[i].number == device)
            return;
    if (!p || p->about.device_count == CW_TRACE_DEVICES_MAX) /* rows of further devices have none */
        return;
    cw_trace_maker_gpu(m, gpu, NULL, 0);
    p->devices[p->about.device_count++] = (struct cw_trace_device){device, gpu};
    p->written = false;
}

static bool is_text(const void *process, uint32_t item, const void *key)
{
    return strcmp(((const struct process *)process)->texts[item + 1], key) == 0;
}

uint64_t cw_trace_maker_text(struct cw_trace_maker *m, uint32_t process, const char *text)
{
    struct process *p = process_of(m, process);
    if (!p || !text || !*text)
        return 0;
    const uint32_t item = cw_hash_table_add(&p->text_table, XXH3_64bits(text, strlen(text)), is_text, p, text);
    if (item == CW_NO_ITEM || (item + 1 == p->text_count && !add_text(p, text))) {
        fail_memory(m);
        return 0;
    }
    return (uint64_t)item + 1;
}

/* ---- writing ---------------------------------------------------------------------------------------------------- */

static void put(struct cw_trace_maker *m, struct cw_writer *out)
{
    if (out->status != CW_OK)
        fail_memory(m);
    if (m->status == CW_OK)
        m->status = cw_spool_put(&m->spool, out->data, out->size, m->err);
    cw_writer_free(out);
}

static void begin(struct cw_trace_maker *m, struct cw_writer *out)
{
    char producer[96];
    snprintf(producer, sizeof producer, "counterworks " CW_VERSION " from %s", m->from);
    const struct cw_schema schema = {
        .chip = m->gpu_count ? m->gpus[0].chip : "unknown", .producer = producer, .profiler = CW_PROFILER_TRACE};
    cw_schema_write_header(&schema, out);
    cw_schema_write(&schema, out);
    cw_trace_write_kinds(out);
    m->begun = true;
}

/* Writes new GPUs, and processes that are new or have changed: a file has processes in the order of their numbers. */
static void introduce(struct cw_trace_maker *m, uint32_t up_to, struct cw_writer *out)
{
    const struct cw_schema none = {0};
    for (uint32_t i = 0; i < m->gpu_count; i++) {
        struct gpu *g = &m->gpus[i];
        const struct cw_device device = {g->number, g->count, g->attributes, NULL};
        if (!g->written)
            cw_counter_data_write_device(&none, &device, out);
        g->written = true;
    }
    for (uint32_t i = 0; i <= up_to; i++) {
        struct process *p = m->processes[i];
        if (!p->written)
            cw_trace_write_process(i, &p->about, out);
        p->written = true;
    }
}

static void write_texts(struct process *p, uint32_t number, struct cw_writer *out)
{
    const size_t first = p->text_written, count = p->text_count - first;
    if (count)
        cw_trace_write_texts(number, (uint32_t)first, (const char *const *)p->texts + first, (uint32_t)count, out);
    p->text_written = p->text_count;
}

static void write_rows(struct cw_trace_maker *m, uint32_t number, enum cw_trace_kind kind, struct cw_writer *out)
{
    struct rows *r = &m->processes[number]->rows[kind];
    const uint32_t fields = cw_trace_kinds[kind].field_count;
    const uint64_t *columns[CW_TRACE_KIND_FIELDS_MAX];
    uint64_t *turned = r->count ? malloc(r->count * fields * sizeof *turned) : NULL;
    if (r->count && !turned)
        fail_memory(m);
    for (uint32_t f = 0; turned && f < fields; f++) {
        columns[f] = turned + f * r->count;
        for (size_t i = 0; i < r->count; i++)
            turned[f * r->count + i] = r->values[i * fields + f];
    }
    if (turned)
        cw_trace_write_rows(number, kind, (uint32_t)r->count, columns, false, out);
    free(turned);
    r->count = 0;
}

/* Writes the rows of a kind, after everything that they name. */
static void flush(struct cw_trace_maker *m, uint32_t number, enum cw_trace_kind kind)
{
    struct cw_writer out;
    cw_writer_init(&out);
    if (!m->begun)
        begin(m, &out);
    introduce(m, number, &out);
    write_texts(m->processes[number], number, &out);
    if (kind == CW_TRACE_KERNEL)
        write_rows(m, number, CW_TRACE_SHAPE, &out);
    write_rows(m, number, kind, &out);
    put(m, &out);
}

static bool append(struct rows *r, enum cw_trace_kind kind, const cw_made_row row)
{
    const struct cw_trace_kind_info *info = &cw_trace_kinds[kind];
    uint64_t *grown = cw_grown(r->values, &r->room, r->count, info->field_count * sizeof *grown);
    if (!grown)
        return false;
    r->values = grown;
    for (uint32_t f = 0; f < info->field_count; f++)
        grown[r->count * info->field_count + f] = row[info->fields[f]];
    r->count++;
    return true;
}

static bool is_shape(const void *process, uint32_t item, const void *key)
{
    return memcmp(&((const struct process *)process)->shapes[item], key, sizeof(struct shape)) == 0;
}

/* Sets the row's shape. False when out of memory. */
static bool find_shape(struct process *p, cw_made_row row)
{
    const struct cw_trace_kind_info *info = &cw_trace_kinds[CW_TRACE_SHAPE];
    struct shape key = {{0}};
    for (uint32_t f = 0; f < info->field_count; f++)
        key.of[f] = info->fields[f] == CW_FIELD_ID ? 0 : row[info->fields[f]];
    const uint32_t known = p->shape_table.count;
    const uint32_t item = cw_hash_table_add(&p->shape_table, XXH3_64bits(&key, sizeof key), is_shape, p, &key);
    if (item == CW_NO_ITEM)
        return false;
    row[CW_FIELD_SHAPE] = row[CW_FIELD_ID] = item;
    if (item < known)
        return true;
    struct shape *grown = cw_grown(p->shapes, &p->shape_room, item, sizeof *grown);
    p->shapes = grown ? grown : p->shapes;
    if (grown)
        grown[item] = key;
    return grown && append(&p->rows[CW_TRACE_SHAPE], CW_TRACE_SHAPE, row);
}

/* CUPTI writes all ones where a row has no device, context or stream. */
static uint64_t or_unknown(uint64_t number)
{
    return number < UINT32_MAX ? number : CW_TRACE_UNKNOWN;
}

static void introduce_device(struct cw_trace_maker *m, uint32_t process, uint64_t *device)
{
    *device = or_unknown(*device);
    if (*device != CW_TRACE_UNKNOWN)
        cw_trace_maker_device(m, process, (uint32_t)*device, (uint32_t)*device);
}

void cw_trace_maker_row(struct cw_trace_maker *m, uint32_t process, enum cw_trace_kind kind, const cw_made_row row)
{
    struct process *p = process_of(m, process);
    cw_made_row own;
    if (!p)
        return;
    memcpy(own, row, sizeof own);
    introduce_device(m, process, &own[CW_FIELD_DEVICE]);
    own[CW_FIELD_CONTEXT] = or_unknown(own[CW_FIELD_CONTEXT]);
    own[CW_FIELD_STREAM] = or_unknown(own[CW_FIELD_STREAM]);
    if (kind == CW_TRACE_COPY) {
        introduce_device(m, process, &own[CW_FIELD_SOURCE_DEVICE]);
        introduce_device(m, process, &own[CW_FIELD_TARGET_DEVICE]);
    }
    if ((kind == CW_TRACE_KERNEL && !find_shape(p, own)) || !append(&p->rows[kind], kind, own))
        fail_memory(m);
    else if (p->rows[kind].count == BLOCK || p->rows[CW_TRACE_SHAPE].count == BLOCK)
        flush(m, process, kind);
}

enum cw_status cw_trace_maker_finish(struct cw_trace_maker *m, bool complete, struct cw_input *made)
{
    struct cw_writer out;
    for (uint32_t i = 0; i < m->process_count; i++)
        for (enum cw_trace_kind k = 0; k < CW_TRACE_KIND__COUNT; k++)
            if (m->status == CW_OK && m->processes[i]->rows[k].count)
                flush(m, i, k);
    if (m->status == CW_OK && !m->begun)
        m->status =
            cw_error_set(m->err, CW_ERR_INPUT,
                         "%s: found no kernel, copy, call or range, expected a trace of a CUDA program", m->source);
    cw_writer_init(&out);
    if (complete && m->status == CW_OK)
        cw_counter_data_write_end(0, 0, CW_END_NO_PROGRAM, 0, &out);
    put(m, &out);
    if (m->status == CW_OK)
        *made = cw_spool_finish(&m->spool, m->source);
    return m->status;
}
