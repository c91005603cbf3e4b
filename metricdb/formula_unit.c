#include "metricdb/formula_unit.h"

#include <string.h>

struct check {
    struct cw_typed stack[CW_EXPR_STACK_MAX];
    const char *source;
    struct cw_error *err;
};

static bool is_plain_number(const struct cw_typed *t)
{
    return t->constant && !t->dimension.count;
}

static enum cw_status refuse_units(struct check *c, const struct cw_expr_step *step, const struct cw_typed *a,
                                   const struct cw_typed *b)
{
    char left[CW_DIMENSION_TEXT], right[CW_DIMENSION_TEXT];
    const char *x = is_plain_number(a) ? "a plain number" : cw_dimension_text(&a->dimension, left);
    const char *y = is_plain_number(b) ? "a plain number" : cw_dimension_text(&b->dimension, right);
    return cw_error_at(c->err, CW_ERR_INPUT, c->source, 1, step->column,
                       "found %.100s and %.100s in '%s', expected one unit of measurement", x, y,
                       cw_expr_op_text(step->op));
}

/* Requires two values to have one unit. A plain number matches any unit, except in a sum, where it is probably a
 * mistake; the number 0 is allowed there, too. */
static enum cw_status unify(struct check *c, const struct cw_expr_step *step, const struct cw_typed *a,
                            const struct cw_typed *b, struct cw_dimension *dimension)
{
    bool sum = step->op == CW_EXPR_ADD || step->op == CW_EXPR_SUBTRACT;
    if (cw_dimension_equal(&a->dimension, &b->dimension) || (is_plain_number(b) && (!sum || b->value == 0)))
        *dimension = a->dimension;
    else if (is_plain_number(a) && (!sum || a->value == 0))
        *dimension = b->dimension;
    else
        return refuse_units(c, step, a, b);
    return CW_OK;
}

static enum cw_status combine(struct check *c, const struct cw_expr_step *step, const struct cw_typed *v,
                              struct cw_dimension *dimension)
{
    bool fits = true;
    switch (step->op) {
    case CW_EXPR_NEGATE:
    case CW_EXPR_ABS:
    case CW_EXPR_FLOOR:
    case CW_EXPR_CEIL:
        *dimension = v[0].dimension;
        return CW_OK;
    case CW_EXPR_DIVIDE:
        if (v[1].constant && v[1].value == 0)
            return cw_error_at(c->err, CW_ERR_INPUT, c->source, 1, step->column, "found a division by zero");
        *dimension = v[0].dimension;
        fits = cw_dimension_multiply(dimension, &v[1].dimension, -1);
        break;
    case CW_EXPR_MULTIPLY:
        *dimension = v[0].dimension;
        fits = cw_dimension_multiply(dimension, &v[1].dimension, 1);
        break;
    case CW_EXPR_IF:
        return unify(c, step, &v[1], &v[2], dimension);
    default: /* comparisons occur only in CW_EXPR_IF, which ignores their unit */
        return unify(c, step, &v[0], &v[1], dimension);
    }
    if (!fits)
        return cw_error_at(c->err, CW_ERR_INPUT, c->source, 1, step->column,
                           "found a unit of measurement of more than %d factors or powers", CW_DIMENSION_FACTORS);
    return CW_OK;
}

static enum cw_status apply(struct check *c, const struct cw_expr_step *step, struct cw_typed *v)
{
    uint32_t takes = cw_expr_takes(step->op);
    struct cw_typed result = {.constant = true};
    double values[3] = {0};
    for (uint32_t i = 0; i < takes; i++) {
        result.constant = result.constant && v[i].constant;
        values[i] = v[i].value;
    }
    enum cw_status status = combine(c, step, v, &result.dimension);
    if (result.constant)
        result.value = cw_expr_apply(step->op, values);
    v[0] = result;
    return status;
}

enum cw_status cw_formula_unit(struct cw_typed *result, const struct cw_expr *expr, const struct cw_typed *names,
                               const char *source, struct cw_error *err)
{
    struct check c = {.source = source, .err = err};
    enum cw_status status = CW_OK;
    uint32_t count = 0;
    for (uint32_t i = 0; status == CW_OK && i < expr->step_count; i++) {
        const struct cw_expr_step *step = &expr->steps[i];
        count -= cw_expr_takes(step->op);
        if (step->op == CW_EXPR_NUMBER)
            c.stack[count] = (struct cw_typed){.constant = true, .value = step->number};
        else if (step->op == CW_EXPR_NAME)
            c.stack[count] = names[step->name];
        else
            status = apply(&c, step, &c.stack[count]);
        count++;
    }
    *result = c.stack[0];
    return status;
}
