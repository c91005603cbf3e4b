/* Counts how far a pass uses up the limits of a plan. */
#ifndef CW_IMAGE_LIMIT_INDEX_H
#define CW_IMAGE_LIMIT_INDEX_H

#include "image/config_image.h"

struct cw_limit_index {
    const struct cw_config_image *plan;
    uint32_t *first; /* entries of raw counter r: items[first[r]] up to items[first[r + 1]] */
    struct cw_limit_item {
        uint32_t domain, limit, group; /* groups are numbered across all limits */
    } * items;
    uint32_t *seen, question; /* by group: the last question whose pass uses the group */
    uint32_t *taken;          /* by limit: number of groups that the pass of the last question uses */
};

/* Makes the index in `arena`. False when out of memory. */
bool cw_limit_index_make(struct cw_limit_index *limits, const struct cw_config_image *plan, struct cw_arena *arena);
/* Counts the groups that a pass uses of each limit, in `taken`. Returns the first limit that the pass exceeds, or the
 * plan's limit_count. */
uint32_t cw_limit_index_ask(struct cw_limit_index *limits, const struct cw_config_pass *pass);

#endif
