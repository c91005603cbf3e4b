#include <criterion/criterion.h>
#include <string.h>

#include "metricdb/chip_load.h"
#include "metricdb/dimension.h"
#include "tests/support/small_chip.h"

Test(dimension, texts_are_put_in_order)
{
    static const char *const cases[][2] = {
        {"1", "1"},
        {"bytes", "bytes"},
        {"%", "%"},
        {"percent", "%"},
        {"instructions/gpc_cycles", "instructions/gpc_cycles"},
        {"warps*gpc_cycles", "gpc_cycles*warps"},
        {"bytes*bytes", "bytes^2"},
        {"bytes^2/bytes", "bytes"},
        {"bytes/bytes", "1"},
        {"1/s", "1/s"},
        {"1/s/s", "1/s^2"},
        {"a/b*c/d", "a*c/b/d"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cw_dimension d;
        char text[CW_DIMENSION_TEXT];
        cr_assert(cw_dimension_parse(&d, cases[i][0]), "%s", cases[i][0]);
        cr_expect_str_eq(cw_dimension_text(&d, text), cases[i][1]);
    }
}

Test(dimension, what_is_no_product_of_units)
{
    static const char *const cases[] = {
        "", "/s", "a/", "a//b", "a^", "a^0", "a^-1", "a^2b", "two words", "a*b*c*d*e*f*g*h*i", "a^9*a"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cw_dimension d;
        cr_expect_not(cw_dimension_parse(&d, cases[i]), "%s", cases[i]);
    }
}

Test(dimension, products)
{
    struct cw_dimension a, b, c;
    cr_assert(cw_dimension_parse(&a, "bytes/s") && cw_dimension_parse(&b, "warps/s") &&
              cw_dimension_parse(&c, "bytes/warps"));
    cr_expect_not(cw_dimension_equal(&a, &b));
    cr_expect(cw_dimension_multiply(&a, &b, -1));
    cr_expect(cw_dimension_equal(&a, &c));
    cr_expect(cw_dimension_multiply(&c, &b, 1));
    cr_assert(cw_dimension_parse(&b, "bytes/s"));
    cr_expect(cw_dimension_equal(&c, &b));
}

Test(dimension, long_texts_are_cut)
{
    struct cw_dimension d = {.count = CW_DIMENSION_FACTORS};
    char text[CW_DIMENSION_TEXT];
    for (int i = 0; i < CW_DIMENSION_FACTORS; i++) {
        memset(d.factors[i].name, 'a' + i, CW_DIMENSION_NAME - 1);
        d.factors[i].exponent = 9;
    }
    cr_expect_eq(strlen(cw_dimension_text(&d, text)), CW_DIMENSION_TEXT - 1);
}

Test(dimension, known_units)
{
    struct cw_arena *arena = cw_arena_create();
    const struct cw_chip *chip;
    cr_assert_eq(cw_chip_parse(&chip, cw_small_chip, strlen(cw_small_chip), "tiny", arena, NULL), CW_OK);
    static const struct {
        const char *text;
        bool known;
    } cases[] = {
        {"instructions", true}, {"instructions/gpc_cycles", true}, {"warps/s", true}, {"%", true},    {"1", true},
        {"instruction", false}, {"instructions/cycle", false},     {"cycle", false},  {"arps", false}};
    struct cw_unit_names names;
    cr_assert(cw_unit_names_make(&names, chip, arena));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cw_dimension d;
        cr_assert(cw_dimension_parse(&d, cases[i].text));
        cr_expect_eq(cw_dimension_known(&d, &names), cases[i].known, "%s", cases[i].text);
    }
    cw_arena_destroy(arena);
}
