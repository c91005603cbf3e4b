/* The profiled program: started, watched, and its end reported. */
#ifndef CW_AGENT_PROGRAM_H
#define CW_AGENT_PROGRAM_H

#include <sys/types.h>

#include "host/base/error.h"
#include "host/image/counter_data.h"

struct cw_program {
    pid_t pid;
    bool over;
    enum cw_capture_end how;
    uint32_t code; /* exit status or signal */
};

/* Starts argv with the additional NULL-terminated environment ("NAME=value"). A program that cannot be executed is
 * CW_ERR_USAGE. */
enum cw_status cw_program_start(struct cw_program *program, char *const *argv, char *const *environment,
                                struct cw_error *err);
/* Waits for the end; without `block`, only looks. */
void cw_program_wait(struct cw_program *program, bool block);
/* The exit status that passes the program's own on: its status, or 128 + the signal. */
int cw_program_exit_status(const struct cw_program *program);

#endif
