/* Running a user's formula over a block of ranges: each step over the whole block. */
#ifndef CW_EVAL_EVAL_FORMULA_H
#define CW_EVAL_EVAL_FORMULA_H

#include "eval/status.h"
#include "metricdb/formula.h"

enum { CW_EVAL_BLOCK = 512 };

struct cw_formula_slot; /* a value for a later operation */
/* The size in bytes of the slots that a formula needs. */
size_t cw_formula_slots(const struct cw_formula *formula);

/* Writes the values and statuses of the formula's metric `metric` for the block. */
typedef void (*cw_formula_operand)(void *context, uint32_t metric, double *values, int8_t *statuses);

/* Computes `count` values, at most CW_EVAL_BLOCK, by the rules of C's doubles: x/0 is infinite, 0/0 NaN, and the status
 * says zero denominator. The status is the gravest of the operands'; of if(), the condition's and the chosen operand's.
 * A missing value is NaN, also behind min, max or if. `slots` has cw_formula_slots bytes at least. */
void cw_formula_run(const struct cw_formula *formula, struct cw_formula_slot *slots, uint32_t count,
                    cw_formula_operand operand, void *context, double *values, int8_t *statuses);

#endif
