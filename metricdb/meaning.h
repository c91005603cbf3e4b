/* Meanings of base names, as hashes. A capture has the hashes of its plan, so that another version of the database can
 * tell if a name has changed its meaning (docs/formats.md). */
#ifndef CW_METRICDB_MEANING_H
#define CW_METRICDB_MEANING_H

#include "metricdb/chip.h"

struct cw_base_meaning {
    uint64_t raws;    /* hash of the raw counters and the unit of measure; for a user's formula of the unit alone */
    uint64_t formula; /* hash of the formula; 0 if there is none, as for recorded counters */
};

struct cw_base_meaning cw_base_meaning(const struct cw_chip *chip, enum cw_metric_type type, uint32_t base);
/* Whether the meaning changed. A formula that became known is no change. */
bool cw_base_meaning_changed(const struct cw_base_meaning *then, const struct cw_base_meaning *now);

/* Marks a base name and all names that it is computed from, in marks[type][base]; the marks of formulas may be NULL if
 * the chip has none. Does not follow names that are marked already. */
void cw_base_mark(const struct cw_chip *chip, enum cw_metric_type type, uint32_t base,
                  uint8_t *const marks[CW_FORMULA + 1]);

#endif
