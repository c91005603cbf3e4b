#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "metricdb/chip_files.h"
#include "metricdb/chip_load.h"
#include "metricdb/lint.h"
#include "tests/support/small_chip.h"

struct seen {
    size_t count, errors;
    char text[64][512]; /* "line:column error [rule] message" */
};

static void note(void *context, const struct cw_finding *f)
{
    struct seen *seen = context;
    cr_expect_str_eq(f->source, "t.yaml");
    seen->errors += f->level == CW_LINT_ERROR;
    if (seen->count < sizeof seen->text / sizeof *seen->text)
        snprintf(seen->text[seen->count++], sizeof seen->text[0], "%u:%u %s [%s] %s", f->line, f->column,
                 f->level == CW_LINT_ERROR ? "error" : "warning", f->rule, f->message);
}

static const struct cw_glossary *glossary(struct cw_arena *arena)
{
    const struct cw_glossary *g;
    cr_assert_eq(cw_glossary_load(&g, arena, NULL), CW_OK);
    return g;
}

static void lint(struct seen *seen, const char *text)
{
    struct cw_arena *arena = cw_arena_create();
    struct cw_error err = CW_ERROR_INIT;
    *seen = (struct seen){0};
    cr_assert_eq(cw_lint_chip(text, strlen(text), "t.yaml", glossary(arena), note, seen, &err), CW_OK, "%s",
                 err.message);
    cw_arena_destroy(arena);
}

Test(lint, nothing_is_wrong_with_the_small_chip)
{
    struct seen seen;
    lint(&seen, cw_small_chip);
    cr_expect_eq(seen.errors, 0);
    /* its warps have no active cycles, on purpose */
    cr_assert_eq(seen.count, 1);
    cr_expect_str_eq(seen.text[0],
                     "21:3 warning [counter-cycles] found no counter of active cycles for sm__warps_launched");
}

Test(lint, each_rule_names_the_place)
{
    static const struct {
        int test_line;
        const char *from, *to, *finding;
    } cases[] = {
        {__LINE__, "gpc_cycles, peak: 1, raw: [0x11]", "gpc_cycles, peak: 1, raw: []",
         "18:3 error [counter-raw] found no raw counter for sm__cycles_active"},
        {__LINE__, "peak: 4, raw", "peak: 4, of: {sm__cycles_active: 1}, raw",
         "20:3 error [counter-terms] found other raw counters for the terms of sm__inst_executed than for itself"},
        {__LINE__, "peak: 4, raw: [0x22]", "peak: 4, of: {sm__cycles_active: 1}, raw: [0x11, 0x22]",
         "20:3 error [counter-terms] found other raw counters for the terms of sm__inst_executed than for itself"},
        {__LINE__, "  0x0000000000000033: [trace]", "  0x0000000000000033: []",
         "15:3 warning [raw-domain] found no domain that collects the raw counter 0x0000000000000033 in range "
         "profiling"},
        {__LINE__, "gpu_sm_a: 32", "gpu_sm_a: 1",
         "11:3 error [domain-id] found the number 1 for gpu_sm_a, which is also trace's"},
        {__LINE__, "trace: 1", "trace: 1\n  spare: 2",
         "11:3 warning [domain-unused] found no raw counter that the domain spare collects"},
        {__LINE__, "sm: {instances: 4", "sm: {instances: 0",
         "8:3 warning [unit-instances] found no instances for the unit sm, expected a number unless devices lack it"},
        {__LINE__, "peak: 4, ", "", "20:3 warning [counter-peak] found no peak for sm__inst_executed"},
        {__LINE__, "instances: 1, active: sm__cycles_active, elapsed: sm__cycles_elapsed}", "instances: 1}",
         "17:3 warning [counter-cycles] found no counter of active cycles for gpu__time_duration"},
        {__LINE__, "time: gpu__time_duration\n", "",
         "1:1 warning [time] found no 'time', expected the counter that per-second values divide by"},
        {__LINE__, "confirmed: 3, raw: [0x22, 0x33]", "confirmed: 3, raw: [0x22]",
         "23:166 error [ratio-raw] found no 0x0000000000000033 among the raw counters of "
         "sm__average_inst_executed_per_warp, which needs it for sm__warps_launched"},
        {__LINE__, "num: sm__inst_executed, den: sm__warps_launched", "num: sm__warps_launched, den: sm__inst_executed",
         "23:3 error [ratio-inverted] found sm__warps_launched / sm__inst_executed for "
         "sm__average_inst_executed_per_warp, expected its inverse, as the dimension is instructions/warps"},
        {__LINE__, "dim: instructions/warps, num: sm__inst_executed, den: sm__warps_launched",
         "dim: 1, num: sm__warps_launched, den: sm__inst_executed",
         "23:3 error [ratio-inverted] found sm__warps_launched / sm__inst_executed for "
         "sm__average_inst_executed_per_warp, expected its inverse, as the name says"},
        {__LINE__, "num: sm__inst_executed, den: sm__warps_launched, ", "",
         "23:3 warning [ratio-formula] found no formula for sm__average_inst_executed_per_warp"},
        {__LINE__, "counters: [sm__inst_executed, sm__cycles_active], ", "",
         "25:3 warning [throughput-parts] found no constituents of sm__throughput"},
        {__LINE__, "raw: [0x11, 0x22]}\n  gpu__", "raw: [0x11]}\n  gpu__",
         "25:99 error [throughput-raw] found no 0x0000000000000022 among the raw counters of sm__throughput, which "
         "needs it for sm__inst_executed"},
        {__LINE__, "sm__warps_launched: {unit: sm, dim: warps",
         "sm_warps: {unit: sm, dim: warps, raw: [], peak: 1}\n  sm__warps_launched: {unit: sm, dim: warps",
         "21:3 error [name-grammar] found the name 'sm_warps', expected unit__words"},
        {__LINE__, "sm__warps_launched: {unit: sm, dim: warps",
         "sm__inst__executed: {unit: sm, dim: warps, raw: [], peak: 1}\n  sm__warps_launched: {unit: sm, dim: warps",
         "21:3 error [name-grammar] found the name 'sm__inst__executed', expected unit__words"},
        {__LINE__, "sm__warps_launched: {unit: sm, dim: warps",
         "sm__odd_warps_launched: {unit: sm, dim: warps, raw: [], peak: 1}\n  sm__warps_launched: {unit: sm, dim: "
         "warps",
         "21:3 error [glossary-word] found 'odd' in sm__odd_warps_launched, expected words of the glossary"},
        {__LINE__, "dim: instructions, ", "dim: instructions/furlong, ",
         "20:38 warning [dimension] found the dimension 'instructions/furlong', expected known factors, not 'furlong'"},
        {__LINE__, "dim: instructions, ", "dim: bytes*, ",
         "20:38 warning [dimension] found the dimension 'bytes*', expected known factors, not ''"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct seen seen;
        char *text = cw_text_with(cw_small_chip, cases[i].from, cases[i].to);
        lint(&seen, text);
        bool is_error = strstr(cases[i].finding, " error ");
        size_t k = 0;
        while (k < seen.count && strcmp(seen.text[k], cases[i].finding) != 0)
            k++;
        cr_expect_lt(k, seen.count, "line %d: found %s", cases[i].test_line, seen.count ? seen.text[0] : "nothing");
        cr_expect_eq(seen.errors > 0, is_error || strstr(cases[i].to, "raw: []"), "line %d", cases[i].test_line);
        free(text);
    }
}

/* One finding for what is true of all counters. */
Test(lint, a_chip_that_was_not_measured_or_cannot_be_planned)
{
    static const char text[] = "schema: 1\nchip: X\nunits: {u: {}}\ndomains: {}\nraw_counters: {0x1: []}\n"
                               "counters:\n  sm__cycles_active: {unit: u, dim: gpc_cycles, active: sm__cycles_active, "
                               "elapsed: sm__cycles_active, raw: [0x1]}\nratios:\nthroughputs:\n"
                               "time: sm__cycles_active\n";
    struct seen seen;
    lint(&seen, text);
    cr_expect_eq(seen.errors, 0);
    cr_assert_eq(seen.count, 2);
    cr_expect_str_eq(seen.text[0], "1:1 warning [not-measured] found no peaks of X, expected those of a device; "
                                   "captures bring theirs");
    cr_expect_str_eq(seen.text[1],
                     "1:1 warning [no-domains] found no domains of X, expected some; nothing can be planned for it");
}

Test(lint, fails_where_the_file_does_not_load)
{
    struct cw_error err = CW_ERROR_INIT;
    struct seen seen = {0};
    cr_expect_eq(cw_lint_chip("a: [", 4, "t.yaml", NULL, note, &seen, &err), CW_ERR_INPUT);
    cr_expect_str_eq(err.source, "t.yaml");
    cr_expect_eq(seen.count, 0);
}

/* ---- sets ------------------------------------------------------------------------------------------------------- */

Test(lint, sets)
{
    static const struct {
        int test_line;
        const char *text, *finding; /* NULL for none */
    } cases[] = {
        {__LINE__, "schema: 1\nset: s\ntitle: t\nmetrics:\n  - sm__inst_executed.sum\n", NULL},
        {__LINE__, "schema: 1\nset: s\ntitle: t\nmetrics:\n  - sm__inst_executed.sum\n  - sm__inst_execute.sum\n",
         "6:5 warning [set-metric] found the metric sm__inst_execute.sum, which TINY lacks, or has no formula for"},
        {__LINE__, "schema: 1\nset: s\ntitle: t\nmetrics: []\n",
         "4:10 error [set-file] found no metrics, expected at least one"},
        {__LINE__, "schema: 1\nset: s\nmetrics: [sm__inst_executed.sum]\n",
         "1:1 error [set-file] found no 'title', which is required"},
        {__LINE__, "schema: 1\nset: s\ntitle: t\nmetric: []\n", "4:1 error [set-file] found the unknown key 'metric'"},
        {__LINE__, "schema: 3\nset: s\ntitle: t\nmetrics: []\n",
         "1:9 error [set-file] found schema 3, expected schema 1"},
        {__LINE__, "schema: 1\nset: s\ntitle: t\nmetrics:\n  - sm__inst_executed.sum\n  - sm__inst_executed.sum\n",
         "6:5 error [set-file] found the metric sm__inst_executed.sum a second time, first on line 5"},
        {__LINE__, "schema: 1\nset: s\ntitle: t\nmetrics: [[[a]]]\n",
         "4:12 error [set-file] found a list for a name, expected a plain value"},
        {__LINE__, "schema: 1\nset: s\ntitle: t\nmetrics: [a]\n",
         "4:10 warning [set-metric] found no metric of the set that TINY can give: found the metric 'a', which TINY "
         "does "
         "not have"},
    };
    struct cw_arena *arena = cw_arena_create();
    const struct cw_chip *chip;
    cr_assert_eq(cw_chip_parse(&chip, cw_small_chip, strlen(cw_small_chip), "t.yaml", arena, NULL), CW_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct seen seen = {0};
        cr_expect_eq(cw_lint_set(cases[i].text, strlen(cases[i].text), "t.yaml", chip, note, &seen, NULL), CW_OK);
        cr_expect_eq(seen.count, cases[i].finding ? 1 : 0, "line %d", cases[i].test_line);
        if (cases[i].finding)
            cr_expect_str_eq(seen.text[0], cases[i].finding, "line %d: %s", cases[i].test_line, seen.text[0]);
    }
    cw_arena_destroy(arena);
}

/* ---- shipped files ---------------------------------------------------------------------------------------------- */

/* What a shipped file may not have, though it is no mistake in a file of one's own. */
static void expect_fact(void *context, const struct cw_finding *f)
{
    (void)context;
    static const char *const facts[] = {"unit-instances",   "domain-unused", "ratio-formula", "raw-domain",
                                        "throughput-parts", "not-measured",  "no-domains",    "set-metric"};
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        if (f->level == CW_LINT_WARNING && strcmp(f->rule, facts[i]) == 0)
            return;
    cr_expect_fail("%s:%u:%u: %s [%s]", f->source, f->line, f->column, f->message, f->rule);
}

Test(lint, shipped_files_are_clean, .timeout = 600)
{
    struct cw_error err = CW_ERROR_INIT;
    const struct cw_chip_file *files;
    size_t count, chips = 0;
    struct cw_arena *arena = cw_arena_create();
    cr_assert_eq(cw_chip_files(&files, &count, NULL, arena, &err), CW_OK, "%s", err.message);
    for (size_t i = 0; i < count; i++) {
        cr_expect_eq(cw_lint_file(files[i].path, expect_fact, NULL, &err), CW_OK, "%s", err.message);
        chips += files[i].name_count;
    }
    cr_expect_geq(chips, 30);
    cr_expect_eq(cw_lint_file("/nowhere/x.yaml", expect_fact, NULL, &err), CW_ERR_IO);
    cw_arena_destroy(arena);
}
