/* Placements that need more than one group of a rule. Internal to import/learn*.c. */
#ifndef CW_IMPORT_LEARN_WEIGHT_H
#define CW_IMPORT_LEARN_WEIGHT_H

#include "import/learn_model.h"

/* The larger part of `members` whose sets of `size` always fit, if there is one: the others need more than one group
 * each. Else an empty pool. */
struct cw_pool cw_learn_light(struct cw_model *m, const struct cw_pool *members, uint32_t size);

/* Adds those of `pool` that are not in the rule yet but take part in it: to the groups that they share, or to new ones,
 * and to a group that those needing a helper have in common. */
void cw_learn_attach(struct cw_model *m, const struct cw_pool *pool, const struct cw_pool *light, struct cw_rule *rule);

#endif
