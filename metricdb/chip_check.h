/* What every chip keeps to that was loaded, from YAML or from its compiled form: code relies on it without looking. */
#ifndef CW_METRICDB_CHIP_CHECK_H
#define CW_METRICDB_CHIP_CHECK_H

#include "metricdb/chip.h"

/* Levels of throughputs made of throughputs. */
enum { CW_THROUGHPUT_LEVELS_MAX = 32 };

/* References have to be in range already. CW_ERR_INPUT with the line in the chip file: a ratio with only one of its
 * counters, placements that are not their raw counter's, a term that is itself derived, numbers that are not finite,
 * throughputs made of themselves, too many levels of them, or so many paths that all constituents written out are many
 * times what the file says. Takes time and memory in proportion to the chip. */
enum cw_status cw_chip_check(const struct cw_chip *chip, struct cw_arena *arena, struct cw_error *err);

#endif
