/* Starts the profiled program, watches it and reports its end. */
#ifndef CW_AGENT_PROGRAM_H
#define CW_AGENT_PROGRAM_H

#include <sys/types.h>

#include "base/error.h"
#include "image/counter_data.h"

struct cw_program {
    pid_t pid;
    bool over;
    enum cw_capture_end how;
    uint32_t code; /* exit status, or signal number */
};

/* Makes the process that started this one the program, which runs already. It has the other end of the socket `fd`,
 * gets the environment that another program would be started with there (cw_program_start), and ends the capture by a
 * byte, or by its own end (CW_END_UNKNOWN). CW_ERR_USAGE if the descriptor is no such socket. */
enum cw_status cw_program_adopt(int fd, struct cw_error *err);
bool cw_program_is_adopted(void);
/* Sends it the exit status of this process, as one byte, for it may be unable to wait for a child. */
void cw_program_tell_parent(int status);

/* Checks that the program exists, before anything is written. CW_ERR_USAGE if not. */
enum cw_status cw_program_find(const char *name, struct cw_error *err);
/* Whether the program will run with another user's or group's rights: it then ignores libraries named in its
 * environment. */
bool cw_program_changes_rights(const char *name);
/* Starts argv with the additional NULL-terminated environment ("NAME=value"), and forwards the agent's signals to it
 * (signals.h). CW_ERR_USAGE for a program that cannot be executed. */
enum cw_status cw_program_start(struct cw_program *program, char *const *argv, char *const *environment,
                                struct cw_error *err);
/* Waits for the end; without `block`, only checks. */
void cw_program_wait(struct cw_program *program, bool block);
/* Whether to run an ended program again: a program that failed would fail again, and after a signal that asks for an
 * end no run begins, with a notice on stderr. */
bool cw_program_may_run_again(const struct cw_program *program);
/* Reports a bad end on stderr. Returns `status`, the result of the capture into `output`. If the program failed, too,
 * it only prints *err and returns CW_OK: *exit_status is then the program's own status, or 128 + the signal. */
enum cw_status cw_program_verdict(const struct cw_program *program, const char *name, const char *output,
                                  enum cw_status status, int *exit_status, struct cw_error *err);

#endif
