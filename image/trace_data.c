#include "image/trace_data.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/varint.h"
#include "image/chunk_walk.h"
#include "image/data_chunks.h"
#include "image/distinct.h"

/* ---- columns ----------------------------------------------------------------------------------------------------- */

enum form {
    ALL_EQUAL, /* a varint */
    VARINTS,
    DELTAS,  /* each minus the one before it, the first minus 0, as zigzag varints */
    BESIDE,  /* each minus the number of the column before, as zigzag varints */
    INDICES, /* number of distinct values as a varint, the values as varints, then a byte for each row */
    RUNS,    /* pairs of varints: number of rows (> 0), and their value */
    WORDS,   /* 8 bytes each */
    FORMS
};

static uint64_t zigzag(uint64_t difference)
{
    return difference << 1 ^ (uint64_t)((int64_t)difference >> 63);
}

static uint64_t unzigzag(uint64_t code)
{
    return code >> 1 ^ -(code & 1);
}

/* ---- writing ---------------------------------------------------------------------------------------------------- */

/* Bytes of each form, SIZE_MAX if the form is impossible. */
static void measure(size_t sizes[FORMS], struct cw_distinct *x, const uint64_t *values, uint32_t count,
                    const uint64_t *before)
{
    uint64_t last = 0;
    uint32_t run = 0;
    memset(sizes, 0, FORMS * sizeof *sizes);
    cw_distinct_begin(x);
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t v = values[i];
        sizes[VARINTS] += cw_varint_size(v);
        sizes[DELTAS] += cw_varint_size(zigzag(v - last));
        if (before)
            sizes[BESIDE] += cw_varint_size(zigzag(v - before[i]));
        if (x->count <= CW_DISTINCT_MAX && (i == 0 || v != last))
            cw_distinct_of(x, v);
        if (i && v != last) {
            sizes[RUNS] += cw_varint_size(run) + cw_varint_size(last);
            run = 0;
        }
        run++;
        last = v;
    }
    sizes[ALL_EQUAL] = run == count ? cw_varint_size(last) : SIZE_MAX;
    sizes[RUNS] += cw_varint_size(run) + cw_varint_size(last);
    sizes[INDICES] = x->count <= CW_DISTINCT_MAX ? cw_varint_size(x->count) + x->bytes + count : SIZE_MAX;
    sizes[WORDS] = 8 * (size_t)count;
    if (!before)
        sizes[BESIDE] = SIZE_MAX;
}

static uint8_t *put_runs(uint8_t *at, const uint64_t *values, uint32_t count)
{
    for (uint32_t i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count && values[next] == values[i]; next++) {
        }
        at = cw_varint_put(cw_varint_put(at, next - i), values[i]);
    }
    return at;
}

static uint8_t *put_indices(uint8_t *at, struct cw_distinct *x, const uint64_t *values, uint32_t count)
{
    at = cw_varint_put(at, x->count);
    for (uint32_t i = 0; i < x->count; i++)
        at = cw_varint_put(at, x->values[i]);
    for (uint32_t i = 0; i < count; i++)
        *at++ = (uint8_t)cw_distinct_of(x, values[i]);
    return at;
}

static uint8_t *put(uint8_t *at, enum form form, struct cw_distinct *x, const uint64_t *values, uint32_t count,
                    const uint64_t *before)
{
    uint64_t last = 0;
    if (form == ALL_EQUAL)
        return cw_varint_put(at, values[0]);
    if (form == RUNS)
        return put_runs(at, values, count);
    if (form == INDICES)
        return put_indices(at, x, values, count);
    for (uint32_t i = 0; i < count; i++) {
        if (form == WORDS) {
            cw_store_u64(at, values[i]);
            at += 8;
        } else {
            at = cw_varint_put(at, form == VARINTS  ? values[i]
                                   : form == DELTAS ? zigzag(values[i] - last)
                                                    : zigzag(values[i] - before[i]));
        }
        last = values[i];
    }
    return at;
}

/* Appends `count` (> 0) numbers in the shortest form. `before` is the column before this one, or NULL. */
static void column_write(struct cw_writer *out, const uint64_t *values, uint32_t count, const uint64_t *before)
{
    struct cw_distinct x;
    size_t sizes[FORMS];
    measure(sizes, &x, values, count, before);
    enum form best = WORDS;
    for (enum form f = 0; f < FORMS; f++)
        if (sizes[f] < sizes[best])
            best = f;
    cw_write_u8(out, (uint8_t)best);
    uint8_t *room = cw_write_room(out, sizes[best]);
    if (room)
        put(room, best, &x, values, count, before);
}

/* Appends the numbers as they are, 8 bytes each, which takes the least time; a single number if all are equal and
 * `shorter` allows it. */
static void column_write_plain(struct cw_writer *out, const uint64_t *values, uint32_t count, bool shorter)
{
    uint32_t same = shorter;
    while (same && same < count && values[same] == values[0])
        same++;
    const enum form form = same == count ? ALL_EQUAL : WORDS;
    cw_write_u8(out, (uint8_t)form);
    uint8_t *room = cw_write_room(out, form == WORDS ? 8 * (size_t)count : cw_varint_size(values[0]));
    if (room)
        put(room, form, NULL, values, count, NULL);
}

/* ---- reading ---------------------------------------------------------------------------------------------------- */

static void read_runs(struct cw_reader *in, uint64_t *values, uint32_t count)
{
    for (uint32_t i = 0; i < count && in->status == CW_OK;) {
        const size_t pos = in->pos;
        uint64_t run = cw_read_varint(in);
        const uint64_t value = cw_read_varint(in);
        if (in->status == CW_OK && (run == 0 || run > count - i))
            cw_reader_fail_at(in, pos, "found a run of %llu rows, expected 1 to %u", (unsigned long long)run,
                              count - i);
        while (in->status == CW_OK && run--)
            values[i++] = value;
    }
}

static void read_indices(struct cw_reader *in, uint64_t *values, uint32_t count)
{
    uint64_t known[CW_DISTINCT_MAX];
    const size_t pos = in->pos;
    const uint64_t n = cw_read_varint(in);
    if (in->status == CW_OK && (n == 0 || n > CW_DISTINCT_MAX))
        cw_reader_fail_at(in, pos, "found %llu different values, expected 1 to %d", (unsigned long long)n,
                          CW_DISTINCT_MAX);
    for (uint64_t i = 0; i < n && in->status == CW_OK; i++)
        known[i] = cw_read_varint(in);
    const size_t first = in->pos;
    const uint8_t *bytes = cw_read_bytes(in, count);
    for (uint32_t i = 0; bytes && i < count && in->status == CW_OK; i++) {
        if (bytes[i] >= n)
            cw_reader_fail_at(in, first + i, "found value %u of %llu", bytes[i], (unsigned long long)n);
        else
            values[i] = known[bytes[i]];
    }
}

static void read_words(struct cw_reader *in, uint64_t *values, uint32_t count)
{
    if (in->status == CW_OK && count > (in->size - in->pos) / 8)
        cw_reader_fail(in, "found %zu bytes, expected %u numbers of 8 bytes", in->size - in->pos, count);
    for (uint32_t i = 0; i < count && in->status == CW_OK; i++)
        values[i] = cw_read_u64(in);
}

static void read_varints(struct cw_reader *in, enum form form, uint64_t *values, uint32_t count, const uint64_t *before)
{
    uint64_t last = 0;
    for (uint32_t i = 0; i < count && in->status == CW_OK; i++) {
        const uint64_t code = cw_read_varint(in);
        values[i] = form == VARINTS ? code : unzigzag(code) + (form == DELTAS ? last : before[i]);
        last = values[i];
    }
}

/* Reads `count` numbers into `values`; all zero after a failure. */
static void column_read(struct cw_reader *in, uint64_t *values, uint32_t count, const uint64_t *before)
{
    const size_t pos = in->pos;
    const enum form form = (enum form)cw_read_u8(in);
    if (in->status == CW_OK && (form >= FORMS || (form == BESIDE && !before)))
        cw_reader_fail_at(in, pos, "found form %d of a column, expected one below %d%s", (int)form, FORMS,
                          before ? "" : ", and not 3 of the first column");
    if (in->status != CW_OK) {
    } else if (form == ALL_EQUAL) {
        const uint64_t value = cw_read_varint(in);
        for (uint32_t i = 0; i < count; i++)
            values[i] = value;
    } else if (form == RUNS) {
        read_runs(in, values, count);
    } else if (form == INDICES) {
        read_indices(in, values, count);
    } else if (form == WORDS) {
        read_words(in, values, count);
    } else {
        read_varints(in, form, values, count, before);
    }
    if (in->status != CW_OK)
        memset(values, 0, (size_t)count * sizeof *values);
}

/* Limits the values of a block: VALUES_A_BYTE for each byte of its payload, and VALUES_FREE besides. A column of equal
 * values costs nothing to write, and must not cost a reader more than its share. */
enum { VALUES_A_BYTE = 64, VALUES_FREE = 256 };

static bool is_dense(uint32_t fields, uint32_t count, size_t size)
{
    return (uint64_t)fields * count > (uint64_t)VALUES_A_BYTE * size + VALUES_FREE;
}

/* ---- writing ---------------------------------------------------------------------------------------------------- */

void cw_trace_write_kinds(struct cw_writer *out)
{
    size_t start = cw_chunk_begin(out, CW_CHUNK_TRACE_KINDS, CW_CHUNK_OPTIONAL);
    cw_write_u32(out, CW_TRACE_KIND__COUNT);
    for (int k = 0; k < CW_TRACE_KIND__COUNT; k++) {
        const struct cw_trace_kind_info *kind = &cw_trace_kinds[k];
        cw_write_string(out, kind->name);
        cw_write_u32(out, kind->field_count);
        for (uint32_t f = 0; f < kind->field_count; f++) {
            cw_write_string(out, cw_trace_fields[kind->fields[f]].name);
            cw_write_u8(out, (uint8_t)cw_trace_fields[kind->fields[f]].type);
        }
    }
    cw_chunk_end(out, start);
}

const char *cw_trace_attribute(const struct cw_trace_process *process, const char *key)
{
    return cw_pair_find(process->attributes, process->attribute_count, key);
}

void cw_trace_write_process(uint32_t index, const struct cw_trace_process *process, struct cw_writer *out)
{
    size_t start = cw_chunk_begin(out, CW_CHUNK_TRACE_PROCESS, CW_CHUNK_OPTIONAL);
    cw_write_u32(out, index);
    cw_write_u32(out, process->pid);
    cw_field_write_pairs(out, process->attributes, process->attribute_count);
    cw_write_u32(out, process->device_count);
    for (uint32_t i = 0; i < process->device_count; i++) {
        cw_write_u32(out, process->devices[i].number);
        cw_write_u32(out, process->devices[i].device);
    }
    cw_chunk_end(out, start);
}

void cw_trace_write_texts(uint32_t process, uint32_t first, const char *const *texts, uint32_t count,
                          struct cw_writer *out)
{
    size_t start = cw_chunk_begin(out, CW_CHUNK_TRACE_TEXTS, CW_CHUNK_OPTIONAL);
    cw_write_u32(out, process);
    cw_write_u32(out, first);
    cw_field_write_strings(out, texts, count);
    cw_chunk_end(out, start);
}

static void write_rows(uint32_t process, enum cw_trace_kind kind, uint32_t count, const uint64_t *const *columns,
                       bool plain, bool sparse, struct cw_writer *out)
{
    size_t start = cw_chunk_begin(out, CW_CHUNK_TRACE_ROWS, CW_CHUNK_OPTIONAL);
    cw_write_u32(out, process);
    cw_write_u32(out, kind);
    cw_write_u32(out, count);
    for (uint32_t f = 0; f < cw_trace_kinds[kind].field_count; f++)
        if (plain || (f == 0 && sparse))
            column_write_plain(out, columns[f], count, !sparse || f > 0);
        else
            column_write(out, columns[f], count, f ? columns[f - 1] : NULL);
    cw_chunk_end(out, start);
}

void cw_trace_write_rows(uint32_t process, enum cw_trace_kind kind, uint32_t count, const uint64_t *const *columns,
                         bool plain, struct cw_writer *out)
{
    const size_t size = out->size;
    write_rows(process, kind, count, columns, plain, false, out);
    if (out->status != CW_OK ||
        !is_dense(cw_trace_kinds[kind].field_count, count, out->size - size - CW_CHUNK_HEADER_SIZE))
        return;
    out->size = size;
    write_rows(process, kind, count, columns, plain, true, out);
}

/* ---- reading: rows ---------------------------------------------------------------------------------------------- */

void cw_trace_buffer_free(struct cw_trace_buffer *buffer)
{
    free(buffer->values);
    free(buffer->window.data);
    *buffer = (struct cw_trace_buffer){0};
}

static bool make_room(struct cw_trace_buffer *buffer, size_t values)
{
    if (values <= buffer->capacity)
        return true;
    uint64_t *grown = realloc(buffer->values, values * sizeof *grown);
    if (!grown)
        return false;
    buffer->values = grown;
    buffer->capacity = values;
    return true;
}

static void check_texts(struct cw_reader *in, size_t pos, const uint64_t *values, uint32_t count, uint32_t text_count)
{
    for (uint32_t i = 0; i < count; i++)
        if (values[i] >= text_count) {
            cw_reader_fail_at(in, pos, "found text %" PRIu64 ", expected one of the %" PRIu32 " of its process",
                              values[i], text_count);
            return;
        }
}

/* In old payloads -1 meant none; a priority was always known. */
static void read_old_payload(uint64_t *values, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        values[i] = values[i] == CW_TRACE_UNKNOWN ? CW_TRACE_SIGNED_UNKNOWN : values[i];
}

/* Reads the columns behind the head. */
static enum cw_status read_columns(struct cw_trace_rows *rows, const struct cw_trace_kind_field *fields,
                                   uint32_t field_count, uint32_t text_count, struct cw_reader *in,
                                   struct cw_trace_buffer *buffer)
{
    const uint64_t *before = NULL;
    if (!make_room(buffer, (size_t)field_count * rows->count))
        return cw_error_nomem(in->err);
    for (uint32_t f = 0; f < field_count && in->status == CW_OK; f++) {
        uint64_t *values = buffer->values + (size_t)f * rows->count;
        const size_t pos = in->pos;
        column_read(in, values, rows->count, before);
        if (fields[f].type == CW_TRACE_TEXT && in->status == CW_OK)
            check_texts(in, pos, values, rows->count, text_count);
        if (fields[f].field < CW_FIELD__COUNT)
            rows->column[fields[f].field] = values;
        buffer->columns[f] = before = values;
    }
    for (uint32_t f = 0; f < field_count && in->status == CW_OK; f++) /* all columns: each may depend on the last */
        if (fields[f].field == CW_FIELD_PAYLOAD && fields[f].type == CW_TRACE_NUMBER)
            read_old_payload(buffer->values + (size_t)f * rows->count, rows->count);
    rows->columns = buffer->columns;
    return in->status;
}

/* Reads process, kind and count of a TREC. */
static void read_head(struct cw_reader *in, uint32_t *process, uint32_t *kind, uint32_t *count)
{
    *process = cw_read_u32(in);
    *kind = cw_read_u32(in);
    *count = cw_read_u32(in);
}

static void check_count(struct cw_reader *in, uint32_t fields, uint32_t count)
{
    if (in->status == CW_OK && (count == 0 || count > CW_TRACE_ROWS_MAX || is_dense(fields, count, in->size)))
        cw_reader_fail_at(in, 8, "found %" PRIu32 " rows of %" PRIu32 " fields in %zu bytes, expected 1 to %d rows",
                          count, fields, in->size, CW_TRACE_ROWS_MAX);
}

/* The first fields of a block. */
static enum cw_status read_block_fields(struct cw_trace_rows *rows, const struct cw_trace *trace, size_t block,
                                        uint32_t field_count, struct cw_trace_buffer *buffer, struct cw_error *err)
{
    const struct cw_trace_block *b = &trace->blocks[block];
    const struct cw_trace_kind_read *kind = &trace->kinds[b->kind];
    struct cw_reader in;
    const uint8_t *payload;
    *rows = (struct cw_trace_rows){.process = b->process, .kind = b->kind, .count = b->count};
    buffer->window.input = trace->input;
    enum cw_status status = cw_window_get(&buffer->window, b->offset + CW_CHUNK_HEADER_SIZE, b->size, &payload, err);
    if (status != CW_OK)
        return status;
    cw_reader_init(&in, payload, b->size, trace->source, b->offset + CW_CHUNK_HEADER_SIZE, err);
    uint32_t head[3];
    read_head(&in, &head[0], &head[1], &head[2]);
    status = read_columns(rows, kind->fields, field_count, trace->processes[b->process].text_count, &in, buffer);
    return status == CW_OK && field_count == kind->field_count ? cw_reader_finish(&in, "chunk TREC") : status;
}

enum cw_status cw_trace_read_rows(struct cw_trace_rows *rows, const struct cw_trace *trace, size_t block,
                                  struct cw_trace_buffer *buffer, struct cw_error *err)
{
    return read_block_fields(rows, trace, block, trace->kinds[trace->blocks[block].kind].field_count, buffer, err);
}

enum cw_status cw_trace_read_some(struct cw_trace_rows *rows, const struct cw_trace *trace, size_t block,
                                  const bool wanted[CW_FIELD__COUNT], struct cw_trace_buffer *buffer,
                                  struct cw_error *err)
{
    const struct cw_trace_kind_read *kind = &trace->kinds[trace->blocks[block].kind];
    uint32_t count = kind->field_count;
    while (count && (kind->fields[count - 1].field == CW_FIELD__COUNT || !wanted[kind->fields[count - 1].field]))
        count--;
    return read_block_fields(rows, trace, block, count, buffer, err);
}

enum cw_status cw_trace_rows_decode(struct cw_trace_rows *rows, struct cw_reader *in, uint32_t text_count,
                                    struct cw_trace_buffer *buffer)
{
    struct cw_trace_kind_field fields[CW_TRACE_KIND_FIELDS_MAX];
    *rows = (struct cw_trace_rows){0};
    read_head(in, &rows->process, &rows->kind, &rows->count);
    if (in->status == CW_OK && rows->kind >= CW_TRACE_KIND__COUNT)
        cw_reader_fail_at(in, 4, "found kind %" PRIu32 " of rows, expected one below %d", rows->kind,
                          CW_TRACE_KIND__COUNT);
    if (in->status != CW_OK)
        return in->status;
    const struct cw_trace_kind_info *kind = &cw_trace_kinds[rows->kind];
    for (uint32_t f = 0; f < kind->field_count; f++)
        fields[f] =
            (struct cw_trace_kind_field){cw_trace_fields[kind->fields[f]].name, cw_trace_fields[kind->fields[f]].type,
                                         (enum cw_trace_field)kind->fields[f]};
    check_count(in, kind->field_count, rows->count);
    return in->status == CW_OK ? read_columns(rows, fields, kind->field_count, text_count, in, buffer) : in->status;
}

uint64_t cw_trace_get(const struct cw_trace_rows *rows, enum cw_trace_field field, uint32_t row)
{
    if (rows->column[field])
        return rows->column[field][row];
    return cw_trace_unknown(cw_trace_fields[field].type);
}

const char *cw_trace_text(const struct cw_trace *trace, uint32_t process, uint64_t text)
{
    const struct cw_trace_process *p = &trace->processes[process];
    return text < p->text_count ? p->texts[text] : "";
}

uint32_t cw_trace_device(const struct cw_trace *trace, uint32_t process, uint64_t number)
{
    const struct cw_trace_process *p = &trace->processes[process];
    for (uint32_t i = 0; i < p->device_count; i++)
        if (p->devices[i].number == number)
            return p->devices[i].device;
    return CW_NO_TRACE_DEVICE;
}

/* ---- reading: the file
 * --------------------------------------------------------------------------------------------- */

struct growing { /* a list in malloc memory */
    void *items;
    uint32_t count, capacity;
};

struct texts { /* texts of a process while they are collected */
    const char **items;
    uint32_t count, capacity;
};

struct parse {
    struct cw_trace *trace;
    struct cw_arena *arena;
    struct cw_reader file;
    const struct cw_device *devices;
    uint32_t device_count;
    struct growing processes, texts, kinds, blocks;
};

/* Adds an item of zeros; NULL, with the reader failed, when out of memory. */
static void *grow(struct parse *p, struct growing *list, size_t size)
{
    if (list->count == list->capacity) {
        const uint32_t capacity = list->capacity ? 2 * list->capacity : 32;
        void *grown = realloc(list->items, (size_t)capacity * size);
        if (!grown) {
            p->file.status = cw_error_nomem(p->file.err);
            return NULL;
        }
        list->items = grown;
        list->capacity = capacity;
    }
    return memset((char *)list->items + size * list->count++, 0, size);
}

/* Files older than the type SIGNED have NUMBER in its place. */
static bool is_old_signed(const struct cw_trace_kind_field *field)
{
    return field->type == CW_TRACE_NUMBER && cw_trace_fields[field->field].type == CW_TRACE_SIGNED;
}

static void read_field(struct cw_reader *in, struct cw_arena *arena, struct cw_trace_kind_field *field)
{
    field->name = cw_read_string(in, arena);
    field->type = (enum cw_trace_type)cw_field_read_enum(in, CW_TRACE_TYPE__COUNT, "type of a field", "one below 8");
    field->field = in->status == CW_OK ? cw_trace_field_find(field->name) : CW_FIELD__COUNT;
    if (field->field < CW_FIELD__COUNT && cw_trace_fields[field->field].type != field->type && !is_old_signed(field))
        field->field = CW_FIELD__COUNT; /* it has another meaning in that file */
}

static void read_kinds(struct parse *p, struct cw_reader *in)
{
    const uint32_t count = cw_read_count(in, 8, "kinds of a trace");
    for (uint32_t i = 0; i < count && in->status == CW_OK; i++) {
        struct cw_trace_kind_read *kind = grow(p, &p->kinds, sizeof *kind);
        if (!kind)
            return;
        kind->name = cw_read_string(in, p->arena);
        kind->kind = in->status == CW_OK ? cw_trace_kind_find(kind->name) : CW_TRACE_KIND__COUNT;
        kind->field_count = cw_read_count_up_to(in, 5, CW_TRACE_KIND_FIELDS_MAX, "fields of a kind");
        struct cw_trace_kind_field *fields = cw_field_array(in, p->arena, kind->field_count, sizeof *fields);
        for (uint32_t f = 0; f < kind->field_count && in->status == CW_OK; f++)
            read_field(in, p->arena, &fields[f]);
        kind->fields = fields;
    }
}

/* The list is never longer than the processes in the chunks, because they are numbered in order. */
static void read_process(struct parse *p, struct cw_reader *in)
{
    const uint32_t index = cw_read_u32(in);
    if (in->status == CW_OK && index > p->processes.count)
        cw_reader_fail_at(in, 0, "found process %" PRIu32 ", expected %" PRIu32 " or one before it", index,
                          p->processes.count);
    if (in->status != CW_OK)
        return;
    if (index == p->processes.count &&
        (!grow(p, &p->processes, sizeof(struct cw_trace_process)) || !grow(p, &p->texts, sizeof(struct texts))))
        return;
    struct cw_trace_process *process = (struct cw_trace_process *)p->processes.items + index;
    process->pid = cw_read_u32(in);
    process->attribute_count = cw_field_read_pairs(in, p->arena, &process->attributes, "attributes");
    process->device_count = cw_read_count_up_to(in, 8, CW_TRACE_DEVICES_MAX, "devices of a process");
    struct cw_trace_device *devices = cw_field_array(in, p->arena, process->device_count, sizeof *devices);
    for (uint32_t i = 0; i < process->device_count && in->status == CW_OK; i++) {
        devices[i].number = cw_read_u32(in);
        const size_t pos = in->pos;
        const uint32_t number = cw_read_u32(in);
        if (in->status == CW_OK && !cw_device_find(p->devices, p->device_count, number, &devices[i].device))
            cw_reader_fail_at(in, pos, "found a process on device %" PRIu32 ", expected one with a DEVC chunk", number);
    }
    process->devices = devices;
}

static bool keep_texts(struct parse *p, struct texts *t, const char *const *texts, uint32_t count)
{
    if (count > t->capacity - t->count) {
        const size_t capacity = 2 * ((size_t)t->count + count);
        const char **grown = capacity > UINT32_MAX ? NULL : realloc(t->items, capacity * sizeof *grown);
        if (!grown) {
            p->file.status = cw_error_nomem(p->file.err);
            return false;
        }
        t->items = grown;
        t->capacity = (uint32_t)capacity;
    }
    if (count)
        memcpy(t->items + t->count, texts, count * sizeof *texts);
    t->count += count;
    return true;
}

static void read_texts(struct parse *p, struct cw_reader *in)
{
    static const char *const none = "";
    const uint32_t index = cw_field_read_index(in, p->processes.count, "processes");
    const size_t pos = in->pos;
    const uint32_t first = cw_read_u32(in);
    const char *const *texts;
    const uint32_t count = cw_field_read_strings(in, p->arena, &texts, "texts");
    if (in->status != CW_OK)
        return;
    struct texts *t = (struct texts *)p->texts.items + index;
    if (t->count == 0 && !keep_texts(p, t, &none, 1))
        return;
    if (first != t->count)
        cw_reader_fail_at(in, pos, "found texts from number %" PRIu32 " on, expected %" PRIu32, first, t->count);
    else
        keep_texts(p, t, texts, count);
}

static void read_block(struct parse *p, struct cw_reader *in, const struct cw_chunk *chunk)
{
    uint32_t process, kind, count;
    read_head(in, &process, &kind, &count);
    if (in->status == CW_OK && process >= p->processes.count)
        cw_reader_fail_at(in, 0, "found rows of process %" PRIu32 ", expected one of %" PRIu32 " before", process,
                          p->processes.count);
    if (in->status == CW_OK && kind >= p->kinds.count)
        cw_reader_fail_at(in, 4, "found rows of kind %" PRIu32 ", expected one of %" PRIu32 " before", kind,
                          p->kinds.count);
    if (in->status != CW_OK)
        return;
    struct cw_trace_kind_read *of = (struct cw_trace_kind_read *)p->kinds.items + kind;
    check_count(in, of->field_count, count);
    if (in->status != CW_OK)
        return;
    of->rows += count;
    in->pos = in->size;
    struct cw_trace_block *block = grow(p, &p->blocks, sizeof *block);
    if (block)
        *block = (struct cw_trace_block){chunk->size, chunk->offset, process, kind, count};
}

static enum cw_status read_chunk(struct parse *p, const struct cw_chunk *chunk)
{
    struct cw_reader in;
    const uint32_t t = chunk->type;
    if (t != CW_CHUNK_TRACE_KINDS && t != CW_CHUNK_TRACE_PROCESS && t != CW_CHUNK_TRACE_TEXTS &&
        t != CW_CHUNK_TRACE_ROWS)
        return CW_OK;
    cw_chunk_open(&p->file, chunk, &in);
    if (t == CW_CHUNK_TRACE_KINDS)
        read_kinds(p, &in);
    else if (t == CW_CHUNK_TRACE_PROCESS)
        read_process(p, &in);
    else if (t == CW_CHUNK_TRACE_TEXTS)
        read_texts(p, &in);
    else
        read_block(p, &in, chunk);
    return p->file.status == CW_OK ? cw_chunk_finish(&in, chunk) : p->file.status;
}

static void *keep(struct parse *p, const void *items, size_t count, size_t size)
{
    void *kept = cw_field_array(&p->file, p->arena, count, size);
    if (kept && count)
        memcpy(kept, items, count * size);
    return kept;
}

/* Moves the growing lists into the arena. */
static enum cw_status keep_all(struct parse *p)
{
    struct cw_trace *trace = p->trace;
    struct cw_trace_process *processes =
        keep(p, p->processes.items, p->processes.count, sizeof(struct cw_trace_process));
    for (uint32_t i = 0; i < p->processes.count && p->file.status == CW_OK; i++) {
        const struct texts *t = (const struct texts *)p->texts.items + i;
        processes[i].number = i;
        processes[i].text_count = t->count;
        processes[i].texts = keep(p, t->items, t->count, sizeof *t->items);
    }
    trace->processes = processes;
    trace->process_count = p->processes.count;
    trace->kinds = keep(p, p->kinds.items, p->kinds.count, sizeof(struct cw_trace_kind_read));
    trace->kind_count = p->kinds.count;
    trace->blocks = keep(p, p->blocks.items, p->blocks.count, sizeof(struct cw_trace_block));
    trace->block_count = p->blocks.count;
    return p->file.status;
}

bool cw_trace_keep(struct cw_trace *trace, const bool *keep, struct cw_arena *arena)
{
    uint32_t *numbers = cw_arena_alloc(arena, trace->process_count, sizeof *numbers);
    struct cw_trace_process *processes = cw_arena_alloc(arena, trace->process_count, sizeof *processes);
    struct cw_trace_kind_read *kinds = cw_arena_alloc(arena, trace->kind_count, sizeof *kinds);
    struct cw_trace_block *blocks = cw_arena_alloc(arena, trace->block_count, sizeof *blocks);
    uint32_t count = 0;
    size_t block_count = 0;
    if (!numbers || !processes || !kinds || !blocks)
        return false;
    for (uint32_t i = 0; i < trace->process_count; i++)
        if (keep[i]) {
            numbers[i] = count;
            processes[count++] = trace->processes[i];
        }
    for (uint32_t i = 0; i < trace->kind_count; i++) {
        kinds[i] = trace->kinds[i];
        kinds[i].rows = 0;
    }
    for (size_t i = 0; i < trace->block_count; i++)
        if (keep[trace->blocks[i].process]) {
            blocks[block_count] = trace->blocks[i];
            blocks[block_count].process = numbers[trace->blocks[i].process];
            kinds[trace->blocks[i].kind].rows += blocks[block_count++].count;
        }
    trace->processes = processes;
    trace->process_count = count;
    trace->kinds = kinds;
    trace->blocks = blocks;
    trace->block_count = block_count;
    return true;
}

static enum cw_status read_all(struct parse *p)
{
    struct cw_chunk_gaps gaps = {0};
    struct cw_chunk_walk walk;
    struct cw_chunk chunk;
    bool found = true;
    enum cw_status status = cw_chunk_walk_begin(&walk, p->trace->input, &cw_counter_data_kind, 0, p->file.err);
    walk.mends = &gaps;
    while (status == CW_OK && (status = cw_chunk_walk_next(&walk, &chunk, &found, NULL)) == CW_OK && found)
        status = read_chunk(p, &chunk);
    cw_chunk_walk_end(&walk);
    free(gaps.items);
    return status == CW_OK ? keep_all(p) : status;
}

enum cw_status cw_trace_open(struct cw_trace *trace, const struct cw_device *devices, uint32_t device_count,
                             const struct cw_input *input, const char *source, struct cw_arena *arena,
                             struct cw_error *err)
{
    *trace = (struct cw_trace){.source = source, .input = input};
    struct parse p = {.trace = trace, .arena = arena, .devices = devices, .device_count = device_count};
    cw_reader_init(&p.file, NULL, 0, source, 0, err);
    enum cw_status status = read_all(&p);
    for (uint32_t i = 0; i < p.texts.count; i++)
        free(((struct texts *)p.texts.items)[i].items);
    free(p.texts.items);
    free(p.processes.items);
    free(p.kinds.items);
    free(p.blocks.items);
    if (status != CW_OK)
        *trace = (struct cw_trace){.source = source};
    return status;
}

enum cw_status cw_trace_read(struct cw_trace *trace, const struct cw_device *devices, uint32_t device_count,
                             const void *bytes, size_t size, const char *source, struct cw_arena *arena,
                             struct cw_error *err)
{
    struct cw_input *input = cw_arena_alloc(arena, 1, sizeof *input);
    if (!input)
        return cw_error_nomem(err);
    *input = cw_input_of(bytes, size, source);
    return cw_trace_open(trace, devices, device_count, input, source, arena, err);
}
