#include "base/bytes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

void cw_reader_init(struct cw_reader *reader, const void *data, size_t size, const char *source, uint64_t base,
                    struct cw_error *err)
{
    *reader = (struct cw_reader){.data = data, .size = size, .base = base, .source = source, .err = err};
}

void cw_reader_quiet(struct cw_reader *reader, const void *data, size_t size)
{
    cw_reader_init(reader, data, size, "", 0, NULL);
}

static enum cw_status fail(struct cw_reader *reader, size_t pos, const char *format, va_list args)
{
    char message[512];
    if (reader->status != CW_OK)
        return reader->status;
    vsnprintf(message, sizeof message, format, args);
    reader->pos = pos;
    reader->status = cw_error_offset(reader->err, CW_ERR_INPUT, reader->source,
                                     reader->base + (reader->elsewhere ? 0 : pos), "%s", message);
    return reader->status;
}

enum cw_status cw_reader_fail(struct cw_reader *reader, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    enum cw_status status = fail(reader, reader->pos, format, args);
    va_end(args);
    return status;
}

enum cw_status cw_reader_fail_at(struct cw_reader *reader, size_t pos, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    enum cw_status status = fail(reader, pos, format, args);
    va_end(args);
    return status;
}

const uint8_t *cw_read_bytes(struct cw_reader *reader, size_t size)
{
    if (reader->status != CW_OK)
        return NULL;
    if (size > reader->size - reader->pos) {
        cw_reader_fail(reader, "found %zu bytes, expected %zu more", reader->size - reader->pos, size);
        return NULL;
    }
    const uint8_t *at = reader->data + reader->pos;
    reader->pos += size;
    return at;
}

/* Written out in full: compilers make a single load of this form. */
static uint32_t load_u32(const uint8_t *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static uint64_t load_u64(const uint8_t *at)
{
    return (uint64_t)at[0] | (uint64_t)at[1] << 8 | (uint64_t)at[2] << 16 | (uint64_t)at[3] << 24 |
           (uint64_t)at[4] << 32 | (uint64_t)at[5] << 40 | (uint64_t)at[6] << 48 | (uint64_t)at[7] << 56;
}

uint8_t cw_read_u8(struct cw_reader *reader)
{
    const uint8_t *at = cw_read_bytes(reader, 1);
    return at ? *at : 0;
}

uint16_t cw_read_u16(struct cw_reader *reader)
{
    const uint8_t *at = cw_read_bytes(reader, 2);
    return at ? (uint16_t)(at[0] | at[1] << 8) : 0;
}

uint32_t cw_read_u32(struct cw_reader *reader)
{
    const uint8_t *at = cw_read_bytes(reader, 4);
    return at ? load_u32(at) : 0;
}

uint64_t cw_read_u64(struct cw_reader *reader)
{
    const uint8_t *at = cw_read_bytes(reader, 8);
    return at ? load_u64(at) : 0;
}

static double load_f64(const uint8_t *at)
{
    uint64_t bits = load_u64(at);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

double cw_read_f64(struct cw_reader *reader)
{
    const uint8_t *at = cw_read_bytes(reader, 8);
    return at ? load_f64(at) : 0;
}

void cw_read_f64s(struct cw_reader *reader, double *values, size_t count)
{
    const uint8_t *at = count <= SIZE_MAX / 8 ? cw_read_bytes(reader, 8 * count) : NULL;
    if (!at && reader->status == CW_OK)
        cw_reader_fail(reader, "found %zu bytes, expected %zu numbers", reader->size - reader->pos, count);
    for (size_t i = 0; i < count; i++)
        values[i] = at ? load_f64(at + 8 * i) : 0;
}

uint32_t cw_read_count_up_to(struct cw_reader *reader, size_t item_size, uint32_t most, const char *what)
{
    uint32_t count = cw_read_u32(reader);
    size_t left = reader->size - reader->pos;
    if (reader->status != CW_OK)
        return 0;
    if (count <= most && (!item_size || count <= left / item_size))
        return count;
    if (count > most)
        cw_reader_fail_at(reader, reader->pos - 4, "found a count of %u %s, expected at most %u", count, what, most);
    else
        cw_reader_fail_at(reader, reader->pos - 4, "found a count of %u %s, expected at most the %zu that fit the data",
                          count, what, left / item_size);
    return 0;
}

uint32_t cw_read_count(struct cw_reader *reader, size_t item_size, const char *what)
{
    return cw_read_count_up_to(reader, item_size, UINT32_MAX, what);
}

const char *cw_read_string(struct cw_reader *reader, struct cw_arena *arena)
{
    uint32_t length = cw_read_u32(reader);
    if (length > CW_TEXT_MAX)
        cw_reader_fail_at(reader, reader->pos - 4, "found a string of %u bytes, expected at most %d", length,
                          CW_TEXT_MAX);
    const uint8_t *at = cw_read_bytes(reader, length);
    if (!at)
        return "";
    if (!cw_utf8_holds(at, length)) {
        cw_reader_fail_at(reader, reader->pos - length, "found a string of %u bytes that is not UTF-8 text", length);
        return "";
    }
    const char *copy = cw_arena_strndup(arena, (const char *)at, length);
    if (!copy) {
        reader->status = cw_error_nomem(reader->err);
        return "";
    }
    return copy;
}

enum cw_status cw_reader_finish(struct cw_reader *reader, const char *what)
{
    if (reader->status == CW_OK && reader->pos != reader->size)
        cw_reader_fail(reader, "found %zu bytes after the end of %s, expected none", reader->size - reader->pos, what);
    return reader->status;
}

void cw_writer_init(struct cw_writer *writer)
{
    *writer = (struct cw_writer){0};
}

void cw_writer_free(struct cw_writer *writer)
{
    free(writer->data);
    *writer = (struct cw_writer){0};
}

uint8_t *cw_write_room(struct cw_writer *writer, size_t size)
{
    if (writer->status != CW_OK)
        return NULL;
    if (size > writer->capacity - writer->size) {
        size_t capacity = writer->capacity ? writer->capacity : 256;
        while (capacity - writer->size < size && capacity <= SIZE_MAX / 2)
            capacity *= 2;
        uint8_t *grown = capacity - writer->size < size ? NULL : realloc(writer->data, capacity);
        if (!grown) {
            writer->status = CW_ERR_NOMEM;
            return NULL;
        }
        writer->data = grown;
        writer->capacity = capacity;
    }
    uint8_t *room = writer->data + writer->size;
    writer->size += size;
    return room;
}

void cw_write_bytes(struct cw_writer *writer, const void *data, size_t size)
{
    uint8_t *room = size ? cw_write_room(writer, size) : NULL;
    if (room)
        memcpy(room, data, size);
}

static void write_le(struct cw_writer *writer, uint64_t value, size_t size)
{
    uint8_t bytes[8];
    cw_store_u64(bytes, value);
    cw_write_bytes(writer, bytes, size);
}

void cw_write_u8(struct cw_writer *writer, uint8_t value)
{
    write_le(writer, value, 1);
}

void cw_write_u16(struct cw_writer *writer, uint16_t value)
{
    write_le(writer, value, 2);
}

void cw_write_u32(struct cw_writer *writer, uint32_t value)
{
    write_le(writer, value, 4);
}

void cw_write_u64(struct cw_writer *writer, uint64_t value)
{
    write_le(writer, value, 8);
}

void cw_write_f64(struct cw_writer *writer, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    cw_write_u64(writer, bits);
}

void cw_write_string(struct cw_writer *writer, const char *text)
{
    size_t length = strlen(text);
    if (length > CW_TEXT_MAX) /* cut in front of a whole character */
        for (length = CW_TEXT_MAX; length && ((unsigned char)text[length] & 0xc0) == 0x80;)
            length--;
    cw_write_u32(writer, (uint32_t)length);
    cw_write_bytes(writer, text, length);
    if (writer->status == CW_OK)
        cw_utf8_force(writer->data + writer->size - length, length);
}

void cw_store_u32(uint8_t *at, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

void cw_store_u64(uint8_t *at, uint64_t value)
{
    for (int i = 0; i < 8; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

void cw_write_vformat(struct cw_writer *writer, const char *format, va_list args)
{
    char near[256];
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(near, sizeof near, format, args);
    if (length >= 0 && (size_t)length < sizeof near) {
        cw_write_bytes(writer, near, (size_t)length);
    } else {
        char *text = length < 0 ? NULL : malloc((size_t)length + 1);
        if (text) {
            vsnprintf(text, (size_t)length + 1, format, again);
            cw_write_bytes(writer, text, (size_t)length);
        } else if (writer->status == CW_OK) {
            writer->status = CW_ERR_NOMEM;
        }
        free(text);
    }
    va_end(again);
}

void cw_write_format(struct cw_writer *writer, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    cw_write_vformat(writer, format, args);
    va_end(args);
}
