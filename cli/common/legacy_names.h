/* CUPTI's old metric and event names, wherever a metric name is read. */
#ifndef CW_CLI_COMMON_LEGACY_NAMES_H
#define CW_CLI_COMMON_LEGACY_NAMES_H

#include "metricdb/chip.h"

/* Adds a formula to `*chip` for each of the names that is neither a metric nor a formula of it but a legacy name with a
 * formula. A legacy name without one is CW_ERR_UNSUPPORTED, with the reason and what comes closest; a name that is
 * nothing at all is left for whoever resolves it. All lives in `arena`. */
enum cw_status cw_legacy_names_adopt(const struct cw_chip **chip, const char *const *names, size_t count,
                                     struct cw_arena *arena, struct cw_error *err);

#endif
