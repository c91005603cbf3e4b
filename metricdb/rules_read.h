/* Reads files of rules, before their formulas are known (metricdb/rules.h). Internal to metricdb. */
#ifndef CW_METRICDB_RULES_READ_H
#define CW_METRICDB_RULES_READ_H

#include "metricdb/formula_load.h"
#include "metricdb/rules.h"
#include "metricdb/yaml.h"

/* A rule whose formulas are not yet known. */
struct cw_rule_draft {
    struct cw_rule rule;
    const struct cw_yaml *text, *evidence;
};

struct cw_rules_load {
    struct cw_yaml_reader in; /* reader of the current file */
    const struct cw_chip *chip;
    struct cw_rules *rules;
    /* malloc memory, until all files are read: */
    struct cw_formula_source *sources;
    struct cw_rule_draft *drafts;
    struct cw_limiter *limiters;
    struct cw_rule_missing *missing;
    size_t source_count, draft_count, limiter_count, missing_count;
    size_t source_room, draft_room, limiter_room, missing_room;
    const char *tree; /* the file with the tree, or NULL */
};

/* These functions leave failures in l->in and do nothing after one. */

/* Add the rules of a file, or of its text. */
void cw_rules_read_file(struct cw_rules_load *l, const char *path);
void cw_rules_read_text(struct cw_rules_load *l, const void *data, size_t size, const char *path);
/* Adds a formula at `at`; does nothing if it is NULL. `scope` is the prefix of its name, and of the formulas that it
 * may name without it: "rule.tail-wave." */
void cw_rules_add_source(struct cw_rules_load *l, const char *scope, const char *name, const struct cw_yaml *at,
                         const struct cw_yaml *formula);
/* Makes room for one more of `count` items; false after a failure. */
bool cw_rules_room(struct cw_rules_load *l, void **items, size_t count, size_t *room, size_t size);
/* Joins three texts; "" after a failure. */
const char *cw_rules_join(struct cw_rules_load *l, const char *a, const char *b, const char *c);

#endif
