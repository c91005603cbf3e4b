/* Multiplexing: nothing is repeated. Each launch, or user range, is counted in the pass whose turn it is (turns.h). */
#ifndef CW_INJECT_MULTIPLEX_H
#define CW_INJECT_MULTIPLEX_H

#include "agent/inject/ranges/collection.h"
#include "agent/inject/ranges/mode.h"
#include "agent/inject/ranges/turns.h"

struct cw_multiplexed { /* of the collection in this slot */
    struct cw_turns turns;
    bool one_by_one;      /* launches are pushed as ranges, for good (once.h) */
    bool in_vain;         /* a launch did not return while the pass was to be changed, and has not since */
    uint32_t stretch;     /* counted since the last start */
    uint32_t unwanted;    /* since the last that was wanted, while it ran */
    uint64_t rest;        /* of what is wanted, how much is to go by uncounted */
    uint64_t took_ns;     /* when it took the device's counters */
    uint64_t launched_ns; /* when it last counted */
};

struct cw_multiplex {
    uint32_t every, slowdown; /* from SETUP */
    struct cw_multiplexed items[CW_MOST_CONTEXTS];
    struct cw_multiplex_times {
        uint64_t start, stop, launch; /* what one takes; launch: beyond what the kernel does */
        uint64_t early;               /* what changes took that only the program's waits were the reason for */
        uint64_t changes;             /* what all of them took, at these prices */
        uint64_t first, spent;        /* when counting began; all that it took so far */
    } ns;
};
extern struct cw_multiplex *const cw_multiplex;

extern const struct cw_inject_mode cw_inject_multiplex;

#endif
