/* Handles counters of units that a GPU lacks, though others of its chip have them, or that are disabled, such as NVLink
 * without a link. They are left out of the capture and cost nothing. */
#ifndef CW_AGENT_LACKING_H
#define CW_AGENT_LACKING_H

#include "image/config_image.h"

/* Whether the GPU lacks any, or all, of the counters. `lacks`: for each counter of a schema or plan. NULL: it lacks
 * none. */
bool cw_lacking_any(const uint8_t *lacks, uint32_t count);
bool cw_lacking_all(const uint8_t *lacks, uint32_t count);
/* Whether a counter belongs to a unit: PCI.TriageCompute.pcie__read_bytes to pcie. */
bool cw_lacking_is_of(const char *counter, const char *unit);
/* Prints a notice of missing counters, if there are any. */
void cw_lacking_tell(uint32_t gpu, const struct cw_schema *schema, const uint8_t *lacks);
/* Returns the error for a GPU without any of the counters: CW_ERR_DEVICE. */
enum cw_status cw_lacking_everything(const struct cw_schema *schema, const uint8_t *lacks, struct cw_error *err);
/* Makes the plan without missing counters: only the other counters and the raw counters that they need. Lists live in
 * `arena`, the rest is shared with `plan`; the new plan has no native config image. */
enum cw_status cw_lacking_rest(struct cw_config_image *rest, const struct cw_config_image *plan, const uint8_t *lacks,
                               struct cw_arena *arena, struct cw_error *err);

#endif
