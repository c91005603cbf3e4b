#include "tests/support/trace_fields.h"

#include <inttypes.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "image/counter_data.h"

/* A word that says nothing is none. */
static bool is_filled(const struct cw_trace *trace, const struct cw_trace_rows *rows, enum cw_trace_field field,
                      uint32_t row)
{
    const enum cw_trace_type type = cw_trace_fields[field].type;
    const uint64_t value = cw_trace_get(rows, field, row);
    return value != cw_trace_unknown(type) &&
           (type != CW_TRACE_TEXT || strcmp(cw_trace_text(trace, rows->process, value), "unknown") != 0);
}

static void add_rows(struct trace_fields *fields, const struct cw_trace *trace, const struct cw_trace_rows *rows)
{
    const enum cw_trace_kind kind = trace->kinds[rows->kind].kind;
    if (kind == CW_TRACE_KIND__COUNT)
        return;
    fields->rows[kind] += rows->count;
    for (enum cw_trace_field f = 0; f < CW_FIELD__COUNT; f++)
        for (uint32_t i = 0; rows->column[f] && i < rows->count; i++)
            fields->filled[kind][f] += is_filled(trace, rows, f, i);
}

struct reading { /* what becomes of rows: they are counted, or those of a kind are printed */
    struct trace_fields *fields;
    const char *kind;
    FILE *to;
};

static void print_rows(const struct reading *r, const struct cw_trace *trace, const struct cw_trace_rows *rows)
{
    for (uint32_t i = 0; i < rows->count; i++) {
        for (enum cw_trace_field f = 0; f < CW_FIELD__COUNT; f++) {
            const uint64_t value = cw_trace_get(rows, f, i);
            if (!rows->column[f] || !is_filled(trace, rows, f, i))
                continue;
            fprintf(r->to, "%s=", cw_trace_fields[f].name);
            if (cw_trace_fields[f].type == CW_TRACE_TEXT)
                cw_text_print(r->to, "%s ", cw_trace_text(trace, rows->process, value));
            else
                fprintf(r->to, cw_trace_fields[f].type == CW_TRACE_SIGNED ? "%" PRId64 " " : "%" PRIu64 " ", value);
        }
        fputc('\n', r->to);
    }
}

static void take_rows(const struct reading *r, const struct cw_trace *trace, const struct cw_trace_rows *rows)
{
    if (r->fields)
        add_rows(r->fields, trace, rows);
    else if (strcmp(trace->kinds[rows->kind].name, r->kind) == 0)
        print_rows(r, trace, rows);
}

static enum cw_status read_trace(const struct reading *r, const struct cw_bytes *file, const char *path,
                                 struct cw_arena *arena, struct cw_error *err)
{
    struct cw_counter_data data;
    struct cw_trace trace;
    struct cw_trace_buffer buffer = {0};
    struct cw_trace_rows rows;
    enum cw_status status = cw_counter_data_read(&data, file->data, file->size, path, arena, err);
    if (status == CW_OK)
        status = cw_trace_read(&trace, data.devices, data.device_count, file->data, file->size, path, arena, err);
    for (size_t b = 0; status == CW_OK && b < trace.block_count; b++) {
        status = cw_trace_read_rows(&rows, &trace, b, &buffer, err);
        if (status == CW_OK)
            take_rows(r, &trace, &rows);
    }
    cw_trace_buffer_free(&buffer);
    return status;
}

static enum cw_status read_file(const struct reading *r, const char *path, struct cw_error *err)
{
    struct cw_bytes file = {0};
    struct cw_arena *arena = cw_arena_create();
    enum cw_status status = arena ? cw_file_read(&file, path, 1 << 30, err) : cw_error_nomem(err);
    if (status == CW_OK)
        status = read_trace(r, &file, path, arena, err);
    cw_bytes_free(&file);
    cw_arena_destroy(arena);
    return status;
}

enum cw_status trace_fields_add(struct trace_fields *fields, const char *path, struct cw_error *err)
{
    return read_file(&(struct reading){.fields = fields}, path, err);
}

enum cw_status trace_fields_print_rows(const char *path, const char *kind, FILE *to, struct cw_error *err)
{
    return read_file(&(struct reading){.kind = kind, .to = to}, path, err);
}
