/* The injection library's time, where somebody sets the clock. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <time.h>

#include "agent/inject/driver/inject.h"

static time_t set_by; /* seconds */

int __real_clock_gettime(clockid_t clock, struct timespec *time);
int __wrap_clock_gettime(clockid_t clock, struct timespec *time);
int __wrap_clock_gettime(clockid_t clock, struct timespec *time)
{
    int result = __real_clock_gettime(clock, time);
    time->tv_sec += clock == CLOCK_REALTIME ? set_by : 0;
    return result;
}

Test(clock, times_are_of_the_day_and_go_on_where_it_is_set_back)
{
    uint64_t before = cw_inject_now_ns(), wall = (uint64_t)time(NULL) * 1000000000u;
    cr_expect(before > wall - 60000000000u && before < wall + 60000000000u);
    set_by = -3600;
    uint64_t now = cw_inject_now_ns();
    cr_expect(now >= before && now - before < 60000000000u);
}

/* As where the clock is set back between the look at it and the wait. */
Test(clock, a_wait_of_a_second_is_one_where_it_is_set, .timeout = 100)
{
    set_by = 3600;
    cr_assert(cw_inject_lock());
    cw_inject_wait();
    cw_inject_unlock();
}
