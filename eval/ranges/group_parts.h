/* What the mean of a group that was multiplexed is made of: sums of its ranges, those that are alike by themselves.
 *
 * A group's ranges are walked over once. Each is added to its part; then the parts are put together, in the order of
 * their kinds, whole ranges first. So a mean takes memory for each kind and column, and none for a range. */
#ifndef CW_EVAL_RANGES_GROUP_PARTS_H
#define CW_EVAL_RANGES_GROUP_PARTS_H

#include "base/hash_table.h"
#include "eval/ranges/groups.h"

/* The form of a mean of values of two forms: the graver one. */
uint8_t cw_form_graver(uint8_t a, uint8_t b);

/* A column of some ranges. */
struct cw_group_cell {
    double sums[CW_ROLLUP_COUNT];
    uint32_t taken; /* ranges that have it */
    uint8_t form;   /* the gravest */
    bool warm;      /* cold ranges of the kind are left out, as there are others */
};

struct cw_group_part {
    uint32_t group, kind; /* kind: CW_WHOLE for ranges that were not multiplexed */
    uint32_t count;       /* of ranges */
    /* A bit for each column: whole ranges that have the same columns are a part. Without, all whole ranges of the
     * group once more, which its mean takes in as they come. */
    const uint8_t *mask;
    struct cw_group_cell *cells, *cold; /* [column]; cold ones by themselves until the end, or NULL */
    uint64_t hash;
};

/* To be freed, also after a failure; what cw_group_parts_finish gives stays. Begins with `columns` and `arena`. */
struct cw_group_parts {
    uint32_t columns;
    struct cw_arena *arena;
    struct cw_group_part *items;
    size_t count, room;
    struct cw_hash_table table; /* of items */
    uint8_t *mask; /* of the range that is looked for */
};

/* Cells of the range of a view that these sums take in, one for the group's mean, and for whole ranges those of the
 * same columns as well (else NULL). They stay where they are. False when out of memory. */
struct cw_group_cells {
    struct cw_group_cell *own, *alike;
};
bool cw_group_parts_find(struct cw_group_parts *parts, struct cw_group_cells *cells, uint32_t group, uint32_t kind,
                         const struct cw_counter_data *view, uint32_t range);
/* Adds column `c` of a range, whose cells are those of all columns. */
void cw_group_cells_add(const struct cw_group_cells *cells, uint32_t c, const struct cw_counter_data *view,
                        uint32_t range);

/* Gives each group that has parts its own, and makes the means of these in `to`. False when out of memory. */
bool cw_group_parts_finish(struct cw_group_parts *parts, struct cw_group *items, struct cw_counter_data *to);
void cw_group_parts_free(struct cw_group_parts *parts);

/* Whether a mean leaves out what a cold range of that kind has in a column, as others of its kind were not cold. */
bool cw_group_leaves_out(const struct cw_group *group, uint32_t kind, uint32_t column);

/* Which groups each range is in, once for each time that it is there. */
struct cw_group_members {
    uint32_t *of;  /* groups */
    size_t *first; /* [range + 1]: where those of a range begin in `of`; NULL: one a range, or CW_NONE */
};
/* To be freed, also after a failure. False when out of memory. */
bool cw_group_members_make(struct cw_group_members *members, const struct cw_group *items, uint32_t groups,
                           uint32_t ranges);
/* Those of a range, ascending; returns how many. */
size_t cw_group_members_find(const struct cw_group_members *members, uint32_t range, const uint32_t **groups);
void cw_group_members_free(struct cw_group_members *members);

#endif
