/* Packings: which items stand in which passes, and how they are collected there. Internal to the scheduler.
 *
 * A packing belongs to one problem. The packings of all problems are changed together; changes can be taken back. */
#ifndef CW_HOST_SCHEDULE_PACKING_H
#define CW_HOST_SCHEDULE_PACKING_H

#include "host/schedule_problem.h"

/* ---- one pass of one problem ------------------------------------------------------------------------------------ */

struct cw_packing_pass {
    uint64_t *present;                 /* bitset of classes */
    uint16_t *classes, *groups, *used; /* what it takes of the limits: members by class, by group; groups by rule */
    uint32_t *items, count;
};

/* False when out of memory. */
bool cw_packing_pass_init(struct cw_packing_pass *pass, const struct cw_problem *problem, struct cw_arena *arena);
void cw_packing_pass_clear(struct cw_packing_pass *pass, const struct cw_problem *problem);
bool cw_packing_pass_fits(const struct cw_packing_pass *pass, const struct cw_problem *problem, uint32_t class_);
/* Puts an item there by one of its choices, which fits; takes it out again. Other items keep their order. */
void cw_packing_pass_put(struct cw_packing_pass *pass, const struct cw_problem *problem, uint32_t item,
                         uint32_t choice);
void cw_packing_pass_take(struct cw_packing_pass *pass, const struct cw_problem *problem, uint32_t item,
                          uint32_t choice);

/* ---- one problem ------------------------------------------------------------------------------------------------ */

struct cw_packing { /* an item may stand in several passes */
    const struct cw_problem *problem;
    uint32_t pass_count;
    struct cw_packing_pass *passes;
    uint16_t *choice; /* [pass * item count + item]: 1 + how it is collected there, 0 where it does not stand */
    uint32_t *locks;  /* alike: the groups that rely on it standing there */
    uint32_t *stands; /* by item: in how many passes */
    struct cw_arena *arena;
};

/* Passes without items; cw_packing_open adds one, as long as there are fewer than `room`. NULL when out of memory. */
struct cw_packing *cw_packing_create(const struct cw_problem *problem, uint32_t pass_count, uint32_t room,
                                     struct cw_arena *arena);
bool cw_packing_open(struct cw_packing *packing);
/* Whether an item stands in a pass: 0, or 1 + its choice there. */
uint32_t cw_packing_has(const struct cw_packing *packing, uint32_t item, uint32_t pass);
uint32_t *cw_packing_lock(struct cw_packing *packing, uint32_t item, uint32_t pass);
/* Puts an item into a pass where it does not stand, by a choice that fits; takes it out again. */
void cw_packing_put(struct cw_packing *packing, uint32_t item, uint32_t pass, uint32_t choice);
void cw_packing_take(struct cw_packing *packing, uint32_t item, uint32_t pass);

/* ---- all problems ----------------------------------------------------------------------------------------------- */

struct cw_packings {
    const struct cw_problems *problems;
    struct cw_packing **items;    /* by problem */
    uint32_t *pass_counts, *room; /* by section: its passes, and how many it may have */
    uint32_t group_count;
    const struct cw_list *groups; /* of raw counters to bring together; each is of one section, ascending */
    struct cw_change {            /* an item that was put into a pass, or taken out of it */
        struct cw_item_id id;
        uint32_t pass;
        uint16_t had, has; /* 1 + its choice there before and after; 0: it did or does not stand there */
    } * changes;
    uint32_t change_count;
    uint32_t *together;         /* of cw_packings_reseat */
    uint32_t steps, most_steps; /* placements tried, about; when they are used up no room is looked for any more */
};

/* Room for packings, changes and what sections may have. `pass_counts` is by section. False when out of memory. */
bool cw_packings_init(struct cw_packings *packings, const struct cw_problems *problems, uint32_t *pass_counts,
                      struct cw_arena *arena);
/* Whether no more changes can be kept. */
bool cw_packings_full(const struct cw_packings *packings);

/* Changes; each returns false, and changes nothing, where it cannot be made. */

/* Puts an item into a pass where it does not stand: by a choice, or by the first that fits. */
bool cw_packings_put(struct cw_packings *packings, struct cw_item_id id, uint32_t pass, uint32_t choice);
bool cw_packings_add(struct cw_packings *packings, struct cw_item_id id, uint32_t pass);
bool cw_packings_take(struct cw_packings *packings, struct cw_item_id id, uint32_t pass);
/* Puts a group into a pass, trying the ways to collect each of its counters. */
bool cw_packings_seat(struct cw_packings *packings, const struct cw_list *group, uint32_t pass);
/* The same beside what stands in the pass already, which may be collected in other ways then. */
bool cw_packings_reseat(struct cw_packings *packings, const struct cw_list *group, uint32_t pass);

/* These two may have made some changes where they return false. */

/* Takes from a pass what no group needs there, as far as it is of the problems of `group`. */
bool cw_packings_clear(struct cw_packings *packings, const struct cw_list *group, uint32_t pass);
/* Finds a pass, `near` first, for all items that changes from the `mark`-th on took out of their only pass; at worst in
 * the place of others that fit elsewhere. */
bool cw_packings_settle(struct cw_packings *packings, uint32_t mark, uint32_t near);

/* Takes back all changes but the first `mark`, in reverse order, through states that were valid. */
void cw_packings_undo(struct cw_packings *packings, uint32_t mark);
/* Counters of a group that do not stand in a pass. */
uint32_t cw_packings_missing(const struct cw_packings *packings, const struct cw_list *group, uint32_t pass);
/* Counts one more group (1), or one less (-1), that relies on its counters standing in a pass. */
void cw_packings_lock(struct cw_packings *packings, const struct cw_list *group, uint32_t pass, int more);

#endif
