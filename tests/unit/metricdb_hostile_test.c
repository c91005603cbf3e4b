/* Chip files and users' formulas that are made to take long or much memory: each is refused, or takes no more than the
 * budget of an input. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "metricdb/chip.h"
#include "metricdb/chip_check.h"
#include "metricdb/chip_load.h"
#include "metricdb/formula_load.h"
#include "metricdb/lint.h"
#include "metricdb/term.h"
#include "tests/support/budget.h"
#include "tests/support/small_chip.h"

static struct cw_arena *arena;

static void setup(void)
{
    arena = cw_arena_create();
}

static void teardown(void)
{
    cw_arena_destroy(arena);
}

TestSuite(hostile, .init = setup, .fini = teardown, .timeout = 600);

static enum cw_status parse(const struct cw_chip **chip, const char *text, size_t size, struct cw_error *err)
{
    cw_budget_begin(size);
    enum cw_status status = cw_chip_parse(chip, text, size, "tiny.yaml", arena, err);
    cw_budget_end();
    return status;
}

/* The small chip with throughputs t1 to tCOUNT, each made of the one before it, as often as said. */
static char *tower(int count, int times)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    fputs(cw_small_chip, out);
    fprintf(out, "  t1: {unit: sm, dim: percent, counters: [sm__inst_executed], raw: []}\n");
    for (int i = 2; i <= count; i++) {
        fprintf(out, "  t%d: {unit: sm, dim: percent, throughputs: [t%d", i, i - 1);
        for (int k = 1; k < times; k++)
            fprintf(out, ", t%d", i - 1);
        fprintf(out, "], raw: []}\n");
    }
    fclose(out);
    return text;
}

static uint32_t count_terms(const struct cw_chip *chip, uint32_t throughput)
{
    const struct cw_metric m = {.type = CW_THROUGHPUT, .base = throughput, .rollup = CW_AVG, .sub = CW_SUB_PCT_ELAPSED};
    struct cw_terms terms = {0};
    cw_terms_make(&terms, chip, &m, NULL);
    uint32_t count = terms.count;
    cw_terms_free(&terms);
    return count;
}

Test(hostile, throughputs_of_throughputs)
{
    static const struct {
        int line, count, times;
        const char *message;
    } cases[] = {
        {__LINE__, CW_THROUGHPUT_LEVELS_MAX, 1, NULL},
        {__LINE__, CW_THROUGHPUT_LEVELS_MAX + 1, 1,
         "found t33 made of throughputs of throughputs, expected at most 32 levels"},
        {__LINE__, 20000, 1, "found t33 made of throughputs of throughputs, expected at most 32 levels"},
        {__LINE__, 16, 2, NULL},
        {__LINE__, 31, 2, "found t21 made of throughputs with too many constituents in all"},
        {__LINE__, 7, 400, "found t4 made of throughputs with too many constituents in all"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct cw_chip *chip;
        struct cw_error err = CW_ERROR_INIT;
        char *text = tower(cases[i].count, cases[i].times);
        enum cw_status status = parse(&chip, text, strlen(text), &err);
        cr_expect_eq(status, cases[i].message ? CW_ERR_INPUT : CW_OK, "line %d", cases[i].line);
        if (cases[i].message)
            cr_expect_str_eq(err.message, cases[i].message, "line %d: %s", cases[i].line, err.message);
        if (status == CW_OK)
            cr_expect_eq(count_terms(chip, chip->throughput_count - 1), 1);
        free(text);
    }
}

/* Sections of COUNT entries that refer to the last of other sections. */
Test(hostile, many_names_are_found_quickly)
{
    enum { COUNT = 60000 };
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    fprintf(out, "schema: 1\nchip: WIDE\nunits:\n");
    for (int i = 0; i < COUNT; i++)
        fprintf(out, "  u%d: {}  # as long as a line of a chip's file usually is\n", i);
    fprintf(out, "domains:\n");
    for (int i = 0; i < COUNT; i++)
        fprintf(out, "  d%d: 1  # as long as a line of a chip's file usually is\n", i);
    fprintf(out, "raw_counters:\n");
    for (int i = 0; i < COUNT; i++)
        fprintf(out, "  0x%x: [d%d]  # as long as a line of a chip's file usually is\n", i + 1, COUNT - 1 - i % 2);
    fprintf(out, "classes:\n");
    for (int i = 0; i < COUNT; i++)
        fprintf(out, "  c%d: {domain: d%d, raw: []}  # as long as a line\n", i, COUNT - 1);
    fprintf(out, "counters:\n");
    for (int i = 0; i < COUNT; i++)
        fprintf(out, "  n__%d: {unit: u%d, dim: bytes, raw: []}\n", i, COUNT - 1);
    fprintf(out, "ratios:\nthroughputs:\n");
    for (int i = 0; i < COUNT; i++)
        fprintf(out, "  t__%d: {unit: u%d, dim: percent, throughputs: [t__%d], raw: []}\n", i, COUNT - 1,
                i ? 0 : COUNT - 1);
    fclose(out);
    const struct cw_chip *chip;
    struct cw_error err = CW_ERROR_INIT;
    cr_expect_eq(parse(&chip, text, size, &err), CW_ERR_INPUT);
    cr_expect_str_eq(err.message, "found t__0 among its own constituents", "%s", err.message);
    free(text);
}

/* The small chip with COUNT counters and as many throughputs, each of one of them. */
static char *wide(int count)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    const char *ratios = strstr(cw_small_chip, "ratios:");
    fprintf(out, "%.*s", (int)(ratios - cw_small_chip), cw_small_chip);
    for (int i = 0; i < count; i++)
        fprintf(out, "  c__%d: {unit: sm, dim: bytes, raw: [0x22]}\n", i);
    fputs(ratios, out);
    for (int i = 0; i < count; i++)
        fprintf(out, "  t__%d: {unit: sm, dim: percent, counters: [c__%d], raw: [0x22]}\n", i, i);
    fclose(out);
    return text;
}

Test(hostile, constituents_of_all_throughputs)
{
    const struct cw_chip *chip;
    char *text = wide(20000);
    cw_budget_begin(strlen(text));
    cr_assert_eq(cw_chip_parse(&chip, text, strlen(text), "wide.yaml", arena, NULL), CW_OK);
    for (uint32_t i = 0; i < chip->throughput_count; i++)
        cr_expect_geq(count_terms(chip, i), 1);
    cw_budget_end();
    free(text);
}

static void count_finding(void *errors, const struct cw_finding *finding)
{
    *(unsigned *)errors += finding->level == CW_LINT_ERROR;
}

/* Counters that depend on all raw counters, and what is made of them. */
Test(hostile, lint)
{
    enum { COUNT = 8000 };
    char *text, *raws;
    size_t size;
    FILE *out = open_memstream(&raws, &size);
    for (int i = 0; i < COUNT; i++)
        fprintf(out, "%s0x%x", i ? ", " : "", i + 1);
    fclose(out);
    out = open_memstream(&text, &size);
    fprintf(out, "schema: 1\nchip: DEEP\nunits: {sm: {}}\ndomains:\n");
    for (int i = 0; i < COUNT; i++)
        fprintf(out, "  d%d: %d\n", i, i);
    fprintf(out, "raw_counters:\n");
    for (int i = 0; i < COUNT; i++)
        fprintf(out, "  0x%x: [d0]\n", i + 1);
    fprintf(out, "counters:\n  sm__all: {unit: sm, dim: bytes, raw: [%s]}\n", raws);
    fprintf(out, "  sm__sum: {unit: sm, dim: bytes, of: {sm__all: 1}, raw: [%s]}\n", raws);
    for (int i = 0; i < COUNT; i++)
        fprintf(out, "  sm__s%d: {unit: sm, dim: bytes, of: {sm__all: 1}, raw: []}\n", i);
    fprintf(out, "ratios:\nthroughputs:\n  sm__t: {unit: sm, dim: percent, raw: [%s], counters: [sm__all", raws);
    for (int i = 0; i < COUNT; i++)
        fprintf(out, ", sm__all");
    fprintf(out, "]}\n");
    fclose(out);
    unsigned errors = 0;
    cw_budget_begin(size);
    cr_expect_eq(cw_lint_chip(text, size, "deep.yaml", NULL, count_finding, &errors, NULL), CW_OK);
    cw_budget_end();
    cr_expect_eq(errors, 2 * COUNT, "%u", errors);
    free(text);
    free(raws);
}

/* Names of one hash: those that `format` makes and that belong into the first of `slots`. */
static void put_colliding(FILE *out, int count, uint32_t slots, const char *format, const char *rest)
{
    char name[40];
    for (int i = 0, n = 0; n < count; i++) {
        int length = snprintf(name, sizeof name, format, i);
        if (XXH3_64bits(name, (size_t)length) % slots == 0 && ++n)
            fprintf(out, "  %s: %s\n", name, rest);
    }
}

Test(hostile, names_of_one_hash)
{
    enum { COUNT = 1100 };
    for (int classes = 0; classes < 2; classes++) {
        const struct cw_chip *chip;
        struct cw_error err = CW_ERROR_INIT;
        char *text;
        size_t size;
        FILE *out = open_memstream(&text, &size);
        fprintf(out, "schema: 1\nchip: ALIKE\nunits: {sm: {}}\ndomains: {d: 1}\nraw_counters:\n");
        fprintf(out, "ratios:\nthroughputs:\n%s", classes ? "counters:\nclasses:\n" : "counters:\n");
        if (classes)
            put_colliding(out, COUNT, 2 * (COUNT + 1) + 1, "c%d", "{domain: d, raw: []}");
        else
            put_colliding(out, COUNT, 2 * COUNT + 1, "sm__c%d", "{unit: sm, dim: bytes, raw: []}");
        fclose(out);
        cr_expect_eq(parse(&chip, text, size, &err), CW_ERR_INPUT);
        cr_expect(strstr(err.message, ", and too many others with its hash"), "%s", err.message);
        free(text);
    }
}

/* ---- formulas --------------------------------------------------------------------------------------------------- */

/* COUNT metrics that all have the formula, or one that begins so and goes on with `each`, REPEATS times. */
static void expect_formulas(int line, int count, const char *formula, const char *each, int repeats,
                            const char *message)
{
    const struct cw_chip *chip;
    struct cw_error err = CW_ERROR_INIT;
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    fprintf(out, "schema: 1\nmetrics:\n");
    for (int i = 0; i < 200; i++)
        fprintf(out, "  a%d: {formula: %s}\n", i, i ? "sm__inst_executed.sum" : "1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1");
    for (int i = 0; i < count; i++) {
        fprintf(out, "  k%d: {unit: u%d*b*c*d*e*f*g*h, formula: \"%s", i, i, formula);
        for (int k = 0; k < repeats; k++)
            fprintf(out, each, k + 1);
        fprintf(out, "\"}\n");
    }
    fclose(out);
    cr_assert_eq(cw_chip_parse(&chip, cw_small_chip, strlen(cw_small_chip), "tiny.yaml", arena, NULL), CW_OK);
    cw_budget_begin(size);
    enum cw_status status = cw_formulas_parse(&chip, text, size, "own.yaml", arena, &err);
    cw_budget_end();
    cr_expect_eq(status, message ? CW_ERR_INPUT : CW_OK, "line %d: %s", line, err.message);
    cr_expect_str_eq(err.message, message ? message : "", "line %d: %s", line, err.message);
    free(text);
}

Test(hostile, formulas)
{
    expect_formulas(__LINE__, 3800, "a1", "", 0, NULL);
    expect_formulas(__LINE__, 1000, "a1", "+a%d", 198, NULL);
    expect_formulas(__LINE__, 3800, "a0", "+a0", 29, NULL);
    expect_formulas(__LINE__, 200, "1", "+1", 500, NULL);
}
