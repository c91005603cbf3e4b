/* The end of a profiled program: what is still being collected is sent, while CUPTI is whole. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/inject/driver/say.h"
#include "tests/support/child.h"
#include "tests/support/fake_cupti.h"

/* Launches once, and ends without waiting for it. */
static void program(void)
{
    InitializeInjection();
    fake_cupti_create_context();
    if (fake_cupti.current)
        abort();
    fake_cupti_launch(CUPTI_API_ENTER);
    fake_cupti_launch(CUPTI_API_EXIT);
    exit(0);
}

/* Runs the program, whose files may not become larger, and expects one message of a type. */
static void run(rlim_t largest_file, enum cw_message_type expected)
{
    struct fake_agent agent;
    int status = -1;
    fake_agent_listen(&agent);
    pid_t child = cw_test_fork();
    if (child == 0) {
        /* where the standard error is a file, a sanitizer that writes to it waits for ever behind the limit's signal */
        dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){largest_file, RLIM_INFINITY});
        program();
    }
    int fd = accept(agent.listener, NULL, NULL);
    cr_expect_eq(fake_agent_serve(fd, expected), 1);
    cr_expect(waitpid(child, &status, 0) == child && status == 0, "status %d", status);
    close(fd);
    fake_agent_close(&agent);
}

Test(exit, sends_what_is_open_before_the_profiler_is_taken_down, .timeout = 60)
{
    run(RLIM_INFINITY, CW_MESSAGE_RANGES);
}

/* Which the agent may not have seen: the program has an environment of its own. */
Test(exit, a_context_through_mps_is_not_collected, .timeout = 60)
{
    fake_cupti.mps = true;
    run(RLIM_INFINITY, CW_MESSAGE_FAIL);
}

Test(exit, also_where_passes_take_turns, .timeout = 60)
{
    fake_cupti.mode = CW_MODE_MULTIPLEX;
    run(RLIM_INFINITY, CW_MESSAGE_RANGES);
}

/* Memory that is handed over is a file, and one that is too large would end the program by a signal. */
Test(exit, a_limit_on_files_ends_the_capture_and_not_the_program, .timeout = 60)
{
    run(8, CW_MESSAGE_FAIL);
}

static int said; /* a pipe */

/* A handler that was there before the first context runs behind the library's. */
static void launch_late(void)
{
    fake_cupti_launch(CUPTI_API_ENTER);
    fake_cupti_launch(CUPTI_API_EXIT);
}

Test(exit, what_is_launched_behind_the_end_is_told_of, .timeout = 60)
{
    struct fake_agent agent;
    char text[500] = "";
    int ends[2], status = -1;
    fake_agent_listen(&agent);
    cr_assert(pipe(ends) == 0);
    said = ends[1];
    pid_t child = cw_test_fork();
    if (child == 0) {
        dup2(said, STDERR_FILENO);
        cw_say_begin();
        if (atexit(launch_late) == 0)
            program();
    }
    close(said);
    int fd = accept(agent.listener, NULL, NULL);
    cr_expect_eq(fake_agent_serve(fd, CW_MESSAGE_RANGES), 1);
    cr_expect(waitpid(child, &status, 0) == child && status == 0, "status %d", status);
    cr_expect_gt(read(ends[0], text, sizeof text - 1), 0);
    static const char told[] =
        "counterworks: launches at the program's end, behind the end of the capture, are left out\n";
    cr_expect(strncmp(text, told, sizeof told - 1) == 0, "%s", text); /* a sanitizer may say more */
    close(fd);
    fake_agent_close(&agent);
}

/* ---- times that the program takes itself ------------------------------------------------------------------------ */

static void timing_program(int times)
{
    InitializeInjection();
    fake_cupti_create_context();
    fake_cupti_launch(CUPTI_API_ENTER);
    fake_cupti_launch(CUPTI_API_EXIT);
    for (int i = 0; i < times; i++)
        fake_cupti_take_time();
    exit(0);
}

/* What the program's standard error has in the end; not of what is open before it begins to be captured. */
static void expect_told(int times, bool captured, const char *expected)
{
    struct fake_agent agent;
    char text[1000] = "";
    int status = -1, ends[2];
    fake_agent_listen(&agent);
    cr_assert(pipe(ends) == 0);
    fake_cupti.when.profiler = !captured;
    pid_t child = cw_test_fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        cw_say_begin();
        timing_program(times);
    }
    close(ends[1]);
    int fd = accept(agent.listener, NULL, NULL);
    cr_expect_eq(fake_agent_serve(fd, CW_MESSAGE_RANGES), captured);
    cr_expect(waitpid(child, &status, 0) == child && status == 0, "status %d", status);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    (void)!read(ends[0], text, sizeof text - 1);
    cr_expect_eq(strstr(text, *expected ? expected : "took the time") != NULL, *expected != 0, "%s", text);
    close(ends[0]);
    close(fd);
    fake_agent_close(&agent);
}

Test(exit, times_that_the_program_took_while_it_was_measured_are_told, .timeout = 60)
{
    expect_told(3, true, "the program took the time between events 3 times while it was measured: if it chooses by");
    expect_told(0, true, "");
    expect_told(3, false, "");
}
