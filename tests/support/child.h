/* A process that a test starts ends with the test, however that ends: one that is left over would hold the pipe that
 * ctest reads, and ctest would wait for it. */
#ifndef CW_TEST_CHILD_H
#define CW_TEST_CHILD_H

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

static inline pid_t cw_test_fork(void)
{
    const pid_t parent = getpid(), child = fork();
    if (child == 0 && (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent))
        _exit(1);
    return child;
}

#endif
