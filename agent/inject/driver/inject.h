/* Shared by all parts of the injection library: the lock, messages to the agent, and calls of the driver and CUPTI. It
 * does not depend on its users: mode.h has the ways to collect, entry.c the functions that CUDA and CUPTI call. Call
 * every function with the one lock held, unless it says otherwise. */
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

/* Marks a variable with the state of one module. The test edges/state fails on other variables. */
#define CW_STATE __attribute__((section(".bss.counterworks")))

enum { CW_MOST_CONTEXTS = 64 }; /* limit on followed contexts */

struct cw_inject {
    struct cw_cupti api;
    atomic_bool over; /* collect nothing more. This and the next are read without the lock */
    _Atomic pid_t process;
    atomic_bool *is_own; /* in memory that a fork wipes: `process` is this one, known without a system call; or NULL */
    struct cw_arena *arena;                    /* for data from SETUP */
    const struct cw_inject_mode *_Atomic mode; /* mode.h; set from the first context until an agent leaves */
    CUpti_SubscriberHandle subscriber;
    pthread_mutex_t lock;
    pthread_cond_t left;         /* signalled when the lock is released: conditions may hold now */
    uint64_t handed_over;        /* number of handed-over pieces of memory */
    atomic_bool no_thread;       /* the message about a missing thread was printed */
    atomic_bool beyond_contexts; /* the message about too many contexts was printed */
    uint64_t devices;            /* a bit for each device with a context of the program, also if it is not profiled */
};
extern struct cw_inject *const cw_inject;

/* Releases the lock until another thread has done something (or a second has passed), and takes it again. */
void cw_inject_wait(void);
/* Releases the lock for about `ns`. */
void cw_inject_pause(uint64_t ns);
/* Sleeps for `ns`, without the lock. */
void cw_inject_sleep(uint64_t ns);
/* Starts one of our threads, which never ends. The program's signals do not reach it. */
bool cw_inject_start_thread(void *(*run)(void *), void *user);
/* Call it first in such a thread: marks its calls as ours. */
void cw_inject_own_thread(void);
/* The calling thread's number. */
uint64_t cw_inject_thread(void);
/* State of a program's thread that every call into the library must leave unchanged. May nest. */
struct cw_thread {
    int error;  /* errno */
    int cancel; /* cancellation state: cancellation is off inside, because the thread may hold locks */
};
void cw_thread_enter(struct cw_thread *thread);
void cw_thread_leave(const struct cw_thread *thread);
/* Per-thread state of the library. */
struct cw_own_calls {
    uint32_t call;            /* correlation of the runtime call being recorded; 0: none */
    volatile bool inside;     /* this thread's calls are our own */
    struct cw_thread outside; /* the program's state before */
    uint64_t thread;          /* its number, once it was asked for */
    bool unloads;             /* it is in a call that unloads a module, whose kernels are forgotten */
    uint64_t named;           /* the trace that has its name (cw_trace_calls) */
    const void *node;         /* the CUDA graph's node that it creates, and its type (cw_trace_graphs) */
    uint32_t node_type;
    uint32_t kernel; /* text of the name of the kernel that its call launches, or adds to a graph (cw_trace_graphs) */
    struct {         /* the stream of its last call, and CUPTI's number of that (cw_trace_calls) */
        CUcontext context;
        CUstream stream;
        uint64_t since, number; /* since: as many streams had ended */
    } last_stream;
    uint64_t ended_stream; /* number of the stream that it destroys */
};
extern _Thread_local struct cw_own_calls cw_own_calls;
/* Surround all code that is entered from outside. cw_inject_lock returns false inside a call of our own, and in a
 * forked child, which must not touch anything. */
bool cw_inject_lock(void);
void cw_inject_unlock(void);
/* The two halves of these: enter and leave mark the thread's calls as ours; acquire and release take the lock. */
bool cw_inject_enter(void);
void cw_inject_leave(void);
void cw_inject_acquire(void);
void cw_inject_release(void);
/* Call begin when the library is loaded, and renew in a forked child, which has none of the threads that may hold the
 * lock. */
void cw_inject_begin(void);
void cw_inject_renew(void);

/* Prints once that there are more contexts than CW_MOST_CONTEXTS. Needs no lock. */
void cw_inject_say_contexts(void);
/* Ends the capture and reports the reason to the agent. Needs no lock. */
void cw_inject_fail(enum cw_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same for out of memory. Always returns false. */
static inline bool cw_inject_fail_memory(void)
{
    cw_inject_fail(CW_ERR_NOMEM, "out of memory in the profiled program");
    return false;
}
/* Returns true if `result` is success; otherwise ends the capture and reports the reason to the agent. Needs no
 * lock. */
bool cw_inject_good(CUptiResult result, const char *call);
/* Sends a message and frees the writer. Needs no lock. */
bool cw_inject_send(enum cw_message_type type, struct cw_writer *out);
/* Sends a message with memory (a descriptor), which the agent reads in place. Returns the message's number, 0 after a
 * failure. */
uint64_t cw_inject_hand_over(enum cw_message_type type, struct cw_writer *out, int memory);
/* Waits until the agent has read the memory of this number and all before; false if the agent is gone. */
bool cw_inject_wait_taken(uint64_t number);

#define CALL(name, params) cw_inject_good(cw_inject->api.name(&(params)), #name)
#define PARAMS(type, variable, ...) type variable = {.structSize = type##_STRUCT_SIZE, __VA_ARGS__}

/* Whether the driver refused a call that has returned. */
static inline bool cw_inject_refused(const CUpti_CallbackData *call)
{
    return call->functionReturnValue && *(const CUresult *)call->functionReturnValue != CUDA_SUCCESS;
}
/* The name of a driver call, "" if it has none. */
const char *cw_inject_call_name(CUpti_CallbackId id);

struct cw_driver_launch {
    CUlaunchConfig config;       /* for a graph only the stream */
    CUfunction function;         /* a kernel, or a library's handle of one; NULL for a graph */
    void **parameters, **packed; /* arguments: a list, or packed into one buffer as the driver takes them; else NULL */
    bool graph;
};
/* Adds a value to a hash, which tells launches of one kernel and shape by one number. */
static inline uint64_t cw_inject_mix(uint64_t hash, uint64_t more)
{
    hash = (hash ^ more) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}
/* Describes a launch. False for a call that does not launch. */
bool cw_inject_launch(struct cw_driver_launch *launch, CUpti_CallbackId id, const CUpti_CallbackData *call);
/* The function that a call launches. */
CUfunction cw_inject_kernel(CUpti_CallbackId id, const CUpti_CallbackData *call);
/* Finds the buffer with packed arguments, NULL for none. False for a list of unknown form. */
bool cw_inject_packed(void **packed, const void **buffer, size_t *size);
/* Whether a call launches, and whether it launches a graph. */
bool cw_inject_launches(CUpti_CallbackId id);
bool cw_inject_launches_graph(CUpti_CallbackId id);
/* Whether a call launches through one of CUDA's old functions, about which nothing is known. */
bool cw_inject_launches_otherwise(CUpti_CallbackId id);
/* Whether a call makes later launches wait for the host, or for a value in memory. */
bool cw_inject_blocks_stream(CUpti_CallbackId id);
/* The function of the host that a call puts into a stream, or NULL. */
void *cw_inject_host_function(CUpti_CallbackId id, const void *params);
enum { CW_LOWEST_ADDRESS = 1 << 16 }; /* smaller words in parameters are numbers */
/* The device of memory at an address, as the driver numbers devices; -1 if it knows none. */
int cw_inject_device_of(uint64_t address);
/* Finds the size of a kernel's parameter; false behind the last. */
bool cw_inject_parameter_size(CUfunction function, size_t index, size_t *size);
/* The stream of a call: for some calls 0 means the calling thread's own stream. */
CUstream cw_inject_stream(CUpti_CallbackId id, CUstream stream);
/* CUPTI's numbers of a context, and of a call's stream in it, as in activity records. Unlike handles, numbers are never
 * reused. 0 if CUPTI gives none. */
uint64_t cw_inject_context_id(CUcontext context);
uint64_t cw_inject_stream_id(CUpti_CallbackId id, CUcontext context, CUstream stream);

#endif
