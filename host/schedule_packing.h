/* Packings: the items of each pass, and the way each is collected there. Internal to the scheduler.
 *
 * A packing belongs to one problem. The packings of all problems change together; changes can be taken back. */
#ifndef CW_HOST_SCHEDULE_PACKING_H
#define CW_HOST_SCHEDULE_PACKING_H

#include "host/schedule_problem.h"

/* ---- one pass of one problem ------------------------------------------------------------------------------------ */

struct cw_packing_pass {
    uint64_t *present;                 /* bitset of classes */
    uint16_t *classes, *groups, *used; /* use of the limits: members by class, members by group, groups by rule */
    uint32_t *items, count;
};

/* False when out of memory. */
bool cw_packing_pass_init(struct cw_packing_pass *pass, const struct cw_problem *problem, struct cw_arena *arena);
void cw_packing_pass_clear(struct cw_packing_pass *pass, const struct cw_problem *problem);
bool cw_packing_pass_fits(const struct cw_packing_pass *pass, const struct cw_problem *problem, uint32_t class_);
/* Put an item into the pass by a choice that fits, and take it out. Other items keep their order. */
void cw_packing_pass_put(struct cw_packing_pass *pass, const struct cw_problem *problem, uint32_t item,
                         uint32_t choice);
void cw_packing_pass_take(struct cw_packing_pass *pass, const struct cw_problem *problem, uint32_t item,
                          uint32_t choice);

/* ---- one problem ------------------------------------------------------------------------------------------------ */

struct cw_packing { /* an item may stand in several passes */
    const struct cw_problem *problem;
    uint32_t pass_count;
    struct cw_packing_pass *passes;
    uint16_t *choice; /* [pass * item count + item]: 1 + the item's choice in the pass, 0 if it is not there */
    uint32_t *locks;  /* same index: number of groups that rely on the item in the pass */
    uint32_t *stands; /* by item: number of its passes */
    struct cw_arena *arena;
};

/* Creates a packing with empty passes; cw_packing_open adds one, up to `room` passes. NULL when out of memory. */
struct cw_packing *cw_packing_create(const struct cw_problem *problem, uint32_t pass_count, uint32_t room,
                                     struct cw_arena *arena);
bool cw_packing_open(struct cw_packing *packing);
/* Whether an item stands in a pass: 0, or 1 + its choice. */
uint32_t cw_packing_has(const struct cw_packing *packing, uint32_t item, uint32_t pass);
uint32_t *cw_packing_lock(struct cw_packing *packing, uint32_t item, uint32_t pass);
/* Put an item into a pass where it does not stand, by a choice that fits, and take it out. */
void cw_packing_put(struct cw_packing *packing, uint32_t item, uint32_t pass, uint32_t choice);
void cw_packing_take(struct cw_packing *packing, uint32_t item, uint32_t pass);

/* ---- all problems ----------------------------------------------------------------------------------------------- */

struct cw_packings {
    const struct cw_problems *problems;
    struct cw_packing **items;    /* by problem */
    uint32_t *pass_counts, *room; /* by section: number of passes, and the limit on it */
    uint32_t group_count;
    const struct cw_list *groups; /* groups of raw counters to bring together, each within one section, ascending */
    struct cw_change {            /* an item was put into a pass or taken out */
        struct cw_item_id id;
        uint32_t pass;
        uint16_t had, has; /* 1 + its choice before and after; 0: not in the pass */
    } * changes;
    uint32_t change_count;
    uint32_t *together;         /* scratch of cw_packings_reseat */
    uint32_t steps, most_steps; /* placements tried, roughly, and their limit: at the limit the search for room ends */
};

/* Allocates room for packings, changes and the limits of sections. `pass_counts` is by section. False when out of
 * memory. */
bool cw_packings_init(struct cw_packings *packings, const struct cw_problems *problems, uint32_t *pass_counts,
                      struct cw_arena *arena);

/* Changes. Each returns false, and changes nothing, if it is impossible. */

bool cw_packings_take(struct cw_packings *packings, struct cw_item_id id, uint32_t pass);
/* Puts a group into a pass, trying the ways to collect each of its counters. */
bool cw_packings_seat(struct cw_packings *packings, const struct cw_list *group, uint32_t pass);
/* Puts a group into a pass and may change how the items already there are collected. */
bool cw_packings_reseat(struct cw_packings *packings, const struct cw_list *group, uint32_t pass);

/* These two may have made some changes when they return false. */

/* Takes out of a pass the items that no group needs there, within the problems of `group`. */
bool cw_packings_clear(struct cw_packings *packings, const struct cw_list *group, uint32_t pass);
/* Finds a pass, `near` first, for all items that changes from the `mark`-th on took out of their only pass; if need be
 * in place of other items that fit elsewhere. */
bool cw_packings_settle(struct cw_packings *packings, uint32_t mark, uint32_t near);

/* Takes back all changes but the first `mark`, in reverse order, so that every state between is valid. */
void cw_packings_undo(struct cw_packings *packings, uint32_t mark);
/* Counts the group's counters that do not stand in a pass. */
uint32_t cw_packings_missing(const struct cw_packings *packings, const struct cw_list *group, uint32_t pass);
/* Adds a group (1) that relies on its counters in a pass, or removes it (-1). */
void cw_packings_lock(struct cw_packings *packings, const struct cw_list *group, uint32_t pass, int more);

/* Moves items between passes and changes how they are collected, if that reduces the chip's pass costs. Adds no pass,
 * and every group with a pass that has all of it keeps one. Deterministic; a number of steps limits the work. Fails
 * with CW_ERR_NOMEM only. */
enum cw_status cw_cost_reduce(struct cw_packings *packings, struct cw_arena *arena, struct cw_error *err);

#endif
