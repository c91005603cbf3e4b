/* Numbers for texts: equal texts have one number. */
#ifndef CW_EVAL_LABELS_H
#define CW_EVAL_LABELS_H

#include <stdbool.h>
#include <stdint.h>

#include "image/counter_data.h"

/* Numbers texts (NULL: ""): [text], in `arena`, in the order of strcmp. NULL when out of memory; `texts` may be
 * the NULL of a failure before. */
const uint32_t *cw_labels_number(const char *const *texts, uint32_t count, struct cw_arena *arena);

/* Whether both captures have the names of kernels as one profiler writes them. Only then may they be compared as they
 * are; else by cw_shorten_to_spelling (base/shorten.h). */
bool cw_labels_alike(const struct cw_counter_data *a, const struct cw_counter_data *b);

#endif
