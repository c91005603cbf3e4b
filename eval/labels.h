/* Numbers for texts: equal texts have one number. */
#ifndef CW_EVAL_LABELS_H
#define CW_EVAL_LABELS_H

#include <stdint.h>

#include "base/arena.h"

struct cw_label {
    const char *text;
    uint32_t index;
};

/* Numbers labels, whose indices are 0 to count - 1, in any order; sorts them. [index], in `arena`. NULL when out of
 * memory. */
const uint32_t *cw_label_number(struct cw_label *labels, uint32_t count, struct cw_arena *arena);

#endif
