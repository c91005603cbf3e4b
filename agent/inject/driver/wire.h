/* The connection to the agent. Whole messages go over it, one at a time: none of these needs the library's lock, and
 * none takes it.
 *
 * No wait for the agent is longer than COUNTERWORKS_PATIENCE; it begins anew when something was read or answered. Then
 * the connection is closed, and the program goes on without a capture. */
#ifndef CW_INJECT_WIRE_H
#define CW_INJECT_WIRE_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/time.h>

#include "agent/common/message.h"
#include "agent/inject/driver/descriptor.h"

struct cw_wire {
    pthread_mutex_t lock; /* taken last */
    struct cw_descriptor agent;
    atomic_bool tried; /* to connect, whatever has become of it; looked at without the lock */
    bool detached;     /* the agent wants no more, and waits for the rest */
    uint64_t taken;    /* pieces of memory that the agent has read */
    struct timeval patience;
    char late[120]; /* that it has not answered for so long, or is not there */
};
extern struct cw_wire *const cw_wire;

/* Once in a process, to the agent that listens at `path`. */
bool cw_wire_connect(const char *path);

/* Takes over a connection that an agent has made. */
bool cw_wire_adopt(int fd);
/* Waits for so long for the agent to go or to want no more, which nobody else looks for; false when it has. */
bool cw_wire_watch(int ms);
/* Ends it; another may follow. */
void cw_wire_end(void);

/* In a child that was forked: what the parent has is the parent's. */
void cw_wire_leave(void);

/* With memory (a descriptor), or -1 for none. False where the agent is gone. */
bool cw_wire_send(enum cw_message_type type, const struct cw_writer *out, int memory);
/* Sends a question and receives its answer, whose payload is the caller's to free. */
bool cw_wire_ask(const struct cw_writer *question, enum cw_message_type *type, uint8_t **payload, size_t *size);
/* Waits until the agent has read this many pieces of memory, of all that were sent; false where it is gone. */
bool cw_wire_wait_taken(uint64_t number);

#endif
