/* The steps of learning, in order: each adds to the model what the next ones build on. Internal to import/learn*.c. */
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
void cw_learn_ban(struct cw_model *m, struct cw_model_set set);
/* Adds a rule for the crowd that the members of a smallest set that does not fit are of; false where it is too small
 * for one. */
bool cw_learn_crowd(struct cw_model *m, const struct cw_model_set *set);
/* Appends the lines of both sections. All names of classes begin with `prefix`. */
void cw_learn_write(struct cw_model *m, const char *prefix, struct cw_limit_table *table);

#endif
