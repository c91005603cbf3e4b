/* More processes than a session takes, or descriptors than there are: whoever is turned away goes on, and it is told.
 */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/backend.h"
#include "agent/session.h"

const char *cw_cupti_path(char *name, size_t size)
{
    cr_assert(size > 0);
    *name = 0;
    return name;
}

static struct cw_session session;
static struct sockaddr_un address = {.sun_family = AF_UNIX};

static void listen_here(void)
{
    cw_session_init(&session);
    snprintf(session.folder, sizeof session.folder, "/tmp/session.XXXXXX");
    cr_assert(mkdtemp(session.folder) != NULL);
    snprintf(session.socket_path, sizeof session.socket_path, "%s/socket", session.folder);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", session.socket_path);
    session.listener = socket(AF_UNIX, SOCK_STREAM, 0);
    cr_assert(bind(session.listener, (struct sockaddr *)&address, sizeof address) == 0);
    cr_assert(listen(session.listener, 512) == 0);
}

/* The program: `count` connections at a time, the last of which is to be turned away. Its exit status: 0 if it is. */
static void start_program(int count)
{
    session.program.pid = fork();
    if (session.program.pid)
        return;
    close(session.listener);
    int last = -1;
    char none;
    for (int i = 0; i < count; i++) {
        last = socket(AF_UNIX, SOCK_STREAM, 0);
        if (connect(last, (struct sockaddr *)&address, sizeof address) != 0)
            _exit(0);
    }
    alarm(20);
    _exit(recv(last, &none, 1, 0) <= 0 ? 0 : 1);
}

static void check(const char *told)
{
    cw_session_serve(&session);
    cr_expect(session.program.how == CW_END_EXITED && session.program.code == 0, "%d %u", session.program.how,
              session.program.code);
    cr_expect(strstr(session.trouble.message, told) != NULL, "%s", session.trouble.message);
    cw_session_finish(&session);
}

Test(agent_session, the_last_of_too_many_processes_goes_on)
{
    listen_here();
    start_program(CW_MOST_PROCESSES + 1);
    check("more than 256 profiled processes");
}

Test(agent_session, without_descriptors_nobody_waits)
{
    listen_here();
    start_program(60);
    const struct rlimit few = {30, 30};
    cr_assert(setrlimit(RLIMIT_NOFILE, &few) == 0);
    check("Too many open files");
}

Test(agent_session, a_message_beyond_the_most_is_told)
{
    listen_here();
    session.program.pid = fork();
    if (!session.program.pid) {
        uint8_t head[12] = {CW_MESSAGE_HELLO, 0, 0, 0, 1, 0, 0, 0, 1};
        int fd = socket(AF_UNIX, SOCK_STREAM, 0);
        bool sent = connect(fd, (struct sockaddr *)&address, sizeof address) == 0 && send(fd, head, sizeof head, 0) > 0;
        _exit(sent ? 0 : 1);
    }
    check("sent what cannot be taken: Bad message");
}
