#define _GNU_SOURCE
#include <math.h>

#include "base/elide.h"
#include "base/text.h"
#include "eval/output/capture.h"
#include "eval/output/once.h"
#include "eval/output/output.h"

/* A file being written; nothing more is printed after the first failure. */
struct writing {
    FILE *out;
    struct cw_error *err;
    enum cw_status status;
    unsigned format; /* bit of the columns to write */
    const struct cw_output_table *metrics;
    struct cw_output_once once;   /* of the metrics */
    struct cw_elisions *elisions; /* of the texts in cells */
};

static void put_tree(struct writing *w, json_t *value)
{
    w->status = cw_json_print(value, JSON_ENCODE_ANY, w->out, w->err);
}

/* Puts a word that needs no escape. */
static void put_word(struct writing *w, const char *text, bool quoted)
{
    if (quoted)
        putc_unlocked('"', w->out);
    fputs_unlocked(text, w->out);
    if (quoted)
        putc_unlocked('"', w->out);
}

static void put_cell(struct writing *w, const struct cw_output_table *t, const struct cw_output_column *c,
                     const void *cell)
{
    const struct cw_range *range = cell;
    const char *text = c->type == CW_CELL_TEXT ? cw_elisions_text(w->elisions, *(const char *const *)cell) : NULL;
    switch (c->type) {
    case CW_CELL_TEXT:
        if (t->short_escapes)
            put_tree(w, json_string(text));
        else
            cw_text_put(w->out, CW_TEXT_JSON, text);
        break;
    case CW_CELL_ATTRIBUTES:
        put_tree(w, cw_capture_pairs(range->attributes, range->attribute_count));
        break;
    case CW_CELL_F64:
    case CW_CELL_REAL:
        if (isfinite(*(const double *)cell))
            cw_output_put_f64(*(const double *)cell, w->out);
        else
            put_word(w, "null", false);
        break;
    case CW_CELL_STATUS:
        put_word(w, cw_value_status_text((enum cw_value_status) * (const int8_t *)cell), true);
        break;
    case CW_CELL_KNOWN:
        if (cw_cell_integer(c->type, cell) == UINT64_MAX)
            put_word(w, "null", false);
        else
            cw_output_put_u64(cw_cell_integer(c->type, cell), w->out);
        break;
    case CW_CELL_SIGNED:
        if (*(const int64_t *)cell == INT64_MIN)
            put_word(w, "null", false);
        else
            cw_output_put_i64(*(const int64_t *)cell, w->out);
        break;
    case CW_CELL_I64:
        cw_output_put_i64(*(const int64_t *)cell, w->out);
        break;
    default:
        cw_output_put_u64(cw_cell_integer(c->type, cell), w->out);
    }
}

static void put_cells(struct writing *w, const struct cw_output_table *t, const struct cw_output_column *c,
                      const void *record)
{
    if (!c->across) {
        put_cell(w, t, c, cw_cell_at(c, record, 0));
        return;
    }
    for (uint64_t i = 0; i < c->across->row_count; i++) {
        fputs_unlocked(i ? ", " : "[", w->out);
        put_cell(w, t, c, cw_cell_at(c, record, i));
    }
    putc_unlocked(']', w->out);
}

static bool is_there(const struct writing *w, const struct cw_output_column *c, const void *record)
{
    return c->formats & w->format &&
           (c->type != CW_CELL_ATTRIBUTES || ((const struct cw_range *)cw_cell_at(c, record, 0))->attribute_count);
}

/* Puts the members of an object; the caller puts its braces. */
static void put_members(struct writing *w, const struct cw_output_table *t, const void *record)
{
    bool begun = false;
    for (size_t k = 0; k < t->column_count && w->status == CW_OK; k++)
        if (is_there(w, &t->columns[k], record)) {
            if (begun)
                fputs_unlocked(", ", w->out);
            put_word(w, t->columns[k].name, true);
            fputs_unlocked(": ", w->out);
            put_cells(w, t, &t->columns[k], record);
            begun = true;
        }
}

/* Puts the members of a metric; its value follows in the same object. */
static void put_metric(FILE *out, const void *record, const void *writing)
{
    struct writing w = *(const struct writing *)writing;
    w.out = out;
    put_members(&w, w.metrics, record);
    fputs_unlocked(", ", out);
}

static bool make_once(struct writing *w, const struct cw_output_table *t)
{
    w->metrics = t->metrics;
    if (!t->metrics || (t->once && w->format == CW_TO_JSON) || cw_output_once_make(&w->once, t->metrics, put_metric, w))
        return true;
    w->status = cw_error_nomem(w->err);
    return false;
}

/* Puts each metric of a row with its value. */
static void put_metrics(struct writing *w, const struct cw_output_table *t, const struct cw_output_row *row)
{
    const struct cw_output_table values = {.columns = cw_value_columns, .column_count = cw_output_value_columns(t)};
    fputs(", \"metrics\": [", w->out);
    for (size_t m = 0; m < t->metrics->row_count; m++) {
        const struct cw_value_record value = cw_output_value(row, m);
        fputs_unlocked(m ? ",\n    {" : "\n    {", w->out);
        cw_output_once_put(&w->once, m, w->out);
        put_members(w, &values, &value);
        putc_unlocked('}', w->out);
    }
    putc_unlocked(']', w->out);
}

/* Puts the values of a row as arrays; the list of metrics stands before the rows. */
static void put_values(struct writing *w, const struct cw_output_table *t, const struct cw_output_row *row)
{
    static const char *const names[CW_VALUE_COLUMNS] = {"values", "statuses", "occurrences", "spreads"};
    for (size_t k = 0; k < cw_output_value_columns(t); k++) {
        cw_text_print(w->out, ", \"%s\": [", names[k]);
        for (size_t m = 0; m < t->metrics->row_count; m++) {
            const struct cw_value_record value = cw_output_value(row, m);
            fputs_unlocked(m ? ", " : "", w->out);
            put_cell(w, t, &cw_value_columns[k], cw_cell_at(&cw_value_columns[k], &value, 0));
        }
        putc(']', w->out);
    }
}

static void put_table(struct writing *w, const struct cw_output_table *t)
{
    cw_text_print(w->out, ",\n \"%s\": [", t->name);
    for (uint64_t i = 0; i < t->row_count && w->status == CW_OK; i++) {
        const struct cw_output_row row = cw_output_next(t, i);
        if (!row.record) {
            w->status = *t->failed;
            break;
        }
        fputs(i ? ",\n  {" : "\n  {", w->out);
        put_members(w, t, row.record);
        if (t->metrics && w->status == CW_OK)
            (t->once ? put_values : put_metrics)(w, t, &row);
        putc('}', w->out);
    }
    putc(']', w->out);
}

/* Tables without a column for JSON are left out. */
static bool has_columns(const struct cw_output_table *t)
{
    for (size_t k = 0; k < t->column_count; k++)
        if (t->columns[k].formats & CW_TO_JSON)
            return true;
    return false;
}

/* Writes values as they come: a tree of them would take many times their size. */
enum cw_status cw_json_write(FILE *out, const void *output, struct cw_error *err)
{
    const struct cw_output *o = output;
    struct cw_elisions elisions = {0};
    struct writing w = {.out = out, .err = err, .format = CW_TO_JSON, .elisions = &elisions};
    fputs("{\"capture\": ", out);
    w.status = cw_json_print(cw_capture_manifest(o->data, o->source), JSON_COMPACT, out, err);
    if (w.status == CW_OK && o->tables[0].once)
        put_table(&w, &o->metrics);
    for (size_t i = 0; i < o->table_count && w.status == CW_OK && make_once(&w, &o->tables[i]); i++) {
        if (has_columns(&o->tables[i]))
            put_table(&w, &o->tables[i]);
        cw_output_once_free(&w.once);
        w.once = (struct cw_output_once){0};
    }
    cw_output_once_free(&w.once);
    cw_elisions_free(&elisions);
    fputs("}\n", out);
    return w.status;
}

static void put_line(struct writing *w, const struct cw_output_table *t, const void *record, size_t metric,
                     const struct cw_value_record *value)
{
    const struct cw_output_table values = {.columns = cw_value_columns, .column_count = cw_output_value_columns(t)};
    putc_unlocked('{', w->out);
    put_members(w, t, record);
    if (value) {
        fputs_unlocked(", ", w->out);
        cw_output_once_put(&w->once, metric, w->out);
        put_members(w, &values, value);
    }
    fputs_unlocked("}\n", w->out);
}

enum cw_status cw_ndjson_write(FILE *out, const void *output, struct cw_error *err)
{
    const struct cw_output_table *t = ((const struct cw_output *)output)->tables;
    struct cw_elisions elisions = {0};
    struct writing w = {.out = out, .err = err, .format = CW_TO_CSV, .elisions = &elisions};
    make_once(&w, t);
    for (uint64_t i = 0; i < t->row_count && w.status == CW_OK; i++) {
        const struct cw_output_row row = cw_output_next(t, i);
        if (!row.record)
            w.status = *t->failed;
        else if (!t->metrics)
            put_line(&w, t, row.record, 0, NULL);
        for (size_t m = 0; row.record && t->metrics && m < t->metrics->row_count && w.status == CW_OK; m++) {
            const struct cw_value_record value = cw_output_value(&row, m);
            put_line(&w, t, row.record, m, &value);
        }
    }
    cw_output_once_free(&w.once);
    cw_elisions_free(&elisions);
    return w.status;
}
