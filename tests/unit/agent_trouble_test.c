/* Errors of CUPTI's own: told once each, whatever the program and the library do meanwhile. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/inject/driver/say.h"
#include "agent/inject/driver/trouble.h"
#include "tests/support/child.h"
#include "tests/support/fake_cupti.h"

enum { BEFORE_LONG = 60 };

static void warn_within(const char *call)
{
    if (strcmp(call, "cuptiRangeProfilerStart") == 0)
        fake_cupti_tell_state(CUPTI_CBID_STATE_WARNING, CUPTI_ERROR_OUT_OF_MEMORY, NULL);
}

static void warns(void)
{
    for (int i = 0; i < 3; i++)
        fake_cupti_tell_state(CUPTI_CBID_STATE_WARNING, CUPTI_ERROR_NOT_READY, "two\nlines");
    fake_cupti_tell_state(CUPTI_CBID_STATE_ERROR, CUPTI_ERROR_NOT_READY, "");
    fake_cupti.called = warn_within; /* the thread holds the lock there */
}

static void fails(void)
{
    fake_cupti_tell_state(CUPTI_CBID_STATE_FATAL_ERROR, CUPTI_ERROR_UNKNOWN, "gone");
    fake_cupti_tell_state(CUPTI_CBID_STATE_WARNING, CUPTI_ERROR_NOT_READY, "of no interest any more");
}

static void fails_in_a_child(void)
{
    pid_t child = cw_test_fork();
    if (child == 0) {
        fails();
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

/* The program launches once. Its standard error, and how many messages of a type came. */
static void run(void (*trouble)(void), enum cw_message_type expected, const char *said)
{
    struct fake_agent agent;
    int status = -1, ends[2];
    char text[2000] = "";
    fake_agent_listen(&agent);
    cr_assert(pipe(ends) == 0);
    pid_t child = cw_test_fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        cw_say_begin();
        InitializeInjection();
        fake_cupti_create_context();
        errno = ERANGE;
        trouble();
        if (errno != ERANGE && trouble != fails_in_a_child)
            abort();
        fake_cupti_launch(CUPTI_API_ENTER);
        fake_cupti_launch(CUPTI_API_EXIT);
        exit(0);
    }
    int fd = accept(agent.listener, NULL, NULL);
    cr_expect_eq(fake_agent_serve(fd, expected), 1);
    cr_expect(waitpid(child, &status, 0) == child && status == 0, "status %d", status);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    (void)!read(ends[0], text, sizeof text - 1);
    /* a sanitizer may have a line of its own behind them */
    cr_expect(strncmp(text, said, strlen(said)) == 0 && !strstr(text + strlen(said), "counterworks"), "%s", text);
    close(fd);
    fake_agent_close(&agent);
}

Test(trouble, the_first_of_each_kind_is_told_and_the_rest_is_counted, .timeout = BEFORE_LONG)
{
    run(warns, CW_MESSAGE_RANGES,
        "counterworks: CUPTI reports a warning: result 13 (13): two lines\n"
        "counterworks: CUPTI reports an error: result 13 (13)\n"
        "counterworks: CUPTI reports a warning: result 8 (8)\n"
        "counterworks: CUPTI reported 2 more errors or warnings of these kinds\n");
}

Test(trouble, a_fatal_error_ends_the_capture_and_not_the_program, .timeout = BEFORE_LONG)
{
    run(fails, CW_MESSAGE_FAIL, "counterworks: CUPTI reports a fatal error: result 999 (999): gone\n");
}

Test(trouble, a_child_that_was_forked_tells_nothing, .timeout = BEFORE_LONG)
{
    run(fails_in_a_child, CW_MESSAGE_RANGES, "");
}
