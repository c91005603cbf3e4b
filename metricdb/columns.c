#include "metricdb/columns.h"

enum kind { SAME, RISING, PLAIN, WORDS };
enum { SHORTEST_RUN = 16, LONGEST_RUN = 1 << 28, SHORTEST_WORDS = 16 };

/* ---- writing ---------------------------------------------------------------------------------------------------- */

void cw_column_put_varint(struct cw_writer *out, uint32_t value)
{
    for (; value >= 0x80; value >>= 7)
        cw_write_u8(out, (uint8_t)(value | 0x80));
    cw_write_u8(out, (uint8_t)value);
}

static void put_difference(struct cw_writer *out, uint32_t value, uint32_t before)
{
    uint32_t d = value - before;
    cw_column_put_varint(out, d & 0x80000000u ? ~(d << 1) : d << 1);
}

/* Length of the run at `values` that repeats or rises. */
static size_t run_length(const uint32_t *values, size_t count, enum kind kind)
{
    size_t n = 1;
    while (n < count && n < LONGEST_RUN && values[n] == values[n - 1] + (kind == RISING))
        n++;
    return n;
}

static size_t next_run(const uint32_t *values, size_t count, enum kind *kind)
{
    size_t same = run_length(values, count, SAME), rising = run_length(values, count, RISING);
    *kind = same >= rising ? SAME : RISING;
    return same >= rising ? same : rising;
}

/* Whether words are the better form: they are larger than most differences, but read many times faster. */
static bool fit_words(const uint32_t *values, size_t count)
{
    size_t n = 0;
    while (n < count && values[n] <= UINT16_MAX)
        n++;
    return n == count && count >= SHORTEST_WORDS;
}

void cw_column_put(struct cw_writer *out, const uint32_t *values, size_t count)
{
    uint32_t before = 0;
    while (count) {
        enum kind kind;
        size_t n = next_run(values, count, &kind);
        if (n < SHORTEST_RUN && n < count) { /* collect values outside runs */
            enum kind other;
            for (size_t more = n; n < count && n < LONGEST_RUN && more < SHORTEST_RUN;) {
                more = next_run(values + n, count - n, &other);
                n += more < SHORTEST_RUN ? more : 0;
            }
            kind = fit_words(values, n) ? WORDS : PLAIN;
        }
        cw_column_put_varint(out, (uint32_t)n << 2 | kind);
        for (size_t i = 0; i < n; before = values[i++])
            if (kind == WORDS)
                cw_write_u16(out, (uint16_t)values[i]);
            else if (i == 0 || kind == PLAIN)
                put_difference(out, values[i], before);
        values += n;
        count -= n;
    }
}

/* ---- reading ---------------------------------------------------------------------------------------------------- */

uint32_t cw_column_varint(struct cw_column_reader *in)
{
    uint32_t value = 0;
    for (unsigned shift = 0; !in->bad && shift < 35; shift += 7) {
        if (in->at == in->end)
            break;
        uint8_t byte = *in->at++;
        if (shift == 28 && byte > 0x0f)
            break;
        value |= (uint32_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return value;
    }
    in->bad = true;
    return 0;
}

static uint32_t difference(struct cw_column_reader *in)
{
    uint32_t d = cw_column_varint(in);
    return d & 1 ? ~(d >> 1) : d >> 1;
}

/* Both return the last value and set `largest` to the largest. */
static uint32_t fill(uint32_t *values, uint32_t n, uint32_t first, uint32_t step, uint32_t *largest)
{
    uint32_t last = first + step * (n - 1);
    for (uint32_t i = 0; i < n; i++)
        values[i] = first + step * i;
    *largest = last < first ? UINT32_MAX : last; /* wrapped around */
    return last;
}

static uint32_t get_plain(struct cw_column_reader *in, uint32_t *values, uint32_t n, uint32_t before, uint32_t *largest)
{
    for (uint32_t i = 0; i < n; i++) {
        before += difference(in);
        values[i] = before;
        *largest = before > *largest ? before : *largest;
    }
    return before;
}

static uint32_t get_words(struct cw_column_reader *in, uint32_t *values, uint32_t n, uint32_t *largest)
{
    const uint8_t *at = in->at;
    uint32_t most = 0;
    if ((size_t)(in->end - at) / 2 < n) {
        in->bad = true;
        return 0;
    }
    for (uint32_t i = 0; i < n; i++) {
        values[i] = (uint32_t)at[2 * i] | (uint32_t)at[2 * i + 1] << 8;
        most = values[i] > most ? values[i] : most;
    }
    in->at += 2 * (size_t)n;
    *largest = most;
    return values[n - 1];
}

void cw_column_get(struct cw_column_reader *in, uint32_t *values, size_t count, uint64_t below)
{
    uint32_t before = 0;
    for (size_t done = 0; done < count && !in->bad;) {
        uint32_t head = cw_column_varint(in), kind = head & 3, n = head >> 2;
        uint32_t largest = 0;
        if (!n || n > count - done) {
            in->bad = true;
            return;
        }
        before = kind == PLAIN   ? get_plain(in, values + done, n, before, &largest)
                 : kind == WORDS ? get_words(in, values + done, n, &largest)
                 : kind == SAME  ? fill(values + done, n, before + difference(in), 0, &largest)
                                 : fill(values + done, n, before + difference(in), 1, &largest);
        in->bad |= largest >= below;
        done += n;
    }
}
