/* What a base name stands for, as hashes: a capture carries those that it was planned with, so that another version of
 * the database can tell where it means something else by a name (docs/formats.md). */
#ifndef CW_METRICDB_MEANING_H
#define CW_METRICDB_MEANING_H

#include "metricdb/chip.h"

struct cw_base_meaning {
    uint64_t raws;    /* of the raw counters and the unit of measure; of a user's formula the latter alone */
    uint64_t formula; /* of what it is computed from; 0 where nothing is known, as for recorded counters */
};

struct cw_base_meaning cw_base_meaning(const struct cw_chip *chip, enum cw_metric_type type, uint32_t base);
/* A formula that became known is no change. */
bool cw_base_meaning_changed(const struct cw_base_meaning *then, const struct cw_base_meaning *now);

/* Marks a base name and all those that it is computed from, in marks[type][base]; those for formulas may be NULL where
 * the chip has none. What is marked already is not followed again. */
void cw_base_mark(const struct cw_chip *chip, enum cw_metric_type type, uint32_t base,
                  uint8_t *const marks[CW_FORMULA + 1]);

#endif
