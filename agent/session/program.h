/* The profiled program: started, watched, and its end reported. */
#ifndef CW_AGENT_PROGRAM_H
#define CW_AGENT_PROGRAM_H

#include <sys/types.h>

#include "base/error.h"
#include "image/counter_data.h"

struct cw_program {
    pid_t pid;
    bool over;
    enum cw_capture_end how;
    uint32_t code; /* exit status or signal */
};

/* Whether there is such a program, before anything is written for it. CW_ERR_USAGE if not. */
enum cw_status cw_program_find(const char *name, struct cw_error *err);
/* Whether it will run with the rights of another user or group: it then loads nothing that its environment names. */
bool cw_program_changes_rights(const char *name);
/* Starts argv with the additional NULL-terminated environment ("NAME=value"); it gets the signals that are for the
 * agent (signals.h). A program that cannot be executed is CW_ERR_USAGE. */
enum cw_status cw_program_start(struct cw_program *program, char *const *argv, char *const *environment,
                                struct cw_error *err);
/* Waits for the end; without `block`, only looks. */
void cw_program_wait(struct cw_program *program, bool block);
/* Whether a program that is over is worth another run: one that failed would fail again, and after a signal that asks
 * for an end, which is told on stderr, none begins. */
bool cw_program_may_run_again(const struct cw_program *program);
/* Tells on stderr how it ended, if not well. The result is `status`, which its capture into `output` came to; but where
 * the program failed too, *err is only told and the result is CW_OK: *exit_status passes the program's own on, its
 * status, or 128 + the signal. */
enum cw_status cw_program_verdict(const struct cw_program *program, const char *name, const char *output,
                                  enum cw_status status, int *exit_status, struct cw_error *err);

#endif
