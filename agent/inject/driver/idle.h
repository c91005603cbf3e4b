/* Waits that end. The driver's and CUPTI's own waits do not where a kernel waits for something that never comes, so
 * threads of ours make them, or end them. */
#ifndef CW_INJECT_IDLE_H
#define CW_INJECT_IDLE_H

#include <time.h>

#include "agent/inject/driver/inject.h"

struct cw_waiter { /* a thread for each context that was ever waited for */
    CUcontext context;
    uint64_t asked, done;
    bool good;    /* the last wait that ended */
    bool in_vain; /* somebody gave up before it ended */
};
struct cw_idle {
    pthread_mutex_t work; /* of all below; taken after the library's lock */
    pthread_cond_t changed;
    uint32_t waiter_count;
    struct cw_waiter waiters[CW_MOST_CONTEXTS];
    struct {
        bool started, armed, late;
        uint64_t number;
        struct timespec until;
        void (*call)(void *);
        void *user;
    } watch;
};
extern struct cw_idle *const cw_idle;

/* Waits for a context's work, however long it takes; false where the context is no longer usable. */
bool cw_idle_synchronize(CUcontext context);
/* Waits until a context has nothing left to do, at most so long; other threads go on meanwhile. False where it still
 * works, where it is no longer usable, and while a stream is being captured, which a wait would spoil. */
bool cw_idle_wait(CUcontext context, uint64_t patience_ns);
/* The same at the begin of the first capture, which counts as under way but is not in the driver yet. */
bool cw_idle_wait_before_capture(CUcontext context, uint64_t patience_ns);
/* The same while nobody else goes on: the lock is held all the time. */
bool cw_idle_wait_alone(CUcontext context, uint64_t patience_ns);
/* Before a capture begins: until no thread of ours waits for a context. True where that took a while, and other threads
 * went on. */
bool cw_idle_before_capture(void);
/* A context goes: another may get its address. */
void cw_idle_forget(CUcontext context);

/* Whether there is a thread for that: */
bool cw_idle_can_watch(void);
/* Calls `late` from a thread of ours, without the lock, if cw_idle_watch_end() does not come within the limit. One at a
 * time. False where no thread can be had. */
bool cw_idle_watch(uint64_t limit_ns, void (*late)(void *user), void *user);
/* Whether it was late; `late` has returned then. */
bool cw_idle_watch_end(void);

#endif
