/* Clock of the library. */
#ifndef CW_INJECT_CLOCK_H
#define CW_INJECT_CLOCK_H

#include <stdint.h>

/* Wall-clock time of CLOCK_BOOTTIME 0, computed when the library was loaded. */
extern uint64_t *const cw_clock_epoch;

/* Call it when the library is loaded. */
void cw_inject_begin_clock(void);
/* Wall-clock time, which stays steady if somebody sets the clock. Needs no lock. */
uint64_t cw_inject_now_ns(void);

#endif
