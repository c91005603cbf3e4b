#define _GNU_SOURCE
#include "agent/program.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void run(char *const *argv, char *const *environment, int report)
{
    for (; *environment; environment++)
        putenv(*environment);
    signal(SIGINT, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    execvp(argv[0], argv);
    int reason = errno;
    (void)!write(report, &reason, sizeof reason);
    _exit(127);
}

enum cw_status cw_program_start(struct cw_program *program, char *const *argv, char *const *environment,
                                struct cw_error *err)
{
    *program = (struct cw_program){0};
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return cw_error_set(err, CW_ERR_IO, "cannot create a pipe: %s", strerror(errno));
    program->pid = fork();
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
    if (!reason) {
        /* an interrupt from the terminal is for the program; the capture ends when it does */
        signal(SIGINT, SIG_IGN);
        return CW_OK;
    }
    if (program->pid > 0)
        waitpid(program->pid, NULL, 0);
    return cw_error_set(err, CW_ERR_USAGE, "cannot run %s: %s", argv[0], strerror(reason));
}

void cw_program_wait(struct cw_program *program, bool block)
{
    int status;
    pid_t got;
    if (program->over)
        return;
    while ((got = waitpid(program->pid, &status, block ? 0 : WNOHANG)) < 0 && errno == EINTR)
        ;
    if (got != program->pid)
        return;
    program->over = true;
    program->how = WIFSIGNALED(status) ? CW_END_SIGNALLED : CW_END_EXITED;
    program->code = (uint32_t)(WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

int cw_program_exit_status(const struct cw_program *program)
{
    return (int)(program->how == CW_END_SIGNALLED ? 128 + program->code : program->code);
}

enum cw_status cw_program_verdict(const struct cw_program *program, const char *name, const char *output,
                                  enum cw_status status, int *exit_status, struct cw_error *err)
{
    char text[1200];
    *exit_status = cw_program_exit_status(program);
    if (program->how == CW_END_SIGNALLED)
        fprintf(stderr, "capture-agent: %s was killed by signal %u; what was complete is in %s\n", name, program->code,
                output);
    else if (program->code)
        fprintf(stderr, "capture-agent: %s exited with status %u; what was captured is in %s\n", name, program->code,
                output);
    if (status == CW_OK || !*exit_status)
        return status;
    fprintf(stderr, "capture-agent: %s\n", cw_error_format(err, text, sizeof text));
    *err = (struct cw_error)CW_ERROR_INIT;
    return CW_OK;
}
