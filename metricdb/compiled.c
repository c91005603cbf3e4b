#define _GNU_SOURCE
#include "metricdb/compiled.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/bytes.h"
#include "metricdb/chip.h"
#include "metricdb/chip_check.h"
#include "metricdb/yaml.h"

/* ---- tables and their fields ------------------------------------------------------------------------------------- */

enum { COLUMN_VERSION = 2 };

enum field_kind {
    KIND_TEXT,   /* a name */
    KIND_PROSE,  /* text of any length */
    KIND_NUMBER, /* uint32_t */
    KIND_WIDE,   /* uint64_t or double */
    KIND_INDEX,  /* index into the table `to` */
    KIND_OPTION, /* INDEX or CW_NONE */
    KIND_ITEMS,  /* array of indices into `to`; a NUMBER before it has the count */
    KIND_REALS,  /* array of doubles, in the same way */
};

enum table_id {
    TABLE_CHIP,
    TABLE_UNITS,
    TABLE_DOMAINS,
    TABLE_PASS_COSTS,
    TABLE_RAWS,
    TABLE_PLACEMENTS,
    TABLE_LIMITS,
    TABLE_PM_LIMITS,
    TABLE_COUNTERS,
    TABLE_RATIOS,
    TABLE_THROUGHPUTS,
    TABLE_ALSO,
    TABLE_SOURCE,
    TABLE_COUNT,
    TABLE_ANY = TABLE_COUNT /* for KIND_ITEMS: plain numbers, not indices */
};

struct compiled_field {
    const char *name;
    enum field_kind kind;
    size_t offset;
    enum table_id to;
    size_t count; /* for ITEMS and REALS: offset of their count */
};

struct compiled_table {
    const char *name;
    size_t row, rows, count; /* size of a row, offsets of the pointer and the count in struct cw_chip */
    const struct compiled_field *fields;
    size_t field_count;
};

/* clang-format off */
#define FIELD(type, member, kind) {#member, KIND_##kind, offsetof(struct type, member), TABLE_ANY, 0}
#define REFERENCE(type, member, kind, table) \
    {#member, KIND_##kind, offsetof(struct type, member), TABLE_##table, 0}
#define ARRAY(type, member, size, table) \
    {#member, KIND_ITEMS, offsetof(struct type, member), TABLE_##table, offsetof(struct type, size)}
#define REALS(type, member, size) \
    {#member, KIND_REALS, offsetof(struct type, member), TABLE_ANY, offsetof(struct type, size)}
#define LIST(type, member, table) FIELD(type, member.count, NUMBER), ARRAY(type, member.items, member.count, table)
/* Members shared by counters, ratios and throughputs. */
#define BASE(type) \
    FIELD(type, name, TEXT), FIELD(type, dimension, TEXT), REFERENCE(type, unit, INDEX, UNITS), \
    LIST(type, raws, RAWS), FIELD(type, listed, NUMBER), FIELD(type, confirmed, NUMBER), FIELD(type, line, NUMBER)
/* clang-format on */

/* Every member of the structures in chip.h has an entry here, below or in the table of tables; the reader sets or makes
 * the members of cw_chip that have none. */
static const struct compiled_field chip_fields[] = {FIELD(cw_chip, name, TEXT), FIELD(cw_chip, no_sampling, NUMBER),
                                                    REFERENCE(cw_chip, time, OPTION, COUNTERS),
                                                    REFERENCE(cw_chip, device_counter, OPTION, RAWS)};
static const struct compiled_field unit_fields[] = {FIELD(cw_unit, name, TEXT), FIELD(cw_unit, instances, NUMBER),
                                                    REFERENCE(cw_unit, active, OPTION, COUNTERS),
                                                    REFERENCE(cw_unit, elapsed, OPTION, COUNTERS)};
static const struct compiled_field domain_fields[] = {FIELD(cw_domain, name, TEXT), FIELD(cw_domain, id, NUMBER)};
static const struct compiled_field pass_cost_fields[] = {FIELD(cw_pass_cost, cost, NUMBER),
                                                         LIST(cw_pass_cost, domains, DOMAINS)};
static const struct compiled_field raw_fields[] = {FIELD(cw_raw_counter, id, WIDE),
                                                   FIELD(cw_raw_counter, placement, NUMBER),
                                                   FIELD(cw_raw_counter, placement_count, NUMBER)};
static const struct compiled_field placement_fields[] = {REFERENCE(cw_chip_placement, raw, INDEX, RAWS),
                                                         REFERENCE(cw_chip_placement, domain, INDEX, DOMAINS)};
static const struct compiled_field limit_fields[] = {FIELD(cw_limit, max, NUMBER),
                                                     FIELD(cw_limit, pm_max, NUMBER),
                                                     FIELD(cw_limit, line, NUMBER),
                                                     FIELD(cw_limit, count, NUMBER),
                                                     ARRAY(cw_limit, members, count, PLACEMENTS),
                                                     ARRAY(cw_limit, groups, count, ANY)};
static const struct compiled_field counter_fields[] = {BASE(cw_counter),
                                                       REFERENCE(cw_counter, active, OPTION, COUNTERS),
                                                       REFERENCE(cw_counter, elapsed, OPTION, COUNTERS),
                                                       REFERENCE(cw_counter, sampled_active, OPTION, COUNTERS),
                                                       REFERENCE(cw_counter, sampled_elapsed, OPTION, COUNTERS),
                                                       FIELD(cw_counter, instances, NUMBER),
                                                       FIELD(cw_counter, peak, WIDE),
                                                       LIST(cw_counter, terms, COUNTERS),
                                                       REALS(cw_counter, coefficients, terms.count),
                                                       FIELD(cw_counter, per, WIDE)};
static const struct compiled_field ratio_fields[] = {BASE(cw_ratio), REFERENCE(cw_ratio, numerator, OPTION, COUNTERS),
                                                     REFERENCE(cw_ratio, denominator, OPTION, COUNTERS),
                                                     FIELD(cw_ratio, scale, WIDE), FIELD(cw_ratio, max_rate, WIDE)};
static const struct compiled_field throughput_fields[] = {BASE(cw_throughput), LIST(cw_throughput, counters, COUNTERS),
                                                          LIST(cw_throughput, throughputs, THROUGHPUTS)};
static const struct compiled_field also_fields[] = {{"also", KIND_TEXT, 0, TABLE_ANY, 0}};
static const struct compiled_field source_fields[] = {{"source", KIND_PROSE, 0, TABLE_ANY, 0}};

#define TABLE(member, number, type, list)                                                                              \
    {                                                                                                                  \
#member, sizeof(type), offsetof(struct cw_chip, member), offsetof(struct cw_chip, number), list,               \
            sizeof list / sizeof *list                                                                                 \
    }

static const struct compiled_table tables[TABLE_COUNT] = {
    [TABLE_CHIP] = {"chip", sizeof(struct cw_chip), 0, 0, chip_fields, sizeof chip_fields / sizeof *chip_fields},
    [TABLE_UNITS] = TABLE(units, unit_count, struct cw_unit, unit_fields),
    [TABLE_DOMAINS] = TABLE(domains, domain_count, struct cw_domain, domain_fields),
    [TABLE_PASS_COSTS] = TABLE(pass_costs, pass_cost_count, struct cw_pass_cost, pass_cost_fields),
    [TABLE_RAWS] = TABLE(raws, raw_count, struct cw_raw_counter, raw_fields),
    [TABLE_PLACEMENTS] = TABLE(placements, placement_count, struct cw_chip_placement, placement_fields),
    [TABLE_LIMITS] = TABLE(limits, limit_count, struct cw_limit, limit_fields),
    [TABLE_PM_LIMITS] = TABLE(pm_limits, pm_limit_count, struct cw_limit, limit_fields),
    [TABLE_COUNTERS] = TABLE(counters, counter_count, struct cw_counter, counter_fields),
    [TABLE_RATIOS] = TABLE(ratios, ratio_count, struct cw_ratio, ratio_fields),
    [TABLE_THROUGHPUTS] = TABLE(throughputs, throughput_count, struct cw_throughput, throughput_fields),
    [TABLE_ALSO] = TABLE(also, also_count, const char *, also_fields),
    [TABLE_SOURCE] = TABLE(source, source_count, const char *, source_fields),
};

#if UINTPTR_MAX == UINT64_MAX
/* When a structure grows: add a line for the new member above, then set the size here. */
_Static_assert(sizeof(struct cw_chip) == 232 && sizeof(struct cw_unit) == 24 && sizeof(struct cw_domain) == 16 &&
                   sizeof(struct cw_pass_cost) == 24 && sizeof(struct cw_raw_counter) == 16 &&
                   sizeof(struct cw_chip_placement) == 8 && sizeof(struct cw_limit) == 32 &&
                   sizeof(struct cw_counter) == 112 && sizeof(struct cw_ratio) == 80 &&
                   sizeof(struct cw_throughput) == 88,
               "a member of a structure in chip.h is missing in the tables above");
#endif

/* The version: a hash of the names and kinds of all fields, and of the packing of columns. */
static uint64_t layout_hash(void)
{
    XXH64_hash_t hash = COLUMN_VERSION;
    for (int t = 0; t < TABLE_COUNT; t++) {
        hash = XXH3_64bits_withSeed(tables[t].name, strlen(tables[t].name), hash);
        for (size_t i = 0; i < tables[t].field_count; i++) {
            const struct compiled_field *f = &tables[t].fields[i];
            const uint8_t meaning[2] = {(uint8_t)f->kind, (uint8_t)f->to};
            hash = XXH3_64bits_withSeed(f->name, strlen(f->name), hash);
            hash = XXH3_64bits_withSeed(meaning, sizeof meaning, hash);
        }
    }
    return hash;
}

/* ---- columns ----------------------------------------------------------------------------------------------------- */

enum run { SAME, RISING, PLAIN, WORDS };
enum { SHORTEST_RUN = 16, LONGEST_RUN = 1 << 28, SHORTEST_WORDS = 16 };

/* ---- writing ---------------------------------------------------------------------------------------------------- */

static void column_put_varint(struct cw_writer *out, uint32_t value)
{
    for (; value >= 0x80; value >>= 7)
        cw_write_u8(out, (uint8_t)(value | 0x80));
    cw_write_u8(out, (uint8_t)value);
}

static void put_difference(struct cw_writer *out, uint32_t value, uint32_t before)
{
    uint32_t d = value - before;
    column_put_varint(out, d & 0x80000000u ? ~(d << 1) : d << 1);
}

/* Length of the run at `values` that repeats or rises. */
static size_t run_length(const uint32_t *values, size_t count, enum run kind)
{
    size_t n = 1;
    while (n < count && n < LONGEST_RUN && values[n] == values[n - 1] + (kind == RISING))
        n++;
    return n;
}

static size_t next_run(const uint32_t *values, size_t count, enum run *kind)
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
        enum run kind;
        size_t n = next_run(values, count, &kind);
        if (n < SHORTEST_RUN && n < count) { /* collect values outside runs */
            enum run other;
            for (size_t more = n; n < count && n < LONGEST_RUN && more < SHORTEST_RUN;) {
                more = next_run(values + n, count - n, &other);
                n += more < SHORTEST_RUN ? more : 0;
            }
            kind = fit_words(values, n) ? WORDS : PLAIN;
        }
        column_put_varint(out, (uint32_t)n << 2 | kind);
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

static uint32_t column_varint(struct cw_column_reader *in)
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
    uint32_t d = column_varint(in);
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
        uint32_t head = column_varint(in), kind = head & 3, n = head >> 2;
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

static const char magic[] = "CWCHIP\r\n";
const struct cw_file_kind cw_compiled_kind = {"a compiled chip", true, {magic}};
enum {
    HEADER = 48,
    MOST_ROWS = 1 << 20,      /* limit for a table */
    REPEATED = MOST_ROWS + 1, /* in place of the number of rows: the table is the same as the one before */
    BYTES_FIXED = 48 << 20,   /* limit on memory for the result: fixed, and for each byte of the file */
    BYTES_PER_BYTE = 48,
    LARGEST_FILE = 256 << 20
};

static bool is_text(const struct compiled_field *f)
{
    return f->kind == KIND_TEXT || f->kind == KIND_PROSE;
}

static uint32_t get_number(const void *row, size_t offset)
{
    uint32_t value;
    memcpy(&value, (const char *)row + offset, sizeof value);
    return value;
}

static const void *get_pointer(const void *row, size_t offset)
{
    const void *value;
    memcpy(&value, (const char *)row + offset, sizeof value);
    return value;
}

static void set(void *row, size_t offset, const void *value, size_t size)
{
    memcpy((char *)row + offset, value, size);
}

static uint32_t row_count(const struct cw_chip *chip, enum table_id t)
{
    return t == TABLE_CHIP ? 1 : get_number(chip, tables[t].count);
}

static const void *rows_of(const struct cw_chip *chip, enum table_id t)
{
    return t == TABLE_CHIP ? chip : get_pointer(chip, tables[t].rows);
}

/* Whether a table is the same array as the one before it: PM limits equal to those of range profiling. */
static bool is_repeated(const struct cw_chip *chip, int t)
{
    return t > TABLE_UNITS && tables[t].fields == tables[t - 1].fields &&
           rows_of(chip, (enum table_id)t) == rows_of(chip, (enum table_id)(t - 1));
}

/* ---- writing ---------------------------------------------------------------------------------------------------- */

struct pool {
    struct cw_writer text;
    uint32_t *slots, slot_count; /* hash table of texts: 1 + offset, 0 is empty */
};

static uint32_t pool_offset(struct pool *pool, const char *text)
{
    size_t size = strlen(text) + 1;
    uint64_t h = XXH3_64bits(text, size);
    for (; pool->slots[h % pool->slot_count]; h++) {
        uint32_t offset = pool->slots[h % pool->slot_count] - 1;
        if (pool->text.status == CW_OK && strcmp((const char *)pool->text.data + offset, text) == 0)
            return offset;
    }
    uint32_t offset = (uint32_t)pool->text.size;
    cw_write_bytes(&pool->text, text, size);
    pool->slots[h % pool->slot_count] = offset + 1;
    return offset;
}

struct writing {
    const struct cw_chip *chip;
    struct cw_writer *out;
    struct cw_arena *arena; /* for one column at a time */
    struct pool pool;
};

static bool put_items(struct writing *w, const struct compiled_field *f, const char *rows, size_t row, uint32_t count)
{
    size_t total = 0;
    for (uint32_t i = 0; i < count; i++)
        total += get_number(rows + i * row, f->count);
    uint32_t *items = cw_arena_alloc(w->arena, total, sizeof *items), *at = items;
    for (uint32_t i = 0; items && i < count; i++) {
        uint32_t n = get_number(rows + i * row, f->count);
        if (n)
            memcpy(at, get_pointer(rows + i * row, f->offset), n * sizeof *at);
        at += n;
    }
    if (items)
        cw_column_put(w->out, items, total);
    return items;
}

static void put_reals(struct writing *w, const struct compiled_field *f, const char *rows, size_t row, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const double *reals = get_pointer(rows + i * row, f->offset);
        for (uint32_t k = 0; k < get_number(rows + i * row, f->count); k++)
            cw_write_f64(w->out, reals[k]);
    }
}

static bool put_column(struct writing *w, const struct compiled_field *f, const char *rows, size_t row, uint32_t count)
{
    if (f->kind == KIND_ITEMS)
        return put_items(w, f, rows, row, count);
    if (f->kind == KIND_REALS) {
        put_reals(w, f, rows, row, count);
        return true;
    }
    uint32_t *column = cw_arena_alloc(w->arena, count, sizeof *column);
    for (uint32_t i = 0; column && i < count; i++) {
        const char *at = rows + i * row;
        uint64_t wide;
        if (f->kind == KIND_WIDE) {
            memcpy(&wide, at + f->offset, sizeof wide);
            cw_write_u64(w->out, wide);
        } else {
            column[i] = is_text(f) ? pool_offset(&w->pool, get_pointer(at, f->offset)) : get_number(at, f->offset);
            column[i] += f->kind == KIND_OPTION; /* turns CW_NONE into 0 */
        }
    }
    if (column && f->kind != KIND_WIDE)
        cw_column_put(w->out, column, count);
    return column;
}

static bool put_tables(struct writing *w)
{
    bool ok = true;
    for (int t = 0; ok && t < TABLE_COUNT; t++)
        for (size_t i = 0; ok && !is_repeated(w->chip, t) && i < tables[t].field_count; i++)
            ok = put_column(w, &tables[t].fields[i], rows_of(w->chip, (enum table_id)t), tables[t].row,
                            row_count(w->chip, (enum table_id)t));
    return ok && w->out->status == CW_OK && w->pool.text.status == CW_OK;
}

static void put_header(struct cw_writer *out, const struct cw_chip *chip, const struct cw_writer *payload)
{
    cw_write_bytes(out, magic, sizeof magic - 1);
    cw_write_u64(out, layout_hash());
    cw_write_bytes(out, chip->hash, sizeof chip->hash);
    cw_write_u64(out, payload->size);
    cw_write_u64(out, XXH3_64bits(payload->data, payload->size));
    cw_write_bytes(out, payload->data, payload->size);
}

enum cw_status cw_compiled_write(const struct cw_chip *chip, struct cw_writer *out, struct cw_error *err)
{
    struct cw_writer columns, payload;
    struct writing w = {.chip = chip, .out = &columns, .arena = cw_arena_create()};
    enum cw_status status = CW_OK;
    cw_writer_init(&columns);
    cw_writer_init(&payload);
    cw_writer_init(&w.pool.text);
    size_t texts = 1;
    for (int t = 0; t < TABLE_COUNT; t++) {
        uint32_t count = row_count(chip, (enum table_id)t);
        if (count > MOST_ROWS)
            status = cw_error_set(err, CW_ERR_UNSUPPORTED, "%s: found %" PRIu32 " %s, expected at most %d to compile",
                                  chip->path, count, tables[t].name, MOST_ROWS);
        for (size_t i = 0; i < tables[t].field_count; i++)
            texts += is_text(&tables[t].fields[i]) ? count : 0;
        if (t != TABLE_CHIP)
            column_put_varint(&payload, is_repeated(chip, t) ? REPEATED : count);
    }
    w.pool.slot_count = (uint32_t)(2 * texts);
    w.pool.slots = w.arena ? cw_arena_alloc(w.arena, w.pool.slot_count, sizeof *w.pool.slots) : NULL;
    if (status == CW_OK && !(w.pool.slots && put_tables(&w)))
        status = cw_error_nomem(err);
    if (status == CW_OK) {
        column_put_varint(&payload, (uint32_t)w.pool.text.size);
        cw_write_bytes(&payload, w.pool.text.data, w.pool.text.size);
        cw_write_bytes(&payload, columns.data, columns.size);
        if (payload.status == CW_OK)
            put_header(out, chip, &payload);
        if (payload.status != CW_OK || out->status != CW_OK)
            status = cw_error_nomem(err);
    }
    cw_writer_free(&columns);
    cw_writer_free(&payload);
    cw_writer_free(&w.pool.text);
    cw_arena_destroy(w.arena);
    return status;
}

/* ---- reading ---------------------------------------------------------------------------------------------------- */

struct reading {
    struct cw_column_reader in;
    struct cw_chip *chip;
    struct cw_arena *arena;
    const char *pool;
    uint32_t pool_size;
    uint32_t *column; /* room for one */
    size_t left;      /* bytes that may still be allocated */
    bool no_memory;
};

/* Allocates within the limit for the file's size: a few bytes may stand for any number of values. */
static void *array(struct reading *r, size_t count, size_t size)
{
    r->in.bad |= count > r->left / size;
    r->left -= r->in.bad ? 0 : count * size;
    void *p = r->no_memory || r->in.bad ? NULL : cw_arena_alloc(r->arena, count, size);
    r->no_memory |= !p && !r->in.bad;
    return p;
}

static bool ok(const struct reading *r)
{
    return !r->in.bad && !r->no_memory;
}

/* Reads texts, each ended by a NUL. Copies them, so that checked data can no longer change. */
static void read_pool(struct reading *r)
{
    r->pool_size = column_varint(&r->in);
    r->in.bad |= r->pool_size > (size_t)(r->in.end - r->in.at) || !r->pool_size || r->in.at[r->pool_size - 1];
    char *pool = array(r, r->pool_size, 1);
    if (!pool)
        return;
    memcpy(pool, r->in.at, r->pool_size);
    r->in.at += r->pool_size;
    r->pool = pool;
}

static void read_counts(struct reading *r)
{
    uint32_t most = 1;
    for (int t = TABLE_CHIP + 1; t < TABLE_COUNT; t++) {
        uint32_t count = column_varint(&r->in);
        bool repeated = count == REPEATED && tables[t].fields == tables[t - 1].fields;
        if (repeated)
            count = row_count(r->chip, (enum table_id)(t - 1));
        r->in.bad |= count > MOST_ROWS;
        most = count > most ? count : most;
        const void *rows = repeated ? rows_of(r->chip, (enum table_id)(t - 1)) : array(r, count, tables[t].row);
        set(r->chip, tables[t].count, &count, sizeof count);
        set(r->chip, tables[t].rows, &rows, sizeof rows);
    }
    r->column = array(r, most, sizeof *r->column);
}

static uint64_t bound(const struct reading *r, const struct compiled_field *f)
{
    switch (f->kind) {
    case KIND_TEXT:
    case KIND_PROSE:
        return r->pool_size;
    case KIND_INDEX:
        return row_count(r->chip, f->to);
    case KIND_OPTION:
        return row_count(r->chip, f->to) + UINT64_C(1);
    case KIND_ITEMS:
        return f->to == TABLE_ANY ? UINT64_MAX : row_count(r->chip, f->to);
    default:
        return UINT64_MAX;
    }
}

/* Counts the items of all rows; the number of each row is in r->column. */
static size_t count_items(const struct reading *r, const struct compiled_field *f, const char *rows, size_t row,
                          uint32_t count)
{
    size_t total = 0;
    for (uint32_t i = 0; i < count; i++) {
        r->column[i] = get_number(rows + i * row, f->count);
        total += r->column[i];
    }
    return total;
}

static void read_items(struct reading *r, const struct compiled_field *f, char *rows, size_t row, uint32_t count)
{
    size_t total = count_items(r, f, rows, row, count);
    uint32_t *items = array(r, total, sizeof *items);
    if (!items)
        return;
    cw_column_get(&r->in, items, total, bound(r, f));
    for (uint32_t i = 0; i < count; items += r->column[i++])
        set(rows + i * row, f->offset, &items, sizeof items);
}

static void read_reals(struct reading *r, const struct compiled_field *f, char *rows, size_t row, uint32_t count)
{
    size_t total = count_items(r, f, rows, row, count);
    r->in.bad |= (size_t)(r->in.end - r->in.at) / sizeof(uint64_t) < total;
    uint64_t *reals = array(r, total, sizeof *reals);
    if (!reals)
        return;
    for (size_t i = 0; i < total; i++, r->in.at += sizeof *reals)
        reals[i] = XXH_readLE64(r->in.at);
    for (uint32_t i = 0; i < count; reals += r->column[i++])
        set(rows + i * row, f->offset, &reals, sizeof reals);
}

static void read_column(struct reading *r, const struct compiled_field *f, char *rows, size_t row, uint32_t count)
{
    if (f->kind == KIND_ITEMS) {
        read_items(r, f, rows, row, count);
        return;
    }
    if (f->kind == KIND_REALS) {
        read_reals(r, f, rows, row, count);
        return;
    }
    if (f->kind == KIND_WIDE) {
        r->in.bad |= (size_t)(r->in.end - r->in.at) < count * sizeof(uint64_t);
        for (uint32_t i = 0; !r->in.bad && i < count; i++, r->in.at += sizeof(uint64_t)) {
            uint64_t value = XXH_readLE64(r->in.at);
            set(rows + i * row, f->offset, &value, sizeof value);
        }
        return;
    }
    cw_column_get(&r->in, r->column, count, bound(r, f));
    for (uint32_t i = 0; !r->in.bad && i < count; i++) {
        if (is_text(f)) { /* the pool ends with a NUL */
            const char *text = r->pool + r->column[i];
            const bool again = i && r->column[i] == r->column[i - 1];
            r->in.bad |= f->kind == KIND_TEXT && !again && !cw_yaml_is_name(text);
            set(rows + i * row, f->offset, &text, sizeof text);
        } else {
            uint32_t value = r->column[i] - (f->kind == KIND_OPTION);
            set(rows + i * row, f->offset, &value, sizeof value);
        }
    }
}

static void read_payload(struct reading *r)
{
    read_counts(r);
    read_pool(r);
    for (int t = 0; t < TABLE_COUNT; t++)
        for (size_t i = 0; ok(r) && !is_repeated(r->chip, t) && i < tables[t].field_count; i++)
            read_column(r, &tables[t].fields[i], (char *)(uintptr_t)rows_of(r->chip, (enum table_id)t), tables[t].row,
                        row_count(r->chip, (enum table_id)t));
    r->in.bad |= r->in.at != r->in.end || r->chip->pass_cost_count > CW_MOST_PASS_COSTS;
    enum cw_status status = ok(r) ? cw_chip_index_names(r->chip, r->arena, NULL) : CW_OK;
    if (ok(r) && status == CW_OK)
        status = cw_chip_check(r->chip, r->arena, NULL);
    r->in.bad |= status == CW_ERR_INPUT;
    r->no_memory |= status == CW_ERR_NOMEM;
}

enum cw_status cw_compiled_read(const struct cw_chip **out, const void *data, size_t size, const uint8_t hash[16],
                                const char *path, struct cw_arena *arena, struct cw_error *err)
{
    const uint8_t *bytes = data;
    if (size < HEADER || memcmp(bytes, magic, sizeof magic - 1) != 0)
        return cw_error_offset(err, CW_ERR_INPUT, path, 0, "found no compiled chip");
    if (XXH_readLE64(bytes + 8) != layout_hash())
        return cw_error_offset(err, CW_ERR_INPUT, path, 8, "found a compiled chip of another layout");
    if (memcmp(bytes + 16, hash, 16) != 0)
        return cw_error_offset(err, CW_ERR_INPUT, path, 16, "found a compiled chip of another YAML text");
    if (XXH_readLE64(bytes + 32) != size - HEADER ||
        XXH_readLE64(bytes + 40) != XXH3_64bits(bytes + HEADER, size - HEADER))
        return cw_error_offset(err, CW_ERR_INPUT, path, 32, "found a compiled chip that is damaged");
    struct reading r = {
        .in = {bytes + HEADER, bytes + size, false}, .arena = arena, .left = BYTES_FIXED + BYTES_PER_BYTE * size};
    r.chip = array(&r, 1, sizeof *r.chip);
    if (r.chip)
        read_payload(&r);
    char *kept = ok(&r) ? cw_arena_strdup(arena, path) : NULL;
    if (!kept && (r.no_memory || !r.in.bad))
        return cw_error_nomem(err);
    if (!kept)
        return cw_error_offset(err, CW_ERR_INPUT, path, (uint64_t)(r.in.at - bytes),
                               "found a compiled chip that is damaged");
    r.chip->path = kept;
    memcpy(r.chip->hash, hash, sizeof r.chip->hash);
    *out = r.chip;
    return CW_OK;
}

/* ---- files ------------------------------------------------------------------------------------------------------ */

bool cw_compiled_folder(char path[CW_PATH_MAX])
{
    char share[CW_PATH_MAX];
    return cw_data_beside(share) && snprintf(path, CW_PATH_MAX, "%s/compiled", share) < CW_PATH_MAX;
}

const char *cw_compiled_name(const char *path, char name[CW_PATH_MAX])
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path, *dot = strrchr(base, '.');
    snprintf(name, CW_PATH_MAX, "%.*s.cwchip", dot ? (int)(dot - base) : (int)strlen(base), base);
    return name;
}

bool cw_compiled_load(const struct cw_chip **chip, const char *path, const uint8_t hash[16], struct cw_arena *arena)
{
    char folder[CW_PATH_MAX], name[CW_PATH_MAX], file[2 * CW_PATH_MAX];
    if (!cw_compiled_folder(folder))
        return false;
    snprintf(file, sizeof file, "%s/%s", folder, cw_compiled_name(path, name));
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    struct stat st;
    void *data = MAP_FAILED;
    size_t size = 0;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 && st.st_size <= LARGEST_FILE) {
        size = (size_t)st.st_size;
        data = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
    }
    close(fd);
    if (data == MAP_FAILED)
        return false;
    bool held = cw_compiled_read(chip, data, size, hash, path, arena, NULL) == CW_OK;
    munmap(data, size);
    return held;
}
