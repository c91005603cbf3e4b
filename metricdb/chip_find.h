/* How cw_chip_find finds a name. Internal to metricdb.
 *
 * Names are numbered through: counters, ratios, throughputs. A slot holds 1 + such a number, 0 is empty; a name stands
 * in the slot of its hash or in the first free one behind it. */
#ifndef CW_METRICDB_CHIP_FIND_H
#define CW_METRICDB_CHIP_FIND_H

#include "metricdb/chip.h"

uint64_t cw_chip_name_hash(const char *name, size_t length);
/* The n-th of all names, or NULL behind the last. */
const char *cw_chip_nth_name(const struct cw_chip *chip, uint32_t n, enum cw_metric_type *type, uint32_t *index);

/* Makes the slots. CW_ERR_INPUT with the line in the chip file for a name that stands twice, and for names that were
 * chosen to have one hash: looking them up would take long. */
enum cw_status cw_chip_index_names(struct cw_chip *chip, struct cw_arena *arena, struct cw_error *err);

#endif
