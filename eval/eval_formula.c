#include "eval/eval_formula.h"

#include <math.h>
#include <string.h>

struct cw_formula_slot {
    double values[CW_EVAL_BLOCK];
    int8_t statuses[CW_EVAL_BLOCK];
};

static void take_graver(int8_t *a, const int8_t *b, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        a[i] = b[i] > a[i] ? b[i] : a[i];
}

static void divide(struct cw_formula_slot *a, const struct cw_formula_slot *b, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        a->values[i] /= b->values[i];
        int8_t status = b->values[i] == 0 ? CW_VALUE_ZERO_DENOMINATOR : CW_VALUE_OK;
        a->statuses[i] = status > a->statuses[i] ? status : a->statuses[i];
    }
}

static void choose(struct cw_formula_slot *condition, const struct cw_formula_slot *a, const struct cw_formula_slot *b,
                   uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct cw_formula_slot *chosen = condition->values[i] != 0 ? a : b;
        int8_t status = chosen->statuses[i];
        condition->values[i] = chosen->values[i];
        condition->statuses[i] = status > condition->statuses[i] ? status : condition->statuses[i];
    }
}

#define EACH(expression)                                                                                               \
    for (uint32_t i = 0; i < count; i++)                                                                               \
        x[i] = (expression);                                                                                           \
    break

/* An operation on one value or two, leaving the result in `a`. */
static void apply(enum cw_expr_op op, struct cw_formula_slot *a, const struct cw_formula_slot *b, uint32_t count)
{
    double *x = a->values;
    const double *y = b->values;
    switch (op) {
    case CW_EXPR_NEGATE:
        EACH(-x[i]);
    case CW_EXPR_ABS:
        EACH(fabs(x[i]));
    case CW_EXPR_FLOOR:
        EACH(floor(x[i]));
    case CW_EXPR_CEIL:
        EACH(ceil(x[i]));
    case CW_EXPR_ADD:
        EACH(x[i] + y[i]);
    case CW_EXPR_SUBTRACT:
        EACH(x[i] - y[i]);
    case CW_EXPR_MULTIPLY:
        EACH(x[i] * y[i]);
    case CW_EXPR_DIVIDE:
        divide(a, b, count);
        break;
    case CW_EXPR_MIN:
        EACH(y[i] < x[i] ? y[i] : x[i]);
    case CW_EXPR_MAX:
        EACH(y[i] > x[i] ? y[i] : x[i]);
    case CW_EXPR_LESS:
        EACH(x[i] < y[i]);
    case CW_EXPR_LESS_EQUAL:
        EACH(x[i] <= y[i]);
    case CW_EXPR_GREATER:
        EACH(x[i] > y[i]);
    case CW_EXPR_GREATER_EQUAL:
        EACH(x[i] >= y[i]);
    case CW_EXPR_EQUAL:
        EACH(x[i] == y[i]);
    default:
        EACH(x[i] != y[i]);
    }
    if (cw_expr_takes(op) == 2)
        take_graver(a->statuses, b->statuses, count);
}

static void finish(const struct cw_formula_slot *result, uint32_t count, double *values, int8_t *statuses)
{
    memcpy(values, result->values, count * sizeof *values);
    memcpy(statuses, result->statuses, count);
    for (uint32_t i = 0; i < count; i++) {
        if (statuses[i] >= CW_VALUE_UNAVAILABLE)
            values[i] = NAN;
        else if (isnan(values[i]) && statuses[i] < CW_VALUE_ZERO_DENOMINATOR)
            statuses[i] = CW_VALUE_OVERFLOW; /* inf - inf, for example */
    }
}

/* Values of all parts but the last stay below the operands on the stack. */
static uint32_t kept_parts(const struct cw_formula *formula)
{
    return formula->part_count - 1;
}

size_t cw_formula_slots(const struct cw_formula *formula)
{
    uint32_t waiting = 0, most = 0;
    for (uint32_t s = 0, part = 0; s < formula->step_count; s++) {
        waiting += 1 - cw_expr_takes(formula->steps[s].op);
        most = waiting > most ? waiting : most;
        if (s + 1 == formula->parts[part].end) {
            part++;
            waiting = 0;
        }
    }
    return (kept_parts(formula) + most) * sizeof(struct cw_formula_slot);
}

static void copy(struct cw_formula_slot *to, const struct cw_formula_slot *from, uint32_t count)
{
    memcpy(to->values, from->values, count * sizeof *to->values);
    memcpy(to->statuses, from->statuses, count);
}

void cw_formula_run(const struct cw_formula *formula, struct cw_formula_slot *slots, uint32_t count,
                    cw_formula_operand operand, void *context, double *values, int8_t *statuses)
{
    struct cw_formula_slot *bottom = slots + kept_parts(formula), *top = bottom; /* the next free one */
    for (uint32_t s = 0, part = 0; s < formula->step_count; s++) {
        const struct cw_expr_step *step = &formula->steps[s];
        top -= cw_expr_takes(step->op);
        if (step->op == CW_EXPR_NUMBER) {
            for (uint32_t i = 0; i < count; i++)
                top->values[i] = step->number;
            memset(top->statuses, CW_VALUE_OK, count);
        } else if (step->op == CW_EXPR_NAME) {
            operand(context, step->name, top->values, top->statuses);
        } else if (step->op == CW_EXPR_PART) {
            copy(top, &slots[step->name], count);
        } else if (step->op == CW_EXPR_IF) {
            choose(top, top + 1, top + 2, count);
        } else {
            apply(step->op, top, top + 1, count);
        }
        top++;
        if (s + 1 == formula->parts[part].end && part < kept_parts(formula)) {
            copy(&slots[part++], bottom, count);
            top = bottom;
        }
    }
    finish(bottom, count, values, statuses);
}
