/* The connection to the agent, in a program that does with its descriptors and its processes what it likes. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/inject/driver/say.h"
#include "agent/inject/driver/wire.h"
#include "tests/support/fake_cupti.h"

enum { MOST_DESCRIPTORS = 1024, BEFORE_LONG = 100 };

static struct fake_agent agent;

static void launch(void)
{
    fake_cupti_launch(CUPTI_API_ENTER);
    fake_cupti_launch(CUPTI_API_EXIT);
}

/* A process of the program's, which says by its exit status whether all is well. */
static pid_t start(bool (*program)(void))
{
    pid_t child = fork();
    if (child)
        return child;
    alarm(BEFORE_LONG);
    _exit(program() ? 0 : 1);
}

/* Runs a program under an agent, and expects so many messages with ranges. */
static void run(bool (*program)(void), int ranges)
{
    int status = -1;
    fake_agent_listen(&agent);
    pid_t child = start(program);
    int fd = accept(agent.listener, NULL, NULL);
    cr_expect_eq(fake_agent_serve(fd, CW_MESSAGE_RANGES), ranges);
    cr_expect(waitpid(child, &status, 0) == child && status == 0, "status %d", status);
    close(fd);
    fake_agent_close(&agent);
}

/* ---- one connection after another -------------------------------------------------------------------------------- */

/* What the agent of one session has read says nothing of another's. */
Test(wire, an_agent_has_read_only_what_it_was_sent, .timeout = BEFORE_LONG)
{
    fake_agent_listen(&agent);
    for (int session = 0; session < 2; session++) {
        cr_assert(cw_wire_connect(agent.address.sun_path));
        const int fd = accept(agent.listener, NULL, NULL);
        cr_assert(session || cw_message_send(fd, CW_MESSAGE_TAKEN, NULL, 0));
        close(fd);
        cr_expect_eq(cw_wire_wait_taken(1), !session, "session %d", session);
        cw_wire_end();
    }
    fake_agent_close(&agent);
}

/* ---- descriptors ------------------------------------------------------------------------------------------------ */

/* As a daemon does that closes all descriptors, and then opens its own. */
static bool takes_every_descriptor(void)
{
    int own[2], said[2];
    char byte, text[200] = "";
    InitializeInjection();
    fake_cupti_create_context();
    launch();
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, own) != 0 || dup2(own[1], STDIN_FILENO) < 0 || pipe(said) != 0 ||
        dup2(said[0], STDOUT_FILENO) < 0 || dup2(said[1], STDERR_FILENO) < 0)
        return false;
    cw_say_begin();
    bool taken[MOST_DESCRIPTORS] = {false}, good = true;
    for (int fd = STDERR_FILENO + 1; fd < MOST_DESCRIPTORS; fd++)
        taken[fd] = fcntl(fd, F_GETFD) >= 0 && dup2(own[0], fd) == fd;
    fake_cupti_destroy_context();
    for (int fd = 0; fd < MOST_DESCRIPTORS; fd++)
        good = good && (!taken[fd] || fcntl(fd, F_GETFD) >= 0);
    return good && recv(STDIN_FILENO, &byte, 1, MSG_DONTWAIT) < 0 && read(STDOUT_FILENO, text, sizeof text - 1) > 0 &&
           strstr(text, "has closed the connection");
}

Test(wire, what_took_the_place_of_a_descriptor_is_neither_written_nor_closed_and_that_is_said, .timeout = BEFORE_LONG)
{
    run(takes_every_descriptor, 0);
}

static bool has_no_standard_descriptors(void)
{
    for (int fd = 0; fd <= STDERR_FILENO; fd++)
        close(fd);
    InitializeInjection();
    fake_cupti_create_context();
    launch();
    for (int fd = 0; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) >= 0)
            return false;
    fake_cupti_destroy_context();
    return true;
}

Test(wire, what_the_program_prints_does_not_go_to_the_agent, .timeout = BEFORE_LONG)
{
    run(has_no_standard_descriptors, 1);
}

static bool has_no_free_descriptor(void)
{
    int said[2];
    char text[200] = "";
    if (pipe(said) != 0 || dup2(said[1], STDERR_FILENO) < 0)
        return false;
    cw_say_begin();
    int next = dup(STDIN_FILENO);
    close(next);
    setrlimit(RLIMIT_NOFILE, &(struct rlimit){(rlim_t)next, (rlim_t)next});
    InitializeInjection();
    close(STDERR_FILENO);
    close(said[1]);
    return read(said[0], text, sizeof text - 1) > 0 && strstr(text, "no descriptor is free");
}

Test(wire, a_program_without_a_free_descriptor_goes_on_and_is_told, .timeout = BEFORE_LONG)
{
    int status = -1;
    fake_agent_listen(&agent);
    pid_t child = start(has_no_free_descriptor);
    cr_expect(waitpid(child, &status, 0) == child && status == 0, "status %d", status);
    fake_agent_close(&agent);
}

/* ---- processes -------------------------------------------------------------------------------------------------- */

static int end_of_test[2]; /* a pipe */

static bool lives_on(void)
{
    char none;
    close(end_of_test[1]);
    counterworks_range_push("in the child");
    launch();
    fake_cupti_destroy_context();
    return read(end_of_test[0], &none, 1) == 0;
}

static bool leaves_a_child(void)
{
    InitializeInjection();
    fake_cupti_create_context();
    launch();
    start(lives_on);
    fake_cupti_destroy_context();
    return true;
}

/* The agent sees the program's end, though its child lives. */
Test(wire, a_forked_child_has_no_part_in_the_connection, .timeout = BEFORE_LONG - 10)
{
    cr_assert(pipe(end_of_test) == 0);
    run(leaves_a_child, 1);
    close(end_of_test[1]);
}

static void *hold_the_lock(void *held)
{
    cw_inject_lock();
    sem_post(held);
    for (;;)
        pause();
    return NULL;
}

static bool is_profiled(void)
{
    counterworks_range_push("before CUDA");
    InitializeInjection();
    fake_cupti_create_context();
    launch();
    fake_cupti_destroy_context();
    return counterworks_range_pop() == 0;
}

/* The parent uses no CUDA, but has ranges. */
static bool forks_while_a_thread_holds_the_lock(void)
{
    pthread_t thread;
    sem_t held;
    int status;
    cw_inject->process = getpid(); /* as where the library is loaded */
    if (sem_init(&held, 0, 0) != 0 || pthread_create(&thread, NULL, hold_the_lock, &held) != 0)
        return false;
    sem_wait(&held);
    pid_t child = start(is_profiled);
    return waitpid(child, &status, 0) == child && status == 0;
}

Test(wire, a_forked_child_that_uses_cuda_is_profiled, .timeout = BEFORE_LONG)
{
    run(forks_while_a_thread_holds_the_lock, 1);
}

/* ---- rights ----------------------------------------------------------------------------------------------------- */

/* A copy of a program, which has the rights of another group where `mode` says so. */
static int run_copy(mode_t mode, bool no_new_rights)
{
    char path[] = "/tmp/wire_test_XXXXXX", command[300];
    int status = -1;
    close(mkstemp(path));
    snprintf(command, sizeof command, "cp %s %s", CW_INJECT_PROGRAM, path);
    cr_assert(system(command) == 0);
    struct statvfs mount;
    cr_assert(statvfs(path, &mount) == 0);
    if ((mount.f_flag & ST_NOSUID) || chown(path, (uid_t)-1, getegid() + 1) != 0)
        cr_skip_test("only root can give a program the rights of another group, and not on every mount");
    cr_assert(chmod(path, mode) == 0);
    setenv(CW_AGENT_SOCKET_VARIABLE, "/nowhere", 1);
    pid_t child = fork();
    if (child == 0 && (!no_new_rights || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0))
        execl(path, path, NULL);
    cr_assert(waitpid(child, &status, 0) == child && WIFEXITED(status));
    unlink(path);
    return WEXITSTATUS(status);
}

/* Whoever runs it says by the environment what is loaded into it, and where its data goes. */
Test(wire, a_program_with_the_rights_of_another_is_not_profiled, .timeout = BEFORE_LONG)
{
    cr_expect_eq(run_copy(0755, false), 1);
    cr_expect_eq(run_copy(02755, false), 0);
    cr_expect_eq(run_copy(02755, true), 1, "it has no other rights then");
}
