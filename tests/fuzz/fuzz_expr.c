#include <string.h>

#include "eval/eval_formula.h"
#include "metricdb/formula.h"
#include "metricdb/formula_load.h"
#include "metricdb/term.h"
#include "tests/fuzz/small.h"

/* A program never takes more values than there are, and leaves one. */
static void check_steps(const struct cw_expr_step *steps, uint32_t count, uint32_t names, uint32_t parts)
{
    uint32_t stack = 0;
    for (uint32_t i = 0; i < count; i++) {
        CW_FUZZ_CHECK(stack >= cw_expr_takes(steps[i].op));
        CW_FUZZ_CHECK(steps[i].op != CW_EXPR_NAME || steps[i].name < names);
        CW_FUZZ_CHECK(steps[i].op != CW_EXPR_PART || steps[i].name < parts);
        stack = stack + 1 - cw_expr_takes(steps[i].op);
        CW_FUZZ_CHECK(stack <= CW_EXPR_STACK_MAX);
    }
    CW_FUZZ_CHECK(stack == 1);
}

static void check_expression(const char *text, struct cw_arena *arena)
{
    struct cw_expr expr;
    struct cw_error err = CW_ERROR_INIT;
    enum cw_status status = cw_expr_parse(&expr, text, "fuzz", arena, &err);
    CW_FUZZ_CHECK(status == CW_OK || status == CW_ERR_INPUT);
    CW_FUZZ_CHECK(status == err.code);
    CW_FUZZ_CHECK(status == CW_OK || (err.line == 1 && err.column >= 1 && err.column <= strlen(text) + 1));
    if (status == CW_OK)
        check_steps(expr.steps, expr.step_count, expr.name_count, 0);
}

static void operand(void *context, uint32_t metric, double *values, int8_t *statuses)
{
    const struct cw_formula *f = context;
    CW_FUZZ_CHECK(metric < f->metric_count);
    values[0] = metric;
    statuses[0] = (int8_t)(metric % CW_VALUE_STATUS_COUNT);
}

static void check_needed(void *context, uint32_t counter, unsigned rollups)
{
    CW_FUZZ_CHECK(rollups < CW_ROLLUP_BIT(CW_ROLLUP_COUNT));
    CW_FUZZ_CHECK(counter < ((const struct cw_chip *)context)->counter_count);
}

static void check_formula(const struct cw_chip *chip, uint32_t index)
{
    const struct cw_formula *f = &chip->formulas->items[index];
    const struct cw_metric m = {.type = CW_FORMULA, .base = index};
    /* a value and a byte of status for each range of a block */
    static double slots[(CW_EXPR_STACK_MAX + CW_FORMULA_PARTS_MAX) * (CW_EVAL_BLOCK + CW_EVAL_BLOCK / sizeof(double))];
    double value;
    int8_t status;
    for (uint32_t p = 0, first = 0; p < f->part_count; first = f->parts[p++].end)
        check_steps(f->steps + first, f->parts[p].end - first, f->metric_count, p);
    CW_FUZZ_CHECK(f->parts[f->part_count - 1].end == f->step_count && f->parts[f->part_count - 1].formula == index);
    CW_FUZZ_CHECK(cw_formulas_find(chip, f->name) == index);
    CW_FUZZ_CHECK(cw_formula_slots(f) <= sizeof slots);
    cw_formula_run(f, (struct cw_formula_slot *)slots, 1, operand, (void *)(uintptr_t)f, &value, &status);
    CW_FUZZ_CHECK(status >= 0 && status < CW_VALUE_STATUS_COUNT);
    cw_metric_needs(&(struct cw_needs){.chip = chip, .add = check_needed, .context = (void *)(uintptr_t)chip}, &m,
                    NULL);
}

static void check_file(const uint8_t *data, size_t size, struct cw_arena *arena)
{
    const struct cw_chip *const small = cw_fuzz_small_chip(), *chip = small;
    struct cw_error err = CW_ERROR_INIT;
    enum cw_status status = cw_formulas_parse(&chip, data, size, "fuzz", arena, &err);
    CW_FUZZ_CHECK(status == CW_OK || status == CW_ERR_INPUT);
    CW_FUZZ_CHECK(status == err.code);
    CW_FUZZ_CHECK(status == CW_OK ? chip != small : (chip == small && err.line > 0 && err.column > 0));
    for (uint32_t i = 0; status == CW_OK && i < chip->formulas->count; i++)
        check_formula(chip, i);
}

/* A file of formulas, or else one formula. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cw_arena *arena = cw_arena_create();
    if (size >= 6 && memcmp(data, "schema", 6) == 0) {
        check_file(data, size, arena);
    } else {
        char *text = malloc(size + 1);
        CW_FUZZ_CHECK(text);
        if (size)
            memcpy(text, data, size);
        text[size] = 0;
        check_expression(text, arena);
        free(text);
    }
    cw_arena_destroy(arena);
    return 0;
}
