/* Takes data that NVIDIA's library lacks from a chip file, for equal names and raw counters. */
#ifndef CW_IMPORT_TRANSFER_H
#define CW_IMPORT_TRANSFER_H

#include "import/facts.h"

/* Takes from the file of another chip: formulas of ratios and of derived counters (also the fact that none is known),
 * cycles, and constituents of throughputs that the library does not list. They count as inferred. Does not take peaks
 * and instances, which are specific to the other chip. */
enum cw_status cw_transfer_formulas(struct cw_facts *facts, const struct cw_chip *other, struct cw_error *err);

/* Takes from an earlier file of the same chip: pass costs, peaks, instances, and formulas with their evidence. Formulas
 * without evidence are taken from a measured file only; in another file they were inferred, and can be inferred
 * again. */
enum cw_status cw_transfer_facts(struct cw_facts *facts, const struct cw_chip *earlier, struct cw_error *err);

#endif
