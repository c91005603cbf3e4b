/* Launches of the program's that are in the driver, and waiting for such calls. */
#ifndef CW_INJECT_IN_FLIGHT_H
#define CW_INJECT_IN_FLIGHT_H

#include "agent/inject/driver/inject.h"

#define CW_WHY_BESIDE "what a context did beside a call of another thread that does not return"

enum { CW_IN_FLIGHT_MOST_CONDITIONS = 4 };

struct cw_in_flight {
    uint32_t launches, holding; /* launches: that have entered and not left; holding: threads */
    uint64_t entered;           /* launches so far */
    _Atomic uint64_t since_ns;  /* since when none has returned, while some are there; else 0 */
    struct cw_in_vain {         /* waits that were in vain, and what they waited for has not been since */
        bool (*condition)(void);
        uint64_t since_ns;
    } vain[CW_IN_FLIGHT_MOST_CONDITIONS];
    uint32_t vain_count;
};
extern struct cw_in_flight *const cw_in_flight;

/* At the entry of every call: it waits here, for a while, as long as a thread holds others up. */
void cw_in_flight_gate(void);
void cw_in_flight_hold(void);
void cw_in_flight_release(void);
/* Behind what a mode does at a launch's entry, and before what it does at its return. */
void cw_in_flight_launch_entered(void);
void cw_in_flight_launch_left(void);
/* Whether there are no launches that have entered and not left: a condition to wait for. */
bool cw_in_flight_no_launch(void);

/* Waits until the condition holds, with the lock let go and others held up meanwhile; false where it does not come to
 * hold. Then it is not waited for again before it was seen to hold, at a call's return, or some time has passed. */
bool cw_in_flight_wait(bool (*condition)(void));
/* Behind a call's return: sees whether what was waited for in vain holds now. */
void cw_in_flight_look(void);

#endif
