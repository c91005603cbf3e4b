/* Formulas and device facts fitted to native captures with NVIDIA's public evaluator.
 *
 * A capture is evidence: for its ranges the evaluator gives the value of every counter, ratio and throughput, and a
 * formula is right when it gives the same values. Without evidence, names and raw dependencies alone decide, and the
 * formula counts as not confirmed. */
#ifndef CW_IMPORT_FIT_H
#define CW_IMPORT_FIT_H

#include "import/facts.h"

/* `paths`: native counter-data images of the chip, each with at least one range. With no paths, only infers. */
enum cw_status cw_fit(struct cw_facts *facts, const struct cw_nvperf *library, const char *const *paths, size_t count,
                      struct cw_error *err);

#endif
