/* Whether this process alone uses a device, by a management library without a GPU: support/fake_nvml.c. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/inject/driver/alone.h"

/* Compute processes as "PID/MB,...", * for this one; how many there are of graphics and of MPS; all MB in use. */
static enum cw_company company(const char *compute, const char *graphics, const char *mps, const char *used)
{
    char own[16], text[100] = "";
    snprintf(own, sizeof own, "%d", getpid());
    cw_inject->process = getpid();
    for (const char *c = compute; *c; c++)
        strcat(text, *c == '*' ? own : (char[]){*c, 0});
    setenv("FAKE_NVML_COMPUTE", text, 1);
    setenv("FAKE_NVML_GRAPHICS", graphics, 1);
    setenv("FAKE_NVML_MPS", mps, 1);
    setenv("FAKE_NVML_USED", used, 1);
    cw_inject_load_company();
    return cw_inject_company("0000:0a:00.0");
}

Test(alone, is_who_uses_all_of_what_is_in_use)
{
    cr_expect_eq(company("*/518", "0", "0", "526"), CW_COMPANY_NONE);
    cr_expect_eq(company("*/518,77/518", "0", "0", "1044"), CW_COMPANY_OTHERS);
    cr_expect_eq(company("*/518", "1", "0", "526"), CW_COMPANY_OTHERS);
    cr_expect_eq(company("*/518", "0", "1", "526"), CW_COMPANY_OTHERS);
    cr_expect_eq(company("*/518", "0", "0", "900"), CW_COMPANY_OTHERS, "one that is not listed holds memory");
}

Test(alone, nobody_knows_where_processes_are_hidden_or_renumbered)
{
    cr_expect_eq(company("", "0", "0", "3"), CW_COMPANY_UNKNOWN);
    cr_expect_eq(company("77/518", "0", "0", "526"), CW_COMPANY_UNKNOWN);
    cr_expect_eq(company("*/-1", "0", "0", "526"), CW_COMPANY_UNKNOWN, "memory is not told");
    cr_expect_eq(company("*/518:3", "0", "0", "526"), CW_COMPANY_UNKNOWN, "a part of a GPU that is split");
    cr_expect_eq(company("error", "0", "0", "526"), CW_COMPANY_UNKNOWN);
    cr_expect_eq(cw_inject_company(""), CW_COMPANY_UNKNOWN, "no such device");
}

Test(alone, entries_of_a_driver_may_be_larger)
{
    setenv("FAKE_NVML_WIDE", "1", 1);
    cr_expect_eq(company("*/518", "64", "0", "526"), CW_COMPANY_OTHERS);
    cr_expect_eq(company("*/518", "65", "0", "526"), CW_COMPANY_UNKNOWN);
    cr_expect_eq(company("*/518", "0", "0", "526"), CW_COMPANY_NONE);
}

Test(alone, nobody_knows_without_the_library)
{
    setenv("FAKE_NVML_ABSENT", "1", 1);
    cr_expect_eq(company("*/518", "0", "0", "526"), CW_COMPANY_UNKNOWN);
}
