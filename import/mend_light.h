/* Rules that some groups obey only together with others. Internal to import/mend*.c. */
#ifndef CW_IMPORT_MEND_LIGHT_H
#define CW_IMPORT_MEND_LIGHT_H

#include "import/mend_limits.h"

/* Replaces a rule that an accepted set breaks, and which is already gone, by one that takes a group more, of which all
 * but the light groups need one in common. False where there are no light groups; then nothing is changed. */
bool cw_mend_lighten(struct cw_mend *m, uint32_t rule, const uint32_t *set, uint32_t count);

#endif
