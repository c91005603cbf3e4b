/* Brings the counters of a group into one pass. Internal to the scheduler. */
#ifndef CW_HOST_SCHEDULE_GATHER_H
#define CW_HOST_SCHEDULE_GATHER_H

#include "host/schedule_packing.h"
#include "host/schedule_search.h"

/* All three are deterministic and fail with CW_ERR_NOMEM only, unless noted. */

/* Makes the packings from the search results, by problem, and combines the passes of one section's problems so that
 * many groups have their counters in one pass. */
enum cw_status cw_gather_align(struct cw_packings *packings, const struct cw_search_result *found,
                               struct cw_arena *arena, struct cw_error *err);

/* Moves and exchanges items so that groups come together; each item stands in one pass. A number of steps limits the
 * work. */
enum cw_status cw_gather_exchange(struct cw_packings *packings, struct cw_arena *arena, struct cw_error *err);

/* Copies items into further passes, so that every group that fits a pass has one. With `grow` it adds passes until
 * every group has one, and returns CW_ERR_UNSUPPORTED if there is no room for them. Without `grow` some groups may stay
 * apart. A number of steps limits the search. */
enum cw_status cw_gather_copy(struct cw_packings *packings, bool grow, struct cw_arena *arena, struct cw_error *err);

#endif
