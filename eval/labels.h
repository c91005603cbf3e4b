/* Numbers for texts: equal texts have one number. */
#ifndef CW_EVAL_LABELS_H
#define CW_EVAL_LABELS_H

#include <stdbool.h>
#include <stdint.h>

#include "image/counter_data.h"

struct cw_label {
    const char *text;
    uint32_t index;
};

/* Numbers labels, whose indices are 0 to count - 1, in any order; sorts them. [index], in `arena`. NULL when out of
 * memory. */
const uint32_t *cw_label_number(struct cw_label *labels, uint32_t count, struct cw_arena *arena);

/* Whether both captures have the names of kernels as one profiler writes them. Only then may they be compared as they
 * are; else by cw_shorten_to_spelling (base/shorten.h). */
bool cw_labels_alike(const struct cw_counter_data *a, const struct cw_counter_data *b);

#endif
