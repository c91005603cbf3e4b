/* Check sets: what people ask for, scheduled by our own scheduler and judged by NVIDIA's library. Internal. */
#ifndef CW_IMPORT_LEARN_CHECK_H
#define CW_IMPORT_LEARN_CHECK_H

#include "import/learn_model.h"

struct cw_check {
    struct cw_check_count {
        uint32_t sets, passes, refused;
    } random, natural;
};

/* Schedules the sets of a round and judges the passes, adding to `check`. Round 0 has what people ask for as a whole:
 * units, families of names, all ratios, all throughputs; other rounds have random shares of those, and each round has
 * random sets of its own. With `learn`, whatever the library refuses is banned. */
void cw_learn_check(struct cw_model *m, const struct cw_chip *chip, uint32_t round, bool learn, struct cw_check *check);

#endif
