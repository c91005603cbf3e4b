#include "eval/records.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "eval/csv.h"

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
        fprintf(out, "%s%s", f ? "," : "", r->fields[f].name);
    fputs("\r\n", out);
    for (size_t i = 0; i < r->count; i++) {
        for (size_t f = 0; f < r->field_count; f++) {
            if (f)
                putc(',', out);
            if (r->fields[f].kind == CW_FIELD_TEXT)
                cw_csv_field(text_of(cell(r, i, f)), out);
            else
                fprintf(out, "%" PRIu64, number_of(cell(r, i, f), r->fields[f].kind));
        }
        fputs("\r\n", out);
    }
}

/* Row by row, since a tree of all of them would be many times their size. */
static enum cw_status put_row(const struct cw_records *r, size_t row, FILE *out, struct cw_error *err)
{
    json_t *object = json_object();
    bool good = object != NULL;
    for (size_t f = 0; good && f < r->field_count; f++) {
        enum cw_field_kind kind = r->fields[f].kind;
        json_t *value = kind == CW_FIELD_TEXT ? json_string(text_of(cell(r, row, f)))
                                              : json_integer((json_int_t)number_of(cell(r, row, f), kind));
        good = json_object_set_new(object, r->fields[f].name, value) == 0;
    }
    char *text = good ? json_dumps(object, 0) : NULL;
    json_decref(object);
    if (!text)
        return cw_error_nomem(err);
    fprintf(out, "%s\n  %s", row ? "," : "", text);
    free(text);
    return CW_OK;
}

enum cw_status cw_records_json(const struct cw_records *r, FILE *out, struct cw_error *err)
{
    enum cw_status status = CW_OK;
    fprintf(out, "\"%s\": [", r->name);
    for (size_t i = 0; i < r->count && status == CW_OK; i++)
        status = put_row(r, i, out, err);
    putc(']', out);
    return status;
}
