#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "metricdb/chip.h"
#include "metricdb/chip_load.h"
#include "tests/support/seconds.h"

/* The lines of `classes` and `limits` start at 16. */
static const char head[] = "schema: 1\n"                             /*  1 */
                           "chip: TINY\n"                            /*  2 */
                           "units: {}\n"                             /*  3 */
                           "domains: {a: 1, b: 2, a_b: 3}\n"         /*  4 */
                           "raw_counters:\n"                         /*  5 */
                           "  0x01: [a]\n"                           /*  6 */
                           "  0x02: [a, b]\n"                        /*  7 */
                           "  0x03: [a, a_b]\n"                      /*  8 */
                           "  0x04: [b]\n"                           /*  9 */
                           "counters: {}\n"                          /* 10 */
                           "ratios: {}\n"                            /* 11 */
                           "throughputs: {}\n"                       /* 12 */
                           "classes:\n"                              /* 13 */
                           "  one: {domain: a, raw: [0x01, 0x02]}\n" /* 14 */
                           "  two: {domain: b, raw: [0x02]}\n"       /* 15 */
                           "  all: {of: [one, two]}\n";              /* 16 */

static struct cw_arena *arena;

static void setup(void)
{
    arena = cw_arena_create();
}

static void teardown(void)
{
    cw_arena_destroy(arena);
}

TestSuite(limits, .init = setup, .fini = teardown);

static enum cw_status parse(const struct cw_chip **chip, const char *rest, struct cw_error *err)
{
    char text[4096];
    snprintf(text, sizeof text, "%s%s", head, rest);
    return cw_chip_parse(chip, text, strlen(text), "tiny.yaml", arena, err);
}

/* Members as "placement:group", where placements are a1 a2 b2 a3 ab3 b4. */
static const char *describe(const struct cw_limit *limit)
{
    static const char *const names[] = {"a1", "a2", "b2", "a3", "ab3", "b4"};
    static char text[256];
    int n = snprintf(text, sizeof text, "max %u", limit->max);
    for (uint32_t k = 0; k < limit->count; k++)
        n += snprintf(text + n, sizeof text - (size_t)n, " %s:%u", names[limit->members[k]], limit->groups[k]);
    return text;
}

struct good {
    int line;
    const char *text;
    const char *limits[3];
};

Test(limits, each_form_becomes_members_and_groups)
{
    static const struct good cases[] = {
        {__LINE__, "limits:\n  - {max: 4, each: [a]}\n", {"max 4 a1:0 a2:1 a3:2"}},
        {__LINE__, "limits:\n  - {max: 1, each: [a, one], except: [two]}\n", {"max 1 a1:0 a2:1 a3:2"}},
        {__LINE__, "limits:\n  - {max: 1, each: [a], except: [one]}\n", {"max 1 a3:0"}},
        {__LINE__, "limits:\n  - {max: 2, groups: [[one, two], a_b]}\n", {"max 2 a1:0 a2:0 b2:0 ab3:1"}},
        {__LINE__, "limits:\n  - {max: 2, groups: [one, [one, two]]}\n", {"max 2 a1:0 a2:0 a1:1 a2:1 b2:1"}},
        {__LINE__, "limits:\n  - {max: 2, each: [b], groups: [one]}\n", {"max 2 b2:0 b4:1 a1:2 a2:2"}},
        {__LINE__, "limits:\n  - {max: 0, each: [two]}\n", {"max 0 b2:0"}},
        {__LINE__, "limits:\n  - {max: 1, groups: [all]}\n", {"max 1 a1:0 a2:0 b2:0"}},
        {__LINE__,
         "limits:\n  - max: 1\n    pairs: {one: [two], b: [a, -one]}\n",
         {"max 1 a1:0 a2:0 b2:2", "max 1 b2:0 b4:0 a3:2"}},
        {__LINE__, "limits:\n  - {max: 1, pairs: {one: [one, two]}}\n", {"max 1 a1:0 a2:1 b2:2"}},
        {__LINE__,
         "limits:\n  - {max: 1, sets: [[one, two], [b, a_b]]}\n",
         {"max 1 a1:0 a2:0 b2:1", "max 1 b2:0 b4:0 ab3:1"}},
        {__LINE__, "", {NULL}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct cw_chip *chip;
        struct cw_error err = CW_ERROR_INIT;
        char text[1200];
        cr_assert_eq(parse(&chip, cases[i].text, &err), CW_OK, "line %d: %s", cases[i].line,
                     cw_error_format(&err, text, sizeof text));
        uint32_t count = 0;
        for (; count < 3 && cases[i].limits[count]; count++)
            if (count < chip->limit_count)
                cr_expect_str_eq(describe(&chip->limits[count]), cases[i].limits[count], "line %d", cases[i].line);
        cr_expect_eq(chip->limit_count, count, "line %d", cases[i].line);
    }
}

/* Sampling has limits of its own or, where the file does not say, those of range profiling. */
Test(limits, sampling_may_have_its_own)
{
    const struct cw_chip *chip;
    struct cw_error err = CW_ERROR_INIT;
    cr_assert_eq(parse(&chip, "limits:\n  - {max: 4, each: [one]}\n", &err), CW_OK);
    cr_assert_eq(chip->pm_limit_count, 1);
    cr_expect_str_eq(describe(&chip->pm_limits[0]), "max 4 a1:0 a2:1");
    const char *both =
        "limits:\n  - {max: 4, each: [one]}\npm_limits:\n  - {max: 0, each: [two]}\n  - {max: 1, each: [b]}\n";
    cr_assert_eq(parse(&chip, both, &err), CW_OK);
    cr_assert(chip->limit_count == 1 && chip->pm_limit_count == 2);
    cr_expect_str_eq(describe(&chip->limits[0]), "max 4 a1:0 a2:1");
    cr_expect_str_eq(describe(&chip->pm_limits[0]), "max 0 b2:0");
    cr_expect_str_eq(describe(&chip->pm_limits[1]), "max 1 b2:0 b4:1");
    const char *more = "limits:\n  - {max: 4, pm: 7, each: [one]}\n  - {max: 2, each: [one]}\n";
    cr_assert_eq(parse(&chip, more, &err), CW_OK);
    cr_expect(chip->limits == chip->pm_limits && cw_chip_knows_pm(chip));
    cr_expect_eq(cw_limits_max(&(struct cw_limits){2, chip->limits, true}, 0), 7);
    cr_expect_eq(cw_limits_max(&(struct cw_limits){2, chip->limits, false}, 0), 4);
    cr_expect_eq(cw_limits_max(&(struct cw_limits){2, chip->limits, true}, 1), 2);
    cr_assert_eq(parse(&chip, "pm_limits: []\n", &err), CW_OK);
    cr_expect(chip->limit_count == 0 && chip->pm_limit_count == 0);
}

struct bad {
    int line;
    const char *text;
    unsigned at_line, at_column;
    const char *message;
};

Test(limits, mistakes_are_located)
{
    static const struct bad cases[] = {
        {__LINE__, "  x: {domain: c, raw: []}\n", 17, 15, "found 'c', expected a domain of the 'domains' section"},
        {__LINE__, "  x: {domain: b, raw: [0x01]}\n", 17, 24, "found '0x01', expected a raw counter that b collects"},
        {__LINE__, "  x: {domain: a, raw: [0x09]}\n", 17, 24, "found '0x09', expected a raw counter that a collects"},
        {__LINE__, "  x: {raw: [0x01]}\n", 17, 6, "found no 'domain', which is required"},
        {__LINE__, "  x: {domain: a}\n", 17, 6, "found no 'raw', which is required"},
        {__LINE__, "  x: {of: [later]}\n  later: {of: [one]}\n", 17, 12,
         "found 'later', expected a class of the 'classes' section or a domain"},
        {__LINE__, "  x: {of: [one], raw: []}\n", 17, 18, "found the unknown key 'raw'"},
        {__LINE__, "  a_b: {of: [one]}\n", 17, 3, "found the class 'a_b', expected a name that no domain has"},
        {__LINE__, "limits: {}\n", 17, 9, "found a mapping for limits, expected a list"},
        {__LINE__, "pm_limits: {}\n", 17, 12, "found a mapping for pm_limits, expected a list"},
        {__LINE__, "limits:\n  - {each: [a]}\n", 18, 5, "found no 'max', which is required"},
        {__LINE__, "limits:\n  - {max: -1, each: [a]}\n", 18, 11,
         "found '-1', expected a whole number up to 4294967294"},
        {__LINE__, "limits:\n  - {max: 1}\n", 18, 5,
         "found none of 'each' or 'groups', 'sets', 'pairs' in a limit, expected one"},
        {__LINE__, "limits:\n  - {max: 1, each: [a], sets: []}\n", 18, 5,
         "found several of 'each' or 'groups', 'sets', 'pairs' in a limit, expected one"},
        {__LINE__, "limits:\n  - {max: 1, groups: [a], except: [a]}\n", 18, 35, "found 'except' without 'each'"},
        {__LINE__, "limits:\n  - {max: 1, each: [a], of: [a]}\n", 18, 25, "found the unknown key 'of'"},
        {__LINE__, "limits:\n  - {max: 1, each: [on]}\n", 18, 21,
         "found 'on', expected a class of the 'classes' section or a domain"},
        {__LINE__, "limits:\n  - {max: 1, groups: [[a, c]]}\n", 18, 27,
         "found 'c', expected a class of the 'classes' section or a domain"},
        {__LINE__, "limits:\n  - {max: 1, sets: [a]}\n", 18, 21,
         "found a plain value for a set of classes, expected a list"},
        {__LINE__, "limits:\n  - {max: 2, pairs: {a: [b]}}\n", 18, 5, "found 'pairs' with max 2, expected max 1"},
        {__LINE__, "limits:\n  - {max: 1, pairs: {c: [b]}}\n", 18, 22,
         "found 'c', expected a class of the 'classes' section or a domain"},
        {__LINE__, "limits:\n  - {max: 1, pairs: {a: b}}\n", 18, 25,
         "found a plain value for the classes that conflict, expected a list"},
        {__LINE__, "limits:\n  - {max: 1, pairs: {a: [b, -c]}}\n", 18, 29,
         "found 'c', expected a class of the 'classes' section or a domain"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct cw_chip *chip;
        struct cw_error err = CW_ERROR_INIT;
        cr_expect_eq(parse(&chip, cases[i].text, &err), CW_ERR_INPUT, "line %d", cases[i].line);
        cr_expect_str_eq(err.message, cases[i].message, "line %d", cases[i].line);
        cr_expect(err.line == cases[i].at_line && err.column == cases[i].at_column, "line %d: found %u:%u",
                  cases[i].line, err.line, err.column);
    }
}

Test(limits, a_small_file_cannot_ask_for_any_amount_of_memory)
{
    /* each class doubles the one before it */
    char *text = malloc(8192);
    int n = snprintf(text, 8192, "%s  d0: {of: [one, one]}\n", head);
    for (int k = 1; k < 60; k++)
        n += snprintf(text + n, 8192 - (size_t)n, "  d%d: {of: [d%d, d%d]}\n", k, k - 1, k - 1);
    const struct cw_chip *chip;
    struct cw_error err = CW_ERROR_INIT;
    cr_expect_eq(cw_chip_parse(&chip, text, (size_t)n, "tiny.yaml", arena, &err), CW_ERR_INPUT);
    cr_expect_str_eq(err.message, "found a file that stands for more than 16 MB and 16 times its size");
    free(text);
}

/* The key of a pair and what is listed with it have 2^18 members each, none of which is in the other. */
Test(limits, large_pairs_take_little_time)
{
    cw_test_seconds(30);
    char *text = malloc(8192);
    int n = snprintf(text, 8192, "%s  a0: {domain: a, raw: [0x01]}\n  b0: {domain: b, raw: [0x02]}\n", head);
    for (int k = 1; k <= 18; k++)
        n += snprintf(text + n, 8192 - (size_t)n, "  a%d: {of: [a%d, a%d]}\n  b%d: {of: [b%d, b%d]}\n", k, k - 1, k - 1,
                      k, k - 1, k - 1);
    n += snprintf(text + n, 8192 - (size_t)n, "limits: [{max: 1, pairs: {a18: [b18, -one]}}]\n");
    const struct cw_chip *chip;
    struct cw_error err = CW_ERROR_INIT;
    cr_assert_eq(cw_chip_parse(&chip, text, (size_t)n, "tiny.yaml", arena, &err), CW_OK, "%s", err.message);
    cr_expect_eq(chip->limits[0].count, (1 << 18) + 1);
    free(text);
}
