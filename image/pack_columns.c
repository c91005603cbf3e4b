#include "image/pack_columns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/varint.h"
#include "image/distinct.h"

struct columns {
    struct cw_writer *out;
    const uint64_t *numbers;
    const size_t *firsts;
    uint32_t count;
    const uint8_t *kinds;
    uint64_t *own, *before, *other; /* columns: this one, the one before it, and a candidate that it may follow */
    float *shape;
    struct seen { /* an f64 column that others may follow, by the hash of its shape */
        uint64_t hash;
        uint32_t field; /* its field plus 1; 0: none */
    } * seen;
    size_t seen_size; /* a power of two */
};

static double f64_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void gather(const struct columns *c, uint32_t field, uint64_t *to)
{
    for (uint32_t i = 0; i < c->count; i++)
        to[i] = c->numbers[c->firsts[i] + field];
}

/* ---- numbers ---------------------------------------------------------------------------------------------------- */

/* Least and greatest number of a column, or of its difference to `before` unless that is NULL. */
struct span {
    uint64_t least, most;
};

static struct span find_span(const uint64_t *v, const uint64_t *before, uint32_t count)
{
    struct span s = {UINT64_MAX, 0};
    /* Differences are modulo 2^64 and negative ones read as large numbers, so measure from the first one. */
    const uint64_t origin = before ? v[0] - before[0] - ((uint64_t)1 << 63) : 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t n = (before ? v[i] - before[i] : v[i]) - origin;
        s.least = n < s.least ? n : s.least;
        s.most = n > s.most ? n : s.most;
    }
    s.least += origin;
    s.most += origin;
    return s;
}

static size_t bytes_of(uint32_t count, unsigned width)
{
    return ((size_t)count * width + 7) / 8;
}

static void put_bits(struct cw_writer *out, uint32_t count, unsigned width, uint64_t (*number)(const void *, uint32_t),
                     const void *of)
{
    uint8_t *to = cw_write_room(out, bytes_of(count, width));
    uint64_t held = 0;
    unsigned bits = 0;
    for (uint32_t i = 0; to && width && i < count; i++) {
        const uint64_t n = number(of, i);
        held |= n << bits;
        if (bits + width >= 64) {
            cw_store_u64(to, held);
            to += 8;
            held = bits ? n >> (64 - bits) : 0;
            bits = bits + width - 64;
        } else {
            bits += width;
        }
    }
    for (; to && bits; bits = bits > 8 ? bits - 8 : 0, held >>= 8)
        *to++ = (uint8_t)held;
}

struct above {
    const uint64_t *v, *before;
    uint64_t least;
};

static uint64_t number_above(const void *of, uint32_t i)
{
    const struct above *a = of;
    return a->v[i] - (a->before ? a->before[i] : 0) - a->least;
}

static void put_above(struct cw_writer *out, uint8_t form, const struct above *a, unsigned width, uint32_t count)
{
    cw_write_u8(out, form);
    cw_write_varint(out, a->least);
    cw_write_u8(out, (uint8_t)width);
    put_bits(out, count, width, number_above, a);
}

struct indices {
    struct cw_distinct *distinct;
    const uint64_t *v;
};

static uint64_t number_index(const void *of, uint32_t i)
{
    const struct indices *x = of;
    return cw_distinct_of(x->distinct, x->v[i]);
}

/* Bytes of a column of indices; SIZE_MAX if there are too many distinct numbers. */
static size_t measure_indices(struct cw_distinct *x, const uint64_t *v, uint32_t count)
{
    cw_distinct_begin(x);
    for (uint32_t i = 0; i < count && x->count <= CW_DISTINCT_MAX; i++)
        cw_distinct_of(x, v[i]);
    return x->count > CW_DISTINCT_MAX ? SIZE_MAX : 2 + x->bytes + bytes_of(count, cw_pack_width(x->count - 1));
}

static void put_indices(struct cw_writer *out, struct cw_distinct *x, const uint64_t *v, uint32_t count, uint8_t whole)
{
    const struct indices indices = {x, v};
    cw_write_u8(out, CW_PACK_INDICES | whole);
    cw_write_varint(out, x->count);
    for (uint32_t i = 0; i < x->count; i++)
        cw_write_varint(out, x->values[i]);
    put_bits(out, count, cw_pack_width(x->count - 1), number_index, &indices);
}

/* Writes the shortest form; `before` may be NULL. */
static void put_column(struct cw_writer *out, const uint64_t *v, const uint64_t *before, uint32_t count, uint8_t whole)
{
    struct cw_distinct distinct;
    const struct span own = find_span(v, NULL, count);
    const struct above above = {v, NULL, own.least};
    if (own.least == own.most) {
        cw_write_u8(out, CW_PACK_EQUAL | whole);
        cw_write_varint(out, own.least);
        return;
    }
    const unsigned width = cw_pack_width(own.most - own.least);
    const size_t indices = measure_indices(&distinct, v, count);
    size_t best = 2 + cw_varint_size(own.least) + bytes_of(count, width);
    if (before) {
        const struct span beside = find_span(v, before, count);
        const struct above least = {v, before, beside.least};
        const unsigned narrow = cw_pack_width(beside.most - beside.least);
        const size_t bytes = 2 + cw_varint_size(beside.least) + bytes_of(count, narrow);
        if (bytes < best && bytes <= indices) {
            put_above(out, CW_PACK_BESIDE, &least, narrow, count);
            return;
        }
    }
    if (indices < best)
        put_indices(out, &distinct, v, count, whole);
    else
        put_above(out, CW_PACK_ABOVE | whole, &above, width, count);
}

void cw_pack_write_numbers(struct cw_writer *out, const uint64_t *numbers, uint32_t count)
{
    put_column(out, numbers, NULL, count, 0);
}

/* ---- doubles ---------------------------------------------------------------------------------------------------- */

/* Converts f64 values that are all whole numbers into integers. */
static bool make_whole(uint64_t *v, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const double d = f64_of(v[i]);
        if (!(d >= 0 && d < (double)CW_PACK_FACTOR_MAX && d == floor(d)) || (d == 0 && v[i]))
            return false;
    }
    for (uint32_t i = 0; i < count; i++)
        v[i] = (uint64_t)f64_of(v[i]);
    return true;
}

/* Whether a column is another one times `times` divided by `by` in each row; `at` is a row where neither is zero. */
static bool follows(const uint64_t *v, const uint64_t *other, uint32_t at, uint32_t count, uint64_t *times,
                    uint64_t *by)
{
    const double own = f64_of(v[at]), from = f64_of(other[at]), more = own / from;
    *times = *by = 1;
    if (!(more > 0) || isinf(more))
        return false;
    const double factor = round(more < 1 ? 1 / more : more);
    if (factor >= (double)CW_PACK_FACTOR_MAX)
        return false;
    *(more < 1 ? by : times) = (uint64_t)factor;
    for (uint32_t i = 0; i < count; i++)
        if (cw_pack_follow(other[i], *times, *by) != v[i])
            return false;
    return true;
}

/* Computes the shape of a column, each row divided by the largest: columns that follow one another have the same shape.
 * False if the column has none. */
static bool find_shape(struct columns *c, uint32_t *at, uint64_t *hash)
{
    const uint32_t count = c->count;
    double largest = 0;
    *at = 0;
    for (uint32_t i = 0; i < count; i++) {
        const double size = fabs(f64_of(c->own[i]));
        if (size > largest) {
            largest = size;
            *at = i;
        }
    }
    if (!(largest > 0) || isinf(largest))
        return false;
    largest = f64_of(c->own[*at]);
    for (uint32_t i = 0; i < count; i++)
        c->shape[i] = (float)(f64_of(c->own[i]) / largest) + 0.0f; /* turns -0 into 0 */
    *hash = XXH3_64bits(c->shape, count * sizeof *c->shape);
    return true;
}

static bool put_follows(struct columns *c, uint32_t field, uint32_t other, uint32_t at)
{
    uint64_t times, by;
    gather(c, other, c->other);
    if (!follows(c->own, c->other, at, c->count, &times, &by))
        return false;
    cw_write_u8(c->out, CW_PACK_FOLLOWS);
    cw_write_varint(c->out, field - other);
    cw_write_varint(c->out, times);
    cw_write_varint(c->out, by);
    return true;
}

/* Whether the column follows an earlier one of its shape; remembers the first column of each shape. */
static bool follows_any(struct columns *c, uint32_t field)
{
    uint64_t hash;
    uint32_t at;
    if (!find_shape(c, &at, &hash))
        return false;
    size_t slot = hash & (c->seen_size - 1);
    while (c->seen[slot].field && c->seen[slot].hash != hash)
        slot = (slot + 1) & (c->seen_size - 1);
    if (c->seen[slot].field)
        return put_follows(c, field, c->seen[slot].field - 1, at);
    c->seen[slot] = (struct seen){hash, field + 1};
    return false;
}

static bool all_equal(const uint64_t *v, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        if (v[i] != v[0])
            return false;
    return true;
}

static bool is_whole(uint64_t bits)
{
    return make_whole(&bits, 1);
}

/* An average follows its sum, even if all rows are equal. */
static bool is_average(struct columns *c, uint32_t field)
{
    return field && c->kinds[field - 1] == CW_PACK_F64 && !is_whole(c->own[0]) && put_follows(c, field, field - 1, 0);
}

static void put_f64(struct columns *c, uint32_t field)
{
    const bool equal = all_equal(c->own, c->count);
    if (is_average(c, field) || (!equal && follows_any(c, field)))
        return;
    const uint8_t whole = make_whole(c->own, c->count) ? CW_PACK_WHOLE : 0;
    put_column(c->out, c->own, NULL, c->count, whole);
}

/* ---- all -------------------------------------------------------------------------------------------------------- */

bool cw_pack_write_columns(struct cw_writer *out, const uint64_t *numbers, const size_t *firsts, uint32_t count,
                           const uint8_t *kinds, uint32_t fields)
{
    struct columns c = {
        .out = out, .numbers = numbers, .firsts = firsts, .count = count, .kinds = kinds, .seen_size = 16};
    const size_t room = (size_t)count * sizeof *c.own;
    while (c.seen_size < 2 * (size_t)fields)
        c.seen_size *= 2;
    c.own = malloc(room);
    c.before = malloc(room);
    c.other = malloc(room);
    c.shape = malloc(count * sizeof *c.shape);
    c.seen = calloc(c.seen_size, sizeof *c.seen);
    const bool good = c.own && c.before && c.other && c.shape && c.seen;
    for (uint32_t f = 0; good && f < fields; f++) {
        const bool beside = f && kinds[f] < CW_PACK_F64 && kinds[f - 1] < CW_PACK_F64;
        uint64_t *own = c.before;
        c.before = c.own;
        c.own = own;
        gather(&c, f, c.own);
        if (kinds[f] == CW_PACK_F64)
            put_f64(&c, f);
        else
            put_column(out, c.own, beside ? c.before : NULL, count, 0);
    }
    free(c.own);
    free(c.before);
    free(c.other);
    free(c.shape);
    free(c.seen);
    return good && out->status == CW_OK;
}
