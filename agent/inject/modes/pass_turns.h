/* Launches and user ranges that are counted in one pass each, and never repeated: of alike ones each has the next pass.
 * turns.h decides when to change passes, from the cost of counting so far. */
#ifndef CW_INJECT_PASS_TURNS_H
#define CW_INJECT_PASS_TURNS_H

#include "agent/inject/ranges/collection.h"
#include "agent/inject/ranges/turns.h"

struct cw_pass_turn { /* of the collection in this slot */
    struct cw_turns turns;
    bool in_vain;                   /* a launch did not return while the pass was to be changed, and has not since */
    uint64_t took_ns;               /* when it took the device's counters */
    uint64_t launched_ns;           /* when it last counted */
    uint32_t strange, strange_next; /* launches that are still pushed as ranges (once.h); how many the next time */
};

struct cw_pass_turns {
    bool of_ranges; /* user ranges are counted rather than launches */
    struct cw_pass_turn items[CW_MOST_CONTEXTS];
    struct cw_pass_times {
        uint64_t start, stop, launch; /* the time of each; launch: beside its kernel */
        uint64_t changes;             /* the time of all changes, at these prices */
        uint64_t first, spent;        /* when counting began; all that it took so far */
    } ns;
};
extern struct cw_pass_turns *const cw_pass_turns;

/* That of a collection, NULL without memory, where the capture is over. */
struct cw_pass_turn *cw_pass_turn_of(const struct cw_collection *c);
/* The context is gone. */
void cw_pass_turn_end(const struct cw_collection *c);

/* An occurrence, counted or not: its kind. `key`: the same for alike ones. */
uint32_t cw_pass_meet(struct cw_pass_turn *turn, uint64_t key);
uint64_t cw_pass_key(CUpti_CallbackId id, const CUpti_CallbackData *call);
/* Whether a launch is pushed because its kernel is not known yet and may wait, which `may_wait` says, or because such a
 * kernel was launched not long ago: to change from one kind of range to the other takes a quarter of a second. */
bool cw_pass_is_strange(struct cw_pass_turn *turn, bool may_wait);
/* How many passes to go on before the last occurrence is counted; where none runs, how many to let by. */
uint32_t cw_pass_ahead(const struct cw_collection *c, struct cw_pass_turn *turn);
/* Ends the pass that runs by `end`, and says why. False where a launch has not returned, or does not end; it is not
 * waited for again. */
bool cw_pass_stop(struct cw_collection *c, struct cw_pass_turn *turn, void (*end)(struct cw_collection *c),
                  const char *why);
/* Accounts for a start since `begin_ns`, before which so many were let by. */
void cw_pass_started(const struct cw_collection *c, struct cw_pass_turn *turn, uint64_t begin_ns, uint32_t let_by);
/* The last launch or range of the collection is counted by the pass that runs. */
void cw_pass_counted(const struct cw_collection *c, struct cw_pass_turn *turn, uint32_t kind);
/* It has returned: learns the time that it took beside its kernel, which is the least of all launches. */
void cw_pass_learn_launch(const struct cw_launch *launch);

#endif
