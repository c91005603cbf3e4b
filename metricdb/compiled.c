#define _GNU_SOURCE
#include "metricdb/compiled.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "metricdb/chip_check.h"
#include "metricdb/columns.h"
#include "metricdb/compiled_table.h"
#include "metricdb/yaml.h"

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

static bool is_text(const struct cw_compiled_field *f)
{
    return f->kind == CW_KIND_TEXT || f->kind == CW_KIND_PROSE;
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

static uint32_t row_count(const struct cw_chip *chip, enum cw_table_id t)
{
    return t == CW_TABLE_CHIP ? 1 : get_number(chip, cw_compiled_tables[t].count);
}

static const void *rows_of(const struct cw_chip *chip, enum cw_table_id t)
{
    return t == CW_TABLE_CHIP ? chip : get_pointer(chip, cw_compiled_tables[t].rows);
}

/* Whether a table is the same array as the one before it: PM limits equal to those of range profiling. */
static bool is_repeated(const struct cw_chip *chip, int t)
{
    return t > CW_TABLE_UNITS && cw_compiled_tables[t].fields == cw_compiled_tables[t - 1].fields &&
           rows_of(chip, (enum cw_table_id)t) == rows_of(chip, (enum cw_table_id)(t - 1));
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

static bool put_items(struct writing *w, const struct cw_compiled_field *f, const char *rows, size_t row,
                      uint32_t count)
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

static void put_reals(struct writing *w, const struct cw_compiled_field *f, const char *rows, size_t row,
                      uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const double *reals = get_pointer(rows + i * row, f->offset);
        for (uint32_t k = 0; k < get_number(rows + i * row, f->count); k++)
            cw_write_f64(w->out, reals[k]);
    }
}

static bool put_column(struct writing *w, const struct cw_compiled_field *f, const char *rows, size_t row,
                       uint32_t count)
{
    if (f->kind == CW_KIND_ITEMS)
        return put_items(w, f, rows, row, count);
    if (f->kind == CW_KIND_REALS) {
        put_reals(w, f, rows, row, count);
        return true;
    }
    uint32_t *column = cw_arena_alloc(w->arena, count, sizeof *column);
    for (uint32_t i = 0; column && i < count; i++) {
        const char *at = rows + i * row;
        uint64_t wide;
        if (f->kind == CW_KIND_WIDE) {
            memcpy(&wide, at + f->offset, sizeof wide);
            cw_write_u64(w->out, wide);
        } else {
            column[i] = is_text(f) ? pool_offset(&w->pool, get_pointer(at, f->offset)) : get_number(at, f->offset);
            column[i] += f->kind == CW_KIND_OPTION; /* turns CW_NONE into 0 */
        }
    }
    if (column && f->kind != CW_KIND_WIDE)
        cw_column_put(w->out, column, count);
    return column;
}

static bool put_tables(struct writing *w)
{
    bool ok = true;
    for (int t = 0; ok && t < CW_TABLE_COUNT; t++)
        for (size_t i = 0; ok && !is_repeated(w->chip, t) && i < cw_compiled_tables[t].field_count; i++)
            ok = put_column(w, &cw_compiled_tables[t].fields[i], rows_of(w->chip, (enum cw_table_id)t),
                            cw_compiled_tables[t].row, row_count(w->chip, (enum cw_table_id)t));
    return ok && w->out->status == CW_OK && w->pool.text.status == CW_OK;
}

static void put_header(struct cw_writer *out, const struct cw_chip *chip, const struct cw_writer *payload)
{
    cw_write_bytes(out, magic, sizeof magic - 1);
    cw_write_u64(out, cw_compiled_layout());
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
    for (int t = 0; t < CW_TABLE_COUNT; t++) {
        uint32_t count = row_count(chip, (enum cw_table_id)t);
        if (count > MOST_ROWS)
            status = cw_error_set(err, CW_ERR_UNSUPPORTED, "%s: found %" PRIu32 " %s, expected at most %d to compile",
                                  chip->path, count, cw_compiled_tables[t].name, MOST_ROWS);
        for (size_t i = 0; i < cw_compiled_tables[t].field_count; i++)
            texts += is_text(&cw_compiled_tables[t].fields[i]) ? count : 0;
        if (t != CW_TABLE_CHIP)
            cw_column_put_varint(&payload, is_repeated(chip, t) ? REPEATED : count);
    }
    w.pool.slot_count = (uint32_t)(2 * texts);
    w.pool.slots = w.arena ? cw_arena_alloc(w.arena, w.pool.slot_count, sizeof *w.pool.slots) : NULL;
    if (status == CW_OK && !(w.pool.slots && put_tables(&w)))
        status = cw_error_nomem(err);
    if (status == CW_OK) {
        cw_column_put_varint(&payload, (uint32_t)w.pool.text.size);
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
    r->pool_size = cw_column_varint(&r->in);
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
    for (int t = CW_TABLE_CHIP + 1; t < CW_TABLE_COUNT; t++) {
        uint32_t count = cw_column_varint(&r->in);
        bool repeated = count == REPEATED && cw_compiled_tables[t].fields == cw_compiled_tables[t - 1].fields;
        if (repeated)
            count = row_count(r->chip, (enum cw_table_id)(t - 1));
        r->in.bad |= count > MOST_ROWS;
        most = count > most ? count : most;
        const void *rows =
            repeated ? rows_of(r->chip, (enum cw_table_id)(t - 1)) : array(r, count, cw_compiled_tables[t].row);
        set(r->chip, cw_compiled_tables[t].count, &count, sizeof count);
        set(r->chip, cw_compiled_tables[t].rows, &rows, sizeof rows);
    }
    r->column = array(r, most, sizeof *r->column);
}

static uint64_t bound(const struct reading *r, const struct cw_compiled_field *f)
{
    switch (f->kind) {
    case CW_KIND_TEXT:
    case CW_KIND_PROSE:
        return r->pool_size;
    case CW_KIND_INDEX:
        return row_count(r->chip, f->to);
    case CW_KIND_OPTION:
        return row_count(r->chip, f->to) + UINT64_C(1);
    case CW_KIND_ITEMS:
        return f->to == CW_TABLE_ANY ? UINT64_MAX : row_count(r->chip, f->to);
    default:
        return UINT64_MAX;
    }
}

/* Counts the items of all rows; the number of each row is in r->column. */
static size_t count_items(const struct reading *r, const struct cw_compiled_field *f, const char *rows, size_t row,
                          uint32_t count)
{
    size_t total = 0;
    for (uint32_t i = 0; i < count; i++) {
        r->column[i] = get_number(rows + i * row, f->count);
        total += r->column[i];
    }
    return total;
}

static void read_items(struct reading *r, const struct cw_compiled_field *f, char *rows, size_t row, uint32_t count)
{
    size_t total = count_items(r, f, rows, row, count);
    uint32_t *items = array(r, total, sizeof *items);
    if (!items)
        return;
    cw_column_get(&r->in, items, total, bound(r, f));
    for (uint32_t i = 0; i < count; items += r->column[i++])
        set(rows + i * row, f->offset, &items, sizeof items);
}

static void read_reals(struct reading *r, const struct cw_compiled_field *f, char *rows, size_t row, uint32_t count)
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

static void read_column(struct reading *r, const struct cw_compiled_field *f, char *rows, size_t row, uint32_t count)
{
    if (f->kind == CW_KIND_ITEMS) {
        read_items(r, f, rows, row, count);
        return;
    }
    if (f->kind == CW_KIND_REALS) {
        read_reals(r, f, rows, row, count);
        return;
    }
    if (f->kind == CW_KIND_WIDE) {
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
            r->in.bad |= f->kind == CW_KIND_TEXT && !again && !cw_yaml_is_name(text);
            set(rows + i * row, f->offset, &text, sizeof text);
        } else {
            uint32_t value = r->column[i] - (f->kind == CW_KIND_OPTION);
            set(rows + i * row, f->offset, &value, sizeof value);
        }
    }
}

static void read_payload(struct reading *r)
{
    read_counts(r);
    read_pool(r);
    for (int t = 0; t < CW_TABLE_COUNT; t++)
        for (size_t i = 0; ok(r) && !is_repeated(r->chip, t) && i < cw_compiled_tables[t].field_count; i++)
            read_column(r, &cw_compiled_tables[t].fields[i], (char *)(uintptr_t)rows_of(r->chip, (enum cw_table_id)t),
                        cw_compiled_tables[t].row, row_count(r->chip, (enum cw_table_id)t));
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
    if (XXH_readLE64(bytes + 8) != cw_compiled_layout())
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
