/* Watches for launches that never return. If launches are serialized, CUPTI blocks one whose kernel waits for another.
 * Nothing can undo that, so a message is all that is left. */
#ifndef CW_INJECT_STUCK_H
#define CW_INJECT_STUCK_H

#include "agent/inject/driver/inject.h"

/* Call it when launches are serialized from here on. */
void cw_stuck_watch(void);
/* Surround launches of our own, during which no other can be made: call launch before each, and launched after the
 * last. */
void cw_stuck_launch(void);
void cw_stuck_launched(void);
/* Called by the thread at intervals: prints the message once, if no launch has returned for a minute. Needs no lock. */
void cw_stuck_look(uint64_t now_ns);

#endif
