/* Launches that do not return. Where they run one after another, CUPTI holds one up whose kernel waits for another, and
 * nobody can take it back: all that is left is to say so. */
#ifndef CW_INJECT_STUCK_H
#define CW_INJECT_STUCK_H

#include "agent/inject/driver/inject.h"

struct cw_stuck {
    atomic_bool watched, told; /* a thread of ours looks; it has said so */
};
extern struct cw_stuck *const cw_stuck;

/* Launches run one after another from here on. */
void cw_stuck_watch(void);
/* Around launches of our own, while no other can be made: before each, and behind the last. */
void cw_stuck_launch(void);
void cw_stuck_launched(void);
/* What the thread does at times: says it once, where none has returned for a minute. Needs no lock. */
void cw_stuck_look(uint64_t now_ns);

#endif
