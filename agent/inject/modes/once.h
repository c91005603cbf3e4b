/* Launches that are counted in one pass and never done again, because that could change the program's results or make
 * it hang: others can reach its memory, or its memory cannot be saved. Passes take turns at launches that are alike.
 * Each is a range that is pushed and popped. Nothing here waits without an end: a kernel may wait for another launch,
 * and the program has to go on for that. */
#ifndef CW_INJECT_ONCE_H
#define CW_INJECT_ONCE_H

#include "agent/inject/modes/pass_turns.h"

/* Why launches are counted once. */
#define CW_ONCE_WAITS "its kernel waits for what the host, another kernel or another device does"
#define CW_ONCE_NEW "its kernel was not known yet, and may wait for the host"
#define CW_ONCE_SOON "a kernel shortly before it was not known yet, and may wait for the host"

/* At a launch: makes it a range if it is wanted and can be one, else sees to it that it counts for none. why: as
 * cw_launch.once has it. Another way to collect must have ended before. */
void cw_once_enter(struct cw_collection *c, CUpti_CallbackId id, const CUpti_CallbackData *call, bool wanted,
                   const char *why);
/* The same in two, for whoever meets launches itself: one that is counted, by which pass, where the one that runs has
 * ended if it was to (cw_pass_ahead). True where it is. One that is not counted. */
struct cw_once {
    uint32_t kind, ahead;
    const char *why; /* NULL: everything is counted so */
};
bool cw_once_count(struct cw_collection *c, struct cw_pass_turn *turn, CUpti_CallbackId id,
                   const CUpti_CallbackData *call, const struct cw_once *how);
void cw_once_pass(struct cw_collection *c);
/* At its return. */
void cw_once_leave(struct cw_collection *c, CUpti_CallbackId id, const CUpti_CallbackData *call);
/* Ends what was collected so and sends it. False where a kernel still runs; then nothing else can begin. */
bool cw_once_end(struct cw_collection *c);

#endif
