/* Launches that are counted in one pass and never done again, because that could change what the program computes or
 * make it hang: others can reach its memory, or its memory cannot be saved. Each is a range that is pushed and popped.
 * Nothing here waits without an end: a kernel may wait for another launch, and the program has to go on for that. */
#ifndef CW_INJECT_ONCE_H
#define CW_INJECT_ONCE_H

#include "agent/inject/ranges/collection.h"

/* At a launch: makes it a range if it is wanted and can be one, else sees to it that it counts for none. why: as
 * cw_launch.once has it; NULL where passes take turns. Another way to collect must have ended before. */
void cw_once_enter(struct cw_collection *c, CUpti_CallbackId id, const CUpti_CallbackData *call, bool wanted,
                   const char *why);
/* At its return. */
void cw_once_leave(struct cw_collection *c, CUpti_CallbackId id, const CUpti_CallbackData *call);
/* Ends what was collected so and sends it. False where a kernel still runs; then nothing else can begin. */
bool cw_once_end(struct cw_collection *c);

#endif
