#include <criterion/criterion.h>
#include <ctype.h>
#include <string.h>

#include "base/file.h"
#include "metricdb/chip_load.h"
#include "metricdb/data.h"
#include "metricdb/legacy.h"
#include "metricdb/term.h"
#include "metricdb/yaml.h"
#include "tests/support/alloc_fail.h"

static struct cw_arena *arena;
static const struct cw_chip *chip;
static const struct cw_legacy *legacy;

static void setup(void)
{
    struct cw_error err = CW_ERROR_INIT;
    arena = cw_arena_create();
    cr_assert_eq(cw_chip_load(&chip, NULL, "GH100", arena, &err), CW_OK, "%s", err.message);
    cr_assert_eq(cw_legacy_load(&legacy, NULL, chip, arena, &err), CW_OK, "%s:%u:%u: %s", err.source, err.line,
                 err.column, err.message);
}

static void teardown(void)
{
    cw_arena_destroy(arena);
}

TestSuite(legacy, .init = setup, .fini = teardown);

/* ---- the shipped names ------------------------------------------------------------------------------------------ */

static unsigned count_of(enum cw_legacy_kind kind, size_t capability, enum cw_legacy_scope scope)
{
    unsigned count = 0;
    for (uint32_t i = 0; i < legacy->count; i++)
        count += legacy->names[i].kind == kind && legacy->names[i].scope[capability] == scope;
    return count;
}

Test(legacy, every_documented_name_is_there)
{
    /* how many metrics each capability has, by scope: single, multi, multi-some, device, listed */
    static const struct {
        const char *capability;
        unsigned by_scope[5];
    } rows[] = {
        {"1.x", {5, 0, 0, 0, 0}},    {"2.x", {53, 39, 0, 0, 0}},  {"3.x", {53, 40, 0, 0, 0}},
        {"5.x", {0, 81, 78, 2, 0}},  {"6.x", {0, 160, 0, 18, 0}}, {"7.0", {0, 157, 0, 18, 5}},
        {"7.2", {0, 157, 0, 18, 0}},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        size_t capability = cw_legacy_capability(rows[r].capability);
        cr_expect_eq(capability, r);
        for (int s = 0; s < 5; s++)
            cr_expect_eq(count_of(CW_LEGACY_METRIC, capability, (enum cw_legacy_scope)(CW_LEGACY_SINGLE + s)),
                         rows[r].by_scope[s], "%s %s", rows[r].capability,
                         cw_legacy_scope_text((enum cw_legacy_scope)(CW_LEGACY_SINGLE + s)));
    }
    cr_expect_eq(legacy->metric_count, 212);
    cr_expect_eq(legacy->count - legacy->metric_count, 82);
    cr_expect_eq(count_of(CW_LEGACY_EVENT, cw_legacy_capability("7.0"), CW_LEGACY_LISTED), 82);
    cr_expect_str_eq(legacy->chip, "GH100");
}

Test(legacy, formulas_and_reasons_are_counted)
{
    unsigned formulas[CW_LEGACY_KIND_COUNT] = {0}, none[CW_LEGACY_KIND_COUNT] = {0}, documented = 0;
    for (uint32_t i = 0; i < legacy->count; i++) {
        const struct cw_legacy_name *n = &legacy->names[i];
        cr_expect(!n->formula == !n->unit && !n->formula != !n->none, "%s", n->name);
        formulas[n->kind] += n->formula != NULL;
        none[n->kind] += n->none != NULL;
        documented += *n->documented != 0;
    }
    cr_expect(formulas[CW_LEGACY_METRIC] == 184 && none[CW_LEGACY_METRIC] == 28);
    cr_expect(formulas[CW_LEGACY_EVENT] == 72 && none[CW_LEGACY_EVENT] == 10);
    cr_expect_eq(documented, 144 + 72);
}

/* Names of metrics, taken from a formula in another way than the code does. */
static size_t names_in(const char *formula, char names[][CW_METRIC_NAME_MAX], size_t most)
{
    static const char of_names[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";
    size_t count = 0;
    while (*(formula += strcspn(formula, of_names))) {
        size_t length = strspn(formula, of_names);
        cr_assert(length < CW_METRIC_NAME_MAX && count < most);
        memcpy(names[count], formula, length);
        names[count][length] = 0;
        count += strstr(names[count], "__") != NULL;
        formula += length;
    }
    return count;
}

static void evaluate_on(const struct cw_chip *on, const struct cw_legacy *all, const struct cw_legacy_name *n)
{
    struct cw_error err = CW_ERROR_INIT;
    char names[8][CW_METRIC_NAME_MAX], unit[128];
    cr_expect_eq(cw_legacy_resolve(n, on, all->path, &err), CW_OK, "%u:%u: %s", err.line, err.column, err.message);
    size_t count = n->formula ? names_in(n->formula, names, 8) : 0;
    cr_expect(!n->formula || count, "%s", n->name);
    for (size_t k = 0; k < count; k++) {
        struct cw_metric m;
        cr_assert_eq(cw_metric_parse(&m, on, names[k], &err), CW_OK, "%s: %s", n->name, err.message);
        cr_expect_eq(cw_metric_needs(&(struct cw_needs){.chip = on}, &m, &err), CW_OK, "%s: %s", n->name, err.message);
        if (count == 1 && strcmp(n->formula, names[k]) == 0)
            cr_expect_str_eq(n->unit, cw_metric_dimension(on, &m, unit, sizeof unit), "%s", n->name);
    }
}

Test(legacy, every_formula_can_be_evaluated_on_the_chip)
{
    for (uint32_t i = 0; i < legacy->count; i++)
        evaluate_on(chip, legacy, &legacy->names[i]);
}

/* All that the documentation maps for 7.0, it maps to counters of that chip. */
Test(legacy, every_documented_mapping_can_be_evaluated_on_volta)
{
    struct cw_error err = CW_ERROR_INIT;
    const struct cw_chip *volta;
    const struct cw_legacy *there;
    cr_assert_eq(cw_chip_load(&volta, NULL, "GV100", arena, &err), CW_OK, "%s", err.message);
    cr_assert_eq(cw_legacy_load(&there, NULL, volta, arena, &err), CW_OK, "%s", err.message);
    cr_expect_str_eq(there->chip, "GV100");
    cr_expect_eq(there->count, legacy->count);
    for (uint32_t i = 0; i < there->count; i++) {
        evaluate_on(volta, there, &there->names[i]);
        cr_expect(!*there->names[i].documented || there->names[i].formula, "%s", there->names[i].name);
    }
    cr_expect_str_eq(cw_legacy_find(there, "half_precision_fu_utilization")->formula,
                     "smsp__inst_executed_pipe_fp16.avg.pct_of_peak_sustained_active");
    cr_expect_null(cw_legacy_find(there, "tensor_int_fu_utilization")->formula);
}

/* What a chip lacks has a reason; all else is a formula over its own metrics, in the unit that is said. */
Test(legacy, names_on_every_chip)
{
    static const struct {
        const char *chip;
        uint32_t formulas;
    } rows[] = {{"GV100", 255}, {"GV11B", 233}, {"TU102", 256}, {"TU116", 246}, {"GA100", 256},
                {"GA102", 256}, {"GA10B", 233}, {"AD102", 246}, {"GH100", 256}, {"GB100", 255},
                {"GB110", 255}, {"GB202", 245}, {"GB10B", 232}, {"GB20B", 232}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct cw_error err = CW_ERROR_INIT;
        const struct cw_chip *on;
        const struct cw_legacy *there;
        uint32_t formulas = 0;
        cr_assert_eq(cw_chip_load(&on, NULL, rows[i].chip, arena, &err), CW_OK, "%s", err.message);
        cr_assert_eq(cw_legacy_load(&there, NULL, on, arena, &err), CW_OK, "%s", err.message);
        cr_expect_eq(there->count, legacy->count);
        for (uint32_t k = 0; k < there->count; k++) {
            const struct cw_legacy_name *n = &there->names[k];
            cr_expect(!n->formula != !n->none, "%s on %s", n->name, on->name);
            evaluate_on(on, there, n);
            formulas += n->formula != NULL;
        }
        cr_expect_eq(formulas, rows[i].formulas, "%s: %u", on->name, formulas);
    }
}

/* Parentheses match, and nothing but what the grammar of formulas has stands in one. */
Test(legacy, formulas_are_well_formed)
{
    for (uint32_t i = 0; i < legacy->count; i++) {
        const struct cw_legacy_name *n = &legacy->names[i];
        int open = 0;
        for (const char *at = n->formula ? n->formula : ""; *at; at++) {
            cr_expect(isalnum((unsigned char)*at) || strchr("_.+-*/(), ", *at), "%s: '%c'", n->name, *at);
            open += (*at == '(') - (*at == ')');
            cr_expect_geq(open, 0, "%s", n->name);
        }
        cr_expect_eq(open, 0, "%s", n->name);
    }
}

Test(legacy, a_formula_that_is_not_the_documented_one_has_a_note)
{
    for (uint32_t i = 0; i < legacy->count; i++) {
        const struct cw_legacy_name *n = &legacy->names[i];
        if (n->formula && *n->documented && strcmp(n->formula, n->documented) != 0)
            cr_expect(*n->note, "%s", n->name);
        if (n->formula && !*n->documented && n->scope[cw_legacy_capability("7.0")] != CW_LEGACY_ABSENT)
            cr_expect(*n->note, "%s: no formula is documented", n->name);
    }
}

#define BYTES_PER_SECTOR "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.max_rate"
#define BYTES_PER_WAVEFRONT "smsp__sass_average_data_bytes_per_wavefront_mem_shared.max_rate"

Test(legacy, meanings_of_formulas)
{
    static const struct {
        const char *name, *formula, *unit;
    } rows[] = {
        {"achieved_occupancy", "sm__warps_active.avg.pct_of_peak_sustained_active / 100", "1"},
        {"ipc", "sm__inst_executed.avg.per_cycle_active", "instructions/gpc_cycles"},
        {"flop_count_sp",
         "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum + smsp__sass_thread_inst_executed_op_fmul_pred_on.sum + "
         "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum * 2",
         "instructions"},
        {"gld_efficiency", "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct", "%"},
        {"branch_efficiency", "smsp__sass_average_branch_targets_threads_uniform.pct", "%"},
        {"warp_execution_efficiency", "smsp__thread_inst_executed_per_inst_executed.pct", "%"},
        {"warp_nonpred_execution_efficiency", "smsp__thread_inst_executed_pred_on_per_inst_executed.pct", "%"},
        {"dram_read_throughput", "dram__bytes_read.sum.per_second", "bytes/s"},
        {"gst_transactions", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", "l2_sectors"},
        {"l2_tex_write_transactions", "lts__t_sectors_srcunit_tex_op_write.sum", "l2_sectors"},
        {"l2_tex_write_throughput", "lts__t_sectors_srcunit_tex_op_write.sum.per_second * " BYTES_PER_SECTOR,
         "bytes/s"},
        {"global_hit_rate", "l1tex__t_sector_pipe_lsu_mem_global_op_ld_hit_rate.pct", "%"},
        {"sysmem_read_bytes", "lts__t_sectors_aperture_sysmem_op_read.sum * " BYTES_PER_SECTOR, "bytes"},
        {"inst_executed_shared_atomics", "smsp__inst_executed_op_shared_atom.sum", "instructions"},
        {"inst_executed_surface_loads", "smsp__inst_executed_op_surface_ld.sum", "instructions"},
        {"half_precision_fu_utilization", "smsp__inst_executed_pipe_fma_type_fp16.avg.pct_of_peak_sustained_active",
         "%"},
        {"stall_sync",
         "smsp__warp_issue_stalled_membar_per_warp_active.pct + smsp__warp_issue_stalled_barrier_per_warp_active.pct",
         "%"},
        {"nvlink_total_data_received", "nvlrx__bytes.sum", "bytes"},
        {"l2_l1_read_throughput", "lts__t_sectors_srcunit_tex_op_read.sum.per_second * " BYTES_PER_SECTOR, "bytes/s"},
        {"not_predicated_off_thread_inst_executed", "smsp__thread_inst_executed_pred_on.sum", "instructions"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct cw_legacy_name *n = cw_legacy_find(legacy, rows[i].name);
        cr_assert_not_null(n, "%s", rows[i].name);
        cr_expect_str_eq(n->formula, rows[i].formula, "%s", n->name);
        cr_expect_str_eq(n->unit, rows[i].unit, "%s", n->name);
    }
}

/* They stand in formulas for numbers with a unit. */
Test(legacy, constants_by_name)
{
    struct cw_metric sector, wavefront;
    cr_assert_eq(cw_metric_parse(&sector, chip, BYTES_PER_SECTOR, NULL), CW_OK);
    cr_assert_eq(cw_metric_parse(&wavefront, chip, BYTES_PER_WAVEFRONT, NULL), CW_OK);
    cr_expect_eq(chip->ratios[sector.base].max_rate, 32);
    cr_expect_eq(chip->ratios[wavefront.base].max_rate, 128);
}

Test(legacy, slips_of_the_documentation_are_kept_as_facts)
{
    cr_expect_str_eq(cw_legacy_find(legacy, "l2_tex_write_transactions")->documented,
                     "lts__t_sectors_srcunit_tex_op_read.sum");
    cr_expect_str_eq(cw_legacy_find(legacy, "gst_transactions")->documented,
                     "l1tex__t_bytes_pipe_lsu_mem_global_op_st.sum");
    cr_expect(strstr(cw_legacy_find(legacy, "global_hit_rate")->documented, "{op}"));
    cr_expect_str_eq(cw_legacy_find(legacy, "sysmem_read_bytes")->documented,
                     "lts__t_sectors_aperture_sysmem_op_read* 32");
    cr_expect_not_null(cw_legacy_find(legacy, "l2_texure_read_throughput"), "misspelt, and a name all the same");
}

Test(legacy, what_has_no_formula_says_why_and_what_is_near)
{
    const struct cw_legacy_name *n = cw_legacy_find(legacy, "cf_fu_utilization");
    cr_assert_not_null(n);
    cr_expect(!n->formula && *n->none && n->closest_count == 1);
    cr_expect_str_eq(n->closest[0], "smsp__inst_executed_pipe_cbu.avg.pct_of_peak_sustained_active");
    n = cw_legacy_find(legacy, "prof_trigger_00");
    cr_expect(n && n->kind == CW_LEGACY_EVENT && n->closest_count == 0);
}

Test(legacy, scopes)
{
    const struct cw_legacy_name *n = cw_legacy_find(legacy, "gld_efficiency");
    static const enum cw_legacy_scope want[] = {CW_LEGACY_SINGLE,     CW_LEGACY_SINGLE, CW_LEGACY_SINGLE,
                                                CW_LEGACY_MULTI_SOME, CW_LEGACY_MULTI,  CW_LEGACY_MULTI,
                                                CW_LEGACY_MULTI};
    cr_expect_eq(memcmp(n->scope, want, sizeof want), 0);
    n = cw_legacy_find(legacy, "local_memory_overhead");
    cr_expect(n->scope[1] == CW_LEGACY_SINGLE && n->scope[2] == CW_LEGACY_SINGLE && n->scope[4] == CW_LEGACY_MULTI);
    n = cw_legacy_find(legacy, "tensor_int_fu_utilization");
    cr_expect(n->scope[5] == CW_LEGACY_MULTI && n->scope[6] == CW_LEGACY_MULTI);
    n = cw_legacy_find(legacy, "ecc_transactions");
    cr_expect(n->scope[4] == CW_LEGACY_MULTI && n->scope[5] == CW_LEGACY_ABSENT);
    cr_expect_eq(cw_legacy_capability("3.5"), 2);
    cr_expect_eq(cw_legacy_capability("7.0"), 5);
    cr_expect_eq(cw_legacy_capability("7.2"), 6);
    static const char *const unknown[] = {"", "4.x", "7.5", "7.x", "3", "3.", "3.55", "3.y"};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        cr_expect_eq(cw_legacy_capability(unknown[i]), CW_LEGACY_CAPABILITIES, "%s", unknown[i]);
}

Test(legacy, finding)
{
    for (uint32_t i = 0; i < legacy->count; i++)
        cr_expect_eq(cw_legacy_find_kind(legacy, legacy->names[i].kind, legacy->names[i].name), &legacy->names[i]);
    const struct cw_legacy_name *n = cw_legacy_find(legacy, "inst_executed"), *event;
    event = cw_legacy_find_kind(legacy, CW_LEGACY_EVENT, "inst_executed");
    cr_expect(n && n->kind == CW_LEGACY_METRIC && event && event != n);
    cr_expect_eq(cw_legacy_find(legacy, "warps_launched")->kind, CW_LEGACY_EVENT);
    cr_expect_null(cw_legacy_find(legacy, "warps_launche"));
    cr_expect_null(cw_legacy_find(legacy, ""));

    struct cw_error err = CW_ERROR_INIT;
    cr_expect_eq(cw_legacy_get(&n, legacy, "achieved_ocupancy", &err), CW_ERR_USAGE);
    cr_expect_str_eq(err.message, "found no CUPTI metric or event named 'achieved_ocupancy', counterworks legacy lists "
                                  "them; did you mean achieved_occupancy?");
    err = (struct cw_error)CW_ERROR_INIT;
    cr_expect_eq(cw_legacy_get(&n, legacy, "inst_executd", &err), CW_ERR_USAGE);
    const char *first = strstr(err.message, "inst_executed");
    cr_expect(first && !strstr(first + 1, "inst_executed"), "offered once: %s", err.message);
}

/* ---- what is refused -------------------------------------------------------------------------------------------- */

#define HEAD "schema: 1\nchips: [GH100, B]\nevents: {}\nmetrics:\n"
#define BODY "  a:\n    scope: {multi: [7.0]}\n    description: d\n"
#define FINE BODY "    unit: \"1\"\n    formula: x\n"

Test(legacy, mistakes_have_their_place)
{
    static const struct {
        const char *text;
        unsigned line, column;
        const char *message;
    } rows[] = {
        {"schema: 2\n", 1, 9, "found schema 2, expected schema 1"},
        {"schema: 1\nchop: x\n", 2, 1, "found the unknown key 'chop'"},
        {"schema: 1\nchips: [GH100]\n", 1, 1, "found no 'metrics', which is required"},
        {HEAD "  a: 5\n", 5, 6, "found a plain value for an entry, expected a mapping"},
        {HEAD "  a:\n    scope: {multi: [7.0]}\n    description: d\n    formule: x\n", 8, 5,
         "found the unknown key 'formule'"},
        {HEAD "  a:\n    scope: {some: [7.0]}\n", 6, 13,
         "found the scope 'some', expected single, multi, multi-some, device or listed"},
        {HEAD "  a:\n    scope: {multi: [7.5]}\n", 6, 21,
         "found the capability '7.5', expected 1.x, 2.x, 3.x, 5.x, 6.x, 7.0 or 7.2"},
        {HEAD "  a:\n    scope: {multi: [7.0], device: [7.0]}\n", 6, 36, "found the capability 7.0 a second time"},
        {HEAD "  a:\n    scope: {}\n", 6, 12, "found no capability, expected at least one"},
        {HEAD BODY, 6, 5, "found neither 'formula' and 'none', expected one of them"},
        {HEAD BODY "    unit: \"1\"\n    formula: x\n    none: y\n    closest: []\n", 6, 5,
         "found both 'formula' and 'none', expected one of them"},
        {HEAD BODY "    formula: x\n", 6, 5, "found no 'unit', which is required"},
        {HEAD BODY "    unit: \"1\"\n    formula: ''\n", 9, 14, "found an empty formula"},
        {HEAD BODY "    none: y\n", 6, 5, "found no 'closest', which is required"},
        {HEAD BODY "    none: y\n    closest: [a, b, c]\n", 9, 14, "found 3 closest metrics, expected at most 2"},
        {HEAD BODY "    none: y\n    closest: []\n    unit: s\n", 10, 11, "found 'unit' without a formula"},
        {HEAD FINE "    closest: [b]\n", 10, 14, "found 'closest' beside a formula, expected it beside 'none'"},
        {HEAD FINE "    on: {C: {formula: x, unit: s}}\n", 10, 10, "found the chip C, expected one of 'chips'"},
        {HEAD FINE "    on: {B: {formula: x}}\n", 10, 13, "found no 'unit', which is required"},
        {HEAD FINE "    on: {B: {scope: x}}\n", 10, 14, "found the unknown key 'scope'"},
        {HEAD FINE "    or: {formula: x, unit: s}\n", 10, 9, "found a mapping for other values, expected a list"},
        {HEAD FINE "    or: [{formula: x}]\n", 10, 10, "found no 'unit', which is required"},
        {"schema: 1\nchips: []\nmetrics: {}\nevents: {}\n", 2, 8, "found no chip, expected at least one"},
        {HEAD FINE "  a: {}\n", 10, 3, "found the key 'a' a second time, first on line 5"},
        {HEAD FINE "  A: {}\n", 10, 3, "found A after a, expected names in ascending order"},
    };
    for (size_t n = 0; n < 2 * (sizeof rows / sizeof *rows); n++) {
        const struct cw_chip *on = n % 2 ? chip : NULL;
        const size_t i = n / 2;
        const struct cw_legacy *bad;
        struct cw_error err = CW_ERROR_INIT;
        cr_expect_eq(cw_legacy_parse(&bad, rows[i].text, strlen(rows[i].text), "l.yaml", on, arena, &err), CW_ERR_INPUT,
                     "%zu", i);
        cr_expect_str_eq(err.message, rows[i].message, "%zu: %s", i, err.message);
        cr_expect(err.line == rows[i].line && err.column == rows[i].column, "%zu: %u:%u", i, err.line, err.column);
        cr_expect_str_eq(err.source, "l.yaml");
        cr_expect_null(bad);
    }
}

Test(legacy, a_metric_that_the_chip_lacks_has_its_place)
{
    static const struct {
        const char *value;
        unsigned line, column;
        const char *part;
    } rows[] = {
        {"    unit: \"1\"\n    formula: 2 * dram__bytes.sum + dram__bites.sum\n", 9, 36, "dram__bytes"},
        {"    unit: \"1\"\n    formula: max(dram__bytes.summ, 1)\n", 9, 18, "dram__bytes.sum"},
        {"    unit: \"1\"\n    formula: dram__bytes\n", 9, 14, "dram__bytes"},
        {"    none: n\n    closest: [dram__bytes.sum, dram__nothing.sum]\n", 9, 14, "dram__nothing"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[512] = HEAD BODY;
        const struct cw_legacy *one;
        struct cw_error err = CW_ERROR_INIT;
        strcat(text, rows[i].value);
        cr_assert_eq(cw_legacy_parse(&one, text, strlen(text), "l.yaml", NULL, arena, &err), CW_OK, "%s", err.message);
        cr_expect_eq(cw_legacy_resolve(&one->names[one->count - 1], chip, one->path, &err), CW_ERR_INPUT);
        cr_expect(err.line == rows[i].line && err.column == rows[i].column, "%zu: %u:%u", i, err.line, err.column);
        cr_expect(strstr(err.message, rows[i].part), "%s", err.message);
    }
}

Test(legacy, running_out_of_memory_is_an_error)
{
    static const char text[] = HEAD FINE "    or: [{formula: y, unit: s}]\n"
                                         "  b:\n    scope: {device: [6.x]}\n    description: d\n    none: n\n"
                                         "    closest: [c]\n    on: {B: {formula: x, unit: s}}\n"
                                         "  c:\n    scope: {device: [6.x]}\n    description: d\n    unit: s\n"
                                         "    formula: a__b.sum\n    or: [{formula: c__d.sum, unit: s}]\n";
    static const struct cw_chip b = {.name = "B"};
    enum cw_status status = CW_ERR_NOMEM;
    for (long i = 0; status == CW_ERR_NOMEM; i++) {
        const struct cw_legacy *one;
        struct cw_error err = CW_ERROR_INIT;
        struct cw_arena *own = cw_arena_create();
        cr_assert(own && i < 4000);
        cw_alloc_fail_after(i);
        status = cw_legacy_parse(&one, text, sizeof text - 1, "l.yaml", &b, own, &err);
        bool failed = cw_alloc_failed();
        cw_alloc_fail_after(-1);
        cr_expect_eq(status, failed ? CW_ERR_NOMEM : CW_OK, "allocation %ld", i);
        cr_expect_eq(err.code, status);
        cw_arena_destroy(own);
    }
}
