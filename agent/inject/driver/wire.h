/* The connection to the agent, which carries whole messages, one at a time. None of these functions needs or takes the
 * library's lock.
 *
 * No wait for the agent is longer than COUNTERWORKS_PATIENCE, counted from the last progress. After that the connection
 * is closed, and the program runs on without a capture. */
#ifndef CW_INJECT_WIRE_H
#define CW_INJECT_WIRE_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/time.h>

#include "agent/common/message.h"
#include "agent/inject/driver/descriptor.h"

struct cw_wire {
    pthread_mutex_t lock; /* taken after all other locks */
    struct cw_descriptor agent;
    atomic_bool tried; /* connecting was tried, with any result; read without the lock */
    bool detached;     /* the agent wants no more data, and waits for the rest */
    uint64_t taken;    /* pieces of memory that the agent has read */
    struct timeval patience;
    char *environment; /* of a session in the process (inside.h): "NAME=value" texts, ended by ""; NULL: its own */
    char late[120];    /* message about an agent that has not answered for long, or is not there */
};
extern struct cw_wire *const cw_wire;

/* The value of a variable that the agent has set for the process; NULL: none. */
const char *cw_wire_variable(const char *name);
/* Connects to the agent that listens at `path`: once in a process, or once in each session. */
bool cw_wire_connect(const char *path);

/* Takes over a connection made by an agent. */
bool cw_wire_adopt(int fd);
/* Waits up to `ms` for the agent to leave or to want no more; false if it did. Call it from one thread only. */
bool cw_wire_watch(int ms);
/* Ends the connection; another may follow. */
void cw_wire_end(void);

/* Call it in a forked child: the connection belongs to the parent. */
void cw_wire_leave(void);

/* Sends a message with memory (a descriptor), or -1 for none. False if the agent is gone. */
bool cw_wire_send(enum cw_message_type type, const struct cw_writer *out, int memory);
/* Sends a question and receives its answer; the caller frees the payload. */
bool cw_wire_ask(const struct cw_writer *question, enum cw_message_type *type, uint8_t **payload, size_t *size);
/* Waits until the agent has read this many of all sent pieces of memory; false if it is gone. */
bool cw_wire_wait_taken(uint64_t number);

#endif
