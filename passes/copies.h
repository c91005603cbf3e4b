/* Copies: a raw counter may stand in several passes of a plan. */
#ifndef CW_PASSES_COPIES_H
#define CW_PASSES_COPIES_H

#include "image/config_image.h"

/* Passes that are collected as one are a bundle. `bond`: for each pass another one of its bundle, the last one's is its
 * own; at first each pass is a bundle by itself. */

/* The pass that stands for the bundle of a pass. */
uint32_t cw_copies_bundle(uint32_t *bond, uint32_t pass);
/* Makes one bundle of passes that have all raw counters of a counter: of one with copies, a pass that is in the bundle
 * already will do. Nothing collects a counter that lacks a raw counter. */
void cw_copies_bind(const struct cw_copies *copies, uint32_t *bond, const struct cw_config_counter *counter);

/* A counter whose raw counters no pass holds together is computed from several passes, which are collected as one:
 * among them a raw counter must not stand twice, or passes have to be added to the capture. Takes such copies out of
 * the plan's passes; a pass that keeps nothing is gone. What holds a late group together stays rather than what holds
 * an early one, and what holds one of the last `pinned` groups stays in any case. `groups` are given as counters, whose
 * names do not matter. Passes live in `arena`. */
enum cw_status cw_copies_drop(struct cw_config_image *plan, const struct cw_config_counter *groups, size_t group_count,
                              size_t pinned, struct cw_arena *arena, struct cw_error *err);

/* The plan without copies: each raw counter is left to one pass, so that counters of several stay whole where they can;
 * a pass that keeps nothing is gone. Passes live in `arena`. False when out of memory. */
bool cw_copies_drop_all(struct cw_config_image *single, const struct cw_config_image *plan, struct cw_arena *arena);

#endif
