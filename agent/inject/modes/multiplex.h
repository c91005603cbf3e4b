/* Multiplexing repeats nothing. It counts each launch or user range in one pass, and passes take turns
 * (pass_turns.h). */
#ifndef CW_INJECT_MULTIPLEX_H
#define CW_INJECT_MULTIPLEX_H

#include "agent/inject/ranges/collection.h"
#include "agent/inject/ranges/mode.h"

struct cw_multiplexed { /* one per collection, in the same slot */
    bool one_by_one;    /* launches are pushed as ranges, for good (once.h) */
    uint32_t stretch;   /* launches counted since the last start */
    uint32_t unwanted;  /* unwanted launches since the last wanted one, while a pass runs */
    uint64_t rest;      /* number of wanted launches still to pass uncounted */
};

struct cw_multiplex {
    uint32_t every, slowdown; /* from SETUP */
    struct cw_multiplexed items[CW_MOST_CONTEXTS];
    uint64_t early_ns; /* time of changes whose only reason was a wait of the program */
};
extern struct cw_multiplex *const cw_multiplex;

extern const struct cw_inject_mode cw_inject_multiplex;

#endif
