/* What has been learned so far, and the questions that teach it. Internal to import/learn*.c.
 *
 * Placements are numbered as in the chip. Conflicts stand between kinds: placements of one domain that exclude the same
 * others. A rule lets a pass use at most `max` of its groups; a placement occupies none, one or two of them. A class is
 * a set of placements that nothing learned so far tells apart. A ban is a few sets of classes, its parts, of which a
 * pass must not take one each. */
#ifndef CW_IMPORT_LEARN_MODEL_H
#define CW_IMPORT_LEARN_MODEL_H

#include "import/ask.h"

enum { CW_MODEL_MOST = 320 /* placements of a set */, CW_BAN_MOST = 8, CW_RULES_MOST = 1024 };

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

/* Asks the library; false after a failure. */
bool cw_model_fits_with(struct cw_model *m, const struct cw_ask_set *set, uint32_t more);

/* Whether the model lets `more` join a set that it allows. */
bool cw_model_allows(struct cw_model *m, const struct cw_ask_set *set, uint32_t more);
/* Groups of a rule that a set uses. */
uint32_t cw_model_groups(const struct cw_rule *rule, const struct cw_ask_set *set);
bool cw_model_conflict(const struct cw_model *m, uint32_t a, uint32_t b);
/* Draws members of the pool until the set has `size`; false when the pool gives no more. */
bool cw_model_grow(struct cw_model *m, struct cw_ask_set *set, const struct cw_pool *pool, uint32_t size);

#endif
