/* Which placements share a group of a rule. Internal to import/learn*.c. */
#ifndef CW_IMPORT_LEARN_SHARE_H
#define CW_IMPORT_LEARN_SHARE_H

#include "import/learn_model.h"

/* `rule` comes with a maximum and a group for each member; it leaves with shared groups. The rule is not yet among
 * those of the model. */
void cw_learn_share(struct cw_model *m, const struct cw_pool *members, struct cw_rule *rule);

/* Joins groups of a rule of the model that turn out to be one. */
void cw_learn_merge(struct cw_model *m, struct cw_rule *rule);

#endif
