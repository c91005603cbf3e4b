/* What passes take of a plan's limits. */
#ifndef CW_IMAGE_LIMIT_INDEX_H
#define CW_IMAGE_LIMIT_INDEX_H

#include "image/config_image.h"

struct cw_limit_index {
    const struct cw_config_image *plan;
    uint32_t *first; /* what stands of raw counter r in limits: items[first[r]] up to items[first[r + 1]] */
    struct cw_limit_item {
        uint32_t domain, limit, group; /* groups are numbered through all limits */
    } * items;
    uint32_t *seen, question; /* by group: the last question whose pass takes one of it */
    uint32_t *taken;          /* by limit: how many groups the pass of the last question takes */
};

/* Lists live in `arena`. False when out of memory. */
bool cw_limit_index_make(struct cw_limit_index *limits, const struct cw_config_image *plan, struct cw_arena *arena);
/* Asks what a pass takes: fills in `taken`. Returns the first limit that it exceeds, or the plan's limit_count. */
uint32_t cw_limit_index_ask(struct cw_limit_index *limits, const struct cw_config_pass *pass);

#endif
