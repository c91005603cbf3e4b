/* A packing that can be changed, in which an item may stand in several passes. Internal to the scheduler. */
#ifndef CW_HOST_SCHEDULE_PACKED_H
#define CW_HOST_SCHEDULE_PACKED_H

#include "host/schedule_pack.h"
#include "host/schedule_pass.h"

struct cw_packed {
    const struct cw_problem *problem;
    uint32_t pass_count, room;
    struct cw_filling *passes;
    uint16_t *choice; /* [pass * item count + item]: 1 + how it is collected there, 0 where it does not stand */
    uint32_t *locks;  /* alike: the gathered groups that rely on it standing there */
    uint32_t *stands; /* by item: in how many passes */
    struct cw_arena *arena;
};

/* Pass p of `packing` becomes pass pass_map[p] of `pass_count`; cw_packed_open adds passes up to `room`. Without a
 * packing all passes are empty. NULL when out of memory. */
struct cw_packed *cw_packed_create(const struct cw_problem *problem, const struct cw_packing *packing,
                                   const uint32_t *pass_map, uint32_t pass_count, uint32_t room,
                                   struct cw_arena *arena);
bool cw_packed_open(struct cw_packed *packed);
/* Whether an item stands in a pass: 0, or 1 + its choice there. */
uint32_t cw_packed_has(const struct cw_packed *packed, uint32_t item, uint32_t pass);
uint32_t *cw_packed_lock(struct cw_packed *packed, uint32_t item, uint32_t pass);
/* Puts an item into a pass where it does not stand, if it fits there. */
bool cw_packed_add(struct cw_packed *packed, uint32_t item, uint32_t pass);
/* Puts it there as cw_packed_has said before it was taken away; it has to fit. */
void cw_packed_put(struct cw_packed *packed, uint32_t item, uint32_t pass, uint32_t has);
void cw_packed_take(struct cw_packed *packed, uint32_t item, uint32_t pass);

#endif
