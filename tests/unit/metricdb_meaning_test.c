#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "metricdb/chip_load.h"
#include "metricdb/formula_load.h"
#include "metricdb/meaning.h"
#include "tests/support/small_chip.h"

static struct cw_arena *arena;

static void set_up(void)
{
    arena = cw_arena_create();
}

static void tear_down(void)
{
    cw_arena_destroy(arena);
}

TestSuite(meaning, .init = set_up, .fini = tear_down);

/* The meaning of a base name of the small chip, with a part of its text replaced. */
static struct cw_base_meaning meaning_of(const char *name, const char *from, const char *to)
{
    struct cw_error err = CW_ERROR_INIT;
    const struct cw_chip *chip;
    enum cw_metric_type type;
    uint32_t base;
    char *text = cw_text_with(cw_small_chip, from, to);
    cr_assert_eq(cw_chip_parse(&chip, text, strlen(text), "tiny.yaml", arena, &err), CW_OK, "%s", err.message);
    free(text);
    cr_assert(cw_chip_find(chip, name, strlen(name), &type, &base), "%s", name);
    return cw_base_meaning(chip, type, base);
}

Test(meaning, changes_with_raw_counters_units_and_formulas)
{
    static const struct {
        int test_line;
        const char *name, *from, *to;
        bool changed;
    } cases[] = {
        {__LINE__, "sm__inst_executed", "instructions, peak: 4", "instructions, peak: 5", false},
        {__LINE__, "sm__inst_executed", "peak: 4, raw: [0x22]", "peak: 4, raw: [0x11]", true},
        {__LINE__, "sm__inst_executed", "peak: 4, raw: [0x22]", "peak: 4, raw: [0x22, 0x33]", true},
        {__LINE__, "sm__inst_executed", "dim: instructions, peak", "dim: warps, peak", true},
        {__LINE__, "sm__inst_executed", "peak: 4, raw", "peak: 4, of: {sm__warps_launched: 2}, raw", false},
        {__LINE__, "sm__warps_launched", "raw: [0x22, 0x33]}\nratios", "raw: [0x33, 0x22]}\nratios", false},
        {__LINE__, "sm__average_inst_executed_per_warp", "scale: 2", "scale: 3", true},
        {__LINE__, "sm__average_inst_executed_per_warp", "den: sm__warps_launched", "den: sm__cycles_active", true},
        {__LINE__, "sm__average_inst_executed_per_warp", "num: sm__inst_executed, den: sm__warps_launched, scale: 2, ",
         "", false},
        {__LINE__, "sm__throughput", "[sm__inst_executed, sm__cycles_active]", "[sm__cycles_active, sm__inst_executed]",
         false},
        {__LINE__, "sm__throughput", "[sm__inst_executed, sm__cycles_active]", "[sm__cycles_active]", true},
        {__LINE__, "gpu__throughput", "throughputs: [sm__throughput]", "counters: [sm__cycles_active]", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cw_base_meaning then = meaning_of(cases[i].name, cases[i].from, cases[i].from);
        struct cw_base_meaning now = meaning_of(cases[i].name, cases[i].from, cases[i].to);
        cr_expect_eq(cw_base_meaning_changed(&then, &now), cases[i].changed, "line %d", cases[i].test_line);
        cr_expect_eq(cw_base_meaning_changed(&now, &then), cases[i].changed, "line %d", cases[i].test_line);
    }
}

Test(meaning, marks_all_that_a_name_is_computed_from)
{
    const struct cw_chip *chip;
    struct cw_error err = CW_ERROR_INIT;
    uint8_t counters[5] = {0}, ratios[1] = {0}, throughputs[2] = {0}, formulas[1] = {0};
    uint8_t *const marks[CW_FORMULA + 1] = {counters, ratios, throughputs, formulas};
    const char own[] = "schema: 1\nmetrics: {mine: {formula: gpu__throughput.avg.pct_of_peak_sustained_elapsed * 2}}\n";
    cr_assert_eq(cw_chip_parse(&chip, cw_small_chip, strlen(cw_small_chip), "tiny.yaml", arena, NULL), CW_OK);
    cr_assert_eq(cw_formulas_parse(&chip, own, strlen(own), "own.yaml", arena, &err), CW_OK, "%s", err.message);
    cw_base_mark(chip, CW_RATIO, 0, marks);
    cr_expect(ratios[0] && !counters[0] && !counters[1] && counters[3] && counters[4] && !throughputs[0]);
    cw_base_mark(chip, CW_FORMULA, 0, marks);
    cr_expect(formulas[0] && throughputs[0] && throughputs[1] && counters[1] && !counters[2]);
}
