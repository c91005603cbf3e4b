#define _GNU_SOURCE
#include "image/pack.h"

#include <endian.h>
#include <inttypes.h>
#include <string.h>

#include "base/varint.h"
#include "image/data_chunks.h"
#include "image/distinct.h"
#include "image/fields.h"
#include "image/rank_index.h"

struct field {
    uint8_t kind, form, width;
    bool whole;
    uint32_t back; /* FOLLOWS: distance to the earlier field; INDICES: count of numbers */
    uint64_t least, by;
    const uint64_t *numbers; /* for INDICES */
    const uint8_t *bits;
};

struct part {
    uint32_t type, flags, end; /* end: behind its last field */
};

struct cw_pack_group {
    uint32_t rows, part_count, field_count;
    uint64_t fixed; /* bytes of a row without its texts */
    uint32_t rank;  /* the field with the rank of its ranges, plus 1; 0: none */
    struct part *parts;
    struct field *fields;
};

/* Room behind the copy of the payload: bits are read 8 bytes at a time. */
enum { SLACK = 16 };

enum { SHORTEST_TEXT = 4 }; /* its length field alone */

bool cw_pack_may_hold(uint32_t type)
{
    return type == CW_CHUNK_ABOUT || type == CW_CHUNK_REPEATED || type == CW_CHUNK_FACTS || type == CW_CHUNK_RANGE ||
           type == CW_CHUNK_DEVICE || type == CW_CHUNK_GPU_CLOCKS;
}

unsigned cw_pack_width(uint64_t most)
{
    return most ? 64 - (unsigned)__builtin_clzll(most) : 0;
}

static double f64_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

uint64_t cw_pack_follow(uint64_t value, uint64_t times, uint64_t by)
{
    const double product = f64_of(value) * (double)times;
    return bits_of(product / (double)by);
}

static uint64_t get_bits(const uint8_t *bits, uint64_t row, unsigned width)
{
    const uint64_t first = row * width;
    const uint8_t *at = bits + first / 8;
    const unsigned shift = first % 8;
    uint64_t value;
    memcpy(&value, at, sizeof value);
    value = le64toh(value) >> shift;
    if (shift + width > 64)
        value |= (uint64_t)at[8] << (64 - shift);
    return width == 64 ? value : value & (((uint64_t)1 << width) - 1);
}

/* ---- columns ---------------------------------------------------------------------------------------------------- */

static void read_bits(struct field *f, struct cw_reader *in, uint32_t rows)
{
    f->bits = cw_read_bytes(in, ((size_t)rows * f->width + 7) / 8);
}

static void read_indices(struct field *f, struct cw_reader *in, uint32_t rows, struct cw_arena *arena)
{
    const size_t pos = in->pos;
    const uint64_t count = cw_read_varint(in);
    if (in->status == CW_OK && (count == 0 || count > CW_DISTINCT_MAX))
        cw_reader_fail_at(in, pos, "found %" PRIu64 " different numbers, expected 1 to %d", count, CW_DISTINCT_MAX);
    uint64_t *numbers = cw_field_array(in, arena, in->status == CW_OK ? count : 0, sizeof *numbers);
    for (uint64_t i = 0; i < count && in->status == CW_OK; i++)
        numbers[i] = cw_read_varint(in);
    f->numbers = numbers;
    f->back = (uint32_t)count;
    f->width = (uint8_t)cw_pack_width(in->status == CW_OK ? count - 1 : 0);
    read_bits(f, in, rows);
}

/* Reads FOLLOWS for the field at `at`; the fields before it are known. */
static void read_follows(struct field *fields, uint32_t at, struct cw_reader *in)
{
    struct field *f = &fields[at];
    const size_t pos = in->pos;
    const uint64_t back = cw_read_varint(in);
    f->least = cw_read_varint(in);
    f->by = cw_read_varint(in);
    const bool good = back && back <= at && fields[at - back].kind == CW_PACK_F64 && f->kind == CW_PACK_F64 &&
                      f->least <= CW_PACK_FACTOR_MAX && f->by && f->by <= CW_PACK_FACTOR_MAX;
    if (in->status == CW_OK && !good)
        cw_reader_fail_at(in, pos,
                          "found field %" PRIu32 " to follow the one %" PRIu64 " before it, times %" PRIu64
                          " by %" PRIu64 ", expected two f64 and factors of at most 53 bits",
                          at, back, f->least, f->by);
    f->back = (uint32_t)back;
}

static bool is_number(uint8_t kind)
{
    return kind == CW_PACK_U8 || kind == CW_PACK_U32 || kind == CW_PACK_U64;
}

/* Whether the form is allowed for a column of this field. */
static bool allows(const struct field *fields, uint32_t at)
{
    const struct field *f = &fields[at];
    return f->form < CW_PACK__FORMS && (!f->whole || (f->kind == CW_PACK_F64 && f->form != CW_PACK_FOLLOWS)) &&
           (f->form != CW_PACK_BESIDE || (at && is_number(f->kind) && is_number(fields[at - 1].kind)));
}

static void read_column(struct field *fields, uint32_t at, struct cw_reader *in, uint32_t rows, struct cw_arena *arena)
{
    struct field *f = &fields[at];
    const size_t pos = in->pos;
    const uint8_t form = cw_read_u8(in);
    f->whole = form & CW_PACK_WHOLE;
    f->form = form & (uint8_t)~CW_PACK_WHOLE;
    if (in->status == CW_OK && !allows(fields, at))
        cw_reader_fail_at(in, pos, "found form %d of a field of kind %d, expected a form of this kind", form, f->kind);
    if (in->status != CW_OK)
        return;
    if (f->form == CW_PACK_INDICES) {
        read_indices(f, in, rows, arena);
    } else if (f->form == CW_PACK_FOLLOWS) {
        read_follows(fields, at, in);
    } else {
        f->least = cw_read_varint(in);
        f->width = f->form == CW_PACK_EQUAL ? 0 : cw_read_u8(in);
        if (f->width > 64)
            cw_reader_fail_at(in, in->pos - 1, "found numbers of %d bits, expected at most 64", f->width);
        read_bits(f, in, in->status == CW_OK ? rows : 0);
    }
}

/* The stored number of a row in a column that needs no other column. False if the row has none. */
static inline bool get_stored(const struct field *f, uint32_t row, uint64_t *number)
{
    *number = f->least;
    if (f->width)
        *number += get_bits(f->bits, row, f->width);
    if (f->form != CW_PACK_INDICES)
        return true;
    if (*number >= f->back)
        return false;
    *number = f->numbers[*number];
    return true;
}

/* The number of a row in any column; call it after the fields before it. */
static inline bool get_number(const struct field *f, uint32_t row, uint64_t *number)
{
    if (f->form == CW_PACK_FOLLOWS) {
        *number = cw_pack_follow(number[-(ptrdiff_t)f->back], f->least, f->by);
        return true;
    }
    if (!get_stored(f, row, number))
        return false;
    if (f->form == CW_PACK_BESIDE)
        *number += number[-1];
    if (f->whole)
        *number = bits_of((double)*number);
    return true;
}

/* ---- groups ----------------------------------------------------------------------------------------------------- */

static const uint8_t kind_sizes[CW_PACK__KINDS] = {1, 4, 8, 8, 0}; /* texts: see their list */

/* Reads runs of fields of one kind; `fields` NULL: only counts them. Returns their number, with the `before` earlier
 * ones. */
static uint64_t read_kinds(struct cw_reader *in, struct field *fields, uint64_t before)
{
    for (uint32_t runs = cw_read_count(in, 1, "kinds"); runs && in->status == CW_OK; runs--) {
        const size_t pos = in->pos;
        const uint64_t run = cw_read_varint(in), count = run >> 3;
        /* Each field has a column of at least two bytes. */
        if (in->status == CW_OK && ((run & 7) >= CW_PACK__KINDS || before + count > (in->size - in->pos) / 2)) {
            cw_reader_fail_at(
                in, pos, "found %" PRIu64 " fields of kind %d, expected a kind below %d and as many as fit the data",
                count, (int)(run & 7), CW_PACK__KINDS);
            return 0;
        }
        for (uint64_t i = 0; fields && i < count; i++)
            fields[before + i].kind = run & 7;
        before += count;
    }
    return before;
}

static void read_parts(struct cw_pack_group *g, struct cw_reader *in)
{
    uint64_t fields = 0;
    for (uint32_t i = 0; i < g->part_count && in->status == CW_OK; i++) {
        const size_t pos = in->pos;
        char text[5];
        g->parts[i].type = cw_read_u32(in);
        g->parts[i].flags = cw_read_u32(in);
        if (in->status == CW_OK && (!cw_pack_may_hold(g->parts[i].type) || g->parts[i].flags > CW_CHUNK_OPTIONAL))
            cw_reader_fail_at(in, pos, "found chunk %s with flags %u in chunk PACK, expected a kind that packs hold",
                              cw_chunk_type_text(g->parts[i].type, text), g->parts[i].flags);
        fields = read_kinds(in, g->fields, fields);
        g->parts[i].end = (uint32_t)fields;
    }
    g->field_count = (uint32_t)fields;
}

static void read_group(struct cw_pack_group *g, struct cw_reader *in, struct cw_arena *arena)
{
    g->rows = cw_read_count_up_to(in, 0, CW_PACK_RECORDS_MAX, "records");
    g->part_count = cw_read_count(in, 12, "chunks of a record");
    if (in->status == CW_OK && (!g->rows || !g->part_count))
        cw_reader_fail(in, "found a group without records, or chunks of one, expected some");
    g->parts = cw_field_array(in, arena, g->part_count, sizeof *g->parts);
    const size_t start = in->pos;
    read_parts(g, in);
    if (in->status != CW_OK)
        return;
    g->fields = cw_field_array(in, arena, g->field_count, sizeof *g->fields);
    in->pos = start;
    read_parts(g, in);
    g->fixed = (uint64_t)CW_CHUNK_HEADER_SIZE * g->part_count;
    for (uint32_t i = 0; i < g->field_count && in->status == CW_OK; i++) {
        read_column(g->fields, i, in, g->rows, arena);
        g->fixed += kind_sizes[g->fields[i].kind];
    }
}

/* Sums the bytes of texts in all records; stops above `most`. A text index out of range counts as the shortest text:
 * its record is refused only when it is read, and a payload may have as many of them as bytes, in each of all
 * records. */
static uint64_t text_bytes(const struct cw_pack *p, const struct cw_pack_group *g, uint64_t most)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < g->field_count; i++) {
        uint64_t number;
        for (uint32_t row = 0; g->fields[i].kind == CW_PACK_TEXT && row < g->rows && bytes <= most; row++)
            bytes += get_stored(&g->fields[i], row, &number) && number < p->text_count ? p->texts[number].size
                                                                                       : SHORTEST_TEXT;
    }
    return bytes;
}

/* Limits the unpacked size, so that packed data takes no more time and memory than the same data unpacked. */
static void check_bytes(const struct cw_pack *p, struct cw_reader *in)
{
    const uint64_t most = (uint64_t)CW_PACK_TIMES_MAX * in->size;
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < p->group_count && bytes <= most; i++) {
        const struct cw_pack_group *g = &p->groups[i];
        bytes += g->rows * g->fixed;
        if (bytes <= most)
            bytes += text_bytes(p, g, most - bytes);
    }
    if (bytes > most)
        cw_reader_fail(in, "found %" PRIu64 " bytes or more in a chunk PACK of %zu, expected at most %d for each",
                       bytes, in->size, CW_PACK_TIMES_MAX);
}

/* ---- wanted ranks
 * -------------------------------------------------------------------------------------------------- */

/* Whether a text is a rank in digits that is in the list, as the value of an attribute is. */
static bool is_wanted(const struct cw_pack_text *text, const char *ranks)
{
    uint64_t rank = 0;
    if (text->size < 5 || text->size > 4 + 10)
        return false;
    for (size_t i = 4; i < text->size; i++) {
        if (text->data[i] < '0' || text->data[i] > '9')
            return false;
        rank = 10 * rank + (uint64_t)(text->data[i] - '0');
    }
    return cw_rank_list_has(ranks, rank);
}

/* Marks the texts that are wanted ranks; returns whether there are any. */
static bool choose(struct cw_pack *p, const char *ranks, struct cw_reader *in)
{
    bool any = false;
    p->wanted = cw_field_array(in, p->arena, p->text_count, sizeof *p->wanted);
    for (uint32_t i = 0; i < p->text_count && in->status == CW_OK; i++)
        any |= p->wanted[i] = is_wanted(&p->texts[i], ranks);
    return any;
}

static bool is_key_of_rank(const struct cw_pack *p, const struct field *f)
{
    static const uint8_t rank[] = {4, 0, 0, 0, 'r', 'a', 'n', 'k'};
    return f->kind == CW_PACK_TEXT && f->form == CW_PACK_EQUAL && f->least < p->text_count &&
           p->texts[f->least].size == sizeof rank && memcmp(p->texts[f->least].data, rank, sizeof rank) == 0;
}

/* Finds the field of the rank. Attributes are a count, then a key and a value for each. */
static void find_rank(const struct cw_pack *p, struct cw_pack_group *g)
{
    for (uint32_t i = 0, first = 0; i < g->part_count; first = g->parts[i++].end)
        for (uint32_t f = first + 1; g->parts[i].type == CW_CHUNK_ABOUT && f + 1 < g->parts[i].end; f += 2)
            if (is_key_of_rank(p, &g->fields[f]) && g->fields[f + 1].kind == CW_PACK_TEXT)
                g->rank = f + 2;
}

static bool has_range(const struct cw_pack_group *g)
{
    bool has = false;
    for (uint32_t i = 0; i < g->part_count; i++)
        has = has || g->parts[i].type == CW_CHUNK_RANGE;
    return has;
}

/* Whether a record in a row of the group has a wanted rank, or none. */
static bool row_is_wanted(const struct cw_pack *p, const struct cw_pack_group *g, uint32_t row)
{
    uint64_t text;
    return !g->rank || !get_stored(&g->fields[g->rank - 1], row, &text) || text >= p->text_count || p->wanted[text];
}

/* Whether any record has a wanted rank, or is a range without a rank. A text that reads as a rank may be another thing,
 * as "0" and "132" of a device are. */
static bool has_wanted(const struct cw_pack *p)
{
    bool has = false;
    for (uint32_t i = 0; i < p->group_count && !has; i++) {
        const struct cw_pack_group *g = &p->groups[i];
        has = !g->rank && g->rows && has_range(g);
        for (uint32_t row = 0; g->rank && row < g->rows && !has; row++)
            has = row_is_wanted(p, g, row);
    }
    return has;
}

/* ---- the whole -------------------------------------------------------------------------------------------------- */

static void read_texts(struct cw_pack *p, struct cw_reader *in)
{
    p->text_count = cw_read_count(in, SHORTEST_TEXT, "texts");
    struct cw_pack_text *texts = cw_field_array(in, p->arena, p->text_count, sizeof *texts);
    for (uint32_t i = 0; i < p->text_count && in->status == CW_OK; i++) {
        const uint8_t *start = in->data + in->pos;
        const uint32_t length = cw_read_u32(in);
        texts[i] = (struct cw_pack_text){start, 4 + (size_t)length};
        cw_read_bytes(in, length);
    }
    p->texts = texts;
}

static void read_groups(struct cw_pack *p, struct cw_reader *in)
{
    p->group_count = cw_read_count(in, 12, "groups");
    struct cw_pack_group *groups = cw_field_array(in, p->arena, p->group_count, sizeof *groups);
    uint64_t records = 0, fields = 0, parts = 0;
    for (uint32_t i = 0; i < p->group_count && in->status == CW_OK; i++) {
        read_group(&groups[i], in, p->arena);
        if (p->wanted && in->status == CW_OK)
            find_rank(p, &groups[i]);
        records += groups[i].rows;
        fields = groups[i].field_count > fields ? groups[i].field_count : fields;
        parts = groups[i].part_count > parts ? groups[i].part_count : parts;
    }
    p->groups = groups;
    if (in->status == CW_OK && records != p->record_count)
        cw_reader_fail(in, "found %" PRIu64 " records in groups, expected %" PRIu32, records, p->record_count);
    p->numbers = cw_field_array(in, p->arena, (size_t)fields, sizeof *p->numbers);
    p->ends = cw_field_array(in, p->arena, (size_t)parts, sizeof *p->ends);
}

/* Reads the group and the row of each record. */
static void read_order(struct cw_pack *p, struct cw_reader *in)
{
    struct field order[1] = {{.kind = CW_PACK_U32}};
    const size_t pos = in->pos;
    read_column(order, 0, in, p->record_count, p->arena);
    uint32_t *of = cw_field_array(in, p->arena, p->record_count, sizeof *of);
    uint32_t *row = cw_field_array(in, p->arena, p->record_count, sizeof *row);
    uint32_t *met = cw_field_array(in, p->arena, p->group_count, sizeof *met);
    for (uint32_t i = 0; i < p->record_count && in->status == CW_OK; i++) {
        uint64_t group = 0;
        if (!get_stored(order, i, &group) || group >= p->group_count || met[group] == p->groups[group].rows) {
            cw_reader_fail_at(in, pos,
                              "found record %" PRIu32 " in group %" PRIu64 ", expected one of %" PRIu32 " with room", i,
                              group, p->group_count);
            return;
        }
        of[i] = (uint32_t)group;
        row[i] = met[group]++;
    }
    p->of = of;
    p->row = row;
}

static void read_end(struct cw_reader *in)
{
    for (size_t i = in->pos; in->status == CW_OK && i < in->size; i++)
        if (in->data[i])
            cw_reader_fail_at(in, i, "found data after the records of chunk PACK, expected zeros");
}

bool cw_pack_is_wanted(const struct cw_pack *p)
{
    return !p->wanted || row_is_wanted(p, &p->groups[p->of[p->record]], p->row[p->record]);
}

static enum cw_status read_pack(struct cw_pack *p, struct cw_reader *in, const char *ranks)
{
    const uint32_t records = cw_read_count_up_to(in, 0, CW_PACK_RECORDS_MAX, "records");
    read_texts(p, in);
    if (ranks && in->status == CW_OK && !choose(p, ranks, in))
        return in->status;
    p->record_count = records;
    read_groups(p, in);
    if (p->wanted && in->status == CW_OK && !has_wanted(p)) {
        p->record_count = 0;
        return in->status;
    }
    read_order(p, in);
    read_end(in);
    if (in->status == CW_OK)
        check_bytes(p, in);
    return in->status;
}

enum cw_status cw_pack_open(struct cw_pack *p, const struct cw_chunk *chunk, const char *ranks,
                            const struct cw_reader *file)
{
    struct cw_reader in;
    cw_pack_free(p);
    p->arena = cw_arena_create();
    uint8_t *data = p->arena ? cw_arena_alloc(p->arena, chunk->size + SLACK, 1) : NULL;
    if (!data)
        return cw_error_nomem(file->err);
    memcpy(data, chunk->payload, chunk->size);
    p->data = data;
    p->size = chunk->size;
    p->offset = chunk->offset;
    cw_reader_init(&in, data, chunk->size, file->source, chunk->offset + CW_CHUNK_HEADER_SIZE, file->err);
    const enum cw_status status = read_pack(p, &in, ranks);
    if (status != CW_OK)
        cw_pack_free(p);
    return status;
}

uint64_t cw_pack_place(const struct cw_pack *p)
{
    return p->offset | (uint64_t)p->record << CW_PLACE_SHIFT;
}

bool cw_pack_has_more(const struct cw_pack *p)
{
    return p->arena && p->record < p->record_count;
}

/* Measures the texts of a record; false if the record refers to a text that does not exist. */
static bool measure_texts(const struct cw_pack *p, const struct cw_pack_group *g, uint32_t row, size_t *bytes)
{
    *bytes = 0;
    for (uint32_t i = 0; i < g->field_count; i++) {
        uint64_t number;
        if (g->fields[i].kind != CW_PACK_TEXT)
            continue;
        if (!get_stored(&g->fields[i], row, &number) || number >= p->text_count)
            return false;
        *bytes += p->texts[number].size;
    }
    return true;
}

/* Puts a field; the caller has made room. Returns the place of the next one. */
static inline uint8_t *put_field(const struct cw_pack *p, const struct field *f, uint64_t number, uint8_t *to)
{
    switch (f->kind) {
    case CW_PACK_TEXT:
        memcpy(to, p->texts[number].data, p->texts[number].size);
        return to + p->texts[number].size;
    case CW_PACK_U8:
        *to = (uint8_t)number;
        return to + 1;
    case CW_PACK_U32:
        memcpy(to, &(uint32_t){htole32((uint32_t)number)}, 4);
        return to + 4;
    default:
        memcpy(to, &(uint64_t){htole64(number)}, 8);
        return to + 8;
    }
}

static enum cw_status refuse_record(const struct cw_pack *p, const struct cw_reader *file)
{
    struct cw_reader at = *file;
    return cw_reader_fail_at(
        &at, (size_t)p->offset,
        "found a record in chunk PACK with a number or text that the pack lacks, or of more than %d times its bytes",
        CW_PACK_RECORD_TIMES_MAX);
}

static enum cw_status make_record(struct cw_pack *p, const struct cw_reader *file)
{
    const struct cw_pack_group *g = &p->groups[p->of[p->record]];
    const uint32_t row = p->row[p->record];
    uint32_t field = 0;
    size_t texts;
    if (!measure_texts(p, g, row, &texts) || g->fixed + texts > (uint64_t)CW_PACK_RECORD_TIMES_MAX * p->size)
        return refuse_record(p, file);
    p->chunks.size = 0;
    uint8_t *const start = cw_write_room(&p->chunks, (size_t)g->fixed + texts), *to = start;
    if (!start)
        return cw_error_nomem(file->err);
    for (uint32_t i = 0; i < g->part_count; i++) {
        for (; field < g->parts[i].end; field++) {
            if (!get_number(&g->fields[field], row, &p->numbers[field]))
                return refuse_record(p, file);
            to = put_field(p, &g->fields[field], p->numbers[field], to);
        }
        p->ends[i] = (size_t)(to - start);
    }
    return CW_OK;
}

enum cw_status cw_pack_next(struct cw_pack *p, struct cw_chunk *chunk, const struct cw_reader *file)
{
    const enum cw_status status = p->part ? CW_OK : make_record(p, file);
    if (status != CW_OK)
        return status;
    const struct cw_pack_group *g = &p->groups[p->of[p->record]];
    const size_t start = p->part ? p->ends[p->part - 1] : 0;
    *chunk = (struct cw_chunk){.type = g->parts[p->part].type,
                               .flags = g->parts[p->part].flags,
                               .offset = p->offset,
                               .place = cw_pack_place(p),
                               .packed = true,
                               .payload = p->chunks.data + start,
                               .size = p->ends[p->part] - start};
    if (++p->part == g->part_count) {
        p->record++;
        p->part = 0;
    }
    return CW_OK;
}

void cw_pack_free(struct cw_pack *p)
{
    cw_arena_destroy(p->arena);
    cw_writer_free(&p->chunks);
    *p = (struct cw_pack){0};
}
