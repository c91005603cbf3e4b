#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/kernels.h"
#include "report/put.h"
#include "report/series.h"

static char *text;
static size_t size;

static FILE *begin(void)
{
    return open_memstream(&text, &size);
}

static void expect(FILE *out, const char *wanted)
{
    fclose(out);
    cr_assert_str_eq(text, wanted);
    free(text);
}

Test(report, no_tag_gets_into_the_page)
{
    FILE *page = begin(), *out = cw_put_into_page(page);
    cw_put_text(out, "{\"a\":", "</script><b>&\"\\");
    fclose(out);
    expect(page, "{\"a\":\"\\u003c/script>\\u003cb>&\\\"\\\\\"");
}

Test(report, numbers_have_nine_digits_and_what_is_none_is_null)
{
    FILE *out = begin();
    const double values[] = {0, 1, -3, 1e14, 0.1, 1.0 / 3, 1e300, NAN, INFINITY, -INFINITY};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        cw_put_number(out, i ? " " : "", values[i]);
    expect(out, "0 1 -3 100000000000000 0.1 0.333333333 1e+300 null null null");
}

Test(report, bytes_are_base64)
{
    static const char *const cases[][2] = {{"", "\"\""},
                                           {"f", "\"Zg==\""},
                                           {"fo", "\"Zm8=\""},
                                           {"foo", "\"Zm9v\""},
                                           {"foob", "\"Zm9vYg==\""},
                                           {"fooba", "\"Zm9vYmE=\""},
                                           {"foobar", "\"Zm9vYmFy\""},
                                           {"\xff\xfe\xfd", "\"//79\""}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        FILE *out = begin();
        cw_put_bytes(out, "", cases[i][0], strlen(cases[i][0]));
        expect(out, cases[i][1]);
    }
}

/* 16 bits of each, low byte first. */
Test(report, numbers_over_time_may_be_as_far_apart_as_numbers_are)
{
    const double values[] = {-1.6e308, 0, 1.6e308};
    FILE *out = begin();
    cr_assert(cw_series_put(out, "", &(struct cw_series){"a", "b", values, 3, 1}));
    fclose(out);
    cr_expect(strstr(text, "\"data\":\"AAD/f/7/\""), "%s", text);
    free(text);
}

static struct cw_layout layout;
static struct cw_error err;

static enum cw_status parse(const char *yaml, struct cw_arena *arena)
{
    err = (struct cw_error)CW_ERROR_INIT;
    return cw_layout_parse(&layout, yaml, strlen(yaml), "r.yaml", arena, &err);
}

Test(report, names_of_a_layout_are_what_stands_below_metrics)
{
    struct cw_arena *arena = cw_arena_create();
    cr_assert(parse("schema: 1\nsummary: [{title: T, metrics: [a, b]}]\nroofline: {rate: {metrics: c}, x: [d]}\n",
                    arena) == CW_OK,
              "%s", err.message);
    cr_assert(layout.count == 3);
    for (size_t i = 0; i < 3; i++)
        cr_assert(strcmp(layout.metrics[i], (const char *[]){"a", "b", "c"}[i]) == 0);
    const json_t *first = json_array_get(json_object_get(layout.tree, "summary"), 0);
    cr_assert_str_eq(json_string_value(json_object_get(first, "title")), "T");
    json_decref(layout.tree);
    cw_arena_destroy(arena);
}

Test(report, mistakes_in_a_layout_are_told_with_their_place)
{
    static const struct {
        const char *yaml;
        unsigned line, column;
    } cases[] = {{"schema: 1\nnothing: 1\n", 2, 1}, {"schema: 2\n", 1, 9}, {"- a\n", 1, 1}};
    struct cw_arena *arena = cw_arena_create();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cr_assert(parse(cases[i].yaml, arena) == CW_ERR_INPUT);
        cr_assert(err.line == cases[i].line && err.column == cases[i].column, "%s", err.message);
        cr_assert(layout.tree == NULL);
    }
    cw_arena_destroy(arena);
}

/* However many values one key has. */
Test(report, attributes_of_launches_stay_those_of_their_key)
{
    enum { COUNT = 32 };
    static struct cw_pair pairs[COUNT][2];
    static struct cw_range ranges[COUNT];
    static char values[COUNT][16];
    static double durations[COUNT];
    static uint32_t group_of[COUNT];
    for (int i = 0; i < COUNT; i++) {
        snprintf(values[i], sizeof values[i], "%d of %d", i, COUNT);
        pairs[i][0] = (struct cw_pair){"runs", values[i]};
        pairs[i][1] = (struct cw_pair){"scope", i % 2 ? "device" : "shared device"};
        ranges[i] = (struct cw_range){.attributes = pairs[i], .attribute_count = 2};
    }
    const struct cw_counter_data data = {.ranges = ranges, .range_count = COUNT};
    const struct cw_report_capture capture = {.data = &data};
    const struct cw_report of = {.ranges = &capture};
    const struct cw_report_kernels kernels = {.report = &of, .groups.durations = durations, .group_of = group_of};
    FILE *out = begin();
    cr_assert(cw_report_launches_put(out, &kernels, &err) == CW_OK);
    fclose(out);
    cr_expect(strstr(text, "{\"key\":\"scope\",\"value\":\"device\",\"ranges\":16}"), "%s", text);
    cr_expect(strstr(text, "{\"key\":\"runs\",\"value\":\"3 of 32\",\"ranges\":1}"), "%s", text);
    cr_expect(strstr(text, "{\"key\":\"runs\",\"value\":\"various\",\"ranges\":24}"), "%s", text);
    free(text);
}
