#define _GNU_SOURCE
#include "agent/inject/driver/clock.h"

#include <time.h>

static uint64_t nanoseconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void cw_inject_begin_clock(void)
{
    *cw_clock_epoch = nanoseconds(CLOCK_REALTIME) - nanoseconds(CLOCK_BOOTTIME);
}

uint64_t cw_inject_now_ns(void)
{
    return *cw_clock_epoch + nanoseconds(CLOCK_BOOTTIME);
}
