#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "metricdb/chip_load.h"
#include "metricdb/formula.h"
#include "metricdb/formula_load.h"
#include "metricdb/glossary.h"
#include "metricdb/term.h"
#include "tests/support/alloc_fail.h"
#include "tests/support/small_chip.h"

static struct cw_arena *arena;
static const struct cw_chip *chip; /* a test's view of it; the same chip before each test */

static void setup(void)
{
    arena = cw_arena_create();
    cr_assert_eq(cw_chip_parse(&chip, cw_small_chip, strlen(cw_small_chip), "tiny", arena, NULL), CW_OK);
}

static void teardown(void)
{
    cw_arena_destroy(arena);
}

TestSuite(formula, .init = setup, .fini = teardown);

static enum cw_status load(const char *text, const char *path, struct cw_error *err)
{
    return cw_formulas_parse(&chip, text, strlen(text), path, arena, err);
}

static const struct cw_formula *find(const char *name)
{
    uint32_t index = cw_formulas_find(chip, name);
    cr_assert_neq(index, CW_NONE, "%s", name);
    return &chip->formulas->items[index];
}

static const char two[] = "schema: 1\n"
                          "metrics:\n"
                          "  twice: {formula: 2 * ipc, unit: IPC}\n"
                          "  ipc:\n"
                          "    formula: sm__inst_executed.sum / sm__cycles_active.sum\n"
                          "    unit: instructions/gpc_cycles\n"
                          "    description: Instructions a cycle\n";

Test(formula, loads_in_any_order)
{
    struct cw_error err = CW_ERROR_INIT;
    cr_assert_eq(load(two, "two.yaml", &err), CW_OK, "%s", err.message);
    const struct cw_formula *ipc = find("ipc"), *twice = find("twice");
    cr_expect_str_eq(ipc->description, "Instructions a cycle");
    cr_expect_str_eq(ipc->unit, "instructions/gpc_cycles");
    cr_expect_eq(ipc->line, 4);
    cr_expect_str_eq(ipc->path, "two.yaml");
    cr_expect_eq(ipc->metric_count, 2);
    cr_expect_str_eq(twice->unit, "IPC");
    cr_expect_eq(twice->step_count, 5); /* the other is written out */
    cr_expect_eq(twice->metric_count, 2);
    cr_expect_eq(twice->formulas.count, 1);
}

static void count_counter(void *context, uint32_t counter, unsigned rollups)
{
    (void)counter;
    (void)rollups;
    ++*(int *)context;
}

Test(formula, is_a_metric_like_any_other)
{
    struct cw_metric m;
    char name[CW_METRIC_NAME_MAX], text[CW_DESCRIPTION_MAX];
    int counters = 0;
    const struct cw_glossary *glossary;
    cr_assert_eq(load(two, "two.yaml", NULL), CW_OK);
    cr_assert_eq(cw_metric_parse(&m, chip, "ipc", NULL), CW_OK);
    cr_expect_eq(m.type, CW_FORMULA);
    cr_expect_str_eq(cw_metric_type_text(m.type), "formula");
    cr_expect_str_eq(cw_metric_name(chip, &m, name), "ipc");
    cr_expect_str_eq(cw_metric_dimension(chip, &m, text, sizeof text), "instructions/gpc_cycles");
    const struct cw_needs needs = {.chip = chip, .add = count_counter, .context = &counters};
    cr_expect_eq(cw_metric_needs(&needs, &m, NULL), CW_OK);
    cr_expect_eq(counters, 2);
    cr_expect_eq(cw_metric_variants(CW_FORMULA), 1);
    cr_expect_eq(cw_metric_variant(CW_FORMULA, 1, 0).base, 1);
    cr_assert_eq(cw_glossary_load(&glossary, arena, NULL), CW_OK);
    cr_expect_str_eq(cw_describe_metric(glossary, chip, &m, text, sizeof text),
                     "Instructions a cycle = sm__inst_executed.sum / sm__cycles_active.sum");
    struct cw_error err = CW_ERROR_INIT;
    cr_expect_eq(cw_metric_parse(&m, chip, "ipcs", &err), CW_ERR_USAGE);
    cr_expect_str_eq(err.message, "found the metric 'ipcs', which TINY does not have; did you mean ipc?");
}

Test(formula, a_later_file_may_use_an_earlier_one)
{
    struct cw_error err = CW_ERROR_INIT, again = CW_ERROR_INIT;
    cr_assert_eq(load(two, "two.yaml", NULL), CW_OK);
    const struct cw_chip *before = chip;
    cr_assert_eq(load("schema: 1\nmetrics:\n  four: {formula: twice + twice}\n", "more.yaml", &err), CW_OK, "%s",
                 err.message);
    cr_expect_eq(chip->formulas->count, 3);
    cr_expect_eq(before->formulas->count, 2);
    cr_expect_str_eq(find("four")->unit, "instructions/gpc_cycles");
    cr_expect_eq(find("four")->step_count, 11);
    cr_expect_eq(load("schema: 1\nmetrics:\n  twice: {formula: 1}\n", "third.yaml", &again), CW_ERR_INPUT);
    cr_expect_str_eq(again.message, "found the metric twice a second time, first in two.yaml:3");
    cr_expect_eq(again.line, 3);
    cr_expect_eq(again.column, 3);
}

Test(formula, units_of_measurement)
{
    static const struct {
        const char *formula, *unit;
    } cases[] = {
        {"1", "1"},
        {"sm__inst_executed.sum", "instructions"},
        {"-abs(sm__inst_executed.sum)", "instructions"},
        {"sm__inst_executed.sum + sm__inst_executed.avg", "instructions"},
        {"sm__inst_executed.sum + 0", "instructions"},
        {"0 - sm__inst_executed.sum", "instructions"},
        {"sm__inst_executed.sum / sm__warps_launched.sum", "instructions/warps"},
        {"sm__inst_executed.sum / sm__inst_executed.avg", "1"},
        {"sm__inst_executed.sum / sm__inst_executed.avg + 1", "1"},
        {"sm__inst_executed.sum * sm__warps_launched.sum", "instructions*warps"},
        {"1 / gpu__time_duration.sum", "1/nanoseconds"},
        {"sm__inst_executed.sum.per_second", "instructions/s"},
        {"max(1, sm__inst_executed.sum)", "instructions"},
        {"min(sm__inst_executed.sum, 5, 2 * sm__inst_executed.max)", "instructions"},
        {"if(sm__warps_launched.sum > 0, sm__inst_executed.sum, 0)", "instructions"},
        {"if(sm__warps_launched.sum > sm__warps_launched.avg, 1, sm__inst_executed.sum)", "instructions"},
        {"sm__throughput.avg.pct_of_peak_sustained_active / 100", "%"},
        {"sm__average_inst_executed_per_warp.ratio", "instructions/warps"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cw_error err = CW_ERROR_INIT;
        const struct cw_chip *plain = chip;
        const char *text = cw_arena_printf(arena, "schema: 1\nmetrics:\n  m: {formula: \"%s\"}\n", cases[i].formula);
        cr_assert_eq(load(text, "f", &err), CW_OK, "%s: %s", cases[i].formula, err.message);
        cr_expect_str_eq(find("m")->unit, cases[i].unit, "%s: %s", cases[i].formula, find("m")->unit);
        chip = plain;
    }
}

Test(formula, declared_units)
{
    struct cw_error err = CW_ERROR_INIT;
    cr_assert_eq(load("schema: 1\n"
                      "metrics:\n"
                      "  peak: {formula: 3e12, unit: instructions/s}\n"
                      "  share: {formula: sm__inst_executed.sum.per_second / peak}\n"
                      "  fraction: {formula: sm__throughput.avg.pct_of_peak_sustained_active / 100, unit: \"1\"}\n"
                      "  label: {formula: sm__inst_executed.sum, unit: apples}\n",
                      "f", &err),
                 CW_OK, "%s", err.message);
    cr_expect_str_eq(find("peak")->unit, "instructions/s");
    cr_expect(find("peak")->constant);
    cr_expect_str_eq(find("share")->unit, "1");
    cr_expect_str_eq(find("label")->unit, "apples");
}

struct bad {
    int test_line;
    const char *text; /* from line 3 on */
    unsigned line, column;
    const char *message;
};

static void expect_errors(const struct bad *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct cw_error err = CW_ERROR_INIT;
        const struct cw_chip *before = chip;
        const char *text = cw_arena_printf(arena, "schema: 1\nmetrics:\n%s", cases[i].text);
        cr_expect_eq(load(text, "f.yaml", &err), CW_ERR_INPUT, "line %d", cases[i].test_line);
        cr_expect_eq(chip, before);
        cr_expect_str_eq(err.source, "f.yaml");
        cr_expect_eq(err.line, cases[i].line, "line %d: found line %u", cases[i].test_line, err.line);
        cr_expect_eq(err.column, cases[i].column, "line %d: found column %u", cases[i].test_line, err.column);
        cr_expect_str_eq(err.message, cases[i].message, "line %d: %s", cases[i].test_line, err.message);
    }
}

Test(formula, errors_of_the_formula_have_a_place_in_the_file)
{
    static const struct bad cases[] = {
        {__LINE__, "  m: {formula: 1 +}\n", 3, 19,
         "found the end of the formula, expected a number, a metric, '-' or '('"},
        {__LINE__, "  m: {formula: \"1 ? 2\"}\n", 3, 19, "found '?', expected an operator or the end of the formula"},
        {__LINE__, "  m:\n    formula: '1 ? 2'\n", 4, 17, "found '?', expected an operator or the end of the formula"},
        {__LINE__, "  m:\n    formula: |\n      1 ? 2\n", 4, 14,
         "found '?', expected an operator or the end of the formula (at character 3 of the formula)"},
        {__LINE__, "  m:\n    formula: 1\n      ? 2\n", 4, 14,
         "found '?', expected an operator or the end of the formula (at character 3 of the formula)"},
        {__LINE__, "  m: {formula: 2 * sm__inst_exected.sum}\n", 3, 20,
         "found the metric 'sm__inst_exected.sum', which TINY does not have; did you mean sm__inst_executed.sum?"},
        {__LINE__, "  m: {formula: sm__inst_executed}\n", 3, 16,
         "found the counter sm__inst_executed by itself, expected a rollup (.sum, .avg, .min or .max) and perhaps a "
         "sub-metric after it"},
        {__LINE__, "  mine: {formula: 1}\n  m: {formula: 2 * mne}\n", 4, 20,
         "found the metric 'mne', which TINY does not have; did you mean mine?"},
        {__LINE__, "  m: {formula: 2 * m}\n", 3, 20, "found a formula that refers back to itself: m -> m"},
        {__LINE__, "  a: {formula: b}\n  b: {formula: 1 + c}\n  c: {formula: b * 2}\n", 5, 16,
         "found a formula that refers back to itself: b -> c -> b"},
    };
    expect_errors(cases, sizeof cases / sizeof *cases);
}

Test(formula, errors_of_units)
{
    static const struct bad cases[] = {
        {__LINE__, "  m: {formula: sm__inst_executed.sum + sm__warps_launched.sum}\n", 3, 38,
         "found instructions and warps in '+', expected one unit of measurement"},
        {__LINE__, "  m: {formula: sm__inst_executed.sum - 1}\n", 3, 38,
         "found instructions and a plain number in '-', expected one unit of measurement"},
        {__LINE__, "  m: {formula: (2 - 1) + sm__inst_executed.sum}\n", 3, 24,
         "found a plain number and instructions in '+', expected one unit of measurement"},
        {__LINE__, "  m: {formula: \"max(sm__inst_executed.sum, 1, sm__warps_launched.sum)\"}\n", 3, 17,
         "found instructions and warps in 'max', expected one unit of measurement"},
        {__LINE__, "  m: {formula: \"if(sm__inst_executed.sum >= sm__warps_launched.sum, 1, 2)\"}\n", 3, 42,
         "found instructions and warps in '>=', expected one unit of measurement"},
        {__LINE__, "  m: {formula: \"if(1 < 2, sm__inst_executed.sum, sm__warps_launched.sum)\"}\n", 3, 17,
         "found instructions and warps in 'if', expected one unit of measurement"},
        {__LINE__,
         "  r: {formula: sm__inst_executed.sum / sm__inst_executed.avg}\n"
         "  m: {formula: r + sm__inst_executed.sum}\n",
         4, 18, "found 1 and instructions in '+', expected one unit of measurement"},
        {__LINE__, "  m: {formula: sm__inst_executed.sum / 0}\n", 3, 38, "found a division by zero"},
        {__LINE__, "  z: {formula: 1 - 1}\n  m: {formula: sm__inst_executed.sum / z}\n", 4, 38,
         "found a division by zero"},
        {__LINE__, "  m: {formula: sm__inst_executed.sum, unit: warps}\n", 3, 45,
         "found the unit warps, expected instructions as the formula gives"},
    };
    expect_errors(cases, sizeof cases / sizeof *cases);
}

Test(formula, errors_of_the_file)
{
    static const struct bad cases[] = {
        {__LINE__, "  - x\n", 3, 3, "found a list for the metrics, expected a mapping"},
        {__LINE__, "  m: {unit: bytes}\n", 3, 6, "found no 'formula', which is required"},
        {__LINE__, "  m: {formula: 1, colour: red}\n", 3, 19, "found the unknown key 'colour'"},
        {__LINE__, "  m: {formula: 1}\n  m: {formula: 2}\n", 4, 3, "found the key 'm' a second time, first on line 3"},
        {__LINE__, "  2m: {formula: 1}\n", 3, 3,
         "found '2m', expected a name of letters, digits, '_' and '.', at most 200, and not min, max, abs, floor, ceil "
         "or if"},
        {__LINE__, "  min: {formula: 1}\n", 3, 3,
         "found 'min', expected a name of letters, digits, '_' and '.', at most 200, and not min, max, abs, floor, "
         "ceil or if"},
        {__LINE__, "  sm__inst_executed: {formula: 1}\n", 3, 3,
         "found the metric sm__inst_executed, which TINY already has"},
        {__LINE__, "  sm__inst_executed.sum: {formula: 1}\n", 3, 3,
         "found the metric sm__inst_executed.sum, which TINY already has"},
        {__LINE__, "  m: {formula: 1, unit: \"a\\tb\"}\n", 3, 25,
         "found the unit 'a\\tb', expected at most 48 plain characters"},
    };
    struct cw_error err = CW_ERROR_INIT;
    expect_errors(cases, sizeof cases / sizeof *cases);
    cr_expect_eq(load("schema: 2\nmetrics: {}\n", "f.yaml", &err), CW_ERR_INPUT);
    cr_expect_str_eq(err.message, "found schema 2, expected schema 1");
    cr_expect_eq(cw_formulas_load(&chip, "nowhere.yaml", arena, NULL), CW_ERR_IO);
    cr_expect_eq(load("schema: 1\nmetrics: {}\n", "f.yaml", NULL), CW_OK);
    cr_expect_eq(chip->formulas->count, 0);
}

/* A chain of formulas, each of the one before it: "mI" of "mI-1". */
static const char *chain(int count, const char *format)
{
    char *text = cw_arena_strdup(arena, "schema: 1\nmetrics:\n"), line[200];
    char *all = cw_arena_alloc(arena, (size_t)count + 1, sizeof line);
    strcpy(all, text);
    for (int i = count; i > 0; i--) {
        snprintf(line, sizeof line, format, i, i - 1, i - 1);
        strcat(all, line);
    }
    return strcat(all, "  m0: {formula: sm__inst_executed.sum}\n");
}

Test(formula, limits)
{
    struct cw_error deep = CW_ERROR_INIT;
    const struct cw_chip *plain = chip;
    cr_expect_eq(load(chain(63, "  m%d: {formula: m%d}\n"), "f", NULL), CW_OK);
    chip = plain;
    cr_expect_eq(load(chain(64, "  m%d: {formula: m%d}\n"), "f", &deep), CW_ERR_INPUT);
    cr_expect_str_eq(deep.message, "found formulas that refer to formulas more than 64 deep");
}

/* Written out where it is referred to, the last would be of 2^40 steps. */
Test(formula, what_is_referred_to_often_is_a_part)
{
    struct cw_error err = CW_ERROR_INIT;
    cr_assert_eq(load(chain(40, "  m%d: {formula: m%d + m%d}\n"), "f", &err), CW_OK, "%s", err.message);
    const struct cw_formula *last = find("m40");
    cr_expect(last->step_count < 300 && last->part_count > 5 && last->metric_count == 1);
    cr_expect_eq(last->parts[last->part_count - 1].end, last->step_count);
    cr_expect_str_eq(chip->formulas->items[last->parts[last->part_count - 1].formula].name, "m40");
}

/* A formula of so many others of 19 steps each. */
static const char *sum(int count)
{
    char *all = cw_arena_alloc(arena, 100000, 1), *at = all;
    at += sprintf(at, "schema: 1\nmetrics:\n  all: {formula: m0");
    for (int i = 1; i < count; i++)
        at += sprintf(at, "+m%d", i);
    at += sprintf(at, "}\n");
    for (int i = 0; i < count; i++)
        at += sprintf(at, "  m%d: {formula: 1+1+1+1+1+1+1+1+1+1}\n", i);
    return all;
}

Test(formula, most_parts)
{
    struct cw_error err = CW_ERROR_INIT;
    const struct cw_chip *plain = chip;
    cr_expect_eq(load(sum(255), "f", &err), CW_OK, "%s", err.message);
    chip = plain;
    cr_expect_eq(load(sum(256), "f", &err), CW_ERR_INPUT);
    cr_expect_str_eq(err.message, "found too many formulas, counting the formulas in this one");
}

/* ---- alternatives, and formulas of a data folder ---------------------------------------------------------------- */

Test(formula, the_first_alternative_that_the_chip_has_is_taken)
{
    struct cw_error err = CW_ERROR_INIT;
    cr_assert(load("schema: 1\n"
                   "metrics:\n"
                   "  first: {formula: [sm__inst_executed.sum, sm__warps_launched.sum]}\n"
                   "  second: {formula: [sm__nothing.sum, 2 * sm__warps_launched.sum], unit: warps}\n"
                   "  last: {formula: [sm__nothing.sum / second, second + second]}\n",
                   "f", &err) == CW_OK,
              "%s", err.message);
    cr_expect_str_eq(find("first")->text, "sm__inst_executed.sum");
    cr_expect_str_eq(find("second")->text, "2 * sm__warps_launched.sum");
    cr_expect_str_eq(find("last")->unit, "warps");
    cr_expect(!find("last")->shipped);
}

Test(formula, errors_of_alternatives)
{
    static const struct bad cases[] = {
        {__LINE__, "  m: {formula: [sm__nothing.sum, sm__none.sum]}\n", 3, 17,
         "found the metric 'sm__nothing.sum', which TINY does not have"},
        {__LINE__, "  m: {formula: []}\n", 3, 16, "found no alternative, expected at least one formula"},
        {__LINE__, "  m: {formula: [[1]]}\n", 3, 17, "found a list for a name, expected a plain value"},
        {__LINE__, "  m: {formula: [sm__nothing.sum, 2 +]}\n", 3, 37,
         "found the end of the formula, expected a number, a metric, '-' or '('"},
        {__LINE__, "  m: {formula: [sm__nothing.sum, m]}\n", 3, 34,
         "found a formula that refers back to itself: m -> m"},
        {__LINE__, "  launch__grid_size: {formula: 1}\n", 3, 3,
         "found the metric launch__grid_size, which TINY already has"},
    };
    expect_errors(cases, sizeof cases / sizeof *cases);
}

Test(formula, units_of_operations_are_taken_at_their_word)
{
    struct cw_error err = CW_ERROR_INIT;
    cr_assert(load("schema: 1\n"
                   "metrics:\n"
                   "  work: {formula: 2 * sm__inst_executed.sum, unit: FLOP}\n"
                   "  other: {formula: sm__warps_launched.sum, unit: FLOP}\n"
                   "  all: {formula: work + other}\n"
                   "  rate: {formula: all / gpu__time_duration.sum}\n",
                   "f", &err) == CW_OK,
              "%s", err.message);
    cr_expect_str_eq(find("all")->unit, "FLOP");
    cr_expect_str_eq(find("rate")->unit, "FLOP/nanoseconds");
}

static char folder[] = "/tmp/cw-formulas-XXXXXX";

static void write_shipped(const char *name, const char *text)
{
    char path[64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *out = fopen(path, "w");
    cr_assert(out && fputs(text, out) >= 0 && fclose(out) == 0);
}

static void make_folder(void)
{
    char path[64];
    cr_assert(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/chips", folder);
    cr_assert_eq(mkdir(path, 0700), 0);
    cr_assert(cw_formulas_load_shipped(&chip, folder, arena, NULL) == CW_OK && !chip->formulas, "none is no error");
    snprintf(path, sizeof path, "%s/formulas", folder);
    cr_assert_eq(mkdir(path, 0700), 0);
    write_shipped("formulas/a.yaml", "schema: 1\n"
                                     "metrics:\n"
                                     "  zebra: {formula: sm__nothing.sum}\n"
                                     "  lost: {formula: 2 * zebra}\n"
                                     "  ipc: {formula: sm__inst_executed.sum / sm__cycles_active.sum}\n"
                                     "  twice: {formula: [2 * lost, 2 * ipc]}\n");
    write_shipped("formulas/b.yaml", "schema: 1\n"
                                     "metrics:\n"
                                     "  any: {formula: [zebra, lost]}\n"
                                     "  more: {formula: twice + ipc}\n");
}

static void remove_folder(void)
{
    static const char *const parts[] = {"formulas/a.yaml", "formulas/b.yaml", "formulas", "chips", ""};
    char path[64];
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, parts[i]);
        remove(path);
    }
}

Test(formula, what_a_chip_lacks_a_metric_for_is_left_out_of_the_folders)
{
    struct cw_error err = CW_ERROR_INIT, again = CW_ERROR_INIT;
    make_folder();
    cr_assert(cw_formulas_load_shipped(&chip, folder, arena, &err) == CW_OK, "%s", err.message);
    cr_expect_eq(chip->formulas->count, 3);
    cr_expect_eq(cw_formulas_find(chip, "zebra"), CW_NONE);
    cr_expect_eq(cw_formulas_find(chip, "lost"), CW_NONE);
    cr_expect_eq(cw_formulas_find(chip, "any"), CW_NONE);
    cr_expect(find("ipc")->shipped && find("more")->shipped);
    cr_expect_str_eq(find("twice")->text, "2 * ipc");
    cr_expect_eq(find("twice")->formulas.items[0], cw_formulas_find(chip, "ipc"), "numbers follow the gaps");
    cr_expect_eq(find("more")->formulas.items[0], cw_formulas_find(chip, "twice"));
    cr_expect_eq(load("schema: 1\nmetrics:\n  mine: {formula: more / 2}\n", "mine.yaml", &err), CW_OK);
    cr_expect_eq(load("schema: 1\nmetrics:\n  more: {formula: 1}\n", "mine.yaml", &again), CW_ERR_INPUT);
    cr_expect(strstr(again.message, "found the metric more a second time, first in /tmp/cw-formulas-"));
    remove_folder();
}

Test(formula, other_mistakes_in_the_folders_files_are_errors)
{
    struct cw_error err = CW_ERROR_INIT;
    make_folder();
    write_shipped("formulas/b.yaml", "schema: 1\nmetrics:\n  any: {formula: ipc + }\n");
    cr_expect_eq(cw_formulas_load_shipped(&chip, folder, arena, &err), CW_ERR_INPUT);
    cr_expect(err.line == 3 && strstr(err.source, "formulas/b.yaml"));
    remove_folder();
}

static enum cw_status read_in(struct cw_arena *own, struct cw_error *why)
{
    const struct cw_chip *longer = chip;
    return cw_formulas_parse(&longer, two, strlen(two), "f", own, why);
}

Test(formula, allocation_failures_are_reported)
{
    long count = cw_alloc_fail_each(read_in);
    cr_expect(count > 5 && count < 1000, "allocation %ld", -1 - count);
}
