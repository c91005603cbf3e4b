#include "image/trace_columns.h"

#include <string.h>

#include "base/varint.h"
#include "image/distinct.h"

enum form {
    ALL_EQUAL, /* a varint */
    VARINTS,
    DELTAS,  /* each minus the one before it, the first minus 0, as zigzag varints */
    BESIDE,  /* each minus the number of the column before, as zigzag varints */
    INDICES, /* number of distinct values as a varint, the values as varints, then a byte for each row */
    RUNS,    /* pairs of varints: number of rows (> 0), and their value */
    WORDS,   /* 8 bytes each */
    FORMS
};

static uint64_t zigzag(uint64_t difference)
{
    return difference << 1 ^ (uint64_t)((int64_t)difference >> 63);
}

static uint64_t unzigzag(uint64_t code)
{
    return code >> 1 ^ -(code & 1);
}

/* ---- writing ---------------------------------------------------------------------------------------------------- */

/* Bytes of each form, SIZE_MAX if the form is impossible. */
static void measure(size_t sizes[FORMS], struct cw_distinct *x, const uint64_t *values, uint32_t count,
                    const uint64_t *before)
{
    uint64_t last = 0;
    uint32_t run = 0;
    memset(sizes, 0, FORMS * sizeof *sizes);
    cw_distinct_begin(x);
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t v = values[i];
        sizes[VARINTS] += cw_varint_size(v);
        sizes[DELTAS] += cw_varint_size(zigzag(v - last));
        if (before)
            sizes[BESIDE] += cw_varint_size(zigzag(v - before[i]));
        if (x->count <= CW_DISTINCT_MAX && (i == 0 || v != last))
            cw_distinct_of(x, v);
        if (i && v != last) {
            sizes[RUNS] += cw_varint_size(run) + cw_varint_size(last);
            run = 0;
        }
        run++;
        last = v;
    }
    sizes[ALL_EQUAL] = run == count ? cw_varint_size(last) : SIZE_MAX;
    sizes[RUNS] += cw_varint_size(run) + cw_varint_size(last);
    sizes[INDICES] = x->count <= CW_DISTINCT_MAX ? cw_varint_size(x->count) + x->bytes + count : SIZE_MAX;
    sizes[WORDS] = 8 * (size_t)count;
    if (!before)
        sizes[BESIDE] = SIZE_MAX;
}

static uint8_t *put_runs(uint8_t *at, const uint64_t *values, uint32_t count)
{
    for (uint32_t i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count && values[next] == values[i]; next++) {
        }
        at = cw_varint_put(cw_varint_put(at, next - i), values[i]);
    }
    return at;
}

static uint8_t *put_indices(uint8_t *at, struct cw_distinct *x, const uint64_t *values, uint32_t count)
{
    at = cw_varint_put(at, x->count);
    for (uint32_t i = 0; i < x->count; i++)
        at = cw_varint_put(at, x->values[i]);
    for (uint32_t i = 0; i < count; i++)
        *at++ = (uint8_t)cw_distinct_of(x, values[i]);
    return at;
}

static uint8_t *put(uint8_t *at, enum form form, struct cw_distinct *x, const uint64_t *values, uint32_t count,
                    const uint64_t *before)
{
    uint64_t last = 0;
    if (form == ALL_EQUAL)
        return cw_varint_put(at, values[0]);
    if (form == RUNS)
        return put_runs(at, values, count);
    if (form == INDICES)
        return put_indices(at, x, values, count);
    for (uint32_t i = 0; i < count; i++) {
        if (form == WORDS) {
            cw_store_u64(at, values[i]);
            at += 8;
        } else {
            at = cw_varint_put(at, form == VARINTS  ? values[i]
                                : form == DELTAS ? zigzag(values[i] - last)
                                                 : zigzag(values[i] - before[i]));
        }
        last = values[i];
    }
    return at;
}

void cw_column_write(struct cw_writer *out, const uint64_t *values, uint32_t count, const uint64_t *before)
{
    struct cw_distinct x;
    size_t sizes[FORMS];
    measure(sizes, &x, values, count, before);
    enum form best = WORDS;
    for (enum form f = 0; f < FORMS; f++)
        if (sizes[f] < sizes[best])
            best = f;
    cw_write_u8(out, (uint8_t)best);
    uint8_t *room = cw_write_room(out, sizes[best]);
    if (room)
        put(room, best, &x, values, count, before);
}

void cw_column_write_plain(struct cw_writer *out, const uint64_t *values, uint32_t count, bool shorter)
{
    uint32_t same = shorter;
    while (same && same < count && values[same] == values[0])
        same++;
    const enum form form = same == count ? ALL_EQUAL : WORDS;
    cw_write_u8(out, (uint8_t)form);
    uint8_t *room = cw_write_room(out, form == WORDS ? 8 * (size_t)count : cw_varint_size(values[0]));
    if (room)
        put(room, form, NULL, values, count, NULL);
}

/* ---- reading ---------------------------------------------------------------------------------------------------- */

static void read_runs(struct cw_reader *in, uint64_t *values, uint32_t count)
{
    for (uint32_t i = 0; i < count && in->status == CW_OK;) {
        const size_t pos = in->pos;
        uint64_t run = cw_read_varint(in);
        const uint64_t value = cw_read_varint(in);
        if (in->status == CW_OK && (run == 0 || run > count - i))
            cw_reader_fail_at(in, pos, "found a run of %llu rows, expected 1 to %u", (unsigned long long)run,
                              count - i);
        while (in->status == CW_OK && run--)
            values[i++] = value;
    }
}

static void read_indices(struct cw_reader *in, uint64_t *values, uint32_t count)
{
    uint64_t known[CW_DISTINCT_MAX];
    const size_t pos = in->pos;
    const uint64_t n = cw_read_varint(in);
    if (in->status == CW_OK && (n == 0 || n > CW_DISTINCT_MAX))
        cw_reader_fail_at(in, pos, "found %llu different values, expected 1 to %d", (unsigned long long)n, CW_DISTINCT_MAX);
    for (uint64_t i = 0; i < n && in->status == CW_OK; i++)
        known[i] = cw_read_varint(in);
    const size_t first = in->pos;
    const uint8_t *bytes = cw_read_bytes(in, count);
    for (uint32_t i = 0; bytes && i < count && in->status == CW_OK; i++) {
        if (bytes[i] >= n)
            cw_reader_fail_at(in, first + i, "found value %u of %llu", bytes[i], (unsigned long long)n);
        else
            values[i] = known[bytes[i]];
    }
}

static void read_words(struct cw_reader *in, uint64_t *values, uint32_t count)
{
    if (in->status == CW_OK && count > (in->size - in->pos) / 8)
        cw_reader_fail(in, "found %zu bytes, expected %u numbers of 8 bytes", in->size - in->pos, count);
    for (uint32_t i = 0; i < count && in->status == CW_OK; i++)
        values[i] = cw_read_u64(in);
}

static void read_varints(struct cw_reader *in, enum form form, uint64_t *values, uint32_t count, const uint64_t *before)
{
    uint64_t last = 0;
    for (uint32_t i = 0; i < count && in->status == CW_OK; i++) {
        const uint64_t code = cw_read_varint(in);
        values[i] = form == VARINTS ? code : unzigzag(code) + (form == DELTAS ? last : before[i]);
        last = values[i];
    }
}

void cw_column_read(struct cw_reader *in, uint64_t *values, uint32_t count, const uint64_t *before)
{
    const size_t pos = in->pos;
    const enum form form = (enum form)cw_read_u8(in);
    if (in->status == CW_OK && (form >= FORMS || (form == BESIDE && !before)))
        cw_reader_fail_at(in, pos, "found form %d of a column, expected one below %d%s", (int)form, FORMS,
                          before ? "" : ", and not 3 of the first column");
    if (in->status != CW_OK) {
    } else if (form == ALL_EQUAL) {
        const uint64_t value = cw_read_varint(in);
        for (uint32_t i = 0; i < count; i++)
            values[i] = value;
    } else if (form == RUNS) {
        read_runs(in, values, count);
    } else if (form == INDICES) {
        read_indices(in, values, count);
    } else if (form == WORDS) {
        read_words(in, values, count);
    } else {
        read_varints(in, form, values, count, before);
    }
    if (in->status != CW_OK)
        memset(values, 0, (size_t)count * sizeof *values);
}
