/* Packing one scheduling problem into few passes. Internal to the scheduler. */
#ifndef CW_HOST_SCHEDULE_PACK_H
#define CW_HOST_SCHEDULE_PACK_H

#include "host/schedule_problem.h"

struct cw_packing {
    uint32_t pass_count;
    uint32_t *pass_of, *choice_of; /* by item */
};

/* A number of passes below which the problem cannot be packed. */
uint32_t cw_pack_bound(const struct cw_problem *problem);

/* Packs the problem; stops looking for better once there are no more than `enough` passes. Deterministic: what limits
 * the search is a number of steps, not time. CW_ERR_NOMEM is the only failure. */
enum cw_status cw_pack(struct cw_packing *packing, const struct cw_problem *problem, uint32_t enough,
                       struct cw_arena *arena, struct cw_error *err);

/* A packing that can still be changed, over a number of passes of which some may be empty. */
struct cw_packed;
/* NULL when out of memory. `pass_count` is at least the packing's; its pass p becomes pass pass_map[p]. */
struct cw_packed *cw_packed_create(const struct cw_problem *problem, const struct cw_packing *packing,
                                   const uint32_t *pass_map, uint32_t pass_count, struct cw_arena *arena);
uint32_t cw_packed_pass(const struct cw_packed *packed, uint32_t item);
uint32_t cw_packed_choice(const struct cw_packed *packed, uint32_t item);
/* The items of a pass, in no particular order. */
const uint32_t *cw_packed_items(const struct cw_packed *packed, uint32_t pass, uint32_t *count);
/* Moves an item to a pass if it fits there. */
bool cw_packed_move(struct cw_packed *packed, uint32_t item, uint32_t to);
/* Puts an item back where it stood before, which must have room. */
void cw_packed_return(struct cw_packed *packed, uint32_t item, uint32_t to, uint32_t choice);
/* Exchanges two items of different passes if both fit in their new places. */
bool cw_packed_swap(struct cw_packed *packed, uint32_t a, uint32_t b);

#endif
