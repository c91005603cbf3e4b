/* The basis: which counters have to be recorded, and how the others follow from them.
 *
 * A counter is derived when captures leave no choice about the formula: a linear combination of recorded counters whose
 * raw counters are, put together, exactly its own, with coefficients that the captures determine uniquely, and with the
 * sums and averages of NVIDIA's evaluator on every range of evidence. Everything else stays recorded: counters that
 * were zero on all evidence, and those that other ones divide by (cycles and time). */
#ifndef CW_IMPORT_DERIVE_H
#define CW_IMPORT_DERIVE_H

#include "import/facts.h"

/* `values`: [range of evidence][counter][sum, avg, min, max]. Settles `terms`, `coefficients`, `per` and `confirmed` of
 * all counters. */
enum cw_status cw_derive(struct cw_facts *facts, const double *values, size_t ranges, struct cw_error *err);

/* Equal to 1e-12 relative, or both NaN: what counts as the same value in a fit. */
bool cw_derive_same(double a, double b);

/* a/b as NVIDIA's evaluator has it: 0/0 is 0. */
double cw_derive_quotient(double a, double b);

#endif
