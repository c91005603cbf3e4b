/* Parses formulas over metrics into small postfix programs.
 *
 *     formula   sum
 *     sum       product {(+ | -) product}
 *     product   unary {(* | /) unary}
 *     unary     {-} primary
 *     primary   NUMBER | NAME | ( sum ) | min(sum, sum, ...) | max(sum, sum, ...)
 *               | abs(sum) | floor(sum) | ceil(sum) | if(sum (< | <= | > | >= | == | !=) sum, sum, sum)
 *
 * A name has letters, digits, '_' and '.', and does not begin with a digit. The parser does not look names up. */
#ifndef CW_METRICDB_EXPR_H
#define CW_METRICDB_EXPR_H

#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"

enum {
    CW_EXPR_LENGTH_MAX = 4096, /* characters */
    CW_EXPR_NESTING_MAX = 64,  /* parentheses and calls within one another */
    CW_EXPR_STACK_MAX = 32,    /* values on the stack */
    CW_EXPR_NAMES_MAX = 256,   /* different names */
    CW_EXPR_NAME_LENGTH_MAX = 255
};

enum cw_expr_op {
    CW_EXPR_NUMBER, /* pushes */
    CW_EXPR_NAME,   /* pushes */
    CW_EXPR_NEGATE,
    CW_EXPR_ABS,
    CW_EXPR_FLOOR,
    CW_EXPR_CEIL,
    CW_EXPR_ADD,
    CW_EXPR_SUBTRACT,
    CW_EXPR_MULTIPLY,
    CW_EXPR_DIVIDE,
    CW_EXPR_MIN,
    CW_EXPR_MAX,
    CW_EXPR_LESS,
    CW_EXPR_LESS_EQUAL,
    CW_EXPR_GREATER,
    CW_EXPR_GREATER_EQUAL,
    CW_EXPR_EQUAL,
    CW_EXPR_NOT_EQUAL,
    CW_EXPR_IF,   /* condition, a, b: computes all three, takes a or b */
    CW_EXPR_PART, /* pushes; not in expressions, see metricdb/formula.h */
    CW_EXPR__COUNT
};

struct cw_expr_step {
    enum cw_expr_op op;
    unsigned column; /* 1-based column of its source text */
    uint32_t name;   /* for CW_EXPR_NAME: index */
    double number;   /* for CW_EXPR_NUMBER */
};

struct cw_expr {
    uint32_t step_count, name_count;
    const struct cw_expr_step *steps; /* leave one value on the stack */
    const char *const *names;         /* without duplicates */
};

/* Parses a formula into `arena`. Errors are CW_ERR_INPUT on line 1 of `source`, with the column in the text. */
enum cw_status cw_expr_parse(struct cw_expr *expr, const char *text, const char *source, struct cw_arena *arena,
                             struct cw_error *err);
/* Parses "sum", or a condition such as "sum < sum" with any comparison, whose value is 1 or 0. */
enum cw_status cw_expr_parse_condition(struct cw_expr *expr, const char *text, const char *source,
                                       struct cw_arena *arena, struct cw_error *err);

/* Number of values that an operation takes; it leaves one. */
uint32_t cw_expr_takes(enum cw_expr_op op);
/* "+", "min", "if" and so on. */
const char *cw_expr_op_text(enum cw_expr_op op);
/* Applies an operation to its values, with C's rules for doubles; comparisons give 1 or 0. */
double cw_expr_apply(enum cw_expr_op op, const double *taken);
/* Whether the text can be a name in a formula. */
bool cw_expr_is_name(const char *text);
/* The functions, whose words cannot be names: "min, max, abs, floor, ceil or if". */
#define CW_EXPR_FUNCTIONS "min, max, abs, floor, ceil or if"

#endif
