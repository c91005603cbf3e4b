/* What a chip file says and NVIDIA's library does not tell, taken over where names and raw counters agree. */
#ifndef CW_IMPORT_TRANSFER_H
#define CW_IMPORT_TRANSFER_H

#include "import/facts.h"

/* From the file of another chip: formulas of ratios and of
 * derived counters, that none is known, cycles, and constituents of throughputs that
 * the library does not list. They count as inferred; peaks and instances are the other chip's own. */
enum cw_status cw_transfer_formulas(struct cw_facts *facts, const struct cw_chip *other, struct cw_error *err);

/* From an earlier file of the same chip: pass costs, peaks, instances, and formulas with their evidence. Those without
 * evidence are taken over from a file that was measured; in another they were inferred, and can be again. */
enum cw_status cw_transfer_facts(struct cw_facts *facts, const struct cw_chip *earlier, struct cw_error *err);

#endif
