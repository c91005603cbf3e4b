/* Tracks the program's launches inside the driver, and waits for them. */
#ifndef CW_INJECT_IN_FLIGHT_H
#define CW_INJECT_IN_FLIGHT_H

#include "agent/inject/driver/inject.h"

#define CW_WHY_BESIDE "work of a context beside a call of another thread that does not return"

enum { CW_IN_FLIGHT_MOST_CONDITIONS = 4 };

struct cw_in_flight {
    uint32_t launches, holding; /* launches: entered and not yet returned; holding: threads that hold others up */
    uint64_t entered;           /* launches so far */
    _Atomic uint64_t since_ns;  /* since when none has returned, while there are any; else 0 */
    struct cw_in_vain {         /* conditions waited for in vain that have not held since */
        bool (*condition)(void);
        uint64_t since_ns;
    } vain[CW_IN_FLIGHT_MOST_CONDITIONS];
    uint32_t vain_count;
};
extern struct cw_in_flight *const cw_in_flight;

/* Called at the entry of every call: waits, up to a limit, while a thread holds others up. */
void cw_in_flight_gate(void);
void cw_in_flight_hold(void);
void cw_in_flight_release(void);
/* Call cw_in_flight_launch_entered after the mode's work at a launch's entry, and cw_in_flight_launch_left before its
 * work at the return. */
void cw_in_flight_launch_entered(void);
void cw_in_flight_launch_left(void);
/* Whether no launch is inside the driver: a condition to wait for. */
bool cw_in_flight_no_launch(void);

/* Waits until the condition holds, with the lock released and other threads held up; false if it does not come to hold
 * in `ns`, or before the capture ends: then nobody counts the launches that return. */
bool cw_in_flight_wait_for(bool (*condition)(void), uint64_t ns);
/* The same for a usual time. After a failure it does not wait again until the condition was seen to hold at a call's
 * return, or some time has passed. */
bool cw_in_flight_wait(bool (*condition)(void));
/* Called after a call's return: checks whether conditions waited for in vain hold now. */
void cw_in_flight_look(void);
/* Forgets launches and conditions of a session that has ended. Threads that hold others up release them later. */
void cw_in_flight_forget(void);

#endif
