/* The library's time. */
#ifndef CW_INJECT_CLOCK_H
#define CW_INJECT_CLOCK_H

#include <stdint.h>

struct cw_clock {
    uint64_t epoch; /* the wall-clock time at which CLOCK_BOOTTIME was 0, as it was when the library was loaded */
};
extern struct cw_clock *const cw_clock;

/* When the library is loaded. */
void cw_inject_begin_clock(void);
/* Wall-clock time, which goes on evenly where the clock is set. Needs no lock. */
uint64_t cw_inject_now_ns(void);

#endif
