/* What the parts of the injection library share: the lock, what the agent is told, and calls of the driver and CUPTI.
 * It knows nothing of what uses it: mode.h has the ways to collect, entry.c what CUDA and CUPTI call. Every function
 * here is called with the one lock held, where it does not say otherwise. */
#ifndef CW_INJECT_INJECT_H
#define CW_INJECT_INJECT_H

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/types.h>

#include "agent/common/cupti_api.h"
#include "agent/common/message.h"
#include "agent/inject/driver/clock.h"

struct cw_inject_mode;

enum { CW_MOST_CONTEXTS = 64 }; /* that are followed */

struct cw_inject {
    struct cw_cupti api;
    atomic_bool over; /* nothing more is collected. This and the next are looked at without the lock */
    _Atomic pid_t process;
    atomic_bool *is_own;    /* in memory that a fork wipes: this is `process`, known without a system call; or NULL */
    struct cw_arena *arena; /* for what SETUP brought */
    const struct cw_inject_mode *_Atomic mode; /* mode.h; known from the first context on, until an agent leaves */
    CUpti_SubscriberHandle subscriber;
    pthread_mutex_t lock;
    pthread_cond_t left;         /* it was let go: what others wait for may be so now */
    uint64_t handed_over;        /* pieces of memory */
    atomic_bool no_thread;       /* it was said that none can be had */
    atomic_bool beyond_contexts; /* it was said that there are more than are followed */
    uint64_t devices; /* that the program made contexts of, also those that are not profiled: a bit for each */
};
extern struct cw_inject *const cw_inject;

/* Lets other threads go on until one of them has done something (or a second has passed); the lock is held again
 * then. */
void cw_inject_wait(void);
/* Lets them go on for about so long. */
void cw_inject_pause(uint64_t ns);
/* Sleeps for so long; the lock is not held. */
void cw_inject_sleep(uint64_t ns);
/* Starts a thread of ours, which no signal of the program's disturbs and which never ends. */
bool cw_inject_start_thread(void *(*run)(void *), void *user);
/* To be called by it first: what it calls is not the program's. */
void cw_inject_own_thread(void);
/* The calling thread's number. */
uint64_t cw_inject_thread(void);
/* What a thread of the program has that must be the same behind every call into the library. May nest. */
struct cw_thread {
    int error;  /* errno */
    int cancel; /* whether it can be cancelled, which it cannot meanwhile: it may hold locks */
};
void cw_thread_enter(struct cw_thread *thread);
void cw_thread_leave(const struct cw_thread *thread);
/* What the library keeps of each thread. */
struct cw_own_calls {
    uint32_t call;            /* correlation of the program's call of the runtime that is recorded now; 0: none */
    volatile bool inside;     /* this thread's calls are our own */
    struct cw_thread outside; /* what the program had when they began */
    uint64_t thread;          /* its number, once it was asked for */
    uint64_t named;           /* the trace that has its name (cw_trace_calls) */
};
extern _Thread_local struct cw_own_calls cw_own_calls;
/* Around everything that is entered from outside. False inside a call of our own, and in a child that was forked, which
 * must not touch anything. */
bool cw_inject_lock(void);
void cw_inject_unlock(void);
/* The two halves of that: the thread's calls are our own from here on; others are kept out. */
bool cw_inject_enter(void);
void cw_inject_leave(void);
void cw_inject_acquire(void);
void cw_inject_release(void);
/* When the library is loaded, and in a child that was forked, which has none of the threads that may hold the lock. */
void cw_inject_begin(void);
void cw_inject_renew(void);

/* Says, once, that there are more contexts than are followed (CW_MOST_CONTEXTS). Needs no lock. */
void cw_inject_say_contexts(void);
/* Ends the capture and tells the agent why. Needs no lock. */
void cw_inject_fail(enum cw_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same where there is no memory. Always false. */
static inline bool cw_inject_fail_memory(void)
{
    cw_inject_fail(CW_ERR_NOMEM, "out of memory in the profiled program");
    return false;
}
/* True when `result` is success; otherwise the capture is over and the agent knows why. Needs no lock. */
bool cw_inject_good(CUptiResult result, const char *call);
/* Sends what was written and frees the writer. Needs no lock. */
bool cw_inject_send(enum cw_message_type type, struct cw_writer *out);
/* The same with memory (a descriptor) that the agent reads where it is: the message's number, 0 after a failure. */
uint64_t cw_inject_hand_over(enum cw_message_type type, struct cw_writer *out, int memory);
/* Waits until the agent has read the memory of this number and all before; false when it is gone. */
bool cw_inject_wait_taken(uint64_t number);

#define CALL(name, params) cw_inject_good(cw_inject->api.name(&(params)), #name)
#define PARAMS(type, variable, ...) type variable = {.structSize = type##_STRUCT_SIZE, __VA_ARGS__}

/* Whether the driver refused a call that has returned. */
static inline bool cw_inject_refused(const CUpti_CallbackData *call)
{
    return call->functionReturnValue && *(const CUresult *)call->functionReturnValue != CUDA_SUCCESS;
}
/* The name of a call of the driver, "" where it has none. */
const char *cw_inject_call_name(CUpti_CallbackId id);

struct cw_driver_launch {
    CUlaunchConfig config;       /* of a graph only the stream */
    CUfunction function;         /* a kernel or a library's handle of one; NULL for a graph */
    void **parameters, **packed; /* arguments: a list, or packed into one buffer as the driver takes them; else NULL */
    bool graph;
};
/* False for a call that does not launch. */
bool cw_inject_launch(struct cw_driver_launch *launch, CUpti_CallbackId id, const CUpti_CallbackData *call);
/* Its function. */
CUfunction cw_inject_kernel(CUpti_CallbackId id, const CUpti_CallbackData *call);
/* The buffer that arguments are packed into, NULL for none. False for a list that is not understood. */
bool cw_inject_packed(void **packed, const void **buffer, size_t *size);
/* Whether a call launches, and whether it launches a graph. */
bool cw_inject_launches(CUpti_CallbackId id);
bool cw_inject_launches_graph(CUpti_CallbackId id);
/* Whether it launches by one of CUDA's old calls, of which nothing is known. */
bool cw_inject_launches_otherwise(CUpti_CallbackId id);
/* Whether a call lets what is launched behind it wait for the host, or for a value in memory. */
bool cw_inject_blocks_stream(CUpti_CallbackId id);
/* The size of a kernel's parameter; false behind the last. */
bool cw_inject_parameter_size(CUfunction function, size_t index, size_t *size);
/* The stream that a call means: some mean the calling thread's own by 0. */
CUstream cw_inject_stream(CUpti_CallbackId id, CUstream stream);
/* CUPTI's numbers of a context, and of the stream that a call in it means, as activity records have them: no later one
 * has the same, as handles do. 0 where CUPTI does not tell. */
uint64_t cw_inject_context_id(CUcontext context);
uint64_t cw_inject_stream_id(CUpti_CallbackId id, CUcontext context, CUstream stream);

#endif
