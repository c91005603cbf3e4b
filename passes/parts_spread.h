/* A plan while it is taken apart, and the counters that no pass of it holds whole. Internal to passes/. */
#ifndef CW_PASSES_PARTS_SPREAD_H
#define CW_PASSES_PARTS_SPREAD_H

#include "base/buckets.h"
#include "passes/parts_complete.h"

enum { CW_PARTS_NONE = CW_NO_BUCKET };

struct cw_parts_pass {
    struct cw_placement *placements;
    uint32_t count, room, part; /* part: CW_PARTS_NONE while it is in none */
    bool grown;                 /* it has what the plan does not give it */
};

struct cw_parts_spread {
    const struct cw_config_image *plan;
    cw_parts_fits *fits; /* NULL: no pass takes more than the plan gave it */
    void *user;
    struct cw_parts_pass *passes; /* those of the plan, with what is of use, then those added */
    uint32_t pass_count, part_count;
    uint32_t *first_held; /* of each counter: the first pass that has all of it, or CW_PARTS_NONE */
    struct cw_arena *arena;
    struct cw_error *err;
};

/* Puts all raw counters of each counter that no pass holds into one part, by more passes if need be; `passes` has room
 * for one more for each raw counter that such a counter needs. */
enum cw_status cw_parts_place_spread(struct cw_parts_spread *spread);

#endif
