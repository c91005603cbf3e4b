/* Counts launches and user ranges in one pass each, without repeating them; passes take turns at similar ones. turns.h
 * decides when to change passes, from the costs measured here. */
#ifndef CW_INJECT_PASS_TURNS_H
#define CW_INJECT_PASS_TURNS_H

#include "agent/inject/ranges/collection.h"
#include "agent/inject/ranges/turns.h"

struct cw_pass_turn { /* one per collection, in the same slot */
    struct cw_turns turns;
    bool in_vain;                   /* a change of passes waited in vain for a launch that has not returned since */
    uint64_t took_ns;               /* time when it took the device's counters */
    uint64_t launched_ns;           /* time of the last counted launch or range */
    uint32_t strange, strange_next; /* launches still to push as ranges (once.h); number for the next unknown kernel */
};

struct cw_pass_turns {
    bool of_ranges; /* user ranges are counted, not launches */
    struct cw_pass_turn items[CW_MOST_CONTEXTS];
    struct cw_pass_times {
        uint64_t start, stop, launch; /* price of each in ns; launch: without its kernel's time */
        uint64_t changes;             /* time of all changes, computed from prices */
        uint64_t first, spent;        /* time when counting began; time spent on counting */
    } ns;
};
extern struct cw_pass_turns *const cw_pass_turns;

/* Returns the state of a collection; NULL when out of memory, and then the capture is over. */
struct cw_pass_turn *cw_pass_turn_of(const struct cw_collection *c);
/* Call it when the context is destroyed. */
void cw_pass_turn_end(const struct cw_collection *c);

/* Notes an occurrence, counted or not, and returns its kind. `key`: equal for similar occurrences. cw_pass_key returns
 * the key of a launch. */
uint32_t cw_pass_meet(struct cw_pass_turn *turn, uint64_t key);
uint64_t cw_pass_key(CUpti_CallbackId id, const CUpti_CallbackData *call);
/* Whether a launch is pushed: its kernel is unknown and may wait (`may_wait`), or such a kernel was launched recently.
 * A change between pushed and automatic ranges takes a quarter of a second. */
bool cw_pass_is_strange(struct cw_pass_turn *turn, bool may_wait);
/* Returns the number of passes to go on before the last occurrence is counted; if no pass runs, the number to let by.
 * `may_wait`: not to a pass that patches code (cw_collection_turn_patches), unless all do. */
uint32_t cw_pass_ahead(const struct cw_collection *c, struct cw_pass_turn *turn, bool may_wait);
/* Ends the current pass with `end`; `why`: for the report. False if a launch has not returned, or does not end; this
 * waits for it only once. */
bool cw_pass_stop(struct cw_collection *c, struct cw_pass_turn *turn, void (*end)(struct cw_collection *c),
                  const char *why);
/* Notes a start that began at `begin_ns`, and let `let_by` passes by first. */
void cw_pass_started(const struct cw_collection *c, struct cw_pass_turn *turn, uint64_t begin_ns, uint32_t let_by);
/* Notes that the current pass counts the last launch or range of the collection. */
void cw_pass_counted(const struct cw_collection *c, struct cw_pass_turn *turn, uint32_t kind);
/* Call it when a launch has returned: learns the price of a launch beside its kernel, which is the least time of all
 * launches. */
void cw_pass_learn_launch(const struct cw_launch *launch);

#endif
