#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "eval/sections.h"
#include "tests/support/seconds.h"

static struct cw_arena *arena;
static struct cw_sections sections;
static struct cw_error err;

static void set_up(void)
{
    arena = cw_arena_create();
}

static void tear_down(void)
{
    cw_arena_destroy(arena);
}

TestSuite(sections, .init = set_up, .fini = tear_down);

static enum cw_status parse(const char *text)
{
    err = (struct cw_error)CW_ERROR_INIT;
    return cw_sections_parse(&sections, text, strlen(text), "s.yaml", arena, &err);
}

Test(sections, a_name_is_in_the_first_that_fits)
{
    static const struct {
        const char *name;
        uint32_t section;
    } cases[] = {
        {"sm__a.sum", 0}, {"sm__a", 0},    {"l1__bytes_b.sum", 1}, {"bytes", 1},   {"aXbXc", 2}, {"aXbXbYc", 2},
        {"aXbXcd", 3},    {"abc", 2},      {"exact", 3},           {"exactly", 4}, {"", 4},      {"sm_", 4},
        {"acb", 4},       {"aaabbbccc", 2}};
    cr_assert(parse("schema: 1\nsections:\n  - {title: A, metrics: [sm__*]}\n  - {title: B, metrics: ['*bytes*']}\n"
                    "  - {title: C, metrics: [a*b*c]}\n  - {title: D, metrics: [exact, a*cd]}\n") == CW_OK,
              "%s", err.message);
    cr_assert(sections.count == 4);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect(cw_sections_find(&sections, cases[i].name) == cases[i].section, "%s is in %u", cases[i].name,
                  cw_sections_find(&sections, cases[i].name));
}

/* Each '*' may stand for much: a search that tried all would not end. */
Test(sections, many_stars)
{
    cw_test_seconds(20);
    static char text[4000], name[20000];
    strcpy(text, "schema: 1\nsections: [{title: A, metrics: ['");
    for (int i = 0; i < 1000; i++)
        strcat(text, "*a");
    strcat(text, "b']}]\n");
    memset(name, 'a', sizeof name - 1);
    cr_assert(parse(text) == CW_OK, "%s", err.message);
    cr_expect(cw_sections_find(&sections, name) == 1);
}

Test(sections, words)
{
    cr_assert(parse("schema: 1\nsections:\n  - {title: A, metrics: [a, b], words: {a: [one, two]}}\n") == CW_OK, "%s",
              err.message);
    const struct cw_section *section = &sections.items[0];
    cr_expect_str_eq(cw_section_word(section, "a", 1), "one");
    cr_expect_str_eq(cw_section_word(section, "a", 2), "two");
    cr_expect_null(cw_section_word(section, "a", 0));
    cr_expect_null(cw_section_word(section, "a", 1.5));
    cr_expect_null(cw_section_word(section, "a", 3));
    cr_expect_null(cw_section_word(section, "a", NAN));
    cr_expect_null(cw_section_word(section, "b", 1));
}

Test(sections, mistakes)
{
    static const struct {
        const char *text, *says;
        unsigned line, column;
    } cases[] = {
        {"schema: 2\nsections: []\n", "", 1, 9},
        {"schema: 1\n", "sections", 1, 1},
        {"schema: 1\nsections:\n  - {metrics: [a]}\n", "title", 3, 5},
        {"schema: 1\nsections:\n  - {title: A}\n", "metrics", 3, 5},
        {"schema: 1\nsections:\n  - {title: A, metrics: a}\n", "patterns of names", 3, 25},
        {"schema: 1\nsections:\n  - {title: A, metrics: [a], colour: red}\n", "colour", 3, 30},
        {"schema: 1\nsections:\n  - {title: A, metrics: [a*, b*], shares: true}\n",
         "found shares, expected one pattern", 3, 25},
        {"schema: 1\nsections:\n  - {title: A, metrics: [a], shares: true}\n", "found shares, expected one pattern", 3,
         25},
        {"schema: 1\nsections:\n  - {title: A, metrics: [a], words: [a]}\n", "words by metric", 3, 37},
        {"schema: 1\nsections:\n  - {title: A, metrics: [a], words: {a: b}}\n", "words", 3, 41},
        {"schema: 1\nsections:\n  - {title: A, metrics: [a*], shares: perhaps}\n", "expected true or false", 3, 39},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cr_expect(parse(cases[i].text) == CW_ERR_INPUT, "%s", cases[i].text);
        cr_expect(strstr(err.message, cases[i].says) && err.line == cases[i].line && err.column == cases[i].column,
                  "%s: %u:%u: %s", cases[i].text, err.line, err.column, err.message);
    }
}

Test(sections, those_that_are_shipped)
{
    cr_assert(cw_sections_load(&sections, CW_SOURCE_DIR "/data", "sections", arena, &err) == CW_OK, "%s", err.message);
    cr_assert(sections.count > 5);
    cr_expect_str_eq(sections.items[cw_sections_find(&sections, "lts__t_sector_hit_rate.pct")].title, "Memory");
    cr_expect_str_eq(sections.items[cw_sections_find(&sections, "anything")].title, "Others");
    const struct cw_section *stalls =
        &sections.items[cw_sections_find(&sections, "smsp__average_warps_issue_stalled_wait_per_issue_active.ratio")];
    cr_expect(stalls->shares && stalls->pattern_count == 1);
}
