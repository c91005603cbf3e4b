/* The agent's side of a profiled program: starts it with the injection library, serves what its processes send, and
 * keeps the first thing that went wrong. What the messages mean is up to the kind of capture. */
#ifndef CW_AGENT_SESSION_H
#define CW_AGENT_SESSION_H

#include "agent/common/filter.h"
#include "agent/common/message.h"
#include "agent/common/steady_report.h"
#include "agent/session/clock_log.h"
#include "agent/session/program.h"
#include "base/arena.h"

enum { CW_MOST_PROCESSES = 256, CW_MOST_DEVICES = 64 };

struct cw_process { /* a connection from a profiled process */
    int fd;
    uint64_t number;              /* no two of a session have the same, as pids may */
    struct cw_message_in message; /* that is arriving, or being taken */
    enum cw_message_type answer;  /* that it has not read yet; 0: none. Until then nothing is taken from it */
    size_t answered;              /* bytes of the answer that were sent */
    size_t left;                  /* once the program has ended: bytes to take, from the start of the message */
    bool turned_away;             /* from a GPU that another is collected on */
    uint32_t pid, device_count;
    bool reported;             /* it has told of its steady state: */
    struct cw_steady_report steady;
    const char *program;       /* its name; NULL before its first HELLO */
    struct cw_device *devices; /* of its HELLOs, room for CW_MOST_DEVICES; without facts */
    struct cw_arena *arena;
};

struct cw_session {
    /* filled in by the caller before cw_session_start */
    const char *chip;               /* what every device must be */
    const struct cw_filter *filter; /* which processes and devices to collect; NULL: all */
    bool alone;                     /* of the processes that use a GPU at a time, only the first is collected */
    struct cw_writer setup;         /* the SETUP message, the same for every process */
    /* Takes a message that is neither HELLO nor FAIL. An error ends the capture of that process. */
    enum cw_status (*take)(void *user, const struct cw_process *process, enum cw_message_type type,
                           struct cw_reader *in, struct cw_error *err);
    /* Takes what a process has found of its steady state, as `steady` says by now; NULL: it is told in the end alone. */
    enum cw_status (*take_steady)(void *user, const struct cw_process *process, struct cw_error *err);
    void (*look)(void *user); /* now and then, at least as often as `look_ms`, or 50 where that is 0; may be NULL */
    uint32_t look_ms;
    void *user;
    bool may_be_cut; /* a process that ends within a message is no trouble: the caller counts what was in it */
    struct cw_clock_log *clocks; /* of the GPUs that are collected on; NULL: not wanted */
    char trace[48];              /* what is wanted of a trace (CW_AGENT_TRACE_VARIABLE); "": it is none */
    bool openmp, openacc;        /* the runtimes of these are to tell the injection library what the program does */

    struct cw_program program;
    struct cw_error trouble; /* the first thing that went wrong while the program ran */
    char folder[64], socket_path[96];
    int listener;
    size_t held;          /* bytes of messages that are arriving */
    uint64_t taken;       /* whole messages */
    uint64_t accepted;    /* processes */
    uint32_t turned_away; /* processes, from a GPU that another is collected on */
    uint32_t process_count;
    struct cw_process processes[CW_MOST_PROCESSES];
};

void cw_session_init(struct cw_session *session);
/* Starts argv under the injection library. */
enum cw_status cw_session_start(struct cw_session *session, char *const *argv, struct cw_error *err);
/* Comes to a process that runs under the injection library and was started by no agent. CW_ERR_USAGE, in one line,
 * where that cannot be: there is none, it is of another user, it has no library, or another agent is there. */
enum cw_status cw_session_attach(struct cw_session *session, pid_t process, struct cw_error *err);
/* Serves it until `end` says so (as often as `look`), a signal asks for an end, or the process is gone; then takes the
 * rest. The process runs on. */
void cw_session_serve_attached(struct cw_session *session, bool (*end)(void *user));
/* Serves the program's processes until the program has ended and everything that it sent is taken. */
void cw_session_serve(struct cw_session *session);
void cw_session_finish(struct cw_session *session);

/* The device that a process introduced under this number, or NULL. */
const struct cw_device *cw_process_device(const struct cw_process *process, uint32_t index);

#endif
