/* All chips of NVIDIA's host library, one entry for those about which it tells the same. */
#ifndef CW_IMPORT_CHIPS_H
#define CW_IMPORT_CHIPS_H

#include "import/facts.h"

/* In the library's order. The chip of an entry bears the first of its names; the others are in `also`. `progress` may
 * be NULL; it is told each chip. Everything lives in `arena`. */
enum cw_status cw_chips_import(struct cw_facts **chips, size_t *count, const struct cw_nvperf *library,
                               void (*progress)(const char *chip), struct cw_arena *arena, struct cw_error *err);

#endif
