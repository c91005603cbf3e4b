/* Tables, the input of every writer: columns, and rows that come one after another, so that a table may be larger than
 * memory. A format writes the columns of a table that have its bit, in their order. */
#ifndef CW_EVAL_OUTPUT_TABLE_H
#define CW_EVAL_OUTPUT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eval/result.h"

enum cw_cell_type {
    CW_CELL_TEXT,  /* const char *, never NULL */
    CW_CELL_CHARS, /* a text in the record itself; for the terminal alone */
    CW_CELL_U32,
    CW_CELL_U64,
    CW_CELL_I64,        /* uint64_t; JSON writes an int64_t, which all readers take */
    CW_CELL_KNOWN,      /* uint64_t; 2^64-1 means unknown: an empty cell in CSV, null in JSON */
    CW_CELL_SIGNED,     /* int64_t; -2^63 means unknown */
    CW_CELL_F64,        /* double; JSON writes null for infinity and NaN, and the status beside it says why */
    CW_CELL_REAL,       /* double; the NaN with all bits set means unknown: an empty cell in CSV */
    CW_CELL_STATUS,     /* int8_t, enum cw_value_status */
    CW_CELL_ATTRIBUTES, /* struct cw_range: its attributes as an object, left out if it has none; for JSON alone */
};

/* CW_TO_CSV: CSV, and lines of JSON. CW_TO_CSV_0: CSV in the shape of version 0.1. */
enum cw_output_format { CW_TO_CSV_0 = 1, CW_TO_JSON = 2, CW_TO_HDF5 = 4, CW_TO_TERMINAL = 8, CW_TO_CSV = 16 };
/* Formats that other programs read. */
#define CW_TO_FILES (CW_TO_CSV | CW_TO_CSV_0 | CW_TO_JSON | CW_TO_HDF5)

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
/* The units of a column's cells in a table; NULL: none, or times of another clock than CW_OUTPUT_REALTIME. */
const char *cw_output_units(const struct cw_output_table *table, const struct cw_output_column *column);

struct cw_output_row {
    const void *record;          /* NULL: the row could not be read; `failed` of the table says why */
    const double *values;        /* of a table with metrics: values[m * stride] for row m of the table of metrics */
    const int8_t *statuses;      /* the same; enum cw_value_status */
    const uint32_t *occurrences; /* the same, for a table with `spread` */
    const double *spread;
    size_t stride;
};

struct cw_output_table {
    const char *name;  /* in JSON */
    const char *group; /* in HDF5 */
    const struct cw_output_column *columns;
    size_t column_count, record_size;
    uint64_t row_count;
    /* Returns a row. Its record lives until the next call, and its texts as long as the table. Writers ask for rows in
     * order, and for few rows several times. */
    struct cw_output_row (*row)(const struct cw_output_table *table, uint64_t i);
    void *content;                         /* for `row` */
    const enum cw_status *failed;          /* status after a row without a record; its error is set already; or NULL */
    const struct cw_output_table *metrics; /* a row has a value and a status for each row of this table; or NULL */

    bool spread;                            /* each value has occurrences and a spread */
    bool once;                              /* JSON: the list of metrics stands once before the rows, not in each row */
    bool short_escapes;                     /* JSON: an end of line is \n, not \u000a */
    const struct cw_output_column *numbers; /* HDF5: a column with the rows' numbers from 0 on, uint64_t, as dimension
                                               scale; NULL: the first column is the scale */
    const char *coordinates;                /* HDF5: the attribute `coordinates` of the values */
    const char *clock;                      /* HDF5: attribute of the first column, or NULL; times of another clock than
                                               CW_OUTPUT_REALTIME are no dates */
    bool deferred; /* HDF5: eval/output/hdf5_rows.h writes the rows, and nobody asks for them before */
    bool plain;    /* terminal: neither indented nor with a line under the names */
};

/* Initializes both. */
#define CW_OUTPUT_COLUMNS(list) .columns = (list), .column_count = sizeof(list) / sizeof *(list)

/* Returns a row for a writer, and shows progress if there are many. */
struct cw_output_row cw_output_next(const struct cw_output_table *table, uint64_t i);

/* `row` for a table with an array of records as its `content`. */
struct cw_output_row cw_output_array(const struct cw_output_table *table, uint64_t i);
/* The axis of a grid or a block: x, y, z. */
extern const struct cw_output_table cw_output_xyz;

/* Fills in a table of metrics; `descriptions` may be NULL. `typed`: JSON has the metrics' types. False when out of
 * memory. */
bool cw_output_metrics(struct cw_output_table *table, const struct cw_result *result, const char *const *descriptions,
                       bool typed, struct cw_arena *arena);

/* A metric's part of a row: a record of the columns value and status, and of occurrences and spread if the table has
 * them. */
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
/* The cells of a row in one of the columns of values: cell m * stride belongs to metric m. */
const void *cw_output_cells(const struct cw_output_row *row, const struct cw_output_column *column);
/* Row `i` of a result. */
struct cw_output_row cw_output_row(const struct cw_result *result, const void *record, uint64_t i);

/* A cell of a record; for a column with `across`, the cell of its row `i`. */
const void *cw_cell_at(const struct cw_output_column *column, const void *record, size_t i);
size_t cw_cell_size(enum cw_cell_type type);
/* The number in a cell of one of the integer types. */
uint64_t cw_cell_integer(enum cw_cell_type type, const void *cell);

#endif
