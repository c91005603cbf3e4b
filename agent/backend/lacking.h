/* Counters of units that a GPU has not, though others of its chip do, or that are not up: NVLink without a link. They
 * are left out and cost nothing else. */
#ifndef CW_AGENT_LACKING_H
#define CW_AGENT_LACKING_H

#include "image/config_image.h"

/* `lacks`: for each counter of a schema or plan whether the GPU lacks it. NULL: it lacks none. */
bool cw_lacking_any(const uint8_t *lacks, uint32_t count);
bool cw_lacking_all(const uint8_t *lacks, uint32_t count);
/* Whether a counter is one of a unit: PCI.TriageCompute.pcie__read_bytes of pcie. */
bool cw_lacking_is_of(const char *counter, const char *unit);
/* The units of lacking counters, as "nvlrx, nvltx". Returns `text`. */
const char *cw_lacking_units(const struct cw_schema *schema, const uint8_t *lacks, char *text, size_t size);
/* Tells the person what is left out, if anything is. */
void cw_lacking_tell(uint32_t gpu, const struct cw_schema *schema, const uint8_t *lacks);
/* The error where nothing is left: CW_ERR_DEVICE. */
enum cw_status cw_lacking_everything(const struct cw_schema *schema, const uint8_t *lacks, struct cw_error *err);
/* A plan that collects what the others need, of which it has the counters alone. Lists live in `arena`, the rest is
 * shared with `plan`; there is no native config image. */
enum cw_status cw_lacking_rest(struct cw_config_image *rest, const struct cw_config_image *plan, const uint8_t *lacks,
                               struct cw_arena *arena, struct cw_error *err);

#endif
