/* Reads what `ncu --csv` prints: with `--page raw` a line for each launch and a column for each metric, else a line for
 * each value. */
#ifndef CW_FOREIGN_NCU_CSV_H
#define CW_FOREIGN_NCU_CSV_H

#include "base/input.h"

/* Whether the beginning of a file has the heads of such a table; lines of the program may stand before it. */
bool cw_ncu_begins(const void *head, size_t size);

/* Makes a capture of ranges. Each metric of the chip becomes a counter of its full name, which holds the value itself
 * (eval/eval_plan.h), in our unit. `notice`, of `size` bytes, gets a line about names that the chip lacks, such as
 * the ones of breakdowns; it stays as it is without them. Loads `input`. */
enum cw_status cw_ncu_read(struct cw_input *made, char *notice, size_t size, struct cw_input *input,
                           struct cw_error *err);

#endif
