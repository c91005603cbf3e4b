/* The steps of learning, in order: each adds to the model what the next ones build on; then what those of rules are
 * made of. Internal to import/learn*.c. */
#ifndef CW_IMPORT_LEARN_STEPS_H
#define CW_IMPORT_LEARN_STEPS_H

#include "import/learn_model.h"
#include "import/limit_tables.h"

void cw_learn_domains(struct cw_model *m); /* usable, own_pass, cluster */
void cw_learn_kinds(struct cw_model *m);   /* kind, conflict */
void cw_learn_rules(struct cw_model *m);
void cw_learn_classes(struct cw_model *m); /* class_, classes; again when there are more rules */
/* Bans what the model wrongly allows among sets drawn from `pool`; returns the mistakes found in `tries` sets. */
uint32_t cw_learn_bans(struct cw_model *m, const struct cw_pool *pool, uint32_t tries);
/* Bans a set that does not fit, and whatever classes in place of its members do not fit either. */
void cw_learn_ban(struct cw_model *m, struct cw_ask_set set);
/* Adds a rule for the crowd that the members of a smallest set that does not fit are of; false where it is too small
 * for one. */
bool cw_learn_crowd(struct cw_model *m, const struct cw_ask_set *set);
/* Appends the lines of both sections. All names of classes begin with `prefix`. */
void cw_learn_write(struct cw_model *m, const char *prefix, struct cw_limit_table *table);

/* `rule` comes with a maximum and a group for each member; it leaves with shared groups. The rule is not yet among
 * those of the model. */
void cw_learn_share(struct cw_model *m, const struct cw_pool *members, struct cw_rule *rule);
/* Joins groups of a rule of the model that turn out to be one. */
void cw_learn_merge(struct cw_model *m, struct cw_rule *rule);
/* The larger part of `members` whose sets of `size` always fit, if there is one: the others need more than one group
 * each. Else an empty pool. */
struct cw_pool cw_learn_light(struct cw_model *m, const struct cw_pool *members, uint32_t size);
/* Adds those of `pool` that are not in the rule yet but take part in it: to the groups that they share, or to new ones,
 * and to a group that those needing a helper have in common. */
void cw_learn_attach(struct cw_model *m, const struct cw_pool *pool, const struct cw_pool *light, struct cw_rule *rule);

#endif
