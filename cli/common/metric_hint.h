/* What to say of a metric that a chip does not have. */
#ifndef CW_CLI_COMMON_METRIC_HINT_H
#define CW_CLI_COMMON_METRIC_HINT_H

#include "metricdb/chip.h"

/* Where `err` is about a name that is no metric of the chip, adds to its message which chips of the database have it
 * and, if no spelling is near, the metrics of this chip whose names are most alike. `names` are those that were asked
 * for: the first that the chip does not know is the one. */
void cw_metric_hint(struct cw_error *err, const struct cw_chip *chip, const char *const *names, size_t count);

#endif
