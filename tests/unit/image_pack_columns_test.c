/* Columns of packed records: each has the shortest of the forms that fit it. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "base/varint.h"
#include "image/pack_columns.h"

enum { ROWS = 600, FIELDS = 5 };

static uint64_t values[FIELDS][ROWS], numbers[FIELDS * ROWS];
static size_t firsts[ROWS];
static struct cw_writer out;

static void set_up(void)
{
    cw_writer_init(&out);
}

static void tear_down(void)
{
    cw_writer_free(&out);
}

TestSuite(pack_columns, .init = set_up, .fini = tear_down);

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Writes the first rows of some fields; their bytes are those of `wanted`, form after form, and `sizes`. */
static void expect_forms(uint32_t count, uint32_t fields, const uint8_t *kinds, const uint8_t *forms,
                         const size_t *sizes)
{
    size_t at = 0;
    for (uint32_t i = 0; i < count; i++) {
        firsts[i] = (count - 1 - i) * (size_t)fields; /* in any order */
        for (uint32_t f = 0; f < fields; f++)
            numbers[firsts[i] + f] = values[f][i];
    }
    out.size = 0;
    cr_assert(cw_pack_write_columns(&out, numbers, firsts, count, kinds, fields));
    for (uint32_t f = 0; f < fields; f++) {
        cr_assert(at < out.size && out.data[at] == forms[f], "field %u has form %u, expected %u", f, out.data[at],
                  forms[f]);
        at += sizes[f];
    }
    cr_expect(at == out.size, "%zu bytes, expected %zu", out.size, at);
}

/* Whole numbers: equal, near one another, near the field before, few, and any. */
Test(pack_columns, of_whole_numbers)
{
    static const uint8_t kinds[] = {CW_PACK_U32, CW_PACK_U64, CW_PACK_U64, CW_PACK_U8, CW_PACK_U64};
    static const uint8_t forms[] = {CW_PACK_EQUAL, CW_PACK_ABOVE, CW_PACK_BESIDE, CW_PACK_INDICES, CW_PACK_ABOVE};
    uint64_t odd = 1, least = UINT64_MAX;
    for (uint32_t i = 0; i < 80; i++) {
        odd = odd * 6364136223846793005u + 1442695040888963407u;
        values[0][i] = 300;
        values[1][i] = 70000 + i * 37 % 64;
        values[2][i] = values[1][i] + i % 3 - 1; /* one less to one more */
        values[3][i] = i % 2 ? 1u << 30 : 5;
        values[4][i] = odd;
        least = odd < least ? odd : least;
    }
    const size_t sizes[] = {1 + 2, 1 + 3 + 1 + 80 * 6 / 8, 1 + 10 + 1 + 80 * 2 / 8, 1 + 1 + 1 + 5 + 80 / 8,
                            1 + cw_varint_size(least) + 1 + 8 * 80};
    expect_forms(80, FIELDS, kinds, forms, sizes);
}

/* From 0 on; and near the field before, both of numbers whose sum is about 2^63. */
Test(pack_columns, of_numbers_around_zero)
{
    static const uint8_t kinds[] = {CW_PACK_U64, CW_PACK_U64}, forms[] = {CW_PACK_ABOVE, CW_PACK_BESIDE};
    static const size_t sizes[] = {1 + 9 + 1 + 400 * 9 / 8, 1 + 10 + 1 + 400 * 2 / 8}, low = 1 + 1 + 1 + 400 * 9 / 8;
    for (uint32_t i = 0; i < 400; i++)
        values[0][i] = i * 37 % 400;
    expect_forms(400, 1, kinds, forms, &low);
    for (uint32_t i = 0; i < 400; i++) {
        values[0][i] += (uint64_t)1 << 62;
        values[1][i] = values[0][i] + i % 3 - 1;
    }
    expect_forms(400, 2, kinds, forms, sizes);
}

/* Of 256 different numbers, and of one more. */
Test(pack_columns, of_few_different_numbers)
{
    static const uint8_t kind = CW_PACK_U64, few = CW_PACK_INDICES, many = CW_PACK_ABOVE;
    for (uint32_t different = 256; different <= 257; different++) {
        uint64_t odd = 1, least = UINT64_MAX;
        size_t size = 1 + 2;
        for (uint32_t i = 0; i < ROWS; i++) {
            odd = odd * 6364136223846793005u + 1442695040888963407u;
            values[0][i] = i < different ? odd : values[0][i - different];
            least = values[0][i] < least ? values[0][i] : least;
            size += i < different ? cw_varint_size(odd) : 0;
        }
        size = different == 256 ? size + ROWS : 1 + cw_varint_size(least) + 1 + 8 * (size_t)ROWS;
        expect_forms(ROWS, 1, &kind, different == 256 ? &few : &many, &size);
    }
}

/* Doubles: whole ones, others, and multiples and parts of a field before, also where all rows are equal. */
Test(pack_columns, of_doubles)
{
    static const uint8_t kinds[] = {CW_PACK_F64, CW_PACK_F64, CW_PACK_F64, CW_PACK_F64, CW_PACK_F64};
    static const uint8_t forms[] = {CW_PACK_ABOVE | CW_PACK_WHOLE, CW_PACK_ABOVE, CW_PACK_FOLLOWS, CW_PACK_EQUAL,
                                    CW_PACK_FOLLOWS};
    uint64_t least = UINT64_MAX, most = 0;
    for (uint32_t i = 0; i < 64; i++) {
        values[0][i] = bits_of(1000 + i * i % 61);
        values[1][i] = bits_of(0.1 + i * 7919 % 64 * 1e-9);
        values[2][i] = bits_of(3 * (0.1 + i * 7919 % 64 * 1e-9));
        values[3][i] = bits_of(10.5);
        values[4][i] = bits_of(10.5 / 4);
        least = values[1][i] < least ? values[1][i] : least;
        most = values[1][i] > most ? values[1][i] : most;
    }
    const size_t sizes[] = {1 + 2 + 1 + 64 * 6 / 8,
                            1 + cw_varint_size(least) + 1 + 64 / 8 * cw_pack_width(most - least),
                            1 + 3, /* one field before, three times, by one */
                            1 + cw_varint_size(bits_of(10.5)), 1 + 3};
    expect_forms(64, FIELDS, kinds, forms, sizes);
    cr_expect(out.data[sizes[0] + sizes[1] + 1] == 1 && out.data[sizes[0] + sizes[1] + 2] == 3 &&
              out.data[sizes[0] + sizes[1] + 3] == 1);
    cr_expect(out.data[out.size - 3] == 1 && out.data[out.size - 2] == 1 && out.data[out.size - 1] == 4);
}

/* A multiple of an earlier field that is not the one before, of rows with zeros; one row of the last is another. */
Test(pack_columns, of_doubles_that_follow_an_earlier_field)
{
    static const uint8_t kinds[] = {CW_PACK_F64, CW_PACK_U8, CW_PACK_F64, CW_PACK_F64, CW_PACK_F64};
    for (uint32_t other = 0; other < 16; other++) {
        for (uint32_t i = 0; i < 16; i++) {
            const double part = i % 5 ? 0.5 + i * 5 % 16 : 0;
            values[0][i] = bits_of(part);
            values[1][i] = 1;
            values[2][i] = bits_of(part / 8);
            values[3][i] = bits_of(INFINITY);
            values[4][i] = bits_of(i == other ? 2 * part + 1 : 2 * part);
        }
        for (uint32_t i = 0; i < 16; i++)
            firsts[i] = i * (size_t)FIELDS;
        for (uint32_t i = 0; i < 16; i++)
            for (uint32_t f = 0; f < FIELDS; f++)
                numbers[firsts[i] + f] = values[f][i];
        out.size = 0;
        cr_assert(cw_pack_write_columns(&out, numbers, firsts, 16, kinds, 2));
        const size_t before = out.size;
        out.size = 0;
        cr_assert(cw_pack_write_columns(&out, numbers, firsts, 16, kinds, FIELDS));
        static const uint8_t follows[] = {CW_PACK_FOLLOWS, 2, 1, 8};
        cr_expect(memcmp(out.data + before, follows, sizeof follows) == 0);
        const size_t infinite = before + 4, last = infinite + 1 + cw_varint_size(bits_of(INFINITY));
        cr_expect(out.data[infinite] == CW_PACK_EQUAL && last < out.size);
        cr_expect(out.data[last] != CW_PACK_FOLLOWS, "row %u is another", other);
    }
}

/* A third of the field before, in all rows but one or in all: that one is no third, but nearly one. */
Test(pack_columns, an_average_is_one_in_each_row)
{
    enum { COUNT = 16 };
    static const uint8_t kinds[] = {CW_PACK_F64, CW_PACK_F64};
    for (uint32_t other = 0; other <= COUNT; other++) {
        for (uint32_t i = 0; i < COUNT; i++) {
            firsts[i] = 2 * i;
            numbers[2 * i] = bits_of(30.5 + i);
            numbers[2 * i + 1] = bits_of((30.5 + i) / 3 * (i == other ? 1.01 : 1));
        }
        out.size = 0;
        cr_assert(cw_pack_write_columns(&out, numbers, firsts, COUNT, kinds, 1));
        const size_t before = out.size;
        out.size = 0;
        cr_assert(cw_pack_write_columns(&out, numbers, firsts, COUNT, kinds, 2));
        cr_expect((out.data[before] == CW_PACK_FOLLOWS) == (other == COUNT), "row %u", other);
    }
}
