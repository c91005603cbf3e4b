/* Fits formulas and device facts to native captures with NVIDIA's public evaluator.
 *
 * A capture is evidence: the evaluator gives the value of every counter, ratio and throughput on its ranges, and a
 * formula is right if it gives the same values. Without evidence, names and raw dependencies alone decide, and the
 * formula counts as not confirmed. */
#ifndef CW_IMPORT_FIT_H
#define CW_IMPORT_FIT_H

#include "import/facts.h"

/* Fits all formulas. `paths`: native counter-data images of the chip, each with at least one range; without any it only
 * infers. */
enum cw_status cw_fit(struct cw_facts *facts, const struct cw_nvperf *library, const char *const *paths, size_t count,
                      struct cw_error *err);

#endif
