#include "image/pack_block.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "image/counter_data.h"
#include "image/data_chunks.h"

/* Number of launches of a group in a process so far. */
struct cw_pack_count {
    uint32_t group, device, process, met;
};

/* ---- tables ----------------------------------------------------------------------------------------------------- */

static void *grown(struct cw_pack_block *p, void *items, size_t *room, size_t count, size_t size)
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
static uint32_t find_item(struct cw_pack_block *p, struct cw_hash_table *t, uint64_t hash, const void *key,
                          cw_hash_is *is)
{
    const uint32_t item = cw_hash_table_add(t, hash, is, p, key);
    p->failed = p->failed || item == CW_NO_ITEM;
    return item;
}

/* ---- fields of a record ----------------------------------------------------------------------------------------- */

static void put_number(struct cw_pack_block *p, enum cw_pack_kind kind, uint64_t number)
{
    p->numbers = grown(p, p->numbers, &p->number_room, p->number_count, sizeof *p->numbers);
    if (p->failed)
        return;
    p->numbers[p->number_count++] = number;
    p->fields++;
    cw_write_u8(&p->layout, (uint8_t)kind);
}

static uint32_t take_u32(struct cw_pack_block *p, struct cw_reader *in)
{
    const uint32_t number = cw_read_u32(in);
    put_number(p, CW_PACK_U32, number);
    return number;
}

static void take_u64(struct cw_pack_block *p, struct cw_reader *in)
{
    put_number(p, CW_PACK_U64, cw_read_u64(in));
}

static void take_f64s(struct cw_pack_block *p, struct cw_reader *in, uint32_t count)
{
    for (uint32_t i = 0; i < count && in->status == CW_OK && !p->failed; i++)
        put_number(p, CW_PACK_F64, cw_read_u64(in));
}

struct text {
    const uint8_t *data; /* with its length in front */
    size_t size;
};

static struct text text_at(const struct cw_pack_block *p, uint32_t index)
{
    const size_t at = p->text_at[index];
    struct cw_reader in;
    cw_reader_init(&in, p->texts.data + at, 4, "", 0, NULL);
    return (struct text){p->texts.data + at, 4 + (size_t)cw_read_u32(&in)};
}

static bool is_text(const void *block, uint32_t index, const void *key)
{
    const struct text *a = key, b = text_at(block, index);
    return a->size == b.size && memcmp(a->data, b.data, b.size) == 0;
}

/* Puts the text's index among the texts of the block. */
static void take_text(struct cw_pack_block *p, struct cw_reader *in)
{
    const uint8_t *start = in->data + in->pos;
    const uint32_t length = cw_read_u32(in);
    cw_read_bytes(in, length);
    const struct text text = {start, 4 + (size_t)length};
    if (in->status != CW_OK)
        return;
    const uint32_t item = find_item(p, &p->by_text, XXH3_64bits(text.data, text.size), &text, is_text);
    if (item == p->text_count) {
        p->text_at = grown(p, p->text_at, &p->text_room, p->text_count, sizeof *p->text_at);
        if (p->failed)
            return;
        p->text_at[p->text_count] = p->texts.size;
        cw_write_bytes(&p->texts, text.data, text.size);
        p->text_count++;
    }
    put_number(p, CW_PACK_TEXT, item);
}

static void take_pairs(struct cw_pack_block *p, struct cw_reader *in)
{
    for (uint32_t left = take_u32(p, in); left && in->status == CW_OK && !p->failed; left--) {
        take_text(p, in);
        take_text(p, in);
    }
}

static void take_values(struct cw_pack_block *p, struct cw_reader *in, uint32_t count)
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

static void take_device(struct cw_pack_block *p, struct cw_reader *in)
{
    take_u32(p, in);
    take_pairs(p, in);
    for (uint32_t c = 0; c < p->schema->counter_count && in->status == CW_OK; c++) {
        take_u32(p, in);
        take_f64s(p, in, CW_ROLLUP_COUNT);
    }
}

static void take_clocks(struct cw_pack_block *p, struct cw_reader *in)
{
    take_u32(p, in);
    for (uint32_t left = take_u32(p, in); left && in->status == CW_OK && !p->failed; left--) {
        take_u64(p, in);
        take_u32(p, in);
        take_u32(p, in);
        take_u64(p, in);
    }
}

static void take_facts(struct cw_pack_block *p, struct cw_reader *in)
{
    const uint8_t form = cw_read_u8(in);
    put_number(p, CW_PACK_U8, form);
    for (uint32_t f = 0; f < p->schema->fact_count && form == 0 && in->status == CW_OK; f++)
        take_u32(p, in);
    take_f64s(p, in, form ? p->schema->fact_count : 0);
}

/* Name, kernel, grid and block determine the group of a launch. */
static void take_range(struct cw_pack_block *p, struct cw_reader *in)
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

static void take_fields(struct cw_pack_block *p, const struct cw_chunk *chunk, struct cw_reader *in)
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
    const struct cw_pack_block *p = block;
    const struct cw_pack_alike *g = &p->groups[index];
    const struct cw_writer *own = key;
    return g->layout_size == own->size && memcmp(p->layouts.data + g->layout, own->data, own->size) == 0;
}

static uint32_t find_group(struct cw_pack_block *p)
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
        p->groups[p->group_count] = (struct cw_pack_alike){.layout = p->layouts.size,
                                                           .layout_size = p->layout.size,
                                                           .key_size = p->key.size,
                                                           .field_count = p->fields};
        cw_write_bytes(&p->layouts, p->layout.data, p->layout.size);
        p->group_count++;
    }
    return item;
}

static bool is_count(const void *block, uint32_t index, const void *key)
{
    const struct cw_pack_count *a = key, *b = &((const struct cw_pack_block *)block)->counts[index];
    return a->group == b->group && a->device == b->device && a->process == b->process;
}

static uint32_t find_occurrence(struct cw_pack_block *p, uint32_t group)
{
    const struct cw_pack_count own = {group, p->device, p->own_process, 0};
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

static void begin_record(struct cw_pack_block *p)
{
    p->number_count = p->first;
    p->layout.size = p->key.size = 0;
    p->fields = p->device = p->own_process = 0;
}

static void end_record(struct cw_pack_block *p, bool is_launch, size_t bytes)
{
    const uint32_t group = find_group(p);
    p->records = grown(p, p->records, &p->record_room, p->record_count, sizeof *p->records);
    const uint32_t occurrence = is_launch && !p->failed ? find_occurrence(p, group) : 0;
    if (p->failed)
        return;
    struct cw_pack_alike *g = &p->groups[group];
    g->rows++;
    g->occurrences = occurrence >= g->occurrences ? occurrence + 1 : g->occurrences;
    p->records[p->record_count++] = (struct cw_pack_record){p->first, group, occurrence};
    p->process = is_launch ? p->own_process : p->process;
    p->dense += bytes;
    p->first = p->number_count;
}

bool cw_pack_block_add(struct cw_pack_block *p, const struct cw_writer *chunks)
{
    struct cw_reader file, in;
    struct cw_chunk chunk = {0};
    bool found = true;
    cw_reader_init(&file, chunks->data, chunks->size, "", 0, NULL);
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

/* ---- the end --------------------------------------------------------------------------------------------------------
 */

void cw_pack_block_empty(struct cw_pack_block *p)
{
    p->number_count = p->first = p->dense = p->group_count = p->count_count = 0;
    p->record_count = p->text_count = 0;
    p->layouts.size = p->texts.size = 0;
    cw_hash_table_empty(&p->by_layout);
    cw_hash_table_empty(&p->by_text);
    cw_hash_table_empty(&p->by_process);
}

void cw_pack_block_free(struct cw_pack_block *p)
{
    struct cw_writer *const writers[] = {&p->layouts, &p->texts, &p->layout, &p->key};
    for (size_t i = 0; i < sizeof writers / sizeof *writers; i++)
        cw_writer_free(writers[i]);
    struct cw_hash_table *const tables[] = {&p->by_layout, &p->by_text, &p->by_process};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        cw_hash_table_free(tables[i]);
    void *const lists[] = {p->numbers, p->records, p->groups, p->counts, p->text_at};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        free(lists[i]);
}
