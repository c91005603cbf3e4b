/* Launches of the program's that are in the driver, and waiting for such calls. */
#ifndef CW_INJECT_IN_FLIGHT_H
#define CW_INJECT_IN_FLIGHT_H

#include "agent/inject/inject.h"

#define CW_WHY_BESIDE "what a context did beside a call of another thread that does not return"

/* At the entry of every call: while a thread waits, others wait here, for a while. */
void cw_in_flight_gate(void);
/* Behind what a mode does at a launch's entry, and before what it does at its return. */
void cw_in_flight_launch_entered(void);
void cw_in_flight_launch_left(void);
/* Launches that have entered and not left. */
uint32_t cw_in_flight_launches(void);

/* Waits until `quiet`, with the lock let go meanwhile; false where that does not come to be. It is not waited for again
 * before it has been. A mode has one such condition. */
bool cw_in_flight_wait(bool (*quiet)(void));

#endif
