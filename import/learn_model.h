/* The model: the limits learned so far, and the questions that teach it. Internal to import/learn*.c.
 *
 * Placements are numbered as in the chip.
 * - Conflicts stand between kinds: placements of one domain that exclude the same others.
 * - A rule lets a pass use at most `max` of its groups; a placement occupies none, one or two of them.
 * - A class is a set of placements that the model cannot tell apart.
 * - A ban has a few parts, each a set of classes; a pass must not have a member of every part. */
#ifndef CW_IMPORT_LEARN_MODEL_H
#define CW_IMPORT_LEARN_MODEL_H

#include "import/ask.h"
#include "import/limit_tables.h"

enum { CW_MODEL_MOST = 320 /* placements of a set */, CW_MODEL_SETS = 400, CW_BAN_MOST = 8, CW_RULES_MOST = 1024 };

struct cw_rule {
    uint32_t max, group_count;
    uint32_t *group, *second; /* by placement, CW_NONE: none; `second` is NULL unless a placement has two groups */
    uint32_t helper;          /* the group in `second` */
};

struct cw_model {
    struct cw_ask ask;
    struct cw_chip chip;                /* its limits change in every round */
    void (*progress)(const char *what); /* may be NULL */

    bool *usable;      /* by placement: fits a pass alone */
    bool *own_pass;    /* by domain: shares a pass with no other domain */
    uint32_t *cluster; /* by domain: domains that may interfere have one number */

    uint32_t *kind, kind_count; /* by placement; CW_NONE while unknown */
    uint8_t *conflict;          /* [kind * kind_room + kind] */
    uint32_t kind_room;

    struct cw_rule rules[CW_RULES_MOST];
    uint32_t rule_count;

    uint32_t *class_; /* by placement, once the rules are known; NULL before */
    struct cw_pool {  /* a set of placements */
        uint32_t count;
        uint32_t *items;
    } * classes;
    uint32_t class_count;
    uint8_t *bans;      /* [class * ban_room + ban]: bit of the part with the class, 0 for none */
    uint8_t *ban_parts; /* by ban: bits of its parts, from the lowest */
    uint32_t ban_count, ban_room;
    struct cw_model_last *last; /* state of cw_model_allows */
    uint32_t *scratch;          /* scratch of cw_learn_bans, by placement */
    struct cw_ask_set *sets;    /* room for the CW_MODEL_SETS sets of one step */
};

/* Reports progress: a finished step, with the number of questions so far. */
__attribute__((format(printf, 2, 3))) void cw_model_tell(const struct cw_model *m, const char *format, ...);

/* The usable placements of the marked domains. */
struct cw_pool cw_model_pool(struct cw_model *m, const bool *domains);
/* Marks the domains of a cluster that share passes with others; returns their number. */
uint32_t cw_model_mark_cluster(const struct cw_model *m, uint32_t cluster, bool *domains);

uint32_t cw_model_cluster(const struct cw_model *m, uint32_t class_);
/* Draw a random placement of a class, and of a random one of some classes. */
uint32_t cw_model_draw_class(struct cw_model *m, uint32_t class_);
uint32_t cw_model_draw(struct cw_model *m, const uint32_t *classes, uint32_t count);

/* Adds a provisional rule without members: it takes effect once the caller counts it in `rule_count`. NULL if there are
 * too many rules, and after a failure. */
struct cw_rule *cw_model_new_rule(struct cw_model *m, uint32_t max);
/* Call it after every change of rules or kinds. */
void cw_model_changed(struct cw_model *m);

/* Whether the model lets `more` join a set that it allows. */
bool cw_model_allows(struct cw_model *m, const struct cw_ask_set *set, uint32_t more);
/* Number of groups of a rule that a set uses. */
uint32_t cw_model_groups(const struct cw_rule *rule, const struct cw_ask_set *set);
/* Whether two kinds, or two placements by their kinds, exclude each other. */
bool cw_model_excludes(const struct cw_model *m, uint32_t a, uint32_t b);
bool cw_model_conflict(const struct cw_model *m, uint32_t a, uint32_t b);
/* Draws members of the pool until the set has `size`; false if the pool has no more that fit. */
bool cw_model_grow(struct cw_model *m, struct cw_ask_set *set, const struct cw_pool *pool, uint32_t size);

/* ---- the steps of learning, in order: each builds on the ones before ---- */

void cw_learn_rules(struct cw_model *m);
void cw_learn_classes(struct cw_model *m); /* sets class_, classes */
/* Bans sets drawn from `pool` that the model wrongly allows; returns the number of mistakes found in `tries` sets. */
uint32_t cw_learn_bans(struct cw_model *m, const struct cw_pool *pool, uint32_t tries);
/* Bans a set that does not fit, together with all classes that do not fit in place of its members either. */
void cw_learn_ban(struct cw_model *m, struct cw_ask_set set);

/* ---- steps of learning a rule ---- */

#endif
