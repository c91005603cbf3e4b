#include "metricdb/formula_flat.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHORT = 16 };

struct cw_flat {
    struct cw_expr_step steps[CW_FORMULA_STEPS_MAX];
    struct cw_metric metrics[CW_EXPR_NAMES_MAX];
    uint32_t formulas[CW_EXPR_NAMES_MAX];
    struct cw_formula_part parts[CW_FORMULA_PARTS_MAX];
    uint32_t step_count, metric_count, formula_count, part_count, stack;
    const char *what; /* the quantity that exceeds its limit */
};

static uint32_t add_metric(struct cw_flat *flat, const struct cw_metric *m)
{
    for (uint32_t i = 0; i < flat->metric_count; i++) {
        const struct cw_metric *k = &flat->metrics[i];
        if (k->type == m->type && k->base == m->base && k->rollup == m->rollup && k->sub == m->sub)
            return i;
    }
    if (flat->metric_count == CW_EXPR_NAMES_MAX) {
        flat->what = "different metrics";
        return 0;
    }
    flat->metrics[flat->metric_count] = *m;
    return flat->metric_count++;
}

static void add_step(struct cw_flat *flat, struct cw_expr_step step, const struct cw_metric *metric)
{
    flat->stack = flat->stack + 1 - cw_expr_takes(step.op);
    if (flat->step_count == CW_FORMULA_STEPS_MAX)
        flat->what = "steps";
    else if (flat->stack > CW_EXPR_STACK_MAX)
        flat->what = "values that wait for an operation";
    if (step.op == CW_EXPR_NAME && !flat->what)
        step.name = add_metric(flat, metric);
    if (!flat->what)
        flat->steps[flat->step_count++] = step;
}

/* Index of a formula's part; one behind the last if it has none. */
static uint32_t find_part(const struct cw_flat *flat, uint32_t formula)
{
    uint32_t i = 0;
    while (i < flat->part_count && flat->parts[i].formula != formula)
        i++;
    return i;
}

static void end_part(struct cw_flat *flat, uint32_t formula)
{
    if (flat->part_count == CW_FORMULA_PARTS_MAX)
        flat->what = "formulas";
    if (!flat->what)
        flat->parts[flat->part_count++] = (struct cw_formula_part){formula, flat->step_count};
    flat->stack = 0;
}

/* Adds the steps of a part of another formula. */
static void add_steps(struct cw_flat *flat, const struct cw_formula *other, uint32_t part, unsigned column)
{
    for (uint32_t i = part ? other->parts[part - 1].end : 0; i < other->parts[part].end && !flat->what; i++) {
        struct cw_expr_step step = other->steps[i];
        step.column = column;
        if (step.op == CW_EXPR_PART)
            step.name = find_part(flat, other->parts[step.name].formula);
        add_step(flat, step, step.op == CW_EXPR_NAME ? &other->metrics[step.name] : NULL);
    }
}

/* Short formulas are written out at each reference. Others become parts, so that the size does not grow with the number
 * of references. */
static bool is_short(const struct cw_formula *f)
{
    return f->part_count == 1 && f->step_count <= SHORT;
}

static void add_parts(struct cw_flat *flat, const struct cw_formula *other, unsigned column)
{
    for (uint32_t part = 0; part < other->part_count && !flat->what; part++)
        if (find_part(flat, other->parts[part].formula) == flat->part_count) {
            add_steps(flat, other, part, column);
            end_part(flat, other->parts[part].formula);
        }
}

static void add_reference(struct cw_flat *flat, const struct cw_formula *items, struct cw_expr_step step,
                          const struct cw_metric *m)
{
    if (m->type != CW_FORMULA) {
        add_step(flat, step, m);
    } else if (is_short(&items[m->base])) {
        add_steps(flat, &items[m->base], 0, step.column);
    } else {
        step.op = CW_EXPR_PART;
        step.name = find_part(flat, m->base);
        add_step(flat, step, NULL);
    }
}

static void *keep(struct cw_yaml_reader *in, const void *items, uint32_t count, size_t size)
{
    void *copy = cw_yaml_array(in, count, size);
    if (copy && count)
        memcpy(copy, items, count * size);
    return copy;
}

struct cw_flat *cw_flat_make(void)
{
    return malloc(sizeof(struct cw_flat));
}

void cw_formula_write_out(struct cw_flat *flat, struct cw_yaml_reader *in, const struct cw_yaml *text,
                          struct cw_formula *f, const struct cw_formula *items, const struct cw_expr *expr,
                          const struct cw_formula_reference *refs)
{
    flat->step_count = flat->metric_count = flat->formula_count = flat->part_count = flat->stack = 0;
    flat->what = NULL;
    unsigned column = 1;
    for (uint32_t i = 0; i < expr->name_count && !flat->what; i++) {
        if (refs[i].metric.type != CW_FORMULA)
            continue;
        const struct cw_formula *other = &items[refs[i].metric.base];
        flat->formulas[flat->formula_count++] = refs[i].metric.base;
        column = refs[i].column;
        if (!is_short(other))
            add_parts(flat, other, column);
    }
    for (uint32_t i = 0; i < expr->step_count && !flat->what; i++) {
        const struct cw_expr_step *step = &expr->steps[i];
        column = step->column;
        if (step->op == CW_EXPR_NAME)
            add_reference(flat, items, *step, &refs[step->name].metric);
        else
            add_step(flat, *step, NULL);
    }
    end_part(flat, (uint32_t)(f - items));
    if (flat->what) {
        char message[160];
        snprintf(message, sizeof message, "found too many %s, with the formulas that this one refers to", flat->what);
        cw_yaml_fail_inside(in, text, column, message);
    }
    cw_yaml_spend(in, text,
                  flat->step_count * sizeof *f->steps + flat->metric_count * sizeof *f->metrics +
                      flat->part_count * sizeof *f->parts);
    f->steps = keep(in, flat->steps, f->step_count = flat->step_count, sizeof *f->steps);
    f->parts = keep(in, flat->parts, f->part_count = flat->part_count, sizeof *f->parts);
    f->metrics = keep(in, flat->metrics, f->metric_count = flat->metric_count, sizeof *f->metrics);
    f->formulas.items = keep(in, flat->formulas, f->formulas.count = flat->formula_count, sizeof *f->formulas.items);
}
