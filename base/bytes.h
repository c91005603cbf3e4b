/* Reads and writes little-endian byte sequences, with bounds checks.
 *
 * Readers and writers are sticky: after the first failure every further call does nothing (reads yield zero), so a
 * caller checks once at the end. A reader records the failure and its byte offset in its error. */
#ifndef CW_BASE_BYTES_H
#define CW_BASE_BYTES_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"

struct cw_reader {
    const uint8_t *data;
    size_t size, pos;
    uint64_t base;  /* offset of data[0] in the file, for messages */
    bool elsewhere; /* the file has this data in another form, so messages name `base` alone */
    const char *source;
    struct cw_error *err; /* may be NULL */
    enum cw_status status;
};

void cw_reader_init(struct cw_reader *reader, const void *data, size_t size, const char *source, uint64_t base,
                    struct cw_error *err);
/* Begins on data that was checked before, and tells nobody of a fault. */
void cw_reader_quiet(struct cw_reader *reader, const void *data, size_t size);
uint8_t cw_read_u8(struct cw_reader *reader);
uint16_t cw_read_u16(struct cw_reader *reader);
uint32_t cw_read_u32(struct cw_reader *reader);
uint64_t cw_read_u64(struct cw_reader *reader);
double cw_read_f64(struct cw_reader *reader);
/* `count` doubles with one check; all zero after a failure. */
void cw_read_f64s(struct cw_reader *reader, double *values, size_t count);
/* Reads a u32 count of items of at least `item_size` (> 0) encoded bytes each. Fails if the rest of the data cannot
 * hold them, so that a hostile count never becomes a large allocation. */
uint32_t cw_read_count(struct cw_reader *reader, size_t item_size, const char *what);
/* As cw_read_count, with an upper limit; `item_size` is 0 if the data does not hold the items themselves. */
uint32_t cw_read_count_up_to(struct cw_reader *reader, size_t item_size, uint32_t most, const char *what);
/* Reads a u32 length and a text of that many bytes, at most CW_TEXT_MAX, UTF-8 without NUL. Copies it into `arena`. ""
 * after a failure, never NULL. */
enum { CW_TEXT_MAX = 1 << 16 };
const char *cw_read_string(struct cw_reader *reader, struct cw_arena *arena);
/* `size` bytes in place; NULL after a failure. */
const uint8_t *cw_read_bytes(struct cw_reader *reader, size_t size);
/* Fails with a message about the current position, or about `pos`. */
enum cw_status cw_reader_fail(struct cw_reader *reader, const char *format, ...) __attribute__((format(printf, 2, 3)));
enum cw_status cw_reader_fail_at(struct cw_reader *reader, size_t pos, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Success only if nothing failed and every byte was read. */
enum cw_status cw_reader_finish(struct cw_reader *reader, const char *what);

struct cw_writer {
    uint8_t *data;
    size_t size, capacity;
    enum cw_status status; /* CW_OK or CW_ERR_NOMEM */
};

void cw_writer_init(struct cw_writer *writer);
void cw_writer_free(struct cw_writer *writer);
void cw_write_u8(struct cw_writer *writer, uint8_t value);
void cw_write_u16(struct cw_writer *writer, uint16_t value);
void cw_write_u32(struct cw_writer *writer, uint32_t value);
void cw_write_u64(struct cw_writer *writer, uint64_t value);
void cw_write_f64(struct cw_writer *writer, double value);
/* Cuts text longer than CW_TEXT_MAX. */
void cw_write_string(struct cw_writer *writer, const char *text);
void cw_write_bytes(struct cw_writer *writer, const void *data, size_t size);
/* Makes room for `size` bytes at the end, which the caller fills in before the next write; NULL after a failure. */
uint8_t *cw_write_room(struct cw_writer *writer, size_t size);
/* Writes text as printf would, of any length, without a terminating NUL. */
void cw_write_format(struct cw_writer *writer, const char *format, ...) __attribute__((format(printf, 2, 3)));
void cw_write_vformat(struct cw_writer *writer, const char *format, va_list args) __attribute__((format(printf, 2, 0)));

/* Unaligned little-endian access: to patch headers in place. */
void cw_store_u32(uint8_t *at, uint32_t value);
void cw_store_u64(uint8_t *at, uint64_t value);

#endif
