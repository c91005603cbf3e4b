#define _GNU_SOURCE
#include "agent/session/program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/session/signals.h"
#include "base/text.h"

/* Whether the file can be executed; *st describes it then. */
static bool can_run(const char *folder, size_t length, const char *name, struct stat *st)
{
    char path[4096];
    int size = snprintf(path, sizeof path, "%.*s%s%s", (int)length, folder, length ? "/" : "", name);
    return size < (int)sizeof path && stat(path, st) == 0 && S_ISREG(st->st_mode) && access(path, X_OK) == 0;
}

static bool find(const char *name, const char *path, struct stat *st)
{
    for (const char *at = path;; at++) {
        size_t length = strcspn(at, ":");
        if (can_run(at, length, name, st))
            return true;
        at += length;
        if (!*at)
            return false;
    }
}

bool cw_program_changes_rights(const char *name)
{
    const char *path = strchr(name, '/') ? "" : getenv("PATH");
    struct stat st;
    return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0 && path && find(name, path, &st) &&
           ((st.st_mode & S_ISUID && st.st_uid != geteuid()) || (st.st_mode & S_ISGID && st.st_gid != getegid()));
}

enum cw_status cw_program_find(const char *name, struct cw_error *err)
{
    const char *path = strchr(name, '/') ? "" : getenv("PATH");
    struct stat st;
    if (cw_program_is_adopted() || !path || find(name, path, &st)) /* without PATH, execvp uses its own default */
        return CW_OK;
    bool is_there = strchr(name, '/') && access(name, F_OK) == 0;
    return cw_error_set(err, CW_ERR_USAGE, "cannot run %s: %s", name, strerror(is_there ? EACCES : ENOENT));
}

/* ---- the process that started this one -------------------------------------------------------------------------- */

static int parent = -1; /* the socket to it; -1: the program is started here */
static bool served;     /* it has had its run */

enum cw_status cw_program_adopt(int fd, struct cw_error *err)
{
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISSOCK(st.st_mode) || fcntl(fd, F_SETFD, FD_CLOEXEC) != 0)
        return cw_error_set(err, CW_ERR_USAGE,
                            "found descriptor %d, expected a socket of the process that started this", fd);
    parent = fd;
    return CW_OK;
}

bool cw_program_is_adopted(void)
{
    return parent >= 0;
}

void cw_program_tell_parent(int status)
{
    const unsigned char byte = (unsigned char)status;
    if (parent >= 0)
        (void)!send(parent, &byte, 1, MSG_NOSIGNAL);
}

/* Sends the environment, ended by an empty string, and waits until the process has opened the files in it. */
static enum cw_status serve_parent(struct cw_program *program, char *const *environment, struct cw_error *err)
{
    char text[16384], byte;
    size_t size = 0;
    if (served)
        return cw_error_set(err, CW_ERR_USAGE,
                            "found a capture that runs its program again, expected one of a process "
                            "that runs already");
    served = true;
    for (; *environment; environment++) {
        const size_t length = strlen(*environment) + 1;
        if (length >= sizeof text - size)
            return cw_error_set(err, CW_ERR_USAGE, "found an environment of more than %zu bytes, expected less",
                                sizeof text);
        memcpy(text + size, *environment, length);
        size += length;
    }
    text[size++] = 0;
    program->pid = getppid();
    program->how = CW_END_NO_PROGRAM;
    const bool sent = send(parent, text, size, MSG_NOSIGNAL) == (ssize_t)size;
    ssize_t n = -1;
    while (sent && (n = read(parent, &byte, 1)) < 0 && errno == EINTR)
        ;
    return n == 1 ? CW_OK : cw_error_set(err, CW_ERR_APP, "the process that started this agent has left");
}

/* Whether it has sent its byte, or has ended: children of its own may hold the socket open. A process that has ended
 * without the byte may have been killed; only its own parent knows. */
static void look_at_parent(struct cw_program *program, bool block)
{
    struct pollfd one = {.fd = parent, .events = POLLIN};
    char byte;
    enum { LOOK_MS = 200 };
    do {
        const bool left = getppid() != program->pid;
        program->over = poll(&one, 1, block && !left ? LOOK_MS : 0) > 0 || left;
    } while (block && !program->over);
    if (program->over && recv(parent, &byte, 1, MSG_DONTWAIT) != 1)
        program->how = CW_END_UNKNOWN;
}

/* ---- a program that is started here ------------------------------------------------------------------------------ */

static struct rlimit descriptors; /* limit at the start of this process */

/* Raises the limit on descriptors: a job may need one for each process and file, more than the usual 1,024, which exist
 * for programs that use select(). */
static void allow_descriptors(void)
{
    struct rlimit now;
    if (descriptors.rlim_max || getrlimit(RLIMIT_NOFILE, &descriptors) != 0)
        return;
    now = descriptors;
    now.rlim_cur = now.rlim_max;
    setrlimit(RLIMIT_NOFILE, &now);
}

static void run(char *const *argv, char *const *environment, int report)
{
    for (; *environment; environment++)
        putenv(*environment);
    if (descriptors.rlim_max)
        setrlimit(RLIMIT_NOFILE, &descriptors);
    execvp(argv[0], argv);
    int reason = errno;
    (void)!write(report, &reason, sizeof reason);
    _exit(127);
}

enum cw_status cw_program_start(struct cw_program *program, char *const *argv, char *const *environment,
                                struct cw_error *err)
{
    *program = (struct cw_program){0};
    if (parent >= 0)
        return serve_parent(program, environment, err);
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return cw_error_set(err, CW_ERR_IO, "cannot create a pipe: %s", strerror(errno));
    allow_descriptors();
    program->pid = cw_signals_fork();
    if (program->pid == 0)
        run(argv, environment, ends[1]);
    int reason = program->pid < 0 ? errno : 0;
    close(ends[1]);
    if (program->pid > 0) {
        ssize_t n;
        while ((n = read(ends[0], &reason, sizeof reason)) < 0 && errno == EINTR)
            ;
        if (n <= 0)
            reason = 0;
    }
    close(ends[0]);
    if (!reason)
        return CW_OK;
    cw_signals_keep();
    if (program->pid > 0)
        waitpid(program->pid, NULL, 0);
    return cw_error_set(err, CW_ERR_USAGE, "cannot run %s: %s", argv[0], strerror(reason));
}

void cw_program_wait(struct cw_program *program, bool block)
{
    const int how = WEXITED | WNOWAIT | (block ? 0 : WNOHANG);
    siginfo_t ended = {0};
    if (program->over)
        return;
    if (parent >= 0) {
        look_at_parent(program, block);
        return;
    }
    while (waitid(P_PID, (id_t)program->pid, &ended, how) < 0 && errno == EINTR)
        ;
    if (!ended.si_pid)
        return;
    cw_signals_keep();
    waitpid(program->pid, NULL, 0);
    program->over = true;
    program->how = ended.si_code == CLD_EXITED ? CW_END_EXITED : CW_END_SIGNALLED;
    program->code = (uint32_t)ended.si_status;
}

bool cw_program_may_run_again(const struct cw_program *program)
{
    bool well = (program->how == CW_END_EXITED || program->how == CW_END_NO_PROGRAM) && !program->code;
    if (well && cw_signals_end())
        fprintf(stderr, "capture-agent: a signal asked for an end, so the program is not run again\n");
    return well && !cw_signals_end();
}

enum cw_status cw_program_verdict(const struct cw_program *program, const char *name, const char *output,
                                  enum cw_status status, int *exit_status, struct cw_error *err)
{
    char text[1200];
    *exit_status = (int)(program->how == CW_END_SIGNALLED ? 128 + program->code : program->code);
    if (program->how == CW_END_UNKNOWN && status == CW_OK)
        return cw_error_set(err, CW_ERR_APP, "%s ended before its capture did; complete data is in %s", name, output);
    if (program->how == CW_END_SIGNALLED)
        cw_text_print(stderr, "capture-agent: %s was killed by signal %u; complete data is in %s\n", name,
                      program->code, output);
    else if (program->code)
        cw_text_print(stderr, "capture-agent: %s exited with status %u; the captured data is in %s\n", name,
                      program->code, output);
    if (status == CW_OK || !*exit_status)
        return status;
    cw_text_print(stderr, "capture-agent: %s\n", cw_error_format(err, text, sizeof text));
    *err = (struct cw_error)CW_ERROR_INIT;
    return CW_OK;
}
