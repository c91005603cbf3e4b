/* Tables for every format: columns, and rows that come one after another, so that a table may be larger than memory. A
 * format writes the columns that name it in `formats`, in their order. */
#ifndef CW_EVAL_OUTPUT_TABLE_H
#define CW_EVAL_OUTPUT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eval/result.h"

enum cw_cell_type {
    CW_CELL_TEXT,  /* const char *, never NULL */
    CW_CELL_CHARS, /* a text in the record itself; terminal alone */
    CW_CELL_U32,
    CW_CELL_U64,
    CW_CELL_I64,        /* uint64_t, an int64_t in JSON, which all its readers take */
    CW_CELL_KNOWN,      /* the same; 2^64-1 is unknown: no cell in CSV, null in JSON */
    CW_CELL_SIGNED,     /* int64_t; -2^63 is unknown */
    CW_CELL_F64,        /* double; infinities and NaN are null in JSON, and the status beside says why */
    CW_CELL_REAL,       /* double; the NaN with all bits set is unknown: no cell in CSV */
    CW_CELL_STATUS,     /* int8_t, enum cw_value_status */
    CW_CELL_ATTRIBUTES, /* struct cw_range: its attributes as an object, left out if it has none; JSON alone */
};

/* CW_TO_ROWS: one row a value, with all facts that identify it, in CSV or as lines of JSON. */
enum cw_output_format { CW_TO_CSV = 1, CW_TO_JSON = 2, CW_TO_HDF5 = 4, CW_TO_TERMINAL = 8, CW_TO_ROWS = 16 };
/* Formats for other programs. */
#define CW_TO_FILES (CW_TO_CSV | CW_TO_JSON | CW_TO_HDF5 | CW_TO_ROWS)

struct cw_output_table;

/* Nanoseconds that xarray, pandas and netCDF4 take for a date. */
#define CW_OUTPUT_DATE "nanoseconds since 1970-01-01"
#define CW_OUTPUT_REALTIME "CLOCK_REALTIME"

struct cw_output_column {
    const char *name;
    enum cw_cell_type type;
    unsigned formats;                     /* with this column, enum cw_output_format */
    size_t offset;                        /* of the cell in a record; with `across`, of a pointer to the cells */
    const struct cw_output_table *across; /* a row has a cell for each row of this; NULL: one cell */
    int width;                            /* on a terminal; 0: as wide as its widest cell */
    bool right;                           /* aligned there */
    const char *units;                    /* in HDF5, an attribute; NULL: none. CW_OUTPUT_DATE: a time, see `clock` */
    /* In HDF5, attributes: */
    const char *long_name;               /* a description; NULL: the name says it */
    const struct cw_output_table *texts; /* the numbers are rows of this table, 0: no text; NULL: plain numbers */
    const char *meanings;                /* words for the numbers 0, 1, .., or for the bits 1, 2, ..; NULL: none */
    bool bits;                           /* they are of bits */
};
bool cw_output_is_date(const struct cw_output_column *column);

struct cw_output_row {
    const void *record;          /* NULL: it could not be read; see `failed` of the table */
    const double *values;        /* values[m * stride] is the value of metric m, if the table has metrics */
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
    /* A row. Its record stays until the next call, its texts for good. Writers ask for rows in order, and several times
     * over if they are few. */
    struct cw_output_row (*row)(const struct cw_output_table *table, uint64_t i);
    void *content;                         /* for `row` */
    const enum cw_status *failed;          /* status of a row that could not be read, with its error set; or NULL */
    const struct cw_output_table *metrics; /* a row has a value and a status for each row of it; or NULL */

    bool spread;                            /* each value has occurrences and a spread beside it */
    bool once;                              /* JSON: a list of the metrics stands before the rows, and not in each */
    bool short_escapes;                     /* JSON: an end of line is \n, not \u000a */
    const struct cw_output_column *numbers; /* HDF5: a column of the rows' numbers from 0 on, uint64_t, which is their
                                               dimension scale; NULL: the first column is that */
    const char *coordinates;                /* HDF5: of the values, attribute of that name */
    const char *clock;                      /* HDF5: attribute of the first column, or NULL; times of another clock than
                                               CW_OUTPUT_REALTIME are no dates */
    bool deferred;                          /* HDF5: hdf5_rows.h writes its rows later */
    bool plain;                             /* terminal: neither indented nor with a line under the names */
};

/* Initializes both. */
#define CW_OUTPUT_COLUMNS(list) .columns = (list), .column_count = sizeof(list) / sizeof *(list)

/* A row to write; shows progress if there are many. */
struct cw_output_row cw_output_next(const struct cw_output_table *table, uint64_t i);

/* `row` for a table with an array of records as its `content`. */
struct cw_output_row cw_output_array(const struct cw_output_table *table, uint64_t i);
/* The axis of a grid or a block: x, y, z. */
extern const struct cw_output_table cw_output_xyz;

/* Fills in a table of metrics; `descriptions` may be NULL. `typed`: JSON has their types. False when out of memory. */
bool cw_output_metrics(struct cw_output_table *table, const struct cw_result *result, const char *const *descriptions,
                       bool typed, struct cw_arena *arena);

/* The value of one metric in a row, as a record of cw_value_columns: value and status, and occurrences and spread if
 * the table has them. */
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
/* The first cell of a row in one of cw_value_columns: cell m * stride belongs to metric m. */
const void *cw_output_cells(const struct cw_output_row *row, const struct cw_output_column *column);
/* Row `i` of a result. */
struct cw_output_row cw_output_row(const struct cw_result *result, const void *record, uint64_t i);

/* A cell of a record; with `across` the one of its row `i`. */
const void *cw_cell_at(const struct cw_output_column *column, const void *record, size_t i);
size_t cw_cell_size(enum cw_cell_type type);
/* For types of whole numbers. */
uint64_t cw_cell_integer(enum cw_cell_type type, const void *cell);

#endif
