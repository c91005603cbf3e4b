/* Whether this process alone uses a device, by a management library without a GPU: support/fake_nvml.c. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/inject/inject.h"

struct cw_inject cw_inject;

/* Compute processes as "PID/MB,...", * for this one; how many there are of graphics and of MPS; all MB in use. */
static bool is_alone(const char *compute, const char *graphics, const char *mps, const char *used)
{
    char own[16], text[100] = "";
    snprintf(own, sizeof own, "%d", getpid());
    cw_inject.process = getpid();
    for (const char *c = compute; *c; c++)
        strcat(text, *c == '*' ? own : (char[]){*c, 0});
    setenv("FAKE_NVML_COMPUTE", text, 1);
    setenv("FAKE_NVML_GRAPHICS", graphics, 1);
    setenv("FAKE_NVML_MPS", mps, 1);
    setenv("FAKE_NVML_USED", used, 1);
    return cw_inject_is_alone("0000:0a:00.0");
}

Test(alone, is_who_uses_all_of_what_is_in_use)
{
    cr_expect(is_alone("*/518", "0", "0", "526"));
    cr_expect_not(is_alone("", "0", "0", "3"), "processes are hidden from each other");
    cr_expect_not(is_alone("*/518,77/518", "0", "0", "1044"));
    cr_expect_not(is_alone("77/518", "0", "0", "526"), "somebody else is");
    cr_expect_not(is_alone("*/518", "1", "0", "526"));
    cr_expect_not(is_alone("*/518", "0", "1", "526"));
    cr_expect_not(is_alone("*/518", "0", "0", "900"), "a process that is not listed holds memory");
    cr_expect_not(is_alone("*/-1", "0", "0", "526"), "memory is not told");
    cr_expect_not(is_alone("*/518:3", "0", "0", "526"), "a part of a GPU that is split");
    cr_expect_not(is_alone("error", "0", "0", "526"));
}

Test(alone, nobody_is_without_a_known_device)
{
    cw_inject.process = getpid();
    cr_expect_not(cw_inject_is_alone(""));
}

Test(alone, nobody_is_without_the_library)
{
    setenv("FAKE_NVML_ABSENT", "1", 1);
    cr_expect_not(is_alone("*/518", "0", "0", "526"));
}
