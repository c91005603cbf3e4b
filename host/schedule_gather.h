/* Bringing the counters of a group into one pass. Internal to the scheduler. */
#ifndef CW_HOST_SCHEDULE_GATHER_H
#define CW_HOST_SCHEDULE_GATHER_H

#include "host/schedule_packing.h"
#include "host/schedule_search.h"

/* All three are deterministic; CW_ERR_NOMEM is their only failure but where one says so. */

/* Makes the packings of what the search found, by problem, and lays the passes of one section's problems upon one
 * another, so that many groups find their counters in one. */
enum cw_status cw_gather_align(struct cw_packings *packings, const struct cw_search_result *found,
                               struct cw_arena *arena, struct cw_error *err);

/* Moves and exchanges items, so that groups come together; each item stands in one pass. A number of steps limits the
 * work. */
enum cw_status cw_gather_exchange(struct cw_packings *packings, struct cw_arena *arena, struct cw_error *err);

/* Puts copies of items into more passes, so that every group that fits a pass has one. With `grow` passes are added
 * until that is so, and CW_ERR_UNSUPPORTED says that there is no room for them; without it some groups may be left. A
 * number of steps limits the search. */
enum cw_status cw_gather_copy(struct cw_packings *packings, bool grow, struct cw_arena *arena, struct cw_error *err);

#endif
