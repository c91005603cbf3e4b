/* A packing while it is made, as the search and its ejection chains share it. Internal to the scheduler. */
#ifndef CW_HOST_SCHEDULE_CHAIN_H
#define CW_HOST_SCHEDULE_CHAIN_H

#include "host/schedule_pass.h"

struct cw_pack {
    const struct cw_problem *problem;
    struct cw_arena *arena;
    struct cw_filling *passes;
    uint32_t pass_count, room;     /* `room` passes have memory */
    uint32_t *pass_of, *choice_of; /* by item */
    uint32_t *order, *start;       /* items; by class: passes before it have no place */
    double *weight;                /* by class: how much of what is asked for it excludes */
    uint64_t *brought, least;      /* by pass: costs; what the best packing costs */
    bool quick, cheap;             /* of the ways to collect an item that fit, the one that adds least cost */
    uint64_t random;
    uint32_t steps;
    bool failed;
};

static inline bool cw_pack_fits(const struct cw_pack *p, uint32_t to, uint32_t class_)
{
    return cw_filling_fits(&p->passes[to], p->problem, class_);
}

static inline void cw_pack_put(struct cw_pack *p, uint32_t to, uint32_t item, uint32_t choice)
{
    cw_filling_put(&p->passes[to], p->problem, item, choice);
    p->pass_of[item] = to;
    p->choice_of[item] = choice;
}

static inline void cw_pack_take(struct cw_pack *p, uint32_t item)
{
    cw_filling_take(&p->passes[p->pass_of[item]], p->problem, item, p->choice_of[item]);
    p->pass_of[item] = CW_NONE;
}

/* Puts an item that stands nowhere into one of the passes, at worst in the place of others that find one elsewhere. */
bool cw_chain_insert(struct cw_pack *p, uint32_t item);

#endif
