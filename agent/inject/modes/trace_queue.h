/* Queue of a trace's rows on their way to the agent. The program's threads put rows into it, and one of our threads
 * sends them, so that an agent that is stopped, or writes to a slow disk, does not block the program. The queue takes
 * at most 12 MB and one message. While it is full, a thread of the program waits for room, within a limit for all
 * threads together: a tenth of a second at once, and a twentieth of the time. After that its rows are lost. */
#ifndef CW_INJECT_TRACE_QUEUE_H
#define CW_INJECT_TRACE_QUEUE_H

#include <pthread.h>

#include "agent/inject/driver/inject.h"

struct cw_trace_queue {
    pthread_mutex_t lock; /* the rows' lock */
    pthread_cond_t changed;
    struct cw_trace_message *first, *last;
    size_t bytes;       /* in all messages, the one being sent included */
    uint64_t put, sent; /* messages so far, unsent ones included */
    bool sending, ends;
    bool running;                   /* the thread runs */
    uint32_t waiting;               /* number of threads that wait for room */
    uint64_t credit_ns, counted_ns; /* remaining time that the program's threads may wait, and when it was computed */
};
extern struct cw_trace_queue *const cw_trace_queue;

/* Starts the thread; false if there is none. Call it without the lock. */
bool cw_trace_queue_begin(void);

/* Call all functions below with the lock, which is released during waits. */
bool cw_trace_queue_has_room(void);
/* Waits for room if there is none. */
bool cw_trace_queue_make_room(void);
/* Appends a message, and takes over its memory. */
void cw_trace_queue_put(const struct cw_writer *out);
/* Waits until everything is sent or the agent is gone, at most the connection's patience for each message. */
void cw_trace_queue_drain(void);
/* Ends the thread's work; whether the thread has ended. */
void cw_trace_queue_end(void);
bool cw_trace_queue_ended(void);
/* Frees unsent messages; call it after that. */
void cw_trace_queue_reset(void);

#endif
