/* Changes to the packings of all problems that can be taken back. Internal to the scheduler. */
#ifndef CW_HOST_SCHEDULE_MOVE_H
#define CW_HOST_SCHEDULE_MOVE_H

#include "host/schedule_packed.h"

/* Where a raw counter of the chip stands: its problem and its item there; `problem` CW_NONE: not asked for. */
struct cw_place {
    uint32_t problem, item;
};

struct cw_moves {
    struct cw_packed **packed; /* by problem */
    const struct cw_problems *problems;
    const struct cw_place *places;              /* by raw counter */
    struct cw_change {                          /* an item that was put into a pass, or taken out of it */
        uint32_t problem, item, pass, had, has; /* 1 + how it was collected there, and is; 0: not */
    } * changes;
    uint32_t count, room;
    uint32_t *together;         /* of cw_moves_reseat */
    uint32_t steps, most_steps; /* placements tried, about; when they are used up no place is looked for any more */
};

/* False when out of memory. */
bool cw_moves_init(struct cw_moves *moves, struct cw_packed **packed, const struct cw_problems *problems,
                   const struct cw_place *places, uint32_t most_steps, struct cw_arena *arena);
bool cw_moves_add(struct cw_moves *moves, uint32_t problem, uint32_t item, uint32_t pass);
bool cw_moves_take(struct cw_moves *moves, uint32_t problem, uint32_t item, uint32_t pass);
/* Takes back all changes but the first `mark`, in reverse order, through states that were valid. */
void cw_moves_undo(struct cw_moves *moves, uint32_t mark);
/* Takes from a pass what no group needs there, as far as it is of the problems of `group`. */
bool cw_moves_clear(struct cw_moves *moves, const struct cw_list *group, uint32_t pass);
/* Puts a group into a pass, trying the ways to collect each of its counters. */
bool cw_moves_seat(struct cw_moves *moves, const struct cw_list *group, uint32_t pass);
/* The same beside what stands in the pass already, which may be collected in other ways then. */
bool cw_moves_reseat(struct cw_moves *moves, const struct cw_list *group, uint32_t pass);
/* Finds a pass for an item that stands nowhere, at worst in the place of another that fits elsewhere. */
bool cw_moves_settle(struct cw_moves *moves, uint32_t problem, uint32_t item, uint32_t near);
/* The same for all items that changes from the `mark`-th on took out of their only pass. */
bool cw_moves_settle_all(struct cw_moves *moves, uint32_t mark, uint32_t near);
/* Counters of a group that do not stand in a pass. */
uint32_t cw_moves_missing(const struct cw_moves *moves, const struct cw_list *group, uint32_t pass);
/* Counts one more, or one less, group that relies on its counters standing in a pass. */
void cw_moves_lock(struct cw_moves *moves, const struct cw_list *group, uint32_t pass);
void cw_moves_unlock(struct cw_moves *moves, const struct cw_list *group, uint32_t pass);

#endif
