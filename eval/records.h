/* Tables of plain records (instructions, samples), each in one shape for every output: CSV, JSON and HDF5. */
#ifndef CW_EVAL_RECORDS_H
#define CW_EVAL_RECORDS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

enum cw_field_kind {
    CW_FIELD_TEXT, /* const char *, never NULL */
    CW_FIELD_U32,
    CW_FIELD_U64,
};

struct cw_field {
    const char *name;
    enum cw_field_kind kind;
    size_t offset; /* in the record */
};

struct cw_records {
    const char *name; /* of the table, "samples" */
    const void *rows;
    size_t count, size; /* size: of a record in bytes */
    const struct cw_field *fields;
    size_t field_count;
};

/* CSV with a line of names first. Write errors stay in the stream (ferror). */
void cw_records_csv(const struct cw_records *records, FILE *out);
/* `"name": [{...}, ...]`, a member of an object of the caller's. */
void cw_records_json(const struct cw_records *records, FILE *out);

#endif
