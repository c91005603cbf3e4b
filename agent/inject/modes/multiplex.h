/* Multiplexing: nothing is repeated. Each launch, or user range, is counted in the pass whose turn it is
 * (pass_turns.h). */
#ifndef CW_INJECT_MULTIPLEX_H
#define CW_INJECT_MULTIPLEX_H

#include "agent/inject/ranges/collection.h"
#include "agent/inject/ranges/mode.h"

struct cw_multiplexed { /* of the collection in this slot */
    bool one_by_one;    /* launches are pushed as ranges, for good (once.h) */
    uint32_t stretch;   /* counted since the last start */
    uint32_t unwanted;  /* since the last that was wanted, while it ran */
    uint64_t rest;      /* of what is wanted, how much is to go by uncounted */
};

struct cw_multiplex {
    uint32_t every, slowdown; /* from SETUP */
    struct cw_multiplexed items[CW_MOST_CONTEXTS];
    uint64_t early_ns; /* what changes took that only the program's waits were the reason for */
};
extern struct cw_multiplex *const cw_multiplex;

extern const struct cw_inject_mode cw_inject_multiplex;

#endif
