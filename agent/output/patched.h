/* The counters that CUPTI counts by patching a kernel's code (software's domain): in a CUDA graph they come out as 0.
 */
#ifndef CW_AGENT_PATCHED_H
#define CW_AGENT_PATCHED_H

#include "image/config_image.h"
#include "image/counter_data.h"

/* patched[column] of a schema of this plan: whether the counter needs such a raw counter. NULL when out of memory. */
bool *cw_patched_columns(const struct cw_config_image *plan, const struct cw_schema *schema, struct cw_arena *arena);
/* Makes them values that were not collected. */
void cw_patched_leave_out(const bool *patched, const struct cw_schema *schema, struct cw_value *values);

#endif
