/* Varints: numbers in as few bytes as they need, at most 10, with 7 bits in each, the lowest first; bit 7 is set in all
 * but the last. Inline, because files hold many. */
#ifndef CW_BASE_VARINT_H
#define CW_BASE_VARINT_H

#include "base/bytes.h"

static inline uint64_t cw_read_varint(struct cw_reader *in)
{
    uint64_t value = 0;
    if (in->status != CW_OK)
        return 0;
    const size_t pos = in->pos;
    for (uint32_t shift = 0; in->pos < in->size; shift += 7) {
        const uint8_t byte = in->data[in->pos++];
        if (shift == 63 && byte > 1) {
            cw_reader_fail_at(in, pos, "found a varint of more than 64 bits, expected at most 10 bytes");
            return 0;
        }
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return value;
    }
    cw_reader_fail_at(in, pos, "found the end of the data in a varint, expected its last byte");
    return 0;
}

static inline uint32_t cw_varint_size(uint64_t value)
{
    return value ? (uint32_t)(70 - __builtin_clzll(value)) / 7 : 1;
}

/* Returns the place behind the number. */
static inline uint8_t *cw_varint_put(uint8_t *at, uint64_t value)
{
    while (value >= 0x80) {
        *at++ = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    *at++ = (uint8_t)value;
    return at;
}

static inline void cw_write_varint(struct cw_writer *writer, uint64_t value)
{
    uint8_t *room = cw_write_room(writer, cw_varint_size(value));
    if (room)
        cw_varint_put(room, value);
}

#endif
