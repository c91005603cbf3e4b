#include "tests/support/add_rows.h"

#include <stdlib.h>

enum { BLOCK_ROWS = 8192 };

struct cw_waiting_rows { /* of a kind of a process */
    uint64_t columns[CW_TRACE_KIND_FIELDS_MAX][BLOCK_ROWS];
    uint32_t count;
};

static void write_rows(struct cw_add_rows *rows, uint32_t process, enum cw_trace_kind kind)
{
    struct cw_waiting_rows *r = rows->waiting[process][kind];
    const uint64_t *columns[CW_TRACE_KIND_FIELDS_MAX];
    if (!r || !r->count)
        return;
    for (int f = 0; f < CW_TRACE_KIND_FIELDS_MAX; f++)
        columns[f] = r->columns[f];
    cw_trace_write_rows(process, kind, r->count, columns, false, rows->out);
    r->count = 0;
}

void cw_add_row(struct cw_add_rows *rows, uint32_t process, enum cw_trace_kind kind, const struct cw_add_value *values,
                size_t count)
{
    struct cw_waiting_rows *r = rows->waiting[process][kind];
    if (!r && !(r = rows->waiting[process][kind] = calloc(1, sizeof *r)))
        abort();
    for (uint32_t f = 0; f < cw_trace_kinds[kind].field_count; f++) {
        const enum cw_trace_field field = (enum cw_trace_field)cw_trace_kinds[kind].fields[f];
        const enum cw_trace_type type = cw_trace_fields[field].type;
        uint64_t value = type == CW_TRACE_TIME || type == CW_TRACE_TEXT ? 0 : CW_TRACE_UNKNOWN;
        for (size_t i = 0; i < count; i++)
            if (values[i].field == field)
                value = values[i].value;
        r->columns[f][r->count] = value;
    }
    if (++r->count == BLOCK_ROWS)
        write_rows(rows, process, kind);
}

void cw_add_rows_flush(struct cw_add_rows *rows, uint32_t process)
{
    for (int k = 0; k < CW_TRACE_KIND__COUNT; k++)
        write_rows(rows, process, (enum cw_trace_kind)k);
}

void cw_add_rows_free(struct cw_add_rows *rows)
{
    for (int p = 0; p < CW_ADD_ROWS_PROCESSES; p++)
        for (int k = 0; k < CW_TRACE_KIND__COUNT; k++)
            free(rows->waiting[p][k]);
}
