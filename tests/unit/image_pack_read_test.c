/* Packs made by hand: which columns a reader takes, and which records it finds by their rank. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "base/varint.h"
#include "image/data_chunks.h"
#include "image/pack.h"

static struct cw_writer payload;
static struct cw_pack pack;
static struct cw_error err;

static void set_up(void)
{
    cw_writer_init(&payload);
    err = (struct cw_error)CW_ERROR_INIT;
}

static void tear_down(void)
{
    cw_pack_free(&pack);
    cw_writer_free(&payload);
}

TestSuite(pack_read, .init = set_up, .fini = tear_down);

static void begin(uint32_t records, const char *const *texts, uint32_t count)
{
    payload.size = 0;
    cw_write_u32(&payload, records);
    cw_write_u32(&payload, count);
    for (uint32_t i = 0; i < count; i++)
        cw_write_string(&payload, texts[i]);
}

/* A group of records of one chunk, with fields of these kinds; its columns follow. */
static void put_group(uint32_t rows, uint32_t type, const uint8_t *kinds, uint32_t fields)
{
    cw_write_u32(&payload, rows);
    cw_write_u32(&payload, 1);
    cw_write_u32(&payload, type);
    cw_write_u32(&payload, CW_CHUNK_OPTIONAL);
    cw_write_u32(&payload, fields);
    for (uint32_t i = 0; i < fields; i++)
        cw_write_varint(&payload, 1 << 3 | kinds[i]);
}

static void put_equal(uint64_t number)
{
    cw_write_u8(&payload, CW_PACK_EQUAL);
    cw_write_varint(&payload, number);
}

static struct cw_reader file;

static enum cw_status open_pack(const char *ranks)
{
    const struct cw_chunk chunk = {.type = CW_CHUNK_PACK, .payload = payload.data, .size = payload.size};
    cw_reader_init(&file, NULL, 1000, "x.cwd", 0, &err);
    err = (struct cw_error)CW_ERROR_INIT;
    return cw_pack_open(&pack, &chunk, ranks, &file);
}

/* Reads all records. */
static enum cw_status read_pack(void)
{
    struct cw_chunk chunk;
    enum cw_status status = open_pack(NULL);
    while (status == CW_OK && cw_pack_has_more(&pack))
        status = cw_pack_next(&pack, &chunk, &file);
    return status;
}

static bool is_number(uint8_t kind)
{
    return kind <= CW_PACK_U64;
}

/* A column of each form, behind one of each kind. */
Test(pack_read, forms_are_of_their_kinds)
{
    static const char *const text = "";
    for (uint8_t a = 0; a < CW_PACK__KINDS; a++)
        for (uint8_t b = 0; b < CW_PACK__KINDS; b++)
            for (uint8_t form = 0; form < 64; form++) {
                const uint8_t bare = form & (uint8_t)~CW_PACK_WHOLE, kinds[] = {a, b};
                const bool whole = form & CW_PACK_WHOLE;
                bool good = bare < CW_PACK__FORMS && (!whole || b == CW_PACK_F64);
                good = good && (bare != CW_PACK_BESIDE || (is_number(a) && is_number(b)));
                good = good && (bare != CW_PACK_FOLLOWS || (a == CW_PACK_F64 && b == CW_PACK_F64 && !whole));
                begin(2, &text, 1);
                cw_write_u32(&payload, 1);
                put_group(2, CW_CHUNK_REPEATED, kinds, 2);
                put_equal(0);
                cw_write_u8(&payload, form);
                if (bare == CW_PACK_FOLLOWS || bare == CW_PACK_INDICES) /* the one before, by one; one number, 0 */
                    cw_write_bytes(&payload, bare == CW_PACK_FOLLOWS ? "\1\1\1" : "\1",
                                   bare == CW_PACK_FOLLOWS ? 3 : 1);
                if (bare != CW_PACK_FOLLOWS)
                    cw_write_u8(&payload, 0);
                if (bare == CW_PACK_ABOVE || bare == CW_PACK_BESIDE) /* of no bits */
                    cw_write_u8(&payload, 0);
                put_equal(0);
                cr_expect(read_pack() == (good ? CW_OK : CW_ERR_INPUT), "%u behind %u, form %u: %s", b, a, form,
                          err.message);
                cr_expect(good ||
                              strstr(err.message, bare == CW_PACK_FOLLOWS && !whole ? "expected two f64"
                                                                                    : "expected a form of this kind"),
                          "%s", err.message);
            }
}

/* A run of fields of a kind, in a pack that has room for two columns. */
Test(pack_read, kinds_are_known_and_have_columns)
{
    static const struct {
        uint64_t run;
        const char *message;
    } cases[] = {{2 << 3 | CW_PACK_U8, NULL},
                 {0 << 3 | CW_PACK_TEXT, NULL}, /* what are columns elsewhere is the order and zeros here */
                 {2 << 3 | CW_PACK__KINDS, "found 2 fields of kind 5, expected a kind below 5"},
                 {1 << 3 | 7, "found 1 fields of kind 7, expected a kind below 5"},
                 {4 << 3 | CW_PACK_U8, "found 4 fields of kind 0"},
                 {UINT64_MAX, "found 2305843009213693951 fields of kind 7"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin(1, NULL, 0);
        cw_write_u32(&payload, 1);
        put_group(1, CW_CHUNK_REPEATED, NULL, 0);
        cw_store_u32(payload.data + payload.size - 4, 1); /* a run */
        cw_write_varint(&payload, cases[i].run);
        for (int column = 0; column < 3; column++)
            put_equal(0);
        cr_expect(read_pack() == (cases[i].message ? CW_ERR_INPUT : CW_OK), "%zu: %s", i, err.message);
        cr_expect(!cases[i].message || strstr(err.message, cases[i].message), "%zu: %s", i, err.message);
    }
}

/* A field that is another one times a number by a number: how far back, and how large they may be. */
Test(pack_read, factors_have_53_bits)
{
    static const uint64_t most = CW_PACK_FACTOR_MAX;
    static const struct {
        uint64_t back, times, by;
        bool good;
    } cases[] = {{1, 1, 1, true},         {2, 3, 1, true}, {0, 1, 1, false},        {3, 1, 1, false},
                 {1, most, 1, true},      {1, 0, 1, true}, {1, most + 1, 1, false}, {1, 1, most, true},
                 {1, 1, most + 1, false}, {1, 1, 0, false}};
    static const uint8_t kinds[] = {CW_PACK_F64, CW_PACK_F64, CW_PACK_F64};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin(1, NULL, 0);
        cw_write_u32(&payload, 1);
        put_group(1, CW_CHUNK_REPEATED, kinds, 3);
        put_equal(0);
        put_equal(0);
        cw_write_u8(&payload, CW_PACK_FOLLOWS);
        cw_write_varint(&payload, cases[i].back);
        cw_write_varint(&payload, cases[i].times);
        cw_write_varint(&payload, cases[i].by);
        put_equal(0);
        cr_expect(read_pack() == (cases[i].good ? CW_OK : CW_ERR_INPUT), "%zu: %s", i, err.message);
        cr_expect(cases[i].good || strstr(err.message, "found field 2 to follow the one "), "%zu: %s", i, err.message);
    }
}

/* Numbers of three, in two bits each: the fourth there is not. */
Test(pack_read, a_number_that_is_not_in_the_list_is_refused)
{
    static const uint8_t kind = CW_PACK_U32;
    for (uint8_t index = 0; index < 4; index++) {
        begin(1, NULL, 0);
        cw_write_u32(&payload, 1);
        put_group(1, CW_CHUNK_REPEATED, &kind, 1);
        cw_write_bytes(&payload, "\3\3\7\10\11", 5);
        cw_write_u8(&payload, index);
        put_equal(0);
        struct cw_chunk chunk;
        cr_assert(open_pack(NULL) == CW_OK && cw_pack_has_more(&pack), "%s", err.message);
        cr_expect(cw_pack_next(&pack, &chunk, &file) == (index < 3 ? CW_OK : CW_ERR_INPUT), "%u: %s", index,
                  err.message);
        cr_expect(index == 3 || (chunk.size == 4 && chunk.payload[0] == 7 + index), "%u", index);
    }
}

/* 256 different numbers may be in a list, and 64 bits in a number. */
Test(pack_read, limits_of_columns)
{
    static const uint8_t kind = CW_PACK_U64;
    for (uint32_t count = 256; count <= 257; count++) {
        begin(1, NULL, 0);
        cw_write_u32(&payload, 1);
        put_group(1, CW_CHUNK_REPEATED, &kind, 1);
        cw_write_u8(&payload, CW_PACK_INDICES);
        cw_write_varint(&payload, count);
        for (uint32_t i = 0; i < count; i++)
            cw_write_varint(&payload, i);
        cw_write_bytes(&payload, "\377\0", count == 256 ? 1 : 2);
        put_equal(0);
        cr_expect(read_pack() == (count == 256 ? CW_OK : CW_ERR_INPUT), "%u: %s", count, err.message);
    }
    for (uint8_t width = 64; width <= 65; width++) {
        begin(1, NULL, 0);
        cw_write_u32(&payload, 1);
        put_group(1, CW_CHUNK_REPEATED, &kind, 1);
        cw_write_bytes(&payload, "\1\0", 2);
        cw_write_u8(&payload, width);
        cw_write_bytes(&payload, "\1\2\3\4\5\6\7\10\1", width == 64 ? 8 : 9);
        put_equal(0);
        cr_expect(read_pack() == (width == 64 ? CW_OK : CW_ERR_INPUT), "%u: %s", width, err.message);
    }
}

/* Records are in groups that have rows for them, and texts of a record make it no larger than it may be. */
Test(pack_read, groups_have_their_records)
{
    static const uint8_t kind = CW_PACK_U8;
    static const struct {
        uint32_t records, rows[2];
        uint8_t order; /* a bit for each record: its group */
        bool good;
    } cases[] = {{3, {1, 2}, 6, true},  {3, {1, 2}, 5, true},  {3, {1, 2}, 4, false}, {3, {1, 2}, 7, false},
                 {3, {3, 0}, 0, false}, {2, {1, 2}, 2, false}, {4, {1, 2}, 6, false}, {3, {2, 1}, 1, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin(cases[i].records, NULL, 0);
        cw_write_u32(&payload, 2);
        for (int g = 0; g < 2; g++) {
            put_group(cases[i].rows[g], CW_CHUNK_REPEATED, &kind, 1);
            put_equal((uint64_t)g);
        }
        cw_write_bytes(&payload, "\1\0\1", 3); /* numbers above 0, of one bit */
        cw_write_u8(&payload, cases[i].order);
        const enum cw_status status = open_pack(NULL);
        cr_expect(status == (cases[i].good ? CW_OK : CW_ERR_INPUT), "%zu: %s", i, err.message);
        for (uint32_t k = 0; k < cases[i].records && status == CW_OK; k++) {
            struct cw_chunk chunk;
            cr_assert(cw_pack_next(&pack, &chunk, &file) == CW_OK);
            cr_expect(chunk.size == 1 && chunk.payload[0] == (cases[i].order >> k & 1), "%zu: record %u", i, k);
        }
    }
}

/* ---- ranks ------------------------------------------------------------------------------------------------------ */

/* Whether a record whose one attribute is a rank of this text is found by the list. */
static bool finds(const char *key, const char *rank, uint8_t kind, uint32_t type, const char *list)
{
    const char *const texts[] = {"7", key, rank};
    const uint8_t kinds[] = {CW_PACK_U32, CW_PACK_TEXT, kind};
    begin(1, texts, 3);
    cw_write_u32(&payload, 1);
    put_group(1, type, kinds, 3);
    put_equal(1);
    put_equal(1);
    put_equal(2);
    put_equal(0);
    cr_assert(open_pack(list) == CW_OK, "%s", err.message);
    return cw_pack_has_more(&pack) && cw_pack_is_wanted(&pack);
}

Test(pack_read, a_rank_is_a_number_in_digits)
{
    static const struct {
        const char *rank, *list;
        bool found;
    } cases[] = {
        {"3", "3", true},
        {"3", "2", false},
        {"0", "0", true},
        {"9", "9", true},
        {"12", "12", true},
        {"21", "12", false},
        {"0000000003", "3", true},
        {"00000000003", "3", false},
        {"", "0", false},
        {"/", "0-99", false},
        {":", "0-99", false},
        {"1:", "0-99", false},
        {"4294967295", "4294967295", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char list[40]; /* of "7", too, so that the pack may hold a wanted one */
        snprintf(list, sizeof list, "7,%s", cases[i].list);
        cr_expect(finds("rank", cases[i].rank, CW_PACK_TEXT, CW_CHUNK_ABOUT, list) == cases[i].found, "'%s' in %s",
                  cases[i].rank, cases[i].list);
    }
    cr_expect(!finds("ranks", "3", CW_PACK_TEXT, CW_CHUNK_ABOUT, "3"), "a chunk that is no range has no other key");
    cr_expect(!finds("rank", "3", CW_PACK_TEXT, CW_CHUNK_DEVICE, "3"));
    cr_expect(!finds("rank", "3", CW_PACK_U32, CW_CHUNK_ABOUT, "3"));
}

/* Records of a range with two attributes each: the one that is a rank counts, wherever it stands. */
Test(pack_read, records_of_wanted_ranks)
{
    enum { ROWS = 4 };
    static const char *const texts[] = {"rank", "nvtx", "1", "2", "3"};
    static const uint8_t kinds[] = {CW_PACK_U32, CW_PACK_TEXT, CW_PACK_TEXT, CW_PACK_TEXT, CW_PACK_TEXT};
    for (int second = 0; second < 2; second++)
        for (unsigned wanted = 1; wanted < 8; wanted++) {
            char list[16];
            snprintf(list, sizeof list, "9%s%s%s", wanted & 1 ? ",1" : "", wanted & 2 ? ",2" : "",
                     wanted & 4 ? ",3" : "");
            begin(ROWS, texts, 5);
            cw_write_u32(&payload, 1);
            put_group(ROWS, CW_CHUNK_ABOUT, kinds, 5);
            put_equal(2);
            for (int k = 0; k < 2; k++) {
                put_equal(k == second ? 0 : 1);
                if (k == second) /* the texts 2, 3, 4 and 2: above 2, of two bits */
                    cw_write_bytes(&payload, "\1\2\2\44", 4);
                else
                    put_equal(0); /* the value "rank" */
            }
            put_equal(0);
            cr_assert(open_pack(list) == CW_OK, "%s", err.message);
            for (uint32_t i = 0; i < ROWS; i++, pack.record++)
                cr_expect(cw_pack_is_wanted(&pack) == (wanted >> i % 3 & 1), "record %u of %s", i, list);
        }
}

/* A range without a rank is for all ranks; a device, for those of its ranges. */
Test(pack_read, ranges_without_a_rank_are_wanted)
{
    static const char *const text = "3";
    static const uint8_t kind = CW_PACK_U8;
    for (int range = 0; range < 2; range++)
        for (int number = 0; number < 2; number++) {
            begin(1, &text, (uint32_t)number);
            cw_write_u32(&payload, 1);
            put_group(1, range ? CW_CHUNK_RANGE : CW_CHUNK_DEVICE, &kind, 1);
            put_equal(0);
            put_equal(0);
            cr_assert(open_pack("3") == CW_OK, "%s", err.message);
            cr_expect(cw_pack_has_more(&pack) == (range && number), "%d %d", range, number);
        }
}
