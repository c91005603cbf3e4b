/* Traces in counter data: events of a program and its GPUs, with their times. See docs/formats.md for the bytes.
 *
 * Rows come in blocks, each of one process and one kind (image/trace_kinds.h), with a column for each field. A file is
 * read block by block; memory holds the places of the blocks and the texts. */
#ifndef CW_IMAGE_TRACE_DATA_H
#define CW_IMAGE_TRACE_DATA_H

#include "base/input.h"
#include "image/schema.h"
#include "image/trace_kinds.h"

/* Limit on the rows of a block. */
enum { CW_TRACE_ROWS_MAX = 1 << 16 };
/* Limit on the devices of a process. */
enum { CW_TRACE_DEVICES_MAX = 256 };

struct cw_trace_process {
    uint32_t number; /* in the file, once read */
    uint32_t pid;
    uint32_t attribute_count, device_count, text_count;
    const struct cw_pair *attributes; /* docs/formats.md names them: program, host, rank... */
    /* A device of a process, which numbers devices by itself. */
    const struct cw_trace_device {
        uint32_t number, device; /* device: its number in the file when written, an index into devices once read */
    } * devices;
    const char *const *texts; /* texts[0] is "" */
};
/* The value of an attribute, or NULL, as cw_pair_find finds it. */
const char *cw_trace_attribute(const struct cw_trace_process *process, const char *key);

/* The note in the accounts of a process that ended before it had sent everything. */
#define CW_TRACE_CUT "the process ended before it had sent all: what came last is lost"

/* ---- writing ---- */

/* Writes chunk TKND: every kind of this version. Write it once, behind the schema. */
void cw_trace_write_kinds(struct cw_writer *out);
/* Writes chunk TPRC: process `index` of the file, counted from 0 without a gap. Write it again when the process has
 * more devices. Does not write the texts. */
void cw_trace_write_process(uint32_t index, const struct cw_trace_process *process, struct cw_writer *out);
/* Writes chunk TSTR: texts of the process from index `first` on; the first text of a process has index 1. */
void cw_trace_write_texts(uint32_t process, uint32_t first, const char *const *texts, uint32_t count,
                          struct cw_writer *out);
/* Writes chunk TREC: 1 to CW_TRACE_ROWS_MAX rows of a kind; columns[i] is the kind's field i. `plain` takes less time
 * and more bytes. */
void cw_trace_write_rows(uint32_t process, enum cw_trace_kind kind, uint32_t count, const uint64_t *const *columns,
                         bool plain, struct cw_writer *out);

/* ---- reading ---- */

struct cw_trace_rows {
    uint32_t process, kind, count; /* kind: index into the kinds of the file */
    /* by field, NULL if the kind lacks the field or this version does not know it */
    const uint64_t *column[CW_FIELD__COUNT];
    const uint64_t *const *columns; /* by the kind's own fields */
};

struct cw_trace {
    const char *source;
    const struct cw_input *input;
    uint32_t process_count, kind_count;
    const struct cw_trace_process *processes;
    const struct cw_trace_kind_read {
        const char *name;
        enum cw_trace_kind kind; /* CW_TRACE_KIND__COUNT if this version does not know it */
        uint32_t field_count;
        const struct cw_trace_kind_field {
            const char *name;
            enum cw_trace_type type;
            enum cw_trace_field field; /* CW_FIELD__COUNT if this version does not know it */
        } * fields;
        uint64_t rows; /* in the whole file */
    } * kinds;
    size_t block_count;
    const struct cw_trace_block { /* place of some rows */
        size_t size;              /* size of the payload */
        uint64_t offset;          /* offset of the chunk, for messages */
        uint32_t process, kind, count;
    } * blocks; /* in the order of the file */
};

/* Finds the parts of a trace in a counter data file that cw_counter_data_open has accepted, whose devices are by
 * number. Lists and texts live in `arena`; rows stay in the input, which is read for each block. */
enum cw_status cw_trace_open(struct cw_trace *trace, const struct cw_device *devices, uint32_t device_count,
                             const struct cw_input *input, const char *source, struct cw_arena *arena,
                             struct cw_error *err);
/* The same of bytes in memory, which must stay. */
enum cw_status cw_trace_read(struct cw_trace *trace, const struct cw_device *devices, uint32_t device_count,
                             const void *bytes, size_t size, const char *source, struct cw_arena *arena,
                             struct cw_error *err);

/* Keeps the marked processes, renumbered, and their blocks. False when out of memory. */
bool cw_trace_keep(struct cw_trace *trace, const bool *keep, struct cw_arena *arena);

/* Memory for the rows of one block at a time. Initialise with zeros. */
struct cw_trace_buffer {
    uint64_t *values;
    size_t capacity;
    struct cw_window window; /* of the input */
    const uint64_t *columns[CW_TRACE_KIND_FIELDS_MAX];
};
void cw_trace_buffer_free(struct cw_trace_buffer *buffer);

/* Reads the rows of a block, valid in `buffer` until the next call. */
enum cw_status cw_trace_read_rows(struct cw_trace_rows *rows, const struct cw_trace *trace, size_t block,
                                  struct cw_trace_buffer *buffer, struct cw_error *err);

/* The same of the fields up to the last one that is wanted; the others are as if the kind had none of them, and damage
 * behind is not found. */
enum cw_status cw_trace_read_some(struct cw_trace_rows *rows, const struct cw_trace *trace, size_t block,
                                  const bool wanted[CW_FIELD__COUNT], struct cw_trace_buffer *buffer,
                                  struct cw_error *err);

/* A field of a row; CW_TRACE_UNKNOWN (0 for a time or a text) if there is none. */
uint64_t cw_trace_get(const struct cw_trace_rows *rows, enum cw_trace_field field, uint32_t row);
/* A text of a process, "" for none. */
const char *cw_trace_text(const struct cw_trace *trace, uint32_t process, uint64_t text);
/* Index in the file's devices of a process's device number; CW_NO_TRACE_DEVICE if the process did not describe it. */
#define CW_NO_TRACE_DEVICE UINT32_MAX
uint32_t cw_trace_device(const struct cw_trace *trace, uint32_t process, uint64_t number);

/* ---- between processes of the same build ---- */

/* Reads the payload of a TREC whose kind is a number of enum cw_trace_kind. Text indices must be below `text_count`. */
enum cw_status cw_trace_rows_decode(struct cw_trace_rows *rows, struct cw_reader *in, uint32_t text_count,
                                    struct cw_trace_buffer *buffer);

#endif
