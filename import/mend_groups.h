/* What the groups of a rule have in common: a place that two of them share, or a helper that some need. Internal to
 * import/mend*.c. */
#ifndef CW_IMPORT_MEND_GROUPS_H
#define CW_IMPORT_MEND_GROUPS_H

#include "import/mend_limits.h"

/* Replaces a rule that an accepted set breaks, and which is already gone, by the rules of its parts in which no two
 * groups share. False where two groups of the set do not share, or that is not the whole reason; then nothing is
 * changed. */
bool cw_mend_share(struct cw_mend *m, uint32_t rule, const uint32_t *set, uint32_t count);

/* Replaces a rule that an accepted set breaks, and which is already gone, by one that takes a group more, of which all
 * but the light groups need one in common. False where there are no light groups; then nothing is changed. */
bool cw_mend_lighten(struct cw_mend *m, uint32_t rule, const uint32_t *set, uint32_t count);

#endif
