/* Rows of a trace, one after another, as blocks. */
#ifndef CW_TESTS_ADD_ROWS_H
#define CW_TESTS_ADD_ROWS_H

#include "image/trace_data.h"

enum { CW_ADD_ROWS_PROCESSES = 64 };

struct cw_add_rows { /* begins as zeros but for `out` */
    struct cw_writer *out;
    struct cw_waiting_rows *waiting[CW_ADD_ROWS_PROCESSES][CW_TRACE_KIND__COUNT];
};

struct cw_add_value {
    enum cw_trace_field field;
    uint64_t value;
};

/* Adds a row, of which all other fields are not known. Blocks are written as they fill. */
void cw_add_row(struct cw_add_rows *rows, uint32_t process, enum cw_trace_kind kind, const struct cw_add_value *values,
                size_t count);
/* CW_ADD_ROW(&rows, 0, KERNEL, {CW_FIELD_START, 1}, {CW_FIELD_END, 2}) */
#define CW_ADD_ROW(rows, process, kind, ...)                                                                           \
    cw_add_row(rows, process, CW_TRACE_##kind, (const struct cw_add_value[]){__VA_ARGS__},                             \
               sizeof((const struct cw_add_value[]){__VA_ARGS__}) / sizeof(struct cw_add_value))

/* Writes what waits of a process. */
void cw_add_rows_flush(struct cw_add_rows *rows, uint32_t process);
void cw_add_rows_free(struct cw_add_rows *rows);

#endif
