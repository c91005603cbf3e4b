/* Two processes of a program on one GPU, each of which waits for the other after every launch, as ranks of MPI do. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/common/effort.h"
#include "tests/support/child.h"
#include "tests/support/fake_cupti.h"

enum { STEPS = 3 };

static struct fake_agent agent;
static char counters[64];
static _Atomic pid_t *owner; /* the process that has the GPU's counters, for CUPTI; 0: none */

/* ---- CUPTI ------------------------------------------------------------------------------------------------------ */

static void called(const char *call)
{
    pid_t none = 0, me = getpid();
    if (strcmp(call, "cuptiRangeProfilerStart") == 0)
        fake_cupti.busy = *owner != me && !atomic_compare_exchange_strong(owner, &none, me);
    else if (strcmp(call, "cuptiRangeProfilerDisable") == 0)
        atomic_compare_exchange_strong(owner, &me, 0);
}

/* ---- the agent -------------------------------------------------------------------------------------------------- */

struct served {
    int fd;
    bool told_of_failure;
    uint32_t launches, dropped;
    char why[100];
};

static void take_ranges(struct served *s, const uint8_t *payload, size_t size)
{
    struct cw_arena *arena = cw_arena_create();
    struct cw_reader in;
    cw_reader_init(&in, payload, size, "message", 0, NULL);
    cw_read_u32(&in);
    s->dropped += cw_read_u32(&in);
    const char *why = cw_read_string(&in, arena);
    struct cw_effort effort;
    cw_effort_read(&in, &effort, arena);
    if (*why)
        snprintf(s->why, sizeof s->why, "%s", why);
    s->launches += cw_read_count(&in, 4, "launches");
    cw_arena_destroy(arena);
}

static void *serve(void *user)
{
    struct served *s = user;
    enum cw_message_type type;
    uint8_t *payload;
    size_t size;
    while (cw_message_receive(s->fd, &type, &payload, &size)) {
        if (type == CW_MESSAGE_HELLO)
            fake_agent_answer(s->fd);
        s->told_of_failure |= type == CW_MESSAGE_FAIL;
        if (type == CW_MESSAGE_RANGES) {
            take_ranges(s, payload, size);
            cw_message_send(s->fd, CW_MESSAGE_TAKEN, NULL, 0);
        }
        free(payload);
    }
    return NULL;
}

/* ---- the program ------------------------------------------------------------------------------------------------ */

static void launch(void)
{
    fake_cupti_launch(CUPTI_API_ENTER);
    fake_cupti_launch(CUPTI_API_EXIT);
}

static void exchange(int other)
{
    char byte = 0;
    if (write(other, &byte, 1) != 1 || read(other, &byte, 1) != 1)
        _exit(1);
}

static pid_t start(int other, int not_mine, int steps)
{
    pid_t child = cw_test_fork();
    if (child)
        return child;
    close(not_mine);
    close(agent.listener);
    alarm(100);
    InitializeInjection();
    fake_cupti_create_context();
    for (int i = 0; i < steps; i++) {
        launch();
        exchange(other);
    }
    exit(0);
}

static void begin(void)
{
    fake_agent_listen(&agent);
    snprintf(counters, sizeof counters, "%s/%s", agent.folder, CW_AGENT_COUNTERS_FILE);
    close(open(counters, O_CREAT | O_WRONLY, 0600));
    owner = mmap(NULL, sizeof *owner, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    cr_assert(owner != MAP_FAILED);
    fake_cupti.called = called;
}

static void end(void)
{
    unlink(counters);
    fake_agent_close(&agent);
}

Test(company, every_launch_of_two_processes_is_collected, .timeout = 120)
{
    int ends[2], status[2];
    pthread_t servers[2];
    struct served served[2] = {{0}};
    begin();
    cr_assert(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    pid_t children[2];
    for (int i = 0; i < 2; i++)
        children[i] = start(ends[i], ends[!i], STEPS);
    close(ends[0]);
    close(ends[1]);
    for (int i = 0; i < 2; i++) {
        served[i].fd = accept(agent.listener, NULL, NULL);
        cr_assert(pthread_create(&servers[i], NULL, serve, &served[i]) == 0);
    }
    for (int i = 0; i < 2; i++) {
        waitpid(children[i], &status[i], 0);
        cr_expect_eq(status[i], 0, "%d: status %x, %u launches, %u dropped: %s", i, status[i], served[i].launches,
                     served[i].dropped, served[i].why);
        pthread_join(servers[i], NULL);
        cr_expect_not(served[i].told_of_failure);
        cr_expect_eq(served[i].launches, STEPS);
        cr_expect_eq(served[i].dropped, 0, "%s", served[i].why);
    }
    end();
}

Test(company, a_profiler_outside_of_the_capture_costs_launches_alone, .timeout = 120)
{
    int ends[2], status;
    pthread_t server;
    struct served served = {0};
    begin();
    *owner = 1;
    cr_assert(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    pid_t child = start(ends[0], ends[1], STEPS);
    close(ends[0]);
    served.fd = accept(agent.listener, NULL, NULL);
    cr_assert(pthread_create(&server, NULL, serve, &served) == 0);
    for (int i = 0; i < STEPS; i++)
        exchange(ends[1]);
    waitpid(child, &status, 0);
    cr_expect_eq(status, 0);
    pthread_join(server, NULL);
    cr_expect_not(served.told_of_failure);
    cr_expect_eq(served.launches, 0);
    cr_expect_eq(served.dropped, STEPS);
    cr_expect_str_eq(served.why, "a launch while another profiler, which is not of this capture, held the counters");
    end();
}
