#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "metricdb/yaml.h"

static struct cw_arena *arena;

static void setup(void)
{
    arena = cw_arena_create();
}

static void teardown(void)
{
    cw_arena_destroy(arena);
}

TestSuite(yaml, .init = setup, .fini = teardown);

static enum cw_status parse(struct cw_yaml **root, const char *text, struct cw_error *err)
{
    return cw_yaml_parse(root, text, strlen(text), "f.yaml", arena, err);
}

Test(yaml, keeps_kinds_values_and_positions)
{
    struct cw_yaml *root;
    cr_assert_eq(parse(&root, "a: 1\nb:\n  - x\n  - {c: 'd e'}\n", NULL), CW_OK);
    cr_assert_eq(root->kind, CW_YAML_MAPPING);
    cr_assert_eq(root->count, 2);
    cr_assert_str_eq(root->keys[1].text, "b");
    cr_expect_eq(root->keys[1].line, 2);
    const struct cw_yaml *list = &root->items[1];
    cr_assert_eq(list->kind, CW_YAML_SEQUENCE);
    cr_assert_eq(list->count, 2);
    cr_expect_str_eq(list->items[0].text, "x");
    cr_expect_eq(list->items[0].line, 3);
    cr_expect_eq(list->items[0].column, 5);
    cr_expect_str_eq(list->items[1].items[0].text, "d e");
    cr_expect_eq(list->items[1].keys[0].column, 6);
}

Test(yaml, knows_where_a_text_stands_as_written)
{
    static const struct {
        const char *text;
        unsigned column;
    } cases[] = {{"a: plain text\n", 4}, {"a: 'quoted'\n", 5}, {"a: \"quoted\"\n", 5},   {"a: \"\xc3\xa9\"\n", 5},
                 {"a: 'it''s'\n", 0},    {"a: \"\\t\"\n", 0},  {"a: two\n  lines\n", 0}, {"a: |\n  block\n", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cw_yaml *root;
        cr_assert_eq(parse(&root, cases[i].text, NULL), CW_OK);
        cr_expect_eq(root->items[0].text_column, cases[i].column, "%s: %u", cases[i].text, root->items[0].text_column);
    }
}

static void expect_error(int test_line, const char *text, size_t size, unsigned line, unsigned column,
                         const char *message)
{
    struct cw_yaml *root;
    struct cw_error err = CW_ERROR_INIT;
    cr_expect_eq(cw_yaml_parse(&root, text, size, "f.yaml", arena, &err), CW_ERR_INPUT, "line %d", test_line);
    cr_expect_str_eq(err.source, "f.yaml");
    cr_expect_eq(err.line, line, "line %d: found line %u", test_line, err.line);
    cr_expect_eq(err.column, column, "line %d: found column %u", test_line, err.column);
    cr_expect_str_eq(err.message, message, "line %d: %s", test_line, err.message);
}

Test(yaml, refuses_what_data_files_do_not_need)
{
    static const struct {
        int test_line;
        const char *text;
        unsigned line, column;
        const char *message;
    } cases[] = {
        {__LINE__, "", 1, 1, "found an empty file, expected YAML"},
        {__LINE__, "# nothing\n", 2, 1, "found an empty file, expected YAML"},
        {__LINE__, "a: 1\nb: 2\na: 3\n", 3, 1, "found the key 'a' a second time, first on line 1"},
        {__LINE__, "a: &x 1\nb: *x\n", 1, 4, "found an anchor, alias or tag, expected plain values"},
        {__LINE__, "b: *x\n", 1, 4, "found an anchor, alias or tag, expected plain values"},
        {__LINE__, "a: !!str 1\n", 1, 4, "found an anchor, alias or tag, expected plain values"},
        {__LINE__, "a: 1\n---\nb: 2\n", 2, 1, "found a second document, expected one"},
        {__LINE__, "? [a, b]\n: 1\n", 1, 3, "found a key that is not a plain name"},
        {__LINE__, "a: [1, 2 3: 4 5: 6\n", 1, 16, "did not find expected ',' or ']'"},
        {__LINE__, "a: [1, 2\nb: 3\n", 2, 2,
         "did not find expected ',' or ']', while parsing a flow sequence from line 1"},
        {__LINE__, "a: 1\nb: \"c\nd: 2\n", 4, 1,
         "found unexpected end of stream, while scanning a quoted scalar from line 2"},
        {__LINE__, "a:\n  b: 'c\n  d: 'e'\n", 3, 7,
         "did not find expected key, while parsing a block mapping from line 2"},
        {__LINE__, "a: \"\\0\"\n", 1, 4, "found a NUL character in a value"},
        {__LINE__, "\"a\\0b\": 1\n", 1, 1, "found a NUL character in a value"},
        {__LINE__, "a: \xff\n", 1, 1, "invalid leading UTF-8 octet"},
        {__LINE__, "%TAG !a! b\n---\na: 1\n", 1, 1, "found a line that begins with '%', expected none"},
        {__LINE__, "a: 1\n...\n%TAG !a! b\n---\n", 3, 1, "found a line that begins with '%', expected none"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_error(cases[i].test_line, cases[i].text, strlen(cases[i].text), cases[i].line, cases[i].column,
                     cases[i].message);
    expect_error(__LINE__, "a: \0b\n", 6, 1, 1, "control characters are not allowed");
    expect_error(__LINE__,
                 "\xff\xfe"
                 "a\0:\0 \0"
                 "1\0",
                 10, 1, 1, "invalid leading UTF-8 octet");
}

Test(yaml, refuses_deep_nesting)
{
    char text[64] = "";
    for (int i = 0; i < 26; i++)
        strcat(text, "[");
    expect_error(__LINE__, text, strlen(text), 1, 26, "found values nested too deeply");
}

/* A value of two bytes takes a hundred times their memory. */
Test(yaml, refuses_a_text_of_nothing_but_values)
{
    enum { SIZE = 160000 };
    char *text = malloc(SIZE);
    memset(text, 'a', SIZE);
    for (size_t i = 2; i < SIZE; i += 2)
        text[i] = ',';
    memcpy(text, "[", 1);
    memcpy(text + SIZE - 2, "]\n", 2);
    expect_error(__LINE__, text, SIZE, 1, 157738, "found more than 65536 values and one for each 12 bytes of the file");
    struct cw_yaml *root;
    text[40000 * 2] = ']';
    text[40000 * 2 + 1] = '\n';
    cr_assert_eq(cw_yaml_parse(&root, text, 40000 * 2 + 2, "f.yaml", arena, NULL), CW_OK);
    cr_expect_eq(root->count, 40000);
    free(text);
}

/* ---- readers ---------------------------------------------------------------------------------------------------- */

static struct cw_yaml *must_parse(const char *text)
{
    struct cw_yaml *root = NULL;
    cr_assert_eq(parse(&root, text, NULL), CW_OK);
    return root;
}

static void expect_failure(int test_line, const struct cw_yaml_reader *in, unsigned line, unsigned column,
                           const char *message)
{
    cr_expect_eq(in->status, CW_ERR_INPUT, "line %d", test_line);
    cr_expect_eq(in->err->line, line, "line %d: found line %u", test_line, in->err->line);
    cr_expect_eq(in->err->column, column, "line %d: found column %u", test_line, in->err->column);
    cr_expect_str_eq(in->err->message, message, "line %d: %s", test_line, in->err->message);
}

#define READER(name)                                                                                                   \
    struct cw_error name##_err = CW_ERROR_INIT;                                                                        \
    struct cw_yaml_reader name = {.source = "f.yaml", .arena = arena, .err = &name##_err}

Test(yaml, readers_say_what_is_wrong_and_where)
{
    static const char *const keys[] = {"a", NULL};
    const struct cw_yaml *root = must_parse("a: 12\nb: [x]\nc: {d: 1}\n");
    READER(missing);
    cr_expect_null(cw_yaml_get(&missing, root, "z", true));
    expect_failure(__LINE__, &missing, 1, 1, "found no 'z', which is required");
    READER(unknown);
    cw_yaml_only(&unknown, root, keys);
    expect_failure(__LINE__, &unknown, 2, 1, "found the unknown key 'b'");
    READER(kind);
    cr_expect_not(cw_yaml_expect(&kind, &root->items[1], CW_YAML_MAPPING, "b"));
    expect_failure(__LINE__, &kind, 2, 4, "found a list for b, expected a mapping");
    READER(text);
    cr_expect_str_eq(cw_yaml_text(&text, &root->items[2]), "");
    expect_failure(__LINE__, &text, 3, 4, "found a mapping for a name, expected a plain value");
    READER(first);
    cw_yaml_fail(&first, &root->items[0], "first");
    cw_yaml_fail(&first, &root->items[1], "second");
    cr_expect_eq(cw_yaml_integer(&first, &root->items[0], 99), 0, "nothing is read after a failure");
    expect_failure(__LINE__, &first, 1, 4, "first");
}

Test(yaml, entries_are_found_by_their_key)
{
    const struct cw_yaml *root = must_parse("b: 0\nd: 1\na: 2\nc: 3\nab: 4\n");
    for (size_t i = 0; i < root->count; i++)
        cr_expect_eq(cw_yaml_find(root, root->keys[i].text), i, "%s", root->keys[i].text);
    cr_expect_eq(cw_yaml_find(root, "aa"), SIZE_MAX);
    cr_expect_eq(cw_yaml_find(root, ""), SIZE_MAX);
    cr_expect_eq(cw_yaml_find(must_parse("{}"), "a"), SIZE_MAX);
}

Test(yaml, a_file_may_not_stand_for_far_more_than_it_says)
{
    const struct cw_yaml *root = must_parse("a: 12\n");
    READER(in);
    in.size = 1 << 20;
    cw_yaml_spend(&in, root, 20 << 20);
    cw_yaml_spend(&in, root, 12 << 20);
    cr_expect_eq(in.status, CW_OK);
    cw_yaml_spend(&in, &root->items[0], 1);
    expect_failure(__LINE__, &in, 1, 4, "found a file that stands for more than 16 MB and 16 times its size");
}

Test(yaml, optional_keys_may_be_absent)
{
    const struct cw_yaml *root = must_parse("a: 12\n");
    READER(in);
    cr_expect_null(cw_yaml_get(&in, root, "z", false));
    cr_expect_eq(cw_yaml_integer(&in, cw_yaml_get(&in, root, "a", false), 12), 12);
    cr_expect_eq(in.status, CW_OK);
}

Test(yaml, integers_are_decimal_or_hexadecimal_and_bounded)
{
    static const struct {
        const char *text;
        uint64_t most, value;
        const char *message; /* NULL for success */
    } cases[] = {
        {"12", 12, 12, NULL},
        {"010", 99, 10, NULL},
        {"0xff", 255, 255, NULL},
        {"0xffffffffffffffff", UINT64_MAX, UINT64_MAX, NULL},
        {"13", 12, 0, "found '13', expected a whole number up to 12"},
        {"-1", 12, 0, "found '-1', expected a whole number up to 12"},
        {"+1", 12, 0, "found '+1', expected a whole number up to 12"},
        {"1.5", 12, 0, "found '1.5', expected a whole number up to 12"},
        {"''", 12, 0, "found '', expected a whole number up to 12"},
        {"0x", 12, 0, "found '0x', expected a whole number up to 12"},
        {"99999999999999999999", UINT64_MAX, 0,
         "found '99999999999999999999', expected a whole number up to 18446744073709551615"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct cw_yaml *root = must_parse(cases[i].text);
        READER(in);
        cr_expect_eq(cw_yaml_integer(&in, root, cases[i].most), cases[i].value, "%s", cases[i].text);
        cr_expect_eq(in.status == CW_OK, cases[i].message == NULL, "%s", cases[i].text);
        if (cases[i].message)
            cr_expect_str_eq(in_err.message, cases[i].message);
    }
}

Test(yaml, numbers_are_read_whole)
{
    const struct cw_yaml *root = must_parse("[1e+01, 0.125, 4x, '', nan, inf, ' 1']");
    READER(good);
    cr_expect_eq(cw_yaml_number(&good, &root->items[0]), 10);
    cr_expect_eq(cw_yaml_number(&good, &root->items[1]), 0.125);
    cr_expect_eq(good.status, CW_OK);
    static const char *const messages[] = {"found '4x', expected a number", "found '', expected a number",
                                           "found 'nan', expected a number", "found 'inf', expected a number",
                                           "found ' 1', expected a number"};
    for (size_t i = 2; i < root->count; i++) {
        READER(bad);
        cr_expect_eq(cw_yaml_number(&bad, &root->items[i]), 0, "%s", root->items[i].text);
        cr_expect_str_eq(bad_err.message, messages[i - 2]);
    }
}
