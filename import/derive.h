/* Finds the basis: counters that captures must record, and formulas for the others.
 *
 * A counter is derived if captures leave no choice about its formula: a linear combination of recorded counters whose
 * raw counters together are exactly its own. The captures must determine the coefficients uniquely, and the formula
 * must give the sums and averages of NVIDIA's evaluator on every range of evidence. All other counters stay recorded,
 * among them counters that were zero on all evidence, and divisors (cycles and time). */
#ifndef CW_IMPORT_DERIVE_H
#define CW_IMPORT_DERIVE_H

#include "import/facts.h"

/* Sets `terms`, `coefficients`, `per` and `confirmed` of all counters. `values`: [range of evidence][counter][sum, avg,
 * min, max]. */
enum cw_status cw_derive(struct cw_facts *facts, const double *values, size_t ranges, struct cw_error *err);

/* Whether two values count as the same in a fit: equal to 1e-12 relative, or both NaN. */
bool cw_derive_same(double a, double b);

/* a/b as NVIDIA's evaluator computes it: 0/0 is 0. */
double cw_derive_quotient(double a, double b);

#endif
