/* A plan while it is divided, and the counters that no pass of it holds whole. Internal to passes/. */
#ifndef CW_PASSES_PARTS_SPREAD_H
#define CW_PASSES_PARTS_SPREAD_H

#include "base/buckets.h"
#include "passes/parts_complete.h"

enum { CW_PARTS_NONE = CW_NO_BUCKET };

struct cw_parts_pass {
    struct cw_placement *placements;
    uint32_t count, room, part; /* part: CW_PARTS_NONE while it is in none */
    bool grown;                 /* has more than the plan gives it */
};

struct cw_parts_place {
    const struct cw_parts_place *next;
    uint32_t pass;
};

struct cw_parts_spread {
    const struct cw_config_image *plan;
    const struct cw_pass_index *index; /* index of the plan */
    cw_parts_fits *fits;               /* NULL: no pass takes more than the plan gave it */
    void *user;
    struct cw_parts_pass *passes; /* passes of the plan, reduced to their use, then added passes */
    uint32_t pass_count, part_count;
    uint32_t *first_held;                 /* by counter: the first pass with all of it, or CW_PARTS_NONE */
    const struct cw_parts_place **places; /* by raw counter: its passes now */
    struct cw_parts_weight {
        uint64_t cost;
        uint32_t asked; /* the last question about a raw counter that is free for this part */
    } * weighed;        /* by part, for the current counter */
    uint32_t asked;
    struct cw_arena *arena, *scratch;
    struct cw_error *err;
};

/* Puts all raw counters of each counter that no pass holds into one part, with new passes if needed; `passes` has room
 * for CW_PASSES_MAX. */
enum cw_status cw_parts_place_spread(struct cw_parts_spread *spread);

#endif
