/* Narrowing a limit and adding one. Internal to import/mend*.c. */
#ifndef CW_IMPORT_MEND_RULES_H
#define CW_IMPORT_MEND_RULES_H

#include "import/mend_limits.h"

/* Narrows every limit that a set breaks which the library accepts. */
void cw_mend_relax(struct cw_mend *m, const uint32_t *set, uint32_t count);
/* Adds a limit that forbids a set which the library refuses, and its likes. */
void cw_mend_forbid(struct cw_mend *m, const uint32_t *set, uint32_t count);

#endif
