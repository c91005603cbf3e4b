#include "image/pack_block.h"

#include <stdlib.h>
#include <string.h>

#include "base/varint.h"
#include "image/pack_columns.h"

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
static void write_layout(struct cw_writer *out, const struct cw_pack_block *p, const struct cw_pack_alike *g,
                         struct cw_writer *kinds)
{
    struct cw_reader in;
    const size_t at = out->size;
    uint32_t parts = 0;
    cw_reader_init(&in, p->layouts.data + g->layout, g->layout_size - g->key_size, "", 0, NULL);
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
static uint32_t split_of(const struct cw_pack_alike *g)
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

static bool sort_records(struct sorted *s, const struct cw_pack_block *p)
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
        const struct cw_pack_record *r = &p->records[i];
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

static bool write_groups(const struct cw_pack_block *p, const struct sorted *s, struct cw_writer *out)
{
    struct cw_writer kinds;
    bool good = true;
    cw_writer_init(&kinds);
    cw_write_u32(out, s->count);
    for (size_t g = 0; g < p->group_count && good; g++)
        for (uint32_t k = 0; k < split_of(&p->groups[g]) && good; k++) {
            const uint32_t at = s->base[g] + k;
            const struct cw_pack_rows rows = {p->numbers, s->firsts + s->first[at], s->first[at + 1] - s->first[at]};
            cw_write_u32(out, rows.count);
            write_layout(out, p, &p->groups[g], &kinds);
            good = kinds.status == CW_OK && cw_pack_write_columns(out, &rows, kinds.data, p->groups[g].field_count);
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

bool cw_pack_block_write(const struct cw_pack_block *p, struct cw_writer *out)
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
