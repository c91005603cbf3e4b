#include "image/pack_write.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/hash_table.h"
#include "base/varint.h"
#include "image/counter_data.h"
#include "image/data_chunks.h"
#include "image/pack.h"
#include "image/pack_columns.h"
#include "image/schema.h"

/* ---- records of a block ------------------------------------------------------------------------------------------ */

/* Contents of a block. */
struct pack_filled {
    uint32_t records;
    size_t numbers;   /* of all records */
    size_t dense;     /* bytes of its chunks */
    uint32_t process; /* process of the last launch */
    bool failed;      /* out of memory */
};

/* Number of launches of a group in a process so far. */
struct count {
    uint32_t group, device, process, met;
};

struct record {
    size_t first; /* index of its first number */
    uint32_t group, occurrence;
};

/* A group of records with fields of the same kinds, and for ranges of one kernel and shape. */
struct group {
    size_t layout, layout_size; /* in `layouts`: for each chunk its head, then a byte for the kind of each field */
    size_t key_size;            /* size of the key behind the layout; groups with equal keys are the same */
    uint32_t field_count, rows, occurrences;
};

struct pack_block {
    const struct cw_schema *schema;
    uint64_t *numbers;          /* numbers of all records: f64 as their bits, texts as their index */
    size_t number_count, dense; /* dense: bytes of its chunks */
    struct record *records;
    struct group *groups;
    uint32_t record_count, text_count;
    size_t group_count;
    uint32_t process; /* process of the last launch */
    struct cw_writer layouts, texts;
    bool failed; /* out of memory */
    /* for adding: */
    size_t number_room, record_room, group_room, count_count, count_room, text_room;
    struct count *counts;
    size_t *text_at; /* places in `texts` */
    struct cw_hash_table by_layout, by_text, by_process;
    struct cw_writer layout, key; /* of the record being built */
    size_t first;                 /* index of its first number */
    uint32_t fields, device, own_process;
};

/* ---- tables ----------------------------------------------------------------------------------------------------- */

static void *grown(struct pack_block *p, void *items, size_t *room, size_t count, size_t size)
{
    if (count < *room)
        return items;
    const size_t more = *room ? 2 * *room : 256;
    void *moved = realloc(items, more * size);
    p->failed = p->failed || !moved;
    *room = moved ? more : *room;
    return moved ? moved : items;
}

/* As cw_hash_table_add; sets `failed` when out of memory. */
static uint32_t find_item(struct pack_block *p, struct cw_hash_table *t, uint64_t hash, const void *key, cw_hash_is *is)
{
    const uint32_t item = cw_hash_table_add(t, hash, is, p, key);
    p->failed = p->failed || item == CW_NO_ITEM;
    return item;
}

/* ---- fields of a record ----------------------------------------------------------------------------------------- */

static void put_number(struct pack_block *p, enum cw_pack_kind kind, uint64_t number)
{
    p->numbers = grown(p, p->numbers, &p->number_room, p->number_count, sizeof *p->numbers);
    if (p->failed)
        return;
    p->numbers[p->number_count++] = number;
    p->fields++;
    cw_write_u8(&p->layout, (uint8_t)kind);
}

static uint32_t take_u32(struct pack_block *p, struct cw_reader *in)
{
    const uint32_t number = cw_read_u32(in);
    put_number(p, CW_PACK_U32, number);
    return number;
}

static void take_u64(struct pack_block *p, struct cw_reader *in)
{
    put_number(p, CW_PACK_U64, cw_read_u64(in));
}

static void take_f64s(struct pack_block *p, struct cw_reader *in, uint32_t count)
{
    for (uint32_t i = 0; i < count && in->status == CW_OK && !p->failed; i++)
        put_number(p, CW_PACK_F64, cw_read_u64(in));
}

struct text {
    const uint8_t *data; /* with its length in front */
    size_t size;
};

static struct text text_at(const struct pack_block *p, uint32_t index)
{
    const size_t at = p->text_at[index];
    struct cw_reader in;
    cw_reader_quiet(&in, p->texts.data + at, 4);
    return (struct text){p->texts.data + at, 4 + (size_t)cw_read_u32(&in)};
}

static bool is_text(const void *block, uint32_t index, const void *key)
{
    const struct text *a = key, b = text_at(block, index);
    return a->size == b.size && memcmp(a->data, b.data, b.size) == 0;
}

/* Puts the text's index among the texts of the block. */
static void take_text(struct pack_block *p, struct cw_reader *in)
{
    const uint8_t *start = in->data + in->pos;
    const uint32_t length = cw_read_u32(in);
    cw_read_bytes(in, length);
    const struct text text = {start, 4 + (size_t)length};
    if (in->status != CW_OK || p->failed)
        return;
    const uint32_t item = find_item(p, &p->by_text, XXH3_64bits(text.data, text.size), &text, is_text);
    if (item == p->text_count) {
        p->text_at = grown(p, p->text_at, &p->text_room, p->text_count, sizeof *p->text_at);
        if (p->failed)
            return;
        p->text_at[p->text_count] = p->texts.size;
        cw_write_bytes(&p->texts, text.data, text.size);
        p->failed = p->texts.status != CW_OK;
        if (p->failed)
            return; /* the text is in the table and nowhere else */
        p->text_count++;
    }
    put_number(p, CW_PACK_TEXT, item);
}

static void take_pairs(struct pack_block *p, struct cw_reader *in)
{
    for (uint32_t left = take_u32(p, in); left && in->status == CW_OK && !p->failed; left--) {
        take_text(p, in);
        take_text(p, in);
    }
}

static void take_values(struct pack_block *p, struct cw_reader *in, uint32_t count)
{
    for (uint32_t i = 0; i < count && in->status == CW_OK && !p->failed; i++) {
        const uint8_t form = cw_read_u8(in);
        put_number(p, CW_PACK_U8, form);
        if (form == CW_FORM_INSTANCES)
            take_f64s(p, in, take_u32(p, in));
        else
            take_f64s(p, in, form == CW_FORM_ONE ? 1 : form >= CW_FORM_ROLLUPS ? CW_ROLLUP_COUNT : 0);
    }
}

static void take_device(struct pack_block *p, struct cw_reader *in)
{
    take_u32(p, in);
    take_pairs(p, in);
    for (uint32_t c = 0; c < p->schema->counter_count && in->status == CW_OK; c++) {
        take_u32(p, in);
        take_f64s(p, in, CW_ROLLUP_COUNT);
    }
}

static void take_clocks(struct pack_block *p, struct cw_reader *in)
{
    take_u32(p, in);
    for (uint32_t left = take_u32(p, in); left && in->status == CW_OK && !p->failed; left--) {
        take_u64(p, in);
        take_u32(p, in);
        take_u32(p, in);
        take_u64(p, in);
    }
}

static void take_facts(struct pack_block *p, struct cw_reader *in)
{
    const uint8_t form = cw_read_u8(in);
    put_number(p, CW_PACK_U8, form);
    for (uint32_t f = 0; f < p->schema->fact_count && form == 0 && in->status == CW_OK; f++)
        take_u32(p, in);
    take_f64s(p, in, form ? p->schema->fact_count : 0);
}

/* Name, kernel, grid and block determine the group of a launch. */
static void take_range(struct pack_block *p, struct cw_reader *in)
{
    const size_t names = p->number_count;
    take_text(p, in);
    take_text(p, in);
    p->device = take_u32(p, in);
    p->own_process = take_u32(p, in);
    take_u64(p, in);
    take_u64(p, in);
    const size_t shape = p->number_count;
    for (int i = 0; i < 6; i++)
        take_u32(p, in);
    if (in->status == CW_OK && !p->failed) {
        cw_write_bytes(&p->key, p->numbers + names, 2 * sizeof *p->numbers);
        cw_write_bytes(&p->key, p->numbers + shape, 6 * sizeof *p->numbers);
    }
    take_u64(p, in);
    take_u64(p, in);
    take_f64s(p, in, p->schema->pass_count);
    take_values(p, in, p->schema->counter_count);
}

static void take_fields(struct pack_block *p, const struct cw_chunk *chunk, struct cw_reader *in)
{
    switch (chunk->type) {
    case CW_CHUNK_ABOUT:
        take_pairs(p, in);
        break;
    case CW_CHUNK_REPEATED:
        take_values(p, in, p->schema->repeat_count);
        break;
    case CW_CHUNK_FACTS:
        take_facts(p, in);
        break;
    case CW_CHUNK_DEVICE:
        take_device(p, in);
        break;
    case CW_CHUNK_GPU_CLOCKS:
        take_clocks(p, in);
        break;
    default:
        take_range(p, in);
    }
}

/* ---- records ---------------------------------------------------------------------------------------------------- */

/* Compares what identifies a group: the layout, and the key behind it. */
static bool is_layout(const void *block, uint32_t index, const void *key)
{
    const struct pack_block *p = block;
    const struct group *g = &p->groups[index];
    const struct cw_writer *own = key;
    return g->layout_size == own->size && memcmp(p->layouts.data + g->layout, own->data, own->size) == 0;
}

static uint32_t find_group(struct pack_block *p)
{
    cw_write_bytes(&p->layout, p->key.data, p->key.size);
    if (p->layout.status != CW_OK || p->key.status != CW_OK) {
        p->failed = true;
        return 0;
    }
    const uint32_t item =
        find_item(p, &p->by_layout, XXH3_64bits(p->layout.data, p->layout.size), &p->layout, is_layout);
    if (item == p->group_count) {
        p->groups = grown(p, p->groups, &p->group_room, p->group_count, sizeof *p->groups);
        if (p->failed)
            return 0;
        p->groups[p->group_count] = (struct group){.layout = p->layouts.size,
                                                   .layout_size = p->layout.size,
                                                   .key_size = p->key.size,
                                                   .field_count = p->fields};
        cw_write_bytes(&p->layouts, p->layout.data, p->layout.size);
        p->failed = p->layouts.status != CW_OK;
        if (p->failed)
            return 0;
        p->group_count++;
    }
    return item;
}

static bool is_count(const void *block, uint32_t index, const void *key)
{
    const struct count *a = key, *b = &((const struct pack_block *)block)->counts[index];
    return a->group == b->group && a->device == b->device && a->process == b->process;
}

static uint32_t find_occurrence(struct pack_block *p, uint32_t group)
{
    const struct count own = {group, p->device, p->own_process, 0};
    const uint32_t parts[] = {group, p->device, p->own_process};
    const uint32_t item = find_item(p, &p->by_process, XXH3_64bits(parts, sizeof parts), &own, is_count);
    if (item == p->count_count) {
        p->counts = grown(p, p->counts, &p->count_room, p->count_count, sizeof *p->counts);
        if (p->failed)
            return 0;
        p->counts[p->count_count++] = own;
    }
    return p->failed ? 0 : p->counts[item].met++;
}

static void begin_record(struct pack_block *p)
{
    p->number_count = p->first;
    p->layout.size = p->key.size = 0;
    p->fields = p->device = p->own_process = 0;
}

static void end_record(struct pack_block *p, bool is_launch, size_t bytes)
{
    const uint32_t group = find_group(p);
    p->records = grown(p, p->records, &p->record_room, p->record_count, sizeof *p->records);
    const uint32_t occurrence = is_launch && !p->failed ? find_occurrence(p, group) : 0;
    if (p->failed)
        return;
    struct group *g = &p->groups[group];
    g->rows++;
    g->occurrences = occurrence >= g->occurrences ? occurrence + 1 : g->occurrences;
    p->records[p->record_count++] = (struct record){p->first, group, occurrence};
    p->process = is_launch ? p->own_process : p->process;
    p->dense += bytes;
    p->first = p->number_count;
}

/* Adds a record of these whole chunks. Returns false, and adds nothing, if they are not well formed. */
static bool pack_block_add(struct pack_block *p, const struct cw_writer *chunks)
{
    struct cw_reader file, in;
    struct cw_chunk chunk = {0};
    bool found = true;
    cw_reader_quiet(&file, chunks->data, chunks->size);
    begin_record(p);
    while (cw_chunk_next(&file, &chunk, &found, NULL) == CW_OK && found) {
        cw_write_u32(&p->layout, chunk.type);
        cw_write_u32(&p->layout, chunk.flags);
        cw_write_u32(&p->layout, 0);
        const size_t head = p->layout.size;
        cw_chunk_open(&file, &chunk, &in);
        take_fields(p, &chunk, &in);
        p->failed = p->failed || p->layout.status != CW_OK;
        if (p->failed || cw_chunk_finish(&in, &chunk) != CW_OK)
            return false;
        cw_store_u32(p->layout.data + head - 4, (uint32_t)(p->layout.size - head));
    }
    if (file.status == CW_OK)
        end_record(p, chunk.type == CW_CHUNK_RANGE, chunks->size);
    return file.status == CW_OK && !p->failed;
}

/* ---- writing ---------------------------------------------------------------------------------------------------- */

/* A block tells the launches of a kernel apart by their occurrence if at least this many ranks have each. */
enum { OCCURRENCES_APART = 16 };

/* Writes runs of fields of one kind. */
static void write_kinds(struct cw_writer *out, const uint8_t *kinds, uint32_t count)
{
    const size_t at = out->size;
    uint32_t runs = 0;
    cw_write_u32(out, 0);
    for (uint32_t i = 0, end; i < count; i = end, runs++) {
        for (end = i + 1; end < count && kinds[end] == kinds[i];)
            end++;
        cw_write_varint(out, (uint64_t)(end - i) << 3 | kinds[i]);
    }
    if (out->status == CW_OK)
        cw_store_u32(out->data + at, runs);
}

/* Writes the chunks of a record of the group, and leaves the kinds of all its fields in `kinds`. */
static void write_layout(struct cw_writer *out, const struct pack_block *p, const struct group *g,
                         struct cw_writer *kinds)
{
    struct cw_reader in;
    const size_t at = out->size;
    uint32_t parts = 0;
    cw_reader_quiet(&in, p->layouts.data + g->layout, g->layout_size - g->key_size);
    cw_write_u32(out, 0);
    kinds->size = 0;
    for (; in.pos < in.size && in.status == CW_OK; parts++) {
        cw_write_u32(out, cw_read_u32(&in));
        cw_write_u32(out, cw_read_u32(&in));
        const uint32_t count = cw_read_u32(&in);
        const uint8_t *list = cw_read_bytes(&in, count);
        write_kinds(out, list, list ? count : 0);
        cw_write_bytes(kinds, list, list ? count : 0);
    }
    if (out->status == CW_OK)
        cw_store_u32(out->data + at, parts);
}

/* Number of file groups that a group becomes: one for each occurrence if launches are told apart by it, else 1. */
static uint32_t split_of(const struct group *g)
{
    return g->occurrences > 1 && g->rows / g->occurrences >= OCCURRENCES_APART ? g->occurrences : 1;
}

/* The groups of the file with their records, and the group of each record. */
struct sorted {
    uint32_t *base;  /* [group]: index of its first group of the file */
    uint32_t *first; /* [group of the file]: index into `firsts`; the last entry is the end */
    size_t *firsts;  /* start of each record's numbers */
    uint64_t *order; /* [record]: its group of the file */
    uint32_t count;
};

static bool sort_records(struct sorted *s, const struct pack_block *p)
{
    *s = (struct sorted){.base = calloc(p->group_count + 1, sizeof *s->base)};
    for (size_t g = 0; s->base && g < p->group_count; g++) {
        s->base[g] = s->count;
        s->count += split_of(&p->groups[g]);
    }
    s->first = calloc((size_t)s->count + 2, sizeof *s->first);
    s->firsts = calloc((size_t)p->record_count + 1, sizeof *s->firsts);
    s->order = calloc((size_t)p->record_count + 1, sizeof *s->order);
    if (!s->base || !s->first || !s->firsts || !s->order)
        return false;
    for (uint32_t i = 0; i < p->record_count; i++) {
        const struct record *r = &p->records[i];
        s->order[i] = s->base[r->group] + (split_of(&p->groups[r->group]) > 1 ? r->occurrence : 0);
        s->first[s->order[i] + 2]++;
    }
    for (uint32_t g = 0; g < s->count; g++)
        s->first[g + 2] += s->first[g + 1];
    for (uint32_t i = 0; i < p->record_count; i++)
        s->firsts[s->first[s->order[i] + 1]++] = p->records[i].first;
    return true;
}

static void free_sorted(struct sorted *s)
{
    free(s->base);
    free(s->first);
    free(s->firsts);
    free(s->order);
}

static bool write_groups(const struct pack_block *p, const struct sorted *s, struct cw_writer *out)
{
    struct cw_writer kinds;
    bool good = true;
    cw_writer_init(&kinds);
    cw_write_u32(out, s->count);
    for (size_t g = 0; g < p->group_count && good; g++)
        for (uint32_t k = 0; k < split_of(&p->groups[g]) && good; k++) {
            const uint32_t at = s->base[g] + k, rows = s->first[at + 1] - s->first[at];
            cw_write_u32(out, rows);
            write_layout(out, p, &p->groups[g], &kinds);
            good = kinds.status == CW_OK && cw_pack_write_columns(out, p->numbers, s->firsts + s->first[at], rows,
                                                                  kinds.data, p->groups[g].field_count);
        }
    cw_writer_free(&kinds);
    return good && out->status == CW_OK;
}

/* Pads the payload if it is too short: a reader refuses packs that unpack to too many bytes. */
static void fill_up(struct cw_writer *out, size_t start, size_t dense)
{
    const size_t size = out->size - start, least = dense / CW_PACK_TIMES_MAX + 1;
    uint8_t *room = size < least ? cw_write_room(out, least - size) : NULL;
    if (room)
        memset(room, 0, least - size);
}

/* Appends a PACK chunk of all records; there must be at least one. False when out of memory. */
static bool pack_block_write(const struct pack_block *p, struct cw_writer *out)
{
    struct sorted sorted;
    const size_t start = cw_chunk_begin(out, CW_CHUNK_PACK, 0);
    cw_write_u32(out, p->record_count);
    cw_write_u32(out, p->text_count);
    cw_write_bytes(out, p->texts.data, p->texts.size);
    const bool good = sort_records(&sorted, p) && write_groups(p, &sorted, out);
    if (good) {
        cw_pack_write_numbers(out, sorted.order, p->record_count);
        fill_up(out, start + CW_CHUNK_HEADER_SIZE, p->dense);
        cw_chunk_end(out, start);
    }
    free_sorted(&sorted);
    return good && out->status == CW_OK;
}

/* ---- all -------------------------------------------------------------------------------------------------------- */

/* Creates an empty block for chunks of the schema, which is borrowed. NULL when out of memory. */
static struct pack_block *pack_block_create(const struct cw_schema *schema)
{
    struct pack_block *p = calloc(1, sizeof *p);
    if (p)
        p->schema = schema;
    return p;
}

static struct pack_filled pack_block_filled(const struct pack_block *p)
{
    return (struct pack_filled){.records = p->record_count,
                                .numbers = p->number_count,
                                .dense = p->dense,
                                .process = p->process,
                                .failed = p->failed};
}

/* Removes all records. */
static void pack_block_empty(struct pack_block *p)
{
    p->number_count = p->first = p->dense = p->group_count = p->count_count = 0;
    p->record_count = p->text_count = 0;
    p->layouts.size = p->texts.size = 0;
    cw_hash_table_empty(&p->by_layout);
    cw_hash_table_empty(&p->by_text);
    cw_hash_table_empty(&p->by_process);
}

static void pack_block_destroy(struct pack_block *p)
{
    if (!p)
        return;
    struct cw_writer *const writers[] = {&p->layouts, &p->texts, &p->layout, &p->key};
    for (size_t i = 0; i < sizeof writers / sizeof *writers; i++)
        cw_writer_free(writers[i]);
    struct cw_hash_table *const tables[] = {&p->by_layout, &p->by_text, &p->by_process};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        cw_hash_table_free(tables[i]);
    void *const lists[] = {p->numbers, p->records, p->groups, p->counts, p->text_at};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        free(lists[i]);
    free(p);
}

/* Numbers that a block holds: from NUMBERS_ENOUGH on, it ends where the next rank begins; it exceeds NUMBERS_MOST by at
 * most one record. */
enum { NUMBERS_ENOUGH = 4 << 20, NUMBERS_MOST = 8 << 20 };

struct cw_packer {
    struct cw_writer held;    /* output before the first block */
    struct cw_writer pending; /* chunks of the record being collected */
    struct pack_block *block;
    bool begun, packs; /* the first block was written, and packing made it shorter */
    bool failed;       /* out of memory */
};

/* ---- blocks ----------------------------------------------------------------------------------------------------- */

/* Replaces the pack at `start` by its chunks. */
static bool unpack(struct cw_writer *out, size_t start)
{
    struct cw_reader file;
    struct cw_chunk chunk;
    struct cw_pack pack = {0};
    bool found;
    cw_reader_quiet(&file, out->data + start, out->size - start);
    bool good = cw_chunk_next(&file, &chunk, &found, NULL) == CW_OK && found &&
                cw_pack_open(&pack, &chunk, NULL, &file) == CW_OK;
    out->size = start;
    while (good && cw_pack_has_more(&pack) && (good = cw_pack_next(&pack, &chunk, &file) == CW_OK)) {
        const size_t at = cw_chunk_begin(out, chunk.type, chunk.flags);
        cw_write_bytes(out, chunk.payload, chunk.size);
        cw_chunk_end(out, at);
    }
    cw_pack_free(&pack);
    return good && out->status == CW_OK;
}

/* Writes a block. The first block decides whether the file has packed chunks, which its version states. */
static void write_block(struct cw_packer *p, struct cw_writer *out)
{
    const size_t start = out->size;
    const struct pack_filled filled = pack_block_filled(p->block);
    if (!filled.records || p->failed)
        return;
    p->failed = !pack_block_write(p->block, out);
    const bool shorter = !p->failed && out->size - start < filled.dense;
    if (!p->begun)
        p->packs = shorter;
    if (!p->failed && !(shorter && p->packs))
        p->failed = !unpack(out, start);
    pack_block_empty(p->block);
}

/* Writes a block, and before the first one the output that was held back. */
static void flush(struct cw_packer *p, struct cw_writer *out)
{
    struct cw_writer block;
    if (p->begun) {
        write_block(p, out);
        return;
    }
    if (!pack_block_filled(p->block).records)
        return;
    cw_writer_init(&block);
    write_block(p, &block);
    p->begun = true;
    if (p->packs && p->held.size >= CW_FILE_HEADER_SIZE)
        p->held.data[8] = CW_PACK_MAJOR;
    cw_write_bytes(out, p->held.data, p->held.size);
    cw_write_bytes(out, block.data, block.size);
    cw_writer_free(&p->held);
    cw_writer_free(&block);
}

/* ---- chunks ----------------------------------------------------------------------------------------------------- */

/* Process of a launch. */
static uint32_t process_of(const struct cw_chunk *range)
{
    struct cw_reader in;
    cw_reader_quiet(&in, range->payload, range->size);
    cw_read_bytes(&in, cw_read_u32(&in));
    cw_read_bytes(&in, cw_read_u32(&in));
    cw_read_u32(&in);
    return cw_read_u32(&in);
}

/* Whether the block is full enough to end before the record that this chunk completes: a new rank begins with it. */
static bool is_enough(const struct cw_packer *p, const struct cw_chunk *chunk)
{
    const struct pack_filled filled = pack_block_filled(p->block);
    const bool next =
        chunk->type == CW_CHUNK_DEVICE || (chunk->type == CW_CHUNK_RANGE && process_of(chunk) != filled.process);
    return filled.records == CW_PACK_RECORDS_MAX || filled.numbers >= (next ? NUMBERS_ENOUGH : NUMBERS_MOST);
}

static struct cw_writer *begin_of(struct cw_packer *p, struct cw_writer *out)
{
    return p->begun ? out : &p->held;
}

/* Writes chunks that cannot be packed unchanged, behind the earlier ones. */
static void put_pending(struct cw_packer *p, struct cw_writer *out)
{
    flush(p, out);
    cw_write_bytes(begin_of(p, out), p->pending.data, p->pending.size);
    p->pending.size = 0;
}

static void take_chunk(struct cw_packer *p, const struct cw_chunk *chunk, const uint8_t *bytes, struct cw_writer *out)
{
    const bool holds = cw_pack_may_hold(chunk->type);
    const bool ends =
        chunk->type == CW_CHUNK_RANGE || chunk->type == CW_CHUNK_DEVICE || chunk->type == CW_CHUNK_GPU_CLOCKS;
    if (!holds || (ends && chunk->type != CW_CHUNK_RANGE)) /* parts of a range that did not follow */
        if (p->pending.size)
            put_pending(p, out);
    cw_write_bytes(&p->pending, bytes, CW_CHUNK_HEADER_SIZE + chunk->size);
    if (!holds) {
        put_pending(p, out);
    } else if (ends) {
        if (is_enough(p, chunk))
            flush(p, out);
        if (pack_block_add(p->block, &p->pending))
            p->pending.size = 0;
        else if (!pack_block_filled(p->block).failed)
            put_pending(p, out);
    }
}

static enum cw_status told(const struct cw_packer *p, const struct cw_writer *out)
{
    const bool good = !p->failed && !pack_block_filled(p->block).failed && p->held.status == CW_OK &&
                      p->pending.status == CW_OK && out->status == CW_OK;
    return good ? CW_OK : CW_ERR_NOMEM;
}

enum cw_status cw_packer_take(struct cw_packer *p, const void *data, size_t size, struct cw_writer *out)
{
    struct cw_reader file;
    struct cw_chunk chunk;
    bool found = true;
    cw_reader_quiet(&file, data, size);
    if (!p->held.size && !p->begun)
        cw_write_bytes(&p->held, cw_read_bytes(&file, CW_FILE_HEADER_SIZE), CW_FILE_HEADER_SIZE);
    while (told(p, out) == CW_OK && cw_chunk_next(&file, &chunk, &found, NULL) == CW_OK && found)
        take_chunk(p, &chunk, file.data + chunk.offset, out);
    return told(p, out);
}

enum cw_status cw_packer_finish(struct cw_packer *p, struct cw_writer *out)
{
    put_pending(p, out);
    if (!p->begun)
        cw_write_bytes(out, p->held.data, p->held.size);
    return told(p, out);
}

struct cw_packer *cw_packer_create(const struct cw_schema *schema)
{
    struct cw_packer *p = calloc(1, sizeof *p);
    if (p && (p->block = pack_block_create(schema)))
        return p;
    free(p);
    return NULL;
}

void cw_packer_destroy(struct cw_packer *p)
{
    if (!p)
        return;
    pack_block_destroy(p->block);
    cw_writer_free(&p->held);
    cw_writer_free(&p->pending);
    free(p);
}
