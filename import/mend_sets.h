/* Sets of placements that are put together under the limits as they are. Internal to import/mend*.c. */
#ifndef CW_IMPORT_MEND_SETS_H
#define CW_IMPORT_MEND_SETS_H

#include "import/mend_limits.h"

struct cw_mend_set {
    uint32_t count, items[CW_MEND_SET];
};

/* Whether the limits let `more` join; where they do, it joins. */
bool cw_mend_join(struct cw_mend *m, struct cw_mend_set *set, uint32_t more);
/* Draws from a list until the set uses `groups` of a limit's groups; false where that does not come about. */
bool cw_mend_fill(struct cw_mend *m, struct cw_mend_set *set, uint32_t limit, const struct cw_list *from,
                  uint32_t groups);
/* Draws members of a limit until the set breaks it. */
bool cw_mend_overfill(struct cw_mend *m, struct cw_mend_set *set, uint32_t limit);
/* Drops members of a set that does not fit while it still does not. */
void cw_mend_minimize(struct cw_mend *m, struct cw_mend_set *set);

#endif
