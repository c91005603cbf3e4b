/* What a thread of the program finds behind a call that the injection library saw: everything as it was. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/support/fake_cupti.h"

/* An agent that serves one process, and is there until that ends. */
static void *serve(void *listener)
{
    fake_agent_serve(accept(*(int *)listener, NULL, NULL), CW_MESSAGE_RANGES);
    return NULL;
}

static struct fake_agent agent;

static void begin(void)
{
    static pthread_t server;
    fake_agent_listen(&agent);
    cr_assert(pthread_create(&server, NULL, serve, &agent.listener) == 0);
    InitializeInjection();
}

static void end(void)
{
    fake_agent_close(&agent);
}

/* ---- errno ------------------------------------------------------------------------------------------------------ */

static void spoil_errno(void)
{
    errno = EPERM;
}

Test(entry, keeps_errno, .timeout = 60)
{
    begin();
    fake_cupti.initializing = fake_cupti.starting = spoil_errno;
    errno = ERANGE;
    fake_cupti_create_context();
    cr_expect_eq(errno, ERANGE);
    fake_cupti_launch(CUPTI_API_ENTER);
    cr_expect_eq(errno, ERANGE);
    fake_cupti_launch(CUPTI_API_EXIT);
    cr_expect_eq(errno, ERANGE);
    end();
}
