/* The limits of a chip while they are mended, over placements. Internal to import/mend*.c. */
#ifndef CW_IMPORT_MEND_LIMITS_H
#define CW_IMPORT_MEND_LIMITS_H

#include "import/ask.h"
#include "import/limit_tables.h"

enum { CW_MEND_PARTS = 10 };

/* Placements of which a pass must not have one of each part, if there are `filled` groups of the limit `slots` in it.
 */
struct cw_mend_ban {
    uint32_t count;
    struct cw_list parts[CW_MEND_PARTS];
    uint32_t slots, filled; /* `slots` CW_NONE: in no pass at all */
};

/* A limit as the chip has it. One that is not in the text that was read was made of a ban, or has no ban (`count` 0).
 */
struct cw_mend_limit {
    struct cw_limit limit;
    bool gone;
    uint32_t tries, tried_in; /* at replacing it; the round of the last one */
    struct cw_mend_ban ban;
};

struct cw_mend {
    struct cw_ask ask;
    struct cw_chip chip;         /* its limits are those that are not gone */
    struct cw_arena *tables;     /* has what cw_mend_refresh makes */
    struct cw_limit_names names; /* in the file */
    bool *usable;                /* by placement */

    struct cw_mend_limit *limits;
    uint32_t count, room;
    bool changed;   /* since cw_mend_refresh */
    uint32_t round; /* of check sets */

    /* by placement: where it stands in the limits */
    uint32_t *use_first;
    struct cw_mend_use {
        uint32_t limit, group; /* groups of all limits are numbered together */
    } * uses;
    uint32_t *group_seen, *limit_seen, *groups_used, mark; /* of cw_mend_broken */
};

/* Takes the chip's limits over as they stand in the file. */
void cw_mend_begin(struct cw_mend *m);
/* Adds the limit that a ban is; its parts are copied. */
void cw_mend_add_ban(struct cw_mend *m, const struct cw_mend_ban *ban);
/* Adds a copy of a limit, the arrays of which may then be changed; NULL when out of memory. */
struct cw_mend_limit *cw_mend_add_copy(struct cw_mend *m, uint32_t limit);
/* Makes the chip's limits those that are not gone. */
void cw_mend_refresh(struct cw_mend *m);
/* The first limit from `from` on that a set breaks, CW_NONE where there is none. */
uint32_t cw_mend_broken(struct cw_mend *m, const uint32_t *set, uint32_t count, uint32_t from);
/* The group of a placement in a limit, the first if there are several; CW_NONE: none. */
uint32_t cw_mend_group(const struct cw_mend *m, uint32_t limit, uint32_t placement);
/* The groups of a limit, numbered without gaps, that there are, */
uint32_t cw_mend_group_count(const struct cw_limit *limit);
/* and those that a set uses. */
uint32_t cw_mend_used(const struct cw_mend *m, uint32_t limit, const uint32_t *set, uint32_t count);

/* The placements of the domain that a placement is in, and the members of a group of a limit. */
const struct cw_list *cw_mend_domain(const struct cw_mend *m, uint32_t placement);
struct cw_list cw_mend_members(struct cw_mend *m, const struct cw_limit *limit, uint32_t group);

/* Whether the limits let `more` join a set; where they do, it joins. */
bool cw_mend_join(struct cw_mend *m, struct cw_ask_set *set, uint32_t more);
/* Draws from a list until the set uses `groups` of a limit's groups; false where that does not come about. */
bool cw_mend_fill(struct cw_mend *m, struct cw_ask_set *set, uint32_t limit, const struct cw_list *from,
                  uint32_t groups);
/* Draws members of a limit until the set breaks it. */
bool cw_mend_overfill(struct cw_mend *m, struct cw_ask_set *set, uint32_t limit);
/* Of up to `wanted` sets drawn in `tries` that break the limit: how many fit. `met`: how many there were. */
uint32_t cw_mend_sample(struct cw_mend *m, uint32_t limit, uint32_t wanted, uint32_t tries, uint32_t *met);

/* ---- steps ---- */

/* Narrows every limit that a set breaks which the library accepts. */
void cw_mend_relax(struct cw_mend *m, const uint32_t *set, uint32_t count);
/* Adds a limit that forbids a set which the library refuses, and its likes. */
void cw_mend_forbid(struct cw_mend *m, const uint32_t *set, uint32_t count);
/* Replaces a rule that an accepted set breaks, and which is already gone, by the rules of its parts in which no two
 * groups share. False where two groups of the set do not share, or that is not the whole reason; then nothing is
 * changed. */
bool cw_mend_share(struct cw_mend *m, uint32_t rule, const uint32_t *set, uint32_t count);
/* Replaces a rule that an accepted set breaks, and which is already gone, by one that takes a group more, of which all
 * but the light groups need one in common. False where there are no light groups; then nothing is changed. */
bool cw_mend_lighten(struct cw_mend *m, uint32_t rule, const uint32_t *set, uint32_t count);
/* Appends the limits as they were read from `text`, without those that are gone, and what is new of both sections. */
void cw_mend_write(struct cw_mend *m, const struct cw_writer *text, struct cw_limit_table *table);

#endif
