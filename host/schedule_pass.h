/* One pass of one problem while it is filled: what of the limits is used up. Internal to the scheduler. */
#ifndef CW_HOST_SCHEDULE_PASS_H
#define CW_HOST_SCHEDULE_PASS_H

#include "host/schedule_problem.h"

struct cw_filling {
    uint64_t *present;                 /* bitset of classes */
    uint16_t *classes, *groups, *used; /* members by class, by group; groups by rule */
    uint32_t *items, count;
};

/* False when out of memory. */
bool cw_filling_init(struct cw_filling *filling, const struct cw_problem *problem, struct cw_arena *arena);
void cw_filling_clear(struct cw_filling *filling, const struct cw_problem *problem);
bool cw_filling_fits(const struct cw_filling *filling, const struct cw_problem *problem, uint32_t class_);
/* Puts an item there by one of its choices, which fits; takes it out again. Other items keep their order. */
void cw_filling_put(struct cw_filling *filling, const struct cw_problem *problem, uint32_t item, uint32_t choice);
void cw_filling_take(struct cw_filling *filling, const struct cw_problem *problem, uint32_t item, uint32_t choice);

#endif
