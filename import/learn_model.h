/* What has been learned so far, and the questions that teach it. Internal to import/learn*.c.
 *
 * Placements are numbered as in the chip. Conflicts stand between kinds: placements of one domain that exclude the same
 * others. A rule lets a pass use at most `max` of its groups; a placement occupies none, one or two of them. A class is
 * a set of placements that nothing learned so far tells apart. A ban is a few sets of classes, its parts, of which a
 * pass must not take one each. */
#ifndef CW_IMPORT_LEARN_MODEL_H
#define CW_IMPORT_LEARN_MODEL_H

#include "import/ask.h"
#include "import/limit_tables.h"

enum { CW_MODEL_MOST = 320 /* placements of a set */, CW_MODEL_SETS = 400, CW_BAN_MOST = 8, CW_RULES_MOST = 1024 };

struct cw_pool { /* of placements */
    uint32_t count;
    uint32_t *items;
};

struct cw_rule {
    uint32_t max, group_count;
    uint32_t *group, *second; /* by placement, CW_NONE: none; `second` is NULL unless some placement has two */
    uint32_t helper;          /* the group that stands in `second` */
};

struct cw_model {
    struct cw_ask ask;
    struct cw_chip chip;                /* its limits change with every round */
    void (*progress)(const char *what); /* may be NULL */

    bool *usable;      /* by placement: fits a pass alone */
    bool *own_pass;    /* by domain: shares a pass with no other domain */
    uint32_t *cluster; /* by domain: domains that may disturb one another */

    uint32_t *kind, kind_count; /* by placement; CW_NONE while unknown */
    uint8_t *conflict;          /* [kind * kind_room + kind] */
    uint32_t kind_room;

    struct cw_rule rules[CW_RULES_MOST];
    uint32_t rule_count;

    uint32_t *class_; /* by placement, once the rules are known; NULL before */
    struct cw_pool *classes;
    uint32_t class_count;
    uint8_t *bans;      /* [class * ban_room + ban]: the bit of the part that the class belongs to, 0 for none */
    uint8_t *ban_parts; /* by ban: the bits of its parts, from the lowest */
    uint32_t ban_count, ban_room;
    struct cw_model_last *last; /* of cw_model_allows */
    uint32_t *scratch;          /* of cw_learn_bans, by placement */
    struct cw_ask_set *sets;    /* room for CW_MODEL_SETS that one step looks at together */
};

/* Tells the one who waits what was done, and how many questions it took so far. */
__attribute__((format(printf, 2, 3))) void cw_model_tell(const struct cw_model *m, const char *format, ...);

/* The usable placements of the domains that are marked. */
struct cw_pool cw_model_pool(struct cw_model *m, const bool *domains);
/* Marks the domains of a cluster that share passes with others; returns how many there are. */
uint32_t cw_model_mark_cluster(const struct cw_model *m, uint32_t cluster, bool *domains);

/* The cluster that a class is in. */
uint32_t cw_model_cluster(const struct cw_model *m, uint32_t class_);
/* A random placement of a class, and of a random one of some classes. */
uint32_t cw_model_draw_class(struct cw_model *m, uint32_t class_);
uint32_t cw_model_draw(struct cw_model *m, const uint32_t *classes, uint32_t count);

/* Adds a rule without members that is not to be believed yet: it counts once `rule_count` says so. NULL where there are
 * too many, and after a failure. */
struct cw_rule *cw_model_new_rule(struct cw_model *m, uint32_t max);
/* Has to be called after every change of rules, and of kinds. */
void cw_model_changed(struct cw_model *m);

/* Whether the model lets `more` join a set that it allows. */
bool cw_model_allows(struct cw_model *m, const struct cw_ask_set *set, uint32_t more);
/* Groups of a rule that a set uses. */
uint32_t cw_model_groups(const struct cw_rule *rule, const struct cw_ask_set *set);
/* Whether two kinds, or two placements by their kinds, exclude each other. */
bool cw_model_excludes(const struct cw_model *m, uint32_t a, uint32_t b);
bool cw_model_conflict(const struct cw_model *m, uint32_t a, uint32_t b);
/* Draws members of the pool until the set has `size`; false when the pool gives no more. */
bool cw_model_grow(struct cw_model *m, struct cw_ask_set *set, const struct cw_pool *pool, uint32_t size);

/* ---- the steps of learning, in order: each adds to the model what the next ones build on ---- */

void cw_learn_domains(struct cw_model *m); /* usable, own_pass, cluster */
void cw_learn_kinds(struct cw_model *m);   /* kind, conflict */
void cw_learn_rules(struct cw_model *m);
void cw_learn_classes(struct cw_model *m); /* class_, classes */
/* Bans what the model wrongly allows among sets drawn from `pool`; returns the mistakes found in `tries` sets. */
uint32_t cw_learn_bans(struct cw_model *m, const struct cw_pool *pool, uint32_t tries);
/* Bans a set that does not fit, and whatever classes in place of its members do not fit either. */
void cw_learn_ban(struct cw_model *m, struct cw_ask_set set);
/* Adds a rule for the crowd that the members of a smallest set that does not fit are of; false where it is too small
 * for one. */
bool cw_learn_crowd(struct cw_model *m, const struct cw_ask_set *set);
/* Appends the lines of both sections. All names of classes begin with `prefix`. */
void cw_learn_write(struct cw_model *m, const char *prefix, struct cw_limit_table *table);

/* ---- what rules are made of ---- */

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
