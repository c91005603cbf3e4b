/* Copies: a raw counter may stand in several passes of a plan. */
#ifndef CW_PASSES_COPIES_H
#define CW_PASSES_COPIES_H

#include "image/config_image.h"

/* A bundle is a set of passes that are collected together. `bond` has for each pass another pass of its bundle; the
 * last one refers to itself. Initially each pass is its own bundle. */

/* Returns the pass that represents the bundle of a pass. */
uint32_t cw_copies_bundle(uint32_t *bond, uint32_t pass);
/* Bundles passes that together have all raw counters of a counter. For a raw counter with copies, a pass that is in the
 * bundle already is enough. Does nothing if a raw counter stands in no pass: then nothing collects the counter. */
void cw_copies_bind(const struct cw_copies *copies, uint32_t *bond, const struct cw_config_counter *counter);

/* Removes copies that would add passes to a capture. A counter spread over several passes needs them collected
 * together, and such passes must not have a raw counter twice. Keeps copies that hold late groups together in
 * preference to early ones, and all copies that hold the last `pinned` groups together. Removes passes that keep
 * nothing. `groups` are given as counters, whose names are ignored. Passes live in `arena`. */
enum cw_status cw_copies_drop(struct cw_config_image *plan, const struct cw_config_counter *groups, size_t group_count,
                              size_t pinned, struct cw_arena *arena, struct cw_error *err);

/* Makes the plan without copies: leaves each raw counter to one pass, so that counters stay whole if possible, and
 * removes passes that keep nothing. Passes live in `arena`. False when out of memory. */
bool cw_copies_drop_all(struct cw_config_image *single, const struct cw_config_image *plan, struct cw_arena *arena);

#endif
