/* What the rows of traces hold: how many there are of each kind, and which of its fields any of them fills. */
#ifndef CW_TEST_TRACE_FIELDS_H
#define CW_TEST_TRACE_FIELDS_H

#include <stdio.h>

#include "image/trace_data.h"

struct trace_fields {
    uint64_t rows[CW_TRACE_KIND__COUNT];
    uint64_t filled[CW_TRACE_KIND__COUNT][CW_FIELD__COUNT]; /* by so many rows */
};

/* Adds those of a file. */
enum cw_status trace_fields_add(struct trace_fields *fields, const char *path, struct cw_error *err);
/* A line for each row of a kind: what it fills. */
enum cw_status trace_fields_print_rows(const char *path, const char *kind, FILE *to, struct cw_error *err);

#endif
