#include "eval/records.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"

static const void *cell(const struct cw_records *r, size_t row, size_t field)
{
    return (const char *)r->rows + row * r->size + r->fields[field].offset;
}

static const char *text_of(const void *cell)
{
    const char *text;
    memcpy(&text, cell, sizeof text);
    return text;
}

static uint64_t number_of(const void *cell, enum cw_field_kind kind)
{
    uint32_t narrow;
    uint64_t wide;
    if (kind == CW_FIELD_U32) {
        memcpy(&narrow, cell, sizeof narrow);
        return narrow;
    }
    memcpy(&wide, cell, sizeof wide);
    return wide;
}

void cw_records_csv(const struct cw_records *r, FILE *out)
{
    for (size_t f = 0; f < r->field_count; f++)
        cw_text_print(out, "%s%s", f ? "," : "", r->fields[f].name);
    fputs("\r\n", out);
    for (size_t i = 0; i < r->count; i++) {
        for (size_t f = 0; f < r->field_count; f++) {
            if (f)
                putc(',', out);
            if (r->fields[f].kind == CW_FIELD_TEXT)
                cw_text_put(out, CW_TEXT_CELL, text_of(cell(r, i, f)));
            else
                cw_text_print(out, "%" PRIu64, number_of(cell(r, i, f), r->fields[f].kind));
        }
        fputs("\r\n", out);
    }
}

static void put_row(const struct cw_records *r, size_t row, FILE *out)
{
    for (size_t f = 0; f < r->field_count; f++) {
        cw_text_print(out, "%s\"%s\": ", f ? ", " : "{", r->fields[f].name);
        if (r->fields[f].kind == CW_FIELD_TEXT)
            cw_text_put(out, CW_TEXT_JSON, text_of(cell(r, row, f)));
        else
            cw_text_print(out, "%" PRId64, (int64_t)number_of(cell(r, row, f), r->fields[f].kind));
    }
    putc('}', out);
}

void cw_records_json(const struct cw_records *r, FILE *out)
{
    cw_text_print(out, "\"%s\": [", r->name);
    for (size_t i = 0; i < r->count; i++) {
        fputs(i ? ",\n  " : "\n  ", out);
        put_row(r, i, out);
    }
    putc(']', out);
}
