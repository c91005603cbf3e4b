#define _GNU_SOURCE
#include <inttypes.h>
#include <stdlib.h>

#include "base/text.h"
#include "eval/output/output.h"

static void put_cell(const struct cw_output_column *c, const void *cell, FILE *out)
{
    char number[CW_NUMBER_SIZE];
    switch (c->type) {
    case CW_CELL_TEXT:
        cw_text_put(out, CW_TEXT_CELL, *(const char *const *)cell);
        break;
    case CW_CELL_F64:
        fputs(cw_number_text(*(const double *)cell, number), out);
        break;
    case CW_CELL_STATUS:
        fputs(cw_value_status_text((enum cw_value_status) * (const int8_t *)cell), out);
        break;
    default:
        cw_text_print(out, "%" PRIu64, cw_cell_integer(c->type, cell));
    }
}

/* The cells of a record behind those of the line that are there; without a record their names. A column across an axis
 * is one column for each of its rows: grid_x. */
static void put_cells(const struct cw_output_column *columns, size_t count, unsigned format, const void *record,
                      bool *begun, FILE *out)
{
    for (size_t k = 0; k < count; k++) {
        const struct cw_output_column *c = &columns[k];
        const uint64_t cells = c->across ? c->across->row_count : 1;
        for (uint64_t i = 0; c->formats & format && i < cells; i++) {
            if (*begun)
                putc(',', out);
            *begun = true;
            if (record) {
                put_cell(c, cw_cell_at(c, record, i), out);
                continue;
            }
            fputs(c->name, out);
            if (c->across)
                fprintf(out, "_%s", *(const char *const *)c->across->row(c->across, i).record);
        }
    }
}

static void put_line(const struct cw_output_table *t, unsigned format, const char *start, const void *metric,
                     const struct cw_value_record *value, FILE *out)
{
    bool begun = true;
    fputs(start, out);
    if (t->metrics) {
        put_cells(t->metrics->columns, t->metrics->column_count, format, metric, &begun, out);
        put_cells(cw_value_columns, cw_output_value_columns(t), format, value, &begun, out);
    }
    fputs("\r\n", out);
}

/* The lines of a record begin with its own cells, which are made once. */
static bool make_start(const struct cw_output_table *t, unsigned format, const void *record, FILE *start)
{
    bool begun = false;
    rewind(start);
    put_cells(t->columns, t->column_count, format, record, &begun, start);
    return putc(0, start) == 0 && fflush(start) == 0;
}

static enum cw_status write_lines(FILE *out, const struct cw_output_table *t, unsigned format, struct cw_error *err)
{
    char *start = NULL;
    size_t size;
    FILE *stream = open_memstream(&start, &size);
    bool good = stream && make_start(t, format, NULL, stream);
    if (good)
        put_line(t, format, start, NULL, NULL, out);
    for (uint64_t i = 0; i < t->row_count && good; i++) {
        const struct cw_output_row row = t->row(t, i);
        good = make_start(t, format, row.record, stream);
        if (good && !t->metrics)
            put_line(t, format, start, NULL, NULL, out);
        for (size_t m = 0; good && t->metrics && m < t->metrics->row_count; m++) {
            const struct cw_value_record value = cw_output_value(&row, m);
            put_line(t, format, start, t->metrics->row(t->metrics, m).record, &value, out);
        }
    }
    if (stream)
        fclose(stream);
    free(start);
    return good ? CW_OK : cw_error_nomem(err);
}

enum cw_status cw_csv_write(FILE *out, const void *output, struct cw_error *err)
{
    return write_lines(out, ((const struct cw_output *)output)->tables, CW_TO_CSV, err);
}

enum cw_status cw_csv_write_rows(FILE *out, const void *output, struct cw_error *err)
{
    return write_lines(out, ((const struct cw_output *)output)->tables, CW_TO_ROWS, err);
}
