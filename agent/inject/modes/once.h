/* Counts launches in one pass each and never repeats them. Repeating could change the program's results or make it
 * hang, because others can reach its memory, or because its memory cannot be saved. Passes take turns at similar
 * launches. A range is pushed and popped around each launch. Every wait has a limit: a kernel may wait for another
 * launch, and the program has to go on for that. */
#ifndef CW_INJECT_ONCE_H
#define CW_INJECT_ONCE_H

#include "agent/inject/modes/pass_turns.h"

/* Why launches are counted once. */
#define CW_ONCE_WAITS "its kernel waits for the host, another kernel or another device"
#define CW_ONCE_NEW "its kernel was not known yet, and may wait for the host"
#define CW_ONCE_NO_ROOM "there is no room to save its GPU's memory"
#define CW_ONCE_SOON "a kernel shortly before it was not known yet, and may wait for the host"

/* Call it at a launch: makes the launch a range if it is wanted and can be one, and otherwise keeps it out of other
 * ranges. `why`: as in cw_launch.once. Call it only after collections of other kinds have ended. True if the launch is
 * wanted and does not count. */
bool cw_once_enter(struct cw_collection *c, CUpti_CallbackId id, const CUpti_CallbackData *call, bool wanted,
                   const char *why);
/* The same in two functions, for callers that choose passes themselves. cw_once_count makes the launch a range of the
 * pass that comes `ahead` passes later; if a change is due (cw_pass_ahead), the current pass must have ended. True if
 * the launch counts. cw_once_pass keeps an uncounted launch out of other ranges. */
struct cw_once {
    uint32_t kind, ahead;
    bool may_wait;   /* cw_once_may_wait */
    const char *why; /* NULL: all launches are counted once */
};
/* Whether the launch's kernel may wait for what the program does next. */
bool cw_once_may_wait(CUpti_CallbackId id, const CUpti_CallbackData *call);
bool cw_once_count(struct cw_collection *c, struct cw_pass_turn *turn, CUpti_CallbackId id,
                   const CUpti_CallbackData *call, const struct cw_once *how);
void cw_once_pass(struct cw_collection *c);
/* Call it at the launch's return. */
void cw_once_leave(struct cw_collection *c, CUpti_CallbackId id, const CUpti_CallbackData *call);
/* Ends the collection and sends its ranges. False if a kernel still runs; no other collection can begin then. */
bool cw_once_end(struct cw_collection *c);

#endif
