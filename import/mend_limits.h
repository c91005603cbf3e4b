/* Limits of a chip while they are mended, in terms of placements. Internal to import/mend*.c. */
#ifndef CW_IMPORT_MEND_LIMITS_H
#define CW_IMPORT_MEND_LIMITS_H

#include "import/ask.h"
#include "import/limit_tables.h"

enum { CW_MEND_PARTS = 10 };

struct cw_mend {
    struct cw_ask ask;
    struct cw_chip chip;         /* its limits are the ones not marked gone */
    struct cw_arena *tables;     /* memory of cw_mend_refresh */
    struct cw_limit_names names; /* names in the file */
    bool *usable;                /* by placement */

    /* A limit of the chip. A limit that is not in the original text has no ban (`count` 0), or was made of one. */
    struct cw_mend_limit {
        struct cw_limit limit;
        bool gone;
        uint32_t tries, tried_in; /* attempts to replace it, and the round of the last one */
        /* A pass must not have a placement of every part if it uses `filled` groups of the limit `slots`. */
        struct cw_mend_ban {
            uint32_t count;
            struct cw_list parts[CW_MEND_PARTS];
            uint32_t slots, filled; /* `slots` CW_NONE: no pass may have them */
        } ban;
    } * limits;
    uint32_t count, room;
    bool changed;   /* changed since cw_mend_refresh */
    uint32_t round; /* round of check sets */

    /* by placement: its places in the limits */
    uint32_t *use_first;
    struct cw_mend_use {
        uint32_t limit, group; /* groups of all limits have one numbering */
    } * uses;
    uint32_t *group_seen, *limit_seen, *groups_used, mark; /* scratch of cw_mend_broken */
};

/* Takes over the chip's limits as they stand in the file. */
void cw_mend_begin(struct cw_mend *m);
/* Adds the limit that expresses a ban; copies its parts. */
void cw_mend_add_ban(struct cw_mend *m, const struct cw_mend_ban *ban);
/* Adds a copy of a limit, whose arrays the caller may change; NULL when out of memory. */
struct cw_mend_limit *cw_mend_add_copy(struct cw_mend *m, uint32_t limit);
/* Updates the chip's limits to the ones not marked gone. */
void cw_mend_refresh(struct cw_mend *m);
/* The first limit from `from` on that a set breaks; CW_NONE if there is none. */
uint32_t cw_mend_broken(struct cw_mend *m, const uint32_t *set, uint32_t count, uint32_t from);
/* The group of a placement in a limit, the first if there are several; CW_NONE: none. */
uint32_t cw_mend_group(const struct cw_mend *m, uint32_t limit, uint32_t placement);
/* Number of groups of a limit, which are numbered without gaps, */
uint32_t cw_mend_group_count(const struct cw_limit *limit);
/* and of those used by a set. */
uint32_t cw_mend_used(const struct cw_mend *m, uint32_t limit, const uint32_t *set, uint32_t count);

/* The placements of a placement's domain, and the members of a group of a limit. */
const struct cw_list *cw_mend_domain(const struct cw_mend *m, uint32_t placement);
struct cw_list cw_mend_members(struct cw_mend *m, const struct cw_limit *limit, uint32_t group);

/* Adds `more` to a set if the limits allow it; returns whether they do. */
bool cw_mend_join(struct cw_mend *m, struct cw_ask_set *set, uint32_t more);
/* Draws from a list until the set uses `groups` of a limit's groups; false if that fails. */
bool cw_mend_fill(struct cw_mend *m, struct cw_ask_set *set, uint32_t limit, const struct cw_list *from,
                  uint32_t groups);
/* Draws members of a limit until the set breaks it. */
bool cw_mend_overfill(struct cw_mend *m, struct cw_ask_set *set, uint32_t limit);
/* Draws up to `wanted` sets that break the limit, in `tries` tries. Returns the number that fit; `met` is the number
 * drawn. */
uint32_t cw_mend_sample(struct cw_mend *m, uint32_t limit, uint32_t wanted, uint32_t tries, uint32_t *met);

/* ---- steps ---- */

/* Narrows every limit broken by a set that the library accepts. */
void cw_mend_relax(struct cw_mend *m, const uint32_t *set, uint32_t count);
/* Adds a limit that forbids a set refused by the library, and similar sets. */
void cw_mend_forbid(struct cw_mend *m, const uint32_t *set, uint32_t count);

#endif
