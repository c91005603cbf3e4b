/* Bringing the counters of a group into one pass without adding passes. Internal to the scheduler. */
#ifndef CW_HOST_SCHEDULE_GATHER_H
#define CW_HOST_SCHEDULE_GATHER_H

#include "host/schedule_pack.h"

/* Where a raw counter of the chip stands: its problem and its item there; `problem` CW_NONE: not asked for. */
struct cw_place {
    uint32_t problem, item;
};

/* Makes of the packings of all problems one changeable packing each, over the passes of their sections (`pass_counts`),
 * and gathers groups in them: first by choosing which passes of different problems become one, then by moving and
 * exchanging counters. Deterministic; a number of steps limits the work. `packed` has room for each problem. */
enum cw_status cw_gather(struct cw_packed **packed, const struct cw_problems *problems,
                         const struct cw_packing *packings, const uint32_t *pass_counts, const struct cw_place *places,
                         const struct cw_list *groups, size_t group_count, struct cw_arena *arena,
                         struct cw_error *err);

#endif
