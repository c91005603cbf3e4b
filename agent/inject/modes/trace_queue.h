/* Rows of a trace on their way to the agent. The program's threads put them here, and a thread of ours sends them: an
 * agent that is stopped, or writes to a slow disk, does not hold the program up. The queue takes 12 MB and a message at
 * most. While it is full a thread of the program waits for room for a while: all together a tenth of a second at once,
 * and a twentieth of the time. Then its rows are lost. */
#ifndef CW_INJECT_TRACE_QUEUE_H
#define CW_INJECT_TRACE_QUEUE_H

#include <pthread.h>

#include "agent/inject/driver/inject.h"

struct cw_trace_message {
    struct cw_trace_message *next;
    struct cw_writer out;
};

struct cw_trace_queue {
    pthread_mutex_t lock; /* the rows' */
    pthread_cond_t changed;
    struct cw_trace_message *first, *last;
    size_t bytes;       /* of all messages, and of the one that is being sent */
    uint64_t put, sent; /* messages so far, also those that could not be sent */
    bool sending, ends;
    bool running;                   /* the thread */
    uint32_t waiting;               /* threads, for room */
    uint64_t credit_ns, counted_ns; /* how long the program's threads may wait yet, and when that was counted */
};
extern struct cw_trace_queue *const cw_trace_queue;

/* Starts the thread; false where there is none to be had. Without the lock. */
bool cw_trace_queue_begin(void);

/* All that follows with the lock, which others may have while one waits. */
bool cw_trace_queue_has_room(void);
/* The same, behind a wait where there is none. */
bool cw_trace_queue_make_room(void);
/* Puts a message at the end, and takes over its memory. */
void cw_trace_queue_put(const struct cw_writer *out);
/* Waits until all that was put has been sent, or the agent is gone: as long as the connection's patience for each. */
void cw_trace_queue_drain(void);
/* The thread has nothing more to do; whether it is at an end. */
void cw_trace_queue_end(void);
bool cw_trace_queue_ended(void);
/* Once it is: frees what was not sent. */
void cw_trace_queue_reset(void);

#endif
