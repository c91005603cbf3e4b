/* Tables as every format takes them: columns, and rows that come one after another, so that a table may be larger than
 * memory. A format has those columns of a table that name it, in their order. */
#ifndef CW_EVAL_OUTPUT_TABLE_H
#define CW_EVAL_OUTPUT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eval/result.h"

enum cw_cell_type {
    CW_CELL_TEXT,  /* const char *, never NULL */
    CW_CELL_CHARS, /* a text that lies in the record; terminal alone */
    CW_CELL_U32,
    CW_CELL_U64,
    CW_CELL_I64,    /* a uint64_t that JSON has as an int64_t, which all its readers take */
    CW_CELL_KNOWN,  /* the same, of which 2^64-1 is not known: no cell in CSV, null in JSON */
    CW_CELL_SIGNED, /* int64_t, of which -2^63 is not known */
    CW_CELL_F64,    /* in JSON what is infinite or no number is null: the status beside it says why */
    CW_CELL_REAL,   /* double, of which the NaN that has all bits is not known: no cell in CSV */
    CW_CELL_STATUS, /* int8_t, enum cw_value_status */
    CW_CELL_PAIRS,  /* struct cw_output_pairs: an object, left out where it is empty; JSON alone */
};

/* CW_TO_CSV: CSV, and lines of JSON. CW_TO_CSV_0: CSV in the shape of version 0.1. */
enum cw_output_format { CW_TO_CSV_0 = 1, CW_TO_JSON = 2, CW_TO_HDF5 = 4, CW_TO_TERMINAL = 8, CW_TO_CSV = 16 };
/* Formats that other programs read. */
#define CW_TO_FILES (CW_TO_CSV | CW_TO_CSV_0 | CW_TO_JSON | CW_TO_HDF5)

struct cw_output_table;

/* Nanoseconds that xarray, pandas and netCDF4 take for a date. */
#define CW_OUTPUT_DATE "nanoseconds since 1970-01-01"
#define CW_OUTPUT_REALTIME "CLOCK_REALTIME"

/* What the numbers of a column mean, one word for each value, or each bit, of `values`. */
struct cw_output_flags {
    const char *meanings;
    bool bits;
    uint32_t count;
    const uint64_t *values;
};

struct cw_output_column {
    const char *name;
    enum cw_cell_type type;
    unsigned formats;                     /* that have it, enum cw_output_format */
    size_t offset;                        /* of the cell in a record; with `across`, of a pointer to the cells */
    const struct cw_output_table *across; /* a row has a cell for each row of this; NULL: one cell */
    int width;                            /* on a terminal; 0: what the widest cell needs */
    bool right;                           /* aligned there */
    const char *units;                    /* in HDF5, an attribute; NULL: none. CW_OUTPUT_DATE: a time, see `clock` */
    /* In HDF5, attributes: */
    const char *long_name;               /* what it is, in words; NULL: its name says it */
    const struct cw_output_table *texts; /* the numbers are rows of this one, 0 of no text; NULL: they are not */
    const struct cw_output_flags *flags; /* or NULL */
};
bool cw_output_is_date(const struct cw_output_column *column);

struct cw_output_row {
    const void *record;          /* NULL: it could not be read, as `failed` of the table says */
    const double *values;        /* values[m * stride] of row m of the table of metrics, where the table has one */
    const int8_t *statuses;      /* the same; enum cw_value_status */
    const uint32_t *occurrences; /* the same, of a table with `spread` */
    const double *spread;
    size_t stride;
};

struct cw_output_table {
    const char *name;  /* in JSON */
    const char *group; /* in HDF5 */
    const struct cw_output_column *columns;
    size_t column_count, record_size;
    uint64_t row_count;
    /* A row, whose record is there until the next call, and whose texts stay. They are asked for in order, several
     * times over where they are few. */
    struct cw_output_row (*row)(const struct cw_output_table *table, uint64_t i);
    void *content;                         /* where `row` finds them */
    const enum cw_status *failed;          /* why there is no row, of which the error is told already; or NULL */
    const struct cw_output_table *metrics; /* a row has a value and a status for each row of this; or NULL */

    bool spread;                            /* beside each value stand its occurrences and its spread */
    bool once;                              /* JSON: a list of the metrics stands before the rows, and not in each */
    bool short_escapes;                     /* JSON: an end of line is \n, not \u000a */
    const struct cw_output_column *numbers; /* HDF5: a column of the rows' numbers from 0 on, uint64_t, which is their
                                               dimension scale; NULL: the first column is that */
    const char *coordinates;                /* HDF5: of the values, attribute of that name */
    const char *clock;                      /* HDF5: attribute of the first column, or NULL; times of another clock than
                                               CW_OUTPUT_REALTIME are no dates */
    bool deferred; /* HDF5: its rows are written by eval/output/hdf5_rows.h, and are not asked for before */
    bool plain;    /* terminal: neither indented nor with a line under the names */
};

/* Initializes both. */
#define CW_OUTPUT_COLUMNS(list) .columns = (list), .column_count = sizeof(list) / sizeof *(list)

/* A row that is written, with progress where there are many. */
struct cw_output_row cw_output_next(const struct cw_output_table *table, uint64_t i);

struct cw_output_pairs {
    const struct cw_pair *list;
    uint32_t count;
};

/* `row` of a table whose `content` is an array of records. */
struct cw_output_row cw_output_array(const struct cw_output_table *table, uint64_t i);

/* Fills in a table of metrics; `descriptions` may be NULL. `typed`: JSON says of which type they are. False when out of
 * memory. */
bool cw_output_metrics(struct cw_output_table *table, const struct cw_result *result, const char *const *descriptions,
                       bool typed, struct cw_arena *arena);

/* What a row has of one metric, as a record of the columns value and status, and occurrences and spread where the table
 * has them. */
struct cw_value_record {
    double value;
    int8_t status;
    uint32_t occurrences;
    double spread;
};
enum { CW_VALUE_COLUMNS = 4 };
extern const struct cw_output_column cw_value_columns[CW_VALUE_COLUMNS];
size_t cw_output_value_columns(const struct cw_output_table *table);
struct cw_value_record cw_output_value(const struct cw_output_row *row, size_t metric);
/* The first of the cells of a row that are a column's of the values: cell m * stride is that of metric m. */
const void *cw_output_cells(const struct cw_output_row *row, const struct cw_output_column *column);
/* Row `i` of a result. */
struct cw_output_row cw_output_row(const struct cw_result *result, const void *record, uint64_t i);

/* A cell of a record; with `across` the one of its row `i`. */
const void *cw_cell_at(const struct cw_output_column *column, const void *record, size_t i);
size_t cw_cell_size(enum cw_cell_type type);
/* Of the types that are whole numbers. */
uint64_t cw_cell_integer(enum cw_cell_type type, const void *cell);

#endif
