/* Asks NVIDIA's host library which placements fit one pass. Holds the state that all askers share: memory, random
 * numbers, the first failure. */
#ifndef CW_IMPORT_ASK_H
#define CW_IMPORT_ASK_H

#include "base/arena.h"
#include "host/nvperf/nvperf.h"
#include "metricdb/chip.h"

enum { CW_ASK_MOST = 512 }; /* placements in one question */

struct cw_ask_set { /* placements that may share a pass */
    uint32_t count, items[CW_ASK_MOST];
};

struct cw_ask {
    const struct cw_chip *chip;
    struct cw_nvperf_scheduler *scheduler;
    struct cw_arena *arena;
    struct cw_error *err;
    enum cw_status status; /* status of the first failure; nothing is asked after it */
    uint64_t random, questions;
};

/* A fixed seed: every run draws the same numbers. */
#define CW_ASK_SEED 88172645463325252u

bool cw_ask_ok(const struct cw_ask *ask);
/* Zeroed memory from the arena; NULL after the first failure. */
void *cw_ask_array(struct cw_ask *ask, size_t count, size_t size);
/* The same for numbers, all set to CW_NONE. */
uint32_t *cw_ask_nones(struct cw_ask *ask, size_t count);
/* Returns an array with room for one more item: a larger copy if its `room` is full, with the new room, else the array
 * itself; NULL after a failure. */
void *cw_ask_grown(struct cw_ask *ask, void *items, uint32_t count, uint32_t *room, size_t size);
/* Draw a number below `n` > 0, from the caller's random state or from the asker's. */
uint32_t cw_ask_draw(uint64_t *random, uint32_t n);
uint32_t cw_ask_random(struct cw_ask *ask, uint32_t n);
/* Whether these placements of the chip fit one pass; false after a failure. */
bool cw_ask_fits(struct cw_ask *ask, const uint32_t *placements, uint32_t count);
/* Whether a set has a placement of the same raw counter as `placement`, except at index `except` (CW_NONE: no
 * exception). */
bool cw_ask_has_raw(const struct cw_ask *ask, const struct cw_ask_set *set, uint32_t placement, uint32_t except);
/* Removes placements from a set that does not fit, as long as the rest does not fit either. */
void cw_ask_minimize(struct cw_ask *ask, struct cw_ask_set *set);
/* Finds a smallest unfit subset of an unfit set, and removes one of its members from the set. False once the rest of
 * the set fits. */
bool cw_ask_take_smallest(struct cw_ask *ask, struct cw_ask_set *set, struct cw_ask_set *smallest);

#endif
