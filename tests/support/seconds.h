/* A limit of processor time for a test, to which it does not matter how busy the machine is. */
#ifndef CW_TEST_SECONDS_H
#define CW_TEST_SECONDS_H

#include <sys/resource.h>

/* The test, which is a process of its own, crashes where it takes more. */
static inline void cw_test_seconds(rlim_t most)
{
    setrlimit(RLIMIT_CPU, &(struct rlimit){most, RLIM_INFINITY});
}

#endif
