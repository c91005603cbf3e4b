/* Imports all chips of NVIDIA's host library, with one entry for chips with equal data. */
#ifndef CW_IMPORT_CHIPS_H
#define CW_IMPORT_CHIPS_H

#include "import/facts.h"

/* Imports the chips in the library's order. The chip of an entry has the first of its names; the others are in `also`.
 * `progress` is called for each chip and may be NULL. Everything lives in `arena`. */
enum cw_status cw_chips_import(struct cw_facts **chips, size_t *count, const struct cw_nvperf *library,
                               void (*progress)(const char *chip), struct cw_arena *arena, struct cw_error *err);

#endif
