#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/elide.h"
#include "base/utf8.h"

static char long_text[10000];

static void make_long(char c)
{
    memset(long_text, c, sizeof long_text - 1);
    memcpy(long_text, "begin", 5);
    memcpy(long_text + sizeof long_text - 4, "end", 3);
}

Test(base_elide, short_texts_stay)
{
    char buffer[CW_ELIDED_LEAST], text[CW_ELIDED_LEAST];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = 0;
    cr_assert_str_eq(cw_elide("", buffer, sizeof buffer), "");
    cr_assert_str_eq(cw_elide(text, buffer, sizeof buffer), text);
}

Test(base_elide, long_texts_have_beginning_and_end)
{
    char buffer[CW_ELIDED_LEAST];
    make_long('x');
    cw_elide(long_text, buffer, sizeof buffer);
    cr_assert_leq(strlen(buffer), sizeof buffer - 1);
    cr_assert(strncmp(buffer, "beginx", 6) == 0 && strcmp(buffer + strlen(buffer) - 4, "xend") == 0, "%s", buffer);
    cr_assert_not_null(strstr(buffer, "x...#"));
}

Test(base_elide, texts_that_differ_in_the_middle_stay_apart)
{
    char a[CW_ELIDED_SIZE], b[CW_ELIDED_SIZE];
    make_long('x');
    cw_elide(long_text, a, sizeof a);
    for (size_t at = 3000; at < 6000; at += 97) {
        long_text[at] ^= 1;
        cr_assert_str_neq(cw_elide(long_text, b, sizeof b), a);
        long_text[at] ^= 1;
    }
    cr_assert_str_eq(cw_elide(long_text, b, sizeof b), a);
}

/* A path is the same text whether it comes as one or name by name. */
Test(base_elide, pieces_are_as_the_whole)
{
    char a[CW_ELIDED_SIZE], b[CW_ELIDED_SIZE];
    make_long('y');
    const size_t length = strlen(long_text), size[] = {CW_ELIDED_LEAST, 200, 2000, CW_ELIDED_SIZE};
    for (size_t s = 0; s < sizeof size / sizeof *size; s++)
        for (size_t first = 0; first <= length; first += 333) {
            struct cw_elided e;
            const struct cw_text_sum sum =
                cw_text_sum_join(cw_text_sum(long_text, first), cw_text_sum(long_text + first, length - first));
            cw_elided_begin(&e, sum, a, size[s]);
            cw_elided_add(&e, long_text, first);
            cw_elided_add(&e, long_text + first, length - first);
            cr_assert_str_eq(cw_elided_end(&e), cw_elide(long_text, b, size[s]));
        }
}

Test(base_elide, characters_stay_whole)
{
    static const char *const characters[] = {"\u00e9", "\u6838", "\U0001f600"};
    for (size_t c = 0; c < 3; c++)
        for (size_t shift = 0; shift < 4; shift++) {
            char text[400] = "", buffer[CW_ELIDED_LEAST];
            memset(text, 'a', shift);
            for (int i = 0; i < 60; i++)
                strcat(text, characters[c]);
            cw_elide(text, buffer, sizeof buffer);
            cr_assert(cw_utf8_holds(buffer, strlen(buffer)), "%s", buffer);
        }
}

/* What is no UTF-8 has no character that would be cut. */
Test(base_elide, takes_any_bytes)
{
    char text[200], buffer[CW_ELIDED_LEAST];
    memset(text, 0x80, sizeof text);
    text[sizeof text - 1] = 0;
    cr_assert_lt(strlen(cw_elide(text, buffer, sizeof buffer)), sizeof buffer);
    memset(text, 0xff, sizeof text - 1);
    cr_assert_lt(strlen(cw_elide(text, buffer, sizeof buffer)), sizeof buffer);
}

Test(base_elide, many_texts_are_each_made_once)
{
    struct cw_elisions e = {0};
    char *texts[100];
    for (size_t i = 0; i < 100; i++) {
        make_long((char)('A' + i % 50));
        cr_assert_not_null(texts[i] = strdup(long_text));
        cr_assert_eq(cw_elisions_text(&e, "short")[0], 's');
        const char *first = cw_elisions_text(&e, texts[i]);
        cr_assert_lt(strlen(first), CW_ELIDED_SIZE);
        cr_assert_eq(cw_elisions_text(&e, texts[i]), first);
    }
    cr_assert_str_eq(cw_elisions_text(&e, texts[0]), cw_elisions_text(&e, texts[50]));
    cr_assert_str_neq(cw_elisions_text(&e, texts[0]), cw_elisions_text(&e, texts[1]));
    cw_elisions_free(&e);
    for (size_t i = 0; i < 100; i++)
        free(texts[i]);
}
