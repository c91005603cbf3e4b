#define _GNU_SOURCE
#include "base/elide.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/utf8.h"

/* ---- hashes ----------------------------------------------------------------------------------------------------- */

/* The hash is a polynomial of the bytes modulo a prime, so that the hash of a path follows from the hashes of its
 * names: a hostile file repeats the same names in a million paths. */
#define PRIME (((uint64_t)1 << 61) - 1)
#define BASE UINT64_C(0x0a9d3c5f17e86b24)

static uint64_t multiply(uint64_t a, uint64_t b)
{
    const unsigned __int128 product = (unsigned __int128)a * b;
    const uint64_t sum = (uint64_t)(product & PRIME) + (uint64_t)(product >> 61);
    return sum >= PRIME ? sum - PRIME : sum;
}

static uint64_t add(uint64_t a, uint64_t b)
{
    return a + b >= PRIME ? a + b - PRIME : a + b;
}

struct cw_text_sum cw_text_sum(const char *text, size_t length)
{
    struct cw_text_sum sum = {.length = length, .power = 1};
    for (size_t i = 0; i < length; i++) {
        sum.hash = add(multiply(sum.hash, BASE), (unsigned char)text[i] + 1U);
        sum.power = multiply(sum.power, BASE);
    }
    return sum;
}

struct cw_text_sum cw_text_sum_join(struct cw_text_sum a, struct cw_text_sum b)
{
    return (struct cw_text_sum){a.length + b.length, add(multiply(a.hash, b.power), b.hash),
                                multiply(a.power, b.power)};
}

/* ---- one text --------------------------------------------------------------------------------------------------- */

enum { MARK = 23 }; /* "...#0123456789abcdef..." */

static bool fits(const struct cw_elided *e)
{
    return e->sum.length < e->size;
}

void cw_elided_begin(struct cw_elided *e, struct cw_text_sum sum, char *text, size_t size)
{
    *e = (struct cw_elided){.text = text, .size = size, .room = (size - 1 - MARK) / 2, .sum = sum};
    *text = 0;
}

/* Copies the bytes of a piece that fall into a window of the whole text. The window begins at `from` and goes to
 * `to`. */
static void copy(const struct cw_elided *e, const char *piece, size_t length, size_t from, size_t window, char *to)
{
    const size_t end = from + window, first = e->at > from ? e->at : from;
    const size_t last = e->at + length < end ? e->at + length : end;
    if (first < last)
        memcpy(to + (first - from), piece + (first - e->at), last - first);
}

void cw_elided_add(struct cw_elided *e, const char *piece, size_t length)
{
    if (fits(e)) {
        copy(e, piece, length, 0, e->sum.length, e->text);
    } else {
        copy(e, piece, length, 0, e->room, e->text);
        copy(e, piece, length, e->sum.length - e->room, e->room, e->text + e->room + MARK);
    }
    e->at += length;
}

static bool is_within(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* Length without an incomplete character at the end. */
static size_t whole_length(const char *text, size_t length)
{
    size_t last = length;
    while (last > 0 && length - last < 3 && is_within(text[last - 1]))
        last--;
    return last > 0 && (unsigned char)text[last - 1] >= 0xc0 && !cw_utf8_length(text + last - 1, length - last + 1)
               ? last - 1
               : length;
}

const char *cw_elided_end(struct cw_elided *e)
{
    if (fits(e)) {
        e->text[e->at] = 0;
        return e->text;
    }
    char mark[MARK + 1], *const tail = e->text + e->room + MARK;
    const size_t head = whole_length(e->text, e->room);
    size_t cut = 0;
    while (cut < 3 && is_within(tail[cut]))
        cut++;
    snprintf(mark, sizeof mark, "...#%016llx...", (unsigned long long)e->sum.hash);
    memcpy(e->text + head, mark, MARK);
    memmove(e->text + head + MARK, tail + cut, e->room - cut);
    e->text[head + MARK + e->room - cut] = 0;
    return e->text;
}

const char *cw_elide(const char *text, char *buffer, size_t size)
{
    struct cw_elided e;
    const size_t length = strnlen(text, size);
    if (length < size)
        return memcpy(buffer, text, length + 1);
    const size_t all = length + strlen(text + length);
    cw_elided_begin(&e, cw_text_sum(text, all), buffer, size);
    cw_elided_add(&e, text, all);
    return cw_elided_end(&e);
}

/* ---- many texts ------------------------------------------------------------------------------------------------- */

static bool is_from(const void *items, uint32_t item, const void *text)
{
    return ((const struct cw_elision *)items)[item].from == text;
}

const char *cw_elisions_text(struct cw_elisions *e, const char *text)
{
    if (strnlen(text, CW_ELIDED_SIZE) < CW_ELIDED_SIZE)
        return text;
    const uint32_t count = e->table.count;
    struct cw_elision *items = cw_grown(e->items, &e->room, count, sizeof *items);
    if (!items)
        return "";
    e->items = items;
    const uint64_t address = (uintptr_t)text;
    const uint32_t at =
        cw_hash_table_add(&e->table, address * UINT64_C(0x9e3779b97f4a7c15) >> 32, is_from, items, text);
    if (at == CW_NO_ITEM)
        return "";
    if (at == count) {
        items[at] = (struct cw_elision){text, malloc(CW_ELIDED_SIZE)};
        if (items[at].to)
            cw_elide(text, items[at].to, CW_ELIDED_SIZE);
    }
    return items[at].to ? items[at].to : "";
}

void cw_elisions_free(struct cw_elisions *e)
{
    for (uint32_t i = 0; i < e->table.count; i++)
        free(e->items[i].to);
    free(e->items);
    cw_hash_table_free(&e->table);
    *e = (struct cw_elisions){0};
}
