/* Asking NVIDIA's host library what fits one pass, and what all that ask share: memory, chance, the first failure. */
#ifndef CW_IMPORT_ASK_H
#define CW_IMPORT_ASK_H

#include "base/arena.h"
#include "host/nvperf/nvperf.h"
#include "metricdb/chip.h"

enum { CW_ASK_MOST = 512 }; /* placements at a time */

struct cw_ask_set { /* of placements that may share a pass */
    uint32_t count, items[CW_ASK_MOST];
};

struct cw_ask {
    const struct cw_chip *chip;
    struct cw_nvperf_scheduler *scheduler;
    struct cw_arena *arena;
    struct cw_error *err;
    enum cw_status status; /* of the first failure; nothing is asked after it */
    uint64_t random, questions;
};

/* The same numbers each time. */
#define CW_ASK_SEED 88172645463325252u

bool cw_ask_ok(const struct cw_ask *ask);
/* Zeroed memory from the arena; NULL after the first failure. */
void *cw_ask_array(struct cw_ask *ask, size_t count, size_t size);
/* The same of numbers that are all CW_NONE. */
uint32_t *cw_ask_nones(struct cw_ask *ask, size_t count);
/* A larger copy of an array whose `room` is full, with its new room, else the array itself; NULL after a failure. */
void *cw_ask_grown(struct cw_ask *ask, void *items, uint32_t count, uint32_t *room, size_t size);
/* Below `n`, which must not be 0; from chance of one's own, or from that of the asker. */
uint32_t cw_ask_draw(uint64_t *random, uint32_t n);
uint32_t cw_ask_random(struct cw_ask *ask, uint32_t n);
/* Whether these placements of the chip fit one pass; false after a failure. */
bool cw_ask_fits(struct cw_ask *ask, const uint32_t *placements, uint32_t count);
/* Whether a set has a placement of the raw counter, beside that at `except` (CW_NONE: anywhere). */
bool cw_ask_has_raw(const struct cw_ask *ask, const struct cw_ask_set *set, uint32_t placement, uint32_t except);
/* Drops placements of a set that does not fit while it still does not. */
void cw_ask_minimize(struct cw_ask *ask, struct cw_ask_set *set);
/* Finds a smallest set that does not fit in one that does not, and takes one of its members out of the latter. False
 * once what is left fits. */
bool cw_ask_take_smallest(struct cw_ask *ask, struct cw_ask_set *set, struct cw_ask_set *smallest);

#endif
