#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <float.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* Every byte that is a control character by itself, and every character that must not reach a terminal. */
static const struct {
    const char *text, *line, *json;
} cases[] = {
    {"", "", "\"\""},
    {"sm__inst <int>&[1] µ \"q\" C:\\x", "sm__inst <int>&[1] µ \"q\" C:\\x",
     "\"sm__inst <int>&[1] µ \\\"q\\\" C:\\\\x\""},
    {"\x1b[31m", "\\x1b[31m", "\"\\u001b[31m\""},
    {"\a\b\t\n\v\f\r", "\\a\\b\\t\\n\\v\\f\\r", "\"\\u0007\\u0008\\u0009\\u000a\\u000b\\u000c\\u000d\""},
    {"\x01\x7f", "\\x01\\x7f", "\"\\u0001\\u007f\""},
    {"\xc2\x9b"
     "0m\xc2\x85",
     "\\u009b0m\\u0085", "\"\\u009b0m\\u0085\""},
    {"\x9b"
     "1m\xff",
     "\\x9b1m\\xff", "\"\\ufffd1m\\ufffd\""},
    {"\xe2\x80\xae\xe2\x80\xa8\xe2\x81\xa6", "\\u202e\\u2028\\u2066", "\"\\u202e\\u2028\\u2066\""},
    {"\xf3\xa0\x81\x81", "\\U000e0041", "\"\\udb40\\udc41\""},
    {"\xc0\x80\xed\xa0\x80\xf5", "\\xc0\\x80\\xed\\xa0\\x80\\xf5", "\"\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\""},
    {"\xe2\x82", "\\xe2\\x82", "\"\\ufffd\\ufffd\""},
    {"日本😀", "日本😀", "\"日本😀\""},
};
enum { CASES = sizeof cases / sizeof *cases };

static char *put(enum cw_text_kind kind, const char *text)
{
    char *made = NULL;
    size_t size;
    FILE *out = open_memstream(&made, &size);
    cr_assert(out);
    cw_text_put(out, kind, text);
    fclose(out);
    return made;
}

static void expect_put(enum cw_text_kind kind, const char *text, const char *wanted)
{
    char *made = put(kind, text);
    cr_expect_str_eq(made, wanted);
    free(made);
}

Test(text, lines)
{
    for (size_t i = 0; i < CASES; i++) {
        char buffer[200];
        expect_put(CW_TEXT_LINE, cases[i].text, cases[i].line);
        expect_put(CW_TEXT_LINE, cases[i].line, cases[i].line); /* twice is once */
        cr_expect_eq(cw_text_format(buffer, sizeof buffer, "%s", cases[i].text), strlen(cases[i].line));
        cr_expect_str_eq(buffer, cases[i].line);
    }
}

Test(text, json)
{
    for (size_t i = 0; i < CASES; i++)
        expect_put(CW_TEXT_JSON, cases[i].text, cases[i].json);
}

Test(text, json_of_a_library)
{
    static const char json[] = "{\n \"a\\\"\\\\\": \"\x7f\xc2\x9b\xe2\x80\xae µ\"\n}";
    char *made = NULL;
    size_t size;
    FILE *out = open_memstream(&made, &size), *full = fopen("/dev/full", "w");
    cr_assert(out && full);
    cr_expect_eq(cw_text_put_json(json, sizeof json - 1, out), 0);
    fclose(out);
    cr_expect_str_eq(made, "{\n \"a\\\"\\\\\": \"\\u007f\\u009b\\u202e µ\"\n}");
    free(made);
    setvbuf(full, NULL, _IONBF, 0);
    cr_expect_eq(cw_text_put_json(json, sizeof json - 1, full), -1);
    fclose(full);
}

Test(text, cells)
{
    static const char *const cells[][2] = {
        {"", ""},
        {"gemm<float>", "gemm<float>"},
        {"a,b", "\"a,b\""},
        {"a;b", "\"a;b\""},
        {"\"", "\"\"\"\""},
        {"say \"x\" \"y", "\"say \"\"x\"\" \"\"y\""},
        {"=1+1", "\"'=1+1\""},
        {"=HYPERLINK(\"http://x\",\"y\")", "\"'=HYPERLINK(\"\"http://x\"\",\"\"y\"\")\""},
        {"+1", "\"'+1\""},
        {"-1", "\"'-1\""},
        {"@SUM(A1)", "\"'@SUM(A1)\""},
        {"\t=1", "\"'\\t=1\""},
        {"\r=1", "\"'\\r=1\""},
        {"＝1", "\"'＝1\""},
        {"a=1", "a=1"},
        {"a\nb", "\"a\\nb\""},
        {"\x1b[0m\xc2\x9b", "\\x1b[0m\\u009b"},
    };
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
        expect_put(CW_TEXT_CELL, cells[i][0], cells[i][1]);
}

static const char *volatile none; /* a mistake of ours that must not crash a message */

static void print_all(FILE *out)
{
    cw_text_print(out, "\033[1m%s|%6s|%-6s|%.2s|%-*s|%*s|%c%c%%\n", "\033x", "µ", "\n", "abc", 4, "xy", -4, "z", 'c',
                  '\n');
    cw_text_print(out, "%d %5u %-4d| %03d %+d %x %#X %o", -1, 2u, 3, 4, 5, 255u, 255u, 8u);
    cw_text_print(out, " %ld %lu %lld %llu %zu %jd %td", LONG_MIN, ULONG_MAX, LLONG_MIN, ULLONG_MAX, SIZE_MAX,
                  INTMAX_MIN, (ptrdiff_t)-7);
    cw_text_print(out, " %016" PRIx64 " %.0f %.3e %g %8.2f %s %.*f", UINT64_C(255), 2.0, 12345.678, 0.1, 1.005, none, 1,
                  0.25);
}

Test(text, formats)
{
    char *made = NULL, wanted[600];
    size_t size;
    FILE *out = open_memstream(&made, &size);
    cr_assert(out);
    print_all(out);
    fclose(out);
    snprintf(wanted, sizeof wanted,
             "\033[1m\\x1bx|     µ|\\n    |ab|xy  |z   |c\\n%%\n-1     2 3   | 004 +5 ff 0XFF 10 %ld %lu %lld %llu %zu "
             "%jd -7 00000000000000ff 2 1.235e+04 0.1     1.00 (null) 0.2",
             LONG_MIN, ULONG_MAX, LLONG_MIN, ULLONG_MAX, SIZE_MAX, INTMAX_MIN);
    cr_expect_str_eq(made, wanted);
    free(made);
}

Test(text, is_cut_between_characters)
{
    char all[32], text[8];
    cr_expect_eq(cw_text_format(text, 0, "%s", "abc"), 0);
    cw_text_format(text, 4, "%s", "abcdef");
    cr_expect_str_eq(text, "abc");
    cw_text_format(text, 4, "%s", "ab\033d"); /* not even the character after it */
    cr_expect_str_eq(text, "ab");
    cw_text_format(text, 4, "%s", "abµd");
    cr_expect_str_eq(text, "ab");
    cw_text_format(all, sizeof all, "%.3s|%.2s|%.1s|%.4s|", "abµ", "µµ", "\xff\xff", "😀");
    cr_expect_str_eq(all, "ab|µ|\\xff|😀|");
    cw_text_format(all, sizeof all, "a line\n of %.2f", DBL_MIN);
    cr_expect_str_eq(all, "a line\\n of 0.00");
}

Test(text, json_fits_or_is_not_there)
{
    char text[16];
    cr_expect_eq(cw_text_json(text, 6, "a\"b", 3), 0);
    cr_expect(cw_text_json(text, 7, "a\"b", 3) == 6 && memcmp(text, "\"a\\\"b\"", 6) == 0);
    cr_expect(cw_text_json(text, sizeof text, "ab\xc2\xb5", 3) == 4 && memcmp(text, "\"ab\"", 4) == 0);
    cr_expect_eq(cw_text_json(text, 0, "", 0), 0);
}

Test(text, precision_ends_a_text_without_nul)
{
    const char unended[3] = {'a', 'b', 'c'};
    char text[8];
    cw_text_format(text, sizeof text, "%.*s", 3, unended);
    cr_expect_str_eq(text, "abc");
}

Test(text, columns)
{
    cr_expect_eq(cw_text_columns(""), 0);
    cr_expect_eq(cw_text_columns("µs\n\033"), 2 + 2 + 4);
    cr_expect_eq(cw_text_columns("核関数"), 3 * 2);
    cr_expect_eq(cw_text_columns("한ｋ🚀"), 3 * 2);
    cr_expect_eq(cw_text_columns("e\u0301\u0323x\u200d\ufe0f"), 2);
    cr_expect_eq(cw_text_columns("\u1112\u1161\u11ab"), 2, "a syllable of Hangul in parts");
    cr_expect_eq(cw_text_columns("\u02ff\u0300\u036f\u0370\u4e2d\U0001f680"), 1 + 0 + 0 + 1 + 2 + 2);
}

Test(text, cuts_between_letters)
{
    static const struct {
        const char *text;
        size_t columns, head, tail;
    } cuts[] = {{"", 3, 0, 0},
                 {"abcd", 3, 3, 1},
                 {"abcd", 4, 4, 0},
                 {"核関数", 3, 3, 6}, /* half a letter is none */
                 {"核関数", 4, 6, 3},
                 {"ae\u0301bu\u0308", 2, 4, 4},
                 {"ae\u0301bu\u0308", 1, 1, 5},
                 {"ae\u0301bu\u0308", 0, 0, 8},
                 {"a\nb", 2, 1, 2}}; /* "a\\nb" */
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
        cr_expect_eq(cw_text_head(cuts[i].text, cuts[i].columns), cuts[i].head, "%zu", i);
        cr_expect_eq(cw_text_tail(cuts[i].text, cuts[i].columns), cuts[i].tail, "%zu", i);
    }
    static const char marked[] = "ae\u0301\u0323b";
    static const size_t letters[] = {0, 1, 1, 1, 1, 1, 6, 7};
    for (size_t i = 0; i < sizeof marked; i++)
        cr_expect_eq(cw_text_letter(marked, i), letters[i], "%zu", i);
}

Test(text, widths_count_columns)
{
    char text[32];
    cw_text_format(text, sizeof text, "%-5s|%5s|", "核関", "e\u0301");
    cr_expect_str_eq(text, "核関 |    e\u0301|");
}

static const char *words(const char *text, unsigned column, unsigned width)
{
    static char printed[256];
    printed[0] = 0; /* where nothing is written, nothing is */
    FILE *out = fmemopen(printed, sizeof printed, "w");
    cw_text_put_words(out, text, strlen(text), column, width);
    fclose(out);
    return printed;
}

Test(text, words_begin_lines_where_they_would_go_beyond)
{
    cr_expect_str_eq(words("one two three", 0, 7), "one two\nthree");
    cr_expect_str_eq(words("one two three", 2, 8), "one\n  two\n  three");
    cr_expect_str_eq(words("one two three", 2, 0), "one two three");
    cr_expect_str_eq(words(" a  longer-than-it-is b\x1b", 1, 6), "a\n longer-than-it-is\n b\\x1b");
    cr_expect_str_eq(words("\xc2\xb5\xc2\xb5 \xc2\xb5", 0, 4), "\xc2\xb5\xc2\xb5 \xc2\xb5");
    cr_expect_str_eq(words("", 4, 4), "");
}

Test(text, ends_in)
{
    cr_expect(cw_text_ends_in("run.cwd", ".cwd") && cw_text_ends_in(".cwd", ".cwd") && cw_text_ends_in("run", ""));
    cr_expect(!cw_text_ends_in("cwd", ".cwd") && !cw_text_ends_in("run.cwd.gz", ".cwd") && !cw_text_ends_in("", "x"));
}

Test(text, words_for_a_shell)
{
    static const struct {
        const char *word, *quoted;
    } words[] = {
        {"a/b-c_1.cwd,d=e:f@g%h+i", "a/b-c_1.cwd,d=e:f@g%h+i"},
        {"", "''"},
        {"a b", "'a b'"},
        {"it's", "'it'\\''s'"},
        {"a\\nb", "'a\\nb'"},
        {"\xc3\xa9 *", "'\xc3\xa9 *'"},
        {"n\nl", "$'n\\nl'"},
        {"a'b\\c\t\x1b"
         "0",
         "$'a\\'b\\\\c\\t\\033"
         "0'"},
        {"\xff"
         "7",
         "$'\\377"
         "7'"},
        {"\xe2\x80\xae", "$'\\342\\200\\256'"},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        char *quoted = cw_text_quote(words[i].word);
        cr_assert(quoted);
        cr_expect_str_eq(quoted, words[i].quoted);
        free(quoted);
    }
}
