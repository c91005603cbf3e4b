/* Files of rules as they are read, before their formulas are known (metricdb/rules.h). Internal to metricdb. */
#ifndef CW_METRICDB_RULES_READ_H
#define CW_METRICDB_RULES_READ_H

#include "metricdb/formula_load.h"
#include "metricdb/rules.h"
#include "metricdb/yaml.h"

/* What is read before the formulas are known. */
struct cw_rule_draft {
    struct cw_rule rule;
    const struct cw_yaml *text, *evidence;
};

struct cw_rules_load {
    struct cw_yaml_reader in; /* of the file that is being read */
    const struct cw_chip *chip;
    struct cw_rules *rules;
    /* malloc memory, until all files are read */
    struct cw_formula_source *sources;
    struct cw_rule_draft *drafts;
    struct cw_limiter *limiters;
    struct cw_rule_missing *missing;
    size_t source_count, draft_count, limiter_count, missing_count;
    size_t source_room, draft_room, limiter_room, missing_room;
    const char *tree; /* the file that has the tree, or NULL */
};

/* A failure of these is in l->in; after one they do nothing. */

/* Adds what a file, or its text, has. */
void cw_rules_read_file(struct cw_rules_load *l, const char *path);
void cw_rules_read_text(struct cw_rules_load *l, const void *data, size_t size, const char *path);
/* A formula that stands at `at`; NULL is none. `scope`: what its name begins with, as do those of the formulas that it
 * may call by the rest of their names: "rule.tail-wave." */
void cw_rules_add_source(struct cw_rules_load *l, const char *scope, const char *name, const struct cw_yaml *at,
                         const struct cw_yaml *formula);
/* Room for one more of `count` items; false after a failure. */
bool cw_rules_room(struct cw_rules_load *l, void **items, size_t count, size_t *room, size_t size);
/* Three texts in one, "" after a failure. */
const char *cw_rules_join(struct cw_rules_load *l, const char *a, const char *b, const char *c);

#endif
