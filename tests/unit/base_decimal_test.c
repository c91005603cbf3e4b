#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "tests/support/comma.h"

/* The plain way. */
static void expect_as_printf(double value)
{
    char expected[CW_DECIMAL_SIZE], found[CW_DECIMAL_SIZE];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(expected, sizeof expected, "%.*g", digits, value);
        if (strtod(expected, NULL) == value)
            break;
    }
    if (isnan(value))
        strcpy(expected, "nan");
    const size_t length = cw_decimal_text(value, found);
    cr_assert(length == strlen(found) && strcmp(found, expected) == 0, "found %s, expected %s", found, expected);
}

static uint64_t state = 1;

static uint64_t draw(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static double of_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

Test(decimal, all_bits)
{
    for (int i = 0; i < 300000; i++)
        expect_as_printf(of_bits(draw()));
}

Test(decimal, whole_numbers_and_fractions_of_them)
{
    for (int i = 0; i < 200000; i++) {
        const uint64_t whole = draw() >> draw() % 64, by = draw() >> draw() % 64;
        expect_as_printf((double)whole);
        expect_as_printf(by ? (double)whole / (double)by : 0);
        expect_as_printf((double)whole / 100);
    }
}

/* Where exponents and lengths change, and where the number below is nearer than the one above. */
Test(decimal, edges)
{
    for (int e = 0; e < 2047; e++)
        for (int d = -3; d <= 3; d++)
            expect_as_printf(of_bits(((uint64_t)e << 52) + (uint64_t)(int64_t)d));
    for (int e = -323; e <= 308; e++) {
        char text[16];
        snprintf(text, sizeof text, "1e%d", e);
        const double power = strtod(text, NULL);
        for (int m = 1; m < 100; m++)
            expect_as_printf(power * m);
        expect_as_printf(nextafter(power, 0));
        expect_as_printf(-nextafter(power, INFINITY));
    }
    static const double others[] = {
        0, -0.0, INFINITY, -INFINITY, NAN, 0.1, 9007199254740992, 5e-324, 2.2250738585072014e-308};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        expect_as_printf(others[i]);
}

/* Also those numbers that the C library prints. */
Test(decimal, has_a_point_in_every_locale)
{
    char text[CW_DECIMAL_SIZE];
    cw_test_comma("base_decimal_test.locale");
    cw_decimal_text(2.2250738585072009e-308, text);
    cr_expect_str_eq(text, "2.225073858507201e-308");
    cw_decimal_text(0.5, text);
    cr_expect_str_eq(text, "0.5");
    cr_expect_str_eq(localeconv()->decimal_point, ",", "the program's stays");
}

Test(decimal, whole)
{
    static const uint64_t values[] = {0, 9, 10, 99, 100, 101, 12345, UINT64_MAX};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char found[CW_DECIMAL_SIZE], expected[CW_DECIMAL_SIZE];
        snprintf(expected, sizeof expected, "%llu", (unsigned long long)values[i]);
        cr_expect(cw_decimal_u64(values[i], found) == strlen(expected));
        cr_expect_str_eq(found, expected);
    }
}

Test(decimal, reads_digits_alone)
{
    static const char *const bad[] = {"",
                                      " 1",
                                      "1 ",
                                      "+1",
                                      "-1",
                                      "1.0",
                                      "0x1",
                                      "4294967296",
                                      "18446744073709551616",
                                      "99999999999999999999999999999999999999999"};
    uint32_t value;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        cr_expect(!cw_decimal_read_u32(bad[i], &value), "'%s'", bad[i]);
    cr_expect(cw_decimal_read_u32("0", &value) && value == 0);
    cr_expect(cw_decimal_read_u32("4294967295", &value) && value == UINT32_MAX);
    cr_expect(cw_decimal_read_u32("00000000000000000007", &value) && value == 7);
}

Test(decimal, shifted_numbers_are_exact)
{
    static const struct {
        const char *text;
        int shift;
        int64_t value;
    } good[] = {{"1700000000000000001", 0, INT64_C(1700000000000000001)},
                {"1700000000000001", 3, INT64_C(1700000000000001000)},
                {"1700000000000001.234", 3, INT64_C(1700000000000001234)},
                {"-1700000000000001.2345", 3, INT64_C(-1700000000000001235)},
                {"1.7000000000000012344E15", 3, INT64_C(1700000000000001234)},
                {"17e+14", 3, INT64_C(1700000000000000000)},
                {"0.1", 3, 100},
                {"0.0005", 3, 1},
                {"0.0004999", 3, 0},
                {"5e-5", 3, 0},
                {"9.9996", 3, 10000},
                {"0", 3, 0},
                {"0e999999999999", 3, 0},
                {"00000000000000000000000000000000001", 0, 1},
                {"1e999999999999", 3, INT64_C(1) << 62},
                {"-99999999999999999999", 0, -(INT64_C(1) << 62)},
                {"1e-999999999999", 3, 0}};
    static const char *const bad[] = {"", "-", ".5", "+1", " 1", "1 ", "1e", "1e-", "1.5.5", "0x10", "nan", "1,5"};
    int64_t value;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        cr_expect(cw_decimal_read_shifted(good[i].text, strlen(good[i].text), good[i].shift, &value) &&
                      value == good[i].value,
                  "%s: %" PRId64, good[i].text, value);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        cr_expect(!cw_decimal_read_shifted(bad[i], strlen(bad[i]), 0, &value), "'%s'", bad[i]);
}
