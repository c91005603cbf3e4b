/* An agent that is stopped: the program waits for it for a while, and then goes on without it. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/inject/driver/say.h"
#include "agent/inject/driver/wire.h"
#include "tests/support/child.h"
#include "tests/support/fake_cupti.h"

enum { BEFORE_LONG = 100, MESSAGES = 40, LARGE = 1 << 20 };

static struct fake_agent agent;
static int answers[2]; /* a pipe: how many messages the agent got behind HELLO, and the type of the last */
struct answer {
    int count, last;
};

/* Stops behind HELLO until it is told to go on. */
static void be_agent(void)
{
    struct answer answer = {0};
    enum cw_message_type type;
    uint8_t *payload;
    size_t size;
    int fd = accept(agent.listener, NULL, NULL);
    while (cw_message_receive(fd, &type, &payload, &size)) {
        if (type == CW_MESSAGE_HELLO) {
            fake_agent_answer(fd);
            raise(SIGSTOP);
        } else {
            answer = (struct answer){answer.count + (type == CW_MESSAGE_FAIL || size == LARGE), type};
        }
        free(payload);
    }
    _exit(write(answers[1], &answer, sizeof answer) == sizeof answer ? 0 : 1);
}

/* The library waits as long as it needs for an agent that is there, and then no longer than this. */
static pid_t start(int patience_s)
{
    fake_agent_listen(&agent);
    cr_assert(pipe(answers) == 0);
    alarm(BEFORE_LONG);
    pid_t child = cw_test_fork();
    if (child == 0)
        be_agent();
    InitializeInjection();
    fake_cupti_create_context();
    int status;
    cr_assert(waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status));
    cw_wire->patience = (struct timeval){.tv_sec = patience_s};
    for (int way = 0; way < 2; way++)
        cr_assert(setsockopt(cw_wire->agent.fd, SOL_SOCKET, way ? SO_SNDTIMEO : SO_RCVTIMEO, &cw_wire->patience,
                             sizeof cw_wire->patience) == 0);
    return child;
}

static struct answer go_on(pid_t child)
{
    struct answer answer = {0};
    int status = -1;
    kill(child, SIGCONT);
    cr_expect_eq(read(answers[0], &answer, sizeof answer), sizeof answer);
    cr_expect(waitpid(child, &status, 0) == child && status == 0, "status %d", status);
    fake_agent_close(&agent);
    return answer;
}

static bool send_large(void)
{
    static const uint8_t bytes[LARGE];
    struct cw_writer out;
    cw_writer_init(&out);
    cw_write_bytes(&out, bytes, sizeof bytes);
    return cw_inject_send(CW_MESSAGE_TRACE, &out);
}

static void ignore(int number)
{
    (void)number;
}

/* The program's timer interrupts whatever waits. */
static void interrupt_often(bool on)
{
    const struct itimerval often = {{0, 50000}, {0, 50000}}, never = {0};
    sigaction(SIGALRM, &(struct sigaction){.sa_handler = ignore}, NULL);
    setitimer(ITIMER_REAL, on ? &often : &never, NULL);
}

Test(patience, a_connection_that_nobody_accepts_is_given_up, .timeout = BEFORE_LONG)
{
    fake_agent_listen(&agent);
    setenv(CW_AGENT_PATIENCE_VARIABLE, "1", 1);
    int fd;
    do
        fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
    while (connect(fd, (struct sockaddr *)&agent.address, sizeof agent.address) == 0);
    interrupt_often(true);
    InitializeInjection();
    interrupt_often(false);
    cr_expect_null(fake_cupti.callback);
    fake_agent_close(&agent);
}

Test(patience, a_message_that_nobody_reads_is_given_up, .timeout = BEFORE_LONG)
{
    pid_t child = start(1);
    interrupt_often(true);
    int sent = 0;
    while (sent < MESSAGES && send_large())
        sent++;
    interrupt_often(false);
    cr_expect_lt(sent, MESSAGES);
    cr_expect(cw_inject->over);
    cr_expect_eq(go_on(child).count, sent, "and the agent does not wait for the rest");
}

Test(patience, an_answer_that_does_not_come_is_given_up_and_told, .timeout = BEFORE_LONG)
{
    char text[500] = "";
    int errors[2], before = dup(STDERR_FILENO);
    pid_t child = start(1);
    cr_assert(pipe(errors) == 0);
    fake_cupti_launch(CUPTI_API_ENTER);
    fake_cupti_launch(CUPTI_API_EXIT);
    dup2(errors[1], STDERR_FILENO);
    cw_say_begin();
    fake_cupti_destroy_context();
    dup2(before, STDERR_FILENO);
    cr_expect(cw_inject->over);
    cr_expect_gt(read(errors[0], text, sizeof text - 1), 0);
    cr_expect(strstr(text, "for 1 s"), "%s", text);
    cr_expect_eq(go_on(child).last, CW_MESSAGE_FAIL);
}

static void *go_on_soon(void *child)
{
    usleep(300000);
    kill(*(pid_t *)child, SIGCONT);
    return NULL;
}

Test(patience, an_agent_that_goes_on_in_time_gets_everything, .timeout = BEFORE_LONG)
{
    pthread_t other;
    pid_t child = start(BEFORE_LONG);
    cr_assert(pthread_create(&other, NULL, go_on_soon, &child) == 0);
    int sent = 0;
    while (sent < MESSAGES && send_large())
        sent++;
    cr_expect_eq(sent, MESSAGES);
    cr_expect_not(cw_inject->over);
    pthread_join(other, NULL);
    cw_inject_fail(CW_ERR_DEVICE, "the end");
    cw_wire_leave();
    cr_expect_eq(go_on(child).count, MESSAGES + 1);
}
