/* Check sets: what people ask for, scheduled by our own scheduler and judged by NVIDIA's library. Internal. */
#ifndef CW_IMPORT_LEARN_CHECK_H
#define CW_IMPORT_LEARN_CHECK_H

#include "host/import/learn_model.h"

struct cw_check {
    uint32_t sets, passes, refused;
};

/* Schedules the sets of a round (random ones are other ones in each round) and bans whatever the library refuses. */
void cw_learn_check(struct cw_model *m, const struct cw_chip *chip, uint32_t round, struct cw_check *check);

#endif
