#define _GNU_SOURCE
#include <stdlib.h>

#include "base/elide.h"
#include "base/text.h"
#include "eval/output/once.h"
#include "eval/output/output.h"

static void put_cell(const struct cw_output_column *c, const void *cell, struct cw_elisions *elisions, FILE *out)
{
    switch (c->type) {
    case CW_CELL_TEXT:
        cw_text_put(out, CW_TEXT_CELL, cw_elisions_text(elisions, *(const char *const *)cell));
        break;
    case CW_CELL_F64:
        cw_output_put_f64(*(const double *)cell, out);
        break;
    case CW_CELL_REAL:
        if (cw_cell_integer(c->type, cell) != UINT64_MAX)
            cw_output_put_f64(*(const double *)cell, out);
        break;
    case CW_CELL_KNOWN:
        if (cw_cell_integer(c->type, cell) != UINT64_MAX)
            cw_output_put_u64(cw_cell_integer(c->type, cell), out);
        break;
    case CW_CELL_SIGNED:
        if (*(const int64_t *)cell != INT64_MIN)
            cw_output_put_i64(*(const int64_t *)cell, out);
        break;
    case CW_CELL_STATUS:
        fputs_unlocked(cw_value_status_text((enum cw_value_status) * (const int8_t *)cell), out);
        break;
    default:
        cw_output_put_u64(cw_cell_integer(c->type, cell), out);
    }
}

/* Lines begin with the cells of their record, and have those of the metric behind them. */
struct lines {
    const struct cw_output_table *table;
    unsigned format;
    FILE *out, *stream;
    char *start;
    size_t size;
    struct cw_output_once once;
    struct cw_elisions *elisions; /* of the texts in cells */
};

/* The cells of a record behind those of the line that are there; without a record their names. A column across an axis
 * is one column for each of its rows: grid_x. */
static void put_cells(const struct lines *l, const struct cw_output_column *columns, size_t count, const void *record,
                      bool *begun, FILE *out)
{
    for (size_t k = 0; k < count; k++) {
        const struct cw_output_column *c = &columns[k];
        const uint64_t cells = c->across ? c->across->row_count : 1;
        for (uint64_t i = 0; c->formats & l->format && i < cells; i++) {
            if (*begun)
                putc_unlocked(',', out);
            *begun = true;
            if (record) {
                put_cell(c, cw_cell_at(c, record, i), l->elisions, out);
                continue;
            }
            fputs(c->name, out);
            if (c->across)
                fprintf(out, "_%s", *(const char *const *)c->across->row(c->across, i).record);
        }
    }
}

static bool make_start(struct lines *l, const void *record)
{
    bool begun = false;
    rewind(l->stream);
    put_cells(l, l->table->columns, l->table->column_count, record, &begun, l->stream);
    return fflush(l->stream) == 0 && !ferror(l->stream);
}

static void put_metric(FILE *out, const void *record, const void *lines)
{
    const struct lines *l = lines;
    bool begun = true;
    put_cells(l, l->table->metrics->columns, l->table->metrics->column_count, record, &begun, out);
}

static void put_value(const struct lines *l, const struct cw_value_record *value)
{
    bool begun = true;
    put_cells(l, cw_value_columns, cw_output_value_columns(l->table), value, &begun, l->out);
}

static void put_names(struct lines *l)
{
    fwrite_unlocked(l->start, 1, l->size, l->out);
    if (l->table->metrics) {
        put_metric(l->out, NULL, l);
        put_value(l, NULL);
    }
    putc_unlocked('\n', l->out);
}

static void put_row(struct lines *l, const struct cw_output_row *row)
{
    if (!l->table->metrics) {
        fwrite_unlocked(l->start, 1, l->size, l->out);
        putc_unlocked('\n', l->out);
        return;
    }
    for (size_t m = 0; m < l->table->metrics->row_count; m++) {
        const struct cw_value_record value = cw_output_value(row, m);
        fwrite_unlocked(l->start, 1, l->size, l->out);
        cw_output_once_put(&l->once, m, l->out);
        put_value(l, &value);
        putc_unlocked('\n', l->out);
    }
}

static enum cw_status write_lines(FILE *out, const struct cw_output_table *t, unsigned format, struct cw_error *err)
{
    struct cw_elisions elisions = {0};
    struct lines l = {.table = t, .format = format, .out = out, .elisions = &elisions};
    l.stream = open_memstream(&l.start, &l.size);
    bool good = l.stream && (!t->metrics || cw_output_once_make(&l.once, t->metrics, put_metric, &l));
    good = good && make_start(&l, NULL);
    if (good)
        put_names(&l);
    enum cw_status status = CW_OK;
    for (uint64_t i = 0; i < t->row_count && good && status == CW_OK; i++) {
        const struct cw_output_row row = cw_output_next(t, i);
        status = row.record ? CW_OK : *t->failed;
        good = !row.record || make_start(&l, row.record);
        if (good && row.record)
            put_row(&l, &row);
    }
    if (l.stream)
        fclose(l.stream);
    free(l.start);
    cw_output_once_free(&l.once);
    cw_elisions_free(&elisions);
    return good ? status : cw_error_nomem(err);
}

enum cw_status cw_csv_write(FILE *out, const void *output, struct cw_error *err)
{
    return write_lines(out, ((const struct cw_output *)output)->tables, CW_TO_CSV, err);
}

enum cw_status cw_csv_write_rows(FILE *out, const void *output, struct cw_error *err)
{
    return write_lines(out, ((const struct cw_output *)output)->tables, CW_TO_ROWS, err);
}
