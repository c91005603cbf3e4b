/* The agent's side of a profiled program: starts it with the injection library, serves the messages of its processes,
 * and keeps the first error. The kind of capture interprets the messages. */
#ifndef CW_AGENT_SESSION_H
#define CW_AGENT_SESSION_H

#include "agent/common/filter.h"
#include "agent/common/message.h"
#include "agent/common/steady_report.h"
#include "agent/session/clock_log.h"
#include "agent/session/node_facts.h"
#include "agent/session/program.h"
#include "base/arena.h"

enum { CW_MOST_PROCESSES = 256, CW_MOST_DEVICES = 64 };

struct cw_process { /* the connection of a profiled process */
    int fd;
    uint64_t number;               /* unique in the session; pids may repeat */
    struct cw_message_in message;  /* the message being received or taken */
    enum cw_message_type answer;   /* the unread answer; 0: none. Until it is read, no message is taken */
    size_t answered;               /* bytes of the answer already sent */
    size_t left;                   /* after the program's end: bytes still to take, from the start of the message */
    bool turned_away;              /* rejected from a GPU that another process is collected on */
    int reserved[CW_MOST_DEVICES]; /* descriptors of cw_session_reserve, for an `alone` session */
    uint32_t pid, device_count, reserved_count;
    bool reported; /* there is a report on its steady state: */
    struct cw_steady_report steady;
    const char *program;       /* its name; NULL before its first HELLO */
    struct cw_device *devices; /* devices of its HELLOs, room for CW_MOST_DEVICES; without facts */
    struct cw_arena *arena;
};

struct cw_session {
    /* set by the caller before cw_session_start: */
    const char *chip;               /* required chip of every device */
    const struct cw_filter *filter; /* selects processes and devices; NULL: all */
    bool again;                     /* the program ran before: notices about it are printed already */
    bool alone;                     /* collect one process of a GPU at a time, among all agents of the node */
    struct cw_writer setup;         /* the SETUP message, the same for every process */
    /* Takes a message that is neither HELLO nor FAIL. An error ends the capture of that process. */
    enum cw_status (*take)(void *user, const struct cw_process *process, enum cw_message_type type,
                           struct cw_reader *in, struct cw_error *err);
    /* Takes the latest report of a process on its steady state, process->steady; NULL: ignore all but the last, which
     * is printed. */
    enum cw_status (*take_steady)(void *user, const struct cw_process *process, struct cw_error *err);
    void (*gone)(void *user, const struct cw_process *process); /* no message of it follows; may be NULL */
    void (*look)(void *user); /* called at least every `look_ms`, 50 if that is 0; may be NULL */
    uint32_t look_ms;
    void *user;
    bool may_be_cut;             /* a process that ends within a message is no error: the caller counts its losses */
    struct cw_clock_log *clocks; /* logs the GPUs in use; NULL: no log */
    const struct cw_node_facts *facts; /* attributes for devices, beside those from the processes; NULL: none */
    char trace[80];                    /* content of a trace (CW_AGENT_TRACE_VARIABLE); "": no trace */
    bool openmp, openacc;              /* connect the OpenMP or OpenACC runtime to the injection library */

    struct cw_program program;
    struct cw_error trouble; /* the first error while the program ran */
    char folder[64], socket_path[96];
    int listener;
    size_t held;          /* bytes of messages being received */
    uint64_t taken;       /* whole messages */
    uint64_t accepted;    /* processes */
    uint32_t turned_away; /* processes rejected from a GPU that another one is collected on */
    uint32_t process_count;
    struct cw_process processes[CW_MOST_PROCESSES];
};

void cw_session_init(struct cw_session *session);
/* Starts argv under the injection library. */
enum cw_status cw_session_start(struct cw_session *session, char *const *argv, struct cw_error *err);
/* Attaches to a process that runs under the injection library without an agent. CW_ERR_USAGE, in one line, if there is
 * no such process, it belongs to another user, has no library, or already has an agent. */
enum cw_status cw_session_attach(struct cw_session *session, pid_t process, struct cw_error *err);
/* Serves the attached process until `end` returns true (called as often as `look`), a signal asks for an end, or the
 * process is gone; then takes the rest of its data. The process runs on. */
void cw_session_serve_attached(struct cw_session *session, bool (*end)(void *user));
/* Serves the program's processes until the program has ended and all its data is taken. */
void cw_session_serve(struct cw_session *session);
void cw_session_finish(struct cw_session *session);

/* Reserves the GPU at a PCI address among all agents of the node. Returns a descriptor, whose close is the release;
 * CW_RESERVED if the GPU is reserved already, CW_UNRESERVED if the system refuses for another reason. */
enum { CW_RESERVED = -1, CW_UNRESERVED = -2 };
int cw_session_reserve(const char *pci);
/* The device that a process introduced under this number, or NULL. */
const struct cw_device *cw_process_device(const struct cw_process *process, uint32_t index);

#endif
