/* Parts of means of groups (the means themselves: eval/ranges/groups.h), and the groups of each range. */
#ifndef CW_EVAL_RANGES_GROUP_MEANS_H
#define CW_EVAL_RANGES_GROUP_MEANS_H

#include "eval/ranges/groups.h"

/* A value of several counters needs ranges of the same kinds. If a group has all of some columns, but a kind of its
 * ranges lacks one of them, makes the means of these columns in row `group` of `to` (otherwise as groups->data) anew,
 * from the kinds that have all. *changed: whether it did, and then *occurrences: in how many ranges the rarest column
 * was collected. CW_ERR_NOMEM alone. */
enum cw_status cw_groups_merge_shared(const struct cw_groups *groups, uint32_t group, const uint32_t *columns,
                                      uint32_t column_count, struct cw_counter_data *to, bool *changed,
                                      uint32_t *occurrences);

/* In how many ranges of a multiplexed group a column was collected. */
uint32_t cw_group_occurrences(const struct cw_group *group, uint32_t column);
/* Whether the mean leaves out a cold range of this kind in a column, as others of its kind were not cold. */
bool cw_group_leaves_out(const struct cw_group *group, uint32_t kind, uint32_t column);

/* The groups of each range, once for each time that it is there. */
struct cw_group_members {
    uint32_t *of;  /* groups */
    size_t *first; /* [range + 1]: where the range's groups begin in `of`; NULL: one a range, or CW_NONE */
};
/* Free it also after a failure. False when out of memory. */
bool cw_group_members_make(struct cw_group_members *members, const struct cw_group *items, uint32_t groups,
                           uint32_t ranges);
/* The groups of a range, ascending; returns how many. */
size_t cw_group_members_find(const struct cw_group_members *members, uint32_t range, const uint32_t **groups);
void cw_group_members_free(struct cw_group_members *members);

#endif
