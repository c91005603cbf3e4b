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

/* A file being written: wide, with a line for each row, or long, with a line for each value. */
struct lines {
    const struct cw_output_table *table;
    unsigned format; /* bit of the columns to write */
    FILE *out, *stream;
    char *text; /* made in `stream`: the beginning of long lines, or one cell */
    size_t size;
    struct cw_output_once once;
    struct cw_elisions *elisions; /* of the texts in cells */
};

/* Puts the cells of a record, or the names of the columns if there is no record. A column across an axis becomes one
 * column for each row of the axis: grid_x. */
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

static void put_row_cells(const struct lines *l, const void *record, FILE *out)
{
    bool begun = false;
    put_cells(l, l->table->columns, l->table->column_count, record, &begun, out);
}

/* Puts the text in `stream` as a cell. False when out of memory. */
static bool put_made(struct lines *l)
{
    putc_unlocked(0, l->stream);
    const bool good = fflush(l->stream) == 0 && !ferror(l->stream);
    if (good)
        cw_text_put(l->out, CW_TEXT_CELL, l->text);
    rewind(l->stream);
    return good;
}

/* ---- wide ------------------------------------------------------------------------------------------------------- */

/* The first column of metrics has their names. */
static const char *metric_name(const struct lines *l, size_t m)
{
    const struct cw_output_table *t = l->table->metrics;
    return *(const char *const *)cw_cell_at(&t->columns[0], t->row(t, m).record, 0);
}

/* A metric's column has its name, and columns beside it have METRIC:occurrences. The statuses of a row are one cell. */
static bool put_metric_names(struct lines *l)
{
    bool good = true;
    fputs(",status", l->out);
    for (size_t m = 0; m < l->table->metrics->row_count; m++)
        for (size_t k = 0; good && k < cw_output_value_columns(l->table); k++) {
            if (cw_value_columns[k].type == CW_CELL_STATUS)
                continue;
            putc_unlocked(',', l->out);
            fputs_unlocked(metric_name(l, m), l->stream);
            if (k)
                fprintf(l->stream, ":%s", cw_value_columns[k].name);
            good = put_made(l);
        }
    return good;
}

/* Lists the values that are not ok, as METRIC=STATUS;METRIC=STATUS. */
static bool put_statuses(struct lines *l, const struct cw_output_row *row)
{
    bool any = false;
    for (size_t m = 0; m < l->table->metrics->row_count; m++) {
        const enum cw_value_status status = (enum cw_value_status)row->statuses[m * row->stride];
        if (status == CW_VALUE_OK)
            continue;
        if (any)
            putc_unlocked(';', l->stream);
        any = true;
        fputs_unlocked(metric_name(l, m), l->stream);
        putc_unlocked('=', l->stream);
        fputs_unlocked(cw_value_status_text(status), l->stream);
    }
    return !any || put_made(l);
}

static bool put_wide_values(struct lines *l, const struct cw_output_row *row)
{
    putc_unlocked(',', l->out);
    const bool good = put_statuses(l, row);
    for (size_t m = 0; m < l->table->metrics->row_count; m++) {
        const struct cw_value_record value = cw_output_value(row, m);
        for (size_t k = 0; k < cw_output_value_columns(l->table); k++) {
            if (cw_value_columns[k].type == CW_CELL_STATUS)
                continue;
            putc_unlocked(',', l->out);
            put_cell(&cw_value_columns[k], cw_cell_at(&cw_value_columns[k], &value, 0), l->elisions, l->out);
        }
    }
    return good;
}

static bool put_wide_names(struct lines *l)
{
    put_row_cells(l, NULL, l->out);
    const bool good = !l->table->metrics || put_metric_names(l);
    putc_unlocked('\n', l->out);
    return good;
}

static bool put_wide_row(struct lines *l, const struct cw_output_row *row)
{
    put_row_cells(l, row->record, l->out);
    const bool good = !l->table->metrics || put_wide_values(l, row);
    putc_unlocked('\n', l->out);
    return good;
}

/* ---- long ------------------------------------------------------------------------------------------------------- */

static bool make_beginning(struct lines *l, const void *record)
{
    rewind(l->stream);
    put_row_cells(l, record, l->stream);
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
    putc_unlocked('\n', l->out);
}

static bool put_long_names(struct lines *l)
{
    put_row_cells(l, NULL, l->out);
    put_metric(l->out, NULL, l);
    put_value(l, NULL);
    return cw_output_once_make(&l->once, l->table->metrics, put_metric, l);
}

static bool put_long_row(struct lines *l, const struct cw_output_row *row)
{
    const bool good = make_beginning(l, row->record);
    for (size_t m = 0; good && m < l->table->metrics->row_count; m++) {
        const struct cw_value_record value = cw_output_value(row, m);
        fwrite_unlocked(l->text, 1, l->size, l->out);
        cw_output_once_put(&l->once, m, l->out);
        put_value(l, &value);
    }
    return good;
}

/* ---- files ------------------------------------------------------------------------------------------------------ */

static enum cw_status write_lines(FILE *out, const struct cw_output_table *t, unsigned format, bool tidy,
                                  struct cw_error *err)
{
    struct cw_elisions elisions = {0};
    struct lines l = {.table = t, .format = format, .out = out, .elisions = &elisions};
    const bool by_value = tidy && t->metrics;
    enum cw_status status = CW_OK;
    l.stream = open_memstream(&l.text, &l.size);
    bool good = l.stream && (by_value ? put_long_names(&l) : put_wide_names(&l));
    for (uint64_t i = 0; i < t->row_count && good && status == CW_OK; i++) {
        const struct cw_output_row row = cw_output_next(t, i);
        if (row.record)
            good = by_value ? put_long_row(&l, &row) : put_wide_row(&l, &row);
        else
            status = *t->failed;
    }
    if (l.stream)
        fclose(l.stream);
    free(l.text);
    cw_output_once_free(&l.once);
    cw_elisions_free(&elisions);
    return good ? status : cw_error_nomem(err);
}

enum cw_status cw_csv_write(FILE *out, const void *output, struct cw_error *err)
{
    return write_lines(out, ((const struct cw_output *)output)->tables, CW_TO_CSV, false, err);
}

enum cw_status cw_csv_write_tidy(FILE *out, const void *output, struct cw_error *err)
{
    return write_lines(out, ((const struct cw_output *)output)->tables, CW_TO_CSV, true, err);
}

enum cw_status cw_csv_write_0(FILE *out, const void *output, struct cw_error *err)
{
    return write_lines(out, ((const struct cw_output *)output)->tables, CW_TO_CSV_0, true, err);
}
