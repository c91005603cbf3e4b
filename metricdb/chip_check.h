/* Checks a loaded chip, from YAML or from its compiled form, for the properties that all other code relies on. */
#ifndef CW_METRICDB_CHIP_CHECK_H
#define CW_METRICDB_CHIP_CHECK_H

#include "metricdb/chip.h"

/* Limit on levels of throughputs made of throughputs. */
enum { CW_THROUGHPUT_LEVELS_MAX = 32 };

/* Checks a chip whose references are in range. CW_ERR_INPUT with the line in the chip file for: a ratio with only one
 * of its counters; a placement of another raw counter; a term that is itself derived; a number that is not finite; a
 * throughput that contains itself; too many levels of throughputs; so many paths that all constituents written out are
 * many times the file's size. Takes time and memory in proportion to the chip. */
enum cw_status cw_chip_check(const struct cw_chip *chip, struct cw_arena *arena, struct cw_error *err);

#endif
