#include "tests/fuzz/chunk_mutate.h"

#include <stdbool.h>
#include <string.h>

#include "tests/support/chunk_edit.h"

enum { CHUNK_HEADER = 24, MOST_CHANGES = 3, LONGEST_INSERT = 8 };

struct mutation {
    uint8_t *file;
    size_t size, room, chunks;
    uint64_t random;
    cw_mutate_bytes *bytes;
};

/* xorshift: the same seed makes the same changes with every compiler and library. */
static uint64_t draw(struct mutation *m, uint64_t below)
{
    m->random ^= m->random << 13;
    m->random ^= m->random >> 7;
    m->random ^= m->random << 17;
    return below ? (m->random >> 11) % below : 0;
}

static size_t count_chunks(const uint8_t *file, size_t size)
{
    struct cw_edit_chunk chunk;
    size_t count = 0;
    while (cw_edit_find(file, size, count, &chunk))
        count++;
    return count;
}

static struct cw_edit_chunk any_chunk(struct mutation *m)
{
    struct cw_edit_chunk chunk = {0};
    cw_edit_find(m->file, m->size, (size_t)draw(m, m->chunks), &chunk);
    return chunk;
}

/* Puts `size` bytes in the place of `old` at `at`; false where there is no room. */
static bool put(struct mutation *m, size_t at, size_t old, const uint8_t *bytes, size_t size)
{
    if (m->size - old + size > m->room)
        return false;
    memmove(m->file + at + size, m->file + at + old, m->size - at - old);
    if (size)
        memmove(m->file + at, bytes, size);
    m->size += size - old;
    return true;
}

static void set_size(struct mutation *m, size_t chunk, uint64_t size)
{
    cw_store_u64(m->file + chunk + 8, size);
}

/* ---- within a payload ------------------------------------------------------------------------------------------- */

static const uint64_t odd_numbers[] = {0,          1,          2,
                                       0x7f,       0x80,       0xff,
                                       0x100,      0x7fff,     0xffff,
                                       0x10000,    0x7fffffff, 0x80000000,
                                       0xffffffff, 1ULL << 62, 0x7fffffffffffffff,
                                       1ULL << 63, UINT64_MAX, 0x7ff0000000000000 /* an infinite double */};

static void change_byte(struct mutation *m, const struct cw_edit_chunk *c)
{
    uint8_t *at = m->file + c->offset + CHUNK_HEADER + draw(m, c->size);
    switch (draw(m, 4)) {
    case 0:
        *at ^= (uint8_t)(1u << draw(m, 8));
        break;
    case 1:
        *at = (uint8_t)(*at + draw(m, 9) - 4);
        break;
    case 2:
        *at = (uint8_t)draw(m, 256);
        break;
    default:
        *at = (uint8_t)(draw(m, 2) ? 0 : 0xff);
    }
}

static void change_number(struct mutation *m, const struct cw_edit_chunk *c)
{
    const size_t sizes[] = {1, 2, 4, 8}, size = sizes[draw(m, 4)];
    if (c->size < size)
        return;
    uint8_t *at = m->file + c->offset + CHUNK_HEADER + draw(m, c->size - size + 1), number[8];
    cw_store_u64(number, odd_numbers[draw(m, sizeof odd_numbers / sizeof *odd_numbers)]);
    memcpy(at, number, size);
}

static void insert_bytes(struct mutation *m, const struct cw_edit_chunk *c)
{
    uint8_t bytes[LONGEST_INSERT];
    const size_t size = 1 + draw(m, LONGEST_INSERT);
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)draw(m, draw(m, 2) ? 256 : 4);
    if (put(m, c->offset + CHUNK_HEADER + draw(m, c->size + 1), 0, bytes, size))
        set_size(m, c->offset, c->size + size);
}

static void remove_bytes(struct mutation *m, const struct cw_edit_chunk *c)
{
    const size_t at = draw(m, c->size), left = c->size - at;
    const size_t size = draw(m, 8) ? 1 + draw(m, left < LONGEST_INSERT ? left : LONGEST_INSERT) : left;
    if (put(m, c->offset + CHUNK_HEADER + at, size, NULL, 0))
        set_size(m, c->offset, c->size - size);
}

/* Bytes of the payload stand once more elsewhere in it. */
static void copy_bytes(struct mutation *m, const struct cw_edit_chunk *c)
{
    const size_t from = draw(m, c->size), to = draw(m, c->size), most = c->size - (from > to ? from : to);
    uint8_t *payload = m->file + c->offset + CHUNK_HEADER;
    memmove(payload + to, payload + from, 1 + draw(m, most));
}

static void let_change(struct mutation *m, const struct cw_edit_chunk *c)
{
    uint8_t payload[4096];
    if (c->size > sizeof payload - LONGEST_INSERT)
        return;
    memcpy(payload, m->file + c->offset + CHUNK_HEADER, c->size);
    const size_t size = m->bytes(payload, c->size, c->size + LONGEST_INSERT);
    if (size && put(m, c->offset + CHUNK_HEADER, c->size, payload, size))
        set_size(m, c->offset, size);
}

static void change_payload(struct mutation *m)
{
    const struct cw_edit_chunk c = any_chunk(m);
    void (*const changes[])(struct mutation *, const struct cw_edit_chunk *) = {
        change_byte, change_byte, change_number, change_number, insert_bytes, remove_bytes, copy_bytes};
    if (m->bytes && c.size && draw(m, 3) == 0)
        let_change(m, &c);
    else if (c.size)
        changes[draw(m, sizeof changes / sizeof *changes)](m, &c);
    else
        insert_bytes(m, &c);
}

/* ---- of whole chunks -------------------------------------------------------------------------------------------- */

static void remove_chunk(struct mutation *m)
{
    const struct cw_edit_chunk c = any_chunk(m);
    if (m->chunks > 1)
        put(m, c.offset, CHUNK_HEADER + c.size, NULL, 0);
}

/* In front of a chunk, or at the end. */
static size_t any_place(struct mutation *m)
{
    struct cw_edit_chunk c;
    return cw_edit_find(m->file, m->size, (size_t)draw(m, m->chunks + 1), &c) ? c.offset : m->size;
}

static void insert_chunk(struct mutation *m, const uint8_t *file, const struct cw_edit_chunk *c)
{
    uint8_t copy[8192];
    const size_t size = CHUNK_HEADER + c->size;
    if (size > sizeof copy)
        return;
    memcpy(copy, file + c->offset, size);
    put(m, any_place(m), 0, copy, size);
}

static void double_chunk(struct mutation *m)
{
    const struct cw_edit_chunk c = any_chunk(m);
    insert_chunk(m, m->file, &c);
}

static void move_chunk(struct mutation *m)
{
    uint8_t copy[8192];
    const struct cw_edit_chunk c = any_chunk(m);
    const size_t size = CHUNK_HEADER + c.size;
    if (size > sizeof copy)
        return;
    memcpy(copy, m->file + c.offset, size);
    put(m, c.offset, size, NULL, 0);
    m->chunks--;
    put(m, any_place(m), 0, copy, size);
}

/* Whether readers that do not know it may leave it out. */
static void change_flags(struct mutation *m)
{
    const struct cw_edit_chunk c = any_chunk(m);
    m->file[c.offset + 4] ^= 1;
}

static void cut_file(struct mutation *m)
{
    const struct cw_edit_chunk c = any_chunk(m);
    m->size = c.offset + draw(m, CHUNK_HEADER + c.size);
}

static void change_chunks(struct mutation *m)
{
    void (*const changes[])(struct mutation *) = {remove_chunk, remove_chunk, double_chunk, double_chunk,
                                                  move_chunk,   move_chunk,   change_flags, cut_file};
    changes[draw(m, sizeof changes / sizeof *changes)](m);
}

/* ---- all -------------------------------------------------------------------------------------------------------- */

static struct mutation begin(uint8_t *file, size_t size, size_t room, unsigned seed, cw_mutate_bytes *bytes)
{
    struct mutation m = {file, size, room, 0, 0x9e3779b97f4a7c15 ^ ((uint64_t)seed << 16 | 1), bytes};
    m.chunks = count_chunks(file, size);
    for (int i = 0; i < 4; i++)
        draw(&m, 1);
    return m;
}

size_t cw_chunk_mutate(uint8_t *file, size_t size, size_t room, unsigned seed, cw_mutate_bytes *bytes)
{
    struct mutation m = begin(file, size, room, seed, bytes);
    const size_t changes = 1 + draw(&m, MOST_CHANGES);
    for (size_t i = 0; i < changes && m.chunks; i++) {
        if (draw(&m, 6))
            change_payload(&m);
        else
            change_chunks(&m);
        m.chunks = count_chunks(m.file, m.size);
    }
    cw_edit_fix_checksums(m.file, m.size);
    return m.size;
}

size_t cw_chunk_cross(uint8_t *file, size_t size, size_t room, const uint8_t *other, size_t other_size, unsigned seed)
{
    struct mutation m = begin(file, size, room, seed, NULL);
    struct cw_edit_chunk c;
    if (m.chunks && cw_edit_find(other, other_size, (size_t)draw(&m, count_chunks(other, other_size)), &c))
        insert_chunk(&m, other, &c);
    cw_edit_fix_checksums(m.file, m.size);
    return m.size;
}
