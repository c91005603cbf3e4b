/* User ranges that lie within others. Each is counted by itself, and so its time is in that of the others, too. */
#ifndef CW_EVAL_RANGES_GROUP_NESTING_H
#define CW_EVAL_RANGES_GROUP_NESTING_H

#include "image/counter_data.h"

/* Which launches (cw_launch) are user ranges within another of their GPU, by the paths of both, among those of `taken`
 * ([launch]). Processes do not count: application replay has each level of ranges of another one.
 * *nested: [launch], in `arena`, or NULL where none is. `gpu`: of each device the first that is the same one. False when
 * out of memory. */
bool cw_group_nesting_find(const bool **nested, const struct cw_counter_data *data, const uint32_t *gpu,
                           const bool *taken, struct cw_arena *arena);

#endif
